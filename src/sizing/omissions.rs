//! Omissions: distinct keys that an insertion takes for known, when all of a state space passes through a filter that
//! says of each key whether it is new. An explicit-state model checker does not explore such a state.
//!
//! The i-th key is omitted with the false-positive rate after the keys before it, so the expected number is the sum of
//! these rates, far less than the number of keys times the last one. With a Bloom filter that is the bitstate search of
//! Holzmann 1988, analysed by Dillinger and Manolios, "Bloom filters in probabilistic verification", 2004.

/// Up to this many keys, the rate of each is computed.
const SINGLY: u64 = 256;

/// More keys are divided into this many pieces.
const PIECES: u32 = 16;

/// The nodes of Gauss and Legendre's rule of eight nodes in one half of the interval from -1 to 1, and their weights.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// The sum of `rate(i)` for all `i` less than `keys`: exact for up to 256 keys. Beyond that it is an integral over a
/// few hundred rates, good to a few millionths if the rate is a smooth function of the number of keys, and to a few
/// thousandths if it has steps.
pub fn sum_of_rates(keys: u64, rate: impl Fn(u64) -> f64) -> f64 {
    if keys <= SINGLY {
        return (0..keys).map(rate).sum();
    }
    // The rate at a number of keys that need not be whole: key i is the middle of the interval from i to i + 1.
    let at = |place: f64| {
        let place = (place - 0.5).clamp(0.0, keys as f64);
        let low = (place as u64).min(keys - 2);
        let part = (place - low as f64).clamp(0.0, 1.0);
        if low >= 1 << 40 { rate(low) } else { rate(low) * (1.0 - part) + rate(low + 1) * part }
    };
    let half = keys as f64 / f64::from(2 * PIECES);
    let piece = |i: u32| {
        let middle = half * f64::from(2 * i + 1);
        let of_node = |(node, weight): &(f64, f64)| weight * (at(middle - half * node) + at(middle + half * node));
        half * NODES.iter().map(of_node).sum::<f64>()
    };
    // Straight lines between whole numbers of keys are above a curve by an eighth of its second difference.
    let above = (rate(keys - 1) - rate(keys - 2)) / 8.0;
    (0..PIECES).map(piece).sum::<f64>() - above
}

/// The number of bits for each key that gives the fewest omissions of `keys` keys in a bitstate search over `bits`
/// bits, from 1 to `most`: 0.7 to 0.8 of the bits a key, a little more than what gives the lowest rate in the end.
///
/// Computed from the asymptotic rates, `sum (1 - e^(-k i / m))^k`. No keys or no bits give 1.
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
