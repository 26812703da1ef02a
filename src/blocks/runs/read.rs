//! Finds runs, and reads their slots.

use super::code::{self, Entry};
use super::{BLOCK, FAR, HEAD, Table};
use crate::bits::{read_own_unaligned, read_unaligned};
use crate::blocks::select::{Broadword, Select};
use crate::storage::AnyBytes;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;

/// Bytes that hold a table.
pub trait Bytes {
    /// The eight bytes from a byte on, as a little-endian number. Missing bytes are zeros.
    fn at(&self, byte: usize) -> u64;
}

impl Bytes for [AtomicU64] {
    #[inline(always)]
    fn at(&self, byte: usize) -> u64 {
        read_unaligned(self, byte as u64)
    }
}

impl Bytes for [u64] {
    #[inline(always)]
    fn at(&self, byte: usize) -> u64 {
        read_own_unaligned(self, byte as u64)
    }
}

impl Bytes for AnyBytes<'_> {
    #[inline(always)]
    fn at(&self, byte: usize) -> u64 {
        let bytes = self.bytes().get(byte..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

/// A run: the positions of its first and its last slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The position of the first slot.
    pub start: u64,
    /// The position of the last slot.
    pub end: u64,
}

impl Run {
    /// How many slots the run has from one of its positions on.
    #[inline(always)]
    pub fn left(&self, from: u64) -> u64 {
        self.end + 1 - from
    }
}

/// Reads a table.
pub struct Reader<'a, B: ?Sized, S = Broadword> {
    /// The shape of the table.
    pub table: Table,
    bytes: &'a B,
    select: PhantomData<S>,
}

impl<B: ?Sized, S> Clone for Reader<'_, B, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: ?Sized, S> Copy for Reader<'_, B, S> {}

impl<'a, B: Bytes + ?Sized> Reader<'a, B> {
    /// A reader of a table.
    #[inline(always)]
    pub fn new(table: Table, bytes: &'a B) -> Reader<'a, B> {
        Reader::selecting(table, bytes)
    }
}

impl<'a, B: Bytes + ?Sized, S: Select> Reader<'a, B, S> {
    /// A reader of a table that finds bits by their ranks with `S`.
    #[inline(always)]
    pub fn selecting(table: Table, bytes: &'a B) -> Reader<'a, B, S> {
        Reader { table, bytes, select: PhantomData }
    }

    /// A reader with plain code, for functions that are rarely called and not inlined into the functions of a kernel.
    /// Such functions are not compiled for the kernel's instructions, and must not use them.
    #[inline(always)]
    pub fn plainly(self) -> Reader<'a, B> {
        Reader::new(self.table, self.bytes)
    }

    /// The eight bytes from a byte on.
    #[inline(always)]
    pub(super) fn bytes_at(&self, byte: usize) -> u64 {
        self.bytes.at(byte)
    }

    /// How many slots are taken, and how many fingerprints there are, as the line of state says.
    pub fn state(&self) -> [u64; 2] {
        let start = self.table.state();
        [start, start + 1].map(|word| self.bytes.at(8 * word))
    }

    /// A bit for each quotient of a position's block: whether the quotient has a run.
    #[inline(always)]
    pub fn occupieds(&self, position: u64) -> u64 {
        self.bytes.at(self.table.block(position) + 2)
    }

    /// A bit for each slot of a position's block: whether a run ends there.
    #[inline(always)]
    pub fn runends(&self, position: u64) -> u64 {
        self.bytes.at(self.table.block(position) + 10)
    }

    /// The remainder in a slot.
    #[inline(always)]
    pub fn remainder(&self, position: u64) -> u64 {
        let bit = (position % BLOCK) as usize * self.table.remainder_bits as usize;
        // A remainder has at most 32 bits, so eight bytes hold it whichever bit of the first byte it begins at.
        self.bytes.at(self.table.block(position) + HEAD + bit / 8) >> (bit % 8) & self.table.mask()
    }

