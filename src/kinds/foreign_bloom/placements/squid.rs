//! Squid's cache digests: the key of an object that was fetched with GET is the MD5 of the byte 1 and the URL. Place i
//! is the i-th big-endian word of 32 bits of that digest, modulo m.

use super::PlacementRow;
use crate::blocks::placed::{Array, Placement, Shape};
use crate::hash::md5::md5_after;

/// The number of bits that a key sets: an MD5 has four words.
pub const HASHES: u32 = 4;

/// The most bits that a place of 32 bits reaches.
pub const MOST_BITS: u64 = 1 << 32;

/// Squid's number of the method GET, which comes before the URL.
const GET: u8 = 1;

/// Squid's placement.
pub const ROW: PlacementRow = PlacementRow {
    name: "squid",
    scheme: None,
    hash_bits: 128,
    reach: 1 << 32,
    max_hashes: HASHES,
    max_bits: MOST_BITS,
    open: |geometry, _| Array::open(geometry, Places),
    ..PlacementRow::BASE
};

#[derive(Clone, Copy)]
struct Places;

impl Placement for Places {
    type Digest = [u32; HASHES as usize];

    #[inline]
    fn digest(&self, key: &[u8]) -> Self::Digest {
        let digest = md5_after(GET, key);
        core::array::from_fn(|i| u32::from_be_bytes(core::array::from_fn(|byte| digest[4 * i + byte])))
    }

    #[inline]
    fn all(&self, digest: &Self::Digest, _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        digest.iter().take(shape.hashes as usize).all(|word| visit(shape.bits.reduce(u64::from(*word))))
    }
}
