//! The split-block filter: blocks of 256 bits, each of eight 32-bit lanes, one bit in every lane for each key of the
//! block.
//!
//! A block that holds `i` keys takes a fresh key for its own with probability `(1 - (31/32)^i)^8`: the lanes are
//! independent, and each is hit in one of its 32 bits. The number of keys in the block is Binomial(n, 1/blocks), so
//! that the rate of the filter is exactly the mixture of the two, for any number of blocks, one included.
//! Formulas that take every block for average (`-8 / ln(1 - p^(1/8))` bits a key) undersize the filter.

use super::{is_rate, mixture, search};

/// Bits in a block.
pub const BLOCK_BITS: u64 = 256;

/// Blocks are addressed by the upper 32 bits of the hash: there are at most this many.
pub const MAX_BLOCKS: u64 = u32::MAX as u64;

/// The rate of one block that holds `keys` distinct keys: `(1 - (31/32)^keys)^8`.
pub fn block_rate(keys: u64) -> f64 {
    let miss = (-1.0_f64 / 32.0).ln_1p();
    let lane = -(keys as f64 * miss).exp_m1();
    lane.powi(8)
}

/// The exact false-positive rate of `blocks` blocks that hold `keys` distinct keys.
///
/// No blocks give 1; otherwise no keys give 0. `O(sqrt(keys / blocks))` time, some microseconds.
pub fn false_positive_rate(blocks: u64, keys: u64) -> f64 {
    if blocks == 0 {
        return 1.0;
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
/// `None` if the rate is not inside (0, 1), or would take more than [`MAX_BLOCKS`]. No keys need one block.
/// Some tens of evaluations of the rate.
pub fn blocks_for(keys: u64, false_positive_rate: f64) -> Option<u64> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    let holds = |blocks| self::false_positive_rate(blocks, keys) <= false_positive_rate;
    if !holds(MAX_BLOCKS) {
        return None;
    }
    // Bits a key for the wanted rate, in the limit, to some digits: between 2^-8 (full) and 2^40.
    let (mut low, mut high) = (-8.0_f64, 40.0_f64);
    while high - low > 1e-6 {
        let middle = 0.5 * (low + high);
        if poisson(middle.exp2()) <= false_positive_rate {
            high = middle;
        } else {
            low = middle;
        }
    }
    let guess = keys as f64 * high.exp2() / BLOCK_BITS as f64;
    search::least(guess as u64, MAX_BLOCKS, holds)
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
    super::bloom::partitioned_cardinality(blocks.checked_mul(32)?, 8, ones)
}

/// The standard error of [`cardinality`] with `keys` keys: with `a = n/(32 B)`,
/// `sqrt(4 B (e^a - 1 - a) + 896 B (e^(a/32) - 1 - a/32))`.
///
/// The first term is that of eight independent lanes of `32 B` bits. The second is there because the eight lanes of
/// a block share the number of its keys: two lanes' zeros have the covariance
/// `B (32 e^-a)^2 (e^(a/32) - 1 - a/32)`, from Poisson numbers of keys with their sum given.
pub fn cardinality_standard_error(blocks: u64, keys: u64) -> f64 {
    if blocks == 0 {
        return f64::INFINITY;
    }
    let blocks = blocks as f64;
    let a = keys as f64 / (32.0 * blocks);
    let excess = |x: f64| if x < 1e-3 { x * x * (0.5 + x / 6.0) } else { x.exp_m1() - x };
    (blocks * (4.0 * excess(a) + 896.0 * excess(a / 32.0))).sqrt()
}
