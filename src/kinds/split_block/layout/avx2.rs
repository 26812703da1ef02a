//! The split-block layout for AVX2. The block of a key is scalar arithmetic, for which the processor has other ports,
//! so keys go one by one; the bits and the block are vectors.

use super::{SIGNED_SALTS, block, block_mut, fetch};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::prefetch;
use crate::blocks::block_kernel::avx2::{load_half_line, not_zero, words_of};
use crate::blocks::block_kernel::{BlockKernel, Fills, one_key_at_a_time, set_lacking};
use crate::hash::xxh3::avx2::hash_u64s;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX2.
pub static KERNEL: BlockKernel =
    BlockKernel { contains_one, insert_one, insert_one_shared, contains, insert, fills, contains_few, insert_few };

/// The bits of a key in the eight lanes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn bits_of(key: u64) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SIGNED_SALTS;
    let product = _mm256_mullo_epi32(_mm256_set1_epi32(key as i32), _mm256_setr_epi32(a, b, c, d, e, f, g, h));
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(product))
}

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let block = block(words, key);
    // SAFETY: a block is 32 readable bytes.
    let block = unsafe { load_half_line::<0>(block.as_ptr().cast()) };
    _mm256_testc_si256(block, bits_of(key)) == 1
}

/// Inserts a key; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one(words: &mut [u64], _: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<__m256i>();
    let bits = bits_of(key);
    // SAFETY: a block is 32 bytes, which are ours alone.
    unsafe {
        let old = _mm256_loadu_si256(block);
        _mm256_storeu_si256(block, _mm256_or_si256(old, bits));
        _mm256_testc_si256(old, bits) == 0
    }
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one_shared(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let block = block(words, key);
    prefetch(block);
    // SAFETY: a block is 32 readable bytes.
    let old = unsafe { load_half_line::<0>(block.as_ptr().cast()) };
    let lacking = _mm256_andnot_si256(old, bits_of(key));
    set_lacking(block, &words_of(lacking), not_zero(lacking))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fills(words: &[AtomicU64], _: u32) -> Fills {
    super::portable::fills(words)
}

one_key_at_a_time!(#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]);
