//! A single writer marks the image unclean before its first change, and brings it up to date when its handle ends.

use super::Marks;
use crate::contract::Base;
use crate::error::{Result, Status};
use crate::format::{Header, REGION_WORDS};
use crate::storage::Access;
use core::sync::atomic::Ordering;

impl Base {
    /// Marks the image unclean, on its disk too, unless this handle has done so.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) if the image is not open for one writer;
    /// [`Status::Corrupt`](crate::Status::Corrupt) if its table of checksums is damaged;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory); the system's errors.
    pub(crate) fn begin_writing(&mut self) -> Result<()> {
        match self.words.in_place() {
            None => Ok(()),
            Some(Access::Write) if self.writing => Ok(()),
            _ => {
                self.place_for(Access::Write)?.check_table(self.header.unclean)?;
                self.begin_unchecked()
            }
        }
    }

    /// Whether an image that is open for one writer is marked unclean by this handle.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.writing && self.words.in_place() == Some(Access::Write)
    }

    /// The payload of an unclean image or copy, to be put in order ([`Payload::mend`](crate::contract::Payload::mend)).
    /// A region that differs from its checksum may be changed too. It goes on differing until somebody marks the clean
    /// image.
    ///
    /// # Errors
    /// Those of [`Base::begin_writing`].
    pub(crate) fn writable_to_mend(&mut self) -> Result<&mut [u64]> {
        if !self.is_own() {
            self.begin_writing()?;
            for word in (0..self.words.shared().len()).step_by(REGION_WORDS) {
                let _ = self.mark(word);
            }
        }
        self.words.exclusive().ok_or_else(|| Status::Internal.into())
    }

    pub(super) fn begin_unchecked(&mut self) -> Result<()> {
        let place = self.place_for(Access::Write)?;
        let marks = Marks::new(place.table.entries().len())?;
        place.make_unclean()?;
        self.marks = marks;
        self.writing = true;
        Ok(())
    }

    /// Makes a writable image in place that of the empty filter which the header describes.
    pub(crate) fn initialise(&mut self) -> Result<()> {
        let header = Header { unclean: true, ..self.header.clone() }.encode();
        let place = self.place_for(Access::Write)?;
        // Every step that can fail comes before the first byte is written.
        let marks = Marks::new(place.table.entries().len())?;
        place.image.fill_zero();
        place.image.store(0, &header);
        self.marks = marks;
        self.writing = true;
        self.seal()
    }

    /// Leaves an image in place as it is, unclean if it was written. This is for a handle whose state cannot be
    /// trusted.
    pub fn abandon(&mut self) {
        self.writing = false;
        *self.insertions.get_mut() = 0;
    }

    fn close(&mut self) -> Result<()> {
        match self.words.in_place() {
            Some(Access::Share) if self.writing => self.end_sharing(),
            // The image stays unclean, and the system writes it to the disk in time.
            Some(Access::Write) if self.writing && self.header.unclean => {
                let place = self.place_for(Access::Write)?;
                place.count().store(self.count(), Ordering::Release);
                Ok(())
            }
            Some(Access::Write) => self.sync(),
            _ => Ok(()),
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // A failure leaves the image unclean, which its next reader sees; `sync` reports the failure to callers who
        // ask. In a child of the process that opened the image, the image is only read, and nothing is done.
        let _ = self.close();
    }
}
