//! MAPS: BUILDING
//!
//! A map builder collects keys with their values, 24 bytes a key, and then makes the map for exactly the distinct keys
//! that came. For a kind that starts empty, the builder joins the values of a key. A map builder takes the options of a
//! filter builder. It uses these fields of its spec: kind (0 is `PETAL_KIND_BLOOMIER`), false_positive_rate, hash
//! function, seed, secret and parameters.

use super::petal_map;
use crate::arguments::arguments;
use crate::boundary::{NO_ERROR, boundary};
use crate::builder::petal_builder_options;
use crate::filter::keys::{petal_answers, petal_keys, refuse_answers, taking};
use crate::handle::{self, Handle, owner};
use crate::image::petal_write_callback;
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::MapBuilder;
use std::ffi::{c_char, c_void};

/// Collects keys with their values. Free it with `petal_map_builder_free()`.
pub struct petal_map_builder(Handle<MapBuilder>);

owner!(imageless petal_map_builder, MapBuilder);

/// Makes a builder of the map that a spec describes. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_new(
    spec: *const petal_spec,
    options: *const petal_builder_options,
    builder: *mut *mut petal_map_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give builder, given spec, given options], {
        builder.made(|| MapBuilder::new(&spec, options))
    })
}

/// Frees a map builder. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_free(builder: *mut petal_map_builder) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(builder) }
}

/// Gives a key a value. The same value again changes nothing. Some kinds join different values of a key. For all other
/// kinds, making the map fails if a key has two values. Returns `PETAL_ERR_OUT_OF_RANGE` for a value that the parameter
/// value_bits cannot hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put(
    builder: *mut petal_map_builder,
    key: *const c_void,
    length: usize,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder, bytes(key, length)], builder.by(|builder| builder.put(key, value)))
}

/// Gives a uint64_t key a value, as `petal_map_builder_put()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_u64(
    builder: *mut petal_map_builder,
    key: u64,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.put_u64(key, value)))
}

/// Gives a value to the key with this 64-bit hash, which you made. Two keys with one hash are one key. Returns
/// `PETAL_ERR_UNSUPPORTED` unless the spec has `PETAL_HASH_EXTERNAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_hash(
    builder: *mut petal_map_builder,
    hash: u64,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.put_hash(hash, value)))
}

/// Gives keys their values in order. `values` has one value a key, and may be NULL if there are no keys. `answers`,
/// nullable, only tells how many keys the builder took: the first `done`. A builder refuses every form of answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_batch(
    builder: *mut petal_map_builder,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change builder], {
        refuse_answers(answers)?;
        arguments!(elements(values, keys.len()));
        builder.always(|builder| builder.put_batch(keys, values))
    })
}

/// How many keys were inserted, duplicates included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_key_count(
    builder: *const petal_map_builder,
    insertions: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read builder, out insertions], insertions.answer(Ok(builder.key_count())))
}

/// Makes the map and empties the builder. You may then use the builder again, or free it. Returns
/// `PETAL_ERR_CONTRADICTION`, naming the values, if a key has two. On a failure, and when the progress callback cancels
/// (`PETAL_ERR_CANCELLED`), the keys stay in the builder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_finish(
    builder: *mut petal_map_builder,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, give map], map.made(|| builder.by(|builder| builder.finish())))
}

/// Makes the map straight into a file, which replaces an old file atomically, and empties the builder. On a failure the
/// old file and the keys stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_save(
    builder: *mut petal_map_builder,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, path path], builder.by(|builder| builder.save(path)))
}

/// Gives the builder's keys and values to `write`, as `petal_builder_serialize_to()` (petal_more.h) gives keys. Returns
/// `PETAL_ERR_CONTRADICTION` as `petal_map_builder_finish()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_serialize_to(
    builder: *mut petal_map_builder,
    write: petal_write_callback,
    context: *mut c_void,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, callback(write, context)], {
        builder.by(|builder| builder.serialize_to(&mut |bytes| write.take(bytes)))
    })
}

/// Takes in the keys and values of another builder, as `petal_map_builder_serialize_to()` gave them, and otherwise does
/// what `petal_builder_merge()` (petal_more.h) does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_merge(
    builder: *mut petal_map_builder,
    state: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, state, bytes(state, length)], builder.by(|builder| builder.merge(state)))
}
