//! The blocks of RocksDB's `FastLocalBloom`: 512 bits, in which a key sets `k` bits that may coincide.
//!
//! A block that holds `i` keys is a classic filter of 512 bits, whose exact rate is known
//! ([`crate::sizing::bloom::exact`]), and the number of keys in a block is Binomial(n, 1/B): the rate is the mean over
//! it. Added to it is the probability that a key of the block has the same 32 bits from which all bits of a key come.
//! The `k` bits of a key are successive states of a multiplicative generator of 32 bits, of which the highest nine
//! count; the formula takes them for independent.
//!
//! RocksDB chooses the number of probes from the bits per key alone, by a table ([`hashes_for`]). So does this, with
//! the least number of blocks for which the exact rate is at most the wanted one.

use crate::sizing::lines::{BLOCK_BITS, false_positive_rate};
use crate::sizing::{is_rate, ln_1p_minus, search};
use core::f64::consts::LN_2;

/// Exclusive upper bound of the number of blocks, because RocksDB counts bytes with 32 bits.
pub const MAX_BLOCKS: u64 = 1 << 26;

/// The most thousandths of a bit per key with which a key sets 1, 2, .. 12 bits.
const CHANGES: [u64; 12] = [2080, 3580, 5100, 6640, 8300, 10_070, 11_720, 14_001, 16_050, 18_300, 22_001, 25_501];

/// The number of bits that RocksDB sets for a key if there are `millibits` thousandths of a bit per key.
pub fn hashes_for(millibits: u64) -> u32 {
    match CHANGES.iter().position(|change| millibits <= *change) {
        Some(place) => place as u32 + 1,
        None if millibits > 50_000 => 24,
        None => (millibits as u32 - 1) / 2000 - 1,
    }
}

/// The number of bits that a key sets in `blocks` blocks for `keys` keys.
pub fn hashes_of(blocks: u64, keys: u64) -> u32 {
    let millibits = u128::from(blocks) * u128::from(1000 * BLOCK_BITS) / u128::from(keys.max(1));
    hashes_for(u64::try_from(millibits).unwrap_or(u64::MAX))
}

/// The least number of blocks that hold `keys` keys at no more than `rate`, with the number of bits that RocksDB would
/// set for a key, which is the second result. `None` if the rate is not inside (0, 1), or takes [`MAX_BLOCKS`] or more.
pub fn size_for(keys: u64, rate: f64) -> Option<(u64, u32)> {
    if !is_rate(rate) {
        return None;
    }
    let rate_of = |blocks| false_positive_rate(blocks, hashes_of(blocks, keys), keys);
    // The logarithm of the rate is nearly a line over the bits a key: a few steps along it come near.
    let (mut guess, slope) = (-(keys as f64) * rate.ln() / (LN_2 * LN_2 * BLOCK_BITS as f64), LN_2 * LN_2);
    for _ in 0..6 {
        let blocks = (guess.ceil() as u64).clamp(1, MAX_BLOCKS);
        let step = (rate_of(blocks) / rate).ln() / slope * keys as f64 / BLOCK_BITS as f64;
        if !step.is_finite() || step.abs() < 1.0 {
            break;
        }
        guess = (guess + step).max(1.0);
    }
    let blocks = search::least(guess.ceil() as u64, MAX_BLOCKS - 1, |blocks| rate_of(blocks) <= rate)?;
    Some((blocks, hashes_of(blocks, keys)))
}

/// The probability that a key of a block sets none of `bits` given bits of it.
fn missed(hashes: u32, bits: u64) -> f64 {
    (1.0 - bits as f64 / BLOCK_BITS as f64).powi(hashes as i32)
}

/// The number of distinct keys that set `ones` bits in `blocks` blocks. A key sets a given bit with probability
/// `q / blocks`, `q` being that within its block, so that `(1 - q / blocks)^n` of the bits stay zero.
///
/// `None` if no bit is zero, or there are no blocks.
pub fn cardinality(blocks: u64, hashes: u32, ones: u64) -> Option<f64> {
    let bits = blocks.checked_mul(BLOCK_BITS)?;
    if ones >= bits {
        return None;
    }
    let missed = ln_1p_minus((1.0 - missed(hashes, 1)) / blocks as f64);
    Some((ln_1p_minus(ones as f64 / bits as f64) / missed).abs())
}

/// The standard error of [`cardinality`] with `keys` keys: the variance of the number of zeros is `B` times that of one
/// block with a Poisson number of keys, less what a given number of keys takes from it. Take the square of the mean of
/// a bit's being zero as the unit. Then that of a block is the sum over all pairs of its bits of `e^(c n/B) - 1`, with
/// `c` the probability that a key sets both.
pub fn cardinality_standard_error(blocks: u64, hashes: u32, keys: u64) -> f64 {
    if blocks == 0 || hashes == 0 {
        return f64::INFINITY;
    }
    let (blocks, load, bits) = (blocks as f64, keys as f64 / blocks as f64, BLOCK_BITS as f64);
    let one = 1.0 - missed(hashes, 1);
    let both = 1.0 - 2.0 * missed(hashes, 1) + missed(hashes, 2);
    let variance = bits * (load * one).exp_m1() + bits * (bits - 1.0) * (load * both).exp_m1();
    let variance = blocks * (variance - load * (bits * one).powi(2)).max(0.0);
    variance.sqrt() / (bits * one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_rocksdbs() {
        let probes = [(1000, 1), (2080, 1), (2081, 2), (10_000, 6), (10_070, 6), (10_071, 7), (25_501, 12)];
        for (millibits, hashes) in probes.into_iter().chain([(25_502, 11), (50_000, 23), (50_001, 24), (90_000, 24)]) {
            assert_eq!(hashes_for(millibits), hashes, "{millibits}");
        }
    }

    #[test]
    fn sizes_are_the_least() {
        for (keys, rate) in [(1, 0.01), (40, 0.2), (1000, 0.01), (1_000_000, 0.01), (30_000, 1e-5), (10_000_000, 0.5)] {
            let (blocks, hashes) = size_for(keys, rate).unwrap();
            assert!(false_positive_rate(blocks, hashes, keys) <= rate, "{keys} {rate}");
            let less = blocks - 1;
            assert!(less == 0 || false_positive_rate(less, hashes_of(less, keys), keys) > rate, "{keys} {rate}");
        }
        assert_eq!(size_for(1 << 40, 0.01), None);
    }
}
