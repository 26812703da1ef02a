//! The set of keys that a handle keeps in memory: an array of keys, and a table with open addressing that finds them.

use crate::error::{Result, error};
use crate::storage::try_vec;
use core::hash::BuildHasher;
use std::hash::RandomState;

/// The bits of a slot that say where the key is. The other bits are a part of the key's hash, so that the table rarely
/// reads a wrong key.
const PLACE_BITS: u32 = 40;
const PLACE: u64 = (1 << PLACE_BITS) - 1;

/// A set of keys, each of `key_words` words.
///
/// A new key goes to the end of the array. When a key is removed, the last key moves to its place. So the order of the
/// keys depends only on the insertions and removals.
pub(crate) struct Kept {
    key_words: usize,
    keys: Vec<u64>,
    /// Empty slots are 0. The other slots have the place of a key plus one, below the first bits of the key's hash. At
    /// most three of four slots are taken. The number of slots is a power of two, or 0.
    slots: Vec<u64>,
    /// The table hashes with numbers that nobody else knows, so nobody can choose keys that collide.
    secret: [u64; 2],
}

impl Kept {
    /// An empty set.
    pub(crate) fn new(key_words: usize) -> Kept {
        let state = RandomState::new();
        let secret = [state.hash_one(0), state.hash_one(1) | 1];
        Kept { key_words, keys: Vec::new(), slots: Vec::new(), secret }
    }

    /// A copy.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(crate) fn copy(&self) -> Result<Kept> {
        let copied = |from: &Vec<u64>| -> Result<Vec<u64>> {
            let mut to = try_vec(from.len())?;
            to.extend_from_slice(from);
            Ok(to)
        };
        Ok(Kept { keys: copied(&self.keys)?, slots: copied(&self.slots)?, ..*self })
    }

    /// The words of all keys, one key after the other.
    pub(crate) fn words(&self) -> &[u64] {
        &self.keys
    }

    /// Forgets all keys and frees their memory.
    pub(crate) fn clear(&mut self) {
        (self.keys, self.slots) = (Vec::new(), Vec::new());
    }

    fn len(&self) -> usize {
        self.keys.len() / self.key_words
    }

    fn hash(&self, key: &[u64]) -> u64 {
        key.iter().fold(self.secret[0], |hash, word| {
            let product = u128::from(hash ^ word) * u128::from(self.secret[1]);
            product as u64 ^ (product >> 64) as u64
        })
    }

    fn key(&self, place: usize) -> &[u64] {
        &self.keys[place * self.key_words..][..self.key_words]
    }

    /// The slot that follows.
    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// The slot of a key, or the empty slot where the search for it ends. There is always an empty slot.
    fn find(&self, key: &[u64]) -> usize {
        let hash = self.hash(key);
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            let entry = self.slots[slot];
            let is_alike = (entry ^ hash) >> PLACE_BITS == 0;
            if entry == 0 || is_alike && self.key((entry & PLACE) as usize - 1) == key {
                return slot;
            }
            slot = self.after(slot);
        }
    }

    /// Whether the set has a key.
    pub(crate) fn contains(&self, key: &[u64]) -> bool {
        !self.slots.is_empty() && self.slots[self.find(key)] != 0
    }

    /// Makes room for another key.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(crate) fn reserve(&mut self) -> Result<()> {
        let keys = self.len();
        let failed = |_| error!(OutOfMemory, "memory for another key beside {keys} kept ones could not be had");
        self.keys.try_reserve(self.key_words).map_err(failed)?;
        if 4 * (keys + 1) <= 3 * self.slots.len() {
            return Ok(());
        }
        let count = (2 * self.slots.len()).max(16);
        let mut slots = try_vec(count)?;
        slots.resize(count, 0);
        self.slots = slots;
        for place in 0..keys {
            let hash = self.hash(self.key(place));
            let mut slot = hash as usize & (count - 1);
            while self.slots[slot] != 0 {
                slot = self.after(slot);
            }
            self.slots[slot] = hash & !PLACE | (place as u64 + 1);
        }
        Ok(())
    }

    /// Takes in a key that the set does not have. [`Kept::reserve`] has made room for it.
    pub(crate) fn insert(&mut self, key: &[u64]) {
        let slot = self.find(key);
        self.slots[slot] = self.hash(key) & !PLACE | (self.len() as u64 + 1);
        self.keys.extend_from_slice(key);
    }

    /// Removes a key that the set has.
    pub(crate) fn remove(&mut self, key: &[u64]) {
        let slot = self.find(key);
        let (place, last) = ((self.slots[slot] & PLACE) as usize - 1, self.len() - 1);
        if place != last {
            let moved = self.find(self.key(last));
            self.slots[moved] = self.slots[moved] & !PLACE | (place as u64 + 1);
            let words = last * self.key_words..(last + 1) * self.key_words;
            self.keys.copy_within(words, place * self.key_words);
        }
        self.keys.truncate(last * self.key_words);
        self.close(slot);
    }

    /// Empties a slot, and moves the entries after it so that searches still find them.
    fn close(&mut self, mut empty: usize) {
        self.slots[empty] = 0;
        let mut slot = self.after(empty);
        while self.slots[slot] != 0 {
            let entry = self.slots[slot];
            let home = self.hash(self.key((entry & PLACE) as usize - 1)) as usize & (self.slots.len() - 1);
            let distance = |from: usize| slot.wrapping_sub(from) & (self.slots.len() - 1);
            if distance(home) >= distance(empty) {
                self.slots[empty] = entry;
                self.slots[slot] = 0;
                empty = slot;
            }
            slot = self.after(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;
    use std::collections::BTreeSet;

    /// Random insertions and removals of a few keys, so that most chains of the table change often.
    #[test]
    fn is_the_set_of_its_changes() {
        for key_words in [1, 3] {
            let (mut kept, mut set) = (Kept::new(key_words), BTreeSet::new());
            for step in 0..60_000_u64 {
                let range = [40, 700, 5000][(step / 20_000) as usize];
                let key: Vec<u64> = (0..key_words as u64).map(|word| mix(step) % range * (word + 1)).collect();
                assert_eq!(kept.contains(&key), set.contains(&key), "step {step}");
                if set.remove(&key) {
                    kept.remove(&key);
                } else {
                    kept.reserve().unwrap();
                    kept.insert(&key);
                    set.insert(key);
                }
                if step % 1000 == 999 {
                    let held: BTreeSet<Vec<u64>> = kept.words().chunks(key_words).map(<[u64]>::to_vec).collect();
                    assert!(held == set && kept.words().len() == key_words * set.len(), "step {step}");
                    assert_eq!(kept.copy().unwrap().words(), kept.words());
                }
            }
            assert!(set.iter().all(|key| kept.contains(key)));
            kept.clear();
            assert!(!kept.contains(&vec![0; key_words]) && kept.words().is_empty());
        }
    }
}
