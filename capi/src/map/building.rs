//! MAPS: BUILDING
//!
//! A map builder collects keys with their values, 24 bytes a key, and then makes the map, sized for exactly the
//! distinct keys that came. Of a kind that is made empty it joins the values of a key. It takes the options of a
//! builder of filters, and of its spec kind (0 is `PETAL_KIND_BLOOMIER`), false_positive_rate, hash function, seed,
//! key, parameters.

use super::{give, petal_map};
use crate::boundary::{self, NO_ERROR, boundary, read_path};
use crate::builder::{petal_builder_options, read_options};
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::handle::{self, Handle};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Keys, MapBuilder};
use std::ffi::{c_char, c_void};

/// Collects keys with their values. Free it with `petal_map_builder_free()`. Since 0.1.
pub struct petal_map_builder(Handle<MapBuilder>);

/// Makes a builder of the map that a spec describes. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_new(
    spec: *const petal_spec,
    options: *const petal_builder_options,
    builder: *mut *mut petal_map_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let (spec, options) = (petal_spec::get(spec)?, read_options(options)?);
            handle::give(builder, || Ok(petal_map_builder(Handle::new(MapBuilder::new(&spec, options)?))))
        }
    })
}

/// Frees a map builder. NULL is allowed. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_free(builder: *mut petal_map_builder) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(builder) }
}

/// Gives a key a value. To give it the same value again changes nothing; two different values of a key are found when
/// the map is made, unless its kind is one that joins them. `PETAL_ERR_OUT_OF_RANGE` for a value that the parameter
/// value_bits cannot hold. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put(
    builder: *mut petal_map_builder,
    key: *const c_void,
    length: usize,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let key = boundary::bytes(key.cast(), length, "key")?;
            (*builder).0.change(|builder| builder.put(key, value))?
        }
    })
}

/// Gives a uint64_t key a value, as `petal_map_builder_put()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_u64(
    builder: *mut petal_map_builder,
    key: u64,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.put_u64(key, value))? }
    })
}

/// Gives a key that is known by a 64-bit hash from elsewhere a value. Two keys with one hash are one key.
/// `PETAL_ERR_UNSUPPORTED` unless the spec has `PETAL_HASH_EXTERNAL`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_put_hash(
    builder: *mut petal_map_builder,
    hash: u64,
    value: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.put_hash(hash, value))? }
    })
}

/// Gives keys their values in order; `values` has as many as there are keys, and may be NULL if there are none.
/// `answers`, nullable, only says how many were put, the first `done`; a form of answers is refused. Since 0.1.
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
        // SAFETY: not NULL; the conventions say the rest.
        unsafe {
            let values = boundary::elements(values, keys.len(), "values")?;
            (*builder).0.change(|builder| builder.put_batch(keys, values))
        }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, put) }
}

/// How many keys were offered, duplicates included. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_offered(
    builder: *const petal_map_builder,
    offered: *mut u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder, offered], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let handle = unsafe { &*builder };
        // SAFETY: as above.
        unsafe { offered.write(handle.0.get()?.count()) };
        Ok(())
    })
}

/// Makes the map and empties the builder, which may be used again or freed. `PETAL_ERR_CONTRADICTION` if a key was
/// given two values, naming them. On a failure, and when the progress callback cancels (`PETAL_ERR_CANCELLED`), the
/// keys stay. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_finish(
    builder: *mut petal_map_builder,
    map: *mut *mut petal_map,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, map], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(map, || (*builder).0.change(|builder| builder.finish())?) }
    })
}

/// Makes the map straight into a file, which replaces the one that is there atomically, and empties the builder. On a
/// failure the old file and the keys stay. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_map_builder_save(
    builder: *mut petal_map_builder,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, path], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.save(read_path(path)))? }
    })
}
