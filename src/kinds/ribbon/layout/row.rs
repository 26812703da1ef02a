//! The coefficients of a key, and the hashes that they come from.

use crate::bits::{GOLDEN, mix};
use crate::kinds::ribbon::sizing::Width;
use core::ops::BitXorAssign;

/// The coefficients of a key, as many as the ribbon is wide. The first coefficient is 1.
pub(super) trait Coefficients: Copy + Default + Eq + BitXorAssign + Send {
    /// The sizes that depend on the number of coefficients.
    const SIZES: Width;

    /// How many coefficients there are.
    const WIDTH: usize = Self::SIZES.bits as usize;

    /// How many groups of eight slots the coefficients may lie in: one more than the bytes that they take.
    const GROUPS: usize = Self::WIDTH / 8 + 1;

    /// These slots, moved up by eight, with a byte of slots before them. The slots here are a number of bits, one for
    /// each coefficient.
    fn before(self, byte: u8) -> Self;

    /// These slots, moved up by one, with the lowest bit of `first` before them.
    fn with_first(self, first: u8) -> Self;

    /// The parity of the slots whose coefficient is 1, without the first coefficient: `after` begins with the slot of
    /// the second.
    fn parity(self, after: Self) -> u8;

    /// The coefficients of a scattered hash.
    fn of(z: u64) -> Self;

    /// Whether all coefficients are 0.
    fn is_zero(self) -> bool;

    /// The coefficients without the zeros before the first 1, and how many zeros these were. At least one coefficient
    /// must be 1.
    fn normalised(self) -> (Self, u32);

    /// The `i`-th byte of the coefficients, moved up by `shift` bits, less than 8.
    fn byte(self, shift: u32, i: usize) -> u8;

    /// All bytes of the moved coefficients: as many words as they fill, from the lowest on, and the last byte, which is
    /// in no word.
    fn moved(self, shift: u32) -> ([u64; 2], u8);
}

impl Coefficients for u64 {
    const SIZES: Width = Width::NARROW;

    #[inline(always)]
    fn before(self, byte: u8) -> u64 {
        self << 8 | u64::from(byte)
    }

    #[inline(always)]
    fn with_first(self, first: u8) -> u64 {
        self << 1 | u64::from(first & 1)
    }

    #[inline(always)]
    fn parity(self, after: u64) -> u8 {
        (self >> 1 & after).count_ones() as u8 & 1
    }

    #[inline(always)]
    fn of(z: u64) -> u64 {
        z | 1
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn normalised(self) -> (u64, u32) {
        let zeros = self.trailing_zeros();
        (self >> (zeros & 63), zeros)
    }

    #[inline(always)]
    fn byte(self, shift: u32, i: usize) -> u8 {
        ((u128::from(self) << shift) >> (8 * i)) as u8
    }

    #[inline(always)]
    fn moved(self, shift: u32) -> ([u64; 2], u8) {
        ([self << shift, 0], (self >> 1 >> (63 - shift)) as u8)
    }
}

impl Coefficients for u128 {
    const SIZES: Width = Width::WIDE;

    #[inline(always)]
    fn before(self, byte: u8) -> u128 {
        self << 8 | u128::from(byte)
    }

    #[inline(always)]
    fn with_first(self, first: u8) -> u128 {
        self << 1 | u128::from(first & 1)
    }

    #[inline(always)]
    fn parity(self, after: u128) -> u8 {
        let sums = self >> 1 & after;
        (sums as u64 ^ (sums >> 64) as u64).count_ones() as u8 & 1
    }

    /// The high half comes from a product of other bits of the hash than the low half.
    #[inline(always)]
    fn of(z: u64) -> u128 {
        let high = z.wrapping_mul(WIDE_MIX);
        u128::from(high ^ high >> 32) << 64 | u128::from(z | 1)
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn normalised(self) -> (u128, u32) {
        let zeros = self.trailing_zeros();
        (self >> (zeros & 127), zeros)
    }

    #[inline(always)]
    fn byte(self, shift: u32, i: usize) -> u8 {
        if i < 16 { ((self << shift) >> (8 * i)) as u8 } else { (self >> 120 >> (8 - shift)) as u8 }
    }

    #[inline(always)]
    fn moved(self, shift: u32) -> ([u64; 2], u8) {
        let low = self << shift;
        ([low as u64, (low >> 64) as u64], (self >> 120 >> (8 - shift)) as u8)
    }
}

/// The multiplier of the high half of wide coefficients.
pub(super) const WIDE_MIX: u64 = 0xd6e8_feb8_6659_fd93;

/// The hash of a bumped key in a layer after the first, from its order and its scattered hash. Two keys that differ in
/// either have different hashes in each layer.
#[inline]
pub(super) fn bumped_hash(x: u64, z: u64, layer: u32) -> u64 {
    mix(z ^ mix(x.wrapping_add(GOLDEN.wrapping_mul(layer.into()))))
}

/// The bits that the coefficients of a bumped key come from. Other bits choose where the key starts.
#[inline]
pub(super) fn bumped_scatter(hash: u64) -> u64 {
    let product = hash.wrapping_mul(GOLDEN);
    product ^ product >> 32
}

/// Numbers of as many bits as a value has.
pub trait Value: Copy + Default + Send + BitXorAssign {
    /// The `i`-th byte.
    fn byte(self, i: usize) -> u8;
}

macro_rules! value {
    ($($number:ty),*) => {
        $(impl Value for $number {
            #[inline(always)]
            fn byte(self, i: usize) -> u8 {
                (self >> (8 * i)) as u8
            }
        })*
    };
}

value!(u32, u64, u128);
