//! FILTERS: MANY KEYS
//!
//! Each verb has one function for batches, which takes the keys and answers of the section before.

use super::keys::{answering, petal_answers, petal_keys, taking};
use super::petal_filter;
use crate::boundary;
use crate::status::{PETAL_OK, petal_error, petal_status};

// A batch of few numbers is tried first, in a straight line, as a single key is: see `probe.rs`.

/// Looks keys up: each answer says whether the key may be in the filter. On a failure every answer is true. If the
/// function cannot read `keys`, and so does not know how many keys there are, `true_count` is UINT64_MAX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_batch(
    filter: *const petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let few = || {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody changes, `keys` is NULL or a struct with
        // arrays as long as it says, and `answers` is NULL or a struct with room for all answers.
        unsafe {
            boundary::check_out(error).ok()?;
            let handle = petal_filter::sound(filter)?;
            let few = petal_keys::at_once(keys)?.few(&handle.hasher)?;
            petal_answers::take_few(answers, &few, || handle.contains_few(&few))
        }
    };
    if boundary::attempt(few, || None).is_some() {
        return PETAL_OK;
    }
    // SAFETY: by the conventions, as above.
    unsafe { contains_the_long_way(filter, keys, answers, error) }
}

/// # Safety
/// The conventions.
#[inline(never)]
unsafe fn contains_the_long_way(
    filter: *const petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    answering!(
        error,
        [read filter, keys(keys, answers)],
        answers.by(|answers| filter.contains_batch(keys, answers)),
        or all_true(answers, keys)
    )
}

/// Inserts keys in order. Each of the `answers`, nullable, says whether the key certainly was not there before. On a
/// failure the first `done` keys are in the filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_insert_batch(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let few = || {
        // SAFETY: by the conventions `filter` is NULL or a handle that nobody else uses, `keys` is NULL or a struct
        // with arrays as long as it says, and `answers` is NULL or a struct with room for all answers.
        unsafe {
            boundary::check_out(error).ok()?;
            let handle = petal_filter::sound_mut(filter)?;
            let few = petal_keys::at_once(keys)?.few(&handle.hasher)?;
            if answers.is_null() {
                return handle.insert_few_at_once(&few, false).map(|_| ());
            }
            petal_answers::take_few(answers, &few, || handle.insert_few_at_once(&few, true))
        }
    };
    let panicked = || {
        // SAFETY: what panicked is the filter of a handle.
        unsafe { petal_filter::poison(filter) };
        None
    };
    if boundary::attempt(few, panicked).is_some() {
        return PETAL_OK;
    }
    // SAFETY: by the conventions, as above.
    unsafe { insert_the_long_way(filter, keys, answers, error) }
}

/// # Safety
/// The conventions.
#[inline(never)]
unsafe fn insert_the_long_way(
    filter: *mut petal_filter,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change filter], filter.always(|filter| filter.insert_batch(keys, answers)))
}
