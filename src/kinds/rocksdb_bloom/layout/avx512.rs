//! RocksDB's layout for AVX-512: a block is one vector, and sixteen bits of a key are looked for together, each in its
//! 32-bit lane.

use super::{POWERS, block, fetch, portable};
use crate::batch::ring::{self, Batch, Few};
use crate::blocks::block_kernel::avx512::load_line;
use crate::blocks::block_kernel::{BlockKernel, Fills, one_key_at_a_time};
use crate::hash::xxh3::avx512::hash_u64s;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub static KERNEL: BlockKernel =
    BlockKernel { contains_one, insert_one, insert_one_shared, contains, insert, fills, contains_few, insert_few };

/// Which bits of a key a block lacks, among the sixteen bits that these powers of the multiplier give and that are in
/// the mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn missing(block: __m512i, key: u64, powers: &[u32; 16], mask: u16) -> u16 {
    // SAFETY: sixteen numbers are a vector.
    let powers = unsafe { _mm512_loadu_si512(powers.as_ptr().cast()) };
    let states = _mm512_mullo_epi32(_mm512_set1_epi32((key >> 32) as i32), powers);
    // Four bits choose the lane, and five the bit in it, which are all that a rotation looks at.
    let lanes = _mm512_permutexvar_epi32(_mm512_srli_epi32::<28>(states), block);
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32::<23>(states));
    _mm512_mask_testn_epi32_mask(mask, lanes, bits)
}

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    // SAFETY: a block is 64 readable bytes.
    let block = unsafe { load_line(block(words, key).as_ptr().cast()) };
    let [first, second] = *POWERS.as_chunks::<16>().0 else { return true };
    let mask = (1_u32 << (masks.len() % 32)).wrapping_sub(1);
    let mut missed = missing(block, key, &first, mask as u16);
    if masks.len() > 16 {
        missed |= missing(block, key, &second, (mask >> 16) as u16);
    }
    missed == 0
}

/// Inserts a key; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    portable::insert_one(words, masks, key)
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    portable::insert_one_shared(words, masks, key)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn fills(words: &[AtomicU64], hashes: u32) -> Fills {
    portable::fills(words, hashes)
}

one_key_at_a_time!(#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]);
