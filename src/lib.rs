#![doc = include_str!("crate.md")]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
// A build that leaves kinds out has what they share with others, and nothing may reach it. The linker drops that.
#![cfg_attr(
    any(not(all(feature = "kinds", feature = "instructions")), target_family = "wasm"),
    allow(dead_code, unused_imports, unused_macros)
)]

/// The Rust snippets of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Those of the page that the crate's registry shows.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
struct FirstPage;

#[cfg(target_endian = "big")]
compile_error!("Petal's images are little-endian and used in place; big-endian machines are not supported yet");

#[cfg(feature = "aggregate")]
pub mod aggregate;
mod batch;
mod bits;
pub mod blocks;
mod caches;
pub mod contract;
#[cfg(feature = "digest")]
pub mod digest;
mod error;
pub mod format;
pub mod generic;
mod handle;
pub mod hash;
#[cfg(feature = "index")]
pub mod index;
pub mod interop;
pub mod kinds;
mod making;
mod order;
pub mod registry;
#[cfg(feature = "router")]
pub mod router;
#[cfg(feature = "serde")]
mod serde_forms;
#[cfg(feature = "session")]
pub mod session;
pub mod simd;
pub mod sizing;
#[cfg(feature = "sketch")]
pub mod sketch;
mod spec;
pub mod storage;
pub mod wire;

// Handles, and what they say.
#[cfg(feature = "aggregate")]
pub use aggregate::{
    Aggregate, AggregateAnswer, AggregateExpectedErrors, AggregateStateValue, AggregateStatistics, state::Tallies,
};
#[cfg(feature = "digest")]
pub use digest::{Digest, DigestFindOptions, DigestFindResult, DigestMatch, DigestStatistics};
pub use handle::estimate::{Estimate, Overlap, estimate, estimate_overlap};
pub use handle::filter::{Asked, Filter, filters_contain, filters_contain_hash};
pub use handle::image::{self, Image};
#[cfg(feature = "map")]
pub use handle::map::Map;
#[cfg(feature = "index")]
pub use index::{Fold, Index, IndexFeatures, IndexHit, IndexSearchOptions, IndexSimilarity, IndexSimilarityEstimate};
#[cfg(feature = "router")]
pub use router::Router;
#[cfg(feature = "sketch")]
pub use sketch::Sketch;
#[cfg(feature = "riblt")]
pub use sketch::Stream;

// What a filter is made from.
pub use hash::{HashFunction, Hasher, Secret};
pub use simd::Kernel;
pub use spec::{
    DEFAULT_CAPACITY, DEFAULT_FALSE_POSITIVE_RATE, Domain, KindId, MAX_PARAMETERS, Parameter, Setting, Size, Spec,
};

// Making, planning and opening: each name stands in the head of the folder.
pub use making::*;

// Many keys at once.
pub use batch::answers::Answers;
pub use batch::key_list::KeyList;
pub use batch::keys::{Keys, WholeKeys, hash_keys};
pub use batch::ring::{self, Taken};

// What kinds can do, and what they list.
pub use blocks::{Layout, Measure, View};
pub use contract::{
    Base, Capabilities, Counted, Entry, Handle, INTERVAL_SIGMAS, KeyListing, Listed, ListedValue, Listing, Overfill,
    PROGRESS_INTERVAL, Presence, Progress, Records, Row, Sizes, Structure, ValueListing, Weighted, Window,
};

// What can go wrong.
pub use error::{Error, MESSAGE_LENGTH, Result, Status};
