//! The blocked layout in plain Rust, which tests compare the other kernels with.

use super::fills::fills;
use super::two_blocks::in_two_blocks;
use super::{BLOCK_WORDS, bit_of_lane, block, block_mut, fetch, lanes};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::set_shared;
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

/// Visits the lanes of a key in order. `visit` gets the place of the lane's word in the block, and the number of the
/// key's bit in that word. Returns whether `visit` returned true for any lane.
///
/// All lanes of the key are visited, whatever they hold, because a branch on their bits would be guessed wrong too
/// often.
#[inline(always)]
fn any_lane(masks: &[u16], key: u64, mut visit: impl FnMut(usize, u32) -> bool) -> bool {
    let (mut rest, mut any) = (lanes(masks, key), false);
    while rest != 0 {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        any |= visit(lane as usize / 2 % BLOCK_WORDS, bit_of_lane(key, lane));
    }
    any
}

/// Whether a key may be there.
#[inline(always)]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    !any_lane(masks, key, |word, bit| block[word].load(Ordering::Relaxed) >> bit & 1 == 0)
}

/// Inserts a key. Returns true if it certainly was absent before.
#[inline]
fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key);
    any_lane(masks, key, |word, bit| {
        let new = block[word] >> bit & 1 == 0;
        block[word] |= 1 << bit;
        new
    })
}

/// Inserts a key while others insert too. Returns true if it certainly was absent before.
#[inline]
pub fn insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    any_lane(masks, key, |word, bit| set_shared(&block[word], 1 << bit))
}

one_key_at_a_time!();
in_two_blocks!();
