//! How many cells an invertible Bloom lookup table takes.
//!
//! Listing fails if and only if there is a stopping set: numbers of which none is alone in a cell. The expected number
//! of stopping sets is the sum over their sizes s of C(n, s) times p to the power of the number of sub-tables. Here p
//! is the probability that s numbers leave none of them alone in a sub-table of m cells. That sum is a bound of the
//! probability that listing fails, and for few numbers a close one. For many numbers the rare tables with a large
//! stopping set have so many of them that the bound asks for 1.53 cells a number with 3 sub-tables.
//!
//! Peeling needs 1.222 cells a number with 3 sub-tables, and 1.295 with 4. Near that threshold there are two kinds of
//! failure. Small stopping sets are counted, as above, up to the size of which there are the fewest. A large one, the
//! core, appears with one number or another: the load at that number has nearly a normal distribution, with the mean,
//! the deviation and the skewness of `Law`. The lesser of bound and law decides on a size.

use crate::sizing::{exp, ln};
use crate::sketch::normal_tail;

/// The fewest and the most sub-tables.
pub const ARITY: (u32, u32) = (3, 7);

/// Up to this many numbers all sizes of stopping sets are summed up. For more numbers, the sizes above [`SMALL`] count
/// as for this many in a table of the same ratio: the larger the table, the rarer they are.
const SUMMED: u64 = 2000;
/// The greatest size of a stopping set that is counted exactly, in the table itself.
const SMALL: usize = 64;

/// The load at which the core appears. Loads are numbers per cell, over all M cells.
struct Law {
    /// The load at which the core of an endless table appears.
    threshold: f64,
    /// By how much the mean is less, times M^(-2/3).
    shift: f64,
    /// The standard deviation, times M^(-1/2).
    deviation: f64,
    /// The skewness, times M^(-1/2).
    skewness: f64,
}

/// The laws of 3 and of 4 sub-tables. The thresholds are known; the rest was fitted to 3,000 to 400,000 simulated
/// tables each of 120, 300, 600, 1,200, 3,000, 12,000 and 60,000 cells. The loads at which by the law one table in 100,
/// 1,000 and 10,000 fails lie 0 to 3 % below those of the simulation. Rarer failures are extrapolated; they matter in
/// large tables only, where the distribution is normal.
const LAWS: [Law; 2] = [
    Law { threshold: 0.81847, shift: 0.92, deviation: 0.5, skewness: -5.0 },
    Law { threshold: 0.77228, shift: 0.8, deviation: 0.41, skewness: -3.5 },
];
/// The fewest cells that a law was fitted to.
const FITTED: f64 = 120.0;

/// The probability that `numbers` numbers cannot be listed from `arity` sub-tables of `cells` cells, too high rather
/// than too low.
pub fn failure(numbers: u64, cells: u64, arity: u32) -> f64 {
    if cells == 0 || numbers < 2 {
        return if cells == 0 { 1.0 } else { 0.0 };
    }
    let small = small_sets(numbers, cells, arity);
    let large = match numbers <= SUMMED {
        true => large_sets(numbers, cells as f64, arity),
        false => large_sets(SUMMED, cells as f64 * (SUMMED as f64 / numbers as f64), arity),
    };
    let bound = small.iter().sum::<f64>() + large;
    let by_law = LAWS.get((arity - ARITY.0) as usize).map_or(1.0, |law| {
        let sizes = 4..=SMALL.min(numbers as usize);
        let fewest = sizes.min_by(|a, b| small[*a].total_cmp(&small[*b])).unwrap_or(SMALL);
        small[..=fewest].iter().sum::<f64>() + law.core(numbers as f64, cells as f64 * f64::from(arity))
    });
    bound.min(by_law).min(1.0)
}

/// The cells of a sub-table, and the number of them, of the smallest table in which listing fails with at most this
/// probability; `None` if they overflow.
pub fn size_for(numbers: u64, rate: f64) -> Option<(u64, u32)> {
    let sizes = (ARITY.0..=ARITY.1).filter_map(|arity| Some((least_cells(numbers, rate, arity)?, arity)));
    sizes.min_by_key(|(cells, arity)| cells.saturating_mul(u64::from(*arity)))
}

