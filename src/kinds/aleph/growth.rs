//! How segments grow one by one: each entry gives a bit to its address, and a void entry becomes two.

use super::layout::{Entry, Shape};
use super::mothers::mother;
use super::payload::Layout;
use super::sizing::{self, SLOT_BITS};
use super::table::Table;
use crate::blocks::runs::{Writer, needs};
use crate::blocks::segments::{Address, Division, Extent};
use crate::contract::Base;
use crate::error::Status;
use crate::generic::grown::{Growth, Layout as _, Outcome, Refusal};
use crate::storage::{Words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// The entries of a segment, written anew with one more bit of address.
struct Longer<'a> {
    table: &'a Table,
    words: &'a [AtomicU64],
    from: Address,
    /// The shape that the longer segments will have.
    to: Shape,
    /// The mothers of the entries that become void in this growth, and how many entries each mother stands for.
    mothers: Vec<(u64, u64)>,
}

impl Longer<'_> {
    /// Gives a writer those entries whose next bit is `bit`, and the void entries, whose next bit is unknown. `further`
    /// is added to each slot.
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
                // An entry that becomes void equals a void entry of the same slot, so both become one entry with a
                // counter.
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

impl Growth for Table {
    const MOST: u32 = SLOT_BITS.1;
    const SLOTS: u64 = 1;
    const LIMIT: fn(u64) -> u64 = sizing::limit;

    fn division(&self) -> &Division {
        &self.division
    }

    fn most_growths(&self) -> u32 {
        self.most_growths
    }

    fn taken(&self, words: &[AtomicU64], address: Address) -> u64 {
        self.reader(words, address).state()[0]
    }

    /// Refuses a growth after which void entries would fill the segments, because each void entry goes into both parts.
    /// Only merging many filters makes that many of them.
    fn check_growth(&self, base: &Base, address: Address) -> Outcome<()> {
        let (words, shape, known) = (base.words().shared(), self.shape(address), self.address_bits(address));
        let alive = |entry: &Entry| self.alive(words, self.prefix(address, entry.slot), known);
        let void = self.entries(words, address).filter(|(entry, _)| entry.length == 0);
        let void = void.map(|(entry, count)| (shape.number(entry), count.min(alive(&entry))));
        let taken = self.taken(words, address) + needs(shape.table, void);
        if taken > self.limit() / 4 * 7 { Err(Refusal::Full) } else { Ok(()) }
    }

    fn double(&mut self, base: &mut Base) -> Outcome<()> {
        let extent = Extent { size: self.layout.extent.size + 1, ..self.layout.extent };
        let layout = Layout { extent, ..self.layout };
        let [to, _] = layout.shapes().ok_or(Refusal::Full)?;
        let mut segment = try_vec(to.words())?;
        segment.resize(to.words(), 0);
        let from = Address { segment: 0, bits: 0 };
        let words = base.words().shared();
        let mut longer = Longer { table: self, words, from, to, mothers: try_vec(0)? };
        let mut writer = Writer::new(to.table, &mut segment);
        for bit in 0..2 {
            longer.write(bit, bit << self.layout.extent.size, &mut writer)?;
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

    /// While segments are being divided, the room for each is as long as the longer of the old and the new shape needs.
    fn begin_dividing(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { extent: Extent { is_dividing: true, ..self.layout.extent }, ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let mut table = Table::empty(layout, self.kernel)?;
        let (size, longer) = (self.segment_words, table.segment_words);
        let (old, new) = (self.mothers_at(), table.mothers_at());
        let end = base.words().shared().len();
        base.lengthen(geometry)?;
        let words = base.writable_at_once().ok_or(Status::Internal)?;
        // Mothers and state stay at the end. The words where they were begin segments, which are empty.
        words.copy_within(old..end, new);
        words[old..end.min(new)].fill(0);
        if longer > size {
            for segment in (0..1_usize << layout.extent.depth).rev() {
                words.copy_within(segment * size..(segment + 1) * size, segment * longer);
                words[segment * longer + size..(segment + 1) * longer].fill(0);
            }
        }
        table.room = core::mem::take(&mut self.room);
        *self = table;
        Ok(())
    }

    fn divide(&mut self, base: &mut Base, segment: usize) -> Outcome<()> {
        let (depth, size, to) = (self.division.extent.depth, self.segment_words, self.shapes[1]);
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
        self.division.mark(segment);
        self.add_mothers(base, &more)?;
        if self.division.is_complete() { self.end_dividing(base) } else { Ok(()) }
    }

    /// Gives every segment the length that its new shape needs, which may be shorter than the room during the division.
    fn end_dividing(&mut self, base: &mut Base) -> Outcome<()> {
        let layout = Layout { extent: self.layout.extent.divided(), ..self.layout };
        let geometry = layout.geometry().ok_or(Refusal::Full)?;
        let mut table = Table::empty(layout, self.kernel)?;
        let (size, shorter) = (self.segment_words, table.segment_words);
        let mut words = if shorter < size { Some(Words::zeroed(geometry.payload_bytes)?) } else { None };
        let divided = 1 << self.division.extent.depth;
        let old = base.writable_at_once().ok_or(Status::Internal)?;
        for segment in 0..divided {
            old[self.flag(segment)] = 0;
        }
        match words.as_mut().map(|words| words.exclusive().ok_or(Status::Internal)).transpose()? {
            Some(room) => {
                for segment in 0..table.division.segments() {
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

/// Copies words until one of the two slices ends.
fn copy(to: &mut [u64], from: &[AtomicU64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
}
