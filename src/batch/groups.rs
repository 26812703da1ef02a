//! Batches that are answered eight keys at a time, for kernels that read each key's own places. The places of a group
//! of keys are computed as soon as its hashes come, and the lines of a group are fetched while the group before it is
//! answered.

use super::ring::{Batch, Few, GROUP};
use crate::hash::xxh3;
use crate::simd::Instructions;

/// Keys that are answered together.
pub const WIDTH: usize = 8;

/// How many times eight keys a group has.
pub const EIGHTS: usize = GROUP / WIDTH;

/// Answers a batch. `find` works out the places of a group's keys, `fetch` asks for the lines of the i-th eight of a
/// group, and `answer` answers them: bit j is that of the j-th. A second number says which keys it leaves to `alone`,
/// which answers the j-th key of a group. Such keys come after all others of the group, so that no branch has to guess
/// which they are.
#[inline(always)]
pub fn in_turns<Group>(
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
        for i in 0..count.div_ceil(WIDTH) {
            if i * WIDTH < more {
                fetch(&later, i);
            }
            let eight = answer(&asked, i);
            both = [0, 1].map(|which| both[which] | u64::from(eight[which]) << (i * WIDTH));
        }
        batch.answer(both[0] | rest(&asked, both[1], count, &alone), count);
        core::mem::swap(&mut asked, &mut later);
        count = more;
    }
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
pub fn in_one_turn<Group>(
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
    let eights = count.div_ceil(WIDTH);
    (0..eights).for_each(|i| fetch(&asked, i));
    let mut both = [0; 2];
    for i in 0..eights {
        let eight = answer(&asked, i);
        both = [0, 1].map(|which| both[which] | u64::from(eight[which]) << (i * WIDTH));
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
