//! Apache DataSketches' Bloom filter: half of a + i b modulo 2^64 for i from 1 on, modulo m, of XXH64 under the
//! filter's seed and under that hash.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use xxhash_rust::xxh64::xxh64;

/// DataSketches' placement.
pub const ROW: PlacementRow = PlacementRow {
    name: "datasketches",
    hash_bits: 128,
    open: |geometry, seed| Array::open(geometry, Places { seed }),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places {
    seed: u64,
}

impl Placement for Places {
    type Digest = [u64; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 2] {
        let first = xxh64(key, self.seed);
        [first, xxh64(key, first)]
    }

    #[inline]
    fn all(&self, &[a, b]: &[u64; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut combined = a;
        (0..shape.hashes).all(|_| {
            combined = combined.wrapping_add(b);
            visit(shape.bits.reduce(combined >> 1))
        })
    }
}
