//! The filter over a table of fingerprints, with everything that such tables can do. [`FingerprintTable`] has what
//! differs from table to table.

use crate::batch::ring::{self, Batch, Few, Taken};
use crate::blocks::fingerprint_table::{FingerprintTable, Inserted};
use crate::blocks::{Measure, View};
use crate::contract::{
    Base, Cardinality, Count, Enumerate, Insert, Kind, Merge, Overlap, Payload, Remove, Resize, change_many,
    change_one, facets, over_base, remove_of_words,
};
use crate::error::{Error, Result, Status, error};
use crate::sizing::{bloom, hash_floor};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;

/// A table that is a filter by itself, and the facets that only some tables have.
pub trait TableKind: FingerprintTable {
    /// Enumeration, for the tables that can enumerate.
    fn as_enumerate(_filter: &FingerprintFilter<Self>) -> Option<&dyn Enumerate> {
        None
    }

    /// [`Kind::unmarked`]. A table that does not say which words a hash changes names all of them.
    fn unmarked(filter: &FingerprintFilter<Self>, _hash: u64) -> Option<usize> {
        filter.base.first_unmarked()
    }

    /// Another size, for the tables that can change it.
    fn as_resize(_filter: &mut FingerprintFilter<Self>) -> Option<&mut dyn Resize> {
        None
    }
}

/// A table of fingerprints over a payload.
pub struct FingerprintFilter<T> {
    pub(crate) base: Base,
    pub(crate) table: T,
}

/// The filter over a payload. Refuses a geometry that no such table has.
///
/// # Errors
/// [`Status::Corrupt`], [`Status::OutOfMemory`].
pub fn open<T: TableKind>(base: Base) -> Result<Box<dyn Kind>> {
    match T::of(base.geometry(), base.instructions())? {
        Some(table) => Ok(try_box(FingerprintFilter { base, table })?),
        None => Err(base.foreign_geometry()),
    }
}

impl<T: TableKind> FingerprintFilter<T> {
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }

    /// How far ahead of a key its lines are fetched.
    fn ahead(&self) -> usize {
        ring::ahead(self.words().len(), T::LINES)
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it; `Some(None)` if the table refuses the hash.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<Option<bool>> {
        let new = self.table.insert(self.base.writable_at_once()?, hash);
        self.base.add_count(new.is_some().into());
        Some(new)
    }

    /// Inserts a hash `times` times if [`Base::writable_at_once`] allows it; `Some(None)` if the table refuses the
    /// hash.
    fn insert_copies(&mut self, hash: u64, times: u64) -> Result<Option<Option<bool>>> {
        if times > self.table.most_copies() {
            return Ok(Some(None));
        }
        let Some(words) = self.base.writable_at_once() else { return Ok(None) };
        let new = self.table.insert_times(words, hash, times)?;
        self.base.add_count(if new.is_some() { times } else { 0 });
        Ok(Some(new))
    }

    /// Inserts the keys of a batch if [`Base::writable_at_once`] allows it and the table can insert batches itself;
    /// otherwise `None`.
    fn insert_all_at_once(&mut self, batch: &mut dyn Batch) -> Option<Taken> {
        let Inserted { keys, refused } = self.table.insert_many(self.base.writable_at_once()?, batch)?;
        self.base.add_count(keys as u64);
        Some(Taken { keys, outcome: refused.map_or(Ok(()), |hash| Err(self.refuse(hash, 1))) })
    }

    /// Removes a hash if [`Base::writable_at_once`] allows it. Returns whether the hash may have been there.
    #[inline]
    fn remove(&mut self, hash: u64) -> Option<bool> {
        let removed = self.table.remove(self.base.writable_at_once()?, hash);
        self.base.subtract_count(removed.into());
        Some(removed)
    }

    /// The reason why `times` copies of a hash are refused.
    #[cold]
    fn refuse(&self, hash: u64, times: u64) -> Error {
        let (most, copies, name) =
            (self.table.most_copies(), self.table.copies(self.words(), hash), self.base.row().name);
        if times > 1 && copies.saturating_add(times) > most {
            return error!(
                Full,
                "the key cannot be there {times} times more: a {name} filter of these parameters holds at most {most} \
                 copies of a key, and {copies} are there"
            );
        }
        if copies >= most {
            return error!(
                Full,
                "the key, or others with its fingerprint, is there {most} times, the most that a {name} filter of \
                 these parameters holds"
            );
        }
        let (keys, slots) = (self.base.count(), self.table.slots());
        if times == 1 && copies == 0 {
            return error!(
                Full,
                "the {name} filter has no room for another key: it holds {keys} keys, copies included, in {slots} \
                 slots; its capacity counts distinct keys, and the copies of a key have few places"
            );
        }
        error!(
            Full,
            "the {name} filter has no room for {times} more of a key that is there {copies} times: it holds \
             {keys} keys, copies included, in {slots} slots; its capacity counts distinct keys, and the copies of a \
             key have few places"
        )
    }

    /// The table of another filter that may be combined with this one.
    fn table_of(other: &dyn Kind) -> Result<T> {
        let base = other.base();
        T::of(base.geometry(), base.instructions())?.ok_or_else(|| base.foreign_geometry())
    }

    /// How many distinct keys have left entries of this many classes.
    fn keys_of(&self, classes: u64) -> Option<f64> {
        bloom::cardinality_exact_base(self.table.classes(), 1, classes)
    }
}

