//! Making a payload from all keys at once: what a static kind is given, and what it gives back.

use super::Records;
use crate::format::Geometry;
use crate::spec::Spec;
use crate::storage::Words;

/// Called now and then while a filter is made, with the work done and the work in all, which is the same number at all
/// calls for one filter. A unit of work is a key in one phase: sorting, merging what went to a file, making the filter.
/// The last call has both numbers equal. False cancels.
pub type Progress = dyn FnMut(u64, u64) -> bool + Send;

/// A payload to be made.
pub struct Build<'a, R> {
    /// What was asked for. Its capacity is the number of records, and 1 where there are none.
    pub spec: &'a Spec,
    /// What to make it from: distinct hashes for a filter, entries for a map.
    pub records: &'a dyn Records<R>,
    /// How many bytes the work may take beside the payload; `u64::MAX` is no limit.
    pub memory: u64,
    /// How many threads may work, the caller's among them: at least 1.
    pub threads: usize,
    /// Hears how far the work is, and can cancel it: [`Status::Cancelled`](crate::Status::Cancelled).
    pub progress: &'a mut (dyn FnMut(u64, u64) -> bool + Send),
}

/// A payload that was made. It depends on records and spec alone: not on memory, threads, or chance.
pub struct Built {
    /// Its shape.
    pub geometry: Geometry,
    /// As many words as the geometry says, in memory of their own.
    pub words: Words,
}
