//! INDEXES: IMAGES AND FILES
//!
//! The image of an index has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::{give, petal_index};
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
pub unsafe extern "C" fn petal_index_open(
    path: *const c_char,
    options: *const petal_open_options,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, index], {
        // SAFETY: checked for NULL; by the conventions `path` is a string, `options` is NULL or a struct of its size,
        // and `index` is writable.
        unsafe { give(index, || petal_core::open_as(read_path(path)?, &read_options(options)?)) }
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
    boundary!(error, [index], {
        let descriptor = boundary::descriptor(descriptor)?;
        // SAFETY: checked for NULL; by the conventions `options` is NULL or a struct of its size, and `index` is
        // writable.
        unsafe { give(index, || petal_core::open_descriptor_as(descriptor, offset, &read_options(options)?)) }
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
    boundary!(error, [buffer, index], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked for NULL; by the conventions `buffer` has `length` writable bytes, `options` is NULL or a
        // struct of its size, and `index` is writable.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(index, || petal_core::open_buffer_as(base, length, &read_options(options)?))
        }
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
    boundary!(error, [image, index], {
        // SAFETY: checked for NULL; by the conventions `image` has `length` bytes, `options` is NULL or a struct of its
        // size, and `index` is writable.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(index, || petal_core::load_as(image, &read_options(options)?))
        }
    })
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_serialized_size(
    index: *const petal_index,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, size], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `size` is
        // writable.
        unsafe { size.write(petal_index::get(index)?.serialized_size()) };
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
    boundary!(error, [index, buffer], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `buffer` has `length`
        // writable bytes, and `written` is NULL or writable.
        unsafe { serialize(petal_index::get(index)?, buffer, length, written) }
    })
}

/// Gives the image to `write`, piece by piece and in order. The function passes `context`, which may be NULL, to
/// `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_serialize_to(
    index: *const petal_index,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes.
        unsafe { serialize_to(petal_index::get(index)?, write, context) }
    })
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_save(
    index: *const petal_index,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, path], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `path` is a
        // string.
        unsafe { petal_index::get(index)?.save(read_path(path)?) }
    })
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no index can have such bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_verify(index: *const petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes.
        unsafe { petal_index::get(index)? }.verify()
    })
}

/// Describes an index. `bits` is the number of bits that there is room for in rows. `capacity` counts rows, and
/// `offered` counts the rows that were not removed. Constant time: reads only the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_describe(
    index: *const petal_index,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, description], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `description` is a
        // struct of its size.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_index::get(index)?));
        }
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_sync(index: *mut petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses.
        unsafe { (*index).0.change(|index| index.sync())? }
    })
}

/// Declares that the bytes are right as they are now, as `petal_filter_vouch()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_vouch(index: *mut petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses.
        unsafe { (*index).0.change(|index| index.vouch())? }
    })
}
