//! Counters instead of a Bloom filter's bits, so that keys can be removed and counted.
//!
//! Fan, Cao, Almeida and Broder, "Summary cache: a scalable wide-area web cache sharing protocol", 2000. Each
//! *distinct* counter of a key counts it once, so a key that meets one counter twice counts there only once. A counter
//! that has reached its greatest value stays there for ever: its true count is no longer known, and a removal that
//! subtracted from it could lose other keys.
//!
//! Two layouts say where the counters of a key are: anywhere ([`Scattered`]), or all in one cache line ([`Blocked`]).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocked;
mod cells;
mod four_bits;
mod kernel;
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

/// An array of counters, and where the counters of a key are. `words` must be exactly as many as [`Cells::words`] says,
/// without words that may follow.
pub trait CounterLayout: Send + Sync + 'static {
    /// The layout that a geometry describes, if it is one of these.
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<Self>
    where
        Self: Sized;

    /// How many counters there are, and how wide.
    fn cells(&self) -> Cells;

    /// Whether all counters of a hash are above 0.
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool;

    /// Whether all counters of a hash are above 0, in an array at any address. Missing counters are 0.
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool;

    /// The least of the counters of a hash.
    fn least(&self, words: &[AtomicU64], hash: u64) -> u64;

    /// Adds one to each counter of a hash that is below its greatest value. Returns whether a counter was 0.
    fn add(&self, words: &mut [u64], hash: u64) -> bool;

    /// Subtracts one from each counter of a hash that is below its greatest value. Returns false, with nothing changed,
    /// if a counter is 0.
    fn subtract(&self, words: &mut [u64], hash: u64) -> bool;

    /// Whether all counters of each key of a batch are above 0.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch);

    /// The least of the counters of each of many hashes.
    fn least_of_many(&self, words: &[AtomicU64], hashes: &[u64], least: &mut [u64]);

    /// Adds the keys of a batch, in order. If the batch asks, says for each key whether one of its counters was 0.
    fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch);

    /// Subtracts the keys of a batch, in order, and says for each key whether that was possible. Returns for how many
    /// it was.
    fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> u64;

    /// Visits the places of the words that have counters of a hash, until `visit` returns false. In [`Blocked`] only
    /// the first word of the line is visited.
    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool);

    /// Measures the counters. Reads all of them once, and passes the number of bytes to `progress` after every piece.
    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure;

    /// How many distinct keys leave `taken` counters above 0.
    fn keys_of(&self, taken: u64) -> Option<f64>;

    /// The standard error of an estimate of `keys` keys.
    fn standard_error(&self, keys: f64) -> f64;

    /// The exact false-positive rate with `keys` distinct keys.
    fn false_positive_rate(&self, keys: u64) -> f64;
}
