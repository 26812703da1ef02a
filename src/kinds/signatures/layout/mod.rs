//! A static table of cuckoo signatures. The table is buckets of a few slots. A key chooses from a few buckets, and its
//! signature is in a slot of one of them.
//!
//! The table is built with the hashes of all keys at hand. Keys may move as often as they must until each has a slot
//! (`place.rs`), and only then are signatures written. So a key's other buckets need not follow from its signature, as
//! they do in a cuckoo filter that takes keys one by one. All buckets, and the signature, come from independent parts
//! of the hash.
//!
//! Keys are divided into shards by the highest bits of their order, so that the work on one shard fits in little
//! memory.
//!
//! **Payload.** First comes the directory, a word for each shard, with the shard's seed in the lowest 16 bits and above
//! them the number of its first bucket. A shard's buckets end where those of the next shard begin. The buckets of all
//! shards follow from the next word on, each of b slots of r bits ([`Slots`]). Opening does not read the directory;
//! every lookup checks instead whether the shard is in the payload. So a forged directory gives wrong answers, and
//! [`Shape::check`] finds it.

mod build;
pub mod exact;
mod place;

pub use build::build;

use super::sizing::{Buckets, SHAPES};
use crate::bits::{self, GOLDEN, mix, reduce};
use crate::blocks::slots::Slots;
use crate::blocks::source::{Source, window};
use crate::error::{Result, error};
use core::sync::atomic::{AtomicU64, Ordering};

/// The least number of bits of a signature.
pub const MIN_BITS: u32 = 2;
/// The greatest number of bits of a signature.
pub const MAX_BITS: u32 = 32;

/// How many bits of a directory's word are the seed.
const SEED_BITS: u32 = 16;

/// Payloads have fewer buckets than this, so that a bucket's number fits next to a seed.
const MAX_BUCKETS: u64 = 1 << (u64::BITS - SEED_BITS);

/// A number with the lowest bit of each slot of a bucket, by the bits of a signature and the slots of a bucket. `None`
/// if a bucket has more than 64 bits.
static ONES: [[Option<u64>; MOST_SLOTS + 1]; MAX_BITS as usize + 1] = {
    let mut all = [[None; MOST_SLOTS + 1]; MAX_BITS as usize + 1];
    let mut width = MIN_BITS as usize;
    while width < all.len() {
        let (mut slots, mut ones) = (1, 0);
        while slots <= MOST_SLOTS && slots * width <= 64 {
            ones |= 1 << (width * (slots - 1));
            all[width][slots] = Some(ones);
            slots += 1;
        }
        width += 1;
    }
    all
};

/// The most slots of a bucket.
const MOST_SLOTS: usize = 4;

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bits of a signature.
    width: u32,
    /// The index of the buckets' shape among [`SHAPES`].
    buckets: usize,
    /// How many shards there are, at least 1.
    shards: u64,
    /// How many buckets all shards have together, at least one each.
    length: u64,
}

impl Shape {
    /// The shape with signatures of `width` bits, buckets whose shape has the index `buckets` among [`SHAPES`],
    /// `shards` shards, and `length` buckets in all. `None` if there is no such shape.
    pub fn new(width: u32, buckets: u64, shards: u64, length: u64) -> Option<Shape> {
        let buckets = usize::try_from(buckets).ok().filter(|buckets| *buckets < SHAPES.len())?;
        let known = (MIN_BITS..=MAX_BITS).contains(&width) && (1..=length).contains(&shards) && length < MAX_BUCKETS;
        // The slots have at most 2^(48 + 2 + 5) bits, and the directory 2^(48 + 6), so nothing overflows.
        known.then_some(Shape { width, buckets, shards, length })
    }

    /// This shape with signatures of `width` bits, from [`MIN_BITS`] to [`MAX_BITS`].
    pub fn with_width(self, width: u32) -> Shape {
        Shape { width: width.clamp(MIN_BITS, MAX_BITS), ..self }
    }

    /// The bits of a signature.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// How many shards there are.
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// How many buckets a key chooses from, and how many slots a bucket has.
    #[inline]
    pub fn buckets(&self) -> Buckets {
        SHAPES[self.buckets]
    }

    /// How many buckets all shards have together.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The slots of all buckets.
    #[inline]
    pub fn slots(&self) -> Slots {
        Slots { count: self.length * u64::from(self.buckets().slots), width: self.width }
    }

    /// The bits of all slots.
    pub fn bits(&self) -> u64 {
        self.slots().count * u64::from(self.width)
    }

    /// How many words a payload of this shape has: whole lines of eight.
    pub fn words(&self) -> u64 {
        (self.shards + self.bits().div_ceil(64)).next_multiple_of(8)
    }

    /// The shard's buckets for `x`, a result of [`order`]. `word` gives the words of the payload by their places.
    /// `None` if the directory does not lead into the payload.
    #[inline]
    fn shard(&self, x: u64, word: impl Fn(usize) -> u64) -> Option<Shard> {
        self.shard_at(reduce(x, self.shards), word)
    }

    /// [`Shape::shard`] for the number of a shard.
    #[inline]
    fn shard_at(&self, shard: u64, word: impl Fn(usize) -> u64) -> Option<Shard> {
        let entry = word(shard as usize);
        let first = entry >> SEED_BITS;
        let end = if shard + 1 < self.shards { word(shard as usize + 1) >> SEED_BITS } else { self.length };
        let is_one = first < end && end <= self.length;
        is_one.then(|| Shard { first, length: end - first, seed: entry as u16 })
    }

