//! Numbers that lie close to each other in words.

use core::sync::atomic::{AtomicU64, Ordering};

/// Numbers of 8, 16, 32 or 64 bits in the words of a payload, the first one in the lowest bits of a word.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The word that has the first number.
    pub start: u64,
    /// The binary logarithm of the bits of a number.
    log2_bits: u32,
}

impl Numbers {
    /// Numbers of `bytes` bytes, which are 1, 2, 4 or 8, from the word `start` on.
    pub fn new(start: u64, bytes: u64) -> Numbers {
        Numbers { start, log2_bits: (8 * bytes).trailing_zeros() }
    }

    /// The bits of a number.
    pub fn bits(self) -> u64 {
        1 << self.log2_bits
    }

    /// How many words `count` numbers take.
    pub fn words(self, count: u64) -> u64 {
        count.div_ceil(64 / self.bits())
    }

    /// The greatest number that fits.
    pub fn most(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The word that has a number.
    #[inline]
    pub fn word(self, i: u64) -> usize {
        (self.start + (i >> (6 - self.log2_bits))) as usize
    }

    #[inline]
    fn shift(self, i: u64) -> u64 {
        i << self.log2_bits & 63
    }

    /// A number.
    #[inline]
    pub fn get(self, words: &[AtomicU64], i: u64) -> u64 {
        words[self.word(i)].load(Ordering::Relaxed) >> self.shift(i) & self.most()
    }

    /// Writes a number, which is at most [`Numbers::most`].
    pub fn set(self, words: &mut [u64], i: u64, number: u64) {
        let (word, shift) = (&mut words[self.word(i)], self.shift(i));
        *word = *word & !(self.most() << shift) | number << shift;
    }
}
