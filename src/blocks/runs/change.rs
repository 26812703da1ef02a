//! Changing single fingerprints.

use super::code::{Code, Entry, length};
use super::read::Run;
use super::{BLOCK, FAR, HEAD, Reader, Table};
use crate::bits::{read_own_unaligned, write_unaligned};
use crate::blocks::select::{Broadword, Select};
use core::marker::PhantomData;

/// The error for a table without room. Nothing has changed.
#[derive(Debug)]
pub struct Full;

/// Changes a table.
pub struct Editor<'a, S = Broadword> {
    table: Table,
    words: &'a mut [u64],
    select: PhantomData<S>,
}

impl<'a> Editor<'a> {
    /// An editor of a table.
    pub fn new(table: Table, words: &'a mut [u64]) -> Editor<'a> {
        Editor::selecting(table, words)
    }
}

impl<'a, S: Select> Editor<'a, S> {
    /// An editor of a table that finds bits by their ranks with `S`.
    #[inline(always)]
    pub fn selecting(table: Table, words: &'a mut [u64]) -> Editor<'a, S> {
        Editor { table, words, select: PhantomData }
    }

    #[inline(always)]
    fn reader(&self) -> Reader<'_, [u64], S> {
        Reader::selecting(self.table, &*self.words)
    }

    /// Inserts a fingerprint `times` times, at least once. Returns whether it was absent before.
    ///
    /// # Errors
    /// [`Full`] if that takes more slots than are left or makes a count of 2^64 or more.
    #[inline(always)]
    pub fn insert(&mut self, fingerprint: u64, times: u64) -> Result<bool, Full> {
        let (quotient, remainder) = self.table.split(fingerprint);
        let reader = self.reader();
        let [taken, fingerprints] = reader.state();
        let (at, before, run) = if reader.is_occupied(quotient) {
            let run = reader.run(quotient).ok_or(Full)?;
            let (at, before) = reader.find(run, remainder);
            (at, before, Some(run))
        } else {
            (reader.after(quotient).ok_or(Full)?.max(quotient), None, None)
        };
        if before.is_none() && times == 1 {
            // Most insertions bring a new fingerprint once.
            if taken >= self.table.limit() {
                return Err(Full);
            }
            self.open_slot(quotient, at, run)?;
            self.set_remainder(at, remainder);
            self.set_state([taken + 1, fingerprints.saturating_add(1)]);
            return Ok(true);
        }
        // The editor uses plain code, because this function is not inlined into the functions of a kernel.
        let mut plain = Editor::new(self.table, self.words);
        plain.insert_counted(quotient, at, Entry { remainder, count: times, length: 0 }, before, run)
    }

    /// Adds the count of an entry to the entry at a position of a run, or inserts the entry there.
    #[inline(never)]
    fn insert_counted(
        &mut self,
        quotient: u64,
        at: u64,
        new: Entry,
        before: Option<Entry>,
        mut run: Option<Run>,
    ) -> Result<bool, Full> {
        let (reader, Entry { remainder, count: times, .. }) = (self.reader(), new);
        let count = before.map_or(Some(0), |entry| Some(entry.count)).and_then(|count| count.checked_add(times));
        let code = Code::of(remainder, count.ok_or(Full)?, self.table.remainder_bits());
        let old = before.map_or(0, |entry| entry.length);
        let more = (code.slots().len() as u64).saturating_sub(old);
        let [taken, fingerprints] = reader.state();
        if more > self.table.limit().saturating_sub(taken) {
            return Err(Full);
        }
        for i in 0..more {
            let place = at + old + i;
            self.open_slot(quotient, place, run)?;
            run = Some(run.map_or(Run { start: place, end: place }, |run| Run { end: run.end + 1, ..run }));
        }
        self.write_code(at, &code);
        self.set_state([taken + more, fingerprints.saturating_add(before.is_none().into())]);
        Ok(before.is_none())
    }

    /// Removes a fingerprint up to `times` times. Returns how often it was removed.
    #[inline(always)]
    pub fn remove(&mut self, fingerprint: u64, times: u64) -> u64 {
        let (quotient, remainder) = self.table.split(fingerprint);
        let reader = self.reader();
        if !reader.is_occupied(quotient) {
            return 0;
        }
        let Some(run) = reader.run(quotient) else { return 0 };
        let (at, Some(entry)) = reader.find(run, remainder) else { return 0 };
        let removed = entry.count.min(times);
        let left = entry.count - removed;
        let [taken, fingerprints] = reader.state();
        let fewer = entry.length - length(remainder, left, self.table.remainder_bits()).min(entry.length);
        if left > 0 {
            self.write_code(at, &Code::of(remainder, left, self.table.remainder_bits()));
        }
        if fewer == 1 && entry.length == 1 {
            // Most removals remove the only copy of a key, which has one slot.
            self.close_slot(quotient, at, run);
            self.set_state([taken.saturating_sub(1), fingerprints.saturating_sub(1)]);
            return removed;
        }
        // The editor uses plain code, because this function is not inlined into the functions of a kernel.
        Editor::new(self.table, self.words).close_slots(quotient, at + entry.length - fewer, fewer, run);
        self.set_state([taken.saturating_sub(fewer), fingerprints.saturating_sub(u64::from(left == 0))]);
        removed
    }

