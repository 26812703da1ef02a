//! The inner loops for counters of four bits anywhere in an array, for each instruction set that has some.

use crate::batch::ring::Batch;
use core::sync::atomic::AtomicU64;

/// The most counters of a key that these loops take.
pub const MAX_HASHES: u32 = 8;

/// The greatest value of a counter; a counter that reaches it stays there.
pub const GREATEST: u64 = 15;

/// How many counters there are, and how many of them a key has.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    pub range: u64,
    pub hashes: u32,
}

/// Adds or subtracts one key whose counters do not suit the loops, and returns the answer for it.
pub type Alone = fn(Counters, &mut [u64], u64) -> bool;

/// The inner loops. They take counters for which [`Counters::suit`] says true, and panic for words that do not hold all
/// counters ([`Counters::are_in`]).
#[derive(Debug)]
pub struct Kernel {
    /// From this many words on, batches that change counters are faster key by key, with lines fetched ahead.
    pub fetch_from: fn() -> usize,
    /// Whether all counters of a hash are above 0.
    pub contains: fn(Counters, &[AtomicU64], u64) -> bool,
    /// The least of the counters of a hash.
    pub least: fn(Counters, &[AtomicU64], u64) -> u64,
    /// Adds one to each counter of a hash that is below its greatest value. Returns whether a counter was 0; `None`,
    /// with nothing changed, if two counters of the hash are in one word.
    pub add: fn(Counters, &mut [u64], u64) -> Option<bool>,
    /// Adds the keys of a batch, in order.
    pub add_many: fn(Counters, &mut [u64], &mut dyn Batch, Alone),
    /// Subtracts one from each counter of a hash that is below its greatest value. Returns false, with nothing changed,
    /// if a counter is 0; `None`, with nothing changed, if two counters of the hash are in one word.
    pub subtract: fn(Counters, &mut [u64], u64) -> Option<bool>,
    /// Subtracts the keys of a batch, in order. Returns how many keys could be subtracted.
    pub subtract_many: fn(Counters, &mut [u64], &mut dyn Batch, Alone) -> u64,
}

impl Counters {
    /// Whether the loops take these counters: a counter's number has 32 bits, and a key has at least one counter, but
    /// not too many.
    pub fn suit(self) -> bool {
        self.range < 1 << 32 && (1..=MAX_HASHES).contains(&self.hashes)
    }

    /// Whether `words` words hold all counters, and the loops take these counters.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    pub fn are_in(self, words: usize) -> bool {
        self.suit() && self.range <= words as u64 * 16
    }
}
