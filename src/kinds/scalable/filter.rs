//! Levels over the words of a payload, and the operations on them.

use super::schedule::{MAX_LEVELS, STATE_WORDS, Schedule};
use crate::batch::ring::{self, Batch, Chunk, GROUP, Taken};
use crate::bits;
use crate::blocks::{BitLayout, Chain, Measure};
use crate::contract::INTERVAL_SIGMAS;
use crate::contract::{Base, Cardinality, Grow, Insert, Kind, Payload, change_one, facets, one_by_one, over_base};
use crate::error::{Error, Result, Status, error};
use crate::kinds::levels::batch;
use crate::sizing::levels::either;
use crate::storage::{Words, try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// A level: a layout and its range of the payload.
pub(super) struct Level {
    layout: Box<dyn BitLayout>,
    start: usize,
    end: usize,
    /// How many keys the level takes, computed when somebody first asks.
    capacity: OnceLock<u64>,
}

/// A filter over a chain of levels, in the order of their sizes. The last line of its payload is the state: how many
/// keys the level in use has taken, and which level that is. Lookups ask all levels and not the state, so no key is
/// lost with it.
pub struct Scalable {
    base: Base,
    schedule: Schedule,
    levels: Vec<Level>,
    /// Where all levels are, for kernels that ask every level for one key. `None` if the layout of the levels has no
    /// such kernel.
    chain: Option<Chain>,
}

/// The word of the state that says how many keys the level in use has taken.
pub(super) const TAKEN: usize = 0;
/// The word of the state that says which level is in use.
pub(super) const IN_USE: usize = 1;

/// How many levels are asked one by one even where a kernel asks all of them together: the first answers sooner.
const ONE_BY_ONE: usize = 2;

/// A level of this many words (512 KiB) is not in the second-level cache when a single key comes.
const FAR: usize = 1 << 16;

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let schedule = base.known(Schedule::of(base.geometry()))?;
    let levels = levels(&base, &schedule)?;
    let chain = chain(&levels);
    Ok(try_box(Scalable { base, schedule, levels, chain })?)
}

/// All levels.
fn levels(base: &Base, schedule: &Schedule) -> Result<Vec<Level>> {
    let mut levels = try_vec(schedule.count() as usize)?;
    for place in 0..schedule.count() {
        levels.push(level(base, schedule, place)?);
    }
    Ok(levels)
}

/// The level at a place in the order of levels.
fn level(base: &Base, schedule: &Schedule, place: u32) -> Result<Level> {
    let foreign = |error: Error| if error.status() == Status::OutOfMemory { error } else { base.foreign_geometry() };
    let geometry = schedule.level(schedule.size(place)).map_err(foreign)?;
    let layout = schedule.kind().open(&geometry, base.instructions()).map_err(foreign)?;
    let start = schedule.start(place).ok_or_else(|| base.foreign_geometry())?;
    Ok(Level { start, end: start + layout.words(), layout, capacity: OnceLock::new() })
}

/// The levels as one chain.
fn chain(levels: &[Level]) -> Option<Chain> {
    let mut chain = Chain::new(levels.first()?.layout.link()?);
    let mut add = |level: &Level| Some(chain.add(level.start, level.end - level.start, level.layout.link()?));
    levels.iter().all(|level| add(level) == Some(true)).then_some(chain)
}

impl Scalable {
    /// The words of a level.
    fn words(&self, level: &Level) -> &[AtomicU64] {
        &self.base.words().shared()[level.start..level.end]
    }

    /// The place of the state in the payload.
    fn state(&self) -> usize {
        self.base.words().shared().len() - STATE_WORDS
    }

    /// The level in use. A payload that nobody verified may hold any number.
    fn in_use(&self) -> usize {
        let number = self.base.words().shared()[self.state() + IN_USE].load(Ordering::Relaxed);
        number.min(self.levels.len() as u64 - 1) as usize
    }

    /// How many keys the level in use has taken.
    fn taken(&self) -> u64 {
        self.base.words().shared()[self.state() + TAKEN].load(Ordering::Relaxed)
    }

