//! Fingerprints with their counts in ascending order: out of a table, out of two, and into one.

use super::code::{Code, length};
use super::read::Run;
use super::{Bytes, Editor, FAR, Full, Reader, Table};
use crate::error::{Result, error};
use crate::sizing::quotient::BLOCK;
use core::cmp::Ordering;
use core::iter::Peekable;

/// A fingerprint, and how often it is there.
pub type Item = (u64, u64);

/// The fingerprints of a table with their counts, ascending.
pub struct Entries<'a, B: ?Sized> {
    reader: Reader<'a, B>,
    /// The next block, the quotients of the one before it that have runs and are still to come, and where it begins.
    next_block: u64,
    occupieds: u64,
    first: u64,
    /// The quotient of the run that is being read, and what is left of it: nothing where its end is before its start.
    quotient: u64,
    run: Run,
    is_in_run: bool,
    /// The position after the last run that was read.
    after: u64,
    /// How many slots runs may still have: of all of them no more than the table.
    left: u64,
}

impl<'a, B: Bytes + ?Sized> Entries<'a, B> {
    /// All of them from a fingerprint on. A table that is none gives what there seems to be.
    pub fn new(reader: Reader<'a, B>, from: u64) -> Entries<'a, B> {
        let mut entries = Entries {
            reader,
            next_block: reader.table.blocks(),
            occupieds: 0,
            first: 0,
            quotient: 0,
            run: Run { start: 0, end: 0 },
            is_in_run: false,
            after: 0,
            left: reader.table.slots(),
        };
        let (quotient, remainder) = reader.table.split(from);
        let block = quotient / BLOCK;
        if block >= reader.table.blocks() {
            return entries;
        }
        let Some(offset) = reader.offset(quotient) else { return entries };
        entries.next_block = block;
        entries.after = block * BLOCK + offset;
        // What comes before is passed by: less than a block's runs, and part of one.
        while entries.enter_run() && entries.quotient < quotient {
            entries.leave_run();
        }
        while entries.is_in_run && entries.quotient == quotient {
            let entry = reader.entry(entries.run.start, entries.run);
            if entry.remainder >= remainder {
                break;
            }
            entries.pass(entry.length);
        }
        entries
    }

    /// Finds the next run, unless there is one; whether there is.
    #[inline]
    fn enter_run(&mut self) -> bool {
        if self.is_in_run {
            return true;
        }
        while self.occupieds == 0 {
            if self.next_block >= self.reader.table.blocks() {
                return false;
            }
            self.first = self.next_block * BLOCK;
            self.occupieds = self.reader.occupieds(self.first);
            self.next_block += 1;
        }
        self.quotient = self.first + u64::from(self.occupieds.trailing_zeros());
        self.occupieds &= self.occupieds - 1;
        let start = self.after.max(self.quotient);
        let run = self.reader.run_from(start).filter(|run| run.left(run.start) <= self.left);
        let Some(run) = run else {
            (self.next_block, self.occupieds) = (self.reader.table.blocks(), 0);
            return false;
        };
        self.left -= run.left(run.start);
        self.run = run;
        self.is_in_run = true;
        true
    }

    fn leave_run(&mut self) {
        self.after = self.run.end + 1;
        self.is_in_run = false;
    }

    /// Goes on behind a code of so many slots.
    #[inline]
    fn pass(&mut self, length: u64) {
        if length >= self.run.left(self.run.start) {
            self.leave_run();
        } else {
            self.run.start += length;
        }
    }
}

impl<B: Bytes + ?Sized> Iterator for Entries<'_, B> {
    type Item = Item;

    #[inline]
    fn next(&mut self) -> Option<Item> {
        if !self.enter_run() {
            return None;
        }
        let entry = self.reader.entry(self.run.start, self.run);
        self.pass(entry.length);
        Some((self.quotient << self.reader.table.remainder_bits | entry.remainder, entry.count))
    }
}

/// What becomes of two multisets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Each as often as in both together.
    Sum,
    /// Each as often as in both of them.
    Intersection,
}

/// The fingerprints of two streams together, ascending. What is there too often to be counted has the greatest count.
pub fn combined<'a>(
    a: impl Iterator<Item = Item> + 'a,
    b: impl Iterator<Item = Item> + 'a,
    combine: Combine,
) -> impl Iterator<Item = Item> + 'a {
    let (mut a, mut b): (Peekable<_>, Peekable<_>) = (a.peekable(), b.peekable());
    core::iter::from_fn(move || {
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(first), Some(second)) => first.0.cmp(&second.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            let (first, second) = match order {
                Ordering::Less => (a.next(), None),
                Ordering::Greater => (None, b.next()),
                Ordering::Equal => (a.next(), b.next()),
            };
            match (first, second, combine) {
                (Some((number, x)), Some((_, y)), Combine::Sum) => return Some((number, x.saturating_add(y))),
                (Some((number, x)), Some((_, y)), Combine::Intersection) => return Some((number, x.min(y))),
                (one, other, Combine::Sum) => return one.or(other),
                (_, _, Combine::Intersection) => {}
            }
        }
    })
}

/// How many slots a stream needs.
pub fn needs(table: Table, items: impl Iterator<Item = Item>) -> u64 {
    let slots = items.map(|(number, count)| length(table.split(number).1, count, table.remainder_bits()));
    slots.fold(0, u64::saturating_add)
}

