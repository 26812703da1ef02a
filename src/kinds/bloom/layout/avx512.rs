//! Batches of the derivation `remix` for AVX-512, in filters that the caches hold: eight keys are one vector.
//!
//! A lookup takes a group of keys through rounds of two probes. After each round the keys whose bits were all set move
//! to the front, and the next round tests only these. In a filter at its capacity, where half of the bits are set, a
//! quarter of the absent keys is left after a round. So an absent key costs little more than two probes, and no branch
//! guesses whether a key goes on. After a round that most keys survive, one round tests all other probes.
//!
//! An insertion computes one probe of eight keys at a time, and then sets the eight bits one by one.

use super::kernel::{AT_ONCE, Kernel, MOST_ASKED, NUMBERS, POWERS, suits};
use crate::batch::ring::{Batch, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::eight::{Eight, WIDTH, all, load, numbers, reduce, store};
use crate::blocks::{ScatteredBits, ScatteredKernel};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    contains_bits: contains_many::<1>,
    contains_counters: contains_many::<4>,
    insert: insert_many,
    single: ScatteredKernel { put: put_one, ..*ScatteredKernel::PORTABLE },
};

/// [`Kernel::contains_bits`], or with `BITS` = 4 [`Kernel::contains_counters`].
fn contains_many<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
    assert!(suits(bits, BITS, words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words suit.
    unsafe { look_up::<BITS>(bits, words, batch) }
}

fn insert_many(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
    assert!(suits(bits, 1, words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words suit.
    unsafe { if batch.is_asked() { insert_asked(bits, words, batch) } else { insert(bits, words, batch) } }
}

fn put_one(bits: &ScatteredBits, words: &mut [u64], hash: u64) -> bool {
    assert!(bits.hashes <= AT_ONCE && suits(bits, 1, words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words suit.
    unsafe { put(bits, words, hash) }
    false
}

/// The keys of a group that are still undecided: what their next probe comes from, and which keys they are. Vectors are
/// stored whole, so there must be room after the last key.
#[repr(align(64))]
struct Left {
    hashes: [Eight; GROUP / WIDTH + 1],
    keys: [Eight; GROUP / WIDTH + 1],
}

/// Positions of eight keys: one vector for each probe.
#[repr(align(64))]
struct Positions([Eight; MOST_ASKED]);

/// The numbers of a group's keys.
const KEYS: [Eight; GROUP / WIDTH + 1] = {
    let (mut keys, mut i) = ([[0; WIDTH]; GROUP / WIDTH + 1], 0);
    while i < GROUP {
        keys[i / WIDTH][i % WIDTH] = i as u64;
        i += 1;
    }
    keys
};

/// The mask of the first `lanes` lanes.
#[inline]
fn first(lanes: usize) -> __mmask8 {
    if lanes < WIDTH { (1 << lanes) - 1 } else { u8::MAX }
}

/// The positions of a probe of eight keys, in the slice that begins at `start`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn positions(bits: &ScatteredBits, start: u64, hashes: __m512i) -> __m512i {
    _mm512_add_epi64(reduce(hashes, all(bits.range)), all(start))
}

/// The hashes of eight keys for the next probe.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn next(hashes: __m512i) -> __m512i {
    _mm512_mullo_epi64(hashes, all(GOLDEN))
}

/// Which of eight bits are set, or which of eight counters are above 0.
///
/// # Safety
/// The positions are among the words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn test<const BITS: u32>(words: &[AtomicU64], positions: __m512i) -> __mmask8 {
    // A counter's number of bits is a power of two.
    let positions = _mm512_sll_epi64(positions, _mm_cvtsi32_si128(BITS.trailing_zeros() as i32));
    let at = numbers(_mm512_srli_epi64::<6>(positions));
    // SAFETY: the positions are among the words, as the safety section asks.
    let read = |lane: usize| unsafe { words.get_unchecked(at[lane] as usize) }.load(Ordering::Relaxed) as i64;
    let read = _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0));
    let bit = _mm512_sllv_epi64(all((1 << BITS) - 1), _mm512_and_si512(positions, all(63)));
    _mm512_test_epi64_mask(read, bit)
}

