//! ONE KEY ASKED OF MANY FILTERS
//!
//! For a lookup through an LSM tree, a search over shards. While one filter answers, the lines of
//! those that come are on their way: the call takes about as long as reading a line of each. Answer i
//! is that of filter i; filters may be of different kinds and sizes. The key is hashed once if all
//! have the same hash function and seed or key, and otherwise once for each. On a failure every answer
//! is true.

use super::keys::petal_answers;
use super::petal_filter;
use crate::boundary::{self, boundary};
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{Answers, Asked, Hasher, Result, Status};
use std::ffi::c_void;

impl Asked for petal_filter {
    fn hasher(&self) -> &Hasher {
        &self.hasher
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
        petal_filter::contains_hash(self, hash)
    }
}

/// The handles that an array points to.
///
/// # Safety
/// The conventions.
unsafe fn handles<'a>(filters: *const *const petal_filter, count: usize) -> Result<&'a [&'a petal_filter]> {
    // SAFETY: the caller's promise.
    let pointers = unsafe { boundary::elements(filters, count, "filters")? };
    for (i, pointer) in pointers.iter().enumerate() {
        if pointer.is_null() {
            return Err(boundary::error(Status::NullPointer, format_args!("filters[{i}] is NULL")));
        }
        // SAFETY: not NULL; the caller's promise.
        unsafe { petal_filter::get(*pointer)? };
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
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let mut core = petal_answers::get(answers, count)?;
            ask(handles(filters, count)?, &mut core)?;
            petal_answers::tell(answers, core.true_count, core.done);
        }
        Ok(())
    });
    if status != PETAL_OK {
        // SAFETY: the conventions.
        unsafe { petal_answers::all_true_of(answers, count) };
    }
    status
}

/// Asks `count` filters for one key. `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` if one of them cannot hash
/// it. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filters_contain(
    filters: *const *const petal_filter,
    count: usize,
    key: *const c_void,
    length: usize,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let ask = |filters: &[&petal_filter], answers: &mut Answers| {
        // SAFETY: the conventions say so.
        let key = unsafe { boundary::bytes(key.cast(), length, "key")? };
        petal_core::filters_contain(filters, key, answers)
    };
    // SAFETY: as above.
    unsafe { tell(filters, count, answers, error, ask) }
}

/// Asks `count` filters for one uint64_t key. `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` if one of them
/// cannot hash it. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filters_contain_u64(
    filters: *const *const petal_filter,
    count: usize,
    key: u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let ask = |filters: &[&petal_filter], answers: &mut Answers| petal_core::filters_contain_u64(filters, key, answers);
    // SAFETY: the conventions say so.
    unsafe { tell(filters, count, answers, error, ask) }
}

/// Asks `count` filters for the key with this hash, whatever their own hash functions are. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filters_contain_hash(
    filters: *const *const petal_filter,
    count: usize,
    hash: u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let ask =
        |filters: &[&petal_filter], answers: &mut Answers| petal_core::filters_contain_hash(filters, hash, answers);
    // SAFETY: the conventions say so.
    unsafe { tell(filters, count, answers, error, ask) }
}
