//! Changing the rows of an index, and its attachment.

use super::Index;
use crate::contract::Capabilities;
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::storage::{copy_words, try_vec};

impl Index {
    /// Adds a row with an id, and returns the number of the row.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if the row has another number of bytes, a bit after the last one, or an id that does not
    /// fit in the parameter `id_bytes`; [`Status::Full`] if the index has as many rows as its capacity;
    /// [`Status::UnsupportedByHandle`] if the image is open for reading; [`Status::Corrupt`] if an image in place does
    /// not match its checksums; [`Status::OutOfMemory`].
    pub fn add(&mut self, id: u64, row: &[u8]) -> Result<u64> {
        self.base().check_capability("add", Capabilities::INSERT)?;
        let words = self.words_of(row)?;
        self.rows.add(id, &words)
    }

    /// Removes all rows with an id, and returns how many there were. Reads all ids. Removed rows keep their numbers and
    /// their places, but are no longer found; [`Index::arrange`] makes an index without them.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the image is open for reading; [`Status::Corrupt`] if an image in place does
    /// not match its checksums.
    pub fn remove(&mut self, id: u64) -> Result<u64> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        let mut removed = 0;
        for row in 0..self.next_row() {
            if self.rows.id(row) == id {
                removed += u64::from(self.rows.remove(row)?);
            }
        }
        Ok(removed)
    }

    /// Removes the row with this number. Returns false if it was removed before.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a number that no row has; the errors of [`Index::remove`].
    pub fn remove_row(&mut self, row: u64) -> Result<bool> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        self.check_row(row)?;
        self.rows.remove(row)
    }

    /// The number of the first row with an id, from the row `from` on, that was not removed. Reads ids up to that row.
    pub fn find_row(&self, id: u64, from: u64) -> Option<u64> {
        (from..self.next_row()).find(|row| self.rows.id(*row) == id && !self.rows.is_removed(*row))
    }

    /// Removes all rows and the attachment.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the image is open for reading.
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        self.rows.clear()
    }

    /// Appends all rows of another index, without those that were removed. Both need the same width, the same choice of
    /// nesting, the same number of bits for each feature, and the same hash function with its seed or secret.
    ///
    /// # Errors
    /// [`Status::Incompatible`], which names the first difference; [`Status::Full`] if there is no room for all rows;
    /// the errors of [`Index::add`]. Nothing has changed then, unless an image in place does not match its checksums.
    pub fn merge(&mut self, other: &Index) -> Result<()> {
        self.base().check_capability("merge", Capabilities::INSERT)?;
        self.check_like(other)?;
        let (rows, room) = (other.row_count(), self.capacity() - self.next_row());
        if rows > room {
            return Err(error!(Full, "{rows} rows are more than there is room for in the index, which is {room}"));
        }
        let merged = |row: &u64| !other.rows.is_removed(*row);
        (0..other.next_row()).filter(merged).try_for_each(|row| self.rows.check_id(other.rows.id(row)))?;
        let mut words = try_vec(self.shape().row_words())?;
        words.resize(self.shape().row_words(), 0);
        let mut room = self.rows.room()?;
        for row in (0..other.next_row()).filter(merged) {
            other.rows.copy_row(row, &mut words);
            self.rows.add_in(&mut room, other.rows.id(row), &words)?;
        }
        if other.base().stays_unclean() {
            self.base_mut().taint();
        }
        Ok(())
    }

    /// Refuses an index whose rows mean something else.
    pub(crate) fn check_like(&self, other: &Index) -> Result<()> {
        let (a, b) = (self.shape(), other.shape());
        let (nests, other_nests) = (u64::from(!a.nests), u64::from(!b.nests));
        let numbers = [
            ("width", a.width, b.width),
            ("nesting", nests, other_nests),
            ("feature_bits", a.feature_bits, b.feature_bits),
            ("seed or secret", self.base().header().identifier, other.base().header().identifier),
        ];
        if let Some((name, x, y)) = numbers.into_iter().find(|(_, x, y)| x != y) {
            return Err(error!(Incompatible, "the indexes differ in {name}: {x} and {y}"));
        }
        let (x, y) = (self.base().header().hash, other.base().header().hash);
        if x != y {
            return Err(error!(Incompatible, "the indexes differ in hash: {x} and {y}"));
        }
        Ok(())
    }

    /// Keeps the caller's own bytes in the image, instead of those that were there before.
    ///
    /// # Errors
    /// [`Status::TooLarge`] if they are more than the parameter `attachment_bytes`; [`Status::UnsupportedByHandle`] if
    /// the image is open for reading. The index then stays as it was.
    pub fn attach(&mut self, bytes: &[u8]) -> Result<()> {
        self.base().check_capability("attach", Capabilities::INSERT)?;
        let (length, most) = (bytes.len() as u64, self.shape().attachment_bytes);
        if length > most {
            return Err(error!(TooLarge, "an attachment of {length} bytes is more than attachment_bytes = {most}"));
        }
        self.rows.attach(bytes)
    }

    /// A copy of the bytes that [`Index::attach`] kept.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn attachment(&self) -> Result<Vec<u8>> {
        let words = &self.rows.words()[self.shape().attachment()];
        let length = self.rows.state().attachment.min(8 * words.len() as u64) as usize;
        let words = &words[..length.div_ceil(8)];
        let mut bytes: Vec<u8> = try_vec(8 * words.len())?;
        bytes.resize(8 * words.len(), 0);
        copy_words(words, &mut bytes);
        bytes.truncate(length);
        Ok(bytes)
    }
}
