//! SKETCHES: BYTES OF MINISKETCH
//!
//! A sketch of the kind `pinsketch` has the bytes of the library minisketch. The bytes say neither the bits of an
//! element nor the capacity, so both sides have to know them: `field_bits` and `capacity` of the spec. A sketch of
//! minisketch that takes `length` bytes has the capacity 8 * length / field_bits, rounded down.
//!
//! A sketch of Petal has a checksum of its set too, so that a list of too many differences is not called complete. The
//! bytes of minisketch have none, and neither has a sketch that such bytes went into: a list may then be wrong and
//! called complete. For numbers in a row, such as consecutive ids, that is usual. The page of `pinsketch` says when.

use super::petal_sketch;
use crate::arguments::list;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::Status;
use std::ffi::c_void;

/// Writes the bytes that minisketch serializes for a sketch of the same elements. `written` becomes the number of
/// these bytes. `buffer` may be NULL if `length` is 0: the function then only counts them. Returns
/// `PETAL_ERR_BUFFER_TOO_SMALL` if `length` is another number less than that, and `PETAL_ERR_UNSUPPORTED` for a kind
/// that minisketch does not have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_export_minisketch(
    sketch: *const petal_sketch,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out written, room_bytes(buffer, length)], {
        let bytes = sketch.export_minisketch()?;
        if length > 0 && length < bytes.len() {
            let message = format_args!("the buffer has {length} bytes, the sketch needs {}", bytes.len());
            return Err(boundary::error(Status::BufferTooSmall, message));
        }
        list(bytes.into_iter(), buffer, written);
        Ok(())
    })
}

/// Takes the elements of a serialized sketch of minisketch instead of the numbers that are there. The sketch has to
/// have the same capacity and bits of an element as the sketch of minisketch. `insertions` of `petal_sketch_describe()`
/// is 0 afterwards, and the sketch has no checksum. Returns `PETAL_ERR_FOREIGN` if the bytes have another length or a
/// bit set after the last sum, and changes nothing then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_import_minisketch(
    sketch: *mut petal_sketch,
    bytes: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change sketch, bytes(bytes, length)], sketch.by(|sketch| sketch.import_minisketch(bytes)))
}
