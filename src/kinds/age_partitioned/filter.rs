//! The operations of an age-partitioned filter on the slices of its payload.

use super::layout::{GROUPS, Inserted, Kernel, Slices, kernel};
use super::shape::{Shape, word};
use super::sizing::{MAX_SLICES, run};
use crate::batch::ring::{Batch, Chunk, GROUP, Taken};
use crate::bits;
use crate::blocks::Measure;
use crate::contract::{Age, Base, Insert, Kind, Payload, change_words, facets, insert_of_words, one_by_one, over_base};
use crate::error::{Result, Status, error};
use crate::storage::try_box;
use core::ops::Range;
use core::sync::atomic::Ordering;

/// A filter over a ring of slices. The last line of the payload is the state: which slice is the youngest, counted
/// against the order of the ring, and how many keys its generation has taken.
struct AgePartitioned {
    base: Base,
    shape: Shape,
    kernel: &'static Kernel,
}

/// The word of the state that says how many steps were made, modulo the number of slices.
const STEPS: usize = 0;
/// The word of the state that says how many keys the generation has taken.
const TAKEN: usize = 1;

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let shape = base.known(Shape::of(base.geometry()))?;
    Ok(try_box(AgePartitioned { shape, kernel: kernel(base.instructions()), base })?)
}

impl AgePartitioned {
    /// How many steps were made, modulo the number of slices. An unverified payload may hold any number.
    #[inline]
    fn steps(&self) -> u64 {
        let (steps, count) = (word(self.base.words().shared(), STEPS), u64::from(self.shape.count()));
        if steps < count { steps } else { 0 }
    }

    /// The slices at this moment. Each step makes the slice before the youngest the youngest.
    #[inline]
    fn slices(&self) -> Slices {
        let (steps, Shape { hashes, old, bits, .. }) = (self.steps() as u32, self.shape);
        let youngest = if steps == 0 { 0 } else { self.shape.count() - steps };
        Slices { hashes, old, bits, youngest }
    }

    /// How many more keys fit into the generation.
    #[inline]
    fn room(&self) -> u64 {
        match self.shape.clock {
            0 => self.shape.keys.saturating_sub(word(self.base.words().shared(), TAKEN)),
            _ => u64::MAX,
        }
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it.
    fn insert(&mut self, hash: u64) -> Option<bool> {
        if !self.base.is_at_once() {
            return None;
        }
        let hash = bits::mix(hash);
        let new = !self.slices().contains(self.base.words().shared(), hash);
        if self.room() > 0 || !self.slices().has_young(self.base.words().shared(), hash) {
            if self.room() == 0 {
                self.step(1)?;
            }
            let slices = self.slices();
            let words = self.base.writable_at_once()?;
            let changed = slices.set(words, hash);
            Self::take(words, changed.into());
        }
        self.base.add_count(1);
        Some(new)
    }

    /// Notes that the generation has taken `keys` more keys.
    fn take(words: &mut [u64], keys: u64) {
        let taken = Shape::state(words.len()) + TAKEN;
        words[taken] = words[taken].saturating_add(keys);
    }

    /// Inserts those of at most [`CHUNK`](crate::batch::ring::CHUNK) hashes that come before the next step, and at
    /// least one. Returns how many they are, and what became of them.
    fn insert_some(&mut self, hashes: &[u64], is_asked: bool) -> Option<(usize, Inserted)> {
        let keys = self.room().min(hashes.len() as u64) as usize;
        if keys == 0 {
            let mut one = Inserted::default();
            one.new[0] = self.insert(hashes[0])?.into();
            return Some((1, one));
        }
        let (slices, kernel) = (self.slices(), self.kernel);
        let words = self.base.writable_at_once()?;
        let inserted = (kernel.insert)(&slices, words, &hashes[..keys], is_asked);
        Self::take(words, inserted.changed);
        self.base.add_count(keys as u64);
        Some((keys, inserted))
    }

    /// Makes the oldest slice the youngest, `steps` times.
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

    /// The bits of the slices that the next `steps` steps clear.
    fn forgotten(&self, steps: u64) -> [Range<u64>; 2] {
        let count = u64::from(self.shape.count());
        let cleared = steps.min(count);
        // The youngest slice is number -steps of the ring, and the slices before it are the oldest.
        let last = count - self.steps();
        let first = (last + count - cleared) % count;
        bits::arc(first, cleared, count).map(|slices| self.shape.bits_of(slices))
    }
}

/// The words in which some bits lie.
fn words_of(bits: Range<u64>) -> Range<usize> {
    if bits.is_empty() { 0..0 } else { (bits.start / 64) as usize..bits.end.div_ceil(64) as usize }
}

impl Payload for AgePartitioned {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        let words = self.base.words().shared();
        let slices = &words[..Shape::state(words.len())];
        if bits::is_zero_from(slices, self.shape.bits_of(0..u64::from(self.shape.count())).end) {
            return Ok(());
        }
        Err(error!(Corrupt, "bits after the last slice are set"))
    }

