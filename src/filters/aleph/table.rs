//! Segments over the words of a payload: where a hash is, what is inserted and what is removed there.

use super::layout::Layout;
use super::mothers::{self, mother};
use crate::bits::ring::Batch;
use crate::error::{Result, Status, error};
use crate::format::PAYLOAD_UNIT;
use crate::kind::Base;
use crate::layouts::aleph::{Entry, Kernel, Segments, Shape, kernel, ones};
use crate::layouts::quotient::{Editor, Entries, Reader};
use crate::simd::Instructions;
use crate::sizing::aleph as sizing;
use crate::storage::try_vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// The 64-bit words of the last line.
pub(super) const STATE_WORDS: usize = (PAYLOAD_UNIT / 8) as usize;

/// The word of the last line of a segment's room that is 1 where the segment was divided. Those before it are the
/// table's.
const DIVIDED: usize = 2;

/// Where a hash belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The number of its segment.
    pub segment: usize,
    /// How many of its bits say that.
    pub bits: u32,
}

/// Why there is no room.
pub(super) enum Refusal {
    /// There will never be.
    Full,
    /// There was no memory.
    Error(crate::Error),
}

impl From<crate::Error> for Refusal {
    fn from(error: crate::Error) -> Refusal {
        Refusal::Error(error)
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal::Error(status.into())
    }
}

impl From<crate::layouts::quotient::Full> for Refusal {
    fn from(_: crate::layouts::quotient::Full) -> Refusal {
        Refusal::Full
    }
}

/// What comes of something that may find no room.
pub(super) type Outcome<T> = core::result::Result<T, Refusal>;

/// Segments over the words of a payload.
pub(super) struct Table {
    pub layout: Layout,
    /// The shape of segments that were not divided, and of those that were.
    pub(super) shapes: [Shape; 2],
    pub(super) segment_words: usize,
    /// How many growths there can be.
    pub(super) most_growths: u32,
    /// A bit for each segment: whether it was divided.
    pub(super) divided: Vec<u64>,
    /// How many were.
    pub(super) count: usize,
    /// Where the parts of a segment are made before they take its place.
    pub(super) room: Vec<u64>,
    pub(super) kernel: &'static Kernel,
}

impl Table {
    /// The segments of a payload.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; [`Status::Corrupt`] for a layout that there cannot be.
    pub fn new(layout: Layout, words: &[AtomicU64], instructions: Instructions) -> Result<Table> {
        let mut table = Table::empty(layout, kernel(instructions))?;
        if layout.is_dividing {
            for segment in 0..1 << layout.depth {
                if words[table.flag(segment)].load(Ordering::Relaxed) == 1 {
                    table.mark(segment);
                }
            }
        }
        Ok(table)
    }

    /// Those of a payload in which no segment was divided.
    pub(super) fn empty(layout: Layout, kernel: &'static Kernel) -> Result<Table> {
        let shapes = layout.shapes().ok_or(Status::Corrupt)?;
        let segment_words = layout.segment_words().ok_or(Status::Corrupt)?;
        let most_growths = layout.growing.most_doublings().ok_or(Status::Corrupt)?;
        let marks = if layout.is_dividing { (1_usize << layout.depth).div_ceil(64) } else { 0 };
        let mut divided = try_vec(marks)?;
        divided.resize(marks, 0);
        Ok(Table { layout, shapes, segment_words, most_growths, divided, count: 0, room: Vec::new(), kernel })
    }

    /// The word that says whether a segment was divided.
    pub(super) fn flag(&self, segment: usize) -> usize {
        (segment + 1) * self.segment_words - STATE_WORDS + DIVIDED
    }

    pub(super) fn mark(&mut self, segment: usize) {
        self.divided[segment / 64] |= 1 << (segment % 64);
        self.count += 1;
    }

    #[inline]
    pub(super) fn is_divided(&self, segment: usize) -> bool {
        self.divided.get(segment / 64).is_some_and(|marks| marks >> (segment % 64) & 1 == 1)
    }

    /// Where a mixed hash belongs.
    #[inline]
    pub fn address(&self, hash: u64) -> Address {
        let (depth, hash) = (self.layout.depth, hash >> self.layout.slot_bits);
        // Which segments are divided is a matter of chance, and nobody has to guess it.
        let bits = depth + u32::from(self.is_divided((hash & ones(depth)) as usize));
        Address { segment: (hash & ones(bits)) as usize, bits }
    }

    /// The slot of a mixed hash in its segment, and what it has for a fingerprint.
    #[inline]
    fn parts(&self, hash: u64, address: Address) -> (u64, u64) {
        (hash & ones(self.layout.slot_bits), hash >> self.address_bits(address))
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
        slot | (address.segment as u64) << self.layout.slot_bits
    }

    /// The shape of a segment.
    #[inline]
    pub fn shape(&self, address: Address) -> Shape {
        self.shapes[(address.bits - self.layout.depth) as usize & 1]
    }

    /// How many bits of a hash say its slot and its segment.
    #[inline]
    pub fn address_bits(&self, address: Address) -> u32 {
        address.bits + self.layout.slot_bits
    }

    #[inline]
    fn range(&self, address: Address) -> core::ops::Range<usize> {
        let start = address.segment * self.segment_words;
        start..start + self.shape(address).words()
    }

