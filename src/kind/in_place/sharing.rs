//! Many processes that insert into one image at once. They count themselves in a word of its header; the last one who
//! leaves seals it.

use super::Marks;
use crate::error::Result;
use crate::kind::Base;
use crate::storage::{Access, Mapping};
use core::sync::atomic::{AtomicU64, Ordering};

/// In the word that sharers keep: how many they are.
const SHARERS: u64 = 0xffff_ffff;
/// The image was clean when the first of them came, and nobody has died since.
const BEGAN_CLEAN: u64 = 1 << 32;
/// One of those who closed it has changed it.
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

/// Adds to a count that nobody else changes, or loses a sum to, at the same moment.
fn add_saturating(count: &AtomicU64, keys: u64) {
    let add = |now: u64| Some(now.saturating_add(keys));
    // The closure always gives a sum.
    let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}
