//! FILTERS: REMOVING AND COUNTING
//!
//! For kinds that can: `PETAL_CAN_REMOVE`, `PETAL_CAN_COUNT` and `PETAL_CAN_REJUVENATE`.
//!
//! A removal takes back one insertion. If the key certainly is not there nothing changes, and `removed` becomes false.
//! Remove only what was inserted, and as often: of another key the filter may say "maybe", at its false-positive rate,
//! and then the removal takes what other keys left. A filter of the kind `counting` so loses at most as many other keys
//! as a key has places (`hashes`), and a count becomes too low by 1 at most. A filter of the kind `cuckoo` takes the
//! fingerprint of another key, and so loses one other key at most.
//!
//! A filter of the kind `quotient` holds the multiset of its fingerprints exactly: such a removal takes one from the
//! key with the same fingerprint, and from no other.
//!
//! What kinds can do, filters of them with other parameters than the default ones may not:
//! `petal_filter_capabilities()`.
//!
//! A count is never too low otherwise, and is too high only where all places of the key are shared, at most with the
//! probability of a false positive. `counting` counts to 2^counter_bits - 1, by default 15, which stands for as many or
//! more: what was inserted so often stays for ever, whatever is removed. `saturated` of `petal_statistics` says how
//! many counters stand there. `cuckoo` counts the copies that it holds, at most twice the slots of a bucket: one more
//! is not inserted (`PETAL_ERR_FULL`), though there be room for other keys. So its counts are never cut off; a count is
//! too high where another key has the same fingerprint and buckets.
//!
//! `spectral` counts to 2^counter_bits - 1, by default 65,535, as `counting` does, and a removal does the same there.
//! With the method `minimal_increase` its counts are upper bounds too, and removals are refused
//! (`PETAL_ERR_UNSUPPORTED`); with `recurring_minimum` they are estimates, which may be too low, and a key is removed
//! so many times at once as its count says at most. Whether a key is there is said as rightly as by the others.
//!
//! `variable_increment` removes and does not count. Such a removal of a key that is not there, and of which it says
//! "maybe", may lose every key that shares a cell with it.
//!
//! `removed_set` remembers what was removed in a filter of its own. A key is removed once, with all of its copies, and
//! not inserted again (`PETAL_ERR_FULL`); others may be lost (`PETAL_MAY_LOSE_KEYS`), as rarely as `removals` says. A
//! removal of a key that is not there loses no more of them than any other.
//!
//! `layered` counts to the number of its layers, by default 8, and removes nothing. Its counts are upper bounds.
//!
//! `quotient` counts without an end: a count that 64 bits do not hold is refused (`PETAL_ERR_FULL`), and a count is
//! that of all keys with one fingerprint.
//!
//! `aleph` keeps fewer bits of a key's fingerprint with each growth after the key came, so that more absent keys are
//! taken for it. Where a lookup said "maybe" and the store behind the filter has the key, rejuvenate it: it gets as many
//! bits as a key that is inserted now. The key is found at every moment, as all others are, and how many keys there are
//! does not change. As with a removal, the key must be there: rejuvenating one that is not may take the bits of another
//! key, which is lost then. It takes as long as a removal and an insertion.

use super::keys::{self, petal_answers, petal_keys};
use super::petal_filter;
use super::probe::{Bytes, Hash, Key, Number, tell};
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{Answers, Keys};
use std::ffi::c_void;

/// Removes a key; see `probe` for the two ways.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn remove<K: Key>(filter: *mut petal_filter, key: K, removed: *mut bool) -> petal_status {
    let body = || {
        // SAFETY: the conventions say so.
        unsafe {
            let handle = petal_filter::sound_mut(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.remove_at_once(hash)
        }
    };
    let panicked = || {
        // SAFETY: what panicked is the filter of a handle.
        unsafe { petal_filter::poison(filter) };
        None
    };
    match boundary::attempt(body, panicked) {
        // SAFETY: the conventions say so.
        Some(answer) => unsafe { tell(removed, answer) },
        // SAFETY: as above.
        None => unsafe { remove_the_long_way(filter, key, removed) },
    }
}

#[cold]
#[inline(never)]
unsafe fn remove_the_long_way<K: Key>(filter: *mut petal_filter, key: K, removed: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            let answer = petal_filter::change(filter, |filter| filter.remove_hash(hash))??;
            tell(removed, answer);
        }
        Ok(())
    })
}

/// Removes one occurrence of a key. `removed`, nullable, becomes false if the key certainly was not there: then nothing
/// has changed. `PETAL_ERR_UNSUPPORTED` if the kind cannot. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    removed: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { remove(filter, Bytes(key, length), removed) }
}

/// Removes one occurrence of a uint64_t key. `removed`, nullable, becomes false if the key certainly was not there.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_u64(
    filter: *mut petal_filter,
    key: u64,
    removed: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { remove(filter, Number(key), removed) }
}

