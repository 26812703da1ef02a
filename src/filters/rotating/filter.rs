//! Generations over the words of a payload, and what is done with them.

use super::shape::{MAX_GENERATIONS, STATE_WORDS, Shape};
use crate::bits;
use crate::bits::ring::{self, Batch, Chunk, GROUP, Taken};
use crate::error::{Error, Result, Status, error};
use crate::filters::levels::batch;
use crate::format::PAYLOAD_UNIT;
use crate::kind::{Age, Base, Insert, Kind, Merge, Payload, change_one, change_words, one_by_one};
use crate::layouts::{BitLayout, Measure};
use crate::sizing::scalable::either;
use crate::storage::try_box;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// Generations. The last line of the payload is their state: which one is the newest, and how many keys it has taken.
/// Lookups ask all of them, so that no reader needs the state.
pub struct Rotating {
    base: Base,
    shape: Shape,
    /// That of each generation.
    layout: Box<dyn BitLayout>,
}

/// Where in the state is which generation is the newest.
const NEWEST: usize = 0;
/// Where in the state is how many keys it has taken.
const TAKEN: usize = 1;

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let shape = Shape::of(base.geometry()).ok_or_else(|| base.foreign_geometry())?;
    let foreign = |error: Error| if error.status() == Status::OutOfMemory { error } else { base.foreign_geometry() };
    let layout = shape.kind().open(&shape.one, base.instructions()).map_err(foreign)?;
    Ok(try_box(Rotating { base, shape, layout })?)
}

impl Rotating {
    /// How many generations there are.
    fn count(&self) -> usize {
        self.shape.generations as usize
    }

    /// The places of a generation's words.
    fn place(&self, generation: usize) -> Range<usize> {
        let words = self.layout.words();
        generation * words..(generation + 1) * words
    }

    fn words(&self, generation: usize) -> &[AtomicU64] {
        &self.base.words().shared()[self.place(generation)]
    }

    /// The place of the state in the payload.
    fn state(&self) -> usize {
        self.base.words().shared().len() - STATE_WORDS
    }

    /// The newest generation. A payload that was not verified may hold any number.
    fn newest(&self) -> usize {
        let number = self.base.words().shared()[self.state() + NEWEST].load(Ordering::Relaxed);
        (number % self.shape.generations) as usize
    }

    /// The generation of this age: that of the newest is 0.
    fn of_age(&self, age: usize) -> usize {
        (self.newest() + self.count() - age) % self.count()
    }

    /// All generations but the newest one, from young to old.
    fn older(&self) -> impl ExactSizeIterator<Item = usize> + Clone {
        let (newest, count) = (self.newest(), self.count());
        (1..count).map(move |age| (newest + count - age) % count)
    }

    /// How many keys the newest generation has taken.
    fn taken(&self) -> u64 {
        self.base.words().shared()[self.state() + TAKEN].load(Ordering::Relaxed)
    }

    /// How many new keys the newest generation takes before it is the newest no longer.
    fn room(&self) -> u64 {
        if self.shape.counts_keys() { self.shape.keys.saturating_sub(self.taken()) } else { u64::MAX }
    }

    /// Whether an older generation has a mixed hash.
    #[inline]
    fn finds_older(&self, hash: u64) -> bool {
        self.older().any(|generation| self.layout.contains(self.words(generation), hash))
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it.
    fn insert(&mut self, hash: u64) -> Option<bool> {
        if !self.base.is_at_once() {
            return None;
        }
        let hash = bits::mix(hash);
        let has_it = self.layout.contains(self.words(self.newest()), hash);
        let new = !has_it && !self.finds_older(hash);
        if new || (!has_it && self.shape.touch == 1) {
            if self.room() == 0 {
                self.rotate(1)?;
            }
            let (place, state) = (self.place(self.newest()), self.state());
            let words = self.base.writable_at_once()?;
            self.layout.insert(&mut words[place], hash);
            words[state + TAKEN] = words[state + TAKEN].saturating_add(1);
        }
        self.base.add_count(1);
        Some(new)
    }

    /// Makes the oldest generation the newest, so many times.
    fn rotate(&mut self, steps: u64) -> Option<()> {
        let (newest, count, state) = (self.newest(), self.count(), self.state());
        let forgotten = self.forgotten(steps);
        let words = self.base.writable_at_once()?;
        for place in forgotten {
            words[place].fill(0);
        }
        if steps > 0 {
            words[state + TAKEN] = 0;
            words[state + NEWEST] = (newest as u64 + steps % count as u64) % count as u64;
        }
        Some(())
    }

    /// The places of the generations that so many steps clear.
    fn forgotten(&self, steps: u64) -> [Range<usize>; 2] {
        let first = (self.newest() + 1) % self.count();
        let place = |generations: Range<u64>| {
            self.place(generations.start as usize).start..self.place(generations.end as usize).start
        };
        bits::arc(first as u64, steps, self.shape.generations).map(place)
    }

    /// Inserts keys of which the mixed hashes are given, into memory of the filter's own: which of them were new.
    /// `None`, having done nothing, if they might not all fit into the newest generation.
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
        words[state + TAKEN] = words[state + TAKEN].saturating_add(taken);
        Some(new)
    }
}

