//! BUILDERS: KEYS FROM SEVERAL PROCESSES
//!
//! Several processes or machines can collect the keys of one filter. Each has a builder, all with the same spec. Those
//! that do not make the filter write their keys as bytes, and the one that makes it takes the bytes in. The filter is
//! the same as from one builder with all keys, byte for byte, in whatever order they come. docs/choosing.md has an
//! example.
//!
//! The bytes have the keys that were added, with their counts, the excluded keys and the frequent non-members; 8 bytes
//! a key, and 12, 16 or 24 where a builder keeps that many. docs/format.md specifies them. Tell the builder that makes
//! the filter what `petal_builder_update()` takes. A file with such bytes may be larger than memory: map it.

use crate::boundary::boundary;
use crate::builder::petal_builder;
use crate::image::petal_write_callback;
use crate::status::{petal_error, petal_status};
use std::ffi::c_void;

/// Gives the builder's keys to `write`, piece by piece and in order. The keys stay in the builder, which sorts them
/// first. The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns
/// false, and `PETAL_ERR_CANCELLED` if the builder's progress callback cancels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_serialize_to(
    builder: *mut petal_builder,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, callback(write, context)], {
        builder.by(|builder| builder.serialize_to(&mut |bytes| write.take(bytes)))
    })
}

/// Takes in the keys of another builder, as `petal_builder_serialize_to()` gave them, as if they had been added here.
/// `state` has `length` bytes, at any address. Returns `PETAL_ERR_INCOMPATIBLE` if that builder has another kind, hash
/// function, seed, secret key, size or parameter. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_NEWER_VERSION`,
/// `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes that no builder wrote. After a failure the builder has the
/// keys that it had before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_merge(
    builder: *mut petal_builder,
    state: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, state, bytes(state, length)], builder.by(|builder| builder.merge(state)))
}
