//! The slots, remainders and false-positive rates of quotient filters.
//!
//! Bender et al., "Don't Thrash: How to Cache Your Hash on Flash", 2012; Pandey, Bender, Johnson and Patro, "A
//! General-Purpose Counting Filter: Making Every Bit Count", 2017.
//!
//! **Fingerprints.** A table of S slots with remainders of r bits stores a 64-bit hash h as one number below the range
//! `F = S 2^r`, its fingerprint `f = floor(h F / 2^64)`. The quotient `f >> r` is the slot in which the fingerprint
//! would like to lie. It is `floor(h S / 2^64)`, because dividing and rounding down twice by whole numbers is the same
//! as once by their product, so S need not be a power of two. The remainder is `f mod 2^r`. A greater hash never has a
//! smaller fingerprint, so hashes in ascending order are fingerprints in ascending order.
//!
//! **Moving a bit.** `F = S 2^r = (2 S) 2^(r-1)`: a table of twice the slots, with remainders of a bit less, has the
//! same range, and so the same fingerprint of every hash. The new quotients are the old ones with the highest bit of
//! the old remainder after them. That is how a table is resized without its keys, and why tables of one range can be
//! merged whatever their numbers of slots.
//!
//! **Rate.** A lookup of a hash that was not inserted says true if its fingerprint is there. With m different
//! fingerprints the probability is `m / F`. With n keys it is `1 - (1 - 1/F)^n` on average: with `a = n / S`, about `1
//! - e^(-a 2^-r)`, and at most `a 2^-r`.
//!
//! **Bits.** A slot has r bits of remainder, 2 bits of metadata, and the 64th part of a block's offset of 16 bits: `r +
//! 2.25`. At most 19 of 20 slots are taken. So a key of rate e takes `(lg(1/e) + 2.25) / 0.95` bits if r is `lg(1/e)`.
//! Of these bits any filter needs `lg(1/e)`, and any filter that forgets needs `n lg(1/e) + O(n)` in all: the space of
//! Pagh, Pagh and Rao, "An Optimal Bloom Filter Replacement", 2005.

use crate::blocks::runs::{BLOCK, MAX_RANGE, REMAINDER_BITS, limit};
use crate::sizing::rate_in_range;

/// The fewest slots of which `keys` may be taken; `None` past the greatest range.
pub fn slots_for(keys: u64) -> Option<u64> {
    let blocks = (u128::from(keys.max(1)) * 20).div_ceil(19 * u128::from(BLOCK));
    let slots = u64::try_from(blocks).ok()?.checked_mul(BLOCK)?;
    (slots <= MAX_RANGE >> REMAINDER_BITS.0).then_some(slots)
}

/// The false-positive rate after `keys` distinct keys were inserted, of which at most [`limit`] are there.
pub fn false_positive_rate(slots: u64, remainder_bits: u32, keys: u64) -> f64 {
    rate_in_range(slots << remainder_bits, keys.min(limit(slots)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::runs::block_bits;

    /// The sizes agree with the table of algorithms for this structure: bits a key at a load of 95 %, with 2.25 bits of
    /// metadata a slot.
    #[test]
    fn sizes_are_those_of_the_formula() {
        for bits in [8, 9] {
            let keys = 19 << 20;
            let slots = slots_for(keys).unwrap();
            assert_eq!(slots, 20 << 20);
            assert_eq!(limit(slots), keys);
            let rate = 0.95 * (-f64::from(bits)).exp2();
            assert!((false_positive_rate(slots, bits, keys) / rate - 1.0).abs() < 0.01);
            let a_slot = block_bits(bits) as f64 / BLOCK as f64;
            assert_eq!(a_slot, f64::from(bits) + 2.25);
        }
        assert_eq!(slots_for(u64::MAX), None);
        // A limit leads back to its number of slots.
        for slots in (64..100_000).step_by(64) {
            assert_eq!(slots_for(limit(slots)), Some(slots));
            assert!(slots_for(limit(slots) + 1) > Some(slots));
        }
    }
}
