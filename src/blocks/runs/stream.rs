//! Fingerprints with their counts in ascending order: read from a table, combined from two tables, and written into
//! one.

use super::code::{Code, length};
use super::{BLOCK, Bytes, Editor, FAR, Full, HEAD, Reader, Table};

/// A fingerprint, and how often it is there.
pub type Item = (u64, u64);

/// How many fingerprints are read at a time.
const ROOM: usize = 64;

/// The fingerprints of a table with their counts, ascending. The fingerprints are read a few at a time.
pub struct Entries<'a, B: ?Sized> {
    reader: Reader<'a, B>,
    /// The fingerprints that were read. Those from `next` to `filled` are still to come.
    items: [Item; ROOM],
    next: usize,
    filled: usize,
    /// The next block, which quotients of the block before it have runs that are still to come, and where that block
    /// begins.
    next_block: u64,
    occupieds: u64,
    first: u64,
    /// The quotient of the run that is being read, and the position of the run's next slot.
    quotient: u64,
    at: u64,
    is_in_run: bool,
    /// How many slots the remaining runs may have: all runs together have at most as many as the table.
    left: u64,
}

impl<'a, B: Bytes + ?Sized> Entries<'a, B> {
    /// All fingerprints from one on. A damaged table gives whatever can be read.
    pub fn new(reader: Reader<'a, B>, from: u64) -> Entries<'a, B> {
        let mut entries = Entries {
            reader,
            items: [(0, 0); ROOM],
            next: 0,
            filled: 0,
            next_block: reader.table.blocks(),
            occupieds: 0,
            first: 0,
            quotient: 0,
            at: 0,
            is_in_run: false,
            left: reader.table.slots(),
        };
        let (quotient, _) = reader.table.split(from);
        let block = quotient / BLOCK;
        if block >= reader.table.blocks() {
            return entries;
        }
        let Some(offset) = reader.offset(quotient) else { return entries };
        entries.next_block = block;
        entries.at = block * BLOCK + offset;
        // Earlier fingerprints of the block are passed over: less than a block's runs, and part of one.
        while entries.peek().is_some_and(|(number, _)| number < from) {
            entries.next += 1;
        }
        entries
    }

    /// The next fingerprint, without taking it.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<Item> {
        if self.next == self.filled {
            self.fill();
        }
        (self.next < self.filled).then(|| self.items[self.next % ROOM])
    }

    /// Reads the next fingerprints; none after the last.
    #[inline(never)]
    fn fill(&mut self) {
        (self.next, self.filled) = (0, 0);
        while self.filled < ROOM && self.enter_run() {
            self.read_single();
            if self.filled < ROOM && self.is_in_run {
                self.read_any();
            }
        }
    }

    /// Finds the next run, unless the reader is in one. Returns whether there is a run.
    #[inline]
    fn enter_run(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        while !self.is_in_run {
            if self.occupieds != 0 {
                self.quotient = self.first + u64::from(self.occupieds.trailing_zeros());
                self.occupieds &= self.occupieds - 1;
                self.at = self.at.max(self.quotient);
                self.is_in_run = true;
            } else if self.next_block < self.reader.table.blocks() {
                self.first = self.next_block * BLOCK;
                self.occupieds = self.reader.occupieds(self.first);
                self.next_block += 1;
            } else {
                return false;
            }
        }
        true
    }

    /// Reads slots whose code is a remainder that is there once, run after run, up to the last run of a block's
    /// quotients.
    ///
    /// Most slots are like that: the last slot of a run, or a slot before a greater remainder. The exception is a
    /// remainder of 0, with which one form of counter begins. Chance decides whether a run ends in a slot, so the
    /// changes at the end of a run are computed in any case, without a branch that a processor would have to guess.
    #[inline]
    fn read_single(&mut self) {
        let table = self.reader.table;
        let (bits, mask) = (table.remainder_bits() as usize, table.mask());
        let most = (ROOM - self.filled).min(self.left as usize);
        let Entries { occupieds: mut later, mut quotient, mut at, .. } = *self;
        let items = &mut self.items[self.filled..][..most];
        let (mut block, mut ends, mut remainders) = (u64::MAX, 0, 0);
        let mut read = 0;
        // If a window has two lanes, it also has the next slot.
        while table.lanes >= 2 && read < most {
            if at / BLOCK != block {
                (block, ends, remainders) = (at / BLOCK, self.reader.runends(at), table.block(at) + HEAD);
            }
            let place = at % BLOCK;
            let bit = place as usize * bits;
            let window = self.reader.bytes_at(remainders + bit / 8) >> (bit % 8);
            let (remainder, next) = (window & mask, window >> bits & mask);
            let is_end = ends >> place & 1 == 1;
            if !is_end & ((next <= remainder) | (remainder == 0) | (place + 1 == BLOCK)) {
                break;
            }
            items[read] = (quotient << bits | remainder, 1);
            (read, at) = (read + 1, at + 1);
            if is_end & (later == 0) {
                self.is_in_run = false;
                break;
            }
            let next = self.first + u64::from(later.trailing_zeros());
            let ended = u64::from(is_end).wrapping_neg();
            quotient ^= (quotient ^ next) & ended;
            later &= later.wrapping_sub(1) | !ended;
            at = at.max(quotient);
        }
        (self.occupieds, self.quotient, self.at) = (later, quotient, at);
        self.filled += read;
        self.left -= read as u64;
    }

