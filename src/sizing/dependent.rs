//! Rates where the probes of a key depend on each other: double hashing, enhanced double hashing and triple hashing,
//! all modulo the range `m` of a probe (the bits of the filter, or of a slice).
//!
//! Two or three words of the hash decide all `k` probes. So fresh keys that meet a stored key in some probes meet it in
//! all, or in many, more often than with independent probes, and if the filter is small this is most of the rate. Take
//! a range without prime factors below `k` (call it rough; [`size_for`] chooses no other): then the differences of the
//! probes' numbers have inverses modulo `m`.
//!
//! **Partitioned**, probe i in slice i of s bits. The difference of two keys' positions is `A + iB`: the cubic term of
//! enhanced double hashing is the same for both keys. For triple hashing the difference is `A + iB + i(i-1)/2 C`. Both
//! are polynomials of degree below d = 2, or 3, with uniform coefficients. Its values at any d places are independent
//! and uniform, and one that is zero at d places is zero everywhere. Hence a key misses `t` given probes of another
//! with probability
//!
//! ```text
//! b_t = sum over j of (-1)^j C(t, j) s^(-min(j, d)) = 1 - t/s + (t-1)/s^2    for d = 2
//!                                                   = 1 - t/s + C(t,2)/s^2 - C(t-1,2)/s^3    for d = 3
//! rate = sum over t of (-1)^t C(k, t) b_t^n
//! ```
//!
//! exactly. It is about `v^k + n/s^d`, with v the fill.
//!
//! **Plain**, all probes in m bits. Let `c_j` be the probability that `j` given bits are set.
//!
//! - Double hashing. With probability 1/m the step is 0 and a lookup sees one bit: `c_1 / m`. Otherwise its positions
//!   are a progression, and so are those of each stored key. If two progressions have two positions in common, they
//!   have all positions in common whose numbers (i, j) lie on the line through the two. Every line of the k x k grid
//!   that is neither a row nor a column belongs to one pair of words in m^2. With `W_t` lines of exactly t grid points
//!   `rate = c_1/m + (1 - 1/m) (c_k + n/m^2 sum over t >= 3 of W_t g_t)`. Two common positions are as likely as with
//!   independent probes, so `g_t = c_(k-t) - c_k` less what pairs and single positions add in them anyway.
//! - Enhanced double hashing. The cubic term bends the progressions, so that only an equal pair of words has more than
//!   three positions in common: `rate = E[(X/m)^k] + n/m^2 g_k`.
//! - Triple hashing. Positions i and j of one key are the same where `2b + (i+j-1)c = 0`, which holds for all pairs
//!   with this sum together. So for one of m values of b/c each sum leaves the lookup only `k - p` bits, p its number
//!   of pairs: `rate = c_1/m^2 + 1/m sum over i+j = 1 .. 2k-3 of c_(k-p) + (1 - (2k-3)/m) c_k + n/m^3 sum of W_t
//!   (c_(k-t) - c_k)`.
//!
//! These three are expansions: they leave out what two stored keys do together, and accidents of small ranges. From ten
//! keys on, in rough ranges, they agree with simulation within 5 % (`tests/suite/dependent.rs`). A range with small
//! factors has a higher rate: steps that share a factor with it go round in a short circle. The shortest circles are
//! included; other effects of such a range are not. They make up to a sixth of the rate at ten keys, and for triple
//! hashing more than half of it; at a thousand keys 2 %.

use super::{bloom, exp, hit_at_least_once, is_rate, ln_1p_minus, search};

/// How the probes of a key come from two or three words a, b and c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// a + i b
    Double,
    /// a + i b + (i^3 - i) / 6
    EnhancedDouble,
    /// a + i b + i (i - 1) / 2 c
    Triple,
}

impl Scheme {
    /// The words that decide the probes.
    pub fn words(self) -> i32 {
        if self == Scheme::Triple { 3 } else { 2 }
    }
}

/// A sum with alternating signs is used if its rounding error is surely below this share of it.
const TOLERANCE: f64 = 1e-6;

/// `sum over t of (-1)^t C(j, t) exp(keys * ln_miss(t))`: the probability that `j` given bits are set, if a key misses
/// `t` of them with probability `exp(ln_miss(t))`. `None` if too little is left of the sum.
fn alternating(j: u32, keys: f64, ln_miss: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut sum, mut error, mut choose) = (1.0, f64::EPSILON, 1.0);
    for t in 1..=j {
        choose *= -f64::from(j + 1 - t) / f64::from(t);
        let exponent = keys * ln_miss(f64::from(t));
        let term = choose * exp(exponent);
        sum += term;
        if term != 0.0 {
            error += term.abs() * f64::EPSILON * (f64::from(j) + exponent.abs());
        }
    }
    (error <= TOLERANCE * sum).then_some(sum.min(1.0))
}

