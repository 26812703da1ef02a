//! Gives out the payload a few regions at a time, while others may be changing it. Saving and copying begin with this.

use super::damaged_table;
use crate::contract::Base;
use crate::error::Result;
use crate::format::{self, HEADER_LENGTH, REGION_BYTES, REGION_WORDS};
use crate::storage::{Access, copy_words, try_vec};
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// How many regions are given out in one piece. Larger pieces would not be written faster, and pieces of this size stay
/// in the cache between the copy, the checksum and the system.
const PIECE: usize = 4;

impl Base {
    /// Gives a copy of the payload, a few regions at a time, with the regions' entries in the table of checksums.
    /// Returns whether the bytes that were given are unclean. In an image in place a region that nobody touched
    /// is checked against its entry first, unless nobody marked the filter clean anyway (`stays_unclean`). A compact
    /// form is checked as a whole.
    ///
    /// # Errors
    /// Those of `give`; [`Status::Corrupt`](crate::Status::Corrupt);
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(crate) fn for_each_region(
        &self,
        stays_unclean: bool,
        give: impl FnMut(&[u8], &[u64]) -> Result<()>,
    ) -> Result<bool> {
        let words = self.words.shared();
        let Some(place) = self.place() else {
            if let Some(compact) = self.words.borrowed_from() {
                format::compact::check_digest(compact.bytes())?;
            }
            copy_regions(words, |_, _, _| Ok(()), give)?;
            return Ok(stays_unclean);
        };
        // Others may be changing an image that is open for reading; the checksum of its table shows that.
        let reading = !stays_unclean && place.image.access() == Access::Read;
        let before = if reading { place.clean_table()? } else { None };
        let mut changed = stays_unclean || reading && before.is_none();
        if !changed && !place.is_marked() && !place.table.is_sealed(place.checksum()) {
            changed = reading && place.clean_table()? != before;
            if !changed && !place.table.is_sealed(place.checksum()) {
                return Err(damaged_table());
            }
        }
        let check = |region: usize, words: &[AtomicU64], found: u64| {
            if changed {
                return Ok(());
            }
            fence(Ordering::Acquire);
            let entry = &place.table.entries()[region];
            let expected = entry.load(Ordering::Relaxed);
            if expected == found {
                return Ok(());
            }
            changed = reading && place.clean_table()? != before;
            // A clean image has no entry 0. If a touched region is sealed meanwhile, its entry is again what it was.
            let touched = expected == 0 && place.is_marked();
            if !touched && !changed && entry.load(Ordering::Acquire) != found {
                return Err(format::differs(region, words.len(), HEADER_LENGTH));
            }
            Ok(())
        };
        copy_regions(words, check, give)?;
        Ok(changed)
    }
}

/// Gives a copy of the words, a few regions at a time, with the entries that these copies would have in a table of
/// checksums. Before each region is given, `check` gets its number, its words and the copy's entry.
fn copy_regions(
    words: &[AtomicU64],
    mut check: impl FnMut(usize, &[AtomicU64], u64) -> Result<()>,
    mut give: impl FnMut(&[u8], &[u64]) -> Result<()>,
) -> Result<()> {
    let room = (PIECE * REGION_BYTES).min(8 * words.len());
    let mut buffer: Vec<u8> = try_vec(room)?;
    buffer.resize(room, 0);
    for (piece, words) in words.chunks(PIECE * REGION_WORDS).enumerate() {
        let mut entries = [0; PIECE];
        let regions = words.chunks(REGION_WORDS).zip(buffer.chunks_mut(REGION_BYTES)).zip(&mut entries).enumerate();
        for (i, ((words, buffer), found)) in regions {
            *found = format::entry_of(copy_words(words, buffer));
            check(piece * PIECE + i, words, *found)?;
        }
        give(&buffer[..8 * words.len()], &entries[..words.len().div_ceil(REGION_WORDS)])?;
    }
    Ok(())
}
