//! The blocked filter: blocks of 512 bits, each of two halves of eight 32-bit lanes. A key chooses `k` lanes, and sets
//! one bit in each.
//!
//! A key takes `a = ceil(k/2)` lanes of one half and `b = floor(k/2)` of the other, with every choice equally likely.
//! If `k` is odd, either half has the larger share with probability 1/2. In each chosen lane the key sets one of the 32
//! bits.
//!
//! A lookup is a false positive if each of its `k` bits was set by some of the `i` keys of its block. The probability
//! comes from inclusion and exclusion over the bits that nobody set. Take `t` of the bits in one half and `u` in the
//! other. One key misses all of them with a probability that depends on `t` and `u` only. The key has `j` of the `t`
//! lanes with the hypergeometric probability `H(8, a, t; j) = C(a, j) C(8-a, t-j) / C(8, t)`, and misses the bit of
//! each with 31/32:
//!
//! ```text
//! x(a, t) = sum over j of H(8, a, t; j) (31/32)^j
//! z(t, u) = (x(a, t) x(b, u) + x(b, t) x(a, u)) / 2
//! rate of a block with i keys = sum over t <= a, u <= b of (-1)^(t+u) C(a, t) C(b, u) z(t, u)^i
//! ```
//!
//! (With `k` even the two products are the same. `z(t, u) = z(u, t)` always, so half of the terms suffice.)
//!
//! The number of keys in a block is Binomial(n, 1/B). Over this distribution the mean of `z^i` is `(1 - (1-z)/B)^n`. So
//! the rate of the filter is the same sum with these powers, and there is no sum over numbers of keys. In the limit of
//! many blocks the powers become `exp(-(512/c)(1 - z))` at `c` bits a key.
//!
//! The sum subtracts numbers up to 4900 from each other, so its absolute error is up to 1e-12. No filter is sized for
//! rates below [`MIN_RATE`]: there a block of one line needs several times the bits of the classic filter anyway.
//!
//! **Sizes.** The best number of lanes depends on the rate alone, or on the bits a key alone. `CHANGES` is the table of
//! the rates at which that number changes. For that number of lanes Newton's method finds the size for which the sum is
//! the wanted rate, in three or four steps. The sum at that whole number of blocks and at one less then decides.

use crate::sizing::{exp, is_rate, ln, ln_1p_minus, mixture, pow, search};

/// Bits in a block: a cache line.
pub const BLOCK_BITS: u64 = 512;

/// The most lanes that a key has: all of them.
pub const MAX_HASHES: u32 = 16;

/// The least rate that a filter is sized for.
pub const MIN_RATE: f64 = 1e-9;

/// Rates below this one, for which no filter is sized, are computed as a sum over the number of keys in the block.
const LOW: f64 = 1e-10;

/// Lanes in a half.
pub(super) const LANES: u32 = 8;

/// How many bits a lane has: the possible places of a key's bit in it.
pub const LANE_BITS: u32 = 32;

/// For `k` = 1, 2, .. 15, where one more than `k` lanes become the best number, in the limit of many blocks: the
/// false-positive rate that both numbers have there, and the bits a key at which they have it.
const CHANGES: [(f64, f64); MAX_HASHES as usize - 1] = [
    (3.809209828939094e-1, 2.0854084815726313),
    (1.8405626922417906e-1, 3.578213589968071),
    (8.786334960547734e-2, 5.130574637649552),
    (4.2495580548290196e-2, 6.689802638191673),
    (1.9538671743540043e-2, 8.401690665126225),
    (9.076385254718593e-3, 10.146931088977189),
    (3.9282435087214275e-3, 12.12841391269771),
    (1.7133788959375132e-3, 14.18380530475289),
    (6.867896212255226e-4, 16.570844491420086),
    (2.75796533250397e-4, 19.1009761424463),
    (1.0112835951332604e-4, 22.076885658828246),
    (3.6735037872350634e-5, 25.315410489899943),
    (1.2222271757211453e-5, 29.13768528704742),
    (3.952722766578133e-6, 33.43230552453523),
    (1.1893751919438839e-6, 38.474350625529276),
];

/// The least rate, and the bits a key that all lanes need for it.
const LAST: (f64, f64) = (MIN_RATE, 86.34326171875098);