/// The probability that `j` given bits are set, if a key misses `t` of them with probability `exp(ln_miss(t))`: by
/// [`alternating`], or, if too little is left of that sum, the product of the probabilities of single bits. The product
/// is an upper bound, and a close one there: bits set by a fixed number of probes are negatively associated.
fn covered(j: u32, keys: f64, ln_miss: impl Fn(f64) -> f64) -> f64 {
    alternating(j, keys, &ln_miss).unwrap_or_else(|| (-(keys * ln_miss(1.0)).exp_m1()).powi(j as i32))
}

/// How many lines of the k x k grid that are neither rows nor columns have exactly t points, for each t; 0 for t < 3.
fn lines(hashes: u32) -> [f64; 65] {
    let mut lines = [0.0; 65];
    let k = i64::from(hashes);
    // How many points have t - 1 others after them in direction (p, q). Lines with t points or more start at the
    // difference of two of these numbers.
    let starts = |t: i64, p: i64, q: i64| ((k - (t - 1) * p).max(0) * (k - (t - 1) * q).max(0)) as f64;
    for p in 1..=k / 2 {
        for q in (1..=k / 2).filter(|q| coprime(p, *q)) {
            for t in (3..=k).take_while(|t| starts(*t, p, q) > 0.0) {
                // Twice, for rising and falling lines.
                lines[t as usize] += 2.0 * (starts(t, p, q) - 2.0 * starts(t + 1, p, q) + starts(t + 2, p, q));
            }
        }
    }
    lines
}

fn coprime(mut a: i64, mut b: i64) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// How many of `1..=e` have no factor in common with e.
fn totient(e: u64) -> f64 {
    (1..=e).filter(|i| coprime(*i as i64, e as i64)).count() as f64
}

/// What a stored key adds that has `t >= 2` of a lookup's `k` positions. Independent probes would have had its t(t-1)/2
/// pairs in as many keys with two positions, and t(t-2) fewer keys with one. `c(j)` as in the module.
fn gain(k: u32, t: u32, c: impl Fn(u32) -> f64) -> f64 {
    let (all, t) = (c(k), f64::from(t));
    let (pairs, singles) = (t * (t - 1.0) / 2.0, t * (t - 2.0));
    c(k - t as u32) - all - pairs * (c(k - 2) - all) + singles * (c(k - 1) - all)
}

/// What does not depend on the size, for a scheme and a number of hashes.
struct Plain {
    scheme: Scheme,
    hashes: u32,
    lines: [f64; 65],
}

impl Plain {
    fn new(scheme: Scheme, hashes: u32) -> Plain {
        let lines = if scheme == Scheme::EnhancedDouble { [0.0; 65] } else { lines(hashes) };
        Plain { scheme, hashes, lines }
    }

    /// The rate of `range` bits and `keys` keys, if `c(j)` is the probability that `j` given bits are set, and `base`
    /// is that of k independent probes.
    fn rate(&self, range: u64, keys: f64, base: f64, c: impl Fn(u32) -> f64) -> f64 {
        let (k, m) = (self.hashes, range as f64);
        // Each is asked for many times, and takes a sum.
        let known: [f64; 65] = core::array::from_fn(|j| if j as u32 <= k { c(j as u32) } else { 0.0 });
        let c = |j: u32| known[j as usize];
        let all = c(k);
        let lines = || -> f64 {
            let weighted = (3..=k).map(|t| (t, self.lines[t as usize])).filter(|(_, lines)| *lines > 0.0);
            weighted.map(|(t, lines)| lines * gain(k, t, c)).sum()
        };
        let rate = match self.scheme {
            Scheme::EnhancedDouble if k < 3 => base,
            Scheme::EnhancedDouble => base + hit_at_least_once(1.0 / (m * m), keys) * gain(k, k, c),
            Scheme::Double => {
                // Steps that go round in a circle of e positions: those with e = m / gcd(b, m).
                let circles = (1..u64::from(k)).filter(|e| range.is_multiple_of(*e));
                let (mut short, mut share) = (0.0, 0.0);
                for e in circles {
                    short += totient(e) / m * c(e as u32);
                    share += totient(e) / m;
                }
                short + (1.0 - share).max(0.0) * (all + keys / (m * m) * lines())
            }
            Scheme::Triple => {
                let (mut folded, mut sums) = (0.0, 0.0);
                for sum in 1..(2 * k).saturating_sub(2) {
                    let least = sum.saturating_sub(k - 1);
                    let pairs = sum.div_ceil(2) - least;
                    folded += c(k - pairs);
                    sums += 1.0;
                }
                let single = c(1) / (m * m);
                single + folded / m + (1.0 - sums / m).max(0.0) * all + keys / (m * m * m) * lines()
            }
        };
        rate.clamp(0.0, 1.0)
    }

