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
// In a build by choice nothing reaches the code of what it leaves out, and the linker drops that.
#![cfg_attr(
    any(not(all(feature = "kinds", feature = "instructions")), target_family = "wasm"),
    allow(dead_code, unused_imports)
)]

/// The Rust snippets of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_endian = "big")]
compile_error!("Petal's images are little-endian and used in place; big-endian machines are not supported yet");

mod batch;
mod bits;
pub mod blocks;
pub mod contract;
mod error;
pub mod format;
pub mod generic;
mod handle;
pub mod hash;
pub mod interop;
pub mod kinds;
mod making;
mod order;
pub mod simd;
pub mod sizing;
#[cfg(feature = "serde")]
mod serde_forms;
pub mod session;
mod spec;
pub mod storage;
pub mod wire;

pub use batch::answers::Answers;
pub use batch::key_list::KeyList;
pub use batch::keys::{Keys, WholeKeys, hash_keys};
pub use batch::ring::{self, Taken};
pub use blocks::{Layout, Measure, View};
pub use contract::{
    Base, Capabilities, Counted, Entry, Handle, INTERVAL_SIGMAS, KeyListing, Listed, ListedValue, Listing, Overfill,
    PROGRESS_INTERVAL, Presence, Progress, Records, Row, Sizes, Structure, ValueListing, Weighted, Window,
};
pub use error::{Error, MESSAGE_LENGTH, Result, Status};
pub use handle::aggregate::{Aggregate, Expected, Results};
pub use handle::digest::{Digest, FindOptions, Found, Match};
pub use handle::estimate::{Comparison, Estimate, compare, estimate};
pub use handle::filter::{Asked, Filter, filters_contain, filters_contain_hash, filters_contain_u64};
pub use handle::image::{self, Image};
pub use handle::index::{Hit, Index, SearchOptions};
pub use handle::map::Map;
pub use handle::router::{self, Router};
pub use handle::sketch::Sketch;
pub use handle::stream::Stream;
pub use hash::{HashFunction, Hasher, SecretKey};
pub use kinds::aggregate::{Meeting, StateValue, state::Tallies};
pub use kinds::index::features::{Corrected, Features, Fold};
pub use kinds::index::similarity::Similarity;
pub use kinds::registry;
pub use making::{
    Builder, BuilderOptions, Collector, CollectorOptions, CompactOptions, IndexBuilder, MIN_MEMORY_LIMIT, MapBuilder,
    Mode, OpenOptions, Record, Sorted, Steps, check_compact, compact_contains_hash, compacts_contain_hash, create,
    create_as, create_digest, create_in, create_index, create_map, create_router, create_sketch,
    expected_false_positive_rate, expected_omissions, geometry, image_size, load, load_as, load_compact, open, open_as,
    open_buffer, open_buffer_as, open_compact, parameter_of, plan, row_of,
};
pub use making::{open_descriptor, open_descriptor_as};
pub use simd::Kernel;
pub use spec::{
    DEFAULT_CAPACITY, DEFAULT_FALSE_POSITIVE_RATE, Domain, KindId, MAX_PARAMETERS, Parameter, Setting, Size, Spec,
};
