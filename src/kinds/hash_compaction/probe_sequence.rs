//! The probe sequences of keys, walked one after the other or many side by side.

use crate::bits::{GOLDEN, mix, reduce};
use crate::blocks::slots::Slots;

/// How many probe sequences of a batch are walked together.
pub const AT_ONCE: usize = 32;

/// The slots that a key probes, up to the slot where the walk is.
#[derive(Clone, Copy)]
pub struct ProbeSequence {
    first: u64,
    /// Where the key is.
    pub slot: u64,
    step: u64,
    /// Not 0. It comes from another part of the hash than the slots.
    pub signature: u64,
}

/// Where the walk over a key's slots ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the key's signature.
    Found,
    /// At this slot, which is empty.
    Empty(u64),
    /// Nowhere: all slots are taken.
    Full,
}

impl ProbeSequence {
    /// The beginning of a key's way.
    #[inline]
    pub fn of(hash: u64, slots: Slots) -> ProbeSequence {
        let part = |i: u64| mix(hash.wrapping_add(i.wrapping_mul(GOLDEN)));
        let first = reduce(part(0), slots.count);
        let step = 1 + reduce(part(1), slots.count - 1);
        ProbeSequence { first, slot: first, step, signature: 1 + reduce(part(2), slots.greatest()) }
    }

    /// Where the key's way ends. `None` if the way does not end here: the key is at the next slot then. A way that
    /// comes back to its first slot has seen all that it can see.
    #[inline(always)]
    fn look(&mut self, slots: Slots, word: impl Fn(usize) -> u64) -> Option<End> {
        match slots.get_by(self.slot, word) {
            0 => return Some(End::Empty(self.slot)),
            found if found == self.signature => return Some(End::Found),
            _ => {}
        }
        self.slot += self.step;
        if self.slot >= slots.count {
            self.slot -= slots.count;
        }
        (self.slot == self.first).then_some(End::Full)
    }

    /// Follows the way through the words that `word` gives by their places.
    #[inline]
    pub fn walk(mut self, slots: Slots, word: impl Fn(usize) -> u64) -> End {
        loop {
            if let Some(end) = self.look(slots, &word) {
                return end;
            }
        }
    }
}

/// Where the ways of keys end: calls `end` with the number of each key and its end, in any order. [`AT_ONCE`] keys are
/// under way together. Each takes a step in turn, and `fetch` asks for the words that its next step reads.
#[inline]
pub fn walk_all(
    hashes: &[u64],
    slots: Slots,
    word: impl Fn(usize) -> u64,
    fetch: impl Fn(usize),
    mut end: impl FnMut(usize, End),
) {
    let mut coming = hashes.iter().enumerate().map(|(i, hash)| {
        let way = ProbeSequence::of(*hash, slots);
        slots.words_of(way.slot).into_iter().for_each(&fetch);
        (i, way)
    });
    let mut ways = [(0, ProbeSequence::of(0, slots)); AT_ONCE];
    let mut walking = 0;
    for (place, one) in ways.iter_mut().zip(&mut coming) {
        *place = one;
        walking += 1;
    }
    while walking > 0 {
        let mut at = 0;
        while at < walking {
            let (key, way) = &mut ways[at];
            match way.look(slots, &word) {
                None => slots.words_of(way.slot).into_iter().for_each(&fetch),
                Some(found) => {
                    end(*key, found);
                    match coming.next() {
                        Some(next) => ways[at] = next,
                        None => {
                            // The last key takes this place, and its step in this round.
                            walking -= 1;
                            ways[at] = ways[walking];
                            continue;
                        }
                    }
                }
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Side by side, keys end where each ends alone: for tables of any load, up to full ones, and any number of keys.
    #[test]
    fn ways_side_by_side_end_where_single_ways_do() {
        for (count, width) in [(2, 3), (3, 63), (97, 9), (1009, 13)] {
            let slots = Slots { count, width };
            for taken in [0, count / 2, count - 1, count] {
                let mut words = vec![0; (count * u64::from(width)).div_ceil(64) as usize];
                let mut put = 0;
                for hash in (0..).map(mix) {
                    if put == taken {
                        break;
                    }
                    if let End::Empty(slot) = ProbeSequence::of(hash, slots).walk(slots, |word| words[word]) {
                        slots.put(&mut words, slot, ProbeSequence::of(hash, slots).signature);
                        put += 1;
                    }
                }
                for keys in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 200] {
                    let hashes: Vec<u64> = (0..keys as u64).map(|i| mix(i * 3)).collect();
                    let mut ends = vec![None; keys];
                    walk_all(
                        &hashes,
                        slots,
                        |word| words[word],
                        |_| {},
                        |key, end| {
                            assert_eq!(ends[key].replace(end), None, "a key ends once");
                        },
                    );
                    let alone = |hash: &u64| Some(ProbeSequence::of(*hash, slots).walk(slots, |word| words[word]));
                    assert_eq!(ends, hashes.iter().map(alone).collect::<Vec<_>>(), "{count} slots, {taken} taken");
                }
            }
        }
    }
}
