//! The calls of an index.

use crate::contract::{Base, Handle, Payload, Structure};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::index::layout::Shape;
use crate::index::rows::{Rows, beyond};
use crate::storage::try_vec;

/// Rows of bits with ids, which are searched.
///
/// All rows have the same width. A caller gives a row as bytes: bit i of the row is bit i % 8 of byte i / 8. Rows are
/// numbered from 0 in the order in which they came, until [`Index::arrange`] makes an index anew. Ids are the
/// caller's, and several rows may have the same one.
pub struct Index {
    pub(crate) rows: Rows,
}

impl core::fmt::Debug for Index {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Index").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Index {
    fn payload(&self) -> &dyn Payload {
        &self.rows
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut self.rows
    }

    fn over(base: Base) -> Result<Index> {
        match base.row().structure {
            Structure::Own { handle: Handle::Index, .. } => Ok(Index { rows: Rows::over(base)? }),
            _ => Err(base.other_handle(Handle::Index)),
        }
    }
}

impl Index {
    /// The shape of the index: the width of rows, what is kept of them, and how many rows there is room for.
    pub fn shape(&self) -> &Shape {
        self.rows.shape()
    }

    /// The bits of a row.
    pub fn width(&self) -> u64 {
        self.shape().width
    }

    /// The bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.shape().row_bytes()
    }

    /// How many rows there is room for.
    pub fn capacity(&self) -> u64 {
        self.shape().capacity
    }

    /// How many rows have numbers, including those that were removed: the number of the next row.
    pub fn next_row(&self) -> u64 {
        self.rows.state().rows
    }

    /// How many rows there are, without those that were removed. Reads a bit of each row.
    pub fn row_count(&self) -> u64 {
        let (state, removed) = (self.rows.state(), self.shape().removed());
        // A writer that died may have left a mark at the place after the last row.
        state.rows - crate::bits::count_ones_in(&self.rows.words()[removed], 0, state.rows)
    }

    /// The id of the row with this number, and how many bits the row has set. `None` if the row was removed.
    ///
    /// # Errors
    /// [`Status::OutOfRange`].
    pub fn row_at(&self, row: u64) -> Result<Option<(u64, u64)>> {
        self.check_row(row)?;
        Ok((!self.rows.is_removed(row)).then(|| (self.rows.id(row), self.rows.count(row))))
    }

    /// Copies the bits of the row with this number, even if it was removed, into as many bytes as a row has.
    ///
    /// # Errors
    /// [`Status::OutOfRange`]; [`Status::OutOfMemory`].
    pub fn copy_row(&self, row: u64, into: &mut [u8]) -> Result<()> {
        self.check_row(row)?;
        if into.len() != self.row_bytes() {
            let (given, wanted) = (into.len(), self.row_bytes());
            return Err(error!(OutOfRange, "{given} bytes for a row of {wanted} bytes"));
        }
        let mut words: Vec<u64> = try_vec(self.shape().row_words())?;
        words.resize(self.shape().row_words(), 0);
        self.rows.copy_row(row, &mut words);
        for (to, word) in into.chunks_mut(8).zip(&words) {
            to.copy_from_slice(&word.to_le_bytes()[..to.len()]);
        }
        Ok(())
    }

    pub(super) fn check_row(&self, row: u64) -> Result<()> {
        match self.next_row() {
            rows if row < rows => Ok(()),
            rows => Err(error!(OutOfRange, "row = {row} is not below {rows}, the number of rows")),
        }
    }

    /// The words of a row that a caller gave as bytes.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for another number of bytes, or a bit after the last one; [`Status::OutOfMemory`].
    pub(crate) fn words_of(&self, row: &[u8]) -> Result<Vec<u64>> {
        words_of(self.shape(), row)
    }
}

/// The words of a row that a caller gave as bytes.
pub(crate) fn words_of(shape: &Shape, row: &[u8]) -> Result<Vec<u64>> {
    let (given, width) = (row.len(), shape.width);
    if given != shape.row_bytes() {
        let bytes = shape.row_bytes();
        return Err(error!(OutOfRange, "a row of {given} bytes is not one of width = {width}, which has {bytes}"));
    }
    let mut words: Vec<u64> = try_vec(shape.row_words())?;
    for bytes in row.chunks(8) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        words.push(u64::from_le_bytes(eight));
    }
    match words.last() {
        Some(last) if last & beyond(width) != 0 => {
            Err(error!(OutOfRange, "a row has a bit set after its last, width = {width}"))
        }
        _ => Ok(words),
    }
}
