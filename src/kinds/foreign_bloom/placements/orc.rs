//! Apache ORC: as Guava's 32-bit strategy, of the halves of a 64-bit hash. Texts and numbers have different hashes.

use super::PlacementRow;
use super::guava::folded_signs;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur3::{hive_murmur3_64, wang_64};

/// Texts and byte strings: Hive's 64-bit MurmurHash3.
pub const TEXT: PlacementRow = PlacementRow {
    name: "orc_text",
    reach: 1 << 31,
    open: |geometry, _| Array::open(geometry, Texts),
    ..PlacementRow::BASE
};

/// Whole numbers, and the bits of floating-point ones, as eight little-endian bytes: Thomas Wang's 64-bit mix. A key of
/// another length is extended with zeros, or cut.
pub const NUMBER: PlacementRow = PlacementRow {
    name: "orc_number",
    reach: 1 << 31,
    open: |geometry, _| Array::open(geometry, Numbers),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Texts;

impl Placement for Texts {
    type Digest = u64;

    #[inline]
    fn digest(&self, key: &[u8]) -> u64 {
        hive_murmur3_64(key)
    }

    #[inline]
    fn all(&self, hash: &u64, _: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool {
        folded_signs(*hash as u32, (hash >> 32) as u32, shape, visit)
    }
}

#[derive(Clone, Copy)]
struct Numbers;

impl Placement for Numbers {
    type Digest = u64;

    #[inline]
    fn digest(&self, key: &[u8]) -> u64 {
        wang_64(i64::from_le_bytes(core::array::from_fn(|i| key.get(i).copied().unwrap_or(0))))
    }

    #[inline]
    fn all(&self, hash: &u64, _: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool {
        folded_signs(*hash as u32, (hash >> 32) as u32, shape, visit)
    }
}
