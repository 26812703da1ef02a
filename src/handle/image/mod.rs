//! The calls of a handle about its bytes, whatever its kind: verify, mark clean, copy, save, bring up to date.

mod compact;
mod save;
mod write;

pub use compact::{compact_size, write_compact};
pub use save::{save, save_as, save_bytes};
pub use write::{Sink, write, write_at};

use crate::contract::{Base, Capabilities, Payload};
use crate::error::{Result, Status};
use crate::storage::try_vec;
use std::path::Path;

/// The image behind a [`crate::Filter`] or a [`crate::Map`].
pub trait Image: Sized {
    /// The image's kind, as the trait that all kinds have.
    fn payload(&self) -> &dyn Payload;

    /// The image's kind, to be changed.
    fn payload_mut(&mut self) -> &mut dyn Payload;

    /// A handle over the base of a kind.
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

    /// The capabilities of this handle: all that its kind has, without those that the memory does not allow.
    fn capabilities(&self) -> Capabilities {
        self.base().capabilities()
    }

    /// A copy in memory of its own. The copy of an image or a compact form in place is checked against its checksums,
    /// and against what the kind promises of its payload. Linear in the payload.
    ///
    /// No handle is [`Clone`], because `clone` cannot say that something went wrong: a copy takes as much memory as the
    /// payload, which may be most of the machine's, and a file that is copied may be damaged.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; [`Status::Corrupt`].
    fn copy(&self) -> Result<Self> {
        let mut copy = Self::over(self.base().copy()?)?;
        if !self.base().is_own() {
            if copy.base().header().unclean {
                copy.payload_mut().mend()?;
            }
            copy.payload().check_payload()?;
        }
        Ok(copy)
    }

    /// Reads and checks the bytes as they are now, whatever this handle or another one has done since opening. Checks
    /// what the kind promises of its payload and, in an image in place, every region that has a checksum.
    ///
    /// # Errors
    /// [`Status::Corrupt`], naming the bytes that differ. [`Status::Unclean`] if no bytes differ, but the payload is
    /// being changed, or was being changed when its process ended.
    fn verify(&self) -> Result<()> {
        self.verify_with(&mut |_| {})
    }

    /// [`Image::verify`], which reports after every region to `progress` how many bytes it read. In total these are the
    /// payload's bytes, or more if a writer made it read some again.
    ///
    /// # Errors
    /// As [`Image::verify`].
    fn verify_with(&self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        self.payload().check_payload()?;
        self.base().verify(progress)
    }

    /// Declares that the payload is right as it is now, and makes the image clean. An image in place gets new
    /// checksums, on its disk too. This is for callers who know that all keys are there, for instance because they
    /// inserted them again, or who accept that some are not. Reads the whole payload.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if an image is open for reading or to be shared; [`Status::Corrupt`] if the kind
    /// cannot have such a payload; the system's errors.
    fn mark_clean(&mut self) -> Result<()> {
        self.payload().check_payload()?;
        self.base_mut().mark_clean()
    }

    /// The length of the image in bytes.
    fn serialized_size(&self) -> u64 {
        self.base().header().image_bytes()
    }

    /// The image as bytes, of which a file has the same. Threads and processes may insert meanwhile: the bytes have all
    /// keys whose insertion happened before. Linear in the payload; takes as much memory as
    /// [`Image::serialized_size`] says.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`]; [`Status::TooLarge`] if the address space does not hold the image; the errors of
    /// [`Image::serialize_at`].
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let length = usize::try_from(self.serialized_size()).map_err(|_| Status::TooLarge)?;
        let mut bytes = try_vec(length)?;
        bytes.resize(length, 0);
        self.serialize_at(&mut |offset, piece| {
            let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get_mut(offset..));
            let place = rest.and_then(|rest| rest.get_mut(..piece.len())).ok_or(Status::Internal)?;
            place.copy_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Gives the image to `sink`, piece by piece and in order. See [`write()`] for the guarantees while others insert.
    ///
    /// # Errors
    /// As [`write()`].
    fn serialize_to(&self, sink: &mut Sink) -> Result<()> {
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
    /// [`Status::MappedPath`] if the image lies in that very file, and the system's errors.
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(self.base(), path.as_ref())
    }

    /// Brings an image in place up to date; see [`Base::sync`].
    ///
    /// # Errors
    /// The system's errors.
    fn sync(&mut self) -> Result<()> {
        self.base_mut().sync()
    }
}
