//! Binary arithmetic coding (a range coder): an interval of 64-bit numbers becomes narrower with every choice. The
//! encoder writes the leading 32 bits of the interval when they are known.

use crate::error::Result;
use crate::storage::try_vec;

/// Probabilities are 16-bit fractions, from 1 to 2^16 - 1.
pub const PROBABILITY_BITS: u32 = 16;

/// The interval is kept at least this wide, so that a product with a probability loses at most 2^-16 of the interval.
const LEAST: u64 = 1 << 32;

/// How many bytes are written in one go.
const BUFFER: usize = 1 << 14;

/// Takes the bytes of a code, piece by piece and in order.
pub type Put<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// Writes choices. The zeros at the end of the code are left out.
pub struct Encoder<'a, 'b> {
    low: u64,
    range: u64,
    /// The last word that a carry may still increment, and how many words of all ones come after it.
    held: Option<u32>,
    ones: u64,
    /// Zero bytes that are left out if nothing follows them.
    zeros: u64,
    buffer: Vec<u8>,
    put: &'a mut Put<'b>,
}

impl<'a, 'b> Encoder<'a, 'b> {
    /// An encoder that gives its bytes to `put`.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new(put: &'a mut Put<'b>) -> Result<Encoder<'a, 'b>> {
        Ok(Encoder { low: 0, range: u64::MAX, held: None, ones: 0, zeros: 0, buffer: try_vec(BUFFER)?, put })
    }

    /// Writes whether something is zero. `zero` is the probability that it is.
    #[inline]
    pub fn choice(&mut self, is_zero: bool, zero: u16) -> Result<()> {
        let bound = (self.range >> PROBABILITY_BITS) * u64::from(zero);
        if is_zero {
            self.range = bound;
        } else {
            self.range -= bound;
            self.add(bound)?;
        }
        self.normalise()
    }

    /// Writes a number below `2^bits`, where every value is equally likely. `bits` is at most 16.
    #[inline]
    pub fn even(&mut self, value: u16, bits: u32) -> Result<()> {
        self.range >>= bits;
        self.add(self.range * u64::from(value))?;
        self.normalise()
    }

    #[inline]
    fn add(&mut self, more: u64) -> Result<()> {
        let (low, carry) = self.low.overflowing_add(more);
        self.low = low;
        if carry { self.carry() } else { Ok(()) }
    }

    /// Increments the words before the interval. The interval never passes the end of all numbers, so a carry always
    /// meets a word that is not all ones.
    #[cold]
    fn carry(&mut self) -> Result<()> {
        let next = self.held.unwrap_or_default().wrapping_add(1);
        if self.ones == 0 {
            self.held = Some(next);
            return Ok(());
        }
        self.word(next)?;
        for _ in 1..self.ones {
            self.word(0)?;
        }
        (self.held, self.ones) = (Some(0), 0);
        Ok(())
    }

    #[inline]
    fn normalise(&mut self) -> Result<()> {
        if self.range < LEAST {
            self.range <<= 32;
            self.shift()?;
        }
        Ok(())
    }

    /// Moves the leading word out of the interval.
    fn shift(&mut self) -> Result<()> {
        let top = (self.low >> 32) as u32;
        self.low <<= 32;
        if top == u32::MAX {
            self.ones += 1;
            return Ok(());
        }
        if let Some(held) = self.held.replace(top) {
            self.word(held)?;
        }
        for _ in 0..core::mem::take(&mut self.ones) {
            self.word(u32::MAX)?;
        }
        Ok(())
    }

    fn word(&mut self, word: u32) -> Result<()> {
        for byte in word.to_be_bytes() {
            if byte == 0 {
                self.zeros += 1;
                continue;
            }
            for _ in 0..core::mem::take(&mut self.zeros) {
                self.byte(0)?;
            }
            self.byte(byte)?;
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) -> Result<()> {
        if self.buffer.len() == BUFFER {
            (self.put)(&self.buffer)?;
            self.buffer.clear();
        }
        // The buffer has room for `BUFFER` bytes.
        self.buffer.push(byte);
        Ok(())
    }

    /// Ends the code with the number of the interval that has the most zeros at its end.
    ///
    /// # Errors
    /// The errors of `put`, as for every call here.
    pub fn finish(mut self) -> Result<()> {
        let (low, end) = (u128::from(self.low), u128::from(self.low) + u128::from(self.range));
        let last = (0..=64).rev().map(|bits| low.next_multiple_of(1 << bits)).find(|value| *value < end);
        self.add((last.unwrap_or(low) - low) as u64)?;
        self.shift()?;
        self.shift()?;
        if let Some(held) = self.held {
            self.word(held)?;
        }
        for _ in 0..self.ones {
            self.word(u32::MAX)?;
        }
        (self.put)(&self.buffer)
    }
}

