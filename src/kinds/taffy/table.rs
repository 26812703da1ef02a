//! Segments over the words of a payload: how keys are inserted, and how entries move when segments grow.

use super::layout::{BUCKET, DIVIDED, Entry, Full, Kernel, Search, Segments, Shape, kernel};
use super::sizing::{self, BUCKET_BITS, Growing};
use crate::batch::ring::{self, Batch, GROUP, Taken};
use crate::bits;
use crate::blocks::segments::{Address, Division, Extent, within};
use crate::contract::Base;
use crate::error::{Error, Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::generic::grown::{self, Grown, Growth, Layout as _, Outcome, Refusal, STATE_WORDS};
use crate::simd::Instructions;
use crate::storage::{Words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// The parts of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// How the filter began, and how far it may grow.
    pub growing: Growing,
    /// How many segments there are, and how many buckets a table of one has.
    pub extent: Extent,
}

impl Layout {
    /// The layout of a filter that has not grown.
    pub fn new(growing: Growing) -> Layout {
        Layout { growing, extent: Extent::new(growing.bucket_bits, BUCKET_BITS.1) }
    }

    /// The shape of a segment.
    fn shape(&self) -> Shape {
        let fingerprint_bits = sizing::fingerprint_bits(self.growing.bits);
        Shape { bucket_bits: self.extent.size, fingerprint_bits, tail_bits: self.growing.tail_bits() }
    }

    /// The segments of this layout, of which none is divided.
    fn empty(&self) -> Result<Segments> {
        Ok(Segments::new(self.shape(), Division::none(&self.extent)?))
    }
}

impl grown::Layout for Layout {
    fn of_words(words: [u64; 8]) -> Option<Layout> {
        let [bits, doublings, .., has_several, 0] = words else { return None };
        let extent = Extent::of_words(words, (BUCKET_BITS.0, sizing::MOST_BUCKET_BITS), BUCKET_BITS.1)?;
        let growing = Growing {
            bucket_bits: extent.first,
            bits: within(bits, sizing::BITS)?,
            doublings: within(doublings, sizing::DOUBLINGS)?,
        };
        let is_known = has_several == u64::from(!extent.is_one()) && extent.begun() <= growing.most_doublings()?;
        is_known.then_some(Layout { growing, extent })
    }

    fn geometry(&self) -> Option<Geometry> {
        let Layout { growing, extent } = *self;
        let (segments, shape) = (extent.segments()?, self.shape());
        let slots = shape.slots();
        let bits = segments.checked_mul(slots.count)?.checked_mul(slots.width.into())?;
        let payload_bytes = segments.checked_mul(8 * shape.words())?.checked_add(PAYLOAD_UNIT)?;
        image_bytes(payload_bytes)?;
        let ([width, doublings], has_several) = ([growing.bits, growing.doublings].map(u64::from), !extent.is_one());
        let [first, bucket_bits, depth, is_dividing] = extent.words();
        let words = [width, doublings, first, bucket_bits, depth, is_dividing, has_several.into(), 0];
        Some(Geometry { bits, hashes: 0, words, payload_bytes })
    }

    fn first(&self) -> Layout {
        Layout::new(self.growing)
    }

    fn growths(&self) -> u32 {
        self.extent.begun()
    }

    fn false_positive_rate(&self, keys: u64) -> f64 {
        self.growing.false_positive_rate(keys)
    }

    fn seen(&self, stored: f64) -> f64 {
        self.growing.seen(stored)
    }
}

/// Segments over the words of a payload.
pub(super) struct Table {
    layout: Layout,
    segments: Segments,
    kernel: &'static Kernel,
    search: Search,
    /// A buffer in which both parts of a segment are made before they take the segment's place.
    room: Vec<u64>,
}

impl Table {
    /// All entries of a segment.
    fn entries<'a>(&self, words: &'a [AtomicU64], address: Address) -> impl Iterator<Item = Entry> + 'a {
        self.segments.shape.entries(words, address.segment * self.segments.size)
    }

    /// Inserts the entry of a mixed hash that no lookup finds. `known` bits of the hash are known, at least those of
    /// its prefix, and its other bits are 0. A segment that is full grows. If the prefix then has a bit that is not
    /// known, the hash is inserted with both values of that bit.
    fn put(&mut self, base: &mut Base, hash: u64, known: u32) -> Outcome<()> {
        loop {
            let address = self.segments.address(hash);
            if !self.is_known(known, address) {
                self.put(base, hash, known + 1)?;
                return self.put(base, hash | 1 << known, known + 1);
            }
            if self.taken(base.words().shared(), address) < self.limit() {
                let Segments { shape, size, .. } = self.segments;
                let entry = shape.entry(self.segments.within(hash, address.bits), known - address.bits);
                let words = base.writable_at_once().ok_or(Status::Internal)?;
                let segment = &mut words[address.segment * size..(address.segment + 1) * size];
                if shape.insert(segment, entry, &mut self.search) {
                    return Ok(());
                }
            }
            self.grow(base, address)?;
        }
    }

    /// Makes way for an entry that knows `known` bits of a mixed hash. `None`, with nothing changed, if an entry is
    /// there that all hashes of the new one find. Otherwise this takes out the entries that only hashes of the new one
    /// find, and returns how many these were.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    fn take_over(&self, base: &mut Base, hash: u64, known: u32) -> Result<Option<u64>> {
        let Address { segment, bits } = self.segments.address(hash);
        let Segments { shape, size, .. } = self.segments;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        let segment = &mut words[segment * size..(segment + 1) * size];
        Ok(shape.take_over(segment, shape.entry(self.segments.within(hash, bits), known - bits)))
    }

    /// Whether `known` known bits include a segment's address and a prefix there.
    fn is_known(&self, known: u32, address: Address) -> bool {
        known >= address.bits + self.segments.shape.prefix_bits()
    }

    /// Inserts the known bits of a key, once for each value of the unknown bits that its place takes. Returns whether
    /// any of these entries was new.
    fn insert_known(&mut self, base: &mut Base, mixed: u64, known: u32) -> Outcome<bool> {
        let address = self.segments.address(mixed);
        if !self.is_known(known, address) {
            let [zero, one] = [mixed, mixed | 1 << known].map(|mixed| self.insert_known(base, mixed, known + 1));
            return Ok(zero? | one?);
        }
        match self.take_over(base, mixed, known)? {
            None => Ok(false),
            Some(covered) => {
                self.put(base, mixed, known)?;
                Ok(covered == 0)
            }
        }
    }
}