    /// How many keys a level takes, or 0 if the level's kind cannot have that low a rate.
    fn capacity(&self, level: usize) -> u64 {
        let full = || self.schedule.full(self.schedule.size(level as u32));
        *self.levels[level].capacity.get_or_init(|| full().map_or(0, |full| full.capacity))
    }

    /// The level that the next new key goes to. `None` if all existing levels have their capacity.
    fn next_level(&self) -> Option<usize> {
        let in_use = self.in_use();
        if self.taken() < self.capacity(in_use) {
            return Some(in_use);
        }
        (in_use + 1..self.levels.len()).find(|level| self.capacity(*level) > 0)
    }

    /// Asks together for the lines of a mixed hash in the levels that are larger than the caches next to the processor,
    /// which by itself does not see that many lines ahead.
    #[inline]
    fn fetch_far(&self, hash: u64) {
        for level in self.levels.iter().rev().take_while(|level| level.end - level.start >= FAR) {
            level.layout.fetch(hash, &mut |word| ring::fetch_word(self.words(level), word));
        }
    }

    /// The levels as one chain, and their words.
    fn in_one(&self) -> Option<batch::InOne<'_>> {
        Some((self.chain.as_ref()?, self.base.words().shared()))
    }

    /// Whether any level has a mixed hash, asked from the newest on. A level that is going to be written is not asked,
    /// but its lines are fetched.
    #[inline]
    fn finds(&self, written: Option<usize>, hash: u64) -> bool {
        if self.levels.len() > ONE_BY_ONE
            && let Some((chain, words)) = self.in_one()
        {
            return chain.contains_one(words, written, hash);
        }
        self.fetch_far(hash);
        let mut others = self.levels.iter().enumerate().rev().filter(|(i, _)| Some(*i) != written);
        others.any(|(_, other)| other.layout.contains(self.words(other), hash))
    }

    /// Inserts a hash into words that may be written right away.
    fn insert(&mut self, hash: u64) -> Result<bool> {
        let (hash, in_use) = (bits::mix(hash), self.in_use());
        let has_room = self.taken() < self.capacity(in_use);
        let new = !self.finds(has_room.then_some(in_use), hash) && {
            let level = if has_room { in_use } else { self.make_room()? };
            self.insert_into(level, hash)?
        };
        self.base.add_count(1);
        Ok(new)
    }

    /// Inserts a mixed hash into the level in use. Returns false if the hash seemed to be there.
    fn insert_into(&mut self, level: usize, hash: u64) -> Result<bool> {
        let place = self.state() + TAKEN;
        let Level { layout, start, end, .. } = &self.levels[level];
        let words = self.base.writable_at_once().ok_or(Status::Internal)?;
        let new = layout.insert(&mut words[*start..*end], hash);
        words[place] = words[place].saturating_add(u64::from(new));
        Ok(new)
    }

    /// Finds the level for the next new key, adding a level if need be, and makes it the level in use. An error leaves
    /// everything as it was.
    fn make_room(&mut self) -> Result<usize> {
        let level = match self.next_level() {
            Some(level) => level,
            None => self.grow()?,
        };
        let state = self.state();
        let words = self.base.writable_at_once().ok_or(Status::Internal)?;
        (words[state + TAKEN], words[state + IN_USE]) = (0, level as u64);
        Ok(level)
    }

    /// Adds a level, and returns its number.
    ///
    /// # Errors
    /// [`Status::Full`] for an image in place, and if no further level is possible; [`Status::OutOfMemory`].
    #[cold]
    fn grow(&mut self) -> Result<usize> {
        let levels = self.schedule.levels + 1;
        if !self.base.is_own() || levels > MAX_LEVELS {
            return Err(self.base.full());
        }
        let schedule = self.schedule.with_levels(levels);
        let Ok(geometry) = schedule.geometry() else { return Err(self.base.full()) };
        if !schedule.is_worth_adding(levels - 1) {
            let keys = self.base.count();
            return Err(error!(
                Full,
                "the scalable filter is full: it holds {keys} keys, and another level with so low a \
                 false_positive_rate would take more than 1.5 times the bits of a key"
            ));
        }
        let level = level(&self.base, &schedule, schedule.count() - 1)?;
        let out_of_memory = |_| error!(OutOfMemory, "{} bytes for another level could not be had", size_of::<Level>());
        self.levels.try_reserve(1).map_err(out_of_memory)?;
        let old = self.state();
        self.base.lengthen(geometry)?;
        let words = self.base.writable_at_once().ok_or(Status::Internal)?;
        // The state stays in the last line. The words where it was begin the new level, which is empty.
        words.copy_within(old..old + STATE_WORDS, level.end);
        words[old..old + STATE_WORDS].fill(0);
        self.schedule = schedule;
        self.levels.push(level);
        self.chain = chain(&self.levels);
        Ok(self.levels.len() - 1)
    }

    /// Takes over another payload of the same identity, and the levels in it.
    pub(super) fn replace(&mut self, schedule: Schedule, words: Words) -> Result<()> {
        let (geometry, levels) = (schedule.geometry()?, levels(&self.base, &schedule)?);
        (self.chain, self.levels, self.schedule) = (chain(&levels), levels, schedule);
        self.base.replace(geometry, words);
        Ok(())
    }

    /// Unites the bits of a level of the same size with the level in use, which then has taken `taken` keys.
    pub(super) fn unite_last(&mut self, others: &[AtomicU64], taken: u64) -> Result<()> {
        let Level { start, end, .. } = self.levels[self.in_use()];
        let place = self.state() + TAKEN;
        let words = self.base.writable()?;
        bits::unite(&mut words[start..end], others);
        words[place] = taken;
        Ok(())
    }

    /// Inserts keys, given by their mixed hashes, and sets the bits in `new` of the keys that were new. The filter's
    /// words must be its own memory. `None`, with nothing done, if the keys might not all fit into the level in use.
    fn insert_into_one(&mut self, hashes: &[u64], way: &mut batch::LookupOrder, new: &mut [u64]) -> Option<()> {
        let level = self.in_use();
        if self.capacity(level).saturating_sub(self.taken()) < hashes.len() as u64 {
            return None;
        }
        let place = self.state() + TAKEN;
        let mut rest = batch::Rest::new(hashes);
        if let Some(chain) = way.in_one(self.in_one()) {
            rest.look_up_in_one(chain, level);
        } else {
            for (_, other) in self.levels.iter().enumerate().rev().filter(|(i, _)| *i != level) {
                rest.look_up(&*other.layout, self.words(other));
            }
        }
        way.learn(rest.found(), hashes.len());
        let Level { layout, start, end, .. } = &self.levels[level];
        let words = self.base.writable_at_once()?;
        let taken = rest.insert(&**layout, &mut words[*start..*end], new);
        words[place] = words[place].saturating_add(taken);
        Some(())
    }
}

