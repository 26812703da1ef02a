//! Collects keys first and makes the filter afterwards, sized for exactly the distinct keys that came.
//!
//! Only hashes are kept: eight bytes a key. With a memory limit they go to a temporary file in sorted runs, which are
//! merged at the end.

use crate::batch;
use crate::bits::ring::{GROUP, Taken};
use crate::error::{Error, Result, Status, error};
use crate::filter::Filter;
use crate::hash::Hasher;
use crate::keys::Keys;
use crate::open;
use crate::registry;
use crate::simd;
use crate::spec::Spec;
use crate::storage::{Folder, PathBytes, Process, RawFile, Shown, try_vec};
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

/// Called now and then while a filter is made, with the keys done and the keys in all; false cancels.
pub type Progress = dyn FnMut(u64, u64) -> bool + Send;

/// How a [`Builder`] works.
#[derive(Default)]
pub struct BuilderOptions {
    /// The most memory, in bytes, that collected keys take before they go to a file; `None` is no limit. At least
    /// [`MIN_MEMORY_LIMIT`]. The finished filter is not counted.
    pub memory_limit: Option<u64>,
    /// Where that file is made. It has no name, and goes when the builder does. A folder that is given must be there
    /// and take files.
    pub temporary_directory: Option<PathBuf>,
    /// Reports progress and can cancel.
    pub progress: Option<Box<Progress>>,
}

/// The least memory limit: 1 MiB.
pub const MIN_MEMORY_LIMIT: u64 = 1 << 20;

/// Hashes of a run that are read at once while runs are merged.
const READ_AHEAD: usize = 512;

/// Hashes that go to the filter between two reports of progress.
const STEP: usize = 1 << 12;

/// Collects keys; [`Builder::finish`] makes the filter.
pub struct Builder {
    spec: Spec,
    hasher: Hasher,
    options: BuilderOptions,
    /// The most hashes that are kept in memory.
    limit: usize,
    hashes: Vec<u64>,
    /// The hashes that went to files. There is one file, and one more in a process that was forked after it was made.
    spilled: Vec<Spilled>,
    added: u64,
}

/// A temporary file of hashes.
struct Spilled {
    file: RawFile,
    /// The process that writes it. A child reads what its parent wrote before the fork, which stays as it is, and goes
    /// on in a file of its own.
    process: Process,
    /// Sorted runs, one after the other, as their ends.
    runs: Vec<u64>,
}

impl Builder {
    /// A builder of the filter that `spec` describes. A spec without capacity and bits gets the capacity of the
    /// distinct keys that come.
    ///
    /// # Errors
    /// Those of the spec; [`Status::OutOfRange`] for a memory limit below [`MIN_MEMORY_LIMIT`];
    /// [`Status::Contradiction`] for a limit without a directory; what the system reports of a directory in which no
    /// file can be made.
    pub fn new(spec: &Spec, options: BuilderOptions) -> Result<Builder> {
        // Finds what is wrong with the spec now and not when all keys have come.
        let row = registry::of_spec(spec)?;
        let capacity = if spec.bits == 0 { spec.capacity.max(1) } else { spec.capacity };
        (row.plan)(&Spec { capacity, ..*spec })?;
        let limit = match options.memory_limit {
            None => usize::MAX,
            Some(limit) if limit < MIN_MEMORY_LIMIT => {
                return Err(error!(OutOfRange, "memory_limit = {limit} is less than {MIN_MEMORY_LIMIT}"));
            }
            Some(_) if options.temporary_directory.is_none() => {
                return Err(error!(Contradiction, "memory_limit needs a temporary_directory"));
            }
            Some(limit) => usize::try_from(limit / 8).unwrap_or(usize::MAX),
        };
        let hasher = spec.hasher()?;
        if let Some(folder) = &options.temporary_directory {
            // It is made when it is needed; whether it can be is known now.
            spill_file(folder)?;
        }
        Ok(Builder { spec: *spec, hasher, options, limit, hashes: Vec::new(), spilled: Vec::new(), added: 0 })
    }

    /// How many keys were added.
    pub fn count(&self) -> u64 {
        self.added
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] where the spec takes hashes only; as [`Builder::add_hash`].
    pub fn add(&mut self, key: &[u8]) -> Result<()> {
        let hash = self.hasher.hash_bytes(key)?;
        self.add_hash(hash)
    }

