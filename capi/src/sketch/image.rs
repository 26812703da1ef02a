// Written by `make layers` from tools/layers/image.rs.txt: change that, not this.

//! SKETCHES: IMAGES AND FILES
//!
//! The image of a sketch has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::petal_sketch;
use crate::boundary::{self, boundary};
use crate::describe::{description_of, petal_description};
use crate::filter::files::petal_open_options;
use crate::image::{base_of, petal_write_callback, serialize};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_open(
    path: *const c_char,
    options: *const petal_open_options,
    sketch: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give sketch], {
        sketch.made(|| petal_core::open_as(path, &options))
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    sketch: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [given options, give sketch], {
        let descriptor = boundary::descriptor(descriptor)?;
        sketch.made(|| petal_core::open_descriptor_as(descriptor, offset, &options))
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    sketch: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, given options, give sketch], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        sketch.made(|| unsafe { petal_core::open_in_buffer_as(base, length, &options) })
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    sketch: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, bytes(image, length), given options, give sketch], {
        sketch.made(|| petal_core::load_as(image, &options))
    })
}

/// Copies a sketch into new memory, wherever the sketch lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_copy(
    sketch: *const petal_sketch,
    copy: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, give copy], copy.made(|| sketch.copy()))
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_serialized_size(
    sketch: *const petal_sketch,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out size], {
        size.set(sketch.serialized_size());
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_sketch_serialized_size()` bytes. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_serialize(
    sketch: *const petal_sketch,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, buffer, room_bytes(buffer, length), maybe written], {
        serialize(sketch, buffer, written)
    })
}

/// Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
/// `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_serialize_to(
    sketch: *const petal_sketch,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, callback(write, context)], sketch.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_save(
    sketch: *const petal_sketch,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, path path], sketch.save(path))
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no sketch can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_verify(sketch: *const petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [read sketch], sketch.verify())
}

/// Describes a sketch by its header, in constant time. `hashes` is the number of cells of a number, `bits` the number
/// of bits of all cells, and `insertions` the number of insertions less that of removals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_describe(
    sketch: *const petal_sketch,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, fill description], {
        description.set(description_of(sketch));
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_sync(sketch: *mut petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.sync()))
}

/// Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_mark_clean(sketch: *mut petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.mark_clean()))
}
