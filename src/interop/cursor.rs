//! Reads fields of foreign bytes, one after the other, and checks that each is there.

use crate::error::{Result, error};

/// The bytes that were not read yet.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Cursor<'a> {
    /// All of these bytes.
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes, length: bytes.len() }
    }

    /// The bytes that were not taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated).
    pub fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let at = usize::try_from(count).ok().filter(|count| *count <= self.rest.len()).ok_or_else(|| {
            let (length, left) = (self.length, self.rest.len());
            error!(Truncated, "{count} more bytes should follow byte {}, {left} do", length - left)
        })?;
        let (taken, rest) = self.rest.split_at(at);
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated).
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        Ok(core::array::from_fn(|i| bytes[i]))
    }

    /// The next byte.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated).
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Refuses bytes that follow the last field.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn finish(&self, format: &str) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(error!(Corrupt, "{more} bytes follow the end of the {format} filter")),
        }
    }
}
