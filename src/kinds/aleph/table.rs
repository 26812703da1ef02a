//! Segments over the words of a payload: where a hash is, what is inserted and what is removed there.

use super::layout::{Entry, Kernel, Shape};
use super::mothers::{self, mother};
use super::payload::Layout;
use crate::blocks::segments::{Address, Division, ones};
use crate::contract::Base;
use crate::error::{Result, Status};
use crate::generic::grown::{Growth, Layout as _, Outcome, Refusal, STATE_WORDS};
use crate::kinds::quotient::layout::{Editor, Entries, Reader};
use crate::storage::try_vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// The word of the last line of a segment's room that is 1 where the segment was divided. Those before it are the
/// table's.
pub(super) const DIVIDED: usize = 2;

/// The word of the last line that says how many keys were new when they came. The one before it counts mothers.
pub(super) const STORED: usize = 1;

impl From<crate::kinds::quotient::layout::Full> for Refusal {
    fn from(_: crate::kinds::quotient::layout::Full) -> Refusal {
        Refusal::Full
    }
}

/// Segments over the words of a payload.
pub(super) struct Table {
    pub(super) layout: Layout,
    /// The shape of segments that were not divided, and of those that were.
    pub(super) shapes: [Shape; 2],
    pub(super) segment_words: usize,
    /// How many growths there can be.
    pub(super) most_growths: u32,
    /// Which segments were divided.
    pub(super) division: Division,
    /// Where the parts of a segment are made before they take its place.
    pub(super) room: Vec<u64>,
    pub(super) kernel: &'static Kernel,
}

impl Table {
    /// The table of a payload in which no segment was divided.
    pub(super) fn empty(layout: Layout, kernel: &'static Kernel) -> Result<Table> {
        let shapes = layout.shapes().ok_or(Status::Corrupt)?;
        let segment_words = layout.segment_words().ok_or(Status::Corrupt)?;
        let most_growths = layout.growing.most_doublings().ok_or(Status::Corrupt)?;
        let division = Division::none(&layout.extent)?;
        Ok(Table { layout, shapes, segment_words, most_growths, division, room: Vec::new(), kernel })
    }

    /// The word that says whether a segment was divided.
    pub(super) fn flag(&self, segment: usize) -> usize {
        (segment + 1) * self.segment_words - STATE_WORDS + DIVIDED
    }

    /// Where a mixed hash belongs.
    #[inline]
    pub fn address(&self, hash: u64) -> Address {
        self.division.address(hash >> self.layout.extent.size)
    }

    /// The slot of a mixed hash in its segment, and what it has for a fingerprint.
    #[inline]
    pub(super) fn parts(&self, hash: u64, address: Address) -> (u64, u64) {
        (hash & ones(self.layout.extent.size), hash >> self.address_bits(address))
    }

    /// An entry of a mixed hash with so many bits of a fingerprint.
    #[inline]
    fn entry(&self, hash: u64, address: Address, length: u32) -> Entry {
        let (slot, tail) = self.parts(hash, address);
        Entry { slot, length, fingerprint: tail & ones(length) }
    }

    /// What the place of an entry says of its hash.
    #[inline]
    pub fn prefix(&self, address: Address, slot: u64) -> u64 {
        slot | (address.segment as u64) << self.layout.extent.size
    }

    /// The shape of a segment.
    #[inline]
    pub fn shape(&self, address: Address) -> Shape {
        self.shapes[(address.bits - self.layout.extent.depth) as usize & 1]
    }

    /// How many bits of a hash say its slot and its segment.
    #[inline]
    pub fn address_bits(&self, address: Address) -> u32 {
        address.bits + self.layout.extent.size
    }

    #[inline]
    pub(super) fn range(&self, address: Address) -> core::ops::Range<usize> {
        let start = address.segment * self.segment_words;
        start..start + self.shape(address).words()
    }

