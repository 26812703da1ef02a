//! Makes a kind's payload from all records.

use super::collect::{Record, Sorted};
use super::progress::Steps;
use crate::contract::{Build, Built, Records, Row, Weighted};
use crate::error::{Result, Status};
use crate::spec::Spec;
use std::sync::Mutex;

/// Makes the payload from the records with `make`, with the memory that the records leave and `threads` threads. The
/// frequent non-members are given if the kind takes any. The capacity of the spec is the number of records. `steps`
/// learns of all the remaining work.
///
/// # Errors
/// The errors of [`Row::geometry_of`] and of `make`; [`Status::Cancelled`] if `steps` says so.
pub fn build<R: Record>(
    make: impl FnOnce(&mut Build<R>) -> Result<Built>,
    row: &Row,
    spec: &Spec,
    records: &Sorted<R>,
    frequent: Option<&Sorted<Weighted>>,
    threads: usize,
    steps: &mut Steps,
) -> Result<Built> {
    let start = steps.done();
    let steps = Mutex::new(steps);
    let frequent = frequent.map(|records| Reporting { records, steps: &steps });
    let built = make(&mut Build {
        spec,
        size: row.size_of(spec)?,
        records: &Reporting { records, steps: &steps },
        frequent: frequent.as_ref().map(|records| records as &dyn Records<Weighted>),
        memory: records.memory_left(),
        threads: threads.max(1),
        progress: &mut |done, total| with_steps(&steps, |steps| steps.advance_part(start, done, total)).is_ok(),
    })?;
    with_steps(&steps, |steps| steps.finish())?;
    Ok(built)
}

/// Records that report each pass to `steps`, so that a kind need not report while it reads them.
struct Reporting<'a, 'b, 'c, R> {
    records: &'a Sorted<'a, R>,
    steps: &'a Mutex<&'b mut Steps<'c>>,
}

impl<R: Record> Records<R> for Reporting<'_, '_, '_, R> {
    fn count(&self) -> u64 {
        self.records.count()
    }

    fn for_each(&self, take: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        self.records.for_each(&mut |piece| {
            with_steps(self.steps, |steps| steps.stay(piece.len() as u64))?;
            take(piece)
        })
    }

    fn as_slice(&self) -> Option<&[R]> {
        self.records.as_slice()
    }
}

/// Calls `what` with the steps. The lock is for kinds that report in another thread. Kinds that report in the thread
/// that called them always find it free.
fn with_steps(steps: &Mutex<&mut Steps>, what: impl FnOnce(&mut Steps) -> Result<()>) -> Result<()> {
    let mut steps = steps.lock().map_err(|_| Status::Internal)?;
    what(&mut steps)
}
