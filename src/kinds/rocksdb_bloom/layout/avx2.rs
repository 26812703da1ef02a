//! RocksDB's layout for AVX2: eight bits of a key at a time, each looked for in its 32-bit lane.

use super::{POWERS, block, fetch, portable};
use crate::batch::ring::{self, Batch, Few};
use crate::blocks::block_kernel::avx2::load_half_line;
use crate::blocks::block_kernel::{BlockKernel, Fills, one_key_at_a_time};
use crate::hash::xxh3::avx2::hash_u64s;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX2.
pub static KERNEL: BlockKernel =
    BlockKernel { contains_one, insert_one, insert_one_shared, contains, insert, fills, contains_few, insert_few };

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(block), load_half_line::<32>(block)) };
    let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let (state, mut missing) = (_mm256_set1_epi32((key >> 32) as i32), _mm256_setzero_si256());
    for (eight, powers) in POWERS.as_chunks::<8>().0.iter().enumerate().take(masks.len().div_ceil(8)) {
        // SAFETY: eight powers of 32 bits are 32 readable bytes.
        let powers = unsafe { _mm256_loadu_si256(powers.as_ptr().cast()) };
        let states = _mm256_mullo_epi32(state, powers);
        // Four bits choose the lane: three of them among the eight of a half, and the highest of all the half.
        let lane = _mm256_srli_epi32::<28>(states);
        let (low, high) = (_mm256_permutevar8x32_epi32(low, lane), _mm256_permutevar8x32_epi32(high, lane));
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let lanes = _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(states)));
        let bit = _mm256_and_si256(_mm256_srli_epi32::<23>(states), _mm256_set1_epi32(31));
        let bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
        // Only as many bits count as the key has.
        let left = _mm256_set1_epi32(masks.len() as i32 - 8 * eight as i32);
        let counted = _mm256_and_si256(bits, _mm256_cmpgt_epi32(left, numbers));
        missing = _mm256_or_si256(missing, _mm256_andnot_si256(lanes, counted));
    }
    _mm256_testz_si256(missing, missing) == 1
}

/// Inserts a key; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    portable::insert_one(words, masks, key)
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    portable::insert_one_shared(words, masks, key)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fills(words: &[AtomicU64], hashes: u32) -> Fills {
    portable::fills(words, hashes)
}

one_key_at_a_time!(#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]);
