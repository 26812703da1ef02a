//! The inner loops of layouts in which all bits of a key lie in one block of words: their common signature, and what
//! the kernels of several layouts have in common.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub mod chain;
pub(crate) mod fills;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;

pub use fills::Fills;

use crate::batch::ring::{Batch, Few};
use core::sync::atomic::AtomicU64;

/// The odd multipliers of the Parquet format, a different one for each lane.
pub const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// [`SALTS`] as numbers of 64 bits, for products of two lanes.
#[cfg(target_arch = "x86_64")]
pub(crate) const WIDE_SALTS: [i64; 8] = {
    let (mut wide, mut lane) = ([0; 8], 0);
    while lane < wide.len() {
        wide[lane] = SALTS[lane] as i64;
        lane += 1;
    }
    wide
};

/// The inner loops of one block layout for one instruction set. `words` are exactly those of the blocks, without
/// padding, and fewer than 2^32 blocks where the layout says so. `masks` are the sets of lanes that keys of the kind
/// `blocked` choose from; a layout whose keys have all lanes has no masks.
///
/// The keys of a batch are taken in order, so that one that occurs twice is new once, and their lines are fetched ahead
/// where that pays.
///
/// The functions need the instructions of their kernel. So each layout keeps its kernels to itself, and its `kernel`
/// function gives one out for [`Instructions`](crate::simd::Instructions), which say that the processor has them.
pub struct BlockKernel {
    pub(crate) contains_one: unsafe fn(words: &[AtomicU64], masks: &[u16], key: u64) -> bool,
    pub(crate) insert_one: unsafe fn(words: &mut [u64], masks: &[u16], key: u64) -> bool,
    pub(crate) insert_one_shared: unsafe fn(words: &[AtomicU64], masks: &[u16], key: u64) -> bool,
    pub(crate) contains: unsafe fn(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch),
    pub(crate) insert: unsafe fn(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch),
    pub(crate) fills: unsafe fn(words: &[AtomicU64], hashes: u32) -> Fills,
    pub(crate) contains_few: unsafe fn(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64,
    pub(crate) insert_few: unsafe fn(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64,
}

impl BlockKernel {
    /// Whether a key may be there.
    #[inline]
    pub fn contains_one(&self, words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.contains_one)(words, masks, key) }
    }

    /// Inserts a key and says whether it certainly was not there.
    #[inline]
    pub fn insert_one(&self, words: &mut [u64], masks: &[u16], key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.insert_one)(words, masks, key) }
    }

    /// Inserts a key while others insert too, and says whether it certainly was not there. Words that already have all
    /// of its bits are not written.
    #[inline]
    pub fn insert_one_shared(&self, words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.insert_one_shared)(words, masks, key) }
    }

    /// Whether each key may be there.
    pub fn contains(&self, words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.contains)(words, masks, batch) }
    }

    /// Inserts each key and, if it is asked, says whether it certainly was not there.
    pub fn insert(&self, words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.insert)(words, masks, batch) }
    }

    /// Whether each of a few keys may be there: bit i is that of the i-th, and bits after the last mean nothing.
    #[inline]
    pub fn contains_few(&self, words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.contains_few)(words, masks, few) }
    }

    /// Inserts each key. If `is_asked`, says whether each certainly was not there, in the form of
    /// [`BlockKernel::contains_few`].
    #[inline]
    pub fn insert_few(&self, words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.insert_few)(words, masks, few, is_asked) }
    }

    /// What the bits say of a lookup by `hashes` lanes. Every kernel gives the same, to the last bit.
    pub fn fills(&self, words: &[AtomicU64], hashes: u32) -> Fills {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.fills)(words, hashes) }
    }
}

/// Sets bits in those words of a block that `lacking` has a bit for, while others set bits too; true if one of them was
/// not set before.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn set_lacking<const WORDS: usize>(block: &[AtomicU64], bits: &[u64; WORDS], mut lacking: u8) -> bool {
    let mut new = false;
    while lacking != 0 {
        let word = lacking.trailing_zeros() as usize % WORDS;
        lacking &= lacking - 1;
        new |= bits[word] & !block[word].fetch_or(bits[word], core::sync::atomic::Ordering::Relaxed) != 0;
    }
    new
}

/// The functions of a [`BlockKernel`] for many keys and for few, made from those for one key that are in scope:
/// `contains_one`, `insert_one`, `fetch` and `hash_u64s`. They get the attributes that are given.
macro_rules! one_key_at_a_time {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        fn contains(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
            let fetch = |words: &&[AtomicU64], key| fetch(words, key);
            let answer = |words: &mut &[AtomicU64], key| contains_one(words, masks, key);
            ring::rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, ring::nothing, answer);
        }

        $(#[$attribute])*
        fn insert(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
            let insert = |words: &mut [u64], key| insert_one(words, masks, key);
            ring::inserting(words, ring::ahead(words.len(), 1), batch, |words, key| fetch(words, key), insert);
        }

        $(#[$attribute])*
        fn contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
            let fetching = ring::is_far(words.len());
            let hash = |flip, keys: &[u64], hashes: &mut [u64]| hash_u64s(flip, keys, hashes);
            let fetch = |words: &&[AtomicU64], key| fetch(words, key);
            let answer = |words: &mut &[AtomicU64], key| contains_one(words, masks, key);
            ring::answer_few(&mut { words }, fetching, few, hash, fetch, answer)
        }

        $(#[$attribute])*
        fn insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
            let fetching = ring::is_far(words.len());
            let hash = |flip, keys: &[u64], hashes: &mut [u64]| hash_u64s(flip, keys, hashes);
            let insert = |words: &mut [u64], key| insert_one(words, masks, key) & is_asked;
            ring::answer_few(words, fetching, few, hash, |words, key| fetch(words, key), insert)
        }
    };
}

pub(crate) use one_key_at_a_time;