/// Reads what an [`Encoder`] wrote. From other bytes a decoder reads arbitrary choices.
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How far the code is above the interval's start.
    above: u64,
    range: u64,
}

impl<'a> Decoder<'a> {
    /// A decoder of a whole code.
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        let mut decoder = Decoder { bytes, at: 0, above: 0, range: u64::MAX };
        decoder.above = decoder.word() << 32;
        decoder.above |= decoder.word();
        decoder
    }

    /// The next four bytes. Zeros come after the last one.
    #[inline]
    fn word(&mut self) -> u64 {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += 4;
        match rest.first_chunk() {
            Some(word) => u32::from_be_bytes(*word).into(),
            None => (0..4).fold(0, |word, i| word << 8 | u64::from(rest.get(i).copied().unwrap_or_default())),
        }
    }

    /// Whether something is zero. `zero` is the probability that it is.
    #[inline]
    pub fn choice(&mut self, zero: u16) -> bool {
        let bound = (self.range >> PROBABILITY_BITS) * u64::from(zero);
        let is_zero = self.above < bound;
        if is_zero {
            self.range = bound;
        } else {
            self.above -= bound;
            self.range -= bound;
        }
        self.normalise();
        is_zero
    }

    /// A number below `2^bits`, where every value is equally likely. `bits` is at most 16.
    #[inline]
    pub fn even(&mut self, bits: u32) -> u16 {
        self.range >>= bits;
        let value = (self.above / self.range).min((1 << bits) - 1);
        self.above -= value * self.range;
        self.normalise();
        value as u16
    }

    #[inline]
    fn normalise(&mut self) {
        if self.range < LEAST {
            self.range <<= 32;
            self.above = self.above << 32 | self.word();
        }
    }

    /// Whether all bytes were read, and none of them was more than the code needs.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len() && self.bytes.last() != Some(&0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A carry passes words of all ones, which random choices hardly ever make.
    #[test]
    fn a_carry_passes_words_of_all_ones() {
        for (ones, more, expected) in [
            (0, 1, vec![0, 0, 0, 8]),
            (2, 1, vec![0, 0, 0, 8]),
            (2, 2, vec![0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            (1, 0, vec![0, 0, 0, 7, 255, 255, 255, 255, 255, 255, 255, 255]),
        ] {
            let mut bytes = Vec::new();
            let mut put = |piece: &[u8]| {
                bytes.extend_from_slice(piece);
                Ok(())
            };
            let (low, range) = ((u64::MAX >> 32) << 32, 1);
            let mut encoder = Encoder { low, range, held: Some(7), ones, ..Encoder::new(&mut put).unwrap() };
            encoder.add(more << 32).unwrap();
            encoder.finish().unwrap();
            assert_eq!(bytes, expected, "{ones} words of all ones, {more} more");
        }
    }

    #[test]
    fn choices_come_back() {
        let mut bytes = Vec::new();
        let mut put = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        let mut encoder = Encoder::new(&mut put).unwrap();
        let all = || (0..10_000_u64).map(|i| (crate::bits::mix(i) & 7 == 0, (crate::bits::mix(i) >> 48).max(1) as u16));
        for (is_zero, zero) in all() {
            encoder.choice(is_zero, zero).unwrap();
            encoder.even(zero >> 3, 13).unwrap();
        }
        encoder.finish().unwrap();
        let mut decoder = Decoder::new(&bytes);
        for (is_zero, zero) in all() {
            assert_eq!((decoder.choice(zero), decoder.even(13)), (is_zero, zero >> 3));
        }
        assert!(decoder.is_at_end());
    }
}
