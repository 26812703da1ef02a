//! Collects records, sorts them and combines those with equal keys: in memory, or, with a memory limit, in a temporary
//! file.
//!
//! With a limit, records that do not fit into memory go to the file in sorted runs. At the end the runs are merged
//! once, to a single run, and every pass reads that run.

mod merge;
mod record;
mod runs;
mod sort;
#[cfg(test)]
mod tests;

pub use record::{Record, Several};

use super::progress::Steps;
use crate::batch::ring::Taken;
use crate::contract::{PIECE, Records};
use crate::error::{Result, Status, error};
use crate::order::sort_by_key;
use crate::storage::try_vec;
use runs::{Append, Run, RunFile};
use std::path::PathBuf;

/// The least memory limit: 1 MiB.
pub const MIN_MEMORY_LIMIT: u64 = 1 << 20;

/// A collector keeps at most this many bytes of memory when it gives up all records.
const KEPT: usize = 1 << 16;

/// The most bytes that a pass reads in one go.
const READ: usize = 1 << 18;

/// How a [`Collector`] works.
#[derive(Clone, Debug, Default)]
pub struct CollectorOptions {
    /// The most memory, in bytes, that collecting, sorting and reading take, without the stacks of threads. `None` is
    /// no limit; a limit is at least [`MIN_MEMORY_LIMIT`].
    pub memory_limit: Option<u64>,
    /// The folder of the temporary file, which takes records that do not fit into memory. The file has no name and goes
    /// away with the collector. It takes the bytes of the records (8 a hash, 16 a counted hash, 24 a map's entry), and
    /// twice that while runs are merged. The folder must exist, and it must be possible to make files in it; a limit
    /// needs one.
    pub temporary_directory: Option<PathBuf>,
    /// How many threads sort, the caller's included; 0 and 1 mean only the caller's.
    pub threads: usize,
}

/// Collects records and sorts them.
pub struct Collector<R> {
    options: CollectorOptions,
    /// The most records that are kept in memory.
    limit: usize,
    records: Vec<R>,
    /// The records that went to files. There is one file, and another one in a process that was forked after the first
    /// was made.
    files: Vec<RunFile>,
    added: u64,
}

impl<R: Record> Collector<R> {
    /// An empty collector.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a memory limit below [`MIN_MEMORY_LIMIT`]; [`Status::Contradiction`] for a limit
    /// without a directory; the system's error for a directory in which no file can be made.
    pub fn new(options: CollectorOptions) -> Result<Collector<R>> {
        Collector::with_part(options, 1)
    }

    /// An empty collector that has one of `parts` equal parts of the memory.
    ///
    /// # Errors
    /// As [`Collector::new`]: the limit is that of all parts together.
    pub fn with_part(mut options: CollectorOptions, parts: u64) -> Result<Collector<R>> {
        let whole = options.memory_limit;
        options.memory_limit = whole.map(|limit| limit / parts.max(1));
        let limit = match whole {
            None => usize::MAX,
            Some(limit) if limit < MIN_MEMORY_LIMIT => {
                return Err(error!(OutOfRange, "memory_limit = {limit} is less than {MIN_MEMORY_LIMIT}"));
            }
            Some(_) if options.temporary_directory.is_none() => {
                return Err(error!(Contradiction, "memory_limit needs a temporary_directory"));
            }
            // The rest of the memory is for the old copy of records that get more room, for sorting and for writing.
            Some(limit) => usize::try_from(limit / parts.max(1) / 4 * 3 / size_of::<R>() as u64).unwrap_or(usize::MAX),
        };
        if let Some(folder) = &options.temporary_directory {
            // The file is made only when it is needed, but the caller should learn now whether it can be made.
            RunFile::new(folder)?;
        }
        Ok(Collector { options, limit, records: Vec::new(), files: Vec::new(), added: 0 })
    }

    /// How many records were added.
    pub fn added(&self) -> u64 {
        self.added
    }

    /// An upper bound of the number of distinct records: how many are kept.
    pub fn kept(&self) -> u64 {
        self.records.len() as u64 + self.files.iter().map(RunFile::records).sum::<u64>()
    }

    /// Adds a record. Amortised O(1) without a limit, O(log n) with one.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], and the system's errors about the temporary file. [`Status::Contradiction`] if two
    /// earlier records have the same key and contradict each other, which is found when records go to the file, or at
    /// the end. The record is not added then.
    #[inline]
    pub fn add(&mut self, record: R) -> Result<()> {
        if self.records.len() == self.records.capacity() {
            self.make_room(0)?;
        }
        self.records.push(record);
        self.added += 1;
        Ok(())
    }