    fn expected(&self, range: u64, keys: u64) -> f64 {
        let (m, n, k) = (range as f64, keys as f64, f64::from(self.hashes));
        if self.scheme == Scheme::Double {
            // The positions of a key are different: C(m-t, k) / C(m, k), by the factor in the middle of its product.
            let middle = (m - 0.5 * (k - 1.0)).max(0.5);
            let ln_miss = |t: f64| k * ln_1p_minus((t / middle).min(1.0));
            return self.rate(range, n, 0.0, |j| covered(j, n, ln_miss));
        }
        let base = bloom::exact(range, self.hashes, keys);
        self.rate(range, n, base, |j| covered(j, n, |t| k * ln_1p_minus((t / m).min(1.0))))
    }
}

/// The rate of the partitioned layout from the probability that all probes of a key are set by different keys.
fn partitioned_rate(scheme: Scheme, slice_bits: u64, hashes: u32, keys: u64) -> f64 {
    let (s, n) = (slice_bits as f64, keys as f64);
    if hashes <= scheme.words() as u32 {
        return bloom::partitioned_exact(slice_bits, hashes, keys);
    }
    // By the probabilities that are subtracted from 1.
    let ln_miss = |t: f64| {
        let hit = match scheme {
            Scheme::Triple => t / s - t * (t - 1.0) / 2.0 / (s * s) + (t - 1.0) * (t - 2.0) / 2.0 / (s * s * s),
            _ => t / s - (t - 1.0) / (s * s),
        };
        ln_1p_minus(hit.clamp(0.0, 1.0))
    };
    let independent = bloom::partitioned_exact(slice_bits, hashes, keys);
    // Keys that meet in all probes, and keys that meet in one: not more than if each slice had its own keys.
    let bound = || (independent + hit_at_least_once(s.powi(-scheme.words()), n)).min(1.0);
    let rate = alternating(hashes, n, ln_miss).unwrap_or_else(bound);
    if scheme == Scheme::Triple {
        return rate;
    }
    // In a range with small factors, two keys may also meet in every e-th probe.
    let fill = hit_at_least_once(1.0 / s, n);
    let classes = |e: u64| -> f64 {
        let sizes = (0..e).map(|first| (u64::from(hashes) - first).div_ceil(e) as u32).filter(|size| *size > 2);
        sizes.map(|size| gain(hashes, size, |j| fill.powi(j as i32))).sum()
    };
    let divisors = (2..u64::from(hashes)).filter(|e| slice_bits.is_multiple_of(*e));
    let more: f64 = divisors.map(|e| n / (s * s) * totient(e) * classes(e)).sum();
    (rate + more).min(1.0)
}

/// The most hashes of which every line is counted.
const MOST_HASHES: u32 = 64;

/// The rate of double hashing with more hashes than [`MOST_HASHES`], in time that does not grow with them. A given bit
/// is set with the probability `fill`, and as far as that goes a lookup finds all of its bits set with `base`.
///
/// It has the short circles, and of the lines those in the two diagonal directions. Each of the others has at most half
/// of the lookup's positions, and adds less than `fill^(k/2)`.
fn of_many(range: u64, hashes: u32, keys: f64, fill: f64, base: f64) -> f64 {
    let m = range as f64;
    let (mut short, mut share) = (0.0, 0.0);
    for e in (1..MOST_HASHES.into()).filter(|e| range.is_multiple_of(*e)) {
        short += totient(e) / m * fill.powi(e as i32);
        share += totient(e) / m;
    }
    // Two keys have all k positions in common on 2 lines, and k - j on 4 for each j.
    let lines = 2.0 + 4.0 * (fill / (1.0 - fill)).min(f64::from(hashes));
    let met = hit_at_least_once(1.0 / (m * m), keys) * lines;
    (short + (1.0 - share).max(0.0) * (base + met * (1.0 - base))).clamp(0.0, 1.0)
}

