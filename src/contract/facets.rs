//! What only some kinds can do, one trait each. A kind that has a facet gives it out by the method of
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
    /// Inserts a hash. True if it certainly was not there; false if it may have been.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the filter is open for reading only; [`Status::Full`] if there is no room,
    /// before anything is lost.
    fn insert_one(&mut self, hash: u64) -> Result<bool>;

    /// Inserts a hash where that is possible without more ado: `None`, having done nothing, for an image in place or
    /// where it would be refused. What single calls try before [`Insert::insert_one`]: an answer of one byte comes back
    /// in a register.
    fn insert_at_once(&mut self, _hash: u64) -> Option<bool> {
        None
    }

    /// Inserts a few keys in order, where one simple pass can do that. If `_is_asked`, bit i of the result says
    /// whether key i certainly was not there; bits after the last key mean nothing. `None`, having done nothing,
    /// where [`Insert::insert_many`] has to.
    fn insert_few(&mut self, _few: &Few, _is_asked: bool) -> Option<u64> {
        None
    }

    /// Inserts a hash so many times, at least once; true if it certainly was not there. Kinds whose counts are numbers
    /// do it at once; those that may refuse a copy do it themselves.
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

    /// Inserts the keys of a batch in order and says of each, if it is asked, whether it certainly was not there.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.insert_one(hash))
    }
}

/// Keys can be inserted by many threads at once, without locks: lookups and insertions run side by side.
///
/// What holds then: a key whose insertion happened before a lookup is found by it. Of several threads that insert the
/// same new key at the same time at least one is told that it was new; more than one may be. Keys are not counted: a
/// counter that all threads share would be what they wait for.
pub trait SharedInsert {
    /// Inserts a hash. True if it certainly was not there; false if it may have been; `None`, having changed nothing,
    /// if there is no room ([`Kind::refusal`]). It was checked before that the words may be written.
    fn insert_one_shared(&self, hash: u64) -> Option<bool>;

    /// Inserts the keys of a batch in order and says of each whether it certainly was not there; ends before the first
    /// one for which there is no room.
    fn insert_many_shared(&self, batch: &mut dyn Batch) -> Taken;
}

/// Keys can be removed one by one.
pub trait Remove {
    /// Removes one occurrence of a hash. False if it certainly was not there: then nothing has changed. True does not
    /// prove that it was: what a removal of a key that was never inserted does is for each kind to say.
    ///
    /// # Errors
    /// As [`Insert::insert_one`], but for [`Status::Full`].
    fn remove_one(&mut self, hash: u64) -> Result<bool>;

    /// Removes a hash so many times, or until it certainly is not there; how often that was.
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

    /// Removes one occurrence of each key of a batch, in order, and says of each whether [`Remove::remove_one`] did.
    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.remove_one(hash))
    }
}

/// Knows less of keys the longer they are there, and can be told to know as much of one as of a new one.
pub trait Rejuvenate {
    /// Gives a hash that is there what an insertion would give it now, in place of what one of its insertions left.
    /// Whether that changed anything: false if that is as much already, or if the hash certainly is not there. True
    /// does not prove that it was: only what was inserted and not removed may be rejuvenated, and of another hash the
    /// kind takes from another key what that is found by. No other key is lost, and none is not found meanwhile; how
    /// often keys are there stays as it is.
    ///
    /// # Errors
    /// As [`Insert::insert_one`]: the hash is there then as it was.
    fn rejuvenate_one(&mut self, hash: u64) -> Result<bool>;

    /// Rejuvenates the keys of a batch, in order, and says of each whether [`Rejuvenate::rejuvenate_one`] changed
    /// anything.
    fn rejuvenate_many(&mut self, batch: &mut dyn Batch) -> Taken {
        one_by_one(batch, |hash| self.rejuvenate_one(hash))
    }
}

/// Counts how often a key was inserted, less how often it was removed.
pub trait Count {
    /// The greatest count that it tells; what is more counts as this.
    fn greatest_count(&self) -> u64;

    /// Whether counts are never too low, up to [`Count::greatest_count`]; otherwise they are estimates, which err in
    /// both directions.
    fn is_upper_bound(&self) -> bool {
        true
    }

    /// At least how often the hash is there ([`Count::is_upper_bound`]), up to [`Count::greatest_count`]; more with the
    /// probability of a false positive. 0 if it certainly is not there.
    fn count_one(&self, hash: u64) -> u64;

    /// The counts of hashes, in order; `counts` is as long as `hashes`.
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
    /// Takes in what the other holds. It was checked that the other is of the same kind and identity.
    ///
    /// # Errors
    /// As [`Insert::insert_one`].
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()>;
}

