//! A possible size of an exact set: what its two levels store.

use crate::kinds::ribbon;

/// The fewest bits of both levels: a second level alone.
pub const MIN_BITS: u64 = 1;
/// The most bits of both levels.
pub const MAX_BITS: u64 = 32;

/// The coefficients of a key in a level of `bits` bits.
pub fn width(bits: u64) -> u64 {
    ribbon::sizing::width(bits as u32).bits.into()
}

/// A possible size of an exact set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bits of both levels.
    pub bits: u64,
    /// Whether the excluded keys are stored.
    pub is_inverted: bool,
    /// How many keys the stored side has.
    pub stored: u64,
    /// How many keys the other side has.
    pub others: u64,
}

impl Plan {
    /// How many keys of the universe are expected to pass the first level, rounded up.
    pub fn expected_passed(&self) -> u64 {
        match self.stored {
            0 => 0,
            stored => stored.saturating_add((self.others as f64 * (1.0 - self.bits as f64).exp2()).ceil() as u64),
        }
    }
}
