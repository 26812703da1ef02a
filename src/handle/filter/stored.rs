//! Lists what a filter stores of its keys.

use super::Filter;
use crate::contract::Enumerate;
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};

impl Filter {
    fn enumerate(&self) -> Result<&dyn Enumerate> {
        self.kind.as_enumerate().ok_or_else(|| self.unsupported("list the hashes that it stores"))
    }

    /// The number that a hash is stored as, and the exclusive upper bound of such numbers. The filter cannot tell keys
    /// apart whose hashes are stored as one number. A hash may have been inserted exactly if its number is stored.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind does not store hashes as numbers.
    pub fn stored_hash(&self, hash: u64) -> Result<(u64, u64)> {
        let kind = self.enumerate()?;
        Ok((kind.stored(hash), kind.range()))
    }

    /// Writes the stored numbers that are not less than `from`, in ascending order and each once, to the front of
    /// `stored`. Returns how many there are: fewer than there is room for if no more follow. To go on, call again from
    /// the last number plus 1 on. `counts`, if given, say of each number how often it is there: 1 if the kind does not
    /// count.
    ///
    /// # Errors
    /// The errors of [`Filter::stored_hash`]; [`Status::BufferTooSmall`] if there is not as much room for counts as for
    /// numbers.
    pub fn stored_hashes(&self, from: u64, stored: &mut [u64], counts: Option<&mut [u64]>) -> Result<usize> {
        let kind = self.enumerate()?;
        let room = counts.as_ref().map_or(stored.len(), |counts| counts.len());
        if room != stored.len() {
            return Err(error!(BufferTooSmall, "there is room for {} numbers and {room} counts", stored.len()));
        }
        Ok(kind.stored_from(from, stored, counts))
    }
}
