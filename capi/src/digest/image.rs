//! DIGESTS: IMAGES AND FILES
//!
//! The image of a digest has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::{give, petal_digest};
use crate::boundary::{self, boundary, read_path};
use crate::describe::{description_of, petal_description};
use crate::filter::files::{petal_open_options, read_options};
use crate::image::{petal_write_callback, serialize, serialize_to};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_open(
    path: *const c_char,
    options: *const petal_open_options,
    digest: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, digest], {
        // SAFETY: checked for NULL; by the conventions `path` is a string, `options` is NULL or a struct of its size,
        // and `digest` is writable.
        unsafe { give(digest, || petal_core::open_as(read_path(path)?, &read_options(options)?)) }
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    digest: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [digest], {
        let descriptor = boundary::descriptor(descriptor)?;
        // SAFETY: checked for NULL; by the conventions `options` is NULL or a struct of its size, and `digest` is
        // writable.
        unsafe { give(digest, || petal_core::open_descriptor_as(descriptor, offset, &read_options(options)?)) }
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    digest: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, digest], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked for NULL; by the conventions `buffer` has `length` writable bytes, `options` is NULL or a
        // struct of its size, and `digest` is writable.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(digest, || petal_core::open_buffer_as(base, length, &read_options(options)?))
        }
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    digest: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, digest], {
        // SAFETY: checked for NULL; by the conventions `image` has `length` bytes, `options` is NULL or a struct of its
        // size, and `digest` is writable.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(digest, || petal_core::load_as(image, &read_options(options)?))
        }
    })
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_serialized_size(
    digest: *const petal_digest,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [digest, size], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody changes, and `size` is
        // writable.
        unsafe { size.write(petal_digest::get(digest)?.serialized_size()) };
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_digest_serialized_size()` bytes. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_serialize(
    digest: *const petal_digest,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [digest, buffer], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody changes, `buffer` has `length`
        // writable bytes, and `written` is NULL or writable.
        unsafe { serialize(petal_digest::get(digest)?, buffer, length, written) }
    })
}

/// Gives the image to `write`, piece by piece and in order. The function passes `context`, which may be NULL, to
/// `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_serialize_to(
    digest: *const petal_digest,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [digest], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody changes.
        unsafe { serialize_to(petal_digest::get(digest)?, write, context) }
    })
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_save(
    digest: *const petal_digest,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [digest, path], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody changes, and `path` is a
        // string.
        unsafe { petal_digest::get(digest)?.save(read_path(path)?) }
    })
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no digest can have such bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_verify(digest: *const petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [digest], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody changes.
        unsafe { petal_digest::get(digest)? }.verify()
    })
}

/// Describes a digest. `hashes` is the number of bits of an entry, `bits` the number of bits of the filter, and
/// `offered` and `capacity` count bytes of data. Constant time: reads only the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_describe(
    digest: *const petal_digest,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [digest, description], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody changes, and `description` is a
        // struct of its size.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_digest::get(digest)?));
        }
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_sync(digest: *mut petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [digest], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody else uses.
        unsafe { (*digest).0.change(|digest| digest.sync())? }
    })
}

/// Declares that the bytes are right as they are now, as `petal_filter_vouch()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_vouch(digest: *mut petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [digest], {
        // SAFETY: checked for NULL; by the conventions `digest` is a handle that nobody else uses.
        unsafe { (*digest).0.change(|digest| digest.vouch())? }
    })
}