impl Grown<Table> {
    /// Inserts hashes of a group in order, until one is refused. Counts the hashes that were taken, and notes which of
    /// them were new.
    fn insert_group(&mut self, hashes: &[u64], taken: &mut usize, new: &mut u64) -> Result<()> {
        while *taken < hashes.len() {
            let limit = self.table.limit();
            let Table { kernel, ref segments, ref mut search, .. } = self.table;
            let words = self.base.writable_at_once().ok_or(Status::Internal)?;
            let (more, of_these) = (kernel.insert_group)(segments, words, &hashes[*taken..], limit, search);
            self.note(more as u64, of_these.count_ones().into())?;
            *new |= of_these << *taken;
            *taken += more;
            if let Some(hash) = hashes.get(*taken) {
                // A segment has to grow before this hash finds room.
                *new |= u64::from(self.insert(*hash)?) << *taken;
                *taken += 1;
            }
        }
        Ok(())
    }
}

impl grown::Table for Table {
    type Layout = Layout;
    const STORED: usize = 0;

    fn new(layout: Layout, words: &[AtomicU64], instructions: Instructions) -> Result<Table> {
        let (shape, kernel) = (layout.shape(), kernel(instructions));
        let size = shape.words() as usize;
        let is_divided = |segment: usize| words[segment * size].load(Ordering::Relaxed) & DIVIDED != 0;
        let segments = Segments::new(shape, Division::of(&layout.extent, is_divided)?);
        Ok(Table { layout, segments, kernel, search: Search::new()?, room: Vec::new() })
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn segment_words(&self) -> usize {
        self.segments.size
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], mixed: u64) -> bool {
        self.segments.contains(words, mixed)
    }

