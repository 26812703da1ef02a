//! How segments grow one by one: each entry gives a bit to its address, and a void one becomes two.

use super::layout::Layout;
use super::mothers::mother;
use super::table::{Address, Outcome, Refusal, Table};
use crate::error::Status;
use crate::kind::Base;
use crate::layouts::aleph::{Entry, Shape, ones};
use crate::layouts::quotient::{Writer, needs};
use crate::sizing::aleph::SLOT_BITS;
use crate::storage::{Words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// Segments that are written anew with one more bit of address.
struct Longer<'a> {
    table: &'a Table,
    words: &'a [AtomicU64],
    from: Address,
    /// Their shape then.
    to: Shape,
    /// The mothers of what becomes void by it.
    mothers: Vec<(u64, u64)>,
}

impl Longer<'_> {
    /// Gives those entries to a writer, in slots that are so many further on, of which the next bit is, or may be, this
    /// one.
    fn write(&mut self, bit: u64, further: u64, writer: &mut Writer) -> Outcome<()> {
        let known = self.table.address_bits(self.from);
        let mut last: Option<(u64, u64)> = None;
        for (Entry { slot, length, fingerprint }, mut count) in self.table.entries(self.words, self.from) {
            if length > 0 && fingerprint & 1 != bit {
                continue;
            }
            let address = self.table.prefix(self.from, slot);
            if length == 0 {
                count = count.min(self.table.alive(self.words, address, known));
                if count == 0 {
                    continue;
                }
            }
            if length == 1 {
                self.mothers.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
                self.mothers.push((mother(address | bit << known, known + 1), count));
            }
            let number = self.to.number(Entry {
                slot: slot + further,
                length: length.saturating_sub(1),
                fingerprint: fingerprint >> 1,
            });
            match &mut last {
                // What becomes void is as what was.
                Some((before, sum)) if *before == number => *sum = sum.saturating_add(count),
                _ => {
                    if let Some(item) = last.replace((number, count)) {
                        writer.push(item)?;
                    }
                }
            }
        }
        last.map_or(Ok(()), |item| Ok(writer.push(item)?))
    }
}

impl Table {
    /// Makes room in a segment. On an error others may have grown; no key is lost.
    #[cold]
    pub(super) fn grow(&mut self, base: &mut Base, address: Address) -> Outcome<()> {
        if self.layout.is_dividing && self.count == 1 << self.layout.depth {
            // There was no memory for it when the last one was divided.
            return self.end_dividing(base);
        }
        let Layout { depth, is_dividing, slot_bits, growing, .. } = self.layout;
        if self.address_bits(address) - growing.slot_bits >= self.most_growths {
            return Err(Refusal::Full);
        }
        // Segments of spread hashes are full at about the same time. Where one is much fuller than others, hashes are
        // not spread, and whoever chose them shall not make the filter grow without end.
        let least = self.limit() / 2;
        if self.taken(base.words().shared(), address) < least {
            return Err(Refusal::Full);
        }
        if depth == 0 && !is_dividing && slot_bits < SLOT_BITS.1 {
            self.check_growth(base, address)?;
            return self.double(base);
        }
        if address.bits > depth {
            // It was divided while others wait: all are, before the first is once more.
            for segment in 0..1 << depth {
                if self.layout.is_dividing && !self.is_divided(segment) {
                    if self.taken(base.words().shared(), Address { segment, bits: depth }) < least {
                        return Err(Refusal::Full);
                    }
                    self.divide(base, segment)?;
                }
            }
        }
        if !self.layout.is_dividing {
            self.check_growth(base, Address { bits: self.layout.depth, ..address })?;
            self.begin_dividing(base)?;
        }
        // What is in the second half of the new room before it was divided is in the first one now.
        self.divide(base, address.segment & ones(self.layout.depth) as usize)
    }

    /// Refuses to grow where that makes no room, as void entries come into both parts. There are so many of them only
    /// where many filters were merged.
    fn check_growth(&self, base: &Base, address: Address) -> Outcome<()> {
        let (words, shape, known) = (base.words().shared(), self.shape(address), self.address_bits(address));
        let alive = |entry: &Entry| self.alive(words, self.prefix(address, entry.slot), known);
        let void = self.entries(words, address).filter(|(entry, _)| entry.length == 0);
        let void = void.map(|(entry, count)| (shape.number(entry), count.min(alive(&entry))));
        let taken = self.taken(words, address) + needs(shape.table, void);
        if taken > self.limit() / 4 * 7 { Err(Refusal::Full) } else { Ok(()) }
    }

