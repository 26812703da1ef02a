//! What lies where in a payload: the segments of a shard, the shard's entry in the directory, and the shape of the
//! whole.

use super::{Array, MAX_WIDTH, sizing};
use crate::error::{Result, error};
use crate::format::countable;
use core::sync::atomic::{AtomicU64, Ordering};

/// How many cells a key may have.
pub const ARITIES: core::ops::RangeInclusive<u32> = sizing::ARITIES;

/// The least logarithm of a segment's length.
pub(super) const MIN_SEGMENT_BITS: u32 = 1;
/// The greatest logarithm of a segment's length, for arrays of less than 2^32 cells.
pub(super) const MAX_SEGMENT_BITS: u32 = 30;

/// How many bits of a scattered hash choose each cell after the first.
#[inline(always)]
pub(super) const fn slice(arity: usize) -> u32 {
    64 / (arity as u32 - 1)
}

/// The segments of one shard's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    /// The base-2 logarithm of a segment's length.
    pub(super) bits: u32,
    /// How many cells a key may begin in: a multiple of the length.
    pub(super) starts: u32,
}

/// The most cells for each key. Keys that all begin in the same cell take about 4.
const MOST_CELLS: u64 = 64;

impl Segments {
    /// The segments for `keys` keys. `growth` is how many times no seed was found. The seed does not change the cells
    /// that keys begin in, so keys may crowd somewhere under every seed. After the first failure there are a fiftieth
    /// more cells to begin in, and a segment more. After the second failure there are as many cells as for keys that
    /// are all peeled. After each further failure segments are twice as long, and there are an eighth more cells to
    /// begin in. So in the end there is a solution even for keys that are not spread evenly over the shard at all.
    /// `None` past the longest segments, and past the number of cells from which more do not help, because keys then
    /// have the same cells whatever the seed.
    pub(super) fn new(arity: u32, keys: u64, is_peeled: bool, growth: u32) -> Option<Segments> {
        let is_fewest = !is_peeled && growth < 2;
        let sizing::Segments { bits, starts } = match is_fewest {
            true => {
                let fewest = sizing::segments(arity, keys);
                let more = if growth == 0 { 0 } else { fewest.starts / 50 + 1 };
                sizing::Segments { starts: fewest.starts + more, ..fewest }
            }
            false => sizing::peeled(arity, keys),
        };
        let growth = if is_peeled { growth } else { growth.saturating_sub(2) };
        let starts = starts << bits;
        let starts = starts + starts / 8 * u64::from(growth);
        let bits = bits.checked_add(growth).filter(|bits| (MIN_SEGMENT_BITS..=MAX_SEGMENT_BITS).contains(bits))?;
        let segments = Segments { bits, starts: u32::try_from(starts.checked_next_multiple_of(1 << bits)?).ok()? };
        let most = u64::from(u32::MAX).min(MOST_CELLS * keys.max(64));
        (segments.cells(arity) <= most).then_some(segments)
    }

    /// How many cells there are.
    pub(super) fn cells(&self, arity: u32) -> u64 {
        u64::from(self.starts) + (u64::from(arity - 1) << self.bits)
    }
}

/// The cells of a key: one in each of K consecutive segments. Keys begin in one of `starts` cells, and a segment has
/// `length` cells, a power of two.
#[inline(always)]
pub(super) fn positions<const K: usize>(starts: u64, length: u64, how_far: u64, z: u64) -> [u64; K] {
    let mask = length.wrapping_sub(1);
    let mut start = how_far.wrapping_mul(starts) >> 32;
    let mut positions = [start; K];
    for (i, position) in positions[1..].iter_mut().enumerate() {
        // A forged directory may give a length of up to 2^63, so sums wrap.
        start = start.wrapping_add(length);
        *position = start ^ z >> (slice(K) * i as u32) & mask;
    }
    positions
}

/// What the directory says about a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) segments: Segments,
    pub(super) seed: u32,
    /// The group of 64 cells with which the shard begins. A group takes as many words as a cell has bits.
    pub(super) first: u64,
}

/// The words of an entry.
pub(super) const ENTRY_WORDS: usize = 2;

impl Entry {
    /// Reads an entry from its words. The first word has `starts` in its low half and the seed in its high half. The
    /// second word has the logarithm of a segment's length in its lowest 6 bits. Its other bits are the first cell, a
    /// multiple of 64.
    #[inline]
    pub(super) fn decode([a, b]: [u64; ENTRY_WORDS]) -> Entry {
        Entry { segments: Segments { bits: (b & 63) as u32, starts: a as u32 }, seed: (a >> 32) as u32, first: b >> 6 }
    }

    /// The entry that stands for a missing shard.
    pub(super) const NONE: Entry = Entry { segments: Segments { bits: 0, starts: 0 }, seed: 0, first: 0 };

    /// The entry of a shard in the directory that begins at word `start`. [`Entry::NONE`] if it is not in the words.
    #[inline(always)]
    pub(super) fn of_shard(words: &[AtomicU64], start: u64, shard: u64) -> Entry {
        // Neither number reaches 2^62: a shape has fewer cells, and fewer shards.
        let at = (start + ENTRY_WORDS as u64 * shard) as usize;
        match (words.get(at), words.get(at + 1)) {
            (Some(a), Some(b)) => Entry::read_words(a, b),
            _ => Entry::NONE,
        }
    }

