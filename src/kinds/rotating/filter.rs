//! Generations over the words of a payload, and the operations on them.

use super::shape::{MAX_GENERATIONS, STATE_WORDS, Shape};
use super::state::{NEWEST, State, TURNED, rounds};
use crate::batch::ring::{self, Batch, Chunk, GROUP, Taken};
use crate::bits;
use crate::blocks::{BitLayout, Measure};
use crate::contract::{
    Age, Base, Insert, Kind, Merge, Payload, SharedAge, SharedInsert, change_words, facets, insert_of_words, mark,
    one_by_one, over_base,
};
use crate::error::{Error, Result, Status, error};
use crate::format::PAYLOAD_UNIT;
use crate::kinds::levels::{batch, union};
use crate::sizing::levels::either;
use crate::storage::{try_box, try_vec};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// A filter over generations. The last line of the payload is the state: which generation is the newest, and how many
/// keys it has taken. Lookups ask all generations, so no reader needs the state.
pub struct Rotating {
    pub(super) base: Base,
    pub(super) shape: Shape,
    /// The layout of each generation.
    pub(super) layout: Box<dyn BitLayout>,
    /// Among the threads of this handle, the one that turns the generations alongside others holds this mutex.
    pub(super) turning: Mutex<()>,
}

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let shape = base.known(Shape::of(base.geometry()))?;
    let foreign = |error: Error| if error.status() == Status::OutOfMemory { error } else { base.foreign_geometry() };
    let layout = shape.kind().open(&shape.one, base.instructions()).map_err(foreign)?;
    Ok(try_box(Rotating { base, shape, layout, turning: Mutex::new(()) })?)
}

impl Rotating {
    /// How many generations there are.
    pub(super) fn count(&self) -> usize {
        self.shape.generations as usize
    }

    /// The range of a generation's words in the payload.
    pub(super) fn place(&self, generation: usize) -> Range<usize> {
        let words = self.layout.words();
        generation * words..(generation + 1) * words
    }

    pub(super) fn words(&self, generation: usize) -> &[AtomicU64] {
        &self.base.words().shared()[self.place(generation)]
    }

    /// The place of the state in the payload.
    pub(super) fn state(&self) -> usize {
        self.base.words().shared().len() - STATE_WORDS
    }

    /// The state at this moment.
    fn state_now(&self) -> State {
        self.state_in(self.base.words().shared(), Ordering::Relaxed)
    }

    /// The state in a payload of this shape.
    pub(super) fn state_in(&self, words: &[AtomicU64], order: Ordering) -> State {
        State::read(&words[self.state()..], order)
    }

    /// The newest generation.
    fn newest(&self) -> usize {
        self.state_now().newest(self.shape.generations)
    }

    /// All generations but the newest one, from young to old.
    fn older(&self) -> impl ExactSizeIterator<Item = usize> + Clone {
        let (newest, count) = (self.newest(), self.count());
        (1..count).map(move |age| (newest + count - age) % count)
    }

    /// How many more new keys the newest generation takes before another one becomes the newest.
    fn room(&self) -> u64 {
        self.room_in(self.state_now())
    }

    /// How many more new keys the newest generation of a state takes. The result is 0 while the oldest generation is
    /// being dropped.
    pub(super) fn room_in(&self, state: State) -> u64 {
        match (state.is_turning(), self.shape.counts_keys()) {
            (true, _) => 0,
            (false, true) => self.shape.keys.saturating_sub(state.taken()),
            (false, false) => u64::MAX,
        }
    }

    /// Whether the generations have to turn before the next key, new or not. That is so if somebody began a turn, or if
    /// the newest generation took more keys than its share while others could not turn. A generation with far too many
    /// keys seems to have every key. If only new keys turned it on, that generation would stay the newest for ever.
    pub(super) fn owes_turn(&self, state: State) -> bool {
        state.is_turning() || (self.shape.counts_keys() && state.taken() > self.shape.keys)
    }

    /// How many turns `steps` steps take. A turn in which somebody died is one more.
    fn turns_of(&self, steps: u64) -> u64 {
        steps.saturating_add((steps > 0 && self.state_now().is_turning()).into())
    }

    /// Whether an older generation has a mixed hash.
    #[inline]
    fn finds_older(&self, hash: u64) -> bool {
        self.older().any(|generation| self.layout.contains(self.words(generation), hash))
    }

