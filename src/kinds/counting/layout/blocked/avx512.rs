//! Counters of one line for AVX-512. A block is one vector of sixteen lanes, and a mask says which lanes a key uses.

use super::{LineKernel, Lines, one_key_at_a_time};
use crate::batch::ring::{self, Batch};
use crate::blocks::block_kernel::WIDE_SALTS;
use crate::blocks::block_kernel::avx512::load_line;
use crate::kinds::blocked::layout::{block, block_mut, fetch, lanes};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub static KERNEL: LineKernel =
    LineKernel { contains_one, least_one, add_one, subtract_one, contains, least, add, subtract };

/// Where the counter of each lane starts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn starts(lines: Lines, key: u64) -> __m512i {
    let [a, b, c, d, e, f, g, h] = WIDE_SALTS;
    let product = _mm512_mul_epu32(_mm512_set1_epi64(key as i64), _mm512_setr_epi64(a, b, c, d, e, f, g, h));
    // Even lanes take bits 27 to 31 of the products, and odd lanes take bits 32 to 36. The lowest of these bits only
    // say a place within the counter.
    let numbers = _mm512_srlv_epi32(product, _mm512_set1_epi64(27));
    _mm512_and_si512(numbers, _mm512_set1_epi32(lines.start_bits() as i32))
}

/// All bits of the counter of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn counters(lines: Lines, starts: __m512i) -> __m512i {
    _mm512_sllv_epi32(_mm512_set1_epi32(lines.greatest() as i32), starts)
}

/// A one in each lane of the key whose counter has not reached its greatest value: the number to add or to subtract.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn ones(mask: u16, block: __m512i, starts: __m512i, counters: __m512i) -> __m512i {
    let changing = _mm512_mask_cmpneq_epi32_mask(mask, _mm512_and_si512(block, counters), counters);
    _mm512_maskz_sllv_epi32(changing, _mm512_set1_epi32(1), starts)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], lines: Lines, key: u64) -> bool {
    // SAFETY: a block is 64 readable bytes.
    let block = unsafe { load_line(block(words, key).as_ptr().cast()) };
    _mm512_mask_testn_epi32_mask(lanes(lines.masks, key), counters(lines, starts(lines, key)), block) == 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn least_one(words: &[AtomicU64], lines: Lines, key: u64) -> u64 {
    // SAFETY: a block is 64 readable bytes.
    let block = unsafe { load_line(block(words, key).as_ptr().cast()) };
    let starts = starts(lines, key);
    let values = _mm512_srlv_epi32(_mm512_and_si512(block, counters(lines, starts)), starts);
    _mm512_mask_reduce_min_epu32(lanes(lines.masks, key), values).into()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn add_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let address = block_mut(words, key).as_mut_ptr().cast();
    let (mask, starts) = (lanes(lines.masks, key), starts(lines, key));
    let counters = counters(lines, starts);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe {
        let block = _mm512_loadu_si512(address);
        _mm512_storeu_si512(address, _mm512_add_epi32(block, ones(mask, block, starts, counters)));
        _mm512_mask_testn_epi32_mask(mask, counters, block) != 0
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn subtract_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let address = block_mut(words, key).as_mut_ptr().cast();
    let (mask, starts) = (lanes(lines.masks, key), starts(lines, key));
    let counters = counters(lines, starts);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe {
        let block = _mm512_loadu_si512(address);
        let is_there = _mm512_mask_testn_epi32_mask(mask, counters, block) == 0;
        if is_there {
            _mm512_storeu_si512(address, _mm512_sub_epi32(block, ones(mask, block, starts, counters)));
        }
        is_there
    }
}

one_key_at_a_time!(#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]);