    fn fetch(&self, words: &[AtomicU64], mixed: u64) {
        self.segments.words_of(mixed).into_iter().for_each(|word| ring::fetch_word(words, word));
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        (self.kernel.contains_many)(&self.segments, words, batch);
    }

    #[inline]
    fn insert(&mut self, base: &mut Base, mixed: u64) -> Outcome<bool> {
        let (words, limit) = (base.writable_at_once().ok_or(Status::Internal)?, self.limit());
        match (self.kernel.insert_new)(&self.segments, words, mixed, limit, &mut self.search) {
            Ok(new) => return Ok(new),
            Err(Full) => self.put(base, mixed, u64::BITS)?,
        }
        Ok(true)
    }

    fn insert_many(filter: &mut Grown<Table>, batch: &mut dyn Batch) -> Taken {
        let (mut hashes, mut done) = ([0; GROUP], 0);
        loop {
            let count = batch.next(&mut hashes);
            if count == 0 {
                return Taken::all(done);
            }
            let (mut taken, mut new) = (0, 0);
            let outcome = filter.insert_group(&hashes[..count], &mut taken, &mut new);
            if taken > 0 {
                batch.answer(new, taken);
            }
            done += taken;
            if outcome.is_err() || count < GROUP {
                return Taken { keys: done, outcome };
            }
        }
    }

    fn insert_all(&mut self, base: &mut Base, other: &Table, words: &[AtomicU64]) -> Outcome<(u64, u64)> {
        let (mut all, mut new) = (0, 0);
        for address in other.division().addresses() {
            for entry in other.entries(words, address) {
                let (mixed, known) = other.segments.known_bits(address, entry);
                all += 1;
                new += u64::from(self.insert_known(base, mixed, known)?);
            }
        }
        Ok((all, new))
    }

    /// Exact, because each entry says which share of all hashes finds it, and no hash finds two entries.
    fn measure(&self, words: &[AtomicU64], address: Address, rate: &mut f64) -> (u64, u64) {
        let (mut taken, mut of_length) = (0, [0_u64; 64]);
        for entry in self.entries(words, address) {
            of_length[entry.tail.ilog2() as usize] += 1;
        }
        let least = address.bits + self.segments.shape.prefix_bits();
        for (length, entries) in (0..).zip(of_length) {
            *rate += entries as f64 * (-f64::from(least + length)).exp2();
            taken += entries;
        }
        (taken, 8 * self.segments.size as u64)
    }

    fn full(&self, base: &Base) -> Error {
        let (keys, Growing { doublings, .. }) = (base.count(), self.layout.growing);
        if self.layout.growths() < self.most_growths() {
            return error!(
                Full,
                "the taffy filter is full: it holds {keys} keys, of which one part of it has many more than others, or \
                 of too many nothing more is known"
            );
        }
        if self.most_growths() < doublings {
            return error!(Full, "the taffy filter is full: hashes of 64 bits do not tell more keys apart");
        }
        error!(Full, "the taffy filter is full: it holds {keys} keys and was made to double {doublings} times")
    }

    fn check_segment(&self, words: &[AtomicU64], Address { segment, .. }: Address) -> Result<()> {
        let Segments { shape, size, ref division } = self.segments;
        let (slots, all) = (shape.slots(), &words[segment * size..(segment + 1) * size]);
        let first = all[0].load(Ordering::Relaxed);
        if first & DIVIDED != 0 && (division.first_part(segment) != segment || !division.is_divided(segment)) {
            return Err(error!(Corrupt, "segment {segment} says that it was divided, which it cannot have been"));
        }
        let (mut taken, mut is_known) = (0, true);
        for slot in 0..slots.count {
            let value = slots.get(&all[1..], slot);
            taken += u64::from(value != 0);
            is_known &= value == 0 || value >> shape.fingerprint_bits != 0;
        }
        if !is_known || taken != first & !DIVIDED {
            return Err(error!(Corrupt, "segment {segment} holds {taken} entries, and says {}", first & !DIVIDED));
        }
        match bits::is_zero_from(&all[1..], slots.count * u64::from(slots.width)) {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits after the last slot of segment {segment} are set")),
        }
    }
}