    /// Puts the only segment into one that is twice as large.
    fn double(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { slot_bits: self.layout.slot_bits + 1, ..self.layout };
        let [to, _] = layout.shapes().ok_or(Refusal::Full)?;
        let mut segment = try_vec(to.words())?;
        segment.resize(to.words(), 0);
        let from = Address { segment: 0, bits: 0 };
        let words = base.words().shared();
        let mut longer = Longer { table: self, words, from, to, mothers: try_vec(0)? };
        let mut writer = Writer::new(to.table, &mut segment);
        for bit in 0..2 {
            longer.write(bit, bit << self.layout.slot_bits, &mut writer)?;
        }
        writer.finish();
        let more = longer.mothers;
        self.make_room_for_mothers(base, more.len() as u64)?;
        let layout = Layout { mother_bits: self.layout.mother_bits, ..layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let table = Table::empty(layout, self.kernel)?;
        let mut words = Words::zeroed(geometry.payload_bytes)?;
        let room = words.exclusive().ok_or(Status::Internal)?;
        room[..segment.len()].copy_from_slice(&segment);
        copy(&mut room[table.mothers_at()..], &base.words().shared()[self.mothers_at()..]);
        base.replace(geometry, words);
        *self = table;
        self.add_mothers(base, &more)
    }

    /// Makes room for twice as many segments, as long as the longer ones of those before and after.
    fn begin_dividing(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { is_dividing: true, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let mut table = Table::empty(layout, self.kernel)?;
        let (size, longer) = (self.segment_words, table.segment_words);
        let (old, new) = (self.mothers_at(), table.mothers_at());
        let end = base.words().shared().len();
        base.lengthen(geometry)?;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        // Mothers and state stay at the end; where they were segments begin, empty.
        words.copy_within(old..end, new);
        words[old..end.min(new)].fill(0);
        if longer > size {
            for segment in (0..1_usize << layout.depth).rev() {
                words.copy_within(segment * size..(segment + 1) * size, segment * longer);
                words[segment * longer + size..(segment + 1) * longer].fill(0);
            }
        }
        table.room = core::mem::take(&mut self.room);
        *self = table;
        Ok(())
    }

    /// Divides a segment in two, which was not yet; if it is the last one, all have been.
    fn divide(&mut self, base: &mut Base, segment: usize) -> Outcome<()> {
        let (depth, size, to) = (self.layout.depth, self.segment_words, self.shapes[1]);
        let from = Address { segment, bits: depth };
        let mut room = core::mem::take(&mut self.room);
        room.clear();
        room.try_reserve_exact(2 * size).map_err(|_| Status::OutOfMemory)?;
        room.resize(2 * size, 0);
        let words = base.words().shared();
        let mut longer = Longer { table: self, words, from, to, mothers: try_vec(0)? };
        for (bit, part) in (0..2).zip(room.chunks_exact_mut(size)) {
            let mut writer = Writer::new(to.table, &mut part[..to.words()]);
            longer.write(bit, 0, &mut writer)?;
            writer.finish();
        }
        let more = longer.mothers;
        self.make_room_for_mothers(base, more.len() as u64)?;
        let flag = self.flag(segment);
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        for (part, at) in room.chunks_exact(size).zip([segment, segment + (1 << depth)]) {
            words[at * size..(at + 1) * size].copy_from_slice(part);
        }
        words[flag] = 1;
        self.room = room;
        self.mark(segment);
        self.add_mothers(base, &more)?;
        if self.count == 1 << depth { self.end_dividing(base) } else { Ok(()) }
    }

    /// All segments were divided: they are whole ones now, as long as they have to be. Nothing has changed on an error.
    fn end_dividing(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { depth: self.layout.depth + 1, is_dividing: false, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let mut table = Table::empty(layout, self.kernel)?;
        let (size, shorter) = (self.segment_words, table.segment_words);
        let mut words = if shorter < size { Some(Words::zeroed(geometry.payload_bytes)?) } else { None };
        let divided = 1 << self.layout.depth;
        let old = base.writable_at_once().ok_or(Status::Internal)?;
        for segment in 0..divided {
            old[self.flag(segment)] = 0;
        }
        match words.as_mut().map(|words| words.exclusive().ok_or(Status::Internal)).transpose()? {
            Some(room) => {
                for segment in 0..layout.segments() {
                    room[segment * shorter..(segment + 1) * shorter].copy_from_slice(&old[segment * size..][..shorter]);
                }
                room[table.mothers_at()..].copy_from_slice(&old[self.mothers_at()..]);
            }
            None => base.lengthen(geometry)?,
        }
        if let Some(words) = words {
            base.replace(geometry, words);
        }
        table.room = core::mem::take(&mut self.room);
        *self = table;
        Ok(())
    }
}

/// Copies words, as many as there are.
fn copy(to: &mut [u64], from: &[AtomicU64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
}
