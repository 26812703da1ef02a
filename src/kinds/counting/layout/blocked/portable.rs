//! Counters of one line in plain Rust, which tests compare the other kernels with.

use super::{LineKernel, Lines, one_key_at_a_time};
use crate::batch::ring::{self, Batch};
use crate::kinds::blocked::layout::{BLOCK_WORDS, bit_of_lane, block, block_mut, fetch, lanes};
use core::sync::atomic::{AtomicU64, Ordering};

/// The portable kernel.
pub static KERNEL: LineKernel = LineKernel {
    contains_one: |words, lines, key| contains_one(words, lines, key),
    least_one: |words, lines, key| least_one(words, lines, key),
    add_one: |words, lines, key| add_one(words, lines, key),
    subtract_one: |words, lines, key| subtract_one(words, lines, key),
    contains,
    least,
    add,
    subtract,
};

/// Visits the counters of a key. `visit` gets the place of a counter's word in the block, and the counter's lowest bit
/// in that word.
#[inline]
fn each(lines: Lines, key: u64, mut visit: impl FnMut(usize, u32)) {
    let mut rest = lanes(lines.masks, key);
    while rest != 0 {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        visit(lane as usize / 2 % BLOCK_WORDS, bit_of_lane(key, lane) & !(lines.width - 1));
    }
}

/// The least counter of a key in its block. `word` gives the words of the block.
#[inline]
fn least_in(lines: Lines, key: u64, word: impl Fn(usize) -> u64) -> u64 {
    let greatest = u64::from(lines.greatest());
    let mut least = greatest;
    each(lines, key, |place, bit| least = least.min(word(place) >> bit & greatest));
    least
}

#[inline]
fn contains_one(words: &[AtomicU64], lines: Lines, key: u64) -> bool {
    least_one(words, lines, key) > 0
}

#[inline]
fn least_one(words: &[AtomicU64], lines: Lines, key: u64) -> u64 {
    let block = block(words, key);
    least_in(lines, key, |place| block[place].load(Ordering::Relaxed))
}

#[inline]
fn add_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let (block, greatest) = (block_mut(words, key), u64::from(lines.greatest()));
    let mut new = false;
    each(lines, key, |place, bit| {
        let counter = block[place] >> bit & greatest;
        new |= counter == 0;
        block[place] += u64::from(counter < greatest) << bit;
    });
    new
}

#[inline]
fn subtract_one(words: &mut [u64], lines: Lines, key: u64) -> bool {
    let (block, greatest) = (block_mut(words, key), u64::from(lines.greatest()));
    let is_there = least_in(lines, key, |place| block[place]) > 0;
    if is_there {
        each(lines, key, |place, bit| {
            block[place] -= u64::from(block[place] >> bit & greatest < greatest) << bit;
        });
    }
    is_there
}

one_key_at_a_time!();
