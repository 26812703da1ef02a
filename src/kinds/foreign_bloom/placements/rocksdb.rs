//! RocksDB's Bloom filters before format version 5: a line of bits by the 32-bit hash h modulo the number of lines, and
//! in it the low bits of h, h + d, h + 2 d ... modulo 2^32, with h rotated by 17 bits for d.

use super::PlacementRow;
use crate::bits::count_ones_in;
use crate::blocks::placed::{Array, Modulus, Placement, Shape};
use crate::format::Geometry;
use crate::hash::leveldb::rocksdb_legacy;
use crate::sizing::{bloom, dependent, mixture};
use core::sync::atomic::AtomicU64;

/// The seed of the hash.
const SEED: u32 = 0xbc9f_1d34;

/// The longest line, as the base-2 logarithm of its bits: 512 bytes, twice what caches have.
const LONGEST: u64 = 12;

/// RocksDB's placement before format version 5. The first word of its key is the base-2 logarithm of the bits in a
/// line.
pub const LEGACY: PlacementRow = PlacementRow {
    name: "rocksdb_legacy",
    hash_bits: 32,
    max_hashes: 30,
    lines_rate: Some(rate),
    lines_rate_now: Some(rate_now),
    open: |geometry, _| Array::open(geometry, Legacy::of(geometry)?),
    ..PlacementRow::BASE
};

/// How the bits of a key in its line depend on each other.
const SCHEME: dependent::Scheme = dependent::Scheme::Double;

/// The mean, over the number of keys in a line, of the rate of a line with that many.
fn rate(geometry: &Geometry, keys: u64) -> f64 {
    let line = 1 << geometry.words[2].min(LONGEST);
    let of_line = |keys| dependent::rate(SCHEME, false, line, geometry.hashes, keys);
    mixture::binomial(keys, line as f64 / geometry.bits as f64, of_line)
}

/// The mean over the lines of the rate that their bits give, computed once for all lines with the same number of set
/// bits.
fn rate_now(geometry: &Geometry, words: &[AtomicU64]) -> f64 {
    let (line, hashes) = (1 << geometry.words[2].min(LONGEST), geometry.hashes);
    let mut lines = [0_u64; 1 + (1 << LONGEST)];
    for start in (0..geometry.bits).step_by(line as usize) {
        lines[count_ones_in(words, start, start + line) as usize] += 1;
    }
    let rate = |ones: u64| match bloom::cardinality_exact_base(line, hashes, ones) {
        Some(keys) => dependent::from_fill(SCHEME, false, line, hashes, keys, ones as f64 / line as f64),
        None => 1.0,
    };
    let counted = (0..=line).zip(lines).filter(|(_, lines)| *lines > 0);
    counted.map(|(ones, lines)| lines as f64 * rate(ones)).sum::<f64>() * line as f64 / geometry.bits as f64
}

#[derive(Clone, Copy)]
struct Legacy {
    lines: Modulus,
    line_bits: u32,
}

impl Legacy {
    fn of(geometry: &Geometry) -> Option<Legacy> {
        let line_bits = geometry.words[2];
        if geometry.words[3..6] != [0; 3] || !(3..=LONGEST).contains(&line_bits) {
            return None;
        }
        let lines = Modulus::new(geometry.bits >> line_bits)?;
        let is_known = geometry.bits.is_multiple_of(1 << line_bits) && lines.get() < 1 << 32;
        is_known.then_some(Legacy { lines, line_bits: line_bits as u32 })
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