    /// Reads one code of a run, of any form.
    fn read_any(&mut self) {
        let run = self.reader.run_from(self.at).filter(|run| run.left(run.start) <= self.left);
        let Some(run) = run else {
            self.left = 0;
            return;
        };
        let entry = self.reader.entry(self.at, run);
        self.items[self.filled] = (self.quotient << self.reader.table.remainder_bits | entry.remainder, entry.count);
        self.filled += 1;
        self.left -= entry.length;
        self.at += entry.length;
        self.is_in_run = self.at <= run.end;
    }
}

impl<B: Bytes + ?Sized> Iterator for Entries<'_, B> {
    type Item = Item;

    #[inline]
    fn next(&mut self) -> Option<Item> {
        let item = self.peek()?;
        self.next += 1;
        Some(item)
    }
}

/// How to combine two multisets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Each fingerprint as often as in both tables together.
    Sum,
    /// Each fingerprint as often as in the table that has it more often.
    Union,
    /// Each fingerprint as often as in the table that has it less often.
    Intersection,
}

/// Gives the fingerprints of two tables, combined and ascending, to `take`, until it refuses one.
///
/// # Errors
/// [`Full`] if `take` refuses a fingerprint, or a sum is a count of 2^64 or more.
#[inline(always)]
pub fn combined<B: Bytes + ?Sized>(
    [mut a, mut b]: [Entries<B>; 2],
    combine: Combine,
    mut take: impl FnMut(Item) -> core::result::Result<(), Full>,
) -> core::result::Result<(), Full> {
    // Greater than any fingerprint.
    const NONE: Item = (u64::MAX, 0);
    loop {
        let (x, y) = (a.peek().unwrap_or(NONE), b.peek().unwrap_or(NONE));
        let number = x.0.min(y.0);
        if number == NONE.0 {
            return Ok(());
        }
        // Chance decides which table has the smaller fingerprint, so that is computed without a branch.
        let (is_x, is_y) = (x.0 == number, y.0 == number);
        a.next += usize::from(is_x);
        b.next += usize::from(is_y);
        let (x, y) = (x.1 * u64::from(is_x), y.1 * u64::from(is_y));
        match combine {
            Combine::Sum => take((number, x.checked_add(y).ok_or(Full)?))?,
            Combine::Union => take((number, x.max(y)))?,
            Combine::Intersection if is_x && is_y => take((number, x.min(y)))?,
            Combine::Intersection => {}
        }
    }
}

/// How many slots the fingerprints of a stream need.
pub fn needs(table: Table, items: impl Iterator<Item = Item>) -> u64 {
    let slots = items.map(|(number, count)| length(table.split(number).1, count, table.remainder_bits()));
    slots.fold(0, u64::saturating_add)
}

/// Writes fingerprints into an empty table, ascending.
///
/// A run is begun and continued in the same way, without a branch, because which of the two comes next is a matter of
/// chance. Each slot becomes the end of its run, and the slot before it stops being an end if it is of the same run.
pub struct Writer<'a> {
    table: Table,
    /// [`Table::limit`]
    limit: u64,
    editor: Editor<'a>,
    /// The position after the slot that was written last.
    after: u64,
    /// The quotient of the last fingerprint; before the first one a number above all quotients.
    quotient: u64,
    /// The block of that quotient, and which of the block's quotients have runs.
    occupieds: (u64, u64),
    /// The block of the last slot, which of its slots are ends of runs, and where its first remainder begins among the
    /// bits of the words.
    ends: (u64, u64, usize),
    state: [u64; 2],
    /// Whether the next slots lie past the end of the table, and so go on at its beginning.
    is_past: bool,
}

