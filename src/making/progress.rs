//! Reports progress to a callback, which answers whether to go on or to stop.

use crate::contract::{PROGRESS_INTERVAL, Progress};
use crate::error::{Result, Status};

/// How many units of work are done between two reports with different numbers.
const INTERVAL: u64 = 1 << 12;

/// How many keys are looked at between two reports with the same number, while no unit of work is done. Reports are
/// rare enough to cost little even if the callback is in another language, and frequent enough to leave room for what
/// follows.
const SILENCE: u64 = PROGRESS_INTERVAL >> 5;

/// The work of one call, over all its phases.
pub struct Steps<'a> {
    progress: Option<&'a mut Progress>,
    done: u64,
    /// The work that was last reported, if any was.
    reported: Option<u64>,
    total: u64,
    /// How many keys were looked at since then, with no work done.
    silent: u64,
}

impl<'a> Steps<'a> {
    /// Steps over `total` units of work, which are reported to `progress`.
    pub fn new(progress: Option<&'a mut Progress>, total: u64) -> Steps<'a> {
        Steps { progress, done: 0, reported: None, total, silent: 0 }
    }

    /// Steps that are reported to nobody.
    pub fn silent() -> Steps<'static> {
        Steps::new(None, 0)
    }

    /// Notes that `work` more work was done.
    ///
    /// # Errors
    /// [`Status::Cancelled`] if the callback says so.
    #[inline]
    pub fn advance(&mut self, work: u64) -> Result<()> {
        self.advance_to(self.done.saturating_add(work))
    }

    /// How much work was done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Notes how much work was done in all.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn advance_to(&mut self, done: u64) -> Result<()> {
        self.done = done.min(self.total).max(self.done);
        let before = self.reported.unwrap_or(0);
        let is_last = self.done == self.total && self.done != before;
        if is_last || self.done - before >= INTERVAL { self.report() } else { Ok(()) }
    }

    /// Notes that `keys` keys were looked at, with no work done that counts.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn stay(&mut self, keys: u64) -> Result<()> {
        self.silent = self.silent.saturating_add(keys);
        if self.silent >= SILENCE { self.report() } else { Ok(()) }
    }

    /// Notes a part of the work. The work that was left at `start` is a task that counts up to its own total, and
    /// `done` of that total is done. The callback always learns of this call, because only the caller knows how long
    /// there was no report.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn advance_part(&mut self, start: u64, done: u64, total: u64) -> Result<()> {
        let left = u128::from(self.total.saturating_sub(start));
        let part = left * u128::from(done.min(total)) / u128::from(total.max(1));
        self.done = self.done.max(start + part as u64);
        self.report()
    }

    /// Notes that all work was done, and reports that unless it was reported already.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn finish(&mut self) -> Result<()> {
        self.done = self.total;
        if self.reported == Some(self.total) { Ok(()) } else { self.report() }
    }

    fn report(&mut self) -> Result<()> {
        (self.reported, self.silent) = (Some(self.done), 0);
        let Some(progress) = &mut self.progress else { return Ok(()) };
        if progress(self.done, self.total) { Ok(()) } else { Err(Status::Cancelled.into()) }
    }
}
