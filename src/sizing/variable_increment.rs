//! Counting filters with variable increments: a cell tells not only how many keys it has but something of which ones.
//!
//! Rottenstreich, Kanizo and Keslassy, "The variable-increment counting Bloom filter", 2012. A key adds to each of its k
//! cells an increment that it chooses among several. Of an absent key a cell with j keys of others says "no" with
//! probability r_j, because what it holds cannot contain the key's increment; one with more never does. The paper's
//! formula for n keys in m cells is [`published`],
//!
//! ```text
//! FPR = (1 - sum_j C(nk, j) (1/m)^j (1 - 1/m)^(nk - j) r_j)^k
//! ```
//!
//! With increments L to 2 L - 1 in one counter r is 1, (L-1)/L, (L^2-1)/(6 L^2): with two keys the cell says "no" if two
//! increments less than the key's one are below L, which is what three uniform numbers decide. With l increments of a B_h
//! sequence and a count of keys, every sum of h increments or fewer tells which they are, and r_j is ((l-1)/l)^j for j up
//! to h.
//!
//! The formula takes the k n choices of cells for independent, and the k cells that are asked. [`false_positive_rate`]
//! takes neither. A key whose choices meet has one cell less, so that a cell has a key with probability
//! p = 1 - (1 - 1/m)^k and j of them with that of Binomial(n, p); what is asked are d different cells with the probability
//! of d occupied ones of m after k throws; and two different cells depend on each other, because a key that is in one is
//! less likely to be in the other. Of M, the chance that a cell says "maybe", it takes mean and covariance, exactly:
//!
//! ```text
//! FPR = sum_d P(d) (M^d + C(d, 2) M^(d - 2) Cov)
//! ```
//!
//! What is left out are dependences of three cells and more. That is a hundredth of the rate with ten keys, and less with
//! more; the published formula errs by a sixth there, and by a thousandth with 10,000 keys.

use super::{hash_floor, is_rate, search};

/// The chances that a cell with so many keys of others says "no" to an absent key: with none, one, two and three.
pub type Refusals = [f64; 4];

/// The most cells that a key has.
pub const MAX_HASHES: u32 = 32;

/// The chances with increments from `least` to `2 * least - 1` in one counter.
pub fn of_interval(least: u64) -> Refusals {
    let l = least as f64;
    [1.0, (l - 1.0) / l, (l * l - 1.0) / (6.0 * l * l), 0.0]
}

/// The chances with so many increments of a B_h sequence and a count of keys, `h` at most 3.
pub fn of_sequence(h: u32, increments: u64) -> Refusals {
    let others = (increments as f64 - 1.0) / increments as f64;
    core::array::from_fn(|keys| if keys as u32 <= h { others.powi(keys as i32) } else { 0.0 })
}

/// The chance that a cell says "no", where it has each of so many with probability `share`.
fn refused(trials: f64, share: f64, ln_rest: f64, refusals: &Refusals) -> f64 {
    let (mut chance, mut refused) = ((trials * ln_rest).exp(), 0.0);
    for (others, refusal) in refusals.iter().enumerate() {
        refused += chance * refusal;
        chance *= (trials - others as f64).max(0.0) / (others as f64 + 1.0) * share / ln_rest.exp();
    }
    refused.min(1.0)
}

/// The published formula. No cells, and one with keys, give 1; no keys give 0.
pub fn published(cells: u64, hashes: u32, keys: u64, refusals: &Refusals) -> f64 {
    if cells == 0 || (cells == 1 && keys > 0) {
        return 1.0;
    }
    let (trials, share) = (keys as f64 * f64::from(hashes), 1.0 / cells as f64);
    (1.0 - refused(trials, share, (-share).ln_1p(), refusals)).powi(hashes as i32)
}

/// The false-positive rate of so many cells that hold so many keys with `hashes` cells each, at most [`MAX_HASHES`]. No
/// cells, and one with keys, give 1; no keys give 0.
pub fn false_positive_rate(cells: u64, hashes: u32, keys: u64, refusals: &Refusals) -> f64 {
    if cells == 0 || (cells == 1 && keys > 0) {
        return 1.0;
    }
    if keys == 0 {
        return 0.0;
    }
    let (n, m, k) = (keys as f64, cells as f64, f64::from(hashes));
    // The logarithms of the chances that a key is not in a cell, and in neither of two.
    let (ln_not, ln_neither) = (k * (-1.0 / m).ln_1p(), k * (-2.0 / m).ln_1p());
    let no = refused(n, -ln_not.exp_m1(), ln_not, refusals);
    let maybe = 1.0 - no;
    let covariance = if cells > 2 { both_refuse(n, ln_not, ln_neither, refusals) - no * no } else { 0.0 };
    let (mut occupied, mut rate) = ([0.0; MAX_HASHES as usize + 1], 0.0);
    occupied[0] = 1.0;
    for _ in 0..hashes.min(MAX_HASHES) {
        for d in (1..occupied.len()).rev() {
            occupied[d] = occupied[d] * d as f64 / m + occupied[d - 1] * ((m + 1.0 - d as f64) / m).max(0.0);
        }
        occupied[0] = 0.0;
    }
    let mut power = maybe.powi(-2);
    for (d, chance) in occupied.into_iter().enumerate() {
        // maybe^(d - 2), which is no number where nothing may be there; then the rate is 0.
        let of_two = 0.5 * d as f64 * (d as f64 - 1.0) * covariance;
        rate += chance * (power * (maybe * maybe + of_two)).max(0.0);
        power *= maybe;
    }
    let rate = if maybe > 0.0 { rate.min(1.0) } else { 0.0 };
    rate.max(hash_floor(keys, 64))
}

/// The chance that two different cells both say "no".
fn both_refuse(n: f64, ln_not: f64, ln_neither: f64, refusals: &Refusals) -> f64 {
    let neither = ln_neither.exp();
    // What a key does, beside being in neither: it is in one of them, or in both.
    let (one, both) = (ln_not.exp() - neither, 1.0 - 2.0 * ln_not.exp() + neither);
    let (one, both) = (one / neither, both / neither);
    let none = (n * ln_neither).exp();
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
    let rates = (1..=MAX_HASHES).map(|hashes| (false_positive_rate(cells, hashes, keys, refusals), hashes));
    rates.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, hashes)| hashes)
}

/// The least number of cells that hold so many keys at no more than a rate, and the number of cells a key for which that
/// is so. `None` if the rate is not inside (0, 1), or would take more than 2^52 cells.
pub fn size_for(keys: u64, rate: f64, refusals: &Refusals) -> Option<(u64, u32)> {
    /// More cells a key after so many numbers of them that need more than the best so far are not tried.
    const WORSE: u32 = 5;
    if !is_rate(rate) {
        return None;
    }
    let (mut best, mut guess): (Option<(u64, u32)>, _) = (None, keys.max(1));
    for hashes in 1..=MAX_HASHES {
        let holds = |cells| false_positive_rate(cells, hashes, keys, refusals) <= rate;
        let Some(cells) = search::least(guess, 1 << 52, holds) else { continue };
        guess = cells;
        match best {
            Some((least, at)) if cells >= least && hashes - at >= WORSE => break,
            Some((least, _)) if cells >= least => {}
            _ => best = Some((cells, hashes)),
        }
    }
    best
}