/// A term of the sum.
#[derive(Clone, Copy)]
pub(super) struct Term {
    /// The weight of the term, with its sign.
    pub weight: f64,
    /// `1 - z`: the probability that a key of the block has at least one of the bits.
    pub hit: f64,
}

/// The terms of the sum for one number of hashes.
pub struct Terms {
    terms: [Term; 45],
    length: usize,
}

/// The binomial coefficient of small numbers.
pub(super) const fn choose(n: u32, k: u32) -> f64 {
    if k > n {
        return 0.0;
    }
    let (mut product, mut i) = (1.0, 0);
    while i < k {
        product = product * (n - i) as f64 / (i + 1) as f64;
        i += 1;
    }
    product
}

/// The probability that a key with `a` lanes of a half, of `places` places each, misses `t` given places in different
/// lanes of that half.
const fn miss(a: u32, t: u32, places: u32) -> f64 {
    let (mut sum, mut power, mut j) = (0.0, 1.0, 0);
    while j <= a && j <= t {
        sum += choose(a, j) * choose(LANES - a, t - j) / choose(LANES, t) * power;
        power *= (places - 1) as f64 / places as f64;
        j += 1;
    }
    sum
}

/// The terms for every number of hashes from 1 on.
static TERMS: [Terms; MAX_HASHES as usize] = {
    let mut all = [const { Terms { terms: [Term { weight: 0.0, hit: 0.0 }; 45], length: 0 } }; MAX_HASHES as usize];
    let mut i = 0;
    while i < MAX_HASHES as usize {
        all[i] = Terms::new(i as u32 + 1, LANE_BITS);
        i += 1;
    }
    all
};

impl Terms {
    /// The terms for keys with `hashes` lanes, from 1 to [`MAX_HASHES`], each of `places` places.
    pub const fn new(hashes: u32, places: u32) -> Terms {
        let (a, b) = (hashes.div_ceil(2), hashes / 2);
        let mut terms = Terms { terms: [Term { weight: 0.0, hit: 0.0 }; 45], length: 0 };
        let mut t = 0;
        while t <= a {
            let mut u = 0;
            // (t, u) and (u, t) have the same z and are one term, unless only one of them exists.
            while u <= b && u <= t {
                let sign = if (t + u) % 2 == 0 { 1.0 } else { -1.0 };
                let z = 0.5 * (miss(a, t, places) * miss(b, u, places) + miss(b, t, places) * miss(a, u, places));
                let other = if u < t && t <= b { choose(a, u) * choose(b, t) } else { 0.0 };
                let weight = sign * (choose(a, t) * choose(b, u) + other);
                terms.terms[terms.length] = Term { weight, hit: 1.0 - z };
                terms.length += 1;
                u += 1;
            }
            t += 1;
        }
        terms
    }

    /// The terms for keys with `hashes` lanes, from 1 to [`MAX_HASHES`].
    pub fn of(hashes: u32) -> &'static Terms {
        &TERMS[hashes.clamp(1, MAX_HASHES) as usize - 1]
    }

    fn sum(&self, power: impl Fn(f64) -> f64) -> f64 {
        let sum: f64 = self.all().iter().map(|term| term.weight * power(term.hit)).sum();
        // A difference of numbers near one may come out just below zero.
        sum.clamp(0.0, 1.0)
    }

    /// The rate of one block that holds `keys` distinct keys.
    pub fn block_rate(&self, keys: u64) -> f64 {
        if keys == 0 { 0.0 } else { self.sum(|hit| missed(hit, keys)) }
    }

    /// The rate in the limit of many blocks, at `bits_per_key` bits a key.
    pub fn poisson(&self, bits_per_key: f64) -> f64 {
        let load = BLOCK_BITS as f64 / bits_per_key;
        self.sum(|hit| (-load * hit).exp())
    }

    /// The exact rate of `blocks` blocks that hold `keys` distinct keys.
    pub fn rate(&self, blocks: u64, keys: u64) -> f64 {
        if blocks == 0 {
            return 1.0;
        }
        if keys == 0 {
            return 0.0;
        }
        let rate = self.sum_of(blocks, keys);
        // The sum loses more digits of a low rate than the mixture, which is computed term by term.
        if rate > LOW { rate } else { mixture::binomial(keys, 1.0 / blocks as f64, |keys| self.block_rate(keys)) }
    }

    /// The rate of `blocks` blocks, at least one, that hold `keys` distinct keys, with an error of up to 1e-12.
    pub(super) fn sum_of(&self, blocks: u64, keys: u64) -> f64 {
        let share = 1.0 / blocks as f64;
        self.sum(|hit| missed(share * hit, keys))
    }

    /// All terms.
    pub(super) fn all(&self) -> &[Term] {
        &self.terms[..self.length]
    }

    /// An estimate of the number of blocks for which [`Terms::rate`] is `rate`, by Newton's method on their logarithms.
    pub fn blocks_about(&self, keys: u64, rate: f64, start: f64) -> f64 {
        let (wanted, mut blocks) = (ln(rate), start);
        for _ in 0..8 {
            let (share, mut value, mut slope) = (1.0 / blocks, 0.0, 0.0);
            for term in self.all() {
                let hit = share * term.hit;
                let part = term.weight * missed(hit, keys);
                value += part;
                slope += part * hit / (1.0 - hit);
            }
            // The derivative of the value with respect to ln blocks is keys times the slope.
            let step = (wanted - ln(value)) * value / (keys as f64 * slope);
            if !step.is_finite() {
                break;
            }
            if step < 0.0 && blocks == 1.0 {
                break;
            }
            blocks = (blocks * exp(step.clamp(-0.5, 0.5))).max(1.0);
            // The error of the result is about the square of the last step: far less than a block.
            if step.abs() < 1e-6 || step.abs() * blocks < 0.5 {
                break;
            }
        }
        blocks
    }
}

