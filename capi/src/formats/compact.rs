//! COMPACT FORMS
//!
//! Compact forms are for filters that live inside another system's file: a table's filter block, a page, a value. The
//! compact form of a filter is its payload and a trailer of 8 to 24 bytes; docs/format.md specifies the form.
//!
//! A compact form does not contain the hash function, the seed and the secret key. Give these three as the filter had
//! them when you open the form: the library cannot notice if they differ. A compact form does not contain the count,
//! the capacity and the rate either, which are 0 in a filter that you open from one. The library only reads a compact
//! form; you can change a copy.
//!
//! The trailer has a checksum of 32 bits. 12 of these bits cover the trailer itself. Every function here compares them,
//! and they find one or two flipped bits of the trailer for certain. If the payload has at most 4096 bytes, the other
//! 20 bits cover all bytes. Larger forms have a further checksum of 64 bits for all bytes.
//!
//! `petal_filter_open_compact()` reads such a larger payload only if the options ask for that.
//! `petal_filter_load_compact()`, `petal_compact_verify()`, and all functions that copy, merge or write an opened form,
//! read and compare all of it. No bytes make a function here read past the given length.
//!
//! Most filters have a compact form. A `scalable` filter has none if its tightening is no whole number of thousandths,
//! or after a merge into it. A `fuse` filter of 2^33 keys or more has none. Filters that take keys whole have none, as
//! most imported filters do. Maps and sketches have none.

use crate::arguments::{Given, given};
use crate::boundary::{self, boundary};
use crate::builder::petal_builder;
use crate::filter::keys::{answering, petal_answers};
use crate::filter::petal_filter;
use crate::image::base_of;
use crate::spec::petal_hash_function;
use crate::status::{petal_error, petal_status};
use petal_core::storage::AnyBytes;
use petal_core::{CompactOptions, HashFunction, Hasher, Result, Status};
use std::ffi::c_void;
use std::ptr::NonNull;

/// Values that a compact form does not contain. NULL stands for all zeros: XXH3 with seed 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_compact_options {
    /// sizeof(petal_compact_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`.
    pub hash: petal_hash_function,
    /// 1 makes opening compare all of the form with its checksum, and with what its kind promises, however large the
    /// form is.
    pub verify: u32,
    /// The seed; 0 for `PETAL_HASH_SIPHASH13`.
    pub seed: u64,
    /// The secret key of `PETAL_HASH_SIPHASH13`; all zeros is none.
    pub secret: [u8; 16],
}

// SAFETY: numbers and an array of numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_compact_options {
    const FIRST_SIZE: usize = 40;
}

impl Given for petal_compact_options {
    type Said = CompactOptions;

    fn said(given: Option<petal_compact_options>, _name: &str) -> Result<CompactOptions> {
        let Some(options) = given else { return Ok(CompactOptions::default()) };
        if options.verify > 1 {
            let message = format_args!("verify = {} is not 0 or 1", options.verify);
            return Err(boundary::error(Status::UnknownValue, message));
        }
        Ok(CompactOptions {
            hash: HashFunction::from_number(options.hash)?,
            seed: options.seed,
            secret: (options.secret != [0; 16]).then_some(options.secret),
            verify: options.verify == 1,
        })
    }
}

/// The bytes of a compact form; none where there cannot be any.
///
/// # Safety
/// `length` bytes from `data` are readable.
#[inline(always)]
unsafe fn form_at_once<'a>(data: *const c_void, length: usize) -> Option<AnyBytes<'a>> {
    let start = NonNull::new(data.cast_mut().cast::<u8>())?;
    // SAFETY: `start` is `data`, which has `length` bytes, as the safety section asks, and `length` fits an isize.
    (length <= isize::MAX as usize).then(|| unsafe { AnyBytes::new(start, length) })
}

/// The size in bytes of a filter's compact form. Returns `PETAL_ERR_UNSUPPORTED` if the filter has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_compact_size(
    filter: *const petal_filter,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out size], size.answer(filter.compact_size().map(|size| size as u64)))
}

/// Writes the compact form into a buffer of at least `petal_filter_compact_size()` bytes, of any alignment. Threads and
/// processes may insert meanwhile. The form has every key whose insertion happened before. Returns `PETAL_ERR_UNCLEAN`
/// if the filter is `PETAL_STATE_STAYS_UNCLEAN`, because a compact form has no place for that state. Returns
/// `PETAL_ERR_CORRUPT` if the filter lies in an image that does not match its checksums. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialize_compact(
    filter: *const petal_filter,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, buffer, room_bytes(buffer, length), maybe written], {
        written.answer(filter.serialize_compact(buffer))
    })
}

