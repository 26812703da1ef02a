//! The inner loops for AVX-512 with VPOPCNTDQ: eight words at a time.

use super::RowKernel;
use super::folds::{Levels, MOST};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512 with VPOPCNTDQ.
pub static KERNEL: RowKernel = RowKernel { common, near };

/// The lanes of `words` words.
fn lanes(words: usize) -> u8 {
    if words >= 8 { 0xff } else { (1 << words) - 1 }
}

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    // SAFETY: `RowKernel` is chosen where the processor has these instructions.
    unsafe { common_in(query, rows, counts) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn common_in(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    let (wholes, rest) = query.as_chunks::<8>();
    let tail = lanes(rest.len());
    for (count, row) in counts.iter_mut().zip(rows.chunks_exact(query.len())) {
        let (mut sum, mut other) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        let (row_wholes, row_rest) = row.as_chunks::<8>();
        for (i, (a, b)) in wholes.iter().zip(row_wholes).enumerate() {
            // SAFETY: eight words are 64 readable bytes.
            let both = unsafe {
                _mm512_and_si512(_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast()))
            };
            let ones = _mm512_popcnt_epi64(both);
            // Two sums, so that additions need not wait for each other.
            match i % 2 {
                0 => sum = _mm512_add_epi64(sum, ones),
                _ => other = _mm512_add_epi64(other, ones),
            }
        }
        if tail != 0 {
            // SAFETY: the lanes of the mask are the words that are left of both.
            let both = unsafe {
                _mm512_and_si512(
                    _mm512_maskz_loadu_epi64(tail, rest.as_ptr().cast()),
                    _mm512_maskz_loadu_epi64(tail, row_rest.as_ptr().cast()),
                )
            };
            other = _mm512_add_epi64(other, _mm512_popcnt_epi64(both));
        }
        *count = _mm512_reduce_add_epi64(_mm512_add_epi64(sum, other)) as u32;
    }
}

fn near(query: &[u64], levels: &Levels<'_>, most: u32, places: &mut [u32]) -> usize {
    // SAFETY: `RowKernel` is chosen where the processor has these instructions.
    unsafe {
        match query.len() {
            1 => near_in::<1, 1>(query, levels, most, places),
            2 => near_in::<2, 1>(query, levels, most, places),
            4 => near_in::<2, 2>(query, levels, most, places),
            _ => near_in::<2, 3>(query, levels, most, places),
        }
    }
}

/// Eight words, which others may be changing.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn load(words: &[AtomicU64; 8]) -> __m512i {
    // SAFETY: eight words are 64 readable bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Folds of `LEVELS` levels, the first of which has `FIRST` words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn near_in<const FIRST: usize, const LEVELS: usize>(
    query: &[u64],
    levels: &Levels<'_>,
    most: u32,
    places: &mut [u32],
) -> usize {
    let mut asked = [_mm512_setzero_si512(); MOST];
    for (asked, word) in asked.iter_mut().zip(query) {
        *asked = _mm512_set1_epi64(word.cast_signed());
    }
    let [coarse, second, third] = *levels;
    let (coarse, second, third) = (coarse.as_chunks::<8>().0, second.as_chunks::<8>().0, third.as_chunks::<8>().0);
    let (most, lanes) = (_mm512_set1_epi64(most.into()), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    let mut found = 0;
    for (block, words) in coarse.chunks_exact(FIRST).enumerate() {
        let mut differences = [_mm512_setzero_si512(); MOST];
        let mut sum = _mm512_setzero_si512();
        for i in 0..FIRST {
            differences[i] = _mm512_xor_si512(load(&words[i]), asked[i]);
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(differences[i]));
        }
        let mut near = _mm512_cmple_epu64_mask(sum, most);
        if LEVELS >= 2 && near != 0 {
            near = _mm512_cmple_epu64_mask(refine::<2>(&mut differences, second, block, &asked), most);
        }
        if LEVELS >= 3 && near != 0 {
            near = _mm512_cmple_epu64_mask(refine::<4>(&mut differences, third, block, &asked), most);
        }
        if near == 0 {
            continue;
        }
        let rows = _mm256_add_epi32(_mm256_set1_epi32(8 * block as i32), lanes);
        let room = &mut places[found..found + 8];
        // SAFETY: eight places are 32 writable bytes.
        unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), _mm256_maskz_compress_epi32(near, rows)) };
        found += near.count_ones() as usize;
    }
    found
}

/// Turns the differences of folds of `N` words into those of `2 * N` words, and counts these in each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn refine<const N: usize>(
    differences: &mut [__m512i; MOST],
    level: &[[AtomicU64; 8]],
    block: usize,
    asked: &[__m512i; MOST],
) -> __m512i {
    let words = &level[N * block..][..N];
    let mut sum = _mm512_setzero_si512();
    for i in 0..N {
        let finer = _mm512_xor_si512(load(&words[i]), asked[N + i]);
        let other = _mm512_xor_si512(finer, differences[i]);
        (differences[i], differences[N + i]) = (finer, other);
        sum = _mm512_add_epi64(sum, _mm512_add_epi64(_mm512_popcnt_epi64(finer), _mm512_popcnt_epi64(other)));
    }
    sum
}
