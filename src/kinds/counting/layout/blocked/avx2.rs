//! Counters of one line for AVX2. The halves of a block are two vectors. The lowest bits of a key's counters are two
//! vectors as well, with 0 in the lanes that the key does not use.

use super::{LineKernel, Lines, one_key_at_a_time};
use crate::batch::ring::{self, Batch};
use crate::bits::BYTES_OF_BITS;
use crate::blocks::block_kernel::WIDE_SALTS;
use crate::blocks::block_kernel::avx2::load_half_line;
use crate::kinds::blocked::layout::{block, block_mut, fetch, lanes};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX2.
pub static KERNEL: LineKernel =
    LineKernel { contains_one, least_one, add_one, subtract_one, contains, least, add, subtract };

/// The counters of a key in half of a block.
struct Half {
    /// Where the counter of each lane starts, even in lanes that the key does not use.
    starts: __m256i,
    /// The lowest bits of the key's counters.
    lowest: __m256i,
    /// All bits of the key's counters.
    counters: __m256i,
}

/// The counters of a key in each half of a block.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn halves(lines: Lines, key: u64) -> [Half; 2] {
    let [a, b, c, d, e, f, g, h] = WIDE_SALTS;
    let ([low, high], key) = (lanes(lines.masks, key).to_le_bytes(), _mm256_set1_epi64x(key as i64));
    [half(lines, low, key, _mm256_setr_epi64x(a, b, c, d)), half(lines, high, key, _mm256_setr_epi64x(e, f, g, h))]
}

/// The counters of a key in half a block.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn half(lines: Lines, mask: u8, key: __m256i, salts: __m256i) -> Half {
    let (start_bits, width) = (_mm256_set1_epi32(lines.start_bits() as i32), _mm_cvtsi32_si128(lines.width as i32));
    let product = _mm256_mul_epu32(key, salts);
    // Even lanes take bits 27 to 31 of the products, and odd lanes take bits 32 to 36.
    let starts = _mm256_and_si256(_mm256_srlv_epi32(product, _mm256_set1_epi64x(27)), start_bits);
    let ones = BYTES_OF_BITS[usize::from(mask)];
    let lowest = _mm256_sllv_epi32(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(ones as i64)), starts);
    // The bit above a counter minus its lowest bit gives all bits of the counter, even if the bit above falls out of
    // the lane.
    Half { starts, lowest, counters: _mm256_sub_epi32(_mm256_sll_epi32(lowest, width), lowest) }
}

impl Half {
    /// All ones in the lanes of the key whose counters are 0.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn zeros(&self, block: __m256i) -> __m256i {
        let zero = _mm256_setzero_si256();
        let not_the_keys = _mm256_cmpeq_epi32(self.counters, zero);
        _mm256_andnot_si256(not_the_keys, _mm256_cmpeq_epi32(_mm256_and_si256(block, self.counters), zero))
    }

    /// A one in each lane of the key whose counter has not reached its greatest value: the number to add or to
    /// subtract.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn ones(&self, block: __m256i) -> __m256i {
        let saturated = _mm256_cmpeq_epi32(_mm256_and_si256(block, self.counters), self.counters);
        _mm256_andnot_si256(saturated, self.lowest)
    }

    /// The counters, with the greatest number in the lanes that the key does not use.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn values(&self, block: __m256i) -> __m256i {
        let not_the_keys = _mm256_cmpeq_epi32(self.counters, _mm256_setzero_si256());
        _mm256_or_si256(not_the_keys, _mm256_srlv_epi32(_mm256_and_si256(block, self.counters), self.starts))
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], lines: Lines, key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(block), load_half_line::<32>(block)) };
    let [of_low, of_high] = halves(lines, key);
    let zeros = _mm256_or_si256(of_low.zeros(low), of_high.zeros(high));
    _mm256_testz_si256(zeros, zeros) == 1
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn least_one(words: &[AtomicU64], lines: Lines, key: u64) -> u64 {
    let block = block(words, key).as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(block), load_half_line::<32>(block)) };
    let [of_low, of_high] = halves(lines, key);
    let eight = _mm256_min_epu32(of_low.values(low), of_high.values(high));
    let four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
    let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
    (_mm_cvtsi128_si32(one) as u32).into()
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn add_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<__m256i>();
    let [of_low, of_high] = halves(lines, key);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe {
        let (low, high) = (_mm256_loadu_si256(block), _mm256_loadu_si256(block.add(1)));
        _mm256_storeu_si256(block, _mm256_add_epi32(low, of_low.ones(low)));
        _mm256_storeu_si256(block.add(1), _mm256_add_epi32(high, of_high.ones(high)));
        let zeros = _mm256_or_si256(of_low.zeros(low), of_high.zeros(high));
        _mm256_testz_si256(zeros, zeros) == 0
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn subtract_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<__m256i>();
    let [of_low, of_high] = halves(lines, key);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe {
        let (low, high) = (_mm256_loadu_si256(block), _mm256_loadu_si256(block.add(1)));
        let zeros = _mm256_or_si256(of_low.zeros(low), of_high.zeros(high));
        let is_there = _mm256_testz_si256(zeros, zeros) == 1;
        if is_there {
            _mm256_storeu_si256(block, _mm256_sub_epi32(low, of_low.ones(low)));
            _mm256_storeu_si256(block.add(1), _mm256_sub_epi32(high, of_high.ones(high)));
        }
        is_there
    }
}

one_key_at_a_time!(#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]);
