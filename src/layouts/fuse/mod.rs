//! The 3-wise binary fuse structure: an array of cells in which every key has three, whose exclusive or is a value that
//! was given for the key when the array was solved. The value of a filter is a fingerprint of the key; that of a map is
//! the key's value.
//!
//! Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. Sizes are in
//! [`crate::sizing::fuse`].
//!
//! **From a hash to cells.** [`order`] is a bijection; what it gives is sorted before building, so call it x. With S
//! shards the 96-bit product `x S` has the shard in its highest 32 bits, so that a shard is a range of the sorted x,
//! and the 32 bits after those say how far into the shard x is: they choose the first cell. So the keys of a shard come
//! in the order of their first cells, and building walks through the array instead of jumping about in it. The other
//! two cells and the fingerprint come from a second half of the mixing, under the shard's seed ([`scatter`]).
//!
//! With segments of `L = 2^l` cells, and a key that may begin in any of `starts` cells (a multiple of L), the
//! cells are
//!
//! ```text
//! p0 = how_far * starts >> 32      p1 = (p0 + L) ^ (z mod L)      p2 = (p0 + 2 L) ^ ((z >> 32) mod L)
//! ```
//!
//! **Payload.** The cells of all shards, one shard after the other, each one's first cell at a multiple of 64 cells:
//! cell i of the payload is the `width` bits from bit `i width` on, counted from the lowest bit of the first word. Then
//! the directory: for each shard an `Entry` of two words. Then zeros up to whole lines.
//!
//! Positions come from the directory, which opening does not read. Every access to a cell is checked instead: a forged
//! directory gives wrong answers, and [`Shape::check`] finds it.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod cells;
mod fingerprints;
mod portable;
mod shards;
mod solve;
mod values;

pub use cells::MAX_WIDTH;
pub use fingerprints::{Fingerprints, MAX_BITS, MIN_BITS};
pub use shards::{Equations, Work, solve};
pub use values::{MAX_CHECK_BITS, ValueShape, Values};

use crate::bits::{GOLDEN, ring};
use crate::error::{Result, error};
use crate::sizing::fuse as sizing;
use core::sync::atomic::{AtomicU64, Ordering};

/// The multiplier of [`order`]; the two are those of `bits::mix`.
const MIX: u64 = 0xbf58_476d_1ce4_e5b9;
/// The multiplier of [`scatter`].
const MIX_SCATTERED: u64 = 0x94d0_49bb_1331_11eb;

/// The first half of the mixing, a bijection: hashes that are weak in their high bits are spread evenly over shards.
#[inline]
pub fn order(hash: u64) -> u64 {
    let x = (hash ^ (hash >> 30)).wrapping_mul(MIX);
    x ^ (x >> 27)
}

/// The second half: what a seed makes of the first one's result. A bijection for each seed. With seed 0 both halves
/// together are `bits::mix`.
#[inline]
pub fn scatter(x: u64, seed: u32) -> u64 {
    let z = (x ^ (u64::from(seed) << 32 | u64::from(seed))).wrapping_mul(MIX_SCATTERED);
    z ^ (z >> 31)
}

/// Fingerprint bits of a scattered hash, 32 of them: a filter takes the low ones. Multiplied once more, so that no bit
/// of them is an exclusive or of bits that choose the cells: the array would take on a pattern that other keys' cells
/// have too.
#[inline]
pub fn fingerprint(z: u64) -> u64 {
    z.wrapping_mul(GOLDEN) >> 32
}

/// In which shard x is, and in the low 32 bits how far into it.
#[inline]
fn place(x: u64, shards: u64) -> (u64, u64) {
    let place = ((u128::from(x) * u128::from(shards)) >> 32) as u64;
    (place >> 32, place & u64::from(u32::MAX))
}

/// The least logarithm of a segment's length.
const MIN_SEGMENT_BITS: u32 = 1;
/// The greatest: three such segments can be told apart in 32 bits.
const MAX_SEGMENT_BITS: u32 = 30;

/// The segments of one shard's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The base-2 logarithm of a segment's length.
    bits: u32,
    /// How many cells a key may begin in: a multiple of the length.
    starts: u32,
}

