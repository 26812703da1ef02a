//! Bit arrays in which keys are placed as in other systems: m bits, of which a key sets k, at places that come from
//! more of the key than a 64-bit hash. So a placement takes the whole key.
//!
//! Each placement has a file: a type that is a [`Placement`](crate::blocks::placed::Placement), and a line in
//! [`PLACEMENTS`]. Bit p is bit p mod 64 of the little-endian word p / 64; a format with another order of bytes
//! reorders them where it is read and written (`crate::interop`).

mod bip37;
mod bits_and_blooms;
mod cassandra;
mod datasketches;
mod dcso;
mod guava;
mod hbase;
mod leveldb;
mod libbloom;
mod orc;
pub mod redisbloom;
mod rocksdb;
mod spark;
mod squid;
pub mod valkey;

pub use bip37::{MOST_BYTES as MOST_BIP37_BYTES, MOST_HASHES as MOST_BIP37_HASHES};
pub use hbase::MOST_BYTES as MOST_HBASE_BYTES;
pub use leveldb::MOST_HASHES as MOST_LEVELDB_HASHES;
pub use squid::{HASHES as SQUID_HASHES, MOST_BITS as MOST_SQUID_BITS};

use crate::blocks::placed::PlacedArray;
use crate::format::Geometry;
use crate::sizing::dependent::Scheme;
use crate::sizing::{bloom, dependent};
use core::sync::atomic::AtomicU64;

/// The most bits that a key may set: formats write k in one byte or more, but nobody uses more than this.
pub const MAX_HASHES: u32 = 255;

/// The words of the geometry that a placement may use for its own key.
pub const KEY_WORDS: core::ops::Range<usize> = 2..6;

/// What the library knows about a placement.
pub struct PlacementRow {
    /// The placement's name, the value of the parameter `placement`.
    pub name: &'static str,
    /// How the places of a key depend on each other, if they do.
    pub scheme: Option<Scheme>,
    /// How many bits of a key's hash decide its places.
    pub hash_bits: u32,
    /// The most bits that a key sets.
    pub max_hashes: u32,
    /// The most bits that an array has.
    pub max_bits: u64,
    /// Whether the format counts only keys that were new when they were inserted.
    pub counts_new: bool,
    /// The expected rate with a given number of keys, if it is not that of bits anywhere in the array.
    pub lines_rate: Option<fn(&Geometry, u64) -> f64>,
    /// The present rate of these bits, likewise.
    pub lines_rate_now: Option<fn(&Geometry, &[AtomicU64]) -> f64>,
    /// An array of this geometry, whose shape is sound, for filters with this seed.
    pub open: fn(&Geometry, u64) -> Option<Box<dyn PlacedArray>>,
}

impl PlacementRow {
    /// The values of most placements.
    pub const BASE: PlacementRow = PlacementRow {
        name: "",
        scheme: Some(Scheme::Double),
        hash_bits: 64,
        max_hashes: MAX_HASHES,
        max_bits: 1 << 62,
        counts_new: false,
        lines_rate: None,
        lines_rate_now: None,
        open: |_, _| None,
    };

    /// The rate of an array with `keys` distinct keys, if no two of their hashes were the same.
    pub fn rate(&self, bits: u64, hashes: u32, keys: u64) -> f64 {
        match self.scheme {
            Some(scheme) => dependent::rate(scheme, false, bits, hashes, keys),
            None => bloom::exact(bits, hashes, keys),
        }
    }

    /// The rate of an array in which `ones` bits are set.
    pub fn rate_from_fill(&self, bits: u64, hashes: u32, ones: u64) -> f64 {
        match (self.scheme, bloom::cardinality_exact_base(bits, hashes, ones)) {
            (Some(scheme), Some(keys)) => {
                dependent::from_fill(scheme, false, bits, hashes, keys, ones as f64 / bits as f64)
            }
            _ => bloom::from_fill(bits, hashes, ones),
        }
    }
}

/// All placements. The place in this list is the placement's number in images, so new ones are only appended.
const ROWS: &[PlacementRow] = &[
    guava::MITZ_32,
    guava::MITZ_64,
    rocksdb::LEGACY,
    spark::V1,
    spark::V2,
    redisbloom::ROW,
    libbloom::V1,
    libbloom::V2,
    bits_and_blooms::ROW,
    leveldb::ROW,
    bip37::ROW,
    dcso::ROW,
    datasketches::ROW,
    orc::TEXT,
    orc::NUMBER,
    cassandra::ROW,
    valkey::ROW,
    squid::ROW,
    hbase::JENKINS,
    hbase::MURMUR,
    hbase::MURMUR_3,
];

/// All placements, in the order of their numbers.
pub static PLACEMENTS: &[PlacementRow] = ROWS;

/// The names of the placements, in the same order.
pub const NAMES: [&str; ROWS.len()] = {
    let (mut names, mut i) = ([""; ROWS.len()], 0);
    while i < names.len() {
        names[i] = ROWS[i].name;
        i += 1;
    }
    names
};

/// The number of the placement with this name.
pub fn number(name: &str) -> Option<u64> {
    PLACEMENTS.iter().position(|row| row.name == name).map(|number| number as u64)
}
