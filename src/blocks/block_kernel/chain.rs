//! Several arrays of blocks of one layout in the words of one payload: a key is looked up in all of them together, and
//! what does not depend on the array is computed once.

use crate::batch::ring::{CHUNK, GROUP};
use core::sync::atomic::AtomicU64;

/// The most arrays of a chain.
pub const MAX_ARRAYS: usize = 64;

/// An array of this many blocks (512 KiB) or more is not in the second-level cache when a key comes.
pub const FAR: usize = 1 << 13;

/// Hashes that go through a chain together, and how many of them, counted from the first, are keys.
pub type Keys<'a> = (&'a [u64; CHUNK], usize);

/// Which of these keys are found: bit i is that of the i-th. Bits after the last mean nothing.
pub type Found = [u64; CHUNK / GROUP];

/// What lets an array join a chain: the loops over chains, the 64-bit words in a block, and the sets of lanes that keys
/// choose from.
pub type Link = (&'static ChainKernel, usize, &'static [u16]);

/// Where the arrays are. The numbers that kernels compute with lie side by side, so that eight arrays fill a vector.
pub struct Chain {
    kernel: &'static ChainKernel,
    /// How many arrays there are.
    count: usize,
    /// How many words they need.
    end: usize,
    /// How many arrays there are up to the last one with fewer than [`FAR`] blocks.
    pub(crate) near: usize,
    /// How many bytes lie before each.
    pub(crate) starts: [u64; MAX_ARRAYS],
    /// How many blocks each has: at least 1, and fewer than 2^32.
    pub(crate) blocks: [u64; MAX_ARRAYS],
    /// The address of the first set of lanes of each.
    pub(crate) masks: [u64; MAX_ARRAYS],
    /// How many such sets each has, at least 1.
    pub(crate) choices: [u64; MAX_ARRAYS],
}

/// The inner loops over the arrays of a chain, of one layout for one instruction set. `words` are at least all that the
/// chain needs. The array that is `written` is not asked, but its line is fetched; where all are asked, `written` is
/// the number of none of them.
///
/// The functions need the instructions of their kernel, which is given out as a [`super::BlockKernel`] is.
pub struct ChainKernel {
    pub(crate) contains_one: unsafe fn(&Chain, words: &[AtomicU64], written: usize, key: u64) -> bool,
    pub(crate) contains: unsafe fn(&Chain, words: &[AtomicU64], written: usize, keys: Keys) -> Found,
}

impl Chain {
    /// A chain that has no arrays yet.
    pub fn new((kernel, ..): Link) -> Chain {
        let none = [0; MAX_ARRAYS];
        Chain { kernel, count: 0, end: 0, near: 0, starts: none, blocks: none, masks: none, choices: none }
    }

    /// Adds an array of `words` words from `start` on, after all others; false if the array cannot join a chain.
    #[must_use]
    pub fn add(&mut self, start: usize, words: usize, (_, block_words, masks): Link) -> bool {
        let (i, blocks) = (self.count, words / block_words);
        let is_known = (1..1 << 32).contains(&(blocks as u64)) && !masks.is_empty();
        if i == MAX_ARRAYS || !is_known || start < self.end {
            return false;
        }
        (self.starts[i], self.blocks[i]) = (8 * start as u64, blocks as u64);
        (self.masks[i], self.choices[i]) = (masks.as_ptr().addr() as u64, masks.len() as u64);
        (self.count, self.end) = (i + 1, start + words);
        if blocks < FAR {
            self.near = i + 1;
        }
        true
    }

    /// How many arrays there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether any of the arrays may have a key, except for one that is going to be written. The lines of all large
    /// ones are asked for first.
    #[inline]
    pub fn contains_one(&self, words: &[AtomicU64], written: Option<usize>, key: u64) -> bool {
        assert!(self.end <= words.len(), "the words are those of the arrays");
        // SAFETY: kernels are given out only where the processor has their instructions, and the words are there.
        unsafe { (self.kernel.contains_one)(self, words, written.unwrap_or(self.count), key) }
    }

    /// Which keys any of the arrays may have, except for one that is going to be written.
    pub fn contains(&self, words: &[AtomicU64], written: Option<usize>, keys: Keys) -> Found {
        assert!(self.end <= words.len(), "the words are those of the arrays");
        // SAFETY: kernels are given out only where the processor has their instructions, and the words are there.
        unsafe { (self.kernel.contains)(self, words, written.unwrap_or(self.count), keys) }
    }
}
