//! SKETCHES: WHOLE KEYS
//!
//! With the parameter `key_bytes` (8 to 64) a sketch of the kind `riblt` holds whole keys of that many bytes instead of
//! numbers, and lists the keys themselves. It refuses byte keys of another length with `PETAL_ERR_OUT_OF_RANGE`, and
//! hashes with `PETAL_ERR_UNSUPPORTED`. It takes numbers if `key_bytes` is 8. The key of a number is then its eight
//! little-endian bytes.

use super::petal_sketch;
use crate::arguments::{Out, arguments, list};
use crate::boundary::{boundary, number};
use crate::status::{petal_error, petal_status};
use petal_core::KeyListing;
use std::ffi::c_void;

/// Returns how many bytes a key has, if the sketch holds whole keys. 0 if it holds numbers, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_key_bytes(sketch: *const petal_sketch) -> usize {
    number!([read sketch], sketch.key_bytes())
}

/// Lists the whole keys of a sketch: first those with -1, then those with 1, each in ascending order of their bytes.
/// `count` becomes the number of all listed keys. The function writes the first `room` of these to `keys`, `key_bytes`
/// bytes each, and their signs to `signs`; `keys` and `signs` may be NULL if `room` is 0. In all else this is as
/// `petal_sketch_list()`. A sketch lists at most one key for each of its symbols. Returns `PETAL_ERR_UNSUPPORTED` for a
/// sketch of numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_list_keys(
    sketch: *const petal_sketch,
    keys: *mut c_void,
    signs: *mut i64,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out count, out is_complete], {
        arguments!(room_bytes(keys, room.saturating_mul(sketch.key_bytes())), room(signs, room));
        write_keys(sketch.list_keys()?, keys, signs, count, is_complete);
        Ok(())
    })
}

/// Writes a listing of whole keys to the outputs of a caller.
pub(super) fn write_keys(
    found: KeyListing,
    keys: &mut [u8],
    signs: &mut [i64],
    count: Out<usize>,
    is_complete: Out<bool>,
) {
    let length = keys.len().min(found.keys.len());
    keys[..length].copy_from_slice(&found.keys[..length]);
    list(found.signs.into_iter(), signs, count);
    is_complete.set(found.is_complete);
}
