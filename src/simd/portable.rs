//! The kernels in plain Rust: what the others are compared with.

use super::BlockKernel;
use core::sync::atomic::{AtomicU64, Ordering};

/// The split-block kernel.
pub static SPLIT_BLOCK: BlockKernel =
    BlockKernel { name: "portable", contains: split_block_contains, insert: split_block_insert };

/// 64-bit words in a 256-bit block.
pub const SPLIT_BLOCK_WORDS: usize = 4;

/// The odd multipliers of the Parquet format, one a lane.
const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// The first word of the block that a hash goes to. `words` holds fewer than 2^32 blocks.
#[inline]
pub fn split_block_start(words: usize, hash: u64) -> usize {
    let blocks = (words / SPLIT_BLOCK_WORDS) as u64;
    (((hash >> 32) * blocks) >> 32) as usize * SPLIT_BLOCK_WORDS
}

/// The bits that a hash sets in its block: one in each 32-bit lane, chosen by the hash's low half.
#[inline]
pub fn split_block_masks(hash: u64) -> [u64; SPLIT_BLOCK_WORDS] {
    let bit = |lane: usize| 1_u64 << ((hash as u32).wrapping_mul(SALTS[lane]) >> 27);
    core::array::from_fn(|word| bit(2 * word) | bit(2 * word + 1) << 32)
}

/// Whether one hash may be there.
#[inline]
pub fn split_block_contains_one(words: &[AtomicU64], hash: u64) -> bool {
    let start = split_block_start(words.len(), hash);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    let missing = |(word, mask): (&AtomicU64, u64)| mask & !word.load(Ordering::Relaxed);
    block.iter().zip(split_block_masks(hash)).map(missing).fold(0, |all, bits| all | bits) == 0
}

/// Inserts one hash; true if it certainly was not there.
#[inline]
pub fn split_block_insert_one(words: &mut [u64], hash: u64) -> bool {
    let start = split_block_start(words.len(), hash);
    let block = &mut words[start..start + SPLIT_BLOCK_WORDS];
    let mut missing = 0;
    for (word, mask) in block.iter_mut().zip(split_block_masks(hash)) {
        missing |= mask & !*word;
        *word |= mask;
    }
    missing != 0
}

fn split_block_contains(words: &[AtomicU64], hashes: &[u64], found: &mut [bool]) {
    for (hash, found) in hashes.iter().zip(found) {
        *found = split_block_contains_one(words, *hash);
    }
}

fn split_block_insert(words: &mut [u64], hashes: &[u64], new: &mut [bool]) {
    for (hash, new) in hashes.iter().zip(new) {
        *new = split_block_insert_one(words, *hash);
    }
}
