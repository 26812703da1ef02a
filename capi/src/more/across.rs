//! ONE KEY ASKED OF MANY FILTERS
//!
//! These functions serve a lookup through an LSM tree, or a search over shards. While one filter answers, the processor
//! already fetches the cache lines of the next ones. Out of cache that takes half to three quarters of the time of a
//! call for each filter. For fewer than 100 filters that lie in a cache, a call for each filter is faster. Answer i
//! belongs to filter i. The filters may be of different kinds and sizes. If all filters have the same hash function and
//! seed or key, the call hashes the key once, otherwise once for each filter. On a failure every answer is true.

use crate::boundary::{self, boundary};
use crate::filter::keys::petal_answers;
use crate::filter::petal_filter;
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{Answers, Asked, Hasher, Result, Status};
use std::ffi::c_void;

impl Asked for petal_filter {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn is_sound(&self) -> bool {
        !self.is_poisoned()
    }

    #[inline(always)]
    fn words(&self) -> usize {
        self.probe.as_ref().map_or_else(|| self.filter.words(), |probe| probe.words.len())
    }

    #[inline(always)]
    fn fetch(&self, hash: u64) {
        match &self.probe {
            Some(probe) => probe.fetch(hash),
            None => self.filter.fetch(hash),
        }
    }

    #[inline(always)]
    fn contains_hash(&self, hash: u64) -> bool {
        match &self.probe {
            Some(probe) => probe.contains_fetched(hash),
            None => petal_filter::contains_hash(self, hash),
        }
    }
}

/// The handles that an array points to.
///
/// # Safety
/// The conventions.
unsafe fn handles<'a>(filters: *const *const petal_filter, count: usize) -> Result<&'a [&'a petal_filter]> {
    // SAFETY: by the conventions `filters` is NULL or an array of `count` pointers.
    let pointers = unsafe { boundary::elements(filters, count, "filters")? };
    for (i, pointer) in pointers.iter().enumerate() {
        if pointer.is_null() {
            return Err(boundary::error(Status::NullPointer, format_args!("filters[{i}] is NULL")));
        }
    }
    // SAFETY: a reference is a pointer that is not NULL, to a handle that lives.
    Ok(unsafe { std::slice::from_raw_parts(pointers.as_ptr().cast(), count) })
}

/// Asks the filters of an array, and tells the caller the answers.
///
/// # Safety
/// The conventions.
unsafe fn tell(
    filters: *const *const petal_filter,
    count: usize,
    answers: *mut petal_answers,
    error: *mut petal_error,
    ask: impl FnOnce(&[&petal_filter], &mut Answers) -> Result<()>,
) -> petal_status {
    let status = boundary!(error, [answers], {
        // SAFETY: checked for NULL; by the conventions `filters` is NULL or an array of `count` handles that nobody
        // changes, and `answers` is a struct with room for all answers.
        unsafe {
            let mut core = petal_answers::get(answers, count)?;
            ask(handles(filters, count)?, &mut core)?;
            petal_answers::tell(answers, core.true_count, core.done);
        }
        Ok(())
    });
    if status != PETAL_OK {
        // SAFETY: by the conventions `answers` is NULL or a struct with room for all answers.
        unsafe { petal_answers::all_true_of(answers, count) };
    }
    status
}

/// Looks one key up in `count` filters. Returns `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` if one of the
/// filters cannot hash the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_across(
    filters: *const *const petal_filter,
    count: usize,
    key: *const c_void,
    length: usize,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let ask = |filters: &[&petal_filter], answers: &mut Answers| {
        // SAFETY: by the conventions `key` has `length` bytes.
        let key = unsafe { boundary::bytes(key.cast(), length, "key")? };
        petal_core::filters_contain(filters, key, answers)
    };
    // SAFETY: by the conventions `filters` is NULL or an array of `count` handles that nobody changes, and `answers` is
    // NULL or a struct with room for all answers.
    unsafe { tell(filters, count, answers, error, ask) }
}

/// Looks one uint64_t key up in `count` filters. Returns `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` if one of
/// the filters cannot hash the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_across_u64(
    filters: *const *const petal_filter,
    count: usize,
    key: u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let ask = |filters: &[&petal_filter], answers: &mut Answers| petal_core::filters_contain_u64(filters, key, answers);
    // SAFETY: by the conventions `filters` is NULL or an array of `count` handles that nobody changes, and `answers` is
    // NULL or a struct with room for all answers.
    unsafe { tell(filters, count, answers, error, ask) }
}

/// Looks the key with this hash up in `count` filters, whatever their own hash functions are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_contains_across_hash(
    filters: *const *const petal_filter,
    count: usize,
    hash: u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let ask =
        |filters: &[&petal_filter], answers: &mut Answers| petal_core::filters_contain_hash(filters, hash, answers);
    // SAFETY: by the conventions `filters` is NULL or an array of `count` handles that nobody changes, and `answers` is
    // NULL or a struct with room for all answers.
    unsafe { tell(filters, count, answers, error, ask) }
}
