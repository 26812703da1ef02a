// Written by `make layers` from tools/layers/image.rs.txt: change that, not this.

//! AGGREGATES: IMAGES AND FILES
//!
//! The image of an aggregate has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.

use super::petal_aggregate;
use crate::boundary::{self, boundary};
use crate::describe::{description_of, petal_description};
use crate::filter::files::petal_open_options;
use crate::image::{base_of, petal_write_callback, serialize};
use crate::status::{petal_error, petal_status};
use petal_core::Image;
use std::ffi::{c_char, c_void};

/// Opens a file that is an image. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_open(
    path: *const c_char,
    options: *const petal_open_options,
    aggregate: *mut *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [path path, given options, give aggregate], {
        aggregate.made(|| petal_core::open_as(path, &options))
    })
}

/// Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_open_descriptor(
    descriptor: isize,
    offset: u64,
    options: *const petal_open_options,
    aggregate: *mut *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [given options, give aggregate], {
        let descriptor = boundary::descriptor(descriptor)?;
        aggregate.made(|| petal_core::open_descriptor_as(descriptor, offset, &options))
    })
}

/// Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
/// handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_open_in_buffer(
    buffer: *mut c_void,
    length: usize,
    options: *const petal_open_options,
    aggregate: *mut *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [buffer, given options, give aggregate], {
        let base = base_of(buffer, length)?;
        // SAFETY: by the conventions `buffer` has `length` writable bytes for as long as the handle lives.
        aggregate.made(|| unsafe { petal_core::open_in_buffer_as(base, length, &options) })
    })
}

/// Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
/// ignores the mode in `options`, which is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_load(
    image: *const c_void,
    length: usize,
    options: *const petal_open_options,
    aggregate: *mut *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [image, bytes(image, length), given options, give aggregate], {
        aggregate.made(|| petal_core::load_as(image, &options))
    })
}

/// Copies an aggregate into new memory, wherever the aggregate lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_copy(
    aggregate: *const petal_aggregate,
    copy: *mut *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, give copy], copy.made(|| aggregate.copy()))
}

/// The size of the image in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_serialized_size(
    aggregate: *const petal_aggregate,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, out size], {
        size.set(aggregate.serialized_size());
        Ok(())
    })
}

/// Writes the image into a buffer of at least `petal_aggregate_serialized_size()` bytes. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_serialize(
    aggregate: *const petal_aggregate,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, buffer, room_bytes(buffer, length), maybe written], {
        serialize(aggregate, buffer, written)
    })
}

/// Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
/// `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_serialize_to(
    aggregate: *const petal_aggregate,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, callback(write, context)], aggregate.serialize_to(&mut |bytes| write.take(bytes)))
}

/// Writes the image to a file, atomically, as `petal_filter_save()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_save(
    aggregate: *const petal_aggregate,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, path path], aggregate.save(path))
}

/// Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
/// their checksums, or if no aggregate can have such a payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_verify(
    aggregate: *const petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate], aggregate.verify())
}

/// Describes an aggregate by its header, in constant time. `hashes` is the number of counters of an entry, `bits` the
/// number of bits of all memories, and `insertions` the number of participants that are aggregated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_describe(
    aggregate: *const petal_aggregate,
    description: *mut petal_description,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, fill description], {
        description.set(description_of(aggregate));
        Ok(())
    })
}

/// Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_sync(
    aggregate: *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate], aggregate.by(|aggregate| aggregate.sync()))
}

/// Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_mark_clean(
    aggregate: *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate], aggregate.by(|aggregate| aggregate.mark_clean()))
}
