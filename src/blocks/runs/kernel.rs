//! The inner loops of lookups and insertions, for each instruction set.

use super::change::{Editor, Full};
use super::read::Reader;
use super::{BLOCK, HEAD, Table};
use crate::batch::ring::{self, Batch, Few};
use crate::blocks::select::{Broadword, Select};
use crate::hash::xxh3;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The inner loops for one instruction set.
pub struct Kernel {
    /// Whether a hash is there.
    pub contains: fn(Table, &[AtomicU64], u64) -> bool,
    /// Whether each hash of a batch is there.
    pub contains_many: fn(Table, &[AtomicU64], &mut dyn Batch),
    /// Whether each of a few hashes, at most [`GROUP`](crate::batch::ring::GROUP), is there.
    pub contains_few: fn(Table, &[AtomicU64], Instructions, &Few) -> u64,
    /// How often each of many hashes is there.
    pub count_many: fn(Table, &[AtomicU64], &[u64], &mut [u64]),
    /// Inserts a hash a number of times. Returns whether it was absent before.
    pub insert: fn(Table, &mut [u64], u64, u64) -> Result<bool, Full>,
    /// Removes a hash up to a number of times. Returns how often it was removed.
    pub remove: fn(Table, &mut [u64], u64, u64) -> u64,
    /// How often a hash is there.
    pub count: fn(Table, &[AtomicU64], u64) -> u64,
}

/// Plain code, which every processor runs.
pub(super) static PORTABLE: Kernel = Kernel {
    contains: contains::<Broadword>,
    contains_many: contains_many::<Broadword>,
    contains_few: contains_few::<Broadword>,
    count_many: count_many::<Broadword>,
    insert: insert::<Broadword>,
    remove: remove::<Broadword>,
    count: count::<Broadword>,
};

#[inline(always)]
pub(super) fn contains<S: Select>(table: Table, words: &[AtomicU64], hash: u64) -> bool {
    Reader::<_, S>::selecting(table, words).contains(table.fingerprint(hash))
}

#[inline(always)]
pub(super) fn contains_many<S: Select>(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
    let reader = Reader::<_, S>::selecting(table, words);
    let fetch = |_: &(), hash| table.fetch(words, hash);
    let answer = |_: &mut (), hash| reader.contains(table.fingerprint(hash));
    ring::rolling(&mut (), ring::ahead(words.len(), LINES), batch, fetch, ring::nothing, answer);
}

#[inline(always)]
pub(super) fn contains_few<S: Select>(table: Table, words: &[AtomicU64], set: Instructions, few: &Few) -> u64 {
    let reader = Reader::<_, S>::selecting(table, words);
    let hash = |flip, keys: &[u64], hashes: &mut [u64]| xxh3::hash_u64s(set, flip, keys, hashes);
    let fetch = |_: &(), hash| table.fetch(words, hash);
    let answer = |_: &mut (), hash| reader.contains(table.fingerprint(hash));
    ring::answer_few(&mut (), ring::is_far(words.len()), few, hash, fetch, answer)
}

#[inline(always)]
pub(super) fn count_many<S: Select>(table: Table, words: &[AtomicU64], hashes: &[u64], counts: &mut [u64]) {
    let reader = Reader::<_, S>::selecting(table, words);
    let ahead = ring::ahead(words.len(), LINES);
    let fetch = |hash| table.fetch(words, hash);
    ring::counting(ahead.into(), hashes, counts, fetch, |_| {}, |hash| reader.count(table.fingerprint(hash)));
}

#[inline(always)]
pub(super) fn insert<S: Select>(table: Table, words: &mut [u64], hash: u64, times: u64) -> Result<bool, Full> {
    Editor::<S>::selecting(table, words).insert(table.fingerprint(hash), times)
}

#[inline(always)]
pub(super) fn remove<S: Select>(table: Table, words: &mut [u64], hash: u64, times: u64) -> u64 {
    Editor::<S>::selecting(table, words).remove(table.fingerprint(hash), times)
}

#[inline(always)]
pub(super) fn count<S: Select>(table: Table, words: &[AtomicU64], hash: u64) -> u64 {
    Reader::<_, S>::selecting(table, words).count(table.fingerprint(hash))
}

/// How many slots after the slot of a quotient the run is fetched, before it is known where the run is.
pub(super) const AFTER: u64 = 8;

/// How many lines a lookup touches.
pub const LINES: usize = 2;

impl Table {
    /// Fetches the line with the metadata of a hash's block, and the line a few slots after the hash's slot, where the
    /// run most often lies.
    #[inline(always)]
    pub fn fetch(&self, words: &[AtomicU64], hash: u64) {
        let quotient = self.fingerprint(hash) >> self.remainder_bits;
        self.words_of(quotient).into_iter().for_each(|word| ring::fetch_word(words, word));
    }

    /// The words that a lookup of a quotient reads first: one of the metadata of its block, and one a few slots after
    /// its slot.
    #[inline(always)]
    pub fn words_of(&self, quotient: u64) -> [usize; 2] {
        let block = self.block(quotient);
        let slot = (quotient % BLOCK + AFTER) as usize;
        [block / 8, (block + HEAD + slot * self.remainder_bits as usize / 8) / 8]
    }
}
