//! What is done with the segments of a filter.

use super::layout::Layout;
use super::mothers;
use super::table::{Outcome, Refusal, Table};
use crate::bits;
use crate::bits::ring::{self, Batch, Taken};
use crate::error::{Error, Result, Status, error};
use crate::format::Geometry;
use crate::kind::{Base, Cardinality, Grow, Insert, Kind, Merge, Payload, Rejuvenate, Remove};
use crate::layouts::Measure;
use crate::storage::{Words, try_box};
use core::sync::atomic::AtomicU64;

/// Lines that a lookup touches, about.
const LINES: usize = 3;

/// An Aleph filter over a payload.
struct Aleph {
    base: Base,
    table: Table,
}

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let layout = Layout::of(base.geometry()).ok_or_else(|| base.foreign_geometry())?;
    let table = Table::new(layout, base.words().shared(), base.instructions())?;
    Ok(try_box(Aleph { base, table })?)
}

impl Aleph {
    fn contains(&self, mixed: u64) -> bool {
        self.table.contains(self.base.words().shared(), mixed)
    }

    fn stored(&self) -> u64 {
        Table::stored(self.base.words().shared())
    }

    /// Inserts a hash into memory of the filter's own.
    #[inline]
    fn insert(&mut self, hash: u64) -> Result<bool> {
        let mixed = bits::mix(hash);
        let new = !self.contains(mixed);
        self.table.insert_new(&mut self.base, mixed).map_err(|refusal| self.refuse(refusal))?;
        if new {
            let stored = self.stored();
            Table::store(&mut self.base, stored.saturating_add(1))?;
        }
        self.base.add_count(1);
        Ok(new)
    }

    #[cold]
    fn refuse(&self, refusal: Refusal) -> Error {
        let (keys, most) = (self.base.count(), self.table.most_growths);
        match refusal {
            Refusal::Error(error) => error,
            Refusal::Full if self.table.layout.growths() + u32::from(self.table.layout.is_dividing) >= most => {
                error!(Full, "the Aleph filter is full: it holds {keys} keys, and can double {most} times")
            }
            Refusal::Full => error!(
                Full,
                "the Aleph filter is full: it holds {keys} keys, of which one part of it has many more than others, or of \
                 too many nothing more is known"
            ),
        }
    }

    /// How far ahead of a key its lines are fetched.
    fn ahead(&self) -> usize {
        ring::ahead(self.base.words().shared().len(), LINES)
    }

    /// Takes over another payload of the same kind and identity, and gives back what there was.
    fn replace(&mut self, geometry: Geometry, words: Words) -> Result<(Geometry, Words)> {
        let layout = Layout::of(&geometry).ok_or_else(|| self.base.foreign_geometry())?;
        self.table = Table::new(layout, words.shared(), self.base.instructions())?;
        Ok(self.base.replace(geometry, words))
    }

    /// Inserts so many times what is known of a key; whether that was not there.
    fn insert_known(&mut self, mixed: u64, known: u32, times: u64) -> Outcome<bool> {
        let new = !self.table.contains_known(self.base.words().shared(), mixed, known);
        self.table.insert_known(&mut self.base, mixed, known, times)?;
        Ok(new)
    }

    /// Changes what the filter holds of each key of a batch, with the lines of later ones on their way.
    #[inline]
    fn each(&mut self, batch: &mut dyn Batch, change: impl FnMut(&mut Aleph, u64) -> Result<bool>) -> Taken {
        let ahead = self.ahead();
        ring::trying(self, ahead, batch, |filter: &Aleph, hash| filter.fetch(hash), change)
    }

    /// Inserts all entries of other segments; how many different ones there were, and how many of these were not there.
    fn insert_all(&mut self, table: &Table, words: &[AtomicU64]) -> Outcome<(u64, u64)> {
        let (mut all, mut new) = (0, 0);
        for address in table.addresses() {
            let least = table.address_bits(address);
            // Void entries are those of their mothers.
            for (entry, times) in table.entries(words, address).filter(|(entry, _)| entry.length > 0) {
                let mixed = table.prefix(address, entry.slot) | entry.fingerprint << least;
                new += u64::from(self.insert_known(mixed, least + entry.length, times)?);
                all += 1;
            }
        }
        let (least, most) = (table.layout.growing.slot_bits, table.layout.growing.slot_bits + table.most_growths);
        for (mother, times) in mothers::all(table.mothers(words)) {
            let known = mother.ilog2();
            // One of a payload that nobody verified may be of too many keys.
            if (least..=most).contains(&known) {
                new += u64::from(self.insert_known(mother ^ 1 << known, known, times)?);
                all += 1;
            }
        }
        Ok((all, new))
    }
}

impl Payload for Aleph {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check_payload(&self) -> Result<()> {
        self.table.check(self.base.words().shared())
    }
}