/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn look_up<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
    let mut hashes = [0; GROUP];
    let mut left = Left { hashes: [[0; WIDTH]; GROUP / WIDTH + 1], keys: KEYS };
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn group<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], left: &mut Left, mut count: usize) -> u64 {
    let (mut probe, mut probes, mut start) = (0, 2, 0);
    while probe < bits.hashes && count > 0 {
        let (mut from, mut kept) = (0, 0);
        while from < count {
            let mut hashes = load(&left.hashes[from / WIDTH]);
            let keys = load(&left.keys[from / WIDTH]);
            // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
            let mut set = first(count - from) & unsafe { test::<BITS>(words, positions(bits, start, hashes)) };
            hashes = next(hashes);
            if probe + 1 < bits.hashes {
                // SAFETY: as above.
                set &= unsafe { test::<BITS>(words, positions(bits, start + bits.stride, hashes)) };
                hashes = next(hashes);
            }
            for slice in 2..probes {
                let at = positions(bits, start + u64::from(slice) * bits.stride, hashes);
                // SAFETY: as above.
                set &= unsafe { test::<BITS>(words, at) };
                hashes = next(hashes);
            }
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
    let mut answers = _mm512_setzero_si512();
    for from in (0..count).step_by(WIDTH) {
        let bit = _mm512_maskz_sllv_epi64(first(count - from), all(1), load(&left.keys[from / WIDTH]));
        answers = _mm512_or_si512(answers, bit);
    }
    _mm512_reduce_or_epi64(answers) as u64
}

/// Writes those of eight numbers that are in the mask, one after the other, from the place `at` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn keep(numbers: &mut [Eight], at: usize, mask: __mmask8, eight: __m512i) {
    if let Some(place) = numbers.as_flattened_mut().get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        store(place, _mm512_maskz_compress_epi64(mask, eight));
    }
}

/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn insert(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
    let mut hashes = [0; GROUP];
    loop {
        let count = batch.next(&mut hashes);
        if count == 0 {
            return;
        }
        for (i, eight) in hashes.as_chunks().0.iter().enumerate().take(count.div_ceil(WIDTH)) {
            let (mut hashes, mut start, lanes) = (load(eight), 0, WIDTH.min(count - i * WIDTH));
            for _ in 0..bits.hashes {
                for position in &numbers(positions(bits, start, hashes))[..lanes] {
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

/// As `insert`, with answers: whether a bit of a key was not set. The positions of eight keys are computed first, and
/// then the keys go one by one, so that a key which comes twice is new once.
///
/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn insert_asked(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
    let (mut hashes, mut at) = ([0; GROUP], Positions([[0; WIDTH]; MOST_ASKED]));
    let at = &mut at.0[..bits.hashes as usize];
    loop {
        let count = batch.next(&mut hashes);
        if count == 0 {
            return;
        }
        let mut answers = 0;
        for (i, eight) in hashes.as_chunks().0.iter().enumerate().take(count.div_ceil(WIDTH)) {
            let (mut hashes, mut start) = (load(eight), 0);
            for at in &mut *at {
                store(at, positions(bits, start, hashes));
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

/// Sets the bits of one key, whose probes are one vector.
///
/// # Safety
/// The words suit ([`suits`]).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn put(bits: &ScatteredBits, words: &mut [u64], hash: u64) {
    let mut at = reduce(_mm512_mullo_epi64(all(hash), load(&POWERS)), all(bits.range));
    if bits.stride > 0 {
        at = _mm512_add_epi64(at, _mm512_mullo_epi64(load(&NUMBERS), all(bits.stride)));
    }
    for position in numbers(at).iter().take(bits.hashes as usize) {
        // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
        *unsafe { words.get_unchecked_mut((position / 64) as usize) } |= 1 << (position % 64);
    }
}
