//! The integration tests of the core. All tests are one program, so that the core and the shared code are compiled and
//! linked once. `cargo test -p petal-suite --test suite format::` runs the tests of one file.
//!
//! A test that needs a process of its own stands beside this folder, as a target in Cargo.toml. `tests/crash` is
//! killed, traced and forked, and system calls fail in `tests/crash`.
#![allow(clippy::type_complexity, reason = "tables of cases name what each has")]

mod across;
mod age_partitioned;
mod ageing;
mod aggregate;
mod builder;
mod built;
mod chains;
mod columns;
mod common;
mod compact;
mod conformance;
mod corners;
mod counting;
mod cuckoo;
mod d_left;
mod digest;
mod dependent;
mod estimate;
mod exact_bits;
mod exact_parts;
mod exact_set;
mod facets;
mod features;
mod false_positive_rate;
mod forged_state;
mod format;
mod fuse;
mod golomb;
mod growing;
mod grown;
mod hash;
mod hex_digests;
mod hash_compaction;
mod hostile;
#[cfg(target_pointer_width = "64")]
mod huge;
mod iblt;
mod in_place;
mod indexes;
mod interop;
mod kernels;
mod known;
mod kept;
mod large;
mod layered;
mod map_changes;
mod maps;
mod parquet;
mod pinsketch;
mod plan;
mod policy;
mod pollution;
mod quotient;
mod refusals;
mod removed_set;
mod riblt;
mod ribbon;
mod rotating;
mod router;
mod router_simulation;
mod scalable;
mod session;
mod shared;
mod signatures;
mod sizing;
mod sketches;
mod soak;
mod specification;
mod spectral;
mod stable;
mod stacked;
mod state_machine;
mod aleph;
mod taffy;
mod streams;
mod sweep;
mod variable_increment;
mod vector_quotient;
mod verbs;
mod whole;
mod wire;