    /// The rate of all generations together. It would be `independent` if no key were in two of them, and no two had
    /// bits in common. In large generations the first words show how far it is from that.
    fn rate_together(&self, independent: f64) -> Result<f64> {
        let (all, most) = (self.layout.words(), union::looked_at(self.count()));
        let mut generations = try_vec(self.count())?;
        generations.extend((0..self.count()).map(|generation| &self.words(generation)[..all.min(most)]));
        if all <= most {
            return Ok(union::rate_of_any(&*self.layout, &generations)?.exact);
        }
        let part = self.shape.kind().geometry(1, 64 * most as u64, self.shape.one.hashes)?;
        let layout = self.shape.kind().open(&part, self.base.instructions())?;
        let first = union::rate_of_any(&*layout, &generations)?;
        let share = if first.independent > 0.0 { first.exact / first.independent } else { 1.0 };
        Ok((independent * share).min(1.0))
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it.
    fn insert(&mut self, hash: u64) -> Option<bool> {
        if !self.base.is_at_once() {
            return None;
        }
        if self.owes_turn(self.state_now()) {
            self.turn_on(1)?;
        }
        let hash = bits::mix(hash);
        let has_it = self.layout.contains(self.words(self.newest()), hash);
        let new = !has_it && !self.finds_older(hash);
        if new || (!has_it && self.shape.touch == 1) {
            if self.room() == 0 {
                self.turn_on(1)?;
            }
            let (place, state) = (self.place(self.newest()), self.state());
            let words = self.base.writable_at_once()?;
            self.layout.insert(&mut words[place], hash);
            words[state + TURNED] = State::with_keys(words[state + TURNED], 1);
        }
        self.base.add_count(1);
        Some(new)
    }

    /// Makes the oldest generation the newest, `turns` times.
    fn turn_on(&mut self, turns: u64) -> Option<()> {
        let (newest, count, state) = (self.newest(), self.count(), self.state());
        let forgotten = self.forgotten(turns);
        let words = self.base.writable_at_once()?;
        for place in forgotten {
            words[place].fill(0);
        }
        if turns > 0 {
            words[state + TURNED] = 0;
            words[state + NEWEST] = (newest as u64 + turns % count as u64) % count as u64;
        }
        Some(())
    }

    /// The ranges of the generations that the next `turns` turns clear.
    fn forgotten(&self, turns: u64) -> [Range<usize>; 2] {
        let first = (self.newest() + 1) % self.count();
        let place = |generations: Range<u64>| {
            self.place(generations.start as usize).start..self.place(generations.end as usize).start
        };
        bits::arc(first as u64, turns, self.shape.generations).map(place)
    }

    /// Inserts keys, given by their mixed hashes, and returns which of them were new. The filter's words must be its
    /// own memory. `None`, with nothing done, if the keys might not all fit into the newest generation.
    fn insert_into_newest(&mut self, hashes: &[u64], is_asked: bool) -> Option<[u64; batch::GROUPS]> {
        if self.room() < hashes.len() as u64 {
            return None;
        }
        let mut older = batch::Rest::new(hashes);
        if is_asked || self.shape.touch == 0 {
            self.older().for_each(|generation| older.look_up(&*self.layout, self.words(generation)));
        }
        let (place, state) = (self.place(self.newest()), self.state());
        let words = self.base.writable_at_once()?;
        let mut new = [0; batch::GROUPS];
        let taken = if self.shape.touch == 1 {
            new = batch::insert_all(&*self.layout, &mut words[place], hashes);
            let taken = new.iter().map(|new| u64::from(new.count_ones())).sum();
            new.iter_mut().zip(older.found()).for_each(|(new, found)| *new &= !found);
            taken
        } else {
            older.insert(&*self.layout, &mut words[place], &mut new)
        };
        words[state + TURNED] = State::with_keys(words[state + TURNED], taken);
        Some(new)
    }
}

impl Payload for Rotating {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        match is_zero(&self.base.words().shared()[self.place(self.count()).start..self.state()]) {
            true => Ok(()),
            false => Err(error!(Corrupt, "words after the last generation are not zero")),
        }
    }

    fn check_state(&self) -> Result<()> {
        let state = &self.base.words().shared()[self.state()..];
        let (newest, turned) = (state[NEWEST].load(Ordering::Relaxed), self.state_now());
        if newest >= self.shape.generations || turned.turns() >= rounds(self.shape.generations) {
            let turns = turned.turns();
            return Err(error!(
                Corrupt,
                "generation {newest} was the newest, of {}, and {turns} turns came after it", self.shape.generations
            ));
        }
        let taken = turned.taken();
        if taken > self.shape.one.bits {
            return Err(error!(Corrupt, "a generation of {} bits has taken {taken} keys", self.shape.one.bits));
        }
        match is_zero(&state[TURNED + 1..]) {
            true => Ok(()),
            false => Err(error!(Corrupt, "words after the state are not zero")),
        }
    }
}

fn is_zero(words: &[AtomicU64]) -> bool {
    words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
}

impl Kind for Rotating {
    fn contains_hash(&self, hash: u64) -> bool {
        let hash = bits::mix(hash);
        self.layout.contains(self.words(self.newest()), hash) || self.finds_older(hash)
    }

