//! Vector quotient filters: an even number `m` of blocks of 512 bits, with tags of `t` bits. A block has `s` slots and
//! `b` buckets: 48 and 80 with tags of 8 bits, 28 and 36 with tags of 16.
//!
//! Pandey, Conway, Durie, Bender, Farach-Colton and Johnson, "Vector Quotient Filters: Overcoming the Time/Space
//! Trade-Off in Filter Design", 2021. An absent key has the bucket and the tag of a given key with probability `1 / (b
//! 2^t)`, and that key's pair of blocks with `2 / m`. So with n keys the rate is `1 - (1 - 2 / (m b 2^t))^n`, at load
//! `a` below the `2 (s / b) a 2^-t` of the literature.
//!
//! How many keys fit is measured. If each key goes to the emptier of two blocks, keys fill 94.6 and 91.3 % of a million
//! blocks before one finds both full (48 and 28 slots). If one entry of the two may then move to its other block, keys
//! fill 99.7 and 99.1 %. In a hundred thousand trials of the smallest tables they filled at least 97 %. A table
//! promises less than that, and has some slots besides, so that nobody sees a refusal below a capacity, and few
//! insertions move anything.

use crate::sizing::{hash_floor, hit_at_least_once, is_rate, search};

/// Bits of a block.
pub const BLOCK_BITS: u64 = 512;

/// Bits of two blocks. Tables have an even number of blocks.
pub const PAIR_BITS: u64 = 2 * BLOCK_BITS;

/// For each length of tags: the slots and the buckets of a block, and the share of the slots that a table promises.
const SHAPES: [(u32, u64, u64, f64); 2] = [(8, 48, 80, 0.985), (16, 28, 36, 0.975)];

/// How many slots a table has in addition.
const SPARE_SLOTS: f64 = 6.0;

/// The most bits of a table.
const MAX_BITS: u64 = 1 << 62;

/// A low rate may ask for this many times as many blocks as the keys need.
const SPARSE: u64 = 64;

/// The size of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Blocks, an even number.
    pub blocks: u64,
    /// Bits of a tag.
    pub tag_bits: u32,
}

/// The slots and buckets of a block. Other lengths of tags get those for tags of 8 bits.
pub const fn block(tag_bits: u32) -> (u64, u64) {
    let (_, slots, buckets, _) = shape(tag_bits);
    (slots, buckets)
}

const fn shape(tag_bits: u32) -> (u32, u64, u64, f64) {
    SHAPES[(tag_bits == 16) as usize]
}

/// The false-positive rate with `keys` distinct keys. With more keys than slots this is the rate of a full table. A
/// table without blocks has rate 1, and one without keys has rate 0.
pub fn false_positive_rate(blocks: u64, tag_bits: u32, keys: u64) -> f64 {
    let (_, slots, buckets, _) = shape(tag_bits);
    if blocks == 0 {
        return 1.0;
    }
    let keys = keys.min(blocks.saturating_mul(slots));
    if keys == 0 {
        return 0.0;
    }
    let classes = 0.5 * blocks as f64 * (buckets << tag_bits.min(16)) as f64;
    hit_at_least_once(1.0 / classes, keys as f64).max(hash_floor(keys, 64))
}

/// The least even number of blocks that `keys` keys fit into.
pub fn blocks_for(keys: u64, tag_bits: u32) -> Option<u64> {
    let (_, slots, _, load) = shape(tag_bits);
    // One pair of blocks takes any keys, because every key has that pair.
    if keys <= 2 * slots {
        return Some(2);
    }
    let pairs = ((keys as f64 / load + SPARE_SLOTS) / (2 * slots) as f64).ceil();
    (pairs < (MAX_BITS / PAIR_BITS) as f64).then_some(2 * pairs as u64)
}

/// The smallest table that holds `keys` keys at a rate of at most `rate`. `tag_bits` = 0 leaves the length of tags
/// open. `None` for a rate outside (0, 1), for a rate too low for the tags or for 64-bit hashes, and past 2^62 bits.
pub fn size_for(keys: u64, rate: f64, tag_bits: u32) -> Option<Size> {
    if !is_rate(rate) || hash_floor(keys, 64) > rate {
        return None;
    }
    let sizes = widths(tag_bits).filter_map(|tag_bits| {
        let rate_of = |blocks| false_positive_rate(blocks, tag_bits, keys);
        let mut blocks = blocks_for(keys, tag_bits)?;
        if rate_of(blocks) > rate {
            // Shorter tags in more slots may take fewer bits.
            let pairs =
                search::least(blocks / 2, blocks.saturating_mul(SPARSE / 2), |pairs| rate_of(2 * pairs) <= rate)?;
            blocks = 2 * pairs;
        }
        (blocks < MAX_BITS / BLOCK_BITS).then_some(Size { blocks, tag_bits })
    });
    sizes.min_by_key(|size| (size.blocks, size.tag_bits))
}

/// The longest tags with which a table of `blocks` blocks holds `keys` keys, or the shortest if none does.
pub fn best_tag_bits(blocks: u64, keys: u64) -> u32 {
    let fits = |tag_bits: &u32| blocks_for(keys, *tag_bits).is_some_and(|needed| needed <= blocks);
    widths(0).rev().find(fits).unwrap_or(SHAPES[0].0)
}

fn widths(tag_bits: u32) -> impl DoubleEndedIterator<Item = u32> {
    SHAPES.iter().map(|shape| shape.0).filter(move |width| tag_bits == 0 || *width == tag_bits)
}
