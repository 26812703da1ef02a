//! The inner loops for NEON. The slots of a row are read 16 bytes at a time, and the coefficients mask them byte by
//! byte. Keys are found in plain code, because NEON has no products of 64 bits.

use super::array::{Array, Row};
use super::kernel::{Group, Kernel, SOME};
use super::portable;
use super::query::{self, GROUP_OF};
use super::row::Coefficients;
use core::arch::aarch64::*;

/// Bytes of a vector.
const VECTOR: usize = 16;

/// The inner loops for NEON. These loops are given out for processors that have NEON.
pub(super) fn kernel<C: Coefficients>() -> Kernel<C> {
    Kernel { one, some, ..portable::kernel() }
}

/// A bit for each byte of four vectors: whether the byte has an odd number of ones.
#[inline(always)]
fn parities(vectors: [uint8x16_t; 4]) -> u64 {
    const PLACES: [u8; VECTOR] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: 16 bytes are read; the rest is arithmetic on registers.
    unsafe {
        let (places, one) = (vld1q_u8(PLACES.as_ptr()), vdupq_n_u8(1));
        // An odd byte becomes all ones, and then the bit of its place. Each sum of pairs halves the number of bytes.
        let [a, b, c, d] = vectors.map(|bytes| vandq_u8(vtstq_u8(vcntq_u8(bytes), one), places));
        let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
    }
}

/// [`Kernel::one`].
#[inline(always)]
fn one<C: Coefficients>(array: &Array, row: &Row<C>, first: u32) -> u64 {
    let columns = array.shape().columns() as usize;
    let Some(bytes) = array.bytes_of(row, 4 * VECTOR as u64) else { return portable::one(array, row, first) };
    let (low, last) = row.coefficients.moved(row.shift);
    // SAFETY: nothing is read.
    let mut sums = [unsafe { vdupq_n_u8(0) }; 4];
    if columns <= 8 {
        // SAFETY: a word is readable at each group, and four vectors after the last; the tables have four as well.
        unsafe {
            let slots = bytes.add((C::GROUPS - 1) * columns).cast::<u64>().read_unaligned();
            let slots = slots & query::mask(last) & query::columns(columns);
            sums[0] = vreinterpretq_u8_u64(vsetq_lane_u64::<0>(slots, vdupq_n_u64(0)));
            for (i, low) in low.iter().take(C::GROUPS / 8).enumerate() {
                let coefficients = vreinterpretq_u8_u64(vdupq_n_u64(*low));
                for (part, sum) in sums.iter_mut().enumerate() {
                    let groups_of = vld1q_u8(GROUP_OF[columns - 1].as_ptr().add(VECTOR * part));
                    let slots = vld1q_u8(bytes.add(8 * i * columns + VECTOR * part));
                    *sum = veorq_u8(*sum, vandq_u8(slots, vqtbl1q_u8(coefficients, groups_of)));
                }
            }
        }
        return query::fold(parities(sums), columns as u32);
    }
    let parts = (columns - first as usize).div_ceil(VECTOR);
    for (part, sum) in sums.iter_mut().take(parts).enumerate() {
        for group in 0..C::GROUPS {
            let mask = if group < C::GROUPS - 1 { (low[group / 8] >> (8 * (group % 8))) as u8 } else { last };
            // SAFETY: all groups of a row are readable, and four vectors after that.
            unsafe {
                let slots = vld1q_u8(bytes.add(group * columns + first as usize + VECTOR * part));
                *sum = veorq_u8(*sum, vandq_u8(slots, vdupq_n_u8(mask)));
            }
        }
    }
    parities(sums)
}

/// [`Kernel::some`].
fn some<C: Coefficients>(array: &Array, asked: &Group<C>, from: usize, first: u32) -> [u64; SOME] {
    core::array::from_fn(|i| one(array, &asked.row(from + i), first))
}
