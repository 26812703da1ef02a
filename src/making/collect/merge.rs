//! Merging sorted runs.
//!
//! A block of each run is in memory. So all records up to the least of the blocks' last records are in memory too.
//! These records are put side by side and sorted by radix, which costs less for uniform hashes than a heap of the runs
//! does. Then the blocks are filled up, and merging goes on.

use super::record::{Record, combine};
use super::runs::{Append, Run, RunFile};
use super::sort::sort;
use crate::error::Result;
use crate::making::progress::Steps;
use crate::storage::try_vec;
use std::path::Path;

/// The fewest bytes that are read from a run in one go.
const LEAST_BLOCK: usize = 1 << 12;

/// The most bytes that are read from a run in one go; more gains nothing.
const MOST_BLOCK: usize = 1 << 18;

/// The most memory that merging uses; more gains nothing either.
const MOST_MEMORY: usize = 1 << 26;

/// How many records are written when `runs` runs with `records` records in all are merged to one run in `memory` bytes.
pub fn work(runs: usize, records: u64, memory: usize) -> u64 {
    let (mut runs, mut passes) = (runs, 0);
    while runs > 1 {
        runs = runs.div_ceil(fan_in(memory));
        passes += 1;
    }
    passes * records
}

/// Merges all runs to one, in a new file that replaces their files. Uses at most `memory` bytes. If these do not hold a
/// block of each run, some runs are merged first. On an error the files stay as they were. Merging needs as much room
/// on the disk as the runs already take.
pub fn merge<R: Record>(
    files: &mut Vec<RunFile>,
    folder: &Path,
    memory: usize,
    threads: usize,
    steps: &mut Steps,
) -> Result<()> {
    loop {
        let mut runs: Vec<Run> = try_vec(files.iter().map(|file| file.ends.len()).sum())?;
        files.iter().for_each(|file| runs.extend(file.runs()));
        if runs.len() < 2 {
            return Ok(());
        }
        let mut merged = RunFile::new(folder)?;
        for runs in runs.chunks(fan_in(memory)) {
            let mut append = merged.append::<R>(folder)?;
            merge_some(runs, memory, threads, &mut append, steps)?;
            append.done();
        }
        files.truncate(1);
        files[0] = merged;
    }
}

/// How much of the memory the blocks get. The records that are being sorted get as much, and everything else gets the
/// rest.
fn memory_of_blocks(memory: usize) -> usize {
    memory.min(MOST_MEMORY) / 8 * 3
}

/// How many runs are merged together.
fn fan_in(memory: usize) -> usize {
    (memory_of_blocks(memory) / LEAST_BLOCK).max(2)
}

/// A run some of whose records are in memory.
struct Head<'a, R> {
    run: Run<'a>,
    block: Vec<R>,
    /// The place in the block of the first record that was not taken.
    next: usize,
}

impl<R: Record> Head<'_, R> {
    /// Fills the block up if at most half of it is left.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        let room = bytes.len() / R::BYTES;
        let left = self.block.len() - self.next;
        if self.run.left() > 0 && left <= room / 2 {
            self.block.copy_within(self.next.., 0);
            self.block.truncate(left);
            self.next = 0;
            let read = self.run.read::<R>(&mut bytes[..(room - left) * R::BYTES])?;
            self.block.extend(read.chunks_exact(R::BYTES).map(R::get));
        }
        Ok(())
    }

    /// The last record in memory, if more records of the run follow on the disk.
    fn last(&self) -> Option<R::Key> {
        if self.run.left() > 0 { self.block.last().map(R::key) } else { None }
    }

    /// Moves the records up to `bound` to the end of `to`.
    fn take(&mut self, bound: Option<R::Key>, to: &mut Vec<R>) {
        let rest = &self.block[self.next..];
        let count = match bound {
            Some(bound) if rest.first().is_some_and(|record| record.key() > bound) => 0,
            Some(bound) => rest.partition_point(|record| record.key() <= bound),
            None => rest.len(),
        };
        to.extend_from_slice(&rest[..count]);
        self.next += count;
    }
}

/// Merges runs to one. There is room for a block of each run.
fn merge_some<R: Record>(
    runs: &[Run],
    memory: usize,
    threads: usize,
    to: &mut Append<R>,
    steps: &mut Steps,
) -> Result<()> {
    let block = (memory_of_blocks(memory) / runs.len()).min(MOST_BLOCK).min(memory / 16);
    let room = block / R::BYTES;
    let mut bytes = try_vec(block)?;
    bytes.resize(room * R::BYTES, 0);
    let mut heads: Vec<Head<R>> = try_vec(runs.len())?;
    for run in runs {
        heads.push(Head { run: *run, block: try_vec(room)?, next: 0 });
    }
    let mut records = try_vec(runs.len() * room)?;
    loop {
        heads.iter_mut().try_for_each(|head| head.fill(&mut bytes))?;
        let bound = heads.iter().filter_map(Head::last).min();
        heads.iter_mut().for_each(|head| head.take(bound, &mut records));
        if records.is_empty() {
            return Ok(());
        }
        if sort(&mut records, threads, steps)? {
            combine(&mut records, steps)?;
        }
        to.write(&records, steps)?;
        records.clear();
    }
}
