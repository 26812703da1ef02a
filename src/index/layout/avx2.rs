//! The inner loops for AVX2, which looks up the bits of half a byte in a table.

use super::RowKernel;
use super::folds::{Levels, MOST};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for AVX2.
pub static KERNEL: RowKernel = RowKernel { common, near };

/// How many bits each byte has set.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn bits_of_bytes(vector: __m256i) -> __m256i {
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    );
    let half = _mm256_set1_epi8(0xf);
    let low = _mm256_shuffle_epi8(table, _mm256_and_si256(vector, half));
    let high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(vector), half));
    _mm256_add_epi8(low, high)
}

/// How many bits each word has set.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn bits_of_words(vector: __m256i) -> __m256i {
    _mm256_sad_epu8(bits_of_bytes(vector), _mm256_setzero_si256())
}

/// Four words, which others may be changing.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load(words: &[AtomicU64; 4]) -> __m256i {
    // SAFETY: four words are 32 readable bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    // SAFETY: `RowKernel` is chosen where the processor has AVX2 and POPCNT.
    unsafe { common_in(query, rows, counts) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn common_in(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    let (wholes, rest) = query.as_chunks::<4>();
    for (count, row) in counts.iter_mut().zip(rows.chunks_exact(query.len())) {
        let (row_wholes, row_rest) = row.as_chunks::<4>();
        let mut sum = _mm256_setzero_si256();
        for (a, b) in wholes.iter().zip(row_wholes) {
            // SAFETY: four words are 32 readable bytes.
            let a = unsafe { _mm256_loadu_si256(a.as_ptr().cast()) };
            sum = _mm256_add_epi64(sum, bits_of_words(_mm256_and_si256(a, load(b))));
        }
        let mut sums = [0_u64; 4];
        // SAFETY: four words are 32 bytes, which are ours.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) };
        *count = sums.iter().sum::<u64>() as u32;
        for (a, b) in rest.iter().zip(row_rest) {
            *count += (a & b.load(Ordering::Relaxed)).count_ones();
        }
    }
}

fn near(query: &[u64], levels: &Levels<'_>, most: u32, places: &mut [u32]) -> usize {
    // SAFETY: `RowKernel` is chosen where the processor has AVX2 and POPCNT.
    unsafe {
        match query.len() {
            1 => near_in::<1, 1>(query, levels, most, places),
            2 => near_in::<2, 1>(query, levels, most, places),
            4 => near_in::<2, 2>(query, levels, most, places),
            _ => near_in::<2, 3>(query, levels, most, places),
        }
    }
}

/// Folds of `LEVELS` levels, the first of which has `FIRST` words.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn near_in<const FIRST: usize, const LEVELS: usize>(
    query: &[u64],
    levels: &Levels<'_>,
    most: u32,
    places: &mut [u32],
) -> usize {
    let mut asked = [_mm256_setzero_si256(); MOST];
    for (asked, word) in asked.iter_mut().zip(query) {
        *asked = _mm256_set1_epi64x(word.cast_signed());
    }
    // A vector has the lanes of half a block.
    let [coarse, second, third] = *levels;
    let (coarse, second, third) = (coarse.as_chunks::<4>().0, second.as_chunks::<4>().0, third.as_chunks::<4>().0);
    let most = _mm256_set1_epi64x(most.into());
    let mut found = 0;
    for (block, words) in coarse.chunks_exact(2 * FIRST).enumerate() {
        for half in 0..2 {
            let mut differences = [_mm256_setzero_si256(); MOST];
            let mut sum = _mm256_setzero_si256();
            for i in 0..FIRST {
                differences[i] = _mm256_xor_si256(load(&words[2 * i + half]), asked[i]);
                sum = _mm256_add_epi64(sum, bits_of_words(differences[i]));
            }
            let mut near = at_most(sum, most);
            if LEVELS >= 2 && near != 0 {
                near = at_most(refine::<2>(&mut differences, second, block, half, &asked), most);
            }
            if LEVELS >= 3 && near != 0 {
                near = at_most(refine::<4>(&mut differences, third, block, half, &asked), most);
            }
            if near == 0 {
                continue;
            }
            for lane in 0..4 {
                // Without a branch: `found` is at most the number of rows before.
                places[found] = (8 * block + 4 * half) as u32 + lane;
                found += (near >> lane & 1) as usize;
            }
        }
    }
    found
}

/// The lanes of `sum` that are at most `most`, as bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn at_most(sum: __m256i, most: __m256i) -> u32 {
    !_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(sum, most))).cast_unsigned() & 0xf
}

/// Turns the differences of folds of `N` words into those of `2 * N` words, and counts these in each lane.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn refine<const N: usize>(
    differences: &mut [__m256i; MOST],
    level: &[[AtomicU64; 4]],
    block: usize,
    half: usize,
    asked: &[__m256i; MOST],
) -> __m256i {
    let words = &level[2 * N * block..][..2 * N];
    let mut sum = _mm256_setzero_si256();
    for i in 0..N {
        let finer = _mm256_xor_si256(load(&words[2 * i + half]), asked[N + i]);
        let other = _mm256_xor_si256(finer, differences[i]);
        (differences[i], differences[N + i]) = (finer, other);
        sum = _mm256_add_epi64(sum, _mm256_add_epi64(bits_of_words(finer), bits_of_words(other)));
    }
    sum
}