/// Writes fingerprints into an empty table, ascending.
pub struct Writer<'a> {
    table: Table,
    editor: Editor<'a>,
    /// The position after the last run, which has not got its end yet.
    after: u64,
    /// The quotient of the run that is being written; past all of them before the first.
    quotient: u64,
    /// The first block whose offset is not written yet.
    block: u64,
    state: [u64; 2],
    /// Whether what comes does not lie before the end of the table any more.
    is_past: bool,
}

impl<'a> Writer<'a> {
    /// A writer into an empty table.
    pub fn new(table: Table, words: &'a mut [u64]) -> Writer<'a> {
        let editor = Editor::new(table, words);
        Writer { table, editor, after: 0, quotient: u64::MAX, block: 1, state: [0, 0], is_past: false }
    }

    /// Writes a fingerprint, which is greater than those before, with its count, which is at least 1.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub fn push(&mut self, (number, count): Item) -> core::result::Result<(), Full> {
        if self.is_past {
            return self.editor.insert(number, count).map(|_| ());
        }
        let (quotient, remainder) = self.table.split(number);
        let slots = length(remainder, count, self.table.remainder_bits());
        let is_same = self.quotient == quotient;
        let start = if is_same { self.after } else { self.after.max(quotient) };
        if slots > self.table.limit().saturating_sub(self.state[0]) {
            return Err(Full);
        }
        if start + slots > self.table.slots() {
            // What goes on at the beginning of the table moves what is there.
            self.finish_blocks();
            self.is_past = true;
            return self.editor.insert(number, count).map(|_| ());
        }
        if !is_same {
            self.end_run();
            self.write_offsets(quotient / BLOCK);
            self.editor.set_occupied(quotient, true);
            self.quotient = quotient;
        }
        if count < 3 {
            (start..start + slots).for_each(|at| self.editor.set_remainder(at, remainder));
        } else {
            self.editor.write_code(start, &Code::of(remainder, count, self.table.remainder_bits()));
        }
        self.after = start + slots;
        self.state = [self.state[0] + slots, self.state[1] + 1];
        Ok(())
    }

    /// Ends the last run, if there is one.
    #[inline]
    fn end_run(&mut self) {
        if self.quotient != u64::MAX {
            self.editor.set_runend(self.after - 1, true);
        }
    }

    /// Writes the offsets of blocks up to this one, with the runs of all quotients before it there.
    fn write_offsets(&mut self, last: u64) {
        while self.block <= last {
            let start = self.block * BLOCK;
            if self.after > start {
                self.editor.set_offset(start, (self.after - start).min(FAR));
            }
            self.block += 1;
        }
    }

    fn finish_blocks(&mut self) {
        self.end_run();
        self.write_offsets(self.table.blocks() - 1);
        self.editor.set_state(self.state);
    }

    /// Ends the table.
    pub fn finish(mut self) {
        if !self.is_past {
            self.finish_blocks();
        }
    }
}

impl<B: Bytes + ?Sized> Reader<'_, B> {
    /// Holds a table to all that it promises.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self) -> Result<()> {
        let table = self.table;
        let wrong = |what: &str, at: u64| error!(Corrupt, "the quotient filter's table is none: {what}, at {at}");
        let [taken, fingerprints] = self.state();
        if taken > table.limit() || fingerprints > taken {
            return Err(wrong("more slots are taken than may be", taken));
        }
        let none = || wrong("a run has no end", 0);
        let first = self.offset(0).ok_or_else(none)?;
        let mut after = first;
        let (mut slots, mut numbers, mut runs) = (0, 0, 0_u64);
        for block in 0..table.blocks() {
            let start = block * BLOCK;
            let offset = after.saturating_sub(start);
            if self.stored_offset(start) != offset.min(FAR) {
                return Err(wrong("an offset", start));
            }
            let mut occupieds = self.occupieds(start);
            while occupieds != 0 {
                let quotient = start + u64::from(occupieds.trailing_zeros());
                occupieds &= occupieds - 1;
                let free = after..quotient.max(after);
                if free.clone().any(|slot| self.remainder(slot) != 0 || self.runends(slot) >> (slot % BLOCK) & 1 == 1) {
                    return Err(wrong("a slot that is not taken", free.start));
                }
                let run = self.run_from(after.max(quotient)).ok_or_else(none)?;
                let (mut at, mut last) = (run.start, None);
                while at <= run.end {
                    let entry = self.entry(at, run);
                    let code = Code::of(entry.remainder, entry.count, table.remainder_bits());
                    let is_code = code.slots().iter().zip(at..).all(|(slot, at)| *slot == self.remainder(at));
                    if !is_code || code.slots().len() as u64 != entry.length || last >= Some(entry.remainder) {
                        return Err(wrong("a run", at));
                    }
                    last = Some(entry.remainder);
                    (at, numbers) = (at + entry.length, numbers + 1);
                }
                (slots, runs, after) = (slots + run.left(run.start), runs + 1, run.end + 1);
                if slots > taken {
                    return Err(wrong("more slots are taken than the state says", after));
                }
            }
        }
        // The last run goes on as far as the first block says.
        let free = after..(table.slots() + first).max(after);
        let is_free = |slot: u64| self.remainder(slot) == 0 && self.runends(slot) >> (slot % BLOCK) & 1 == 0;
        if after.saturating_sub(table.slots()) != first || !free.clone().all(is_free) {
            return Err(wrong("the slots after the last run", after));
        }
        let ends: u64 = (0..table.blocks()).map(|block| u64::from(self.runends(block * BLOCK).count_ones())).sum();
        if [slots, numbers, ends] != [taken, fingerprints, runs] {
            return Err(wrong("the numbers of slots, fingerprints or runs", slots));
        }
        Ok(())
    }
}