/// Becomes a superset of the intersection with a filter that has the same compatibility id.
pub trait Intersect {
    /// Keeps what both hold. It was checked that the other is of the same kind and identity.
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
    /// As [`Fold::folded_geometry`], and [`Status::OutOfMemory`]; the filter is then as it was.
    fn fold_units(&mut self, factor: u64) -> Result<()>;
}

/// Can be given another size, without its keys.
pub trait Resize {
    /// Becomes a filter with room for so many keys, and for those that it holds, as large as it has to be; returns the
    /// capacity that it then has.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if there is no such size; [`Status::Full`] if it would not hold what is there;
    /// [`Status::OutOfMemory`]. The filter is then as it was.
    fn resize_for(&mut self, capacity: u64) -> Result<u64>;
}

/// Forgets its oldest keys.
pub trait Age {
    /// Moves time on by so many steps, as often as it takes a key to be forgotten at most: more steps do no more.
    ///
    /// # Errors
    /// As [`Insert::insert_one`], but for [`Status::Full`].
    fn advance_by(&mut self, steps: u64) -> Result<()>;
}

/// Forgets its oldest keys while other threads and processes insert and look up.
pub trait SharedAge {
    /// Moves time on as [`Age::advance_by`] does. Waits until others who move it on have done so; nobody who inserts
    /// waits for it. It was checked before that the words may be written.
    ///
    /// # Errors
    /// [`Status::Corrupt`] if a region of the image does not match its checksum: nothing has changed then.
    /// [`Status::Locked`] in a buffer, which has no locks to wait for, if somebody else moves time on: some of the
    /// steps may be made then. What the system reports.
    fn advance_by_shared(&self, steps: u64) -> Result<()>;
}

/// Standard errors on either side of an estimate's interval: 95 % of a normal distribution.
pub const INTERVAL_SIGMAS: f64 = 1.959_963_984_540_054;

/// Can tell from its payload how many distinct keys it holds.
pub trait Cardinality {
    /// The estimate; `None` when the filter is too full to tell. Reads the whole payload.
    fn of_payload(&self) -> Option<f64>;

    /// The estimate of [`Cardinality::of_payload`] from [`Measure::taken`], without reading the payload again
    /// where that number tells.
    fn of_taken(&self, taken: u64) -> Option<f64>;

    /// The standard error of an estimate of so many keys.
    fn standard_error(&self, keys: f64) -> f64;
}

/// Can tell how many distinct keys the union with another filter would hold, without making it.
pub trait Overlap: Cardinality {
    /// The estimate for the union with another filter of the same compatibility id; `None` when it is too full to tell.
    fn of_union(&self, other: &dyn Kind) -> Option<f64>;
}

/// Can list what it stores of its keys: numbers, which hashes are reduced to.
pub trait Enumerate {
    /// Hashes are stored as numbers below this.
    fn range(&self) -> u64;

    /// The number that a hash is stored as.
    fn stored(&self, hash: u64) -> u64;

    /// Writes the stored numbers that are not less than `from`, in ascending order and each once, to the front of
    /// `stored`, and returns how many these are: fewer than there is room for if there are no more. `counts`, which is
    /// as long where it is wanted, gets how often each is there: 1 where the kind does not count.
    fn stored_from(&self, from: u64, stored: &mut [u64], counts: Option<&mut [u64]>) -> usize;
}

/// Takes keys whole: their places come from more of each than a 64-bit hash (`HashFunction::Format`).
pub trait KeyedKind {
    /// Whether a key may have been inserted.
    fn contains_key(&self, key: &[u8]) -> bool;

    /// Looks keys up; `answers` have room for as many.
    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers);

    /// Inserts a key. True if it certainly was not there; false if it may have been.
    ///
    /// # Errors
    /// As [`Insert::insert_one`].
    fn insert_key(&mut self, key: &[u8]) -> Result<bool>;

    /// Inserts keys in order; `answers`, if wanted, have room for as many and say of each whether it certainly was not
    /// there.
    fn insert_keys(&mut self, keys: &WholeKeys, answers: Option<&mut Answers>) -> Taken;
}

/// Takes the keys of a batch one after the other, and answers what `take` says of each.
pub(crate) fn one_by_one(batch: &mut dyn Batch, mut take: impl FnMut(u64) -> Result<bool>) -> Taken {
    ring::trying(&mut (), 0, batch, ring::nothing, |(), hash| take(hash))
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
