//! SKETCHES: WHOLE KEYS
//!
//! With the parameter `key_bytes` (8 to 64) a sketch of the kind `riblt` holds whole keys of that many bytes instead of
//! numbers, and lists the keys themselves. It refuses byte keys of another length with `PETAL_ERR_OUT_OF_RANGE`, and
//! hashes with `PETAL_ERR_UNSUPPORTED`. It takes numbers if `key_bytes` is 8. The key of a number is then its eight
//! little-endian bytes.

use super::petal_sketch;
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{KeyListing, Result};
use std::ffi::c_void;
use std::ptr;

/// Returns how many bytes a key has, if the sketch holds whole keys. 0 if it holds numbers, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_key_bytes(sketch: *const petal_sketch) -> usize {
    let mut bytes = 0;
    let _ = boundary!(NO_ERROR, [sketch], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        bytes = unsafe { petal_sketch::get(sketch)? }.key_bytes();
        Ok(())
    });
    bytes
}

/// Lists the whole keys of a sketch: first those with -1, then those with 1, each in ascending order of their bytes.
/// `count` becomes the number of all listed keys. The function writes the first `room` of these to `keys`, `key_bytes`
/// bytes each, and their counts to `counts`; both may be NULL if `room` is 0. In all else this is as
/// `petal_sketch_list()`. A sketch lists at most one key for each of its symbols. Returns `PETAL_ERR_UNSUPPORTED` for a
/// sketch of numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_list_keys(
    sketch: *const petal_sketch,
    keys: *mut c_void,
    counts: *mut i64,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, count, is_complete], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        let found = unsafe { petal_sketch::get(sketch)? }.list_keys()?;
        // SAFETY: by the conventions the outputs are writable, and `keys` and `counts` are NULL or have room for `room`
        // keys.
        unsafe { write_keys(&found, keys, counts, room, count, is_complete) }
    })
}

/// Writes a listing of whole keys to the outputs of a caller.
///
/// # Safety
/// `count` and `is_complete` are writable. `keys` and `counts` are NULL or have room for `room` keys and counts.
pub(super) unsafe fn write_keys(
    found: &KeyListing,
    keys: *mut c_void,
    counts: *mut i64,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
) -> Result<()> {
    if room > 0 && keys.is_null() {
        return Err(boundary::null("keys"));
    }
    if room > 0 && counts.is_null() {
        return Err(boundary::null("counts"));
    }
    let listed = room.min(found.counts.len());
    let bytes = found.keys.len().checked_div(found.counts.len()).map_or(0, |bytes| bytes * listed);
    // SAFETY: `count` and `is_complete` are writable, and `keys` and `counts` have room for `room`, as this function's
    // safety section says. Nothing is written through NULL, because a room of 0 writes nothing.
    unsafe {
        count.write(found.counts.len());
        is_complete.write(found.is_complete);
        if listed > 0 {
            ptr::copy_nonoverlapping(found.keys.as_ptr(), keys.cast(), bytes);
            ptr::copy_nonoverlapping(found.counts.as_ptr(), counts, listed);
        }
    }
    Ok(())
}
