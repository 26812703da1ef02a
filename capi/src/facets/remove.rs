//! FILTERS: REMOVING AND COUNTING
//!
//! For kinds with `PETAL_CAN_REMOVE` and `PETAL_CAN_COUNT`. A filter whose parameters are not the default ones may be
//! able to do less than its kind: `petal_filter_capabilities()`.
//!
//! A removal takes back one insertion. If the key certainly is not there, nothing changes, and `removed` becomes false.
//! Remove only keys that you inserted, and only as often. The filter says "maybe" of some other keys, at its
//! false-positive rate. Removing such a key takes what other keys left, and may lose some of those.
//!
//! A count is too high only where other keys share all places of the key, at most with the probability of a false
//! positive. A count is too low only after somebody removed a key that was not there. Many kinds count to a greatest
//! number only, and a count that has reached that number stays there. `saturated` of `petal_statistics` says how many
//! counts have.
//!
//! docs/kinds has a page for each kind. The page says how far the kind counts, and what a wrong removal can lose.

use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::keys::{answering, petal_answers, petal_keys, taking};
use crate::filter::petal_filter;
use crate::filter::probe::{Bytes, Hash, Key, Number, tell};
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::Image;
use std::ffi::c_void;

/// Removes a key; see `probe` for the two ways.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn remove<K: Key>(filter: *mut petal_filter, key: K, removed: *mut bool) -> petal_status {
    let body = || {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `key` is readable.
        unsafe {
            let handle = petal_filter::sound_mut(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.remove_at_once(hash)
        }
    };
    let panicked = || {
        // SAFETY: what panicked is the filter of a handle.
        unsafe { petal_filter::poison(filter) };
        None
    };
    match boundary::attempt(body, panicked) {
        // SAFETY: by the conventions `removed` is NULL or writable.
        Some(answer) => unsafe { tell(removed, answer) },
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` is readable, and
        // `removed` is NULL or writable.
        None => unsafe { remove_the_long_way(filter, key, removed) },
    }
}

#[cold]
#[inline(never)]
unsafe fn remove_the_long_way<K: Key>(filter: *mut petal_filter, key: K, removed: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [change filter, maybe removed], {
        // SAFETY: by the conventions the key is readable.
        removed.answer(filter.by(|filter| filter.remove_hash(unsafe { key.hash(filter.base().hasher()) }?)))
    })
}

/// Removes one occurrence of a key. `removed`, nullable, becomes false if the key certainly was not there; nothing has
/// changed then. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot remove.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    removed: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` has `length` bytes, and
    // `removed` is NULL or writable.
    unsafe { remove(filter, Bytes(key, length), removed) }
}

/// Removes one occurrence of a uint64_t key. `removed`, nullable, becomes false if the key certainly was not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_u64(
    filter: *mut petal_filter,
    key: u64,
    removed: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `removed` is NULL or writable.
    unsafe { remove(filter, Number(key), removed) }
}

/// Removes one occurrence of the key with this hash. `removed`, nullable, becomes false if the key certainly was not
/// there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_hash(
    filter: *mut petal_filter,
    hash: u64,
    removed: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `removed` is NULL or writable.
    unsafe { remove(filter, Hash(hash), removed) }
}

/// Removes one occurrence of each key, in order. Each of the `answers`, nullable, is false if the key certainly was not
/// there. On a failure the filter has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change filter], filter.always(|filter| filter.remove_batch(keys, answers)))
}

/// Counts a key; see `probe` for the two ways.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn count<K: Key>(filter: *const petal_filter, key: K, count: *mut u64) -> petal_status {
    let body = || {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `key` is readable.
        unsafe {
            let handle = petal_filter::sound(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.count_at_once(hash)
        }
    };
    if !count.is_null()
        && let Some(answer) = boundary::attempt(body, || None)
    {
        // SAFETY: by the conventions `count` is writable.
        unsafe { count.write(answer) };
        return PETAL_OK;
    }
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `key` is readable, and `count` is
    // NULL or writable.
    unsafe { count_the_long_way(filter, key, count) }
}

#[cold]
#[inline(never)]
unsafe fn count_the_long_way<K: Key>(filter: *const petal_filter, key: K, count: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [read filter, out count], {
        // SAFETY: by the conventions the key is readable.
        count.answer(filter.count_hash(unsafe { key.hash(filter.base().hasher()) }?))
    })
}

/// Counts how often a key was inserted, less how often it was removed; 0 is certain. Returns `PETAL_ERR_UNSUPPORTED` if
/// the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    count: *mut u64,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `key` has `length` bytes, and
    // `count` is NULL or writable.
    unsafe { self::count(filter, Bytes(key, length), count) }
}

/// Counts how often a uint64_t key was inserted, less how often it was removed; 0 is certain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count_u64(
    filter: *const petal_filter,
    key: u64,
    count: *mut u64,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `count` is NULL or writable.
    unsafe { self::count(filter, Number(key), count) }
}

/// Counts how often the key with this hash was inserted, less how often it was removed; 0 is certain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count_hash(
    filter: *const petal_filter,
    hash: u64,
    count: *mut u64,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `count` is NULL or writable.
    unsafe { self::count(filter, Hash(hash), count) }
}

/// Counts keys, into `counts` of the answers. The other answers say whether a count is more than 0. On a failure every
/// answer is true and every count UINT64_MAX. If the function cannot read `keys`, and so does not know how many keys
/// there are, `true_count` is UINT64_MAX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count_batch(
    filter: *const petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    answering!(
        error,
        [read filter, keys(keys, answers)],
        answers.by(|answers| filter.count_batch(keys, answers)),
        or all_true(answers, keys)
    )
}
