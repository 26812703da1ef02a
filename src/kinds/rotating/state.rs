//! The state of the generations, in one word that many threads change at the same time.
//!
//! Word [`NEWEST`] says which generation was the newest when somebody last had the filter to themselves. It stays as it
//! is while many insert. Word [`TURNED`] holds everything that changes then, so that one compare-and-swap changes it as
//! a whole: how often the oldest generation became the newest since, how many keys the newest has taken, and whether
//! somebody is dropping the oldest. Whoever has the filter to themselves moves all of that into [`NEWEST`] with the
//! next turn, and begins [`TURNED`] at 0.

use core::sync::atomic::{AtomicU64, Ordering};

/// The word of the state that says which generation was the newest at first.
pub const NEWEST: usize = 0;
/// The word of the state that says what happened since: 40 bits of keys, a bit that says that the oldest generation is
/// being dropped, and 23 bits of turns.
pub const TURNED: usize = 1;

/// The most keys that a generation counts.
pub const MOST_KEYS: u64 = (1 << 40) - 1;
const TURNING: u64 = 1 << 40;
const TURN: u32 = 41;

/// Turns are counted modulo this number, which is a multiple of the number of generations.
pub const fn rounds(generations: u64) -> u64 {
    (1 << (u64::BITS - TURN)) / generations * generations
}

/// The state that its words hold.
#[derive(Clone, Copy)]
pub struct State {
    first: u64,
    turned: u64,
}

impl State {
    /// The state in these words. The second word is read with this ordering.
    pub fn read(words: &[AtomicU64], order: Ordering) -> State {
        State { first: words[NEWEST].load(Ordering::Relaxed), turned: words[TURNED].load(order) }
    }

    /// The part of the state that the second word has: everything except which generation is the newest.
    pub fn of(turned: u64) -> State {
        State { first: 0, turned }
    }

    /// The newest of `generations` generations. A payload that nobody verified may hold any number.
    pub fn newest(self, generations: u64) -> usize {
        ((self.first % generations + self.turns()) % generations) as usize
    }

    /// How many keys the newest generation has taken.
    pub fn taken(self) -> u64 {
        self.turned & MOST_KEYS
    }

    /// Whether somebody is dropping the oldest generation, or died while doing so.
    pub fn is_turning(self) -> bool {
        self.turned & TURNING != 0
    }

    /// How often generations turned since somebody last had the filter to themselves.
    pub fn turns(self) -> u64 {
        self.turned >> TURN
    }

    /// The newest generation after the turn that is being made, if there is one.
    pub fn newest_next(self, generations: u64) -> usize {
        ((self.newest(generations) as u64 + u64::from(self.is_turning())) % generations) as usize
    }

    /// How many keys the newest generation has taken after that turn.
    pub fn taken_next(self) -> u64 {
        if self.is_turning() { 0 } else { self.taken() }
    }

    /// The second word with `keys` more keys.
    pub fn with_keys(turned: u64, keys: u64) -> u64 {
        turned & !MOST_KEYS | (turned & MOST_KEYS).saturating_add(keys).min(MOST_KEYS)
    }

    /// The second word with a turn begun.
    pub fn turning(turned: u64) -> u64 {
        turned | TURNING
    }

    /// The second word after the turn is made, for `generations` generations.
    pub fn after(self, generations: u64) -> u64 {
        ((self.turns() + 1) % rounds(generations)) << TURN
    }
}
