//! The blocked layout for AVX2. Keys go one by one: the block and the lanes of a key are scalar arithmetic, for which
//! the processor has other ports. The bits and the block are two vectors each.

use super::two_blocks::in_two_blocks;
use super::{block, block_mut, fetch, lanes};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::{BYTES_OF_BITS, prefetch};
use crate::blocks::block_kernel::WIDE_SALTS;
use crate::blocks::block_kernel::avx2::{load_half_line, not_zero, words_of};
use crate::blocks::block_kernel::{BlockKernel, Fills, one_key_at_a_time, set_lacking};
use crate::hash::xxh3::avx2::hash_u64s;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX2.
pub static KERNEL: BlockKernel =
    BlockKernel { contains_one, insert_one, insert_one_shared, contains, insert, fills, contains_few, insert_few };

/// The bits of a key in each half of a block, one in each lane of its mask.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn bits_of(mask: u16, key: u64) -> [__m256i; 2] {
    let [a, b, c, d, e, f, g, h] = WIDE_SALTS;
    let key = _mm256_set1_epi64x(key as i64);
    let [low, high] = mask.to_le_bytes();
    [half_of(low, key, _mm256_setr_epi64x(a, b, c, d)), half_of(high, key, _mm256_setr_epi64x(e, f, g, h))]
}

/// The bits of a key in half a block.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn half_of(mask: u8, key: __m256i, salts: __m256i) -> __m256i {
    let product = _mm256_mul_epu32(key, salts);
    // Even lanes take bits 27 to 31 of the products, and odd lanes take bits 32 to 36.
    let numbers = _mm256_and_si256(_mm256_srlv_epi32(product, _mm256_set1_epi64x(27)), _mm256_set1_epi32(31));
    // The shifted number is 1 in the lanes of the mask and 0 in the others.
    let ones = BYTES_OF_BITS[usize::from(mask)];
    _mm256_sllv_epi32(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(ones as i64)), numbers)
}

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(block), load_half_line::<32>(block)) };
    let [low_bits, high_bits] = bits_of(lanes(masks, key), key);
    let missing = _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
    _mm256_testz_si256(missing, missing) == 1
}

/// Inserts a key. Returns true if it certainly was absent before.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<__m256i>();
    let [low_bits, high_bits] = bits_of(lanes(masks, key), key);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe {
        let (low, high) = (_mm256_loadu_si256(block), _mm256_loadu_si256(block.add(1)));
        _mm256_storeu_si256(block, _mm256_or_si256(low, low_bits));
        _mm256_storeu_si256(block.add(1), _mm256_or_si256(high, high_bits));
        let missing = _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
        _mm256_testz_si256(missing, missing) == 0
    }
}

/// Inserts a key while others insert too. Returns true if it certainly was absent before.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    prefetch(block);
    let address = block.as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(address), load_half_line::<32>(address)) };
    let [low_bits, high_bits] = bits_of(lanes(masks, key), key);
    let (low, high) = (_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
    let (low_half, high_half) = block.split_at(4);
    // The bits of both halves have to be set, even if the first half already had something new.
    set_lacking(low_half, &words_of(low), not_zero(low)) | set_lacking(high_half, &words_of(high), not_zero(high))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fills(words: &[AtomicU64], hashes: u32) -> Fills {
    super::fills::fills(words, hashes)
}

one_key_at_a_time!(#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]);
in_two_blocks!(#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]);
