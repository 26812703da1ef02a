//! The filter over segments that grow one by one, with everything that such filters can do. [`Table`] has what differs
//! from filter to filter. [`crate::blocks::segments`] says how segments are counted.
//!
//! The first division of a round makes room for all segments in the payload, and each segment is divided when it is
//! full. Apart from moving bytes for that room, no insertion does more work than that for one segment. Hashes go
//! through a bijection first, so that keys which come in the order of their hashes, as a builder gives them, fill all
//! segments alike.
//!
//! The last line of a payload is its state. One of its words says how many keys were new when they came.

mod growth;
mod layout;

pub use growth::{Growth, Outcome, Refusal};
pub use layout::{Layout, false_positive_rate, identity};

use crate::batch::ring::{Batch, Taken};
use crate::bits;
use crate::blocks::Measure;
use crate::blocks::segments::Address;
use crate::contract::{Base, Cardinality, Grow, Insert, Kind, Merge, Payload, Rejuvenate, Remove, facets, over_base};
use crate::error::{Error, Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::simd::Instructions;
use crate::storage::{Words, try_box};
use core::sync::atomic::{AtomicU64, Ordering};

/// The 64-bit words of the last line.
pub const STATE_WORDS: usize = (PAYLOAD_UNIT / 8) as usize;

/// The most keys for each slot. Few slots stand for several keys whose known bits are the same.
const MOST_STORED: u64 = 64;

/// Segments over the words of a payload.
pub trait Table: Growth + Send + Sync + Sized + 'static {
    /// The layout of the payload.
    type Layout: Layout;

    /// Which word of the last line says how many keys were new. The words after it are 0.
    const STORED: usize;

    /// The segments of a payload.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    fn new(layout: Self::Layout, words: &[AtomicU64], instructions: Instructions) -> Result<Self>;

    /// The layout of this payload.
    fn layout(&self) -> &Self::Layout;

    /// The words from the beginning of a segment to that of the next one.
    fn segment_words(&self) -> usize;

    /// Whether a mixed hash may be there.
    fn contains(&self, words: &[AtomicU64], mixed: u64) -> bool;

    /// Asks for the lines that a lookup of a mixed hash reads.
    fn fetch(&self, words: &[AtomicU64], mixed: u64);

    /// Whether each hash of a batch may be there. The hashes are not mixed.
    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch);

    /// Inserts a mixed hash with as many bits as new entries get now. Returns whether no lookup found it before.
    /// Segments that are full grow.
    fn insert(&mut self, base: &mut Base, mixed: u64) -> Outcome<bool>;

    /// As [`Insert::insert_many`], into words that may be written.
    fn insert_many(filter: &mut Grown<Self>, batch: &mut dyn Batch) -> Taken;

    /// Inserts all entries of other segments. Returns how many different ones there were, and how many of these belong
    /// to keys that were not there.
    fn insert_all(&mut self, base: &mut Base, other: &Self, words: &[AtomicU64]) -> Outcome<(u64, u64)>;

    /// Adds to `rate` the share of random hashes that find an entry in a segment. Returns how many slots are taken
    /// there, and the bytes of the segment.
    fn measure(&self, words: &[AtomicU64], address: Address, rate: &mut f64) -> (u64, u64);

    /// The reason why nothing can grow any more.
    fn full(&self, base: &Base) -> Error;

    /// Checks a segment, whichever keys are in it.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    fn check_segment(&self, words: &[AtomicU64], address: Address) -> Result<()>;

    /// Checks the words between the segments and the state.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    fn check_rest(&self, _words: &[AtomicU64]) -> Result<()> {
        Ok(())
    }

    /// Checks the words of the state before the one that says how many keys were new.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    fn check_state(&self, _words: &[AtomicU64]) -> Result<()> {
        Ok(())
    }

    /// Removal, for the tables that can remove.
    fn as_remove(_filter: &mut Grown<Self>) -> Option<&mut dyn Remove> {
        None
    }

    /// Rejuvenation, for the tables that can rejuvenate.
    fn as_rejuvenate(_filter: &mut Grown<Self>) -> Option<&mut dyn Rejuvenate> {
        None
    }
}

