//! Guava's `BloomFilter` (com.google.common.hash), both strategies over MurmurHash3 x64 128 with seed 0.

use super::{MOST_IN_BYTE, PlacementRow};
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur3::murmur3_x64_128;

/// `MURMUR128_MITZ_32`: place i, from 1 on, is a + i b modulo 2^32, complemented if it is negative, modulo m; a and b
/// are the halves of the hash's first word. Reaches 2^31 places.
pub const MITZ_32: PlacementRow = PlacementRow {
    name: "guava_32",
    reach: 1 << 31,
    max_hashes: MOST_IN_BYTE,
    open: |geometry, _| Array::open(geometry, Mitz32),
    ..PlacementRow::BASE
};

/// `MURMUR128_MITZ_64`: place i, from 0 on, is the low 63 bits of a + i b modulo m; a and b are the hash's words.
pub const MITZ_64: PlacementRow = PlacementRow {
    name: "guava_64",
    hash_bits: 128,
    max_hashes: MOST_IN_BYTE,
    open: |geometry, _| Array::open(geometry, Mitz64),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Mitz32;

impl Placement for Mitz32 {
    type Digest = [u32; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u32; 2] {
        let [low, _] = murmur3_x64_128(key, 0);
        [low as u32, (low >> 32) as u32]
    }

    #[inline]
    fn all(&self, &[a, b]: &[u32; 2], _: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool {
        folded_signs(a, b, shape, visit)
    }
}

/// Visits a + i b modulo 2^32 for i from 1 to k, complemented if it is negative as a signed number, modulo m.
#[inline]
pub(super) fn folded_signs(a: u32, b: u32, shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
    let mut combined = a;
    (0..shape.hashes).all(|_| {
        combined = combined.wrapping_add(b);
        let place = if (combined as i32) < 0 { !combined } else { combined };
        visit(shape.bits.reduce(place.into()))
    })
}

#[derive(Clone, Copy)]
struct Mitz64;

impl Placement for Mitz64 {
    type Digest = [u64; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 2] {
        murmur3_x64_128(key, 0)
    }

    #[inline]
    fn all(&self, &[a, b]: &[u64; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut combined = a;
        (0..shape.hashes).all(|_| {
            let place = shape.bits.reduce(combined & (u64::MAX >> 1));
            combined = combined.wrapping_add(b);
            visit(place)
        })
    }
}
