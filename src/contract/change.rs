//! Changes of single words, wherever a payload lies: immediately in the filter's own memory, and in an image in place
//! after the regions of those words are marked (`in_place` says why).

use super::{Base, Kind, Payload};
use crate::batch::ring::{Batch, Chunk, Taken};
use crate::error::Result;
use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

/// Makes a change of the words of one hash. During the change [`super::Base::writable_at_once`] gives the payload.
///
/// # Errors
/// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) if the image is not open for one writer;
/// [`Status::Corrupt`](crate::Status::Corrupt) if a region does not match its checksum; what the system reports.
/// Nothing has changed then.
#[inline(never)]
pub(crate) fn change_one<K: Kind, T>(kind: &mut K, hash: u64, change: impl FnOnce(&mut K) -> T) -> Result<T> {
    if !kind.base().is_own() {
        if !kind.base().has_begun() {
            kind.base_mut().begin_writing()?;
        }
        mark_one(kind, hash)?;
    }
    Ok(at_once(kind, change))
}

/// Makes a change of the words of all keys of a batch. `change` gets the batch, or a part of it, in order.
///
/// Returns how many keys were taken before an error of [`change_one`] or of `change` itself.
pub(crate) fn change_many<K: Kind>(
    kind: &mut K,
    batch: &mut dyn Batch,
    mut change: impl FnMut(&mut K, &mut dyn Batch) -> Taken,
) -> Taken {
    if kind.base().is_own() {
        return change(kind, batch);
    }
    if let Err(error) = kind.base_mut().begin_writing() {
        return Taken::none(error);
    }
    Chunk::each(batch, |chunk| {
        let Taken { keys: ready, outcome } = mark(kind, chunk.hashes());
        chunk.keep(ready);
        let taken = at_once(kind, |kind| change(kind, chunk));
        chunk.keep(taken.keys);
        taken.outcome.and(outcome)
    })
}

/// Makes a change of these words. During the change [`super::Base::writable_at_once`] gives the payload.
///
/// # Errors
/// As [`change_one`].
pub(crate) fn change_words<K: Payload, T>(
    kind: &mut K,
    words: &[Range<usize>],
    change: impl FnOnce(&mut K) -> T,
) -> Result<T> {
    if !kind.base().is_own() {
        kind.base_mut().begin_writing()?;
        let base = kind.base();
        mark_each(base, words, |words| base.unmarked_in(words)).outcome?;
    }
    Ok(at_once(kind, change))
}

/// Makes a change whose regions are already marked.
fn at_once<K: Payload, T>(kind: &mut K, change: impl FnOnce(&mut K) -> T) -> T {
    kind.base_mut().allow_at_once(true);
    let outcome = change(kind);
    kind.base_mut().allow_at_once(false);
    outcome
}

/// Marks, in order, the regions of an image in place that these hashes change. Returns for how many of them the change
/// may now be made, and what stopped the next one. See `Base::mark` for the order in which others see it.
pub(crate) fn mark<K: Kind + ?Sized>(kind: &K, hashes: &[u64]) -> Taken {
    mark_each(kind.base(), hashes, |hash| kind.unmarked(*hash))
}

/// Marks the regions of the words that `unmarked` names for each key, in order, until it names none.
pub(super) fn mark_each<T>(base: &Base, keys: &[T], unmarked: impl Fn(&T) -> Option<usize>) -> Taken {
    for (i, key) in keys.iter().enumerate() {
        while let Some(word) = unmarked(key) {
            if let Err(error) = base.mark(word) {
                return Taken { keys: i, outcome: Err(error) };
            }
        }
    }
    // Another thread of this handle may have marked the region that this one now changes.
    fence(Ordering::Release);
    Taken::all(keys.len())
}

/// [`mark`] for one hash. Where its regions are marked already, this costs only a test.
///
/// # Errors
/// As [`mark`].
#[inline]
pub(crate) fn mark_one<K: Kind + ?Sized>(kind: &K, hash: u64) -> Result<()> {
    if kind.unmarked(hash).is_some() {
        return mark(kind, &[hash]).outcome;
    }
    fence(Ordering::Release);
    Ok(())
}

/// [`Insert::insert_one`](super::Insert::insert_one) and
/// [`Insert::insert_at_once`](super::Insert::insert_at_once) of a kind whose method `insert` takes a hash if
/// [`super::Base::writable_at_once`] allows it, and always finds room. `insert_of_words!();` stands among the methods.
macro_rules! insert_of_words {
    () => {
        #[inline]
        fn insert_one(&mut self, hash: u64) -> $crate::error::Result<bool> {
            match self.insert(hash) {
                Some(new) => Ok(new),
                None => $crate::contract::change_one(self, hash, |filter| filter.insert(hash))?
                    .ok_or_else(|| $crate::error::Status::Internal.into()),
            }
        }

        #[inline]
        fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
            self.insert(hash)
        }
    };
}

/// [`Remove::remove_one`](super::Remove::remove_one) of a kind that has a method `remove` like that.
macro_rules! remove_of_words {
    () => {
        #[inline]
        fn remove_one(&mut self, hash: u64) -> $crate::error::Result<bool> {
            match self.remove(hash) {
                Some(removed) => Ok(removed),
                None => $crate::contract::change_one(self, hash, |filter| filter.remove(hash))?
                    .ok_or_else(|| $crate::error::Status::Internal.into()),
            }
        }
    };
}

pub(crate) use {insert_of_words, remove_of_words};
