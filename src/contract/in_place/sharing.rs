//! Many processes that insert into one image at once. These handles count themselves in a word of the image's header,
//! and the last one that leaves seals the image.

use super::Marks;
use crate::contract::Base;
use crate::error::Result;
use crate::storage::{Access, ImageBytes, Mapping};
use core::sync::atomic::{AtomicU64, Ordering};

/// In the header's word `sharing`: how many sharers there are.
const SHARERS: u64 = 0xffff_ffff;
/// The image was clean when the first sharer came, and no sharer has died since.
const BEGAN_CLEAN: u64 = 1 << 32;
/// A sharer that has closed the image changed it.
const CHANGED: u64 = 1 << 33;

impl Base {
    /// Joins those who share the image. In a file they keep count of themselves, each at the gate that [`Mapping`]
    /// holds; in a buffer there are no locks, so nobody knows who is the last, and it stays dirty.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and what the system reports.
    pub(crate) fn begin_sharing(&mut self) -> Result<()> {
        let place = self.place_for(Access::Share)?;
        let marks = Marks::new(place.table.entries().len())?;
        let mut dirty = self.header.dirty;
        match place.image.file() {
            None => {
                place.check_table(dirty)?;
                place.make_dirty()?;
            }
            Some(file) => {
                let before = place.sharing().load(Ordering::Relaxed);
                // Whoever finds nobody alive finds the image clean, or left behind by somebody who died.
                let now = match (file.was_alone(), dirty) {
                    (true, true) => 1,
                    (true, false) => 1 | BEGAN_CLEAN,
                    (false, _) => before.wrapping_add(1),
                };
                if file.was_alone() {
                    place.check_table(dirty)?;
                    place.make_dirty()?;
                }
                place.sharing().store(now, Ordering::Release);
                dirty = now & BEGAN_CLEAN == 0;
                file.leave_gate();
            }
        }
        self.header.dirty = dirty;
        self.marks = marks;
        self.writing = true;
        Ok(())
    }

    /// Leaves those who share the image. The last one seals it, if all who came have left in order.
    pub(super) fn end_sharing(&mut self) -> Result<()> {
        let offered = core::mem::take(self.offered.get_mut());
        let changed = offered > 0 || self.marks.any();
        let place = self.place_for(Access::Share)?;
        let Some(file) = place.image.file() else {
            add_saturating(place.count(), offered);
            return Ok(());
        };
        file.enter_gate()?;
        add_saturating(place.count(), offered);
        let before = place.sharing().load(Ordering::Relaxed);
        let now = before.wrapping_sub((before & SHARERS).min(1)) | if changed { CHANGED } else { 0 };
        place.sharing().store(now, Ordering::Release);
        if !file.is_last() {
            return Ok(());
        }
        if self.header.dirty || now & (SHARERS | BEGAN_CLEAN) != BEGAN_CLEAN || before & SHARERS == 0 {
            place.sharing().store(0, Ordering::Release);
            return Ok(());
        }
        if now & CHANGED == 0 {
            return place.make_clean(&place.header()?);
        }
        place.check_end()?;
        self.header.count = place.count().load(Ordering::Relaxed);
        self.seal()
    }

    /// Adds this handle's keys to the image's count, and waits until what all who share the image have inserted so far
    /// is on the disk. The image stays dirty.
    ///
    /// # Errors
    /// What the system reports.
    pub(super) fn sync_shared(&mut self) -> Result<()> {
        let place = self.place_for(Access::Share)?;
        let file = place.image.file();
        file.map_or(Ok(()), Mapping::enter_gate)?;
        add_saturating(place.count(), self.offered.swap(0, Ordering::Relaxed));
        file.inspect(|file| file.leave_gate());
        place.image.flush(0, place.image.length())?;
        self.header.count = place.count().load(Ordering::Relaxed);
        Ok(())
    }
}

/// The gate of a file, while somebody has it to itself; of memory without locks nothing.
pub(crate) struct Gate<'a>(Option<&'a Mapping>);

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            file.leave_gate();
        }
    }
}

impl Base {
    fn gated(&self) -> Option<&Mapping> {
        self.words.image().and_then(ImageBytes::file)
    }

    /// Whether whoever dies in the middle of a change lets go of it: in a file, whose locks the system takes back. In
    /// memory of the filter's own nobody dies but together with all who use it. A buffer has no locks.
    pub(crate) fn outlives_sharers(&self) -> bool {
        self.is_own() || self.gated().is_some()
    }

    /// The gate, if nobody is there. Handles that share a file open, close and sync it at the gate. A change that one
    /// of them has to make alone happens there too. A handle's threads keep each other out before.
    pub(crate) fn try_gate(&self) -> Option<Gate<'_>> {
        match self.gated() {
            Some(file) if !file.try_gate() => None,
            file => Some(Gate(file)),
        }
    }

    /// The gate, as soon as nobody is there.
    ///
    /// # Errors
    /// What the system reports.
    pub(crate) fn gate(&self) -> Result<Gate<'_>> {
        self.gated().map_or(Ok(()), Mapping::enter_gate)?;
        Ok(Gate(self.gated()))
    }
}

/// Adds to a count that nobody else changes, or loses a sum to, at the same moment.
fn add_saturating(count: &AtomicU64, keys: u64) {
    let add = |now: u64| Some(now.saturating_add(keys));
    // The closure always gives a sum.
    let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}
