//! Keys that have bits in two blocks: each of the two gets a share of the key's bits. A share is a separate hash, and
//! sets what a key with this hash sets in a filter with one block a key. So the kernels of one block do all the work:
//! they get a batch of keys as a batch of shares, two neighbours for each key.

use crate::batch::ring::{Batch, Few, GROUP};
use crate::bits::mix;
use crate::blocks::block_kernel::BlockKernel;
use core::sync::atomic::AtomicU64;

/// How many shares a key has.
pub const SHARES: u32 = 2;

/// The hashes of a key's shares. The second one depends on all bits of the key's hash, and `mix` leaves nothing in
/// common between the two that a block, its lanes or their bits could show.
#[inline]
pub fn shares(hash: u64) -> [u64; SHARES as usize] {
    [hash, mix(hash)]
}

/// The number of keys whose shares make a group.
const KEYS: usize = GROUP / SHARES as usize;

/// Writes the shares of keys one after the other.
#[inline(always)]
pub(super) fn spread(keys: &[u64; KEYS], to: &mut [u64; GROUP]) {
    for (key, pair) in keys.iter().zip(to.as_chunks_mut().0) {
        *pair = shares(*key);
    }
}

/// How the shares of a group of keys are computed. Calling it needs the instructions of the kernel that it belongs to.
pub(super) type Spread = unsafe fn(&[u64; KEYS], &mut [u64; GROUP]);

/// What the answers of two shares say about their key.
#[derive(Clone, Copy)]
enum Answer {
    /// The key may be there if both are.
    Found,
    /// The key certainly was absent if one was.
    New,
}

impl Answer {
    /// The answers of keys, from those of their shares.
    #[inline]
    fn of_keys(self, shares: u64) -> u64 {
        even_bits(match self {
            Answer::Found => shares & shares >> 1,
            Answer::New => shares | shares >> 1,
        })
    }
}

/// The bits with even numbers, side by side.
#[inline]
fn even_bits(x: u64) -> u64 {
    let x = x & 0x5555_5555_5555_5555;
    let x = (x | x >> 1) & 0x3333_3333_3333_3333;
    let x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) & 0x0000_0000_ffff_ffff
}

/// A batch of keys, as the batch of their shares.
struct Shares<'a> {
    batch: &'a mut dyn Batch,
    answer: Answer,
    spread: Spread,
    /// The hashes of a group of keys, of which the first `given` have been given out.
    hashes: [u64; GROUP],
    count: usize,
    given: usize,
    /// The answers of keys that do not make a group yet, and how many they are.
    answers: u64,
    answered: usize,
    /// How many keys of the batch have no answer yet.
    unanswered: usize,
}

impl<'a> Shares<'a> {
    fn new(batch: &'a mut dyn Batch, answer: Answer, spread: Spread) -> Shares<'a> {
        let unanswered = batch.keys();
        Shares { batch, answer, spread, hashes: [0; GROUP], count: 0, given: 0, answers: 0, answered: 0, unanswered }
    }
}

impl Batch for Shares<'_> {
    fn keys(&self) -> usize {
        SHARES as usize * self.batch.keys()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        if self.given == self.count {
            (self.count, self.given) = (self.batch.next(&mut self.hashes), 0);
        }
        let (halves, _) = self.hashes.as_chunks::<KEYS>();
        // SAFETY: the kernel that made this batch was given out, so the processor has its instructions.
        unsafe { (self.spread)(&halves[self.given / KEYS % 2], hashes) };
        let keys = KEYS.min(self.count - self.given);
        self.given += keys;
        SHARES as usize * keys
    }

    fn is_asked(&self) -> bool {
        self.batch.is_asked()
    }

    fn answer(&mut self, answers: u64, shares: usize) {
        let keys = shares / SHARES as usize;
        self.answers |= self.answer.of_keys(answers) << (self.answered % GROUP);
        self.answered += keys;
        self.unanswered = self.unanswered.saturating_sub(keys);
        if self.answered == GROUP || self.unanswered == 0 {
            self.batch.answer(self.answers, self.answered);
            (self.answers, self.answered) = (0, 0);
        }
    }
}

/// Whether each key may be there, by the kernel of one block.
pub(super) fn contains(one: &BlockKernel, spread: Spread, words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
    one.contains(words, masks, &mut Shares::new(batch, Answer::Found, spread));
}

/// Inserts each key by the kernel of one block, and, if asked, says whether it certainly was absent.
pub(super) fn insert(one: &BlockKernel, spread: Spread, words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
    one.insert(words, masks, &mut Shares::new(batch, Answer::New, spread));
}

