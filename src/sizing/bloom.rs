//! The classic Bloom filter, and the partitioned one: `n` keys, `m` bits, `k` hashes.
//!
//! A filter without bits or without hashes always has rate 1 (it rejects nothing); otherwise one without keys has
//! rate 0. `keys` are distinct keys; `hashes` probe independently, with replacement unless it says otherwise.

use super::series::{self, Approximation};
use super::zeros::throws;
pub use super::zeros::{expected_zeros, zeros_sd};
use super::{distinct, hit_at_least_once, is_rate, occupancy, search};
use core::cmp::Ordering;

/// The most hashes for which [`exact`] is exact, and the most that sizing will choose.
pub const MAX_EXACT_HASHES: u32 = occupancy::MAX_HASHES;

/// Sizes are less than this.
const BITS_LIMIT: u64 = 1 << 63;

/// A size for a classic filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// m, the bits of the filter.
    pub bits: u64,
    /// k, the bits set for each key.
    pub hashes: u32,
}

/// A size for a partitioned filter: `hashes` slices of `slice_bits` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionedSize {
    /// The bits of one slice.
    pub slice_bits: u64,
    /// The number of slices: one bit in each is set for every key.
    pub hashes: u32,
}

/// The rate where it needs no mathematics.
fn trivial(bits: u64, hashes: u32, keys: u64) -> Option<f64> {
    match (bits, hashes, keys) {
        (0, _, _) | (_, 0, _) => Some(1.0),
        (_, _, 0) => Some(0.0),
        _ => None,
    }
}

// ---- Rates -------------------------------------------------------------------------------------------------------

/// The exact false-positive rate, `E[(X/m)^k]` over the number X of set bits (Bose et al. 2008; Christensen, Roginsky
/// and Jimeno 2010): the probability that a fresh key is taken for one of `keys` keys.
///
/// Relative error below 10^-12 for every `bits` and `keys` and up to [`MAX_EXACT_HASHES`] hashes; for more hashes it is
/// the bound of [`goel_gupta_bound`], which is never too low. `O(hashes^2)`, a few microseconds.
pub fn exact(bits: u64, hashes: u32, keys: u64) -> f64 {
    if let Some(rate) = trivial(bits, hashes, keys) {
        return rate;
    }
    if hashes > MAX_EXACT_HASHES {
        return goel_gupta_bound(bits, hashes, keys);
    }
    occupancy::all_occupied(bits as f64, hashes, throws(hashes, keys))
}

/// The classical approximation `(1 - (1-1/m)^(kn))^k`. Below the exact rate for two or more hashes, by much if the
/// filter is small.
pub fn classical(bits: u64, hashes: u32, keys: u64) -> f64 {
    if let Some(rate) = trivial(bits, hashes, keys) {
        return rate;
    }
    hit_at_least_once(1.0 / bits as f64, throws(hashes, keys)).powf(f64::from(hashes))
}

/// The asymptotic approximation `(1 - e^(-kn/m))^k`, which most calculators print. Below the classical one.
pub fn asymptotic(bits: u64, hashes: u32, keys: u64) -> f64 {
    if let Some(rate) = trivial(bits, hashes, keys) {
        return rate;
    }
    (-(-throws(hashes, keys) / bits as f64).exp_m1()).powf(f64::from(hashes))
}

/// An upper bound on the exact rate, `(1 - e^(-k(n+1/2)/(m-1)))^k` (Goel and Gupta 2010). One bit gives 1.
pub fn goel_gupta_bound(bits: u64, hashes: u32, keys: u64) -> f64 {
    if let Some(rate) = trivial(bits, hashes, keys) {
        return rate;
    }
    if bits == 1 {
        return 1.0;
    }
    let rho = f64::from(hashes) * (keys as f64 + 0.5) / (bits - 1) as f64;
    (-(-rho).exp_m1()).powf(f64::from(hashes))
}

/// The exact rate if the `hashes` positions of a key are all distinct: `sum_t (-1)^t C(k,t) (C(m-t,k)/C(m,k))^n`.
///
/// With as many hashes as bits, or more, one key fills the filter: 1. Beyond [`MAX_EXACT_HASHES`] hashes it is the
/// upper bound `(1 - (1-k/m)^n)^k` (the bits are negatively associated). Up to some milliseconds for the largest
/// numbers of hashes.
pub fn distinct_exact(bits: u64, hashes: u32, keys: u64) -> f64 {
    if let Some(rate) = trivial(bits, hashes, keys) {
        return rate;
    }
    if u64::from(hashes) >= bits {
        return 1.0;
    }
    if hashes > MAX_EXACT_HASHES {
        return hit_at_least_once(f64::from(hashes) / bits as f64, keys as f64).powf(f64::from(hashes));
    }
    distinct::all_occupied(bits, hashes, keys)
}

