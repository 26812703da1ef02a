//! FILTERS: ONE KEY
//!
//! A lookup looks at no more than `hashes` places, however large the filter is. Any failure of
//! `petal_filter_contains*` returns true.

use super::petal_filter;
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::petal_status;
use petal_core::{Filter, Result, Status};
use std::ffi::c_void;

/// Inserts with `body`, and tells the caller whether the key was new.
///
/// # Safety
/// The handle is not NULL and nobody else uses it; `is_new` is NULL or writable.
#[inline]
unsafe fn insert(
    filter: *mut petal_filter,
    is_new: *mut bool,
    body: impl FnOnce(&mut dyn Filter) -> Result<bool>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let new = unsafe { petal_filter::change(filter, body)?? };
    if !is_new.is_null() {
        // SAFETY: the caller's promise.
        unsafe { is_new.write(new) };
    }
    Ok(())
}

/// Inserts a key. `is_new`, nullable, becomes true if the key certainly was not there, false if it may have been.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    is_new: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let key = unsafe { boundary::bytes(key.cast(), length, "key")? };
        // SAFETY: as above.
        unsafe { insert(filter, is_new, |filter| filter.insert(key)) }
    })
}

/// Inserts a uint64_t key. `is_new`, nullable, becomes true if the key certainly was not there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_u64(
    filter: *mut petal_filter,
    key: u64,
    is_new: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { insert(filter, is_new, |filter| filter.insert_u64(key)) }
    })
}

/// Inserts the key with this hash. `is_new`, nullable, becomes true if the key certainly was not there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_hash(
    filter: *mut petal_filter,
    hash: u64,
    is_new: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { insert(filter, is_new, |filter| filter.insert_hash(hash)) }
    })
}

/// Whether a key may have been inserted; false is certain. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains(filter: *const petal_filter, key: *const c_void, length: usize) -> bool {
    boundary::answer(|| {
        // SAFETY: the conventions say so.
        match unsafe { (petal_filter::peek(filter), boundary::bytes(key.cast(), length, "key")) } {
            (Some(filter), Ok(key)) => filter.contains(key),
            _ => true,
        }
    })
}

/// Whether a uint64_t key may have been inserted; false is certain. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_u64(filter: *const petal_filter, key: u64) -> bool {
    // SAFETY: the conventions say so.
    boundary::answer(|| unsafe { petal_filter::peek(filter) }.is_none_or(|filter| filter.contains_u64(key)))
}

/// Whether the key with this hash may have been inserted; false is certain. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_hash(filter: *const petal_filter, hash: u64) -> bool {
    // SAFETY: the conventions say so.
    boundary::answer(|| unsafe { petal_filter::peek(filter) }.is_none_or(|filter| filter.contains_hash(hash)))
}

/// Looks up with `body`, a failure of which is told.
///
/// # Safety
/// The handle is not NULL; `found` is writable.
unsafe fn checked(
    filter: *const petal_filter,
    found: *mut bool,
    body: impl FnOnce(&dyn Filter) -> std::result::Result<bool, Status>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let answer = body(unsafe { petal_filter::get(filter)? })?;
    // SAFETY: the caller's promise.
    unsafe { found.write(answer) };
    Ok(())
}

/// Looks a key up and says whether that worked. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_checked(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter, found], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let key = unsafe { boundary::bytes(key.cast(), length, "key")? };
        let look_up = |filter: &dyn Filter| Ok(filter.contains_hash(filter.base().hasher().hash_bytes(key)?));
        // SAFETY: as above.
        unsafe { checked(filter, found, look_up) }
    })
}

/// Looks a uint64_t key up and says whether that worked. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_checked_u64(
    filter: *const petal_filter,
    key: u64,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter, found], {
        let look_up = |filter: &dyn Filter| Ok(filter.contains_hash(filter.base().hasher().hash_u64(key)?));
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { checked(filter, found, look_up) }
    })
}

/// Looks the key with this hash up and says whether that worked. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_checked_hash(
    filter: *const petal_filter,
    hash: u64,
    found: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter, found], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { checked(filter, found, |filter| Ok(filter.contains_hash(hash))) }
    })
}
