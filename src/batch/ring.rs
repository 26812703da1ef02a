//! The prefetch ring: how batches keep many cache misses in flight.
//!
//! A filter that is larger than the caches costs a memory access a key, and by itself a processor waits for only a few
//! of them at the same time. So while key i of a batch is answered, the lines of key i + [`AHEAD`] are fetched: one new
//! fetch for each answer, evenly, which keeps the line buffers full all the time. (Fetching a group and then answering
//! it lets them run empty between groups; measured, it is 1.3 times slower.)
//!
//! A kind pulls the hashes of its keys from the [`Batch`], a group before they are answered. So keys are hashed while
//! others are fetched, and the ring runs from the first key of a batch to its last.

use crate::bits::prefetch;
use crate::caches;
use crate::error::{Error, Result};

/// How many hashes a batch gives in one call.
pub const GROUP: usize = 64;

/// How many keys ahead of the answer the fetches run at most.
pub const AHEAD: usize = GROUP;

/// Whether the processor can be asked for a line. Where it cannot, the compiler leaves out the code that finds the
/// line.
const CAN_FETCH: bool = cfg!(not(target_family = "wasm"));

/// The least number of 64-bit words that the second-level cache of a core does not hold.
#[inline]
pub fn far_from() -> usize {
    caches::second_level() / 8
}

/// Whether a filter of this many 64-bit words is larger than the second-level cache of a core: then fetching its lines
/// ahead pays. In smaller filters the processor's own reordering hides what a line costs.
#[inline]
pub fn is_far(words: usize) -> bool {
    CAN_FETCH && words >= far_from()
}

/// Whether a filter of this many 64-bit words is larger than four second-level caches, so that its lines often come
/// from memory. Only there fetching ahead pays for lookups that mostly need fewer lines than they would fetch, or that
/// would do half of their work again to find them.
#[inline]
pub fn is_very_far(words: usize) -> bool {
    is_far(words / 4)
}

/// How far to fetch ahead in a filter of `words` words, where a key touches `lines` cache lines; 0 is not at all.
#[inline]
pub fn ahead(words: usize, lines: usize) -> usize {
    if is_far(words) { (2 * AHEAD / lines.max(1)).clamp(1, AHEAD) } else { 0 }
}

/// How far a batch that changes something got.
#[must_use]
#[derive(Debug)]
pub struct Taken {
    /// How many keys, counted from the first, were taken.
    pub keys: usize,
    /// Why the next key was not taken; `Ok` if all were.
    pub outcome: Result<()>,
}

impl Taken {
    /// All of this many keys.
    pub fn all(keys: usize) -> Taken {
        Taken { keys, outcome: Ok(()) }
    }

    /// No key, because of this error.
    pub fn none(error: Error) -> Taken {
        Taken { keys: 0, outcome: Err(error) }
    }
}

/// The keys of a batch as a kind sees them: their hashes, a group at a time, and where the answers go.
pub trait Batch {
    /// How many keys there are in all.
    fn keys(&self) -> usize;

    /// Writes the hashes of the keys that come next to the front of `hashes` and returns how many these are: [`GROUP`],
    /// or fewer where the batch ends, and 0 after its end.
    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize;

    /// Whether anybody wants answers. If not, they need not be given.
    fn is_asked(&self) -> bool;

    /// Takes the answers of the next `keys` keys, which are a group or the last ones of the batch: bit i is that of the
    /// i-th. Bits after the last mean nothing.
    fn answer(&mut self, answers: u64, keys: usize);
}

/// The keys of a batch as a kind of map sees them: their identities, a group at a time, and where the values go.
pub trait Lookups {
    /// Writes the identities of the keys that come next to the front of `ids` and returns how many these are:
    /// [`GROUP`], or fewer where the batch ends, and 0 after its end.
    fn next(&mut self, ids: &mut [u128; GROUP]) -> usize;

    /// Takes the values of the next keys, which are a group or the last ones of the batch.
    fn give(&mut self, found: &[Option<u64>]);
}

/// A batch of at most [`GROUP`] keys that are numbers. It is handled separately, because in such a batch the cost of
/// the call itself shows.
#[derive(Clone, Copy)]
pub struct Few<'a> {
    /// At most [`GROUP`] keys.
    pub keys: &'a [u64],
    /// What XXH3 mixes the keys with (`hash::xxh3::flip`); `None` if they are hashes already.
    pub flip: Option<u64>,
}

