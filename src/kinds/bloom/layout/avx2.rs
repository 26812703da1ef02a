//! Batches of the derivation `remix` for AVX2, in filters that the caches hold, like those for AVX-512: four keys are
//! one vector, and a group of keys goes through rounds of two probes. Without vectors a processor waits for the
//! products, because it computes one a cycle.

use super::kernel::{AT_ONCE, Kernel, MOST_ASKED, NUMBERS, POWERS, suits};
use crate::batch::ring::{Batch, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::four::{Four, WIDTH, all, load, multiply, numbers, pack, reduce, signs, store};
use crate::blocks::{ScatteredBits, ScatteredKernel};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for AVX2.
pub(super) static KERNEL: Kernel = Kernel {
    contains_bits: contains_many::<1>,
    contains_counters: contains_many::<4>,
    insert: insert_many,
    single: ScatteredKernel { put: put_one, ..*ScatteredKernel::PORTABLE },
};

/// [`Kernel::contains_bits`], or with `BITS` = 4 [`Kernel::contains_counters`].
fn contains_many<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
    assert!(suits(bits, BITS, words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words suit.
    unsafe { look_up::<BITS>(bits, words, batch) }
}

fn insert_many(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
    assert!(suits(bits, 1, words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words suit.
    unsafe { if batch.is_asked() { insert_asked(bits, words, batch) } else { insert(bits, words, batch) } }
}

fn put_one(bits: &ScatteredBits, words: &mut [u64], hash: u64) -> bool {
    assert!(bits.hashes <= AT_ONCE && suits(bits, 1, words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words suit.
    unsafe { put(bits, words, hash) }
    false
}

/// Vectors of a group, and one more: vectors are stored whole, so there must be room after the last key.
const FOURS: usize = GROUP / WIDTH + 1;

/// The keys of a group that are still undecided: what their next probe comes from, and which keys they are.
#[repr(align(64))]
struct Left {
    hashes: [Four; FOURS],
    keys: [Four; FOURS],
}

/// Positions of four keys: one vector for each probe.
#[repr(align(64))]
struct Positions([Four; MOST_ASKED]);

/// The numbers of a group's keys.
const KEYS: [Four; FOURS] = {
    let (mut keys, mut i) = ([[0; WIDTH]; FOURS], 0);
    while i < GROUP {
        keys[i / WIDTH][i % WIDTH] = i as u64;
        i += 1;
    }
    keys
};

/// The mask of the first `lanes` lanes.
#[inline]
fn first(lanes: usize) -> u8 {
    if lanes < WIDTH { (1 << lanes) - 1 } else { (1 << WIDTH) - 1 }
}

/// The hashes of four keys for the next probe.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn next(hashes: __m256i) -> __m256i {
    multiply(hashes, all(GOLDEN))
}

/// Numbers whose highest bit is set where one of four bits, or counters, is 0.
///
/// # Safety
/// The positions are among the words.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn lacks<const BITS: u32>(words: &[AtomicU64], positions: __m256i) -> __m256i {
    // A counter's number of bits is a power of two.
    let positions = _mm256_sll_epi64(positions, _mm_cvtsi32_si128(BITS.trailing_zeros() as i32));
    let at = numbers(_mm256_srli_epi64::<6>(positions));
    // SAFETY: the positions are among the words, as the safety section asks.
    let read = |lane: usize| unsafe { words.get_unchecked(at[lane] as usize) }.load(Ordering::Relaxed) as i64;
    let read = _mm256_set_epi64x(read(3), read(2), read(1), read(0));
    let bit = _mm256_sllv_epi64(all((1 << BITS) - 1), _mm256_and_si256(positions, all(63)));
    _mm256_cmpeq_epi64(_mm256_and_si256(read, bit), _mm256_setzero_si256())
}

/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn look_up<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
    let mut hashes = [0; GROUP];
    let mut left = Left { hashes: [[0; WIDTH]; FOURS], keys: KEYS };
    loop {
        let count = batch.next(&mut hashes);
        if count == 0 {
            return;
        }
        left.hashes.as_flattened_mut()[..GROUP].copy_from_slice(&hashes);
        left.keys = KEYS;
        // SAFETY: the words suit, as the safety section asks.
        batch.answer(unsafe { group::<BITS>(bits, words, &mut left, count) }, count);
    }
}

/// Takes a group through its rounds. Bit i of the result says whether all bits of key i are set.
///
/// # Safety
/// The words suit ([`suits`]).
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn group<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], left: &mut Left, mut count: usize) -> u64 {
    let (range, mut probe, mut probes, mut start) = (all(bits.range), 0, 2, 0);
    while probe < bits.hashes && count > 0 {
        let (mut from, mut kept) = (0, 0);
        let starts = [start, start + bits.stride].map(|start| all(start));
        while from < count {
            let hashes = load(&left.hashes[from / WIDTH]);
            let keys = load(&left.keys[from / WIDTH]);
            let at = _mm256_add_epi64(reduce(hashes, range), starts[0]);
            // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
            let mut lacks_one = unsafe { lacks::<BITS>(words, at) };
            let mut hashes = next(hashes);
            if probe + 1 < bits.hashes {
                let at = _mm256_add_epi64(reduce(hashes, range), starts[1]);
                // SAFETY: as above.
                lacks_one = _mm256_or_si256(lacks_one, unsafe { lacks::<BITS>(words, at) });
                hashes = next(hashes);
            }
            for slice in 2..probes {
                let at = _mm256_add_epi64(reduce(hashes, range), all(start + u64::from(slice) * bits.stride));
                // SAFETY: as above.
                lacks_one = _mm256_or_si256(lacks_one, unsafe { lacks::<BITS>(words, at) });
                hashes = next(hashes);
            }
            let set = first(count - from) & !signs(lacks_one);
            // No more keys were kept than were looked at, so nothing that is still needed is overwritten.
            keep(&mut left.hashes, kept, set, hashes);
            keep(&mut left.keys, kept, set, keys);
            kept += set.count_ones() as usize;
            from += WIDTH;
        }
        start += u64::from(probes) * bits.stride;
        probe += probes;
        // Most keys that are left after such a round are there.
        if kept * 4 > count * 3 {
            probes = bits.hashes - probe.min(bits.hashes);
        }
        count = kept;
    }
    left.keys.as_flattened()[..count].iter().fold(0, |answers, key| answers | 1 << (key % GROUP as u64))
}

/// Writes those of four numbers that are in the mask, one after the other, from the place `at` on.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn keep(numbers: &mut [Four; FOURS], at: usize, mask: u8, four: __m256i) {
    if let Some(place) = numbers.as_flattened_mut().get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        store(place, pack(mask, four));
    }
}

