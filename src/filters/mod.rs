//! The kinds of filter, one file or folder each: a row, and what its structure needs beyond a layout. [`bit_filter`] is
//! shared by all whose payload is one bit array.

pub mod aleph;
pub mod age_partitioned;
pub mod bit_filter;
pub mod blocked;
pub mod bloom;
pub mod counting;
pub mod cuckoo;
pub mod d_left;
pub mod exact_bits;
pub mod fingerprint_filter;
pub mod foreign_bloom;
pub mod foreign_cuckoo;
pub mod foreign_scalable;
pub mod foreign_static;
pub mod fuse;
pub mod golomb;
pub mod golomb_stream;
pub mod hash_compaction;
pub mod layered;
pub mod levels;
pub mod quotient;
pub mod removed_set;
pub mod ribbon;
pub mod rocksdb_bloom;
pub mod rotating;
pub mod scalable;
pub mod signatures;
pub mod spectral;
pub mod split_block;
pub mod stable;
pub mod taffy;
pub mod variable_increment;
pub mod vector_quotient;
