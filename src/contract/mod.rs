//! The traits that a kind implements. This folder knows no kind; callers use [`crate::Filter`] and [`crate::Map`].
//!
//! A kind is a type over a [`Base`] (header, hasher and the words of the payload). The type implements [`Kind`] and the
//! facets that it can do: [`Insert`], [`SharedInsert`], [`Remove`], [`Rejuvenate`], [`Count`], [`Grow`], [`Merge`],
//! [`Intersect`], [`Fold`], [`Resize`], [`Age`], [`SharedAge`], [`Cardinality`], [`Overlap`], [`Enumerate`],
//! [`KeyedKind`]. It gives these out with `facets!`. The kind's [`Row`] says the rest: how a filter is made, its sizes,
//! its parameters, its false-positive rate, and the properties that tests ask for.
//!
//! There are two rules for payloads. An empty payload is all zeros. What changes with the keys lies in the payload and
//! not in the header, whose first part never changes. A kind that has its own state keeps it in the payload's last
//! line.

mod base;
mod build;
mod capabilities;
mod change;
mod facets;
mod groups;
mod in_place;
pub mod journal;
pub mod key_shape;
mod map_kind;
mod others;
mod pairs;
mod partitioning;
mod row;
mod sizes;
mod sketch_kind;
mod structure;

pub(crate) use crate::batch::records::PIECE;
pub use crate::batch::records::{Counted, Entry, Placed, Records, Weighted};
pub use crate::batch::workers::Work;
pub(crate) use base::check_compatible;
pub use build::{Build, Built, PROGRESS_INTERVAL, Progress};
pub use capabilities::Capabilities;
pub(crate) use change::{change_many, change_one, change_words, insert_of_words, mark, mark_one, remove_of_words};
pub use facets::{
    Age, Cardinality, Count, Enumerate, Fold, Grow, INTERVAL_SIGMAS, Insert, Intersect, KeyedKind, Merge, Overlap,
    Rejuvenate, Remove, Resize, SharedAge, SharedInsert,
};
pub(crate) use facets::{ahead, facets, one_by_one};
pub use groups::{Building, Form, Hashing, Losses, OtherKeys, Room, Varying, Window};
pub use map_kind::{MapKind, VALUE_BITS};
pub(crate) use map_kind::{Verb, check_value, mark_entries};
pub use row::{InBytes, Overfill, Row, Sizes};
pub use sizes::{COPY_PLACES, times};

pub use others::{Knowing, Others};
pub use pairs::{ListedValue, Pair, Presence, ValueListing};
pub use partitioning::Partitioning;
pub use sketch_kind::{KeyListing, Listed, Listing, SketchKind};
pub(crate) use sketch_kind::{add_one, add_pair, listing};
pub use structure::{Handle, Joined, Structure};

use crate::batch::ring::{self, Batch, Few};
use crate::blocks::{Measure, Probe, View};
use crate::error::{Error, Result};
use crate::format::Header;
use crate::hash::Hasher;
use crate::simd::Instructions;
use crate::storage::Words;
use core::sync::atomic::AtomicU64;
use in_place::Marks;

/// The base of every filter, map and sketch, beneath its kind: a row, a header, a hasher, and the words of the payload.
pub struct Base {
    row: &'static Row,
    /// The header. Its `unclean` says that nobody marked the payload clean, and its `count` does not include
    /// `insertions`.
    pub(crate) header: Header,
    hasher: Hasher,
    pub(crate) words: Words,
    /// The instruction set of the inner loops.
    instructions: Instructions,
    /// Whether the words may be written without further preparation. The filter's own memory always may be. An image in
    /// place may be only during a change whose regions are marked.
    at_once: bool,
    /// Whether this handle marked an image in place unclean.
    pub(crate) writing: bool,
    /// The regions of an image in place that this handle may change. Empty before it changes any, and for other memory.
    pub(crate) marks: Marks,
    /// Keys that were counted through a shared reference, or a [`Probe`], and are not in the header yet.
    pub(crate) insertions: AtomicU64,
}

/// What every handle needs of the kind behind it.
pub trait Payload: Send + Sync {
    /// Header, hasher and words.
    fn base(&self) -> &Base;

    /// Header, hasher and words, to be changed.
    fn base_mut(&mut self) -> &mut Base;

    /// Checks what the kind promises of its payload beyond the checksums, and everything that [`Payload::check_state`]
    /// checks.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    fn check_payload(&self) -> Result<()>;

    /// Checks that the words of state next to the places are within their bounds. Every opening of an image does this,
    /// in constant time and without a look at the places. Another handle may be changing the image meanwhile.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    fn check_state(&self) -> Result<()> {
        Ok(())
    }

    /// Puts an unclean payload in order whose writer may have died in a change: undoes or completes the change, and
    /// counts anew what follows from other words. Changes nothing in a payload that is in order. This happens when an
    /// unclean image is opened by its one writer, and in every copy of an unclean image.
    ///
    /// # Errors
    /// Those of a change in place.
    fn mend(&mut self) -> Result<()> {
        Ok(())
    }
}

/// [`Payload::base`] and [`Payload::base_mut`] of a type with a field `base`: `over_base!();` stands among its methods.
macro_rules! over_base {
    () => {
        #[inline]
        fn base(&self) -> &$crate::contract::Base {
            &self.base
        }

        fn base_mut(&mut self) -> &mut $crate::contract::Base {
            &mut self.base
        }
    };
}

