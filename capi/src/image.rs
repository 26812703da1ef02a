//! FILTERS: IMAGES
//!
//! An image is a header of 256 bytes, the payload and a table of checksums.
//!
//! An image is *clean* if somebody marked exactly these bytes clean and the bytes match their checksums. Otherwise
//! nobody marked the image clean, and it is *unclean*. A handle that changes an image in place marks the image unclean
//! on its disk before the first change. If the image was clean before, `petal_filter_sync()` or `petal_filter_free()`
//! makes it clean again.
//!
//! If the process dies between, the image still opens. Lookups still find every key whose insertion had returned,
//! unless the machine itself went down. The same holds for what other calls changed, and for all handles but sketches:
//! what a sketch lists then cannot be relied on. The change under way may be made in part, and that of an aggregate is
//! undone. Do not repeat a removal that was under way: it could take from other keys. The image stays unclean, and so
//! does every copy of it, until somebody calls `petal_filter_mark_clean()`.
//!
//! The costs. The payload has regions of 64 KiB with a checksum each. Before a handle changes a region for the first
//! time since opening or syncing, the handle reads the region and compares the checksum. The handle does not change a
//! region that does not match (`PETAL_ERR_CORRUPT`), so that damage never gets a new checksum. Sync and free read the
//! changed regions, and the table, which has a word for each region. Clearing, merging, intersecting and a writable
//! view change all regions.

use crate::arguments::Out;
use crate::boundary::{self, boundary};
use crate::filter::files::petal_open_options;
use crate::filter::petal_filter;
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Image, Result, Status};
use std::ffi::c_void;
use std::ptr::NonNull;

/// Makes an empty filter inside `buffer`, which has at least `petal_spec_image_size()` bytes and is aligned to 8 (64 is
/// faster). The buffer becomes a complete image. If the buffer is shared memory, other processes may open the image.
/// The buffer must outlive the handle. `petal_filter_sync()` and `petal_filter_free()` bring the image's count and
/// checksum up to date.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_new_in_buffer(
    spec: *const petal_spec,
    buffer: *mut c_void,
    length: usize,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [given spec, buffer, give filter], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        filter.made(|| unsafe { petal_core::new_in_buffer(&spec, base, length) })
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file; other things may follow the image. On Windows
/// `descriptor` is the file's HANDLE: a number of a C runtime means nothing in another runtime. The descriptor stays
/// yours, and you may close it right away. If the mode allows changes, the library opens the file anew, through /proc
/// on Linux, because locks belong to an open file. Where the library cannot open the file anew, handles from one
/// descriptor and its copies do not keep each other out. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [given options, give filter], {
        let descriptor = boundary::descriptor(descriptor)?;
        filter.made(|| petal_core::open_descriptor(descriptor, offset, &options))
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. With `PETAL_OPEN_READ` the library never writes to the buffer. While a handle has the buffer open for
/// writing, no other handle of this process may use it. Processes that share the buffer may read it through their own
/// handles. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, given options, give filter], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        filter.made(|| unsafe { petal_core::open_in_buffer(base, length, &options) })
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, bytes(image, length), given options, give filter], {
        filter.made(|| petal_core::load(image, &options))
    })
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialized_size(
    filter: *const petal_filter,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out size], {
        size.set(filter.serialized_size());
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_filter_serialized_size()` bytes. Threads and processes may insert
/// meanwhile. The written image has every key whose insertion happened before, and its checksums match the written
/// bytes. The image is unclean if the filter is `PETAL_STATE_STAYS_UNCLEAN`. A handle marks its own changes clean, and
/// handles that share an image do so for each other.
///
/// Returns `PETAL_ERR_CORRUPT` if the filter lies in an image that does not match its checksums. Returns
/// `PETAL_ERR_UNCLEAN` if the filter was opened for reading and another process begins to change it meanwhile.
/// `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialize(
    filter: *const petal_filter,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, buffer, room_bytes(buffer, length), maybe written], {
        serialize(filter, buffer, written)
    })
}

/// Writes an image into a buffer.
pub(crate) fn serialize(image: &impl Image, buffer: &mut [u8], written: Out<usize>) -> Result<()> {
    let size = image.serialized_size();
    if size > buffer.len() as u64 {
        let message = format_args!("the buffer has {} bytes, the image {size}", buffer.len());
        return Err(boundary::error(Status::BufferTooSmall, message));
    }
    let mut done = 0;
    image.serialize_to(&mut |bytes| {
        buffer[done..done + bytes.len()].copy_from_slice(bytes);
        done += bytes.len();
        Ok(())
    })?;
    written.set(done);
    Ok(())
}

/// The start of a buffer that becomes part of a handle.
pub(crate) fn base_of(buffer: *mut c_void, length: usize) -> Result<NonNull<u8>> {
    if length > isize::MAX as usize {
        return Err(boundary::error(Status::TooLarge, format_args!("{length} bytes of buffer are more than can be")));
    }
    NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))
}

/// Takes the next `length` bytes of an image. Return false to stop. The callback must not unwind (throw) through the
/// library.
pub type petal_write_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, bytes: *const c_void, length: usize) -> bool>;

/// Gives the image to `write`, piece by piece and in order, and otherwise does what `petal_filter_serialize()` does.
/// Threads and processes may insert meanwhile. The function passes `context`, which may be NULL, to `write`.
///
/// Returns `PETAL_ERR_CALLBACK` if `write` returns false. Returns `PETAL_ERR_CORRUPT` if the filter lies in an image
/// that does not match its checksums. Returns `PETAL_ERR_UNCLEAN` if the filter was opened for reading and another
/// process begins to change it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_serialize_to(
    filter: *const petal_filter,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, callback(write, context)], filter.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Brings an image that was changed in place up to date on its disk. The image becomes clean if it was clean when the
/// handle opened it and nobody merged anything unclean into it. Otherwise, and while handles share the image, its bytes
/// are on the disk but it stays unclean: see `petal_filter_mark_clean()`. After a failure the image stays unclean, and
/// another call tries again. The cost depends on what was changed, see above. Filters in their own memory need no sync.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_sync(filter: *mut petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [change filter], filter.by(|filter| filter.sync()))
}

/// Declares that the bytes are right as they are now. The filter becomes clean, and an image in place gets new
/// checksums, on its disk too. Call this function if you know that all keys are there, because you inserted them again,
/// or if you can do without some. Reads the whole payload. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the image is
/// open for reading or shared. Returns `PETAL_ERR_CORRUPT` if no filter of this kind can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_mark_clean(filter: *mut petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [change filter], filter.by(|filter| filter.mark_clean()))
}

/// Reads and checks all bytes as they are now, whatever this handle or another one did since opening. Returns
/// `PETAL_ERR_CORRUPT`, naming the bytes, if a region does not match its checksum. Returns `PETAL_ERR_UNCLEAN` if all
/// regions match, but nobody marked the payload clean, or not yet: somebody is changing it, or was when the process
/// ended. A filter in its own memory has no checksums: there the function checks whether the kind can have such a
/// payload, and whether the filter is unclean.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_verify(filter: *const petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [read filter], filter.verify())
}
