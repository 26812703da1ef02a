//! Petal: Bloom filters and other approximate-membership structures.
//!
//! A filter answers "have I seen this key?" without storing the keys. It never says no to a key that was inserted. It
//! says yes to other keys at a false-positive rate that you choose.
//!
//!     petal_filter *seen = petal_filter_with_capacity(1000000, 0.01);
//!     if (!seen) return 1;
//!     petal_filter_insert(seen, "apple", 5, NULL);
//!     if (petal_filter_contains(seen, "apple", 5)) puts("maybe");
//!     petal_filter_free(seen);
//!
//! The first program needs only `petal_filter_with_capacity()`, `petal_filter_insert()`, `petal_filter_contains()`,
//! `petal_filter_save()`, `petal_filter_open()` and `petal_filter_free()`. The sections go from simple to advanced:
//! statuses, filters of the default kind, keys by the batch, specs and kinds, builders; then what only some kinds can;
//! then images, files, threads and processes.
//!
//! Each of the other headers includes this one and has one subject:
//!
//! - petal_more.h: one key asked of many filters, keys with their counts, rejuvenating, what is stored of keys, rates
//!   to expect;
//! - petal_map.h: maps from keys to values;
//! - petal_sketch.h: sketches of sets, which you can subtract and list;
//! - petal_session.h: sessions, in which two sides find out what only one of them has;
//! - petal_router.h: routers, which find keys in a network;
//! - petal_aggregate.h: sum, mean, maximum and minimum of values that change, each counted once;
//! - petal_digest.h: digests of payloads, which say in which payload an excerpt was, and where;
//! - petal_index.h: indexes, which find rows of bits that are similar to a query;
//! - petal_wire.h: filters and maps on the wire, packed, and what changed between two states of one;
//! - petal_formats.h: other systems' filters, and compact forms inside another system's file;
//! - petal_policy.h: filter policies of sorted tables, as LevelDB has them;
//! - petal_inline.h: lookups and insertions that the compiler puts into your program.
//!
//! CONVENTIONS, which hold for every function:
//!
//! Names are `petal_<noun>_<verb>`. The handle comes first, outputs come last.
//!
//! Status. A function that can fail returns a `petal_status`: `PETAL_OK` (0) or a negative number.
//! `petal_status_message()` explains the number. The last parameter of such a function is a `petal_error *`. Functions
//! that give one key to a handle have no such parameter, because time counts there. The error may be NULL. Otherwise a
//! failure fills in the error, with a message that names the parameter, the value and what is allowed. A success does
//! not touch the error.
//!
//! A function returns `PETAL_ERR_UNSUPPORTED` if the kind or the format cannot do what you ask. It returns
//! `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if another handle could: one that you open in another mode, or a copy.
//!
//! Lookups. `petal_filter_contains*` return a bool, and ANY failure returns true: a NULL handle or key, or a keyed
//! filter that you opened without its secret key. So a failed call never says that a key is absent.
//! `petal_filter_contains_checked*` return a status and write the answer.
//!
//! A function writes its outputs only on success. There are two exceptions: the answers of a batch lookup (after a
//! failure all 1, or all 0 for a map) and the numbers in a `petal_answers` (always written). The comments mark output
//! pointers that may be NULL as "nullable". Every other pointer is required, and NULL gives `PETAL_ERR_NULL`.
//!
//! A failed call changes no filter and leaves no half-written file.
//!
//! Keys are bytes (pointer and length; NULL with length 0 is the empty key), a uint64_t (the same as
//! its 8 little-endian bytes), or a 64-bit hash made with `petal_spec_hash()` or `petal_filter_hash()`:
//! `contains(key) == contains_hash(hash(key))`. Filters whose hash function is
//! `PETAL_HASH_EXTERNAL` take hashes only.
//!
//! Structs start with `struct_size`, and the default of every field is 0. So you can use `petal_spec spec = {0};` as it
//! is: a `struct_size` of 0 stands for the struct of the first release. Later versions append fields. To use those
//! fields too, begin with `petal_spec spec = PETAL_SPEC_INIT;`, or set `struct_size` to sizeof the struct. Each struct
//! has such a macro under its own name. The library accepts a struct from a later version if all fields that this
//! version does not know are 0.
//!
//! Ownership. You own the handle that a function writes through a `**` parameter. Free the handle with the function
//! that the comment of its type names; free functions accept NULL. Functions return static strings. A function uses
//! buffers, specs, options and keys during the call only, unless its comment says more.
//!
//! Threads. Functions that take a const handle may run in many threads at once on one handle. All other functions need
//! the handle to themselves. Two handles share nothing.
//!
//! Forks. A child has copies of its parent's handles. The child may use every builder and every filter in its own
//! memory. If the parent has opened an image to change it, the child can only read that image. A change through the
//! child's handle gives `PETAL_ERR_UNSUPPORTED_BY_HANDLE`. Freeing the child's handle frees memory and nothing else, so
//! that the parent's lock and the image stay as they are. A child that wants to change the image opens the image
//! itself.
//!
//! Callbacks. A callback must not use the handle of the call that runs the callback. A call must end by returning: let
//! no C++ exception and no longjmp pass through a call, and use no pthread_cancel inside one.
//!
//! The library never aborts, exits or prints, and it reads no environment variables. The library starts threads only
//! where options ask for threads: while a builder makes its filter, and while an index is searched. If a thread is to
//! start and the system has not even the hundred bytes of its record, Rust's standard library aborts. If the library
//! catches one of its own bugs, the call returns `PETAL_ERR_INTERNAL`. A handle that the call was changing then refuses
//! all further use (lookups say true): you can only free it.
//!
//! Mapped files. If another process truncates a file that is mapped, an access to the lost part raises SIGBUS. No
//! library can prevent that signal. A write into a hole of the file raises SIGBUS too if the disk is full. That happens
//! on file systems that cannot reserve room when you open the file to change it. Open with `PETAL_OPEN_LOAD` where that
//! may happen.
//!
//! Limits on the size of files (RLIMIT_FSIZE). The library looks at the limit before it writes to a file. A write that
//! would pass the limit gives `PETAL_ERR_NO_SPACE` with the `os_error` EFBIG, and the signal SIGXFSZ does not come. The
//! signal comes only if another thread lowers the limit between the look and the write.
//!
//! Windows. Paths are UTF-8, and `os_error` is a number of GetLastError. Nobody can truncate a mapped file. An error of
//! the disk, or a disk that is full below a sparse or compressed file, raises EXCEPTION_IN_PAGE_ERROR where other
//! systems raise SIGBUS. A file that somebody has open or mapped may refuse to be replaced: saving then fails, and the
//! old file stays. Locks of a killed process go when the system has ended that process, which may take a moment. A new
//! file in an old one's place has the old file's access control list, as far as that is allowed.

#![allow(non_camel_case_types)]
// The conventions above are the safety section of every function.
#![allow(clippy::missing_safety_doc)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
// A build that leaves handles out has what their functions alone need.
#![cfg_attr(not(feature = "kinds"), allow(dead_code, unused_imports, unused_macros))]

pub mod status;
pub mod filter;
pub mod spec;
pub mod making;
pub mod kinds;
pub mod plan;
pub mod describe;
pub mod builder;
pub mod facets;
pub mod image;
pub mod shared;
pub mod hash;
pub mod version;

// Modules whose first line names a header: they and what is inside them are that header's.
pub mod more;
#[cfg(feature = "map")]
pub mod map;
#[cfg(feature = "sketch")]
pub mod sketch;
#[cfg(feature = "session")]
pub mod session;
#[cfg(feature = "router")]
pub mod router;
#[cfg(feature = "aggregate")]
pub mod aggregate;
#[cfg(feature = "digest")]
pub mod digest;
#[cfg(feature = "index")]
pub mod index;
pub mod wire;
pub mod formats;
pub mod policy;
pub mod inline;

mod arguments;
mod boundary;
mod handle;
mod left_out;
mod reading;
#[cfg(feature = "planted-faults")]
mod faults;
