//! MAPS
//!
//! A map keeps values and no keys. Most kinds are built once, from all of their keys, and give the
//! exact value of each; one is made empty, and gives the value of a key or more. Of other keys a
//! map says that they are not there: of all but a share that you choose, which are given a value
//! that means nothing. The kind `retrieval` has nothing to tell them by, and gives every key one.

use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::keys::{petal_answers, petal_keys};
use crate::handle::{self, Handle};
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{Image, Map, Result};
use std::ffi::c_void;

pub mod building;
pub mod changing;
pub mod image;

/// A map of any kind. Free it with `petal_map_free()`. Since 0.1.
pub struct petal_map(Handle<Map>);

impl petal_map {
    /// The map behind a handle.
    ///
    /// # Safety
    /// The handle is not NULL and lives.
    unsafe fn get<'a>(map: *const petal_map) -> Result<&'a Map> {
        // SAFETY: the caller's promise.
        unsafe { &*map }.0.get()
    }
}

/// Hands the map that `make` makes to the caller.
///
/// # Safety
/// `out` is writable.
unsafe fn give(out: *mut *mut petal_map, make: impl FnOnce() -> Result<Map>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { handle::give(out, || Ok(petal_map(Handle::new(make()?)))) }
}

impl Drop for petal_map {
    fn drop(&mut self) {
        if let Some(map) = self.0.poisoned() {
            map.base_mut().abandon();
        }
    }
}

/// Frees a map. An image that was written in place is brought up to date first; call `petal_map_sync()` before if you
/// want to know whether that works. NULL is allowed. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_free(map: *mut petal_map) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(map) }
}

/// Tells the caller what a map says.
///
/// # Safety
/// `value` is NULL or writable, `found` is writable.
unsafe fn tell(answer: Option<u64>, value: *mut u64, found: *mut bool) {
    // SAFETY: the caller's promise.
    unsafe {
        found.write(answer.is_some());
        if !value.is_null() {
            value.write(answer.unwrap_or(0));
        }
    }
}

/// Looks a key up: `found` becomes whether it is there, and `value`, nullable, its value, or 0 if it is not. In an
/// approximator a key is not there if it reads the least element of the lattice, which of "min" is the greatest number.
/// Constant time. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get(
    map: *const petal_map,
    key: *const c_void,
    length: usize,
    value: *mut u64,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [map, found], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let key = boundary::bytes(key.cast(), length, "key")?;
            tell(petal_map::get(map)?.get(key)?, value, found);
        }
        Ok(())
    })
}

/// Looks a uint64_t key up, as `petal_map_get()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_u64(
    map: *const petal_map,
    key: u64,
    value: *mut u64,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [map, found], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { tell(petal_map::get(map)?.get_u64(key)?, value, found) };
        Ok(())
    })
}

/// Looks up a key that is known by a 64-bit hash from elsewhere, as `petal_map_get()` does a byte key.
/// `PETAL_ERR_UNSUPPORTED` unless the map was made with `PETAL_HASH_EXTERNAL`: others know their keys by 128 bits.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_hash(
    map: *const petal_map,
    hash: u64,
    value: *mut u64,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [map, found], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { tell(petal_map::get(map)?.get_hash(hash)?, value, found) };
        Ok(())
    })
}

/// Looks keys up: `values` of the answers become those of the keys, 0 of a key that is not there, and `bytes` and
/// `bitmap` say which are. On a failure every answer is false and every value 0. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_get_batch(
    map: *const petal_map,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let status = boundary!(error, [map, keys, answers], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let keys = petal_keys::get(keys)?;
            let mut core = petal_answers::get(answers, keys.len())?;
            petal_map::get(map)?.get_batch(&keys, &mut core)?;
            petal_answers::tell(answers, core.true_count, core.done);
        }
        Ok(())
    });
    if status != PETAL_OK {
        // SAFETY: the conventions.
        unsafe { petal_answers::all_absent(answers, keys) };
    }
    status
}
