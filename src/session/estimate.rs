//! How many numbers differ, from the counts of the first coded symbols of both sets.
//!
//! A number that both sets have is in the same symbols of both. So the difference D of two counts depends only on the
//! numbers that differ. Symbol i has a number with a probability of about p = 1 / (1 + i / 2). If one set has a numbers
//! that the other does not have, and the other has b such numbers, D has the mean p (a - b) and the variance p (1 - p)
//! (a + b). The surplus s = a - b is known exactly, because symbol 0 counts all numbers. The counts of both sets
//! together, of N numbers, give p more exactly than the formula does. With p from these counts, the square of D - p s
//! has the mean p (1 - p) (a + b) (1 - s^2 / N^2), so each symbol gives an unbiased estimate of a + b. The variance of
//! that estimate is about 2 (a + b)^2 + (a + b) (1 / (p (1 - p)) - 6), and the mean of all estimates is weighted by its
//! inverse.

/// The most counts of symbols that the responder sends, and the most bytes that they take.
pub const MOST_COUNTS: (u64, usize) = (256, 400);

/// The probability that a symbol contains a number.
pub fn probability(symbol: u64) -> f64 {
    1.0 / (1.0 + symbol as f64 / 2.0)
}

/// The count that a symbol of `numbers` numbers has on average, rounded. Both sides compute the same count.
pub fn expected_count(numbers: u64, symbol: u64) -> i64 {
    (numbers as f64 * probability(symbol) + 0.5) as i64
}

/// How many numbers differ, with the standard deviation of that estimate, from the counts of both sets' symbols from
/// symbol 0 on.
pub fn differences(ours: &[u64], theirs: &[u64]) -> (f64, f64) {
    let (Some(own), Some(other)) = (ours.first(), theirs.first()) else { return (0.0, f64::INFINITY) };
    let (all, surplus) = (*own as f64 + *other as f64, *own as f64 - *other as f64);
    // At least as many numbers differ as one set has more than the other.
    let least = surplus.abs();
    let seen = 1.0 - surplus * surplus / (all * all);
    if seen.is_nan() || seen <= 0.0 {
        return (least, 0.0);
    }
    // An estimate from each symbol, and what the variance of that estimate adds to 2 (a + b)^2, divided by a + b.
    let estimates = || {
        ours.iter().zip(theirs).zip(0..).skip(1).map(move |((ours, theirs), symbol)| {
            let (ours, theirs) = (*ours as f64, *theirs as f64);
            let deviation = ours - theirs - surplus * (ours + theirs) / all;
            let spread = probability(symbol) * (1.0 - probability(symbol));
            (deviation * deviation / (spread * seen), 1.0 / spread - 6.0)
        })
    };
    let few = estimates().take(16).map(|(estimate, _)| estimate);
    let mut mean = (few.sum::<f64>() / (ours.len().min(theirs.len()) - 1).clamp(1, 16) as f64).max(least).max(1.0);
    let mut weights = 0.0;
    for _ in 0..4 {
        let weighted = estimates().map(|(estimate, extra)| {
            let weight = 1.0 / (2.0 + extra / mean).max(0.1);
            (weight, weight * estimate)
        });
        let (all, sum) = weighted.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        if all == 0.0 {
            return (mean, f64::INFINITY);
        }
        (weights, mean) = (all, (sum / all).max(least).max(1.0));
    }
    (mean, mean / weights.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;
    use crate::sketch::riblt::symbols::Indices;

    /// The estimate for sets with `common` common numbers, and `own` and `other` numbers that only one has, from the
    /// counts of 160 symbols.
    fn estimated((common, own, other): (u64, u64, u64), seed: u64) -> (f64, f64) {
        let (mut ours, mut theirs) = ([0; 160], [0; 160]);
        for number in 0..common + own + other {
            let hash = mix(mix(seed).wrapping_add(number));
            for index in Indices::of(hash).take_while(|index| *index < 160) {
                ours[index as usize] += u64::from(number < common + own);
                theirs[index as usize] += u64::from(number < common || number >= common + own);
            }
        }
        differences(&ours, &theirs)
    }

    /// Where a set is empty the differences are known. Counts are sent as differences from their mean.
    #[test]
    fn empty_sets_leave_no_doubt() {
        assert_eq!(differences(&[100, 50], &[0, 0]), (100.0, 0.0));
        assert_eq!(differences(&[0, 0], &[7, 5]), (7.0, 0.0));
        assert_eq!(differences(&[0, 0], &[0, 0]), (0.0, 0.0));
        assert_eq!([0, 1, 2, 8].map(|symbol| expected_count(1000, symbol)), [1000, 667, 500, 200]);
    }

    /// Some estimates, computed by another program, to their last digits.
    #[test]
    fn estimates_are_those_of_the_formula() {
        let counts = |numbers: u64, symbols: u64, shift: u64| {
            let stray = |symbol: u64| (symbol * symbol * 7 + symbol * shift) % 11;
            let count = |symbol: u64| (numbers as f64 * probability(symbol)) as u64 + stray(symbol) - 5;
            core::iter::once(numbers).chain((1..symbols).map(count)).collect::<Vec<u64>>()
        };
        for (ours, theirs, symbols, shifts, expected) in [
            (1000, 990, 5, (3, 8), (53.0107846651, 37.1809852586)),
            (300, 340, 40, (2, 5), (408.311078258, 92.81360029)),
        ] {
            let found = differences(&counts(ours, symbols, shifts.0), &counts(theirs, symbols, shifts.1));
            let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            assert!(is_near(found.0, expected.0) && is_near(found.1, expected.1), "{ours} {theirs}: {found:?}");
        }
    }

    /// The mean of many estimates is the number of differences, within 4.5 deviations of such a mean, and estimates
    /// deviate as much as they say, within a quarter. Where one set contains the other, the least possible number cuts
    /// off low estimates.
    #[test]
    fn estimates_are_unbiased_and_know_their_deviation() {
        let sets = [(100, 0, 3), (1_000, 5, 5), (1_000, 50, 50), (20_000, 1_000, 1_000), (5_000, 20_000, 3_000)];
        for set in sets.into_iter().chain([(20_000, 100, 0), (0, 500, 0)]) {
            let (runs, all) = (200, (set.1 + set.2) as f64);
            let estimates: Vec<(f64, f64)> = (0..runs).map(|run| estimated(set, run)).collect();
            let of = |value: &dyn Fn(&(f64, f64)) -> f64| estimates.iter().map(value).sum::<f64>() / runs as f64;
            let (mean, said) = (of(&|one| one.0), of(&|one| one.1));
            let deviation = of(&|one| (one.0 - all) * (one.0 - all)).sqrt();
            let told = format!("{set:?}: mean {mean:.2}, deviation {deviation:.2}, said {said:.2}");
            assert!(deviation <= 1.25 * said && mean - all <= said, "{told}");
            if set.1.min(set.2) > 0 {
                assert!((mean - all).abs() < 4.5 * said / (runs as f64).sqrt() && deviation > 0.75 * said, "{told}");
            }
        }
    }
}
