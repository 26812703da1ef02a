//! MAPS: CHANGING
//!
//! Two kinds of map can change. An `approximator` starts empty, and takes keys with their values at any time. A lookup
//! then gives the joined value of the key, or a value above it in the order of the lattice. A `mutable_bloomier`, which
//! a builder makes, replaces the values of its keys. Other kinds answer `PETAL_ERR_UNSUPPORTED`. A change needs the
//! handle to itself. Readers of the same image in other handles and processes go on meanwhile, without locks, and see
//! either the old value or the new one.

use super::{give, petal_map};
use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Image, Keys, Map, Result, Taken};
use std::ffi::c_void;

/// Makes an empty map. The spec must name a kind that starts empty: `PETAL_KIND_APPROXIMATOR`. Returns
/// `PETAL_ERR_UNSUPPORTED` for a kind that needs `petal_map_builder_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_new(
    spec: *const petal_spec,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, map], {
        // SAFETY: checked for NULL; by the conventions `spec` is a struct of its size, and `map` is writable.
        unsafe { give(map, || petal_core::create_map(&petal_spec::get(spec)?)) }
    })
}

/// Changes the value of one key, and tells the caller what that says of it.
///
/// # Safety
/// The conventions; `answer` is nullable.
unsafe fn change(
    map: *mut petal_map,
    answer: *mut bool,
    change: impl FnOnce(&mut Map) -> Result<bool>,
) -> petal_status {
    boundary!(NO_ERROR, [map], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody else uses, and `answer` is NULL or
        // writable.
        unsafe {
            let found = (*map).0.change(change)??;
            if !answer.is_null() {
                answer.write(found);
            }
        }
        Ok(())
    })
}

/// Changes the values of many keys.
///
/// # Safety
/// The conventions.
unsafe fn change_batch(
    map: *mut petal_map,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
    change: fn(&mut Map, &Keys, &[u64], Option<&mut Answers>) -> Taken,
) -> petal_status {
    let take = |keys: &Keys, answers: Option<&mut Answers>| {
        if map.is_null() {
            return Err(boundary::null("map"));
        }
        // SAFETY: by the conventions `map` is a handle that nobody else uses, and `values` is NULL or an array with an
        // element a key.
        unsafe {
            let values = boundary::elements(values, keys.len(), "values")?;
            (*map).0.change(|map| change(map, keys, values, answers))
        }
    };
    // SAFETY: by the conventions `keys` is NULL or a struct with arrays as long as it says, and `answers` is NULL or a
    // struct with room for all answers.
    unsafe { keys::take(keys, answers, error, take) }
}

/// Gives a key one more value: the map joins all values of the key as its parameter lattice says. `changed`, nullable,
/// becomes true if the call changed the value that a lookup of the key gives. Returns `PETAL_ERR_OUT_OF_RANGE` for a
/// value that the parameter value_bits cannot hold. Returns `PETAL_ERR_FULL`, with nothing changed, if the map has no
/// place for the key. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put(
    map: *mut petal_map,
    key: *const c_void,
    length: usize,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, `key` has `length` bytes, and
    // `changed` is NULL or writable.
    unsafe { change(map, changed, |map| map.put(boundary::bytes(key.cast(), length, "key")?, value)) }
}

/// Gives a uint64_t key a value, as `petal_map_put()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_u64(
    map: *mut petal_map,
    key: u64,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, and `changed` is NULL or writable.
    unsafe { change(map, changed, |map| map.put_u64(key, value)) }
}

/// Gives a value to the key with this 64-bit hash, which you made, as `petal_map_put()` does to a byte key. Returns
/// `PETAL_ERR_UNSUPPORTED` unless the map's hash function is `PETAL_HASH_EXTERNAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_hash(
    map: *mut petal_map,
    hash: u64,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, and `changed` is NULL or writable.
    unsafe { change(map, changed, |map| map.put_hash(hash, value)) }
}

/// Gives keys values in order, as `petal_map_put()` does. `values` has one value a key, and may be NULL if there are no
/// keys. Each of the `answers`, nullable, is true if the value changed that a lookup of the key gives. On a failure the
/// map has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_batch(
    map: *mut petal_map,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, `keys` is NULL or a struct with
    // arrays as long as it says, `values` is NULL or an array with an element a key, and `answers` is NULL or a struct
    // with room for all answers.
    unsafe { change_batch(map, keys, values, answers, error, Map::put_batch) }
}

/// Replaces the value of a key that is there. `found`, nullable, becomes false if the key certainly is not there;
/// nothing has changed then. True does not prove that the key is there: with the probability of a false positive the
/// call replaced another key's value. Returns `PETAL_ERR_OUT_OF_RANGE` for a value that has more bits than the map's
/// values. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace(
    map: *mut petal_map,
    key: *const c_void,
    length: usize,
    value: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, `key` has `length` bytes, and `found`
    // is NULL or writable.
    unsafe { change(map, found, |map| map.replace(boundary::bytes(key.cast(), length, "key")?, value)) }
}

/// Replaces the value of a uint64_t key that is there, as `petal_map_replace()` does for a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace_u64(
    map: *mut petal_map,
    key: u64,
    value: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, and `found` is NULL or writable.
    unsafe { change(map, found, |map| map.replace_u64(key, value)) }
}

/// Replaces the value of the key with this 64-bit hash, which you made, as `petal_map_replace()` does for a byte key.
/// Returns `PETAL_ERR_UNSUPPORTED` unless the map's hash function is `PETAL_HASH_EXTERNAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace_hash(
    map: *mut petal_map,
    hash: u64,
    value: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, and `found` is NULL or writable.
    unsafe { change(map, found, |map| map.replace_hash(hash, value)) }
}

/// Replaces the values of keys that are there, in order, as `petal_map_replace()` does. `values` has one value a key,
/// and may be NULL if there are no keys. Each of the `answers`, nullable, is false if the key certainly is not there,
/// which is no failure. On a failure the map has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace_batch(
    map: *mut petal_map,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `map` is NULL or a handle that nobody else uses, `keys` is NULL or a struct with
    // arrays as long as it says, `values` is NULL or an array with an element a key, and `answers` is NULL or a struct
    // with room for all answers.
    unsafe { change_batch(map, keys, values, answers, error, Map::replace_batch) }
}

/// Puts into `map` all that was put into `other`, for kinds with `PETAL_CAN_MERGE`. Both maps must come from one spec:
/// the message of `PETAL_ERR_INCOMPATIBLE` names the first difference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_merge(
    map: *mut petal_map,
    other: *const petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, other], {
        // SAFETY: checked for NULL; by the conventions both handles are live and nobody else uses `map`. If both are
        // one, `other` is a copy.
        unsafe {
            let copy;
            let other = if std::ptr::eq(map, other) {
                copy = petal_map::get(other)?.copy()?;
                &copy
            } else {
                petal_map::get(other)?
            };
            (*map).0.change(|map| map.merge(other))?
        }
    })
}

/// Forgets all keys of a map whose kind starts empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_clear(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody else uses.
        unsafe { (*map).0.change(|map| map.clear())? }
    })
}

/// Returns what this map can do now: `PETAL_CAN_*`, ORed. A map that is open for reading can do less than its kind. 0
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_capabilities(map: *const petal_map) -> u64 {
    let mut capabilities = 0;
    let _ = boundary!(NO_ERROR, [map], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes.
        capabilities = unsafe { petal_map::get(map)? }.capabilities().0;
        Ok(())
    });
    capabilities
}
