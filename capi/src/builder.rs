//! BUILDERS
//!
//! A builder collects keys and then makes a filter sized for exactly the distinct keys that came.
//! It keeps 8 bytes a key, and 16 for kinds that remove or count keys.

use crate::boundary::{self, NO_ERROR, boundary, read_path};
use crate::compact;
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::filter::{give, petal_filter};
use crate::handle::{self, Handle};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::storage::try_box;
use petal_core::{Answers, Builder, BuilderOptions, Keys, Result};
use std::ffi::{c_char, c_void};

/// Collects keys. Free it with `petal_builder_free()`. Since 0.1.
pub struct petal_builder(Handle<Builder>);

/// Called by `petal_builder_finish()`, `petal_builder_save()` and the like, with the work done and the work in all. A
/// unit of work is a key in one phase: sorting, merging what went to a file, making the filter. The work in all is the
/// same number at all calls for one filter. The work done never falls, may be the same at several calls, and comes to
/// the work in all at the last one. Called at least once for every 2^21 keys that are worked on. False cancels, at any
/// call: nothing is made, no file is left, and the builder keeps its keys. It must not unwind (throw) through the
/// library. Since 0.1.
pub type petal_progress_callback = Option<unsafe extern "C" fn(context: *mut c_void, done: u64, total: u64) -> bool>;

/// How a builder works. NULL stands for all zeros. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_builder_options {
    /// sizeof(petal_builder_options).
    pub struct_size: usize,
    /// The most memory in bytes that keys take, and sorting them; what there is no room for goes to a temporary file. 0
    /// is no limit, otherwise at least 1048576. The finished filter and the stacks of threads are not counted. Kinds
    /// that are built from all of their keys are solved shard by shard, whatever the limit, so that it does not change
    /// their bytes: that takes some 22 bytes for each key of the largest shard, 38 of a map, and 5 MB. A shard has half
    /// of all keys, but 2^20 or all at least and 5 * 2^20 at most, so these are 28 MB and 45 MB of two million keys, and
    /// 118 MB and 202 MB at most. A lower limit holds until then, and is exceeded by as much.
    pub memory_limit: u64,
    /// The folder of that file, which has no name and goes with the builder. It has 8 bytes for each key, and 16 while
    /// the filter is made; twice that for kinds that remove or count keys. Copied. Nullable without a limit; if it is
    /// given it must be there and take files.
    pub temporary_directory: *const c_char,
    /// Nullable. Called in the thread that finishes or saves, until the builder is freed.
    pub progress: petal_progress_callback,
    /// Passed to `progress`; what it points to must live as long as the builder.
    pub progress_context: *mut c_void,
    /// How many threads make the filter, the caller's included; 0 and 1 are none but the caller's. Others run only
    /// while the filter is made. The filter is the same.
    pub threads: usize,
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_builder_options {
    const FIRST_SIZE: usize = 48;
}

/// The caller's pointer, which goes back to the caller's callback wherever the builder is used.
struct Context(*mut c_void);

// SAFETY: the pointer is not looked at; it goes back to the caller, in a thread in which the caller uses the builder.
unsafe impl Send for Context {}

impl Context {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

/// # Safety
/// `options` is NULL or a struct with its size set.
pub(crate) unsafe fn read_options(options: *const petal_builder_options) -> Result<BuilderOptions> {
    // SAFETY: the caller's promise.
    let Some(options) = (unsafe { boundary::read_optional(options)? }) else {
        return Ok(BuilderOptions::default());
    };
    // SAFETY: not NULL; the conventions say the rest.
    let directory = (!options.temporary_directory.is_null()).then(|| unsafe { read_path(options.temporary_directory) });
    let context = Context(options.progress_context);
    Ok(BuilderOptions {
        memory_limit: (options.memory_limit != 0).then_some(options.memory_limit),
        temporary_directory: directory.map(petal_core::storage::try_path).transpose()?,
        threads: options.threads,
        progress: match options.progress {
            Some(progress) => {
                // SAFETY: the caller's function, called as its type says.
                let call = move |done, total| unsafe { progress(context.get(), done, total) };
                Some(try_box(call)? as Box<_>)
            }
            None => None,
        },
    })
}

/// Makes a builder of the filter that a spec describes. A spec with neither capacity nor bits gets the capacity of the
/// distinct keys that come. `options` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_new(
    spec: *const petal_spec,
    options: *const petal_builder_options,
    builder: *mut *mut petal_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let (spec, options) = (petal_spec::get(spec)?, read_options(options)?);
            handle::give(builder, || Ok(petal_builder(Handle::new(Builder::new(&spec, options)?))))
        }
    })
}

