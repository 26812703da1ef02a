//! New checksums for what was changed, and then a clean image: what a writer does when it syncs or ends, and the last
//! of those who share an image.

use crate::contract::Base;
use crate::error::Result;
use crate::format::{self, HEADER_LENGTH};
use crate::storage::{Access, ImageBytes};
use core::sync::atomic::Ordering;

impl Base {
    /// Brings an image in place up to date. One that this handle found clean and changed becomes clean again: payload
    /// and table first, then the count, then the state, each on the disk before the next. One that nobody
    /// vouches for, or that others share, comes to the disk and stays dirty. Costs what was changed. Of memory of the
    /// filter's own and of an image that is only read there is nothing to bring.
    ///
    /// # Errors
    /// What the system reports; the image then stays dirty, and another call tries again.
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) in a child of the process that opened the
    /// image to change it.
    pub fn sync(&mut self) -> Result<()> {
        match self.words.in_place() {
            Some(Access::Read) if self.words.image().is_some_and(ImageBytes::is_inherited) => Err(self.refusal()),
            None | Some(Access::Read) => Ok(()),
            Some(Access::Write) => {
                if *self.offered.get_mut() > 0 {
                    self.begin_writing()?;
                    self.header.count = self.count();
                    *self.offered.get_mut() = 0;
                }
                match (self.writing, self.header.dirty) {
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

    /// Has all bytes on the disk, and leaves the image dirty.
    fn flush(&self) -> Result<()> {
        let place = self.place_for(Access::Write)?;
        place.count().store(self.header.count, Ordering::Release);
        place.image.flush(0, place.image.length())
    }

    /// Gives every marked region its checksum and makes the image clean, for whoever has it alone and vouches for it.
    pub(super) fn seal(&mut self) -> Result<()> {
        // Whatever becomes of this, a region that is changed later is marked again.
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

    /// Declares the bytes as they are now to be right, gives them new checksums, and makes the filter clean. Reads the
    /// whole payload.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`](crate::Status::UnsupportedByHandle) for an image that is open for reading or to
    /// be shared; what the system reports: the image is then dirty.
    pub(crate) fn vouch(&mut self) -> Result<()> {
        if self.is_own() {
            self.header.dirty = false;
            return Ok(());
        }
        if !self.writing {
            self.begin_unchecked()?;
        }
        let place = self.place_for(Access::Write)?;
        place.table.clear();
        self.header.count = self.count();
        *self.offered.get_mut() = 0;
        let sealed = self.seal();
        self.header.dirty = sealed.is_err();
        sealed
    }
}
