// Written by `make layers` from tools/layers/image.rs.txt: change that, not this.

//! ROUTERS: IMAGES AND FILES
//!
//! The image of a router has the same parts as that of a filter: its keys, its edges, and what came in and went out
//! over them. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::petal_router;
use crate::boundary::{self, boundary};
use crate::describe::{description_of, petal_description};
use crate::filter::files::petal_open_options;
use crate::image::{base_of, petal_write_callback, serialize};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_open(
    path: *const c_char,
    options: *const petal_open_options,
    router: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give router], {
        router.made(|| petal_core::open_as(path, &options))
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
    boundary!(error, [given options, give router], {
        let descriptor = boundary::descriptor(descriptor)?;
        router.made(|| petal_core::open_descriptor_as(descriptor, offset, &options))
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
    boundary!(error, [buffer, given options, give router], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        router.made(|| unsafe { petal_core::open_in_buffer_as(base, length, &options) })
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
    boundary!(error, [image, bytes(image, length), given options, give router], {
        router.made(|| petal_core::load_as(image, &options))
    })
}

/// Copies a router into new memory, wherever the router lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_copy(
    router: *const petal_router,
    copy: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, give copy], copy.made(|| router.copy()))
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_serialized_size(
    router: *const petal_router,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, out size], {
        size.set(router.serialized_size());
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
    boundary!(error, [read router, buffer, room_bytes(buffer, length), maybe written], {
        serialize(router, buffer, written)
    })
}

/// Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
/// `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_serialize_to(
    router: *const petal_router,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, callback(write, context)], router.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_save(
    router: *const petal_router,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, path path], router.save(path))
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no router can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_verify(router: *const petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [read router], router.verify())
}

/// Describes a router by its header, in constant time. `hashes` is the number of bits that a key sets, `bits` the
/// number of bits of a level, and `insertions` the number of insertions less that of removals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_describe(
    router: *const petal_router,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, fill description], {
        description.set(description_of(router));
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_sync(router: *mut petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.sync()))
}

/// Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_mark_clean(router: *mut petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.mark_clean()))
}
