//! The kernels for NEON, which every aarch64 processor has. Block, lanes and hash of a key are scalar arithmetic; its
//! bits are vectors of four lanes.

use super::fills;
use super::layout::{SALTS, SPLIT_BLOCK_WORDS, block, block_mut, lanes, split_block_start};
use super::portable::{self, blocked_fetch, split_block_fetch};
use super::{BlockKernel, Kernel, Kernels};
use crate::bits::prefetch;
use crate::bits::ring::{self, Batch, Few, answer_few, inserting, nothing, rolling};
use core::arch::aarch64::*;
use core::sync::atomic::AtomicU64;

static KERNELS: Kernels = Kernels {
    kernel: Kernel::Neon,
    hash_u64s: |flip, keys, hashes| portable::KERNELS.hash_u64s(flip, keys, hashes),
    split_block: BlockKernel {
        contains_one: |words, _, key| split_block_contains_one(words, key),
        insert_one: |words, _, key| split_block_insert_one(words, key),
        insert_one_shared: |words, _, key| portable::split_block_insert_one_shared(words, key),
        contains: split_block_contains,
        insert: split_block_insert,
        fills: |words, _| fills::split_block(words),
        contains_few: split_block_contains_few,
        insert_few: split_block_insert_few,
    },
    blocked: BlockKernel {
        contains_one: |words, masks, key| blocked_contains_one(words, masks, key),
        insert_one: |words, masks, key| blocked_insert_one(words, masks, key),
        insert_one_shared: |words, masks, key| portable::blocked_insert_one_shared(words, masks, key),
        contains: blocked_contains,
        insert: blocked_insert,
        fills: fills::blocked,
        contains_few: blocked_contains_few,
        insert_few: blocked_insert_few,
    },
};

/// These kernels, if the processor runs them.
pub fn kernels() -> Option<&'static Kernels> {
    std::arch::is_aarch64_feature_detected!("neon").then_some(&KERNELS)
}

/// The 16 bytes at an address, in which another thread may be setting bits.
///
/// Each aligned eight bytes of a vector load are read at once, so this is two relaxed loads. It is written in assembly
/// because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
unsafe fn load(address: *const u64) -> uint32x4_t {
    let quarter;
    // SAFETY: the caller's promise; nothing is written but the register.
    unsafe {
        core::arch::asm!("ldr {:q}, [{}]", out(vreg) quarter, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    quarter
}

/// Four numbers as a vector.
#[inline]
fn vector(numbers: [u32; 4]) -> uint32x4_t {
    // SAFETY: four numbers.
    unsafe { vld1q_u32(numbers.as_ptr()) }
}

/// The same of signed ones, which say how far lanes are shifted to the left.
#[inline]
fn shifts(numbers: [i32; 4]) -> int32x4_t {
    // SAFETY: four numbers.
    unsafe { vld1q_s32(numbers.as_ptr()) }
}

/// Whether all bits of all vectors are zero.
#[inline]
fn are_zero(missing: impl IntoIterator<Item = uint32x4_t>) -> bool {
    // SAFETY: arithmetic on registers, with instructions of every aarch64 processor.
    unsafe { vmaxvq_u32(missing.into_iter().fold(vdupq_n_u32(0), |all, some| vorrq_u32(all, some))) == 0 }
}

// ---- The blocked layout ---------------------------------------------------------------------------------------------

/// The bits of a key in four lanes, zero in those that are not in the low bits of `mask`; `quarter` says which of the
/// products these lanes take.
#[inline]
fn blocked_bits(key: u64, mask: u16, quarter: usize) -> uint32x4_t {
    // SAFETY: two numbers are read; the rest is arithmetic on registers.
    unsafe {
        let product = vmull_u32(vdup_n_u32(key as u32), vld1_u32(SALTS[2 * quarter..2 * quarter + 2].as_ptr()));
        // The even lanes take bits 27 to 31 of the products, the odd ones bits 32 to 36.
        let numbers = vshlq_u32(vreinterpretq_u32_u64(product), shifts([-27, 0, -27, 0]));
        let numbers = vandq_u32(numbers, vdupq_n_u32(31));
        // All ones shifted down to one, where the lane is chosen, and then up.
        let chosen = vtstq_u32(vdupq_n_u32(mask.into()), vector([1, 2, 4, 8]));
        vshlq_u32(vshrq_n_u32::<31>(chosen), vreinterpretq_s32_u32(numbers))
    }
}

/// All of them.
#[inline]
fn blocked_masks(key: u64, masks: &[u16]) -> [uint32x4_t; 4] {
    let mask = lanes(masks, key);
    core::array::from_fn(|quarter| blocked_bits(key, mask >> (4 * quarter), quarter))
}

/// Whether a key may be there.
#[inline]
fn blocked_contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    let bits = blocked_masks(key, masks);
    // SAFETY: a block is 64 readable bytes.
    are_zero((0..4).map(|quarter| unsafe { vbicq_u32(bits[quarter], load(block.add(2 * quarter))) }))
}

fn blocked_contains(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| blocked_contains_one(words, masks, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, nothing, answer);
}

/// Sets bits in quarters of lines; whether any of them was missing.
///
/// # Safety
/// As many times 16 bytes from `block` on are writable and nobody else's.
#[inline]
unsafe fn put_in<const QUARTERS: usize>(block: *mut u32, bits: [uint32x4_t; QUARTERS]) -> bool {
    !are_zero(bits.into_iter().enumerate().map(|(quarter, bits)| {
        // SAFETY: the caller's promise.
        unsafe {
            let place = block.add(4 * quarter);
            let old = vld1q_u32(place);
            vst1q_u32(place, vorrq_u32(old, bits));
            vbicq_u32(bits, old)
        }
    }))
}

fn blocked_insert(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &[u64], key| prefetch(block(words, key));
    inserting(words, ring::ahead(words.len(), 1), batch, fetch, |words, key| blocked_insert_one(words, masks, key));
}

fn blocked_contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| blocked_contains_one(words, masks, key);
    answer_few(&mut { words }, words.len() >= ring::FETCH_FROM, few, portable::hash_u64s, fetch, answer)
}