    /// Adds records. All are added, unless there is an error of [`Collector::add`].
    pub fn add_all(&mut self, records: &[R]) -> Taken {
        let mut rest = records;
        while !rest.is_empty() {
            if self.records.len() == self.records.capacity()
                && let Err(error) = self.make_room(0)
            {
                return Taken { keys: records.len() - rest.len(), outcome: Err(error) };
            }
            let room = self.records.capacity() - self.records.len();
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.records.extend_from_slice(now);
            self.added += now.len() as u64;
            rest = later;
        }
        Taken::all(records.len())
    }

    /// Makes room for `records` expected records, as far as there is memory for them. The records need not come.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], with nothing changed.
    pub fn expect(&mut self, records: usize) -> Result<()> {
        let wanted = self.records.len().saturating_add(records);
        if self.records.len() < self.limit && wanted > self.records.capacity() {
            return self.make_room(wanted);
        }
        Ok(())
    }

    /// Makes room for at least one more record, and for `wanted` in all if memory holds that many.
    #[cold]
    fn make_room(&mut self, wanted: usize) -> Result<()> {
        let held = self.records.len();
        if held < self.limit {
            // The room doubles, except in the last step: the old room must still fit next to the new one.
            let doubled = held.saturating_mul(2).max(64).max(wanted);
            let room = if doubled > self.limit / 3 { self.limit } else { doubled };
            let failed = |_| error!(OutOfMemory, "{} keys more could not be kept", room - held);
            return self.records.try_reserve_exact(room - held).map_err(failed);
        }
        let steps = &mut Steps::silent();
        self.sort(steps)?;
        // If most records were duplicates, the distinct ones stay in memory.
        if self.records.len() > self.limit / 2 { self.spill(steps) } else { Ok(()) }
    }

    /// Sorts the records in memory and combines those that are equal.
    fn sort(&mut self, steps: &mut Steps) -> Result<()> {
        if sort::sort(&mut self.records, self.options.threads, steps)? {
            record::combine(&mut self.records, steps)?;
        }
        Ok(())
    }

    /// Takes in records that a collector lent out, given as bytes, each as `adopt` makes it: this may change the order
    /// of records with the same prefix, and makes no two the same. The caller counts them ([`Collector::count_added`]).
    ///
    /// # Errors
    /// [`Status::Corrupt`] if the records are not ascending; the errors of `adopt` and [`Collector::add`]. No record is
    /// added then.
    pub fn merge(&mut self, bytes: &[u8], adopt: impl FnMut(R) -> Result<R>) -> Result<()> {
        let mark = self.mark();
        let merged = self.merge_some(bytes, adopt);
        if merged.is_err() {
            self.rewind(mark);
        }
        merged
    }

    fn merge_some(&mut self, bytes: &[u8], mut adopt: impl FnMut(R) -> Result<R>) -> Result<()> {
        let count = bytes.len() / R::BYTES;
        let fit = self.records.len().saturating_add(count) <= self.limit;
        let mut run = match fit {
            true => {
                self.expect(count)?;
                None
            }
            false => Some(append(&mut self.files, &self.options)?),
        };
        let (mut piece, mut last, mut written) = (try_vec(PIECE)?, None, None);
        for bytes in bytes.chunks(PIECE * R::BYTES) {
            piece.clear();
            for record in bytes.chunks_exact(R::BYTES).map(R::get) {
                if last.is_some_and(|last| record.key() <= last) {
                    return Err(error!(Corrupt, "the records of the keys are not in ascending order"));
                }
                last = Some(record.key());
                piece.push(adopt(record)?);
            }
            let Some(run) = &mut run else {
                self.records.extend_from_slice(&piece);
                continue;
            };
            sort_by_key(&mut piece, R::key);
            if piece.first().map(R::key) < written {
                run.cut()?;
            }
            run.write(&piece, &mut Steps::silent())?;
            written = piece.last().map(R::key);
        }
        run.into_iter().for_each(Append::done);
        Ok(())
    }

    /// Counts records that were merged as records that were added as often as this.
    pub fn count_added(&mut self, times: u64) {
        self.added = self.added.saturating_add(times);
    }

    /// What [`Collector::rewind`] goes back to.
    pub fn mark(&self) -> Mark {
        let runs = self.files.last().map_or(0, |file| file.ends.len());
        Mark { records: self.records.len(), files: self.files.len(), runs }
    }

    /// Gives up the records that were merged since the mark. Nothing but merging may have come in between.
    pub fn rewind(&mut self, mark: Mark) {
        self.records.truncate(mark.records);
        self.files.truncate(mark.files);
        self.files.iter_mut().last().into_iter().for_each(|file| file.ends.truncate(mark.runs));
    }

    /// Writes the records in memory, which are sorted and distinct, to the file as a run.
    fn spill(&mut self, steps: &mut Steps) -> Result<()> {
        let mut run = append(&mut self.files, &self.options)?;
        run.write(&self.records, steps)?;
        run.done();
        self.records.clear();
        Ok(())
    }

    /// How much work [`Collector::finish`] has, in the unit of its steps.
    pub fn work(&self) -> u64 {
        let records = self.records.len() as u64;
        match self.runs() {
            0 => records,
            runs => records + merge::work(runs + usize::from(records > 0), self.kept(), self.memory()),
        }
    }