    /// The offset of a position's block as it is stored.
    #[inline(always)]
    pub fn stored_offset(&self, position: u64) -> u64 {
        self.bytes.at(self.table.block(position)) & 0xffff
    }

    /// The offset of a position's block; `None` if the table is damaged.
    #[inline(always)]
    pub fn offset(&self, position: u64) -> Option<u64> {
        let offset = self.stored_offset(position);
        if offset < FAR { Some(offset) } else { self.plainly().far_offset(position) }
    }

    /// An offset that is too great to be stored, counted from the last block before it whose offset is stored. There is
    /// such a block, because a slot is free, and a block with a free slot has an offset below 64.
    #[cold]
    #[inline(never)]
    fn far_offset(&self, position: u64) -> Option<u64> {
        // Positions past the last slot are the same slots again, so counting back cannot fall below zero.
        let last = position / BLOCK % self.table.blocks() + self.table.blocks();
        let first =
            (1..=self.table.blocks()).map(|back| last - back).find(|block| self.stored_offset(block * BLOCK) < FAR)?;
        let mut offset = self.stored_offset(first * BLOCK);
        for block in first..last {
            offset = self.next_offset(block * BLOCK, offset)?;
        }
        Some(offset)
    }

    /// The offset of the block after a position's block, whose own offset is given. `None` if the table is damaged.
    // Part of each kernel, so that it is compiled for the kernel's instruction set.
    #[inline(always)]
    pub fn next_offset(&self, position: u64, offset: u64) -> Option<u64> {
        let start = position / BLOCK * BLOCK;
        let runs = self.occupieds(position).count_ones();
        let after = if runs == 0 { start + offset } else { self.run_end(start + offset, runs)? + 1 };
        // No run reaches further than once around, so counting takes at most as much work as the table is long.
        Some(after.saturating_sub(start + BLOCK)).filter(|offset| *offset <= self.table.slots())
    }

    /// The position of the `count`-th end of a run from a position on; `None` if there are fewer.
    #[inline(always)]
    fn run_end(&self, from: u64, count: u32) -> Option<u64> {
        let (mut block, mut rank) = (from / BLOCK, count - 1);
        let mut ends = self.runends(from) & (u64::MAX << (from % BLOCK));
        let last = block + self.table.blocks();
        loop {
            let place = S::select(ends, rank);
            if place < 64 {
                return Some(block * BLOCK + u64::from(place));
            }
            rank -= ends.count_ones();
            block += 1;
            if block > last {
                return None;
            }
            ends = self.runends(block * BLOCK);
        }
    }

    /// The position after the runs of all quotients up to this one. The slot of the quotient is free exactly if this
    /// position is not after it. `None` if the table is damaged.
    #[inline(always)]
    pub fn after(&self, quotient: u64) -> Option<u64> {
        if let Some((ends, first)) = self.near_ends(quotient) {
            let runs = (self.occupieds(quotient) << (BLOCK - 1 - quotient % BLOCK)).count_ones();
            if runs == 0 {
                return Some(first);
            }
            let end = S::select(ends, runs - 1);
            if end < 64 {
                return Some(first + u64::from(end) + 1);
            }
        }
        self.plainly().far_after(quotient)
    }

    /// [`Reader::after`] without the shortcut for near positions.
    #[inline(never)]
    fn far_after(&self, quotient: u64) -> Option<u64> {
        let start = quotient / BLOCK * BLOCK + self.offset(quotient)?;
        let upto = u64::MAX >> (BLOCK - 1 - quotient % BLOCK);
        match (self.occupieds(quotient) & upto).count_ones() {
            0 => Some(start),
            runs => Some(self.run_end(start, runs)? + 1),
        }
    }

    /// Whether a quotient has a run.
    #[inline(always)]
    pub fn is_occupied(&self, quotient: u64) -> bool {
        self.occupieds(quotient) >> (quotient % BLOCK) & 1 == 1
    }

