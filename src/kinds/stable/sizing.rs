//! Stable Bloom filters: `m` cells that count down. Before each key sets `k` cells to their maximum, some cells are
//! decremented.
//!
//! Deng and Rafiei, "Approximately Detecting Duplicates for Streaming Data using Stable Bloom Filters", 2006. Each
//! insertion decrements P cells, and so a given cell with probability `q = P/m`. Then it sets the cell to its maximum M
//! with probability `r = k/m`. (Here a key has one cell in each of k slices of `m/k`, so that this is exact.)
//!
//! A cell that was set is 0 after n further insertions if M decrements came before it was set anew. Let T be the number
//! of the insertion with the M-th decrement. T has the negative binomial distribution, and no setting came before it
//! with probability `(1-r)^T`. So
//!
//! ```text
//! p0(n) = E[(1-r)^T; T <= n] = (q (1-r) / q')^M  Pr[Binomial(n, q') >= M],   q' = 1 - (1-q)(1-r)
//! ```
//!
//! which is the Markov chain of the cell in closed form ([`Cells::zero_after`]). The first factor is the stable point,
//! the paper's `(1 / (1 + 1/(P (1/k - 1/m))))^M`. A key that came n insertions ago still has all of its cells above 0
//! with probability `(1 - p0(n))^k`; otherwise a lookup is a false negative. In a filter that began with zeros the
//! share of cells above 0 rises to the stable point. The false-positive rate is the k-th power of that share, and so
//! never exceeds its limit.

use crate::sizing::{hash_floor, is_rate, search};

/// The most slices, in each of which a key has a cell.
pub const MAX_HASHES: u32 = 16;

/// The most cells of a slice.
const MAX_CELLS: u64 = 1 << 56;

/// The shape of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// k, the number of slices.
    pub hashes: u32,
    /// How many cells a slice has.
    pub each: u64,
    /// M, the value to which a key sets its cells.
    pub greatest: u32,
    /// P, how many cells are decremented before each insertion.
    pub decrements: u64,
}

impl Cells {
    /// m, the number of all cells.
    pub fn count(&self) -> u64 {
        self.each.saturating_mul(self.hashes.into())
    }

    /// The probabilities that an insertion decrements a cell, and that it sets it.
    fn chances(&self) -> (f64, f64) {
        ((self.decrements as f64 / self.count().max(1) as f64).min(1.0), 1.0 / self.each.max(1) as f64)
    }

    /// The share of cells that are 0 after very many insertions.
    pub fn zeros(&self) -> f64 {
        let (q, r) = self.chances();
        (q * (1.0 - r) / either(q, r)).powi(self.greatest as i32)
    }

    /// The probability that a cell is 0 when `insertions` insertions came after it was set.
    pub fn zero_after(&self, insertions: u64) -> f64 {
        let (q, r) = self.chances();
        self.zeros() * (1.0 - fewer(insertions, either(q, r), self.greatest))
    }

    /// The probability that a key is not found after `insertions` insertions of other keys.
    pub fn false_negative_rate(&self, insertions: u64) -> f64 {
        -(f64::from(self.hashes) * (-self.zero_after(insertions)).ln_1p()).exp_m1()
    }

    /// The rate after `keys` distinct keys, which rises to its limit.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let (q, r) = self.chances();
        // The cell was never set yet, or is 0 again.
        let untouched = (keys as f64 * (-r).ln_1p()).exp() * fewer(keys, q, self.greatest);
        let filled = (1.0 - untouched - self.zero_after(keys)).max(0.0);
        filled.powi(self.hashes as i32).max(hash_floor(keys.min(self.lifetime()), 64))
    }

    /// The limit of the rate.
    pub fn worst(&self) -> f64 {
        (1.0 - self.zeros()).powi(self.hashes as i32)
    }

    /// The number of insertions after which certainly no key is left.
    pub fn lifetime(&self) -> u64 {
        let cells = u128::from(self.count()) * u128::from(LIFETIMES * u64::from(self.greatest));
        u64::try_from(cells.div_ceil(self.decrements.max(1).into())).unwrap_or(u64::MAX)
    }
}

/// How often a cell is decremented on average until no key is left, as a multiple of its maximum: a Poisson variable of
/// mean 64 M is below M with a probability less than `e^-59`.
const LIFETIMES: u64 = 64;

