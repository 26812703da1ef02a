//! Rows that come and go.

use super::Index;
use crate::contract::Capabilities;
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::handle::image::Image;

impl Index {
    /// Adds a row with an id, and returns the number of the row.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for another number of bytes than a row has, or a bit after the last one;
    /// [`Status::Full`] if the index has as many rows as its capacity; [`Status::UnsupportedByHandle`] if the image is
    /// open for reading; [`Status::Corrupt`] if an image in place does not match its checksums.
    pub fn add(&mut self, id: u64, row: &[u8]) -> Result<u64> {
        self.base().check_capability("add", Capabilities::INSERT)?;
        let words = self.words_of(row)?;
        self.rows.add(id, &words)
    }
}
