//! ONE KEY ASKED OF MANY FILTERS
//!
//! These functions serve a lookup through an LSM tree, or a search over shards. While one filter answers, the processor
//! already fetches the cache lines of the next ones. Out of cache that takes half to three quarters of the time of a
//! call for each filter. For some ten filters that lie in a cache, a call for each filter is faster. Answer i
//! belongs to filter i. The filters may be of different kinds and sizes. If all filters have the same hash function and
//! seed or secret, the call hashes the key once, otherwise once for each filter. On a failure every answer is true.

use crate::filter::keys::{answering, petal_answers};
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};
use petal_core::{Asked, Hasher};
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

/// Looks one key up in `count` filters. Returns `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_SECRET_MISSING` if one of the
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
    answering!(
        error,
        [answers(answers, count), handles(filters, count), bytes(key, length)],
        answers.by(|answers| petal_core::filters_contain(filters, key, answers)),
        or all_true_of(answers, count)
    )
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
    answering!(
        error,
        [answers(answers, count), handles(filters, count)],
        answers.by(|answers| petal_core::filters_contain_hash(filters, hash, answers)),
        or all_true_of(answers, count)
    )
}
