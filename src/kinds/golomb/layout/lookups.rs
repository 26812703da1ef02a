//! Lookups of many keys, by the instruction set of the filter.

use super::{Reader, kernel};
use crate::batch::ring::{self, Batch, Few, Stages};
use crate::hash::xxh3;
use crate::simd::Instructions;

/// The inner loops.
pub(super) struct Kernel {
    /// Whether each key of a batch is there.
    pub contains_many: fn(&Reader, &mut dyn Batch),
    /// Whether each of a few keys, at most [`GROUP`](crate::batch::ring::GROUP), is there.
    pub contains_few: fn(&Reader, Instructions, &Few) -> u64,
}

/// Plain code, which every processor runs.
pub(super) static PORTABLE: Kernel = Kernel { contains_many, contains_few };

fn contains_many(reader: &Reader, batch: &mut dyn Batch) {
    let far = ring::ahead(reader.words.len(), 2);
    let stages = Stages { far, near: far / 2 };
    let fetch = |_: &(), hash| reader.fetch_index(hash);
    let fetch_rest = |_: &(), hash| reader.fetch_codes(hash);
    ring::rolling(&mut (), stages, batch, fetch, fetch_rest, |(), hash| reader.contains(hash));
}

fn contains_few(reader: &Reader, instructions: Instructions, few: &Few) -> u64 {
    let hash = |flip, keys: &[u64], hashes: &mut [u64]| xxh3::hash_u64s(instructions, flip, keys, hashes);
    let fetch = |_: &(), hash| reader.fetch_index(hash);
    let answer = |_: &mut (), hash| reader.contains(hash);
    ring::answer_few(&mut (), ring::is_far(reader.words.len()), few, hash, fetch, answer)
}

impl Reader<'_> {
    /// Whether the number of each key of a batch is there.
    pub fn contains_many(&self, instructions: Instructions, batch: &mut dyn Batch) {
        (kernel(instructions).contains_many)(self, batch);
    }

    /// Whether the number of each of a few keys is there. Bit i answers for the i-th key, and bits after the last key
    /// mean nothing.
    pub fn contains_few(&self, instructions: Instructions, few: &Few) -> u64 {
        (kernel(instructions).contains_few)(self, instructions, few)
    }
}
