//! RocksDB's Bloom filters of before format version 5: a line of bits by the 32-bit hash h modulo their number, and in
//! it the low bits of h, h + d, h + 2 d ... modulo 2^32, with h rotated by 17 bits for d.

use super::{Array, Modulus, Placement, PlacementRow, Shape};
use crate::format::Geometry;
use crate::hash::leveldb::rocksdb_legacy;

/// The seed of the hash.
const SEED: u32 = 0xbc9f_1d34;

/// RocksDB's placement before format version 5. The first word of its key is the binary logarithm of the bits in a
/// line.
pub const LEGACY: PlacementRow = PlacementRow {
    name: "rocksdb_legacy",
    scheme: None,
    hash_bits: 32,
    max_hashes: 30,
    open: |geometry, _| Array::open(geometry, Legacy::of(geometry)?),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Legacy {
    lines: Modulus,
    line_bits: u32,
}

impl Legacy {
    fn of(geometry: &Geometry) -> Option<Legacy> {
        let line_bits = geometry.words[2];
        let is_known = geometry.words[3..6] == [0; 3]
            && (3..=35).contains(&line_bits)
            && geometry.bits.is_multiple_of(1 << line_bits);
        let lines = Modulus::new(geometry.bits >> line_bits)?;
        (is_known && lines.get() < 1 << 32).then_some(Legacy { lines, line_bits: line_bits as u32 })
    }
}

impl Placement for Legacy {
    type Digest = u32;

    #[inline]
    fn digest(&self, key: &[u8]) -> u32 {
        rocksdb_legacy(key, SEED)
    }

    #[inline]
    fn all(&self, hash: &u32, _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let (mut state, step) = (u64::from(*hash), u64::from(hash.rotate_right(17)));
        let line = self.lines.reduce(state) << self.line_bits;
        let in_line = (1 << self.line_bits) - 1;
        (0..shape.hashes).all(|_| {
            let place = line | state & in_line;
            state = (state + step) & 0xffff_ffff;
            visit(place)
        })
    }
}