    /// Reads a segment.
    #[inline]
    pub fn reader<'a>(&self, words: &'a [AtomicU64], address: Address) -> Reader<'a, [AtomicU64]> {
        Reader::new(self.shape(address).table, &words[self.range(address)])
    }

    /// How many slots of a segment are taken.
    pub fn taken(&self, words: &[AtomicU64], address: Address) -> u64 {
        self.reader(words, address).state()[0]
    }

    /// Whether a mixed hash may be there.
    #[inline]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        let address = self.address(hash);
        let (slot, tail) = self.parts(hash, address);
        (self.kernel.contains)(&self.shape(address), &words[self.range(address)], slot, tail)
    }

    /// Whether each hash of a batch, which are not mixed, may be there, of many at once. False, having taken none, where
    /// they are to be asked for one by one.
    pub fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) -> bool {
        let Table { shapes, ref divided, segment_words: size, .. } = *self;
        (self.kernel.contains_many)(&Segments { shapes, depth: self.layout.depth, divided, size }, words, batch)
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

    /// How many slots of a segment may be taken before it grows.
    pub fn limit(&self) -> u64 {
        sizing::limit(1 << self.layout.slot_bits)
    }

    /// All segments that keys are in.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        let whole = 1 << self.layout.depth;
        (0..self.layout.segments()).filter_map(move |segment| {
            let is_divided = self.is_divided(segment % whole);
            let bits = self.layout.depth + u32::from(is_divided);
            (segment < whole || is_divided).then_some(Address { segment, bits })
        })
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
        self.layout.segments() * self.segment_words
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

    /// How many distinct keys seem to be there.
    pub fn stored(words: &[AtomicU64]) -> u64 {
        words[words.len() - STATE_WORDS + 1].load(Ordering::Relaxed)
    }

    /// Says how many distinct keys seem to be there.
    pub fn store(base: &mut Base, stored: u64) -> Result<()> {
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        let place = words.len() - STATE_WORDS + 1;
        words[place] = stored;
        Ok(())
    }

    /// How often there are mothers of a hash that know so many of its bits or fewer.
    pub(super) fn alive(&self, words: &[AtomicU64], hash: u64, bits: u32) -> u64 {
        let all = self.mothers(words);
        let counts = (self.layout.growing.slot_bits..=bits).map(|bits| mothers::count(all, mother(hash, bits)));
        counts.fold(0, u64::saturating_add)
    }

    /// Inserts a mixed hash, with as much of it as entries know now. What is full grows.
    #[inline]
    pub fn insert_new(&mut self, base: &mut Base, hash: u64) -> Outcome<()> {
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
    /// to itself. Those of one hash are prefixes of each other: whichever of them is its own, a key that has the longest
    /// has the others as well, and takes over that which is left. So the longest may go, and no key is lost by it. A
    /// shorter one may not: its key need not have what the longer ones know.
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
    /// knows most of it; whether that was less. The slot of the one is that of the other, so that nothing has to grow, but
    /// where one of several that are alike goes and their counter takes no fewer slots.
    ///
    /// That takes the entry which [`Table::remove`] would take, and for its reason: the key has the new entry, and whoever
    /// had the other takes over what was the key's. Were it the shortest one, which is the most to gain, another key
    /// might have nothing left. An entry that knows all of it may be that of another key; then the key's own stays, as
    /// nobody can tell them apart. A void entry without a mother is no key's, and stays as well.
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
            // What it took is free.
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
        let stored = Table::stored(words);
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

    /// Checks what a payload must be, whatever keys it holds.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let (whole, size) = (1 << self.layout.depth, self.segment_words);
        let is_zero = |words: &[AtomicU64]| words.iter().all(|word| word.load(Ordering::Relaxed) == 0);
        for segment in 0..self.layout.segments() {
            let is_divided = self.is_divided(segment % whole);
            let all = &words[segment * size..(segment + 1) * size];
            if segment >= whole && !is_divided {
                if !is_zero(all) {
                    return Err(error!(Corrupt, "segment {segment} is not empty, and the one before was not divided"));
                }
                continue;
            }
            let address = Address { segment, bits: self.layout.depth + u32::from(is_divided) };
            let (shape, reader) = (self.shape(address), self.reader(words, address));
            reader.check()?;
            let (flag, rest) = (self.flag(0), shape.words() - STATE_WORDS + DIVIDED);
            let expected = u64::from(is_divided && segment < whole);
            let is_right = all[flag].load(Ordering::Relaxed) == expected;
            if !is_right || !is_zero(&all[rest..flag]) || !is_zero(&all[flag + 1..]) {
                return Err(error!(Corrupt, "the last words of segment {segment} are not what they have to be"));
            }
            if Entries::new(reader, 0).any(|(number, _)| shape.entry_of(number).is_none()) {
                return Err(error!(Corrupt, "segment {segment} has an entry that is none"));
            }
        }
        let state = words.len() - STATE_WORDS;
        let bits = self.layout.depth + u32::from(self.count > 0) + self.layout.slot_bits;
        let mothers = words[state].load(Ordering::Relaxed);
        if !mothers::is_one(self.mothers(words), mothers, (self.layout.growing.slot_bits, bits)) {
            return Err(error!(Corrupt, "the mothers of void entries are not {mothers}, as the state says"));
        }
        match is_zero(&words[state + 2..]) {
            true => Ok(()),
            false => Err(error!(Corrupt, "the last words of the payload are not zero")),
        }
    }
}
