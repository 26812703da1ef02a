//! The inner loops, for each instruction set.

use super::Shape;
use crate::batch::ring::Batch;
use crate::kinds::quotient::layout::select::{Broadword, Select};
use crate::kinds::quotient::layout::{Editor, Full, Reader};
use core::sync::atomic::AtomicU64;

/// The segments of a filter, one after the other.
pub struct Segments<'a> {
    /// The shape of segments that were not divided, and of those that were.
    pub shapes: [Shape; 2],
    /// The base-2 logarithm of the number of segments that are not divided yet, or will not be.
    pub depth: u32,
    /// A bit for each of these: whether it was divided. Nothing while none is.
    pub divided: &'a [u64],
    /// The words from the beginning of a segment to that of the next one.
    pub size: usize,
}

/// Lookups and insertions in a segment with one instruction set.
pub struct Kernel {
    /// Whether each hash of a batch, which are not mixed, finds an entry in the segments of these words. False, having
    /// taken none, where they are to be asked for one by one.
    pub contains_many: fn(&Segments, &[AtomicU64], &mut dyn Batch) -> bool,
    /// Whether a hash of a slot, with these bits after it, finds an entry: [`Shape::contains`].
    pub contains: fn(&Shape, &[AtomicU64], u64, u64) -> bool,
    /// Inserts a number so many times; whether it was not there.
    pub insert: fn(&Shape, &mut [u64], u64, u64) -> Result<bool, Full>,
}

/// Plain code, which every processor runs.
pub(super) static PORTABLE: Kernel =
    Kernel { contains_many: |_, _, _| false, contains: contains::<Broadword>, insert: insert::<Broadword> };

#[inline(always)]
pub(super) fn contains<S: Select>(shape: &Shape, words: &[AtomicU64], slot: u64, tail: u64) -> bool {
    shape.contains(Reader::<_, S>::selecting(shape.table, words), slot, tail)
}

#[inline(always)]
pub(super) fn insert<S: Select>(shape: &Shape, words: &mut [u64], number: u64, times: u64) -> Result<bool, Full> {
    Editor::<S>::selecting(shape.table, words).insert(number, times)
}
