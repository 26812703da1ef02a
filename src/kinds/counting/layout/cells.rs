//! Operations on all counters of an array. Counters have 2 to 32 bits and stand one after the other, the first in the
//! lowest bits.
//!
//! If the width of counters divides 64, a word is a vector of counters and is processed as one. Counters of other
//! widths may lie in two words, and are taken one by one.

use crate::bits::PIECE_WORDS;
use crate::blocks::slots::Slots;
use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicU64, Ordering};

/// How many bits the counters of the kind `counting` have.
pub const WIDTHS: RangeInclusive<u32> = 2..=16;

/// A number of counters of equal width.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// How many counters there are, and their bits.
    pub slots: Slots,
}

/// A word of counters whose width divides 64.
#[derive(Clone, Copy)]
struct Lanes {
    width: u32,
    /// The lowest bit of each counter.
    lowest: u64,
    /// A mask of every second counter, so that each has as much room above it as it is wide.
    even: u64,
    /// The bit above each of these counters.
    above: u64,
}

impl Lanes {
    fn of(width: u32) -> Option<Lanes> {
        let greatest = (1_u64 << width) - 1;
        let lowest = u64::MAX / greatest;
        let pairs = lowest / ((1 << width) + 1);
        let lanes = Lanes { width, lowest, even: pairs * greatest, above: pairs << width };
        64_u32.is_multiple_of(width).then_some(lanes)
    }

    /// The lowest bit of each counter that is not 0.
    #[inline]
    fn taken(self, word: u64) -> u64 {
        self.folded(word, |word, shifted| word | shifted)
    }

    /// The lowest bit of each counter that has its greatest value.
    #[inline]
    fn saturated(self, word: u64) -> u64 {
        self.folded(word, |word, shifted| word & shifted)
    }

    /// Folds all bits of each counter into the counter's lowest bit.
    #[inline]
    fn folded(self, mut word: u64, fold: impl Fn(u64, u64) -> u64) -> u64 {
        let mut step = 1;
        while step < self.width {
            word = fold(word, word >> step);
            step *= 2;
        }
        word & self.lowest
    }

    /// The sum of each pair of counters, at most the greatest value of a counter.
    #[inline]
    fn sums(self, a: u64, b: u64) -> u64 {
        self.of_halves(a, b, |a, b| {
            let sums = a + b;
            sums | self.ones_below(sums & self.above)
        })
    }

    /// The smaller of each pair of counters.
    #[inline]
    fn minima(self, a: u64, b: u64) -> u64 {
        self.of_halves(a, b, |a, b| {
            // The bit above keeps a counter from borrowing from the next one.
            let b_is_smaller = self.ones_below(((a | self.above) - b) & self.above);
            b & b_is_smaller | a & !b_is_smaller
        })
    }

    /// Works on every second counter together, and then on the other half.
    #[inline]
    fn of_halves(self, a: u64, b: u64, work: impl Fn(u64, u64) -> u64) -> u64 {
        let Lanes { width, even, .. } = self;
        work(a & even, b & even) & even | (work(a >> width & even, b >> width & even) & even) << width
    }

    /// All bits of the counters below the set bits of `above`.
    #[inline]
    fn ones_below(self, above: u64) -> u64 {
        above - (above >> self.width)
    }
}

impl Cells {
    /// Describes `count` counters of `width` bits each, from 2 to 32.
    pub fn new(count: u64, width: u32) -> Cells {
        Cells { slots: Slots { count, width } }
    }

    /// How many words the counters take.
    pub fn words(&self) -> usize {
        (self.slots.count * u64::from(self.slots.width)).div_ceil(64) as usize
    }

    /// The greatest value of a counter.
    #[inline]
    pub fn greatest(&self) -> u64 {
        self.slots.greatest()
    }

