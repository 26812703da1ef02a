//! The rows of an index over a payload: reading one, adding one, and what a payload has to hold.

use super::layout::folds::{BLOCK_ROWS, fold};
use super::layout::numbers::Numbers;
use super::layout::{ARRANGED, ATTACHED, ROWS, Shape, State};
use crate::bits::is_zero_from;
use crate::contract::{Base, Payload, change_words, over_base};
use crate::error::{Result, error};
use crate::storage::try_vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// The places of a row besides its folds and columns.
const PLACES: usize = 5;

/// The memory that adding a row takes.
pub struct Room {
    /// The words of the row's fold.
    folded: Vec<u64>,
    /// The words of the payload that change.
    changed: Vec<Range<usize>>,
}

/// The payload of an index.
pub struct Rows {
    base: Base,
    shape: Shape,
    // Where parts of the shape lie, which every row that is found needs.
    counts: Numbers,
    ids: Numbers,
    removed: usize,
}

impl Payload for Rows {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        self.check_rows()?;
        self.check_columns()?;
        self.base.unless_unmended(self.check_rest())
    }

    fn check_state(&self) -> Result<()> {
        self.shape.check_state(self.words())
    }

    /// Finishes an interrupted clearing, and zeroes what is left of another attachment.
    fn mend(&mut self) -> Result<()> {
        let (state, room) = (self.state(), self.shape.attachment());
        let (first, kept) = if state.rows == 0 && state.attachment == 0 {
            (0..self.words().len(), 0)
        } else {
            (room, 8 * state.attachment.min(self.shape.attachment_bytes))
        };
        if is_zero_from(&self.words()[first.clone()], kept) {
            return Ok(());
        }
        let words = &mut self.base.writable_to_mend()?[first];
        let (whole, bits) = ((kept / 64) as usize, kept % 64);
        words
            .iter_mut()
            .skip(whole)
            .enumerate()
            .for_each(|(i, word)| *word &= if i == 0 { (1 << bits) - 1 } else { 0 });
        Ok(())
    }
}

impl Rows {
    /// The kind over a payload.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry that the kind cannot have.
    pub fn over(base: Base) -> Result<Rows> {
        let shape = base.known(Shape::of(base.geometry()))?;
        let (counts, ids, removed) = (shape.counts(), shape.ids(), shape.removed().start);
        Ok(Rows { base, shape, counts, ids, removed })
    }