    /// The ends of runs among the 64 slots from the offset of a quotient's block on, and the first of these slots.
    /// `None` if the offset is 64 or more.
    #[inline(always)]
    fn near_ends(&self, quotient: u64) -> Option<(u64, u64)> {
        let (first, offset) = (quotient / BLOCK * BLOCK, self.stored_offset(quotient));
        if offset >= BLOCK {
            return None;
        }
        let next = self.runends(first + BLOCK);
        Some((self.runends(quotient) >> offset | (next << 1) << (63 - offset), first + offset))
    }

    /// The run of a quotient that has one, if it ends among the 64 slots from the offset of its block on.
    #[inline(always)]
    fn near_run(&self, quotient: u64, occupieds: u64) -> Option<Run> {
        let (ends, first) = self.near_ends(quotient)?;
        let rank = (occupieds << (BLOCK - 1 - quotient % BLOCK)).count_ones().wrapping_sub(1);
        let end = S::select(ends, rank % 64);
        if end >= 64 {
            return None;
        }
        // The run begins right after the end before it, if there is one.
        let before = ends & ((1 << end) - 1);
        let start = (first + u64::from(64 - before.leading_zeros())).max(quotient);
        let end = first + u64::from(end);
        // In a damaged table the end may come first.
        (start <= end).then_some(Run { start, end })
    }

    /// The run of a quotient that has one; `None` if the table is damaged.
    #[inline(always)]
    pub fn run(&self, quotient: u64) -> Option<Run> {
        match self.near_run(quotient, self.occupieds(quotient)) {
            Some(run) => Some(run),
            None => self.plainly().far_run(quotient),
        }
    }

    /// The run of a quotient that has one, without the shortcut for near runs.
    #[inline(never)]
    fn far_run(&self, quotient: u64) -> Option<Run> {
        let from = quotient / BLOCK * BLOCK + self.offset(quotient)?;
        let before = self.occupieds(quotient) & ((1 << (quotient % BLOCK)) - 1);
        let start = match before.count_ones() {
            0 => from,
            runs => self.run_end(from, runs)? + 1,
        };
        self.run_from(start.max(quotient))
    }

    /// The run that begins at a position; `None` if the table is damaged.
    #[inline(always)]
    pub fn run_from(&self, start: u64) -> Option<Run> {
        let ends = self.runends(start) >> (start % BLOCK);
        if ends != 0 {
            return Some(Run { start, end: start + u64::from(ends.trailing_zeros()) });
        }
        Some(Run { start, end: self.run_end(start, 1)? })
    }

    /// The first free slot from a position on; `None` if the table is damaged.
    #[inline(always)]
    pub fn first_free(&self, from: u64) -> Option<u64> {
        self.first_beyond::<0>(from)
    }

    /// The first slot from a position on that no run of a smaller quotient reaches. In a damaged table this may be any
    /// slot from the position on.
    #[inline(always)]
    pub fn unreached(&self, from: u64) -> u64 {
        self.first_beyond::<1>(from).unwrap_or(from)
    }

    /// The first slot s from a position on that no run of the quotients up to s - `BEFORE` reaches. `None` if the table
    /// is damaged.
    #[inline(always)]
    fn first_beyond<const BEFORE: u64>(&self, from: u64) -> Option<u64> {
        let (mut slot, most) = (from, from + self.table.slots());
        loop {
            let quotient = slot - BEFORE;
            let (block, occupieds) = (quotient / BLOCK, self.occupieds(quotient));
            if let Some((ends, first)) = self.near_ends(quotient) {
                // The metadata of one block mostly suffices to find the slot.
                while (slot - BEFORE) / BLOCK == block {
                    let runs = (occupieds << (BLOCK - 1 - (slot - BEFORE) % BLOCK)).count_ones();
                    let end = S::select(ends, runs.wrapping_sub(1) % 64);
                    if runs > 0 && end >= 64 {
                        break;
                    }
                    let after = if runs == 0 { first } else { first + u64::from(end) + 1 };
                    if after <= slot {
                        return Some(slot);
                    }
                    slot = after;
                }
                if slot - BEFORE != quotient {
                    // The search goes on from the slot that it came to.
                    if slot > most {
                        return None;
                    }
                    continue;
                }
            }
            let after = self.plainly().far_after(quotient)?;
            if after <= slot {
                return Some(slot);
            }
            if after > most {
                return None;
            }
            slot = after;
        }
    }