/// The exact rate of a partitioned filter, whose hash i sets a bit in slice i of `slice_bits` bits:
/// `(1 - (1-1/s)^n)^k`, the slices being independent.
pub fn partitioned_exact(slice_bits: u64, hashes: u32, keys: u64) -> f64 {
    if let Some(rate) = trivial(slice_bits, hashes, keys) {
        return rate;
    }
    hit_at_least_once(1.0 / slice_bits as f64, keys as f64).powf(f64::from(hashes))
}

/// The present rate of a filter that has `ones` set bits: `(X/m)^k`, exact whatever was inserted, and how often. `ones`
/// beyond `bits` counts as `bits`.
pub fn from_fill(bits: u64, hashes: u32, ones: u64) -> f64 {
    if bits == 0 || ones >= bits {
        return 1.0;
    }
    (ones as f64 / bits as f64).powf(f64::from(hashes))
}

// ---- Sizes -------------------------------------------------------------------------------------------------------

/// The number of hashes in `1..=max_hashes` with the least exact rate, the smaller of equals: near `(m/n) ln 2`.
///
/// 1 if every number is as good (no bits, no keys, or `max_hashes` 0). `max_hashes` beyond [`MAX_EXACT_HASHES`] counts
/// as that.
pub fn optimal_hashes(bits: u64, keys: u64, max_hashes: u32) -> u32 {
    if bits == 0 || keys == 0 {
        return 1;
    }
    let guess = bits as f64 / keys as f64 * std::f64::consts::LN_2;
    let most = max_hashes.clamp(1, MAX_EXACT_HASHES);
    search::valley(guess as u32, most, |hashes| Rate::of(bits, hashes, keys), Rate::compare)
}

/// An exact rate that is computed only as far as a comparison needs it.
#[derive(Clone, Copy)]
struct Rate {
    bits: u64,
    hashes: u32,
    keys: u64,
    /// `None` if only the exact rate will do.
    near: Option<Approximation>,
}

impl Rate {
    fn of(bits: u64, hashes: u32, keys: u64) -> Rate {
        Rate { bits, hashes, keys, near: series::ln_rate(bits, hashes, keys) }
    }

    fn exact(&self) -> f64 {
        exact(self.bits, self.hashes, self.keys)
    }

    fn ln(&self) -> f64 {
        self.near.map_or_else(|| self.exact().ln(), |near| near.ln)
    }

    /// `self.exact() <= rate`
    fn is_at_most(&self, rate: f64) -> bool {
        match self.near.map(|near| (near.ln - rate.ln(), near.error)) {
            Some((above, error)) if above.abs() > error => above < 0.0,
            _ => self.exact() <= rate,
        }
    }

    /// Compares the exact rates.
    fn compare(&self, other: &Rate) -> Ordering {
        if let (Some(a), Some(b)) = (self.near, other.near)
            && (a.ln - b.ln).abs() > a.error + b.error
        {
            return a.ln.total_cmp(&b.ln);
        }
        self.exact().total_cmp(&other.exact())
    }
}

/// The least size that keeps the promise: `exact(bits, hashes, keys) <= false_positive_rate`, with the integer number
/// of hashes, of at most `max_hashes`, that needs the fewest bits (the smaller of equals).
///
/// `None` if the rate is not inside (0, 1), if `max_hashes` is 0, or if it would take 2^63 bits. No keys need one bit.
/// `max_hashes` beyond [`MAX_EXACT_HASHES`] counts as that. A microsecond where [`series`] decides, up to some tens of
/// evaluations of [`exact`] where it cannot.
pub fn size_for(keys: u64, false_positive_rate: f64, max_hashes: u32) -> Option<Size> {
    let rate = false_positive_rate;
    if !is_rate(rate) || max_hashes == 0 {
        return None;
    }
    if keys == 0 {
        return Some(Size { bits: 1, hashes: 1 });
    }
    let most = max_hashes.min(MAX_EXACT_HASHES);
    // k* = lg(1/rate), at which half the bits are set, or next to it.
    let mut hashes = (-rate.log2() as u32).clamp(1, most);
    let mut bits = bits_for(keys, rate, hashes).unwrap_or(u64::MAX);
    // Is one bit less enough, with its own best number of hashes? Once or twice it is.
    while bits > 1 {
        let best = optimal_hashes(bits - 1, keys, most);
        if !Rate::of(bits - 1, best, keys).is_at_most(rate) {
            break;
        }
        hashes = best;
        bits = bits_for(keys, rate, hashes).unwrap_or(bits).min(bits - 1);
    }
    while hashes > 1 && Rate::of(bits, hashes - 1, keys).is_at_most(rate) {
        hashes -= 1;
    }
    (bits < BITS_LIMIT).then_some(Size { bits, hashes })
}