impl<'a> Writer<'a> {
    /// A writer into an empty table.
    pub fn new(table: Table, words: &'a mut [u64]) -> Writer<'a> {
        let editor = Editor::new(table, words);
        let ends = (0, 0, table.first_remainder(0));
        Writer {
            table,
            limit: table.limit(),
            editor,
            after: 0,
            quotient: u64::MAX,
            occupieds: (0, 0),
            ends,
            state: [0, 0],
            is_past: false,
        }
    }

    /// Writes a fingerprint and its count, at least 1. The fingerprint has to be greater than those before.
    ///
    /// # Errors
    /// [`Full`].
    #[inline(always)]
    pub fn push(&mut self, (number, count): Item) -> core::result::Result<(), Full> {
        let (quotient, remainder) = self.table.split(number);
        let start = self.after.max(quotient);
        if count > 1 || self.state[0] >= self.limit || start >= self.table.slots() || self.is_past {
            return self.push_any((number, count), start);
        }
        self.put(quotient, start, remainder);
        self.state = [self.state[0] + 1, self.state[1] + 1];
        Ok(())
    }

    /// [`Writer::push`] for any count and any place.
    #[inline(never)]
    fn push_any(&mut self, (number, count): Item, start: u64) -> core::result::Result<(), Full> {
        if self.is_past {
            return self.editor.insert(number, count).map(|_| ());
        }
        let (quotient, remainder) = self.table.split(number);
        let code = Code::of(remainder, count, self.table.remainder_bits());
        let slots = code.slots().len() as u64;
        if slots > self.limit.saturating_sub(self.state[0]) {
            return Err(Full);
        }
        if start + slots > self.table.slots() {
            // Slots that go on at the beginning of the table move those that are there, which is the editor's work.
            self.finish_blocks();
            self.is_past = true;
            return self.editor.insert(number, count).map(|_| ());
        }
        for (at, slot) in (start..).zip(code.slots()) {
            self.put(quotient, at, *slot);
        }
        self.state = [self.state[0] + slots, self.state[1] + 1];
        Ok(())
    }

    /// Writes a slot, which is the next one of its quotient's run or the first one.
    #[inline(always)]
    fn put(&mut self, quotient: u64, at: u64, remainder: u64) {
        if quotient / BLOCK != self.occupieds.0 {
            self.leave_quotients(quotient / BLOCK);
        }
        self.occupieds.1 |= 1 << (quotient % BLOCK);
        let is_same = u64::from(self.quotient == quotient);
        self.ends.1 &= !(is_same << (self.after.wrapping_sub(1) % BLOCK));
        if at / BLOCK != self.ends.0 {
            self.leave_slots(at / BLOCK);
        }
        self.ends.1 |= 1 << (at % BLOCK);
        self.editor.fill(self.ends.2 + (at % BLOCK) as usize * self.table.remainder_bits() as usize, remainder);
        (self.after, self.quotient) = (at + 1, quotient);
    }

    /// Goes on to the quotients of a later block, and writes the occupieds and offsets of the blocks up to it. These
    /// are known, because the runs of all earlier quotients are written.
    #[inline(never)]
    fn leave_quotients(&mut self, to: u64) {
        let (from, occupieds) = self.occupieds;
        self.editor.set_occupieds(from * BLOCK, occupieds);
        for block in from + 1..=to {
            self.editor.set_offset(block * BLOCK, self.after.saturating_sub(block * BLOCK).min(FAR));
        }
        self.occupieds = (to, 0);
    }

    /// Goes on to the slots of a later block, and writes the ends of runs of the block before.
    #[inline(never)]
    fn leave_slots(&mut self, to: u64) {
        self.editor.set_runends(self.ends.0 * BLOCK, self.ends.1);
        self.ends = (to, 0, self.table.first_remainder(to * BLOCK));
    }

    fn finish_blocks(&mut self) {
        self.leave_quotients(self.table.blocks() - 1);
        self.leave_slots(self.ends.0);
        self.editor.set_state(self.state);
    }

    /// Writes the blocks that are not complete, and the state.
    pub fn finish(mut self) {
        if !self.is_past {
            self.finish_blocks();
        }
    }
}
