//! Counters in the places of a Bloom filter's bits: keys can be removed and counted.
//!
//! Fan, Cao, Almeida and Broder, "Summary cache: a scalable wide-area web cache sharing protocol", 2000. Each
//! *distinct* counter of a key counts it once, so that a key which meets one counter twice counts there as once. A
//! counter that has reached its greatest value stays there for ever. Nobody knows its true count any more, and a
//! removal that took from it could lose other keys.
//!
//! Two layouts say where the counters of a key are: anywhere ([`Scattered`]), or all in one cache line ([`Blocked`]).

mod blocked;
mod cells;
mod scattered;

pub use blocked::{BLOCK_BITS, Blocked, LineKernel, Lines, kernel};
pub use cells::{Cells, WIDTHS};
pub use scattered::Scattered;

use crate::batch::ring::Batch;
use crate::blocks::Measure;
use crate::format::Geometry;
use crate::simd::Instructions;
use crate::storage::AnyBytes;
use core::sync::atomic::AtomicU64;

/// An array of counters: where those of a key are, and what is done with them. `words` are those of
/// [`Cells::words`], without what may follow.
pub trait CounterLayout: Send + Sync + 'static {
    /// The layout that a geometry describes, if it is one of these.
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<Self>
    where
        Self: Sized;

    /// How many counters there are, and how wide.
    fn cells(&self) -> Cells;

    /// Whether none of the counters of a hash is 0.
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool;

    /// Whether none of the counters of a hash is 0, in an array at any address. Counters that are not there are 0.
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool;

    /// The least of the counters of a hash.
    fn least(&self, words: &[AtomicU64], hash: u64) -> u64;

    /// Adds one to the counters of a hash, but for those that have reached their greatest value; whether any was 0.
    fn add(&self, words: &mut [u64], hash: u64) -> bool;

    /// Takes one from the counters of a hash, but for those that have reached their greatest value. False, having
    /// changed nothing, if one of them is 0.
    fn subtract(&self, words: &mut [u64], hash: u64) -> bool;

    /// Whether none of the counters of each key of a batch is 0.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch);

    /// The least of the counters of each of many hashes.
    fn least_of_many(&self, words: &[AtomicU64], hashes: &[u64], least: &mut [u64]);

    /// Adds the keys of a batch, in order, and says of each, if it is asked, whether any of its counters was 0.
    fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch);

    /// Subtracts the keys of a batch, in order, and says of each whether it was done. Returns of how many it was.
    fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> u64;

    /// Visits the places of the words in which a hash has counters, until `visit` says false. A line has one, its
    /// first.
    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool);

    /// What the counters tell. Reads all of them, once, and says to `progress` after every piece how many bytes that
    /// was.
    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure;

    /// The distinct keys that have left so many counters that are not 0.
    fn keys_of(&self, taken: u64) -> Option<f64>;

    /// The standard error of an estimate of so many keys.
    fn standard_error(&self, keys: f64) -> f64;

    /// The exact false-positive rate with so many distinct keys.
    fn false_positive_rate(&self, keys: u64) -> f64;
}