/// The least size of a partitioned filter for which `partitioned_exact(slice_bits, hashes, keys)` is at most
/// `false_positive_rate`: least in `slice_bits * hashes`, and of equals the one with fewer hashes. `None` as in
/// [`size_for`].
pub fn partitioned_size_for(keys: u64, false_positive_rate: f64, max_hashes: u32) -> Option<PartitionedSize> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    if keys == 0 && max_hashes > 0 {
        return Some(PartitionedSize { slice_bits: 1, hashes: 1 });
    }
    // Around k* = lg(1/rate), at which half the bits are set. Few keys make short slices, and then the whole number of
    // bits in a slice decides more than k* does. But no number of hashes needs less than its real size, which grows on
    // either side of k*. So the search ends on a side as soon as that size alone is as much as the least so far.
    let most = max_hashes.min(MAX_EXACT_HASHES);
    let middle = (-false_positive_rate.log2() as u32).clamp(1, most.max(1));
    let mut best: Option<PartitionedSize> = None;
    let mut least = BITS_LIMIT;
    let mut attempt = |hashes: u32| {
        let real = real_slice_bits(keys, false_positive_rate, hashes);
        let floor = (real * (1.0 - 1e-9) - 1.0) * f64::from(hashes);
        if floor > least as f64 {
            return false;
        }
        if (real * (1.0 - 1e-9)).ceil() * f64::from(hashes) > least as f64 {
            return true;
        }
        let holds = |bits| partitioned_exact(bits, hashes, keys) <= false_positive_rate;
        let Some(slice_bits) = search::least(real.ceil() as u64, u64::MAX, holds) else {
            return true;
        };
        let bits = slice_bits.saturating_mul(u64::from(hashes));
        if bits < least || bits == least && best.is_some_and(|best| hashes < best.hashes) {
            least = bits;
            best = Some(PartitionedSize { slice_bits, hashes });
        }
        true
    };
    let _ = (1..=middle.min(most)).rev().all(&mut attempt);
    let _ = (middle + 1..=most).all(&mut attempt);
    best
}

/// The least number of bits for a given number of hashes.
fn bits_for(keys: u64, rate: f64, hashes: u32) -> Option<u64> {
    let k = f64::from(hashes);
    let throws = throws(hashes, keys);
    // The size at which the asymptotic rate is right; `fill` is the fraction of bits set, to be rate^(1/k).
    let fill = rate.powf(1.0 / k);
    let mut guess = -throws / (-fill).ln_1p();
    // Newton steps on ln f over ln m, with the asymptotic slope -k rho / (e^rho - 1), leave it a bit or so away.
    for _ in 0..2 {
        let bits = (guess as u64).max(1);
        let rho = throws / bits as f64;
        let slope = -k * rho / rho.exp_m1();
        let step = (rate.ln() - Rate::of(bits, hashes, keys).ln()) / slope;
        if step.is_finite() {
            guess = bits as f64 * step.clamp(-1.0, 1.0).exp();
        }
    }
    search::least(guess.ceil() as u64, u64::MAX, |bits| Rate::of(bits, hashes, keys).is_at_most(rate))
}

/// The size of a slice for a given number of hashes, as a real number: 1/s = 1 - (1 - rate^(1/k))^(1/n).
fn real_slice_bits(keys: u64, rate: f64, hashes: u32) -> f64 {
    let fill = rate.powf(1.0 / f64::from(hashes));
    -1.0 / ((-fill).ln_1p() / keys as f64).exp_m1()
}

// ---- Concentration -----------------------------------------------------------------------------------------------

/// Azuma and Hoeffding: the number of zero bits differs from its expectation by `lambda` or more with a probability of
/// at most `2 e^(-2 lambda^2 / (kn))`; at most 1. With no throws, any positive `lambda` gives 0. NaN gives 1.
pub fn azuma_bound(lambda: f64, hashes: u32, keys: u64) -> f64 {
    let throws = throws(hashes, keys);
    if lambda.is_nan() || lambda <= 0.0 {
        return 1.0;
    }
    if throws == 0.0 {
        return 0.0;
    }
    (2.0 * (-2.0 * lambda * (lambda / throws)).exp()).min(1.0)
}