    /// The code at a position of a run.
    #[inline(always)]
    pub fn entry(&self, at: u64, run: Run) -> Entry {
        code::read(run.left(at), self.table.remainder_bits, |i| self.remainder(at + i))
    }

    /// The position of a remainder in a run, and its entry if the remainder is there. Otherwise the position where it
    /// would be inserted.
    #[inline(always)]
    pub fn find(&self, run: Run, remainder: u64) -> (u64, Option<Entry>) {
        let mut at = run.start;
        while at <= run.end {
            let entry = self.entry(at, run);
            if entry.remainder >= remainder {
                return (at, (entry.remainder == remainder).then_some(entry));
            }
            at += entry.length;
        }
        (at, None)
    }

    /// Whether a fingerprint is there. True if the table is damaged.
    #[inline(always)]
    pub fn contains(&self, fingerprint: u64) -> bool {
        let (quotient, remainder) = self.table.split(fingerprint);
        let occupieds = self.occupieds(quotient);
        if occupieds >> (quotient % BLOCK) & 1 == 0 {
            return false;
        }
        match self.near_run(quotient, occupieds).and_then(|run| self.among_few(run, remainder)) {
            Some(is_there) => is_there,
            None => self.plainly().contains_far(quotient, remainder),
        }
    }

    /// Whether a remainder is in a run that lies in eight bytes. `None` if the run takes a closer look.
    ///
    /// The function compares all slots together (Knuth, "The Art of Computer Programming" 4A, section 7.1.3). An
    /// exclusive or with the remainder makes a lane zero where the remainder is. A subtraction of 1 from each lane then
    /// borrows first from the lowest zero lane. In a run of three slots or more the found slot may be a digit of
    /// another remainder's counter, unless the run ascends: where a counter begins, slots fall or stay the same.
    #[inline(always)]
    fn among_few(&self, run: Run, remainder: u64) -> Option<bool> {
        let Table { remainder_bits: bits, lanes, ones, .. } = self.table;
        let (length, place) = (run.left(run.start), run.start % BLOCK);
        if length > lanes.into() || place + length > BLOCK {
            return None;
        }
        let bit = place as usize * bits as usize;
        let window = self.bytes.at(self.table.block(run.start) + HEAD + bit / 8) >> (bit % 8);
        let differ = window ^ remainder.wrapping_mul(ones);
        let zeros = differ.wrapping_sub(ones) & !differ & (ones << (bits - 1)) & ((1 << (length as u32 * bits)) - 1);
        match zeros {
            0 => Some(false),
            _ if length <= 2 => Some(true),
            _ => self.table.ascend(window, length as u32).then_some(true),
        }
    }

    /// [`Reader::contains`] for a quotient that has a run, slot by slot.
    #[inline(never)]
    pub(super) fn contains_far(&self, quotient: u64, remainder: u64) -> bool {
        let Some(run) = self.run(quotient) else { return true };
        let mut at = run.start;
        while at <= run.end {
            // The count of the wanted remainder does not matter here.
            let found = self.remainder(at);
            if found >= remainder {
                return found == remainder;
            }
            at += self.entry(at, run).length;
        }
        false
    }

    /// How often a fingerprint is there. In a damaged table this is the greatest possible count.
    #[inline(always)]
    pub fn count(&self, fingerprint: u64) -> u64 {
        let (quotient, remainder) = self.table.split(fingerprint);
        if !self.is_occupied(quotient) {
            return 0;
        }
        let Some(run) = self.run(quotient) else { return u64::MAX };
        match self.among_few(run, remainder) {
            Some(false) => return 0,
            Some(true) if run.start == run.end => return 1,
            _ => {}
        }
        self.find(run, remainder).1.map_or(0, |entry| entry.count)
    }
}
