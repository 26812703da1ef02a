//! Threads that solve parts of one payload. Whichever is free takes the next part, and the caller's thread hears of it.

use crate::error::{Result, Status};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What making a payload may use, and who hears of it.
pub struct Work<'a> {
    /// Bytes of memory that may be used besides the payload; what the work on one part needs is taken in any case.
    /// `u64::MAX` is no limit.
    pub memory: u64,
    /// How many threads may work, at least 1. With 1 the caller's thread does everything, and none is started.
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

    /// How many threads work on `parts` parts, if each thread needs `each` bytes, and the caller's thread needs `own`
    /// bytes as soon as there are others.
    #[inline]
    pub fn threads_for(&self, parts: usize, each: u64, own: u64) -> usize {
        if !HAS_THREADS {
            return 1;
        }
        let most = self.memory.saturating_sub(own) / each.max(1);
        self.threads.min(parts).min(usize::try_from(most).unwrap_or(usize::MAX))
    }
}

/// Whether the system has threads. Where it has none, the compiler leaves out the code for them.
pub const HAS_THREADS: bool = cfg!(not(target_family = "wasm"));

/// Items that wait to be taken by another thread, the oldest first. Parts of a payload take milliseconds, so waking all
/// threads at each change costs nothing. A channel of Rust's library would be ten times this code for each type.
struct Queue<T> {
    state: Mutex<Waiting<T>>,
    changed: Condvar,
}

struct Waiting<T> {
    items: VecDeque<T>,
    /// How many items may wait.
    room: usize,
    senders: usize,
    receivers: usize,
}

impl<T> Queue<T> {
    fn new(room: usize, senders: usize, receivers: usize) -> Queue<T> {
        let waiting = Waiting { items: VecDeque::new(), room, senders, receivers };
        Queue { state: Mutex::new(waiting), changed: Condvar::new() }
    }

    /// The state. No step that holds the lock leaves the state half changed.
    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state as soon as `is_ready` says so.
    fn wait(&self, is_ready: impl Fn(&Waiting<T>) -> bool) -> MutexGuard<'_, Waiting<T>> {
        let waited = self.changed.wait_while(self.lock(), |state| !is_ready(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Waiting<T>)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Adds an item as soon as there is room. Returns false if nobody takes items any more.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    fn send(&self, item: T) -> Result<bool> {
        let mut state = self.wait(|state| state.items.len() < state.room || state.receivers == 0);
        if state.receivers == 0 {
            return Ok(false);
        }
        state.items.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
        state.items.push_back(item);
        drop(state);
        self.changed.notify_all();
        Ok(true)
    }

    /// The next item, as soon as there is one. `None` if there is none and nobody adds items any more.
    fn next(&self) -> Option<T> {
        let item = self.wait(|state| !state.items.is_empty() || state.senders == 0).items.pop_front();
        self.changed.notify_all();
        item
    }
}

/// The jobs and reports on their way.
struct Desk<J, R> {
    jobs: Queue<J>,
    reports: Queue<Result<R>>,
}

/// A thread's place at the desk, from before it is started until it has ended.
struct Place<'a, J, R>(&'a Desk<J, R>);

impl<J, R> Place<'_, J, R> {
    fn take(desk: &Desk<J, R>) -> Place<'_, J, R> {
        desk.jobs.change(|jobs| jobs.receivers += 1);
        desk.reports.change(|reports| reports.senders += 1);
        Place(desk)
    }
}

impl<J, R> Drop for Place<'_, J, R> {
    fn drop(&mut self) {
        self.0.jobs.change(|jobs| jobs.receivers -= 1);
        self.0.reports.change(|reports| reports.senders -= 1);
    }
}

/// The threads of [`with_workers`], as the caller's thread sees them.
pub struct Workers<'a, J, R>(&'a Desk<J, R>);

impl<J, R> Workers<'_, J, R> {
    /// Gives a job to the thread that is free next. Waits while as many jobs wait as there are threads.
    ///
    /// # Errors
    /// [`Status::Internal`] where all threads have ended, which the errors among their reports explain;
    /// [`Status::OutOfMemory`].
    pub fn give(&self, job: J) -> Result<()> {
        if self.0.jobs.send(job)? { Ok(()) } else { Err(Status::Internal.into()) }
    }

    /// Waits for the next report.
    ///
    /// # Errors
    /// The errors of the thread that reports; [`Status::Internal`] where all threads have ended.
    pub fn report(&self) -> Result<R> {
        self.0.reports.next().ok_or(Status::Internal)?
    }

    /// Lets the threads end when all jobs are done, and gives `note` the reports that come until then.
    ///
    /// # Errors
    /// The first one of the threads or of `note`.
    pub fn finish(self, mut note: impl FnMut(R) -> Result<()>) -> Result<()> {
        self.0.jobs.change(|jobs| jobs.senders = 0);
        core::iter::from_fn(|| self.0.reports.next()).try_for_each(|report| note(report?))
    }
}

impl<J, R> Drop for Workers<'_, J, R> {
    fn drop(&mut self) {
        self.0.jobs.change(|jobs| jobs.senders = 0);
        self.0.reports.change(|reports| reports.receivers = 0);
    }
}

/// What a thread tells the caller's thread.
pub struct Reports<'a, R>(&'a Queue<Result<R>>);

impl<R> Reports<'_, R> {
    /// Tells the caller's thread.
    ///
    /// # Errors
    /// [`Status::Cancelled`] where nobody listens any more, because `lead` has ended with an error;
    /// [`Status::OutOfMemory`].
    pub fn tell(&self, report: R) -> Result<()> {
        if self.0.send(Ok(report))? { Ok(()) } else { Err(Status::Cancelled.into()) }
    }
}

/// Calls `lead` on this thread, which gives jobs to [`Workers`]. Each job goes to `work` on one of as many other
/// threads as there are states, and each thread has its own state. `work` may report as often as it likes. An error of
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
    let desk = &Desk { jobs: Queue::new(states.len(), 1, 0), reports: Queue::new(usize::MAX, 0, 1) };
    thread::scope(|scope| {
        // However `lead` ends, and even if it never begins, the threads learn of it.
        let workers = Workers(desk);
        for (started, mut state) in states.into_iter().enumerate() {
            let (place, work) = (Place::take(desk), &work);
            let turns = move || {
                // The whole place moves into the thread, and is left when the thread ends.
                let place = place;
                let Desk { jobs, reports } = place.0;
                while let Some(job) = jobs.next() {
                    if let Err(error) = work(&mut state, job, &Reports(reports)) {
                        // Where nobody listens, or there is no memory for the report, nobody misses the error.
                        let _ = reports.send(Err(error));
                        break;
                    }
                }
            };
            match thread::Builder::new().spawn_scoped(scope, turns) {
                Ok(_) => {}
                Err(error) if started == 0 => {
                    let code = error.raw_os_error().unwrap_or(crate::storage::code::NO_THREADS);
                    return Err(crate::Error::from_os(code, format_args!("starting a thread")));
                }
                Err(_) => break,
            }
        }
        lead(workers)
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
