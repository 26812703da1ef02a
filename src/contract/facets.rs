//! The operations that only some kinds have, one trait each. A kind that has a facet gives it out through the method of
//! [`Kind`] that is named after it, and has the capability in its row.

use super::Kind;
use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::{self, Batch, Few, Taken};
#[cfg(doc)]
use crate::blocks::Measure;
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::format::Geometry;

/// Keys can be inserted one by one.
pub trait Insert {
    /// Inserts a hash. Returns true if the hash certainly was absent before, and false if it may have been there.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the filter is open for reading only; [`Status::Full`] if there is no room,
    /// before anything is lost.
    fn insert_one(&mut self, hash: u64) -> Result<bool>;

    /// Inserts a hash if that takes no preparation. `None`, with nothing done, for an image in place, or if the hash
    /// would be refused. Single calls try this before [`Insert::insert_one`], because an answer of one byte comes back
    /// in a register.
    fn insert_at_once(&mut self, _hash: u64) -> Option<bool> {
        None
    }

    /// Inserts a few keys in order, if one simple pass can do that. If `_is_asked`, bit i of the result says whether
    /// key i certainly was absent before; bits after the last key mean nothing. `None`, with nothing done, if
    /// [`Insert::insert_many`] has to insert them.
    fn insert_few(&mut self, _few: &Few, _is_asked: bool) -> Option<u64> {
        None
    }

    /// Inserts a hash `times` times, at least once. Returns true if the hash certainly was absent before. Kinds whose
    /// counts are numbers override this to do it in one step, and so do kinds that may refuse a copy.
    ///
    /// # Errors
    /// As [`Insert::insert_one`]. Nothing has changed then.
    fn insert_times(&mut self, hash: u64, times: u64) -> Result<bool> {
        let new = self.insert_one(hash)?;
        for _ in 1..times {
            self.insert_one(hash)?;
        }
        Ok(new)
    }

    /// Inserts the keys of a batch in order. If the batch asks, says of each key whether it certainly was absent
    /// before.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.insert_one(hash))
    }
}

/// Keys can be inserted by many threads at the same time, without locks: lookups and insertions run side by side.
///
/// A lookup finds every key whose insertion happened before it. If several threads insert the same new key at the same
/// time, at least one of them learns that the key was new, and more than one may. Keys are not counted, because all
/// threads would wait for a shared counter.
pub trait SharedInsert {
    /// Inserts a hash. Returns true if the hash certainly was absent before, false if it may have been there, and
    /// `None`, with nothing changed, if there is no room ([`Kind::refusal`]). The caller has checked that the words may
    /// be written.
    fn insert_one_shared(&self, hash: u64) -> Option<bool>;

    /// Inserts the keys of a batch in order, and says of each whether it certainly was absent before. Ends before the
    /// first key for which there is no room.
    fn insert_many_shared(&self, batch: &mut dyn Batch) -> Taken;
}

/// Keys can be removed one by one.
pub trait Remove {
    /// Removes one occurrence of a hash. Returns false, with nothing changed, if the hash certainly was absent. True
    /// does not prove that it was there. Each kind says what the removal of a key that was never inserted does.
    ///
    /// # Errors
    /// The errors of [`Insert::insert_one`] without [`Status::Full`].
    fn remove_one(&mut self, hash: u64) -> Result<bool>;

    /// Removes a hash `times` times, or until it certainly is absent. Returns how often it was removed.
    ///
    /// # Errors
    /// As [`Remove::remove_one`].
    fn remove_times(&mut self, hash: u64, times: u64) -> Result<u64> {
        let mut removed = 0;
        while removed < times && self.remove_one(hash)? {
            removed += 1;
        }
        Ok(removed)
    }

    /// Removes one occurrence of each key of a batch, in order, and says of each what [`Remove::remove_one`] returned.
    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.remove_one(hash))
    }
}

/// Knows less of a key the longer it is there, and can restore what it knew.
pub trait Rejuvenate {
    /// Restores a stored hash to what an insertion would give it now. This replaces what one of its insertions left.
    /// Returns whether that changed anything: false if the hash has as much already, or certainly is absent. True does
    /// not prove that the hash was there. Only hashes that were inserted and not removed may be rejuvenated; for any
    /// other hash the kind takes the entry of another key. Meanwhile no other key is lost or missed, and all counts
    /// stay.
    ///
    /// # Errors
    /// The errors of [`Insert::insert_one`]. The hash's entry then stays as it was.
    fn rejuvenate_one(&mut self, hash: u64) -> Result<bool>;

