//! How an image in place is written by one handle or by many processes together, and how it is read meanwhile.
//!
//! *Clean* means that somebody marked exactly these bytes clean, and that they match their checksums. *Unclean* means
//! that nobody does. A handle that began with a clean image and changed it marks it clean when it seals the
//! image. [`Base::mark_clean`] takes whatever bytes there are.
//!
//! Before a handle first changes a region, it *marks* the region: it compares the region with its entry in the table of
//! checksums, and makes the entry 0. A region that does not match is not changed, so that no damage gets a new
//! checksum. Only regions whose entry is 0 need a new one when the image is sealed.
//!
//! - [`marks`]: the regions that a handle may change.
//! - [`writing`]: one writer, from the first change to the end of the handle.
//! - [`sharing`]: many processes that insert at the same time.
//! - [`sealing`]: new checksums for what was changed, and a clean image.
//! - [`reading`]: what the image says now, and whether its bytes are the right ones.
//! - [`copy`]: the payload, given out while others may be changing it.

mod copy;
mod marks;
mod reading;
mod sealing;
mod sharing;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;
mod writing;

pub(crate) use marks::Marks;

use crate::contract::Base;
use crate::error::{Error, Result, error};
use crate::format::{
    self, COUNT_OFFSET, HEADER_LENGTH, Header, REGION_WORDS, SHARING_OFFSET, STATE_OFFSET, Table, UNCLEAN,
};
use crate::storage::{Access, ImageBytes};
use core::sync::atomic::{AtomicU64, Ordering};

/// The parts of an image that a change in place works on.
#[derive(Clone, Copy)]
struct Place<'a> {
    image: &'a ImageBytes,
    table: Table<'a>,
    payload: &'a [AtomicU64],
}

impl<'a> Place<'a> {
    fn region(&self, region: usize) -> &'a [AtomicU64] {
        let start = region * REGION_WORDS;
        &self.payload[start..self.payload.len().min(start + REGION_WORDS)]
    }

    fn checksum(&self) -> u64 {
        self.image.word(format::CHECKSUM_OFFSET).load(Ordering::Relaxed)
    }

    fn state(&self) -> &'a AtomicU64 {
        self.image.word(STATE_OFFSET)
    }

    /// Whether the image says that it is unclean.
    fn is_marked(&self) -> bool {
        self.state().load(Ordering::Relaxed) != 0
    }

    fn sharing(&self) -> &'a AtomicU64 {
        self.image.word(SHARING_OFFSET)
    }

    fn count(&self) -> &'a AtomicU64 {
        self.image.word(COUNT_OFFSET)
    }

    /// The image's header at this moment.
    fn header(&self) -> Result<Header> {
        let read = |bytes: &mut [u8; HEADER_LENGTH]| {
            self.image.read(bytes);
            Ok(bytes.len())
        };
        Header::read(read).map(|(header, _)| header)
    }

    /// The checksum of the table of a clean image, by which two sealed images of one payload can be told apart. `None`
    /// if the image is unclean.
    fn clean_table(&self) -> Result<Option<u64>> {
        Ok((!self.header()?.unclean).then(|| self.table.own_checksum()))
    }

    /// Refuses to begin with a clean image whose table is damaged, because sealing would accept an entry that damage
    /// made 0.
    fn check_table(&self, unclean: bool) -> Result<()> {
        if unclean || self.table.is_sealed(self.checksum()) { Ok(()) } else { Err(damaged_table()) }
    }

    /// Refuses to seal an image whose end was cut off since it was clean and now reads as zeros, because then no writer
    /// made these entries 0. The table's last word is its checksum, which nobody writes while the image is unclean.
    fn check_end(&self) -> Result<()> {
        if self.table.own_checksum() != 0 { Ok(()) } else { Err(damaged_table()) }
    }

    /// Marks the image unclean, on the disk too, before anything else is written.
    fn make_unclean(&self) -> Result<()> {
        let before = self.state().swap(UNCLEAN, Ordering::Release);
        let written = self.image.flush(STATE_OFFSET, STATE_OFFSET + 8);
        if written.is_err() {
            // Nothing was changed yet, so nothing is unclean.
            self.state().store(before, Ordering::Release);
        }
        written
    }

    /// Makes an unclean image clean, with this header: its second part goes to the disk first, then the state.
    fn make_clean(&self, header: &Header) -> Result<()> {
        self.image.write(COUNT_OFFSET, &header.second_part(self.checksum()))?;
        let written = self.image.write(STATE_OFFSET, &[0; 8]);
        if written.is_err() {
            // The disk may have either state. In this process the image stays unclean.
            self.state().store(UNCLEAN, Ordering::Release);
            let _ = self.image.flush(STATE_OFFSET, STATE_OFFSET + 8);
        }
        written
    }
}

impl Base {
    /// The image in place, if the words lie in one.
    fn place(&self) -> Option<Place<'_>> {
        let image = self.words.image()?;
        let payload_bytes = self.geometry().payload_bytes;
        let words =
            image.words_at(HEADER_LENGTH + payload_bytes as usize, format::table_bytes(payload_bytes) as usize / 8);
        Some(Place { image, table: Table::new(words, payload_bytes), payload: self.words.shared() })
    }

    fn place_for(&self, access: Access) -> Result<Place<'_>> {
        self.place().filter(|place| place.image.access() == access).ok_or_else(|| self.refusal())
    }
}

/// The error for an image whose table of checksums does not match the table's own checksum.
fn damaged_table() -> Error {
    error!(Corrupt, "the table of the payload's checksums is damaged")
}