/// Segments that grow over a payload.
pub struct Grown<T> {
    pub(crate) base: Base,
    pub(crate) table: T,
}

/// A filter over a payload.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open<T: Table>(base: Base) -> Result<Box<dyn Kind>> {
    let table = T::new(layout_of::<T>(&base)?, base.words().shared(), base.instructions())?;
    Ok(try_box(Grown { base, table })?)
}

fn layout_of<T: Table>(base: &Base) -> Result<T::Layout> {
    T::Layout::of(base.geometry()).ok_or_else(|| base.foreign_geometry())
}

/// Whether words are zeros.
pub fn is_zero(words: &[AtomicU64]) -> bool {
    words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
}

impl<T: Table> Grown<T> {
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }

    /// How many keys of a payload were new when they came.
    fn stored_in(words: &[AtomicU64]) -> u64 {
        words[words.len() - STATE_WORDS + T::STORED].load(Ordering::Relaxed)
    }

    pub(crate) fn stored(&self) -> u64 {
        Grown::<T>::stored_in(self.words())
    }

    /// Writes how many keys were new when they came.
    pub(crate) fn store(&mut self, stored: u64) -> Result<()> {
        let words = self.base.writable_at_once().ok_or(Status::Internal)?;
        let place = words.len() - STATE_WORDS + T::STORED;
        words[place] = stored;
        Ok(())
    }

    /// Notes that `insertions` keys were inserted, and that `new` of them were new.
    #[inline]
    pub(crate) fn note(&mut self, insertions: u64, new: u64) -> Result<()> {
        if new > 0 {
            self.store(self.stored().saturating_add(new))?;
        }
        self.base.add_count(insertions);
        Ok(())
    }

    /// Inserts a hash. The filter's words must be its own memory.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> Result<bool> {
        let new = self.table.insert(&mut self.base, bits::mix(hash)).map_err(|refusal| self.refuse(refusal))?;
        self.note(1, new.into())?;
        Ok(new)
    }

    #[cold]
    pub(crate) fn refuse(&self, refusal: Refusal) -> Error {
        match refusal {
            Refusal::Error(error) => error,
            Refusal::Full => self.table.full(&self.base),
        }
    }

    /// Takes over another payload of the same kind and identity, and returns the old one.
    fn replace(&mut self, geometry: Geometry, words: Words) -> Result<(Geometry, Words)> {
        let layout = T::Layout::of(&geometry).ok_or_else(|| self.base.foreign_geometry())?;
        self.table = T::new(layout, words.shared(), self.base.instructions())?;
        Ok(self.base.replace(geometry, words))
    }
}

impl<T: Table> Payload for Grown<T> {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        let (words, division, size) = (self.words(), self.table.division(), self.table.segment_words());
        for segment in 0..division.segments() {
            match division.address_of(segment) {
                Some(address) => self.table.check_segment(words, address)?,
                None if is_zero(&words[segment * size..(segment + 1) * size]) => {}
                None => {
                    let part = division.first_part(segment);
                    return Err(error!(Corrupt, "segment {segment} is not empty, and segment {part} was not divided"));
                }
            }
        }
        self.table.check_rest(words)
    }

    fn check_state(&self) -> Result<()> {
        let words = self.words();
        self.table.check_state(words)?;
        let (stored, slots) = (self.stored(), self.table.slots() * self.table.division().segments() as u64);
        if stored > slots.saturating_mul(MOST_STORED) {
            return Err(error!(Corrupt, "the state says that {stored} keys are in {slots} slots"));
        }
        match is_zero(&words[words.len() - STATE_WORDS + T::STORED + 1..]) {
            true => Ok(()),
            false => Err(error!(Corrupt, "the last words of the payload are not zero")),
        }
    }
}