    /// Rejuvenates the keys of a batch, in order, and says of each whether [`Rejuvenate::rejuvenate_one`] changed
    /// anything.
    fn rejuvenate_many(&mut self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.rejuvenate_one(hash))
    }
}

/// Counts how often a key was inserted, less how often it was removed.
pub trait Count {
    /// The greatest count that the kind reports. Greater counts are reported as this one.
    fn greatest_count(&self) -> u64;

    /// Whether counts up to [`Count::greatest_count`] are never too low. Otherwise counts are estimates, which err in
    /// both directions.
    fn is_upper_bound(&self) -> bool {
        true
    }

    /// How often the hash is there, or more with the probability of a false positive, up to [`Count::greatest_count`].
    /// 0 if the hash certainly is absent. The count is never too low if [`Count::is_upper_bound`].
    fn count_one(&self, hash: u64) -> u64;

    /// The counts of hashes, in order. `counts` has as many elements as `hashes`.
    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        for (hash, count) in hashes.iter().zip(counts) {
            *count = self.count_one(*hash);
        }
    }
}

/// Grows past its capacity by itself when keys are inserted, and keeps its false-positive rate.
pub trait Grow {
    /// How many new keys fit before the next growth. An image in place refuses keys after these.
    fn room(&self) -> u64;
}

/// Becomes the union with a filter that has the same compatibility id.
pub trait Merge {
    /// Takes in the keys of another filter. The caller has checked that the other is of the same kind and identity.
    ///
    /// # Errors
    /// As [`Insert::insert_one`].
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()>;
}

/// Becomes a superset of the intersection with a filter that has the same compatibility id.
pub trait Intersect {
    /// Keeps the keys that both filters hold. The caller has checked that the other is of the same kind and identity.
    ///
    /// # Errors
    /// As [`Insert::insert_one`].
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()>;
}

/// Can be made smaller by a whole factor, without its keys.
pub trait Fold {
    /// How many units there are: bits, bits of a slice, or blocks.
    fn units(&self) -> u64;

    /// The geometry with a `factor`-th of the units.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if `factor` is below 2 or does not divide the number of units.
    fn folded_geometry(&self, factor: u64) -> Result<Geometry>;

    /// Divides the number of units by `factor`.
    ///
    /// # Errors
    /// The errors of [`Fold::folded_geometry`], and [`Status::OutOfMemory`]. The filter then stays as it was.
    fn fold_units(&mut self, factor: u64) -> Result<()>;
}

/// Can be given another size, without its keys.
pub trait Resize {
    /// Becomes a filter with room for `capacity` keys, including those that it holds, and no larger than that takes.
    /// Returns the new capacity.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if there is no such size; [`Status::Full`] if it would not hold the present entries;
    /// [`Status::OutOfMemory`]. The filter then stays as it was.
    fn resize_for(&mut self, capacity: u64) -> Result<u64>;
}

/// Forgets its oldest keys.
pub trait Age {
    /// Moves time on by `steps` steps. More steps than it takes to forget every key do no more than that.
    ///
    /// # Errors
    /// The errors of [`Insert::insert_one`] without [`Status::Full`].
    fn advance_by(&mut self, steps: u64) -> Result<()>;
}

/// Forgets its oldest keys while other threads and processes insert and look up.
pub trait SharedAge {
    /// Moves time on as [`Age::advance_by`] does. Waits until other callers that move time on are done; no insertion
    /// waits for this one. The caller has checked that the words may be written.
    ///
    /// # Errors
    /// [`Status::Corrupt`] if a region of the image does not match its checksum; nothing has changed then.
    /// [`Status::Locked`] in a buffer, which has no locks to wait for, if somebody else moves time on; some of the
    /// steps may have been made then. The system's errors.
    fn advance_by_shared(&self, steps: u64) -> Result<()>;
}

/// How many standard errors the interval of an estimate extends to either side: 95 % of a normal distribution.
pub const INTERVAL_SIGMAS: f64 = 1.959_963_984_540_054;

/// Can estimate from its payload how many distinct keys it holds.
pub trait Cardinality {
    /// The estimate, or `None` if the filter is too full for one. Reads the whole payload.
    fn of_payload(&self) -> Option<f64>;

    /// The estimate of [`Cardinality::of_payload`] from [`Measure::taken`]. Reads the payload again only if that number
    /// does not suffice.
    fn of_taken(&self, taken: u64) -> Option<f64>;