/// Frees a builder. NULL is allowed. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_free(builder: *mut petal_builder) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(builder) }
}

/// Adds a key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let key = unsafe { boundary::bytes(key.cast(), length, "key")? };
        // SAFETY: as above.
        unsafe { (*builder).0.change(|builder| builder.add(key))? }
    })
}

/// Adds a uint64_t key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_u64(builder: *mut petal_builder, key: u64) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.add_u64(key))? }
    })
}

/// Adds a hash. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_hash(builder: *mut petal_builder, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.add_hash(hash))? }
    })
}

/// Adds keys in order. `answers`, nullable, only says how many were added, the first `done`: a builder finds nothing
/// out about a key, so a form of answers is refused. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let add = |keys: &Keys, answers: Option<&mut Answers>| {
        if builder.is_null() {
            return Err(boundary::null("builder"));
        }
        keys::refuse_answers(answers)?;
        // SAFETY: not NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.add_batch(keys)) }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, add) }
}

/// Adds a key that came `times` times; 0 times add nothing. `PETAL_ERR_UNSUPPORTED` if the kind cannot count. Since
/// 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let key = unsafe { boundary::bytes(key.cast(), length, "key")? };
        // SAFETY: as above.
        unsafe { (*builder).0.change(|builder| builder.add_times(key, times))? }
    })
}

/// Adds a uint64_t key that came `times` times, as `petal_builder_add_times()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_u64(
    builder: *mut petal_builder,
    key: u64,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.add_u64_times(key, times))? }
    })
}

/// Adds a hash that came `times` times, as `petal_builder_add_times()` does a byte key. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_hash(
    builder: *mut petal_builder,
    hash: u64,
    times: u64,
) -> petal_status {
    boundary!(NO_ERROR, [builder], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.add_hash_times(hash, times))? }
    })
}

/// Adds each key as often as its element of `times` says, in order; `times` has as many as there are keys, and may be
/// NULL if there are none. `answers`, nullable, only says how many keys were added, the first `done`: a form of answers
/// is refused. `PETAL_ERR_UNSUPPORTED` if the kind cannot count. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_times_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    times: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    let add = |keys: &Keys, answers: Option<&mut Answers>| {
        if builder.is_null() {
            return Err(boundary::null("builder"));
        }
        keys::refuse_answers(answers)?;
        // SAFETY: not NULL; the conventions say the rest.
        unsafe {
            let times = boundary::elements(times, keys.len(), "times")?;
            (*builder).0.change(|builder| builder.add_times_batch(keys, times))
        }
    };
    // SAFETY: the conventions.
    unsafe { keys::take(keys, answers, error, add) }
}

/// How many keys were added, duplicates included. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_offered(builder: *const petal_builder, offered: *mut u64) -> petal_status {
    boundary!(NO_ERROR, [builder, offered], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let handle = unsafe { &*builder };
        // SAFETY: as above.
        unsafe { offered.write(handle.0.get()?.count()) };
        Ok(())
    })
}

/// Makes the filter and empties the builder, which may be used again or freed. On a failure, and when the progress
/// callback cancels (`PETAL_ERR_CANCELLED`), the keys stay. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_finish(
    builder: *mut petal_builder,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(filter, || (*builder).0.change(|builder| builder.finish())?) }
    })
}

/// Makes the filter straight into a file, which replaces the one that is there atomically: the way to make a filter
/// anew from its source, in the right size, while others read the old file, which they keep as long as they have it
/// open. Empties the builder. On a failure the old file and the keys stay. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_save(
    builder: *mut petal_builder,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, path], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { (*builder).0.change(|builder| builder.save(read_path(path)))? }
    })
}

/// How long the compact form of the filter is at most, in bytes, with the keys that were added, if all of them are
/// distinct; of a kind that is built from its keys about how long. `PETAL_ERR_UNSUPPORTED` if it has none. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_compact_size(
    builder: *mut petal_builder,
    size: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, size], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { size.write((*builder).0.change(|builder| builder.compact_size())??) };
        Ok(())
    })
}

/// Makes the filter and writes its compact form into a buffer, of any alignment and `petal_builder_compact_size()` bytes
/// or more. Empties the builder, which can be used again and keeps room for its next keys. `PETAL_ERR_BUFFER_TOO_SMALL`
/// names the length that is needed; on a failure the keys stay. `written` is nullable. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_finish_compact(
    builder: *mut petal_builder,
    buffer: *mut c_void,
    length: usize,
    written: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, buffer], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let to = compact::buffer(buffer, length)?;
            let done = (*builder).0.change(|builder| builder.finish_compact(to))??;
            if !written.is_null() {
                written.write(done);
            }
        }
        Ok(())
    })
}
