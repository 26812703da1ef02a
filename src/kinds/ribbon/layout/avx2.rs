//! The inner loops for AVX2. The slots of a row are read 32 bytes at a time, and the coefficients mask them byte by
//! byte. Then the parities of the bytes become a mask, a bit a byte. Keys are found in plain code, because AVX2 has no
//! products of 64 bits.

use super::array::{Array, Row};
use super::kernel::{Group, Kernel, SOME};
use super::portable;
use super::query::{self, GROUP_OF};
use super::row::Coefficients;
use core::arch::x86_64::*;

/// Bytes of a vector.
const VECTOR: usize = 32;

/// The inner loops for AVX2. These loops are given out for processors that have AVX2.
pub(super) fn kernel<C: Coefficients>() -> Kernel<C> {
    Kernel {
        // SAFETY: the processor has AVX2.
        one: |array, row, first| unsafe { one(array, row, first) },
        // SAFETY: the same.
        some: |array, asked, from, first| unsafe { some(array, asked, from, first) },
        ..portable::kernel()
    }
}

/// A bit for each byte: whether the byte has an odd number of ones.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn parities(mut bytes: __m256i) -> u64 {
    // Bits that come over from the byte below stay below the highest bit.
    bytes = _mm256_xor_si256(bytes, _mm256_slli_epi16::<4>(bytes));
    bytes = _mm256_xor_si256(bytes, _mm256_slli_epi16::<2>(bytes));
    bytes = _mm256_xor_si256(bytes, _mm256_slli_epi16::<1>(bytes));
    u64::from(_mm256_movemask_epi8(bytes) as u32)
}

/// [`Kernel::one`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn one<C: Coefficients>(array: &Array, row: &Row<C>, first: u32) -> u64 {
    let columns = array.shape().columns() as usize;
    let Some(bytes) = array.bytes_of(row, 2 * VECTOR as u64) else { return portable::one(array, row, first) };
    // SAFETY: all groups of a row are readable, and two vectors after that.
    let load = |byte: usize| unsafe { _mm256_loadu_si256(bytes.add(byte).cast()) };
    let (low, last) = row.coefficients.moved(row.shift);
    if columns <= 8 {
        // SAFETY: a word is readable at each group.
        let slots = unsafe { bytes.add((C::GROUPS - 1) * columns).cast::<u64>().read_unaligned() };
        let slots = slots & query::mask(last) & query::columns(columns);
        let mut sums = [_mm256_set_epi64x(0, 0, 0, slots as i64), _mm256_setzero_si256()];
        for (i, low) in low.iter().take(C::GROUPS / 8).enumerate() {
            for (half, sum) in sums.iter_mut().enumerate() {
                let groups_of = &GROUP_OF[columns - 1][VECTOR * half..][..VECTOR];
                // SAFETY: 32 readable bytes.
                let groups_of = unsafe { _mm256_loadu_si256(groups_of.as_ptr().cast()) };
                let masks = _mm256_shuffle_epi8(_mm256_set1_epi64x(*low as i64), groups_of);
                let slots = load(8 * i * columns + VECTOR * half);
                *sum = _mm256_xor_si256(*sum, _mm256_and_si256(slots, masks));
            }
        }
        return query::fold(parities(sums[0]) | parities(sums[1]) << VECTOR, columns as u32);
    }
    let mut bits = 0;
    for (half, column) in (first as usize..columns.min(first as usize + 64)).step_by(VECTOR).enumerate() {
        let mut sum = _mm256_setzero_si256();
        for group in 0..C::GROUPS {
            let mask = if group < C::GROUPS - 1 { (low[group / 8] >> (8 * (group % 8))) as u8 } else { last };
            let slots = load(group * columns + column);
            sum = _mm256_xor_si256(sum, _mm256_and_si256(slots, _mm256_set1_epi8(mask as i8)));
        }
        bits |= parities(sum) << (VECTOR * half);
    }
    bits
}

/// [`Kernel::some`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn some<C: Coefficients>(array: &Array, asked: &Group<C>, from: usize, first: u32) -> [u64; SOME] {
    let mut bits = [0; SOME];
    for (i, bits) in bits.iter_mut().enumerate() {
        *bits = one(array, &asked.row(from + i), first);
    }
    bits
}
