//! RedisBloom's links: a + i b modulo m for i from 0 on, of MurmurHash64A under a fixed seed and under that hash.

use super::{Array, Placement, PlacementRow, Shape};
use crate::hash::murmur2::murmur64a;

/// The seed of the first hash.
const SEED: u64 = 0xc6a4_a793_5bd1_e995;

/// With 64-bit hashes, as every filter has that a command made.
pub const ROW: PlacementRow = PlacementRow {
    name: "redisbloom",
    hash_bits: 128,
    counts_new: true,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places;

impl Placement for Places {
    type Digest = [u64; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 2] {
        let first = murmur64a(key, SEED);
        [first, murmur64a(key, first)]
    }

    #[inline]
    fn all(&self, &[a, b]: &[u64; 2], _: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool {
        sums(a, b, shape, visit)
    }
}

/// Visits a + i b modulo 2^64 for i from 0 on, modulo m.
#[inline]
pub(super) fn sums(a: u64, b: u64, shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
    let mut combined = a;
    (0..shape.hashes).all(|_| {
        let place = shape.bits.reduce(combined);
        combined = combined.wrapping_add(b);
        visit(place)
    })
}
