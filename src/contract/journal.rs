//! A journal in a payload, for changes of several words that belong together. Before such a change the journal saves
//! the words as they are. If the writer dies in the middle, whoever changes the image next puts them back, as if the
//! change had never begun.
//!
//! The stores of a process to a file that it has mapped outlive the process, in the order in which it made them, so the
//! journal only has to keep the compiler to that order. If the machine goes down, any of them may be missing. Then a
//! checksum shows whether the journal is whole.
//!
//! The first word says how many words the journal has, and the second is its checksum. Then come pairs: a place in the
//! payload, and the word there. All are 0 unless a change is under way.

use crate::hash::Checksum;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// The words before the first pair.
const HEAD: usize = 2;
/// The first word while the whole payload is set to 0.
const CLEARING: u64 = u64::MAX;

/// How many words of a payload a journal takes that has room for `most` words.
pub const fn words_for(most: u64) -> u64 {
    HEAD as u64 + 2 * most
}

/// A journal in these words of a payload. If the range is empty, there is no journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal(pub Range<usize>);

impl Journal {
    /// The number of words, the checksum and the pairs; `None` if there is no journal.
    fn parts<'a>(&self, payload: &'a [AtomicU64]) -> Option<(&'a AtomicU64, &'a AtomicU64, &'a [AtomicU64])> {
        match &payload[self.0.clone()] {
            [count, sum, pairs @ ..] => Some((count, sum, pairs)),
            _ => None,
        }
    }

    /// Whether the journal is 0, as it is when no change is under way.
    pub fn is_empty(&self, payload: &[AtomicU64]) -> bool {
        payload[self.0.clone()].iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// Saves these words as they are. From then on they may change, until [`Journal::end`]. If there is no journal,
    /// this saves nothing. Returns false, with nothing saved, if the journal has no room for all of the words: putting
    /// back only some of them would leave a state that never was.
    #[must_use]
    pub fn begin(&self, payload: &[AtomicU64], places: &[usize]) -> bool {
        let Some((count, sum, pairs)) = self.parts(payload) else { return true };
        let Some(pairs) = pairs.get(..2 * places.len()) else { return false };
        for (pair, place) in pairs.chunks_exact(2).zip(places) {
            pair[0].store(*place as u64, Ordering::Relaxed);
            pair[1].store(payload[*place].load(Ordering::Relaxed), Ordering::Relaxed);
        }
        sum.store(checksum(pairs), Ordering::Relaxed);
        count.store(places.len() as u64, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        true
    }

    /// Notes that the whole payload is being set to 0.
    pub fn begin_clearing(&self, payload: &[AtomicU64]) {
        let Some((count, ..)) = self.parts(payload) else { return };
        count.store(CLEARING, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    }

    /// Notes that the change is complete.
    pub fn end(&self, payload: &[AtomicU64]) {
        let Some((count, ..)) = self.parts(payload) else { return };
        compiler_fence(Ordering::SeqCst);
        let pairs = count.swap(0, Ordering::SeqCst).min(self.0.len() as u64) as usize;
        let used = self.0.start..self.0.end.min(self.0.start + HEAD + 2 * pairs);
        payload[used].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Undoes the change that was under way when its writer died, or goes on with the clearing. A journal that is not
    /// whole, because the machine went down, undoes nothing.
    pub fn undo(&self, payload: &[AtomicU64]) {
        let Some((count, sum, pairs)) = self.parts(payload) else { return };
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let saved = word(count);
        if saved == CLEARING {
            let others = payload[..self.0.start].iter().chain(&payload[self.0.start + 1..]);
            others.for_each(|word| word.store(0, Ordering::Relaxed));
        } else if let Some(pairs) = usize::try_from(saved).ok().and_then(|saved| pairs.get(..saved.checked_mul(2)?))
            && checksum(pairs) == word(sum)
            && pairs.chunks_exact(2).all(|pair| word(&pair[0]) < self.0.start as u64)
        {
            pairs
                .chunks_exact(2)
                .for_each(|pair| payload[word(&pair[0]) as usize].store(word(&pair[1]), Ordering::Relaxed));
        }
        compiler_fence(Ordering::SeqCst);
        count.store(0, Ordering::SeqCst);
        payload[self.0.clone()].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

/// The checksum of pairs: XXH3 of their words, the lowest byte first.
fn checksum(pairs: &[AtomicU64]) -> u64 {
    let mut checksum = Checksum::default();
    pairs.iter().for_each(|word| checksum.update(&word.load(Ordering::Relaxed).to_le_bytes()));
    checksum.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(values: &[u64]) -> Vec<AtomicU64> {
        values.iter().map(|value| AtomicU64::new(*value)).collect()
    }

    fn values(payload: &[AtomicU64]) -> Vec<u64> {
        payload.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Each state in the middle of a change goes back to the one before it, and a change that was completed stays.
    #[test]
    fn changes_are_undone_or_made() {
        let journal = Journal(4..4 + words_for(3) as usize);
        let before = [&[1, 2, 3, 4][..], &[0; 8]].concat();
        for changed in 0..4 {
            let words = payload(&before);
            assert!(journal.begin(&words, &[0, 3, 1]));
            [0, 3, 1][..changed].iter().for_each(|place| words[*place].store(99, Ordering::Relaxed));
            assert!(!journal.is_empty(&words));
            journal.undo(&words);
            assert_eq!(values(&words), before, "{changed}");
        }
        let words = payload(&before);
        assert!(journal.begin(&words, &[0]));
        words[0].store(99, Ordering::Relaxed);
        journal.end(&words);
        let after = values(&words);
        assert_eq!((after[0], journal.is_empty(&words)), (99, true));
        journal.undo(&words);
        assert_eq!(values(&words), after);
    }

    /// A journal that lacks a part, or that was forged, changes nothing but itself.
    #[test]
    fn a_journal_that_is_not_whole_undoes_nothing() {
        let journal = Journal(4..4 + words_for(3) as usize);
        let before = [&[1, 2, 3, 4][..], &[0; 8]].concat();
        for (word, value) in [(4, 2), (4, 4), (4, 1 << 63), (5, 0), (6, 1), (6, 4), (6, u64::MAX), (7, 7), (4, 0)] {
            let words = payload(&before);
            assert!(journal.begin(&words, &[0]));
            words[0].store(99, Ordering::Relaxed);
            words[word].store(value, Ordering::Relaxed);
            journal.undo(&words);
            let mut expected = before.clone();
            expected[0] = 99;
            assert_eq!(values(&words), expected, "{word} = {value}");
        }
        // Places outside of the words before the journal are refused, even with a right checksum.
        let words = payload(&before);
        assert!(journal.begin(&words, &[8]));
        journal.undo(&words);
        assert_eq!(values(&words), before);
    }

    /// The states between two stores of a step: a writer may die after each of them. `order` has the places in the
    /// order of the stores.
    fn between(before: &[u64], after: &[u64], order: impl Iterator<Item = usize>) -> Vec<Vec<u64>> {
        let mut states = vec![before.to_vec()];
        for place in order {
            let mut next = states[states.len() - 1].clone();
            next[place] = after[place];
            states.push(next);
        }
        assert_eq!(states.last().map(Vec::as_slice), Some(after));
        states
    }

    /// A journal of any room saves all words or none. Wherever its writer dies, and whoever puts the words back dies as
    /// well, all of them come back, or none if the change was complete.
    #[test]
    fn no_kill_and_no_room_leaves_a_part_of_a_change() {
        const PLACES: [usize; 4] = [3, 0, 2, 1];
        for room in 0..=HEAD + 2 * PLACES.len() + 1 {
            let journal = Journal(4..4 + room);
            let before = [&[1, 2, 3, 4][..], &vec![0; room]].concat();
            for saved in 0..=PLACES.len() {
                let (words, places) = (payload(&before), &PLACES[..saved]);
                let fits = room < HEAD || HEAD + 2 * saved <= room;
                assert_eq!(journal.begin(&words, places), fits, "{room} {saved}");
                if !fits || room < HEAD {
                    assert_eq!(values(&words), before);
                    continue;
                }
                let begun = values(&words);
                // The pairs come first, then the checksum, and last the number of words.
                let begin = between(&before, &begun, (6..4 + room).chain([5, 4]));
                places.iter().for_each(|place| words[*place].store(99, Ordering::Relaxed));
                let changed = values(&words);
                let change = between(&begun, &changed, places.iter().copied());
                journal.end(&words);
                let after = values(&words);
                let end = between(&changed, &after, 4..4 + room).split_off(1);
                for state in begin.iter().chain(&change) {
                    let words = payload(state);
                    journal.undo(&words);
                    assert_eq!(values(&words), before, "{room} {saved}: {state:?}");
                }
                for state in &end {
                    let words = payload(state);
                    journal.undo(&words);
                    assert_eq!(values(&words), after, "{room} {saved}: {state:?}");
                }
                let back = [&before[..4], &changed[4..]].concat();
                let undo = between(&changed, &back, places.iter().copied());
                for state in undo.iter().chain(&between(&back, &before, 4..4 + room)) {
                    let words = payload(state);
                    journal.undo(&words);
                    assert_eq!(values(&words), before, "{room} {saved}: {state:?}");
                }
            }
        }
    }

    #[test]
    fn clearing_goes_on_and_no_journal_does_nothing() {
        let journal = Journal(2..2 + words_for(1) as usize);
        let words = payload(&[5, 6, 0, 0, 0, 0, 7]);
        journal.begin_clearing(&words);
        words[0].store(0, Ordering::Relaxed);
        journal.undo(&words);
        assert_eq!(values(&words), [0; 7]);
        let (none, words) = (Journal(2..2), payload(&[5, 6]));
        assert!(none.begin(&words, &[0]));
        none.begin_clearing(&words);
        none.end(&words);
        none.undo(&words);
        assert!(none.is_empty(&words));
        assert_eq!(values(&words), [5, 6]);
    }
}