/// How many keys a [`Chunk`] has at most: enough that the ring seldom runs empty between chunks.
pub(crate) const CHUNK: usize = 8 * GROUP;

/// The next keys of a batch, as a separate batch: for work that has to be done before keys are inserted.
pub struct Chunk<'a> {
    hashes: [u64; CHUNK],
    count: usize,
    next: usize,
    batch: &'a mut dyn Batch,
}

impl Chunk<'_> {
    /// Gives all keys to `insert`, one chunk after the other, until it fails. Of the last chunk, those that it kept are
    /// taken.
    pub fn each(batch: &mut dyn Batch, mut insert: impl FnMut(&mut Chunk) -> Result<()>) -> Taken {
        let mut done = 0;
        loop {
            let mut chunk = Chunk { hashes: [0; CHUNK], count: 0, next: 0, batch };
            for group in chunk.hashes.as_chunks_mut().0 {
                chunk.count += chunk.batch.next(group);
            }
            let outcome = if chunk.count > 0 { insert(&mut chunk) } else { return Taken::all(done) };
            done += chunk.count;
            if outcome.is_err() {
                return Taken { keys: done, outcome };
            }
        }
    }

    /// The hashes.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes[..self.count]
    }

    /// Drops all keys after the first `keys`.
    pub fn keep(&mut self, keys: usize) {
        self.count = self.count.min(keys);
    }
}

impl Batch for Chunk<'_> {
    fn keys(&self) -> usize {
        self.count
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = GROUP.min(self.count - self.next);
        hashes[..count].copy_from_slice(&self.hashes[self.next..self.next + count]);
        self.next += count;
        count
    }

    fn is_asked(&self) -> bool {
        self.batch.is_asked()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        self.batch.answer(answers, keys);
    }
}

/// How far ahead of a key's answer each stage is done for it.
#[derive(Clone, Copy, Default)]
pub struct Stages {
    /// Where its first lines are fetched, at most [`AHEAD`] ahead; 0 is never.
    pub far: usize,
    /// Where the second stage is done, nearer than the first; 0 is never.
    pub near: usize,
}

impl From<usize> for Stages {
    fn from(far: usize) -> Stages {
        Stages { far, near: 0 }
    }
}

/// Answers all keys of a batch in order. `stages` says how far ahead of a key's answer `fetch` is called for it, and
/// then `fetch_rest`, one call for each answer.
#[inline(always)]
pub fn rolling<State: ?Sized>(
    state: &mut State,
    stages: impl Into<Stages>,
    batch: &mut (impl Batch + ?Sized),
    fetch: impl Fn(&State, u64),
    fetch_rest: impl Fn(&State, u64),
    mut answer: impl FnMut(&mut State, u64) -> bool,
) {
    let Stages { far, near } = stages.into();
    // The group that is answered, and the one that comes after it.
    let mut hashes = [0; 2 * GROUP];
    let mut keys = next_group(batch, &mut hashes, 0);
    hashes[..far.min(keys)].iter().for_each(|hash| fetch(state, *hash));
    hashes[..near.min(keys)].iter().for_each(|hash| fetch_rest(state, *hash));
    while keys > 0 {
        // Without fetching ahead, one group at a time is enough.
        let more = if far > 0 && keys == GROUP { next_group(batch, &mut hashes, GROUP) } else { 0 };
        let mut answers = 0;
        for i in 0..keys {
            if far > 0 && i + far < keys + more {
                fetch(state, hashes[i + far]);
            }
            if near > 0 && i + near < keys + more {
                fetch_rest(state, hashes[i + near]);
            }
            answers |= u64::from(answer(state, hashes[i])) << i;
        }
        batch.answer(answers, keys);
        keys = match far > 0 {
            true => {
                hashes.copy_within(GROUP.., 0);
                more
            }
            false if keys == GROUP => next_group(batch, &mut hashes, 0),
            false => 0,
        };
    }
}

/// Takes the next group of a batch into its place in `hashes`, and returns how many hashes these are.
#[inline(always)]
fn next_group(batch: &mut (impl Batch + ?Sized), hashes: &mut [u64; 2 * GROUP], place: usize) -> usize {
    let group = hashes[place..].first_chunk_mut().expect("a whole group");
    batch.next(group).min(GROUP)
}