impl Payload for Rotating {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check_payload(&self) -> Result<()> {
        let words = self.base.words().shared();
        let state = &words[self.state()..];
        let [newest, taken] = [NEWEST, TAKEN].map(|place| state[place].load(Ordering::Relaxed));
        if newest >= self.shape.generations {
            return Err(error!(Corrupt, "generation {newest} is the newest, of {}", self.shape.generations));
        }
        if taken > self.shape.one.bits {
            return Err(error!(Corrupt, "a generation of {} bits has taken {taken} keys", self.shape.one.bits));
        }
        let is_zero = |words: &[AtomicU64]| words.iter().all(|word| word.load(Ordering::Relaxed) == 0);
        if is_zero(&words[self.place(self.count()).start..self.state()]) && is_zero(&state[TAKEN + 1..]) {
            return Ok(());
        }
        Err(error!(Corrupt, "words after the last generation, or after the state, are not zero"))
    }
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
        Measure::of_bits(taken, self.base.geometry().bits, rate)
    }

    /// The state, and the words of the hash in the newest generation; all of the one that will be.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = self.base.unmarked(self.state());
        if found.is_none() && self.room() == 0 {
            return self.base.unmarked_in(&self.place((self.newest() + 1) % self.count()));
        }
        if found.is_none() {
            let start = self.place(self.newest()).start;
            self.layout.visit_words(bits::mix(hash), &mut |word| {
                found = self.base.unmarked(start + word);
                found.is_none()
            });
        }
        found
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        Some(self)
    }

    fn as_age(&mut self) -> Option<&mut dyn Age> {
        Some(self)
    }
}

impl Insert for Rotating {
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        match self.insert(hash) {
            Some(new) => Ok(new),
            None => change_one(self, hash, |filter| filter.insert(hash))?.ok_or_else(|| Status::Internal.into()),
        }
    }

    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)
    }

    /// Keys that fit into the newest generation go through its inner loops; where that fills, and into an image in
    /// place, they go one after the other.
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

/// Generations of one age are united. The newest one is taken to have as many keys as the one of both that has fewer,
/// so that each key stays for as many keys as if the other filter had never been; one without any key changes nothing.
impl Merge for Rotating {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        let others = other.base().words().shared();
        let state = self.state();
        let holds_nothing = |words: &[AtomicU64]| words[..state].iter().all(|word| word.load(Ordering::Relaxed) == 0);
        let [newest, theirs] = [NEWEST, TAKEN].map(|place| others[state + place].load(Ordering::Relaxed));
        let taken = match (holds_nothing(self.base.words().shared()), holds_nothing(others)) {
            (_, true) => self.taken(),
            (true, false) => theirs,
            (false, false) => self.taken().min(theirs),
        };
        let (count, their_newest) = (self.count(), (newest % self.shape.generations) as usize);
        let pairs = |age: usize| (self.place(self.of_age(age)), self.place((their_newest + count - age) % count));
        let pairs: [_; MAX_GENERATIONS] = core::array::from_fn(|age| pairs(age % count));
        let words = self.base.writable()?;
        for (ours, theirs) in pairs.into_iter().take(count) {
            bits::unite(&mut words[ours], &others[theirs]);
        }
        words[state + TAKEN] = taken;
        Ok(())
    }
}

/// A step drops the oldest generation.
impl Age for Rotating {
    fn advance_by(&mut self, steps: u64) -> Result<()> {
        let state = self.state();
        let [first, second] = self.forgotten(steps);
        let changed = [first, second, if steps > 0 { state..state + 1 } else { 0..0 }];
        change_words(self, &changed, |filter| filter.rotate(steps))?.ok_or_else(|| Status::Internal.into())
    }
}

const _: () = assert!(STATE_WORDS * 8 == PAYLOAD_UNIT as usize);
