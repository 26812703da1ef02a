//! How many coded symbols a sketch keeps.
//!
//! Listing takes 1.353 symbols a number if there are many numbers, and more if there are few. A simulation of 20
//! million sketches of 2 to 10,000 numbers gave a mean of 1.3528 + 2.2 d^(-2/3) symbols for each number, and a
//! deviation of 0.95 d^(-1/2). A normal distribution with this mean describes how often listing fails, except for few
//! numbers in many symbols. There listing fails mostly because two numbers are in the same ones of the first m symbols.
//! Symbol i has both numbers or none with the probability p^2 + (1 - p)^2, where p = 2 / (i + 2). So two numbers are in
//! the same ones of all m symbols with a probability of at most 4 (sinh(2 pi) / (2 pi)) / (m (m + 1))^2. Larger sets of
//! numbers that cannot be told apart come in addition, at most three times as often as pairs.

use crate::sizing::{exp, ln};
use crate::sketch::normal_tail;

/// sinh(2 pi) / (2 pi), times 4.
const PAIR: f64 = 170.446;
/// The mean of the symbols for each number: the limit for many numbers, and the most for few.
const SYMBOLS_EACH: (f64, f64) = (1.3528, 1.78);

/// The probability that `numbers` numbers cannot be listed from `symbols` symbols. The result errs on the high side.
pub fn failure(numbers: u64, symbols: u64) -> f64 {
    if symbols == 0 || numbers < 2 {
        return if symbols == 0 { 1.0 } else { 0.0 };
    }
    let (n, m) = (numbers as f64, symbols as f64);
    let pairs = n * (n - 1.0) / 2.0 * PAIR / (m * (m + 1.0) * m * (m + 1.0));
    let mean = (SYMBOLS_EACH.0 + 2.2 * exp(ln(n) * (-2.0 / 3.0))).min(SYMBOLS_EACH.1);
    let z = (m / n - mean) * n.sqrt() / DEVIATION;
    let slow = if z < 0.0 { 1.0 } else { normal_tail(z) };
    (4.0 * pairs + slow).min(1.0)
}

/// The deviation of the symbols for each number, times the square root of the count of numbers. This constant is
/// greater than the simulated 0.95, because the simulated distribution is skew.
const DEVIATION: f64 = 1.2;

/// The fewest symbols from which listing `numbers` numbers fails with at most this probability; `None` if 64 bits do
/// not hold their count.
pub fn size_for(numbers: u64, rate: f64) -> Option<u64> {
    let holds = |symbols: u64| failure(numbers, symbols) <= rate;
    let mut high = 1_u64;
    while !holds(high) {
        high = high.checked_mul(2)?;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each size is the least that keeps the rate, and near the simulated one.
    #[test]
    fn sizes_are_the_least() {
        for rate in [0.5, 0.1, 0.01, 1e-4, 1e-9] {
            for numbers in [1, 2, 5, 100, 10_000, 1_000_000] {
                let symbols = size_for(numbers, rate).unwrap();
                assert!(failure(numbers, symbols) <= rate, "{numbers} {rate}: {symbols}");
                assert!(symbols == 1 || failure(numbers, symbols - 1) > rate, "{numbers} {rate}: {symbols}");
            }
        }
        assert_eq!((size_for(1, 1e-9), size_for(0, 0.5)), (Some(1), Some(1)));
        let ratio = size_for(1_000_000, 0.01).unwrap() as f64 / 1e6;
        assert!((1.353..1.36).contains(&ratio), "{ratio}");
        assert_eq!(size_for(u64::MAX, 0.01), None);
    }

    /// For few numbers in many symbols pairs decide, for many numbers in few symbols the normal distribution. The
    /// values were worked out by another program.
    #[test]
    fn rates_are_those_of_the_formula() {
        for (numbers, symbols, expected) in [
            (2, 100, 6.683501617488e-6),
            (3, 100, 2.005050485247e-5),
            (100, 170, 0.02538184344302),
            (1000, 1400, 0.26758878279482),
            (1000, 1370, 1.0),
        ] {
            let rate = failure(numbers, symbols);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{numbers} {symbols}: {rate}");
        }
    }

    /// The rate of failures falls with each symbol.
    #[test]
    fn rates_fall() {
        for numbers in [2, 10, 100, 5000] {
            let rates: Vec<f64> = (0..4 * numbers).map(|symbols| failure(numbers, symbols)).collect();
            assert!(rates.is_sorted_by(|a, b| a >= b), "{numbers}");
        }
    }
}
