//! Apache Spark's `BloomFilter` (org.apache.spark.util.sketch), over its own MurmurHash3 x86 32.

use super::guava::folded_signs;
use super::{MURMUR3_TWICE, PlacementRow};
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur3::spark_murmur3_32;

/// Version 1: as Guava's 32-bit strategy, of the hash with seed 0 and the hash with the first one as the seed. Reaches
/// 2^31 places.
pub const V1: PlacementRow = PlacementRow {
    name: "spark_1",
    reach: 1 << 31,
    hash_bits: MURMUR3_TWICE,
    open: |geometry, _| Array::open(geometry, V1Places),
    ..PlacementRow::BASE
};

/// Version 2: a 64-bit sum that starts at the first hash times 2^31 - 1 and grows by the second, complemented if it is
/// negative, modulo m.
pub const V2: PlacementRow = PlacementRow {
    name: "spark_2",
    hash_bits: MURMUR3_TWICE,
    open: |geometry, seed| Array::open(geometry, V2Places { seed: seed as i32 }),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct V1Places;

impl Placement for V1Places {
    type Digest = [i32; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [i32; 2] {
        pair(key, 0)
    }

    #[inline]
    fn all(&self, &[a, b]: &[i32; 2], _: &[u8], shape: &Shape, visit: impl FnMut(u64) -> bool) -> bool {
        folded_signs(a as u32, b as u32, shape, visit)
    }
}

#[derive(Clone, Copy)]
struct V2Places {
    seed: i32,
}

impl Placement for V2Places {
    type Digest = [i32; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [i32; 2] {
        pair(key, self.seed)
    }

    #[inline]
    fn all(&self, &[a, b]: &[i32; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let mut combined = i64::from(a) * i64::from(i32::MAX);
        (0..shape.hashes).all(|_| {
            combined = combined.wrapping_add(i64::from(b));
            let place = if combined < 0 { !combined } else { combined };
            visit(shape.bits.reduce(place as u64))
        })
    }
}

/// The hash of a key, and the hash with the first one as the seed.
#[inline]
fn pair(key: &[u8], seed: i32) -> [i32; 2] {
    let first = spark_murmur3_32(key, seed);
    [first, spark_murmur3_32(key, first)]
}
