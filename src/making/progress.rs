//! Progress that is reported, and answered by a wish to go on or to stop.

use crate::contract::{PROGRESS_INTERVAL, Progress};
use crate::error::{Result, Status};

/// Units of work between two reports that say different things.
const INTERVAL: u64 = 1 << 12;

/// Keys that are looked at between two reports that say the same, where no unit of work is done: seldom enough not to
/// be felt where the callback is another language's, and often enough to leave room for what follows.
const SILENCE: u64 = PROGRESS_INTERVAL >> 5;

/// The work of one call, over all its phases.
pub struct Steps<'a> {
    progress: Option<&'a mut Progress>,
    done: u64,
    /// What was said last, if anything was.
    reported: Option<u64>,
    total: u64,
    /// Keys that were looked at since, without anything being done.
    silent: u64,
}

impl<'a> Steps<'a> {
    /// So much work is to be done, of which `progress` is told.
    pub fn new(progress: Option<&'a mut Progress>, total: u64) -> Steps<'a> {
        Steps { progress, done: 0, reported: None, total, silent: 0 }
    }

    /// Work of which nobody is told.
    pub fn silent() -> Steps<'static> {
        Steps::new(None, 0)
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
        self.done = done.min(self.total).max(self.done);
        let before = self.reported.unwrap_or(0);
        let is_last = self.done == self.total && self.done != before;
        if is_last || self.done - before >= INTERVAL { self.report() } else { Ok(()) }
    }

    /// So many keys were looked at, and nothing is done yet that counts.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn stay(&mut self, keys: u64) -> Result<()> {
        self.silent = self.silent.saturating_add(keys);
        if self.silent >= SILENCE { self.report() } else { Ok(()) }
    }

    /// What was left when so much was done (`start`) is a task that counts to a total of its own, and of that so much
    /// is done. It is told in any case: whoever calls this knows how long nothing was said.
    ///
    /// # Errors
    /// As [`Steps::advance`].
    pub fn advance_part(&mut self, start: u64, done: u64, total: u64) -> Result<()> {
        let left = u128::from(self.total.saturating_sub(start));
        let part = left * u128::from(done.min(total)) / u128::from(total.max(1));
        self.done = self.done.max(start + part as u64);
        self.report()
    }

    /// All was done: says so, unless it was said.
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
