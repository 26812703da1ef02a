//! The probability that `k` given cells are all occupied, after `n` keys each set `k` *different* cells out of `m`.
//!
//! A key misses `t` given cells with probability `b_t = C(m-t,k) / C(m,k)`, and inclusion and exclusion gives `f =
//! sum_t (-1)^t C(k,t) b_t^n`. Where that cancels too much, a sum of only positive terms gives the same number. The
//! number of the n keys that touch any of the k cells is Binomial(n, 1 - b_k). Each of these keys moves a small Markov
//! chain, the number of cells still empty, closer to 0.

use super::mixture;

/// Inclusion and exclusion is used if its rounding error, relative to the result, is surely below this.
const TOLERANCE: f64 = 1e-12;

/// `m > k >= 1` and `n >= 1`.
pub(super) fn all_occupied(m: u64, k: u32, n: u64) -> f64 {
    let ln_miss: Vec<f64> = (0..=k).map(|t| ln_miss(m, k, t)).collect();
    if let Some(f) = alternating(&ln_miss, n) {
        return f;
    }
    let touched = -ln_miss[k as usize].exp_m1();
    let mut chain = Chain::new(m, k, &ln_miss);
    mixture::binomial(n, touched, |keys| chain.covered(keys))
}

/// `ln b_t = sum_(i<k) ln(1 - t/(m-i))`; minus infinity if t + k > m.
fn ln_miss(m: u64, k: u32, t: u32) -> f64 {
    if u64::from(t) + u64::from(k) > m {
        return f64::NEG_INFINITY;
    }
    (0..u64::from(k)).map(|i| (-f64::from(t) / (m - i) as f64).ln_1p()).sum()
}

/// Inclusion and exclusion, if that is precise enough here.
fn alternating(ln_miss: &[f64], n: u64) -> Option<f64> {
    let k = ln_miss.len() - 1;
    let (mut sum, mut error) = (1.0, f64::EPSILON);
    let mut choose = 1.0;
    for (t, ln_miss) in ln_miss.iter().enumerate().skip(1) {
        choose *= (k + 1 - t) as f64 / t as f64;
        let exponent = n as f64 * ln_miss;
        let term = choose * exponent.exp();
        sum += if t % 2 == 0 { term } else { -term };
        if term > 0.0 {
            error += term * f64::EPSILON * (k as f64 + exponent.abs());
        }
    }
    (error.is_finite() && error <= TOLERANCE * sum).then_some(sum)
}

/// The number of the k cells that are still empty, moved by keys that touch at least one of the k cells.
struct Chain {
    k: usize,
    /// Row u: the probabilities that 0, 1, .. u of the u empty cells become occupied.
    rows: Vec<Vec<f64>>,
    /// The distribution of the number of empty cells after the keys so far.
    state: Vec<f64>,
    /// The probability that all k are occupied after 0, 1, 2 .. such keys.
    covered: Vec<f64>,
}

impl Chain {
    fn new(m: u64, k: u32, ln_miss: &[f64]) -> Self {
        let size = k as usize;
        let touch = -ln_miss[size].exp_m1();
        let rows = (0..=size)
            .map(|u| {
                let mut row = hypergeometric(m, size, u);
                // The probability of touching none of the u cells, but one of the others: b_u - b_k, without
                // cancellation.
                row[0] *= -(ln_miss[size] - ln_miss[u]).exp_m1();
                if ln_miss[u] == f64::NEG_INFINITY {
                    row[0] = 0.0;
                }
                row.iter_mut().for_each(|p| *p /= touch);
                row
            })
            .collect();
        let mut state = vec![0.0; size + 1];
        state[size] = 1.0;
        Chain { k: size, rows, state, covered: vec![0.0] }
    }

    /// The probability that all k cells are occupied after `keys` keys that touch any of them.
    fn covered(&mut self, keys: u64) -> f64 {
        while (self.covered.len() as u64) <= keys {
            let last = self.covered[self.covered.len() - 1];
            // It is full to the last digit, and stays so.
            if last >= 1.0 - f64::EPSILON {
                return 1.0;
            }
            let mut next = vec![0.0; self.k + 1];
            for (u, &p) in self.state.iter().enumerate() {
                if p > 0.0 {
                    self.rows[u].iter().enumerate().for_each(|(c, &q)| next[u - c] += p * q);
                }
            }
            self.covered.push(next[0].min(1.0));
            self.state = next;
        }
        self.covered[keys as usize]
    }
}

/// The probabilities that k different cells out of m include 0, 1, .. u of u given ones, u <= k < m.
fn hypergeometric(m: u64, k: usize, u: usize) -> Vec<f64> {
    let mut row = vec![0.0; u + 1];
    // At least this many are included if more than m - u are drawn. (At most u: k < m.)
    let first = (k as u64 + u as u64).saturating_sub(m) as usize;
    row[first] = 1.0;
    for c in first..u {
        let left = (m - u as u64 + (c as u64 + 1) - k as u64) as f64;
        row[c + 1] = row[c] * ((u - c) as f64 * (k - c) as f64) / ((c + 1) as f64 * left);
    }
    let total: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= total);
    row
}