impl Payload for Scalable {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()
    }

    fn check_state(&self) -> Result<()> {
        let state = &self.base.words().shared()[self.state()..];
        // A writer that clears the filter or goes on to another level writes the number of keys first.
        let [in_use, taken] = [IN_USE, TAKEN].map(|place| state[place].load(Ordering::Acquire));
        let Some(level) = usize::try_from(in_use).ok().and_then(|in_use| self.levels.get(in_use)) else {
            return Err(error!(Corrupt, "level {in_use} is in use, of {} levels", self.levels.len()));
        };
        let bits = 64 * (level.end - level.start) as u64;
        if taken > bits {
            return Err(error!(Corrupt, "level {in_use} of {bits} bits has taken {taken} keys"));
        }
        if state[IN_USE + 1..].iter().any(|word| word.load(Ordering::Relaxed) != 0) {
            return Err(error!(Corrupt, "the last words of the payload are not zero"));
        }
        Ok(())
    }
}

impl Kind for Scalable {
    fn contains_hash(&self, hash: u64) -> bool {
        self.finds(None, bits::mix(hash))
    }

    fn fetch(&self, hash: u64) {
        for level in &self.levels {
            level.layout.fetch(bits::mix(hash), &mut |word| ring::fetch_word(self.words(level), word));
        }
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let levels = self.levels.iter().rev().map(|level| (&*level.layout, self.words(level)));
        batch::contains_many(batch, levels, self.in_one());
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut taken, mut rate) = (0, 0.0);
        for level in &self.levels {
            let one = level.layout.measure(self.words(level), progress);
            taken += one.taken;
            rate = either(rate, one.false_positive_rate);
        }
        Measure::of_bits(taken, self.base.geometry().bits, rate)
    }

    /// Looks through the state, and the words of the hash in the level that it would go to.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = self.base.unmarked(self.state());
        if let (None, Some(level)) = (found, self.next_level().map(|level| &self.levels[level])) {
            level.layout.visit_words(bits::mix(hash), &mut |word| {
                found = self.base.unmarked(level.start + word);
                found.is_none()
            });
        }
        found
    }

    facets!(Insert, Grow, Merge, Cardinality);
}

