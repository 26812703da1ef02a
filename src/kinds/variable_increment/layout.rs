//! Counters to which keys add different increments, so that a counter's value rules some keys out.
//!
//! The cells of a key are those of the layout [`Scattered`]. For each cell the key chooses one of several increments,
//! by bits of its hash that have no other use. If two of the key's cells are the same one, the first choice counts.
//!
//! *An interval*: the increments are L to 2 L - 1, and a cell is one counter, the sum of its keys' increments. One
//! increment is below 2 L, and every sum of several is 2 L or above. So a cell with value c says "no" to a key with
//! increment v if c is less than v, or if 0 < c - v < L, because the rest is not a sum of increments. A cell that has
//! come to its greatest value says "maybe" for ever.
//!
//! *A sequence B_h*: all sums of h increments are different, and a cell is the number of its keys and the sum of their
//! increments. If a cell has h keys or fewer, the sum determines their increments. A cell with more than 14 keys says
//! "maybe" for ever. The sum is kept modulo a power of two above all sums of h increments, because larger sums say
//! nothing.

use super::bytes::{self, Bytes};
use super::sizing::{self, Refusals};
use crate::bits::{GOLDEN, mix};
use crate::blocks::Measure;
use crate::format::Geometry;
use crate::kinds::counting::layout::{Cells, CounterLayout, Scattered};
use core::sync::atomic::{AtomicU64, Ordering};

/// The increments of B_2 and B_3. Each increment is the least number with which all sums stay different.
const B2: [u64; 8] = [1, 2, 4, 8, 13, 21, 31, 45];
const B3: [u64; 8] = [1, 2, 5, 14, 33, 72, 125, 219];

/// How many bits of a cell count its keys, and from which number on the cell says "maybe" for ever.
const KEY_BITS: u32 = 4;
const MOST_KEYS: u64 = (1 << KEY_BITS) - 1;

/// How many more bits an interval's counter has than L, so that it counts at least 16 keys.
const INTERVAL_BITS: u32 = 5;

/// The increments that keys choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// The numbers from L to 2 L - 1, with L a power of two.
    Interval(u64),
    /// The first numbers of B_h: h, which is 2 or 3, and how many they are.
    B(u32, u64),
}

impl Sequence {
    /// The sequence with this number and this many increments: 2, 4 or 8, and for an interval also 16.
    pub fn of(number: u64, increments: u64) -> Option<Sequence> {
        let is_possible = matches!(increments, 2 | 4 | 8) || (number == 0 && increments == 16);
        match number {
            _ if !is_possible => None,
            0 => Some(Sequence::Interval(increments)),
            1 => Some(Sequence::B(2, increments)),
            2 => Some(Sequence::B(3, increments)),
            _ => None,
        }
    }

    /// How many increments a key chooses from, a power of two.
    #[inline]
    fn increments(self) -> u64 {
        match self {
            Sequence::Interval(increments) | Sequence::B(_, increments) => increments,
        }
    }

    /// The increment with this number.
    #[inline]
    fn increment(self, choice: u64) -> u64 {
        match self {
            Sequence::Interval(least) => least + choice,
            Sequence::B(2, _) => B2[choice as usize],
            Sequence::B(..) => B3[choice as usize],
        }
    }

    /// How many bits a cell has.
    pub fn width(self) -> u32 {
        match self {
            Sequence::Interval(least) => INTERVAL_BITS + least.ilog2(),
            Sequence::B(h, increments) => KEY_BITS + (u64::from(h) * self.increment(increments - 1)).ilog2() + 1,
        }
    }

    /// How often cells refuse absent keys.
    pub fn refusals(self) -> Refusals {
        match self {
            Sequence::Interval(least) => sizing::of_interval(least),
            Sequence::B(h, increments) => sizing::of_sequence(h, increments),
        }
    }

