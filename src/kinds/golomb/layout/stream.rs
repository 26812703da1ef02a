//! The plain stream of a Golomb-coded set, as BIP 158 writes it. Numbers come in ascending order, some of them twice,
//! each as the difference to the number before it. A gap's quotient q by 2^P is written as q ones and a zero, and the P
//! bits after it are the remainder. The highest bit of a byte is its first, and zeros fill the last byte.
//!
//! There is no index. Finding a number means going through all numbers before it, and many numbers are found together
//! in one pass.

use crate::bits::read_unaligned;
use crate::error::{Result, error};
use core::sync::atomic::AtomicU64;

/// The greatest Rice parameter: from any bit of their first byte on, eight bytes have at least one bit more than this.
pub const MAX_STREAM_RICE_BITS: u32 = 56;

/// How many bits eight bytes have from any bit of their first byte on.
const WINDOW: u32 = 57;

/// The numbers of a stream.
#[derive(Clone)]
pub struct Stream<'a> {
    words: &'a [AtomicU64],
    /// The next bit, and the bit after the last one.
    at: u64,
    end: u64,
    rice_bits: u32,
    /// How many numbers are left.
    left: u64,
    last: u64,
}

impl<'a> Stream<'a> {
    /// The stream of `values` numbers whose codes are the first `bits` bits of `words`. Another word must follow these
    /// bits.
    pub fn new(words: &'a [AtomicU64], bits: u64, rice_bits: u32, values: u64) -> Stream<'a> {
        Stream { words, at: 0, end: bits, rice_bits: rice_bits.min(MAX_STREAM_RICE_BITS), left: values, last: 0 }
    }

    /// The 57 bits from the next one on, the first one highest, followed by zeros.
    #[inline]
    fn window(&self) -> u64 {
        read_unaligned(self.words, self.at / 8).swap_bytes() << (self.at % 8)
    }

    /// Whether all numbers were read, the last one is below `range`, and only zeros up to a whole byte follow.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn finish(&self, range: u64) -> Result<()> {
        let rest = self.end.saturating_sub(self.at);
        let is_padded = rest < 8 && (rest == 0 || self.window() >> (u64::BITS as u64 - rest) == 0);
        if self.left > 0 || !is_padded || self.last >= range.max(1) {
            let Stream { left, last, at, end, .. } = self;
            return Err(error!(
                Corrupt,
                "the stream of {end} bits ends at bit {at}, with {left} numbers missing, the last {last} of {range}"
            ));
        }
        Ok(())
    }
}

impl Iterator for Stream<'_> {
    type Item = u64;

    /// The next number, or `None` where the bits end.
    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        let mut quotient = 0;
        loop {
            let ones = self.window().leading_ones().min(WINDOW);
            quotient += u64::from(ones);
            self.at += u64::from(ones);
            if ones < WINDOW {
                break;
            }
            if self.at >= self.end {
                return None;
            }
        }
        self.at += 1;
        let remainder = (self.window() >> 1).checked_shr(63 - self.rice_bits).unwrap_or(0);
        self.at += u64::from(self.rice_bits);
        let gap = quotient.checked_mul(1 << self.rice_bits)?.checked_add(remainder)?;
        let number = self.last.checked_add(gap).filter(|_| self.at <= self.end)?;
        (self.last, self.left) = (number, self.left - 1);
        Some(number)
    }
}

/// The bits of the code of a gap.
pub fn code_bits(gap: u64, rice_bits: u32) -> u64 {
    (gap >> rice_bits) + 1 + u64::from(rice_bits)
}

/// Writes codes.
pub struct StreamWriter<'a> {
    words: &'a mut [u64],
    at: u64,
    rice_bits: u32,
}

impl<'a> StreamWriter<'a> {
    /// A writer that begins at the first bit of these words, which are zeros.
    pub fn new(words: &'a mut [u64], rice_bits: u32) -> StreamWriter<'a> {
        StreamWriter { words, at: 0, rice_bits }
    }

    /// Writes the code of a gap. Bits that find no room are left out.
    pub fn put(&mut self, gap: u64) {
        let mut ones = gap >> self.rice_bits;
        while ones > 0 {
            let some = ones.min(32) as u32;
            self.bits((1 << some) - 1, some);
            ones -= u64::from(some);
        }
        self.bits(0, 1);
        self.bits(gap & ((1 << self.rice_bits) - 1), self.rice_bits);
    }

    /// Writes a number in `count` bits, its highest bit first. The number has no higher bits.
    fn bits(&mut self, number: u64, count: u32) {
        let (word, offset) = ((self.at / 64) as usize, (self.at % 64) as u32);
        self.at += u64::from(count);
        if count == 0 {
            return;
        }
        // The number, moved to its place in two words, beginning with their highest bit.
        let both = u128::from(number) << (128 - count) >> offset;
        for (i, part) in [(both >> 64) as u64, both as u64].into_iter().enumerate() {
            if let Some(to) = self.words.get_mut(word + i) {
                *to |= part.swap_bytes();
            }
        }
    }
}
