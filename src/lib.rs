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

#[cfg(target_endian = "big")]
compile_error!("Petal's images are little-endian and used in place; big-endian machines are not supported yet");

mod answers;
mod base;
mod batch;
mod bits;
mod error;
mod estimate;
mod filter;
pub mod filters;
pub mod format;
pub mod hash;
mod in_place;
mod keys;
pub mod layouts;
mod making;
mod open;
pub mod plan;
pub mod registry;
pub mod simd;
pub mod sizing;
mod spec;
pub mod storage;

pub use answers::Answers;
pub use base::Base;
pub use bits::ring::{self, Taken};
pub use error::{Error, MESSAGE_LENGTH, Result, Status};
pub use estimate::{Comparison, Estimate, INTERVAL_SIGMAS, compare, estimate};
pub use filter::{
    Capabilities, Cardinality, Filter, Fold, Insert, Intersect, Layout, Measure, Merge, SharedInsert, View,
};
pub use hash::{HashFunction, Hasher, SecretKey};
pub use keys::Keys;
pub use making::{
    Builder, BuilderOptions, Collector, CollectorOptions, Counted, Entry, MIN_MEMORY_LIMIT, Progress, Record, Records,
    Sorted, Steps,
};
#[cfg(unix)]
pub use open::open_descriptor;
pub use open::{Mode, OpenOptions, create, create_in, image_size, load, open, open_buffer};
pub use simd::Kernel;
pub use spec::{
    DEFAULT_CAPACITY, DEFAULT_FALSE_POSITIVE_RATE, Domain, Kind, MAX_PARAMETERS, Parameter, Setting, Size, Spec,
};
