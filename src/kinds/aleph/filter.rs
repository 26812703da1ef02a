//! The operations of an Aleph filter on the segments of its payload.

use super::layout::{Segments, kernel};
use super::mothers;
use super::payload::Layout;
use super::table::{DIVIDED, STORED, Table};
use crate::batch::ring::{self, Batch, Taken};
use crate::bits;
use crate::blocks::runs::Entries;
use crate::blocks::segments::{Address, Division};
use crate::contract::{Base, Rejuvenate, Remove};
use crate::error::{Error, Result, error};
use crate::generic::grown::{self, Grown, Growth, Outcome, STATE_WORDS, Table as _};
use crate::simd::Instructions;
use core::sync::atomic::{AtomicU64, Ordering};

/// About how many cache lines a lookup touches.
const LINES: usize = 3;

impl grown::Table for Table {
    type Layout = Layout;
    const STORED: usize = STORED;

    fn new(layout: Layout, words: &[AtomicU64], instructions: Instructions) -> Result<Table> {
        let mut table = Table::empty(layout, kernel(instructions))?;
        let is_divided = |segment| words[table.flag(segment)].load(Ordering::Relaxed) == 1;
        table.division = Division::of(&layout.extent, is_divided)?;
        Ok(table)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn segment_words(&self) -> usize {
        self.segment_words
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], mixed: u64) -> bool {
        let address = self.address(mixed);
        let (slot, tail) = self.parts(mixed, address);
        (self.kernel.contains)(&self.shape(address), &words[self.range(address)], slot, tail)
    }

    fn fetch(&self, words: &[AtomicU64], mixed: u64) {
        self.words_of(mixed).into_iter().for_each(|word| ring::fetch_word(words, word));
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        let Table { shapes, ref division, segment_words: size, .. } = *self;
        let segments = Segments { shapes, depth: division.extent.depth, divided: division.marks(), size };
        if (self.kernel.contains_many)(&segments, words, batch) {
            return;
        }
        let fetch = |table: &&Table, hash| table.fetch(words, bits::mix(hash));
        let answer = |table: &mut &Table, hash| table.contains(words, bits::mix(hash));
        ring::rolling(&mut &*self, ring::ahead(words.len(), LINES), batch, fetch, ring::nothing, answer);
    }

    #[inline]
    fn insert(&mut self, base: &mut Base, mixed: u64) -> Outcome<bool> {
        let new = !self.contains(base.words().shared(), mixed);
        self.insert_new(base, mixed)?;
        Ok(new)
    }

    fn insert_many(filter: &mut Grown<Table>, batch: &mut dyn Batch) -> Taken {
        each(filter, batch, Grown::insert)
    }

    fn insert_all(&mut self, base: &mut Base, other: &Table, words: &[AtomicU64]) -> Outcome<(u64, u64)> {
        let (mut all, mut new) = (0, 0);
        // Inserts the known bits of a key `times` times.
        let mut add = |mixed, known, times| {
            new += u64::from(!self.contains_known(base.words().shared(), mixed, known));
            all += 1;
            self.insert_known(base, mixed, known, times)
        };
        for address in other.division.addresses() {
            let least = other.address_bits(address);
            // Void entries are left out here: the second loop adds each of them once, through its mother.
            for (entry, times) in other.entries(words, address).filter(|(entry, _)| entry.length > 0) {
                let mixed = other.prefix(address, entry.slot) | entry.fingerprint << least;
                add(mixed, least + entry.length, times)?;
            }
        }
        let (least, most) = (other.layout.growing.slot_bits, other.layout.growing.slot_bits + other.most_growths);
        for (mother, times) in mothers::all(other.mothers(words)) {
            let known = mother.ilog2();
            // In an unverified payload a mother may know too few bits, and so stand for too many keys.
            if (least..=most).contains(&known) {
                add(mother ^ 1 << known, known, times)?;
            }
        }
        Ok((all, new))
    }

    /// The rate of a segment comes from the share of a slot's hashes that find an entry there. Entries of the same
    /// length have no hash in common, so their shares add up. Entries of different lengths were inserted independently,
    /// so the shares of hashes that find none of each length multiply.
    fn measure(&self, words: &[AtomicU64], address: Address, rate: &mut f64) -> (u64, u64) {
        let mut absent = Absent { place: (u64::MAX, 0), of_length: 0.0, of_slot: 1.0, found: 0.0 };
        self.entries(words, address).for_each(|(entry, _)| absent.add(entry.slot, entry.length));
        *rate += absent.all() * (-f64::from(self.address_bits(address))).exp2();
        (self.taken(words, address).min(self.slots()), 8 * self.shape(address).words() as u64)
    }