/// The probability of at least one of two independent events.
fn either(a: f64, b: f64) -> f64 {
    a + b - a * b
}

/// `Pr[Binomial(n, p) < most]`.
fn fewer(n: u64, p: f64, most: u32) -> f64 {
    if p >= 1.0 {
        return if n < most.into() { 1.0 } else { 0.0 };
    }
    let n = n as f64;
    let mut term = (n * (-p).ln_1p()).exp();
    let mut sum = 0.0;
    for i in 0..most {
        sum += term;
        let i = f64::from(i);
        term *= ((n - i) / (i + 1.0)).max(0.0) * p / (1.0 - p);
    }
    sum.min(1.0)
}

/// The least P with which the rate never exceeds `rate`. `None` if the slices are too small for any P.
pub fn decrements(cells: Cells, rate: f64) -> Option<u64> {
    if !is_rate(rate) || cells.each < 2 {
        return None;
    }
    let zero = (1.0 - rate.powf(1.0 / f64::from(cells.hashes))).powf(1.0 / f64::from(cells.greatest));
    let guess = zero / (1.0 - zero) * cells.count() as f64 / (cells.each - 1) as f64;
    search::least(guess.ceil() as u64, cells.count(), |decrements| Cells { decrements, ..cells }.worst() <= rate)
}

/// The greatest P with which a key that came `keys` insertions ago is lost with a probability of at most `loss`. `None`
/// if no P does.
pub fn most_decrements(cells: Cells, keys: u64, loss: f64) -> Option<u64> {
    let is_too_many = |decrements| Cells { decrements, ..cells }.false_negative_rate(keys) > loss;
    match search::least(16, cells.count(), is_too_many) {
        Some(too_many) => Some(too_many - 1).filter(|most| *most > 0),
        None => Some(cells.count()),
    }
}

/// The smallest slices with which a filter of this rate loses a key that came `keys` insertions ago with a probability
/// of at most `loss`. `None` if there are no such slices.
pub fn cells_for(hashes: u32, greatest: u32, keys: u64, rate: f64, loss: f64) -> Option<Cells> {
    let shape = |each| {
        let cells = Cells { hashes, each, greatest, decrements: 0 };
        decrements(cells, rate).map(|decrements| Cells { decrements, ..cells })
    };
    let guess = (keys as f64 * 8.0).min(MAX_CELLS as f64) as u64;
    let keeps = |each| shape(each).is_some_and(|cells| cells.false_negative_rate(keys) <= loss);
    shape(search::least(guess, MAX_CELLS, keeps)?)
}

/// The number of slices with which [`cells_for`] takes the fewest cells.
pub fn best_hashes(greatest: u32, keys: u64, rate: f64, loss: f64) -> u32 {
    let cost = |hashes| cells_for(hashes, greatest, keys, rate, loss).map_or(u64::MAX, |cells| cells.count());
    search::valley(5, MAX_HASHES, cost, u64::cmp)
}