    /// How many counters are above 0, and how many have their greatest value. Reads all counters once, and passes the
    /// number of bytes to `progress` after every piece.
    pub fn tally(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> (u64, u64) {
        let (mut taken, mut saturated) = (0, 0);
        let Some(lanes) = Lanes::of(self.slots.width) else {
            self.each(words.len(), progress, |slot| {
                let counter = self.slots.get(words, slot);
                taken += u64::from(counter > 0);
                saturated += u64::from(counter == self.greatest());
            });
            return (taken, saturated);
        };
        for (i, piece) in words.chunks(PIECE_WORDS).enumerate() {
            for word in self.without_padding(i * PIECE_WORDS, piece) {
                taken += u64::from(lanes.taken(word).count_ones());
                saturated += u64::from(lanes.saturated(word).count_ones());
            }
            progress(size_of_val(piece) as u64);
        }
        (taken, saturated)
    }

    /// The lowest bit of each counter of a word that is above 0. The width has to divide 64.
    #[inline]
    pub fn taken_of_word(&self, word: u64) -> u64 {
        Lanes::of(self.slots.width).map_or(0, |lanes| lanes.taken(word))
    }

    /// How many counters are above 0 in at least one of two arrays.
    pub fn taken_of_union(&self, words: &[AtomicU64], others: &[AtomicU64]) -> u64 {
        let mut taken = 0;
        match Lanes::of(self.slots.width) {
            Some(lanes) => {
                let both = self.without_padding(0, words).zip(self.without_padding(0, others));
                taken = both.map(|(a, b)| u64::from(lanes.taken(a | b).count_ones())).sum();
            }
            None => self.each(words.len(), &mut |_| {}, |slot| {
                taken += u64::from(self.slots.get(words, slot) | self.slots.get(others, slot) > 0);
            }),
        }
        taken
    }

    /// Adds the counters of another array of the same layout. A key then counts as often as in both arrays together.
    pub fn add_all(&self, words: &mut [u64], others: &[AtomicU64]) {
        self.combine(words, others, Lanes::sums, |a, b| (a + b).min(self.greatest()));
    }

    /// Keeps the smaller of each pair of counters. A key that both arrays hold stays. Its count is at least the smaller
    /// of its counts in the two arrays, because neither array has a counter below that. So the key can be removed as
    /// often as both arrays hold it.
    pub fn keep_smaller(&self, words: &mut [u64], others: &[AtomicU64]) {
        self.combine(words, others, Lanes::minima, u64::min);
    }

    /// Replaces each counter by the combination of it and the other's, a word at a time where that is possible.
    fn combine(
        &self,
        words: &mut [u64],
        others: &[AtomicU64],
        of_words: fn(Lanes, u64, u64) -> u64,
        of_two: impl Fn(u64, u64) -> u64,
    ) {
        match Lanes::of(self.slots.width) {
            Some(lanes) => {
                for (word, other) in words.iter_mut().zip(others) {
                    *word = of_words(lanes, *word, other.load(Ordering::Relaxed));
                }
            }
            None => self.each(words.len(), &mut |_| {}, |slot| {
                let ours = self.slots.get_by(slot, |word| words[word]);
                self.slots.set(words, slot, of_two(ours, self.slots.get(others, slot)));
            }),
        }
    }

    /// Visits the counters in order, a piece at a time, and passes the number of bytes to `progress` after each.
    pub fn each(&self, words: usize, progress: &mut dyn FnMut(u64), mut visit: impl FnMut(u64)) {
        // 2^16 counters fill a whole number of words.
        const PIECE: u64 = 1 << 16;
        let mut told = 0;
        for start in (0..self.slots.count).step_by(PIECE as usize) {
            let end = self.slots.count.min(start + PIECE);
            (start..end).for_each(&mut visit);
            let bytes = (end * u64::from(self.slots.width)).div_ceil(64) * 8;
            progress(bytes - told);
            told = bytes;
        }
        debug_assert_eq!(told, 8 * words as u64);
    }

    /// The words from the `start`-th on. Bits after the last counter read as 0, because an unverified payload may hold
    /// anything there.
    fn without_padding(&self, start: usize, words: &[AtomicU64]) -> impl Iterator<Item = u64> {
        let used = self.slots.count * u64::from(self.slots.width) % 64;
        let last = if used == 0 { usize::MAX } else { self.words() - 1 - start };
        words.iter().enumerate().map(move |(i, word)| {
            let word = word.load(Ordering::Relaxed);
            if i == last { word & ((1 << used) - 1) } else { word }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// An array whose counters have every value, often the extreme ones.
    fn array(cells: &Cells, salt: u64) -> Vec<u64> {
        let mut words = vec![0; cells.words()];
        for slot in 0..cells.slots.count {
            let value = match mix(slot ^ salt) % 4 {
                0 => 0,
                1 => cells.greatest(),
                _ => mix(!slot ^ salt) & cells.greatest(),
            };
            cells.slots.set(&mut words, slot, value);
        }
        words
    }

    #[test]
    fn words_agree_with_their_counters() {
        for width in WIDTHS.chain([31, 32]) {
            let cells = Cells::new(1001, width);
            let atomics = |words: &[u64]| words.iter().map(|word| AtomicU64::new(*word)).collect::<Vec<_>>();
            let (ours, theirs) = (array(&cells, 1), array(&cells, 2));
            let values = |words: &[u64]| -> Vec<u64> {
                (0..cells.slots.count).map(|slot| cells.slots.get_by(slot, |word| words[word])).collect()
            };
            let (a, b) = (values(&ours), values(&theirs));
            let shared = atomics(&theirs);
            let mut bytes = 0;
            let taken = a.iter().filter(|counter| **counter > 0).count() as u64;
            let saturated = a.iter().filter(|counter| **counter == cells.greatest()).count() as u64;
            assert_eq!(cells.tally(&atomics(&ours), &mut |some| bytes += some), (taken, saturated), "{width} bits");
            assert_eq!(bytes, 8 * cells.words() as u64);
            let union = a.iter().zip(&b).filter(|(a, b)| **a | **b > 0).count() as u64;
            assert_eq!(cells.taken_of_union(&atomics(&ours), &shared), union, "{width} bits");
            let mut sums = ours.clone();
            cells.add_all(&mut sums, &shared);
            let expected: Vec<u64> = a.iter().zip(&b).map(|(a, b)| (a + b).min(cells.greatest())).collect();
            assert_eq!(values(&sums), expected, "{width} bits");
            let mut minima = ours.clone();
            cells.keep_smaller(&mut minima, &shared);
            let expected: Vec<u64> = a.iter().zip(&b).map(|(a, b)| *a.min(b)).collect();
            assert_eq!(values(&minima), expected, "{width} bits");
        }
    }
}