/// Gives the shares of a few keys to `each`, one group after the other, and combines the answers.
#[inline]
fn few_in_groups(
    few: &Few,
    (answer, spread): (Answer, Spread),
    hash: impl FnOnce(u64, &[u64], &mut [u64]),
    mut each: impl FnMut(&Few) -> u64,
) -> u64 {
    let (mut hashes, count) = ([0; GROUP], few.keys.len().min(GROUP));
    match few.flip {
        Some(flip) => hash(flip, &few.keys[..count], &mut hashes[..count]),
        None => hashes[..count].copy_from_slice(&few.keys[..count]),
    }
    let mut answers = 0;
    for (i, half) in hashes.as_chunks::<KEYS>().0.iter().enumerate().take(count.div_ceil(KEYS)) {
        let mut shares = [0; GROUP];
        // SAFETY: the kernel that calls this was given out, so the processor has its instructions.
        unsafe { spread(half, &mut shares) };
        let keys = (count - i * KEYS).min(KEYS);
        let found = each(&Few { keys: &shares[..SHARES as usize * keys], flip: None });
        answers |= answer.of_keys(found) << (i * KEYS);
    }
    answers
}

/// Whether each of a few keys may be there, by the kernel of one block. `hash` writes the hashes of numbers.
#[inline]
pub(super) fn contains_few(
    (one, spread): (&BlockKernel, Spread),
    words: &[AtomicU64],
    masks: &[u16],
    few: &Few,
    hash: impl FnOnce(u64, &[u64], &mut [u64]),
) -> u64 {
    few_in_groups(few, (Answer::Found, spread), hash, |shares| one.contains_few(words, masks, shares))
}

/// Inserts a few keys by the kernel of one block, as [`BlockKernel::insert_few`] does.
#[inline]
pub(super) fn insert_few(
    (one, spread): (&BlockKernel, Spread),
    words: &mut [u64],
    masks: &[u16],
    (few, is_asked): (&Few, bool),
    hash: impl FnOnce(u64, &[u64], &mut [u64]),
) -> u64 {
    few_in_groups(few, (Answer::New, spread), hash, |shares| one.insert_few(words, masks, shares, is_asked))
}

/// The kernel of keys with bits in two blocks, made of what is in scope for one block: `KERNEL`, `contains_one`,
/// `insert_one`, `insert_one_shared` and `hash_u64s`. The functions get the given attributes.
///
/// Both blocks of a single key are read, whatever the first one says. A branch between them would be guessed wrong too
/// often, and out of cache the second line would wait for the first.
macro_rules! in_two_blocks {
    ($(#[$attribute:meta])*) => {
        /// The kernel of keys with bits in two blocks.
        pub static IN_TWO: BlockKernel = {
            use super::two_blocks;

            $(#[$attribute])*
            fn contains_both(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
                let [first, second] = two_blocks::shares(key);
                contains_one(words, masks, first) & contains_one(words, masks, second)
            }

            $(#[$attribute])*
            fn insert_both(words: &mut [u64], masks: &[u16], key: u64) -> bool {
                let [first, second] = two_blocks::shares(key);
                super::fetch(words, second);
                insert_one(words, masks, first) | insert_one(words, masks, second)
            }

            $(#[$attribute])*
            fn insert_both_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
                let [first, second] = two_blocks::shares(key);
                super::fetch(words, second);
                insert_one_shared(words, masks, first) | insert_one_shared(words, masks, second)
            }

            $(#[$attribute])*
            fn spread(keys: &[u64; 32], to: &mut [u64; 64]) {
                two_blocks::spread(keys, to);
            }

            $(#[$attribute])*
            fn contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
                let hash = |flip, keys: &[u64], hashes: &mut [u64]| hash_u64s(flip, keys, hashes);
                two_blocks::contains_few((&KERNEL, spread), words, masks, few, hash)
            }

            $(#[$attribute])*
            fn insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
                let hash = |flip, keys: &[u64], hashes: &mut [u64]| hash_u64s(flip, keys, hashes);
                two_blocks::insert_few((&KERNEL, spread), words, masks, (few, is_asked), hash)
            }

            BlockKernel {
                contains_one: contains_both,
                insert_one: insert_both,
                insert_one_shared: insert_both_shared,
                contains: |words, masks, batch| two_blocks::contains(&KERNEL, spread, words, masks, batch),
                insert: |words, masks, batch| two_blocks::insert(&KERNEL, spread, words, masks, batch),
                fills: KERNEL.fills,
                contains_few,
                insert_few,
            }
        };
    };
}

pub(super) use in_two_blocks;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_shares_are_those_of_keys() {
        for x in (0..1000).map(mix).chain([0, u64::MAX, 1, 2, 3, 1 << 62, 1 << 63]) {
            let pair = |key: u32| (x >> (2 * key) & 1 == 1, x >> (2 * key + 1) & 1 == 1);
            let of = |is: fn(bool, bool) -> bool| {
                (0..32).filter(|key| is(pair(*key).0, pair(*key).1)).fold(0_u64, |all, key| all | 1 << key)
            };
            assert_eq!(Answer::Found.of_keys(x), of(|a, b| a & b));
            assert_eq!(Answer::New.of_keys(x), of(|a, b| a | b));
        }
    }
}