impl Kind for Aleph {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(self.base.words().shared(), bits::mix(hash))
    }

    fn fetch(&self, hash: u64) {
        for word in self.table.words_of(bits::mix(hash)) {
            ring::fetch_word(self.base.words().shared(), word);
        }
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        if self.table.contains_many(self.base.words().shared(), batch) {
            return;
        }
        let answer = |filter: &mut &Aleph, hash| filter.contains_hash(hash);
        ring::rolling(&mut &*self, self.ahead(), batch, |filter, hash| filter.fetch(hash), ring::nothing, answer);
    }

    /// Of each slot it is known which share of all hashes with it finds an entry there: entries of the same length have
    /// no hash in common, and those of different lengths were inserted independently of each other.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let words = self.base.words().shared();
        let (mut taken, mut slots, mut rate, mut read) = (0, 0, 0.0, 0);
        for address in self.table.addresses() {
            let shape = self.table.shape(address);
            taken += self.table.taken(words, address).min(shape.table.slots());
            slots += shape.table.slots();
            let mut absent = Absent { place: (u64::MAX, 0), of_length: 0.0, of_slot: 1.0, found: 0.0 };
            self.table.entries(words, address).for_each(|(entry, _)| absent.add(entry.slot, entry.length));
            rate += absent.all() * (-f64::from(self.table.address_bits(address))).exp2();
            let bytes = 8 * shape.words() as u64;
            progress(bytes);
            read += bytes;
        }
        progress(self.base.words().bytes().saturating_sub(read));
        Measure { taken, fill: taken as f64 / slots as f64, saturated: 0, false_positive_rate: rate.min(1.0) }
    }

    /// Becomes as small as it was at first.
    fn reset(&mut self) -> Result<()> {
        self.base.writable()?;
        let geometry = Layout::new(self.table.layout.growing).geometry().ok_or(Status::Internal)?;
        self.replace(geometry, Words::zeroed(geometry.payload_bytes)?).map(drop)
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_remove(&mut self) -> Option<&mut dyn Remove> {
        Some(self)
    }

    fn as_rejuvenate(&mut self) -> Option<&mut dyn Rejuvenate> {
        Some(self)
    }

    fn as_grow(&self) -> Option<&dyn Grow> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        Some(self)
    }

    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        Some(self)
    }
}

impl Insert for Aleph {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        // Words that may not be written say why.
        self.base.writable()?;
        self.insert(hash)
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        if self.base.is_own() { self.insert(hash).ok() } else { None }
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if let Err(error) = self.base.writable() {
            return Taken::none(error);
        }
        self.each(batch, Aleph::insert)
    }
}

impl Remove for Aleph {
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        self.base.writable()?;
        let mixed = bits::mix(hash);
        let removed = self.table.remove(&mut self.base, mixed)?;
        if removed {
            self.base.subtract_count(1);
            if !self.contains(mixed) {
                let stored = self.stored();
                Table::store(&mut self.base, stored.saturating_sub(1))?;
            }
        }
        Ok(removed)
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        self.each(batch, Aleph::remove_one)
    }
}

impl Rejuvenate for Aleph {
    /// The key was new when it came, or not, so that the number of those that were is as before.
    fn rejuvenate_one(&mut self, hash: u64) -> Result<bool> {
        self.base.writable()?;
        self.table.rejuvenate(&mut self.base, bits::mix(hash)).map_err(|refusal| self.refuse(refusal))
    }

    fn rejuvenate_many(&mut self, batch: &mut dyn Batch) -> Taken {
        self.each(batch, Aleph::rejuvenate_one)
    }
}

impl Grow for Aleph {
    /// Segments grow one by one: these fit whatever their hashes are.
    fn room(&self) -> u64 {
        let (words, limit) = (self.base.words().shared(), self.table.limit());
        let room = |address| limit.saturating_sub(self.table.taken(words, address));
        self.table.addresses().map(room).min().unwrap_or(0)
    }
}

impl Merge for Aleph {
    /// Into a copy of the larger of both: if an entry has no place there, nothing has changed.
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.base.writable()?;
        let theirs = Layout::of(other.base().geometry()).ok_or_else(|| other.base().foreign_geometry())?;
        let is_larger = theirs.growths() > self.table.layout.growths();
        let larger = if is_larger { other.base() } else { &self.base };
        let (geometry, words) = (*larger.geometry(), larger.words().copy()?);
        let (own, own_words) = self.replace(geometry, words)?;
        let (layout, words) = if is_larger {
            (Layout::of(&own).ok_or(Status::Internal)?, own_words.shared())
        } else {
            (theirs, other.base().words().shared())
        };
        let outcome = Table::new(layout, words, self.base.instructions()).map_err(Refusal::from);
        let outcome = outcome.and_then(|table| self.insert_all(&table, words));
        match outcome {
            Ok((all, new)) => {
                // Not all entries are as many keys.
                let share = new as f64 / all.max(1) as f64;
                let more = (Table::stored(words) as f64 * share).round() as u64;
                let stored = self.stored();
                Table::store(&mut self.base, stored.saturating_add(more))
            }
            Err(refusal) => {
                let error = self.refuse(refusal);
                self.replace(own, own_words)?;
                Err(error)
            }
        }
    }
}

/// Of distinct keys: those that seemed to be new, less those that were removed, and as many as seemed to be there at
/// the rate of then.
impl Cardinality for Aleph {
    fn of_payload(&self) -> Option<f64> {
        let keys = self.table.layout.growing.seen(self.stored() as f64);
        keys.is_finite().then_some(keys)
    }

    fn of_taken(&self, _: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, keys: f64) -> f64 {
        (keys - self.stored() as f64).max(0.0).sqrt()
    }
}

/// Of the entries of a segment in their order, in how many slots a random hash finds one.
struct Absent {
    /// The slot and the length of those that were added last.
    place: (u64, u32),
    /// The share of hashes of the slot that find one of these.
    of_length: f64,
    /// The share that finds none of another length.
    of_slot: f64,
    /// The slots before.
    found: f64,
}

impl Absent {
    fn add(&mut self, slot: u64, length: u32) {
        if self.place != (slot, length) {
            self.of_slot *= (1.0 - self.of_length).max(0.0);
            self.of_length = 0.0;
        }
        if self.place.0 != slot {
            self.found += 1.0 - self.of_slot;
            self.of_slot = 1.0;
        }
        self.place = (slot, length);
        self.of_length += (-f64::from(length)).exp2();
    }

    fn all(mut self) -> f64 {
        self.add(u64::MAX, 0);
        self.found
    }
}
