//! Progress that is reported, and answered by a wish to go on or to stop.

use crate::error::{Result, Status};
use crate::kind::Progress;

/// Units of work between two reports.
const INTERVAL: u64 = 1 << 12;

/// The work of one call, over all its phases.
pub struct Steps<'a> {
    progress: Option<&'a mut Progress>,
    done: u64,
    reported: u64,
    total: u64,
}

impl<'a> Steps<'a> {
    /// So much work is to be done, of which `progress` is told.
    pub fn new(progress: Option<&'a mut Progress>, total: u64) -> Steps<'a> {
        Steps { progress, done: 0, reported: 0, total }
    }

    /// Work of which nobody is told.
    pub fn silent() -> Steps<'static> {
        Steps { progress: None, done: 0, reported: 0, total: 0 }
    }

    /// So much more was done.
    ///
    /// # Errors
    /// [`Status::Cancelled`] if the callback says so.
    #[inline]
    pub fn advance(&mut self, work: u64) -> Result<()> {
        self.advance_to(self.done.saturating_add(work))
    }

    /// How much was done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// So much was done in all.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn advance_to(&mut self, done: u64) -> Result<()> {
        let Some(progress) = &mut self.progress else { return Ok(()) };
        self.done = done.min(self.total).max(self.done);
        if self.done - self.reported < INTERVAL && (self.done < self.total || self.done == self.reported) {
            return Ok(());
        }
        self.reported = self.done;
        if progress(self.done, self.total) { Ok(()) } else { Err(Status::Cancelled.into()) }
    }

    /// The rest of the work as a task of its own, which counts to whatever total it likes.
    pub fn rest(&mut self) -> impl FnMut(u64, u64) -> bool + Send {
        let (start, work) = (self.done, self.total - self.done);
        move |done, total| {
            let part = u128::from(work) * u128::from(done.min(total)) / u128::from(total.max(1));
            self.advance_to(start + part as u64).is_ok()
        }
    }
}
