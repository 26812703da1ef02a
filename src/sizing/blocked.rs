//! The blocked filter: blocks of 512 bits, each of two halves of eight 32-bit lanes; a key sets one bit in each of `k`
//! lanes, which it chooses itself.
//!
//! A key takes `a = ceil(k/2)` lanes of one half and `b = floor(k/2)` of the other, every choice being as likely as any
//! other; where `k` is odd, either half has the greater share with probability 1/2. In each chosen lane it sets one of
//! the 32 bits.
//!
//! A lookup is a false positive if each of its own `k` bits was set by some of the `i` keys of its block. By inclusion
//! and exclusion over the bits that nobody set: take `t` of the bits in one half and `u` in the other. One key misses
//! all of them with a probability that depends on `t` and `u` only. It has `j` of the `t` lanes with the hypergeometric
//! probability `H(8, a, t; j) = C(a, j) C(8-a, t-j) / C(8, t)`, and misses the bit of each with 31/32:
//!
//! ```text
//! x(a, t) = sum over j of H(8, a, t; j) (31/32)^j
//! z(t, u) = (x(a, t) x(b, u) + x(b, t) x(a, u)) / 2
//! rate of a block with i keys = sum over t <= a, u <= b of (-1)^(t+u) C(a, t) C(b, u) z(t, u)^i
//! ```
//!
//! (With `k` even both products are one.) The number of keys in the block is Binomial(n, 1/blocks), so that the rate of
//! the filter is the mixture of the two; in the limit of many blocks `z^i` becomes `exp(-(512/c)(1 - z))` at `c` bits a
//! key.
//!
//! The sum takes numbers up to 4900 from each other, so that its absolute error is up to 1e-12. Rates below
//! [`MIN_RATE`] are not asked of it: there a block of one line needs several times the bits of the classic filter
//! anyway.

use super::{is_rate, mixture, search};

/// Bits in a block: a cache line.
pub const BLOCK_BITS: u64 = 512;

/// The most lanes that a key has: all of them.
pub const MAX_HASHES: u32 = 16;

/// The least rate that a filter is sized for.
pub const MIN_RATE: f64 = 1e-9;

/// Lanes in a half.
const LANES: u32 = 8;

/// The terms of the sum for one number of hashes: signed weights and the `z` they belong to.
pub struct Terms {
    terms: [(f64, f64); 81],
    length: usize,
}

/// The binomial coefficient of small numbers.
fn choose(n: u32, k: u32) -> f64 {
    if k > n { 0.0 } else { (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1)) }
}

/// The probability that a key with `a` lanes of a half misses `t` given bits in different lanes of it.
fn miss(a: u32, t: u32) -> f64 {
    let hypergeometric = |j: u32| choose(a, j) * choose(LANES - a, t - j) / choose(LANES, t);
    (0..=a.min(t)).map(|j| hypergeometric(j) * (31.0_f64 / 32.0).powi(j as i32)).sum()
}

impl Terms {
    /// The terms for keys with `hashes` lanes, from 1 to [`MAX_HASHES`].
    pub fn new(hashes: u32) -> Terms {
        let hashes = hashes.clamp(1, MAX_HASHES);
        let (a, b) = (hashes.div_ceil(2), hashes / 2);
        let mut terms = Terms { terms: [(0.0, 0.0); 81], length: 0 };
        for t in 0..=a {
            for u in 0..=b {
                let sign = if (t + u) % 2 == 0 { 1.0 } else { -1.0 };
                let z = 0.5 * (miss(a, t) * miss(b, u) + miss(b, t) * miss(a, u));
                terms.terms[terms.length] = (sign * choose(a, t) * choose(b, u), z);
                terms.length += 1;
            }
        }
        terms
    }

    fn sum(&self, power: impl Fn(f64) -> f64) -> f64 {
        let sum: f64 = self.terms[..self.length].iter().map(|(weight, z)| weight * power(*z)).sum();
        // What is left of a difference of numbers near one may be just below zero.
        sum.clamp(0.0, 1.0)
    }

    /// The rate of one block that holds `keys` distinct keys.
    pub fn block_rate(&self, keys: u64) -> f64 {
        if keys == 0 { 0.0 } else { self.sum(|z| (keys as f64 * z.ln()).exp()) }
    }

    /// The rate in the limit of many blocks, at `bits_per_key` bits a key.
    pub fn poisson(&self, bits_per_key: f64) -> f64 {
        let load = BLOCK_BITS as f64 / bits_per_key;
        self.sum(|z| (-load * (1.0 - z)).exp())
    }

    /// The exact rate of `blocks` blocks that hold `keys` distinct keys.
    pub fn rate(&self, blocks: u64, keys: u64) -> f64 {
        if blocks == 0 { 1.0 } else { mixture::binomial(keys, 1.0 / blocks as f64, |i| self.block_rate(i)) }
    }
}

/// The exact false-positive rate of `blocks` blocks that hold `keys` distinct keys of `hashes` lanes each.
///
/// No blocks give 1; otherwise no keys give 0.
pub fn false_positive_rate(blocks: u64, hashes: u32, keys: u64) -> f64 {
    Terms::new(hashes).rate(blocks, keys)
}

/// The number of lanes with the least rate at `bits_per_key` bits a key, in the limit of many blocks.
pub fn optimal_hashes(bits_per_key: f64) -> u32 {
    let rate = |hashes: &u32| Terms::new(*hashes).poisson(bits_per_key);
    (1..=MAX_HASHES).min_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap_or(1)
}

