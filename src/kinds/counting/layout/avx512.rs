//! Counters of four bits for AVX-512. A key has at most eight counters. The places of a key's counters are one vector,
//! and the words that hold these counters are another.
//!
//! The counters of a key are nearly always in different words. Then the kernel reads all words before it writes any,
//! because a processor that reads a word after it wrote another waits until it knows that the two are not the same.

use super::kernel::{Alone, Counters, GREATEST, Kernel};
use crate::batch::ring::{Batch, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::eight::{Eight, WIDTH, all, load, numbers, reduce};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The least number of words (8 MiB) for which fetching ahead is faster than the counters of eight keys together.
const FETCH_FROM: usize = 1 << 20;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel =
    Kernel { fetch_from: || FETCH_FROM, contains, least, add, add_many, subtract, subtract_many };

/// The multiplier of the hash for each place.
const POWERS: Eight = {
    let (mut powers, mut i) = ([1; WIDTH], 1);
    while i < WIDTH {
        powers[i] = GOLDEN.wrapping_mul(powers[i - 1]);
        i += 1;
    }
    powers
};

/// The bit of a counter that says whether it is 8 or more.
const HALF: u64 = 8;

/// Numbers that are not the place of any word, different in each lane.
const NOWHERE: Eight = [1 << 33, 2 << 33, 3 << 33, 4 << 33, 5 << 33, 6 << 33, 7 << 33, 8 << 33];

/// The words with the counters of a key, all different.
struct Words {
    at: Eight,
    /// The words before a change.
    before: __m512i,
    /// A one in the lowest bit of each counter.
    ones: __m512i,
    /// The lanes that have a counter: all that are 0, and all that have their greatest value.
    zero: __mmask8,
    full: __mmask8,
}

fn contains(counters: Counters, words: &[AtomicU64], hash: u64) -> bool {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words hold all counters.
    unsafe { Eights(counters).look_up(words, hash) }
}

fn least(counters: Counters, words: &[AtomicU64], hash: u64) -> u64 {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words hold all counters.
    unsafe { Eights(counters).least_one(words, hash) }
}

fn add(counters: Counters, words: &mut [u64], hash: u64) -> Option<bool> {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words hold all counters.
    unsafe { Eights(counters).add_one(words, hash) }
}

fn add_many(counters: Counters, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words hold all counters.
    unsafe { Eights(counters).add_all(words, batch, alone) }
}

fn subtract(counters: Counters, words: &mut [u64], hash: u64) -> Option<bool> {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words hold all counters.
    unsafe { Eights(counters).subtract_one(words, hash) }
}

fn subtract_many(counters: Counters, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) -> u64 {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX-512, and the words hold all counters.
    unsafe { Eights(counters).subtract_all(words, batch, alone) }
}

/// Counters, wrapped to give them these loops. Functions take them in registers: a reader of the memory that they were
/// just put into would wait.
#[derive(Clone, Copy)]
struct Eights(Counters);

impl Eights {
    /// The mask of the lanes that have a counter.
    #[inline(always)]
    fn lanes(self) -> __mmask8 {
        u8::MAX >> (WIDTH as u32 - self.0.hashes)
    }

    /// The places of a hash, in all lanes below the number of counters.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn vector(self, hash: u64) -> __m512i {
        reduce(_mm512_mullo_epi64(all(hash), load(&POWERS)), all(self.0.range))
    }

    /// The words with the counters of a hash. `None` if two counters are in one word.
    ///
    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn words(self, words: &[u64], hash: u64) -> Option<Words> {
        let (places, lanes) = (self.vector(hash), self.lanes());
        let at = _mm512_srli_epi64::<4>(places);
        // Each pair of lanes is compared, some of them twice.
        let own = _mm512_mask_mov_epi64(load(&NOWHERE), lanes, at);
        let twice = _mm512_cmpeq_epi64_mask(own, _mm512_alignr_epi64::<1>(own, own))
            | _mm512_cmpeq_epi64_mask(own, _mm512_alignr_epi64::<2>(own, own))
            | _mm512_cmpeq_epi64_mask(own, _mm512_alignr_epi64::<3>(own, own))
            | _mm512_cmpeq_epi64_mask(own, _mm512_alignr_epi64::<4>(own, own));
        if twice != 0 {
            return None;
        }
        let at = numbers(at);
        // SAFETY: a place is below the number of counters, all of which lie in the words.
        let read = |lane: usize| unsafe { *words.get_unchecked(at[lane] as usize) } as i64;
        let before = _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0));
        let shifts = _mm512_and_si512(_mm512_slli_epi64::<2>(places), all(60));
        let counters = _mm512_and_si512(_mm512_srlv_epi64(before, shifts), all(GREATEST));
        Some(Words {
            at,
            before,
            ones: _mm512_sllv_epi64(all(1), shifts),
            zero: _mm512_testn_epi64_mask(counters, counters) & lanes,
            full: _mm512_cmpeq_epi64_mask(counters, all(GREATEST)),
        })
    }

    /// Writes words to the places of [`Eights::words`].
    ///
    /// # Safety
    /// The words hold all counters, and the places are those of these words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn write(self, words: &mut [u64], at: &Eight, after: __m512i) {
        for (at, after) in at.iter().zip(numbers(after)).take(self.0.hashes as usize) {
            // SAFETY: a place is below the number of counters, all of which lie in the words.
            *unsafe { words.get_unchecked_mut(*at as usize) } = after;
        }
    }

    /// The counters of a hash, in all lanes.
    ///
    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn counters(self, words: &[AtomicU64], hash: u64) -> __m512i {
        let places = self.vector(hash);
        let at = numbers(_mm512_srli_epi64::<4>(places));
        // SAFETY: a place is below the number of counters, all of which lie in the words.
        let read = |lane: usize| unsafe { words.get_unchecked(at[lane] as usize) }.load(Ordering::Relaxed) as i64;
        let read = _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0));
        let shifts = _mm512_and_si512(_mm512_slli_epi64::<2>(places), all(60));
        _mm512_and_si512(_mm512_srlv_epi64(read, shifts), all(GREATEST))
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn look_up(self, words: &[AtomicU64], hash: u64) -> bool {
        // SAFETY: the words hold all counters, as the safety section asks.
        let counters = unsafe { self.counters(words, hash) };
        _mm512_testn_epi64_mask(counters, counters) & self.lanes() == 0
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn least_one(self, words: &[AtomicU64], hash: u64) -> u64 {
        // SAFETY: the words hold all counters, as the safety section asks.
        let counters = unsafe { self.counters(words, hash) };
        _mm512_mask_reduce_min_epu64(self.lanes(), counters)
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn add_one(self, words: &mut [u64], hash: u64) -> Option<bool> {
        // SAFETY: the words hold all counters, as the safety section asks.
        let found = unsafe { self.words(words, hash) }?;
        let after = _mm512_mask_add_epi64(found.before, !found.full, found.before, found.ones);
        // SAFETY: as above, and the places are those of these words.
        unsafe { self.write(words, &found.at, after) };
        Some(found.zero != 0)
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn add_all(self, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) {
        let (asked, mut hashes) = (batch.is_asked(), [0; GROUP]);
        loop {
            let count = batch.next(&mut hashes);
            if count == 0 {
                return;
            }
            let mut answers = 0;
            for (i, hashes) in hashes[..count].chunks(WIDTH).enumerate() {
                // SAFETY: the words hold all counters, as the safety section asks.
                let together = |words: &mut [u64], eight| unsafe { self.add_eight(words, eight) };
                if !asked && hashes.first_chunk().is_some_and(|eight| together(words, eight)) {
                    continue;
                }
                for (lane, hash) in hashes.iter().enumerate() {
                    // SAFETY: as above.
                    let new = unsafe { self.add_one(words, *hash) }.unwrap_or_else(|| alone(self.0, words, *hash));
                    answers |= u64::from(new) << (i * WIDTH + lane);
                }
            }
            batch.answer(answers, count);
        }
    }

    /// Adds eight keys. Returns false, with nothing changed, if two counters of a key are the same, or if a counter is
    /// 8 or more. The eight keys add at most 8 to a counter below that, so none exceeds its greatest value.
    ///
    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn add_eight(self, words: &mut [u64], hashes: &Eight) -> bool {
        let (mut places, mut vectors) = ([[0; WIDTH]; WIDTH], [_mm512_setzero_si512(); WIDTH]);
        let (mut multiples, mut refused) = (load(hashes), 0);
        let hashes = self.0.hashes as usize;
        for i in 0..hashes {
            let at = reduce(multiples, all(self.0.range));
            multiples = _mm512_mullo_epi64(multiples, all(GOLDEN));
            for before in &vectors[..i] {
                refused |= _mm512_cmpeq_epi64_mask(*before, at);
            }
            (vectors[i], places[i]) = (at, numbers(at));
            // SAFETY: a place is below the number of counters, all of which lie in the words.
            let read = |key: usize| unsafe { *words.get_unchecked((places[i][key] / 16) as usize) } as i64;
            let read = _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0));
            let shifts = _mm512_and_si512(_mm512_slli_epi64::<2>(at), all(60));
            refused |= _mm512_test_epi64_mask(_mm512_srlv_epi64(read, shifts), all(HALF));
        }
        if refused != 0 {
            return false;
        }
        for place in places[..hashes].as_flattened() {
            // SAFETY: as above.
            *unsafe { words.get_unchecked_mut((place / 16) as usize) } += 1 << (place % 16 * 4);
        }
        true
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn subtract_one(self, words: &mut [u64], hash: u64) -> Option<bool> {
        // SAFETY: the words hold all counters, as the safety section asks.
        let found = unsafe { self.words(words, hash) }?;
        if found.zero == 0 {
            let after = _mm512_mask_sub_epi64(found.before, !found.full, found.before, found.ones);
            // SAFETY: as above, and the places are those of these words.
            unsafe { self.write(words, &found.at, after) };
        }
        Some(found.zero == 0)
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn subtract_all(self, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) -> u64 {
        let (mut hashes, mut done) = ([0; GROUP], 0);
        loop {
            let count = batch.next(&mut hashes);
            if count == 0 {
                return done;
            }
            let mut answers = 0;
            for (i, hash) in hashes[..count].iter().enumerate() {
                // SAFETY: the words hold all counters, as the safety section asks.
                let is_done = unsafe { self.subtract_one(words, *hash) }.unwrap_or_else(|| alone(self.0, words, *hash));
                answers |= u64::from(is_done) << i;
            }
            done += u64::from(answers.count_ones());
            batch.answer(answers, count);
        }
    }
}
