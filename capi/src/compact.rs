//! COMPACT FORMS
//!
//! For filters that live inside another system's file: a table's filter block, a page, a value. The
//! compact form of a filter is its payload and a trailer of 8 or 16 bytes; docs/format.md specifies
//! it. Hash function, seed and secret key are not in it: whoever opens it has to give those that
//! the filter was made with, and nothing tells if they are others. Neither are count, capacity and
//! rate, which are 0 of a filter that is opened from one. It is only read; a copy can be changed.
//!
//! The trailer has a checksum of 32 bits. 12 of them are the trailer's own and are looked at by every
//! function here; they find one or two flipped bits of it for certain. The other 20 are of all bytes:
//! `petal_filter_open_compact()` looks at them if the payload has at most 4096 bytes or the options
//! ask for it, `petal_filter_load_compact()` and `petal_compact_check()` always. No bytes make a function
//! here read past the length that it was given.
//!
//! Every kind of filter has a compact form, but for a `scalable` filter whose tightening is no whole
//! number of thousandths or that others were merged into, and a `fuse` filter of 2^33 keys or more.
//! Maps have none.

use crate::boundary::{self, boundary};
use crate::filter::keys::petal_answers;
use crate::filter::{give, petal_filter};
use crate::spec::petal_hash_function;
use crate::status::{PETAL_OK, petal_error, petal_status};
use petal_core::storage::AnyBytes;
use petal_core::{CompactOptions, HashFunction, Hasher, Result, Status};
use std::ffi::c_void;
use std::ptr::NonNull;

/// What a compact form does not say. NULL stands for all zeros: XXH3 with seed 0. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_compact_options {
    /// sizeof(petal_compact_options).
    pub struct_size: usize,
    /// One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`.
    pub hash: petal_hash_function,
    /// 1 compares all of a form that is opened with its checksum, and with what its kind promises, however large it is.
    pub verify: u32,
    /// The seed; 0 for `PETAL_HASH_SIPHASH13`.
    pub seed: u64,
    /// The secret key of `PETAL_HASH_SIPHASH13`; all zeros is none.
    pub key: [u8; 16],
}

// SAFETY: numbers and an array of numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_compact_options {
    const FIRST_SIZE: usize = 40;
}

/// # Safety
/// `options` is NULL or a struct with its size set.
unsafe fn read_options(options: *const petal_compact_options) -> Result<CompactOptions> {
    // SAFETY: the caller's promise.
    let Some(options) = (unsafe { boundary::read_optional(options)? }) else {
        return Ok(CompactOptions::default());
    };
    if options.verify > 1 {
        let message = format_args!("verify = {} is not 0 or 1", options.verify);
        return Err(boundary::error(Status::UnknownValue, message));
    }
    Ok(CompactOptions {
        hash: HashFunction::from_number(options.hash)?,
        seed: options.seed,
        key: (options.key != [0; 16]).then_some(options.key),
        verify: options.verify == 1,
    })
}

/// The bytes of a compact form; none where there cannot be any.
///
/// # Safety
/// `length` bytes from `data` are readable.
#[inline(always)]
unsafe fn form_at_once<'a>(data: *const c_void, length: usize) -> Option<AnyBytes<'a>> {
    let start = NonNull::new(data.cast_mut().cast::<u8>())?;
    // SAFETY: the caller's promise, and the length fits.
    (length <= isize::MAX as usize).then(|| unsafe { AnyBytes::new(start, length) })
}

/// [`form_at_once`], or why there are none.
///
/// # Safety
/// `length` bytes from `data` are readable.
unsafe fn form<'a>(data: *const c_void, length: usize) -> Result<AnyBytes<'a>> {
    // SAFETY: the caller's promise.
    unsafe { form_at_once(data, length) }.ok_or_else(|| {
        if data.is_null() {
            return boundary::null("data");
        }
        boundary::error(Status::TooLarge, format_args!("length = {length} bytes are more than can be"))
    })
}

/// The size in bytes of a filter's compact form. `PETAL_ERR_UNSUPPORTED` if it has none. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_compact_size(
    filter: *const petal_filter,
    size: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, size], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { size.write(petal_filter::get(filter)?.compact_size()?) };
        Ok(())
    })
}

/// Writes the compact form into a buffer, of any alignment, of at least `petal_filter_compact_size()` bytes, also while
/// threads and processes insert: keys whose insertion happened before are in it. `PETAL_ERR_DIRTY` if the filter is
/// `PETAL_STATE_UNVOUCHED`, which the form could not say; `PETAL_ERR_CORRUPT` if it lies in an image that does not match
/// its checksums. `written` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialize_compact(
    filter: *const petal_filter,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, buffer], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let done = petal_filter::get(filter)?.serialize_compact(self::buffer(buffer, length)?)?;
            if !written.is_null() {
                written.write(done);
            }
        }
        Ok(())
    })
}

