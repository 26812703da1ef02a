//! The source of keys: a file, or standard input.

use crate::failure::{Failure, Outcome, warn};
use crate::file_name::name;
use crate::origin::Origin;
use crate::spool;
use crate::stdio::stdin;
use std::cell::{Cell, OnceCell};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file with keys, or standard input.
pub(crate) struct Source {
    /// The file; `None` for standard input.
    pub(crate) path: Option<PathBuf>,
    /// The number of bytes, and the position of their end; `None` for a source that can be read only once.
    pub(crate) length: Option<u64>,
    pub(crate) end: u64,
    /// The device of the file, and its number there.
    pub(crate) identity: Option<(u64, u64)>,
    /// All bytes of a source that can be read only once but is read twice.
    pub(crate) spool: OnceCell<spool::Spool>,
    /// The number of records when they were counted.
    pub(crate) counted: Cell<Option<u64>>,
}

impl Source {
    pub(crate) fn name(&self) -> impl std::fmt::Display + '_ {
        name(self.path.as_deref().unwrap_or(Path::new("-")))
    }

    /// What messages say of the source.
    pub(crate) fn origin(&self) -> Origin {
        Origin::of(self.path.as_deref().unwrap_or(Path::new("-")), "keys")
    }

    pub(crate) fn failed(&self, error: &io::Error) -> Failure {
        Failure::io(self.name(), error)
    }

    pub(crate) fn open(&self) -> Outcome<File> {
        match &self.path {
            Some(path) => File::open(path),
            None => stdin(),
        }
        .map_err(|error| self.failed(&error))
    }

    /// A reader of the bytes. For a file, the result also has a second handle of the file.
    pub(crate) fn reader(&self) -> Outcome<(Box<dyn Read + '_>, Option<File>)> {
        if let Some(spool) = self.spool.get() {
            return Ok((Box::new(spool.reader().map_err(|error| self.failed(&error))?), None));
        }
        let file = self.open()?;
        let other = file.try_clone().map_err(|error| self.failed(&error))?;
        Ok((Box::new(file), Some(other)))
    }

    /// Refuses a source that gave fewer records than were counted, or fewer bytes than the file had. The source's other
    /// keys would be missing without notice.
    pub(crate) fn check_whole(&self, file: Option<&File>, records: u64, bytes: u64) -> Outcome<()> {
        if let Some(counted) = self.counted.get() {
            if records < counted {
                return Err(Failure::new(format_args!(
                    "{}: became shorter while it was read: {counted} records were counted, and then there were \
                     {records}",
                    self.name()
                )));
            }
            if records > counted {
                warn(format_args!("{}: grew after its {counted} records were counted, to {records}", self.name()));
            }
            return Ok(());
        }
        let (Some(length), Some(file)) = (self.length, file) else { return Ok(()) };
        // Some files of the system report a length greater than their real one.
        let now = file.metadata().map_err(|error| self.failed(&error))?;
        if bytes < length && now.len() < self.end && identity_of(file) == self.identity {
            return Err(Failure::new(format_args!(
                "{}: became shorter while it was read: of {length} bytes {bytes} were there to be read",
                self.name()
            )));
        }
        Ok(())
    }
}

/// What the system knows of an input; `None` for a pipe or a device on Windows, which knows nothing of them.
pub(crate) fn known(metadata: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    const NO_FILES: [Option<i32>; 2] = [Some(1), Some(87)];
    match metadata {
        Err(error) if cfg!(windows) && NO_FILES.contains(&error.raw_os_error()) => Ok(None),
        other => other.map(Some),
    }
}

/// The device of an open file and its number there.
#[cfg(unix)]
pub(crate) fn identity_of(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|metadata| identity(&metadata))
}

/// The device of the file at a path and its number there, if there is a file.
#[cfg(unix)]
pub(crate) fn identity_at(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|metadata| identity(&metadata))
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(windows)]
pub(crate) use petal::storage::identity_of;

/// The volume of the file at a path and its number there, if there is a file.
#[cfg(windows)]
pub(crate) fn identity_at(path: &Path) -> Option<(u64, u64)> {
    use std::os::windows::fs::OpenOptionsExt;
    // Enough to ask for a number. Folders are opened with a separate flag.
    const READ_ATTRIBUTES: u32 = 0x80;
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let file = File::options().access_mode(READ_ATTRIBUTES).custom_flags(BACKUP_SEMANTICS).open(path).ok()?;
    identity_of(&file)
}
