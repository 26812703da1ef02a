//! MAPS: BUILDING
//!
//! A map builder collects keys with their values, 24 bytes a key, and then makes the map for exactly the distinct keys
//! that came. For a kind that starts empty, the builder joins the values of a key. A map builder takes the options of a
//! filter builder. It uses these fields of its spec: kind (0 is `PETAL_KIND_BLOOMIER`), false_positive_rate, hash
//! function, seed, key and parameters.

use super::{give, petal_map};
use crate::boundary::{self, NO_ERROR, boundary, read_path};
use crate::builder::{petal_builder_options, read_options};
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::handle::{self, Handle};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Keys, MapBuilder};
use std::ffi::{c_char, c_void};

/// Collects keys with their values. Free it with `petal_map_builder_free()`.
pub struct petal_map_builder(Handle<MapBuilder>);

/// Makes a builder of the map that a spec describes. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_new(
    spec: *const petal_spec,
    options: *const petal_builder_options,
    builder: *mut *mut petal_map_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, builder], {
        // SAFETY: checked for NULL; by the conventions `spec` is a struct of its size, `options` is NULL or a struct of
        // its size, and `builder` is writable.
        unsafe {
            let (spec, options) = (petal_spec::get(spec)?, read_options(options)?);
            handle::give(builder, || Ok(petal_map_builder(Handle::new(MapBuilder::new(&spec, options)?))))
        }
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
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses, and `key` has
        // `length` bytes.
        unsafe {
            let key = boundary::bytes(key.cast(), length, "key")?;
            (*builder).0.change(|builder| builder.put(key, value))?
        }
    })
}

/// Gives a uint64_t key a value, as `petal_map_builder_put()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_u64(
    builder: *mut petal_map_builder,
    key: u64,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses.
        unsafe { (*builder).0.change(|builder| builder.put_u64(key, value))? }
    })
}

/// Gives a value to the key with this 64-bit hash, which you made. Two keys with one hash are one key. Returns
/// `PETAL_ERR_UNSUPPORTED` unless the spec has `PETAL_HASH_EXTERNAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_hash(
    builder: *mut petal_map_builder,
    hash: u64,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses.
        unsafe { (*builder).0.change(|builder| builder.put_hash(hash, value))? }
    })
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
    let put = |keys: &Keys, answers: Option<&mut Answers>| {
        if builder.is_null() {
            return Err(boundary::null("builder"));
        }
        keys::refuse_answers(answers)?;
        // SAFETY: by the conventions `builder` is a handle that nobody else uses, and `values` is NULL or an array with
        // an element a key.
        unsafe {
            let values = boundary::elements(values, keys.len(), "values")?;
            (*builder).0.change(|builder| builder.put_batch(keys, values))
        }
    };
    // SAFETY: by the conventions `keys` is NULL or a struct with arrays as long as it says, and `answers` is NULL or a
    // struct with room for all answers.
    unsafe { keys::take(keys, answers, error, put) }
}

/// How many keys were offered, duplicates included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_offered(
    builder: *const petal_map_builder,
    offered: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, offered], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody changes, and `offered` is
        // writable.
        unsafe { offered.write((*builder).0.get()?.count()) };
        Ok(())
    })
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
    boundary!(error, [builder, map], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses, and `map` is
        // writable.
        unsafe { give(map, || (*builder).0.change(|builder| builder.finish())?) }
    })
}

/// Makes the map straight into a file, which replaces an old file atomically, and empties the builder. On a failure the
/// old file and the keys stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_save(
    builder: *mut petal_map_builder,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, path], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses, and `path` is a
        // string.
        unsafe { (*builder).0.change(|builder| builder.save(read_path(path)?))? }
    })
}