fn blocked_insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
    let fetching = words.len() >= ring::FETCH_FROM;
    let fetch = |words: &[u64], key| prefetch(block(words, key));
    answer_few(words, fetching, few, portable::hash_u64s, fetch, |words, key| {
        blocked_insert_one(words, masks, key) & is_asked
    })
}

/// Inserts a key; true if it certainly was not there.
#[inline]
fn blocked_insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast();
    // SAFETY: a block is 64 bytes, which are ours alone.
    unsafe { put_in(block, blocked_masks(key, masks)) }
}

// ---- The split-block layout -----------------------------------------------------------------------------------------

/// The bits of a key in the eight lanes.
#[inline]
fn split_block_bits(key: u64) -> [uint32x4_t; 2] {
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
fn split_block_contains_one(words: &[AtomicU64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = words[start..start + SPLIT_BLOCK_WORDS].as_ptr().cast::<u64>();
    let bits = split_block_bits(key);
    // SAFETY: a block is 32 readable bytes.
    are_zero((0..2).map(|half| unsafe { vbicq_u32(bits[half], load(block.add(2 * half))) }))
}

fn split_block_contains(words: &[AtomicU64], _: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| split_block_contains_one(words, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, nothing, answer);
}

fn split_block_insert(words: &mut [u64], _: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    inserting(words, ring::ahead(words.len(), 1), batch, fetch, split_block_insert_one);
}

fn split_block_contains_few(words: &[AtomicU64], _: &[u16], few: &Few) -> u64 {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| split_block_contains_one(words, key);
    answer_few(&mut { words }, words.len() >= ring::FETCH_FROM, few, portable::hash_u64s, fetch, answer)
}

fn split_block_insert_few(words: &mut [u64], _: &[u16], few: &Few, is_asked: bool) -> u64 {
    let fetching = words.len() >= ring::FETCH_FROM;
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    answer_few(words, fetching, few, portable::hash_u64s, fetch, |words, key| {
        split_block_insert_one(words, key) & is_asked
    })
}

/// Inserts a key; true if it certainly was not there.
#[inline]
fn split_block_insert_one(words: &mut [u64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = words[start..start + SPLIT_BLOCK_WORDS].as_mut_ptr().cast();
    // SAFETY: a block is 32 bytes, which are ours alone.
    unsafe { put_in(block, split_block_bits(key)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The other tests compare the kernels that they find, so somebody must say that these are among them.
    #[test]
    fn they_are_the_best() {
        assert_eq!(crate::simd::best().kernel, Kernel::Neon);
    }
}