impl Segments {
    /// Those for so many keys. `growth` is 0, or how many times no seed was found: each time segments are twice as
    /// long, and there are an eighth more cells to begin in, so that in the end there is a solution for keys that are
    /// not spread evenly over the shard at all. `None` past the longest segments.
    fn new(keys: u64, growth: u32) -> Option<Segments> {
        let sizing::Segments { bits, starts } = sizing::segments(keys);
        let starts = starts << bits;
        let starts = starts + starts / 8 * u64::from(growth);
        let bits = bits.checked_add(growth).filter(|bits| (MIN_SEGMENT_BITS..=MAX_SEGMENT_BITS).contains(bits))?;
        let segments = Segments { bits, starts: u32::try_from(starts.checked_next_multiple_of(1 << bits)?).ok()? };
        (segments.cells() <= u64::from(u32::MAX)).then_some(segments)
    }

    /// How many cells there are.
    fn cells(&self) -> u64 {
        u64::from(self.starts) + (2 << self.bits)
    }

    /// The three cells of a key.
    #[inline]
    fn positions(&self, how_far: u64, z: u64) -> [u64; 3] {
        let length = 1_u64 << self.bits;
        let mask = length - 1;
        let first = (how_far * u64::from(self.starts)) >> 32;
        // A forged length is at most 2^63.
        [first, (first + length) ^ (z & mask), first.wrapping_add(length << 1) ^ (z >> 32 & mask)]
    }
}

/// What the directory says of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    segments: Segments,
    seed: u32,
    /// Where its first cell is, in groups of 64 cells: as many words as a cell has bits.
    first: u64,
}

/// The words of an entry.
const ENTRY_WORDS: usize = 2;

impl Entry {
    /// As words: `starts` in the low half of the first, the seed in its high half; the logarithm of the length of
    /// segments in the lowest 6 bits of the second, the first cell, which is a multiple of 64, in the rest.
    #[inline]
    fn decode([a, b]: [u64; ENTRY_WORDS]) -> Entry {
        Entry { segments: Segments { bits: (b & 63) as u32, starts: a as u32 }, seed: (a >> 32) as u32, first: b >> 6 }
    }

    /// That of a shard which is not there.
    const NONE: Entry = Entry { segments: Segments { bits: 0, starts: 0 }, seed: 0, first: 0 };

    #[inline]
    fn read(words: &[AtomicU64; ENTRY_WORDS]) -> Entry {
        Entry::decode(words.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }

    fn encode(&self) -> [u64; ENTRY_WORDS] {
        [u64::from(self.seed) << 32 | u64::from(self.segments.starts), self.first << 6 | u64::from(self.segments.bits)]
    }

    /// The first cell.
    #[inline]
    fn first_cell(&self) -> u64 {
        self.first << 6
    }
}

/// How many groups of 64 cells so many cells take.
fn groups(cells: u64) -> u64 {
    cells.div_ceil(64)
}

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits of a cell, from 1 to [`MAX_WIDTH`].
    width: u32,
    /// How many shards there are. Without keys there are none, and nothing is contained.
    shards: u64,
    /// How many groups of 64 cells all shards take.
    groups: u64,
}

impl Shape {
    /// The shape with so many bits a cell, shards and cells, if there is such a shape.
    pub fn new(width: u32, shards: u64, cells: u64) -> Option<Shape> {
        let known = (1..=MAX_WIDTH).contains(&width)
            && shards <= sizing::MAX_SHARDS
            && cells.is_multiple_of(64)
            && (shards == 0) == (cells == 0);
        let shape = Shape { width, shards, groups: cells / 64 };
        // Groups fit in an entry, and the payload in the address space.
        (known && shape.groups < 1 << 56).then_some(shape).filter(|shape| shape.checked_words().is_some())
    }

    /// The shape to expect of `keys` keys that are spread evenly.
    pub fn expected(width: u32, keys: u64) -> Option<Shape> {
        let shards = if keys == 0 { 0 } else { sizing::shards(keys) };
        let each = groups(sizing::cells(keys.div_ceil(shards.max(1))));
        Shape::new(width, shards, shards.checked_mul(each)?.checked_mul(64)?)
    }

    /// Bits of a cell.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// How many shards there are.
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// How many cells there are, those included that round a shard's up to a multiple of 64.
    pub fn cells(&self) -> u64 {
        self.groups * 64
    }

    /// How many words the cells are; the directory follows.
    fn cell_words(&self) -> u64 {
        self.groups * u64::from(self.width)
    }

