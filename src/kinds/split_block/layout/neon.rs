//! The split-block layout for NEON: a block is two vectors.

use super::{block, block_mut, fetch, portable};
use crate::batch::ring::{self, Batch, Few};
use crate::blocks::block_kernel::SALTS;
use crate::blocks::block_kernel::neon::{are_zero, load, put_in};
use crate::blocks::block_kernel::{BlockKernel, one_key_at_a_time};
use crate::hash::xxh3::portable::hash_u64s;
use core::arch::aarch64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for NEON.
pub static KERNEL: BlockKernel = BlockKernel {
    contains_one: |words, masks, key| contains_one(words, masks, key),
    insert_one: |words, masks, key| insert_one(words, masks, key),
    insert_one_shared: |words, masks, key| portable::insert_one_shared(words, masks, key),
    contains,
    insert,
    fills: |words, _| portable::fills(words),
    contains_few,
    insert_few,
};

/// The bits of a key in the eight lanes.
#[inline]
fn bits_of(key: u64) -> [uint32x4_t; 2] {
    core::array::from_fn(|half| {
        // SAFETY: four numbers are read; the rest is arithmetic on registers.
        unsafe {
            let product = vmulq_n_u32(vld1q_u32(SALTS[4 * half..4 * half + 4].as_ptr()), key as u32);
            vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vshrq_n_u32::<27>(product)))
        }
    })
}

/// Whether a key may be there.
#[inline]
fn contains_one(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    let bits = bits_of(key);
    // SAFETY: a block is 32 readable bytes.
    are_zero((0..2).map(|half| unsafe { vbicq_u32(bits[half], load(block.add(2 * half))) }))
}

/// Inserts a key; true if it certainly was not there.
#[inline]
fn insert_one(words: &mut [u64], _: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast();
    // SAFETY: a block is 32 bytes, which are ours alone.
    unsafe { put_in(block, bits_of(key)) }
}

one_key_at_a_time!();
