//! BUILDERS: EXCLUDED KEYS
//!
//! For kinds whose filters make no error for the keys of a known universe, such as `exact_set`. Its members are added
//! to a builder as for every kind, and all other keys of the universe are excluded. The filter contains every member
//! and no excluded key. A key that was added and excluded is found when the filter is made: `petal_builder_finish()`
//! then returns `PETAL_ERR_CONTRADICTION` and says the key's hash.

use crate::boundary::{NO_ERROR, boundary};
use crate::builder::petal_builder;
use crate::filter::keys::{self, petal_answers, petal_keys, taking};
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};
use std::ffi::c_void;

/// Excludes a key. Returns `PETAL_ERR_UNSUPPORTED` if the kind takes no excluded keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_exclude(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [change builder, bytes(key, length)], builder.by(|builder| builder.exclude(key)))
}

/// Excludes a hash, as `petal_builder_exclude()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_exclude_hash(builder: *mut petal_builder, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.exclude_hash(hash)))
}

/// Excludes keys in order. `answers` is nullable: its field `done` tells how many keys were excluded. A builder finds
/// out nothing about a key, so it refuses every output in `answers`. Returns `PETAL_ERR_UNSUPPORTED` if the kind takes
/// no excluded keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_exclude_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change builder], {
        keys::refuse_answers(answers)?;
        builder.always(|builder| builder.exclude_batch(keys))
    })
}

/// Makes the builder bring a filter up to date. The next filter that the builder makes is `old`, followed by what
/// changes of its answers. Give the builder the whole universe of the new filter, members and excluded keys, as for a
/// filter that is made anew. The builder copies `old`, which may be an image in place. The delta of both filters
/// (petal_wire.h) is then as small as the change.
///
/// Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot do this, and `PETAL_ERR_INCOMPATIBLE` if `old` has another kind,
/// hash function, seed or `partition_prefix_bytes` than the builder's spec says. Finishing returns `PETAL_ERR_FULL` if
/// the older filter was brought up to date 64 times already. Each update adds to the rate for non-members. So if the
/// builder's spec has a `false_positive_rate`, there are fewer updates, or none at low rates: finishing returns
/// `PETAL_ERR_CONTRADICTION` where the rate would be passed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_update(
    builder: *mut petal_builder,
    old: *const petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, read old], builder.by(|builder| builder.update(old)))
}