    /// Whether a number is the sum of `keys` increments, two at most.
    fn is_sum(self, keys: u64, number: u64) -> bool {
        let mut all = (0..self.increments()).map(|choice| self.increment(choice));
        match keys {
            0 => number == 0,
            1 => all.any(|increment| increment == number),
            _ => all.any(|increment| increment <= number && self.is_sum(keys - 1, number - increment)),
        }
    }
}

/// Cells to which keys add increments.
#[derive(Clone, Copy, Debug)]
pub struct Increments {
    sequence: Sequence,
    places: Scattered,
    /// The cells as [`Bytes`], if these functions take them.
    bytes: Option<Bytes>,
}

impl Increments {
    /// `count` cells with these increments, of which a key has `hashes`. `None` if there is no such layout.
    pub fn new(count: u64, hashes: u32, sequence: Sequence) -> Option<Increments> {
        let bytes = (sequence == Sequence::Interval(bytes::LEAST)).then(|| Bytes::new(count, hashes)).flatten();
        Some(Increments { sequence, places: Scattered::new(count, sequence.width(), hashes)?, bytes })
    }

    /// The cells that a geometry describes, if its words name a sequence and a number of increments.
    pub fn of(geometry: &Geometry) -> Option<Increments> {
        let [number, increments, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let sequence = Sequence::of(number, increments)?;
        Increments::new(geometry.bits / u64::from(sequence.width()), geometry.hashes, sequence)
    }

    /// Where the cells of a key are.
    #[inline]
    pub fn places(&self) -> &Scattered {
        &self.places
    }

    /// The shape of all cells.
    #[inline]
    pub fn cells(&self) -> Cells {
        self.places.cells()
    }

    /// How often cells refuse absent keys.
    pub fn refusals(&self) -> Refusals {
        self.sequence.refusals()
    }

    /// Visits the distinct cells of a hash, each with the increment that the hash chooses there, until `visit` returns
    /// false. Returns whether `visit` never did.
    #[inline]
    fn all(&self, hash: u64, mut visit: impl FnMut(u64, u64) -> bool) -> bool {
        let bits = self.sequence.increments().ilog2();
        let in_word = 64 / bits;
        let (mut choices, mut of_word) = (0, u32::MAX);
        self.places.all_distinct(hash, |i, position| {
            if i / in_word != of_word {
                of_word = i / in_word;
                choices = mix(hash.wrapping_add(GOLDEN.wrapping_mul(u64::from(of_word) + 1)));
            }
            let choice = choices >> (bits * (i % in_word)) & (self.sequence.increments() - 1);
            visit(position, self.sequence.increment(choice))
        })
    }

    /// Whether a cell may have a key with this increment.
    #[inline]
    fn may_have(&self, cell: u64, increment: u64) -> bool {
        match self.sequence {
            Sequence::Interval(least) => {
                cell == increment || cell >= increment + least || cell == self.cells().greatest()
            }
            Sequence::B(h, _) => {
                let (keys, sum) = (cell & MOST_KEYS, cell >> KEY_BITS);
                keys > u64::from(h) || (keys > 0 && sum >= increment && self.sequence.is_sum(keys - 1, sum - increment))
            }
        }
    }

    /// The values of two cells, added. A key's increment is the value of a cell with that key alone
    /// ([`Increments::alone`]).
    #[inline]
    fn sum(&self, a: u64, b: u64) -> u64 {
        let greatest = self.cells().greatest();
        match self.sequence {
            Sequence::Interval(_) => (a + b).min(greatest),
            Sequence::B(..) if (a & MOST_KEYS) + (b & MOST_KEYS) >= MOST_KEYS => greatest,
            // The number of keys carries nothing into the sum, and what the sum carries out is dropped.
            Sequence::B(..) => (a + b) & greatest,
        }
    }

    /// The value of a cell that has one key, with this increment.
    #[inline]
    fn alone(&self, increment: u64) -> u64 {
        match self.sequence {
            Sequence::Interval(_) => increment,
            Sequence::B(..) => increment << KEY_BITS | 1,
        }
    }

    /// The value of a cell after a key with this increment is removed. The cell must say "maybe" to that key.
    #[inline]
    fn without(&self, cell: u64, increment: u64) -> u64 {
        let greatest = self.cells().greatest();
        if cell == greatest { cell } else { cell.wrapping_sub(self.alone(increment)) & greatest }
    }

    /// Whether no cell of a hash says "no". `word` gives the words by their places.
    #[inline]
    pub fn contains(&self, hash: u64, word: impl Fn(usize) -> u64) -> bool {
        match self.bytes.and_then(|bytes| bytes.contains(hash, &word)) {
            Some(answer) => answer,
            None => self.contains_of_any(hash, word),
        }
    }

    /// As [`Increments::contains`], for all sequences.
    #[inline(never)]
    fn contains_of_any(&self, hash: u64, word: impl Fn(usize) -> u64) -> bool {
        self.all(hash, |position, increment| self.may_have(self.cells().slots.get_by(position, &word), increment))
    }

    /// Adds the increments of a hash to its cells. Returns whether one of the cells said "no" before.
    #[inline]
    pub fn add(&self, words: &mut [u64], hash: u64) -> bool {
        match self.bytes.and_then(|bytes| bytes.add(words, hash)) {
            Some(new) => new,
            None => self.add_of_any(words, hash),
        }
    }

    /// As [`Increments::add`], for all sequences.
    #[inline(never)]
    fn add_of_any(&self, words: &mut [u64], hash: u64) -> bool {
        let (slots, mut new) = (self.cells().slots, false);
        self.all(hash, |position, increment| {
            let cell = slots.get_by(position, |word| words[word]);
            new |= !self.may_have(cell, increment);
            slots.set(words, position, self.sum(cell, self.alone(increment)));
            true
        });
        new
    }

    /// Takes the increments of a hash from its cells. Returns false, with nothing changed, if one of the cells says
    /// "no".
    #[inline]
    pub fn subtract(&self, words: &mut [u64], hash: u64) -> bool {
        match self.bytes.and_then(|bytes| bytes.subtract(words, hash)) {
            Some(removed) => removed,
            None => self.subtract_of_any(words, hash),
        }
    }

    /// As [`Increments::subtract`], for all sequences.
    #[inline(never)]
    fn subtract_of_any(&self, words: &mut [u64], hash: u64) -> bool {
        let slots = self.cells().slots;
        let is_there = self.contains_of_any(hash, |word| words[word]);
        if is_there {
            self.all(hash, |position, increment| {
                let cell = slots.get_by(position, |word| words[word]);
                slots.set(words, position, self.without(cell, increment));
                true
            });
        }
        is_there
    }

    /// Adds the cells of another array.
    pub fn add_all(&self, words: &mut [u64], others: &[AtomicU64]) {
        let slots = self.cells().slots;
        for slot in 0..slots.count {
            let other = slots.get(others, slot);
            if other != 0 {
                slots.set(words, slot, self.sum(slots.get_by(slot, |word| words[word]), other));
            }
        }
    }

    /// Measures the cells. A lookup takes an absent key for a present one if all of the key's cells say "maybe". Each
    /// of the key's cells is any cell with any increment, so the rate is exactly that of these cells.
    pub fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let (cells, increments) = (self.cells(), self.sequence.increments());
        let (mut taken, mut saturated) = (0, 0);
        // How many cells say "maybe" to each number of the increments.
        let mut by_choices = [0_u64; sizing::MOST_INCREMENTS + 1];
        cells.each(words.len(), progress, |slot| {
            let cell = cells.slots.get_by(slot, |word| words[word].load(Ordering::Relaxed));
            if cell != 0 {
                taken += 1;
                saturated += u64::from(cell == cells.greatest());
                let choices = (0..increments).filter(|choice| self.may_have(cell, self.sequence.increment(*choice)));
                by_choices[choices.count()] += 1;
            }
        });
        let false_positive_rate =
            sizing::rate_of_cells(cells.slots.count, self.places.hashes(), increments, &by_choices);
        Measure { taken, fill: taken as f64 / cells.slots.count as f64, saturated, false_positive_rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All sums of h increments are different, and no smaller number could have come next.
    #[test]
    fn sequences_are_the_least_ones_with_different_sums() {
        fn has_different_sums(h: u32, sequence: &[u64]) -> bool {
            let mut sums: Vec<(u64, usize)> = vec![(0, 0)];
            for _ in 0..h {
                let more = |(sum, first): &(u64, usize)| {
                    let (sum, first) = (*sum, *first);
                    (first..sequence.len()).map(move |i| (sum + sequence[i], i))
                };
                sums = sums.iter().flat_map(more).collect();
            }
            sums.iter().map(|(sum, _)| sum).collect::<BTreeSet<_>>().len() == sums.len()
        }
        for (h, sequence) in [(2, B2), (3, B3)] {
            let mut least = vec![1];
            while least.len() < sequence.len() {
                let next =
                    (least[least.len() - 1] + 1..).find(|next| has_different_sums(h, &[&least[..], &[*next]].concat()));
                least.push(next.unwrap());
            }
            assert_eq!(least, sequence);
        }
    }

    /// Functions for cells of a byte answer and change as those for all sequences do: for every number of cells of a
    /// key that they take, and also if cells of a key are the same or full.
    #[test]
    fn bytes_are_cells_like_others() {
        for hashes in 1..=20 {
            for count in [1, 5, 40, 3000] {
                let cells = Increments::new(count, hashes, Sequence::Interval(bytes::LEAST)).unwrap();
                assert_eq!(cells.bytes.is_some(), hashes <= 16);
                let plain = Increments { bytes: None, ..cells };
                let mut words = [vec![0_u64; count.div_ceil(8) as usize], vec![0; count.div_ceil(8) as usize]];
                for step in 0..3000 {
                    let hash = mix(mix(step) % (count + 20));
                    let [ours, theirs] = &mut words;
                    let in_both = [cells.contains(hash, |word| ours[word]), plain.contains(hash, |word| theirs[word])];
                    assert_eq!(in_both[0], in_both[1], "{hashes} cells of {count}");
                    if mix(!step) % 8 < 5 {
                        assert_eq!(cells.add(ours, hash), plain.add(theirs, hash), "{hashes} cells of {count}");
                    } else {
                        assert_eq!(cells.subtract(ours, hash), plain.subtract(theirs, hash));
                    }
                    assert_eq!(ours, theirs, "{hashes} cells of {count}");
                }
            }
        }
    }

    /// A cell says "maybe" to every key that it has, whichever keys come and go, and returns to 0.
    #[test]
    fn cells_know_their_keys() {
        let sequences = (0..3).flat_map(|number| [2, 4, 8, 16].map(|increments| Sequence::of(number, increments)));
        for sequence in sequences.flatten() {
            let cells = Increments::new(1, 1, sequence).unwrap();
            let choices = sequence.increments();
            for seed in 0..2000 {
                let (mut cell, mut held) = (0, Vec::new());
                for step in 0..30 {
                    let random = mix(seed * 64 + step);
                    if random % 8 < 5 {
                        let increment = sequence.increment(random >> 10 & (choices - 1));
                        cell = cells.sum(cell, cells.alone(increment));
                        held.push(increment);
                    } else if !held.is_empty() {
                        let increment = held.swap_remove((random >> 10) as usize % held.len());
                        cell = cells.without(cell, increment);
                    }
                    assert!(
                        held.iter().all(|increment| cells.may_have(cell, *increment)),
                        "{sequence:?}: {held:?} in {cell}"
                    );
                    assert!(!held.is_empty() || cell == 0 || cell == cells.cells().greatest());
                    // With few keys the cell says exactly what the definition says.
                    if let Sequence::B(h, _) = sequence
                        && held.len() <= h as usize
                        && cell != cells.cells().greatest()
                    {
                        let others = (0..choices).map(|choice| sequence.increment(choice));
                        assert!(others.into_iter().all(|one| cells.may_have(cell, one) == held.contains(&one)));
                    }
                }
            }
        }
    }
}