/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn insert(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
    let (range, mut hashes) = (all(bits.range), [0; GROUP]);
    loop {
        let count = batch.next(&mut hashes);
        if count == 0 {
            return;
        }
        for (i, four) in hashes.as_chunks().0.iter().enumerate().take(count.div_ceil(WIDTH)) {
            let (mut hashes, mut start, lanes) = (load(four), 0, WIDTH.min(count - i * WIDTH));
            for _ in 0..bits.hashes {
                let positions = _mm256_add_epi64(reduce(hashes, range), all(start));
                for position in &numbers(positions)[..lanes] {
                    // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
                    *unsafe { words.get_unchecked_mut((position / 64) as usize) } |= 1 << (position % 64);
                }
                hashes = next(hashes);
                start += bits.stride;
            }
        }
        batch.answer(0, count);
    }
}

/// As `insert`, with answers: whether a bit of a key was not set. The positions of four keys are computed first, and
/// then the keys go one by one, so that a key which comes twice is new once.
///
/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn insert_asked(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
    let range = all(bits.range);
    let (mut hashes, mut at) = ([0; GROUP], Positions([[0; WIDTH]; MOST_ASKED]));
    let at = &mut at.0[..bits.hashes as usize];
    loop {
        let count = batch.next(&mut hashes);
        if count == 0 {
            return;
        }
        let mut answers = 0;
        for (i, four) in hashes.as_chunks().0.iter().enumerate().take(count.div_ceil(WIDTH)) {
            let (mut hashes, mut start) = (load(four), 0);
            for at in &mut *at {
                store(at, _mm256_add_epi64(reduce(hashes, range), all(start)));
                hashes = next(hashes);
                start += bits.stride;
            }
            for lane in 0..WIDTH.min(count - i * WIDTH) {
                let mut were_set = 1;
                for at in &*at {
                    let position = at[lane];
                    // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
                    let word = unsafe { words.get_unchecked_mut((position / 64) as usize) };
                    were_set &= *word >> (position % 64);
                    *word |= 1 << (position % 64);
                }
                answers |= (!were_set & 1) << (i * WIDTH + lane);
            }
        }
        batch.answer(answers, count);
    }
}

/// Sets the bits of one key, whose probes are two vectors.
///
/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn put(bits: &ScatteredBits, words: &mut [u64], hash: u64) {
    let mut at = [[0; WIDTH]; 2];
    let lanes = POWERS.as_chunks().0.iter().zip(NUMBERS.as_chunks().0);
    for (at, (powers, probes)) in at.iter_mut().zip(lanes) {
        let four = reduce(multiply(all(hash), load(powers)), all(bits.range));
        *at = numbers(match bits.stride {
            0 => four,
            // All slices together may have more than 2^32 bits.
            stride => _mm256_add_epi64(four, multiply(load(probes), all(stride))),
        });
    }
    for position in at.as_flattened().iter().take(bits.hashes as usize) {
        // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
        *unsafe { words.get_unchecked_mut((position / 64) as usize) } |= 1 << (position % 64);
    }
}
