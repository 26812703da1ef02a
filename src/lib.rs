//! Petal: Bloom filters and other approximate-membership structures.
//!
//! A filter answers "have I seen this key?" without storing the keys. It never says no to a key that was inserted; of
//! other keys it says yes at a false-positive rate that you choose, and that is exact. This is the Rust core beneath
//! the C library; `ARCHITECTURE.md` is the map of its modules.
//!
//! ```
//! let mut seen = petal::create(&petal::Spec::with_capacity(1_000_000, 0.01)?)?;
//! seen.insert(b"apple")?;
//! assert!(seen.contains(b"apple"));
//! # Ok::<(), petal::Error>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

/// The Rust snippets of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_endian = "big")]
compile_error!("Petal's images are little-endian and used in place; big-endian machines are not supported yet");

mod answers;
mod batch;
mod bits;
mod error;
mod estimate;
mod filter;
pub mod filters;
pub mod format;
pub mod hash;
pub mod image;
pub mod interop;
mod keys;
pub mod kind;
pub mod layouts;
mod making;
mod map;
pub mod maps;
pub mod policy;
mod records;
pub mod registry;
pub mod simd;
pub mod sizing;
mod spec;
pub mod storage;

pub use answers::Answers;
pub use bits::ring::{self, Taken};
pub use error::{Error, MESSAGE_LENGTH, Result, Status};
pub use estimate::{Comparison, Estimate, INTERVAL_SIGMAS, compare, estimate};
pub use filter::{Asked, Filter, filters_contain, filters_contain_hash, filters_contain_u64};
pub use hash::{HashFunction, Hasher, SecretKey};
pub use image::Image;
pub use keys::{Keys, WholeKeys, hash_keys};
pub use kind::{
    Base, Capabilities, Counted, Entry, Overfill, PROGRESS_INTERVAL, Progress, Records, Row, Sizes, Structure, Window,
};
pub use layouts::{Layout, Measure, View};
pub use making::{
    Builder, BuilderOptions, Collector, CollectorOptions, CompactOptions, MIN_MEMORY_LIMIT, MapBuilder, Mode,
    OpenOptions, Record, Sorted, Steps, check_compact, compact_contains_hash, compacts_contain_hash, create, create_as,
    create_in, create_map, expected_false_positive_rate, expected_omissions, geometry, image_size, load, load_as,
    load_compact, open, open_as, open_buffer, open_buffer_as, open_compact, parameter_of, plan, row_of,
};
#[cfg(unix)]
pub use making::{open_descriptor, open_descriptor_as};
pub use map::Map;
pub use simd::Kernel;
pub use spec::{
    DEFAULT_CAPACITY, DEFAULT_FALSE_POSITIVE_RATE, Domain, KindId, MAX_PARAMETERS, Parameter, Setting, Size, Spec,
};
