//! The layout with the counters of a key anywhere. Their positions are those of [`bloom::layout`] in an array with a
//! bit for each counter.

use super::four_bits::FourBits;
use super::{Cells, CounterLayout, WIDTHS};
use crate::batch::ring::{self, Batch};
use crate::bits::prefetch;
use crate::blocks::Measure;
use crate::format::Geometry;
use crate::kinds::bloom;
use crate::simd::Instructions;
use crate::storage::AnyBytes;
use core::sync::atomic::AtomicU64;

/// How many counters of a key are fetched before any is read.
const FIRST_POSITIONS: u32 = 2;

/// How many words of a key are fetched before its counters are read.
const FETCHED_WORDS: u32 = 4;

/// The most positions of a key whose counters are copied before the first of them changes.
const AT_ONCE: usize = 16;

/// The layout with the counters of a key anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    cells: Cells,
    hashes: u32,
    positions: bloom::layout::Bloom,
    /// The counters as [`FourBits`], if they can be.
    four_bits: Option<FourBits>,
}

impl Scattered {
    /// A layout of `count` counters of `width` bits, of which a key has `hashes`. `None` if there is no such layout.
    pub fn new(count: u64, width: u32, hashes: u32) -> Option<Scattered> {
        let geometry = Geometry { bits: count, hashes, words: [0; 8], payload_bytes: 0 };
        Some(Scattered {
            cells: Cells::new(count, width),
            hashes,
            positions: bloom::layout::Bloom::of_geometry(&geometry)?,
            four_bits: FourBits::new(count, width, hashes),
        })
    }

    /// Adds `times` to each counter of a hash, up to the greatest value. Returns whether a counter was 0.
    #[inline]
    pub fn add_times(&self, words: &mut [u64], hash: u64, times: u64) -> bool {
        let (mut new, greatest) = (false, self.cells.greatest());
        self.change(words, hash, |counter| {
            new |= counter == 0;
            counter.saturating_add(times).min(greatest)
        });
        new
    }

    /// Subtracts `times` from each counter of a hash that is below its greatest value. The hash has to be there that
    /// often, so that no counter is less.
    #[inline]
    pub fn subtract_times(&self, words: &mut [u64], hash: u64, times: u64) {
        self.change(words, hash, |counter| counter.saturating_sub(times));
    }

    /// Raises the counters of a hash that are below a target to it. The target is `times` more than the least of them,
    /// up to the greatest value. Returns whether the least was 0. This is the minimal increase after which all counters
    /// of the hash count it.
    #[inline]
    pub fn raise(&self, words: &mut [u64], hash: u64, times: u64) -> bool {
        let (slots, greatest) = (self.cells.slots, self.cells.greatest());
        let mut least = greatest;
        self.positions.each(hash, |position| least = least.min(slots.get_by(position, |word| words[word])));
        let counted = least.saturating_add(times).min(greatest);
        self.positions.all(hash, |position| {
            if slots.get_by(position, |word| words[word]) < counted {
                slots.set(words, position, counted);
            }
            true
        });
        least == 0
    }

    /// The least counter of a hash, and whether the minimum recurs: whether two or more different counters have that
    /// value. `word` gives the words by their places.
    #[inline]
    pub fn minimum(&self, hash: u64, word: impl Fn(usize) -> u64) -> (u64, bool) {
        let (mut least, mut recurs) = (u64::MAX, false);
        self.each(hash, |position| {
            let counter = self.cells.slots.get_by(position, &word);
            recurs = if counter == least { true } else { recurs && counter > least };
            least = least.min(counter);
        });
        (least, recurs)
    }

    /// The least counter of a hash. `word` gives the words by their places.
    #[inline]
    pub fn least_by(&self, hash: u64, word: impl Fn(usize) -> u64) -> u64 {
        let mut least = self.cells.greatest();
        self.positions.each(hash, |position| least = least.min(self.cells.slots.get_by(position, &word)));
        least
    }

    #[inline]
    fn counter(&self, words: &[AtomicU64], position: u64) -> u64 {
        self.cells.slots.get(words, position)
    }

    /// Visits the distinct positions of a hash.
    #[inline]
    fn each(&self, hash: u64, mut visit: impl FnMut(u64)) {
        self.all_distinct(hash, |_, position| {
            visit(position);
            true
        });
    }

