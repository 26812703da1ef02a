//! Counters of one line for NEON. A block is four vectors. The lowest bits of a key's counters are four vectors as
//! well, with 0 in the lanes that the key does not use.

use super::{LineKernel, Lines, one_key_at_a_time};
use crate::batch::ring::{self, Batch};
use crate::blocks::block_kernel::SALTS;
use crate::blocks::block_kernel::neon::{are_zero, load, shifts, vector};
use crate::kinds::blocked::layout::{block, block_mut, fetch, lanes};
use core::arch::aarch64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for NEON.
pub static KERNEL: LineKernel = LineKernel {
    contains_one: |words, lines, key| contains_one(words, lines, key),
    least_one: |words, lines, key| least_one(words, lines, key),
    add_one: |words, lines, key| add_one(words, lines, key),
    subtract_one: |words, lines, key| subtract_one(words, lines, key),
    contains,
    least,
    add,
    subtract,
};

/// The counters of a key in four lanes.
#[derive(Clone, Copy)]
struct Quarter {
    /// Where the counter of each lane starts, even in lanes that the key does not use.
    starts: uint32x4_t,
    /// The lowest bits of the key's counters.
    lowest: uint32x4_t,
    /// All bits of the key's counters.
    counters: uint32x4_t,
}

/// The counters of a key in all sixteen lanes.
#[inline]
fn quarters(lines: Lines, key: u64) -> [Quarter; 4] {
    let mask = lanes(lines.masks, key);
    core::array::from_fn(|quarter| {
        // SAFETY: two numbers are read; the rest is arithmetic on registers.
        unsafe {
            let product = vmull_u32(vdup_n_u32(key as u32), vld1_u32(SALTS[2 * quarter..2 * quarter + 2].as_ptr()));
            // Even lanes take bits 27 to 31 of the products, and odd lanes take bits 32 to 36.
            let numbers = vshlq_u32(vreinterpretq_u32_u64(product), shifts([-27, 0, -27, 0]));
            let starts = vandq_u32(numbers, vdupq_n_u32(lines.start_bits()));
            let chosen = vtstq_u32(vdupq_n_u32(u32::from(mask >> (4 * quarter))), vector([1, 2, 4, 8]));
            let lowest = vshlq_u32(vshrq_n_u32::<31>(chosen), vreinterpretq_s32_u32(starts));
            // The bit above a counter minus its lowest bit gives all bits of the counter, even if the bit above falls
            // out of the lane.
            let above = vshlq_u32(lowest, vdupq_n_s32(lines.width as i32));
            Quarter { starts, lowest, counters: vsubq_u32(above, lowest) }
        }
    })
}

impl Quarter {
    /// All ones in the lanes of the key whose counters are 0.
    #[inline]
    fn zeros(self, block: uint32x4_t) -> uint32x4_t {
        // SAFETY: arithmetic on registers, with instructions of every aarch64 processor.
        unsafe { vbicq_u32(vtstq_u32(self.counters, self.counters), vtstq_u32(block, self.counters)) }
    }

    /// A one in each lane of the key whose counter has not reached its greatest value: the number to add or to
    /// subtract.
    #[inline]
    fn ones(self, block: uint32x4_t) -> uint32x4_t {
        // SAFETY: arithmetic on registers, with instructions of every aarch64 processor.
        unsafe { vbicq_u32(self.lowest, vceqq_u32(vandq_u32(block, self.counters), self.counters)) }
    }

    /// The counters, with the greatest number in the lanes that the key does not use.
    #[inline]
    fn values(self, block: uint32x4_t) -> uint32x4_t {
        // SAFETY: arithmetic on registers, with instructions of every aarch64 processor.
        unsafe {
            let values = vshlq_u32(vandq_u32(block, self.counters), vnegq_s32(vreinterpretq_s32_u32(self.starts)));
            vornq_u32(values, vtstq_u32(self.counters, self.counters))
        }
    }
}

#[inline]
fn contains_one(words: &[AtomicU64], lines: Lines, key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    let quarters = quarters(lines, key);
    // SAFETY: a block is 64 readable bytes.
    are_zero((0..4).map(|i| quarters[i].zeros(unsafe { load(block.add(2 * i)) })))
}

#[inline]
fn least_one(words: &[AtomicU64], lines: Lines, key: u64) -> u64 {
    let block = block(words, key).as_ptr().cast::<u64>();
    let quarters = quarters(lines, key);
    // SAFETY: a block is 64 readable bytes; the rest is arithmetic on registers.
    unsafe {
        let values = (0..4).map(|i| quarters[i].values(load(block.add(2 * i))));
        vminvq_u32(values.fold(vdupq_n_u32(u32::MAX), |least, some| vminq_u32(least, some))).into()
    }
}

#[inline]
fn add_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<u32>();
    let quarters = quarters(lines, key);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    let old: [uint32x4_t; 4] = core::array::from_fn(|i| unsafe { vld1q_u32(block.add(4 * i)) });
    for (i, (quarter, old)) in quarters.iter().zip(old).enumerate() {
        // SAFETY: as above.
        unsafe { vst1q_u32(block.add(4 * i), vaddq_u32(old, quarter.ones(old))) }
    }
    !are_zero((0..4).map(|i| quarters[i].zeros(old[i])))
}

#[inline]
fn subtract_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<u32>();
    let quarters = quarters(lines, key);
    // SAFETY: a block is 64 bytes, which this call alone uses.
    let old: [uint32x4_t; 4] = core::array::from_fn(|i| unsafe { vld1q_u32(block.add(4 * i)) });
    let is_there = are_zero((0..4).map(|i| quarters[i].zeros(old[i])));
    if is_there {
        for (i, (quarter, old)) in quarters.iter().zip(old).enumerate() {
            // SAFETY: as above.
            unsafe { vst1q_u32(block.add(4 * i), vsubq_u32(old, quarter.ones(old))) }
        }
    }
    is_there
}

one_key_at_a_time!();