    /// The standard error of an estimate of `keys` keys.
    fn standard_error(&self, keys: f64) -> f64;
}

/// Can estimate how many distinct keys the union with another filter would hold, without making it.
pub trait Overlap: Cardinality {
    /// The estimate for the union with another filter of the same compatibility id, or `None` if the union is too full
    /// to tell.
    fn of_union(&self, other: &dyn Kind) -> Option<f64>;
}

/// Lists what it stores of its keys: numbers, to which hashes are reduced.
pub trait Enumerate {
    /// The exclusive upper bound of all stored numbers.
    fn range(&self) -> u64;

    /// The number that a hash is stored as.
    fn stored(&self, hash: u64) -> u64;

    /// Writes the stored numbers that are not less than `from`, in ascending order and each once, to the front of
    /// `stored`. Returns how many there are: fewer than there is room for if no more follow. `counts`, if given, has
    /// the same length and gets how often each number is there: 1 if the kind does not count.
    fn stored_from(&self, from: u64, stored: &mut [u64], counts: Option<&mut [u64]>) -> usize;
}

/// Takes keys whole, because a key's places need more bits of it than a 64-bit hash has (`HashFunction::Format`).
pub trait KeyedKind {
    /// Whether a key may have been inserted.
    fn contains_key(&self, key: &[u8]) -> bool;

    /// Looks keys up. `answers` have room for as many answers.
    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers);

    /// Inserts a key. Returns true if the key certainly was absent before, and false if it may have been there.
    ///
    /// # Errors
    /// As [`Insert::insert_one`].
    fn insert_key(&mut self, key: &[u8]) -> Result<bool>;

    /// Inserts keys in order. `answers`, if given, have room for as many answers, and say of each key whether it
    /// certainly was absent before.
    fn insert_keys(&mut self, keys: &WholeKeys, answers: Option<&mut Answers>) -> Taken;
}

/// Applies `take` to the keys of a batch one after the other, and answers with what it returns.
pub(crate) fn one_by_one(batch: &mut dyn Batch, mut take: impl FnMut(u64) -> Result<bool>) -> Taken {
    ring::trying(&mut (), 0, batch, ring::nothing, |(), hash| take(hash))
}

/// How far ahead of a key's answer the key's lines are fetched; 0 is not at all.
pub(crate) fn ahead<K: Kind + ?Sized>(kind: &K) -> usize {
    let base = kind.base();
    let lines = (base.row().lines_per_lookup)(base.geometry());
    ring::ahead(base.words().shared().len(), lines.ceil() as usize)
}

/// Gives out the facets that a kind implements: `facets!(Insert, Merge);` stands among the methods of its [`Kind`].
macro_rules! facets {
    ($($facet:ident),+) => { $(facets!(@ $facet);)+ };
    (@ Insert) => { facets!(@ as_insert, mut Insert); };
    (@ SharedInsert) => { facets!(@ as_shared_insert, SharedInsert); };
    (@ Remove) => { facets!(@ as_remove, mut Remove); };
    (@ Rejuvenate) => { facets!(@ as_rejuvenate, mut Rejuvenate); };
    (@ Count) => { facets!(@ as_count, Count); };
    (@ Grow) => { facets!(@ as_grow, Grow); };
    (@ Merge) => { facets!(@ as_merge, mut Merge); };
    (@ Intersect) => { facets!(@ as_intersect, mut Intersect); };
    (@ Fold) => { facets!(@ as_fold, mut Fold); };
    (@ Resize) => { facets!(@ as_resize, mut Resize); };
    (@ Age) => { facets!(@ as_age, mut Age); };
    (@ SharedAge) => { facets!(@ as_shared_age, SharedAge); };
    (@ Cardinality) => { facets!(@ as_cardinality, Cardinality); };
    (@ Overlap) => { facets!(@ as_overlap, Overlap); };
    (@ Enumerate) => { facets!(@ as_enumerate, Enumerate); };
    (@ KeyedKind) => { facets!(@ as_keyed, KeyedKind); facets!(@ as_keyed_mut, mut KeyedKind); };
    (@ $method:ident, mut $facet:ident) => {
        fn $method(&mut self) -> Option<&mut dyn $crate::contract::$facet> {
            Some(self)
        }
    };
    (@ $method:ident, $facet:ident) => {
        fn $method(&self) -> Option<&dyn $crate::contract::$facet> {
            Some(self)
        }
    };
}

pub(crate) use facets;
