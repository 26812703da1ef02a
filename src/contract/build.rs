//! How a payload is built from all of its keys: what a static kind is given, and what it returns.

use super::{Records, Weighted};
use crate::format::Geometry;
use crate::spec::{Size, Spec};
use crate::storage::Words;

/// A function that learns how far the making of a filter or a map is: the work done, and the work in all. A unit of
/// work is a key in one phase: sorting, merging what went to a file, making the filter. The work in all is the same
/// number at all calls for one filter. The work done never falls, may stay the same while a long step is under way, and
/// equals the work in all at the last call. A call comes at least once for every [`PROGRESS_INTERVAL`] keys that are
/// worked on. Returning false cancels, at any call, even the last one.
pub type Progress = dyn FnMut(u64, u64) -> bool + Send;

/// The most keys that are sorted, merged or otherwise worked on between two calls of [`Progress`]: 2^21, which take a
/// tenth of a second or two.
pub const PROGRESS_INTERVAL: u64 = 1 << 21;

/// A payload to be made.
pub struct Build<'a, R> {
    /// The spec that was asked for. Its capacity is the number of records, or 1 if there are none. For a kind that
    /// merges, a capacity that was asked for stays.
    pub spec: &'a Spec,
    /// The size that the spec asks for, with defaults filled in.
    pub size: Size,
    /// The records to build from: distinct hashes for a filter, entries for a map.
    pub records: &'a dyn Records<R>,
    /// For a kind that takes frequent non-members ([`OtherKeys::takes_frequent`](super::OtherKeys::takes_frequent)):
    /// their distinct hashes, in the same order as the records.
    pub frequent: Option<&'a dyn Records<Weighted>>,
    /// How many bytes the work may take besides the payload; `u64::MAX` is no limit.
    pub memory: u64,
    /// How many threads may work, the caller's included: at least 1.
    pub threads: usize,
    /// Learns how far the work is, and can cancel it: [`Status::Cancelled`](crate::Status::Cancelled). A kind has to
    /// call this after at most [`PROGRESS_INTERVAL`] keys of work. Passes over the records do not count, because they
    /// report progress and can be cancelled by themselves. The work done never falls, the work in all stays the same,
    /// and the last call need not say that all is done.
    pub progress: &'a mut (dyn FnMut(u64, u64) -> bool + Send),
}

/// A payload that was made. The payload depends on records and spec alone: not on memory, threads, or chance.
pub struct Built {
    /// The geometry of the payload.
    pub geometry: Geometry,
    /// The words, as many as the geometry says, in their own memory.
    pub words: Words,
}
