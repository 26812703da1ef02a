//! Counting filters with variable increments, in which a cell says how many keys it has and something about which ones.
//!
//! Rottenstreich, Kanizo and Keslassy, "The variable-increment counting Bloom filter", 2012. A key adds to each of its
//! k cells an increment that it chooses among several. A cell with j other keys says "no" to an absent key with
//! probability r_j, because its value cannot contain the key's increment. A cell with more keys never does. The paper's
//! formula for n keys in m cells is [`published`],
//!
//! ```text
//! FPR = (1 - sum_j C(nk, j) (1/m)^j (1 - 1/m)^(nk - j) r_j)^k
//! ```
//!
//! With increments L to 2 L - 1 in one counter, r_0, r_1 and r_2 are 1, (L-1)/L and (L^2-1)/(6 L^2). With two keys the
//! cell says "no" if the sum of their increments less the absent key's is below L, which three uniform numbers decide.
//! With l increments of a B_h sequence and a count of keys, every sum of h increments or fewer determines them, and r_j
//! is ((l-1)/l)^j for j up to h.
//!
//! The formula treats two things as independent: the k n choices of cells, and the k cells that a lookup asks.
//! [`false_positive_rate`] assumes neither. A key whose choices meet has one cell less, so a cell has a given key with
//! probability p = 1 - (1 - 1/m)^k, and has j keys with the probability of j in Binomial(n, p). A lookup asks d
//! different cells with the probability that k throws occupy d of m cells. Two different cells depend on each other,
//! because a key in one is less likely to be in the other. Let M be the chance that a cell says "maybe". Its mean and
//! covariance are computed exactly:
//!
//! ```text
//! FPR = sum_d P(d) (M^d + C(d, 2) M^(d - 2) Cov)
//! ```
//!
//! This leaves out dependences among three or more cells, which are a thousandth of the rate with 30 keys or more at
//! 10^-4. For at most [`FEW`] keys there is another formula. It counts exactly the keys in any d cells, T in all, and
//! takes their spread over the d cells for uniform, so that
//!
//! ```text
//! FPR = sum_d P(d) sum_T P(T) [x^T] (sum_j C(n, j) (1 - r_j) x^j)^d / C(n d, T)
//! ```
//!
//! That formula is exact for one key. For more keys it is never too low, and at most 8 % too high, at low rates with
//! two or three keys. The published formula errs by a sixth with ten keys, and by a thousandth with 10,000.

use crate::sizing::{exp, hash_floor, is_rate, ln_1p_minus, one_minus_exp, search};

/// The chances that a cell says "no" to an absent key, with none, one, two and three other keys in the cell.
pub type Refusals = [f64; 4];

/// The most cells that a key has.
pub const MAX_HASHES: u32 = 32;

/// The most increments that a key chooses from.
pub const MOST_INCREMENTS: usize = 16;

/// Up to this many keys the rate is that of `of_few`.
pub const FEW: u64 = 16;

/// The most keys that all cells of a key have together.
const MOST_IN_CELLS: usize = FEW as usize * MAX_HASHES as usize;

/// The chances for increments from `least` to `2 * least - 1` in one counter.
pub fn of_interval(least: u64) -> Refusals {
    let l = least as f64;
    [1.0, (l - 1.0) / l, (l * l - 1.0) / (6.0 * l * l), 0.0]
}

/// The chances for `increments` increments of a B_h sequence and a count of keys, with `h` at most 3.
pub fn of_sequence(h: u32, increments: u64) -> Refusals {
    let others = (increments as f64 - 1.0) / increments as f64;
    core::array::from_fn(|keys| if keys as u32 <= h { others.powi(keys as i32) } else { 0.0 })
}

/// The chance that a cell says "no", if it has each of `trials` keys with probability `share`.
fn refused(trials: f64, share: f64, ln_rest: f64, refusals: &Refusals) -> f64 {
    let (mut chance, mut refused) = (exp(trials * ln_rest), 0.0);
    for (others, refusal) in refusals.iter().enumerate() {
        refused += chance * refusal;
        chance *= (trials - others as f64).max(0.0) / (others as f64 + 1.0) * share / exp(ln_rest);
    }
    refused.min(1.0)
}

/// The published formula. The rate is 1 without cells or with keys in a single cell; otherwise it is 0 without keys.
pub fn published(cells: u64, hashes: u32, keys: u64, refusals: &Refusals) -> f64 {
    if cells == 0 || (cells == 1 && keys > 0) {
        return 1.0;
    }
    let (trials, share) = (keys as f64 * f64::from(hashes), 1.0 / cells as f64);
    (1.0 - refused(trials, share, ln_1p_minus(share), refusals)).powi(hashes as i32)
}

