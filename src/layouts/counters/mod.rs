//! Counters of four bits in the places of a Bloom filter's bits: keys can be removed and counted.
//!
//! Fan, Cao, Almeida and Broder, "Summary cache: a scalable wide-area web cache sharing protocol", 2000. A key's
//! positions are those of [`Classic`] in an array of as many bits as there are counters; each *distinct* one counts the
//! key once, so that a key which meets one counter twice counts there as once. A counter that has reached its greatest
//! value stays there for ever: what it counts is not known any more, and a removal that took from it could lose other
//! keys. With distinct keys that is rare (1.6e-15 of the counters at the best number of positions); a key inserted
//! fifteen times does it alone.
//!
//! Counter p is in bits 4 (p mod 16) to 4 (p mod 16) + 3 of the little-endian 64-bit word p / 16.

mod word;

pub use word::{BITS, GREATEST};

use super::Measure;
use super::classic::Classic;
use crate::bits::ring::{self, Batch};
use crate::bits::{PIECE_WORDS, prefetch};
use crate::format::Geometry;
use crate::sizing;
use crate::storage::AnyBytes;
use core::sync::atomic::{AtomicU64, Ordering};

/// Positions of a key whose counters are fetched before any is looked at.
const FIRST_POSITIONS: u32 = 2;

/// Where the counters of a key are.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    count: u64,
    hashes: u32,
    positions: Classic,
}

/// The place of a counter: its word, and its lowest bit in it.
#[inline]
fn place(position: u64) -> (usize, u64) {
    ((position / word::IN_WORD) as usize, position % word::IN_WORD * BITS)
}

#[inline]
fn counter(words: &[AtomicU64], position: u64) -> u64 {
    let (word, shift) = place(position);
    words[word].load(Ordering::Relaxed) >> shift & GREATEST
}

impl Counters {
    /// The counters that a geometry describes, if it is one of these.
    pub fn of(geometry: &Geometry) -> Option<Counters> {
        let count = geometry.bits / BITS;
        if !geometry.bits.is_multiple_of(BITS) || geometry.words != [0; 8] {
            return None;
        }
        let positions = Classic::of_geometry(&Geometry { bits: count, ..*geometry })?;
        Some(Counters { count, hashes: geometry.hashes, positions })
    }

    /// How many words the counters have.
    pub fn words(&self) -> usize {
        self.count.div_ceil(word::IN_WORD) as usize
    }

