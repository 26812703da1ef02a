// Written by `make layers` from tools/layers/wire.rs.txt: change that, not this.

//! MAPS
//!
//! Maps take packed forms and deltas as filters do.

use super::{size_of, write_into};
use crate::boundary::boundary;
use crate::filter::files::petal_open_options;
use crate::image::petal_write_callback;
use crate::map::petal_map;
use crate::status::{petal_error, petal_status};
use petal_core::wire;
use std::ffi::c_void;

/// Writes the length in bytes of a map's packed form. The function packs the map for that, so it takes as long as
/// `petal_map_pack()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_packed_size(
    map: *const petal_map,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, out size], size.answer(size_of(&|sink| wire::pack(map, sink))))
}

/// Writes a map's packed form into a buffer. Returns `PETAL_ERR_BUFFER_TOO_SMALL` for a buffer that is too small,
/// `PETAL_ERR_UNCLEAN` if nobody marked the map clean, and `PETAL_ERR_CORRUPT` if the map lies in an image that does
/// not match its checksums. On a failure the buffer may have been written to. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_pack(
    map: *const petal_map,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, buffer, room_bytes(buffer, length), maybe written], {
        write_into(&|sink| wire::pack(map, sink), buffer, written)
    })
}

/// Gives a map's packed form to `write`, piece by piece and in order, and otherwise does what `petal_map_pack()` does.
/// The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_pack_to(
    map: *const petal_map,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read map, callback(write, context)], wire::pack(map, &mut |bytes| write.take(bytes)))
}

/// Makes a map from its packed form, in its own memory. `most_bytes` is the most bytes that the map's image may have: a
/// form that claims more gives `PETAL_ERR_TOO_LARGE` before memory is asked for. The function ignores the mode in
/// `options`, which is nullable. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes
/// that are no packed form, and `PETAL_ERR_UNSUPPORTED` for that of a filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_unpack(
    packed: *const c_void,
    length: usize,
    most_bytes: u64,
    options: *const petal_open_options,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [packed, give map, bytes(packed, length), given options], {
        map.made(|| wire::unpack(packed, most_bytes, options.secret.as_ref()))
    })
}

/// Writes the length in bytes of the delta from `older` to `newer`. The function makes the delta for that, so it takes
/// as long as `petal_map_delta()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_delta_size(
    older: *const petal_map,
    newer: *const petal_map,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read older, read newer, out size], {
        size.answer(size_of(&|sink| wire::delta(older, newer, sink)))
    })
}

/// Writes into a buffer what changed from `older`, the older state of a map, to `newer`, the newer one. Returns
/// `PETAL_ERR_INCOMPATIBLE` if the maps differ in kind, layout, geometry, hash function, seed or secret. Otherwise
/// returns what `petal_map_pack()` does. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_delta(
    older: *const petal_map,
    newer: *const petal_map,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read older, read newer, buffer, room_bytes(buffer, length), maybe written], {
        write_into(&|sink| wire::delta(older, newer, sink), buffer, written)
    })
}

/// Gives a delta to `write`, piece by piece and in order, and otherwise does what `petal_map_delta()` does. The
/// function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_delta_to(
    older: *const petal_map,
    newer: *const petal_map,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read older, read newer, callback(write, context)], {
        wire::delta(older, newer, &mut |bytes| write.take(bytes))
    })
}

/// Changes the map from the older state of a delta to the newer one. Returns `PETAL_ERR_INCOMPATIBLE` if the map is not
/// in the older state. `most_bytes` is the most bytes that the image of the newer state may have. The map must be in
/// its own memory. A failure changes nothing. The function needs memory for both states meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_patch(
    map: *mut petal_map,
    delta: *const c_void,
    length: usize,
    most_bytes: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change map, delta, bytes(delta, length)], {
        map.by(|map| map.patch(delta, most_bytes))
    })
}