    fn fetch(&self, hash: u64) {
        for generation in 0..self.count() {
            self.layout.fetch(bits::mix(hash), &mut |word| ring::fetch_word(self.words(generation), word));
        }
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let (newest, count) = (self.newest(), self.count());
        let by_age = (0..count).map(|age| (newest + count - age) % count);
        batch::contains_many(batch, by_age.map(|generation| (&*self.layout, self.words(generation))), None);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut taken, mut rate) = (0, 0.0);
        for generation in 0..self.count() {
            let one = self.layout.measure(self.words(generation), progress);
            taken += one.taken;
            rate = either(rate, one.false_positive_rate);
        }
        // Without the memory for that, it is the rate of generations that have no key in common.
        let rate = self.rate_together(rate).unwrap_or(rate);
        Measure::of_bits(taken, self.base.geometry().bits, rate)
    }

    /// Looks through the state, and the words of the hash in the newest generation. If a turn comes first, looks
    /// through all words of the generation that will be the newest.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        let found = self.base.unmarked(self.state());
        // A turn that is owed comes first, and so does a turn for a key without room.
        if found.is_none() && self.room() == 0 {
            return self.base.unmarked_in(&self.place((self.newest() + 1) % self.count()));
        }
        found.or_else(|| self.unmarked_in(self.newest(), bits::mix(hash)))
    }

    /// Only damage of the payload keeps a key out.
    fn refusal(&self, hash: u64) -> Error {
        mark(self, &[hash]).outcome.err().unwrap_or_else(|| self.base.full())
    }

    facets!(Insert, Merge, Age);

    fn as_shared_insert(&self) -> Option<&dyn SharedInsert> {
        if self.shape.touch == 1 { Some(self) } else { None }
    }

    fn as_shared_age(&self) -> Option<&dyn SharedAge> {
        if self.shape.touch == 1 { Some(self) } else { None }
    }
}

impl Insert for Rotating {
    insert_of_words!();

    /// Keys that fit into the newest generation go through its inner loops. If the generation fills up, and in an image
    /// in place, keys go one after the other.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if !self.base.is_own() {
            return one_by_one(batch, |hash| self.insert_one(hash));
        }
        Chunk::each(batch, |chunk| {
            let mut mixed = batch::mixed(chunk.hashes());
            let hashes = &mut mixed[..chunk.hashes().len()];
            match self.insert_into_newest(hashes, chunk.is_asked()) {
                Some(new) => {
                    self.base.add_count(hashes.len() as u64);
                    for (group, new) in hashes.chunks(GROUP).zip(new) {
                        chunk.answer(new, group.len());
                    }
                    Ok(())
                }
                None => {
                    let Taken { keys, outcome } = one_by_one(chunk, |hash| self.insert_one(hash));
                    chunk.keep(keys);
                    outcome
                }
            }
        })
    }
}

/// Unites generations of the same age. The newest generation is taken to have as many keys as that of the filter with
/// fewer keys. So each key stays for as many further keys as it would have without the other filter. A filter without
/// any key changes nothing.
impl Merge for Rotating {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        let others = other.base().words().shared();
        let (count, state) = (self.count(), self.state());
        let holds_nothing = |words: &[AtomicU64]| words[..state].iter().all(|word| word.load(Ordering::Relaxed) == 0);
        let [ours, theirs] = [self.state_now(), self.state_in(others, Ordering::Relaxed)];
        let taken = match (holds_nothing(self.base.words().shared()), holds_nothing(others)) {
            (_, true) => ours.taken_next(),
            (true, false) => theirs.taken_next(),
            (false, false) => ours.taken_next().min(theirs.taken_next()),
        };
        // A turn in which somebody died counts as made: its generation is the newest, and empty.
        let [newest, their_newest] = [ours, theirs].map(|state| state.newest_next(self.shape.generations));
        let of_age = |newest: usize, age: usize| self.place((newest + count - age) % count);
        let pairs: [_; MAX_GENERATIONS] =
            core::array::from_fn(|age| (of_age(newest, age % count), of_age(their_newest, age % count)));
        let words = self.base.writable()?;
        for (age, (place, their_place)) in pairs.into_iter().take(count).enumerate() {
            if age == 0 && ours.is_turning() {
                words[place.clone()].fill(0);
            }
            if age > 0 || !theirs.is_turning() {
                bits::unite(&mut words[place], &others[their_place]);
            }
        }
        words[state + NEWEST] = newest as u64;
        words[state + TURNED] = taken;
        Ok(())
    }
}

/// A step drops the oldest generation.
impl Age for Rotating {
    fn advance_by(&mut self, steps: u64) -> Result<()> {
        let (state, turns) = (self.state(), self.turns_of(steps));
        let [first, second] = self.forgotten(turns);
        let changed = [first, second, if turns > 0 { state..state + 1 } else { 0..0 }];
        change_words(self, &changed, |filter| filter.turn_on(turns))?.ok_or_else(|| Status::Internal.into())
    }
}

const _: () = assert!(STATE_WORDS * 8 == PAYLOAD_UNIT as usize);
