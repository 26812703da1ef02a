//! What a kind implements. This room knows no kind; what callers use is [`crate::Filter`] and [`crate::Map`].
//!
//! A kind is a type over a [`Base`] (header, hasher and the words of the payload). It implements [`Kind`] and the
//! facets that it can do: [`Insert`], [`SharedInsert`], [`Remove`], [`Rejuvenate`], [`Count`], [`Grow`], [`Merge`],
//! [`Intersect`], [`Fold`], [`Resize`], [`Age`], [`SharedAge`], [`Cardinality`], [`Overlap`], [`Enumerate`],
//! [`KeyedKind`]. It gives these out with `facets!`. The kind's [`Row`] says the rest: how a filter comes to be, its
//! sizes, its parameters, its false-positive rate, and the properties that tests ask for.
//!
//! There are two rules for payloads. An empty payload is all zeros. What changes with the keys lies in the payload
//! and not in the header, whose first part never changes: a kind with state of its own has the payload's last line
//! for it.

mod base;
mod build;
mod capabilities;
mod change;
mod facets;
mod in_place;
mod map_kind;
mod row;
mod sketch_kind;

pub(crate) use crate::batch::records::PIECE;
pub use crate::batch::records::{Counted, Entry, Records};
pub use crate::batch::workers::Work;
pub(crate) use base::check_compatible;
pub use build::{Build, Built, PROGRESS_INTERVAL, Progress};
pub use capabilities::Capabilities;
pub(crate) use change::{change_many, change_one, change_words, mark, mark_one};
pub use facets::{
    Age, Cardinality, Count, Enumerate, Fold, Grow, INTERVAL_SIGMAS, Insert, Intersect, KeyedKind, Merge, Overlap,
    Rejuvenate, Remove, Resize, SharedAge, SharedInsert,
};
pub(crate) use facets::{facets, one_by_one};
pub use map_kind::{MapKind, VALUE_BITS};
pub(crate) use map_kind::{Verb, check_value, mark_entries};
pub use row::{Handle, InBytes, Overfill, Row, Sizes, Structure, Window};

pub use sketch_kind::{Listed, Listing, SketchKind};
pub(crate) use sketch_kind::{add_one, listing};

use crate::batch::ring::{self, Batch, Few};
use crate::blocks::{Measure, Probe, View};
use crate::error::{Error, Result};
use crate::format::Header;
use crate::hash::Hasher;
use crate::simd::Instructions;
use crate::storage::Words;
use core::sync::atomic::AtomicU64;
use in_place::Marks;

/// What all filters and maps have beneath their kind: a row, a header, a hasher, and the words of the payload.
pub struct Base {
    row: &'static Row,
    /// Its `dirty` says that nobody vouches for the payload, and its `count` lacks what is in `offered`.
    pub(crate) header: Header,
    hasher: Hasher,
    pub(crate) words: Words,
    /// The instruction set of the inner loops.
    instructions: Instructions,
    /// Whether the words may be written without asking further: always for memory of the filter's own, and for an image
    /// in place only while a change is made whose regions are marked.
    at_once: bool,
    /// Whether this handle marked an image in place dirty.
    pub(crate) writing: bool,
    /// The regions of an image in place that this handle may change; empty before it does, and for other memory.
    pub(crate) marks: Marks,
    /// Keys that were counted through a shared reference, or a [`Probe`], and are not in the header yet.
    pub(crate) offered: AtomicU64,
}

/// What every handle needs of the kind behind it.
pub trait Payload: Send + Sync {
    /// Header, hasher and words.
    fn base(&self) -> &Base;

    /// Header, hasher and words, to be changed.
    fn base_mut(&mut self) -> &mut Base;

    /// Checks what the kind promises of its payload beyond the checksums; what [`Payload::check_state`] does too.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    fn check_payload(&self) -> Result<()>;

    /// Holds the words of state beside the places to their bounds, whenever an image is opened: constant time, without
    /// a look at the places. Another handle may be changing the image meanwhile.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    fn check_state(&self) -> Result<()> {
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

/// A kind of approximate-membership filter. `contains_hash` never says false of a hash that was inserted; of others it
/// says true at the false-positive rate.
///
/// Shared references may be used from many threads at once.
pub trait Kind: Payload {
    /// Whether a hash may have been inserted. Constant time.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Asks for the cache lines that [`Kind::contains_hash`] looks at first.
    fn fetch(&self, _hash: u64) {}

    /// Whether each key of a batch may have been inserted (see `batch::ring`).
    fn contains_many(&self, batch: &mut dyn Batch) {
        ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |_, hash| self.contains_hash(hash));
    }

    /// Whether each of few keys may have been inserted: bit i is that of the i-th, and bits after the last mean
    /// nothing.
    /// `None` where [`Kind::contains_many`] has to say it.
    fn contains_few(&self, _few: &Few) -> Option<u64> {
        None
    }

    /// What the payload tells. Reads all of it, once, and says to `progress` after every piece how many bytes that was.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;

    /// The probability that a key is not found once so many others came after it.
    fn false_negative_rate(&self, age: u64) -> f64 {
        self.base().row().false_negative_rate.map_or(0.0, |rate| rate(self.base().geometry(), age))
    }

    /// Of an image in place: the place, in 64-bit words, of one of the words that an insertion or removal of the hash
    /// changes and whose region is not marked yet (`Base::unmarked`); `None` once all are. A kind that does not say
    /// which words those are has to have all of them marked.
    fn unmarked(&self, _hash: u64) -> Option<usize> {
        self.base().first_unmarked()
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) and others if the words may not be written; nothing has
    /// changed then.
    fn reset(&mut self) -> Result<()> {
        self.base_mut().writable()?.fill(0);
        Ok(())
    }

    /// Why there is no place for a hash that was to be inserted.
    fn refusal(&self, _hash: u64) -> Error {
        self.base().full()
    }

    /// [`Insert::insert_at_once`], without asking for the facet first: one call less for a single key.
    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.as_insert()?.insert_at_once(hash)
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

    /// Whole keys, for the kinds that hash keys themselves; hashes tell these nothing.
    fn as_keyed(&self) -> Option<&dyn KeyedKind> {
        None
    }

    /// As [`Kind::as_keyed`], to insert them.
    fn as_keyed_mut(&mut self) -> Option<&mut dyn KeyedKind> {
        None
    }

    /// The payload, for code that looks keys up by itself; `None` if its layout has no name.
    fn view(&self) -> Option<View<'_>> {
        None
    }

    /// What a single key needs of the filter, for the kinds whose keys go through a kernel.
    fn probe(&self) -> Option<Probe<'_>> {
        None
    }
}
