//! What a handle needs of its bytes, whatever kind they are of: verify, vouch, copy out, save, bring up to date.

mod compact;
mod save;
mod write;

pub use compact::{compact_size, write_compact};
pub use save::{save, save_as};
pub use write::{Sink, write, write_at};

use crate::contract::{Base, Capabilities, Payload};
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use std::path::Path;

/// The image behind a [`crate::Filter`] or a [`crate::Map`].
pub trait Image: Sized {
    /// The kind that the image is of, as its payload.
    fn payload(&self) -> &dyn Payload;

    /// The kind that the image is of, to be changed.
    fn payload_mut(&mut self) -> &mut dyn Payload;

    /// A handle over what lies beneath a kind.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind has another handle, naming it; [`Status::Corrupt`] for a geometry that the
    /// kind cannot have.
    fn over(base: Base) -> Result<Self>;

    /// Row, header, hasher and words.
    fn base(&self) -> &Base {
        self.payload().base()
    }

    /// Row, header, hasher and words, to be changed.
    fn base_mut(&mut self) -> &mut Base {
        self.payload_mut().base_mut()
    }

    /// What this handle can do: all that its kind can do, less what the memory does not allow.
    fn capabilities(&self) -> Capabilities {
        self.base().capabilities()
    }

    /// A copy in memory of its own. That of an image or a compact form in place is held to its checksums, and to what
    /// the kind promises of its payload.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; [`Status::Corrupt`].
    fn copy(&self) -> Result<Self> {
        let copy = Self::over(self.base().copy()?)?;
        if !self.base().is_own() {
            copy.payload().check_payload()?;
        }
        Ok(copy)
    }

    /// Reads and checks the bytes as they are now, whatever this handle or another one has done since opening. Checks
    /// what the kind promises of its payload, and in an image in place every region that has a checksum.
    ///
    /// # Errors
    /// [`Status::Corrupt`], naming the bytes that differ; [`Status::Dirty`] if nothing does, but nobody vouches for the
    /// payload, or not yet: it is being changed, or was when its process ended.
    fn verify(&self) -> Result<()> {
        self.verify_with(&mut |_| {})
    }

    /// [`Image::verify`], which says to `progress` after every region how many bytes it read. They come to the
    /// payload's, or to more where a writer made it look again.
    ///
    /// # Errors
    /// As [`Image::verify`].
    fn verify_with(&self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        self.payload().check_payload()?;
        self.base().verify(progress)
    }

    /// Declares the payload as it is now to be right, and makes the image clean: an image in place gets new checksums,
    /// on its disk too. For whoever knows that all keys are there, say because they were inserted again, or accepts
    /// that some are not. Reads the whole payload.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if an image is open for reading or to be shared; [`Status::Corrupt`] if the kind
    /// cannot have such a payload; what the system reports.
    fn vouch(&mut self) -> Result<()> {
        self.payload().check_payload()?;
        self.base_mut().vouch()
    }

    /// The length of the image in bytes.
    fn serialized_size(&self) -> u64 {
        self.base().header().image_bytes()
    }

    /// Gives the image to `sink`, piece by piece and in order; see [`write()`] for what holds while others insert.
    ///
    /// # Errors
    /// As [`write()`].
    fn serialize(&self, sink: &mut Sink) -> Result<()> {
        write(self.base(), sink)
    }

    /// Gives the image to `put`, piece by piece with the offset of each, the header last; see [`write_at`].
    ///
    /// # Errors
    /// As [`write_at`].
    fn serialize_at(&self, put: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        write_at(self.base(), put)
    }

    /// Writes the image to a file, atomically.
    ///
    /// # Errors
    /// [`Status::MappedPath`] if the image lies in that very file, and what the system reports.
    fn save(&self, path: &Path) -> Result<()> {
        save(self.base(), path)
    }

    /// Brings an image in place up to date; see [`Base::sync`].
    ///
    /// # Errors
    /// What the system reports.
    fn sync(&mut self) -> Result<()> {
        self.base_mut().sync()
    }
}