    /// How many runs there are in files.
    fn runs(&self) -> usize {
        self.files.iter().map(|file| file.ends.len()).sum()
    }

    /// The memory limit, or as much of it as fits into the address space.
    fn memory(&self) -> usize {
        self.options.memory_limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// Sorts all records, combines those with equal keys, and lends them out. Afterwards, and after an error, which
    /// loses no record, more records can be added and this can be called again. Records in memory go to the file if
    /// they would leave less than `leave` bytes of the memory limit. O(n) for uniform keys, O(n log n) for any.
    ///
    /// # Errors
    /// [`Status::Cancelled`] if `steps` says so; [`Status::OutOfMemory`]; [`Status::Contradiction`] if two records have
    /// the same key and contradict each other; what the system reports of the temporary file.
    pub fn finish(&mut self, leave: u64, steps: &mut Steps) -> Result<Sorted<'_, R>> {
        let end = steps.done() + self.work();
        self.sort(steps)?;
        let held = (self.records.capacity() * size_of::<R>()) as u64;
        let wanting = self.options.memory_limit.is_some_and(|limit| limit.saturating_sub(held) < leave);
        if !self.records.is_empty() && (!self.files.is_empty() || wanting) {
            self.spill(steps)?;
        }
        if self.files.is_empty() {
            steps.advance_to(end)?;
            let memory_left = self.options.memory_limit.map_or(u64::MAX, |limit| limit.saturating_sub(held));
            return Ok(Sorted { place: Place::Memory(&self.records), memory_left });
        }
        let memory = self.memory();
        // Merging needs the memory.
        self.records = Vec::new();
        let folder = self.options.temporary_directory.as_deref().ok_or(Status::Internal)?;
        merge::merge::<R>(&mut self.files, folder, memory, self.options.threads, steps)?;
        steps.advance_to(end)?;
        let run = self.files.iter().flat_map(RunFile::runs).next().ok_or(Status::Internal)?;
        let room = READ.min(memory / 8);
        let memory_left = (memory - room - PIECE * size_of::<R>()) as u64;
        Ok(Sorted { place: Place::File { run, room }, memory_left })
    }

    /// Gives up all records, and returns their memory and files to the system. A little memory is kept, because the
    /// next records need it right away.
    pub fn clear(&mut self) {
        if self.records.capacity() * size_of::<R>() <= KEPT {
            self.records.clear();
        } else {
            self.records = Vec::new();
        }
        self.files = Vec::new();
        self.added = 0;
    }
}

/// A place in a [`Collector`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    records: usize,
    files: usize,
    /// The runs of the last file.
    runs: usize,
}

/// Begins a run in this process's file.
fn append<'a, R: Record>(files: &'a mut Vec<RunFile>, options: &'a CollectorOptions) -> Result<Append<'a, R>> {
    let folder = options.temporary_directory.as_deref().ok_or(Status::Internal)?;
    if !files.last().is_some_and(RunFile::is_own) {
        files.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
        files.push(RunFile::new(folder)?);
    }
    files.last_mut().ok_or(Status::Internal)?.append(folder)
}

/// The records of a [`Collector`] in ascending order, distinct, and the same at every pass. A pass over a file reads it
/// from the first byte to the last.
pub struct Sorted<'a, R> {
    place: Place<'a, R>,
    memory_left: u64,
}

enum Place<'a, R> {
    Memory(&'a [R]),
    /// A pass reads `room` bytes in one go.
    File {
        run: Run<'a>,
        room: usize,
    },
}

impl<R> Sorted<'_, R> {
    /// The bytes of the memory limit that are left besides the records in memory and the memory of a pass. `u64::MAX`
    /// without a limit.
    pub fn memory_left(&self) -> u64 {
        self.memory_left
    }
}

impl<R: Record> Records<R> for Sorted<'_, R> {
    fn count(&self) -> u64 {
        match &self.place {
            Place::Memory(records) => records.len() as u64,
            Place::File { run, .. } => run.left(),
        }
    }

    fn for_each(&self, take: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        let (mut run, room) = match &self.place {
            Place::Memory(records) => return records.for_each(take),
            Place::File { run, room } => (*run, *room),
        };
        let (mut bytes, mut records) = (try_vec(room)?, try_vec(PIECE)?);
        bytes.resize(room, 0);
        while run.left() > 0 {
            let read = run.read::<R>(&mut bytes)?;
            for piece in read.chunks(PIECE * R::BYTES) {
                records.clear();
                records.extend(piece.chunks_exact(R::BYTES).map(R::get));
                take(&records)?;
            }
        }
        Ok(())
    }

    fn as_slice(&self) -> Option<&[R]> {
        match &self.place {
            Place::Memory(records) => Some(records),
            Place::File { .. } => None,
        }
    }
}
