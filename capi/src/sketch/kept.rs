//! SKETCHES: KEPT KEYS
//!
//! A sketch cannot tell which keys it has. A handle can keep the keys too, in memory. Inserting a key twice is then
//! harmless, and `petal_stream_write()` can make as many coded symbols as are asked for.

use super::petal_sketch;
use crate::boundary::{answer, boundary, number};
use crate::status::{petal_error, petal_status};

/// From now on this handle keeps the set of keys in memory: some 25 to 45 bytes for a number. The sketch has to be
/// empty; otherwise the function returns `PETAL_ERR_CONTRADICTION`. Inserting a key that is there, and removing a key
/// that is not there, then succeed and change nothing.
///
/// An image has no kept keys, so a sketch that you open or load keeps none. `petal_sketch_copy()` copies them.
/// `petal_sketch_clear()` forgets them, and the handle goes on keeping. After `petal_sketch_merge()`,
/// `petal_sketch_subtract()` and `petal_sketch_import_minisketch()` the sketch is not that of a known set any more, and
/// its handle keeps no keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_keep_keys(sketch: *mut petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.keep_keys()))
}

/// Returns whether this handle keeps the keys. False for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_keeps_keys(sketch: *const petal_sketch) -> bool {
    answer!(false, [read sketch], sketch.keeps_keys())
}

/// Returns how many coded symbols the sketch has. 0 if its kind has none, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_symbol_count(sketch: *const petal_sketch) -> u64 {
    number!([read sketch], sketch.symbol_count())
}
