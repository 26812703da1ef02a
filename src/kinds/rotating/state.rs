//! The state of the generations, in one word that many change at once.
//!
//! Word [`NEWEST`] says which generation was the newest when somebody last had the filter alone. It stays while many
//! insert. Word [`TURNED`] says all that changes then, so that one compare-and-swap changes it as a whole. The word
//! says how often the oldest generation became the newest since, how many keys the newest has taken, and whether
//! somebody is dropping the oldest. Whoever has the filter alone puts all of that into [`NEWEST`] with its next turn,
//! and begins [`TURNED`] at 0.

use core::sync::atomic::{AtomicU64, Ordering};

/// Where in the state is which generation was the newest at first.
pub const NEWEST: usize = 0;
/// Where in the state is what happened since: 40 bits of keys, a bit that says that the oldest generation is being
/// dropped, and 23 bits of turns.
pub const TURNED: usize = 1;

/// The most keys that a generation counts.
pub const MOST_KEYS: u64 = (1 << 40) - 1;
const TURNING: u64 = 1 << 40;
const TURN: u32 = 41;

/// Turns are counted modulo this, a multiple of the number of generations.
pub const fn rounds(generations: u64) -> u64 {
    (1 << (u64::BITS - TURN)) / generations * generations
}

/// What the state says.
#[derive(Clone, Copy)]
pub struct State {
    first: u64,
    turned: u64,
}

impl State {
    /// What these words say. The second one is read in this order.
    pub fn read(words: &[AtomicU64], order: Ordering) -> State {
        State { first: words[NEWEST].load(Ordering::Relaxed), turned: words[TURNED].load(order) }
    }

    /// What the second word says by itself: all but which generation is the newest.
    pub fn of(turned: u64) -> State {
        State { first: 0, turned }
    }

    /// The newest of so many generations. A payload that was not verified may hold any number.
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

    /// How often generations turned since somebody last had the filter alone.
    pub fn turns(self) -> u64 {
        self.turned >> TURN
    }

    /// The newest generation, after the turn that is being made.
    pub fn newest_next(self, generations: u64) -> usize {
        ((self.newest(generations) as u64 + u64::from(self.is_turning())) % generations) as usize
    }

    /// How many keys it has taken, after the turn that is being made.
    pub fn taken_next(self) -> u64 {
        if self.is_turning() { 0 } else { self.taken() }
    }

    /// The word with so many keys more.
    pub fn with_keys(turned: u64, keys: u64) -> u64 {
        turned & !MOST_KEYS | (turned & MOST_KEYS).saturating_add(keys).min(MOST_KEYS)
    }

    /// The word of a turn that begins.
    pub fn turning(turned: u64) -> u64 {
        turned | TURNING
    }

    /// The word after the turn, of so many generations.
    pub fn after(self, generations: u64) -> u64 {
        ((self.turns() + 1) % rounds(generations)) << TURN
    }
}
