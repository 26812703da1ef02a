//! RocksDB's layout in plain Rust: what the other kernels are compared with.

use super::{BLOCK_WORDS, any_bit, block, block_mut, fetch};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::set_shared;
use crate::blocks::block_kernel::fills::{BLOCKS, Fills, lanes};
use crate::blocks::block_kernel::{BlockKernel, one_key_at_a_time};
use crate::hash::xxh3::portable::hash_u64s;
use core::sync::atomic::{AtomicU64, Ordering};

/// The portable kernel.
pub static KERNEL: BlockKernel = BlockKernel {
    contains_one: |words, masks, key| contains_one(words, masks, key),
    insert_one: |words, masks, key| insert_one(words, masks, key),
    insert_one_shared: |words, masks, key| insert_one_shared(words, masks, key),
    contains,
    insert,
    fills,
    contains_few,
    insert_few,
};

/// Whether a key may be there.
#[inline]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    !any_bit(masks, key, |word, bit| block[word].load(Ordering::Relaxed) & bit == 0)
}

/// Inserts a key; true if it certainly was not there.
#[inline]
pub fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key);
    any_bit(masks, key, |word, bit| {
        let new = block[word] & bit == 0;
        block[word] |= bit;
        new
    })
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
pub fn insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    any_bit(masks, key, |word, bit| set_shared(&block[word], bit))
}

one_key_at_a_time!();

/// What the bits of blocks say about lookups: the products are the fills of the blocks to the power of `hashes`.
#[inline(always)]
pub fn fills(words: &[AtomicU64], hashes: u32) -> Fills {
    let (mut ones, mut products) = (0, 0.0);
    for blocks in words.chunks(BLOCKS * BLOCK_WORDS) {
        let lanes = lanes::<BLOCK_WORDS>(blocks, &mut ones);
        let (mut fills, mut powers) = ([0.0; BLOCKS], [1.0; BLOCKS]);
        for lane in lanes.as_flattened() {
            for i in 0..BLOCKS {
                fills[i] += f64::from(lane[i]);
            }
        }
        for _ in 0..hashes {
            for i in 0..BLOCKS {
                powers[i] *= fills[i] / 512.0;
            }
        }
        products += powers.iter().sum::<f64>();
    }
    Fills { ones, products }
}
