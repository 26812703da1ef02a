//! What an image in place says of itself at this moment, and whether its bytes match their checksums, while others may
//! be changing both.

use super::{Place, damaged_table};
use crate::contract::Base;
use crate::error::{Result, Status, error};
use crate::format::{self, HEADER_LENGTH};
use crate::storage::Access;
use core::sync::atomic::{Ordering, fence};

/// How often a reader looks again at an image that is brought up to date while it reads.
const ATTEMPTS: u32 = 4;

impl Base {
    /// Whether what this filter holds now is not marked clean: it came from an unclean image, or took in a filter that
    /// did, or is open for reading while another handle changes the image.
    pub fn stays_unclean(&self) -> bool {
        match self.place() {
            Some(place) if place.image.access() == Access::Read => place.header().map_or(true, |header| header.unclean),
            _ => self.header.unclean,
        }
    }

    /// Whether an image of these bytes would be unclean, because nobody marked them clean, or nobody does yet.
    pub fn is_unclean(&self) -> bool {
        let marked = self.place().is_some_and(|place| place.is_marked());
        self.header.unclean && self.words.in_place() != Some(Access::Read) || marked
    }

    /// `checked`, unless this is an unclean image that is only read: a writer may have died in a change, or may be
    /// making one, and nobody has put the payload in order ([`Payload::mend`](crate::contract::Payload::mend)).
    pub(crate) fn unless_unmended(&self, checked: Result<()>) -> Result<()> {
        match checked {
            Err(_) if self.words.in_place() == Some(Access::Read) && (self.header.unclean || self.is_unclean()) => {
                Ok(())
            }
            checked => checked,
        }
    }

    /// How many keys were inserted, as the image says now. If its header is damaged, as it said before.
    pub fn count_now(&self) -> u64 {
        match self.place() {
            Some(place) if place.image.access() == Access::Read => {
                place.header().map_or(self.header.count, |header| header.count)
            }
            _ => self.count(),
        }
    }

    /// Compares the present bytes of an image, or of a compact form in place, with their checksums. The filter's own
    /// memory has no checksums.
    ///
    /// # Errors
    /// [`Status::Corrupt`], naming the bytes, if a region differs from its checksum, or the header or table does.
    /// [`Status::Unclean`] if all other regions match but some were touched, or the image or the filter is unclean.
    pub(crate) fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let Some(place) = self.place() else {
            if let Some(compact) = self.words.borrowed_from() {
                format::compact::check_digest(compact.bytes())?;
                progress(self.words.bytes());
            }
            return if self.header.unclean { Err(Status::Unclean.into()) } else { Ok(()) };
        };
        for _ in 0..ATTEMPTS {
            let before = place.clean_table()?;
            let touched = self.compare(place, progress)?;
            let sealed = place.table.is_sealed(place.checksum());
            fence(Ordering::Acquire);
            let after = place.clean_table()?;
            if before.is_none() || after.is_none() {
                return Err(Status::Unclean.into());
            }
            // Otherwise the image was changed and sealed meanwhile. That is also so if the table is in order now, or a
            // moment later: an image that came back to the same bytes has the same table when it is sealed.
            if before == after {
                if sealed && !touched {
                    return Ok(());
                }
                if !sealed && !place.table.is_sealed(place.checksum()) && place.clean_table()? == before {
                    return Err(damaged_table());
                }
            }
        }
        Err(error!(Unclean, "the image is changed again and again while it is read"))
    }

    /// Compares all regions that nobody touched. Returns whether any were touched.
    fn compare(&self, place: Place, progress: &mut dyn FnMut(u64)) -> Result<bool> {
        let mut touched = false;
        for (region, entry) in place.table.entries().iter().enumerate() {
            let expected = entry.load(Ordering::Acquire);
            let words = place.region(region);
            if expected == 0 || format::entry_of_words(words) != expected {
                // An entry that stays belongs to bytes that no writer changed: see `mark`.
                fence(Ordering::Acquire);
                if expected != 0 && entry.load(Ordering::Relaxed) == expected {
                    return Err(format::differs(region, words.len(), HEADER_LENGTH));
                }
                touched = true;
            }
            progress(size_of_val(words) as u64);
        }
        Ok(touched)
    }

    /// Checks an image in place that is clean, or was when this handle began, against its checksums, before its bits go
    /// into another filter. Returns whether nobody marked the bits clean.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub(crate) fn check_marked_clean(&self) -> Result<bool> {
        let stays_unclean = self.stays_unclean();
        match self.place() {
            Some(_) if stays_unclean => Ok(true),
            // This handle or others that share the image have touched the regions whose entries are 0.
            Some(place) if place.image.access() != Access::Read && place.is_marked() => {
                self.compare(place, &mut |_| {}).map(|_| false)
            }
            _ => match self.verify(&mut |_| {}) {
                Err(error) if error.status() == Status::Unclean => Ok(true),
                verified => verified.map(|()| false),
            },
        }
    }
}
