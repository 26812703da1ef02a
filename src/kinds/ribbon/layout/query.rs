//! What the slots of a row give: for each column the parity of the bits that have a coefficient.
//!
//! Slots come in groups of eight, and a group is a byte a column. So eight columns of a group are a word, in which the
//! coefficients of the group are the same mask in each byte; the words of all groups together, by exclusive or, have
//! the parities of eight columns in their eight bytes.

use super::row::Coefficients;

/// A byte in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The exclusive or of what `read` gives for each group, of eight columns, where there are coefficients.
#[inline(always)]
pub(super) fn sum<C: Coefficients>(row: C, shift: u32, read: impl Fn(usize) -> u64) -> u64 {
    let mut sum = 0;
    for group in 0..C::GROUPS {
        sum ^= read(group) & mask(row.byte(shift, group));
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

/// A byte in each byte of a word.
#[inline(always)]
pub(super) fn mask(byte: u8) -> u64 {
    u64::from(byte) * EACH
}

/// Of which of eight groups of one to eight columns each byte is, where they follow each other; `0x80` of those after
/// the last.
pub(super) static GROUP_OF: [[u8; 64]; 8] = {
    let (mut groups_of, mut columns) = ([[0x80; 64]; 8], 1);
    while columns <= 8 {
        let mut byte = 0;
        while byte < 8 * columns {
            groups_of[columns - 1][byte] = (byte / columns) as u8;
            byte += 1;
        }
        columns += 1;
    }
    groups_of
};

/// The parities of columns, at most 8 of them, of the bits of eight groups that follow each other, a bit a column;
/// above them anything.
#[inline(always)]
pub(super) fn fold(mut bits: u64, columns: u32) -> u64 {
    bits ^= bits >> (4 * columns);
    bits ^= bits >> (2 * columns);
    bits ^ bits >> columns
}

/// Bytes of 0 or 1 as bits.
#[inline(always)]
pub(super) fn bits(bytes: u64) -> u64 {
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}
