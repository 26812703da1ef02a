//! What the slots of a row give: for each column the parity of the bits that have a coefficient.
//!
//! Slots come in groups of eight, and a group is a byte a column. So eight columns of a group are a word, in which the
//! coefficients of the group are the same mask in each byte; the words of all groups together, by exclusive or, have the
//! parities of eight columns in their eight bytes.

use super::row::Coefficients;

/// A byte in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The exclusive or of what `read` gives for each group, of eight columns, where there are coefficients.
#[inline(always)]
pub(super) fn sum<C: Coefficients>(row: C, shift: u32, read: impl Fn(usize) -> u64) -> u64 {
    let mut sum = 0;
    for group in 0..C::GROUPS {
        sum ^= read(group) & (u64::from(row.byte(shift, group)) * EACH);
    }
    sum
}

/// The parity of each byte, as a byte.
#[inline(always)]
pub(super) fn parities(mut sum: u64) -> u64 {
    sum ^= sum >> 4;
    sum ^= sum >> 2;
    (sum ^ sum >> 1) & EACH
}

/// The bytes of a word that columns have, where so many are left.
#[inline(always)]
pub(super) fn columns(left: usize) -> u64 {
    if left >= 8 { u64::MAX } else { (1 << (8 * left)) - 1 }
}

/// Bytes of 0 or 1 as bits.
#[inline(always)]
pub(super) fn bits(bytes: u64) -> u64 {
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}
