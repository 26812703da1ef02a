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
//! CONVENTIONS, which hold for every function. docs/abi.md has the reasons, and what to know of forks, mapped files,
//! limits on files and Windows.
//!
//! Names are `petal_<noun>_<verb>`. The handle comes first, outputs come last.
//!
//! Status. A function that can fail returns a `petal_status`: `PETAL_OK` (0) or a negative number, which
//! `petal_status_message()` explains. The last parameter is a `petal_error *`, which may be NULL. A failure fills the
//! error in, with a message that names the parameter, the value and what is allowed; a success does not touch it.
//! Functions that take one key have no such parameter where time counts.
//!
//! A function returns `PETAL_ERR_UNSUPPORTED` if the kind or the format cannot do what you ask. It returns
//! `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if another handle could: one that you open in another mode, or a copy.
//!
//! Lookups. `petal_filter_contains*` return a bool, and ANY failure returns true: a NULL handle or key, or a keyed
//! filter that you opened without its secret key. So a failed call never says that a key is absent.
//! `petal_filter_contains_checked*` return a status and write the answer.
//!
//! A failed call changes no filter, leaves no half-written file, and writes no outputs. There are two exceptions: the
//! answers of a batch lookup (after a failure all 1, or all 0 for a map) and the numbers in a `petal_answers` (always
//! written). Output pointers that may be NULL are marked "nullable". Every other pointer is required, and NULL gives
//! `PETAL_ERR_NULL`.
//!
//! Keys are bytes (pointer and length; NULL with length 0 is the empty key), a uint64_t, or a 64-bit hash. In filters
//! and maps a uint64_t is its 8 little-endian bytes, and `contains(key) == contains_hash(hash(key))` with
//! `petal_filter_hash()` or `petal_spec_hash()`. petal_sketch.h says what numbers and hashes are in sketches. Filters
//! whose hash function is `PETAL_HASH_EXTERNAL` take hashes only.
//!
//! Structs. The default of every field is 0, so `petal_spec spec = {0};` is right. A struct that may grow starts with
//! `struct_size`, in which 0 stands for the struct of the first release. To use later fields, begin with its macro:
//! `petal_spec spec = PETAL_SPEC_INIT;`. The library accepts a struct from a later version if all fields that this
//! version does not know are 0.
//!
//! Ownership. You own the handle that a function writes through a `**` parameter. Free it with the function that the
//! comment of its type names; free functions accept NULL. Returned strings are static. Buffers, specs, options and keys
//! are used during the call only, unless the comment says more.
//!
//! Threads. Functions that take a const handle may run in many threads at once on one handle. All other functions need
//! the handle to themselves. Two handles share nothing. A callback must not use the handle of the call that runs it,
//! and must return: no C++ exception, longjmp or pthread_cancel may pass through a call.

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
