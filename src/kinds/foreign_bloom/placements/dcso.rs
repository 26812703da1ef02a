//! DCSO's bloom: FNV-1 modulo a prime, multiplied by a generator from place to place.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::fnv1::fnv1_64;

/// The greatest prime below 2^64.
const PRIME: u64 = 18_446_744_073_709_551_557;
/// The factor from one place's number to the next, modulo 2^64 and then the prime.
const GENERATOR: u64 = 18_446_744_073_709_550_147;

/// DCSO's placement.
pub const ROW: PlacementRow = PlacementRow {
    name: "dcso",
    scheme: None,
    counts_new: true,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places;

impl Placement for Places {
    type Digest = u64;

    #[inline]
    fn digest(&self, key: &[u8]) -> u64 {
        fnv1_64(key) % PRIME
    }

    #[inline]
    fn all(&self, hash: &u64, _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut number = *hash;
        (0..shape.hashes).all(|_| {
            number = number.wrapping_mul(GENERATOR) % PRIME;
            visit(shape.bits.reduce(number))
        })
    }
}
