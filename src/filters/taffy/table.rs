//! Segments over the words of a payload: where a hash is, and how they grow one by one.

use crate::error::{Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kind::Base;
use crate::layouts::taffy::{Address, DIVIDED, Entry, Full, Kernel, Search, Segments, Shape, kernel, ones};
use crate::simd::Instructions;
use crate::sizing::taffy::{self as sizing, BUCKET_BITS, Growing};
use crate::storage::{Words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// The 64-bit words of the last line.
const STATE_WORDS: usize = (PAYLOAD_UNIT / 8) as usize;

/// What a payload looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// How it began, and how far it may go.
    pub growing: Growing,
    /// That of a segment.
    pub shape: Shape,
    /// The base-2 logarithm of the number of segments that are not divided yet, or will not be.
    pub depth: u32,
    /// Whether there is room for twice as many, because some were divided.
    pub is_dividing: bool,
}

impl Layout {
    /// That of a filter which has not grown.
    pub fn new(growing: Growing) -> Layout {
        let bucket_bits = growing.bucket_bits.min(BUCKET_BITS.1);
        let fingerprint_bits = sizing::fingerprint_bits(growing.bits);
        let shape = Shape { bucket_bits, fingerprint_bits, tail_bits: growing.tail_bits() };
        Layout { growing, shape, depth: growing.bucket_bits - bucket_bits, is_dividing: false }
    }

    /// What a geometry describes, if it is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Layout> {
        let layout = Layout::of_words(geometry.words)?;
        (layout.geometry()? == *geometry).then_some(layout)
    }

    /// What the words of a geometry describe, if they can.
    pub fn of_words(words: [u64; 8]) -> Option<Layout> {
        let [bits, doublings, first, bucket_bits, depth, is_dividing @ (0 | 1), has_several, 0] = words else {
            return None;
        };
        let within = |number: u64, (least, most): (u32, u32)| {
            u32::try_from(number).ok().filter(|number| (least..=most).contains(number))
        };
        let growing = Growing {
            bucket_bits: within(first, (BUCKET_BITS.0, sizing::MOST_BUCKET_BITS))?,
            bits: within(bits, sizing::BITS)?,
            doublings: within(doublings, sizing::DOUBLINGS)?,
        };
        let mut layout = Layout::new(growing);
        layout.shape.bucket_bits = within(bucket_bits, (layout.shape.bucket_bits, BUCKET_BITS.1))?;
        layout.depth = within(depth, (layout.depth, 63))?;
        layout.is_dividing = is_dividing == 1;
        // Segments are divided once they cannot become larger.
        let can_be = layout.has_one() || layout.shape.bucket_bits == BUCKET_BITS.1;
        if !can_be || has_several != u64::from(!layout.has_one()) || layout.growths() > growing.most_doublings()? {
            return None;
        }
        Some(layout)
    }

    /// The geometry of the payload; `None` past the address space.
    pub fn geometry(&self) -> Option<Geometry> {
        let Layout { growing, shape, depth, is_dividing } = *self;
        let segments = 1_u64.checked_shl(depth + u32::from(is_dividing))?;
        let slots = shape.slots();
        let bits = segments.checked_mul(slots.count)?.checked_mul(slots.width.into())?;
        let payload_bytes = segments.checked_mul(8 * shape.words())?.checked_add(PAYLOAD_UNIT)?;
        image_bytes(payload_bytes)?;
        let [first, bucket_bits] = [growing.bucket_bits, shape.bucket_bits].map(u64::from);
        let [width, doublings, depth] = [growing.bits, growing.doublings, depth].map(u64::from);
        let has_several = !self.has_one();
        let words = [width, doublings, first, bucket_bits, depth, is_dividing.into(), has_several.into(), 0];
        Some(Geometry { bits, hashes: 0, words, payload_bytes })
    }

    /// Whether there is room for one segment only.
    fn has_one(&self) -> bool {
        self.depth == 0 && !self.is_dividing
    }

    /// How often segments have become two, or twice as large; those that were divided meanwhile once more.
    pub fn growths(&self) -> u32 {
        self.depth + u32::from(self.is_dividing) + self.shape.bucket_bits - self.growing.bucket_bits
    }

    /// How many segments there is room for.
    pub fn segments(&self) -> usize {
        1 << (self.depth + u32::from(self.is_dividing))
    }

    /// The words of a segment.
    fn segment_words(&self) -> usize {
        self.shape.words() as usize
    }

    /// Its segments, of which none is divided.
    fn empty(&self) -> Result<Segments> {
        Segments::new(self.shape, self.depth, self.is_dividing)
    }
}