pub(crate) use over_base;

/// A kind of approximate-membership filter. `contains_hash` never says false for a hash that was inserted. For other
/// hashes it says true at the false-positive rate.
///
/// Many threads may use shared references at the same time.
pub trait Kind: Payload {
    /// Whether a hash may have been inserted. Takes constant time.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Asks for the cache lines that [`Kind::contains_hash`] reads first.
    fn fetch(&self, _hash: u64) {}

    /// Whether each key of a batch may have been inserted (see `batch::ring`). Fetches ahead as [`Kind::fetch`] does.
    fn contains_many(&self, batch: &mut dyn Batch) {
        let fetch = |_: &(), hash| self.fetch(hash);
        ring::rolling(&mut (), ahead(self), batch, fetch, ring::nothing, |_, hash| self.contains_hash(hash));
    }

    /// Whether each of a few keys may have been inserted. Bit i answers for the i-th key, and bits after the last key
    /// mean nothing. `None` if [`Kind::contains_many`] has to answer.
    fn contains_few(&self, _few: &Few) -> Option<u64> {
        None
    }

    /// Measures the payload. Reads all of it once, and reports the bytes of every piece to `progress`.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;

    /// The probability that a key is not found after `age` other keys came.
    fn false_negative_rate(&self, age: u64) -> f64 {
        self.base().row().losses.false_negative_rate.map_or(0.0, |rate| rate(self.base().geometry(), age))
    }

    /// In an image in place, the place (in 64-bit words) of one word that an insertion or removal of the hash changes
    /// and whose region is not marked yet (`Base::unmarked`); `None` once all are marked. A kind that does not say
    /// which words those are needs all regions marked.
    fn unmarked(&self, _hash: u64) -> Option<usize> {
        self.base().first_unmarked()
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) and others if the words may not be written. Nothing has
    /// changed then.
    fn reset(&mut self) -> Result<()> {
        self.base_mut().writable()?.fill(0);
        Ok(())
    }

    /// The reason why there is no place for a hash that was to be inserted.
    fn refusal(&self, _hash: u64) -> Error {
        self.base().full()
    }

    /// [`Insert::insert_at_once`] without a call through the facet: the compiler sees the facet of each kind here.
    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.as_insert()?.insert_at_once(hash)
    }

    /// [`Remove::remove_one`] without a call through the facet. `None`, with nothing done, if the removal is refused.
    #[inline]
    fn remove_at_once(&mut self, hash: u64) -> Option<bool> {
        self.as_remove()?.remove_one(hash).ok()
    }

    /// [`Count::count_one`] without a call through the facet. `None` if the filter does not count.
    #[inline]
    fn count_at_once(&self, hash: u64) -> Option<u64> {
        Some(self.as_count()?.count_one(hash))
    }

    /// Insertion, for the kinds that can.
    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        None
    }

    /// Lock-free insertion, for the kinds that can.
    fn as_shared_insert(&self) -> Option<&dyn SharedInsert> {
        None
    }

    /// Removal, for the kinds that can.
    fn as_remove(&mut self) -> Option<&mut dyn Remove> {
        None
    }

    /// Rejuvenation, for the kinds that can.
    fn as_rejuvenate(&mut self) -> Option<&mut dyn Rejuvenate> {
        None
    }

    /// Counting, for the kinds that can.
    fn as_count(&self) -> Option<&dyn Count> {
        None
    }

    /// Growth, for the kinds that can.
    fn as_grow(&self) -> Option<&dyn Grow> {
        None
    }

    /// Union, for the kinds that can.
    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        None
    }

    /// Intersection, for the kinds that can.
    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        None
    }

    /// Folding, for the kinds that can.
    fn as_fold(&mut self) -> Option<&mut dyn Fold> {
        None
    }

    /// Another size, for the kinds that can.
    fn as_resize(&mut self) -> Option<&mut dyn Resize> {
        None
    }

    /// Ageing, for the kinds that can.
    fn as_age(&mut self) -> Option<&mut dyn Age> {
        None
    }

    /// Ageing while others insert, for the kinds that can.
    fn as_shared_age(&self) -> Option<&dyn SharedAge> {
        None
    }

    /// Estimation, for the kinds that can.
    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        None
    }

    /// Estimation of unions, for the kinds that can.
    fn as_overlap(&self) -> Option<&dyn Overlap> {
        None
    }

    /// Enumeration, for the kinds that can.
    fn as_enumerate(&self) -> Option<&dyn Enumerate> {
        None
    }

    /// The facet for whole keys, for kinds that hash keys themselves. Such kinds have no use for hashes.
    fn as_keyed(&self) -> Option<&dyn KeyedKind> {
        None
    }

    /// [`Kind::as_keyed`] for insertions.
    fn as_keyed_mut(&mut self) -> Option<&mut dyn KeyedKind> {
        None
    }

    /// The payload for inlined lookups; `None` if the layout has no name.
    fn view(&self) -> Option<View<'_>> {
        None
    }

    /// The kernel and words for a single key, for kinds whose keys go through a kernel.
    fn probe(&self) -> Option<Probe<'_>> {
        None
    }
}
