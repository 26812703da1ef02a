//! The rows of an index over a payload: reading one, adding one, and what a payload has to hold.

use super::layout::{ARRANGED, ROWS, Shape, State};
use crate::contract::{Base, Payload, change_words, over_base};
use crate::error::{Result, error};
use core::sync::atomic::{AtomicU64, Ordering};

/// The payload of an index.
pub struct Rows {
    base: Base,
    shape: Shape,
}

impl Payload for Rows {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()
    }

    fn check_state(&self) -> Result<()> {
        self.shape.check_state(self.words())
    }
}

impl Rows {
    /// The kind over a payload.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry that the kind cannot have.
    pub fn over(base: Base) -> Result<Rows> {
        let shape = base.known(Shape::of(base.geometry()))?;
        Ok(Rows { base, shape })
    }

    /// How the payload lies.
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
        let (word, shift) = self.shape.count(row);
        self.word(word) >> shift & 0xffff_ffff
    }

    /// The id of a row.
    #[inline]
    pub fn id(&self, row: u64) -> u64 {
        self.word(self.shape.id(row))
    }

    /// Whether a row was removed.
    #[inline]
    pub fn is_removed(&self, row: u64) -> bool {
        self.word(self.shape.removed().start + (row / 64) as usize) >> (row % 64) & 1 == 1
    }

    /// Bit `bit` of a row.
    pub fn bit(&self, row: u64, bit: u64) -> bool {
        let (word, place) = match self.shape.store.has_rows() {
            true => (self.shape.row(row).start + (bit / 64) as usize, bit % 64),
            false => (self.shape.column(bit).start + (row / 64) as usize, row % 64),
        };
        self.word(word) >> place & 1 == 1
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
            into[(bit / 64) as usize] |= u64::from(self.bit(row, bit)) << (bit % 64);
        }
    }

    /// Adds a row, given as the words of a row. Returns its number.
    ///
    /// # Errors
    /// [`Status::Full`](crate::Status::Full); the errors of changed words. Nothing has changed then.
    pub fn add(&mut self, id: u64, row: &[u64]) -> Result<u64> {
        let (shape, state) = (self.shape, self.state());
        let number = state.rows;
        if number == shape.capacity {
            return Err(error!(Full, "the index is full: it has {number} rows, its capacity"));
        }
        let count: u64 = row.iter().map(|word| u64::from(word.count_ones())).sum();
        let (count_word, shift) = shape.count(number);
        let removed = shape.removed().start + (number / 64) as usize;
        let places = [
            shape.row(number),
            shape.folds(number..number + 1),
            count_word..count_word + 1,
            shape.id(number)..shape.id(number) + 1,
            removed..removed + 1,
            shape.state_start()..shape.state_start() + 1,
        ];
        change_words(self, &places, |rows| {
            let words = rows.base.writable_at_once()?;
            if shape.store.has_rows() {
                words[shape.row(number)].copy_from_slice(row);
            }
            fold(row, &mut words[shape.folds(number..number + 1)]);
            words[count_word] = words[count_word] & !(0xffff_ffff << shift) | count << shift;
            words[shape.id(number)] = id;
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
        if state.arranged == number && (number == 0 || self.count(number - 1) <= count) {
            words[shape.state_start() + ARRANGED].store(number + 1, Ordering::Release);
        }
        words[shape.state_start() + ROWS].store(number + 1, Ordering::Release);
        self.base.add_count(1);
        Ok(number)
    }
}

/// Folds a row, which makes word j of the fold the exclusive or of the row's words j, j + n, j + 2n and so on.
pub fn fold(row: &[u64], fold: &mut [u64]) {
    fold.fill(0);
    if fold.is_empty() {
        return;
    }
    for words in row.chunks(fold.len()) {
        fold.iter_mut().zip(words).for_each(|(to, word)| *to ^= word);
    }
}
