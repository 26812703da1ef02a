//! FILTERS: KEYS WITH THEIR COUNTS
//!
//! For kinds that count (`PETAL_CAN_COUNT`). One call inserts or removes a key several times, with the effect of that
//! many single calls. Kinds that keep counts as numbers (`quotient`, `spectral`) take the time of one call.
//! `petal_filter_stored_hashes()` gives what a filter holds, as numbers with their counts.

use crate::boundary::{self, NO_ERROR, boundary};
use crate::builder::petal_builder;
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::filter::petal_filter;
use crate::filter::probe::{Bytes, Hash, Key, Number, tell};
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Filter, Keys, Taken};
use std::ffi::c_void;

/// Inserts a key `times` times.
///
/// # Safety
/// The conventions.
unsafe fn insert<K: Key>(filter: *mut petal_filter, key: K, times: u64, is_new: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked for NULL; by the conventions `filter` is a handle that nobody else uses, `key` is readable,
        // and `is_new` is NULL or writable.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            let answer = petal_filter::change(filter, |filter| filter.insert_hash_times(hash, times))??;
            tell(is_new, answer);
        }
        Ok(())
    })
}

/// Removes a key `times` times at most.
///
/// # Safety
/// The conventions.
unsafe fn remove<K: Key>(filter: *mut petal_filter, key: K, times: u64, removed: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked for NULL; by the conventions `filter` is a handle that nobody else uses, `key` is readable,
        // and `removed` is NULL or writable.
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
        // SAFETY: by the conventions `filter` is a handle that nobody else uses, and `times` is NULL or an array with
        // an element a key.
        unsafe {
            let times = boundary::elements(times, keys.len(), "times")?;
            petal_filter::change(filter, |filter| change(filter, keys, times, answers))
        }
    };
    // SAFETY: by the conventions `keys` is NULL or a struct with arrays as long as it says, and `answers` is NULL or a
    // struct with room for all answers.
    unsafe { keys::take(keys, answers, error, take) }
}

/// Inserts a key `times` times. `is_new`, nullable, becomes true if the key certainly was not there before. A count
/// that would pass the greatest count of the kind stops there. Returns `PETAL_ERR_FULL` if there is no room for all
/// copies; the filter has taken none then. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` has `length` bytes, and
    // `is_new` is NULL or writable.
    unsafe { insert(filter, Bytes(key, length), times, is_new) }
}

/// Inserts a uint64_t key `times` times, as `petal_filter_insert_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_u64(
    filter: *mut petal_filter,
    key: u64,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `is_new` is NULL or writable.
    unsafe { insert(filter, Number(key), times, is_new) }
}

/// Inserts the key with this hash `times` times, as `petal_filter_insert_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_hash(
    filter: *mut petal_filter,
    hash: u64,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `is_new` is NULL or writable.
    unsafe { insert(filter, Hash(hash), times, is_new) }
}

/// Inserts each key as often as its element of `times` says, in order. `times` has one element a key, and may be NULL
/// if there are no keys. Each of the `answers`, nullable, says whether the key certainly was not there before. On a
/// failure the filter has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `keys` is NULL or a struct with
    // arrays as long as it says, `times` is NULL or an array with an element a key, and `answers` is NULL or a struct
    // with room for all answers.
    unsafe { change_batch(filter, keys, times, answers, error, Filter::insert_times_batch) }
}

/// Removes a key as often as it is there, but no more than `times` times. `removed`, nullable, becomes the number of
/// removed copies: 0 if the key certainly was not there. In `counting`, a count that has reached the greatest one
/// stands for that or more, and stays. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot remove or count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` has `length` bytes, and
    // `removed` is NULL or writable.
    unsafe { remove(filter, Bytes(key, length), times, removed) }
}

/// Removes a uint64_t key at most `times` times, as `petal_filter_remove_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_u64(
    filter: *mut petal_filter,
    key: u64,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `removed` is NULL or writable.
    unsafe { remove(filter, Number(key), times, removed) }
}

/// Removes the key with this hash at most `times` times, as `petal_filter_remove_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_hash(
    filter: *mut petal_filter,
    hash: u64,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `removed` is NULL or writable.
    unsafe { remove(filter, Hash(hash), times, removed) }
}

/// Removes each key as often as it is there, but no more than its element of `times` says, in order. `times` has one
/// element a key, and may be NULL if there are no keys. Each of the `answers`, nullable, is false if the key certainly
/// was not there. On a failure the filter has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `keys` is NULL or a struct with
    // arrays as long as it says, `times` is NULL or an array with an element a key, and `answers` is NULL or a struct
    // with room for all answers.
    unsafe { change_batch(filter, keys, times, answers, error, Filter::remove_times_batch) }
}

/// Adds a key that came `times` times; 0 times add nothing. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses, and `key` has
        // `length` bytes.
        unsafe {
            let key = boundary::bytes(key.cast(), length, "key")?;
            (*builder).0.change(|builder| builder.add_times(key, times))?
        }
    })
}

/// Adds a uint64_t key that came `times` times, as `petal_builder_add_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_u64(
    builder: *mut petal_builder,
    key: u64,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses.
        unsafe { (*builder).0.change(|builder| builder.add_u64_times(key, times))? }
    })
}

/// Adds a hash that came `times` times, as `petal_builder_add_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_hash(
    builder: *mut petal_builder,
    hash: u64,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses.
        unsafe { (*builder).0.change(|builder| builder.add_hash_times(hash, times))? }
    })
}

/// Adds each key as often as its element of `times` says, in order. `times` has one element a key, and may be NULL if
/// there are no keys. `answers`, nullable, only tells how many keys the builder took: the first `done`. A builder
/// refuses every form of answers. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let add = |keys: &Keys, answers: Option<&mut Answers>| {
        if builder.is_null() {
            return Err(boundary::null("builder"));
        }
        keys::refuse_answers(answers)?;
        // SAFETY: by the conventions `builder` is a handle that nobody else uses, and `times` is NULL or an array with
        // an element a key.
        unsafe {
            let times = boundary::elements(times, keys.len(), "times")?;
            (*builder).0.change(|builder| builder.add_times_batch(keys, times))
        }
    };
    // SAFETY: by the conventions `keys` is NULL or a struct with arrays as long as it says, and `answers` is NULL or a
    // struct with room for all answers.
    unsafe { keys::take(keys, answers, error, add) }
}