impl<T: Table> Kind for Grown<T> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(self.words(), bits::mix(hash))
    }

    fn fetch(&self, hash: u64) {
        self.table.fetch(self.words(), bits::mix(hash));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.table.contains_many(self.words(), batch);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut taken, mut slots, mut rate, mut left) = (0, 0, 0.0, self.base.words().bytes());
        for address in self.table.division().addresses() {
            let (more, bytes) = self.table.measure(self.words(), address, &mut rate);
            (taken, slots) = (taken + more, slots + self.table.slots());
            progress(bytes);
            left = left.saturating_sub(bytes);
        }
        progress(left);
        Measure { taken, fill: taken as f64 / slots as f64, saturated: 0, false_positive_rate: rate.min(1.0) }
    }

    /// Returns to the size that the filter was made with.
    fn reset(&mut self) -> Result<()> {
        self.base.writable()?;
        let geometry = self.table.layout().first().geometry().ok_or(Status::Internal)?;
        self.replace(geometry, Words::zeroed(geometry.payload_bytes)?).map(drop)
    }

    facets!(Insert, Grow, Merge, Cardinality);

    fn as_remove(&mut self) -> Option<&mut dyn Remove> {
        T::as_remove(self)
    }

    fn as_rejuvenate(&mut self) -> Option<&mut dyn Rejuvenate> {
        T::as_rejuvenate(self)
    }
}

impl<T: Table> Insert for Grown<T> {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        // If the image may not be written, this says why.
        self.base.writable()?;
        self.insert(hash)
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        if self.base.is_own() { self.insert(hash).ok() } else { None }
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        match self.base.writable() {
            Ok(_) => T::insert_many(self, batch),
            Err(error) => Taken::none(error),
        }
    }
}

impl<T: Table> Grow for Grown<T> {
    /// Segments grow one by one. This many keys fit without growth, whatever their hashes are.
    fn room(&self) -> u64 {
        let limit = self.table.limit();
        let room = |address| limit.saturating_sub(self.table.taken(self.words(), address));
        self.table.division().addresses().map(room).min().unwrap_or(0)
    }
}

impl<T: Table> Merge for Grown<T> {
    /// Merges into a copy of the larger filter, so that nothing has changed if an entry finds no place.
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.base.writable()?;
        let theirs = layout_of::<T>(other.base())?;
        let is_larger = theirs.growths() > self.table.layout().growths();
        let larger = if is_larger { other.base() } else { &self.base };
        let (geometry, words) = (*larger.geometry(), larger.words().copy()?);
        let (own, own_words) = self.replace(geometry, words)?;
        let (layout, words) = if is_larger {
            (T::Layout::of(&own).ok_or(Status::Internal)?, own_words.shared())
        } else {
            (theirs, other.base().words().shared())
        };
        let outcome = T::new(layout, words, self.base.instructions()).map_err(Refusal::from);
        let outcome = outcome.and_then(|table| self.table.insert_all(&mut self.base, &table, words));
        match outcome {
            Ok((all, new)) => {
                // An entry may stand for several keys, so the new ones are estimated from the share of new entries.
                let share = new as f64 / all.max(1) as f64;
                let more = (Grown::<T>::stored_in(words) as f64 * share).round() as u64;
                self.store(self.stored().saturating_add(more))
            }
            Err(refusal) => {
                let error = self.refuse(refusal);
                self.replace(own, own_words)?;
                Err(error)
            }
        }
    }
}

/// Estimates the number of distinct keys: those that were new when they came, less those of them that were removed,
/// plus as many as must have seemed known at the rate that the filter had then.
impl<T: Table> Cardinality for Grown<T> {
    fn of_payload(&self) -> Option<f64> {
        let keys = self.table.layout().seen(self.stored() as f64);
        keys.is_finite().then_some(keys)
    }

    fn of_taken(&self, _: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, keys: f64) -> f64 {
        (keys - self.stored() as f64).max(0.0).sqrt()
    }
}
