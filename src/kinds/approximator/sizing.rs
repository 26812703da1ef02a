//! Probabilities of the compact approximator ([`super::layout`]).
//!
//! Boldi and Vigna 2005. Take ordered values, and a key x with the value f(x). The map reads more than a value v, which
//! is f(x) or more, if each of the k cells of x has a key whose value is above v. Only the keys with values above v
//! matter, so this is the false-positive rate of a Bloom filter that holds just them, with the m cells as its bits.

use crate::sizing::bloom;

/// The exact probability that the map reads more of a key than a value which is the key's own or more. There are
/// `cells` cells, of which a key has `hashes`, and `keys_above` keys have values above that value. For a key that was
/// given no value, and the least value, these are all keys, and this is the false-positive rate.
///
/// For sets of bits under union it is the probability that the reading holds a given bit that the key's own set lacks,
/// where `keys_above` is the number of keys whose sets hold that bit.
///
/// As [`bloom::exact`]: relative error below 10^-12, `O(hashes^2)`.
pub fn read_above(cells: u64, hashes: u32, keys_above: u64) -> f64 {
    bloom::exact(cells, hashes, keys_above)
}

/// The classical approximation of [`read_above`], `(1 - (1-1/m)^(k n))^k` for n keys above. It is below the exact
/// probability for two or more cells a key.
pub fn read_above_classical(cells: u64, hashes: u32, keys_above: u64) -> f64 {
    bloom::classical(cells, hashes, keys_above)
}

/// The asymptotic approximation of [`read_above`], `(1 - e^(-k n/m))^k` for n keys above. It is below the classical
/// one.
pub fn read_above_asymptotic(cells: u64, hashes: u32, keys_above: u64) -> f64 {
    bloom::asymptotic(cells, hashes, keys_above)
}

/// The distribution of what is read of a key with the value `own`: each value from `own` on that may be read, with its
/// exact probability. `values` are those of all keys, ascending. Uses [`read_above`] for each distinct value above
/// `own`.
pub fn read_distribution(cells: u64, hashes: u32, own: u64, values: &[u64]) -> impl Iterator<Item = (u64, f64)> {
    let above = |value: u64| (values.len() - values.partition_point(|other| *other <= value)) as u64;
    let first = values.partition_point(|other| *other <= own);
    let later = values[first..].chunk_by(|a, b| a == b).filter_map(|equal| equal.first().copied());
    let mut before = 1.0;
    core::iter::once(own).chain(later).map(move |value| {
        let after = read_above(cells, hashes, above(value));
        let probability = before - after;
        before = after;
        (value, probability)
    })
}

/// How far the reading of a key with the value `own` is above that on average. `values` are those of all keys,
/// ascending.
pub fn expected_excess(cells: u64, hashes: u32, own: u64, values: &[u64]) -> f64 {
    read_distribution(cells, hashes, own, values).map(|(value, probability)| (value - own) as f64 * probability).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_one() {
        let values: Vec<u64> = (0..1000).map(|i| i * i % 97).collect();
        let sorted = |mut values: Vec<u64>| {
            values.sort_unstable();
            values
        };
        let values = sorted(values);
        for own in [0, 5, 96, 200] {
            let all: Vec<(u64, f64)> = read_distribution(4000, 3, own, &values).collect();
            assert!(all.iter().all(|(value, p)| *value >= own && *p >= 0.0), "{all:?}");
            assert!((all.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(all.is_sorted_by(|a, b| a.0 < b.0));
        }
        assert_eq!(expected_excess(4000, 3, 96, &values), 0.0);
        assert!(expected_excess(4000, 3, 0, &values) > expected_excess(8000, 3, 0, &values));
        assert_eq!(read_above(4000, 3, 1000), bloom::exact(4000, 3, 1000));
        assert!(read_above_asymptotic(4000, 3, 1000) < read_above_classical(4000, 3, 1000));
        assert!(read_above_classical(4000, 3, 1000) < read_above(4000, 3, 1000));
    }
}
