//! libbloom: a + i b modulo m for i from 0 on, of the 32-bit MurmurHash2 under a fixed seed and under that hash.
//! Version 1 adds modulo 2^32, version 2 does not, so that they set different bits.

use super::{MOST_BY_RATE, MOST_IN_BYTE, MURMUR2_TWICE, PlacementRow};
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur2::murmur2_32;

/// The seed of the first hash.
const SEED: u32 = 0x9747_b28c;

/// Version 1, up to 1.6.
pub const V1: PlacementRow = PlacementRow {
    name: "libbloom_1",
    reach: 1 << 32,
    hash_bits: MURMUR2_TWICE,
    max_hashes: MOST_IN_BYTE,
    open: |geometry, _| Array::open(geometry, Wrapping),
    ..PlacementRow::BASE
};

/// Version 2; also RedisBloom's filters without 64-bit hashes.
pub const V2: PlacementRow = PlacementRow {
    name: "libbloom_2",
    hash_bits: MURMUR2_TWICE,
    max_hashes: MOST_BY_RATE,
    open: |geometry, _| Array::open(geometry, Wide),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Wrapping;

impl Placement for Wrapping {
    type Digest = [u32; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u32; 2] {
        pair(key)
    }

    #[inline]
    fn all(&self, &[a, b]: &[u32; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut combined = a;
        (0..shape.hashes).all(|_| {
            let place = shape.bits.reduce(combined.into());
            combined = combined.wrapping_add(b);
            visit(place)
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Wide;

impl Placement for Wide {
    type Digest = [u32; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u32; 2] {
        pair(key)
    }

    #[inline]
    fn all(&self, &[a, b]: &[u32; 2], _: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool {
        sums(a.into(), b.into(), shape, visit)
    }
}

/// The hash of a key, and the hash with the first one as the seed.
#[inline]
fn pair(key: &[u8]) -> [u32; 2] {
    let first = murmur2_32(key, SEED);
    [first, murmur2_32(key, first)]
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
