//! Binary fuse filters as the C and Go libraries of their authors and the crate `xorf` lay them out (Graf and Lemire,
//! "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022): the fingerprint of a key is the exclusive or of
//! three cells, in three neighbouring segments.
//!
//! Words 1 to 4 of the geometry are the seed, the cells of a segment, those of all segments in which the first cell of
//! a key can lie, and the width of a cell in bits.

use super::{Cells, Form, FormRow};
use crate::bits::reduce;
use crate::format::Geometry;
use core::sync::atomic::AtomicU64;

/// The authors' form.
pub const ROW: FormRow = FormRow {
    name: "binary_fuse",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Fuse::of(geometry)?).ok()?;
        Some(boxed)
    },
};

/// MurmurHash3's 64-bit finaliser of the sum of key and seed: how these filters hash keys.
#[inline]
pub fn mixed(key: u64, seed: u64) -> u64 {
    crate::hash::murmur3::finish_64(key.wrapping_add(seed))
}

/// A filter's parameters.
pub struct Fuse {
    seed: u64,
    segment: u64,
    /// The cells in which the first one of a key can be.
    starts: u64,
    cells: Cells,
}

impl Fuse {
    fn of(geometry: &Geometry) -> Option<Fuse> {
        let [_, seed, segment, starts, width, 0, 0, 0] = geometry.words else { return None };
        Fuse::new(seed, segment, starts, Cells::of(geometry.bits, width)?)
    }

    /// A filter in these cells; `None` if none can have such parameters.
    pub fn new(seed: u64, segment: u64, starts: u64, cells: Cells) -> Option<Fuse> {
        let is_known = segment.is_power_of_two()
            && segment <= 1 << 18
            && (1..1 << 32).contains(&starts)
            && starts.is_multiple_of(segment)
            && cells.count == starts + 2 * segment;
        is_known.then_some(Fuse { seed, segment, starts, cells })
    }

    /// The hash of a key, mixed with the seed.
    #[inline]
    pub fn mixed(&self, key: u64) -> u64 {
        mixed(key, self.seed)
    }

    /// The three cells of a mixed hash.
    #[inline]
    pub fn places(&self, hash: u64) -> [u64; 3] {
        let (first, in_segment) = (reduce(hash, self.starts), self.segment - 1);
        let second = (first + self.segment) ^ (hash >> 18 & in_segment);
        [first, second, (first + 2 * self.segment) ^ (hash & in_segment)]
    }
}

impl Form for Fuse {
    #[inline]
    fn contains(&self, words: &[AtomicU64], key: u64) -> bool {
        let hash = self.mixed(key);
        let all = self.places(hash).map(|place| self.cells.at(words, place));
        all[0] ^ all[1] ^ all[2] == self.cells.fingerprint(hash)
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], key: u64) {
        self.places(self.mixed(key)).into_iter().for_each(|place| self.cells.fetch(words, place));
    }

    fn expected_rate(&self, _keys: u64) -> f64 {
        self.cells.false_positive_rate()
    }

    fn cells(&self) -> u64 {
        self.cells.count
    }
}