    /// Visits the distinct positions of a hash, each with its number among all positions, until `visit` returns false.
    /// Returns whether `visit` never did.
    #[inline]
    pub fn all_distinct(&self, hash: u64, mut visit: impl FnMut(u32, u64) -> bool) -> bool {
        // Two positions whose lowest six bits differ are different. Only other pairs need a closer look.
        let (mut seen, mut before) = (0_u64, 0);
        self.positions.all(hash, |position| {
            let mark = 1 << (position % 64);
            let is_known = seen & mark != 0 && self.is_among_first(before, hash, position);
            let goes_on = is_known || visit(before, position);
            seen |= mark;
            before += 1;
            goes_on
        })
    }

    /// How many counters a key has.
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// Whether a position is among the first `count` positions of a hash.
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

    /// Changes each distinct counter of a hash that is below its greatest value: `change` turns the old value into the
    /// new one.
    #[inline]
    fn change(&self, words: &mut [u64], hash: u64, mut change: impl FnMut(u64) -> u64) {
        let (slots, greatest) = (self.cells.slots, self.cells.greatest());
        let changes = |counter| counter < greatest;
        if self.hashes as usize > AT_ONCE {
            return self.each(hash, |position| {
                let counter = slots.get_by(position, |word| words[word]);
                if changes(counter) {
                    slots.set(words, position, change(counter));
                }
            });
        }
        // All counters are read before the first is written: a counter of two positions gets the same value twice.
        let mut counters = [(0, 0); AT_ONCE];
        let mut count = 0;
        if slots.width.is_power_of_two() {
            // Each counter lies in one word.
            self.positions.each(hash, |position| {
                let bit = position << slots.width.trailing_zeros();
                counters[count % AT_ONCE] = (bit, words[(bit / 64) as usize] >> (bit % 64) & greatest);
                count += 1;
            });
            for (bit, counter) in &counters[..count.min(AT_ONCE)] {
                if changes(*counter) {
                    let word = &mut words[(bit / 64) as usize];
                    *word = *word & !(greatest << (bit % 64)) | change(*counter) << (bit % 64);
                }
            }
            return;
        }
        self.positions.each(hash, |position| {
            counters[count % AT_ONCE] = (position, slots.get_by(position, |word| words[word]));
            count += 1;
        });
        for (position, counter) in &counters[..count.min(AT_ONCE)] {
            if changes(*counter) {
                slots.set(words, *position, change(*counter));
            }
        }
    }

    /// Visits the places of the words with the first positions of a hash, which a lookup reads first.
    pub fn visit_first_words(&self, hash: u64, visit: &mut dyn FnMut(usize)) {
        let mut left = FETCHED_WORDS;
        self.positions.all(hash, |position| {
            visit(self.cells.slots.words_of(position)[0]);
            left -= 1;
            left > 0
        });
    }

    /// Fetches the lines of the first `positions` positions of a hash.
    pub fn fetch<T>(&self, words: &[T], hash: u64, mut positions: u32) {
        self.positions.all(hash, |position| {
            prefetch(&words[self.cells.slots.words_of(position)[0]]);
            positions -= 1;
            positions > 0
        });
    }

    /// Fetches all lines of a hash of a call that changes one key, if the words are out of cache: the lines then come
    /// together, and not one after the other.
    #[inline]
    pub fn fetch_together<T>(&self, words: &[T], hash: u64) {
        if ring::is_far(words.len()) {
            self.fetch(words, hash, self.hashes);
        }
    }

    /// How many keys before its change or count all lines of a hash are fetched.
    pub fn ahead(&self, words: usize) -> usize {
        ring::ahead(words, self.hashes as usize)
    }
}

