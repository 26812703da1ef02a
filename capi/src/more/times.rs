//! FILTERS: KEYS WITH THEIR COUNTS
//!
//! For kinds that count (`PETAL_CAN_COUNT`). One call inserts or removes a key several times, with the effect of that
//! many single calls. Kinds that keep counts as numbers (`quotient`, `spectral`) take the time of one call.
//! `petal_filter_get_stored_hashes()` gives what a filter holds, as numbers with their counts.

use crate::boundary::{NO_ERROR, boundary};
use crate::builder::petal_builder;
use crate::filter::keys::{self, petal_answers, petal_keys, taking};
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};
use std::ffi::c_void;

/// Inserts a key `times` times. `is_new`, nullable, becomes true if the key certainly was not there before. A count
/// that would pass the greatest count of the kind stops there. Returns `PETAL_ERR_FULL` if there is no room for all
/// copies; the filter has taken none then. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [change filter, bytes(key, length), maybe is_new], {
        is_new.answer(filter.by(|filter| filter.insert_times(key, times)))
    })
}

/// Inserts the key with this hash `times` times, as `petal_filter_insert_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_hash(
    filter: *mut petal_filter,
    hash: u64,
    times: u64,
    is_new: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [change filter, maybe is_new], {
        is_new.answer(filter.by(|filter| filter.insert_times_hash(hash, times)))
    })
}

/// Inserts each key as often as its element of `times` says, in order. `times` has one element a key, and may be NULL
/// if there are no keys. Each of the `answers`, nullable, says whether the key certainly was not there before. On a
/// failure the filter has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_times_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change filter, elements(times, keys.len())], {
        filter.always(|filter| filter.insert_times_batch(keys, times, answers))
    })
}

/// Removes a key as often as it is there, but no more than `times` times. `removed`, nullable, becomes the number of
/// removed copies: 0 if the key certainly was not there. In `counting`, a count that has reached the greatest one
/// stands for that or more, and stays. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot remove or count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times(
    filter: *mut petal_filter,
    key: *const c_void,
    length: usize,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    boundary!(NO_ERROR, [change filter, bytes(key, length), maybe removed], {
        removed.answer(filter.by(|filter| filter.remove_times(key, times)))
    })
}

/// Removes the key with this hash at most `times` times, as `petal_filter_remove_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_hash(
    filter: *mut petal_filter,
    hash: u64,
    times: u64,
    removed: *mut u64,
) -> petal_status {
    boundary!(NO_ERROR, [change filter, maybe removed], {
        removed.answer(filter.by(|filter| filter.remove_times_hash(hash, times)))
    })
}

/// Removes each key as often as it is there, but no more than its element of `times` says, in order. `times` has one
/// element a key, and may be NULL if there are no keys. Each of the `answers`, nullable, is false if the key certainly
/// was not there. On a failure the filter has taken the first `done` keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_remove_times_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change filter, elements(times, keys.len())], {
        filter.always(|filter| filter.remove_times_batch(keys, times, answers))
    })
}

/// Adds a key that came `times` times; 0 times add nothing. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder, bytes(key, length)], builder.by(|builder| builder.add_times(key, times)))
}

/// Adds a hash that came `times` times, as `petal_builder_add_times()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_hash(
    builder: *mut petal_builder,
    hash: u64,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.add_times_hash(hash, times)))
}

/// Adds each key as often as its element of `times` says, in order. `times` has one element a key, and may be NULL if
/// there are no keys. `answers`, nullable, only tells how many keys the builder took: the first `done`. A builder
/// refuses every form of answers. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change builder, elements(times, keys.len())], {
        keys::refuse_answers(answers)?;
        builder.always(|builder| builder.add_times_batch(keys, times))
    })
}
