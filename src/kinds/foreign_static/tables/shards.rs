//! Binary fuse filters ([`super::fuse`]) with fingerprints of 8 bits, one for each value of a hash's low byte. Erigon
//! makes them so for very many keys.
//!
//! The table is as its owner wrote it, with big-endian numbers: for each shard a `u32` of segments in which the first
//! cell of a key can lie, a `u32` of cells in a segment, and the seed in 64 bits; then 257 numbers of 64 bits, at which
//! fingerprint each shard begins and the last one ends; and the fingerprints. A shard without keys has zeros.

use super::fuse::Fuse;
use super::{Cells, Form, FormRow};
use crate::format::Geometry;
use core::sync::atomic::{AtomicU64, Ordering};

/// The form.
pub const ROW: FormRow = FormRow {
    name: "binary_fuse_shards",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Shards::of(geometry)?).ok()?;
        Some(boxed)
    },
};

const SHARDS: usize = 256;

/// Words before the fingerprints: two for each shard, and its end.
const HEAD_WORDS: usize = 3 * SHARDS + 1;

struct Shards {
    /// Every byte of the table.
    cells: Cells,
}

impl Shards {
    fn of(geometry: &Geometry) -> Option<Shards> {
        let [_, 0, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let cells = Cells::of(geometry.bits, 8)?;
        (cells.count >= 8 * HEAD_WORDS as u64).then_some(Shards { cells })
    }

    /// The filter of a shard and the byte of the table at which its cells begin; `None` if it has no keys.
    ///
    /// # Errors
    /// The unit if no filter has such numbers.
    #[inline]
    fn shard(&self, words: &[AtomicU64], number: usize) -> Result<Option<(Fuse, u64)>, ()> {
        let word = |i: usize| words[i].load(Ordering::Relaxed).swap_bytes();
        let (size, seed) = (word(2 * number), word(2 * number + 1));
        let [from, end] = [2 * SHARDS + number, 2 * SHARDS + number + 1].map(word);
        if size == 0 {
            return if seed == 0 && from == end { Ok(None) } else { Err(()) };
        }
        let (segments, segment) = (size >> 32, size & 0xffff_ffff);
        let is_there = from <= end && end <= self.cells();
        let cells = Cells { count: end.wrapping_sub(from), ..self.cells };
        let fuse = Fuse::new(seed, segment, segments * segment, cells).filter(|_| is_there).ok_or(())?;
        Ok(Some((fuse, 8 * HEAD_WORDS as u64 + from)))
    }
}

impl Form for Shards {
    fn contains(&self, words: &[AtomicU64], key: u64) -> bool {
        match self.shard(words, key as u8 as usize) {
            Ok(Some((fuse, from))) => {
                let hash = fuse.mixed(key);
                let all = fuse.places(hash).map(|place| self.cells.at(words, from + place));
                all[0] ^ all[1] ^ all[2] == self.cells.fingerprint(hash)
            }
            Ok(None) => false,
            // Nobody knows what keys such bytes had.
            Err(()) => true,
        }
    }

    fn fetch(&self, words: &[AtomicU64], key: u64) {
        if let Ok(Some((fuse, from))) = self.shard(words, key as u8 as usize) {
            fuse.places(fuse.mixed(key)).into_iter().for_each(|place| self.cells.fetch(words, from + place));
        }
    }

    /// A shard has keys unless each of them goes to another.
    fn expected_rate(&self, keys: u64) -> f64 {
        let empty = (1.0 - 1.0 / SHARDS as f64).powf(keys as f64);
        self.cells.false_positive_rate() * if keys == 0 { 1.0 } else { 1.0 - empty }
    }

    /// Half of the keys are in shards with half of the rate if half of the shards have keys.
    fn rate(&self, words: &[AtomicU64], _keys: u64) -> f64 {
        let full = (0..SHARDS).filter(|number| !matches!(self.shard(words, *number), Ok(None))).count();
        self.cells.false_positive_rate() * full as f64 / SHARDS as f64
    }

    fn cells(&self) -> u64 {
        self.cells.count - 8 * HEAD_WORDS as u64
    }

    /// Shards follow each other, from the first fingerprint to the last.
    fn is_sound(&self, words: &[AtomicU64]) -> bool {
        let [first, .., last] = &words[2 * SHARDS..HEAD_WORDS] else { return false };
        let is_whole = first.load(Ordering::Relaxed) == 0 && last.load(Ordering::Relaxed).swap_bytes() == self.cells();
        is_whole && (0..SHARDS).all(|number| self.shard(words, number).is_ok())
    }
}
