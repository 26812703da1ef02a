//! The inner loops for each instruction set that has some.

use crate::batch::ring::Batch;
use crate::blocks::{ScatteredBits, ScatteredKernel};
use core::sync::atomic::AtomicU64;

/// The inner loops for one instruction set. They take words that suit (`suits`), and panic for others.
#[derive(Debug)]
pub struct Kernel {
    /// Whether all bits of each key of a batch are set.
    pub contains_bits: fn(&ScatteredBits, &[AtomicU64], &mut dyn Batch),
    /// Whether all counters of each key of a batch are above 0. A counter has four bits, and lies where the key would
    /// have a bit.
    pub contains_counters: fn(&ScatteredBits, &[AtomicU64], &mut dyn Batch),
    /// Sets the bits of each key of a batch. Nothing is fetched ahead, so the words must be in the caches. The keys
    /// have at most `MOST_ASKED` bits if the batch asks for answers.
    pub insert: fn(&ScatteredBits, &mut [u64], &mut dyn Batch),
    /// The inner loops for one key that has at most `AT_ONCE` bits.
    pub single: ScatteredKernel,
}

/// The most bits of a key that [`Kernel::single`] takes.
pub const AT_ONCE: u32 = 8;

/// The most bits of a key for which [`Kernel::insert`] gives an answer.
pub const MOST_ASKED: usize = 16;

/// Whether the inner loops may read the positions, which are bits or counters of `width` bits, in `words` words. All of
/// them must lie in the words, and a position must have at most 32 bits.
pub fn suits(bits: &ScatteredBits, width: u32, words: usize) -> bool {
    let last = bits.stride.checked_mul(u64::from(bits.hashes) - 1).and_then(|start| start.checked_add(bits.range));
    bits.range < 1 << 32 && last.is_some_and(|last| last <= words as u64 * u64::from(64 / width))
}

/// For each of [`AT_ONCE`] probes, its number.
#[cfg(target_arch = "x86_64")]
pub(super) static NUMBERS: [u64; AT_ONCE as usize] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The multipliers of the hash, one for each probe, so that the products do not wait for each other.
#[cfg(target_arch = "x86_64")]
pub(super) static POWERS: [u64; AT_ONCE as usize] = {
    let (mut powers, mut i) = ([1; AT_ONCE as usize], 1);
    while i < powers.len() {
        powers[i] = crate::bits::GOLDEN.wrapping_mul(powers[i - 1]);
        i += 1;
    }
    powers
};
