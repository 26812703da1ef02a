//! FILTERS: REJUVENATING
//!
//! For kinds with `PETAL_CAN_REJUVENATE`. Such a kind keeps a fingerprint of each key. Each time the filter grows, the
//! stored fingerprints become shorter, and a short one matches more absent keys. If a lookup said "maybe" and the store
//! behind the filter has the key, rejuvenate the key: its fingerprint then has the full length, as after a new
//! insertion. Lookups find this key and all others at every moment, and the number of keys stays.
//!
//! The key must be there, as for a removal: rejuvenating an absent key may lose another one. A call takes as long as a
//! removal and an insertion.

use crate::boundary::{self, NO_ERROR, boundary};
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::filter::petal_filter;
use crate::filter::probe::{Bytes, Hash, Key, Number, tell};
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Keys};
use std::ffi::c_void;

/// Rejuvenates a key.
///
/// # Safety
/// The conventions.
unsafe fn rejuvenate<K: Key>(filter: *mut petal_filter, key: K, rejuvenated: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked for NULL; by the conventions `filter` is a handle that nobody else uses, `key` is readable,
        // and `rejuvenated` is NULL or writable.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            let answer = petal_filter::change(filter, |filter| filter.rejuvenate_hash(hash))??;
            tell(rejuvenated, answer);
        }
        Ok(())
    })
}

/// Restores a stored key's fingerprint to full length. `rejuvenated`, nullable, becomes false if the fingerprint is
/// already full, or if the key certainly is not there; nothing has changed then. If a key is there several times, the
/// call restores one of its copies. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot rejuvenate. Returns
/// `PETAL_ERR_FULL` if there is no room for the longer fingerprint; the key is there then as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    rejuvenated: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `key` has `length` bytes, and
    // `rejuvenated` is NULL or writable.
    unsafe { rejuvenate(filter, Bytes(key, length), rejuvenated) }
}

/// Restores the fingerprint of a stored uint64_t key to full length. `rejuvenated`, nullable, becomes false if the
/// fingerprint is already full, or if the key certainly is not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate_u64(
    filter: *mut petal_filter,
    key: u64,
    rejuvenated: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `rejuvenated` is NULL or
    // writable.
    unsafe { rejuvenate(filter, Number(key), rejuvenated) }
}

/// Restores the fingerprint of the stored key with this hash to full length. `rejuvenated`, nullable, becomes false if
/// the fingerprint is already full, or if the key certainly is not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate_hash(
    filter: *mut petal_filter,
    hash: u64,
    rejuvenated: *mut bool,
) -> petal_status {
    // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, and `rejuvenated` is NULL or
    // writable.
    unsafe { rejuvenate(filter, Hash(hash), rejuvenated) }
}

/// Restores the fingerprints of stored keys to full length, in order. Each of the `answers`, nullable, is false if the
/// fingerprint is already full, or if the key certainly is not there. On a failure the filter has taken the first
/// `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let rejuvenate = |keys: &Keys, answers: Option<&mut Answers>| {
        if filter.is_null() {
            return Err(boundary::null("filter"));
        }
        // SAFETY: by the conventions `filter` is a handle that nobody else uses.
        unsafe { petal_filter::change(filter, |filter| filter.rejuvenate_batch(keys, answers)) }
    };
    // SAFETY: by the conventions `keys` is NULL or a struct with arrays as long as it says, and `answers` is NULL or a
    // struct with room for all answers.
    unsafe { keys::take(keys, answers, error, rejuvenate) }
}