    fn check_state(&self) -> Result<()> {
        let words = self.base.words().shared();
        let state = &words[Shape::state(words.len())..];
        let [steps, taken] = [STEPS, TAKEN].map(|place| state[place].load(Ordering::Relaxed));
        let count = u64::from(self.shape.count());
        if steps >= count {
            return Err(error!(Corrupt, "{steps} steps were made around {count} slices"));
        }
        let most = self.shape.bits.saturating_mul(self.shape.hashes.into());
        if taken > most {
            return Err(error!(Corrupt, "a generation has taken {taken} keys, which have only {most} bits"));
        }
        match state[TAKEN + 1..].iter().all(|word| word.load(Ordering::Relaxed) == 0) {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits after the state are set")),
        }
    }
}

impl Kind for AgePartitioned {
    fn contains_hash(&self, hash: u64) -> bool {
        self.slices().contains(self.base.words().shared(), bits::mix(hash))
    }

    fn fetch(&self, hash: u64) {
        self.slices().fetch_first(self.base.words().shared(), bits::mix(hash));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        (self.kernel.contains_many)(&self.slices(), self.base.words().shared(), batch);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut fills, mut taken) = ([0.0; MAX_SLICES], 0);
        let ones = self.shape.ones(self.base.words().shared(), self.slices().youngest, progress);
        for (fill, ones) in fills.iter_mut().zip(ones) {
            *fill = ones as f64 / self.shape.bits as f64;
            taken += ones;
        }
        let rate = run(self.shape.hashes, fills[..self.shape.count() as usize].iter().copied());
        Measure::of_bits(taken, self.base.geometry().bits, rate)
    }

    /// Looks through the state and the hash's words in the young slices. If a step is due, looks through all words of
    /// the slice that the step clears, because the hash then has its first bit there.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        let (hash, slices) = (bits::mix(hash), self.slices());
        let mut found = self.base.unmarked(Shape::state(self.base.words().shared().len()));
        if found.is_none() && self.room() == 0 {
            found = self.forgotten(1).into_iter().find_map(|bits| self.base.unmarked_in(&words_of(bits)));
        }
        let mut words = (0..self.shape.hashes).map(|age| (slices.position(hash, age) / 64) as usize);
        found.or_else(|| words.find_map(|word| self.base.unmarked(word)))
    }

    facets!(Insert, Age);
}

impl Insert for AgePartitioned {
    insert_of_words!();

    /// Keys go into an image in place one by one.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if !self.base.is_own() {
            return one_by_one(batch, |hash| self.insert_one(hash));
        }
        Chunk::each(batch, |chunk| {
            let (hashes, is_asked) = (chunk.hashes(), chunk.is_asked());
            let (mut new, mut done) = ([0; GROUPS], 0);
            while done < hashes.len() {
                let (keys, some) = self.insert_some(&hashes[done..], is_asked).ok_or(Status::Internal)?;
                for (i, some) in (done / GROUP..GROUPS).zip(some.new) {
                    new[i] |= some << (done % GROUP);
                    if let Some(next) = new.get_mut(i + 1).filter(|_| done % GROUP > 0) {
                        *next |= some >> (GROUP - done % GROUP);
                    }
                }
                done += keys;
            }
            for (start, new) in (0..done).step_by(GROUP).zip(new) {
                chunk.answer(new, GROUP.min(done - start));
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