/// Segments over the words of a payload.
pub(super) struct Table {
    pub layout: Layout,
    pub segments: Segments,
    pub kernel: &'static Kernel,
    search: Search,
    /// Where the parts of a segment are made before they take its place.
    room: Vec<u64>,
}

/// Why a segment did not grow.
pub(super) enum Refusal {
    /// It cannot, for ever.
    Full,
    /// There was no memory.
    Error(crate::Error),
}

impl From<crate::Error> for Refusal {
    fn from(error: crate::Error) -> Refusal {
        Refusal::Error(error)
    }
}

impl Table {
    /// The segments of a payload.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn new(layout: Layout, words: &[AtomicU64], instructions: Instructions) -> Result<Table> {
        let (segments, kernel) = (layout.empty()?, kernel(instructions));
        let mut table = Table { layout, segments, kernel, search: Search::new()?, room: Vec::new() };
        if layout.is_dividing {
            for segment in 0..1 << layout.depth {
                if words[segment * layout.segment_words()].load(Ordering::Relaxed) & DIVIDED != 0 {
                    table.segments.mark(segment);
                }
            }
        }
        Ok(table)
    }

    /// How many slots of a segment are taken.
    pub fn taken(&self, words: &[AtomicU64], segment: usize) -> u64 {
        words[segment * self.layout.segment_words()].load(Ordering::Relaxed) & !DIVIDED
    }

    /// How many slots of a segment may be taken.
    pub fn limit(&self) -> u64 {
        sizing::limit(self.layout.shape.slots().count)
    }

    /// All segments that keys are in, and how many bits of a hash say which one it is.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        let whole = 1 << self.layout.depth;
        (0..self.layout.segments()).filter_map(move |segment| {
            let is_divided = self.segments.is_divided(segment % whole);
            let bits = self.layout.depth + u32::from(is_divided);
            (segment < whole || is_divided).then_some(Address { segment, bits })
        })
    }

    /// All entries of a segment.
    pub fn entries<'a>(&self, words: &'a [AtomicU64], segment: usize) -> impl Iterator<Item = Entry> + 'a {
        self.layout.shape.entries(words, segment * self.layout.segment_words())
    }

    /// Inserts a mixed hash if it is not found, and says whether that was so.
    #[inline]
    pub fn insert_new(&mut self, base: &mut Base, hash: u64) -> core::result::Result<bool, Refusal> {
        let limit = self.limit();
        let words = base.writable_at_once().ok_or(Status::Internal).map_err(crate::Error::from)?;
        match (self.kernel.insert_new)(&self.segments, words, hash, limit, &mut self.search) {
            Ok(new) => return Ok(new),
            Err(Full) => self.insert(base, hash, u64::BITS)?,
        }
        Ok(true)
    }

    /// Inserts hashes of a group, which are not mixed, in order, each if it is not found; how many were taken before one
    /// for which there is no room, and of which of them this was so.
    #[inline]
    pub fn insert_group(&mut self, base: &mut Base, hashes: &[u64]) -> Result<(usize, u64)> {
        let limit = self.limit();
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        Ok((self.kernel.insert_group)(&self.segments, words, hashes, limit, &mut self.search))
    }

    /// Inserts a mixed hash of which `known` bits are known, those of its prefix at least, and the others are 0, and which
    /// is not found. What is full grows; where its prefix then has a bit that is not known it is inserted with both.
    pub fn insert(&mut self, base: &mut Base, hash: u64, known: u32) -> core::result::Result<(), Refusal> {
        loop {
            let address = self.segments.address(hash);
            if !self.is_known(known, address) {
                self.insert(base, hash, known + 1)?;
                return self.insert(base, hash | 1 << known, known + 1);
            }
            if self.taken(base.words().shared(), address.segment) < self.limit() {
                let Layout { shape, .. } = self.layout;
                let entry = shape.entry(self.segments.within(hash, address.bits), known - address.bits);
                let start = address.segment * self.layout.segment_words();
                let words = base.writable_at_once().ok_or(Status::Internal).map_err(crate::Error::from)?;
                if shape.insert(&mut words[start..start + shape.words() as usize], entry, &mut self.search) {
                    return Ok(());
                }
            }
            self.grow(base, address)?;
        }
    }

    /// Makes room for what is known of a mixed hash, `known` bits: takes out the entries that only hashes find which find
    /// it too, and says how many these were; `None`, having changed nothing, if an entry is found by all of its hashes.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    pub fn take_over(&self, base: &mut Base, hash: u64, known: u32) -> Result<Option<u64>> {
        let Address { segment, bits } = self.segments.address(hash);
        let (shape, size) = (self.layout.shape, self.layout.segment_words());
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        let segment = &mut words[segment * size..(segment + 1) * size];
        Ok(shape.take_over(segment, shape.entry(self.segments.within(hash, bits), known - bits)))
    }

    /// Whether so many known bits are those of a segment and a prefix there.
    pub fn is_known(&self, known: u32, address: Address) -> bool {
        known >= address.bits + self.layout.shape.prefix_bits()
    }

    /// Makes room in a segment. Nothing has changed if it cannot.
    #[cold]
    fn grow(&mut self, base: &mut Base, address: Address) -> core::result::Result<(), Refusal> {
        let Layout { depth, is_dividing, shape, growing } = self.layout;
        let growths = address.bits + shape.bucket_bits - growing.bucket_bits;
        if growing.most_doublings().is_none_or(|most| growths >= most) {
            return Err(Refusal::Full);
        }
        // Segments of spread hashes are full at about the same time. Where one is much fuller than others, hashes are not
        // spread, and whoever chose them shall not make the filter grow without end.
        let least = self.limit() / 2;
        if self.taken(base.words().shared(), address.segment) < least {
            return Err(Refusal::Full);
        }
        if depth == 0 && !is_dividing && shape.bucket_bits < BUCKET_BITS.1 {
            return self.double(base);
        }
        if address.bits > depth {
            // It was divided while others wait: all are, before the first is once more.
            for waiting in 0..1 << depth {
                if self.layout.is_dividing && !self.segments.is_divided(waiting) {
                    if self.taken(base.words().shared(), waiting) < least {
                        return Err(Refusal::Full);
                    }
                    self.divide(base, waiting)?;
                }
            }
        }
        if !self.layout.is_dividing {
            self.begin_dividing(base)?;
        }
        // Hashes that are in the second half of the new room before it was divided are in the first one now.
        self.divide(base, address.segment & ones(self.layout.depth) as usize)
    }

    /// Puts the only segment into one that is twice as large.
    fn double(&mut self, base: &mut Base) -> core::result::Result<(), Refusal> {
        let layout = Layout { shape: self.layout.shape.doubled(), ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let segments = layout.empty()?;
        let mut words = Words::zeroed(geometry.payload_bytes)?;
        let state = words.bytes() as usize / 8 - STATE_WORDS;
        let room = words.exclusive().ok_or(Status::Internal).map_err(crate::Error::from)?;
        let old = base.words().shared();
        let shift = self.layout.shape.prefix_bits();
        for entry in self.layout.shape.entries(old, 0) {
            for (bit, tail) in longer(entry) {
                let entry = Entry { prefix: entry.prefix | bit << shift, tail };
                if !layout.shape.insert(&mut room[..state], entry, &mut self.search) {
                    return Err(Refusal::Full);
                }
            }
        }
        room[state] = old[old.len() - STATE_WORDS].load(Ordering::Relaxed);
        base.replace(geometry, words);
        (self.segments, self.layout) = (segments, layout);
        Ok(())
    }

    /// Makes room for twice as many segments.
    fn begin_dividing(&mut self, base: &mut Base) -> core::result::Result<(), Refusal> {
        let layout = Layout { is_dividing: true, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let segments = layout.empty()?;
        let old = base.words().shared().len() - STATE_WORDS;
        base.lengthen(geometry)?;
        let words = base.writable_at_once().ok_or(Status::Internal).map_err(crate::Error::from)?;
        // The state stays the last line; where it was a segment begins, empty.
        let new = words.len() - STATE_WORDS;
        words.copy_within(old..old + STATE_WORDS, new);
        words[old..old + STATE_WORDS].fill(0);
        (self.segments, self.layout) = (segments, layout);
        Ok(())
    }

    /// Divides a segment in two, which was not yet; if it is the last one, all have been.
    fn divide(&mut self, base: &mut Base, segment: usize) -> core::result::Result<(), Refusal> {
        let Layout { shape, depth, .. } = self.layout;
        let size = self.layout.segment_words();
        if self.room.is_empty() {
            self.room = try_vec(2 * size)?;
        }
        self.room.clear();
        self.room.resize(2 * size, 0);
        let old = &base.words().shared()[segment * size..(segment + 1) * size];
        (self.kernel.divide)(&shape, old, &mut self.room);
        let (low, high) = self.room.split_at_mut(size);
        low[0] |= DIVIDED;
        let words = base.writable_at_once().ok_or(Status::Internal).map_err(crate::Error::from)?;
        for (part, at) in [(low, segment), (high, segment + (1 << depth))] {
            words[at * size..(at + 1) * size].copy_from_slice(part);
        }
        self.segments.mark(segment);
        if self.segments.are_divided() {
            self.end_dividing(base)?;
        }
        Ok(())
    }

    /// All segments were divided: they are whole ones now.
    fn end_dividing(&mut self, base: &mut Base) -> core::result::Result<(), Refusal> {
        let layout = Layout { depth: self.layout.depth + 1, is_dividing: false, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let (size, segments) = (layout.segment_words(), layout.empty()?);
        let words = base.writable_at_once().ok_or(Status::Internal).map_err(crate::Error::from)?;
        words.iter_mut().step_by(size).take(1 << self.layout.depth).for_each(|first| *first &= !DIVIDED);
        base.lengthen(geometry)?;
        (self.segments, self.layout) = (segments, layout);
        Ok(())
    }

    /// How many keys were stored.
    pub fn stored(words: &[AtomicU64]) -> u64 {
        words[words.len() - STATE_WORDS].load(Ordering::Relaxed)
    }

    /// Says how many keys were stored.
    pub fn store(words: &mut [u64], stored: u64) {
        let place = words.len() - STATE_WORDS;
        words[place] = stored;
    }

    /// Checks what a payload must be, whatever keys it holds.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let Layout { shape, depth, .. } = self.layout;
        let (slots, size) = (shape.slots(), self.layout.segment_words());
        let state = words.len() - STATE_WORDS;
        let is_zero = |words: &[AtomicU64]| words.iter().all(|word| word.load(Ordering::Relaxed) == 0);
        for segment in 0..self.layout.segments() {
            let all = &words[segment * size..(segment + 1) * size];
            let first = all[0].load(Ordering::Relaxed);
            let whole = segment % (1 << depth);
            if first & DIVIDED != 0 && (whole != segment || !self.segments.is_divided(segment)) {
                return Err(error!(Corrupt, "segment {segment} says that it was divided, which it cannot have been"));
            }
            if whole != segment && !self.segments.is_divided(whole) && !is_zero(all) {
                return Err(error!(Corrupt, "segment {segment} is not empty, and segment {whole} was not divided"));
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
            let end = slots.count * u64::from(slots.width);
            if !crate::bits::is_zero_from(&all[1..], end) {
                return Err(error!(Corrupt, "bits after the last slot of segment {segment} are set"));
            }
        }
        match is_zero(&words[state + 1..]) {
            true => Ok(()),
            false => Err(error!(Corrupt, "the last words of the payload are not zero")),
        }
    }
}

/// What becomes of an entry whose prefix gets the first bit of its tail: that bit and what is left, or both bits.
fn longer(entry: Entry) -> impl Iterator<Item = (u64, u64)> {
    let is_exhausted = entry.tail == 1;
    let first = (entry.tail & 1, entry.tail >> 1);
    let both = [(0, 1), (1, 1)];
    let (parts, count) = if is_exhausted { (both, 2) } else { ([first; 2], 1) };
    parts.into_iter().take(count)
}