    /// Closes `count` slots of a quotient's run, from a position on.
    #[inline(never)]
    fn close_slots(&mut self, quotient: u64, at: u64, count: u64, mut run: Run) {
        for _ in 0..count {
            self.close_slot(quotient, at, run);
            run.end = run.end.wrapping_sub(1);
        }
    }

    /// Makes room for one slot of a quotient's run: inside the run, right after it, or where it will begin.
    #[inline(always)]
    fn open_slot(&mut self, quotient: u64, at: u64, run: Option<Run>) -> Result<(), Full> {
        let after = run.map_or(at, |run| run.end + 1);
        let free = self.reader().first_free(after).ok_or(Full)?;
        self.move_up(at, free);
        match run {
            None => self.set_runend(at, true),
            Some(run) if run.end + 1 == at => {
                self.set_runend(run.end, false);
                self.set_runend(at, true);
            }
            Some(_) => self.set_runend(at, false),
        }
        self.set_occupied(quotient, true);
        for block in quotient / BLOCK + 1..=free / BLOCK {
            let offset = self.reader().stored_offset(block * BLOCK);
            self.set_offset(block * BLOCK, (offset + 1).min(FAR));
        }
        Ok(())
    }

    /// Takes the slot at a position out of a quotient's run.
    #[inline(always)]
    fn close_slot(&mut self, quotient: u64, at: u64, run: Run) {
        let reader = self.reader();
        let end = reader.unreached(at + 1);
        let is_end = at == run.end;
        self.move_down(at, end);
        if is_end && run.start < run.end {
            self.set_runend(at - 1, true);
        } else if is_end {
            self.set_occupied(quotient, false);
        }
        let mut is_counted = None;
        for block in quotient / BLOCK + 1..=(end - 1) / BLOCK {
            // An offset too great to be stored is counted anew from the block before.
            let offset = self.reader().stored_offset(block * BLOCK);
            let offset = match is_counted {
                None if offset < FAR => offset.saturating_sub(1),
                _ => {
                    let before = is_counted.or_else(|| self.reader().offset((block - 1) * BLOCK)).unwrap_or(0);
                    let counted = self.reader().next_offset((block - 1) * BLOCK, before).unwrap_or(0);
                    is_counted = Some(counted);
                    counted
                }
            };
            self.set_offset(block * BLOCK, offset.min(FAR));
        }
    }

    /// Moves the slots of `from..to` up by one, with the ends of runs in these slots. Slot `from` becomes zero. Slot
    /// `to` has to be free.
    #[inline(always)]
    fn move_up(&mut self, from: u64, to: u64) {
        for block in (from / BLOCK..=to / BLOCK).rev() {
            let start = block * BLOCK;
            let low = from.max(start) - start;
            let high = to.min(start + BLOCK - 1) - start;
            self.move_runends(start, low, high, |ends| ends << 1);
            self.move_remainders_up(start, low, high);
            if low > 0 || start == from {
                self.set_remainder(from, 0);
            } else {
                // Takes the last slot of the block before.
                let reader = self.reader();
                let (remainder, is_end) = (reader.remainder(start - 1), reader.runends(start - 1) >> 63 == 1);
                self.set_remainder(start, remainder);
                self.set_runend(start, is_end);
            }
        }
    }

    /// Moves the slots of `at + 1..end` down by one, with the ends of runs in these slots. The last of them becomes
    /// zero.
    #[inline(always)]
    fn move_down(&mut self, at: u64, end: u64) {
        let last = end - 1;
        for block in at / BLOCK..=last / BLOCK {
            let start = block * BLOCK;
            let low = at.max(start) - start;
            let high = last.min(start + BLOCK - 1) - start;
            self.move_runends(start, low, high, |ends| ends >> 1);
            self.move_remainders_down(start, low, high);
            let (mut remainder, mut is_end) = (0, false);
            if start + high < last {
                // Takes the first slot of the block after.
                let reader = self.reader();
                (remainder, is_end) = (reader.remainder(start + BLOCK), reader.runends(start + BLOCK) & 1 == 1);
            }
            self.set_remainder(start + high, remainder);
            self.set_runend(start + high, is_end);
        }
    }

    /// Moves the ends of runs among slots `low` to `high` of a block. Ends that leave this range are lost.
    #[inline(always)]
    fn move_runends(&mut self, start: u64, low: u64, high: u64, to: impl Fn(u64) -> u64) {
        let ends = self.reader().runends(start);
        let mask = (u64::MAX << low) & (u64::MAX >> (63 - high));
        self.put(self.table.block(start) * 8 + 80, 64, ends & !mask | to(ends & mask) & mask);
    }