/// How many blocks and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedSize {
    /// Blocks of 512 bits.
    pub blocks: u64,
    /// Lanes of a key.
    pub hashes: u32,
}

/// The least number of blocks that hold `keys` keys at no more than `false_positive_rate`, by the exact mixture, with
/// the number of lanes that is best in the limit of many blocks.
///
/// `None` if the rate is not inside (0, 1), or would take more than 2^52 blocks. No keys need one block.
pub fn size_for(keys: u64, false_positive_rate: f64) -> Option<BlockedSize> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    // Bits a key for each number of lanes, in the limit, to some digits.
    let bits_per_key = |terms: &Terms| {
        let (mut low, mut high) = (-8.0_f64, 40.0_f64);
        while high - low > 1e-4 {
            let middle = 0.5 * (low + high);
            if terms.poisson(middle.exp2()) <= false_positive_rate { high = middle } else { low = middle }
        }
        high.exp2()
    };
    let sizes = (1..=MAX_HASHES).map(|hashes| (bits_per_key(&Terms::new(hashes)), hashes));
    let (bits_per_key, hashes) = sizes.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let terms = Terms::new(hashes);
    let holds = |blocks| terms.rate(blocks, keys) <= false_positive_rate;
    let guess = keys as f64 * bits_per_key / BLOCK_BITS as f64;
    let blocks = search::least(guess as u64, 1 << 52, holds)?;
    Some(BlockedSize { blocks, hashes })
}

/// The present rate of one block, from its bits: the mean, over the lanes that a key may choose, of the product of
/// their fills. The mean product of `a` of eight numbers is their elementary symmetric polynomial of degree `a`, over
/// C(8, a). The mean over the blocks is the present rate of the filter, whatever was inserted.
pub fn from_fill(block: &[u32; 16], hashes: u32) -> f64 {
    let half = |lanes: &[u32]| {
        let mut polynomials = [0.0; LANES as usize + 1];
        polynomials[0] = 1.0;
        for (i, lane) in lanes.iter().enumerate() {
            let fill = f64::from(lane.count_ones()) / 32.0;
            for degree in (1..=i + 1).rev() {
                polynomials[degree] += fill * polynomials[degree - 1];
            }
        }
        polynomials
    };
    let (low, high) = (half(&block[..8]), half(&block[8..]));
    let hashes = hashes.clamp(1, MAX_HASHES);
    let (more, fewer) = (hashes.div_ceil(2), hashes / 2);
    let choices = choose(LANES, more) * choose(LANES, fewer);
    let (more, fewer) = (more as usize, fewer as usize);
    0.5 * (low[more] * high[fewer] + low[fewer] * high[more]) / choices
}

/// The number of distinct keys that set `ones` bits in `blocks` blocks. A key sets a given bit with probability
/// `k/(512 blocks)`, so that `(1 - k/(512 blocks))^n` of the bits stay zero.
///
/// `None` if no bit is zero, or there are no blocks.
pub fn cardinality(blocks: u64, hashes: u32, ones: u64) -> Option<f64> {
    let bits = blocks.checked_mul(BLOCK_BITS)?;
    if ones >= bits {
        return None;
    }
    let missed = (-f64::from(hashes) / bits as f64).ln_1p();
    Some(((-(ones as f64) / bits as f64).ln_1p() / missed).abs())
}

/// The standard error of [`cardinality`] with `keys` keys: with `p = k/512`, `a = p n/B` and `q(i, j)` the probability
/// that a key of the block misses two given bits,
///
/// the variance of the number of zeros is `B` times that of one block, less what a fixed number of keys takes from it:
/// `B (sum over pairs of bits of e^(-2a) (e^(n/B (q - (1-p)^2)) - 1)` less the square of the slope. The pairs are of
/// four sorts: a bit and itself, two of one lane, two of one half and two of both halves.
pub fn cardinality_standard_error(blocks: u64, hashes: u32, keys: u64) -> f64 {
    if blocks == 0 || hashes == 0 {
        return f64::INFINITY;
    }
    let (blocks, load) = (blocks as f64, keys as f64 / blocks as f64);
    let (a, b) = (f64::from(hashes.div_ceil(2)), f64::from(hashes / 2));
    let p = f64::from(hashes) / BLOCK_BITS as f64;
    // The probability that a key sets both of two different bits.
    let one_half = 0.5 * (a * (a - 1.0) + b * (b - 1.0)) / (8.0 * 7.0) / (32.0 * 32.0);
    let both_halves = a * b / 64.0 / (32.0 * 32.0);
    // Zeros of one block: for each pair, e^(-load (2p - both)) less e^(-2 load p), in units of e^(-2 load p).
    let pairs = [(512.0, p), (512.0 * 31.0, 0.0), (512.0 * 7.0 * 32.0, one_half), (512.0 * 256.0, both_halves)];
    let variance: f64 = pairs.iter().map(|(count, both)| count * (load * both).exp_m1()).sum();
    // The number of keys is given, which takes the part of the variance that it explains.
    let slope = BLOCK_BITS as f64 * p;
    let variance = blocks * (variance - load * slope * slope).max(0.0);
    // n = -ln(zeros / m) / p per block: dn = dZ / (p Z / B).
    (variance).sqrt() / (BLOCK_BITS as f64 * p)
}
