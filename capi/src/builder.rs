//! BUILDERS
//!
//! A builder collects keys and then makes a filter for exactly the distinct keys that came. Kinds with
//! `PETAL_OVERFILL_IS_BUILT`, such as `fuse`, need a builder, and all other kinds of filter can have one. A builder
//! keeps 8 bytes a key, and 16 for kinds that remove or count keys. It does not keep the order of the keys. So a filter
//! that remembers the last keys gets arbitrary keys if more came than its capacity.

use crate::arguments::Given;
use crate::boundary::{self, NO_ERROR, boundary, read_path};
use crate::filter::keys::{petal_answers, petal_keys, refuse_answers, taking};
use crate::filter::petal_filter;
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::storage::{try_box, try_path};
use petal_core::{Builder, BuilderOptions, Result};
use std::ffi::{c_char, c_void};

/// Collects keys. Free it with `petal_builder_free()`.
pub struct petal_builder(pub(crate) Handle<Builder>);

owner!(imageless petal_builder, Builder);

/// Reports the progress of a build. `petal_builder_finish()`, `petal_builder_save()` and the like call it with the work
/// done and the total work. A unit of work is a key in one phase: sorting, merging what went to a file, making the
/// filter. `total` is the same number at all calls for one filter. `done` never falls, may be the same at several
/// calls, and is `total` at the last one. A call comes at least once for every 2^21 keys of work.
///
/// Return false to cancel, at any call: then the builder makes nothing, leaves no file and keeps its keys. A callback
/// must not unwind (throw) through the library.
pub type petal_progress_callback = Option<unsafe extern "C" fn(context: *mut c_void, done: u64, total: u64) -> bool>;

/// How a builder works. NULL stands for all zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_builder_options {
    /// sizeof(petal_builder_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The most memory in bytes for keys and for sorting them; keys that find no room go to a temporary file. 0 is no
    /// limit; a limit is at least 1048576. The limit does not include the finished filter and the stacks of threads.
    ///
    /// Kinds that a builder makes from all keys are solved shard by shard, whatever the limit, so that the limit does
    /// not change their bytes. Solving takes some 22 bytes for each key of the largest shard (38 bytes for a map) and 5
    /// MB. A shard has half of all keys, but at least 2^20 or all, and at most 5 * 2^20. That makes 28 MB (45 MB for a
    /// map) for two million keys, and never more than 118 MB (202 MB). A lower limit holds until solving begins, and
    /// solving then exceeds it by as much.
    pub memory_limit: u64,
    /// The folder of the temporary file. The file has no name and goes with the builder. It takes 8 bytes for each key,
    /// and 16 while the builder makes the filter; twice that for kinds that remove or count keys. The builder copies
    /// this string. Nullable without a limit. If you give a folder, it must exist and take files.
    pub temporary_directory: *const c_char,
    /// Nullable. The thread that finishes or saves calls it, at any time until you free the builder.
    pub progress: petal_progress_callback,
    /// The builder passes this pointer to `progress`. What the pointer points to must live as long as the builder.
    pub progress_context: *mut c_void,
    /// How many threads make the filter, the caller's included; 0 and 1 mean the caller's only. Other threads run only
    /// while the builder makes the filter. The filter is the same.
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

impl Given for petal_builder_options {
    type Said = BuilderOptions;

    fn said(given: Option<petal_builder_options>, _name: &str) -> Result<BuilderOptions> {
        let Some(options) = given else { return Ok(BuilderOptions::default()) };
        let directory = if options.temporary_directory.is_null() {
            None
        } else {
            // SAFETY: not NULL, and by the conventions it ends with a NUL.
            Some(try_path(unsafe { read_path(options.temporary_directory) }?)?)
        };
        let context = Context(options.progress_context);
        Ok(BuilderOptions {
            memory_limit: (options.memory_limit != 0).then_some(options.memory_limit),
            temporary_directory: directory,
            threads: options.threads,
            progress: match options.progress {
                Some(progress) => {
                    // SAFETY: by the conventions the function may be called with this context while the builder lives.
                    let call = move |done, total| unsafe { progress(context.get(), done, total) };
                    Some(try_box(call)? as Box<_>)
                }
                None => None,
            },
        })
    }
}

/// Makes a builder of the filter that a spec describes. If the spec has neither capacity nor bits, the capacity becomes
/// the number of distinct keys that come. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_new(
    spec: *const petal_spec,
    options: *const petal_builder_options,
    builder: *mut *mut petal_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give builder, given spec, given options], {
        builder.made(|| Builder::new(&spec, options))
    })
}

/// Frees a builder. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_free(builder: *mut petal_builder) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(builder) }
}

/// Adds a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [change builder, bytes(key, length)], builder.by(|builder| builder.add(key)))
}

/// Adds a uint64_t key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_u64(builder: *mut petal_builder, key: u64) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.add_u64(key)))
}

/// Adds a hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_hash(builder: *mut petal_builder, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.add_hash(hash)))
}

/// Adds keys in order. `answers` is nullable: its field `done` tells how many keys were added. A builder finds out
/// nothing about a key, so it refuses every output in `answers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change builder], {
        refuse_answers(answers)?;
        builder.always(|builder| builder.add_batch(keys))
    })
}

/// How many keys were added, duplicates included, and without excluded ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_key_count(
    builder: *const petal_builder,
    insertions: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read builder, out insertions], insertions.answer(Ok(builder.key_count())))
}

/// Makes the filter and empties the builder. You may then use the builder again, or free it. On a failure, and when the
/// progress callback cancels (`PETAL_ERR_CANCELLED`), the keys stay in the builder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_finish(
    builder: *mut petal_builder,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, give filter], filter.made(|| builder.by(|builder| builder.finish())))
}

/// Makes the filter straight into a file, which replaces an old file atomically, and empties the builder. So you can
/// make a filter anew from its source, in the right size, while others read the old file. A process that has the old
/// file open keeps it. On a failure the old file and the keys stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_save(
    builder: *mut petal_builder,
    path: *const c_char,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, path path], builder.by(|builder| builder.save(path)))
}
