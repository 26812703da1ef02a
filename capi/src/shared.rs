//! FILTERS: INSERTING FROM MANY THREADS
//!
//! These functions insert through a const handle, without locks, while other threads insert and look up through the
//! same handle, and other processes through theirs (`PETAL_OPEN_SHARE`). `PETAL_CAN_INSERT_SHARED` says whether a
//! handle can.
//!
//! A lookup finds every key whose insertion happened before the lookup. If several threads insert the same new key at
//! the same time, at least one of them learns that the key was new; more than one may. These functions do not count
//! keys, because all threads would wait for a counter that they share. `petal_filter_add_insertions()` adds the count
//! later, and `petal_filter_get_estimate()` needs none. All other functions that take a handle which is not const still
//! need the handle to themselves.
//!
//! A kind that forgets its oldest keys, such as `rotating`, keeps its window meanwhile. Once an insertion has returned,
//! lookups find the key while as many further keys, or steps, come as the window has, whoever inserts them and
//! wherever. An insertion that finds the newest generation full drops the oldest one. Nobody waits for that. So the
//! newest generation also takes the keys that come meanwhile, and these raise the rate. `petal_filter_advance_shared()`
//! moves time on.
//!
//! If a process dies in the middle of a step in a file, the next process completes the step. A buffer has no locks. If
//! a process dies in the middle of a step there, insertions and lookups go on, but nobody makes a step until a handle
//! opens the buffer for writing and inserts or moves time on.

use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::keys::{petal_answers, petal_keys, taking};
use crate::filter::petal_filter;
use crate::filter::probe::{Bytes, Hash, Key, Number, tell};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::c_void;

/// Inserts a key; see `probe` for the two ways.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn insert<K: Key>(filter: *const petal_filter, key: K, is_new: *mut bool) -> petal_status {
    let body = || {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `key` is readable.
        unsafe {
            let handle = petal_filter::sound(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.insert_shared_at_once(hash)
        }
    };
    match boundary::attempt(body, || None) {
        // SAFETY: by the conventions `is_new` is NULL or writable.
        Some(new) => unsafe { tell(is_new, new) },
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `key` is readable, and `is_new`
        // is NULL or writable.
        None => unsafe { insert_the_long_way(filter, key, is_new) },
    }
}

#[cold]
#[inline(never)]
unsafe fn insert_the_long_way<K: Key>(filter: *const petal_filter, key: K, is_new: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [read filter, maybe is_new], {
        // SAFETY: by the conventions the key is readable.
        is_new.answer(filter.insert_shared_hash(unsafe { key.hash(filter.base().hasher()) }?))
    })
}

/// Inserts a key while others insert and look up. `is_new`, nullable, becomes true if the key certainly was not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `key` has `length` bytes, and
    // `is_new` is NULL or writable.
    unsafe { insert(filter, Bytes(key, length), is_new) }
}

/// Inserts a uint64_t key while others insert and look up. `is_new`, nullable, becomes true if the key certainly was
/// not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared_u64(
    filter: *const petal_filter,
    key: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `is_new` is NULL or writable.
    unsafe { insert(filter, Number(key), is_new) }
}

/// Inserts the key with this hash while others insert and look up. `is_new`, nullable, becomes true if the key
/// certainly was not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared_hash(
    filter: *const petal_filter,
    hash: u64,
    is_new: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, and `is_new` is NULL or writable.
    unsafe { insert(filter, Hash(hash), is_new) }
}

/// Inserts keys in order while others insert and look up. Each of the `answers`, nullable, says whether the key
/// certainly was not there before. After a failure no key is in the filter, with one exception. `PETAL_ERR_CORRUPT`
/// says that a key met a part of the image that does not match its checksum: the first `done` keys are in then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_shared_batch(
    filter: *const petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, read filter], Ok(filter.insert_shared_batch(keys, answers)))
}

/// Moves time on by `steps` steps as `petal_filter_advance()` does, while others insert and look up. The handle needs
/// `PETAL_CAN_AGE_SHARED`. Calls for one filter wait for each other, in one process and in several; no insertion waits.
///
/// Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot, and `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the handle may not.
/// Returns `PETAL_ERR_CORRUPT` if the part to forget does not match its checksums; nothing has changed then. In a
/// buffer, returns `PETAL_ERR_LOCKED` if somebody else is making a step; this call may have made some of its steps
/// then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_advance_shared(
    filter: *const petal_filter,
    steps: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter], filter.advance_shared(steps))
}

/// Adds to the count of insertions, for keys that came through functions which do not count. Threads may call this
/// function while others use the filter. A thread that inserts many keys should first add up its own, because all
/// threads wait for a counter that they share. An image in place has the sum after the handle is synced or freed. Each
/// handle that shares the image adds its own part. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the image is open for
/// reading.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_add_insertions(
    filter: *const petal_filter,
    keys: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter], filter.add_insertions(keys))
}
