//! Petal: Bloom filters and other approximate-membership structures.
//!
//! A filter answers "have I seen this key?" without storing the keys. It never says no to a key
//! that was inserted; of other keys it says yes at a false-positive rate that you choose.
//!
//!     petal_filter *seen = petal_filter_with_capacity(1000000, 0.01);
//!     if (!seen) return 1;
//!     petal_filter_insert(seen, "apple", 5, NULL);
//!     if (petal_filter_contains(seen, "apple", 5)) puts("maybe");
//!     petal_filter_free(seen);
//!
//! The first program needs only `petal_filter_with_capacity()`, `petal_filter_insert()`,
//! `petal_filter_contains()`, `petal_filter_save()`, `petal_filter_open()` and `petal_filter_free()`.
//! The sections go from simple to advanced: statuses, filters of the default kind, then KINDS,
//! SPECS and what else there is to choose. An item names the version that it came with; one that
//! does not came with 0.1.
//!
//! CONVENTIONS, which hold for every function:
//!
//! Names are `petal_<noun>_<verb>`. The handle comes first, outputs come last.
//!
//! Status. A function that can fail returns a `petal_status`: `PETAL_OK` (0) or a negative number;
//! `petal_status_message()` explains it. Where the last parameter is a `petal_error *` it may be
//! NULL; otherwise a failure fills it with a message that names the parameter, its value and what
//! is allowed. A success leaves it alone.
//!
//! Lookups. `petal_filter_contains*` return a bool, and ANY failure returns true: a NULL handle or
//! key, a keyed filter opened without its key. So a failed call never says that a
//! key is absent. `petal_filter_contains_checked*` return a status and write the answer.
//!
//! Outputs are written only on success, except for the answers of a batch lookup (all 1 on failure) and
//! the numbers in a `petal_answers` (always written). Output pointers that may be NULL are marked
//! "nullable"; every other pointer is required and NULL gives `PETAL_ERR_NULL`.
//!
//! A failed call changes no filter and leaves no half-written file.
//!
//! Keys are bytes (pointer and length; NULL with length 0 is the empty key), a uint64_t (the same as
//! its 8 little-endian bytes), or a 64-bit hash made with `petal_hash()` or `petal_filter_hash()`:
//! `contains(key) == contains_hash(hash(key))`. Filters whose hash function is
//! `PETAL_HASH_EXTERNAL` take hashes only.
//!
//! Structs start with `struct_size`: set it to sizeof the struct, and all else you do not use to 0,
//! which is the default of every field. Later versions append fields; a struct from a later version
//! is accepted if what this version does not know is 0.
//!
//! Ownership. What a function writes through a `**` parameter is yours, to be freed by the function
//! named in its type's comment; free functions accept NULL. Strings that are returned are static.
//! Buffers, specs, options and keys are used during the call only, unless the comment says more.
//!
//! Threads. Functions that take a const handle may run in many threads at once on one handle; the
//! others need it to themselves. Nothing of one handle is shared with another.
//!
//! Forks. A child has copies of its parent's handles. A filter in memory of its own and a builder are
//! the child's to use. An image that the parent has open to change it the child only reads: what would
//! change it is `PETAL_ERR_UNSUPPORTED`, and freeing the handle frees memory and nothing else, so that
//! the parent's lock and the image stay as they are. To change it too, the child opens it itself.
//!
//! Callbacks must not use the handle of the call that calls them, and nothing may leave a call but by its
//! return: no C++ exception or longjmp through it, no pthread_cancel inside it.
//!
//! The library never aborts, exits or prints and reads no environment. It starts no threads, but for a
//! builder whose options ask for them, while it makes its filter. A bug that is caught becomes
//! `PETAL_ERR_INTERNAL`; a handle that was being changed then refuses all further use (lookups say
//! true) and is only to be freed.
//!
//! Mapped files: if another process truncates a file that is mapped, touching the lost part raises
//! SIGBUS, which no library can prevent; so does a hole in the file where the disk is full, on file
//! systems that cannot reserve room when the file is opened to be changed. Open with
//! `PETAL_OPEN_LOAD` where that may happen.

#![allow(non_camel_case_types)]
// The conventions above are the safety section of every function.
#![allow(clippy::missing_safety_doc)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod status;
pub mod filter;
pub mod kinds;
pub mod spec;
pub mod making;
pub mod builder;
pub mod describe;
pub mod compact;
pub mod map;
pub mod interop;
pub mod plan;
pub mod policy;
pub mod hash;
pub mod view;
pub mod version;

mod boundary;
mod handle;
#[cfg(feature = "planted-faults")]
mod faults;
