//! MAPS: IMAGES AND FILES
//!
//! The image of a map is made as that of a filter. It opens for reading (`PETAL_OPEN_READ`) or as a
//! copy (`PETAL_OPEN_LOAD`), and where its kind can change (MAPS: CHANGING) for one writer
//! (`PETAL_OPEN_WRITE`). Otherwise that is `PETAL_ERR_UNSUPPORTED`, and so is to share a map
//! (`PETAL_OPEN_SHARE`), and to open the image of a filter as a map, or the other way round, with a
//! message that says what it is.

use super::{give, petal_map};
use crate::boundary::{self, NO_ERROR, boundary, read_path};
use crate::describe::{description_of, petal_description, petal_statistics};
use crate::filter::image::{petal_open_options, petal_write_callback, read_options, serialize, serialize_to};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// Opens the image that a file is. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open(
    path: *const c_char,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(map, || petal_core::open_as(read_path(path), &read_options(options)?)) }
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open_descriptor(
    descriptor: i32,
    offset: u64,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(map, || petal_core::open_descriptor_as(descriptor, offset, &read_options(options)?)) }
    })
}

/// Opens the image at the start of a buffer, aligned to 8. In place the buffer must outlive the handle, and is written
/// only if it is opened for that. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, map], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(map, || petal_core::open_buffer_as(base, length, &read_options(options)?))
        }
    })
}

/// Copies the image at the start of `image`, of any alignment, into memory of its own and checks its checksums. The
/// mode in `options`, nullable, does not matter. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(map, || petal_core::load_as(image, &read_options(options)?))
        }
    })
}

/// Copies a map, wherever it lives, into memory of its own. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_copy(
    map: *const petal_map,
    copy: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, copy], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(copy, || petal_map::get(map)?.copy()) }
    })
}

/// The size of the image in bytes. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialized_size(map: *const petal_map, size: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [map, size], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { size.write(petal_map::get(map)?.serialized_size()) };
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_map_serialized_size()` bytes. `written` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialize(
    map: *const petal_map,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, buffer], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { serialize(petal_map::get(map)?, buffer, length, written) }
    })
}

/// Gives the image to `write`, piece by piece and in order. `PETAL_ERR_CALLBACK` if `write` returns false. `context` is
/// passed on and may be NULL. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialize_to(
    map: *const petal_map,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { serialize_to(petal_map::get(map)?, write, context) }
    })
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_save(
    map: *const petal_map,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, path], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_map::get(map)?.save(read_path(path)) }
    })
}

/// Checks the bytes that are there now, by reading them: `PETAL_ERR_CORRUPT`, naming them, if they do not match their
/// checksums, or the kind cannot have such a payload. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_verify(map: *const petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_map::get(map)? }.verify()
    })
}

/// Describes a map: `hashes` are the cells of a key, `bits` those of all cells. Constant time: reads no payload.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_describe(
    map: *const petal_map,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, description], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_map::get(map)?));
        }
        Ok(())
    })
}

/// Measures a map: `fill` is the share of the cells that keys have taken, `false_positive_rate` the share of absent
/// keys that are given a value, `count_estimate` the distinct keys: exactly if it was built, otherwise judging by the
/// fill, and NaN if it is too full to tell. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_statistics(
    map: *const petal_map,
    statistics: *mut petal_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [map, statistics], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { boundary::check_out(statistics)? };
        // SAFETY: as above.
        let map = unsafe { petal_map::get(map)? };
        let measure = map.measure();
        let value = petal_statistics {
            struct_size: 0,
            fill: measure.fill,
            false_positive_rate: measure.false_positive_rate,
            false_positive_rate_floor: 0.0,
            count_estimate: map.keys_of(&measure).unwrap_or(f64::NAN),
            saturated: 0,
        };
        // SAFETY: as above.
        unsafe { boundary::write(statistics, value) };
        Ok(())
    })
}
