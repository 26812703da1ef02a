//! Counters of four bits for AVX2, as for AVX-512. A key has at most eight counters. The places of a key's counters are
//! two vectors, and the words that hold these counters are two more.

use super::kernel::{Alone, Counters, GREATEST, Kernel};
use crate::batch::ring::{self, Batch, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::four::{Four, WIDTH, all, load, multiply, reduce, signs, store};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for AVX2.
pub(super) static KERNEL: Kernel =
    Kernel { fetch_from: || 8 * ring::far_from(), contains, least, add, add_many, subtract, subtract_many };

/// The multiplier of the hash for each place.
const POWERS: [Four; 2] = {
    let (mut powers, mut power, mut i) = ([[0; WIDTH]; 2], 1, 0);
    while i < 2 * WIDTH {
        powers[i / WIDTH][i % WIDTH] = power;
        power = GOLDEN.wrapping_mul(power);
        i += 1;
    }
    powers
};

/// Numbers of 32 bits that are not the place of any word, different in each lane.
const NOWHERE: [u32; 8] = [1 << 30, 2 << 30, 3 << 30, 1 << 29, 3 << 29, 5 << 29, 7 << 29, 1 << 28];

/// The numbers of the lanes of two vectors, as [`Fours::words`] interleaves them.
const INTERLEAVED: [u32; 8] = [0, 1, 4, 5, 2, 3, 6, 7];

/// Eight numbers in one cache line, so that a store and the reads after it do not wait for a second line.
#[repr(align(64))]
struct Line([Four; 2]);

/// The words with the counters of a key, all different.
struct Words {
    at: Line,
    halves: [Half; 2],
}

/// The words with four counters.
struct Half {
    /// The words before a change.
    before: __m256i,
    /// A one in the lowest bit of each counter.
    ones: __m256i,
    /// The lanes with all bits set whose counters are 0, and those whose counters have their greatest value.
    zero: __m256i,
    full: __m256i,
}

impl Half {
    /// The counters at these places, which are in these words.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn new(before: __m256i, places: __m256i) -> Half {
        let counters = counters_in(before, places);
        Half {
            before,
            ones: _mm256_sllv_epi64(all(1), shifts(places)),
            zero: _mm256_cmpeq_epi64(counters, _mm256_setzero_si256()),
            full: _mm256_cmpeq_epi64(counters, all(GREATEST)),
        }
    }

    /// A one for each counter that may still change.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn steps(&self) -> __m256i {
        _mm256_andnot_si256(self.full, self.ones)
    }
}

/// The vector of eight numbers of 32 bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn halves(numbers: &[u32; 8]) -> __m256i {
    // SAFETY: eight numbers of 32 bits are 32 readable bytes.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// Where the lanes of a vector come from when it is rotated by one lane of 32 bits, by two, by three and by four.
const ROTATIONS: [[u32; 8]; 4] =
    [[1, 2, 3, 4, 5, 6, 7, 0], [2, 3, 4, 5, 6, 7, 0, 1], [3, 4, 5, 6, 7, 0, 1, 2], [4, 5, 6, 7, 0, 1, 2, 3]];

/// The numbers of two vectors.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn stored([first, second]: [__m256i; 2]) -> Line {
    let mut line = Line([[0; WIDTH]; 2]);
    store(&mut line.0[0], first);
    store(&mut line.0[1], second);
    line
}

/// The bits of their words below the counters at these places.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn shifts(places: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_slli_epi64::<2>(places), all(60))
}

/// The counters at these places, which are in these words.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn counters_in(words: __m256i, places: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_srlv_epi64(words, shifts(places)), all(GREATEST))
}

/// The counters at four places. Like all that the loops below call, it takes no closure over an array, which would
/// stay a call where parts of a crate are not optimised together.
///
/// # Safety
/// The places are below the number of counters, all of which lie in the words.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn counters_at(words: &[AtomicU64], places: __m256i) -> __m256i {
    let mut at = [0; WIDTH];
    store(&mut at, _mm256_srli_epi64::<4>(places));
    // SAFETY: the words have all counters, as the safety section asks.
    let read = |lane: usize| unsafe { words.get_unchecked(at[lane] as usize) }.load(Ordering::Relaxed) as i64;
    counters_in(_mm256_set_epi64x(read(3), read(2), read(1), read(0)), places)
}

/// The words at four places.
///
/// # Safety
/// All places are in the words.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn words_at(words: &[u64], at: &Four) -> __m256i {
    // SAFETY: all places are in the words, as the safety section asks.
    let read = |lane: usize| unsafe { *words.get_unchecked(at[lane] as usize) } as i64;
    _mm256_set_epi64x(read(3), read(2), read(1), read(0))
}

/// The highest bit of each lane of two vectors.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn eight_signs([first, second]: [__m256i; 2]) -> u8 {
    signs(first) | signs(second) << WIDTH
}

fn contains(counters: Counters, words: &[AtomicU64], hash: u64) -> bool {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words hold all counters.
    unsafe { Fours(counters).look_up(words, hash) }
}

fn least(counters: Counters, words: &[AtomicU64], hash: u64) -> u64 {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words hold all counters.
    unsafe { Fours(counters).least_one(words, hash) }
}

fn add(counters: Counters, words: &mut [u64], hash: u64) -> Option<bool> {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words hold all counters.
    unsafe { Fours(counters).add_one(words, hash) }
}

fn add_many(counters: Counters, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words hold all counters.
    unsafe { Fours(counters).add_all(words, batch, alone) }
}

fn subtract(counters: Counters, words: &mut [u64], hash: u64) -> Option<bool> {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words hold all counters.
    unsafe { Fours(counters).subtract_one(words, hash) }
}

