//! Chains of levels: Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom filters", 2007.
//!
//! A key that no level seems to have goes into the last one. When that has taken as many keys as it is for, a level
//! follows that is larger and has a lower rate. With `P_i` the rate of the full level i, a lookup of an absent key says
//! true at the rate `1 - prod(1 - P_i)`, which is at most the sum of all `P_i`. With `P_i = P_0 r^i` that sum stays
//! below `P_0 / (1 - r)` however many levels there are, so `P_0 = (1 - r) P` keeps the promise P for ever.
//!
//! Only keys that were *new* to a level fill it. Of m distinct keys that reach a level some seem to be there already,
//! and change nothing in it. So the level has the bits of m keys, but it has taken only `m - (the integral of its rate
//! from 0 to m)` of them. [`taken`] and [`seen`] convert one into the other, so that rates are those of the keys that a
//! level has seen.

use super::search;

/// Intervals of Simpson's rule: rates rise like high powers of the number of keys, and the rule integrates the 16th
/// power to half a percent. What is integrated is only a correction.
const INTERVALS: u32 = 16;

/// How many times as many keys as it took a level may have seen for [`seen`] to give a finite number.
const MOST_SEEN: f64 = 8.0;

/// How many of `seen` distinct keys a level of this rate is expected to have mistaken for keys that it had.
pub fn mistaken(seen: f64, rate: impl Fn(u64) -> f64) -> f64 {
    let step = seen / f64::from(INTERVALS);
    let value = |i: u32| rate((f64::from(i) * step).round() as u64);
    let inner: f64 = (1..INTERVALS).map(|i| f64::from(2 + 2 * (i % 2)) * value(i)).sum();
    (step / 3.0 * (value(0) + inner + value(INTERVALS))).min(seen)
}

/// How many keys a level of this rate is expected to have taken when it has seen `seen` distinct ones.
pub fn taken(seen: f64, rate: impl Fn(u64) -> f64) -> f64 {
    seen - mistaken(seen, rate)
}

/// How many distinct keys a level of this rate is expected to have seen when it has taken `taken`: the inverse of
/// [`taken`], by iteration. Never fewer than `taken`; infinite if this would be more than `MOST_SEEN` times as many,
/// for a level that is far past its capacity.
pub fn seen(taken: f64, rate: impl Fn(u64) -> f64) -> f64 {
    let mut seen = taken;
    while seen <= MOST_SEEN * taken {
        let better = taken + mistaken(seen, &rate);
        if (better - seen).abs() <= 1e-9 * seen {
            return better;
        }
        seen = better;
    }
    f64::INFINITY
}

/// The most distinct keys that a level may see for its rate to be at most `bound`: a search from `guess`. 0 if no
/// number is that low; `u64::MAX` if the rate never gets there.
pub fn most_keys(bound: f64, guess: u64, rate: impl Fn(u64) -> f64) -> u64 {
    search::least(guess, u64::MAX, |keys| rate(keys) > bound).map_or(u64::MAX, |first| first - 1)
}

/// `1 - (1-p)(1-q)`: a lookup says true if either of two levels does.
pub fn either(p: f64, q: f64) -> f64 {
    // Computed in this order it is never more than 1.
    p + q * (1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seen_and_taken_are_inverse() {
        // A rate whose integral is known, at whole numbers of keys.
        let rate = |keys: u64| (keys as f64 / 1600.0).powi(4) / 10.0;
        let expected = 1600.0 - 1600.0 / 50.0;
        assert!((taken(1600.0, rate) - expected).abs() < 0.01, "{}", taken(1600.0, rate));
        assert!((seen(taken(800.0, rate), rate) - 800.0).abs() < 0.01);
        assert_eq!((seen(0.0, rate), taken(0.0, rate)), (0.0, 0.0));
        assert_eq!(seen(10.0, |_| 1.0), f64::INFINITY);
        assert_eq!(most_keys(0.1, 1, rate), 1600);
        assert_eq!(most_keys(0.1, 123_456, rate), 1600);
        assert_eq!(most_keys(0.1, 5, |_| 0.05), u64::MAX);
        assert_eq!(most_keys(0.1, 5, |_| 0.5), 0);
    }

    #[test]
    fn either_is_a_probability() {
        let near = |i: i32| 1.0 - 1e-9 * f64::from(i).powi(2) / 7.0;
        for (p, q) in (0..300).flat_map(|i| (0..300).map(move |j| (near(i), near(j)))) {
            assert!((0.0..=1.0).contains(&either(p, q)) && (0.0..=1.0).contains(&either(p, 1.0 - q)), "{p} {q}");
        }
    }

    /// The sum of all rates is the promise, and a chain stays below it.
    #[test]
    fn a_chain_stays_below_its_promise() {
        for r in [0.5, 0.7, 0.9] {
            let rates = (0..64).map(|i| 0.01 * (1.0 - r) * f64::powi(r, i));
            let compound = rates.fold(0.0, either);
            assert!(compound < 0.01 && compound > 0.009_9, "{r}: {compound}");
        }
    }
}