/// Opens the compact form in the `length` bytes at `data`, in place and for reading. The function copies nothing. It
/// does not read through a form larger than 4096 bytes unless the options ask for that. `data` is a multiple of 8, and
/// its bytes must not change until you free the handle. `options` is nullable. Returns `PETAL_ERR_TRUNCATED` or
/// `PETAL_ERR_FOREIGN` for lengths that no compact form has, `PETAL_ERR_CORRUPT`, or `PETAL_ERR_MISALIGNED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open_compact(
    data: *const c_void,
    length: usize,
    options: *const petal_compact_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, give filter, given options], {
        let start = base_of(data.cast_mut(), length)?;
        // SAFETY: by the conventions `data` has `length` bytes, which do not change for as long as the handle lives.
        filter.made(|| unsafe { petal_core::open_compact(start, length, &options) })
    })
}

/// Copies a filter out of its compact form, of any alignment, into new memory. The function verifies all of the form
/// whatever the options say. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_load_compact(
    data: *const c_void,
    length: usize,
    options: *const petal_compact_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, give filter, bytes(data, length), given options], {
        filter.made(|| petal_core::load_compact(data, &options))
    })
}

/// Compares all of a compact form, of any alignment, with its checksum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_verify(
    data: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, bytes(data, length)], petal_core::verify_compact(data))
}

/// Looks a hash up in a compact form without a handle. `data` is any address, but a multiple of 8 for the form of a
/// `fuse` filter. The function allocates nothing. Any failure returns true; `petal_compact_contains_checked_hash()`
/// says why. The function does not compare the payload with its checksum: call `petal_compact_verify()` once for that.
/// Hash the key with `petal_spec_hash()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains_hash(data: *const c_void, length: usize, hash: u64) -> bool {
    let look_up = || {
        // SAFETY: by the conventions `data` has `length` bytes.
        let form = unsafe { form_at_once(data, length)? };
        petal_core::compact_contains_hash(form, hash).ok()
    };
    boundary::attempt(look_up, || None).unwrap_or(true)
}

/// Looks a key up in a compact form without a handle, as `petal_compact_contains_hash()` does. `options`, which say how
/// to hash the key, may be NULL: that hashes fastest. The function ignores `verify`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains(
    data: *const c_void,
    length: usize,
    options: *const petal_compact_options,
    key: *const c_void,
    key_length: usize,
) -> bool {
    let look_up = || {
        // SAFETY: by the conventions `data` has `length` bytes, and `key` has `key_length` bytes.
        let (form, key) = unsafe { (form_at_once(data, length)?, boundary::bytes_at_once(key.cast(), key_length)?) };
        let hasher = if options.is_null() {
            Hasher::new(HashFunction::Xxh3, 0, None).ok()?
        } else {
            // SAFETY: by the conventions `options` is NULL or a struct of its size.
            let CompactOptions { hash, seed, secret, .. } = unsafe { given(options, "options") }.ok()?;
            Hasher::new(hash, seed, secret.as_ref()).ok()?
        };
        petal_core::compact_contains_hash(form, hasher.hash_bytes_at_once(key)?).ok()
    };
    boundary::attempt(look_up, || None).unwrap_or(true)
}

/// Looks a hash up as `petal_compact_contains_hash()` does, and says whether that worked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains_checked_hash(
    data: *const c_void,
    length: usize,
    hash: u64,
    found: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, out found, bytes(data, length)], {
        found.answer(petal_core::compact_contains_hash(AnyBytes::of(data), hash))
    })
}

/// Looks one hash up in `count` compact forms in one call. Form i is the `lengths[i]` bytes from `data[i]`, and has
/// answer i. While one form answers, the processor already fetches the cache lines of the next ones. A damaged form
/// makes the call fail; the message names the form, and every answer is true.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains_across_hash(
    data: *const *const c_void,
    lengths: *const usize,
    count: usize,
    hash: u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    answering!(
        error,
        [answers, pointers(data, count), elements(lengths, count), answers(answers, count)],
        {
            // SAFETY: by the conventions `data[i]` has `lengths[i]` bytes.
            let form = |i: usize| unsafe { form_at_once(data[i].as_ptr(), lengths[i]) }.unwrap_or(AnyBytes::of(&[]));
            answers.by(|answers| petal_core::compacts_contain_hash(count, form, hash, answers))
        },
        or all_true_of(answers, count)
    )
}

/// Writes an upper limit for the length in bytes of the compact form with the keys added so far. If all keys are
/// distinct, the form of a kind that a builder makes from all keys has about that length. Returns
/// `PETAL_ERR_UNSUPPORTED` if the filter has no compact form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_compact_size(
    builder: *mut petal_builder,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, out size], {
        size.answer(builder.by(|builder| builder.compact_size()).map(|size| size as u64))
    })
}

/// Makes the filter and writes its compact form into a buffer of `petal_builder_compact_size()` bytes or more, of any
/// alignment. Then empties the builder, which keeps room for its next keys: you may use the builder again. The message
/// of `PETAL_ERR_BUFFER_TOO_SMALL` names the needed length. On a failure the keys stay. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_finish_compact(
    builder: *mut petal_builder,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, buffer, room_bytes(buffer, length), maybe written], {
        written.answer(builder.by(|builder| builder.finish_compact(buffer)))
    })
}
