//! HBase's `BloomFilterChunk` (org.apache.hadoop.hbase.util): place i, from 0 on, is the absolute value of the signed
//! 32-bit number a + i b, modulo m; a is the hash of the key with seed 0, and b the hash with seed a.

use super::{MURMUR2_TWICE, MURMUR3_TWICE, PlacementRow};
use crate::blocks::placed::{Array, Placement, Shape};
use crate::format::Geometry;
use crate::hash::jenkins::jenkins_lookup3;
use crate::hash::murmur2::hbase_murmur2_32;
use crate::hash::murmur3::murmur3_x86_32;

/// The most bytes of bits: lookups of HBase count the bits in a signed 32-bit number.
pub const MOST_BYTES: u64 = (1 << 28) - 1;

/// A placement with this hash function.
const fn row(
    name: &'static str,
    hash_bits: u32,
    open: fn(&Geometry, u64) -> Option<Box<dyn super::PlacedArray>>,
) -> PlacementRow {
    PlacementRow { name, hash_bits, reach: 1 << 31, max_bits: 8 * MOST_BYTES, open, ..PlacementRow::BASE }
}

/// Over the hash type 0, Jenkins.
pub const JENKINS: PlacementRow =
    row("hbase_jenkins", 64, |geometry, _| Array::open(geometry, Places(jenkins_lookup3)));

/// Over the hash type 1, Murmur, which is HBase's default.
pub const MURMUR: PlacementRow =
    row("hbase_murmur", MURMUR2_TWICE, |geometry, _| Array::open(geometry, Places(hbase_murmur2_32)));

/// Over the hash type 2, Murmur3.
pub const MURMUR_3: PlacementRow =
    row("hbase_murmur_3", MURMUR3_TWICE, |geometry, _| Array::open(geometry, Places(murmur3_x86_32)));

#[derive(Clone, Copy)]
struct Places<Hash>(Hash);

impl<Hash: Fn(&[u8], u32) -> u32 + Copy + Send + Sync + 'static> Placement for Places<Hash> {
    type Digest = [u32; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u32; 2] {
        let first = (self.0)(key, 0);
        [first, (self.0)(key, first)]
    }

    #[inline]
    fn all(&self, &[a, b]: &[u32; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut combined = a;
        (0..shape.hashes).all(|_| {
            let place = (combined as i32).unsigned_abs();
            combined = combined.wrapping_add(b);
            visit(shape.bits.reduce(place.into()))
        })
    }
}