/// A caller's buffer, to be written.
///
/// # Safety
/// `length` bytes from `buffer`, which is not NULL, are writable, and nobody else uses them.
pub(crate) unsafe fn buffer<'a>(buffer: *mut c_void, length: usize) -> Result<&'a mut [u8]> {
    if length > isize::MAX as usize {
        return Err(boundary::error(Status::TooLarge, format_args!("length = {length} bytes are more than can be")));
    }
    // SAFETY: the caller's promise. The bytes of another language's memory have values, if arbitrary ones, and they are
    // written before they are read.
    Ok(unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) })
}

/// Opens the compact form that `length` bytes from `data` are, in place and for reading: nothing is copied, and what is
/// larger than 4096 bytes is not read through unless the options ask for it. `data` is a multiple of 8; its bytes stay
/// as they are until the handle is freed. `options` is nullable. `PETAL_ERR_TRUNCATED` and `PETAL_ERR_FOREIGN` for
/// lengths that no compact form has; `PETAL_ERR_CORRUPT`; `PETAL_ERR_MISALIGNED`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open_compact(
    data: *const c_void,
    length: usize,
    options: *const petal_compact_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            form(data, length)?;
            let start = NonNull::new(data.cast_mut().cast::<u8>()).ok_or_else(|| boundary::null("data"))?;
            give(filter, || petal_core::open_compact(start, length, &read_options(options)?))
        }
    })
}

/// Copies a filter out of its compact form, of any alignment, into memory of its own, and verifies all of it whatever
/// the options say. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_load_compact(
    data: *const c_void,
    length: usize,
    options: *const petal_compact_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let form = form(data, length)?;
            give(filter, || petal_core::load_compact(form.bytes(), &read_options(options)?))
        }
    })
}

/// Compares all of a compact form, of any alignment, with its checksum. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_check(
    data: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        petal_core::check_compact(unsafe { form(data, length)? }.bytes())
    })
}

/// Looks a hash up in a compact form without a handle: `data` is at any address, and nothing is allocated. Any failure
/// returns true; `petal_compact_contains_checked_hash()` says why. The payload is not compared with its checksum:
/// `petal_compact_check()` does that, once. A `fuse` filter's form has to be at a multiple of 8. Hash the key with
/// `petal_hash()`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains_hash(data: *const c_void, length: usize, hash: u64) -> bool {
    let look_up = || {
        // SAFETY: the conventions say so.
        let form = unsafe { form_at_once(data, length)? };
        petal_core::compact_contains_hash(form, hash).ok()
    };
    boundary::attempt(look_up, || None).unwrap_or(true)
}

/// Looks a key up in a compact form without a handle, as `petal_compact_contains_hash()` does; the options say how the
/// key is hashed, and whether all of the form is checked does not matter. NULL hashes fastest. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains(
    data: *const c_void,
    length: usize,
    options: *const petal_compact_options,
    key: *const c_void,
    key_length: usize,
) -> bool {
    let look_up = || {
        // SAFETY: the conventions say so.
        let (form, key) = unsafe { (form_at_once(data, length)?, boundary::bytes_at_once(key.cast(), key_length)?) };
        let hasher = if options.is_null() {
            Hasher::new(HashFunction::Xxh3, 0, None).ok()?
        } else {
            // SAFETY: as above.
            let CompactOptions { hash, seed, key, .. } = unsafe { read_options(options) }.ok()?;
            Hasher::new(hash, seed, key.as_ref()).ok()?
        };
        petal_core::compact_contains_hash(form, hasher.hash_bytes_at_once(key)?).ok()
    };
    boundary::attempt(look_up, || None).unwrap_or(true)
}

/// Looks a hash up as `petal_compact_contains_hash()` does, and says whether that worked. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compact_contains_checked_hash(
    data: *const c_void,
    length: usize,
    hash: u64,
    found: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [data, found], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { found.write(petal_core::compact_contains_hash(form(data, length)?, hash)?) };
        Ok(())
    })
}

/// Looks one hash up in `count` compact forms in one call: form i is the `lengths[i]` bytes from `data[i]`, and has
/// answer i. The lines of those that come are fetched while one answers. A form that is damaged makes the call fail,
/// naming it, and then every answer is true. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_compacts_contain_hash(
    data: *const *const c_void,
    lengths: *const usize,
    count: usize,
    hash: u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let status = boundary!(error, [answers], {
        // SAFETY: the conventions say so.
        unsafe {
            let data = boundary::elements(data, count, "data")?;
            let lengths = boundary::elements(lengths, count, "lengths")?;
            if let Some(i) = data.iter().position(|data| data.is_null()) {
                return Err(boundary::error(Status::NullPointer, format_args!("data[{i}] is NULL")));
            }
            let form = |i: usize| form_at_once(data[i], lengths[i]).unwrap_or_else(|| AnyBytes::of(&[]));
            let mut core = petal_answers::get(answers, count)?;
            petal_core::compacts_contain_hash(count, form, hash, &mut core)?;
            petal_answers::tell(answers, core.true_count, core.done);
        }
        Ok(())
    });
    if status != PETAL_OK {
        // SAFETY: as above.
        unsafe { petal_answers::all_true_of(answers, count) };
    }
    status
}
