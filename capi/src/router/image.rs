//! ROUTERS: IMAGES AND FILES
//!
//! The image of a router has the same parts as that of a filter: its keys, its edges, and what came in and went out
//! over them. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::{give, petal_router};
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
pub unsafe extern "C" fn petal_router_open(
    path: *const c_char,
    options: *const petal_open_options,
    router: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path, router], {
        // SAFETY: checked for NULL; by the conventions `path` is a string, `options` is NULL or a struct of its size,
        // and `router` is writable.
        unsafe { give(router, || petal_core::open_as(read_path(path)?, &read_options(options)?)) }
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    router: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [router], {
        let descriptor = boundary::descriptor(descriptor)?;
        // SAFETY: checked for NULL; by the conventions `options` is NULL or a struct of its size, and `router` is
        // writable.
        unsafe { give(router, || petal_core::open_descriptor_as(descriptor, offset, &read_options(options)?)) }
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    router: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, router], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked for NULL; by the conventions `buffer` has `length` writable bytes, `options` is NULL or a
        // struct of its size, and `router` is writable.
        unsafe {
            boundary::bytes(buffer.cast(), length, "buffer")?;
            give(router, || petal_core::open_buffer_as(base, length, &read_options(options)?))
        }
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    router: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, router], {
        // SAFETY: checked for NULL; by the conventions `image` has `length` bytes, `options` is NULL or a struct of its
        // size, and `router` is writable.
        unsafe {
            let image = boundary::bytes(image.cast(), length, "image")?;
            give(router, || petal_core::load_as(image, &read_options(options)?))
        }
    })
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_serialized_size(
    router: *const petal_router,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [router, size], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody changes, and `size` is
        // writable.
        unsafe { size.write(petal_router::get(router)?.serialized_size()) };
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_router_serialized_size()` bytes. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_serialize(
    router: *const petal_router,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [router, buffer], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody changes, `buffer` has `length`
        // writable bytes, and `written` is NULL or writable.
        unsafe { serialize(petal_router::get(router)?, buffer, length, written) }
    })
}

/// Gives the image to `write`, piece by piece and in order. The function passes `context`, which may be NULL, to
/// `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_serialize_to(
    router: *const petal_router,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [router], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody changes.
        unsafe { serialize_to(petal_router::get(router)?, write, context) }
    })
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_save(
    router: *const petal_router,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [router, path], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody changes, and `path` is a
        // string.
        unsafe { petal_router::get(router)?.save(read_path(path)?) }
    })
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if the kind cannot have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_verify(router: *const petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [router], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody changes.
        unsafe { petal_router::get(router)? }.verify()
    })
}

/// Describes a router. `hashes` is the number of bits that a key sets, `bits` the number of bits of a level, and
/// `offered` the number of insertions less that of removals. Constant time: reads no payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_describe(
    router: *const petal_router,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [router, description], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody changes, and `description` is a
        // struct of its size.
        unsafe {
            boundary::check_out(description)?;
            boundary::write(description, description_of(petal_router::get(router)?));
        }
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_sync(router: *mut petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [router], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody else uses.
        unsafe { (*router).0.change(|router| router.sync())? }
    })
}

/// Declares that the bytes are right as they are now, as `petal_filter_vouch()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_vouch(router: *mut petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [router], {
        // SAFETY: checked for NULL; by the conventions `router` is a handle that nobody else uses.
        unsafe { (*router).0.change(|router| router.vouch())? }
    })
}
