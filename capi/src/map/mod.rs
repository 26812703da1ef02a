//! petal_map.h: maps from keys to values. petal.h has the conventions, which hold for maps too.
//!
//! A map keeps values and no keys. A builder makes most kinds once, from all of their keys, and such a map gives the
//! exact value of each key. One kind (`approximator`) starts empty, and gives the value of a key or a bound on it. A
//! map says of other keys that they are absent, except for a share that you choose: those keys get a meaningless value.
//! The kind `retrieval` cannot recognise absent keys, and gives each of them a value.

use crate::arguments::Out;
use crate::boundary::{self, NO_ERROR, boundary};
use crate::describe::petal_statistics;
use crate::filter::keys::{answering, petal_answers, petal_keys};
use crate::handle::{self, Handle, owner};
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{Map, Result};
use std::ffi::c_void;

pub mod building;
pub mod changing;
pub mod image;

/// A map of any kind. Free it with `petal_map_free()`.
pub struct petal_map(pub(crate) Handle<Map>);

owner!(petal_map, Map);

/// Frees a map. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_map_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_free(map: *mut petal_map) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(map) }
}

/// Tells the caller what a map says.
fn tell(answer: Option<u64>, value: Out<u64>, found: Out<bool>) {
    found.set(answer.is_some());
    value.set(answer.unwrap_or(0));
}

/// Looks a key up: with `at_once`, in a straight line, if that works, otherwise with `the_long_way`, which says why
/// not.
///
/// # Safety
/// `map` is NULL or a handle that lives and that nobody changes during the call; the outputs are NULL or writable.
#[inline(always)]
unsafe fn look_up(
    map: *const petal_map,
    value: *mut u64,
    found: *mut bool,
    at_once: impl FnOnce(&Map) -> Option<Option<u64>>,
    the_long_way: impl FnOnce(&Map) -> Result<Option<u64>>,
) -> petal_status {
    let body = || {
        // SAFETY: NULL or a handle that nobody changes, as the safety section asks.
        at_once(unsafe { map.as_ref() }?.0.sound()?)
    };
    if !found.is_null()
        && let Some(answer) = boundary::attempt(body, || None)
    {
        // SAFETY: `found` is not NULL; each output is NULL or writable, as the safety section asks.
        unsafe {
            found.write(answer.is_some());
            if !value.is_null() {
                value.write(answer.unwrap_or(0));
            }
        }
        return PETAL_OK;
    }
    boundary!(NO_ERROR, [read map, maybe value, out found], {
        tell(the_long_way(map)?, value, found);
        Ok(())
    })
}

/// Looks a key up. `found` becomes true if the key is there. `value`, nullable, becomes the key's value, or 0 if the
/// key is not there. In an `approximator` a key counts as absent if its value is the least element of the lattice. This
/// element is 0 for "max" and "union", and the greatest number for "min". Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get(
    map: *const petal_map,
    key: *const c_void,
    length: usize,
    value: *mut u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `key` has `length` bytes, and all else is as `look_up` asks.
    unsafe {
        look_up(
            map,
            value,
            found,
            |map| map.get_at_once(boundary::bytes_at_once(key.cast(), length)?),
            |map| map.get(boundary::bytes(key.cast(), length, "key")?),
        )
    }
}

/// Looks a uint64_t key up, as `petal_map_get()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_u64(
    map: *const petal_map,
    key: u64,
    value: *mut u64,
    found: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions all is as `look_up` asks.
    unsafe { look_up(map, value, found, |map| map.get_u64_at_once(key), |map| map.get_u64(key)) }
}

/// Looks up the key with this 64-bit hash, which you made, as `petal_map_get()` does a byte key. Returns
/// `PETAL_ERR_UNSUPPORTED` unless the map's hash function is `PETAL_HASH_EXTERNAL`: other maps know their keys by 128
/// bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_hash(
    map: *const petal_map,
    hash: u64,
    value: *mut u64,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [read map, maybe value, out found], {
        tell(map.get_hash(hash)?, value, found);
        Ok(())
    })
}

/// Looks keys up. `values` of the answers become the values of the keys, with 0 for a key that is not there. `bytes`
/// and `bitmap` say which keys are there. On a failure every answer is false and every value 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_batch(
    map: *const petal_map,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    answering!(
        error,
        [read map, keys(keys, answers)],
        answers.by(|answers| map.get_batch(keys, answers)),
        or all_absent(answers, keys)
    )
}

/// Measures a map. `fill` is the share of the cells that keys have taken. `false_positive_rate` is the share of absent
/// keys that get a value. `count_estimate` is the number of distinct keys: exact if a builder made the map, otherwise
/// an estimate from the fill, and NaN if the map is too full to tell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_statistics(
    map: *const petal_map,
    statistics: *mut petal_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, fill statistics], {
        let measure = map.statistics();
        statistics.set(petal_statistics {
            struct_size: 0,
            fill: measure.fill,
            false_positive_rate: measure.false_positive_rate,
            false_positive_rate_floor: 0.0,
            count_estimate: map.keys_of(&measure).unwrap_or(f64::NAN),
            saturated: 0,
        });
        Ok(())
    })
}
