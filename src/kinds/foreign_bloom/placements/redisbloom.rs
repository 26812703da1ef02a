//! RedisBloom's links: a + i b modulo m for i from 0 on, of MurmurHash64A under a fixed seed and under that hash.

use super::libbloom::{Wide, sums};
use super::{MOST_BY_RATE, PlacementRow};
use crate::blocks::placed::{Array, PlacedArray, Placement, Shape};
use crate::hash::murmur2::murmur64a;
use core::sync::atomic::AtomicU64;

/// The seed of the first hash.
const SEED: u64 = 0xc6a4_a793_5bd1_e995;

/// With 64-bit hashes, as in every filter that a command made.
pub const ROW: PlacementRow = PlacementRow {
    name: "redisbloom",
    hash_bits: 128,
    max_hashes: MOST_BY_RATE,
    counts_new: true,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

/// The hash of a key for arrays of RedisBloom's: the same for all links of a chain, which keeps only the numbers of
/// these arrays.
#[derive(Clone, Copy, Debug)]
pub enum Digest {
    /// With 64-bit hashes.
    Wide([u64; 2]),
    /// With 32-bit hashes.
    Narrow([u32; 2]),
}

impl Digest {
    /// The hash of a key.
    #[inline]
    pub fn of(key: &[u8], is_wide: bool) -> Digest {
        match is_wide {
            true => Digest::Wide(Places.digest(key)),
            false => Digest::Narrow(Wide.digest(key)),
        }
    }

    /// Whether all bits of the key are set in an array of this shape.
    #[inline]
    pub fn is_in(&self, words: &[AtomicU64], shape: Shape) -> bool {
        match self {
            Digest::Wide(digest) => Array::of(shape, Places).has(words, digest, &[]),
            Digest::Narrow(digest) => Array::of(shape, Wide).has(words, digest, &[]),
        }
    }

    /// Sets the bits of the key in an array of this shape.
    #[inline]
    pub fn set_in(&self, words: &mut [u64], shape: Shape) {
        match self {
            Digest::Wide(digest) => Array::of(shape, Places).set(words, digest, &[]),
            Digest::Narrow(digest) => Array::of(shape, Wide).set(words, digest, &[]),
        };
    }
}

/// Gives the array of a shape to `ask`.
pub fn with_array<R>(shape: Shape, is_wide: bool, ask: impl FnOnce(&dyn PlacedArray) -> R) -> R {
    match is_wide {
        true => ask(&Array::of(shape, Places)),
        false => ask(&Array::of(shape, Wide)),
    }
}

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
