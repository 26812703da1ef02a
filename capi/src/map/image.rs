//! MAPS: IMAGES AND FILES
//!
//! The image of a map has the same parts as that of a filter. A map opens for reading (`PETAL_OPEN_READ`) or as a copy
//! (`PETAL_OPEN_LOAD`). If its kind can change (MAPS: CHANGING), it also opens for one writer (`PETAL_OPEN_WRITE`). The
//! functions refuse other modes with `PETAL_ERR_UNSUPPORTED`; no map opens with `PETAL_OPEN_SHARE`. The image of a
//! filter does not open as a map, nor the other way round: the message of `PETAL_ERR_UNSUPPORTED` says what the image
//! is.

use super::{give, petal_map};
use crate::boundary::{self, boundary, read_path};
use crate::describe::{description_of, petal_description, petal_statistics};
use crate::filter::files::{petal_open_options, read_options};
use crate::image::{petal_write_callback, serialize, serialize_to};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open(
    path: *const c_char,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, map], {
        // SAFETY: checked for NULL; by the conventions `path` is a string, `options` is NULL or a struct of its size,
        // and `map` is writable.
        unsafe { give(map, || petal_core::open_as(read_path(path)?, &read_options(options)?)) }
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked for NULL; by the conventions `options` is NULL or a struct of its size, and `map` is
        // writable.
        unsafe {
            give(map, || {
                petal_core::open_descriptor_as(boundary::descriptor(descriptor)?, offset, &read_options(options)?)
            })
        }
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, map], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked for NULL; by the conventions `buffer` has `length` writable bytes, `options` is NULL or a
        // struct of its size, and `map` is writable.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(map, || petal_core::open_buffer_as(base, length, &read_options(options)?))
        }
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, map], {
        // SAFETY: checked for NULL; by the conventions `image` has `length` bytes, `options` is NULL or a struct of its
        // size, and `map` is writable.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(map, || petal_core::load_as(image, &read_options(options)?))
        }
    })
}

/// Copies a map, wherever it lives, into new memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_copy(
    map: *const petal_map,
    copy: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, copy], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes, and `copy` is writable.
        unsafe { give(copy, || petal_map::get(map)?.copy()) }
    })
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialized_size(
    map: *const petal_map,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, size], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes, and `size` is writable.
        unsafe { size.write(petal_map::get(map)?.serialized_size()) };
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_map_serialized_size()` bytes. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialize(
    map: *const petal_map,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, buffer], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes, `buffer` has `length`
        // writable bytes, and `written` is NULL or writable.
        unsafe { serialize(petal_map::get(map)?, buffer, length, written) }
    })
}

/// Gives the image to `write`, piece by piece and in order. The function passes `context`, which may be NULL, to
/// `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialize_to(
    map: *const petal_map,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes.
        unsafe { serialize_to(petal_map::get(map)?, write, context) }
    })
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_save(
    map: *const petal_map,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, path], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes, and `path` is a string.
        unsafe { petal_map::get(map)?.save(read_path(path)?) }
    })
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if the kind cannot have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_verify(map: *const petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes.
        unsafe { petal_map::get(map)? }.verify()
    })
}

/// Describes a map. `hashes` is the number of cells of a key, and `bits` is the number of bits of all cells. Constant
/// time: reads no payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_describe(
    map: *const petal_map,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, description], {
        // SAFETY: checked for NULL; by the conventions `map` is a handle that nobody changes, and `description` is a
        // struct of its size.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_map::get(map)?));
        }
        Ok(())
    })
}

/// Measures a map. `fill` is the share of the cells that keys have taken. `false_positive_rate` is the share of absent
/// keys that get a value. `count_estimate` is the number of distinct keys: exact if a builder made the map, otherwise
/// an estimate from the fill, and NaN if the map is too full to tell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_statistics(
    map: *const petal_map,
    statistics: *mut petal_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, statistics], {
        // SAFETY: checked for NULL; by the conventions `statistics` is a struct of its size, and `map` is a handle that
        // nobody changes.
        let map = unsafe {
            boundary::check_out(statistics)?;
            petal_map::get(map)?
        };
        let measure = map.measure();
        let value = petal_statistics {
            struct_size: 0,
            fill: measure.fill,
            false_positive_rate: measure.false_positive_rate,
            false_positive_rate_floor: 0.0,
            count_estimate: map.keys_of(&measure).unwrap_or(f64::NAN),
            saturated: 0,
        };
        // SAFETY: checked for NULL; by the conventions `statistics` is a struct of its size.
        unsafe { boundary::write(statistics, value) };
        Ok(())
    })
}