    /// How the payload is laid out.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The words of the payload.
    pub fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }

    /// The state, with bounds that hold whatever another handle writes meanwhile.
    pub fn state(&self) -> State {
        let state = self.shape.state(self.words());
        let rows = state.rows.min(self.shape.capacity);
        State { rows, arranged: state.arranged.min(rows), attachment: state.attachment }
    }

    fn word(&self, word: usize) -> u64 {
        self.words()[word].load(Ordering::Relaxed)
    }

    /// How many bits a row has set.
    #[inline]
    pub fn count(&self, row: u64) -> u64 {
        self.counts.get(self.words(), row)
    }

    /// The id of a row.
    #[inline]
    pub fn id(&self, row: u64) -> u64 {
        self.ids.get(self.words(), row)
    }

    /// Whether a row was removed.
    #[inline]
    pub fn is_removed(&self, row: u64) -> bool {
        self.word(self.removed + (row / 64) as usize) >> (row % 64) & 1 == 1
    }

    /// Copies a row into words, as many as a row has.
    pub fn copy_row(&self, row: u64, into: &mut [u64]) {
        if self.shape.store.has_rows() {
            for (to, from) in into.iter_mut().zip(&self.words()[self.shape.row(row)]) {
                *to = from.load(Ordering::Relaxed);
            }
            return;
        }
        into.fill(0);
        for bit in 0..self.shape.width {
            let word = self.word(self.shape.column(bit).start + (row / 64) as usize);
            into[(bit / 64) as usize] |= (word >> (row % 64) & 1) << (bit % 64);
        }
    }

    /// Refuses rows whose words contradict their counts or folds, or that are not in the order that the state says.
    fn check_rows(&self) -> Result<()> {
        let (shape, state) = (self.shape, self.state());
        let (mut row, mut folded) = (zeros(shape.row_words())?, zeros(shape.fold_words())?);
        let mut before = 0;
        for number in 0..state.rows {
            let count = self.count(number);
            if number < state.arranged && count < before {
                return Err(error!(Corrupt, "row {number} of the index has {count} bits, and an earlier one {before}"));
            }
            before = count;
            if count > shape.width {
                let width = shape.width;
                return Err(error!(Corrupt, "row {number} of the index has a count of {count}, of width = {width}"));
            }
            if !shape.store.has_rows() {
                continue;
            }
            self.copy_row(number, &mut row);
            fold(&row, &mut folded);
            let is_fold = (0..).zip(&folded).all(|(i, fold)| *fold == self.word(shape.fold_word(number, i)));
            let ones: u64 = row.iter().map(|word| u64::from(word.count_ones())).sum();
            if ones != count || row.last().is_some_and(|last| last & beyond(shape.width) != 0) || !is_fold {
                return Err(error!(Corrupt, "row {number} of the index contradicts its count, its fold or its width"));
            }
        }
        Ok(())
    }

    /// Refuses columns that contradict the rows or, without these, the rows' counts.
    fn check_columns(&self) -> Result<()> {
        let (shape, rows) = (self.shape, self.state().rows);
        if !shape.store.has_columns() {
            return Ok(());
        }
        let mut block = [0; 64];
        for start in (0..rows).step_by(64) {
            let end = rows.min(start + 64);
            let mut counts = [0; 64];
            for word in 0..shape.row_words() {
                for (bit, to) in block.iter_mut().enumerate() {
                    let bit = 64 * word as u64 + bit as u64;
                    *to = match bit < shape.width {
                        true => self.word(shape.column(bit).start + (start / 64) as usize),
                        false => 0,
                    };
                }
                transpose(&mut block);
                for row in start..end {
                    let (place, bits) = ((row - start) as usize, block[(row - start) as usize]);
                    counts[place] += u64::from(bits.count_ones());
                    if shape.store.has_rows() && self.word(shape.row(row).start + word) != bits {
                        return Err(error!(Corrupt, "row {row} of the index contradicts its columns"));
                    }
                }
            }
            if let Some(row) = (start..end).find(|row| self.count(*row) != counts[(row - start) as usize]) {
                return Err(error!(Corrupt, "row {row} of the index contradicts its count"));
            }
        }
        Ok(())
    }

    /// Refuses bits that are set where nothing is. The place after the last row may have what is left of a row that
    /// was not finished.
    fn check_rest(&self) -> Result<()> {
        let (shape, state) = (self.shape, self.state());
        let first = (state.rows + 1).min(shape.capacity);
        let wrong = |what: &str| Err(error!(Corrupt, "the index has bits set in {what} after its last row"));
        let all = self.words();
        let (counts, ids) = (self.counts, self.ids);
        let rows = shape.rows(first..first).start;
        let parts = [
            ("rows", rows..shape.folds().start, 0),
            ("counts", counts.word(0)..ids.word(0), counts.bits() * first),
            ("ids", ids.word(0)..shape.removed().start, ids.bits() * first),
            ("removed rows", shape.removed(), first),
        ];
        for (what, words, from) in parts {
            if !is_zero_from(&all[words], from) {
                return wrong(what);
            }
        }
        let blocks = shape.capacity.div_ceil(BLOCK_ROWS);
        let is_folded = |row: u64| (0..shape.fold_words()).any(|i| self.word(shape.fold_word(row, i)) != 0);
        let begun = (first..first.next_multiple_of(BLOCK_ROWS)).any(is_folded);
        let whole = first.div_ceil(BLOCK_ROWS)..blocks;
        if begun || shape.fold_blocks(whole).into_iter().any(|words| !is_zero_from(&all[words], 0)) {
            return wrong("folds");
        }
        if shape.store.has_columns() && (0..shape.width).any(|bit| !is_zero_from(&all[shape.column(bit)], first)) {
            return wrong("columns");
        }
        if !is_zero_from(&all[shape.attachment()], 8 * state.attachment) {
            return Err(error!(Corrupt, "the index has bits set after its attachment"));
        }
        Ok(())
    }

    /// Refuses an id that does not fit.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn check_id(&self, id: u64) -> Result<()> {
        let (bytes, most) = (self.shape.id_bytes, self.ids.most());
        if id > most {
            return Err(error!(
                OutOfRange,
                "id = {id} is more than {most}, the most that id_bytes = {bytes} has room for"
            ));
        }
        Ok(())
    }

    /// Adds a row, given as the words of a row. Returns its number.
    ///
    /// # Errors
    /// [`Status::Full`](crate::Status::Full); [`Status::OutOfRange`](crate::Status::OutOfRange) for an id that does not
    /// fit; [`Status::OutOfMemory`](crate::Status::OutOfMemory); the errors of changed words. Nothing has changed then.
    pub fn add(&mut self, id: u64, row: &[u64]) -> Result<u64> {
        let mut room = self.room()?;
        self.add_in(&mut room, id, row)
    }

    /// The memory that adding takes, for one row after the other.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn room(&self) -> Result<Room> {
        let columns = if self.shape.store.has_columns() { self.shape.width as usize } else { 0 };
        let folded = zeros(self.shape.fold_words())?;
        Ok(Room { changed: try_vec(PLACES + folded.len() + columns)?, folded })
    }

    /// [`Rows::add`] in the caller's memory.
    ///
    /// # Errors
    /// As [`Rows::add`], except [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn add_in(&mut self, room: &mut Room, id: u64, row: &[u64]) -> Result<u64> {
        let (shape, state) = (self.shape, self.state());
        let number = state.rows;
        if number == shape.capacity {
            return Err(error!(Full, "the index is full: it has {number} rows, its capacity"));
        }
        self.check_id(id)?;
        let count: u64 = row.iter().map(|word| u64::from(word.count_ones())).sum();
        let (counts, ids) = (self.counts, self.ids);
        let removed = shape.removed().start + (number / 64) as usize;
        let places: [Range<usize>; PLACES] = [
            shape.row(number),
            counts.word(number)..counts.word(number) + 1,
            ids.word(number)..ids.word(number) + 1,
            removed..removed + 1,
            shape.state_start()..shape.state_start() + 1,
        ];
        let columns = if shape.store.has_columns() { shape.width } else { 0 };
        let Room { folded, changed } = room;
        fold(row, folded);
        changed.clear();
        changed.extend(places);
        changed.extend((0..folded.len()).map(|i| shape.fold_word(number, i)).map(|word| word..word + 1));
        changed.extend((0..columns).map(|bit| {
            let word = shape.column(bit).start + (number / 64) as usize;
            word..word + 1
        }));
        change_words(self, changed, |rows| {
            let words = rows.base.writable_at_once()?;
            if shape.store.has_rows() {
                words[shape.row(number)].copy_from_slice(row);
            }
            for (i, fold) in folded.iter().enumerate() {
                words[shape.fold_word(number, i)] = *fold;
            }
            counts.set(words, number, count);
            ids.set(words, number, id);
            words[removed] &= !(1 << (number % 64));
            if shape.store.has_columns() {
                for bit in 0..shape.width {
                    let word = &mut words[shape.column(bit).start + (number / 64) as usize];
                    let set = row[(bit / 64) as usize] >> (bit % 64) & 1;
                    *word = *word & !(1 << (number % 64)) | set << (number % 64);
                }
            }
            Some(())
        })?
        .ok_or(crate::Status::Internal)?;
        // Readers that see the new number see the row.
        let words = self.words();
        words[shape.state_start() + ROWS].store(number + 1, Ordering::Release);
        if state.arranged == number && (number == 0 || self.count(number - 1) <= count) {
            words[shape.state_start() + ARRANGED].store(number + 1, Ordering::Release);
        }
        self.base.add_count(1);
        Ok(number)
    }

    /// Removes a row. Returns false if it was removed before.
    ///
    /// # Errors
    /// The errors of changed words. Nothing has changed then.
    pub fn remove(&mut self, row: u64) -> Result<bool> {
        if self.is_removed(row) {
            return Ok(false);
        }
        let word = self.shape.removed().start + (row / 64) as usize;
        change_words(self, core::slice::from_ref(&(word..word + 1)), |rows| {
            // Readers of the image see the word as it was or as it is.
            rows.words()[word].fetch_or(1 << (row % 64), Ordering::Relaxed);
        })?;
        self.base.subtract_count(1);
        Ok(true)
    }

    /// Keeps the caller's bytes, at most as many as there is room for.
    ///
    /// # Errors
    /// The errors of changed words. Nothing has changed then.
    pub fn attach(&mut self, bytes: &[u8]) -> Result<()> {
        let (room, state) = (self.shape.attachment(), self.shape.state_start());
        change_words(self, &[room.clone(), state..state + 8], |rows| {
            // If the writer dies, there is no attachment, rather than part of one under the length of another.
            rows.store(state + ATTACHED, 0);
            let words = rows.base.writable_at_once()?;
            let room = &mut words[room];
            room.fill(0);
            for (word, bytes) in room.iter_mut().zip(bytes.chunks(8)) {
                let mut eight = [0; 8];
                eight[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(eight);
            }
            rows.store(state + ATTACHED, bytes.len() as u64);
            Some(())
        })?
        .ok_or_else(|| crate::Status::Internal.into())
    }

    /// Removes everything.
    ///
    /// # Errors
    /// The errors of changed words.
    pub fn clear(&mut self) -> Result<()> {
        self.base.writable()?;
        // If the writer dies, there are no rows, rather than some that are half there.
        let state = self.shape.state_start();
        [ARRANGED, ROWS, ATTACHED].into_iter().for_each(|word| self.store(state + word, 0));
        self.base.writable()?.fill(0);
        self.base.set_count(0);
        Ok(())
    }

    /// Stores a word after all that was stored before, and before what is stored next.
    fn store(&self, place: usize, value: u64) {
        self.words()[place].store(value, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    }
}

/// A vector of `words` zeros.
fn zeros(words: usize) -> Result<Vec<u64>> {
    let mut zeros = try_vec(words)?;
    zeros.resize(words, 0);
    Ok(zeros)
}

/// The bits of a row's last word that are after the row's last bit.
pub fn beyond(width: u64) -> u64 {
    if width.is_multiple_of(64) { 0 } else { u64::MAX << (width % 64) }
}

/// Makes bit j of word i bit i of word j.
pub fn transpose(block: &mut [u64; 64]) {
    let (mut size, mut mask) = (32, 0xffff_ffff_u64);
    while size > 0 {
        let mut row = 0;
        while row < 64 {
            let moved = (block[row] >> size ^ block[row + size]) & mask;
            block[row] ^= moved << size;
            block[row + size] ^= moved;
            row = (row + size + 1) & !size;
        }
        size /= 2;
        mask ^= mask << size;
    }
}
