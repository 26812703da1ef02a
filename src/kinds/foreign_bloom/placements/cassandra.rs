//! Apache Cassandra's `Filter.db`: the absolute value of (a + i b) modulo m, as signed numbers, of the words of its own
//! MurmurHash3 x64 128.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur3::cassandra_murmur3_x64_128;

/// The placement since version `ma` of the tables (3.0): a is the second word, b the first.
pub const ROW: PlacementRow = PlacementRow {
    name: "cassandra",
    hash_bits: 128,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places;

impl Placement for Places {
    type Digest = [u64; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 2] {
        let [first, second] = cassandra_murmur3_x64_128(key);
        [second, first]
    }

    #[inline]
    fn all(&self, &[a, b]: &[u64; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut combined = a as i64;
        (0..shape.hashes).all(|_| {
            let place = shape.bits.reduce(combined.unsigned_abs());
            combined = combined.wrapping_add(b as i64);
            visit(place)
        })
    }
}
