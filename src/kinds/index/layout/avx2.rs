//! The inner loops for AVX2, which looks the bits of half a byte up in a table.

use super::RowKernel;
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for AVX2.
pub static KERNEL: RowKernel = RowKernel { common, near };

/// How many bits each byte has set.
#[inline]
#[target_feature(enable = "avx2")]
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
#[target_feature(enable = "avx2")]
fn bits_of_words(vector: __m256i) -> __m256i {
    _mm256_sad_epu8(bits_of_bytes(vector), _mm256_setzero_si256())
}

/// Four words, which others may be changing.
#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[AtomicU64; 4]) -> __m256i {
    // SAFETY: four words are 32 readable bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    // SAFETY: `RowKernel` is chosen where the processor has AVX2 and POPCNT.
    unsafe { common_in(query, rows, counts) }
}

#[target_feature(enable = "avx2,popcnt")]
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
        let last = rest.iter().zip(row_rest).map(|(a, b)| (a & b.load(Ordering::Relaxed)).count_ones());
        *count = sums.iter().sum::<u64>() as u32 + last.sum::<u32>();
    }
}

fn near(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    // SAFETY: `RowKernel` is chosen where the processor has AVX2 and POPCNT.
    unsafe {
        match query.len() {
            1 => near_in::<1>(query, folds, most, places),
            2 => near_in::<2>(query, folds, most, places),
            4 => near_in::<4>(query, folds, most, places),
            _ => near_one_by_one(query, folds, most, places),
        }
    }
}

/// Folds of any number of words.
#[target_feature(enable = "avx2,popcnt")]
fn near_one_by_one(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    let (mut found, folds) = (0, folds.chunks_exact(query.len()));
    for (i, fold) in folds.take(places.len()).enumerate() {
        let distance: u32 = query.iter().zip(fold).map(|(a, b)| (a ^ b.load(Ordering::Relaxed)).count_ones()).sum();
        places[found] = i as u32;
        found += usize::from(distance <= most);
    }
    found
}

/// Folds of `N` words, which divides 4, so that a vector has whole folds.
#[target_feature(enable = "avx2,popcnt")]
fn near_in<const N: usize>(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    let repeated: [u64; 4] = core::array::from_fn(|i| query[i % N]);
    // SAFETY: four words are 32 readable bytes.
    let vector = unsafe { _mm256_loadu_si256(repeated.as_ptr().cast()) };
    let limit = _mm256_set1_epi64x(most.into());
    let folds = &folds[..folds.len().min(places.len() * N) / N * N];
    let (wholes, rest) = folds.as_chunks::<4>();
    // The first lane of every fold.
    let firsts = 0xf / ((1 << N) - 1);
    let mut found = 0;
    for (i, words) in wholes.iter().enumerate() {
        let mut sum = bits_of_words(_mm256_xor_si256(load(words), vector));
        if N >= 2 {
            sum = _mm256_add_epi64(sum, _mm256_permute4x64_epi64::<0b10_11_00_01>(sum));
        }
        if N >= 4 {
            sum = _mm256_add_epi64(sum, _mm256_permute4x64_epi64::<0b01_00_11_10>(sum));
        }
        let far = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(sum, limit)));
        let mut near = !far & firsts;
        while near != 0 {
            places[found] = (4 / N * i) as u32 + near.trailing_zeros() / N as u32;
            found += 1;
            near &= near - 1;
        }
    }
    let before = 4 / N * wholes.len();
    let last = near_one_by_one(query, rest, most, &mut places[found..]);
    places[found..found + last].iter_mut().for_each(|place| *place += before as u32);
    found + last
}
