//! What is done with the slices of a payload.

use super::slices::{GROUPS, Shape, Slices, word};
use crate::bits;
use crate::bits::ring::{self, Batch, CHUNK, Chunk, GROUP, Taken};
use crate::error::{Result, Status, error};
use crate::kind::{Age, Base, Insert, Kind, Payload, change_one, change_words, one_by_one};
use crate::layouts::Measure;
use crate::sizing::age_partitioned::{MAX_SLICES, run};
use crate::storage::try_box;
use core::ops::Range;
use core::sync::atomic::Ordering;

/// Slices in a ring. The last line of the payload is their state: which of them is the youngest, counted against the
/// order of the ring, and how many keys its generation has taken.
struct AgePartitioned {
    base: Base,
    shape: Shape,
}

/// Where in the state is how many steps were made, modulo the number of slices.
const STEPS: usize = 0;
/// Where in the state is how many keys the generation has taken.
const TAKEN: usize = 1;

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    match Shape::of(base.geometry()) {
        Some(shape) => Ok(try_box(AgePartitioned { base, shape })?),
        None => Err(base.foreign_geometry()),
    }
}

impl AgePartitioned {
    /// The steps that were made, modulo the number of slices. A payload that was not verified may hold any number.
    #[inline]
    fn steps(&self) -> u64 {
        let (steps, count) = (word(self.base.words().shared(), STEPS), u64::from(self.shape.count()));
        if steps < count { steps } else { 0 }
    }

    /// The slices as they are now: with every step the one before the youngest becomes that.
    #[inline]
    fn slices(&self) -> Slices<'_> {
        let (steps, count) = (self.steps() as u32, self.shape.count());
        let youngest = if steps == 0 { 0 } else { count - steps };
        Slices::new(self.shape, self.base.words().shared(), youngest)
    }

    /// How many keys are left of the generation.
    #[inline]
    fn room(&self) -> u64 {
        match self.shape.clock {
            0 => self.shape.keys.saturating_sub(word(self.base.words().shared(), TAKEN)),
            _ => u64::MAX,
        }
    }

    /// Sets the bits of a mixed hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn set(&mut self, hash: u64) -> Option<()> {
        if self.room() == 0 {
            if self.slices().has_young(hash) {
                return Some(());
            }
            self.step(1)?;
        }
        let (hashes, mut positions) = (self.shape.hashes, [0; MAX_SLICES]);
        let slices = self.slices();
        for (age, position) in (0..hashes).zip(&mut positions) {
            *position = slices.position(hash, age);
        }
        let words = self.base.writable_at_once()?;
        let mut new = false;
        for position in &positions[..hashes as usize] {
            new |= bits::set(words, *position);
        }
        let taken = Shape::state(words.len()) + TAKEN;
        words[taken] = words[taken].saturating_add(u64::from(new));
        Some(())
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it.
    fn insert(&mut self, hash: u64) -> Option<bool> {
        if !self.base.is_at_once() {
            return None;
        }
        let hash = bits::mix(hash);
        let new = !self.slices().contains(hash);
        self.set(hash)?;
        self.base.add_count(1);
        Some(new)
    }

    /// Makes the oldest slice the youngest, so many times.
    fn step(&mut self, steps: u64) -> Option<()> {
        let (forgotten, made, count) = (self.forgotten(steps), self.steps(), u64::from(self.shape.count()));
        let words = self.base.writable_at_once()?;
        for Range { start, end } in forgotten {
            bits::clear(words, start, end);
        }
        if steps > 0 {
            let state = Shape::state(words.len());
            words[state + STEPS] = (made + steps % count) % count;
            words[state + TAKEN] = 0;
        }
        Some(())
    }

    /// The bits of the slices that so many steps clear.
    fn forgotten(&self, steps: u64) -> [Range<u64>; 2] {
        let count = u64::from(self.shape.count());
        let cleared = steps.min(count);
        // The youngest is slice -steps of the ring, and those before it are the oldest.
        let last = (count - self.steps()) % count;
        let first = (last + count - cleared) % count;
        bits::arc(first, cleared, count).map(|slices| self.shape.bits_of(slices))
    }
}

/// The words that some bits lie in.
fn words_of(bits: Range<u64>) -> Range<usize> {
    if bits.is_empty() { 0..0 } else { (bits.start / 64) as usize..bits.end.div_ceil(64) as usize }
}

