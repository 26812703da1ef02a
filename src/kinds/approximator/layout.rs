//! The compact approximator: an array of cells, each of which holds an element of a lattice. A key has k cells. Giving
//! the key a value joins the value to each of them, and reading the key gives the meet of the cells, which is the key's
//! value or more.
//!
//! Boldi and Vigna, "Mutable strings in Java: design, implementation and lightweight text-search algorithms", 2005,
//! with the lattice of numbers under maximum; with the lattice of one bit it is the Bloom filter. [`super::sizing`] has
//! the probabilities.
//!
//! A key's cells have the positions that the bits of [`Bloom`] have in an array with a bit for each cell, for the hash
//! that [`hash_of`] makes of the key's identity. They lie in words as [`WordCells`] says. A cell that no key has is 0,
//! which is the least element of every lattice here: where the greatest number is the least element, cells hold the
//! difference from the greatest number.

use crate::batch::ring;
use crate::bits::{GOLDEN, PIECE_WORDS, mix};
use crate::blocks::Measure;
use crate::blocks::word_cells::WordCells;
use crate::format::Geometry;
use crate::kinds::bloom::layout::Bloom;
use core::sync::atomic::{AtomicU64, Ordering};

/// An order of values in which any two have a join and a meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lattice {
    /// Numbers; the join of two is the greater one.
    Max,
    /// Numbers; the join of two is the smaller one, and a key without a value reads the greatest number.
    Min,
    /// Sets of bits; the join of two is their union.
    Union,
}

impl Lattice {
    /// The names, in the order of their numbers in images.
    pub const NAMES: &'static [&'static str] = &["max", "min", "union"];

    /// The lattice with this number.
    pub fn from_number(number: u64) -> Option<Lattice> {
        [Lattice::Max, Lattice::Min, Lattice::Union].into_iter().find(|lattice| *lattice as u64 == number)
    }

    /// Turns a value into what a cell holds, or the other way round.
    #[inline]
    fn turn(self, value: u64, mask: u64) -> u64 {
        if self == Lattice::Min { value ^ mask } else { value }
    }

    /// The join of two values, as cells hold them.
    #[inline]
    fn join(self, a: u64, b: u64) -> u64 {
        if self == Lattice::Union { a | b } else { a.max(b) }
    }

    /// The meet of two values, as cells hold them.
    #[inline]
    fn meet(self, a: u64, b: u64) -> u64 {
        if self == Lattice::Union { a & b } else { a.min(b) }
    }
}

/// The hash of a key with this identity. Two identities that differ in only one half have different hashes.
#[inline]
pub fn hash_of(id: u128) -> u64 {
    mix((id as u64).wrapping_mul(GOLDEN) ^ (id >> 64) as u64)
}

/// Where the cells of a key are, and what they hold.
#[derive(Clone, Copy, Debug)]
pub struct LatticeCells {
    lattice: Lattice,
    cells: WordCells,
    hashes: u32,
    positions: Bloom,
}

/// Cells of a key that are fetched before any is looked at.
const FETCHED: u32 = 4;

impl LatticeCells {
    /// `cells` cells of `bits` bits, `hashes` of which a key has; `None` if there cannot be such an array.
    pub fn new(lattice: Lattice, bits: u32, cells: u64, hashes: u32) -> Option<LatticeCells> {
        let positions = Bloom::of_geometry(&Geometry { bits: cells, hashes, ..Geometry::default() })?;
        Some(LatticeCells { lattice, cells: WordCells::new(bits, cells)?, hashes, positions })
    }

    /// How the cells lie in words.
    pub fn cells(&self) -> &WordCells {
        &self.cells
    }

    /// What is read of the key with this identity; `None` if keys without a value read the same.
    #[inline]
    pub fn get(&self, words: &[AtomicU64], id: u128) -> Option<u64> {
        let (mask, mut met) = (self.cells.mask(), u64::MAX);
        self.positions.all(hash_of(id), |position| {
            met = self.lattice.meet(met, self.cells.get(words, position));
            met != 0
        });
        (met != 0).then(|| self.lattice.turn(met & mask, mask))
    }

    /// Joins a value to the cells of a key; true if that changed any, and so what is read of the key.
    #[inline]
    pub fn put(&self, words: &mut [u64], id: u128, value: u64) -> bool {
        let (value, mut changed) = (self.lattice.turn(value, self.cells.mask()), false);
        self.positions.all(hash_of(id), |position| {
            changed |= self.cells.change(words, position, |before| self.lattice.join(before, value));
            true
        });
        changed
    }

    /// [`Row::joined`](crate::contract::Row::joined)
    pub fn joined(&self, read: Option<u64>, value: u64) -> Option<u64> {
        let turned = |value| self.lattice.turn(value, self.cells.mask());
        let joined = self.lattice.join(read.map_or(0, turned), turned(value));
        (joined != 0).then(|| turned(joined))
    }

    /// Visits the places of the words in which a key has cells, until `visit` returns false.
    pub fn visit_words(&self, id: u128, mut visit: impl FnMut(usize) -> bool) {
        self.positions.all(hash_of(id), |position| visit(self.cells.place(position).word));
    }

    /// Prefetches the cache lines of the first cells of a key.
    #[inline]
    pub fn fetch(&self, words: &[AtomicU64], id: u128) {
        let mut left = FETCHED;
        self.visit_words(id, |word| {
            ring::fetch_word(words, word);
            left -= 1;
            left > 0
        });
    }

    /// Joins the cells of another array of the same layout, as if the values of both had been put into this one.
    pub fn join_all(&self, words: &mut [u64], others: &[AtomicU64]) {
        let (bits, lattice) = (self.cells.bits(), self.lattice);
        for (i, (word, other)) in words.iter_mut().zip(others).enumerate() {
            let other = other.load(Ordering::Relaxed);
            let pairs = self.cells.values(i, *word).zip(self.cells.values(i, other));
            *word = pairs.enumerate().fold(0, |all, (i, (a, b))| all | lattice.join(a, b) << (i as u32 * bits));
        }
    }

    /// Measures the cells that are not 0. Reads all of them, once, and passes the number of bytes to `progress` after
    /// every piece.
    pub fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let mut taken = 0;
        for (i, piece) in words.chunks(PIECE_WORDS).enumerate() {
            for (j, word) in piece.iter().enumerate() {
                let values = self.cells.values(i * PIECE_WORDS + j, word.load(Ordering::Relaxed));
                taken += values.filter(|value| *value != 0).count() as u64;
            }
            progress(size_of_val(piece) as u64);
        }
        let cells = self.cells.cells();
        Measure::of_bits(taken, cells, crate::sizing::bloom::from_fill(cells, self.hashes, taken))
    }

    /// The number of distinct keys that leave `taken` cells that are not 0.
    pub fn keys_of(&self, taken: u64) -> Option<f64> {
        self.positions.keys_of(taken)
    }
}