/// The number of slices with which filters of `count` cells and this rate lose the fewest of those keys that came
/// `keys` insertions ago.
pub fn best_hashes_of_cells(count: u64, greatest: u32, keys: u64, rate: f64) -> u32 {
    let lost = |hashes: u32| {
        let cells = Cells { hashes, each: count / u64::from(hashes), greatest, decrements: 0 };
        match decrements(cells, rate) {
            Some(decrements) => Cells { decrements, ..cells }.false_negative_rate(keys),
            None => 1.0,
        }
    };
    search::valley(5, MAX_HASHES, lost, f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's formula for P, before it is rounded up: (rate, k, M, P).
    const TABLE: [(f64, u32, u32, f64); 24] = [
        (0.1, 2, 1, 4.325),
        (0.1, 2, 3, 14.81),
        (0.1, 2, 7, 35.84),
        (0.1, 4, 1, 3.113),
        (0.1, 4, 3, 12.61),
        (0.1, 4, 7, 31.93),
        (0.01, 2, 1, 18.00),
        (0.01, 2, 3, 55.95),
        (0.01, 2, 7, 131.9),
        (0.01, 3, 1, 10.925),
        (0.01, 3, 3, 35.61),
        (0.01, 3, 7, 85.06),
        (0.01, 4, 1, 8.649),
        (0.01, 4, 3, 29.61),
        (0.01, 4, 7, 71.68),
        (0.01, 6, 1, 6.927),
        (0.01, 6, 3, 25.95),
        (0.01, 6, 7, 64.36),
        (0.001, 3, 1, 27.00),
        (0.001, 3, 3, 83.93),
        (0.001, 3, 7, 197.8),
        (0.001, 6, 1, 12.97),
        (0.001, 6, 3, 44.42),
        (0.001, 6, 7, 107.5),
    ];

    /// A filter of a million cells decrements the table's number rounded up, and keeps the rate; one less does not.
    #[test]
    fn decrements_are_those_of_the_table() {
        for (rate, hashes, greatest, exact) in TABLE {
            let cells = Cells { hashes, each: 1_000_000 / u64::from(hashes), greatest, decrements: 0 };
            let decrements = decrements(cells, rate).unwrap();
            // A number that the table shows as whole may have further digits.
            let whole = exact.round() as u64;
            let is_near = (exact - exact.round()).abs() < 1e-9 && (whole..=whole + 1).contains(&decrements);
            assert!(is_near || decrements == exact.ceil() as u64, "{rate} {hashes} {greatest}: {decrements}");
            let worst = |decrements| Cells { decrements, ..cells }.worst();
            assert!(worst(decrements) <= rate && worst(decrements - 1) > rate);
        }
        // A P that was truncated gives these numbers.
        let truncated = Cells { hashes: 3, each: 100_000 / 3, greatest: 1, decrements: 10 };
        assert!((truncated.zeros() - 0.7692).abs() < 1e-4 && (truncated.worst() - 0.01229).abs() < 1e-5);
    }

    /// The closed form agrees with the chain of the cell's values, computed step by step.
    #[test]
    fn cells_are_markov_chains() {
        for (hashes, each, greatest, decrements) in [(3, 1000, 1, 11), (4, 500, 3, 30), (2, 90, 7, 132), (1, 7, 2, 7)] {
            let cells = Cells { hashes, each, greatest, decrements };
            let (q, r) = cells.chances();
            let step = |chain: &mut Vec<f64>| {
                for value in 0..greatest as usize {
                    let down = q * chain[value + 1];
                    chain[value] += down;
                    chain[value + 1] -= down;
                }
                let set: f64 = chain.iter().map(|share| r * share).sum();
                chain.iter_mut().for_each(|share| *share *= 1.0 - r);
                chain[greatest as usize] += set;
            };
            let mut since = vec![0.0; greatest as usize + 1];
            let mut from_zero = since.clone();
            (since[greatest as usize], from_zero[0]) = (1.0, 1.0);
            for n in 1..3000 {
                step(&mut since);
                step(&mut from_zero);
                let zero = cells.zero_after(n);
                assert!((zero - since[0]).abs() < 1e-9, "{cells:?} after {n}: {zero}, not {}", since[0]);
                let (rate, exact) = (cells.false_positive_rate(n), (1.0 - from_zero[0]).powi(hashes as i32));
                assert!((rate - exact).abs() < 1e-9, "{cells:?} after {n}: {rate}, not {exact}");
                let lost = 1.0 - (1.0 - since[0]).powi(hashes as i32);
                assert!((cells.false_negative_rate(n) - lost).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn sizes_are_the_least_that_remember_enough() {
        for (greatest, keys, rate, loss) in [(7, 1000, 0.01, 0.1), (1, 50, 0.1, 0.5), (15, 1_000_000, 0.001, 0.01)] {
            let hashes = best_hashes(greatest, keys, rate, loss);
            let of = |hashes| cells_for(hashes, greatest, keys, rate, loss).unwrap();
            let cells = of(hashes);
            assert!(cells.worst() <= rate && cells.false_negative_rate(keys) <= loss);
            assert!(cells.false_positive_rate(u64::MAX) <= rate);
            assert!(of(hashes - 1).count() >= cells.count() && of(hashes + 1).count() >= cells.count());
            let each = cells.each - 1;
            let smaller = Cells { each, decrements: decrements(Cells { each, ..cells }, rate).unwrap(), ..cells };
            assert!(smaller.false_negative_rate(keys) > loss);
        }
        assert_eq!(cells_for(3, 1, u64::MAX, 0.01, 0.1), None);
        assert_eq!(decrements(Cells { hashes: 3, each: 1, greatest: 1, decrements: 0 }, 0.1), None);
    }
}
