//! The binary fuse structure: an array of cells in which every key has three or four (its *arity*), whose exclusive or
//! is a value that was given for the key when the array was solved. The value of a filter is a fingerprint of the key;
//! that of a map is the key's value.
//!
//! Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. Sizes are in
//! [`super::sizing`].
//!
//! **From a hash to cells.** [`order`] is a bijection; what it gives is sorted before building, so call it x. With S
//! shards the 96-bit product `x S` has the shard in its highest 32 bits, so that a shard is a range of the sorted x,
//! and the 32 bits after those say how far into the shard x is: they choose the first cell. So the keys of a shard come
//! in the order of their first cells, and building walks through the array instead of jumping about in it. The other
//! cells and the fingerprint come from a second half of the mixing, under the shard's seed ([`scatter`]).
//!
//! With segments of `L = 2^l` cells, a key that may begin in any of `starts` cells (a multiple of L), and b = 32 bits
//! for each further cell where there are three, 21 where there are four, the cells are
//!
//! ```text
//! p0 = how_far * starts >> 32      pi = (p0 + i L) ^ ((z >> (i - 1) b) mod L)
//! ```
//!
//! **Payload.** The cells of all shards, one shard after the other, each one's first cell at a multiple of 64 cells:
//! cell i of the payload is the `width` bits from bit `i width` on, counted from the lowest bit of the first word.
//! Then, from the next whole word on, the directory: for each shard an `Entry` of two words. Then zeros up to whole
//! lines.
//!
//! Positions come from the directory, which opening does not read. Every access to a cell is checked instead: a forged
//! directory gives wrong answers, and [`Shape::check`] finds it.

mod aside;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cells;
mod fingerprints;
mod kernel;
pub mod own_cells;
mod peel;
mod portable;
mod shape;
mod shards;
mod solve;
mod values;

pub use cells::MAX_WIDTH;
pub use fingerprints::{Fingerprints, MAX_BITS, MIN_BITS};
pub use shape::{ARITIES, Shape};
pub use shards::{Cells, Equations, solve};
pub use values::{MAX_CHECK_BITS, ValueShape, Values};

use super::sizing;
use crate::batch::ring;
use crate::batch::shards::place;
use crate::bits::{GOLDEN, MIX, MIX_SCATTERED};
use core::sync::atomic::AtomicU64;
use shape::{ENTRY_WORDS, Entry, Segments, groups};

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

/// A payload, to be read.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    shape: Shape,
    directory: &'a [[AtomicU64; ENTRY_WORDS]],
    /// All words: the eight bytes from the first one of a cell on may reach into the directory.
    words: &'a [AtomicU64],
}

/// Where the K cells of a key are.
#[derive(Clone, Copy)]
struct Places<const K: usize> {
    cells: [u64; K],
    /// The key's scattered hash.
    z: u64,
}

impl<const K: usize> Default for Places<K> {
    fn default() -> Places<K> {
        Places { cells: [0; K], z: 0 }
    }
}

impl<'a> Array<'a> {
    /// The array of this shape in `words`. Where these are fewer than the shape has, cells that are not there are zero.
    #[inline]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Array<'a> {
        let directory = words.get(shape.cell_words as usize..).unwrap_or_default().as_chunks().0;
        Array { shape, directory, words }
    }

    /// Whether kernels may gather its cells: numbers of shards and of cells are of 32 bits, the directory is all there,
    /// and a cell is found in eight bytes.
    #[cfg(target_arch = "x86_64")]
    fn is_gathered(&self) -> bool {
        let shape = &self.shape;
        let fits = |number: u64| (1..1 << 32).contains(&number);
        fits(shape.shards)
            && fits(shape.cells())
            && shape.width <= cells::MAX_NARROW
            && self.directory.len() as u64 >= shape.shards
    }

    /// Where the cells of a key are, of which there are K: of x, a result of [`order`] or the like, and of what
    /// `scatter` makes of the seed of its shard. Anywhere if there are no shards.
    #[inline(always)]
    fn places<const K: usize>(&self, x: u64, scatter: impl FnOnce(u32) -> u64) -> Places<K> {
        let (shard, how_far) = place(x, self.shape.shards);
        let entry = self.directory.get(shard as usize).map_or(Entry::NONE, Entry::read);
        let z = scatter(entry.seed);
        let first = entry.first_cell();
        Places { cells: entry.segments.positions(how_far, z).map(|position| first.wrapping_add(position)), z }
    }

    /// The first bits of cells.
    #[inline(always)]
    fn bits<const K: usize>(&self, places: &Places<K>) -> [u64; K] {
        places.cells.map(|cell| cell.wrapping_mul(self.shape.width.into()))
    }

    /// What the cells from these bits on give together, and above their bits anything.
    #[inline(always)]
    fn at_bits<const K: usize>(&self, bits: [u64; K]) -> u64 {
        cells::together(self.words, self.shape.width, bits)
    }

    /// What the cells of a key give together, and above their bits anything.
    #[inline(always)]
    fn together<const K: usize>(&self, places: &Places<K>) -> u64 {
        self.at_bits(self.bits(places))
    }

    /// Asks for the cache lines of a key's cells.
    #[inline]
    fn fetch<const K: usize>(&self, places: &Places<K>) {
        self.bits(places).iter().for_each(|bit| ring::fetch_word(self.words, (bit / 64) as usize));
    }

    /// The value that was given for a key: of x, its order, and of `scatter`, which is given the seed of the key's
    /// shard ([`Equations`]). Keys that were given none have any value. `None` if no key was given one.
    #[inline]
    pub fn value(&self, x: u64, scatter: impl FnOnce(u32) -> u64) -> Option<u64> {
        if self.shape.shards == 0 {
            return None;
        }
        let together = match self.shape.arity() {
            3 => self.together(&self.places::<3>(x, scatter)),
            _ => self.together(&self.places::<4>(x, scatter)),
        };
        Some(together & cells::mask(self.shape.width))
    }
}
