//! LevelDB's filters: h, h + d, h + 2 d ... modulo 2^32, modulo m, of one 32-bit hash h and h rotated by 17 bits for d.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::leveldb::leveldb;

/// The seed of the hash.
const SEED: u32 = 0xbc9f_1d34;

/// The most bits that a key sets.
pub const MOST_HASHES: u32 = 30;

/// LevelDB's placement.
pub const ROW: PlacementRow = PlacementRow {
    name: "leveldb",
    hash_bits: 32,
    reach: 1 << 32,
    // h + 2 d = (2^16 + 1) (2 x + y), where x is the upper 15 bits of h and y the others.
    third: 131_072.0,
    max_hashes: MOST_HASHES,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places;

impl Placement for Places {
    type Digest = u32;

    #[inline]
    fn digest(&self, key: &[u8]) -> u32 {
        leveldb(key, SEED)
    }

    #[inline]
    fn all(&self, hash: &u32, _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let (mut place, step) = (*hash, hash.rotate_right(17));
        (0..shape.hashes).all(|_| {
            let reduced = shape.bits.reduce(place.into());
            place = place.wrapping_add(step);
            visit(reduced)
        })
    }
}
