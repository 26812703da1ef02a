//! HASHING ONCE FOR MANY FILTERS
//!
//! A filter hashes keys itself. If you look one key up in many filters that share a hash function and seed, hash the
//! key once and use the `_hash` functions.

use crate::boundary::{self, boundary};
use crate::filter::keys::petal_keys;
use crate::filter::petal_filter;
use crate::spec::petal_spec;
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::{HashFunction, Hasher, Image};
use std::ffi::c_void;

/// The hash of a key under a spec's hash function, seed and secret; the rest of the spec does not matter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_hash(
    spec: *const petal_spec,
    key: *const c_void,
    length: usize,
    hash: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    let at_once = || {
        // SAFETY: by the conventions `spec` is NULL or a struct of its size, `key` has `length` bytes, and `hash` is
        // NULL or writable.
        unsafe {
            boundary::check_out(error).ok()?;
            let seed = petal_spec::plain_seed(spec)?;
            let hasher = Hasher::new(HashFunction::Xxh3, seed, None).ok()?;
            let value = hasher.hash_bytes_at_once(boundary::bytes_at_once(key.cast(), length)?)?;
            hash.as_mut().map(|hash| *hash = value)
        }
    };
    if boundary::attempt(at_once, || None).is_some() {
        return PETAL_OK;
    }
    boundary!(error, [spec, out hash, given spec, bytes(key, length)], hash.answer(spec.hasher()?.hash_key(key)))
}

/// Writes the `keys->count` hashes of many keys under a spec's hash function, seed and secret. Give the hashes as
/// `PETAL_KEYS_HASHES` to many filters, or compact forms, that hash alike.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_hash_batch(
    spec: *const petal_spec,
    keys: *const petal_keys,
    hashes: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, keys, given spec, keys(keys), room(hashes, keys.len())], {
        petal_core::hash_keys(keys, &spec.hasher()?, hashes)
    })
}

/// The hash of a key as a filter makes it. Returns `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_SECRET_MISSING` if the
/// filter cannot hash keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_hash(
    filter: *const petal_filter,
    key: *const c_void,
    length: usize,
    hash: *mut u64,
) -> petal_status {
    boundary!(boundary::NO_ERROR, [read filter, out hash, bytes(key, length)], {
        hash.answer(filter.base().hasher().hash_key(key))
    })
}
