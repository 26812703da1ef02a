//! A batch over several levels: all of them in one ring, or level after level, each asked only for what those before it
//! did not find.

use crate::batch::ring::{Batch, CHUNK, GROUP};
use crate::bits;
use crate::blocks::{BitLayout, Chain};
use core::sync::atomic::AtomicU64;

/// The answers of a chunk in words.
pub(crate) const GROUPS: usize = CHUNK / GROUP;

/// Hashes as the levels take them.
pub(crate) fn mixed(hashes: &[u64]) -> [u64; CHUNK] {
    let mut mixed = [0; CHUNK];
    for (to, from) in mixed.iter_mut().zip(hashes) {
        *to = bits::mix(*from);
    }
    mixed
}

/// A batch whose hashes are mixed on the way.
struct Mixed<'a>(&'a mut dyn Batch);

impl Batch for Mixed<'_> {
    fn keys(&self) -> usize {
        self.0.keys()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = self.0.next(hashes);
        hashes.iter_mut().for_each(|hash| *hash = bits::mix(*hash));
        count
    }

    fn is_asked(&self) -> bool {
        self.0.is_asked()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        self.0.answer(answers, keys);
    }
}

/// The arrays of levels as one chain, and the words that hold them.
pub(crate) type InOne<'a> = (&'a Chain, &'a [AtomicU64]);

/// How a chunk of keys goes through levels that are a chain. Where most keys of the chunk before were found, the
/// chunk goes level after level, and keys that one level has found do not go to the next. Otherwise it goes through
/// all levels in one ring.
#[derive(Clone, Copy, Default)]
pub(crate) struct LookupOrder {
    /// Whether most keys were found.
    finds_most: bool,
}

impl LookupOrder {
    /// The chain, if all levels are to be asked in one ring.
    pub fn in_one<T>(self, chain: Option<T>) -> Option<T> {
        chain.filter(|_| !self.finds_most)
    }

    /// Learns from what was found of `keys` keys.
    pub fn learn(&mut self, found: &[u64; GROUPS], keys: usize) {
        let found: u32 = found.iter().map(|found| found.count_ones()).sum();
        self.finds_most = 2 * found as usize > keys;
    }
}

/// Looks up the keys of a batch in levels, one level after the other unless all are asked in one ring.
pub(crate) fn contains_many<'a>(
    batch: &mut dyn Batch,
    mut levels: impl ExactSizeIterator<Item = (&'a dyn BitLayout, &'a [AtomicU64])> + Clone,
    chain: Option<InOne>,
) {
    if levels.len() == 1
        && let Some((layout, words)) = levels.next()
    {
        return layout.contains_many(words, &mut Mixed(batch));
    }
    let (mut batch, mut way) = (Mixed(batch), LookupOrder::default());
    loop {
        let mut rest = Rest::next(&mut batch);
        let count = rest.count;
        if count == 0 {
            return;
        }
        if let Some((chain, words)) = way.in_one(chain) {
            rest.found = chain.contains(words, None, (&rest.hashes, count));
        } else {
            for (layout, words) in levels.clone() {
                rest.look_up(layout, words);
            }
        }
        way.learn(&rest.found, count);
        for (start, found) in (0..count).step_by(GROUP).zip(rest.found) {
            batch.answer(found, GROUP.min(count - start));
        }
    }
}

/// The places of a chunk.
const PLACES: [u16; CHUNK] = {
    let (mut places, mut i) = ([0; CHUNK], 0);
    while i < CHUNK {
        places[i] = i as u16;
        i += 1;
    }
    places
};

/// The keys of a chunk that were not found yet.
pub(crate) struct Rest {
    hashes: [u64; CHUNK],
    /// The places of the keys in the chunk.
    places: [u16; CHUNK],
    count: usize,
    /// Which keys of the chunk were found.
    found: [u64; GROUPS],
}

impl Rest {
    /// All of at most [`CHUNK`] hashes.
    pub fn new(all: &[u64]) -> Rest {
        let mut hashes = [0; CHUNK];
        hashes[..all.len()].copy_from_slice(all);
        Rest { hashes, places: PLACES, count: all.len(), found: [0; GROUPS] }
    }

