//! Has a kind make its payload of all records.

use super::collect::{Record, Sorted};
use super::progress::Steps;
use crate::error::{Result, Status};
use crate::kind::{Build, Built, Records};
use crate::spec::Spec;
use std::sync::Mutex;

/// What `make` makes of the records, with the memory that they leave and so many threads. The spec has their number as
/// its capacity. `steps` hears of all that is left of its work.
///
/// # Errors
/// Those of `make`; [`Status::Cancelled`] if `steps` says so.
pub fn build<R: Record>(
    make: fn(&mut Build<R>) -> Result<Built>,
    spec: &Spec,
    records: &Sorted<R>,
    threads: usize,
    steps: &mut Steps,
) -> Result<Built> {
    let start = steps.done();
    let steps = Mutex::new(steps);
    let built = make(&mut Build {
        spec,
        records: &Heard { records, steps: &steps },
        memory: records.memory_left(),
        threads: threads.max(1),
        progress: &mut |done, total| tell(&steps, |steps| steps.advance_part(start, done, total)).is_ok(),
    })?;
    tell(&steps, |steps| steps.finish())?;
    Ok(built)
}

/// Records of which `steps` hears at every pass, so that a kind need not speak while it goes over them.
struct Heard<'a, 'b, 'c, R> {
    records: &'a Sorted<'a, R>,
    steps: &'a Mutex<&'b mut Steps<'c>>,
}

impl<R: Record> Records<R> for Heard<'_, '_, '_, R> {
    fn count(&self) -> u64 {
        self.records.count()
    }

    fn for_each(&self, take: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        self.records.for_each(&mut |piece| {
            tell(self.steps, |steps| steps.stay(piece.len() as u64))?;
            take(piece)
        })
    }

    fn as_slice(&self) -> Option<&[R]> {
        self.records.as_slice()
    }
}

/// Nobody else speaks meanwhile: kinds do in the thread that they were called in. The lock is for those that may not.
fn tell(steps: &Mutex<&mut Steps>, what: impl FnOnce(&mut Steps) -> Result<()>) -> Result<()> {
    let mut steps = steps.lock().map_err(|_| Status::Internal)?;
    what(&mut steps)
}
