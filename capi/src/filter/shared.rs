//! FILTERS: INSERTING FROM MANY THREADS
//!
//! These functions insert through a const handle, without locks, while other threads insert and look up through the
//! same handle, and other processes through theirs (`PETAL_OPEN_SHARE`). `PETAL_CAN_INSERT_SHARED` says whether a
//! handle can.
//!
//! What holds: a key whose insertion happened before a lookup is found by it. Of threads that insert the same new key
//! at the same time at least one is told that it was new; more than one may be. Keys are not counted, because a counter
//! that all threads share would be what they wait for: `petal_filter_add_offered()` makes up for it, and
//! `petal_filter_estimate()` does without. All other functions that take a handle which is not const still need it
//! alone.

use super::keys::{self, petal_answers, petal_keys};
use super::petal_filter;
use super::probe::{Bytes, Hash, Key, Number, tell};
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Keys};
use std::ffi::c_void;

/// Inserts a key; see `probe` for the two ways.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn insert<K: Key>(filter: *const petal_filter, key: K, is_new: *mut bool) -> petal_status {
    let body = || {
        // SAFETY: the conventions say so.
        unsafe {
            let handle = petal_filter::sound(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.insert_shared_at_once(hash)
        }
    };
    match boundary::attempt(body, || None) {
        // SAFETY: the conventions say so.
        Some(new) => unsafe { tell(is_new, new) },
        // SAFETY: as above.
        None => unsafe { insert_the_long_way(filter, key, is_new) },
    }
}

#[cold]
#[inline(never)]
unsafe fn insert_the_long_way<K: Key>(filter: *const petal_filter, key: K, is_new: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            tell(is_new, petal_filter::get(filter)?.insert_hash_shared(hash)?);
        }
        Ok(())
    })
}

/// Inserts a key while others insert and look up. `is_new`, nullable: whether it certainly was not there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { insert(filter, Bytes(key, length), is_new) }
}

/// Inserts a uint64_t key while others insert and look up. `is_new`, nullable: whether it certainly was not there.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared_u64(
    filter: *const petal_filter,
    key: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { insert(filter, Number(key), is_new) }
}

/// Inserts the key with this hash while others insert and look up. `is_new`, nullable: whether it certainly was not
/// there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared_hash(
    filter: *const petal_filter,
    hash: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { insert(filter, Hash(hash), is_new) }
}

/// Inserts keys in order while others insert and look up. `answers`, nullable: each says whether the key certainly was
/// not there before. On a failure no key is in, except after `PETAL_ERR_CORRUPT`, when a key met a part of the image
/// that does not match its checksum: then the first `done` keys are. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared_batch(
    filter: *const petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let insert = |keys: &Keys, answers: Option<&mut Answers>| {
        if filter.is_null() {
            return Err(boundary::null("filter"));
        }
        // SAFETY: not NULL; the conventions say the rest.
        Ok(unsafe { petal_filter::get(filter)? }.insert_batch_shared(keys, answers))
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, insert) }
}

/// Adds to the count of keys that were offered, for keys that were inserted by functions which do not count. Threads
/// may call it while others use the filter; a thread that inserts many keys adds up its own first, because a counter
/// that all threads share is what they wait for. An image in place has the sum once the handle is synced or freed; of
/// those who share it each adds its own. `PETAL_ERR_UNSUPPORTED` if it is open for reading. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_add_offered(filter: *const petal_filter, keys: u64) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::get(filter)? }.add_offered(keys)
    })
}
