//! The kind `aggregate`: duplicate-free aggregation of values that change, after Pournaras, Warnier and Brazier, "A
//! generic and adaptive aggregation service for large-scale decentralized networks", 2013.
//!
//! Participants meet again and again, in any order. Each has an id, a state out of a fixed number of states, and a
//! value that belongs to its state. As an *aggregator* a participant has the sum, the extremes and the number of the
//! values of everyone it met. Two memories, which are counting Bloom filters, keep a value from counting twice: one has
//! the ids that were ever aggregated, the other has the ids with their state and value. As a *disseminator* a
//! participant remembers in a third memory which state it told whom. So a disseminator whose state changed can cite the
//! previous state, and the aggregator replaces the value.
//!
//! The memory of states has the value too, as part of the key. So whoever cites a value that was never aggregated is
//! refused, except at the false-positive rate, and nothing is subtracted that was not added. The sum is exact
//! ([`exact_sum`]): replacing a value ten million times leaves no trace.
//!
//! Header: word 0 is the number of states, and word 1 says which roles the payload has memories for. Word 2 is 1: the
//! payload has a journal, because a meeting changes words that belong together.

pub mod exact_sum;
mod handle;
pub mod layout;
pub mod sizing;
pub mod state;

pub use handle::{Aggregate, AggregateExpectedErrors, AggregateStatistics};

use crate::bits::{GOLDEN, mix};
use crate::contract::{Base, Capabilities, Form, Handle, Payload, Row, Sizes, Structure, over_base};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::bit_filter::bits_for;
use crate::kinds::bloom::layout::MAX_HASHES;
use crate::kinds::counting::layout::CounterLayout;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::ops::Range;
use core::sync::atomic::Ordering;
use layout::{COUNTERS_OF_WORD, Layout, MAX_STATES, Memory, memories};
use state::{MOST, State, Tallies};

/// The parameter for the number of states.
pub const STATES: Parameter = Parameter {
    name: "states",
    summary: "how many states a participant can have; a disseminator looks each of them up when it asks what it told",
    default: 16.0,
    domain: Domain::Integer(1, MAX_STATES),
    word: Some(0),
};

/// The parameter for the roles.
pub const ROLES: Parameter = Parameter {
    name: "roles",
    summary: "whether there are the two memories of an aggregator, the one of a disseminator, or all three",
    default: 0.0,
    domain: Domain::Choice(&["both", "aggregator", "disseminator"]),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::AGGREGATE,
    name: "aggregate",
    summary: "sum, mean, maximum, minimum and count of values that change, each counted once however often it is met",
    capabilities: Capabilities::INSERT.with(Capabilities::REMOVE).with(Capabilities::CLEAR),
    parameters: &[&STATES, &ROLES],
    structure: Structure::Own { handle: Handle::Aggregate, open: |base| Ok(try_box(Memories::open(base)?)?) },
    sizes: Sizes::Multiples(64),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min(geometry.bits.div_ceil(512) as f64),
    false_positive_rate: |geometry, entries| Layout::of(geometry).map_or(1.0, |layout| layout.rate(entries)),
    // Refusals depend on the order of meetings.
    is_canonical: false,
    form: Form { layout_version: 2, ..Form::BASE },
    ..Row::BASE
};

/// The geometry that a spec asks for: its capacity is the number of participants, and its rate applies to each memory.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (states, roles) = (spec.parameter(&STATES)?, spec.parameter(&ROLES)?);
    let memories = memories(roles).ok_or(crate::Status::Internal)?;
    let unit = 64 * memories;
    if let Size::Exact { bits, .. } = size
        && !bits.is_multiple_of(unit)
    {
        return Err(error!(OutOfRange, "bits = {bits} is not a multiple of {unit}, a word of each of the memories"));
    }
    let bits = |counters: u64| counters.div_ceil(COUNTERS_OF_WORD).checked_mul(unit);
    let (bits, hashes) = bits_for(size, MAX_HASHES, unit, bits, |bits| bits / unit * COUNTERS_OF_WORD)?;
    Layout::geometry(bits / unit, hashes, states, roles, 1).ok_or_else(|| size.too_large())?
}

/// A state with the value that belongs to it. C passes arrays of these, so its layout is that of C.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregateStateValue {
    /// The state, from 0 to one less than the number of states.
    pub state: u32,
    /// The value: any finite number.
    pub value: f64,
}

/// The outcome of a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateAnswer {
    /// The id was met for the first time, and its value is aggregated.
    First,
    /// The value was aggregated already, or seemed so.
    Duplicate,
    /// The value of the previous state is replaced by the new one.
    Changed {
        /// The previous state that was replaced.
        replaced: u32,
    },
    /// Nothing is changed. Either the id is new and seems known; or the cited previous states are not aggregated; or
    /// more than one of them seems to be, so that nobody knows which one to replace.
    Refused,
}