/// `(1 - hit)^keys`, for `hit` in 0..1, by the cheapest formula that keeps all digits.
pub(super) fn missed(hit: f64, keys: u64) -> f64 {
    if keys <= 32 {
        return (1.0 - hit).powi(keys as i32);
    }
    exp(keys as f64 * ln_1p_minus(hit))
}

/// The exact false-positive rate of `blocks` blocks that hold `keys` distinct keys of `hashes` lanes each.
///
/// The rate is 1 without blocks, and otherwise 0 without keys. Takes at most 45 exponential functions.
pub fn false_positive_rate(blocks: u64, hashes: u32, keys: u64) -> f64 {
    Terms::of(hashes).rate(blocks, keys)
}

/// The number of lanes with the least rate at `bits_per_key` bits a key, in the limit of many blocks.
pub fn optimal_hashes(bits_per_key: f64) -> u32 {
    CHANGES.iter().take_while(|(_, change)| bits_per_key > *change).count() as u32 + 1
}

/// The number of lanes that reaches `rate` with the fewest bits a key, and about how many bits these are, in the limit
/// of many blocks.
fn lanes_for(rate: f64) -> (u32, f64) {
    let lanes = CHANGES.iter().take_while(|(change, _)| rate < *change).count() as u32 + 1;
    // Between two changes the logarithms lie nearly on a line. A single lane needs no table.
    if lanes == 1 {
        return (1, -1.0 / ln_1p_minus(rate));
    }
    let (first, from) = CHANGES[lanes as usize - 2];
    let (last, to) = CHANGES.get(lanes as usize - 1).copied().unwrap_or(LAST);
    let place = ln(rate / first) / ln(last / first);
    (lanes, from * pow(to / from, place))
}

/// The number of blocks, and the number of lanes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedSize {
    /// Blocks of 512 bits.
    pub blocks: u64,
    /// How many lanes a key has.
    pub hashes: u32,
}

/// The least number of blocks that hold `keys` keys at no more than `false_positive_rate`, by the exact mixture. The
/// number of lanes is the best one in the limit of many blocks.
///
/// `None` if the rate is not inside (0, 1), or would take more than 2^52 blocks. Without keys the result is one block.
pub fn size_for(keys: u64, false_positive_rate: f64) -> Option<BlockedSize> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    if keys == 0 {
        return Some(BlockedSize { blocks: 1, hashes: lanes_for(false_positive_rate).0 });
    }
    let (hashes, bits_per_key) = lanes_for(false_positive_rate);
    let terms = Terms::of(hashes);
    let start = (keys as f64 * bits_per_key / BLOCK_BITS as f64).max(1.0);
    let guess = terms.blocks_about(keys, false_positive_rate, start);
    let holds = |blocks| terms.rate(blocks, keys) <= false_positive_rate;
    let blocks = search::least(guess.ceil() as u64, 1 << 52, holds)?;
    Some(BlockedSize { blocks, hashes })
}

