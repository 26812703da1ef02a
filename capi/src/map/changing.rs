//! MAPS: CHANGING
//!
//! Two kinds of map can change. An `approximator` starts empty, and takes keys with their values at any time. A lookup
//! then gives the joined value of the key, or a value above it in the order of the lattice. A `mutable_bloomier`, which
//! a builder makes, replaces the values of its keys. Other kinds answer `PETAL_ERR_UNSUPPORTED`. A change needs the
//! handle to itself. Readers of the same image in other handles and processes go on meanwhile, without locks, and see
//! either the old value or the new one.

use super::petal_map;
use crate::boundary::{NO_ERROR, boundary, number};
use crate::filter::keys::{petal_answers, petal_keys, taking};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::c_void;

/// Makes an empty map. The spec must name a kind that starts empty: `PETAL_KIND_APPROXIMATOR`. Returns
/// `PETAL_ERR_UNSUPPORTED` for a kind that needs `petal_map_builder_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_new(
    spec: *const petal_spec,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give map, given spec], map.made(|| petal_core::Map::new(&spec)))
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
    boundary!(NO_ERROR, [change map, bytes(key, length), maybe changed], {
        changed.answer(map.by(|map| map.put(key, value)))
    })
}

/// Gives a uint64_t key a value, as `petal_map_put()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_put_u64(
    map: *mut petal_map,
    key: u64,
    value: u64,
    changed: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [change map, maybe changed], changed.answer(map.by(|map| map.put_u64(key, value))))
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
    boundary!(NO_ERROR, [change map, maybe changed], changed.answer(map.by(|map| map.put_hash(hash, value))))
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
    taking!(error, [keys, answers, change map, elements(values, keys.len())], {
        map.always(|map| map.put_batch(keys, values, answers))
    })
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
    boundary!(NO_ERROR, [change map, bytes(key, length), maybe found], {
        found.answer(map.by(|map| map.replace(key, value)))
    })
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
    boundary!(NO_ERROR, [change map, maybe found], found.answer(map.by(|map| map.replace_hash(hash, value))))
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
    taking!(error, [keys, answers, change map, elements(values, keys.len())], {
        map.always(|map| map.replace_batch(keys, values, answers))
    })
}

/// Puts into `map` all that was put into `other`, for kinds with `PETAL_CAN_MERGE`. Both maps must come from one spec:
/// the message of `PETAL_ERR_INCOMPATIBLE` names the first difference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_merge(
    map: *mut petal_map,
    other: *const petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [pair(map, other)], map.by(|map, other| map.merge(other)))
}

/// Forgets all keys of a map whose kind starts empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_clear(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [change map], map.by(|map| map.clear()))
}

/// Returns what this map can do now: `PETAL_CAN_*`, ORed. A map that is open for reading can do less than its kind. 0
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_capabilities(map: *const petal_map) -> u64 {
    number!([read map], map.capabilities().0)
}
