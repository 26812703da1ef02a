//! Gives changed regions new checksums and then makes the image clean. A writer does so when it syncs or ends, and so
//! does the last of several processes that share an image.

use crate::contract::Base;
use crate::error::Result;
use crate::format::{self, HEADER_LENGTH};
use crate::storage::{Access, ImageBytes};
use core::sync::atomic::Ordering;

impl Base {
    /// Brings an image in place up to date. An image that this handle found clean and changed becomes clean again:
    /// payload and table first, then the count, then the state, each on the disk before the next. An image that was
    /// unclean before, or that others share, is written to the disk and stays unclean. The cost depends on how much was
    /// changed. The filter's own memory and an image that is only read need nothing.
    ///
    /// # Errors
    /// The system's errors; the image then stays unclean, and another call tries again.
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) in a child of the process that opened the
    /// image to change it.
    pub fn sync(&mut self) -> Result<()> {
        match self.words.in_place() {
            Some(Access::Read) if self.words.image().is_some_and(ImageBytes::is_inherited) => Err(self.refusal()),
            None | Some(Access::Read) => Ok(()),
            Some(Access::Write) => {
                if *self.insertions.get_mut() > 0 {
                    self.begin_writing()?;
                    self.header.count = self.count();
                    *self.insertions.get_mut() = 0;
                }
                match (self.writing, self.header.unclean) {
                    (false, _) => Ok(()),
                    (true, false) => {
                        self.place_for(Access::Write)?.check_end()?;
                        self.seal()
                    }
                    (true, true) => self.flush(),
                }
            }
            Some(Access::Share) => self.sync_shared(),
        }
    }

    /// Writes all bytes to the disk, and leaves the image unclean.
    fn flush(&self) -> Result<()> {
        let place = self.place_for(Access::Write)?;
        place.count().store(self.header.count, Ordering::Release);
        place.image.flush(0, place.image.length())
    }

    /// Gives every marked region its checksum and makes the image clean. The caller is the only one to use the image,
    /// and marks it clean.
    pub(super) fn seal(&mut self) -> Result<()> {
        // Even if sealing fails, a region that is changed later has to be marked again.
        self.marks.clear();
        let Some(place) = self.place() else { return Ok(()) };
        for (region, entry) in place.table.entries().iter().enumerate() {
            if entry.load(Ordering::Acquire) == 0 {
                entry.store(format::entry_of_words(place.region(region)), Ordering::Release);
            }
        }
        place.table.seal(place.checksum());
        place.image.flush(HEADER_LENGTH, self.header.image_bytes() as usize)?;
        place.make_clean(&self.header)?;
        self.writing = false;
        Ok(())
    }

    /// Declares that the present bytes are right, gives them new checksums, and makes the filter clean. Reads the whole
    /// payload.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) for an image that is open for reading or to
    /// be shared; the system's errors, after which the image is unclean.
    pub(crate) fn mark_clean(&mut self) -> Result<()> {
        if self.is_own() {
            self.header.unclean = false;
            return Ok(());
        }
        if !self.writing {
            self.begin_unchecked()?;
        }
        let place = self.place_for(Access::Write)?;
        place.table.clear();
        self.header.count = self.count();
        *self.insertions.get_mut() = 0;
        let sealed = self.seal();
        self.header.unclean = sealed.is_err();
        sealed
    }
}
