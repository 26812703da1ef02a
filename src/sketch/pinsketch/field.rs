//! The fields of 2^8 to 2^64 elements: their polynomials, and how an element lies in a word.

use crate::error::{Result, error};

/// The least number of bits of an element.
pub(super) const MIN_BITS: u32 = 8;

/// The largest number of bits of an element.
pub(super) const MAX_BITS: u32 = 64;

/// The irreducible polynomial of each field without its leading term, from 8 bits on: of those with the fewest terms,
/// the least one. These are minisketch's, and the tests find them again.
const MODULI: [u64; 57] = [
    0x1b,
    0x03,
    0x09,
    0x05,
    0x09,
    0x1b,
    0x21,
    0x03,
    0x2b,
    0x09,
    0x09,
    0x27,
    0x09,
    0x05,
    0x03,
    0x21,
    0x1b,
    0x09,
    0x1b,
    0x27,
    0x03,
    0x05,
    0x03,
    0x09,
    0x8d,
    0x401,
    0x81,
    0x05,
    0x201,
    0x53,
    0x63,
    0x11,
    0x39,
    0x09,
    0x81,
    0x59,
    0x21,
    0x1b,
    0x03,
    0x21,
    0x2d,
    0x201,
    0x1d,
    0x4b,
    0x09,
    0x47,
    0x201,
    0x81,
    0x95,
    0x11,
    0x80001,
    0x95,
    0x03,
    0x27,
    0x2000_0001,
    0x03,
    0x1b,
];

/// A field of 2^bits elements.
///
/// The arithmetic has each element in the upper bits of a word (`Field::raised`). The upper half of a product is then
/// what must be reduced, whatever the number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    bits: u32,
}

impl Field {
    /// The field whose elements have `bits` bits, 8 to 64.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn new(bits: u32) -> Result<Field> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(error!(OutOfRange, "field_bits = {bits} is not {MIN_BITS} to {MAX_BITS}"));
        }
        Ok(Field { bits })
    }

    /// The number of bits of an element.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The largest element.
    pub fn max(self) -> u64 {
        u64::MAX >> self.shift()
    }

    /// The irreducible polynomial without its leading term.
    pub fn modulus(self) -> u64 {
        MODULI[(self.bits - MIN_BITS) as usize]
    }

    /// How many bits of a word an element leaves unused.
    #[inline]
    pub(super) fn shift(self) -> u32 {
        MAX_BITS - self.bits
    }

    /// An element in the upper bits of a word.
    #[inline]
    pub(super) fn raised(self, element: u64) -> u64 {
        element << self.shift()
    }

    /// The element that [`Field::raised`] took.
    #[inline]
    pub(super) fn lowered(self, raised: u64) -> u64 {
        raised >> self.shift()
    }
}