    /// Moves the remainders of slots `low` to `high - 1` of a block up by one slot.
    #[inline(always)]
    fn move_remainders_up(&mut self, start: u64, low: u64, high: u64) {
        let width = self.table.remainder_bits() as usize;
        let first = (self.table.block(start) + HEAD) * 8 + (low as usize + 1) * width;
        let end = first + (high - low) as usize * width;
        if first == end {
            return;
        }
        let (lowest, highest) = (first / 64, (end - 1) / 64);
        // A block's head comes before its remainders, so there is a word before the lowest word.
        let Some(words) = self.words.get_mut(lowest - 1..=highest) else { return };
        let mut mask = u64::MAX >> (63 - (end - 1) % 64);
        for i in (1..words.len()).rev() {
            if i == 1 {
                mask &= u64::MAX << (first % 64);
            }
            let moved = words[i] << width | words[i - 1] >> (64 - width);
            words[i] = words[i] & !mask | moved & mask;
            mask = u64::MAX;
        }
    }

    /// Moves the remainders of slots `low + 1` to `high` of a block down by one slot.
    #[inline(always)]
    fn move_remainders_down(&mut self, start: u64, low: u64, high: u64) {
        let width = self.table.remainder_bits() as usize;
        let first = (self.table.block(start) + HEAD) * 8 + low as usize * width;
        let end = first + (high - low) as usize * width;
        if first == end {
            return;
        }
        let (lowest, highest) = (first / 64, (end - 1) / 64);
        // Further words follow the blocks, so there is a word after the highest word.
        let Some(words) = self.words.get_mut(lowest..=highest + 1) else { return };
        let mut mask = u64::MAX << (first % 64);
        for i in 0..words.len() - 1 {
            if i + 2 == words.len() {
                mask &= u64::MAX >> (63 - (end - 1) % 64);
            }
            let moved = words[i] >> width | words[i + 1] << (64 - width);
            words[i] = words[i] & !mask | moved & mask;
            mask = u64::MAX;
        }
    }

    /// Writes a number into `bits` bits from bit `bit` on, which lie in the eight bytes from the first bit's byte on.
    #[inline(always)]
    fn put(&mut self, bit: usize, bits: usize, number: u64) {
        let (byte, shift, mask) = (bit as u64 / 8, bit % 8, u64::MAX >> (64 - bits));
        let before = read_own_unaligned(self.words, byte);
        write_unaligned(self.words, byte, before & !(mask << shift) | number << shift);
    }

    #[inline]
    pub(super) fn set_remainder(&mut self, position: u64, remainder: u64) {
        let width = self.table.remainder_bits() as usize;
        let bit = (self.table.block(position) + HEAD) * 8 + (position % BLOCK) as usize * width;
        self.put(bit, width, remainder);
    }

    /// Sets the bits from bit `bit` on that are set in `bits`.
    #[inline(always)]
    pub(super) fn fill(&mut self, bit: usize, bits: u64) {
        let (at, shift) = (bit / 64, bit % 64);
        self.words[at] |= bits << shift;
        // The blocks are followed by further words, so this word exists.
        self.words[at + 1] |= bits >> 1 >> (63 - shift);
    }

    /// Which quotients of a position's block have runs.
    pub(super) fn set_occupieds(&mut self, position: u64, occupieds: u64) {
        self.put(self.table.block(position) * 8 + 16, 64, occupieds);
    }

    /// Which slots of a position's block are ends of runs.
    pub(super) fn set_runends(&mut self, position: u64, ends: u64) {
        self.put(self.table.block(position) * 8 + 80, 64, ends);
    }

    #[inline]
    pub(super) fn set_runend(&mut self, position: u64, is_end: bool) {
        let bit = self.table.block(position) * 8 + 80 + (position % BLOCK) as usize;
        self.put(bit, 1, is_end.into());
    }

    #[inline]
    pub(super) fn set_occupied(&mut self, quotient: u64, is_occupied: bool) {
        let bit = self.table.block(quotient) * 8 + 16 + (quotient % BLOCK) as usize;
        self.put(bit, 1, is_occupied.into());
    }

    pub(super) fn set_offset(&mut self, position: u64, offset: u64) {
        self.put(self.table.block(position) * 8, 16, offset);
    }

    pub(super) fn set_state(&mut self, state: [u64; 2]) {
        let start = self.table.state();
        self.words[start..start + 2].copy_from_slice(&state);
    }

    pub(super) fn write_code(&mut self, at: u64, code: &Code) {
        for (position, slot) in (at..).zip(code.slots()) {
            self.set_remainder(position, *slot);
        }
    }
}
