//! The split-block filter: blocks of 256 bits, each of eight 32-bit lanes, one bit in every lane for each key of the
//! block.
//!
//! A block that holds `i` keys takes a fresh key for one of its own with probability `(1 - (31/32)^i)^8`: the lanes are
//! independent, and each is hit in one of its 32 bits. The number of keys in the block is Binomial(n, 1/blocks), so
//! that the rate of the filter is exactly the mixture of the two, for any number of blocks, one included. Formulas that
//! take every block for average (`-8 / ln(1 - p^(1/8))` bits a key) undersize the filter.
//!
//! **How it is computed.** By inclusion and exclusion over the lanes, with `q = 31/32`, the mixture has a closed form:
//!
//! ```text
//! rate = sum over j = 0..8 of (-1)^j C(8, j) (1 - (1 - q^j)/blocks)^n
//! ```
//!
//! whose terms of up to 70 leave an absolute error of some 1e-14. Rates above `PLAIN` are computed that way, with all
//! digits that matter; below it the mixture is summed, term by term, with all digits however small the rate is.
//!
//! **Sizes.** Newton's method on the closed form finds the number of blocks; the rate itself at the whole number and at
//! one less decides.

use crate::sizing::{exp, is_rate, ln_1p_minus, mixture, search};

/// Bits in a block.
pub const BLOCK_BITS: u64 = 256;

/// Blocks are addressed by the upper 32 bits of the hash: there are at most this many.
pub const MAX_BLOCKS: u64 = u32::MAX as u64;

/// Rates above this are computed by the closed form: its error is 1e-11 of them at most.
const PLAIN: f64 = 1.0 / 256.0;

/// Rates above this are near enough to the closed form for Newton's method.
const ROUGH: f64 = 1e-10;

/// How many numbers of keys [`RATES`] has.
const TABLE: usize = 128;

/// `(1 - (31/32)^keys)^8`, for few keys.
static RATES: [f64; TABLE] = {
    let (mut rates, mut lane, mut i) = ([0.0; TABLE], 0.0, 0);
    while i < TABLE {
        let square: f64 = lane * lane;
        rates[i] = (square * square) * (square * square);
        // Nothing cancels: 1 - q^(i+1) = q (1 - q^i) + 1/32.
        lane = lane * (31.0 / 32.0) + 1.0 / 32.0;
        i += 1;
    }
    rates
};

/// `(-1)^j C(8, j)` and `1 - (31/32)^j`, for j = 1, 2, .. 8.
static TERMS: [(f64, f64); 8] = {
    let (mut terms, mut choose, mut hit, mut j) = ([(0.0, 0.0); 8], 1.0, 0.0, 0);
    while j < 8 {
        choose *= -((8 - j) as f64) / (j + 1) as f64;
        hit = hit * (31.0 / 32.0) + 1.0 / 32.0;
        terms[j] = (choose, hit);
        j += 1;
    }
    terms
};

/// The rate of one block that holds `keys` distinct keys: `(1 - (31/32)^keys)^8`.
pub fn block_rate(keys: u64) -> f64 {
    if let Some(rate) = usize::try_from(keys).ok().and_then(|keys| RATES.get(keys)) {
        return *rate;
    }
    let miss = (-1.0_f64 / 32.0).ln_1p();
    let lane = -(keys as f64 * miss).exp_m1();
    lane.powi(8)
}

/// The closed form, and its derivative by the logarithm of the number of blocks. `blocks` is at least 1.
fn closed_form(blocks: f64, keys: f64) -> (f64, f64) {
    let (mut rate, mut slope) = (1.0, 0.0);
    for (weight, hit) in &TERMS {
        let hit = hit / blocks;
        let part = weight * exp(keys * ln_1p_minus(hit));
        rate += part;
        slope += part * hit / (1.0 - hit);
    }
    (rate, keys * slope)
}

/// The exact false-positive rate of `blocks` blocks that hold `keys` distinct keys.
///
/// No blocks give 1; otherwise no keys give 0. Takes some tens of nanoseconds; where the rate is below `PLAIN`,
/// `O(sqrt(keys / blocks))`, less than a microsecond.
pub fn false_positive_rate(blocks: u64, keys: u64) -> f64 {
    if blocks == 0 {
        return 1.0;
    }
    let (rate, _) = closed_form(blocks as f64, keys as f64);
    if rate > PLAIN {
        return rate.min(1.0);
    }
    mixture::binomial(keys, 1.0 / blocks as f64, block_rate)
}