/// Writes the count of each hash, in order. `stages` says how far ahead of it `fetch` is called for the hash, and then
/// `fetch_rest`.
#[inline(always)]
pub fn counting(
    stages: Stages,
    hashes: &[u64],
    counts: &mut [u64],
    fetch: impl Fn(u64),
    fetch_rest: impl Fn(u64),
    count: impl Fn(u64) -> u64,
) {
    let Stages { far, near } = stages;
    let later = |i: usize, ahead: usize| hashes.get(i + ahead).filter(|_| ahead > 0);
    hashes.iter().take(far).for_each(|hash| fetch(*hash));
    hashes.iter().take(near).for_each(|hash| fetch_rest(*hash));
    for (i, (hash, result)) in hashes.iter().zip(counts).enumerate() {
        later(i, far).into_iter().for_each(|hash| fetch(*hash));
        later(i, near).into_iter().for_each(|hash| fetch_rest(*hash));
        *result = count(*hash);
    }
}

/// Inserts all keys of a batch in order, as [`rolling`] answers them, and computes no answers that nobody wants.
#[inline(always)]
pub fn inserting<State: ?Sized>(
    state: &mut State,
    ahead: usize,
    batch: &mut (impl Batch + ?Sized),
    fetch: impl Fn(&State, u64),
    mut insert: impl FnMut(&mut State, u64) -> bool,
) {
    if batch.is_asked() {
        return rolling(state, ahead, batch, fetch, nothing, insert);
    }
    rolling(state, ahead, batch, fetch, nothing, |state, hash| {
        insert(state, hash);
        false
    });
}

/// Takes all keys of a batch in order, until one is refused. `ahead` says how far ahead of each key `fetch` is called
/// for it.
#[inline(always)]
pub fn trying<State: ?Sized>(
    state: &mut State,
    ahead: usize,
    batch: &mut (impl Batch + ?Sized),
    fetch: impl Fn(&State, u64),
    mut take: impl FnMut(&mut State, u64) -> Result<bool>,
) -> Taken {
    let mut ring = [[0; GROUP]; 2];
    let at = |ring: &[[u64; GROUP]; 2], i: usize| ring[i / GROUP % 2][i % GROUP];
    let mut hashed = batch.next(&mut ring[0]);
    ring[0][..ahead.min(hashed)].iter().for_each(|hash| fetch(state, *hash));
    let mut start = 0;
    while start < hashed {
        let end = hashed.min(start + GROUP);
        if end == start + GROUP {
            hashed += batch.next(&mut ring[end / GROUP % 2]);
        }
        let mut answers = 0;
        for i in start..end {
            if ahead > 0 && i + ahead < hashed {
                fetch(state, at(&ring, i + ahead));
            }
            match take(state, at(&ring, i)) {
                Ok(answer) => answers |= u64::from(answer) << (i - start),
                Err(error) => {
                    if i > start {
                        batch.answer(answers, i - start);
                    }
                    return Taken { keys: i, outcome: Err(error) };
                }
            }
        }
        batch.answer(answers, end - start);
        start = end;
    }
    Taken::all(start)
}

/// Answers a few keys in order: bit i is that of the i-th. `hash` writes the hashes of numbers. If `fetching`, all
/// lines are fetched before the first key is answered.
#[inline(always)]
pub fn answer_few<State: ?Sized>(
    state: &mut State,
    fetching: bool,
    few: &Few,
    hash: impl FnOnce(u64, &[u64], &mut [u64]),
    fetch: impl Fn(&State, u64),
    mut answer: impl FnMut(&mut State, u64) -> bool,
) -> u64 {
    let mut room = [0; GROUP];
    let mut hashes = few.keys;
    if let Some(flip) = few.flip {
        let room = &mut room[..few.keys.len()];
        hash(flip, few.keys, room);
        hashes = room;
    }
    if fetching {
        hashes.iter().for_each(|hash| fetch(state, *hash));
    }
    let mut answers = 0;
    for (i, hash) in hashes.iter().enumerate() {
        answers |= u64::from(answer(state, *hash)) << (i % GROUP);
    }
    answers
}

/// A stage that does nothing.
#[inline(always)]
pub fn nothing<State: ?Sized>(_: &State, _: u64) {}

/// Fetches the line of a word among `words`.
#[inline]
pub fn fetch_word<Word>(words: &[Word], word: usize) {
    if let Some(word) = words.get(word) {
        prefetch(word);
    }
}