/// The chances that `hashes` throws occupy each number of `cells` cells, from none to `hashes`.
fn occupied(cells: f64, hashes: u32) -> [f64; MAX_HASHES as usize + 1] {
    let mut occupied = [0.0; MAX_HASHES as usize + 1];
    occupied[0] = 1.0;
    for _ in 0..hashes.min(MAX_HASHES) {
        for d in (1..occupied.len()).rev() {
            occupied[d] =
                occupied[d] * d as f64 / cells + occupied[d - 1] * ((cells + 1.0 - d as f64) / cells).max(0.0);
        }
        occupied[0] = 0.0;
    }
    occupied
}

/// The false-positive rate of `cells` cells that hold `keys` keys. A key has `hashes` cells, at most [`MAX_HASHES`].
/// The rate is 1 without cells or with keys in a single cell; otherwise it is 0 without keys.
pub fn false_positive_rate(cells: u64, hashes: u32, keys: u64, refusals: &Refusals) -> f64 {
    if cells == 0 || (cells == 1 && keys > 0) {
        return 1.0;
    }
    let rate = match keys {
        0 => return 0.0,
        1..=FEW => of_few(cells, hashes, keys, refusals),
        _ => of_many(cells, hashes, keys, refusals),
    };
    rate.min(1.0).max(hash_floor(keys, 64))
}

/// The rate with many keys, from the mean and the covariance of single cells.
fn of_many(cells: u64, hashes: u32, keys: u64, refusals: &Refusals) -> f64 {
    let (n, m, k) = (keys as f64, cells as f64, f64::from(hashes));
    // The logarithms of the chances that a key is not in a cell, and that it is in neither of two cells.
    let (ln_not, ln_neither) = (k * ln_1p_minus(1.0 / m), k * ln_1p_minus(2.0 / m));
    let no = refused(n, one_minus_exp(-ln_not), ln_not, refusals);
    let maybe = 1.0 - no;
    let covariance = if cells > 2 { both_refuse(n, ln_not, ln_neither, refusals) - no * no } else { 0.0 };
    let (mut power, mut rate) = (maybe.powi(-2), 0.0);
    for (d, chance) in occupied(m, hashes).into_iter().enumerate() {
        // This is maybe^(d - 2), which is not a number if no cell can say "maybe". The rate is 0 then.
        let of_two = 0.5 * d as f64 * (d as f64 - 1.0) * covariance;
        rate += chance * (power * (maybe * maybe + of_two)).max(0.0);
        power *= maybe;
    }
    if maybe > 0.0 { rate } else { 0.0 }
}

/// The rate with at most [`FEW`] keys, by the second formula of this module.
fn of_few(cells: u64, hashes: u32, keys: u64, refusals: &Refusals) -> f64 {
    let (m, n) = (cells as f64, keys.min(FEW) as usize);
    let occupied = occupied(m, hashes);
    let most = (hashes.min(MAX_HASHES) as usize).min(cells.min(MAX_HASHES.into()) as usize);
    let choose = |from: f64, count: usize| (0..count).map(|i| (from - i as f64) / (i as f64 + 1.0)).product::<f64>();
    let says_maybe = |load: usize| if load == 0 { 0.0 } else { 1.0 - refusals.get(load).unwrap_or(&0.0) };
    let of_cell: Vec16 = core::array::from_fn(|load| choose(n as f64, load) * says_maybe(load));
    let (mut ways, mut rate) = ([0.0; MOST_IN_CELLS + 1], 0.0);
    ways[0] = 1.0;
    for d in 1..=most {
        // Adds one cell, which is not empty.
        for total in (0..=n * d).rev() {
            ways[total] = (1..=n.min(total)).map(|load| ways[total - load] * of_cell[load]).sum();
        }
        if occupied[d] == 0.0 {
            continue;
        }
        // For a key that has i of all cells, in how many of the d cells the key is.
        let mut of_key = [0.0; MAX_HASHES as usize + 1];
        for (i, chance) in occupied.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
            for (in_them, to) in of_key.iter_mut().enumerate().take(d.min(i) + 1) {
                *to += chance * drawn(m, d, i, in_them);
            }
        }
        let mut totals = [0.0; MOST_IN_CELLS + 1];
        totals[0] = 1.0;
        for key in 1..=n {
            for total in (0..=key * d).rev() {
                totals[total] = (0..=d.min(total)).map(|more| totals[total - more] * of_key[more]).sum();
            }
        }
        let (mut all, mut of_this) = (1.0, 0.0);
        for total in 1..=n * d {
            all *= ((n * d - total + 1) as f64) / total as f64;
            of_this += totals[total] * (ways[total] / all);
        }
        rate += occupied[d] * of_this;
    }
    rate
}

/// A number for each load of a cell.
type Vec16 = [f64; FEW as usize + 1];

/// The chance that, of `drawn` different cells among m, exactly `among` are of the first d.
fn drawn(m: f64, d: usize, drawn: usize, among: usize) -> f64 {
    let (mut chance, d) = (1.0, d as f64);
    for i in 0..drawn {
        // Each order of draws is equally likely, so the first `among` draws may stand for those from the first d.
        let left = m - i as f64;
        chance *= match i < among {
            true => (d - i as f64) / left * (drawn - i) as f64 / (i + 1) as f64,
            false => (m - d - (i - among) as f64).max(0.0) / left,
        };
    }
    chance
}

