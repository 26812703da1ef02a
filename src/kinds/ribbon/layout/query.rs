//! What the slots of a row give: for each column the parity of the bits whose coefficient is 1.
//!
//! Slots come in groups of eight, and a group has a byte for each column. So eight columns of a group are a word, in
//! which the coefficients of the group are the same mask in each byte. The exclusive or of the words of all groups has,
//! in its eight bytes, the bits whose parities eight columns give.

use super::row::Coefficients;

/// Multiplied by this number, a byte stands in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The exclusive or of the words that `read` gives for each group, for eight columns, masked with the coefficients.
#[inline(always)]
pub(super) fn sum<C: Coefficients>(row: C, shift: u32, read: impl Fn(usize) -> u64) -> u64 {
    let mut sum = 0;
    for group in 0..C::GROUPS {
        sum ^= read(group) & mask(row.byte(shift, group));
    }
    sum
}

/// The parity of each byte of a word, as a byte of 0 or 1.
#[inline(always)]
pub(super) fn parities(mut sum: u64) -> u64 {
    sum ^= sum >> 4;
    sum ^= sum >> 2;
    (sum ^ sum >> 1) & EACH
}

/// The bytes of a word that belong to columns, if `left` columns are left.
#[inline(always)]
pub(super) fn columns(left: usize) -> u64 {
    if left >= 8 { u64::MAX } else { (1 << (8 * left)) - 1 }
}

/// A word with this byte in each byte.
#[inline(always)]
pub(super) fn mask(byte: u8) -> u64 {
    u64::from(byte) * EACH
}

/// For groups of one to eight columns, eight of which follow each other: which group each byte belongs to. Bytes after
/// the last group have `0x80`.
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

/// The parities of at most 8 columns over eight groups that follow each other, a bit a column. `bits` has a bit for
/// each column of each group. The result's bits above the columns mean nothing.
#[inline(always)]
pub(super) fn fold(mut bits: u64, columns: u32) -> u64 {
    bits ^= bits >> (4 * columns);
    bits ^= bits >> (2 * columns);
    bits ^ bits >> columns
}

/// The bits of eight bytes that are 0 or 1.
#[inline(always)]
pub(super) fn bits(bytes: u64) -> u64 {
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}
