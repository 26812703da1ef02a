//! The kinds of filter and map. A kind is one folder, called by the kind's name: `mod.rs` has its row and its filter,
//! `layout` says how its payload lies and has the kernels, `sizing` has its rates and sizes. [`registry`] lists all
//! kinds, [`levels`] those that can be a level of another kind.

pub mod levels;
pub mod solved;

pub mod age_partitioned;
pub mod aleph;
pub mod approximator;
pub mod blocked;
pub mod bloom;
pub mod bloomier;
pub mod counting;
pub mod cuckoo;
pub mod d_left;
pub mod exact_bits;
pub mod exact_set;
pub mod foreign_bloom;
pub mod foreign_cuckoo;
pub mod foreign_scalable;
pub mod foreign_static;
pub mod fuse;
pub mod golomb;
pub mod golomb_stream;
pub mod hash_compaction;
pub mod layered;
pub mod mutable_bloomier;
pub mod quotient;
pub mod removed_set;
pub mod retrieval;
pub mod ribbon;
pub mod rocksdb_bloom;
pub mod rotating;
pub mod scalable;
pub mod signatures;
pub mod spectral;
pub mod split_block;
pub mod stable;
pub mod stacked;
pub mod taffy;
pub mod variable_increment;
pub mod vector_quotient;
