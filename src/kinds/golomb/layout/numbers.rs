//! The numbers of a bucket, in ascending order.

use super::{field, window};
use core::sync::atomic::AtomicU64;

/// The numbers of one bucket, each less the bucket's first number.
pub struct Numbers<'a> {
    words: &'a [AtomicU64],
    /// The first bit of the 64-bit window that `ones` comes from. `ones` has the window's ones that were not met yet.
    origin: u64,
    ones: u64,
    /// The first bit of the remainder that was read last.
    remainders: u64,
    rice_bits: u32,
    /// The next number less its bits of quotient: the sum of the remainders read so far, and corrections for the ones
    /// passed.
    rest: u64,
    /// The bit at which the bucket begins.
    start: u64,
}

impl<'a> Numbers<'a> {
    /// The numbers whose codes are the bits from `start` up to `end`, both less than 2^63.
    #[inline(always)]
    pub(super) fn new(words: &'a [AtomicU64], start: u64, end: u64, rice_bits: u32) -> Numbers<'a> {
        Numbers { words, origin: start, ones: window(words, start), remainders: end, rice_bits, rest: 0, start }
    }

    /// Whether a one at bit `one` would be past the quotients, because the remainder that belongs to it begins at or
    /// before it.
    #[inline(always)]
    fn is_over(&self, one: u64, remainder: u64) -> bool {
        one as i64 >= remainder as i64
    }
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let remainder = self.remainders.wrapping_sub(self.rice_bits.into());
        while self.ones == 0 {
            self.origin += 64;
            if self.is_over(self.origin, remainder) {
                return None;
            }
            self.ones = window(self.words, self.origin);
        }
        let one = self.origin + u64::from(self.ones.trailing_zeros());
        if self.is_over(one, remainder) {
            return None;
        }
        self.ones &= self.ones - 1;
        self.remainders = remainder;
        self.rest = self.rest.wrapping_add(field(self.words, remainder, self.rice_bits));
        // The bits before this one are the zeros of all quotients so far and a one for each earlier number; `rest`
        // takes back the ones.
        let number = (one - self.start).wrapping_shl(self.rice_bits).wrapping_add(self.rest);
        // The next one stands at least one bit further on, and that bit is not part of a quotient. The next number is
        // at least one more.
        self.rest = self.rest.wrapping_add(1).wrapping_sub(1 << self.rice_bits);
        Some(number)
    }
}
