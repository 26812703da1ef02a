//! The inner loops of lookups, insertions and divisions, for each instruction set.

use super::segments::Segments;
use super::{Full, Search, Shape};
use crate::batch::ring::{self, Batch};
use crate::bits::mix;
use core::sync::atomic::AtomicU64;

/// [`Segments::insert_new`]
pub type InsertNew = fn(&Segments, &mut [u64], u64, u64, &mut Search) -> Result<bool, Full>;

/// [`Segments::insert_group`]
pub type InsertGroup = fn(&Segments, &mut [u64], &[u64], u64, &mut Search) -> (usize, u64);

/// [`Shape::divide`]
pub type Divide = fn(&Shape, &[AtomicU64], &mut [u64]);

/// The inner loops for one instruction set.
pub struct Kernel {
    /// Whether each hash of a batch may be in the segments of these words. The hashes are not mixed.
    pub contains_many: fn(&Segments, &[AtomicU64], &mut dyn Batch),
    /// Inserts a mixed hash.
    pub insert_new: InsertNew,
    /// Inserts hashes that are not mixed, at most as many as a group has.
    pub insert_group: InsertGroup,
    /// Divides a segment.
    pub divide: Divide,
}

/// Plain code, which every processor runs.
pub(super) static PORTABLE: Kernel = Kernel {
    contains_many,
    insert_new: |segments, words, hash, limit, search| segments.insert_new(words, hash, limit, search),
    insert_group: |segments, words, hashes, limit, search| segments.insert_group(words, hashes, limit, search),
    divide: |shape, segment, parts| shape.divide(segment, parts),
};

/// One key after the other.
pub(super) fn contains_many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
    let fetch = |_: &(), hash| segments.words_of(mix(hash)).into_iter().for_each(|word| ring::fetch_word(words, word));
    let answer = |_: &mut (), hash| segments.contains(words, mix(hash));
    ring::rolling(&mut (), ring::ahead(words.len(), 2), batch, fetch, ring::nothing, answer);
}