impl<T: TableKind> Payload for FingerprintFilter<T> {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.table.check(self.words())
    }
}

impl<T: TableKind> Kind for FingerprintFilter<T> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(self.words(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.table.fetch(self.words(), hash);
    }

    fn view(&self) -> Option<View<'_>> {
        self.table.view(self.words())
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.table.contains_many(self.words(), batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        Some(self.table.contains_few(self.words(), few))
    }

    /// The rate is exact: the table says of each class of keys whether it is there.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let held = self.table.held(self.words(), progress);
        let rate = held.classes as f64 / self.table.classes() as f64;
        Measure {
            taken: held.taken,
            fill: held.taken as f64 / self.table.slots() as f64,
            saturated: 0,
            false_positive_rate: rate.min(1.0).max(hash_floor(held.classes, 64)),
        }
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        T::unmarked(self, hash)
    }

    fn refusal(&self, hash: u64) -> Error {
        self.refuse(hash, 1)
    }

    facets!(Insert, Remove, Count, Merge, Cardinality, Overlap);

    fn as_resize(&mut self) -> Option<&mut dyn Resize> {
        T::as_resize(self)
    }

    fn as_enumerate(&self) -> Option<&dyn Enumerate> {
        T::as_enumerate(self)
    }
}

/// Asks for the cache lines of a hash.
fn fetch<T: TableKind>(filter: &FingerprintFilter<T>, hash: u64) {
    filter.table.fetch(filter.words(), hash);
}

impl<T: TableKind> Insert for FingerprintFilter<T> {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        let outcome = match self.insert(hash) {
            Some(outcome) => Some(outcome),
            None => change_one(self, hash, |filter| filter.insert(hash))?,
        };
        match outcome {
            Some(Some(new)) => Ok(new),
            Some(None) => Err(self.refuse(hash, 1)),
            None => Err(Status::Internal.into()),
        }
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)?
    }

    fn insert_times(&mut self, hash: u64, times: u64) -> Result<bool> {
        let outcome = match self.insert_copies(hash, times)? {
            Some(outcome) => Some(outcome),
            None => change_one(self, hash, |filter| filter.insert_copies(hash, times))??,
        };
        match outcome {
            Some(Some(new)) => Ok(new),
            Some(None) => Err(self.refuse(hash, times)),
            None => Err(Status::Internal.into()),
        }
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            if let Some(taken) = filter.insert_all_at_once(batch) {
                return taken;
            }
            let ahead = filter.ahead();
            ring::trying(filter, ahead, batch, fetch, |filter, hash| match filter.insert(hash) {
                Some(Some(new)) => Ok(new),
                Some(None) => Err(filter.refuse(hash, 1)),
                None => Err(Status::Internal.into()),
            })
        })
    }
}

impl<T: TableKind> Remove for FingerprintFilter<T> {
    remove_of_words!();

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let ahead = filter.ahead();
            ring::trying(filter, ahead, batch, fetch, |filter, hash| {
                filter.remove(hash).ok_or_else(|| Status::Internal.into())
            })
        })
    }
}

impl<T: TableKind> Count for FingerprintFilter<T> {
    fn greatest_count(&self) -> u64 {
        self.table.most_copies()
    }

    #[inline]
    fn count_one(&self, hash: u64) -> u64 {
        self.table.copies(self.words(), hash)
    }

    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        let words = self.words();
        let fetch = |hash| self.table.fetch(words, hash);
        ring::counting(self.ahead().into(), hashes, counts, fetch, |_| {}, |hash| self.table.copies(words, hash));
    }
}

impl<T: TableKind> Merge for FingerprintFilter<T> {
    /// Merges into a copy first, so that nothing has changed if an entry finds no place.
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        let table = FingerprintFilter::<T>::table_of(other)?;
        let others = other.base().words().shared();
        let mut words = self.base.words().copy()?;
        let target = words.exclusive().ok_or(Status::Internal)?;
        if !self.table.insert_all(target, &table, others) {
            let (name, slots) = (self.base.row().name, self.table.slots());
            return Err(error!(
                Full,
                "the {name} filter, which has {slots} slots, has no places for all keys of the other: it is as it was"
            ));
        }
        self.base.writable()?.copy_from_slice(target);
        Ok(())
    }
}

/// Estimates the number of distinct keys from the fingerprints that are there.
impl<T: TableKind> Cardinality for FingerprintFilter<T> {
    fn of_payload(&self) -> Option<f64> {
        self.keys_of(self.table.held(self.words(), &mut |_| {}).classes)
    }

    /// Only the payload itself shows which of the entries are copies.
    fn of_taken(&self, _taken: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, keys: f64) -> f64 {
        bloom::cardinality_standard_error(self.table.classes(), 1, keys.round() as u64)
    }
}

impl<T: TableKind> Overlap for FingerprintFilter<T> {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let table = FingerprintFilter::<T>::table_of(other).ok()?;
        self.keys_of(self.table.classes_of_union(self.words(), &table, other.base().words().shared()))
    }
}
