//! The inner loops, for each instruction set.

use super::Shape;
use crate::batch::ring::Batch;
use crate::blocks::runs::{Editor, Full, Reader};
use crate::blocks::select::{Broadword, Select};
use core::sync::atomic::AtomicU64;

/// The segments of a filter, one after the other.
pub struct Segments<'a> {
    /// The shape of undivided segments, and the shape of divided ones.
    pub shapes: [Shape; 2],
    /// The base-2 logarithm of the number of segments: before the division that is under way, or of all if there is
    /// none.
    pub depth: u32,
    /// A bit for each of these segments: whether it was divided. The slice is empty while no division is under way.
    pub divided: &'a [u64],
    /// The words from the beginning of one segment to that of the next.
    pub size: usize,
}

/// Lookups, insertions and removals in a segment with one instruction set.
pub struct Kernel {
    /// Whether each hash of a batch finds an entry in the segments of these words. The hashes are not mixed. Returns
    /// false, having taken no hash, if the caller has to look them up one by one.
    pub contains_many: fn(&Segments, &[AtomicU64], &mut dyn Batch) -> bool,
    /// Whether a hash finds an entry, given its slot and the hash bits after its segment: [`Shape::contains`].
    pub contains: fn(&Shape, &[AtomicU64], u64, u64) -> bool,
    /// Inserts a number as often as the last argument says. Returns whether the number was absent before.
    pub insert: fn(&Shape, &mut [u64], u64, u64) -> Result<bool, Full>,
    /// Removes a number once. Returns how many times it was removed.
    pub remove: fn(&Shape, &mut [u64], u64) -> u64,
}

/// Plain code, which every processor runs.
pub(super) static PORTABLE: Kernel = Kernel {
    contains_many: |_, _, _| false,
    contains: contains::<Broadword>,
    insert: insert::<Broadword>,
    remove: remove::<Broadword>,
};

#[inline(always)]
pub(super) fn contains<S: Select>(shape: &Shape, words: &[AtomicU64], slot: u64, tail: u64) -> bool {
    shape.contains(Reader::<_, S>::selecting(shape.table, words), slot, tail)
}

#[inline(always)]
pub(super) fn insert<S: Select>(shape: &Shape, words: &mut [u64], number: u64, times: u64) -> Result<bool, Full> {
    Editor::<S>::selecting(shape.table, words).insert(number, times)
}

#[inline(always)]
pub(super) fn remove<S: Select>(shape: &Shape, words: &mut [u64], number: u64) -> u64 {
    Editor::<S>::selecting(shape.table, words).remove(number, 1)
}
