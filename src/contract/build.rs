//! Making a payload from all keys at once: what a static kind is given, and what it gives back.

use super::Records;
use crate::format::Geometry;
use crate::spec::Spec;
use crate::storage::Words;

/// Called while a filter or a map is made, with the work done and the work in all. A unit of work is a key in one
/// phase: sorting, merging what went to a file, making the filter. The work in all is the same number at all calls
/// for one filter. The work done never falls, may stay the same while a long step is under way, and equals the work
/// in all at the last call. Called at least once for every [`PROGRESS_INTERVAL`] keys that are worked on. False
/// cancels at any call, the last one too.
pub type Progress = dyn FnMut(u64, u64) -> bool + Send;

/// The most keys that are sorted, merged or otherwise worked on between two calls of [`Progress`]: 2^21, a tenth of a
/// second or two.
pub const PROGRESS_INTERVAL: u64 = 1 << 21;

/// A payload to be made.
pub struct Build<'a, R> {
    /// The spec that was asked for. Its capacity is the number of records, and 1 where there are none. For a kind
    /// that merges, a capacity that was asked for stays.
    pub spec: &'a Spec,
    /// What to make it from: distinct hashes for a filter, entries for a map.
    pub records: &'a dyn Records<R>,
    /// How many bytes the work may take beside the payload; `u64::MAX` is no limit.
    pub memory: u64,
    /// How many threads may work, the caller's among them: at least 1.
    pub threads: usize,
    /// Is told how far the work is, and can cancel it: [`Status::Cancelled`](crate::Status::Cancelled). Call it after
    /// at most [`PROGRESS_INTERVAL`] keys of work. Passes over the records do not count: these report by themselves
    /// and can be cancelled. The work done never falls, the work in all stays the same, and the last call need not
    /// say that all is done.
    pub progress: &'a mut (dyn FnMut(u64, u64) -> bool + Send),
}

/// A payload that was made. It depends on records and spec alone: not on memory, threads, or chance.
pub struct Built {
    /// The geometry that the payload has.
    pub geometry: Geometry,
    /// The words, as many as the geometry says, in memory of their own.
    pub words: Words,
}
