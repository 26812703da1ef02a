//! SKETCHES: IMAGES AND FILES
//!
//! The image of a sketch has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::{give, petal_sketch};
use crate::boundary::{self, boundary, read_path};
use crate::describe::{description_of, petal_description};
use crate::facets::combine::PETAL_COMPATIBILITY_ID_SIZE;
use crate::filter::files::{petal_open_options, read_options};
use crate::image::{petal_write_callback, serialize, serialize_to};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_open(
    path: *const c_char,
    options: *const petal_open_options,
    sketch: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, sketch], {
        // SAFETY: checked for NULL; by the conventions `path` is a string, `options` is NULL or a struct of its size,
        // and `sketch` is writable.
        unsafe { give(sketch, || petal_core::open_as(read_path(path)?, &read_options(options)?)) }
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
    boundary!(error, [sketch], {
        let descriptor = boundary::descriptor(descriptor)?;
        // SAFETY: checked for NULL; by the conventions `options` is NULL or a struct of its size, and `sketch` is
        // writable.
        unsafe { give(sketch, || petal_core::open_descriptor_as(descriptor, offset, &read_options(options)?)) }
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
    boundary!(error, [buffer, sketch], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked for NULL; by the conventions `buffer` has `length` writable bytes, `options` is NULL or a
        // struct of its size, and `sketch` is writable.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(sketch, || petal_core::open_buffer_as(base, length, &read_options(options)?))
        }
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
    boundary!(error, [image, sketch], {
        // SAFETY: checked for NULL; by the conventions `image` has `length` bytes, `options` is NULL or a struct of its
        // size, and `sketch` is writable.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(sketch, || petal_core::load_as(image, &read_options(options)?))
        }
    })
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_serialized_size(
    sketch: *const petal_sketch,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, size], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes, and `size` is
        // writable.
        unsafe { size.write(petal_sketch::get(sketch)?.serialized_size()) };
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
    boundary!(error, [sketch, buffer], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes, `buffer` has `length`
        // writable bytes, and `written` is NULL or writable.
        unsafe { serialize(petal_sketch::get(sketch)?, buffer, length, written) }
    })
}

/// Gives the image to `write`, piece by piece and in order. The function passes `context`, which may be NULL, to
/// `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_serialize_to(
    sketch: *const petal_sketch,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        unsafe { serialize_to(petal_sketch::get(sketch)?, write, context) }
    })
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_save(
    sketch: *const petal_sketch,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, path], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes, and `path` is a
        // string.
        unsafe { petal_sketch::get(sketch)?.save(read_path(path)?) }
    })
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if the kind cannot have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_verify(sketch: *const petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [sketch], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        unsafe { petal_sketch::get(sketch)? }.verify()
    })
}

/// Describes a sketch. `hashes` is the number of cells of a number, `bits` the number of bits of all cells,
/// and `offered` the number of insertions less that of removals. Constant time: reads no payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_describe(
    sketch: *const petal_sketch,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, description], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes, and `description` is a
        // struct of its size.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_sketch::get(sketch)?));
        }
        Ok(())
    })
}

/// Writes `PETAL_COMPATIBILITY_ID_SIZE` bytes that are the same for two sketches if one can be subtracted from the
/// other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_compatibility_id(
    sketch: *const petal_sketch,
    id: *mut u8,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, id], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        let bytes: [u8; PETAL_COMPATIBILITY_ID_SIZE] = unsafe { petal_sketch::get(sketch)? }.base().compatibility_id();
        // SAFETY: checked for NULL; `id` has room for `PETAL_COMPATIBILITY_ID_SIZE` bytes, as the function's comment
        // asks.
        unsafe { id.cast::<[u8; PETAL_COMPATIBILITY_ID_SIZE]>().write(bytes) };
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_sync(sketch: *mut petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [sketch], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody else uses.
        unsafe { (*sketch).0.change(|sketch| sketch.sync())? }
    })
}

/// Declares that the bytes are right as they are now, as `petal_filter_vouch()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_vouch(sketch: *mut petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [sketch], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody else uses.
        unsafe { (*sketch).0.change(|sketch| sketch.vouch())? }
    })
}