    /// Adds a `u64` key.
    ///
    /// # Errors
    /// As [`Builder::add`].
    pub fn add_u64(&mut self, key: u64) -> Result<()> {
        let hash = self.hasher.hash_u64(key)?;
        self.add_hash(hash)
    }

    /// Adds a hash.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], and what the system reports of the temporary file. The key is not added then.
    pub fn add_hash(&mut self, hash: u64) -> Result<()> {
        if self.hashes.len() == self.hashes.capacity() {
            self.make_room()?;
        }
        self.hashes.push(hash);
        self.added += 1;
        Ok(())
    }

    /// Adds many keys. All are taken, unless there is an error.
    pub fn add_batch(&mut self, keys: &Keys) -> Taken {
        let hasher = self.hasher.clone();
        batch::insert(&hasher, simd::best(), keys, None, |batch| {
            let (mut done, mut hashes) = (0, [0; GROUP]);
            loop {
                let count = batch.next(&mut hashes);
                if count == 0 {
                    return Taken::all(done);
                }
                for hash in &hashes[..count] {
                    if let Err(error) = self.add_hash(*hash) {
                        return Taken { keys: done, outcome: Err(error) };
                    }
                    done += 1;
                }
            }
        })
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.hashes.len() >= self.limit {
            return self.spill();
        }
        // Doubles, up to the limit.
        let more = self.hashes.len().max(64).min(self.limit - self.hashes.len());
        let failed = |_| error!(OutOfMemory, "{} keys more could not be kept", more);
        self.hashes.try_reserve_exact(more).map_err(failed)
    }

    /// Writes the hashes in memory to the file as a sorted run.
    fn spill(&mut self) -> Result<()> {
        let folder = self.options.temporary_directory.as_deref().ok_or(Status::Internal)?;
        let failed = |code| Error::from_os(code, format_args!("writing keys to a temporary file in {}", Shown(folder)));
        let no_memory = |_| Error::from(Status::OutOfMemory);
        if !self.spilled.last().is_some_and(|spilled| spilled.process.is_current()) {
            self.spilled.try_reserve(1).map_err(no_memory)?;
            let (file, process) = (spill_file(folder)?, Process::current());
            self.spilled.push(Spilled { file, process, runs: Vec::new() });
        }
        let Spilled { file, runs, .. } = self.spilled.last_mut().ok_or(Status::Internal)?;
        runs.try_reserve(1).map_err(no_memory)?;
        self.hashes.sort_unstable();
        self.hashes.dedup();
        let start = runs.last().copied().unwrap_or(0);
        let mut bytes = [0; 8 * READ_AHEAD];
        for (i, hashes) in self.hashes.chunks(READ_AHEAD).enumerate() {
            for (to, hash) in bytes.chunks_exact_mut(8).zip(hashes) {
                to.copy_from_slice(&hash.to_le_bytes());
            }
            // A run that failed half-way is written over by the next try.
            file.write_all_at(&bytes[..8 * hashes.len()], 8 * (start + (i * READ_AHEAD) as u64)).map_err(failed)?;
        }
        runs.push(start + self.hashes.len() as u64);
        self.hashes.clear();
        Ok(())
    }

    /// Makes the filter and empties the builder, which can then be used again. On an error, or when the progress
    /// callback cancels, the keys stay.
    ///
    /// # Errors
    /// As [`open::create`]; [`Status::Cancelled`]; [`Status::Unsupported`] if the kind cannot insert; what the system
    /// reports of the temporary file.
    pub fn finish(&mut self) -> Result<Box<dyn Filter>> {
        let filter = self.make()?;
        self.empty();
        Ok(filter)
    }

    /// Makes the filter straight into a file, which takes the place of what is there at once: the way to make a filter
    /// anew from its source, in the right size, while others read the old file. They keep it as long as they have it open.
    ///
    /// # Errors
    /// As [`Builder::finish`] and [`Filter::save`]; the old file and the keys stay.
    pub fn save(&mut self, path: &Path) -> Result<()> {
        self.make()?.save(path)?;
        self.empty();
        Ok(())
    }

