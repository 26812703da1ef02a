// Written by `make layers` from tools/layers/image.rs.txt: change that, not this.

//! DIGESTS: IMAGES AND FILES
//!
//! The image of a digest has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::petal_digest;
use crate::boundary::{self, boundary};
use crate::describe::{description_of, petal_description};
use crate::filter::files::petal_open_options;
use crate::image::{base_of, petal_write_callback, serialize};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_open(
    path: *const c_char,
    options: *const petal_open_options,
    digest: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give digest], {
        digest.made(|| petal_core::open_as(path, &options))
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
    boundary!(error, [given options, give digest], {
        let descriptor = boundary::descriptor(descriptor)?;
        digest.made(|| petal_core::open_descriptor_as(descriptor, offset, &options))
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
    boundary!(error, [buffer, given options, give digest], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        digest.made(|| unsafe { petal_core::open_in_buffer_as(base, length, &options) })
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
    boundary!(error, [image, bytes(image, length), given options, give digest], {
        digest.made(|| petal_core::load_as(image, &options))
    })
}

/// Copies a digest into new memory, wherever the digest lives. The copy has no open payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_copy(
    digest: *const petal_digest,
    copy: *mut *mut petal_digest,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, give copy], copy.made(|| digest.copy()))
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_serialized_size(
    digest: *const petal_digest,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, out size], {
        size.set(digest.serialized_size());
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
    boundary!(error, [read digest, buffer, room_bytes(buffer, length), maybe written], {
        serialize(digest, buffer, written)
    })
}

/// Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
/// `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_serialize_to(
    digest: *const petal_digest,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, callback(write, context)], digest.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_save(
    digest: *const petal_digest,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, path path], digest.save(path))
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no digest can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_verify(digest: *const petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [read digest], digest.verify())
}

/// Describes a digest by its header, in constant time. `hashes` is the number of bits of an entry, `bits` the number of
/// bits of the filter, and `insertions` and `capacity` count bytes of data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_describe(
    digest: *const petal_digest,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read digest, fill description], {
        description.set(description_of(digest));
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_sync(digest: *mut petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [change digest], digest.by(|digest| digest.sync()))
}

/// Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_digest_mark_clean(digest: *mut petal_digest, error: *mut petal_error) -> petal_status {
    boundary!(error, [change digest], digest.by(|digest| digest.mark_clean()))
}
