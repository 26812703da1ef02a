// Written by `make layers` from tools/layers/wire.rs.txt: change that, not this.

//! FILTERS
//!
//! The packed forms of filters, and what changed between two states of one.

use super::{size_of, write_into};
use crate::boundary::boundary;
use crate::filter::files::petal_open_options;
use crate::filter::petal_filter;
use crate::image::petal_write_callback;
use crate::status::{petal_error, petal_status};
use petal_core::wire;
use std::ffi::c_void;

/// Writes the length in bytes of a filter's packed form. The function packs the filter for that, so it takes as long as
/// `petal_filter_pack()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_packed_size(
    filter: *const petal_filter,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out size], size.answer(size_of(&|sink| wire::pack(filter, sink))))
}

/// Writes a filter's packed form into a buffer. If nobody inserts meanwhile, `petal_filter_packed_size()` says how many
/// bytes the form has. Threads may insert meanwhile: the form has every key whose insertion happened before, and may be
/// larger. Take `petal_filter_pack_to()` then. Returns `PETAL_ERR_BUFFER_TOO_SMALL` for a buffer that is too small,
/// `PETAL_ERR_UNCLEAN` if nobody marked the filter clean, and `PETAL_ERR_CORRUPT` if the filter lies in an image that
/// does not match its checksums. On a failure the buffer may have been written to. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_pack(
    filter: *const petal_filter,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, buffer, room_bytes(buffer, length), maybe written], {
        write_into(&|sink| wire::pack(filter, sink), buffer, written)
    })
}

/// Gives a filter's packed form to `write`, piece by piece and in order, and otherwise does what `petal_filter_pack()`
/// does. The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns
/// false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_pack_to(
    filter: *const petal_filter,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, callback(write, context)], wire::pack(filter, &mut |bytes| write.take(bytes)))
}

/// Makes a filter from its packed form, in its own memory. `most_bytes` is the most bytes that the filter's image may
/// have: a form that claims more gives `PETAL_ERR_TOO_LARGE` before memory is asked for. The function ignores the mode
/// in `options`, which is nullable. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes
/// that are no packed form, and `PETAL_ERR_UNSUPPORTED` for that of a map.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_unpack(
    packed: *const c_void,
    length: usize,
    most_bytes: u64,
    options: *const petal_open_options,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [packed, give filter, bytes(packed, length), given options], {
        filter.made(|| wire::unpack(packed, most_bytes, options.secret.as_ref()))
    })
}

/// Writes the length in bytes of the delta from `older` to `newer`. The function makes the delta for that, so it takes
/// as long as `petal_filter_delta()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_delta_size(
    older: *const petal_filter,
    newer: *const petal_filter,
    size: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read older, read newer, out size], {
        size.answer(size_of(&|sink| wire::delta(older, newer, sink)))
    })
}

/// Writes into a buffer what changed from `older`, the older state of a filter, to `newer`, the newer one. A filter
/// that grows may have grown. Returns `PETAL_ERR_INCOMPATIBLE` if the filters differ in kind, layout, geometry, hash
/// function, seed or secret. Otherwise returns what `petal_filter_pack()` does. `written` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_delta(
    older: *const petal_filter,
    newer: *const petal_filter,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read older, read newer, buffer, room_bytes(buffer, length), maybe written], {
        write_into(&|sink| wire::delta(older, newer, sink), buffer, written)
    })
}

/// Gives a delta to `write`, piece by piece and in order, and otherwise does what `petal_filter_delta()` does. The
/// function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_delta_to(
    older: *const petal_filter,
    newer: *const petal_filter,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read older, read newer, callback(write, context)], {
        wire::delta(older, newer, &mut |bytes| write.take(bytes))
    })
}

/// Changes the filter from the older state of a delta to the newer one. Returns `PETAL_ERR_INCOMPATIBLE` if the filter
/// is not in the older state. `most_bytes` is the most bytes that the image of the newer state may have. The filter
/// must be in its own memory. A failure changes nothing. The function needs memory for both states meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_patch(
    filter: *mut petal_filter,
    delta: *const c_void,
    length: usize,
    most_bytes: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change filter, delta, bytes(delta, length)], {
        filter.by(|filter| filter.patch(delta, most_bytes))
    })
}
