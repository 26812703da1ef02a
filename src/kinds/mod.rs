//! The kinds of filter and map. A kind is one folder, called by the kind's name: `mod.rs` has its row and its filter,
//! `layout` says how its payload lies and has the kernels, `sizing` has its rates and sizes. [`crate::registry`] lists
//! all kinds, [`levels`] those that can be a level of another kind.

#[cfg(any(feature = "scalable", feature = "rotating"))]
pub mod levels;
#[cfg(any(feature = "bloomier", feature = "retrieval", feature = "mutable_bloomier"))]
pub mod solved;

#[cfg(feature = "age_partitioned")]
pub mod age_partitioned;
#[cfg(feature = "aleph")]
pub mod aleph;
#[cfg(feature = "approximator")]
pub mod approximator;
pub mod blocked;
pub mod bloom;
#[cfg(feature = "bloomier")]
pub mod bloomier;
pub mod counting;
#[cfg(feature = "cuckoo")]
pub mod cuckoo;
#[cfg(feature = "d_left")]
pub mod d_left;
#[cfg(feature = "exact_bits")]
pub mod exact_bits;
#[cfg(feature = "exact_set")]
pub mod exact_set;
#[cfg(feature = "foreign_bloom")]
pub mod foreign_bloom;
#[cfg(feature = "foreign_cuckoo")]
pub mod foreign_cuckoo;
#[cfg(feature = "foreign_scalable")]
pub mod foreign_scalable;
#[cfg(feature = "foreign_static")]
pub mod foreign_static;
#[cfg(feature = "fuse")]
pub mod fuse;
#[cfg(feature = "golomb")]
pub mod golomb;
#[cfg(feature = "golomb_stream")]
pub mod golomb_stream;
#[cfg(feature = "hash_compaction")]
pub mod hash_compaction;
#[cfg(feature = "layered")]
pub mod layered;
#[cfg(feature = "mutable_bloomier")]
pub mod mutable_bloomier;
#[cfg(feature = "quotient")]
pub mod quotient;
#[cfg(feature = "removed_set")]
pub mod removed_set;
#[cfg(feature = "retrieval")]
pub mod retrieval;
#[cfg(feature = "ribbon")]
pub mod ribbon;
#[cfg(feature = "rocksdb_bloom")]
pub mod rocksdb_bloom;
#[cfg(feature = "rotating")]
pub mod rotating;
#[cfg(feature = "scalable")]
pub mod scalable;
#[cfg(feature = "signatures")]
pub mod signatures;
#[cfg(feature = "spectral")]
pub mod spectral;
#[cfg(feature = "split_block")]
pub mod split_block;
#[cfg(feature = "stable")]
pub mod stable;
#[cfg(feature = "stacked")]
pub mod stacked;
#[cfg(feature = "taffy")]
pub mod taffy;
#[cfg(feature = "variable_increment")]
pub mod variable_increment;
#[cfg(feature = "vector_quotient")]
pub mod vector_quotient;
