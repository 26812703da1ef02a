// Written by `make layers` from tools/layers/image.rs.txt: change that, not this.

//! MAPS: IMAGES AND FILES
//!
//! The image of a map has the same parts as that of a filter. A map opens for reading (`PETAL_OPEN_READ`) or as a copy
//! (`PETAL_OPEN_LOAD`). If its kind can change (MAPS: CHANGING), it also opens for one writer (`PETAL_OPEN_WRITE`). The
//! functions refuse other modes with `PETAL_ERR_UNSUPPORTED`; no map opens with `PETAL_OPEN_SHARE`. The image of a
//! filter does not open as a map, nor the other way round: the message of `PETAL_ERR_UNSUPPORTED` says what the image
//! is.

use super::petal_map;
use crate::boundary::{self, boundary};
use crate::describe::{description_of, petal_description};
use crate::filter::files::petal_open_options;
use crate::image::{base_of, petal_write_callback, serialize};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_open(
    path: *const c_char,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give map], {
        map.made(|| petal_core::open_as(path, &options))
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
    boundary!(error, [given options, give map], {
        let descriptor = boundary::descriptor(descriptor)?;
        map.made(|| petal_core::open_descriptor_as(descriptor, offset, &options))
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
    boundary!(error, [buffer, given options, give map], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        map.made(|| unsafe { petal_core::open_in_buffer_as(base, length, &options) })
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
    boundary!(error, [image, bytes(image, length), given options, give map], {
        map.made(|| petal_core::load_as(image, &options))
    })
}

/// Copies a map into new memory, wherever the map lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_copy(
    map: *const petal_map,
    copy: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, give copy], copy.made(|| map.copy()))
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialized_size(
    map: *const petal_map,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, out size], {
        size.set(map.serialized_size());
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
    boundary!(error, [read map, buffer, room_bytes(buffer, length), maybe written], {
        serialize(map, buffer, written)
    })
}

/// Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
/// `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_serialize_to(
    map: *const petal_map,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, callback(write, context)], map.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_save(
    map: *const petal_map,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, path path], map.save(path))
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no map can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_verify(map: *const petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [read map], map.verify())
}

/// Describes a map by its header, in constant time. `hashes` is the number of cells of a key, and `bits` is the number
/// of bits of all cells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_describe(
    map: *const petal_map,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, fill description], {
        description.set(description_of(map));
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_sync(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [change map], map.by(|map| map.sync()))
}

/// Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_mark_clean(map: *mut petal_map, error: *mut petal_error) -> petal_status {
    boundary!(error, [change map], map.by(|map| map.mark_clean()))
}
