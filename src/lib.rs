//! Petal answers "have I seen this key?" without storing the keys: Bloom filters and their relatives.
//!
//! A filter never says no of a key that was inserted. Of other keys it says yes at a *false-positive rate* that you
//! choose. A million keys take 1.2 MB at a rate of 1 %, and a lookup takes one memory access. So a filter saves lookups
//! in something slower: a disk, a table, another machine. A [`HashSet`](std::collections::HashSet) serves better if
//! answers must be exact, or if there are only a few thousand keys.
//!
//! This crate is the whole of Petal in Rust. The C library, the command `petal` and the packages for other languages
//! lie over it, and all of them read the same files.
//!
//! 1. [A first program](#a-first-program)
//! 2. [Which kind](#which-kind)
//! 3. [A filter of keys that are all known](#a-filter-of-keys-that-are-all-known)
//! 4. [Saving and opening](#saving-and-opening)
//! 5. [Changing files, and sharing them](#changing-files-and-sharing-them)
//! 6. [Statistics and statistics](#rates-and-statistics)
//! 7. [Many keys at once, numbers and hashes](#many-keys-at-once-numbers-and-hashes)
//! 8. [Keys that leave, and counts](#keys-that-leave-and-counts)
//! 9. [Maps, sketches and other handles](#maps-sketches-and-other-handles)
//! 10. [Errors](#errors)
//! 11. [Why nothing is `Clone`, `Extend` or `FromIterator`](#why-nothing-is-clone-extend-or-fromiterator)
//! 12. [IndexFeatures of the crate, and how fast it is](#features-of-the-crate-and-how-fast-it-is)
//! 13. [Where everything is](#where-everything-is)
//!
//! # A first program
//!
//! ```
//! use petal::Filter;
//!
//! let mut seen = Filter::with_capacity(1_000_000, 0.01)?;
//! seen.insert("apple")?;
//! assert!(seen.contains("apple"));
//! assert!(!seen.contains("pear")); // certain; a yes is certain but for 1 % of absent keys
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! A key is a byte string: anything that lends its bytes as [`AsRef<[u8]>`](AsRef), borrowed or owned. So a `&str`, a
//! `String`, a `Vec<u8>` and a `[u8; 4]` are keys. Keys of other types are first made bytes, in a way that never
//! changes, because [`Hash`](std::hash::Hash) promises no bytes that a file could rely on.
//!
//! [`Filter::insert`] returns whether the key certainly was absent before, so one call finds out which keys come for
//! the first time:
//!
//! ```
//! let mut seen = petal::Filter::with_capacity(1000, 0.001)?;
//! let mut lines = vec!["apple", "pear", "apple"];
//! lines.retain(|line| seen.insert(line).unwrap_or(true));
//! assert_eq!(lines, ["apple", "pear"]);
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! A [`Spec`] says everything else about a filter: its kind, a hash function, a seed or secret key, an exact size, and
//! the parameters of its kind. What a spec does not say has a default.
//!
//! ```
//! use petal::{Filter, HashFunction, KindId, Spec};
//!
//! let spec = Spec {
//!     kind: Some(KindId::BLOOM),
//!     capacity: 5000,
//!     false_positive_rate: 0.001,
//!     hash: HashFunction::SipHash13, // keys come from strangers, so they are hashed under a secret
//!     key: Some(*b"sixteen secrets!"),
//!     ..Spec::default()
//! };
//! let mut seen = Filter::new(&spec)?;
//! seen.insert(String::from("apple"))?;
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! # Which kind
//!
//! All kinds of filter have one type, [`Filter`], and the kind is a value: a constant of [`KindId`], or a name that is
//! parsed, as in `"fuse".parse::<KindId>()`.
//!
//! | You need | Take | Bits a key for 1 % |
//! |---|---|---|
//! | a filter, without other needs | [`KindId::BLOCKED`], the default | 9.9 |
//! | the lowest rate for the memory, or any number of bits | [`KindId::BLOOM`] | 9.6 |
//! | the bytes of Apache Parquet | [`KindId::SPLIT_BLOCK`] | 10.5 |
//! | a filter that grows with its keys | [`KindId::SCALABLE`], [`KindId::TAFFY`] | 12.8; 16 to 32 |
//! | to remove keys | [`KindId::CUCKOO`], [`KindId::VECTOR_QUOTIENT`] | 10.5; 10.8 |
//! | to remove and to count keys | [`KindId::QUOTIENT`], [`KindId::COUNTING`] | 9.7; 38.4 |
//! | the last keys only, or those of the last hour | [`KindId::ROTATING`] | 17.6 |
//! | the least memory for keys that are all known | [`KindId::RIBBON`], [`KindId::FUSE`] | 7.0; 7.9 |
//! | no error for any key of a known universe | [`KindId::EXACT_SET`] | 7.0 |
//! | a value for each key | [`KindId::BLOOMIER`], a [`Map`] | 7.0, and the value |
//! | what only one of two sets has | [`KindId::IBLT`], [`KindId::RIBLT`], a [`Sketch`] | 30 bytes a difference |
//!
//! There are more, each with a module in [`kinds`] and a page in `docs/kinds`; `docs/choosing.md` compares all of them.
//! [`registry`] lists the kinds of this build with what each can do, and [`plan`](mod@plan) proposes kinds for numbers:
//!
//! ```
//! use petal::plan::{self, Goal, Request};
//!
//! let request = Request {
//!     keys: 1_000_000,
//!     goal: Goal::FalsePositiveRate(0.01),
//!     is_static: true, // all keys are known before the first lookup
//!     ..Request::default()
//! };
//! let proposals = plan::plan(&request)?;
//! let best = plan::recommended(&proposals, &request).map(|place| &proposals[place]);
//! assert_eq!(best.map(|best| best.name), Some("ribbon"));
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! # A filter of keys that are all known
//!
//! Kinds that are built once are the smallest. [`Filter::from_keys`] makes a filter of any kind from all of its keys,
//! in the size that the distinct keys need:
//!
//! ```
//! use petal::{Filter, KindId, Spec};
//!
//! let spec = Spec { kind: Some(KindId::FUSE), false_positive_rate: 0.001, ..Spec::default() };
//! let text = "the apple and the pear";
//! let words = Filter::from_keys(&spec, text.split(' '))?;
//! assert!(words.contains("pear"));
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! A [`Builder`] takes the keys one by one. It can stay below a memory limit, use several threads, say how far it is,
//! and be cancelled. [`Builder::save`] puts the filter straight into a file, while others go on reading the old file.
//!
//! ```
//! use petal::{Builder, BuilderOptions, Spec};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("words.petal");
//!
//! let options = BuilderOptions {
//!     memory_limit: Some(256 << 20),
//!     temporary_directory: Some(std::env::temp_dir()),
//!     threads: 2,
//!     ..BuilderOptions::default()
//! };
//! let mut builder = Builder::new(&Spec { false_positive_rate: 0.001, ..Spec::default() }, options)?;
//! for word in ["apple", "pear", "apple"] {
//!     builder.add(word)?;
//! }
//! builder.save(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Saving and opening
//!
//! The bytes of a filter are its *image*: a header, the payload, and checksums. A file has them, [`Filter::to_bytes`]
//! gives them, and a program in C or Go reads the same ones. `docs/format.md` specifies every byte.
//!
//! ```
//! use petal::Filter;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("seen.petal");
//!
//! let mut seen = Filter::with_capacity(1000, 0.01)?;
//! seen.insert("apple")?;
//! seen.save(&path)?; // in one step: nobody ever reads half of a file
//!
//! let opened = Filter::open(&path)?; // mapped, in constant time, for reading
//! assert!(opened.contains("apple"));
//!
//! let bytes = seen.to_bytes()?; // for a database, or a message
//! assert!(Filter::load(&bytes)?.contains("apple"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Filter::open`] maps the file and reads nothing but its header: the system brings in the pages that lookups touch,
//! and processes that open one file share its memory. Nothing is checked before it is used. [`Filter::verify`] reads
//! the payload and compares it with its checksums, and [`Mode::Load`] and [`Filter::load`] do so while they copy.
//!
//! No call panics, whatever bytes it is given. But nobody may truncate a file while it is mapped: the system then kills
//! who reads behind the end. Replace a file instead, as [`Filter::save`] does.
//!
//! # Changing files, and sharing them
//!
//! With [`Mode::Write`] a handle changes the file in place, as its only writer. [`Filter::sync`] brings the changes to
//! the disk, and so does dropping the handle, which cannot report what went wrong. With [`Mode::Share`] many threads
//! and processes insert into one file at once, without locks. The kinds [`KindId::BLOCKED`], [`KindId::BLOOM`] and
//! [`KindId::SPLIT_BLOCK`] can do that.
//!
//! ```
//! use petal::{Filter, Mode, OpenOptions};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("seen.petal");
//! # Filter::with_capacity(1000, 0.01)?.save(&path)?;
//!
//! let mut writer = Filter::open_with(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() })?;
//! writer.insert("apple")?;
//! writer.sync()?;
//! drop(writer);
//!
//! let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
//! let (here, there) = (Filter::open_with(&path, &share)?, Filter::open_with(&path, &share)?); // or another process
//! here.insert_shared("pear")?;
//! assert!(there.contains("apple") && there.contains("pear"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In memory a shared reference is enough: the calls whose names end with `shared` take `&self`, beside lookups.
//!
//! ```
//! let seen = petal::Filter::with_capacity(1000, 0.01)?;
//! std::thread::scope(|scope| {
//!     for name in ["apple", "pear"] {
//!         let seen = &seen;
//!         scope.spawn(move || seen.insert_shared(name));
//!     }
//! });
//! assert!(seen.contains("apple") && seen.contains("pear"));
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! # Statistics and statistics
//!
//! Sizes come from exact formulas, and no filter is smaller than its rate needs. A filter tells its rate of today from
//! its bits, and the rate to expect from a formula.
//!
//! ```
//! use petal::Filter;
//!
//! let mut seen = Filter::with_capacity(10_000, 0.01)?;
//! for key in 0..5_000u64 {
//!     seen.insert_u64(key)?;
//! }
//! assert!(seen.expected_false_positive_rate(10_000) <= 0.01);
//! assert!(seen.false_positive_rate() < 0.005); // the rate now, at half of the keys; reads the whole payload
//!
//! let keys = petal::estimate(&seen)?.expect("the filter is not too full to tell");
//! assert!(keys.low() < 5_000.0 && 5_000.0 < keys.high());
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! [`Filter::measure`] also tells the fill. [`compare`] estimates what two filters have in common, and
//! [`Filter::merge`] and [`Filter::intersect`] combine two filters that were made alike. [`Image::base`] has the header
//! with capacity, hash function and count. [`expected_false_positive_rate()`] and [`image_size`] tell of a spec before
//! anything is made.
//!
//! # Many keys at once, numbers and hashes
//!
//! Batches are several times faster than single calls, because the memory of many keys is fetched at once.
//! [`Filter::insert_all`] takes any iterator of keys. The calls with `batch` in their names take [`Keys`], as numbers,
//! hashes or byte strings, and write [`Answers`] in the form that you want. A [`KeyList`] collects byte strings for
//! them.
//!
//! ```
//! use petal::{Answers, Filter, Keys};
//!
//! let mut seen = Filter::with_capacity(1000, 0.001)?;
//! let numbers: Vec<u64> = (0..500).collect();
//! seen.insert_batch(&Keys::U64(&numbers), None).outcome?;
//!
//! let mut found = [0; 3];
//! let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
//! seen.contains_batch(&Keys::U64(&[1, 2, 1 << 40]), &mut answers)?;
//! assert_eq!(answers.true_count, 2);
//! assert_eq!(found, [1, 1, 0]);
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! A number is the key of its eight little-endian bytes, so `insert_u64(1)` and `insert(1u64.to_le_bytes())` insert the
//! same key; the form for numbers is faster. Calls that end with `hash` take 64-bit hashes from elsewhere, for
//! [`HashFunction::External`], or hashes that a filter's own [`Hasher`] made.
//!
//! # Keys that leave, and counts
//!
//! ```
//! use petal::{Capabilities, Filter, Image, KindId, Spec};
//!
//! let mut cart = Filter::new(&Spec { kind: Some(KindId::QUOTIENT), capacity: 1000, ..Spec::default() })?;
//! cart.insert("apple")?;
//! cart.insert("apple")?;
//! assert_eq!(cart.count("apple")?, 2);
//! cart.remove("apple")?;
//! assert!(cart.contains("apple"));
//!
//! assert!(cart.capabilities().contains(Capabilities::REMOVE | Capabilities::COUNT));
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! A call that the kind cannot do is refused with [`Status::Unsupported`], and [`Capabilities`] tell before. Remove
//! only keys that were inserted: removing another key may take a key away that looks the same.
//!
//! # Maps, sketches and other handles
//!
//! A kind's *handle* is the type that its callers hold. All of them are opened, saved and copied alike.
//!
//! | Handle | What it is | Made by |
//! |---|---|---|
//! | [`Filter`] | keys, yes or no | [`Filter::new`], [`Filter::from_keys`], [`Builder`] |
//! | [`Map`] | a value for each key, without the keys | [`Map::from_entries`], [`Map::new`], [`MapBuilder`] |
//! | [`Sketch`] | a set that is subtracted from another, and then listed | [`Sketch::new`] |
//! | [`Router`] | which neighbour of a network has a key, and how far away | [`Router::new`] |
//! | [`Aggregate`] | sums and means in which everybody counts once | [`Aggregate::new`] |
//! | [`Digest`] | in which payload, and where, some bytes went by | [`Digest::new`] |
//! | [`Index`] | which rows of bits are the most similar to a query | [`Index::new`], [`IndexBuilder`] |
//!
//! ```
//! use petal::{Map, Sketch, Spec};
//!
//! let prices = Map::from_entries(&Spec::default(), [("apple", 3), ("pear", 5)])?;
//! assert_eq!(prices.get("pear")?, Some(5));
//!
//! // What do two machines not have in common? Sketches have room for 10 differences, however large the sets are.
//! let spec = Spec { capacity: 10, ..Spec::default() };
//! let (mut ours, mut theirs) = (Sketch::new(&spec)?, Sketch::new(&spec)?);
//! (0..1000).try_for_each(|number| ours.insert_u64(number))?;
//! (3..1000).try_for_each(|number| theirs.insert_u64(number))?;
//! ours.subtract(&theirs)?;
//! let listing = ours.list()?;
//! assert!(listing.is_complete);
//! assert_eq!(listing.listed.iter().map(|listed| listed.number).collect::<Vec<_>>(), [0, 1, 2]);
//! # Ok::<(), petal::Error>(())
//! ```
//!
//! [`session`] finds such differences by messages when nobody knows how many there are. [`interop`] reads and writes
//! the filters of Parquet, RocksDB, Guava, Redis and other systems, and [`wire`] packs filters for slow networks.
//!
//! # Errors
//!
//! Calls that can fail return [`Result`], whose [`Error`] has a [`Status`] for the program, a message for people that
//! names the value and what is allowed, and the number of the system's error where there is one. An error takes two
//! words, and is a [`std::error::Error`].
//!
//! ```
//! use petal::{Filter, Status};
//!
//! let error = Filter::with_capacity(1000, 1.5).unwrap_err();
//! assert_eq!(error.status(), Status::FalsePositiveRate);
//! assert_eq!(error.message(), "false_positive_rate = 1.5 is not inside (0, 1)");
//!
//! let missing = Filter::open("no such file").unwrap_err();
//! assert_eq!(missing.status(), Status::NotFound);
//! ```
//!
//! Nothing panics on what it is given, and nothing aborts for lack of memory: that is [`Status::OutOfMemory`]. A lookup
//! cannot fail. [`Filter::contains`] says yes if the filter cannot tell, such as without the secret key, and
//! [`Filter::contains_checked`] says why.
//!
//! # Why nothing is `Clone`, `Extend` or `FromIterator`
//!
//! These traits cannot say that something went wrong, and here it can. A copy may need most of the machine's memory,
//! and the file that is copied may be damaged. A filter may be full, or of a kind that takes no single keys. So there
//! are calls that return a [`Result`]:
//!
//! | In place of | Call |
//! |---|---|
//! | `filter.clone()` | [`filter.copy()`](Filter::copy), as of every handle |
//! | `filter.extend(keys)` | [`filter.insert_all(keys)`](Filter::insert_all) |
//! | `builder.extend(keys)` | [`builder.add_all(keys)`](Builder::add_all) |
//! | `keys.collect::<Filter>()` | [`Filter::from_keys(&spec, keys)`](Filter::from_keys), which also takes the spec |
//! | `entries.collect::<Map>()` | [`Map::from_entries(&spec, entries)`](Map::from_entries) |
//!
//! # IndexFeatures of the crate, and how fast it is
//!
//! All kinds and instruction sets are there by default. `default-features = false` leaves them out, and each kind is a
//! feature by its name: `features = ["blocked", "fuse", "instructions"]`. `instructions` stands for `avx2`, `avx512`
//! and `neon`, which are used where the processor has them; the answers and bytes are the same without. What a build
//! leaves out is refused with [`Status::UnsupportedByBuild`]. Other handles than filters are there with their
//! kinds, and [`session`] is a feature too.
//!
//! The feature `serde`, which is off by default, reads and writes a [`Spec`] as names and numbers, and a [`KindId`], a
//! [`HashFunction`] or a [`Kernel`] as its name. The secret key of a spec is never written. A handle is the bytes of
//! its image, which a format without bytes, such as JSON, makes a list of numbers.
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use petal::{KindId, Spec};
//!
//! let spec: Spec = serde_json::from_str(r#"{"kind": "fuse", "false_positive_rate": 0.001}"#)?;
//! assert_eq!(spec.kind, Some(KindId::FUSE));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The first build takes some two minutes on two cores. A lookup takes some nanoseconds in a release build. In a debug
//! build of everything it takes some 1000 ns, and 60 if the profile for development optimises this one crate:
//!
//! ```toml
//! [profile.dev.package.petal]
//! opt-level = 3
//! ```
//!
//! # Where everything is
//!
//! - Handles: [`Filter`], [`Map`], [`Sketch`] and [`Stream`], [`Router`], [`Aggregate`], [`Digest`], [`Index`].
//!   [`Image`] has their calls about bytes, for code that takes any of them.
//! - What a filter is made from: [`Spec`], [`KindId`], [`HashFunction`], [`SecretKey`], [`Setting`], [`Parameter`],
//!   [`Kernel`].
//! - Making: [`create`], [`create_as`], [`create_map`], [`create_sketch`], [`create_router`], [`create_digest`],
//!   [`create_index`]; in a caller's buffer [`create_in`]. From all keys: [`Builder`], [`MapBuilder`],
//!   [`IndexBuilder`], [`BuilderOptions`].
//! - Opening: [`open`], [`open_as`], [`load`], [`load_as`], [`open_descriptor`]; in a caller's buffer [`open_buffer`].
//!   [`OpenOptions`], [`Mode`].
//! - Compact forms, of which thousands lie inside other records: [`open_compact`], [`load_compact`],
//!   [`compact_contains_hash`].
//! - Many keys: [`Keys`], [`KeyList`], [`Answers`], [`Taken`]; many filters: [`filters_contain`].
//! - Before anything is made: [`mod@plan`], [`geometry`], [`image_size`], [`expected_false_positive_rate()`],
//!   [`expected_omissions`], [`sizing`].
//! - Of what is there: [`Measure`], [`estimate`], [`compare`], [`Capabilities`], [`registry`].
//! - Other systems and other machines: [`interop`], [`session`], [`wire`].
//! - Errors: [`Error`], [`Status`], [`Result`].
//! - For programs that look keys up in code of their own: [`View`], [`Layout`], [`hash`], [`format`](mod@format).
//! - The inside, for kinds of one's own and for tests: [`contract`], [`blocks`], [`generic`], [`kinds`], [`simd`],
//!   [`storage`]. `ARCHITECTURE.md` is the map of the modules.

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

#[cfg(target_endian = "big")]
compile_error!("Petal's images are little-endian and used in place; big-endian machines are not supported yet");

#[cfg(feature = "aggregate")]
pub mod aggregate;
mod batch;
mod bits;
pub mod blocks;
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
pub use digest::{Digest, DigestFindOptions, DigestFindResult, DigestMatch};
pub use handle::estimate::{Comparison, Estimate, compare, estimate};
pub use handle::filter::{Asked, Filter, filters_contain, filters_contain_hash, filters_contain_u64};
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
pub use hash::{HashFunction, Hasher, SecretKey};
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
