//! The compact form of a filter.

use super::Filter;
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::handle::image::{self, Image};

impl Filter {
    /// The length in bytes of the filter's compact form: payload and a trailer of 8 to 24 bytes.
    ///
    /// # Errors
    /// [`Status::Unsupported`] for a geometry that such a trailer does not say: a `scalable` filter whose tightening is
    /// no whole number of thousandths or that others were merged into, a `fuse` filter of 2^33 keys or more.
    pub fn compact_size(&self) -> Result<usize> {
        image::compact_size(self.base().row(), self.base().geometry())
    }

    /// Writes the compact form to the start of `to`, which is of any alignment; returns its length. It has neither hash
    /// function nor seed nor key, which whoever opens it has to know, and neither count nor capacity. Threads and
    /// processes may insert meanwhile: keys whose insertion happened before are in it.
    ///
    /// # Errors
    /// Those of [`Filter::compact_size`]; [`Status::BufferTooSmall`]; [`Status::Dirty`] if nobody vouches for the
    /// filter, which the form could not say; [`Status::Corrupt`] where an image in place does not match its checksums;
    /// [`Status::OutOfMemory`].
    pub fn serialize_compact(&self, to: &mut [u8]) -> Result<usize> {
        image::write_compact(self.base(), to)
    }
}
