//! Omissions: distinct keys that an insertion takes for known, when all of a state space pass through a filter that
//! says of each whether it is new. An explicit-state model checker does not explore such a state.
//!
//! The i-th key is omitted with the false-positive rate after the keys before it, so the expected number is the sum of
//! these rates, far less than the number of keys times the last one. Of a Bloom filter that is the bitstate search of
//! Holzmann 1988, analysed by Dillinger and Manolios, "Bloom filters in probabilistic verification", 2004.

/// Blocks of keys whose rates are taken for that of the key in their middle.
const BLOCKS: u64 = 1024;

/// The sum of `rate(i)` for all `i` less than `keys`: exact for up to a thousand keys, and beyond that to a few
/// millionths where the rate is a smooth function of the number of keys.
pub fn sum_of_rates(keys: u64, rate: impl Fn(u64) -> f64) -> f64 {
    let blocks = BLOCKS.min(keys);
    let ends = (0..=blocks).map(|i| (u128::from(keys) * u128::from(i) / u128::from(blocks.max(1))) as u64);
    let mut start = 0;
    let mut sum = 0.0;
    for end in ends.skip(1) {
        let length = end - start;
        // The middle of an even number of keys is between two.
        let (low, high) = (start + (length - 1) / 2, start + length / 2);
        let middle = if low == high { rate(low) } else { 0.5 * (rate(low) + rate(high)) };
        sum += length as f64 * middle;
        start = end;
    }
    sum
}

/// The number of bits for each key that gives the fewest omissions of `keys` keys in a bitstate search over `bits` bits,
/// from 1 to `most`: 0.7 to 0.8 of the bits a key, a little more than what gives the lowest rate in the end.
///
/// From the asymptotic rates, `sum (1 - e^(-k i / m))^k`. No keys or no bits give 1.
pub fn best_hashes(bits: u64, keys: u64, most: u32) -> u32 {
    let expected = |hashes| sum_of_rates(keys, |i| super::bloom::asymptotic(bits, hashes, i));
    let mut best = (1, expected(1));
    for hashes in 2..=most {
        let omissions = expected(hashes);
        if omissions < best.1 {
            best = (hashes, omissions);
        } else if omissions > 4.0 * best.1 {
            break;
        }
    }
    best.0
}
