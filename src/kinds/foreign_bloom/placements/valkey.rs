//! The Rust crate bloomfilter, version 3, which valkey-bloom uses: SipHash-1-3 of the key under two secrets for the
//! first two places, and a + i b modulo 2^64 and then the greatest prime below it for the others, modulo m.

use super::{KEY_WORDS, PlacementRow};
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::siphash::rust_siphash13;

/// The greatest prime below 2^64.
const PRIME: u64 = 0xffff_ffff_ffff_ffc5;

/// The most bits that a key sets: 1,074 for the least rate that a double holds, and what rounding a single key's array
/// up to whole bytes adds.
const MOST_HASHES: u32 = 1080;

/// The placement; the two secrets are the filter's.
pub const ROW: PlacementRow = PlacementRow {
    name: "valkey",
    hash_bits: 128,
    max_hashes: MOST_HASHES,
    open: |geometry, _| {
        let words = &geometry.words[KEY_WORDS];
        Array::open(geometry, Places::under(&[words[0], words[1], words[2], words[3]]))
    },
    ..PlacementRow::BASE
};

/// Where keys go under two secrets.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    first: [u8; 16],
    second: [u8; 16],
}

impl Places {
    /// The places under the two secrets of these words.
    pub fn under(words: &[u64; 4]) -> Places {
        let secret = |low: u64, high: u64| (u128::from(high) << 64 | u128::from(low)).to_le_bytes();
        Places { first: secret(words[0], words[1]), second: secret(words[2], words[3]) }
    }
}

impl Placement for Places {
    type Digest = [u64; 2];

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 2] {
        [rust_siphash13(key, &self.first), rust_siphash13(key, &self.second)]
    }

    #[inline]
    fn all(&self, &[a, b]: &[u64; 2], _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        (0..u64::from(shape.hashes)).all(|i| {
            let number = match i {
                0 => a,
                1 => b,
                _ => a.wrapping_add(i.wrapping_mul(b)) % PRIME,
            };
            visit(shape.bits.reduce(number))
        })
    }
}
