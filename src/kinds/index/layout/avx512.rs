//! The inner loops for AVX-512 with VPOPCNTDQ: eight words at a time.

use super::RowKernel;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512 with VPOPCNTDQ.
pub static KERNEL: RowKernel = RowKernel { common, near };

/// The lanes of so many words.
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

fn near(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    // SAFETY: `RowKernel` is chosen where the processor has these instructions.
    unsafe {
        match query.len() {
            1 => near_in::<1>(query, folds, most, places),
            2 => near_in::<2>(query, folds, most, places),
            4 => near_in::<4>(query, folds, most, places),
            8 => near_in::<8>(query, folds, most, places),
            _ => (super::portable::KERNEL.near)(query, folds, most, places),
        }
    }
}

/// Folds of `N` words, which divides 8, so that a vector has whole folds.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn near_in<const N: usize>(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    let repeated: [u64; 8] = core::array::from_fn(|i| query[i % N]);
    // SAFETY: eight words are 64 readable bytes.
    let query = unsafe { _mm512_loadu_si512(repeated.as_ptr().cast()) };
    let most = _mm512_set1_epi64(most.into());
    let folds = &folds[..folds.len().min(places.len() * N) / N * N];
    // The first lane of every fold.
    let firsts = (0xff_u16 / ((1 << N) - 1)) as u8;
    let mut found = 0;
    for (i, words) in folds.chunks(8).enumerate() {
        let there = lanes(words.len());
        // SAFETY: the lanes of the mask are the words that there are.
        let words = unsafe { _mm512_maskz_loadu_epi64(there, words.as_ptr().cast()) };
        let mut sum = _mm512_popcnt_epi64(_mm512_xor_si512(words, query));
        if N >= 2 {
            sum = _mm512_add_epi64(sum, _mm512_permutex_epi64::<0b10_11_00_01>(sum));
        }
        if N >= 4 {
            sum = _mm512_add_epi64(sum, _mm512_permutex_epi64::<0b01_00_11_10>(sum));
        }
        if N >= 8 {
            sum = _mm512_add_epi64(sum, _mm512_shuffle_i64x2::<0b01_00_11_10>(sum, sum));
        }
        let mut near = _mm512_mask_cmple_epu64_mask(there & firsts, sum, most);
        while near != 0 {
            places[found] = (8 / N * i) as u32 + near.trailing_zeros() / N as u32;
            found += 1;
            near &= near - 1;
        }
    }
    found
}