/// Removes one occurrence of the key with this hash. `removed`, nullable, becomes false if the key certainly was not
/// there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_hash(
    filter: *mut petal_filter,
    hash: u64,
    removed: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { remove(filter, Hash(hash), removed) }
}

/// Removes one occurrence of each key, in order. `answers`, nullable: each is false if the key certainly was not there.
/// On a failure the first `done` keys were taken. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let remove = |keys: &Keys, answers: Option<&mut Answers>| {
        if filter.is_null() {
            return Err(boundary::null("filter"));
        }
        // SAFETY: not NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.remove_batch(keys, answers)) }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, remove) }
}

/// Rejuvenates a key.
///
/// # Safety
/// The conventions.
unsafe fn rejuvenate<K: Key>(filter: *mut petal_filter, key: K, rejuvenated: *mut bool) -> petal_status {
    boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            let answer = petal_filter::change(filter, |filter| filter.rejuvenate_hash(hash))??;
            tell(rejuvenated, answer);
        }
        Ok(())
    })
}

/// Gives a key that is there what an insertion would give it now. `rejuvenated`, nullable, becomes false if that is as
/// much already, or if the key certainly is not there: then nothing has changed. Of a key that is there several times
/// one is given it. `PETAL_ERR_UNSUPPORTED` if the kind cannot; `PETAL_ERR_FULL` if there is no room for it: the key is
/// there then as it was. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    rejuvenated: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { rejuvenate(filter, Bytes(key, length), rejuvenated) }
}

/// Gives a uint64_t key that is there what an insertion would give it now. `rejuvenated`, nullable, becomes false if
/// that is as much already, or if the key certainly is not there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate_u64(
    filter: *mut petal_filter,
    key: u64,
    rejuvenated: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { rejuvenate(filter, Number(key), rejuvenated) }
}

/// Gives the key with this hash, which is there, what an insertion would give it now. `rejuvenated`, nullable, becomes
/// false if that is as much already, or if the key certainly is not there. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_rejuvenate_hash(
    filter: *mut petal_filter,
    hash: u64,
    rejuvenated: *mut bool,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { rejuvenate(filter, Hash(hash), rejuvenated) }
}

/// Gives each key, all of which are there, what an insertion would give it now, in order. `answers`, nullable: each is
/// false if that is as much already, or if the key certainly is not there. On a failure the first `done` keys were
/// taken. Since 0.1.
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
        // SAFETY: not NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.rejuvenate_batch(keys, answers)) }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, rejuvenate) }
}

/// Counts a key; see `probe` for the two ways.
///
/// # Safety
/// The conventions.
#[inline(always)]
unsafe fn count<K: Key>(filter: *const petal_filter, key: K, count: *mut u64) -> petal_status {
    let body = || {
        // SAFETY: the conventions say so.
        unsafe {
            let handle = petal_filter::sound(filter)?;
            let hash = key.hash_at_once(&handle.hasher)?;
            handle.count_at_once(hash)
        }
    };
    if !count.is_null()
        && let Some(answer) = boundary::attempt(body, || None)
    {
        // SAFETY: the conventions say so.
        unsafe { count.write(answer) };
        return PETAL_OK;
    }
    // SAFETY: as above.
    unsafe { count_the_long_way(filter, key, count) }
}

#[cold]
#[inline(never)]
unsafe fn count_the_long_way<K: Key>(filter: *const petal_filter, key: K, count: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [filter, count], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let hash = key.hash(&(*filter).hasher)?;
            count.write(petal_filter::get(filter)?.count_hash(hash)?);
        }
        Ok(())
    })
}

/// Counts how often a key was inserted, less how often it was removed; 0 is certain. `PETAL_ERR_UNSUPPORTED` if the
/// kind cannot. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    count: *mut u64,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { self::count(filter, Bytes(key, length), count) }
}

/// Counts how often a uint64_t key was inserted, less how often it was removed; 0 is certain. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count_u64(
    filter: *const petal_filter,
    key: u64,
    count: *mut u64,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { self::count(filter, Number(key), count) }
}

/// Counts how often the key with this hash was inserted, less how often it was removed; 0 is certain. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count_hash(
    filter: *const petal_filter,
    hash: u64,
    count: *mut u64,
) -> petal_status {
    // SAFETY: the conventions say so.
    unsafe { self::count(filter, Hash(hash), count) }
}

/// Counts keys, into `counts` of the answers, which otherwise say whether a count is more than 0. On a failure every
/// answer is true and every count UINT64_MAX; if `keys` cannot be read, so that nobody knows how many there are,
/// `true_count` is UINT64_MAX. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_count_batch(
    filter: *const petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let status = boundary!(error, [filter, keys, answers], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let keys = petal_keys::get(keys)?;
            let mut core = petal_answers::get(answers, keys.len())?;
            petal_filter::get(filter)?.count_batch(&keys, &mut core)?;
            petal_answers::tell(answers, core.true_count, core.done);
        }
        Ok(())
    });
    if status != PETAL_OK {
        // SAFETY: as above.
        unsafe { petal_answers::all_true(answers, keys) };
    }
    status
}
