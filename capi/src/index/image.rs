// Written by `make layers` from tools/layers/image.rs.txt: change that, not this.

//! INDEXES: IMAGES AND FILES
//!
//! The image of an index has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::petal_index;
use crate::boundary::{self, boundary};
use crate::describe::{description_of, petal_description};
use crate::filter::files::petal_open_options;
use crate::image::{base_of, petal_write_callback, serialize};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_open(
    path: *const c_char,
    options: *const petal_open_options,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give index], {
        index.made(|| petal_core::open_as(path, &options))
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [given options, give index], {
        let descriptor = boundary::descriptor(descriptor)?;
        index.made(|| petal_core::open_descriptor_as(descriptor, offset, &options))
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, given options, give index], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        index.made(|| unsafe { petal_core::open_in_buffer_as(base, length, &options) })
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, bytes(image, length), given options, give index], {
        index.made(|| petal_core::load_as(image, &options))
    })
}

/// Copies an index into new memory, wherever the index lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_copy(
    index: *const petal_index,
    copy: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, give copy], copy.made(|| index.copy()))
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_serialized_size(
    index: *const petal_index,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, out size], {
        size.set(index.serialized_size());
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_index_serialized_size()` bytes. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_serialize(
    index: *const petal_index,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, buffer, room_bytes(buffer, length), maybe written], {
        serialize(index, buffer, written)
    })
}

/// Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
/// `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_serialize_to(
    index: *const petal_index,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, callback(write, context)], index.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_save(
    index: *const petal_index,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, path path], index.save(path))
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no index can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_verify(index: *const petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [read index], index.verify())
}

/// Describes an index by its header, in constant time. `bits` is the number of bits that there is room for in rows.
/// `capacity` counts rows, and `insertions` counts the rows that were not removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_describe(
    index: *const petal_index,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, fill description], {
        description.set(description_of(index));
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_sync(index: *mut petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [change index], index.by(|index| index.sync()))
}

/// Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_mark_clean(index: *mut petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [change index], index.by(|index| index.mark_clean()))
}
