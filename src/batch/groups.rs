//! Batches that are answered eight keys at a time, for kernels that read each key's own places: one vector of eight
//! keys, or two of four. The places of a group of keys are computed as soon as its hashes come, and the lines of a
//! group are fetched while the group before it is answered.

use super::ring::{Batch, Few, GROUP};
use crate::hash::xxh3;
use crate::simd::Instructions;

/// Keys that are answered together.
const TOGETHER: usize = 8;

/// How many times eight keys a group has.
pub const EIGHTS: usize = GROUP / TOGETHER;

/// Answers a batch. `find` works out the places of a group's keys, `fetch` asks for the lines of the i-th vector of a
/// group, and `answer` answers its `WIDTH` keys: bit j is that of the j-th. A second number says which keys it leaves
/// to `alone`, which answers the j-th key of a group. Such keys come after all others of the group, so that no branch
/// has to guess which they are.
#[inline(always)]
pub fn in_turns<const WIDTH: usize, Group>(
    [mut asked, mut later]: [Group; 2],
    batch: &mut dyn Batch,
    find: impl Fn(&[u64; GROUP], &mut Group),
    fetch: impl Fn(&Group, usize),
    answer: impl Fn(&Group, usize) -> [u8; 2],
    alone: impl Fn(&Group, usize) -> bool,
) {
    let mut hashes = [0; GROUP];
    let mut count = batch.next(&mut hashes);
    find(&hashes, &mut asked);
    (0..count.div_ceil(WIDTH)).for_each(|i| fetch(&asked, i));
    while count > 0 {
        let more = if count == GROUP { batch.next(&mut hashes) } else { 0 };
        if more > 0 {
            find(&hashes, &mut later);
        }
        let mut both = [0; 2];
        for i in 0..count.div_ceil(TOGETHER) {
            if i * TOGETHER < more {
                for i in vectors::<WIDTH>(i) {
                    fetch(&later, i);
                }
            }
            both = with_eight::<WIDTH>(both, i, |i| answer(&asked, i));
        }
        batch.answer(both[0] | rest(&asked, both[1], count, &alone), count);
        core::mem::swap(&mut asked, &mut later);
        count = more;
    }
}

/// The vectors of the i-th eight keys of a group.
#[inline(always)]
fn vectors<const WIDTH: usize>(i: usize) -> core::ops::Range<usize> {
    i * (TOGETHER / WIDTH)..(i + 1) * (TOGETHER / WIDTH)
}

/// What is said of a group's keys, with what is said of the i-th eight of them.
#[inline(always)]
fn with_eight<const WIDTH: usize>(both: [u64; 2], i: usize, answer: impl Fn(usize) -> [u8; 2]) -> [u64; 2] {
    let mut eight = [0; 2];
    for (part, i) in vectors::<WIDTH>(i).enumerate() {
        let [first, second] = answer(i);
        eight = [eight[0] | first << (part * WIDTH), eight[1] | second << (part * WIDTH)];
    }
    [both[0] | u64::from(eight[0]) << (i * TOGETHER), both[1] | u64::from(eight[1]) << (i * TOGETHER)]
}

/// The answers of the keys in `left` among the first `count` of a group.
#[inline(always)]
fn rest<Group>(asked: &Group, left: u64, count: usize, alone: impl Fn(&Group, usize) -> bool) -> u64 {
    let (mut left, mut answers) = (left & (u64::MAX >> (GROUP - count)), 0);
    while left != 0 {
        let one = left.trailing_zeros();
        left &= left - 1;
        answers |= u64::from(alone(asked, one as usize)) << one;
    }
    answers
}

/// Answers a few keys, as [`in_turns`] does those of a group.
#[inline(always)]
pub fn in_one_turn<const WIDTH: usize, Group>(
    mut asked: Group,
    hashes: &[u64; GROUP],
    count: usize,
    find: impl Fn(&[u64; GROUP], &mut Group),
    fetch: impl Fn(&Group, usize),
    answer: impl Fn(&Group, usize) -> [u8; 2],
    alone: impl Fn(&Group, usize) -> bool,
) -> u64 {
    if count == 0 {
        return 0;
    }
    find(hashes, &mut asked);
    let eights = count.div_ceil(TOGETHER);
    for i in 0..eights * (TOGETHER / WIDTH) {
        fetch(&asked, i);
    }
    let mut both = [0; 2];
    for i in 0..eights {
        both = with_eight::<WIDTH>(both, i, |i| answer(&asked, i));
    }
    both[0] | rest(&asked, both[1], count, alone)
}

/// The hashes of a few keys, and how many there are.
pub fn hashes_of(few: &Few, instructions: Instructions) -> ([u64; GROUP], usize) {
    let mut hashes = [0; GROUP];
    let count = few.keys.len().min(GROUP);
    match few.flip {
        Some(flip) => xxh3::hash_u64s(instructions, flip, few.keys, &mut hashes[..count]),
        None => hashes[..count].copy_from_slice(&few.keys[..count]),
    }
    (hashes, count)
}
