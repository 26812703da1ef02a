//! The blocked layout for NEON: a block is four vectors.

use super::portable::insert_one_shared;
use super::two_blocks::in_two_blocks;
use super::{block, block_mut, fetch, lanes};
use crate::batch::ring::{self, Batch, Few};
use crate::blocks::block_kernel::SALTS;
use crate::blocks::block_kernel::neon::{are_zero, load, put_in, shifts, vector};
use crate::blocks::block_kernel::{BlockKernel, one_key_at_a_time};
use crate::hash::xxh3::portable::hash_u64s;
use core::arch::aarch64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for NEON.
pub static KERNEL: BlockKernel = BlockKernel {
    contains_one: |words, masks, key| contains_one(words, masks, key),
    insert_one: |words, masks, key| insert_one(words, masks, key),
    insert_one_shared: |words, masks, key| insert_one_shared(words, masks, key),
    contains,
    insert,
    fills: super::fills::fills,
    contains_few,
    insert_few,
};

/// The bits of a key in four lanes, zero in the lanes that the low bits of `mask` leave out. `quarter` says which
/// products these lanes take.
#[inline]
fn bits_in_quarter(key: u64, mask: u16, quarter: usize) -> uint32x4_t {
    // SAFETY: two numbers are read; the rest is arithmetic on registers.
    unsafe {
        let product = vmull_u32(vdup_n_u32(key as u32), vld1_u32(SALTS[2 * quarter..2 * quarter + 2].as_ptr()));
        // Even lanes take bits 27 to 31 of the products, and odd lanes take bits 32 to 36.
        let numbers = vshlq_u32(vreinterpretq_u32_u64(product), shifts([-27, 0, -27, 0]));
        let numbers = vandq_u32(numbers, vdupq_n_u32(31));
        // In chosen lanes all ones are shifted down to a single one, and then up to its place.
        let chosen = vtstq_u32(vdupq_n_u32(mask.into()), vector([1, 2, 4, 8]));
        vshlq_u32(vshrq_n_u32::<31>(chosen), vreinterpretq_s32_u32(numbers))
    }
}

/// The bits of a key in all sixteen lanes.
#[inline]
fn bits_of(key: u64, masks: &[u16]) -> [uint32x4_t; 4] {
    let mask = lanes(masks, key);
    core::array::from_fn(|quarter| bits_in_quarter(key, mask >> (4 * quarter), quarter))
}

/// Whether a key may be there.
#[inline]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    let bits = bits_of(key, masks);
    // SAFETY: a block is 64 readable bytes.
    are_zero((0..4).map(|quarter| unsafe { vbicq_u32(bits[quarter], load(block.add(2 * quarter))) }))
}

/// Inserts a key. Returns true if it certainly was absent before.
#[inline]
fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast();
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe { put_in(block, bits_of(key, masks)) }
}

one_key_at_a_time!();
in_two_blocks!();
