//! The Go module bits-and-blooms/bloom, version 3: four words of MurmurHash3 x64 128, of the key and of the key with a
//! byte 1 behind it.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur3::murmur3_x64_128_with_byte;

/// Place i is h\[i mod 2\] + i h\[2 + ((i + i mod 2) mod 4) / 2\] modulo 2^64, modulo m.
pub const ROW: PlacementRow = PlacementRow {
    name: "bits_and_blooms",
    // Two sums take turns, so pairs of places depend on each other less than those of one sum.
    scheme: None,
    hash_bits: 256,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places;

impl Placement for Places {
    type Digest = [u64; 4];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 4] {
        let ([a, b], [c, d]) = murmur3_x64_128_with_byte(key, 0, 1);
        [a, b, c, d]
    }

    #[inline]
    fn all(&self, hash: &[u64; 4], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        (0..u64::from(shape.hashes)).all(|i| {
            let odd = i % 2;
            let step = hash[(2 + (i + odd) % 4 / 2) as usize];
            visit(shape.bits.reduce(hash[odd as usize].wrapping_add(i.wrapping_mul(step))))
        })
    }
}