/// [`size_for`] of a table with values. Its first sub-table has one cell for all values of a number, and the others
/// decide alone whether listing succeeds: the first can only help.
pub fn size_with_values(numbers: u64, rate: f64) -> Option<(u64, u32)> {
    let sizes = (ARITY.0..ARITY.1).filter_map(|arity| Some((least_cells(numbers, rate, arity)?, arity + 1)));
    sizes.min_by_key(|(cells, tables)| cells.saturating_mul(u64::from(*tables)))
}

/// The fewest cells of a sub-table for which the probability is low enough.
fn least_cells(numbers: u64, rate: f64, arity: u32) -> Option<u64> {
    let holds = |cells: u64| failure(numbers, cells, arity) <= rate;
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

impl Law {
    /// The probability that `numbers` numbers have a core in `cells` cells.
    fn core(&self, numbers: f64, cells: f64) -> f64 {
        if cells < FITTED {
            return 1.0;
        }
        let root = cells.sqrt();
        let mean = self.threshold - self.shift * exp(ln(cells) * (-2.0 / 3.0));
        let z = (numbers / cells - mean) * root / self.deviation;
        // Cornish and Fisher: z = u + skewness (u^2 - 1) / 6, where u is of a normal distribution.
        let skewness = self.skewness / root;
        let inner = 1.0 + skewness * 2.0 / 3.0 * (skewness / 6.0 + z);
        if inner <= 0.0 {
            return 1.0;
        }
        let u = (inner.sqrt() - 1.0) * 3.0 / skewness;
        if u < 0.0 { normal_tail(-u) } else { 1.0 - normal_tail(u) }
    }
}

/// The expected number of stopping sets of each size up to [`SMALL`].
fn small_sets(n: u64, m: u64, arity: u32) -> [f64; SMALL + 1] {
    let (none_alone, mut sets) = (none_alone(m), [0.0; SMALL + 1]);
    let (n, mut choose, mut factorial) = (n as f64, ln(n as f64), 0.0);
    for (size, expected) in sets.iter_mut().enumerate().skip(2).take_while(|(size, _)| *size as f64 <= n) {
        let s = size as f64;
        choose += ln((n - s + 1.0) / s);
        factorial += ln(s);
        // What is 0 here was too small for a double, and is not counted.
        if none_alone[size] > 0.0 {
            *expected = exp(choose + f64::from(arity) * (factorial + ln(none_alone[size])));
        }
    }
    sets
}

/// The probability that s numbers leave none of them alone in m cells, divided by s!, for s up to [`SMALL`]: the
/// coefficients of (e^(y/m) - y/m)^m.
fn none_alone(m: u64) -> [f64; SMALL + 1] {
    let product = |a: &[f64; SMALL + 1], b: &[f64; SMALL + 1]| {
        let mut product = [0.0; SMALL + 1];
        for (i, factor) in a.iter().enumerate() {
            for (place, other) in product[i..].iter_mut().zip(b) {
                *place += factor * other;
            }
        }
        product
    };
    let (mut power, mut result) = ([0.0; SMALL + 1], [0.0; SMALL + 1]);
    let mut coefficient = 1.0;
    for (i, place) in power.iter_mut().enumerate() {
        *place = if i == 1 { 0.0 } else { coefficient };
        coefficient /= m as f64 * (i + 1) as f64;
    }
    result[0] = 1.0;
    let mut exponent = m;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(&result, &power);
        }
        power = product(&power, &power);
        exponent >>= 1;
    }
    result
}

