//! Layouts: values that find keys in words, one folder each. A layout knows its shape but not where the words lie, so a
//! payload can hold one or several of them; kinds put headers, files and counts around it.
//!
//! Where there are kernels, `mod.rs` of the folder says which words a hash goes to and which bits it sets,
//! `portable.rs` computes that in plain code, and each of the other files does so with one instruction set.

pub mod block_array;
pub mod block_kernel;
#[cfg(target_arch = "x86_64")]
pub(crate) mod eight;
pub mod fingerprint_table;
#[cfg(target_arch = "x86_64")]
pub(crate) mod four;
#[cfg(target_arch = "x86_64")]
pub(crate) mod lanes;
pub mod mixing;
pub mod placed;
pub mod probe;
#[cfg(any(feature = "quotient", feature = "aleph"))]
pub mod runs;
pub mod scattered_bits;
pub mod segments;
pub mod select;
pub mod slots;
pub mod source;
pub mod view;
pub mod word_cells;

pub use block_kernel::BlockKernel;
pub use block_kernel::chain::{Chain, Link};
pub use probe::{BuiltKernel, Probe, ProbeKernel};
pub use scattered_bits::{ScatteredBits, ScatteredKernel};
pub use view::{Layout, View};

use crate::batch::ring::{Batch, Few};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::format::compact::Trailer;
use crate::simd::Instructions;
use crate::storage::AnyBytes;
use core::sync::atomic::AtomicU64;

/// A bit array in which a key always sets the same bits: OR is the union of two, and AND holds their intersection.
///
/// `words` are those of the array, [`BitLayout::words`] of them. A layout that has a kernel has one of this
/// processor's.
pub trait BitLayout: Send + Sync {
    /// The layout that a geometry describes, with these inner loops; `None` if it is not one of this kind.
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<Self>
    where
        Self: Sized;

    /// The layout that the trailer of a compact form describes, with these inner loops; `None` if it is not one of this
    /// kind.
    fn of_trailer(trailer: &Trailer, instructions: Instructions) -> Option<Self>
    where
        Self: Sized;

    /// How many words the array has.
    fn words(&self) -> usize;

    /// Whether the bits of a hash are set.
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool;

    /// Gives `fetch` the places of the words whose lines a lookup of a hash needs first.
    fn fetch(&self, hash: u64, fetch: &mut dyn FnMut(usize)) {
        self.visit_words(hash, &mut |word| {
            fetch(word);
            true
        });
    }

    /// Whether the bits of each key of a batch are set.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch);

    /// As [`crate::contract::Kind::contains_few`].
    fn contains_few(&self, _words: &[AtomicU64], _few: &Few) -> Option<u64> {
        None
    }

    /// Whether the bits of a hash are set in an array at any address. Bits that are not there are not set.
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool;

    /// Sets the bits of a hash. Returns whether any of them was not set.
    fn insert(&self, words: &mut [u64], hash: u64) -> bool;

    /// Sets the bits of the keys of a batch in order. If the batch asks, says of each key whether any of its bits was
    /// not set.
    fn insert_many(&self, words: &mut [u64], batch: &mut dyn Batch);

    /// As [`crate::contract::Insert::insert_few`].
    fn insert_few(&self, _words: &mut [u64], _few: &Few, _is_asked: bool) -> Option<u64> {
        None
    }

    /// Sets the bits of a hash while others set bits too. Returns whether any of them was not set.
    fn insert_shared(&self, words: &[AtomicU64], hash: u64) -> bool;

    /// Sets the bits of the keys of a batch as [`BitLayout::insert_shared`] does.
    fn insert_many_shared(&self, words: &[AtomicU64], batch: &mut dyn Batch);

    /// Visits the places of the words in which a hash has bits, until `visit` says false.
    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool);

    /// What the bits say. Reads all of them once, and reports the bytes of every piece to `progress`.
    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure;

    /// How many distinct keys have set `ones` bits; `None` if there are too many to tell.
    fn cardinality(&self, ones: u64) -> Option<f64>;

    /// The standard error of an estimate of `keys` keys.
    fn standard_error(&self, keys: f64) -> f64;

    /// How many units folding divides: bits, bits of a slice, or blocks.
    fn units(&self) -> u64;

    /// The geometry with a `factor`-th of the units; `factor` divides them.
    ///
    /// # Errors
    /// None that can happen.
    fn folded(&self, factor: u64) -> Result<Geometry>;

    /// Sets the bits in `folded`, zeros of the geometry [`BitLayout::folded`], that the keys would have set there.
    fn fold_into(&self, words: &[AtomicU64], factor: u64, folded: &mut [u64]);

    /// The array for inlined lookups; `None` if the layout has no name.
    fn view<'a>(&self, _words: &'a [AtomicU64]) -> Option<View<'a>> {
        None
    }

    /// What lets the array join a chain, where its layout has loops for chains.
    fn link(&self) -> Option<Link> {
        None
    }

    /// How single keys are found in the words, where a caller can do that for itself.
    fn probe_kernel(&self) -> Option<ProbeKernel> {
        None
    }
}

/// What was measured of a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// The places (bits, counters, entries) that are taken.
    pub taken: u64,
    /// The share of all places that are taken.
    pub fill: f64,
    /// The places that can hold no more, so that what they count is a lower bound: saturated counters.
    pub saturated: u64,
    /// The probability that a lookup of a uniformly random hash answers true, given exactly this payload.
    pub false_positive_rate: f64,
}

impl Measure {
    /// The measure of a payload whose places are single bits.
    pub(crate) fn of_bits(ones: u64, bits: u64, false_positive_rate: f64) -> Measure {
        Measure { taken: ones, fill: ones as f64 / bits as f64, saturated: 0, false_positive_rate }
    }

    /// The measure of cells, where every key has one to itself. `keys` is what a header says, which may be any number.
    pub(crate) fn of_cells(keys: u64, cells: u64, false_positive_rate: f64) -> Measure {
        let taken = keys.min(cells);
        Measure { taken, fill: taken as f64 / cells.max(1) as f64, saturated: 0, false_positive_rate }
    }
}

/// Refuses a factor that folding cannot use.
///
/// # Errors
/// [`Status::OutOfRange`](crate::Status::OutOfRange).
pub fn check_factor(factor: u64, units: u64) -> Result<()> {
    if factor >= 2 && units.is_multiple_of(factor) {
        return Ok(());
    }
    Err(error!(OutOfRange, "factor = {factor} is not a divisor of the {units} units, 2 or more"))
}
