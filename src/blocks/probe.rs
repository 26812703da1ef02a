//! What a lookup of a single key needs of a filter. A caller who keeps a [`Probe`] reaches the filter's words without
//! going through the filter each time.

use super::{BlockKernel, ScatteredBits, ScatteredKernel};
use crate::batch::ring::{self, Few};
use crate::bits::reduce;
use core::sync::atomic::AtomicU64;

/// The words of a filter, and how to find a key in them.
#[derive(Clone, Copy)]
pub struct Probe<'a> {
    /// How to find a key in the words.
    pub kernel: ProbeKernel,
    /// The words of the array.
    pub words: &'a [AtomicU64],
    /// Where inserted keys are counted, if keys can be inserted into the words without preparation. `None` for an image
    /// in place, which has to be marked before it is changed, and for kinds that are built once.
    pub insertions: Option<&'a AtomicU64>,
}

/// How to find a key.
#[derive(Clone, Copy)]
pub enum ProbeKernel {
    /// The bits of a key lie in one block, or in two.
    Block {
        /// The inner loops.
        kernel: &'static BlockKernel,
        /// The sets of lanes that keys choose from.
        masks: &'static [u16],
        /// For keys in two blocks, the hashes that lead a key to its blocks.
        shares: Option<fn(u64) -> [u64; 2]>,
    },
    /// The bits of a key lie anywhere.
    Scattered {
        /// The inner loops.
        kernel: &'static ScatteredKernel,
        /// Where the bits of a key lie.
        bits: ScatteredBits,
    },
    /// A kind that is built once finds the key by numbers that it read from the words.
    Built {
        /// The kind's functions.
        kernel: &'static BuiltKernel,
        /// What the kind read from the words.
        numbers: [u64; 4],
    },
}

/// How a kind that is built once finds a key by the numbers of [`ProbeKernel::Built`]. The functions are safe for all
/// numbers.
pub struct BuiltKernel {
    /// Whether a hash may be there.
    pub contains: fn(&[u64; 4], &[AtomicU64], u64) -> bool,
    /// Asks for the lines that a lookup of a hash reads.
    pub fetch: fn(&[u64; 4], &[AtomicU64], u64),
}

impl Probe<'_> {
    /// Whether a key may be there.
    #[inline(always)]
    pub fn contains(&self, hash: u64) -> bool {
        match &self.kernel {
            ProbeKernel::Block { kernel, masks, .. } => kernel.contains_one(self.words, masks, hash),
            ProbeKernel::Scattered { kernel, bits } => (kernel.contains)(bits, self.words, hash),
            ProbeKernel::Built { kernel, numbers } => (kernel.contains)(numbers, self.words, hash),
        }
    }

    /// Whether a key may be there whose lines [`Probe::fetch`] asked for. Reads those lines first, and others only if
    /// the first ones do not say no.
    #[inline(always)]
    pub fn contains_fetched(&self, hash: u64) -> bool {
        match &self.kernel {
            ProbeKernel::Scattered { bits, .. } => bits.has_first(self.words, hash) && self.contains(hash),
            ProbeKernel::Block { .. } | ProbeKernel::Built { .. } => self.contains(hash),
        }
    }

    /// Whether each of a few keys may be there, in the form of [`crate::contract::Kind::contains_few`].
    #[inline(always)]
    pub fn contains_few(&self, few: &Few) -> Option<u64> {
        match &self.kernel {
            ProbeKernel::Block { kernel, masks, .. } => Some(kernel.contains_few(self.words, masks, few)),
            ProbeKernel::Scattered { .. } | ProbeKernel::Built { .. } => None,
        }
    }

    /// Inserts a key into the words, which are the caller's alone. Returns whether the key certainly was not there, if
    /// `is_asked`. Changes nothing if the filter was built once.
    #[inline(always)]
    pub fn insert(&self, words: &mut [u64], hash: u64, is_asked: bool) -> bool {
        match &self.kernel {
            ProbeKernel::Block { kernel, masks, .. } => kernel.insert_one(words, masks, hash),
            ProbeKernel::Scattered { kernel, bits } if is_asked => (kernel.insert)(bits, words, hash),
            ProbeKernel::Scattered { kernel, bits } => (kernel.put)(bits, words, hash),
            ProbeKernel::Built { .. } => false,
        }
    }

    /// Inserts a few keys into the words, which are the caller's alone. If `is_asked`, says whether each certainly was
    /// not there, in the form of [`Probe::contains_few`].
    #[inline(always)]
    pub fn insert_few(&self, words: &mut [u64], few: &Few, is_asked: bool) -> Option<u64> {
        match &self.kernel {
            ProbeKernel::Block { kernel, masks, .. } => Some(kernel.insert_few(words, masks, few, is_asked)),
            ProbeKernel::Scattered { .. } | ProbeKernel::Built { .. } => None,
        }
    }

    /// Inserts a key while other threads insert too. Returns whether the key certainly was not there. Changes nothing
    /// if the filter was built once.
    #[inline(always)]
    pub fn insert_shared(&self, hash: u64) -> bool {
        match &self.kernel {
            ProbeKernel::Block { kernel, masks, .. } => kernel.insert_one_shared(self.words, masks, hash),
            ProbeKernel::Scattered { kernel, bits } => (kernel.insert_shared)(bits, self.words, hash),
            ProbeKernel::Built { .. } => false,
        }
    }

    /// Asks for the lines that a lookup of a hash reads first.
    #[inline]
    pub fn fetch(&self, hash: u64) {
        match &self.kernel {
            ProbeKernel::Block { shares: None, .. } => self.fetch_block(hash),
            ProbeKernel::Block { shares: Some(shares), .. } => {
                shares(hash).into_iter().for_each(|share| self.fetch_block(share))
            }
            ProbeKernel::Scattered { bits, .. } => bits.fetch(self.words, hash),
            ProbeKernel::Built { kernel, numbers } => (kernel.fetch)(numbers, self.words, hash),
        }
    }

    /// Asks for the line of the block that a hash goes to.
    ///
    /// The number of a block is the high half of the product of the hash and the number of blocks, so a product with
    /// the number of words gives a word of the block. In a layout that multiplies only a part of the hash, the word is
    /// now and then in a neighbouring block, which costs time and nothing else.
    #[inline]
    fn fetch_block(&self, hash: u64) {
        ring::fetch_word(self.words, reduce(hash, self.words.len() as u64) as usize);
    }
}