    fn full(&self, base: &Base) -> Error {
        let (keys, most) = (base.count(), self.most_growths);
        if self.layout.extent.begun() >= most {
            return error!(Full, "the Aleph filter is full: it holds {keys} keys, and can double {most} times");
        }
        error!(
            Full,
            "the Aleph filter is full: it holds {keys} keys, of which one part of it has many more than others, or of \
             too many nothing more is known"
        )
    }

    fn check_segment(&self, words: &[AtomicU64], address: Address) -> Result<()> {
        let Address { segment, bits } = address;
        let all = &words[segment * self.segment_words..(segment + 1) * self.segment_words];
        let (shape, reader) = (self.shape(address), self.reader(words, address));
        reader.check()?;
        let (flag, rest) = (self.flag(0), shape.words() - STATE_WORDS + DIVIDED);
        let expected = u64::from(bits > self.division.extent.depth && self.division.first_part(segment) == segment);
        let is_right = all[flag].load(Ordering::Relaxed) == expected;
        if !is_right || !grown::is_zero(&all[rest..flag]) || !grown::is_zero(&all[flag + 1..]) {
            return Err(error!(Corrupt, "the last words of segment {segment} are not what they have to be"));
        }
        if Entries::new(reader, 0).any(|(number, _)| shape.entry_of(number).is_none()) {
            return Err(error!(Corrupt, "segment {segment} has an entry that is none"));
        }
        Ok(())
    }

    fn check_rest(&self, words: &[AtomicU64]) -> Result<()> {
        let bits = self.division.extent.depth + u32::from(self.division.is_begun()) + self.layout.extent.size;
        let mothers = words[words.len() - STATE_WORDS].load(Ordering::Relaxed);
        if !mothers::is_one(self.mothers(words), mothers, (self.layout.growing.slot_bits, bits)) {
            return Err(error!(Corrupt, "the mothers of void entries are not {mothers}, as the state says"));
        }
        Ok(())
    }

    fn check_state(&self, words: &[AtomicU64]) -> Result<()> {
        let mothers = words[words.len() - STATE_WORDS].load(Ordering::Relaxed);
        let places = self.layout.mother_words() as u64 / 2;
        if mothers > places {
            return Err(error!(Corrupt, "the state says that {mothers} mothers are in {places} places"));
        }
        Ok(())
    }

    fn as_remove(filter: &mut Grown<Table>) -> Option<&mut dyn Remove> {
        Some(filter)
    }

    fn as_rejuvenate(filter: &mut Grown<Table>) -> Option<&mut dyn Rejuvenate> {
        Some(filter)
    }
}

/// Changes what a filter holds of each key of a batch, while the lines of later keys are fetched.
#[inline]
fn each(
    filter: &mut Grown<Table>,
    batch: &mut dyn Batch,
    change: impl FnMut(&mut Grown<Table>, u64) -> Result<bool>,
) -> Taken {
    let ahead = ring::ahead(filter.words().len(), LINES);
    let fetch = |filter: &Grown<Table>, hash| filter.table.fetch(filter.words(), bits::mix(hash));
    ring::trying(filter, ahead, batch, fetch, change)
}

impl Remove for Grown<Table> {
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        self.base.writable()?;
        let mixed = bits::mix(hash);
        let removed = self.table.remove(&mut self.base, mixed)?;
        if removed {
            self.base.subtract_count(1);
            if !self.table.contains(self.words(), mixed) {
                self.store(self.stored().saturating_sub(1))?;
            }
        }
        Ok(removed)
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        each(self, batch, Remove::remove_one)
    }
}

impl Rejuvenate for Grown<Table> {
    /// Leaves the number of stored keys alone: rejuvenation changes neither which keys are there nor which of them were
    /// new when they came.
    fn rejuvenate_one(&mut self, hash: u64) -> Result<bool> {
        self.base.writable()?;
        self.table.rejuvenate(&mut self.base, bits::mix(hash)).map_err(|refusal| self.refuse(refusal))
    }

    fn rejuvenate_many(&mut self, batch: &mut dyn Batch) -> Taken {
        each(self, batch, Rejuvenate::rejuvenate_one)
    }
}

/// The number of slots of a segment in which a random hash finds an entry, each slot weighted by its share of hashes.
/// Entries are added in the order of the segment.
struct Absent {
    /// The slot and the length of the entries added last.
    place: (u64, u32),
    /// The share of the slot's hashes that find an entry of that length.
    of_length: f64,
    /// The share of the slot's hashes that find no entry of another length.
    of_slot: f64,
    /// The sum of the shares found in earlier slots.
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