/// The deviation of the number of zero bits that [`azuma_bound`] allows with `probability`: `sqrt(kn ln(2/p) / 2)`.
///
/// A probability of 1 or more gives 0; one of 0 or less, or NaN, gives infinity.
pub fn azuma_deviation(probability: f64, hashes: u32, keys: u64) -> f64 {
    if probability >= 1.0 {
        return 0.0;
    }
    if probability.is_nan() || probability <= 0.0 {
        return f64::INFINITY;
    }
    (0.5 * throws(hashes, keys) * (2.0 / probability).ln()).sqrt()
}

/// An interval that holds the rate of one filter, `(X/m)^k`, with at least `probability` over the choice of its
/// hash function: from the deviation of [`azuma_deviation`], and from what X can be at all.
///
/// The bound is a safe one, about 1.7 times as wide as necessary at `probability` = 1 - 10^-6. A probability of 1 or
/// more, or NaN, gives the range of possible rates; one of 0 or less gives that of an expected fill.
pub fn false_positive_rate_interval(bits: u64, hashes: u32, keys: u64, probability: f64) -> (f64, f64) {
    if let Some(rate) = trivial(bits, hashes, keys) {
        return (rate, rate);
    }
    let (m, throws) = (bits as f64, throws(hashes, keys));
    let expected = m * hit_at_least_once(1.0 / m, throws);
    let deviation = azuma_deviation(1.0 - probability, hashes, keys);
    // Something was thrown, so at least one bit is set, and no more than were thrown or than there are.
    let rate = |ones: f64| (ones.clamp(1.0, m.min(throws)) / m).powf(f64::from(hashes));
    (rate(expected - deviation), rate(expected + deviation))
}

// ---- Cardinality -------------------------------------------------------------------------------------------------

/// The number of distinct keys in a filter that has `ones` set bits, `-(m/k) ln(1 - X/m)` (Swamidass and Baldi 2007).
///
/// `None` if the filter is saturated (no zero bit), or has no bits or hashes.
pub fn cardinality(bits: u64, hashes: u32, ones: u64) -> Option<f64> {
    if hashes == 0 || ones >= bits {
        return None;
    }
    Some(-(bits as f64 / f64::from(hashes)) * (-(ones as f64) / bits as f64).ln_1p())
}

/// As [`cardinality`], with the exact probability that a bit is missed: `ln(1 - X/m) / (k ln(1 - 1/m))`. A little less
/// than `cardinality`, noticeably so only if the filter is tiny.
pub fn cardinality_exact_base(bits: u64, hashes: u32, ones: u64) -> Option<f64> {
    if hashes == 0 || ones >= bits {
        return None;
    }
    let fill = (-(ones as f64) / bits as f64).ln_1p();
    // The only filter of one bit that is not saturated is empty; 0 / -infinity is 0, but negative.
    Some((fill / (f64::from(hashes) * (-1.0 / bits as f64).ln_1p())).abs())
}

/// The number of keys in `hashes` slices of `slice_bits` bits with `ones` bits set in all: every key sets one bit of
/// each slice, so `(1 - 1/s)^n` of the bits stay zero.
///
/// `None` if no bit is zero, or there are no bits or slices.
pub fn partitioned_cardinality(slice_bits: u64, hashes: u32, ones: u64) -> Option<f64> {
    let bits = slice_bits.checked_mul(hashes.into())?;
    if ones >= bits {
        return None;
    }
    Some(((-(ones as f64) / bits as f64).ln_1p() / (-1.0 / slice_bits as f64).ln_1p()).abs())
}

/// The standard error of [`cardinality`] with `keys` keys: `sqrt(m (e^rho - rho - 1)) / k`. Without bits or hashes
/// nothing is known: infinity. No keys give 0.
pub fn cardinality_standard_error(bits: u64, hashes: u32, keys: u64) -> f64 {
    if bits == 0 || hashes == 0 {
        return f64::INFINITY;
    }
    let rho = throws(hashes, keys) / bits as f64;
    let excess = if rho < 1e-3 { rho * rho * (0.5 + rho * (1.0 / 6.0 + rho / 24.0)) } else { rho.exp_m1() - rho };
    (bits as f64 * excess).sqrt() / f64::from(hashes)
}