/// The memories of a participant, and what it aggregated.
pub struct Memories {
    base: Base,
    layout: Layout,
}

impl Payload for Memories {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        self.base.check_zero_from(self.layout.journal().0.end as u64 * 64)?;
        self.base.unless_unmended(self.check_together())
    }

    fn check_state(&self) -> Result<()> {
        if !self.layout.aggregates() {
            return Ok(());
        }
        let impossible = || Err(error!(Corrupt, "the words of the aggregate are none that meetings leave (aggregate)"));
        let state = self.state();
        match (state.is_bounded(), state.is_consistent()) {
            (false, _) => impossible(),
            (true, false) => self.base.unless_unmended(impossible()),
            (true, true) => Ok(()),
        }
    }

    /// Undoes an unfinished change.
    fn mend(&mut self) -> Result<()> {
        let journal = self.layout.journal();
        if !journal.is_empty(self.base.words().shared()) {
            self.base.writable_to_mend()?;
            journal.undo(self.base.words().shared());
        }
        // The header has the count of the last time that all was written.
        self.base.set_count(self.tallies().count());
        Ok(())
    }
}

impl Memories {
    /// The memories of a payload; refuses a geometry that the kind cannot have.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn open(base: Base) -> Result<Memories> {
        let layout = base.known(Layout::of(base.geometry()))?;
        match layout.has_journal() == (base.header().layout_version > 1) {
            true => Ok(Memories { base, layout }),
            false => Err(base.foreign_geometry()),
        }
    }

    /// Checks words that belong together, which a complete change leaves consistent.
    fn check_together(&self) -> Result<()> {
        let (layout, words) = (&self.layout, self.base.words().shared());
        if !layout.journal().is_empty(words) {
            return Err(error!(Corrupt, "the journal has a change that was not ended (aggregate)"));
        }
        let counts = words[layout.counts()].iter();
        let all = counts.fold(0, |sum: u128, count| sum + u128::from(count.load(Ordering::Relaxed)));
        let count = self.tallies().count();
        if all != u128::from(count) {
            return Err(error!(Corrupt, "the counts of states add up to {all}, and {count} ids are aggregated"));
        }
        Ok(())
    }

    /// Makes a change of several words that belong together: those of these entries, and the aggregate with the counts
    /// of these states if there are any. In an image in place the journal holds them meanwhile.
    fn change<T>(
        &mut self,
        entries: &[(Memory, u64)],
        states: &[u32],
        change: impl FnOnce(&mut [u64], &Layout) -> T,
    ) -> Result<T> {
        let (layout, is_own) = (self.layout, self.base.is_own());
        let words = self.base.writable()?;
        if is_own {
            return Ok(change(words, &layout));
        }
        let journal = layout.journal();
        let mut places = [0; MOST_PLACES];
        let mut count = 0;
        let mut note = |place| {
            // Both words of a counter are named, and they are the same word.
            if count > 0 && places.get(count - 1) == Some(&place) {
                return;
            }
            if let Some(free) = places.get_mut(count) {
                *free = place;
            }
            count += 1;
        };
        for (memory, entry) in entries {
            let start = layout.memory(*memory).start;
            layout.cells.visit_words(*entry, &mut |word| {
                note(start + word);
                true
            });
        }
        if !states.is_empty() {
            states.iter().for_each(|state| note(place(&layout, *state).start));
            layout.state().for_each(note);
        }
        // The layout has room for every change that there is.
        let has_room = places.get(..count).is_some_and(|places| journal.begin(self.base.words().shared(), places));
        if !has_room {
            return Err(crate::Status::Internal.into());
        }
        let outcome = change(self.base.writable()?, &layout);
        journal.end(self.base.words().shared());
        Ok(outcome)
    }

    /// Where the parts lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A word of the aggregate. All are 0 without an aggregator.
    fn word(&self, place: usize) -> u64 {
        let words = &self.base.words().shared()[self.layout.state()];
        words.get(place).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// What the words of the aggregate say.
    pub fn state(&self) -> State {
        State::read(|place| self.word(place))
    }

    /// How often each outcome occurred.
    fn tallies(&self) -> Tallies {
        Tallies::read(|place| self.word(place))
    }

    /// How many ids are aggregated with a state, which [`Memories::check_number`] accepts.
    pub fn count_in_state(&self, state: u32) -> u64 {
        let counts = &self.base.words().shared()[self.layout.counts()];
        counts.get(state as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Whether a memory has an entry.
    fn has(&self, memory: Memory, hash: u64) -> bool {
        self.layout.cells.contains(&self.base.words().shared()[self.layout.memory(memory)], hash)
    }

    /// Refuses a state that no participant has.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn check_number(&self, state: u32) -> Result<()> {
        let states = self.layout.states;
        match state < states {
            true => Ok(()),
            false => Err(error!(OutOfRange, "state = {state} is not one of 0 to {} (states = {states})", states - 1)),
        }
    }

    /// The state and its value, checked. A value of -0 becomes 0.
    fn checked(&self, given: AggregateStateValue) -> Result<AggregateStateValue> {
        self.check_number(given.state)?;
        match given.value.is_finite() {
            true => Ok(AggregateStateValue { value: given.value + 0.0, ..given }),
            false => Err(error!(OutOfRange, "value = {} of state {} is not a finite number", given.value, given.state)),
        }
    }

    /// An aggregator meets the participant whose id has this hash. The participant is in the state `now`, and cites
    /// the states that it may have told this aggregator before.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a state that is not below the parameter `states`, a value
    /// that is not finite, or more previous states than `states`; [`Status::Full`](crate::Status::Full) after 2^62
    /// meetings; the errors about the words. Nothing is changed then.
    pub fn add(
        &mut self,
        id: u64,
        now: AggregateStateValue,
        previous: &[AggregateStateValue],
    ) -> Result<AggregateAnswer> {
        let (now, states) = (self.checked(now)?, self.layout.states);
        if previous.len() > states as usize {
            return Err(error!(
                OutOfRange,
                "{} previous states are cited, more than there are (states = {states})",
                previous.len()
            ));
        }
        let is_known = self.has(Memory::Ids, id);
        let is_duplicate = is_known && self.has(Memory::States, entry(id, now));
        let (mut found, mut several) = (None, false);
        for cited in previous {
            let cited = self.checked(*cited)?;
            if is_known && self.count_in_state(cited.state) > 0 && self.has(Memory::States, entry(id, cited)) {
                several |= found.is_some_and(|found| found != cited);
                found = Some(cited);
            }
        }
        let mut tallies = self.tallies();
        if tallies.meetings() >= MOST {
            return Err(error!(Full, "the aggregate had 2^62 meetings, and counts no more"));
        }
        let count = tallies.count();
        let meeting = match found {
            _ if !is_known => {
                tallies.firsts += 1;
                self.change(&[(Memory::Ids, id), (Memory::States, entry(id, now))], &[now.state], |words, layout| {
                    layout.cells.add(&mut words[layout.memory(Memory::Ids)], id);
                    count_in(words, layout, id, now);
                    change_state(words, layout, tallies, |state| state.add(now.value, count));
                })?;
                AggregateAnswer::First
            }
            Some(cited) if !is_duplicate && !several => {
                tallies.changes += 1;
                let entries = [(Memory::States, entry(id, cited)), (Memory::States, entry(id, now))];
                self.change(&entries, &[cited.state, now.state], |words, layout| {
                    count_out(words, layout, id, cited);
                    count_in(words, layout, id, now);
                    change_state(words, layout, tallies, |state| {
                        state.take(cited.value, count.saturating_sub(1));
                        state.add(now.value, count.saturating_sub(1));
                    });
                })?;
                AggregateAnswer::Changed { replaced: cited.state }
            }
            _ => {
                let (meeting, counter) = match (is_duplicate, previous.is_empty()) {
                    (true, _) => (AggregateAnswer::Duplicate, &mut tallies.duplicates),
                    (false, true) => (AggregateAnswer::Refused, &mut tallies.refused_firsts),
                    (false, false) => (AggregateAnswer::Refused, &mut tallies.refused_changes),
                };
                *counter += 1;
                // Only one word changes.
                let state = self.layout.state();
                tallies.write(&mut self.base.writable()?[state]);
                meeting
            }
        };
        self.base.set_count(tallies.count());
        Ok(meeting)
    }

    /// An aggregator forgets the participant whose id has this hash, and takes its value away. Returns false, with
    /// nothing changed, if the id with this state and value is not aggregated.
    ///
    /// # Errors
    /// As [`Memories::add`].
    pub fn remove(&mut self, id: u64, now: AggregateStateValue) -> Result<bool> {
        let now = self.checked(now)?;
        let mut tallies = self.tallies();
        let is_there = tallies.count() > 0
            && self.count_in_state(now.state) > 0
            && self.has(Memory::Ids, id)
            && self.has(Memory::States, entry(id, now));
        if is_there {
            tallies.departures += 1;
            let count = tallies.count();
            self.change(&[(Memory::Ids, id), (Memory::States, entry(id, now))], &[now.state], |words, layout| {
                layout.cells.subtract(&mut words[layout.memory(Memory::Ids)], id);
                count_out(words, layout, id, now);
                change_state(words, layout, tallies, |state| state.take(now.value, count));
            })?;
            self.base.set_count(tallies.count());
        }
        Ok(is_there)
    }

    /// Whether a disseminator told a state to the aggregator whose id has this hash.
    pub fn has_sent(&self, aggregator: u64, state: u32) -> bool {
        self.has(Memory::Told, told(aggregator, state))
    }

    /// A disseminator notes what the aggregator whose id has this hash answered to a state. Without an answer the
    /// memory keeps both this state and the previous one, because nobody knows which of them is aggregated.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a state that is not below the parameter `states`; the
    /// errors about the words.
    pub fn record_sent(&mut self, aggregator: u64, state: u32, answer: Option<AggregateAnswer>) -> Result<()> {
        self.check_number(state)?;
        let replaced = match answer {
            Some(AggregateAnswer::First) => None,
            Some(AggregateAnswer::Changed { replaced }) => {
                self.check_number(replaced)?;
                Some(replaced)
            }
            None if !self.has_sent(aggregator, state) => None,
            _ => return Ok(()),
        };
        let added = told(aggregator, state);
        let entries = [(Memory::Told, added), (Memory::Told, told(aggregator, replaced.unwrap_or(state)))];
        self.change(&entries[..1 + usize::from(replaced.is_some())], &[], |words, layout| {
            let words = &mut words[layout.memory(Memory::Told)];
            if replaced.is_some() {
                layout.cells.subtract(words, entries[1].1);
            }
            layout.cells.add(words, added);
        })
    }

    /// A disseminator forgets that it told a state to an aggregator. Returns false if it had not.
    ///
    /// # Errors
    /// As [`Memories::record_sent`].
    pub fn forget_sent(&mut self, aggregator: u64, state: u32) -> Result<bool> {
        self.check_number(state)?;
        let forgotten = told(aggregator, state);
        self.change(&[(Memory::Told, forgotten)], &[], |words, layout| {
            layout.cells.subtract(&mut words[layout.memory(Memory::Told)], forgotten)
        })
    }

    /// Forgets everything.
    ///
    /// # Errors
    /// The errors about the words.
    pub fn clear(&mut self) -> Result<()> {
        let journal = self.layout.journal();
        self.base.writable()?;
        journal.begin_clearing(self.base.words().shared());
        let words = self.base.writable()?;
        words[..journal.0.start].fill(0);
        words[journal.0.end..].fill(0);
        journal.end(self.base.words().shared());
        self.base.set_count(0);
        Ok(())
    }
}

/// The most words of a change, which touches two entries of a memory.
const MOST_PLACES: usize = 2 * MAX_HASHES as usize + state::WORDS + 2;

/// The place of the count of a state in the payload.
fn place(layout: &Layout, state: u32) -> Range<usize> {
    let first = layout.counts().start + state as usize;
    first..first + 1
}

/// Changes what the words of the aggregate say, which then has these tallies.
fn change_state(words: &mut [u64], layout: &Layout, tallies: Tallies, change: impl FnOnce(&mut State)) {
    let words = &mut words[layout.state()];
    let mut state = State::read(|place| words[place]);
    change(&mut state);
    State { tallies, ..state }.write(words);
}

/// Adds an id with its state and value to the memory of states.
fn count_in(words: &mut [u64], layout: &Layout, id: u64, now: AggregateStateValue) {
    layout.cells.add(&mut words[layout.memory(Memory::States)], entry(id, now));
    words[place(layout, now.state)].iter_mut().for_each(|count| *count = count.saturating_add(1));
}

/// Takes an id with its state and value, which is there, out of the memory of states.
fn count_out(words: &mut [u64], layout: &Layout, id: u64, was: AggregateStateValue) {
    layout.cells.subtract(&mut words[layout.memory(Memory::States)], entry(id, was));
    words[place(layout, was.state)].iter_mut().for_each(|count| *count = count.saturating_sub(1));
}

/// The entry of an id, given as its hash, with a state and its value.
fn entry(id: u64, now: AggregateStateValue) -> u64 {
    mix(id ^ mix(mix(now.value.to_bits()).wrapping_add(salt(now.state))))
}

/// The entry of an aggregator, given as the hash of its id, with the state that it was told.
fn told(aggregator: u64, state: u32) -> u64 {
    mix(aggregator ^ mix(salt(state)))
}

/// What tells the states apart.
fn salt(state: u32) -> u64 {
    GOLDEN.wrapping_mul(u64::from(state) + 1)
}