impl Growth for Table {
    const MOST: u32 = BUCKET_BITS.1;
    const SLOTS: u64 = 2 * BUCKET;
    const LIMIT: fn(u64) -> u64 = sizing::limit;

    fn division(&self) -> &Division {
        &self.segments.division
    }

    fn most_growths(&self) -> u32 {
        self.layout.growing.most_doublings().unwrap_or(0)
    }

    fn taken(&self, words: &[AtomicU64], address: Address) -> u64 {
        words[address.segment * self.segments.size].load(Ordering::Relaxed) & !DIVIDED
    }

    fn double(&mut self, base: &mut Base) -> Outcome<()> {
        let extent = Extent { size: self.layout.extent.size + 1, ..self.layout.extent };
        let layout = Layout { extent, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let segments = layout.empty()?;
        let mut words = Words::zeroed(geometry.payload_bytes)?;
        let state = words.bytes() as usize / 8 - STATE_WORDS;
        let room = words.exclusive().ok_or(Status::Internal)?;
        let old = base.words().shared();
        let shift = self.segments.shape.prefix_bits();
        for entry in self.segments.shape.entries(old, 0) {
            for (bit, tail) in longer(entry) {
                let entry = Entry { prefix: entry.prefix | bit << shift, tail };
                if !segments.shape.insert(&mut room[..state], entry, &mut self.search) {
                    return Err(Refusal::Full);
                }
            }
        }
        room[state] = old[old.len() - STATE_WORDS].load(Ordering::Relaxed);
        base.replace(geometry, words);
        (self.segments, self.layout) = (segments, layout);
        Ok(())
    }

    fn begin_dividing(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { extent: Extent { is_dividing: true, ..self.layout.extent }, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let segments = layout.empty()?;
        let old = base.words().shared().len() - STATE_WORDS;
        base.lengthen(geometry)?;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        // The state stays in the last line. The words where it was begin a segment, which is empty.
        let new = words.len() - STATE_WORDS;
        words.copy_within(old..old + STATE_WORDS, new);
        words[old..old + STATE_WORDS].fill(0);
        (self.segments, self.layout) = (segments, layout);
        Ok(())
    }

    fn divide(&mut self, base: &mut Base, segment: usize) -> Outcome<()> {
        let Segments { shape, size, ref mut division } = self.segments;
        if self.room.is_empty() {
            self.room = try_vec(2 * size)?;
        }
        self.room.clear();
        self.room.resize(2 * size, 0);
        let old = &base.words().shared()[segment * size..(segment + 1) * size];
        (self.kernel.divide)(&shape, old, &mut self.room);
        let (low, high) = self.room.split_at_mut(size);
        low[0] |= DIVIDED;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        for (part, at) in [(low, segment), (high, segment + (1 << division.extent.depth))] {
            words[at * size..(at + 1) * size].copy_from_slice(part);
        }
        division.mark(segment);
        if division.is_complete() { self.end_dividing(base) } else { Ok(()) }
    }

    fn end_dividing(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { extent: self.layout.extent.divided(), ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let segments = layout.empty()?;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        let divided = words.iter_mut().step_by(segments.size).take(1 << self.layout.extent.depth);
        divided.for_each(|first| *first &= !DIVIDED);
        base.lengthen(geometry)?;
        (self.segments, self.layout) = (segments, layout);
        Ok(())
    }
}

/// What becomes of an entry whose prefix gets the first bit of its tail: the entry with that bit, or two entries with
/// either bit if its tail has none.
fn longer(entry: Entry) -> impl Iterator<Item = (u64, u64)> {
    let is_exhausted = entry.tail == 1;
    let first = (entry.tail & 1, entry.tail >> 1);
    let both = [(0, 1), (1, 1)];
    let (parts, count) = if is_exhausted { (both, 2) } else { ([first; 2], 1) };
    parts.into_iter().take(count)
}