/// The rate in the limit of many blocks, at `bits_per_key` bits a key: the Poisson mixture.
///
/// Not positive or NaN gives 1, infinity gives 0.
pub fn poisson(bits_per_key: f64) -> f64 {
    if bits_per_key.is_nan() || bits_per_key <= 0.0 {
        return 1.0;
    }
    mixture::poisson(BLOCK_BITS as f64 / bits_per_key, block_rate)
}

/// The least number of blocks that hold `keys` keys at no more than `false_positive_rate`, by the exact mixture.
///
/// `None` if the rate is not inside (0, 1), or would take more than [`MAX_BLOCKS`]. No keys need one block. Takes a few
/// evaluations of the rate.
pub fn blocks_for(keys: u64, false_positive_rate: f64) -> Option<u64> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    let holds = |blocks| self::false_positive_rate(blocks, keys) <= false_positive_rate;
    if keys == 0 {
        return Some(1);
    }
    let guess = blocks_about(keys as f64, false_positive_rate);
    search::least(guess.ceil() as u64, MAX_BLOCKS, holds)
}

/// About the number of blocks for which the rate is `rate`.
fn blocks_about(keys: f64, rate: f64) -> f64 {
    // The number if every block were average: too few, and Newton's method comes up from there.
    let mut blocks = (keys / (32.0 * -(-rate.powf(0.125)).ln_1p())).max(1.0);
    for _ in 0..16 {
        let (value, slope) = closed_form(blocks, keys);
        let (value, slope) = if value > ROUGH {
            (value, slope)
        } else {
            // The rate is too low for the closed form, so the mixture gives it, and a difference the slope.
            let near = |blocks: f64| mixture::binomial(keys as u64, 1.0 / blocks, block_rate);
            (near(blocks), (near(blocks * 1.001) - near(blocks)) / 1e-3)
        };
        let step = (rate.ln() - value.ln()) * value / slope;
        if !step.is_finite() {
            break;
        }
        if step < 0.0 && blocks == 1.0 {
            break;
        }
        blocks = (blocks * step.clamp(-1.0, 1.0).exp()).clamp(1.0, MAX_BLOCKS as f64);
        // The error of what was reached is about the square of the last step: far less than a block.
        if step.abs() < 1e-6 || step.abs() * blocks < 0.5 {
            break;
        }
    }
    blocks
}

/// The present rate of one block, from its bits: the product over the lanes of the fraction that is set. The mean
/// over the blocks is the present rate of the filter, whatever was inserted; the total fill alone does not give it.
pub fn from_fill(block: &[u32; 8]) -> f64 {
    block.iter().map(|lane| f64::from(lane.count_ones()) / 32.0).product()
}

/// The number of distinct keys that set `ones` bits in `blocks` blocks. A key sets a given bit of its lane with
/// probability `1/(32 blocks)`, whatever the others do, so that `(1 - 1/(32 blocks))^n` of the bits stay zero.
///
/// `None` if no bit is zero, or there are no blocks.
pub fn cardinality(blocks: u64, ones: u64) -> Option<f64> {
    crate::sizing::bloom::partitioned_cardinality(blocks.checked_mul(32)?, 8, ones)
}

/// The standard error of [`cardinality`] with `keys` keys: with `a = n/(32 B)`,
/// `sqrt(4 B (e^a - 1 - a) + 896 B (e^(a/32) - 1 - a/32))`.
///
/// The first term is that of eight independent lanes of `32 B` bits. The second is there because the eight lanes of a
/// block share the number of its keys. Two lanes' zeros have the covariance `B (32 e^-a)^2 (e^(a/32) - 1 - a/32)`, from
/// Poisson numbers of keys with their sum given.
pub fn cardinality_standard_error(blocks: u64, keys: u64) -> f64 {
    if blocks == 0 {
        return f64::INFINITY;
    }
    let blocks = blocks as f64;
    let a = keys as f64 / (32.0 * blocks);
    let excess = |x: f64| if x < 1e-3 { x * x * (0.5 + x / 6.0) } else { x.exp_m1() - x };
    (blocks * (4.0 * excess(a) + 896.0 * excess(a / 32.0))).sqrt()
}
