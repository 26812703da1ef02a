//! Segments over the words of a payload: where a hash belongs, and how entries are inserted and removed there.

use super::layout::{Entry, Kernel, Shape};
use super::mothers::{self, mother};
use super::payload::Layout;
use crate::blocks::runs::{Entries, Reader};
use crate::blocks::segments::{Address, Division, ones};
use crate::contract::Base;
use crate::error::{Result, Status};
use crate::generic::grown::{Growth, Layout as _, Outcome, Refusal, STATE_WORDS};
use crate::storage::try_vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// The word in the last line of a segment's room that is 1 if the segment was divided. The table has the words before
/// it.
pub(super) const DIVIDED: usize = 2;

/// The word of the payload's last line that says how many keys were new when they came. The word before it counts
/// mothers.
pub(super) const STORED: usize = 1;

impl From<crate::blocks::runs::Full> for Refusal {
    fn from(_: crate::blocks::runs::Full) -> Refusal {
        Refusal::Full
    }
}

/// Segments over the words of a payload.
pub(super) struct Table {
    pub(super) layout: Layout,
    /// The shape of undivided segments, and the shape of divided ones.
    pub(super) shapes: [Shape; 2],
    pub(super) segment_words: usize,
    /// How many growths there can be.
    pub(super) most_growths: u32,
    /// Which segments were divided.
    pub(super) division: Division,
    /// A buffer in which both parts of a segment are made before they take the segment's place.
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

    /// The segment that a mixed hash belongs to.
    #[inline]
    pub fn address(&self, hash: u64) -> Address {
        self.division.address(hash >> self.layout.extent.size)
    }

    /// The slot of a mixed hash in its segment, and the hash bits from which fingerprints are taken.
    #[inline]
    pub(super) fn parts(&self, hash: u64, address: Address) -> (u64, u64) {
        (hash & ones(self.layout.extent.size), hash >> self.address_bits(address))
    }

    /// The entry of a mixed hash with a fingerprint of `length` bits.
    #[inline]
    fn entry(&self, hash: u64, address: Address, length: u32) -> Entry {
        let (slot, tail) = self.parts(hash, address);
        Entry { slot, length, fingerprint: tail & ones(length) }
    }

    /// The bits of a hash that follow from the place of its entry.
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

    /// Whether some entry agrees with a hash in all bits that both know. Of the hash `known` bits are known; the entry
    /// may know more or fewer.
    pub fn contains_known(&self, words: &[AtomicU64], hash: u64, known: u32) -> bool {
        let address = self.address(hash);
        let length = known.saturating_sub(self.address_bits(address));
        let (slot, tail) = self.parts(hash, address);
        self.shape(address).contains_alike(self.reader(words, address), (slot, tail), length)
    }

    /// The words that most lookups of a mixed hash read.
    #[inline]
    pub fn words_of(&self, hash: u64) -> [usize; 5] {
        let address = self.address(hash);
        let start = address.segment * self.segment_words;
        self.shape(address).words_of(self.parts(hash, address).0).map(|word| start + word)
    }

    /// The entries of a segment, and how often each is there.
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

    /// How many mothers with at most `bits` bits agree with a hash, each counted as often as it is there.
    pub(super) fn alive(&self, words: &[AtomicU64], hash: u64, bits: u32) -> u64 {
        let all = self.mothers(words);
        let counts = (self.layout.growing.slot_bits..=bits).map(|bits| mothers::count(all, mother(hash, bits)));
        counts.fold(0, u64::saturating_add)
    }

    /// Inserts a mixed hash with as many bits as new entries know now. Segments that are full grow.
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

    /// Inserts the `known` low bits of a mixed hash `times` times. Segments that are full grow. An entry that knows no
    /// more than its address is void. After an error some of the insertions may have happened.
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

    /// Puts a void entry at each address that begins with the known bits of a hash. The bits of `hash` above these are
    /// zeros.
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

    /// Puts a number into a segment `times` times. Returns false if the segment is full.
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
        // Growth does not help if one entry would be there 2^64 times.
        match self.reader(base.words().shared(), address).count(number).checked_add(times) {
            Some(_) => Ok(false),
            None => Err(Refusal::Full),
        }
    }

    /// Removes the entry that knows most among those that a mixed hash finds. Returns whether there was one.
    ///
    /// Entries, and for void entries their mothers, are prefixes of hashes. Each key that is there has a prefix of its
    /// hash to itself, and the prefixes that one hash finds are prefixes of each other. So the longest of these may go,
    /// and no key is lost: a key whose prefix is the longest also has the shorter ones, and takes over the one that is
    /// left. A shorter one may not go: its key need not have the further bits of the longer ones.
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
        // A void entry without a mother is left over from a key that was removed. It goes as well, and no key goes with
        // it.
        let is_alive = !shape.is_void(number) || self.remove_mother(words, hash, address);
        (self.kernel.remove)(&shape, &mut words[self.range(address)], number);
        Ok(is_alive)
    }

    /// Removes the mother that knows most among those that agree with a mixed hash. Returns whether there was one.
    fn remove_mother(&self, words: &mut [u64], hash: u64, address: Address) -> bool {
        let (least, bits) = (self.layout.growing.slot_bits, self.address_bits(address));
        let all = self.mothers_mut(words);
        let removed = (least..=bits).rev().find_map(|bits| mothers::remove(all, mother(hash, bits)));
        let count = words.len() - STATE_WORDS;
        words[count] = words[count].saturating_sub(u64::from(removed == Some(true)));
        removed.is_some()
    }

    /// Replaces the entry that knows most among those that a mixed hash finds by an entry of full length. Returns
    /// whether the old entry knew less. Both entries have the same slot, so nothing has to grow for it, except if the
    /// old entry is there several times and its counter then takes no fewer slots.
    ///
    /// The replaced entry is the one that [`Table::remove`] would take, for the same reason: the key has the new entry,
    /// and another key that had the old one takes over what was this key's. Replacing the shortest entry would gain
    /// most, but might leave another key without an entry. An entry of full length may belong to another key. Then the
    /// key's own entry stays, because nobody can tell the two apart. A void entry without a mother belongs to no key,
    /// and stays as well.
    ///
    /// After an error segments may have grown, and nothing else has changed.
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
            (self.kernel.remove)(&shape, &mut words[range.clone()], old);
            if (self.kernel.insert)(&shape, &mut words[range.clone()], new, 1).is_ok() {
                if is_void {
                    self.remove_mother(words, hash, address);
                }
                return Ok(true);
            }
            // There is room for this insertion, because the removal freed the entry's slots.
            (self.kernel.insert)(&shape, &mut words[range], old, 1)?;
            self.grow(base, address)?;
        }
    }

    /// Makes room for mothers and adds each as often as the pair says.
    pub(super) fn add_mothers(&mut self, base: &mut Base, more: &[(u64, u64)]) -> Outcome<()> {
        self.make_room_for_mothers(base, more.len() as u64)?;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        let all = self.mothers_mut(words);
        let new = more.iter().filter(|(mother, times)| mothers::add(all, *mother, *times)).count() as u64;
        let count = words.len() - STATE_WORDS;
        words[count] = words[count].saturating_add(new);
        Ok(())
    }

    /// Makes room for `more` more mothers. An error leaves everything as it was.
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
