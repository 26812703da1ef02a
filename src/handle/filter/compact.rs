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
    /// [`Status::Unsupported`] for a geometry that such a trailer cannot express. Such filters are a `scalable` filter
    /// whose tightening is not a whole number of thousandths or that others were merged into, and a `fuse` filter of
    /// 2^33 keys or more.
    pub fn compact_size(&self) -> Result<usize> {
        image::compact_size(self.base().row(), self.base().geometry())
    }

    /// Writes the compact form to the start of `to`, at any alignment, and returns its length. The form has no hash
    /// function, seed or secret, which whoever opens it has to know, and no count or capacity. Threads and processes
    /// may insert meanwhile: the form has all keys whose insertion happened before.
    ///
    /// # Errors
    /// The errors of [`Filter::compact_size`]; [`Status::BufferTooSmall`]; [`Status::Unclean`] if the filter is
    /// unclean, which the form could not say; [`Status::Corrupt`] if an image in place does not match its checksums;
    /// [`Status::OutOfMemory`].
    pub fn serialize_compact(&self, to: &mut [u8]) -> Result<usize> {
        image::write_compact(self.base(), to)
    }
}
