//! The Rust crate bloomfilter, version 3, which valkey-bloom uses: SipHash-1-3 of the key under two secrets for the
//! first two places, and a + i b modulo 2^64 and then the greatest prime below it for the others, modulo m.

use super::{KEY_WORDS, PlacementRow};
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::siphash::rust_siphash13;

/// The greatest prime below 2^64.
const PRIME: u64 = 0xffff_ffff_ffff_ffc5;

/// The placement; the two secrets are the filter's.
pub const ROW: PlacementRow = PlacementRow {
    name: "valkey",
    hash_bits: 128,
    open: |geometry, _| {
        let secret = |at: usize| {
            let words = &geometry.words[KEY_WORDS.start + at..];
            (u128::from(words[1]) << 64 | u128::from(words[0])).to_le_bytes()
        };
        Array::open(geometry, Places { first: secret(0), second: secret(2) })
    },
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places {
    first: [u8; 16],
    second: [u8; 16],
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