/// The present rate of a filter whose lanes have `places` places; bits have [`LANE_BITS`]. It comes from the sum over
/// the filter's blocks of the products that [`crate::blocks::block_kernel::Fills`] defines. The rate is the mean, over
/// the blocks and over the lanes that a key may choose, of the product of these lanes' fills. It is exact, whatever was
/// inserted.
pub fn from_products(products: f64, blocks: u64, places: u32, hashes: u32) -> f64 {
    let hashes = hashes.clamp(1, MAX_HASHES);
    let choices = choose(LANES, hashes.div_ceil(2)) * choose(LANES, hashes / 2);
    products * 0.5 / (choices * f64::from(places).powi(hashes as i32)) / blocks as f64
}

/// The present rate of one block, from its bits.
pub fn from_fill(block: &[u32; 16], hashes: u32) -> f64 {
    // The coefficients of the product of `1 + x t` over the numbers of set bits in the lanes of each half.
    let mut halves = [[0.0; LANES as usize + 1]; 2];
    for (lanes, products) in block.chunks_exact(LANES as usize).zip(&mut halves) {
        products[0] = 1.0;
        for lane in lanes {
            for degree in (1..products.len()).rev() {
                products[degree] += products[degree - 1] * f64::from(lane.count_ones());
            }
        }
    }
    let [low, high] = halves;
    let hashes = hashes.clamp(1, MAX_HASHES);
    let (more, fewer) = (hashes.div_ceil(2) as usize, hashes as usize / 2);
    from_products(low[more] * high[fewer] + low[fewer] * high[more], 1, LANE_BITS, hashes)
}

/// The number of distinct keys that took `taken` places of `blocks` blocks, whose lanes have `places` places; bits have
/// [`LANE_BITS`]. A key takes a given place of its block's `m = 16 places` with probability `k/m`, so `(1 - k/(m
/// blocks))^n` of all places stay free.
///
/// `None` if no place is free, or there are no blocks.
pub fn cardinality(blocks: u64, places: u32, hashes: u32, taken: u64) -> Option<f64> {
    let all = blocks.checked_mul(u64::from(2 * LANES * places))?;
    if taken >= all {
        return None;
    }
    let missed = (-f64::from(hashes) / all as f64).ln_1p();
    Some(((-(taken as f64) / all as f64).ln_1p() / missed).abs())
}

/// The standard error of [`cardinality`] with `keys` keys. Let `p = k/m`, `a = p n/B`, and `q(i, j)` be the probability
/// that a key of the block misses two given places.
///
/// The variance of the number of free places is `B` times that of one block, less the part that fixing the number of
/// keys takes from it: `B (sum over pairs of places of e^(-2a) (e^(n/B (q - (1-p)^2)) - 1)` less the square of the
/// slope. The pairs are of four sorts: a place and itself, two places of one lane, two of one half and two of both
/// halves.
pub fn cardinality_standard_error(blocks: u64, places: u32, hashes: u32, keys: u64) -> f64 {
    if blocks == 0 || hashes == 0 {
        return f64::INFINITY;
    }
    let (blocks, load, places) = (blocks as f64, keys as f64 / blocks as f64, f64::from(places));
    let (a, b) = (f64::from(hashes.div_ceil(2)), f64::from(hashes / 2));
    let all = f64::from(2 * LANES) * places;
    let p = f64::from(hashes) / all;
    // The probability that a key takes both of two different places.
    let one_half = 0.5 * (a * (a - 1.0) + b * (b - 1.0)) / (8.0 * 7.0) / (places * places);
    let both_halves = a * b / 64.0 / (places * places);
    // For each pair of places in one block, e^(-load (2p - both)) less e^(-2 load p), in units of e^(-2 load p).
    let pairs =
        [(all, p), (all * (places - 1.0), 0.0), (all * 7.0 * places, one_half), (all * 8.0 * places, both_halves)];
    let variance: f64 = pairs.iter().map(|(count, both)| count * (load * both).exp_m1()).sum();
    // The number of keys is given, so the part of the variance that it explains goes.
    let slope = all * p;
    let variance = blocks * (variance - load * slope * slope).max(0.0);
    // Per block n = -ln(free / m) / p, so dn = dZ / (p Z / B).
    variance.sqrt() / (all * p)
}
