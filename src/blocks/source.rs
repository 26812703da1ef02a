//! Entries of any number of bits, wherever they begin: how tables read and change them.

use crate::bits;
use crate::storage::AnyBytes;
use core::sync::atomic::{AtomicU64, Ordering};

/// What a table of entries is read from: 64-bit words, 0 past the end.
pub trait Source {
    /// The word at a place.
    fn word(&self, at: usize) -> u64;

    /// The bits from `bit` on as far as they lie in the eight bytes that begin with the byte of `bit`, and above them
    /// anything. May be `None` where not all eight bytes are there.
    #[inline(always)]
    fn eight(&self, bit: u64) -> Option<u64> {
        Some(window(self, bit))
    }
}

impl Source for [u64] {
    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |word| *word)
    }

    #[inline(always)]
    fn eight(&self, bit: u64) -> Option<u64> {
        bits::holds_eight(self, bit / 8).then(|| bits::read_own_unaligned(self, bit / 8) >> (bit % 8))
    }
}

impl Source for [AtomicU64] {
    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn eight(&self, bit: u64) -> Option<u64> {
        bits::holds_eight(self, bit / 8).then(|| bits::read_unaligned(self, bit / 8) >> (bit % 8))
    }
}

impl Source for AnyBytes<'_> {
    #[inline]
    fn word(&self, at: usize) -> u64 {
        AnyBytes::word(self, at)
    }
}

/// The 64 bits from `bit` on.
#[inline]
pub fn window(words: &(impl Source + ?Sized), bit: u64) -> u64 {
    let (at, shift) = ((bit / 64) as usize, bit % 64);
    words.word(at) >> shift | words.word(at + 1) << 1 << (63 - shift)
}

/// Flips the bits from `bit` on that are set in `bits`.
#[inline]
pub fn flip(words: &mut [u64], bit: u64, bits: u64) {
    let (at, shift) = ((bit / 64) as usize, bit % 64);
    words[at] ^= bits << shift;
    let beyond = bits >> 1 >> (63 - shift);
    if beyond != 0 {
        words[at + 1] ^= beyond;
    }
}