    /// Whether one of the slots of a hash has the hash's signature. `words` are those of the payload. True if the
    /// directory is forged.
    #[inline]
    pub fn contains(&self, hash: u64, words: &(impl Source + ?Sized)) -> bool {
        let x = order(hash);
        let Some(shard) = self.shard(x, |place| words.word(place)) else { return true };
        let (signature, firsts) = (shard.signature(x, self.width), shard.firsts(x, self.buckets()));
        if let Some(ones) = self.ones() {
            // The lookup compares whole buckets, and all of them, so no branch depends on which one has the signature.
            return firsts.fold(false, |found, first| found | self.bucket_has(first, signature, ones, words));
        }
        let is_in = |slot| self.slots().get_by(slot, |place| words.word(self.shards as usize + place)) == signature;
        let in_bucket = u64::from(self.buckets().slots);
        firsts.into_iter().any(|first| (first..first + in_bucket).any(is_in))
    }

    /// A number with the lowest bit of each slot of a bucket. `None` if a bucket has more than 64 bits.
    #[inline]
    fn ones(&self) -> Option<u64> {
        *ONES[self.width as usize].get(self.buckets().slots as usize)?
    }

    /// Whether one of the slots of a bucket, the first of which is `first`, has a signature. `ones` is what
    /// [`Shape::ones`] gives.
    #[inline]
    fn bucket_has(&self, first: u64, signature: u64, ones: u64, words: &(impl Source + ?Sized)) -> bool {
        let bit = 64 * self.shards + first * u64::from(self.width);
        // Up to 57 bits are in the eight bytes from the first bit's byte on.
        let eight = if self.width * self.buckets().slots <= 57 { words.eight(bit) } else { None };
        // Subtracting 1 from each lane newly sets a high bit exactly if a lane is 0: the lowest such lane is the first
        // to borrow (Knuth, "The Art of Computer Programming" 4A, section 7.1.3).
        let differs = eight.unwrap_or_else(|| window(words, bit)) ^ (signature * ones);
        differs.wrapping_sub(ones) & !differs & ones << (self.width - 1) != 0
    }

    /// Calls `fetch` with the places of the words in which the buckets of a hash begin.
    #[inline]
    pub fn fetch(&self, hash: u64, word: impl Fn(usize) -> u64, mut fetch: impl FnMut(usize)) {
        let x = order(hash);
        if let Some(shard) = self.shard(x, word) {
            for first in shard.firsts(x, self.buckets()) {
                fetch(self.shards as usize + self.slots().words_of(first)[0]);
            }
        }
    }

    /// The words of the slots.
    pub fn slot_words<'a>(&self, words: &'a [AtomicU64]) -> &'a [AtomicU64] {
        words.get(self.shards as usize..).unwrap_or_default()
    }

    /// Looks through the directory of a payload, and at the bits after its last slot. Linear in the shards.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        if words.len() as u64 != self.words() {
            return Err(error!(Corrupt, "a payload of {} words has not {}", words.len(), self.words()));
        }
        // The first bucket of the shard before, and one more.
        let mut least = 0;
        for (shard, word) in words[..self.shards as usize].iter().enumerate() {
            let first = word.load(Ordering::Relaxed) >> SEED_BITS;
            if first < least || first >= self.length || shard == 0 && first != 0 {
                return Err(error!(Corrupt, "shard {shard} of the directory begins at bucket {first}"));
            }
            least = first + 1;
        }
        if bits::is_zero_from(self.slot_words(words), self.bits()) {
            return Ok(());
        }
        Err(error!(Corrupt, "bits after the last slot, {}, are set", self.slots().count))
    }
}

/// The order by which keys are divided into shards. A bijection, so that hashes with weak high bits do as well.
#[inline]
pub fn order(hash: u64) -> u64 {
    mix(hash)
}

/// The buckets of one shard.
#[derive(Clone, Copy, Debug)]
struct Shard {
    first: u64,
    length: u64,
    /// The seed under which the keys of this shard found slots.
    seed: u16,
}

impl Shard {
    /// The shard's word in the directory.
    fn encode(&self) -> u64 {
        self.first << SEED_BITS | u64::from(self.seed)
    }

    /// The i-th part of a key's hash, which does not depend on the other parts.
    #[inline]
    fn of_hash(&self, x: u64, i: u64) -> u64 {
        mix(x.wrapping_add((8 * u64::from(self.seed) + i + 1).wrapping_mul(GOLDEN)))
    }

    /// The first slot of each of a key's buckets. `x` is what [`order`] makes of the key's hash.
    #[inline]
    fn firsts(self, x: u64, Buckets { choices, slots, .. }: Buckets) -> impl Iterator<Item = u64> + Clone {
        let bucket = move |i| self.first + reduce(self.of_hash(x, i), self.length);
        (0..u64::from(choices)).map(move |i| bucket(i) * u64::from(slots))
    }

    /// A key's signature of `width` bits, which is not 0.
    #[inline]
    fn signature(&self, x: u64, width: u32) -> u64 {
        1 + reduce(self.of_hash(x, 7), (1 << width) - 1)
    }
}
