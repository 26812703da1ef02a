//! Where the parts of a payload lie: the memories, the counts of states, the words of the aggregate, and the journal.

use super::state;
use crate::contract::journal::{self, Journal};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::kinds::counting::layout::{CounterLayout, Scattered};
use core::ops::Range;

/// Bits of a counter in a memory. A counter that reaches 15 stays there.
pub const COUNTER_BITS: u32 = 4;
/// Counters of a word.
pub const COUNTERS_OF_WORD: u64 = 64 / COUNTER_BITS as u64;
/// The most states that a participant can have.
pub const MAX_STATES: u64 = 65_536;

/// The memories of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The ids that were ever aggregated here.
    Ids,
    /// The ids with the state and value that was aggregated here.
    States,
    /// The aggregators with the state that they were told.
    Told,
}

/// Where the parts of a payload lie.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The counters of one memory. All memories have the same number.
    pub cells: Scattered,
    /// How many states a participant can have.
    pub states: u32,
    memory_words: usize,
    aggregates: bool,
    disseminates: bool,
    journal_words: usize,
}

/// How many memories the roles of this number have, or `None` if there are no such roles.
pub fn memories(roles: u64) -> Option<u64> {
    [3, 2, 1].get(roles as usize).copied()
}

/// The most words that a change touches, for which a journal has room: two entries of a memory and, where there is an
/// aggregate, its words and the counts of two states.
fn most_words(hashes: u32, roles: u64) -> u64 {
    2 * u64::from(hashes) + if roles == 2 { 0 } else { state::WORDS as u64 + 2 }
}

impl Layout {
    /// The geometry of memories of `memory_words` words each. `journals` is 1 with a journal, and 0 without one, as in
    /// payloads of layout 1.
    pub fn geometry(
        memory_words: u64,
        hashes: u32,
        states: u64,
        roles: u64,
        journals: u64,
    ) -> Option<crate::error::Result<Geometry>> {
        let words = memory_words.checked_mul(memories(roles)?)?;
        let rest = if roles == 2 { 0 } else { states + state::WORDS as u64 };
        let rest = rest + journals * journal::words_for(most_words(hashes, roles));
        let bytes =
            words.checked_add(rest).and_then(|words| words.checked_mul(8)?.checked_next_multiple_of(PAYLOAD_UNIT));
        let bits = words.checked_mul(64)?;
        Some(Geometry::of_bytes(bits, hashes, [states, roles, journals, 0, 0, 0, 0, 0], bytes))
    }

    /// The layout that a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Layout> {
        let [states @ 1..=MAX_STATES, roles, journals @ 0..=1, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let memories = memories(roles)?;
        let memory_words = geometry.bits / 64 / memories;
        let expected = Layout::geometry(memory_words, geometry.hashes, states, roles, journals)?.ok()?;
        if expected != *geometry || memory_words == 0 {
            return None;
        }
        let cells = Scattered::new(memory_words.checked_mul(COUNTERS_OF_WORD)?, COUNTER_BITS, geometry.hashes)?;
        Some(Layout {
            cells,
            states: states as u32,
            memory_words: memory_words as usize,
            aggregates: roles != 2,
            disseminates: roles != 1,
            journal_words: (journals * journal::words_for(most_words(geometry.hashes, roles))) as usize,
        })
    }

    /// Whether there are the memories and the words of an aggregator.
    pub fn aggregates(&self) -> bool {
        self.aggregates
    }

    /// Whether there is the memory of a disseminator.
    pub fn disseminates(&self) -> bool {
        self.disseminates
    }

    /// The words of a memory that this layout has.
    pub fn memory(&self, memory: Memory) -> Range<usize> {
        let before = match memory {
            Memory::Ids => 0,
            Memory::States => 1,
            Memory::Told => 2 * usize::from(self.aggregates),
        };
        before * self.memory_words..(before + 1) * self.memory_words
    }

    /// The words of the counts of states: how many ids are aggregated with each state. Empty without an aggregator.
    pub fn counts(&self) -> Range<usize> {
        let start = self.memory_words * (2 * usize::from(self.aggregates) + usize::from(self.disseminates));
        start..start + if self.aggregates { self.states as usize } else { 0 }
    }

    /// The words of the aggregate. Empty without an aggregator.
    pub fn state(&self) -> Range<usize> {
        let start = self.counts().end;
        start..start + if self.aggregates { state::WORDS } else { 0 }
    }

    /// The journal, for changes of several words. Payloads of layout 1 have none.
    pub fn journal(&self) -> Journal {
        let start = self.state().end;
        Journal(start..start + self.journal_words)
    }

    /// Whether there is a journal.
    pub fn has_journal(&self) -> bool {
        self.journal_words > 0
    }

    /// The false-positive rate of a memory of `entries` entries.
    pub fn rate(&self, entries: u64) -> f64 {
        self.cells.false_positive_rate(entries)
    }
}