    /// Reads a segment.
    #[inline]
    pub fn reader<'a>(&self, words: &'a [AtomicU64], address: Address) -> Reader<'a, [AtomicU64]> {
        Reader::new(self.shape(address).table, &words[self.range(address)])
    }

    /// Whether an entry may be of a key of which `known` bits are known, or that key has one for all that is known of
    /// it.
    pub fn contains_known(&self, words: &[AtomicU64], hash: u64, known: u32) -> bool {
        let address = self.address(hash);
        let length = known.saturating_sub(self.address_bits(address));
        let (slot, tail) = self.parts(hash, address);
        self.shape(address).contains_alike(self.reader(words, address), (slot, tail), length)
    }

    /// The words that a lookup of a mixed hash reads mostly.
    #[inline]
    pub fn words_of(&self, hash: u64) -> [usize; 5] {
        let address = self.address(hash);
        let start = address.segment * self.segment_words;
        self.shape(address).words_of(self.parts(hash, address).0).map(|word| start + word)
    }

    /// The entries of a segment and how often they are there.
    pub fn entries<'a>(
        &self,
        words: &'a [AtomicU64],
        address: Address,
    ) -> impl Iterator<Item = (Entry, u64)> + use<'a> {
        let shape = self.shape(address);
        let all = Entries::new(self.reader(words, address), 0);
        all.filter_map(move |(number, count)| Some((shape.entry_of(number)?, count)))
    }

    /// Where the words of mothers begin.
    pub(super) fn mothers_at(&self) -> usize {
        self.division.segments() * self.segment_words
    }

    /// The words of the mothers of void entries.
    pub fn mothers<'a, T>(&self, words: &'a [T]) -> &'a [T] {
        &words[self.mothers_at()..][..self.layout.mother_words()]
    }

    pub(super) fn mothers_mut<'a>(&self, words: &'a mut [u64]) -> &'a mut [u64] {
        &mut words[self.mothers_at()..][..self.layout.mother_words()]
    }

    /// How many different mothers there are.
    pub fn mother_count(&self, words: &[AtomicU64]) -> u64 {
        let count = words[words.len() - STATE_WORDS].load(Ordering::Relaxed);
        count.min(self.layout.mother_words() as u64 / 2)
    }

    /// How often there are mothers of a hash that know so many of its bits or fewer.
    pub(super) fn alive(&self, words: &[AtomicU64], hash: u64, bits: u32) -> u64 {
        let all = self.mothers(words);
        let counts = (self.layout.growing.slot_bits..=bits).map(|bits| mothers::count(all, mother(hash, bits)));
        counts.fold(0, u64::saturating_add)
    }

    /// Inserts a mixed hash, with as much of it as entries know now. What is full grows.
    #[inline]
    pub(super) fn insert_new(&mut self, base: &mut Base, hash: u64) -> Outcome<()> {
        loop {
            let address = self.address(hash);
            let shape = self.shape(address);
            let number = shape.number(self.entry(hash, address, shape.fingerprint_bits));
            if self.put(base, address, number, 1)? {
                return Ok(());
            }
            self.grow(base, address)?;
        }
    }

    /// Inserts what is known of a mixed hash, `known` bits, so many times. What is full grows. An entry that knows less
    /// than an address becomes void. On an error some of it may be there.
    pub fn insert_known(&mut self, base: &mut Base, hash: u64, known: u32, times: u64) -> Outcome<()> {
        loop {
            let address = self.address(hash);
            let shape = self.shape(address);
            let length = known.saturating_sub(self.address_bits(address)).min(shape.fingerprint_bits);
            if length == 0 {
                let known = known.min(self.address_bits(address));
                self.add_mothers(base, &[(mother(hash, known), times)])?;
                return self.insert_void(base, hash & ones(known), known, times);
            }
            if self.put(base, address, shape.number(self.entry(hash, address, length)), times)? {
                return Ok(());
            }
            self.grow(base, address)?;
        }
    }

    /// Puts a void entry at all addresses that so many bits of a hash may have, of which those after them are zeros.
    fn insert_void(&mut self, base: &mut Base, hash: u64, known: u32, times: u64) -> Outcome<()> {
        loop {
            let address = self.address(hash);
            if known < self.address_bits(address) {
                self.insert_void(base, hash, known + 1, times)?;
                return self.insert_void(base, hash | 1 << known, known + 1, times);
            }
            let shape = self.shape(address);
            if self.put(base, address, shape.number(self.entry(hash, address, 0)), times)? {
                return Ok(());
            }
            self.grow(base, address)?;
        }
    }

    /// Puts a number into a segment so many times; false if it is full.
    #[inline]
    fn put(&self, base: &mut Base, address: Address, number: u64, times: u64) -> Outcome<bool> {
        if self.taken(base.words().shared(), address) >= self.limit() {
            return Ok(false);
        }
        let (shape, range) = (self.shape(address), self.range(address));
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        if (self.kernel.insert)(&shape, &mut words[range], number, times).is_ok() {
            return Ok(true);
        }
        // Growth does not help where there are 2^64 of one entry.
        match self.reader(base.words().shared(), address).count(number).checked_add(times) {
            Some(_) => Ok(false),
            None => Err(Refusal::Full),
        }
    }

    /// Removes the entry that a mixed hash finds and that knows most of it; whether there was one.
    ///
    /// Entries, and for void ones their mothers, are prefixes of hashes, and each key that is there has one of its hash
    /// to itself. Those of one hash are prefixes of each other: whichever of them is its own, a key that has the
    /// longest has the others as well, and takes over that which is left. So the longest may go, and no key is lost by
    /// it. A shorter one may not: its key need not have what the longer ones know.
    ///
    /// # Errors
    /// [`Status::Internal`] for words that may not be written.
    pub fn remove(&mut self, base: &mut Base, hash: u64) -> Result<bool> {
        let address = self.address(hash);
        let shape = self.shape(address);
        let (slot, tail) = self.parts(hash, address);
        let found = shape.first(self.reader(base.words().shared(), address), slot, tail);
        let Some(number) = found else { return Ok(false) };
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        // A void entry without a mother is left from a key that was removed: it goes as well, and no key with it.
        let is_alive = !shape.is_void(number) || self.remove_mother(words, hash, address);
        Editor::new(shape.table, &mut words[self.range(address)]).remove(number, 1);
        Ok(is_alive)
    }

    /// Removes the mother that knows most of a mixed hash; whether there was one.
    fn remove_mother(&self, words: &mut [u64], hash: u64, address: Address) -> bool {
        let (least, bits) = (self.layout.growing.slot_bits, self.address_bits(address));
        let all = self.mothers_mut(words);
        let removed = (least..=bits).rev().find_map(|bits| mothers::remove(all, mother(hash, bits)));
        let count = words.len() - STATE_WORDS;
        words[count] = words[count].saturating_sub(u64::from(removed == Some(true)));
        removed.is_some()
    }

    /// Puts an entry with as much of a mixed hash as entries know now in the place of the one that it finds and that
    /// knows most of it; whether that was less. The slot of the one is that of the other, so that nothing has to grow,
    /// but where one of several that are alike goes and their counter takes no fewer slots.
    ///
    /// That takes the entry which [`Table::remove`] would take, and for its reason: the key has the new entry, and
    /// whoever had the other takes over what was the key's. Were it the shortest one, which is the most to gain,
    /// another key might have nothing left. An entry that knows all of it may be that of another key; then the key's
    /// own stays, as nobody can tell them apart. A void entry without a mother is no key's, and stays as well.
    ///
    /// On an error segments may have grown, and nothing else has changed.
    pub fn rejuvenate(&mut self, base: &mut Base, hash: u64) -> Outcome<bool> {
        loop {
            let address = self.address(hash);
            let shape = self.shape(address);
            let ((slot, tail), words) = (self.parts(hash, address), base.words().shared());
            let longest = shape.first(self.reader(words, address), slot, tail);
            let Some(old) = longest else { return Ok(false) };
            let new = shape.number(self.entry(hash, address, shape.fingerprint_bits));
            let is_void = shape.is_void(old);
            if old == new || is_void && self.alive(words, hash, self.address_bits(address)) == 0 {
                return Ok(false);
            }
            let (range, words) = (self.range(address), base.writable_at_once().ok_or(Status::Internal)?);
            Editor::new(shape.table, &mut words[range.clone()]).remove(old, 1);
            if (self.kernel.insert)(&shape, &mut words[range.clone()], new, 1).is_ok() {
                if is_void {
                    self.remove_mother(words, hash, address);
                }
                return Ok(true);
            }
            // The insertion finds room, because the entry's slots were freed before.
            (self.kernel.insert)(&shape, &mut words[range], old, 1)?;
            self.grow(base, address)?;
        }
    }

    /// Adds mothers, so many times each, for which room is made.
    pub(super) fn add_mothers(&mut self, base: &mut Base, more: &[(u64, u64)]) -> Outcome<()> {
        self.make_room_for_mothers(base, more.len() as u64)?;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        let all = self.mothers_mut(words);
        let new = more.iter().filter(|(mother, times)| mothers::add(all, *mother, *times)).count() as u64;
        let count = words.len() - STATE_WORDS;
        words[count] = words[count].saturating_add(new);
        Ok(())
    }

    /// Makes room for so many more mothers. Nothing has changed on an error.
    pub(super) fn make_room_for_mothers(&mut self, base: &mut Base, more: u64) -> Outcome<()> {
        let count = self.mother_count(base.words().shared());
        let mother_bits = mothers::size_for(count + more);
        if mother_bits <= self.layout.mother_bits {
            return Ok(());
        }
        let layout = Layout { mother_bits, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let words = base.words().shared();
        let mut old = try_vec(count as usize)?;
        old.extend(mothers::all(self.mothers(words)).take(count as usize));
        let stored = words[words.len() - STATE_WORDS + STORED].load(Ordering::Relaxed);
        base.lengthen(geometry)?;
        self.layout = layout;
        let start = self.mothers_at();
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        words[start..].fill(0);
        let room = self.mothers_mut(words);
        let different = old.iter().filter(|(mother, times)| mothers::add(room, *mother, *times)).count() as u64;
        let state = words.len() - STATE_WORDS;
        words[state..state + 2].copy_from_slice(&[different, stored]);
        Ok(())
    }
}