/// The rate of cells, given how many of them say "maybe" to each number of the increments. The rate is exactly that of
/// all sets of cells that a key may choose. A key has d different cells with the probability that k throws occupy d
/// cells, and every set of d cells is equally likely.
pub fn rate_of_cells(cells: u64, hashes: u32, increments: u64, by_choices: &[u64; MOST_INCREMENTS + 1]) -> f64 {
    let m = cells as f64;
    // The sums of the products of d chances, each divided by m, are the coefficients of a polynomial with a factor for
    // every cell.
    let (most, mut sums) = (hashes.min(MAX_HASHES) as usize, [0.0; MAX_HASHES as usize + 1]);
    sums[0] = 1.0;
    for (choices, count) in by_choices.iter().enumerate().skip(1).filter(|(_, count)| **count > 0) {
        let share = choices as f64 / increments as f64 / m;
        let mut powers = [0.0; MAX_HASHES as usize + 1];
        powers[0] = 1.0;
        for j in 1..=most {
            powers[j] = powers[j - 1] * (*count as f64 - (j - 1) as f64).max(0.0) / j as f64 * share;
        }
        for d in (0..=most).rev() {
            sums[d] = (0..=d).map(|j| sums[d - j] * powers[j]).sum();
        }
    }
    // The factor is `C(m, d) / m^d`.
    let (mut all, mut rate) = (1.0, 0.0);
    for (d, chance) in occupied(m, hashes).into_iter().enumerate().take(most + 1).skip(1) {
        all *= (m - (d - 1) as f64).max(0.0) / m / d as f64;
        if chance > 0.0 && all > 0.0 {
            rate += chance * (sums[d] / all);
        }
    }
    rate.min(1.0)
}

/// The chance that two different cells both say "no".
fn both_refuse(n: f64, ln_not: f64, ln_neither: f64, refusals: &Refusals) -> f64 {
    let neither = exp(ln_neither);
    // A key in at least one of the two cells is in exactly one, or in both.
    let (one, both) = (exp(ln_not) - neither, 1.0 - 2.0 * exp(ln_not) + neither);
    let (one, both) = (one / neither, both / neither);
    let none = exp(n * ln_neither);
    let (mut sum, mut with_both) = (0.0, none);
    for shared in 0..refusals.len() {
        let mut with_first = with_both;
        for first in 0..refusals.len() - shared {
            let mut chance = with_first;
            for second in 0..refusals.len() - shared {
                sum += chance * refusals[shared + first] * refusals[shared + second];
                let chosen = (shared + first + second) as f64;
                chance *= (n - chosen).max(0.0) / (second as f64 + 1.0) * one;
            }
            with_first *= (n - (shared + first) as f64).max(0.0) / (first as f64 + 1.0) * one;
        }
        with_both *= (n - shared as f64).max(0.0) / (shared as f64 + 1.0) * both.max(0.0);
    }
    sum
}

/// The number of cells a key with the least rate.
pub fn optimal_hashes(cells: u64, keys: u64, refusals: &Refusals) -> u32 {
    if cells < 2 {
        return 1;
    }
    let rates = (1..=MAX_HASHES).map(|hashes| (of_many(cells, hashes, keys, refusals), hashes));
    rates.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, hashes)| hashes)
}

/// The least number of cells that hold `keys` keys at a rate of at most `rate`, and the number of cells a key that
/// makes this possible. `None` if the rate is not inside (0, 1), or would take more than 2^52 cells.
pub fn size_for(keys: u64, rate: f64, refusals: &Refusals) -> Option<(u64, u32)> {
    /// After this many numbers of cells a key that are worse than the best so far, greater numbers are not tried.
    const WORSE: u32 = 5;
    if !is_rate(rate) {
        return None;
    }
    let (mut best, mut guess): (Option<(u64, u32)>, _) = (None, keys.max(1));
    for hashes in 1..=MAX_HASHES {
        let holds = |cells| cells > 1 && of_many(cells, hashes, keys, refusals).max(hash_floor(keys, 64)) <= rate;
        let Some(cells) = search::least(guess, 1 << 52, holds) else { continue };
        guess = cells;
        match best {
            Some((least, at)) if cells >= least && hashes - at >= WORSE => break,
            Some((least, _)) if cells >= least => {}
            _ => best = Some((cells, hashes)),
        }
    }
    let (mut cells, hashes) = best?;
    // Few keys may need more cells than the formula for many keys says.
    while cells <= 1 << 52 && false_positive_rate(cells, hashes, keys, refusals) > rate {
        cells += 1 + cells / 128;
    }
    (cells <= 1 << 52).then_some((cells, hashes))
}