fn subtract_many(counters: Counters, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) -> u64 {
    assert!(counters.are_in(words.len()));
    // SAFETY: this kernel is given out for processors that have AVX2, and the words hold all counters.
    unsafe { Fours(counters).subtract_all(words, batch, alone) }
}

/// Counters, wrapped to give them these loops. Functions take them in registers: a reader of the memory that they were
/// just put into would wait.
#[derive(Clone, Copy)]
struct Fours(Counters);

impl Fours {
    /// The lanes that have a counter.
    #[inline(always)]
    fn lanes(self) -> u8 {
        u8::MAX >> (8 - self.0.hashes)
    }

    /// The places of a hash, in all lanes below the number of counters.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn vectors(self, hash: u64) -> [__m256i; 2] {
        let [first, second] = &POWERS;
        let (hash, range) = (all(hash), all(self.0.range));
        [reduce(multiply(hash, load(first)), range), reduce(multiply(hash, load(second)), range)]
    }

    /// The words with the counters of a hash. `None` if two counters are in one word.
    ///
    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn words(self, words: &[u64], hash: u64) -> Option<Words> {
        let places = self.vectors(hash);
        let at = [_mm256_srli_epi64::<4>(places[0]), _mm256_srli_epi64::<4>(places[1])];
        // All places as one vector of 32 bits each. Each pair of lanes is compared, some of them twice.
        let (first, second) = (_mm256_castsi256_ps(at[0]), _mm256_castsi256_ps(at[1]));
        let own = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second));
        let is_own = _mm256_cmpgt_epi32(_mm256_set1_epi32(self.0.hashes as i32), halves(&INTERLEAVED));
        let own = _mm256_blendv_epi8(halves(&NOWHERE), own, is_own);
        let mut twice = _mm256_setzero_si256();
        for by in &ROTATIONS {
            twice = _mm256_or_si256(twice, _mm256_cmpeq_epi32(own, _mm256_permutevar8x32_epi32(own, halves(by))));
        }
        if _mm256_testz_si256(twice, twice) == 0 {
            return None;
        }
        let at = stored(at);
        // SAFETY: a place is below the number of counters, all of which lie in the words.
        let before = unsafe { [words_at(words, &at.0[0]), words_at(words, &at.0[1])] };
        Some(Words { at, halves: [Half::new(before[0], places[0]), Half::new(before[1], places[1])] })
    }

    /// Writes words to the places of [`Fours::words`].
    ///
    /// # Safety
    /// The words hold all counters, and the places are those of these words.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn write(self, words: &mut [u64], at: &Line, after: [__m256i; 2]) {
        let after = stored(after);
        for (at, after) in at.0.as_flattened().iter().zip(after.0.as_flattened()).take(self.0.hashes as usize) {
            // SAFETY: a place is below the number of counters, all of which lie in the words.
            *unsafe { words.get_unchecked_mut(*at as usize) } = *after;
        }
    }

    /// The counters of a hash, in all lanes.
    ///
    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn counters(self, words: &[AtomicU64], hash: u64) -> [__m256i; 2] {
        let [first, second] = self.vectors(hash);
        // SAFETY: the words hold all counters, as the safety section asks.
        unsafe { [counters_at(words, first), counters_at(words, second)] }
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn look_up(self, words: &[AtomicU64], hash: u64) -> bool {
        // SAFETY: the words hold all counters, as the safety section asks.
        let counters = unsafe { self.counters(words, hash) };
        let none = _mm256_setzero_si256();
        let zero = [_mm256_cmpeq_epi64(counters[0], none), _mm256_cmpeq_epi64(counters[1], none)];
        eight_signs(zero) & self.lanes() == 0
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn least_one(self, words: &[AtomicU64], hash: u64) -> u64 {
        // SAFETY: the words hold all counters, as the safety section asks.
        let counters = unsafe { self.counters(words, hash) };
        let least = stored(counters).0.as_flattened().iter().take(self.0.hashes as usize).min().copied();
        least.unwrap_or(0)
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn add_one(self, words: &mut [u64], hash: u64) -> Option<bool> {
        // SAFETY: the words hold all counters, as the safety section asks.
        let Words { at, halves: [a, b] } = unsafe { self.words(words, hash) }?;
        let after = [_mm256_add_epi64(a.before, a.steps()), _mm256_add_epi64(b.before, b.steps())];
        // SAFETY: as above, and the places are those of these words.
        unsafe { self.write(words, &at, after) };
        Some(eight_signs([a.zero, b.zero]) & self.lanes() != 0)
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn add_all(self, words: &mut [u64], batch: &mut dyn Batch, alone: Alone) {
        let mut hashes = [0; GROUP];
        loop {
            let count = batch.next(&mut hashes);
            if count == 0 {
                return;
            }
            let mut answers = 0;
            for (i, hash) in hashes[..count].iter().enumerate() {
                // SAFETY: the words hold all counters, as the safety section asks.
                let new = unsafe { self.add_one(words, *hash) }.unwrap_or_else(|| alone(self.0, words, *hash));
                answers |= u64::from(new) << i;
            }
            batch.answer(answers, count);
        }
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn subtract_one(self, words: &mut [u64], hash: u64) -> Option<bool> {
        // SAFETY: the words hold all counters, as the safety section asks.
        let Words { at, halves: [a, b] } = unsafe { self.words(words, hash) }?;
        let is_there = eight_signs([a.zero, b.zero]) & self.lanes() == 0;
        if is_there {
            let after = [_mm256_sub_epi64(a.before, a.steps()), _mm256_sub_epi64(b.before, b.steps())];
            // SAFETY: as above, and the places are those of these words.
            unsafe { self.write(words, &at, after) };
        }
        Some(is_there)
    }

    /// # Safety
    /// The words hold all counters ([`Counters::are_in`]).
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
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
