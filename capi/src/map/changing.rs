//! MAPS: CHANGING
//!
//! Two kinds of map change after they were made. An `approximator` is made empty, and takes keys
//! with their values at any time: what it reads of a key is what the key was given, or above that.
//! In a `mutable_bloomier`, which is built, the values of its keys can be replaced. Others answer
//! `PETAL_ERR_UNSUPPORTED`. Changes need the map to themselves; readers of the same image in other
//! handles and processes go on meanwhile, without locks, and see a value as it was or as it is.

use super::{give, petal_map};
use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Image, Keys, Map, Result, Taken};
use std::ffi::c_void;

/// Makes an empty map, of a kind that is made empty: `PETAL_KIND_APPROXIMATOR`, which the spec has to name.
/// `PETAL_ERR_UNSUPPORTED` for a kind that is built by `petal_map_builder_new()`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_new(
    spec: *const petal_spec,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
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
        // SAFETY: checked not to be NULL; the conventions say the rest.
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
        // SAFETY: not NULL; the conventions say the rest.
        unsafe {
            let values = boundary::elements(values, keys.len(), "values")?;
            (*map).0.change(|map| change(map, keys, values, answers))
        }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, take) }
}

/// Gives a key a value, beside those that it was given before: the map joins them as its parameter lattice says.
/// `changed`, nullable, becomes whether less was read of the key before. `PETAL_ERR_OUT_OF_RANGE` for a value that the
/// parameter value_bits cannot hold. Constant time. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put(
    map: *mut petal_map,
    key: *const c_void,
    length: usize,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change(map, changed, |map| map.put(boundary::bytes(key.cast(), length, "key")?, value)) }
}

/// Gives a uint64_t key a value, as `petal_map_put()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_u64(
    map: *mut petal_map,
    key: u64,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change(map, changed, |map| map.put_u64(key, value)) }
}

/// Gives a key that is known by a 64-bit hash from elsewhere a value, as `petal_map_put()` does a byte key.
/// `PETAL_ERR_UNSUPPORTED` unless the map was made with `PETAL_HASH_EXTERNAL`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_hash(
    map: *mut petal_map,
    hash: u64,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change(map, changed, |map| map.put_hash(hash, value)) }
}

/// Gives keys values in order, as `petal_map_put()` does one; `values` has as many as there are keys, and may be NULL if
/// there are none. `answers`, nullable: each is true if less was read of the key before. On a failure the first `done`
/// keys were taken. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_batch(
    map: *mut petal_map,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change_batch(map, keys, values, answers, error, Map::put_batch) }
}

/// Gives a key that is there another value in place of its own. `found`, nullable, becomes false if the key certainly
/// is not there: then nothing has changed. True does not prove that it is: with the probability of a false positive
/// another key's value was replaced. `PETAL_ERR_OUT_OF_RANGE` for a value that has more bits than the map's values.
/// Constant time. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace(
    map: *mut petal_map,
    key: *const c_void,
    length: usize,
    value: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change(map, found, |map| map.replace(boundary::bytes(key.cast(), length, "key")?, value)) }
}

/// Gives a uint64_t key that is there another value, as `petal_map_replace()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace_u64(
    map: *mut petal_map,
    key: u64,
    value: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change(map, found, |map| map.replace_u64(key, value)) }
}

/// Gives a key that is there, and known by a 64-bit hash from elsewhere, another value, as `petal_map_replace()` does a
/// byte key. `PETAL_ERR_UNSUPPORTED` unless the map was made with `PETAL_HASH_EXTERNAL`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace_hash(
    map: *mut petal_map,
    hash: u64,
    value: u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change(map, found, |map| map.replace_hash(hash, value)) }
}

/// Gives keys that are there other values in order, as `petal_map_replace()` does one; `values` has as many as there are
/// keys, and may be NULL if there are none. `answers`, nullable: each is false if the key certainly is not there, which
/// is no failure. On a failure the first `done` keys were taken. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_replace_batch(
    map: *mut petal_map,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { change_batch(map, keys, values, answers, error, Map::replace_batch) }
}

/// Makes `map` what it would be if it had also been given all that `other` was, for kinds that can
/// (`PETAL_CAN_MERGE`). Both have to be made from one spec: `PETAL_ERR_INCOMPATIBLE` names the first difference.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_merge(
    map: *mut petal_map,
    other: *const petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, other], {
        // SAFETY: checked not to be NULL; the conventions say the rest. A map is not borrowed twice, since a copy stands
        // in for it.
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

/// Forgets all keys of a map that is made empty. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_clear(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*map).0.change(|map| map.clear())? }
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_sync(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*map).0.change(|map| map.sync())? }
    })
}

/// Declares the bytes as they are now to be right, as `petal_filter_vouch()` does. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_vouch(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*map).0.change(|map| map.vouch())? }
    })
}

/// What this map can do now: `PETAL_CAN_*`, ORed. An image that is open for reading can do less than its kind. 0 for
/// NULL. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_capabilities(map: *const petal_map) -> u64 {
    let mut capabilities = 0;
    let _ = boundary!(NO_ERROR, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        capabilities = unsafe { petal_map::get(map)? }.capabilities().0;
        Ok(())
    });
    capabilities
}
