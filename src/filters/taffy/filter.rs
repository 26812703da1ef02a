//! What is done with the segments of a filter.

use super::table::{Layout, Refusal, Table};
use crate::bits;
use crate::bits::ring::{self, Batch, GROUP, Taken};
use crate::error::{Error, Result, Status, error};
use crate::format::Geometry;
use crate::kind::{Base, Cardinality, Grow, Insert, Kind, Merge, Payload};
use crate::layouts::Measure;
use crate::storage::{Words, try_box};
use core::sync::atomic::AtomicU64;

/// A taffy filter over a payload.
struct Taffy {
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
    Ok(try_box(Taffy { base, table })?)
}

impl Taffy {
    fn contains(&self, mixed: u64) -> bool {
        self.table.segments.contains(self.base.words().shared(), mixed)
    }

    fn stored(&self) -> u64 {
        Table::stored(self.base.words().shared())
    }

    /// Inserts a hash into memory of the filter's own.
    #[inline]
    fn insert(&mut self, hash: u64) -> Result<bool> {
        let new = self.table.insert_new(&mut self.base, bits::mix(hash)).map_err(|refusal| self.refuse(refusal))?;
        self.note(1, new.into())?;
        Ok(new)
    }

    /// Notes that so many keys were offered, and so many of them stored.
    #[inline]
    fn note(&mut self, offered: u64, new: u64) -> Result<()> {
        if new > 0 {
            let stored = self.stored();
            Table::store(self.base.writable_at_once().ok_or(Status::Internal)?, stored.saturating_add(new));
        }
        self.base.add_count(offered);
        Ok(())
    }

    #[cold]
    fn refuse(&self, refusal: Refusal) -> Error {
        let growing = &self.table.layout.growing;
        match refusal {
            Refusal::Error(error) => error,
            Refusal::Full if Some(self.table.layout.growths()) < growing.most_doublings() => error!(
                Full,
                "the taffy filter is full: it holds {} keys, of which one part of it has many more than others, or of \
                 too many nothing more is known",
                self.base.count()
            ),
            Refusal::Full if growing.most_doublings() < Some(growing.doublings) => {
                error!(Full, "the taffy filter is full: hashes of 64 bits do not tell more keys apart")
            }
            Refusal::Full => error!(
                Full,
                "the taffy filter is full: it holds {} keys and was made to double {} times",
                self.base.count(),
                growing.doublings
            ),
        }
    }

    /// Inserts hashes of a group in order, until one is refused: how many were taken, and which of them were new.
    fn insert_group(&mut self, hashes: &[u64], taken: &mut usize, new: &mut u64) -> Result<()> {
        while *taken < hashes.len() {
            let (more, of_these) = self.table.insert_group(&mut self.base, &hashes[*taken..])?;
            self.note(more as u64, of_these.count_ones().into())?;
            *new |= of_these << *taken;
            *taken += more;
            if let Some(hash) = hashes.get(*taken) {
                // Something has to grow for it.
                *new |= u64::from(self.insert(*hash)?) << *taken;
                *taken += 1;
            }
        }
        Ok(())
    }

    fn fetch_mixed(&self, mixed: u64) {
        for word in self.table.segments.words_of(mixed) {
            ring::fetch_word(self.base.words().shared(), word);
        }
    }

    /// Inserts what is known of a key, once for each value of the bits that its place takes and that are not known;
    /// whether any of these was not found.
    fn insert_known(&mut self, mixed: u64, known: u32) -> core::result::Result<bool, Refusal> {
        let address = self.table.segments.address(mixed);
        if !self.table.is_known(known, address) {
            let [zero, one] = [mixed, mixed | 1 << known].map(|mixed| self.insert_known(mixed, known + 1));
            return Ok(zero? | one?);
        }
        match self.table.take_over(&mut self.base, mixed, known)? {
            None => Ok(false),
            Some(covered) => {
                self.table.insert(&mut self.base, mixed, known)?;
                Ok(covered == 0)
            }
        }
    }

    /// Takes over another payload of the same kind and identity, and gives back what there was.
    fn replace(&mut self, geometry: Geometry, words: Words) -> Result<(Geometry, Words)> {
        let layout = Layout::of(&geometry).ok_or_else(|| self.base.foreign_geometry())?;
        self.table = Table::new(layout, words.shared(), self.base.instructions())?;
        Ok(self.base.replace(geometry, words))
    }

    /// Inserts all entries of other segments; how many there were, and how many of these are not of keys that were there.
    fn insert_all(&mut self, table: &Table, words: &[AtomicU64]) -> core::result::Result<(u64, u64), Refusal> {
        let (mut all, mut new) = (0, 0);
        for address in table.addresses() {
            for entry in table.entries(words, address.segment) {
                let (mixed, known) = table.segments.known_bits(address, entry);
                all += 1;
                new += u64::from(self.insert_known(mixed, known)?);
            }
        }
        Ok((all, new))
    }
}

impl Payload for Taffy {
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

impl Kind for Taffy {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains(bits::mix(hash))
    }

    fn fetch(&self, hash: u64) {
        self.fetch_mixed(bits::mix(hash));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        (self.table.kernel.contains_many)(&self.table.segments, self.base.words().shared(), batch);
    }

    /// Exact: of each entry it is known which share of all hashes finds it, and no hash finds two.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (words, shape) = (self.base.words().shared(), &self.table.layout.shape);
        let (mut taken, mut slots, mut rate) = (0, 0, 0.0);
        for address in self.table.addresses() {
            let mut of_length = [0_u64; 64];
            for entry in self.table.entries(words, address.segment) {
                of_length[entry.tail.ilog2() as usize] += 1;
            }
            let least = address.bits + shape.prefix_bits();
            for (length, entries) in (0..).zip(of_length) {
                rate += entries as f64 * (-f64::from(least + length)).exp2();
                taken += entries;
            }
            slots += shape.slots().count;
            progress(8 * shape.words());
        }
        progress(self.base.words().bytes().saturating_sub(8 * shape.words() * (slots / shape.slots().count)));
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

impl Insert for Taffy {
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
        let (mut hashes, mut done) = ([0; GROUP], 0);
        loop {
            let count = batch.next(&mut hashes);
            if count == 0 {
                return Taken::all(done);
            }
            let (mut taken, mut new) = (0, 0);
            let outcome = self.insert_group(&hashes[..count], &mut taken, &mut new);
            if taken > 0 {
                batch.answer(new, taken);
            }
            done += taken;
            if outcome.is_err() || count < GROUP {
                return Taken { keys: done, outcome };
            }
        }
    }
}

impl Grow for Taffy {
    /// Segments grow one by one: these fit whatever their hashes are.
    fn room(&self) -> u64 {
        let (words, limit) = (self.base.words().shared(), self.table.limit());
        let room = |segment| limit.saturating_sub(self.table.taken(words, segment));
        self.table.addresses().map(|address| room(address.segment)).min().unwrap_or(0)
    }
}

impl Merge for Taffy {
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
                // Entries that became several are not as many keys.
                let share = new as f64 / all.max(1) as f64;
                let more = (Table::stored(words) as f64 * share).round() as u64;
                let stored = self.stored().saturating_add(more);
                Table::store(self.base.writable_at_once().ok_or(Status::Internal)?, stored);
                Ok(())
            }
            Err(refusal) => {
                let error = self.refuse(refusal);
                self.replace(own, own_words)?;
                Err(error)
            }
        }
    }
}

/// Of distinct keys: those that were stored, and as many as seemed to be there at the rate of then.
impl Cardinality for Taffy {
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