    /// The chunk of a batch that comes next.
    fn next(batch: &mut impl Batch) -> Rest {
        let mut rest = Rest::new(&[]);
        for group in rest.hashes.as_chunks_mut().0 {
            rest.count += batch.next(group);
        }
        rest
    }

    /// Which keys of the chunk were found so far.
    pub fn found(&self) -> &[u64; GROUPS] {
        &self.found
    }

    /// Drops those that a level has.
    pub fn look_up(&mut self, layout: &dyn BitLayout, words: &[AtomicU64]) {
        let mut part = KeptAnswers::new(&self.hashes[..self.count]);
        layout.contains_many(words, &mut part);
        self.drop_found(&part.answers);
    }

    /// Drops those that any level of a chain has, except the level that is about to be written.
    pub fn look_up_in_one(&mut self, (chain, words): InOne, written: usize) {
        let found = chain.contains(words, Some(written), (&self.hashes, self.count));
        self.drop_found(&found);
    }

    /// Drops those whose bit is set in `answers`.
    fn drop_found(&mut self, answers: &[u64; GROUPS]) {
        let mut kept = 0;
        for start in (0..self.count).step_by(GROUP) {
            let (end, answers) = (self.count.min(start + GROUP), answers[start / GROUP]);
            if answers == 0 {
                // Most often all are absent.
                if kept < start {
                    self.hashes.copy_within(start..end, kept);
                    self.places.copy_within(start..end, kept);
                }
                kept += end - start;
                continue;
            }
            for i in start..end {
                let (hash, place) = (self.hashes[i], self.places[i]);
                let answer = answers >> (i - start) & 1;
                self.found[usize::from(place) / GROUP] |= answer << (usize::from(place) % GROUP);
                (self.hashes[kept], self.places[kept]) = (hash, place);
                kept += usize::from(answer == 0);
            }
        }
        self.count = kept;
    }

    /// Inserts what is left into a level. Sets in `new` the bits of the chunk's keys that were new to the level, and
    /// returns how many these are.
    pub fn insert(&self, layout: &dyn BitLayout, words: &mut [u64], new: &mut [u64]) -> u64 {
        let mut part = KeptAnswers::new(&self.hashes[..self.count]);
        layout.insert_many(words, &mut part);
        let mut taken = 0;
        for (i, place) in self.places[..self.count].iter().enumerate() {
            let answer = part.answers[i / GROUP] >> (i % GROUP) & 1;
            new[usize::from(*place) / GROUP] |= answer << (usize::from(*place) % GROUP);
            taken += answer;
        }
        taken
    }
}

/// Inserts all of at most [`CHUNK`] hashes into a level. Returns which were new to it.
pub(crate) fn insert_all(layout: &dyn BitLayout, words: &mut [u64], hashes: &[u64]) -> [u64; GROUPS] {
    let mut part = KeptAnswers::new(hashes);
    layout.insert_many(words, &mut part);
    let (last, bits) = (hashes.len() / GROUP, hashes.len() % GROUP);
    if bits > 0 {
        part.answers[last] &= (1 << bits) - 1;
    }
    part.answers
}

/// Hashes as a batch that keeps its answers.
struct KeptAnswers<'a> {
    hashes: &'a [u64],
    next: usize,
    answered: usize,
    answers: [u64; GROUPS],
}

impl KeptAnswers<'_> {
    fn new(hashes: &[u64]) -> KeptAnswers<'_> {
        KeptAnswers { hashes, next: 0, answered: 0, answers: [0; GROUPS] }
    }
}

impl Batch for KeptAnswers<'_> {
    fn keys(&self) -> usize {
        self.hashes.len()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let rest = &self.hashes[self.next..];
        let count = GROUP.min(rest.len());
        hashes[..count].copy_from_slice(&rest[..count]);
        self.next += count;
        count
    }

    fn is_asked(&self) -> bool {
        true
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        // Groups are whole but for the last.
        self.answers[self.answered / GROUP] = answers;
        self.answered += keys;
    }
}
