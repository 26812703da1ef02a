//! The kernels in plain Rust: what the others are compared with.

use super::fills;
use super::layout::{
    BLOCK_WORDS, SPLIT_BLOCK_WORDS, bit_of_lane, block, block_mut, lanes, split_block_masks, split_block_start,
};
use super::{BlockKernel, Kernel, Kernels};
use crate::bits::ring::{self, Batch, Few, answer_few, fetch_word, inserting, nothing, rolling};
use crate::bits::{prefetch, set_shared};
use core::sync::atomic::{AtomicU64, Ordering};

/// The portable kernels.
pub static KERNELS: Kernels = Kernels {
    kernel: Kernel::Portable,
    hash_u64s,
    split_block: BlockKernel {
        contains_one: |words, _, key| split_block_contains_one(words, key),
        contains: split_block_contains,
        insert_one: |words, _, key| split_block_insert_one(words, key),
        insert_one_shared: |words, _, key| split_block_insert_one_shared(words, key),
        insert: split_block_insert,
        fills: |words, _| fills::split_block(words),
        contains_few: split_block_contains_few,
        insert_few: split_block_insert_few,
    },
    blocked: BlockKernel {
        contains_one: |words, masks, key| blocked_contains_one(words, masks, key),
        contains: blocked_contains,
        insert_one: |words, masks, key| blocked_insert_one(words, masks, key),
        insert_one_shared: |words, masks, key| blocked_insert_one_shared(words, masks, key),
        insert: blocked_insert,
        fills: fills::blocked,
        contains_few: blocked_contains_few,
        insert_few: blocked_insert_few,
    },
};

// ---- XXH3 of eight bytes --------------------------------------------------------------------------------------------

/// What the key is mixed with first: 16 bytes of XXH3's fixed secret, folded into 8, less the seed, whose upper half is
/// mixed with its reversed lower half before.
pub fn xxh3_flip(seed: u64) -> u64 {
    let seed = seed ^ (u64::from((seed as u32).swap_bytes()) << 32);
    (0x1cad_21f7_2c81_017c_u64 ^ 0xdb97_9083_e96d_d4de).wrapping_sub(seed)
}

/// XXH3's multiplier for short inputs.
pub const XXH3_MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;

/// XXH3, 64 bits, of the eight little-endian bytes of `key`.
#[inline]
pub fn xxh3_u64(flip: u64, key: u64) -> u64 {
    let mut x = key.rotate_left(32) ^ flip;
    x ^= x.rotate_left(49) ^ x.rotate_left(24);
    x = x.wrapping_mul(XXH3_MULTIPLIER);
    // 8 is the length of the key.
    x ^= (x >> 35).wrapping_add(8);
    x = x.wrapping_mul(XXH3_MULTIPLIER);
    x ^ (x >> 28)
}

/// [`xxh3_u64`] of many keys; `hashes` is as long.
pub fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    for (key, hash) in keys.iter().zip(hashes) {
        *hash = xxh3_u64(flip, *key);
    }
}

// ---- The split-block layout -----------------------------------------------------------------------------------------

