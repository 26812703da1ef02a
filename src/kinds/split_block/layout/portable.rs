//! The split-block layout in plain Rust: what the other kernels are compared with.

use super::{BLOCK_WORDS, bits, block, block_mut, fetch};
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
    fills: |words, _| fills(words),
    contains_few,
    insert_few,
};

/// Whether a key may be there.
#[inline]
fn contains_one(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let missing = |(word, bits): (&AtomicU64, u64)| bits & !word.load(Ordering::Relaxed);
    block(words, key).iter().zip(bits(key)).map(missing).fold(0, |all, bits| all | bits) == 0
}

/// Inserts a key; true if it certainly was not there.
#[inline]
fn insert_one(words: &mut [u64], _: &[u16], key: u64) -> bool {
    let mut missing = 0;
    for (word, bits) in block_mut(words, key).iter_mut().zip(bits(key)) {
        missing |= bits & !*word;
        *word |= bits;
    }
    missing != 0
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
pub fn insert_one_shared(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    block(words, key).iter().zip(bits(key)).fold(false, |new, (word, bits)| new | set_shared(word, bits))
}

one_key_at_a_time!();

/// What the bits of blocks say about lookups.
#[inline(always)]
pub fn fills(words: &[AtomicU64]) -> Fills {
    let (mut ones, mut sums) = (0, [0.0_f64; BLOCKS]);
    for blocks in words.chunks(BLOCKS * BLOCK_WORDS) {
        let lanes = lanes::<BLOCK_WORDS>(blocks, &mut ones);
        let mut products = [1.0; BLOCKS];
        for lane in lanes.as_flattened() {
            for i in 0..BLOCKS {
                products[i] *= lane[i];
            }
        }
        for i in 0..BLOCKS {
            sums[i] += f64::from(products[i]);
        }
    }
    Fills { ones, products: sums.iter().sum() }
}