/// A bound of the expected number of stopping sets of more than [`SMALL`] of `n` numbers, in sub-tables of `m` cells,
/// or 1 if that is less.
fn large_sets(n: u64, m: f64, arity: u32) -> f64 {
    if m < 1.0 {
        return 1.0;
    }
    let (n, last, log_m) = (n as f64, n, ln(m));
    // ln C(n, s) and ln s!, from size to size; and where the bound of a size has its least.
    let (mut choose, mut factorial, mut sum) = (ln(n), 0.0, 0.0);
    let mut x = (2.0 * SMALL as f64 / m).sqrt();
    for size in 2..=last {
        let s = size as f64;
        choose += ln((n - s + 1.0) / s);
        factorial += ln(s);
        if size <= SMALL as u64 {
            continue;
        }
        x = saddle(s / m, x);
        let alone = (factorial - s * log_m + m * ln(exp(x) - x) - s * ln(x)).min(0.0);
        sum += exp(choose + f64::from(arity) * alone);
        if sum >= 1.0 {
            return 1.0;
        }
    }
    sum
}

/// The x at which (e^x - x)^m / x^s is least, which depends on s / m. The number of ways in which s numbers leave none
/// alone in m cells is s! times a coefficient of the series of (e^x - x)^m. The series has no negative coefficient, so
/// the number is at most s! times the least value.
fn saddle(ratio: f64, start: f64) -> f64 {
    let mut x = start;
    for _ in 0..50 {
        let (power, series) = (exp(x), exp(x) - x);
        let value = x * (power - 1.0) / series - ratio;
        let slope = (power - 1.0 + x * power) / series - x * (power - 1.0) * (power - 1.0) / (series * series);
        let next = (x - value / slope).max(x / 2.0);
        if (next - x).abs() < 1e-7 * x {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two numbers cannot be listed if they share all their cells, and of three no more than two may.
    #[test]
    fn few_numbers_are_counted_exactly() {
        assert_eq!(failure(1, 1, 3), 0.0);
        assert!((failure(2, 10, 3) - 1e-3).abs() < 1e-12);
        assert!((failure(3, 10, 4) - (3e-4 + 1e-8)).abs() < 1e-12);
        assert_eq!(failure(100, 1, 3), 1.0);
    }

    /// The laws are those of the formula, down to the fewest cells that they were fitted to. The values were worked out
    /// by another program.
    #[test]
    fn cores_appear_as_the_laws_say() {
        for (law, numbers, cells, expected) in [
            (0, 1000.0, 1200.0, 0.94645273342917),
            (0, 1000.0, 1260.0, 0.12310929076688),
            (0, 1000.0, 1400.0, 9.7787156924557e-11),
            (1, 1000.0, 1400.0, 5.0046472552793e-6),
            (1, 100.0, 160.0, 5.6647962848644e-4),
            (0, 90.0, 120.0, 0.25262535297108),
            (0, 90.0, 119.9, 1.0),
            (0, 1e6, 1e5, 1.0),
        ] {
            let found: f64 = LAWS[law].core(numbers, cells);
            assert!((found / expected - 1.0).abs() < 1e-9, "{law} {numbers} {cells}: {found}");
        }
    }

    /// Whatever the numbers, the table is the smallest for its sub-tables, and near the threshold for many.
    #[test]
    fn sizes_are_the_least() {
        for rate in [0.5, 0.01, 1e-4, 1e-9] {
            for numbers in [1, 2, 5, 20, 100, 500, 2000, 2001] {
                let (cells, arity) = size_for(numbers, rate).unwrap();
                assert!(failure(numbers, cells, arity) <= rate, "{numbers} {rate}: {cells} {arity}");
                assert!(cells == 1 || failure(numbers, cells - 1, arity) > rate, "{numbers} {rate}: {cells} {arity}");
            }
            let (cells, arity) = size_for(1_000_000, rate).unwrap();
            let ratio = cells as f64 * f64::from(arity) / 1e6;
            assert!((1.2217..1.45).contains(&ratio), "{rate}: {ratio}");
            assert!(failure(1_000_000, cells, arity) <= rate);
        }
        // One and a half cells for each of `u64::MAX` numbers overflow.
        let (cells, arity) = size_for(u64::MAX, 0.01).unwrap();
        assert!(cells.checked_mul(u64::from(arity)).is_none());
    }
}