impl CounterLayout for Scattered {
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<Scattered> {
        let [width, 0, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let width = u32::try_from(width).ok().filter(|width| WIDTHS.contains(width))?;
        let layout = Scattered::new(geometry.bits / u64::from(width), width, geometry.hashes)?;
        Some(Scattered { four_bits: layout.four_bits.map(|four_bits| four_bits.with(instructions)), ..layout })
    }

    #[inline]
    fn cells(&self) -> Cells {
        self.cells
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        if let Some(four_bits) = &self.four_bits {
            return four_bits.contains(words, hash);
        }
        self.positions.all_in_groups(hash, |position| self.counter(words, position) > 0)
    }

    #[inline]
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool {
        self.positions.all(hash, |position| self.cells.slots.get_by(position, |word| bytes.word(word)) > 0)
    }

    #[inline]
    fn least(&self, words: &[AtomicU64], hash: u64) -> u64 {
        if let Some(four_bits) = &self.four_bits {
            return four_bits.least(words, hash);
        }
        let mut least = self.cells.greatest();
        self.positions.all_in_groups(hash, |position| {
            least = least.min(self.counter(words, position));
            least > 0
        });
        least
    }

    #[inline]
    fn add(&self, words: &mut [u64], hash: u64) -> bool {
        if let Some(four_bits) = &self.four_bits {
            return four_bits.add(words, hash);
        }
        let mut new = false;
        self.change(words, hash, |counter| {
            new |= counter == 0;
            counter + 1
        });
        new
    }

    #[inline]
    fn subtract(&self, words: &mut [u64], hash: u64) -> bool {
        if let Some(four_bits) = &self.four_bits {
            return four_bits.subtract(words, hash);
        }
        let slots = self.cells.slots;
        let is_there = self.positions.all_in_groups(hash, |position| slots.get_by(position, |word| words[word]) > 0);
        if is_there {
            self.change(words, hash, |counter| counter - 1);
        }
        is_there
    }

    /// The first lines of a key are fetched far ahead, as in the layout of bits. The other lines are fetched only if
    /// the first do not already say that the key is absent.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        if self.four_bits.is_some_and(|four_bits| four_bits.contains_many(words, batch)) {
            return;
        }
        let stages = self.positions.stages(words.len());
        let fetch = |_: &(), hash| self.fetch(words, hash, FIRST_POSITIONS);
        let fetch_rest = |_: &(), hash| {
            let mut before = 0;
            self.positions.all(hash, |position| {
                before += 1;
                if before <= FIRST_POSITIONS {
                    return self.counter(words, position) > 0;
                }
                prefetch(&words[self.cells.slots.words_of(position)[0]]);
                true
            });
        };
        // Fetching ahead has fetched only the first two lines of an absent key. A group of counters would wait for two
        // more lines, so here a lookup reads the counters one by one.
        let answer = |_: &mut (), hash| match stages.far {
            0 => self.contains(words, hash),
            _ => self.positions.all(hash, |position| self.counter(words, position) > 0),
        };
        ring::rolling(&mut (), stages, batch, fetch, fetch_rest, answer);
    }

    fn least_of_many(&self, words: &[AtomicU64], hashes: &[u64], least: &mut [u64]) {
        let ahead = self.ahead(words.len());
        let fetch = |hash| self.fetch(words, hash, self.hashes);
        ring::counting(ahead.into(), hashes, least, fetch, |_| {}, |hash| self.least(words, hash));
    }

    fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch) {
        if self.four_bits.is_some_and(|four_bits| four_bits.add_many(words, batch)) {
            return;
        }
        let ahead = self.ahead(words.len());
        let fetch = |words: &[u64], hash| self.fetch(words, hash, self.hashes);
        ring::inserting(words, ahead, batch, fetch, |words, hash| match &self.four_bits {
            Some(four_bits) => four_bits.add_fetched(words, hash),
            None => self.add(words, hash),
        });
    }

    fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> u64 {
        if let Some(done) = self.four_bits.and_then(|four_bits| four_bits.subtract_many(words, batch)) {
            return done;
        }
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

    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool) {
        self.positions.all(hash, |position| self.cells.slots.words_of(position).into_iter().all(&mut *visit));
    }

    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let (taken, saturated) = self.cells.tally(words, progress);
        let count = self.cells.slots.count;
        let false_positive_rate = crate::sizing::bloom::from_fill(count, self.hashes, taken);
        Measure { taken, fill: taken as f64 / count as f64, saturated, false_positive_rate }
    }

    fn keys_of(&self, taken: u64) -> Option<f64> {
        self.positions.keys_of(taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        crate::sizing::bloom::cardinality_standard_error(self.cells.slots.count, self.hashes, keys.round() as u64)
    }

    fn false_positive_rate(&self, keys: u64) -> f64 {
        self.positions.false_positive_rate(keys)
    }
}
