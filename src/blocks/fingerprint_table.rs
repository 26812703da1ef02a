//! What tables of fingerprints have in common. A key leaves its fingerprint, a number of a few bits, in one of several
//! places that its hash gives. So a filter can remove and count the key. Keys of one *class* have the same fingerprint
//! and places, and nothing tells them apart.

use super::View;
use crate::batch::ring::{Batch, Few};
use crate::bits::{GOLDEN, reduce};
use crate::error::{Result, Status};
use crate::format::Geometry;
use crate::simd::Instructions;
use core::ops::Range;
use core::sync::atomic::AtomicU64;

/// What the slots hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Slots that are taken.
    pub taken: u64,
    /// Classes that have a fingerprint in the table, each counted once.
    pub classes: u64,
}

/// How far a batch of insertions got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// How many keys, counted from the first, were inserted.
    pub keys: usize,
    /// The hash of the next key, if there is no place for it.
    pub refused: Option<u64>,
}

/// A table of fingerprints over words, whose hashes are uniform. In all calls `words` are those of a payload of the
/// geometry that the table is of.
pub trait FingerprintTable: Send + Sync + Sized + 'static {
    /// Cache lines that a lookup touches.
    const LINES: usize;

    /// The table that a geometry describes, with these inner loops; `None` if it is not one of this kind.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], where insertions need memory to work in.
    fn of(geometry: &Geometry, instructions: Instructions) -> Result<Option<Self>>;

    /// Whether a key with this hash may be there.
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool;

    /// Asks for the cache lines of a hash.
    fn fetch(&self, words: &[AtomicU64], hash: u64);

    /// The table for inlined lookups; `None` if the layout has no name.
    fn view<'a>(&self, _words: &'a [AtomicU64]) -> Option<View<'a>> {
        None
    }

    /// Whether each key of a batch may be there.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch);

    /// Whether each of a few keys may be there: bit i is that of the i-th, and bits after the last mean nothing.
    fn contains_few(&self, words: &[AtomicU64], few: &Few) -> u64;

    /// Inserts a hash. Returns whether it certainly was not there; `None`, with nothing changed, if there is no place
    /// for it.
    fn insert(&mut self, words: &mut [u64], hash: u64) -> Option<bool>;

    /// Gives `visit` the ranges of words in which an insertion of the hash may change some now.
    fn visit_changed(&mut self, words: &[u64], hash: u64, visit: &mut dyn FnMut(Range<usize>));

    /// Inserts a hash `times` times, at least once. Returns whether it certainly was not there; `None`, with nothing
    /// changed, if there is no place for all copies.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; nothing has changed then.
    fn insert_times(&mut self, words: &mut [u64], hash: u64, times: u64) -> Result<Option<bool>> {
        // What the words were before each copy.
        let mut before: Vec<(usize, u64)> = Vec::new();
        let mut first = None;
        for _ in 0..times {
            let mut has_memory = true;
            if times > 1 {
                self.visit_changed(words, hash, &mut |range| {
                    has_memory = has_memory && before.try_reserve(range.len()).is_ok();
                    if has_memory {
                        before.extend(range.filter_map(|at| Some((at, *words.get(at)?))));
                    }
                });
            }
            let new = if has_memory { self.insert(words, hash) } else { None };
            if new.is_none() {
                before.iter().rev().for_each(|(at, word)| words[*at] = *word);
                return if has_memory { Ok(None) } else { Err(Status::OutOfMemory.into()) };
            }
            first = first.or(new);
        }
        Ok(first)
    }

    /// Inserts the keys of a batch in order, until one has no place. `None`, with nothing done, where they are to be
    /// inserted one by one.
    fn insert_many(&mut self, _words: &mut [u64], _batch: &mut dyn Batch) -> Option<Inserted> {
        None
    }

    /// Takes away one copy of a hash. False, with nothing changed, if there is none.
    fn remove(&self, words: &mut [u64], hash: u64) -> bool;

    /// How many copies of a hash there are.
    fn copies(&self, words: &[AtomicU64], hash: u64) -> u64;

    /// How many copies of one hash there can be.
    fn most_copies(&self) -> u64;

    /// How many slots there are.
    fn slots(&self) -> u64;

    /// How many classes of keys there are, all of the same probability.
    fn classes(&self) -> u64;

    /// What is in the slots. Reads all of them, and reports the bytes of every piece to `progress`.
    fn held(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held;

    /// How many classes two tables that may be combined hold together.
    fn classes_of_union(&self, words: &[AtomicU64], other: &Self, others: &[AtomicU64]) -> u64;

    /// Puts everything that another table holds, with which this one may be combined, into this one. False if something
    /// has no place; more or less of the rest is there then.
    fn insert_all(&mut self, words: &mut [u64], other: &Self, others: &[AtomicU64]) -> bool;

    /// Checks that the words are those of a table.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    fn check(&self, words: &[AtomicU64]) -> Result<()>;
}

/// The numbers below `count`, each once, in no particular order: numbers that are near each other come far apart.
pub fn scattered(count: u64) -> impl Iterator<Item = u64> {
    let share = |one: u64, other: u64| {
        let (mut a, mut b) = (one, other);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    // A stride of about `count` over the golden ratio that has no divisor in common with `count`.
    let mut stride = reduce(GOLDEN, count).max(1);
    while share(stride, count) {
        stride += 1;
    }
    let mut at = 0;
    (0..count).map(move |_| {
        let number = at;
        at = if at >= count - stride % count { at - (count - stride % count) } else { at + stride % count };
        number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for count in (0..300).chain([1000, 1 << 12, 6765]) {
            let mut numbers: Vec<u64> = scattered(count).collect();
            assert!(count < 100 || numbers.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > count / 8));
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count));
        }
    }
}