impl Payload for AgePartitioned {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check_payload(&self) -> Result<()> {
        let words = self.base.words().shared();
        let (slices, state) = words.split_at(Shape::state(words.len()));
        let [steps, taken] = [STEPS, TAKEN].map(|place| state[place].load(Ordering::Relaxed));
        let count = u64::from(self.shape.count());
        if steps >= count {
            return Err(error!(Corrupt, "{steps} steps were made around {count} slices"));
        }
        let most = self.shape.bits.saturating_mul(self.shape.hashes.into());
        if taken > most {
            return Err(error!(Corrupt, "a generation has taken {taken} keys, which have only {most} bits"));
        }
        let is_rest_zero = state[TAKEN + 1..].iter().all(|word| word.load(Ordering::Relaxed) == 0);
        if is_rest_zero && bits::is_zero_from(slices, self.shape.bits_of(0..count).end) {
            return Ok(());
        }
        Err(error!(Corrupt, "bits after the last slice, or after the state, are set"))
    }
}

impl Kind for AgePartitioned {
    fn contains_hash(&self, hash: u64) -> bool {
        self.slices().contains(bits::mix(hash))
    }

    fn fetch(&self, hash: u64) {
        self.slices().fetch_first(bits::mix(hash));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.slices().contains_many(batch);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut fills, mut taken) = ([0.0; MAX_SLICES], 0);
        for (fill, ones) in fills.iter_mut().zip(self.slices().ones(progress)) {
            *fill = ones as f64 / self.shape.bits as f64;
            taken += ones;
        }
        let rate = run(self.shape.hashes, fills[..self.shape.count() as usize].iter().copied());
        Measure::of_bits(taken, self.base.geometry().bits, rate)
    }

    /// The state, and the words of the hash in the young slices; if a step is due, all of the slice that it clears, in
    /// which the hash then has its first bit.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        let (hash, slices) = (bits::mix(hash), self.slices());
        let mut found = self.base.unmarked(Shape::state(self.base.words().shared().len()));
        if found.is_none() && self.room() == 0 {
            found = self.forgotten(1).into_iter().find_map(|bits| self.base.unmarked_in(&words_of(bits)));
        }
        let mut words = (0..self.shape.hashes).map(|age| (slices.position(hash, age) / 64) as usize);
        found.or_else(|| words.find_map(|word| self.base.unmarked(word)))
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_age(&mut self) -> Option<&mut dyn Age> {
        Some(self)
    }
}

impl Insert for AgePartitioned {
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        match self.insert(hash) {
            Some(new) => Ok(new),
            None => change_one(self, hash, |filter| filter.insert(hash))?.ok_or_else(|| Status::Internal.into()),
        }
    }

    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)
    }

    /// Into an image in place keys go one after the other. Elsewhere a chunk is looked up first, if somebody asks: that
    /// brings the lines that the answers need, and a key that is there then stays there while no step is made.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if !self.base.is_own() {
            return one_by_one(batch, |hash| self.insert_one(hash));
        }
        Chunk::each(batch, |chunk| {
            let mut hashes = [0; CHUNK];
            let hashes = &mut hashes[..chunk.hashes().len()];
            hashes.iter_mut().zip(chunk.hashes()).for_each(|(to, from)| *to = bits::mix(*from));
            let is_asked = chunk.is_asked();
            let is_far = self.base.words().shared().len() >= ring::FETCH_FROM;
            let mut known = [0; GROUPS];
            if is_asked && is_far {
                let found = self.slices().contains_chunk(hashes);
                if self.room() >= hashes.len() as u64 {
                    known = found;
                }
            }
            let ahead = ring::ahead(self.base.words().shared().len(), self.shape.hashes as usize);
            if ahead > 0 {
                hashes.iter().take(ahead).for_each(|hash| self.slices().fetch_young(*hash));
            }
            let mut new = [0; GROUPS];
            for i in 0..hashes.len() {
                if let Some(next) = hashes.get(i + ahead).filter(|_| ahead > 0) {
                    self.slices().fetch_young(*next);
                }
                let is_known = known[i / GROUP] >> (i % GROUP) & 1 == 1;
                if is_asked && !is_known {
                    new[i / GROUP] |= u64::from(!self.slices().contains(hashes[i])) << (i % GROUP);
                }
                self.set(hashes[i]).ok_or(Status::Internal)?;
            }
            self.base.add_count(hashes.len() as u64);
            for (start, new) in (0..hashes.len()).step_by(GROUP).zip(new) {
                chunk.answer(new, GROUP.min(hashes.len() - start));
            }
            Ok(())
        })
    }
}

/// A step drops the oldest slice.
impl Age for AgePartitioned {
    fn advance_by(&mut self, steps: u64) -> Result<()> {
        let state = Shape::state(self.base.words().shared().len());
        let [first, second] = self.forgotten(steps).map(words_of);
        let changed = [first, second, if steps > 0 { state..state + 1 } else { 0..0 }];
        change_words(self, &changed, |filter| filter.step(steps))?.ok_or_else(|| Status::Internal.into())
    }
}
