//! Peeling: from the coded symbols of a difference to its keys, all together or symbol by symbol.

use super::symbols::{BESIDE_KEY, Indices, add_to};
use crate::contract::key_shape::{KeyShape, KeyWords};
use crate::contract::{KeyListing, Listed, Listing, listing};
use crate::error::{Result, error};
use crate::hash::Hasher;
use crate::storage::try_vec;

/// The most steps for each symbol. A step computes one index of a key. Peeling as many keys as there are symbols, m,
/// takes 4 ln m + 2 steps for each key on average: fewer than this limit if m is below 10^13.
const STEPS: usize = 128;

/// What is kept of a found key besides its words.
struct Found {
    hash: u64,
    sign: i64,
    /// The key's indices after the last symbol that there is room for.
    indices: Indices,
}

/// Lists the keys of symbols.
///
/// The symbols that are there have all keys that are not found yet. The room after them has what later symbols are to
/// be added to: what [`Peeler::extend`] put there, less the found keys. So a found key need not be looked at again when
/// a symbol comes.
///
/// Each found key empties a symbol. If distinct keys made the symbols, that symbol stays empty, so there are at most as
/// many found keys as symbols. With any other symbols the bounds end the peeling.
pub struct Peeler {
    shape: KeyShape,
    words: Vec<u64>,
    /// The symbols that are there.
    count: usize,
    /// How many of these are not empty.
    taken: usize,
    keys: Vec<u64>,
    found: Vec<Found>,
    /// Symbols that may have a key alone. If distinct keys made the symbols, each comes into the queue at most once.
    queue: Vec<usize>,
    steps: usize,
    /// Whether the peeling has passed its bounds.
    is_spent: bool,
}

impl Peeler {
    /// A peeler without symbols.
    pub fn new(shape: KeyShape) -> Peeler {
        let (words, keys, found, queue) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Peeler { shape, words, count: 0, taken: 0, keys, found, queue, steps: 0, is_spent: false }
    }

    /// How many symbols are there.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many symbols there is room for, those that are there included.
    pub fn room(&self) -> usize {
        self.words.len() / (self.shape.words() + BESIDE_KEY)
    }

    /// The words and the sign of each found key.
    pub fn found(&self) -> impl ExactSizeIterator<Item = (&[u64], i64)> {
        self.keys.chunks_exact(self.shape.words()).zip(&self.found).map(|(key, found)| (key, found.sign))
    }

    /// Whether the found keys are all keys of the symbols.
    pub fn is_complete(&self) -> bool {
        self.taken == 0 && !self.is_spent
    }