/// The false-positive rate of a filter with `keys` keys whose `hashes` probes come from a scheme. There are `range`
/// bits in all, or for each probe if the filter is partitioned.
///
/// No bits or no hashes give 1; otherwise no keys give 0. See the module for its error.
pub fn rate(scheme: Scheme, partitioned: bool, range: u64, hashes: u32, keys: u64) -> f64 {
    match (range, hashes, keys) {
        (0, _, _) | (_, 0, _) => 1.0,
        (_, _, 0) => 0.0,
        _ if partitioned => partitioned_rate(scheme, range, hashes.min(MOST_HASHES), keys),
        _ if scheme == Scheme::Double && hashes > MOST_HASHES => {
            let (keys, hashes_of_key) = (keys as f64, f64::from(hashes));
            // As in `Plain::expected`.
            let middle = (range as f64 - 0.5 * (hashes_of_key - 1.0)).max(0.5);
            let fill = hit_at_least_once((1.0 / middle).min(1.0), keys * hashes_of_key);
            of_many(range, hashes, keys, fill, fill.powf(hashes_of_key))
        }
        _ => Plain::new(scheme, hashes.min(MOST_HASHES)).expected(range, keys),
    }
}

/// The rate now, if about `keys` keys set the share `fill` of all bits; in the partitioned layout, `fill` is the
/// product of the shares of the slices.
///
/// The error is that of [`rate`], plus the chance of which bits they are: one part in the square root of `range`.
pub fn from_fill(scheme: Scheme, partitioned: bool, range: u64, hashes: u32, keys: f64, fill: f64) -> f64 {
    let m = range as f64;
    if scheme == Scheme::Double && !partitioned && hashes > MOST_HASHES {
        // Different bits, each of the number that is left in the middle of drawing them.
        let drawn = 0.5 * f64::from(hashes - 1);
        let base = ((fill * m - drawn).max(0.0) / (m - drawn).max(0.5)).min(1.0).powf(f64::from(hashes));
        return of_many(range, hashes, keys, fill, base);
    }
    let hashes = hashes.min(MOST_HASHES);
    if partitioned {
        let whole = if hashes > scheme.words() as u32 { keys * m.powi(-scheme.words()) } else { 0.0 };
        return (fill + whole * (1.0 - fill)).clamp(0.0, 1.0);
    }
    // The probability that j different bits are among those that are set.
    let all = |j: u32| (0..j).map(|i| ((fill * m - f64::from(i)) / (m - f64::from(i))).max(0.0)).product::<f64>();
    Plain::new(scheme, hashes).rate(range, keys, fill.powi(hashes as i32), all)
}

/// The least range of at least `range` bits that has no prime factor below `hashes`.
fn rough(range: u64, hashes: u32) -> Option<u64> {
    let is_rough = |m: u64| (2..u64::from(hashes)).all(|factor| !m.is_multiple_of(factor));
    (range..=range.saturating_add(1 << 20)).find(|m| *m > u64::from(hashes) && is_rough(*m))
}

/// A range and a number of hashes, of at most `max_hashes`, that keep `rate` at `keys` keys in as few bits as possible
/// if the range is rough (see the module). `None` as in [`bloom::size_for`].
///
/// Takes a few hundred evaluations of the rate.
pub fn size_for(scheme: Scheme, partitioned: bool, keys: u64, rate: f64, max_hashes: u32) -> Option<(u64, u32)> {
    if !is_rate(rate) {
        return None;
    }
    if keys == 0 && max_hashes > 0 {
        return Some((1, 1));
    }
    let mut best: Option<(u64, u32)> = None;
    let (mut least, mut worse) = (1_u64 << 63, 0);
    for hashes in 1..=max_hashes.min(MOST_HASHES) {
        let slices = if partitioned { u64::from(hashes) } else { 1 };
        let plain = Plain::new(scheme, hashes);
        let holds = |range: u64| {
            let got =
                if partitioned { partitioned_rate(scheme, range, hashes, keys) } else { plain.expected(range, keys) };
            got <= rate
        };
        // The start is the size for independent probes; a small filter needs more bits.
        let fill = rate.powf(1.0 / f64::from(hashes));
        let guess = f64::from(hashes) / slices as f64 * keys as f64 / -(-fill).ln_1p();
        let range = search::least_real(guess.max(1.0), (least / slices) as f64, |range| {
            // Sizes with small factors would be in the way of the search.
            rough(range as u64, hashes).is_some_and(&holds)
        });
        let range = range.and_then(|range| rough(range as u64, hashes));
        match range.map(|range| (range, range.saturating_mul(slices))) {
            Some((range, bits)) if bits < least => {
                (best, least, worse) = (Some((range, hashes)), bits, 0);
            }
            // The rate needs more bits with one hash than with two, and so on down to the best number; after that the
            // search is over.
            _ if best.is_some() => worse += 1,
            _ => {}
        }
        if worse == 6 {
            break;
        }
    }
    best
}
