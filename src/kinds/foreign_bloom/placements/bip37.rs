//! Bitcoin's BIP 37: place i is MurmurHash3 x86 32 of the key with seed i times 0xFBA4C795 plus the filter's tweak,
//! modulo m.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::murmur3::murmur3_x86_32;

/// The most bits that a key sets.
pub const MOST_HASHES: u32 = 50;

/// The most bytes that a filter has.
pub const MOST_BYTES: u64 = 36_000;

/// BIP 37's placement; the seed is the tweak.
pub const ROW: PlacementRow = PlacementRow {
    name: "bip37",
    scheme: None,
    reach: 1 << 32,
    max_hashes: MOST_HASHES,
    max_bits: 8 * MOST_BYTES,
    open: |geometry, seed| Array::open(geometry, Places { tweak: seed as u32 }),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places {
    tweak: u32,
}

impl Placement for Places {
    /// None: each place is a hash of the whole key.
    type Digest = ();

    #[inline]
    fn digest(&self, _: &[u8]) {}

    #[inline]
    fn all(&self, (): &(), key: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        (0..shape.hashes).all(|i| {
            let seed = i.wrapping_mul(0xfba4_c795).wrapping_add(self.tweak);
            visit(shape.bits.reduce(murmur3_x86_32(key, seed).into()))
        })
    }
}
