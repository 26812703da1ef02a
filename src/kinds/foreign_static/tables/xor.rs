//! Xor filters as the C library of their authors and the crate `xorf` lay them out (Graf and Lemire, "Xor Filters:
//! Faster and Smaller Than Bloom and Cuckoo Filters", 2020): the fingerprint of a key is the exclusive or of three
//! cells, one in each third of the table.
//!
//! Words 1 to 3 of the geometry are the seed, the cells in a third, and the width of a cell in bits.

use super::fuse::mixed;
use super::{Cells, Form, FormRow};
use crate::format::Geometry;
use core::sync::atomic::AtomicU64;

/// The authors' form.
pub const ROW: FormRow = FormRow {
    name: "xor",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Xor::of(geometry)?).ok()?;
        Some(boxed)
    },
};

struct Xor {
    seed: u64,
    third: u64,
    cells: Cells,
}

impl Xor {
    fn of(geometry: &Geometry) -> Option<Xor> {
        let [_, seed, third, width, 0, 0, 0, 0] = geometry.words else { return None };
        let cells = Cells::of(geometry.bits, width)?;
        let is_known = (1..1 << 32).contains(&third) && cells.count == 3 * third;
        is_known.then_some(Xor { seed, third, cells })
    }

    /// The three cells of a mixed hash: each from 32 bits of it, rotated by 21 bits from one to the next.
    #[inline]
    fn places(&self, hash: u64) -> [u64; 3] {
        core::array::from_fn(|i| {
            let turned = hash.rotate_left(21 * i as u32) & 0xffff_ffff;
            ((turned * self.third) >> 32) + i as u64 * self.third
        })
    }
}

impl Form for Xor {
    #[inline]
    fn contains(&self, words: &[AtomicU64], key: u64) -> bool {
        let hash = mixed(key, self.seed);
        let all = self.places(hash).map(|place| self.cells.at(words, place));
        all[0] ^ all[1] ^ all[2] == self.cells.fingerprint(hash)
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], key: u64) {
        self.places(mixed(key, self.seed)).into_iter().for_each(|place| self.cells.fetch(words, place));
    }

    fn expected_rate(&self, _keys: u64) -> f64 {
        self.cells.false_positive_rate()
    }

    fn cells(&self) -> u64 {
        self.cells.count
    }
}