    #[inline]
    pub(super) fn read(words: &[AtomicU64; ENTRY_WORDS]) -> Entry {
        Entry::read_words(&words[0], &words[1])
    }

    #[inline(always)]
    fn read_words(a: &AtomicU64, b: &AtomicU64) -> Entry {
        Entry::decode([a.load(Ordering::Relaxed), b.load(Ordering::Relaxed)])
    }

    pub(super) fn encode(&self) -> [u64; ENTRY_WORDS] {
        [u64::from(self.seed) << 32 | u64::from(self.segments.starts), self.first << 6 | u64::from(self.segments.bits)]
    }

    /// The first cell.
    #[inline]
    pub(super) fn first_cell(&self) -> u64 {
        self.first << 6
    }
}

/// How many groups of 64 cells hold `cells` cells. A group takes as many words as a cell has bits.
pub(super) fn groups(cells: u64) -> u64 {
    cells.div_ceil(64)
}

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many cells a key has: 3 or 4.
    arity: u32,
    /// Bits of a cell, from 1 to [`MAX_WIDTH`].
    pub(super) width: u32,
    /// How many shards there are. A payload without keys has none, and contains nothing.
    pub(super) shards: u64,
    /// How many cells there are, up to the last cell of the last shard.
    cells: u64,
    /// How many words the cells take, after which the directory follows.
    pub(super) cell_words: u64,
}

impl Shape {
    /// The shape with `arity` cells a key, `width` bits a cell, and these numbers of shards and cells. `None` if there
    /// is no such shape.
    pub fn new(arity: u32, width: u32, shards: u64, cells: u64) -> Option<Shape> {
        let known = ARITIES.contains(&arity)
            && (1..=MAX_WIDTH).contains(&width)
            && shards <= sizing::MAX_SHARDS
            && (shards == 0) == (cells == 0);
        // If this product saturates, `checked_words` refuses the shape.
        let cell_words = cells.saturating_mul(width.into()).div_ceil(64);
        let shape = Shape { arity, width, shards, cells, cell_words };
        // An entry has room for the number of a group, and the payload fits into the address space.
        (known && cells < 1 << 62).then_some(shape).filter(|shape| shape.checked_words().is_some())
    }

    /// The expected shape for `keys` evenly spread keys, with the fewest cells.
    pub fn expected(arity: u32, width: u32, keys: u64) -> Option<Shape> {
        Shape::of_shards(arity, width, keys, false)
    }

    /// The expected shape for `keys` evenly spread keys, if each key gets its own cell.
    pub fn expected_peeled(arity: u32, width: u32, keys: u64) -> Option<Shape> {
        Shape::of_shards(arity, width, keys, true)
    }

    fn of_shards(arity: u32, width: u32, keys: u64, is_peeled: bool) -> Option<Shape> {
        if keys == 0 {
            return Shape::new(arity, width, 0, 0);
        }
        let shards = sizing::shards(keys);
        let each = Segments::new(arity, keys.div_ceil(shards), is_peeled, 0)?.cells(arity);
        let before = (shards - 1).checked_mul(each.checked_next_multiple_of(64)?)?;
        Shape::new(arity, width, shards, before.checked_add(each)?)
    }

    /// How many cells a key has.
    pub fn arity(&self) -> u32 {
        self.arity
    }

    /// Bits of a cell.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// How many shards there are.
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// How many cells there are. Every shard but the last counts as a multiple of 64 cells.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// How many words a payload of this shape has: whole lines of eight.
    pub fn words(&self) -> u64 {
        // `new` refuses shapes for which this is `None`.
        self.checked_words().unwrap_or(u64::MAX)
    }

    fn checked_words(&self) -> Option<u64> {
        let cells = self.cells.checked_mul(self.width.into())?.div_ceil(64);
        let words = cells.checked_add(self.shards * ENTRY_WORDS as u64)?.max(1).checked_next_multiple_of(8)?;
        // The bytes and also the bits have to be countable in 64 bits.
        let bits = words.checked_mul(64)?;
        countable(bits / 8).map(|_| words)
    }

    /// Whether every cell that an entry gives to a hash is in the payload.
    pub(super) fn has(&self, entry: &Entry) -> bool {
        let Entry { segments, first, .. } = *entry;
        (MIN_SEGMENT_BITS..=MAX_SEGMENT_BITS).contains(&segments.bits)
            && segments.starts > 0
            && segments.starts.is_multiple_of(1 << segments.bits)
            && segments.cells(self.arity) <= u64::from(u32::MAX)
            && first <= self.cells / 64
            && 64 * first + segments.cells(self.arity) <= self.cells
    }

    /// Looks through the directory of a payload: every cell that a hash can choose has to be in the payload, in its
    /// shard's own part. Linear in the shards.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let (mut next, mut end) = (0, 0);
        let directory = Array::new(*self, words).directory;
        for (shard, entry) in (0..self.shards).zip(directory) {
            let entry = Entry::read(entry);
            let Entry { segments, first, .. } = entry;
            if first != next || !self.has(&entry) {
                return Err(error!(Corrupt, "shard {shard} of the directory is not one: {segments:?} from {first}"));
            }
            end = 64 * next + segments.cells(self.arity);
            next = groups(end);
        }
        if end != self.cells || words.len() as u64 != self.words() {
            return Err(error!(Corrupt, "the shards have {end} cells, the header {}", self.cells));
        }
        Ok(())
    }
}
