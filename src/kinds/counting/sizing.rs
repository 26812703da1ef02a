//! Counters in blocks of 512 bits. Each of the sixteen 32-bit lanes has `32 / width` counters of `width` bits, and a
//! key has one counter in each of the `k` lanes that it chooses.
//!
//! A counter above 0 is like a set bit, so this is the mathematics of [`crate::kinds::blocked::sizing`] with fewer
//! places in a lane. A block has so few places that the best number of counters a key depends on the width, and is
//! found by a search.

use crate::kinds::blocked;
use crate::kinds::blocked::sizing::{BLOCK_BITS, LANE_BITS, MAX_HASHES, Terms};
use crate::sizing::{is_rate, search};

pub use crate::kinds::blocked::sizing::{MIN_RATE, cardinality, cardinality_standard_error, from_products};

/// The exact false-positive rate of `blocks` blocks that hold `keys` distinct keys. A lane has `places` counters, and a
/// key has `hashes`. The rate is 1 without blocks, and otherwise 0 without keys.
pub fn false_positive_rate(blocks: u64, places: u32, hashes: u32, keys: u64) -> f64 {
    Terms::new(hashes.clamp(1, MAX_HASHES), places).rate(blocks, keys)
}

/// The number of counters a key that gives the least rate for `keys` keys in `blocks` blocks, whose lanes have `places`
/// counters.
pub fn optimal_hashes(blocks: u64, places: u32, keys: u64) -> u32 {
    let rates = (1..=MAX_HASHES).map(|hashes| (false_positive_rate(blocks, places, hashes, keys), hashes));
    rates.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, hashes)| hashes)
}

/// The number of blocks, and of counters a key.
pub use crate::kinds::blocked::sizing::BlockedSize as Size;

/// The fewest blocks that hold `keys` keys at no more than `false_positive_rate`, and the number of counters a key that
/// makes this possible. Lanes have `places` counters.
///
/// `None` if the rate is not inside (0, 1), or would take more than 2^52 blocks. Without keys the result is one block.
pub fn size_for(keys: u64, false_positive_rate: f64, places: u32) -> Option<Size> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    // The search begins at the number of blocks for a bit array, times the bits of a counter.
    let of_bits = blocked::sizing::size_for(keys, false_positive_rate)?;
    if keys == 0 {
        return Some(Size { blocks: 1, ..of_bits });
    }
    let start = of_bits.blocks as f64 * f64::from(LANE_BITS / places.max(1));
    let sizes = (1..=MAX_HASHES).filter_map(|hashes| {
        let terms = Terms::new(hashes, places);
        let guess = terms.blocks_about(keys, false_positive_rate, start);
        // If a number of counters takes far more blocks than others, its exact number of blocks does not matter.
        let holds = |blocks| terms.rate(blocks, keys) <= false_positive_rate;
        Some(Size { blocks: search::least(guess.ceil() as u64, 1 << 52, holds)?, hashes })
    });
    sizes.min_by_key(|size| size.blocks)
}

const _: () = assert!(BLOCK_BITS == 16 * LANE_BITS as u64);
