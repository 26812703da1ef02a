//! FILTERS: KEYS WITH THEIR COUNTS
//!
//! For kinds that count (`PETAL_CAN_COUNT`): a key is inserted or removed as often at once as is said, as if by so many
//! single calls, in the time of one where counts are numbers (`quotient`, `spectral`). What a filter holds comes back
//! as numbers with their counts: `petal_filter_stored_hashes()`.

use super::keys::{self, petal_answers, petal_keys};
use super::petal_filter;
use super::probe::{Bytes, Hash, Key, Number, tell};
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::{petal_error, petal_status};

use petal_core::{Answers, Filter, Keys, Taken};
use std::ffi::c_void;

/// Inserts a key so many times.
///
/// # Safety
/// The conventions.
unsafe fn insert<K: Key>(filter: *mut petal_filter, key: K, times: u64, is_new: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            let answer = petal_filter::change(filter, |filter| filter.insert_hash_times(hash, times))??;
            tell(is_new, answer);
        }
        Ok(())
    })
}

/// Removes a key so many times at most.
///
/// # Safety
/// The conventions.
unsafe fn remove<K: Key>(filter: *mut petal_filter, key: K, times: u64, removed: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            let answer = petal_filter::change(filter, |filter| filter.remove_hash_times(hash, times))??;
            if !removed.is_null() {
                removed.write(answer);
            }
        }
        Ok(())
    })
}

/// Changes many keys.
///
/// # Safety
/// The conventions.
unsafe fn change_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
    change: fn(&mut Filter, &Keys, &[u64], Option<&mut Answers>) -> Taken,
) -> petal_status {
    let take = |keys: &Keys, answers: Option<&mut Answers>| {
        if filter.is_null() {
            return Err(boundary::null("filter"));
        }
        // SAFETY: not NULL; the conventions say the rest.
        unsafe {
            let times = boundary::elements(times, keys.len(), "times")?;
            petal_filter::change(filter, |filter| change(filter, keys, times, answers))
        }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, take) }
}

/// Inserts a key `times` times. `is_new`, nullable, becomes true if it certainly was not there before. What is more
/// than the greatest count of the kind leaves it there. `PETAL_ERR_FULL` if there is no room for all: then none was
/// inserted. `PETAL_ERR_UNSUPPORTED` if the kind cannot count. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { insert(filter, Bytes(key, length), times, is_new) }
}

/// Inserts a uint64_t key `times` times, as `petal_filter_insert_times()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_u64(
    filter: *mut petal_filter,
    key: u64,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { insert(filter, Number(key), times, is_new) }
}

/// Inserts the key with this hash `times` times, as `petal_filter_insert_times()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_hash(
    filter: *mut petal_filter,
    hash: u64,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { insert(filter, Hash(hash), times, is_new) }
}

/// Inserts each key as often as its element of `times` says, in order; `times` has as many as there are keys, and may
/// be NULL if there are none. `answers`, nullable: each says whether the key certainly was not there before. On a
/// failure the first `done` keys were taken. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change_batch(filter, keys, times, answers, error, Filter::insert_times_batch) }
}

/// Removes a key as often as it is there, but no more than `times` times. `removed`, nullable, becomes how often that
/// was: 0 if the key certainly was not there. Where a count stands at the greatest one of `counting`, which is that or
/// more, it stays. `PETAL_ERR_UNSUPPORTED` if the kind cannot remove or count. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { remove(filter, Bytes(key, length), times, removed) }
}

/// Removes a uint64_t key at most `times` times, as `petal_filter_remove_times()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_u64(
    filter: *mut petal_filter,
    key: u64,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { remove(filter, Number(key), times, removed) }
}

/// Removes the key with this hash at most `times` times, as `petal_filter_remove_times()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_hash(
    filter: *mut petal_filter,
    hash: u64,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { remove(filter, Hash(hash), times, removed) }
}

/// Removes each key as often as it is there, but no more than its element of `times` says, in order; `times` has as
/// many as there are keys, and may be NULL if there are none. `answers`, nullable: each is false if the key certainly
/// was not there. On a failure the first `done` keys were taken. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change_batch(filter, keys, times, answers, error, Filter::remove_times_batch) }
}
