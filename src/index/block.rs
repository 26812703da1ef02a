//! Adding many rows, whose columns are written 64 rows at a time.

use super::columns::{BLOCK, ones, write_block};
use super::layout::folds::{MOST, fold};
use super::layout::{ARRANGED, ROWS};
use super::rows::Rows;
use crate::contract::Payload;
use crate::error::{Result, error};

impl Rows {
    /// Adds up to 64 rows, or none, given as words one after the other, with their ids. The number of rows before is a
    /// multiple of 64. This is for indexes that are being made, whose other words are 0: an image in place would be
    /// marked as a whole.
    ///
    /// # Errors
    /// [`Status::Full`](crate::Status::Full); the errors of [`Rows::check_id`]; the errors of writing. Nothing has
    /// changed then.
    pub(crate) fn add_block(&mut self, ids: &[u64], rows: &[u64]) -> Result<()> {
        let (shape, state, width) = (*self.shape(), self.state(), self.shape().row_words());
        let first = state.rows;
        if ids.is_empty() {
            // An index that is full has no place for another block of columns.
            return Ok(());
        }
        debug_assert!(first.is_multiple_of(BLOCK as u64) && ids.len() <= BLOCK && rows.len() == ids.len() * width);
        let end = first + ids.len() as u64;
        if end > shape.capacity {
            let capacity = shape.capacity;
            return Err(error!(Full, "{end} rows are more than {capacity}, the capacity of the index"));
        }
        ids.iter().try_for_each(|id| self.check_id(*id))?;
        let mut arranged = state.arranged;
        let mut last = if first == 0 { 0 } else { self.count(first - 1) };
        let words = self.base_mut().writable()?;
        for ((number, id), row) in (first..).zip(ids).zip(rows.chunks_exact(width)) {
            if shape.store.has_rows() {
                words[shape.row(number)].copy_from_slice(row);
            }
            let folded = &mut [0; MOST][..shape.fold_words()];
            fold(row, folded);
            for (i, fold) in folded.iter().enumerate() {
                words[shape.fold_word(number, i)] = *fold;
            }
            let count = ones(row);
            shape.counts().set(words, number, count);
            shape.ids().set(words, number, *id);
            if arranged == number && last <= count {
                (arranged, last) = (number + 1, count);
            }
        }
        if shape.store.has_columns() {
            let place = (first / BLOCK as u64) as usize;
            let columns = shape.column(0).start..shape.column(shape.width - 1).end;
            write_block(&mut words[columns], shape.column_words(), place, rows, width);
        }
        words[shape.state_start() + ROWS] = end;
        words[shape.state_start() + ARRANGED] = arranged;
        self.base_mut().add_count(ids.len() as u64);
        Ok(())
    }
}
