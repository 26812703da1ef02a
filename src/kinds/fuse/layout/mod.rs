//! The binary fuse structure: an array of cells in which every key has three or four cells (its *arity*). The exclusive
//! or of a key's cells is the value that was given for the key when the array was solved. The value of a filter is a
//! fingerprint of the key; that of a map is the key's value.
//!
//! Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. [`super::sizing`] has the sizes.
//!
//! **From a hash to cells.** [`order`](crate::blocks::mixing::order) is a bijection; its result is called x here, and
//! records are sorted by x before building. With S shards the 96-bit product `x S` has the shard in its highest 32
//! bits, so a shard is a range of the sorted x. The next 32 bits say how far into the shard x is, and choose the first
//! cell. So the keys of a shard come in the order of their first cells, and building walks through the array instead of
//! jumping about in it. The other cells and the fingerprint come from a second half of the mixing, under the shard's
//! seed ([`scatter`](crate::blocks::mixing::scatter)).
//!
//! Here a segment has `L = 2^l` cells, and a key may begin in any of `starts` cells, a multiple of L. Each further cell
//! takes b bits of the hash: 32 if a key has three cells, 21 if it has four. Then the cells are
//!
//! ```text
//! p0 = how_far * starts >> 32      pi = (p0 + i L) ^ ((z >> (i - 1) b) mod L)
//! ```
//!
//! **Payload.** First come the cells of all shards, one shard after the other. The first cell of each shard is at a
//! multiple of 64 cells. Cell i of the payload is the `width` bits from bit `i width` on, counted from the lowest bit
//! of the first word. The directory follows at the next whole word: for each shard an `Entry` of two words. Zeros fill
//! the last line.
//!
//! Positions come from the directory, which opening does not read. Instead every access to a cell is checked: a forged
//! directory gives wrong answers, and [`Shape::check`] finds it.

mod aside;
mod cells;
mod fingerprints;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod one_shard;
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
use crate::blocks::{Layout, View};
use core::sync::atomic::AtomicU64;
use one_shard::OneShard;
use shape::{ENTRY_WORDS, Entry, Segments, groups, positions};

/// Whether the code for builds is to be small, because it is loaded before it can do anything. Then there is one loop
/// for all widths, which gives the same bytes.
const IS_SMALL: bool = cfg!(target_family = "wasm");

/// The array of a payload, for lookups.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    shape: Shape,
    directory: &'a [[AtomicU64; ENTRY_WORDS]],
    /// All words, including the directory, because the eight bytes from the first byte of a cell on may reach into it.
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
    /// The array of this shape in `words`. If `words` has fewer words than the shape, the missing cells are zero.
    #[inline(always)]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Array<'a> {
        let directory = words.get(shape.cell_words as usize..).unwrap_or_default().as_chunks().0;
        Array { shape, directory, words }
    }

    /// The array for programs that find cells themselves. Every such program checks what it reads of the directory. The
    /// entry of the only shard is checked here, and the view has it, so that lookups need not read it.
    fn view(&self) -> View<'a> {
        let Shape { width, shards, cell_words, .. } = self.shape;
        let OneShard { starts, length, seeds } = self.one_shard().unwrap_or_default();
        let (arity, cells) = (self.shape.arity().into(), self.shape.cells());
        let words = [shards, width.into(), arity, cells, cell_words, starts, length, seeds];
        View { layout: Layout::Fuse, payload: self.words, words, table: &[] }
    }

    /// Whether kernels may gather the array's cells: the numbers of shards and of cells have 32 bits, the directory is
    /// complete, and a cell lies within eight bytes.
    #[cfg(target_arch = "x86_64")]
    fn is_gathered(&self) -> bool {
        let shape = &self.shape;
        let fits = |number: u64| (1..1 << 32).contains(&number);
        fits(shape.shards)
            && fits(shape.cells())
            && shape.width <= cells::MAX_NARROW
            && self.directory.len() as u64 >= shape.shards
    }

    /// The places of a key's K cells. `x` is a result of `order` or the like, and `scatter` gets the seed of the
    /// key's shard and returns the scattered hash. Without shards the places mean nothing.
    #[inline(always)]
    fn places<const K: usize>(&self, x: u64, scatter: impl FnOnce(u32) -> u64) -> Places<K> {
        let (shard, how_far) = place(x, self.shape.shards);
        let entry = Entry::of_shard(self.words, self.shape.cell_words, shard);
        let z = scatter(entry.seed);
        let first = entry.first_cell();
        let Segments { bits, starts } = entry.segments;
        let mut cells = positions(starts.into(), 1 << bits, how_far, z);
        for cell in &mut cells {
            *cell = first.wrapping_add(*cell);
        }
        Places { cells, z }
    }

    /// The first bits of a key's cells.
    #[inline(always)]
    fn bits<const K: usize>(&self, places: &Places<K>) -> [u64; K] {
        let mut bits = places.cells;
        for bit in &mut bits {
            *bit = bit.wrapping_mul(self.shape.width.into());
        }
        bits
    }

    /// The exclusive or of the cells that begin at these bits. The bits above a cell's width mean nothing.
    #[inline(always)]
    fn at_bits<const K: usize>(&self, bits: [u64; K]) -> u64 {
        cells::together(self.words, self.shape.width, bits)
    }

    /// The exclusive or of a key's cells. The bits above a cell's width mean nothing.
    #[inline(always)]
    fn together<const K: usize>(&self, places: &Places<K>) -> u64 {
        self.at_bits(self.bits(places))
    }

    /// Prefetches the cache lines of a key's cells.
    #[inline]
    fn fetch<const K: usize>(&self, places: &Places<K>) {
        self.bits(places).iter().for_each(|bit| ring::fetch_word(self.words, (bit / 64) as usize));
    }

    /// The value that was given for a key. `x` is the key's order, and `scatter` gets the seed of the key's shard
    /// ([`Equations`]). A key that was given no value has an arbitrary one. `None` if no key was given a value.
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
