//! Threads that solve parts of one payload: whichever is free takes the next part, and the caller's thread hears of it.

use crate::error::{Result, Status};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;

/// What making a payload may use, and who hears of it.
pub struct Work<'a> {
    /// Bytes of memory beside the payload; what the work on one part needs is taken in any case. `u64::MAX` is no
    /// limit.
    pub memory: u64,
    /// How many threads may work, at least 1. With 1 the caller's does it all, and none is started.
    pub threads: usize,
    /// Called with the records done and the records in all; false cancels.
    pub progress: &'a mut (dyn FnMut(u64, u64) -> bool + Send),
}

impl Work<'_> {
    /// Tells `progress` how far the work is.
    ///
    /// # Errors
    /// [`Status::Cancelled`] where `progress` says so.
    pub fn report(&mut self, done: u64, all: u64) -> Result<()> {
        if (self.progress)(done, all) { Ok(()) } else { Err(Status::Cancelled.into()) }
    }

    /// How many threads work on so many parts, where each thread needs `each` bytes, and the caller's thread needs
    /// `own` bytes if there are others.
    pub fn threads_for(&self, parts: usize, each: u64, own: u64) -> usize {
        let most = self.memory.saturating_sub(own) / each.max(1);
        self.threads.min(parts).min(usize::try_from(most).unwrap_or(usize::MAX))
    }
}

/// The threads of [`with_workers`], as the caller's thread sees them.
pub struct Workers<J, R> {
    jobs: SyncSender<J>,
    reports: Receiver<Result<R>>,
}

impl<J, R> Workers<J, R> {
    /// Gives a job to the thread that is free next. Waits while as many jobs wait as there are threads.
    ///
    /// # Errors
    /// [`Status::Internal`] where all threads have ended, which the errors among their reports explain.
    pub fn give(&self, job: J) -> Result<()> {
        self.jobs.send(job).map_err(|_| Status::Internal.into())
    }

    /// Waits for the next report.
    ///
    /// # Errors
    /// The errors of the thread that reports; [`Status::Internal`] where all threads have ended.
    pub fn report(&self) -> Result<R> {
        self.reports.recv().map_err(|_| Status::Internal)?
    }

    /// Lets the threads end when all jobs are done, and gives `note` the reports that come until then.
    ///
    /// # Errors
    /// The first one of the threads or of `note`.
    pub fn finish(self, mut note: impl FnMut(R) -> Result<()>) -> Result<()> {
        drop(self.jobs);
        self.reports.iter().try_for_each(|report| note(report?))
    }
}

/// What a thread tells the caller's thread.
pub struct Reports<R>(Sender<Result<R>>);

impl<R> Reports<R> {
    /// Tells the caller's thread.
    ///
    /// # Errors
    /// [`Status::Cancelled`] where nobody listens any more, because `lead` has ended with an error.
    pub fn tell(&self, report: R) -> Result<()> {
        self.0.send(Ok(report)).map_err(|_| Status::Cancelled.into())
    }
}

/// Calls `lead` on this thread, which gives jobs to [`Workers`]. Calls `work` for each job on one of as many other
/// threads as there are states. Each thread has a state of its own. `work` may report as often as it likes. An error of
/// `work` is reported too, and ends its thread. Where the system has fewer threads, those that were started do all the
/// work. Returns when all threads have ended.
///
/// # Errors
/// The errors of `lead`; that of the system where it has no thread at all.
pub fn with_workers<S: Send, J: Send, R: Send>(
    states: Vec<S>,
    work: impl Fn(&mut S, J, &Reports<R>) -> Result<()> + Sync,
    lead: impl FnOnce(Workers<J, R>) -> Result<()>,
) -> Result<()> {
    thread::scope(|scope| {
        let (jobs, queue) = mpsc::sync_channel(states.len());
        let queue = Arc::new(Mutex::new(queue));
        let (say, reports) = mpsc::channel();
        for (started, mut state) in states.into_iter().enumerate() {
            let (queue, reports, work) = (queue.clone(), Reports(say.clone()), &work);
            let turns = move || {
                loop {
                    // The lock is held while the next job is waited for, not while it is worked on.
                    let next = queue.lock().ok().and_then(|queue| queue.recv().ok());
                    let Some(job) = next else { return };
                    if let Err(error) = work(&mut state, job, &reports) {
                        // Where nobody listens, nobody misses the error.
                        let _ = reports.0.send(Err(error));
                        return;
                    }
                }
            };
            match thread::Builder::new().spawn_scoped(scope, turns) {
                Ok(_) => {}
                Err(error) if started == 0 => {
                    let code = error.raw_os_error().unwrap_or(libc::EAGAIN);
                    return Err(crate::Error::from_os(code, format_args!("starting a thread")));
                }
                Err(_) => break,
            }
        }
        drop((queue, say));
        lead(Workers { jobs, reports })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_and_every_report_heard() {
        for threads in [1, 2, 5] {
            let (mut sum, mut done) = (0, 0);
            with_workers(
                vec![0u64; threads],
                |state, job: u64, reports| {
                    *state += 1;
                    reports.tell(0)?;
                    reports.tell(job)
                },
                |workers| {
                    for job in 1..=100 {
                        workers.give(job)?;
                        sum += workers.report()?;
                        done += 1;
                    }
                    workers.finish(|report| {
                        done += 1;
                        sum += report;
                        Ok(())
                    })
                },
            )
            .unwrap();
            assert_eq!((sum, done), (5050, 200), "{threads} threads");
        }
    }

    #[test]
    fn an_error_of_a_thread_is_the_error_of_all() {
        let run = |heard_by_finish: bool| {
            with_workers(
                vec![(); 3],
                |_, job: u64, reports| if job == 7 { Err(Status::TooLarge.into()) } else { reports.tell(job) },
                |workers| {
                    for job in 0..8 {
                        workers.give(job)?;
                    }
                    if !heard_by_finish {
                        (0..8).try_for_each(|_| workers.report().map(drop))?;
                    }
                    workers.finish(|_| Ok(()))
                },
            )
        };
        assert_eq!(run(false).unwrap_err().status(), Status::TooLarge);
        assert_eq!(run(true).unwrap_err().status(), Status::TooLarge);
    }

    #[test]
    fn threads_end_where_nobody_listens() {
        let outcome = with_workers(
            vec![(); 2],
            |_, job: u64, reports| (0..1000).try_for_each(|_| reports.tell(job)),
            |workers| {
                workers.give(1)?;
                Err(Status::Cancelled.into())
            },
        );
        assert_eq!(outcome.unwrap_err().status(), Status::Cancelled);
    }

    #[test]
    fn fewer_threads_where_memory_is_little() {
        let work = |memory| Work { memory, threads: 8, progress: &mut |_, _| true }.threads_for(5, 100, 50);
        assert_eq!([49, 150, 249, 250, 549, 550, u64::MAX].map(work), [0, 1, 1, 2, 4, 5, 5]);
    }
}
