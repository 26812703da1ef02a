//! The bytes of the library minisketch, for sketches of a kind that it has.

use super::Sketch;
use crate::contract::Capabilities;
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::storage::try_vec;
use core::sync::atomic::Ordering;

impl Sketch {
    /// The bytes that the library minisketch serializes for a sketch of the same capacity, elements and bits of an
    /// element.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for a kind that minisketch does not have; [`Status::OutOfMemory`].
    pub fn export_minisketch(&self) -> Result<Vec<u8>> {
        let length = self.minisketch_bytes()?;
        let words = self.base().words().shared();
        let mut bytes = try_vec(length)?;
        bytes.extend((0..length).map(|byte| words[byte / 8].load(Ordering::Relaxed).to_le_bytes()[byte % 8]));
        Ok(bytes)
    }

    /// Takes the elements of a serialized sketch of minisketch instead of the numbers that are there. The sketch has
    /// the same capacity and bits of an element as that one. Afterwards [`Sketch::insertions`] is 0, because minisketch
    /// does not count, and listings are not checked ([`Sketch::list`]), because minisketch has no checksum.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for a kind that minisketch does not have, or if the words may not be written;
    /// [`Status::Foreign`] if the bytes are of another length, or have a bit set after the last sum. The sketch then
    /// stays as it was.
    pub fn import_minisketch(&mut self, bytes: &[u8]) -> Result<()> {
        self.base().check_capability("import", Capabilities::INSERT)?;
        let (length, given) = (self.minisketch_bytes()?, bytes.len());
        if given != length {
            return Err(error!(Foreign, "length = {given} is not the {length} bytes of minisketch for this sketch"));
        }
        let used = self.base().geometry().bits % 8;
        if used != 0 && bytes.last().is_some_and(|last| last >> used != 0) {
            return Err(error!(Foreign, "the last byte has bits set after the {used} that belong to a sketch"));
        }
        self.kind.take_minisketch(bytes)?;
        self.kept = None;
        self.changes = self.changes.wrapping_add(1);
        self.base_mut().set_count(0);
        Ok(())
    }

    fn minisketch_bytes(&self) -> Result<usize> {
        let name = self.base().row().name;
        let refusal = || error!(Unsupported, "sketches of the kind {name} have no bytes of minisketch");
        self.kind.minisketch_bytes().ok_or_else(refusal)
    }
}
