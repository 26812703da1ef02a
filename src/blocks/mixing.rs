//! The mixing of hashes whose records are divided into shards: a first half that orders the records, and a second half
//! under the seed of a shard, from which places and fingerprints come.

use crate::bits::{GOLDEN, MIX, MIX_SCATTERED};

/// The first half of the mixing, a bijection, which spreads hashes that are weak in their high bits evenly over shards.
#[inline]
pub fn order(hash: u64) -> u64 {
    let x = (hash ^ (hash >> 30)).wrapping_mul(MIX);
    x ^ (x >> 27)
}

/// The inverse of [`order`].
pub fn hash_of(x: u64) -> u64 {
    let undo = |x: u64, shift: u32| x ^ x >> shift ^ x.checked_shr(2 * shift).unwrap_or(0);
    undo(undo(x, 27).wrapping_mul(INVERSE), 30)
}

/// The inverse of [`MIX`], modulo 2^64. Each step doubles the number of right bits.
const INVERSE: u64 = {
    let (mut inverse, mut step) = (1_u64, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(MIX.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

/// The product of this and a number of 32 bits has the number in both halves.
pub const TWICE: u64 = 1 << 32 | 1;

/// The second half of the mixing: applies a seed to the result of [`order`]. A bijection for each seed. With seed 0
/// both halves together are `bits::mix`.
#[inline]
pub fn scatter(x: u64, seed: u32) -> u64 {
    let z = (x ^ (u64::from(seed) * TWICE)).wrapping_mul(MIX_SCATTERED);
    z ^ (z >> 31)
}

/// The 32 fingerprint bits of a scattered hash, of which a filter takes the low ones. One more multiplication keeps
/// every fingerprint bit from being an exclusive or of bits that choose the cells. Otherwise the array would take on a
/// pattern that the cells of other keys have too.
#[inline]
pub fn fingerprint(z: u64) -> u64 {
    z.wrapping_mul(GOLDEN) >> 32
}
