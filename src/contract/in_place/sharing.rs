//! Insertion by many processes into one image at the same time. Their handles count themselves in a word of the image's
//! header, and the last handle that leaves seals the image.

use super::Marks;
use crate::contract::Base;
use crate::error::Result;
use crate::storage::{Access, ImageBytes, Mapping};
use core::sync::atomic::{AtomicU64, Ordering};

/// The bits of the header's word `sharing` that count the sharers.
const SHARERS: u64 = 0xffff_ffff;
/// The bit for "the image was clean when the first sharer came, and no sharer has died since".
const BEGAN_CLEAN: u64 = 1 << 32;
/// The bit for "a sharer changed the image and has closed it".
const CHANGED: u64 = 1 << 33;

impl Base {
    /// Joins the handles that share the image. In a file they count themselves, each at the gate that [`Mapping`]
    /// holds. A buffer has no locks, so nobody knows which handle is the last, and the image stays unclean.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the system's errors.
    pub(crate) fn begin_sharing(&mut self) -> Result<()> {
        let place = self.place_for(Access::Share)?;
        let marks = Marks::new(place.table.entries().len())?;
        let mut unclean = self.header.unclean;
        match place.image.file() {
            None => {
                place.check_table(unclean)?;
                place.make_unclean()?;
            }
            Some(file) => {
                let before = place.sharing().load(Ordering::Relaxed);
                // If no other handle is alive, the image is clean, or a process that died left it unclean.
                let now = match (file.was_alone(), unclean) {
                    (true, true) => 1,
                    (true, false) => 1 | BEGAN_CLEAN,
                    (false, _) => before.wrapping_add(1),
                };
                if file.was_alone() {
                    place.check_table(unclean)?;
                    place.make_unclean()?;
                }
                place.sharing().store(now, Ordering::Release);
                unclean = now & BEGAN_CLEAN == 0;
                file.leave_gate();
            }
        }
        self.header.unclean = unclean;
        self.marks = marks;
        self.writing = true;
        Ok(())
    }

    /// Leaves the handles that share the image. The last one seals the image if all of them have left in order.
    pub(super) fn end_sharing(&mut self) -> Result<()> {
        let insertions = core::mem::take(self.insertions.get_mut());
        let changed = insertions > 0 || self.marks.any();
        let place = self.place_for(Access::Share)?;
        let Some(file) = place.image.file() else {
            add_saturating(place.count(), insertions);
            return Ok(());
        };
        file.enter_gate()?;
        add_saturating(place.count(), insertions);
        let before = place.sharing().load(Ordering::Relaxed);
        let now = before.wrapping_sub((before & SHARERS).min(1)) | if changed { CHANGED } else { 0 };
        place.sharing().store(now, Ordering::Release);
        if !file.is_last() {
            return Ok(());
        }
        if self.header.unclean || now & (SHARERS | BEGAN_CLEAN) != BEGAN_CLEAN || before & SHARERS == 0 {
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

    /// Adds this handle's keys to the image's count, and waits until everything that the sharers have inserted so far
    /// is on the disk. The image stays unclean.
    ///
    /// # Errors
    /// The system's errors.
    pub(super) fn sync_shared(&mut self) -> Result<()> {
        let place = self.place_for(Access::Share)?;
        let file = place.image.file();
        file.map_or(Ok(()), Mapping::enter_gate)?;
        add_saturating(place.count(), self.insertions.swap(0, Ordering::Relaxed));
        file.inspect(|file| file.leave_gate());
        place.image.flush(0, place.image.length())?;
        self.header.count = place.count().load(Ordering::Relaxed);
        Ok(())
    }
}

/// The gate of a file, which only one handle can hold at a time. Memory without locks has no gate.
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

    /// Whether a change is released if its process dies in the middle. In a file it is, because the system takes the
    /// locks back. The filter's own memory dies together with everyone who uses it. In a buffer, which has no locks, it
    /// is not.
    pub(crate) fn outlives_sharers(&self) -> bool {
        self.is_own() || self.gated().is_some()
    }

    /// The gate, if no other handle holds it. Handles that share a file open, close and sync it at the gate, and there
    /// they make the changes that only one of them may make at a time. A handle's own threads keep each other out
    /// before that.
    pub(crate) fn try_gate(&self) -> Option<Gate<'_>> {
        match self.gated() {
            Some(file) if !file.try_gate() => None,
            file => Some(Gate(file)),
        }
    }

    /// Waits for the gate.
    ///
    /// # Errors
    /// The system's errors.
    pub(crate) fn gate(&self) -> Result<Gate<'_>> {
        self.gated().map_or(Ok(()), Mapping::enter_gate)?;
        Ok(Gate(self.gated()))
    }
}

/// Adds to a count, which stays at its greatest value. No sum is lost if others add at the same moment.
fn add_saturating(count: &AtomicU64, keys: u64) {
    let add = |now: u64| Some(now.saturating_add(keys));
    // The closure always gives a sum.
    let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}