    /// How many words a payload of this shape has: whole lines of eight.
    pub fn words(&self) -> u64 {
        // `new` asks.
        self.checked_words().unwrap_or(u64::MAX)
    }

    fn checked_words(&self) -> Option<u64> {
        let cells = self.groups.checked_mul(self.width.into())?;
        let words = cells.checked_add(self.shards * ENTRY_WORDS as u64)?.max(1).checked_next_multiple_of(8)?;
        // Not only bytes are counted in 64 bits, but also bits.
        let bits = words.checked_mul(64)?;
        isize::try_from(bits / 8).ok().map(|_| words)
    }

    /// Looks through the directory of a payload: whether every cell that a hash can choose is in the payload, each
    /// shard's in its own part. Linear in the shards.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let mut next = 0;
        let directory = Array::new(*self, words).directory;
        for (shard, entry) in (0..self.shards).zip(directory) {
            let Entry { segments, first, .. } = Entry::read(entry);
            let known = (MIN_SEGMENT_BITS..=MAX_SEGMENT_BITS).contains(&segments.bits)
                && segments.starts > 0
                && segments.starts.is_multiple_of(1 << segments.bits);
            if !known || first != next || groups(segments.cells()) > self.groups - next {
                return Err(error!(Corrupt, "shard {shard} of the directory is not one: {segments:?} from {first}"));
            }
            next += groups(segments.cells());
        }
        if next != self.groups || words.len() as u64 != self.words() {
            return Err(error!(Corrupt, "the shards have {next} groups of cells, the header {}", self.groups));
        }
        Ok(())
    }
}

/// A payload, to be read.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    shape: Shape,
    directory: &'a [[AtomicU64; ENTRY_WORDS]],
    /// All words: the eight bytes from the first one of a cell on may reach into the directory.
    words: &'a [AtomicU64],
}

/// Where a key's cells are.
#[derive(Clone, Copy, Default)]
struct Places {
    cells: [u64; 3],
    /// The key's scattered hash.
    z: u64,
}

impl<'a> Array<'a> {
    /// The array of this shape in `words`. Where these are fewer than the shape has, cells that are not there are zero.
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Array<'a> {
        let directory = words.get(shape.cell_words() as usize..).unwrap_or_default().as_chunks().0;
        Array { shape, directory, words }
    }

    /// Where the cells of a key are: of x, a result of [`order`] or the like, and of what `scatter` makes of the seed
    /// of its shard. Anywhere if there are no shards.
    #[inline(always)]
    fn places(&self, x: u64, scatter: impl FnOnce(u32) -> u64) -> Places {
        let (shard, how_far) = place(x, self.shape.shards);
        let entry = self.directory.get(shard as usize).map_or(Entry::NONE, Entry::read);
        let z = scatter(entry.seed);
        let first = entry.first_cell();
        Places { cells: entry.segments.positions(how_far, z).map(|position| first.wrapping_add(position)), z }
    }

    /// The first bits of cells.
    #[inline(always)]
    fn bits(&self, places: &Places) -> [u64; 3] {
        places.cells.map(|cell| cell.wrapping_mul(self.shape.width.into()))
    }

    /// What the cells from these bits on give together, and above their bits anything.
    #[inline(always)]
    fn at_bits(&self, bits: [u64; 3]) -> u64 {
        cells::together(self.words, self.shape.width, bits)
    }

    /// What the cells of a key give together, and above their bits anything.
    #[inline(always)]
    fn together(&self, places: &Places) -> u64 {
        self.at_bits(self.bits(places))
    }

    /// Asks for the cache lines of a key's cells.
    #[inline]
    fn fetch(&self, places: &Places) {
        self.bits(places).iter().for_each(|bit| ring::fetch_word(self.words, (bit / 64) as usize));
    }

    /// The value that was given for a key: of x, its order, and of `scatter`, which is given the seed of the key's
    /// shard ([`Equations`]). Keys that were given none have any value. `None` if no key was given one.
    #[inline]
    pub fn value(&self, x: u64, scatter: impl FnOnce(u32) -> u64) -> Option<u64> {
        let is_built = self.shape.shards > 0;
        is_built.then(|| self.together(&self.places(x, scatter)) & cells::mask(self.shape.width))
    }
}
