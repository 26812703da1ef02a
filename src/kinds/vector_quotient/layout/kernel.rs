//! The inner loops for each instruction set.

use super::block::{self, Instructed, Plain};
use super::{Blocks, Place, line};
use crate::batch::ring::{self, Batch, Few};
use crate::hash::xxh3;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The operations on single keys, and lookups of many.
pub(super) struct Kernel {
    /// Whether a hash may be there.
    pub contains: fn(&Blocks, &[AtomicU64], u64) -> bool,
    /// Whether each key of a batch may be there.
    pub contains_many: fn(&Blocks, &[AtomicU64], &mut dyn Batch),
    /// Whether each of a few hashes, at most [`GROUP`](crate::batch::ring::GROUP), may be there.
    pub contains_few: fn(&Blocks, &[AtomicU64], Instructions, &Few) -> u64,
    /// How many copies of a hash there are.
    pub copies: fn(&Blocks, &[AtomicU64], u64) -> u64,
    /// Inserts a hash. Returns whether the hash certainly was absent before, or `None`, with nothing changed, if it
    /// finds no place.
    pub insert: fn(&Blocks, &mut [u64], u64) -> Option<bool>,
    /// Removes a hash. Returns false, with nothing changed, if it is absent.
    pub remove: fn(&Blocks, &mut [u64], u64) -> bool,
}

/// The plain kernels, for tags of 8 and of 16 bits.
pub(super) static PLAIN: [Kernel; 2] = [plain::<8>(), plain::<16>()];

pub(super) const fn plain<const BITS: u32>() -> Kernel {
    Kernel {
        contains: contains::<BITS, Plain>,
        contains_many: contains_many::<BITS, Plain>,
        contains_few: contains_few::<BITS, Plain>,
        copies: copies_plainly::<BITS>,
        insert: insert_plainly::<BITS>,
        remove: remove_plainly::<BITS>,
    }
}

// Two kernels have these three. Functions that are always inlined would be compiled for each.

fn copies_plainly<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> u64 {
    super::copies::<BITS, Plain>(blocks, words, hash)
}

fn insert_plainly<const BITS: u32>(blocks: &Blocks, words: &mut [u64], hash: u64) -> Option<bool> {
    insert::<BITS, Plain>(blocks, words, hash)
}

fn remove_plainly<const BITS: u32>(blocks: &Blocks, words: &mut [u64], hash: u64) -> bool {
    remove::<BITS, Plain>(blocks, words, hash)
}

#[inline(always)]
pub(super) fn contains<const BITS: u32, I: Instructed>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> bool {
    contains_at::<BITS, I>(words, blocks.place(hash))
}

/// Whether a key with this place may be there.
#[inline(always)]
pub(super) fn contains_at<const BITS: u32, I: Instructed>(words: &[AtomicU64], place: Place) -> bool {
    let Place { fingerprint, block, other } = place;
    // Both blocks are looked at in any case, so that the processor can wait for both together.
    block::has::<BITS, I>(line(words, block), fingerprint) | block::has::<BITS, I>(line(words, other), fingerprint)
}

#[inline(always)]
pub(super) fn contains_many<const BITS: u32, I: Instructed>(
    blocks: &Blocks,
    words: &[AtomicU64],
    batch: &mut dyn Batch,
) {
    let fetch = |_: &(), hash| blocks.fetch(words, hash);
    let answer = |_: &mut (), hash| contains::<BITS, I>(blocks, words, hash);
    ring::rolling(&mut (), ring::ahead(words.len(), 2), batch, fetch, ring::nothing, answer);
}

#[inline(always)]
pub(super) fn contains_few<const BITS: u32, I: Instructed>(
    blocks: &Blocks,
    words: &[AtomicU64],
    instructions: Instructions,
    few: &Few,
) -> u64 {
    let hash = |flip, keys: &[u64], hashes: &mut [u64]| xxh3::hash_u64s(instructions, flip, keys, hashes);
    let fetch = |_: &(), hash| blocks.fetch(words, hash);
    let answer = |_: &mut (), hash| contains::<BITS, I>(blocks, words, hash);
    ring::answer_few(&mut (), ring::is_far(words.len()), few, hash, fetch, answer)
}

#[inline(always)]
pub(super) fn insert<const BITS: u32, I: Instructed>(blocks: &Blocks, words: &mut [u64], hash: u64) -> Option<bool> {
    blocks.insert_at::<BITS, I>(words, blocks.place(hash))
}

#[inline(always)]
pub(super) fn remove<const BITS: u32, I: Instructed>(blocks: &Blocks, words: &mut [u64], hash: u64) -> bool {
    blocks.remove_at::<BITS, I>(words, blocks.place(hash))
}
