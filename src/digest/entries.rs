//! The entries of a digest's filter: blocks and groups of them as 64-bit hashes.
//!
//! The *key* of a block is the hash of its bytes, under the digest's hash function. The key of a group of 2^j blocks
//! joins the keys of its two halves. An entry is made of the key of a group, the level, and the place of the first
//! block in its segment; or of the key of a block, its place, and the number of the segment.

use crate::bits::{GOLDEN, MIX, MIX_SCATTERED, mix};
use crate::digest::layout::{Cut, Shape};

/// The most levels.
const MAX_LEVELS: u32 = 4;

/// The blocks of a group at the highest level.
const MOST: usize = 1 << (MAX_LEVELS - 1);

/// A block of a payload or an excerpt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The bytes before the block.
    pub start: u64,
    /// The hash of the block's bytes.
    pub key: u64,
}

/// The entry of a block or group without a segment.
pub fn entry(level: u32, key: u64, place: u64) -> u64 {
    let sum = key.wrapping_add(place.wrapping_mul(GOLDEN));
    mix(sum.wrapping_add(u64::from(level).wrapping_mul(MIX_SCATTERED)))
}

/// The entry of a block in a segment.
pub fn entry_in(segment: u64, key: u64, place: u64) -> u64 {
    let sum = key.wrapping_add(place.wrapping_mul(GOLDEN));
    mix(sum.wrapping_add(segment.wrapping_add(1).wrapping_mul(MIX)))
}

/// The key of a group of blocks, whose number is a power of two.
pub fn joined(keys: &[u64]) -> u64 {
    match keys {
        [] => 0,
        [key] => *key,
        _ => {
            let (first, second) = keys.split_at(keys.len() / 2);
            mix(joined(first).wrapping_mul(GOLDEN) ^ joined(second))
        }
    }
}

/// Whether a group of the level begins with this block. With fixed blocks every 2^level-th one begins a group. With
/// blocks that are cut by content nobody knows how many came before, so the block's key decides, and the same share of
/// blocks begins a group.
pub fn begins(shape: &Shape, level: u32, block: &Block) -> bool {
    let number = match shape.cut {
        Cut::Fixed => block.start / shape.block_bytes,
        Cut::Content => block.key,
    };
    number & ((1 << level) - 1) == 0
}

/// The place of a block in an entry: its number in its segment. For blocks that are cut by content the place is 0,
/// because it cannot be known from an excerpt.
pub fn place(shape: &Shape, start: u64) -> u64 {
    match shape.cut {
        Cut::Fixed => start / shape.block_bytes % shape.segment_blocks,
        Cut::Content => 0,
    }
}

/// The last blocks of a payload, from which groups are made.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    last: [Block; MOST],
    count: u64,
}

impl Groups {
    /// Takes the next block, and gives each group that ends with it: level, key, and the group's first block. The block
    /// itself is the group of level 0.
    pub fn take(&mut self, shape: &Shape, block: Block, mut give: impl FnMut(u32, u64, &Block)) {
        self.last.rotate_left(1);
        self.last[MOST - 1] = block;
        self.count += 1;
        for level in 0..shape.levels.min(MAX_LEVELS) {
            let blocks = &self.last[MOST - (1 << level)..];
            if self.count < blocks.len() as u64 || !begins(shape, level, &blocks[0]) {
                continue;
            }
            let mut keys = [0; MOST];
            keys.iter_mut().zip(blocks).for_each(|(key, block)| *key = block.key);
            give(level, joined(&keys[..blocks.len()]), &blocks[0]);
        }
    }
}