    /// The found keys as numbers, in the order of a listing.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn listing(&self) -> Result<Listing> {
        let mut found = listing(self.found.len())?;
        found.listed.extend(self.found().map(|(key, sign)| Listed { sign, number: key[0] }));
        found.listed.sort_unstable();
        found.is_complete = self.is_complete();
        Ok(found)
    }

    /// The found keys whole, in the order of a listing.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn key_listing(&self) -> Result<KeyListing> {
        let bytes = self.shape.bytes();
        let mut sorted = try_vec(self.found.len())?;
        sorted.extend(self.found().map(|(key, sign)| (sign, KeyShape::padded(key))));
        sorted.sort_unstable();
        let (mut keys, mut signs) = (try_vec(bytes * sorted.len())?, try_vec(sorted.len())?);
        signs.extend(sorted.iter().map(|(sign, _)| *sign));
        sorted.iter().for_each(|(_, key)| keys.extend_from_slice(&key[..bytes]));
        Ok(KeyListing { keys, signs, is_complete: self.is_complete() })
    }

    /// Makes room for this number of symbols. `fill` adds to the new words, which are zeros.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the errors of `fill`. Nothing has changed then.
    pub fn extend(&mut self, room: usize, fill: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<()> {
        let (symbol_words, key_words) = ((self.shape.words() + BESIDE_KEY), self.shape.words());
        let failed = |_| error!(OutOfMemory, "memory for {room} coded symbols could not be had");
        let words = room.saturating_mul(symbol_words).max(self.words.len());
        self.words.try_reserve_exact(words - self.words.len()).map_err(failed)?;
        self.queue.try_reserve_exact(room.saturating_sub(self.queue.len())).map_err(failed)?;
        self.found.try_reserve_exact(room.saturating_sub(self.found.len())).map_err(failed)?;
        self.keys.try_reserve_exact((room * key_words).saturating_sub(self.keys.len())).map_err(failed)?;
        let start = self.words.len();
        self.words.resize(words, 0);
        if let Err(error) = fill(&mut self.words[start..]) {
            self.words.truncate(start);
            return Err(error);
        }
        for (key, found) in self.keys.chunks_exact(key_words).zip(&mut self.found) {
            remove(&mut self.words, 0, key, found);
        }
        Ok(())
    }

    /// Declares that all symbols that there is room for are there, and peels. Returns whether that ended within its
    /// bounds.
    pub fn admit_all(&mut self, hasher: &Hasher) -> bool {
        let before = self.count;
        self.count = self.room();
        self.steps = self.steps.saturating_add((self.count - before).saturating_mul(STEPS));
        for symbol in before..self.count {
            self.taken += usize::from(!is_empty(self.symbol(symbol)));
            if self.alone(symbol, hasher).is_some() {
                self.queue.push(symbol);
            }
        }
        self.is_spent |= !self.peel(hasher);
        !self.is_spent
    }

    /// Subtracts `symbol` from the next symbol that there is room for, declares that it is there, and peels. Returns
    /// whether that ended within its bounds; false if there is no room.
    pub fn admit(&mut self, symbol: &[u64], hasher: &Hasher) -> bool {
        let (at, symbol_words) = (self.count * (self.shape.words() + BESIDE_KEY), (self.shape.words() + BESIDE_KEY));
        if self.is_spent {
            return false;
        }
        let Some(place) = self.words.get_mut(at..at + symbol_words) else { return false };
        let [key @ .., hash, count] = symbol else { return false };
        // An odd count adds the XORs, whatever its sign.
        add_to(place, *hash, key, -1);
        place[symbol_words - 1] = place[symbol_words - 1].wrapping_add(1).wrapping_sub(*count);
        self.count += 1;
        self.steps = self.steps.saturating_add(STEPS);
        self.taken += usize::from(!is_empty(self.symbol(self.count - 1)));
        if self.alone(self.count - 1, hasher).is_some() {
            self.queue.push(self.count - 1);
        }
        self.is_spent |= !self.peel(hasher);
        !self.is_spent
    }

    fn symbol(&self, symbol: usize) -> &[u64] {
        &self.words[symbol * (self.shape.words() + BESIDE_KEY)..][..(self.shape.words() + BESIDE_KEY)]
    }

    /// The hash, the words and the sign of the key that is alone in a symbol, if the symbol's words say so.
    fn alone(&self, symbol: usize, hasher: &Hasher) -> Option<(u64, &[u64], i64)> {
        let [key @ .., check, count] = self.symbol(symbol) else { return None };
        let sign = *count as i64;
        if sign != 1 && sign != -1 {
            return None;
        }
        let hash = self.shape.hash(key, hasher)?;
        (hash == *check).then_some((hash, key, sign))
    }

    /// Finds keys until no symbol has one alone. Returns whether that ended within its bounds.
    fn peel(&mut self, hasher: &Hasher) -> bool {
        let key_words = self.shape.words();
        while let Some(symbol) = self.queue.pop() {
            let Some((hash, key, sign)) = self.alone(symbol, hasher) else { continue };
            let mut words = KeyWords::default();
            words[..key_words].copy_from_slice(key);
            // A symbol may say that it has a key that does not belong there.
            let before = Indices::of(hash).take_while(|index| *index < symbol as u64).count();
            let is_own = Indices::of(hash).nth(before) == Some(symbol as u64);
            self.steps = self.steps.saturating_sub(before);
            if !is_own {
                continue;
            }
            if self.found.len() == self.count || self.steps == 0 {
                return false;
            }
            // The room for this key was made with that for the symbol.
            let place = self.keys.len();
            self.keys.extend_from_slice(&words[..key_words]);
            let mut found = Found { hash, sign, indices: Indices::of(hash) };
            let removed = remove(&mut self.words, self.count, &self.keys[place..], &mut found);
            self.steps = self.steps.saturating_sub(removed.symbols);
            self.taken = self.taken + removed.filled - removed.emptied;
            self.found.push(found);
            for index in Indices::of(hash).take_while(|index| *index < self.count as u64) {
                if self.alone(index as usize, hasher).is_some() {
                    if self.queue.len() == self.count {
                        return false;
                    }
                    self.queue.push(index as usize);
                }
            }
        }
        true
    }
}

/// What removing a key has changed.
struct Removed {
    /// How many symbols had the key.
    symbols: usize,
    /// How many symbols were empty before and are not now, and the other way round.
    filled: usize,
    emptied: usize,
}

/// Removes a key from those of its symbols that come next. Returns what became of the first `count` symbols.
fn remove(words: &mut [u64], count: usize, key: &[u64], found: &mut Found) -> Removed {
    let symbol_words = key.len() + BESIDE_KEY;
    let room = (words.len() / symbol_words) as u64;
    let mut removed = Removed { symbols: 0, filled: 0, emptied: 0 };
    while found.indices.peek() < room {
        let index = found.indices.peek() as usize;
        let symbol = &mut words[index * symbol_words..][..symbol_words];
        let was_empty = is_empty(symbol);
        add_to(symbol, found.hash, key, -found.sign);
        if index < count {
            removed.filled += usize::from(was_empty && !is_empty(symbol));
            removed.emptied += usize::from(!was_empty && is_empty(symbol));
        }
        found.indices.next();
        removed.symbols += 1;
    }
    removed
}

fn is_empty(symbol: &[u64]) -> bool {
    symbol.iter().all(|word| *word == 0)
}