/// Whether one key may be there.
#[inline]
pub fn split_block_contains_one(words: &[AtomicU64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    let missing = |(word, mask): (&AtomicU64, u64)| mask & !word.load(Ordering::Relaxed);
    block.iter().zip(split_block_masks(key)).map(missing).fold(0, |all, bits| all | bits) == 0
}

/// Inserts one key; true if it certainly was not there.
#[inline]
pub fn split_block_insert_one(words: &mut [u64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &mut words[start..start + SPLIT_BLOCK_WORDS];
    let mut missing = 0;
    for (word, mask) in block.iter_mut().zip(split_block_masks(key)) {
        missing |= mask & !*word;
        *word |= mask;
    }
    missing != 0
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
pub fn split_block_insert_one_shared(words: &[AtomicU64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    block.iter().zip(split_block_masks(key)).fold(false, |new, (word, mask)| new | set_shared(word, mask))
}

/// Sets bits in those words of a block whose numbers are set in `lacking`, while others set bits too; true if one of them
/// was not set before.
#[inline]
pub fn set_lacking<const WORDS: usize>(block: &[AtomicU64], bits: &[u64; WORDS], mut lacking: u8) -> bool {
    let mut new = false;
    while lacking != 0 {
        let word = lacking.trailing_zeros() as usize % WORDS;
        lacking &= lacking - 1;
        new |= bits[word] & !block[word].fetch_or(bits[word], Ordering::Relaxed) != 0;
    }
    new
}

/// Fetches the block of a key.
#[inline]
pub fn split_block_fetch(words: &[AtomicU64], key: u64) {
    fetch_word(words, split_block_start(words.len(), key));
}

fn split_block_contains(words: &[AtomicU64], _: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, nothing, |words, key| {
        split_block_contains_one(words, key)
    });
}

fn split_block_insert(words: &mut [u64], _: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    inserting(words, ring::ahead(words.len(), 1), batch, fetch, split_block_insert_one);
}

fn split_block_contains_few(words: &[AtomicU64], _: &[u16], few: &Few) -> u64 {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| split_block_contains_one(words, key);
    answer_few(&mut { words }, words.len() >= ring::FETCH_FROM, few, hash_u64s, fetch, answer)
}

fn split_block_insert_few(words: &mut [u64], _: &[u16], few: &Few, is_asked: bool) -> u64 {
    let fetching = words.len() >= ring::FETCH_FROM;
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    answer_few(words, fetching, few, hash_u64s, fetch, |words, key| split_block_insert_one(words, key) & is_asked)
}

// ---- The blocked layout ---------------------------------------------------------------------------------------------

/// Visits the lanes of a key in order: the place of the lane's word in the block, and the number of the key's bit in
/// it. Whether `visit` said true of any.
///
/// As many steps as the key has lanes, whatever it meets: a branch on what is found would be taken wrongly too often.
#[inline]
fn any_lane(masks: &[u16], key: u64, mut visit: impl FnMut(usize, u32) -> bool) -> bool {
    let (mut rest, mut any) = (lanes(masks, key), false);
    while rest != 0 {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        any |= visit(lane as usize / 2 % BLOCK_WORDS, bit_of_lane(key, lane));
    }
    any
}

/// Whether one key may be there.
#[inline]
pub fn blocked_contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    !any_lane(masks, key, |word, bit| block[word].load(Ordering::Relaxed) >> bit & 1 == 0)
}

/// Inserts one key; true if it certainly was not there.
#[inline]
pub fn blocked_insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key);
    any_lane(masks, key, |word, bit| {
        let new = block[word] >> bit & 1 == 0;
        block[word] |= 1 << bit;
        new
    })
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
pub fn blocked_insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    any_lane(masks, key, |word, bit| set_shared(&block[word], 1 << bit))
}

/// Fetches the block of a key.
#[inline]
pub fn blocked_fetch(words: &[AtomicU64], key: u64) {
    prefetch(block(words, key));
}

fn blocked_contains(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, nothing, |words, key| {
        blocked_contains_one(words, masks, key)
    });
}

fn blocked_insert(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &[u64], key| prefetch(block(words, key));
    inserting(words, ring::ahead(words.len(), 1), batch, fetch, |words, key| blocked_insert_one(words, masks, key));
}

fn blocked_contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| blocked_contains_one(words, masks, key);
    answer_few(&mut { words }, words.len() >= ring::FETCH_FROM, few, hash_u64s, fetch, answer)
}

fn blocked_insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
    let fetching = words.len() >= ring::FETCH_FROM;
    let fetch = |words: &[u64], key| prefetch(block(words, key));
    answer_few(words, fetching, few, hash_u64s, fetch, |words, key| blocked_insert_one(words, masks, key) & is_asked)
}
