//! Sorted runs of records in temporary files without names.

use super::record::Record;
use crate::error::{Error, Result, error};
use crate::making::progress::Steps;
use crate::storage::{Folder, PathBytes, Process, RawFile, Shown, try_vec};
use core::marker::PhantomData;
use std::path::Path;

/// How many bytes are written in one go.
const WRITE: usize = 1 << 16;

/// A temporary file of records.
pub struct RunFile {
    file: RawFile,
    /// The process that writes the file. After a fork a child reads what its parent wrote before, which stays as it is,
    /// and writes to a new file.
    process: Process,
    /// The end of each run, counted in records. Runs stand one after the other.
    pub ends: Vec<u64>,
}

impl RunFile {
    /// A file without a name in `folder`.
    pub fn new(folder: &Path) -> Result<RunFile> {
        let failed = |code| Error::of_folder(code, format_args!("making a temporary file in {}", Shown(folder)));
        let path = PathBytes::new(folder)?;
        let file = Folder::open(&path).and_then(|folder| folder.new_file()).map_err(failed)?;
        Ok(RunFile { file, process: Process::current(), ends: Vec::new() })
    }

    /// Whether this process may write to the file.
    pub fn is_own(&self) -> bool {
        self.process.is_current()
    }

    /// How many records the file's runs have.
    pub fn records(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The runs of the file, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(position, end)| Run { file: &self.file, position, end: *end })
    }

    /// Begins a run after the others, which becomes one of them when it is done. A run that is never done is
    /// overwritten by the next one. `folder` is where the file is.
    pub fn append<'a, R: Record>(&'a mut self, folder: &'a Path) -> Result<Append<'a, R>> {
        self.reserve_end()?;
        let position = self.records();
        Ok(Append { to: self, folder, position, bytes: try_vec(WRITE)?, records: PhantomData })
    }

    /// Makes room for the end of one more run.
    fn reserve_end(&mut self) -> Result<()> {
        self.ends.try_reserve(1).map_err(|_| error!(OutOfMemory, "the table of runs could not grow"))
    }
}

/// A run that is being written.
pub struct Append<'a, R> {
    to: &'a mut RunFile,
    folder: &'a Path,
    /// How many records come before those in `bytes`.
    position: u64,
    bytes: Vec<u8>,
    records: PhantomData<R>,
}

impl<R: Record> Append<'_, R> {
    /// Writes records, all greater than those before. `steps` learns of the work.
    pub fn write(&mut self, records: &[R], steps: &mut Steps) -> Result<()> {
        let room = WRITE / R::BYTES;
        for records in records.chunks(room) {
            self.bytes.resize(records.len() * R::BYTES, 0);
            for (record, bytes) in records.iter().zip(self.bytes.chunks_exact_mut(R::BYTES)) {
                record.put(bytes);
            }
            self.to.file.write_all_at(&self.bytes, self.position * R::BYTES as u64).map_err(|code| {
                Error::from_os(code, format_args!("writing keys to a temporary file in {}", Shown(self.folder)))
            })?;
            self.position += records.len() as u64;
            steps.stay(records.len() as u64)?;
        }
        Ok(())
    }

    /// Ends the run and begins another after it.
    pub fn cut(&mut self) -> Result<()> {
        self.to.ends.push(self.position);
        self.to.reserve_end()
    }

    /// Ends the run.
    pub fn done(self) {
        self.to.ends.push(self.position);
    }
}

/// A run, or the rest of it.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    file: &'a RawFile,
    /// The number of the next record.
    position: u64,
    end: u64,
}

impl Run<'_> {
    /// How many records are left.
    pub fn left(&self) -> u64 {
        self.end - self.position
    }

    /// Reads the next records, as many as `bytes` has room for, and returns their bytes.
    pub fn read<'b, R: Record>(&mut self, bytes: &'b mut [u8]) -> Result<&'b [u8]> {
        let count = (bytes.len() / R::BYTES).min(usize::try_from(self.left()).unwrap_or(usize::MAX));
        let bytes = &mut bytes[..count * R::BYTES];
        let failed = |code| Error::from_os(code, format_args!("reading keys from the temporary file"));
        if self.file.read_at(bytes, self.position * R::BYTES as u64).map_err(failed)? < bytes.len() {
            return Err(error!(Io, "the temporary file of keys is shorter than it was written"));
        }
        self.position += count as u64;
        Ok(bytes)
    }
}