impl Insert for Scalable {
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        if self.base.is_own() {
            return self.insert(hash);
        }
        change_one(self, hash, |filter| filter.insert(hash))?
    }

    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        if self.base.is_own() { self.insert(hash).ok() } else { None }
    }

    /// Keys that fit into the level in use go through its inner loops. If the level fills up, and in an image in place,
    /// keys go one after the other.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if !self.base.is_own() {
            return one_by_one(batch, |hash| self.insert_one(hash));
        }
        let mut way = batch::LookupOrder::default();
        Chunk::each(batch, |chunk| {
            let mut mixed = batch::mixed(chunk.hashes());
            let hashes = &mut mixed[..chunk.hashes().len()];
            let mut new = [0; batch::GROUPS];
            match self.insert_into_one(hashes, &mut way, &mut new) {
                Some(()) => {
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

impl Grow for Scalable {
    fn room(&self) -> u64 {
        let in_use = self.in_use();
        let later = (in_use + 1..self.levels.len()).map(|level| self.capacity(level));
        later.fold(self.capacity(in_use).saturating_sub(self.taken()), u64::saturating_add)
    }
}

/// Estimates the number of keys. A key is in one level only, and the levels count their keys. The estimate adds the
/// keys that seemed to be there already when they came, as many as the rates of the full levels make likely.
impl Cardinality for Scalable {
    fn of_payload(&self) -> Option<f64> {
        let level = |place: u32| {
            let level = &self.levels[place as usize];
            let measure = level.layout.measure(self.words(level), &mut |_| {});
            let is_one_of_several = self.schedule.of_size(self.schedule.size(place)) > 1;
            let seen = is_one_of_several.then(|| level.layout.cardinality(measure.taken)).flatten();
            (measure.false_positive_rate, seen)
        };
        let keys = self.schedule.distinct(self.in_use() as u32, self.taken(), level).ok()?;
        keys.is_finite().then_some(keys)
    }

    /// The number of bits does not say which level has them, so this reads the full levels too.
    fn of_taken(&self, _: u64) -> Option<f64> {
        self.of_payload()
    }

    /// Only the keys that were mistaken for others are not counted, and these are few and independent. Chains that were
    /// merged may have had keys in common; the interval includes that many fewer keys.
    fn standard_error(&self, keys: f64) -> f64 {
        // These are real numbers, because a forged state may say anything.
        let (mut before, mut again) = (0.0, 0.0);
        for level in 0..self.in_use() {
            let capacity = self.capacity(level) as f64;
            let is_another = self.schedule.size(level as u32) == self.schedule.size(level as u32 + 1);
            before += capacity;
            again += if is_another { capacity } else { 0.0 };
        }
        (keys - before - self.taken() as f64).max(0.0).sqrt() + again / INTERVAL_SIGMAS
    }
}