    fn empty(&mut self) {
        self.hashes.clear();
        self.spilled.clear();
        self.added = 0;
    }

    fn make(&mut self) -> Result<Box<dyn Filter>> {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        let mut distinct = 0;
        self.for_each_distinct(|hashes| {
            distinct += hashes.len() as u64;
            Ok(())
        })?;
        let mut spec = self.spec;
        if spec.capacity == 0 && spec.bits == 0 {
            spec.capacity = distinct.max(1);
        }
        let mut filter = open::create(&spec)?;
        let mut progress = self.options.progress.take();
        let mut done = 0;
        let outcome = self.for_each_distinct(|hashes| {
            filter.insert_batch(&Keys::Hashes(hashes), None).outcome?;
            done += hashes.len() as u64;
            match progress.as_mut().is_none_or(|progress| progress(done, distinct)) {
                true => Ok(()),
                false => Err(Status::Cancelled.into()),
            }
        });
        self.options.progress = progress;
        outcome?;
        // `count` is the keys offered, duplicates included.
        filter.base_mut().add_count(self.added - distinct);
        Ok(filter)
    }

    /// Gives all distinct hashes in order, up to [`STEP`] at once. Those in memory are sorted and distinct already.
    fn for_each_distinct(&self, mut take: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        if self.spilled.is_empty() {
            return self.hashes.chunks(STEP).try_for_each(take);
        }
        let count = self.spilled.iter().map(|spilled| spilled.runs.len()).sum();
        let mut runs: Vec<Run> = try_vec(count)?;
        let mut next: Vec<Reverse<(u64, usize)>> = try_vec(count + 1)?;
        for Spilled { file, runs: ends, .. } in &self.spilled {
            let mut position = 0;
            for end in ends {
                let mut run = Run { file, position, end: *end, ahead: try_vec(READ_AHEAD)? };
                next.extend(run.next()?.map(|hash| Reverse((hash, runs.len()))));
                runs.push(run);
                position = *end;
            }
        }
        let mut in_memory = self.hashes.iter().copied();
        next.extend(in_memory.next().map(|hash| Reverse((hash, runs.len()))));
        let mut next = BinaryHeap::from(next);
        let mut distinct: Vec<u64> = try_vec(STEP)?;
        let mut last = None;
        while let Some(Reverse((hash, i))) = next.pop() {
            if last != Some(hash) {
                if distinct.len() == STEP {
                    take(&distinct)?;
                    distinct.clear();
                }
                distinct.push(hash);
                last = Some(hash);
            }
            let following = match runs.get_mut(i) {
                Some(run) => run.next()?,
                None => in_memory.next(),
            };
            next.extend(following.map(|hash| Reverse((hash, i))));
        }
        if distinct.is_empty() { Ok(()) } else { take(&distinct) }
    }
}

/// A file without a name in `folder`.
fn spill_file(folder: &Path) -> Result<RawFile> {
    let failed = |code| Error::from_os(code, format_args!("making a temporary file in {}", Shown(folder)));
    let path = PathBytes::new(folder)?;
    Folder::open(&path).and_then(|folder| folder.new_file()).map_err(failed)
}

/// A sorted run in the file, from the hash at `position` on.
struct Run<'a> {
    file: &'a RawFile,
    position: u64,
    end: u64,
    /// Hashes read already, the next one last.
    ahead: Vec<u64>,
}

impl Run<'_> {
    fn next(&mut self) -> Result<Option<u64>> {
        if self.ahead.is_empty() && self.position < self.end {
            let failed = |code| Error::from_os(code, format_args!("reading keys from the temporary file"));
            let mut bytes = [0; 8 * READ_AHEAD];
            let count = (self.end - self.position).min(READ_AHEAD as u64) as usize;
            if self.file.read_at(&mut bytes[..8 * count], 8 * self.position).map_err(failed)? < 8 * count {
                return Err(error!(Io, "the temporary file of keys is shorter than it was written"));
            }
            let hashes = bytes[..8 * count].chunks_exact(8).rev();
            self.ahead.extend(hashes.map(|hash| u64::from_le_bytes(hash.try_into().unwrap_or_default())));
            self.position += count as u64;
        }
        Ok(self.ahead.pop())
    }
}
