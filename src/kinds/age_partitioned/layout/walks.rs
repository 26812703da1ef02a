//! The state of walks that the kernels for vectors share. All keys of a chunk take a step in turn, and the keys that
//! walk on then close up. The state of a walk is the bytes of one number.

use super::{Slices, powers};
use crate::batch::ring::CHUNK;
use crate::bits;
use crate::kinds::age_partitioned::sizing::{MAX_HASHES, MAX_SLICES};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The inverses of the products' factors ([`POWERS`](super::POWERS)), modulo 2^64.
pub(super) const INVERSES: [u64; MAX_SLICES] = {
    // Each turn doubles the number of low bits that are right.
    let (mut inverse, mut turn) = (bits::GOLDEN, 0);
    while turn < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(bits::GOLDEN.wrapping_mul(inverse)));
        turn += 1;
    }
    powers(inverse)
};

/// How many numbers a chunk has, with room for a whole vector after the last.
pub(super) const ROOM: usize = CHUNK + 8;

/// The bytes of a walk, from the lowest: the number of the present slice, its age, where the wanted run begins, and
/// from where on the run is known. Then come two bytes of the key's place, and two of the position's low bits.
pub(super) const SLICE: u64 = 1;
pub(super) const AGE: u64 = 1 << 8;
pub(super) const START: u64 = 1 << 16;
pub(super) const STOP: u64 = 1 << 24;
pub(super) const PLACE: u32 = 32;
pub(super) const BIT: u32 = 48;
/// All bits of a byte.
pub(super) const BYTE: u64 = 0xff;

/// The walks of a chunk that are not over.
#[repr(align(64))]
pub(super) struct Walks {
    /// The mixed hash times the power of the slice that the walk looks at.
    pub products: [u64; ROOM],
    pub states: [u64; ROOM],
    /// The word that the walk looks at: a word of the slices, even for walks that have ended.
    pub words: [u64; ROOM],
}

/// The walks that ended in the wanted way: found, or not found.
#[repr(align(64))]
pub(super) struct Ended {
    pub count: usize,
    pub states: [u64; ROOM],
    /// The positions that these walks looked at last.
    pub positions: [u64; ROOM],
}

/// Whether the kernel can read these slices: positions in a slice have 32 bits, and the words hold all slices.
pub(super) fn suits(slices: &Slices, words: usize) -> bool {
    let Slices { hashes, old, bits, youngest } = *slices;
    (1..=MAX_HASHES).contains(&hashes)
        && old as usize <= MAX_SLICES - hashes as usize
        && (1..1 << 32).contains(&bits)
        && youngest < slices.count()
        && (u64::from(slices.count()) * bits).div_ceil(64) <= words as u64
}

impl Walks {
    /// Room for walks.
    pub const NONE: Walks = Walks { products: [0; ROOM], states: [0; ROOM], words: [0; ROOM] };
}

impl Ended {
    /// Room for walks.
    pub const NONE: Ended = Ended { count: 0, states: [0; ROOM], positions: [0; ROOM] };
}

/// `WIDTH` numbers from the `i`-th on; `WIDTH` is at most eight.
#[inline(always)]
pub(super) fn some<const WIDTH: usize>(numbers: &mut [u64; ROOM], i: usize) -> &mut [u64; WIDTH] {
    debug_assert!(i <= CHUNK);
    const { assert!(WIDTH <= ROOM - CHUNK) };
    // SAFETY: `i` is at most the number of keys of a chunk, and there is room for eight more numbers after these.
    unsafe { &mut *numbers.as_mut_ptr().add(i).cast() }
}

/// Prefetches the line of a word.
#[inline(always)]
pub(super) fn fetch_one(words: &[AtomicU64], word: u64) {
    // SAFETY: a prefetch changes nothing that a program can see, whatever the address is.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(word as usize).cast()) };
}
