//! FILTERS: REJUVENATING
//!
//! For kinds with `PETAL_CAN_REJUVENATE`. Such a kind keeps a fingerprint of each key. Each time the filter grows, the
//! stored fingerprints become shorter, and a short one matches more absent keys. If a lookup said "maybe" and the store
//! behind the filter has the key, rejuvenate the key: its fingerprint then has the full length, as after a new
//! insertion. Lookups find this key and all others at every moment, and the number of keys stays.
//!
//! The key must be there, as for a removal: rejuvenating an absent key may lose another one. A call takes as long as a
//! removal and an insertion.

use crate::boundary::{NO_ERROR, boundary};
use crate::filter::keys::{petal_answers, petal_keys, taking};
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};
use std::ffi::c_void;

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
    boundary!(NO_ERROR, [change filter, bytes(key, length), maybe rejuvenated], {
        rejuvenated.answer(filter.by(|filter| filter.rejuvenate(key)))
    })
}

/// Restores the fingerprint of the stored key with this hash to full length. `rejuvenated`, nullable, becomes false if
/// the fingerprint is already full, or if the key certainly is not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate_hash(
    filter: *mut petal_filter,
    hash: u64,
    rejuvenated: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [change filter, maybe rejuvenated], {
        rejuvenated.answer(filter.by(|filter| filter.rejuvenate_hash(hash)))
    })
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
    taking!(error, [keys, answers, change filter], filter.always(|filter| filter.rejuvenate_batch(keys, answers)))
}
