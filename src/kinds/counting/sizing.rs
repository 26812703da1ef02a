//! Counters in blocks of 512 bits: each of the sixteen 32-bit lanes has `32 / width` counters of `width` bits, and a
//! key has one counter in each of `k` lanes that it chooses itself.
//!
//! A counter that is not 0 is a bit that is set, so this is the mathematics of [`crate::kinds::blocked::sizing`] with
//! fewer places in a lane. A block has so few of them that the best number of counters a key depends on the width, and
//! is looked for.

use crate::kinds::blocked;
use crate::kinds::blocked::sizing::{BLOCK_BITS, LANE_BITS, MAX_HASHES, Terms};
use crate::sizing::{is_rate, search};

pub use crate::kinds::blocked::sizing::{MIN_RATE, cardinality, cardinality_standard_error, from_products};

/// The exact false-positive rate of `blocks` blocks, whose lanes have `places` counters each, that hold `keys` distinct
/// keys of `hashes` counters each. No blocks give 1; otherwise no keys give 0.
pub fn false_positive_rate(blocks: u64, places: u32, hashes: u32, keys: u64) -> f64 {
    Terms::new(hashes.clamp(1, MAX_HASHES), places).rate(blocks, keys)
}

/// The number of counters a key with the least rate, where `blocks` blocks of lanes with `places` counters hold `keys`
/// keys.
pub fn optimal_hashes(blocks: u64, places: u32, keys: u64) -> u32 {
    let rates = (1..=MAX_HASHES).map(|hashes| (false_positive_rate(blocks, places, hashes, keys), hashes));
    rates.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, hashes)| hashes)
}

/// How many blocks and counters a key.
pub use crate::kinds::blocked::sizing::BlockedSize as Size;

/// The least number of blocks, whose lanes have `places` counters each, that hold `keys` keys at no more than
/// `false_positive_rate`, and the number of counters a key for which that is so.
///
/// `None` if the rate is not inside (0, 1), or would take more than 2^52 blocks. No keys need one block.
pub fn size_for(keys: u64, false_positive_rate: f64, places: u32) -> Option<Size> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    // As many blocks as bits would take, times the bits of a counter, are a start for the search.
    let of_bits = blocked::sizing::size_for(keys, false_positive_rate)?;
    if keys == 0 {
        return Some(Size { blocks: 1, ..of_bits });
    }
    let start = of_bits.blocks as f64 * f64::from(LANE_BITS / places.max(1));
    let sizes = (1..=MAX_HASHES).filter_map(|hashes| {
        let terms = Terms::new(hashes, places);
        let guess = terms.blocks_about(keys, false_positive_rate, start);
        // What would take far more than the others need not be known exactly.
        let holds = |blocks| terms.rate(blocks, keys) <= false_positive_rate;
        Some(Size { blocks: search::least(guess.ceil() as u64, 1 << 52, holds)?, hashes })
    });
    sizes.min_by_key(|size| size.blocks)
}

const _: () = assert!(BLOCK_BITS == 16 * LANE_BITS as u64);