    /// Whether none of the counters of a hash is 0.
    #[inline]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.positions.all(hash, |position| counter(words, position) > 0)
    }

    /// Whether none of the counters of a hash is 0, in an array at any address. Counters that are not there are 0.
    #[inline]
    pub fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool {
        self.positions.all(hash, |position| {
            let (word, shift) = place(position);
            bytes.word(word) >> shift & GREATEST > 0
        })
    }

    /// The least of the counters of a hash.
    #[inline]
    pub fn least(&self, words: &[AtomicU64], hash: u64) -> u64 {
        let mut least = GREATEST;
        self.positions.all(hash, |position| {
            least = least.min(counter(words, position));
            least > 0
        });
        least
    }

    /// Adds one to the counters of a hash; whether any was 0.
    #[inline]
    pub fn add(&self, words: &mut [u64], hash: u64) -> bool {
        let mut new = false;
        self.each(hash, |position| {
            let (word, shift) = place(position);
            let counter = words[word] >> shift & GREATEST;
            new |= counter == 0;
            words[word] += u64::from(counter < GREATEST) << shift;
        });
        new
    }

    /// Takes one from the counters of a hash, but for those that have reached their greatest value. False, having
    /// changed nothing, if one of them is 0.
    #[inline]
    pub fn subtract(&self, words: &mut [u64], hash: u64) -> bool {
        let is_there = self.positions.all(hash, |position| {
            let (word, shift) = place(position);
            words[word] >> shift & GREATEST > 0
        });
        if is_there {
            self.each(hash, |position| {
                let (word, shift) = place(position);
                words[word] -= u64::from(words[word] >> shift & GREATEST < GREATEST) << shift;
            });
        }
        is_there
    }

    /// Visits the distinct positions of a hash.
    #[inline]
    fn each(&self, hash: u64, mut visit: impl FnMut(u64)) {
        // Positions that differ here differ; of others it takes a closer look.
        let (mut seen, mut before) = (0_u64, 0);
        self.positions.all(hash, |position| {
            let mark = 1 << (position % 64);
            if seen & mark == 0 || !self.is_among_first(before, hash, position) {
                visit(position);
            }
            seen |= mark;
            before += 1;
            true
        });
    }

    /// Whether a position is among the first so many of a hash.
    #[inline(never)]
    fn is_among_first(&self, mut count: u32, hash: u64, position: u64) -> bool {
        let mut found = false;
        self.positions.all(hash, |other| {
            found = count > 0 && other == position;
            count = count.saturating_sub(1);
            count > 0 && !found
        });
        found
    }

    /// Fetches the lines of the first positions of a hash.
    #[inline]
    fn fetch<T>(&self, words: &[T], hash: u64, mut positions: u32) {
        self.positions.all(hash, |position| {
            prefetch(&words[place(position).0]);
            positions -= 1;
            positions > 0
        });
    }

    /// How far ahead of a change, or a count, all lines of its hash are fetched.
    fn ahead(&self, words: usize) -> usize {
        ring::ahead(words, self.hashes as usize)
    }

    /// Whether none of the counters of each key of a batch is 0. As with the classic layout, the first lines of a key
    /// are fetched far ahead, and the others only where these do not say already that it is not there.
    pub fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        let far = match self.ahead(words.len()) {
            0 => 0,
            ahead => 2 * ahead.min(ring::AHEAD / 2),
        };
        let fetch = |_: &(), hash| self.fetch(words, hash, FIRST_POSITIONS);
        let fetch_rest = |_: &(), hash| {
            let mut before = 0;
            self.positions.all(hash, |position| {
                before += 1;
                if before <= FIRST_POSITIONS {
                    return counter(words, position) > 0;
                }
                prefetch(&words[place(position).0]);
                true
            });
        };
        let answer = |_: &mut (), hash| self.contains(words, hash);
        ring::rolling(&mut (), ring::Stages { far, near: far / 2 }, batch, fetch, fetch_rest, answer);
    }

    /// The least of the counters of each of many hashes.
    pub fn least_of_many(&self, words: &[AtomicU64], hashes: &[u64], least: &mut [u64]) {
        let ahead = self.ahead(words.len());
        let fetch = |hash: &u64| self.fetch(words, *hash, self.hashes);
        hashes.iter().take(ahead).for_each(fetch);
        for (i, (hash, least)) in hashes.iter().zip(least).enumerate() {
            hashes[i..].get(ahead).filter(|_| ahead > 0).into_iter().for_each(fetch);
            *least = self.least(words, *hash);
        }
    }

    /// Adds the keys of a batch, in order, and says of each, if it is asked, whether any of its counters was 0.
    pub fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch) {
        let ahead = self.ahead(words.len());
        let fetch = |words: &[u64], hash| self.fetch(words, hash, self.hashes);
        ring::inserting(words, ahead, batch, fetch, |words, hash| self.add(words, hash));
    }

    /// Subtracts the keys of a batch, in order, and says of each whether it was done. Returns of how many it was.
    pub fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> u64 {
        let ahead = self.ahead(words.len());
        let fetch = |words: &[u64], hash| self.fetch(words, hash, self.hashes);
        let mut done = 0;
        ring::rolling(words, ahead, batch, fetch, ring::nothing, |words, hash| {
            let is_done = self.subtract(words, hash);
            done += u64::from(is_done);
            is_done
        });
        done
    }

    /// Gives the places of the words in which the first counters of a hash are.
    pub fn fetch_first(&self, hash: u64, fetch: impl Fn(usize)) {
        let mut before = 0;
        self.positions.all(hash, |position| {
            fetch(place(position).0);
            before += 1;
            before < FIRST_POSITIONS
        });
    }

    /// Visits the places of the words in which a hash has counters, until `visit` says false.
    pub fn visit_words(&self, hash: u64, mut visit: impl FnMut(usize) -> bool) {
        self.positions.all(hash, |position| visit(place(position).0));
    }

    /// What the counters tell. Reads all of them, once, and says to `progress` after every piece how many bytes that
    /// was.
    pub fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut taken, mut saturated) = (0, 0);
        for (i, piece) in words.chunks(PIECE_WORDS).enumerate() {
            for word in self.without_padding(i * PIECE_WORDS, piece) {
                taken += word::taken(word);
                saturated += word::saturated(word);
            }
            progress(size_of_val(piece) as u64);
        }
        Measure {
            taken,
            fill: taken as f64 / self.count as f64,
            saturated,
            false_positive_rate: sizing::bloom::from_fill(self.count, self.hashes, taken),
        }
    }

    /// How many counters are not 0.
    pub fn taken(&self, words: &[AtomicU64]) -> u64 {
        self.without_padding(0, words).map(word::taken).sum()
    }

    /// How many counters are not 0 in either of two arrays.
    pub fn taken_of_union(&self, words: &[AtomicU64], others: &[AtomicU64]) -> u64 {
        let both = self.without_padding(0, words).zip(self.without_padding(0, others));
        both.map(|(a, b)| word::taken(a | b)).sum()
    }

    /// Some of the words, from the `start`-th on. What follows the last counter in its word reads as 0: a payload that
    /// was not verified may hold anything there.
    fn without_padding(&self, start: usize, words: &[AtomicU64]) -> impl Iterator<Item = u64> {
        let used = self.count % word::IN_WORD * BITS;
        let last = if used == 0 { usize::MAX } else { self.words() - 1 - start };
        words.iter().enumerate().map(move |(i, word)| {
            let word = word.load(Ordering::Relaxed);
            if i == last { word & ((1 << used) - 1) } else { word }
        })
    }

    /// The distinct keys that have left so many counters that are not 0.
    pub fn keys_of(&self, taken: u64) -> Option<f64> {
        self.positions.keys_of(taken)
    }

    /// The standard error of an estimate of so many keys.
    pub fn standard_error(&self, keys: f64) -> f64 {
        sizing::bloom::cardinality_standard_error(self.count, self.hashes, keys.round() as u64)
    }

    /// The exact false-positive rate with so many distinct keys.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        self.positions.false_positive_rate(keys)
    }
}

/// Adds the counters of another array of the same layout. What was inserted into both is then counted as often as into
/// both together.
pub fn add_all(words: &mut [u64], others: &[AtomicU64]) {
    for (word, other) in words.iter_mut().zip(others) {
        *word = word::sums(*word, other.load(Ordering::Relaxed));
    }
}

/// Keeps the smaller of each two counters. These are at least those of what both arrays hold, of each key as often as
/// the one that has it less often: no counter can be less in either of them. So a key that both hold stays, and can be
/// removed as often as both hold it.
pub fn keep_smaller(words: &mut [u64], others: &[AtomicU64]) {
    for (word, other) in words.iter_mut().zip(others) {
        *word = word::minima(*word, other.load(Ordering::Relaxed));
    }
}
