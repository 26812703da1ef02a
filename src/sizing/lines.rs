//! Blocks of a cache line in which a key sets k bits anywhere, which may coincide, from 32 bits of its hash.

use super::{bloom, mixture};

/// Bits in a block: a cache line.
pub const BLOCK_BITS: u64 = 512;

/// The rate of one block that holds `keys` distinct keys.
fn block_rate(hashes: u32, keys: u64) -> f64 {
    (bloom::exact(BLOCK_BITS, hashes, keys) + keys as f64 / 2.0_f64.powi(32)).min(1.0)
}

/// The false-positive rate of `blocks` blocks that hold `keys` distinct keys. No blocks give 1; otherwise no keys give
/// 0.
pub fn false_positive_rate(blocks: u64, hashes: u32, keys: u64) -> f64 {
    if blocks == 0 {
        return 1.0;
    }
    mixture::binomial(keys, 1.0 / blocks as f64, |keys| block_rate(hashes, keys))
}
