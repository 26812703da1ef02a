//! Cells of any number of bits in an array of words.

use crate::bits;
use core::sync::atomic::AtomicU64;

/// The most bits of a cell.
pub const MAX_WIDTH: u32 = 64;

/// The most bits of a cell that always lies within the eight bytes from the one in which the cell begins.
pub(super) const MAX_NARROW: u32 = 57;

/// The bits of a cell.
#[inline]
pub(super) fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The exclusive or of the cells of `width` bits that begin at these bits. The bits above the result's `width` bits are
/// those that follow the cells. Outside of the words zeros are read.
#[inline(always)]
pub(super) fn together<const K: usize>(words: &[AtomicU64], width: u32, bits: [u64; K]) -> u64 {
    let bytes = |byte: u64| bits::read_unaligned(words, byte);
    if matches!(width, 8 | 16 | 32) {
        // Cells of whole bytes need no shift.
        return bits.iter().fold(0, |all, bit| all ^ bytes(bit >> 3));
    }
    let low = bits.iter().fold(0, |all, bit| all ^ bytes(bit >> 3) >> (bit & 7));
    if width <= MAX_NARROW {
        return low;
    }
    // A cell's last bits may lie in a ninth byte. The shift is made in two steps, because a shift by 64 bits is not
    // allowed.
    let high = |bit: &u64| bytes((bit >> 3).wrapping_add(8)) << 1 << (63 - (bit & 7));
    bits.iter().fold(low, |all, bit| all ^ high(bit))
}

/// The exclusive or of cells of `width` whole bytes at these positions, and above them the bits that follow the cells.
/// Outside of the words zeros are read.
#[inline(always)]
pub(super) fn together_of_bytes<const K: usize>(words: &[AtomicU64], width: u32, cells: [u64; K]) -> u64 {
    let mut together = 0;
    for cell in cells {
        together ^= bits::read_unaligned(words, cell.wrapping_mul(width.into()));
    }
    together
}

/// The cell at `position` of words that nobody else uses.
#[inline(always)]
pub(super) fn get_own(words: &[u64], width: u32, position: u64) -> u64 {
    let bit = position * u64::from(width);
    let (word, shift) = ((bit / 64) as usize, bit % 64);
    let low = words[word] >> shift;
    // A cell that ends with the array has no word after it.
    if shift + u64::from(width) <= 64 { low } else { low | words[word + 1] << (64 - shift) }
}

/// Sets the cell at `position`, which is zero, to a value of `width` bits.
#[inline(always)]
pub(super) fn set(words: &mut [u64], width: u32, position: u64, value: u64) {
    let bit = position * u64::from(width);
    let (word, shift) = ((bit / 64) as usize, bit % 64);
    words[word] |= value << shift;
    if shift + u64::from(width) > 64 {
        words[word + 1] |= value >> (64 - shift);
    }
}

/// Makes the cell at `position` zero.
pub(super) fn clear(words: &mut [u64], width: u32, position: u64) {
    let bit = position * u64::from(width);
    let (word, shift) = ((bit / 64) as usize, bit % 64);
    words[word] &= !(mask(width) << shift);
    if shift + u64::from(width) > 64 {
        words[word + 1] &= !(mask(width) >> (64 - shift));
    }
}
