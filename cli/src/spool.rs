//! Bytes of an input that can be read only once, kept for a second reading: in memory, and above a limit in a file
//! without a name.

use crate::failure::Failure;
use crate::progress::Progress;
use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;

/// The bytes kept in memory if there is no `--memory-limit`.
const IN_MEMORY: u64 = 64 << 20;

/// The bytes of one read.
const BLOCK: usize = 1 << 20;

/// Where bytes are kept.
pub struct Place {
    /// The most bytes kept in memory.
    memory: u64,
    /// The folder of the file for all further bytes.
    folder: PathBuf,
}

impl Place {
    /// The place that `--memory-limit` and `--temporary-directory` ask for. The memory limit belongs to the builder, so
    /// with a limit the spool keeps nothing in memory.
    pub fn new(memory_limit: Option<u64>, folder: Option<&Path>) -> Place {
        let memory = if memory_limit.is_some() { 0 } else { IN_MEMORY };
        Place { memory, folder: folder.map_or_else(temporary_folder, Path::to_path_buf) }
    }
}

/// The folder for temporary files that the environment names; `/tmp` if the name is empty.
pub fn temporary_folder() -> PathBuf {
    let folder = env::temp_dir();
    if folder.as_os_str().is_empty() { PathBuf::from("/tmp") } else { folder }
}

/// A buffer for one block.
pub fn block() -> Result<Vec<u8>, Failure> {
    let mut block = Vec::new();
    block.try_reserve_exact(BLOCK).map_err(|_| Failure::new("the input buffer: out of memory"))?;
    block.resize(BLOCK, 0);
    Ok(block)
}

/// The step that failed.
pub enum Trouble {
    /// Reading the input failed.
    Input(io::Error),
    /// The temporary file failed.
    Temporary(PathBuf, io::Error),
    /// Another step failed.
    Other(Failure),
}

impl Trouble {
    /// The failure, for the input with this name.
    pub fn of(self, name: &impl Display) -> Failure {
        match self {
            Trouble::Input(error) => Failure::io(name, &error),
            Trouble::Temporary(folder, error) => {
                let folder = crate::file_name::name(&folder);
                Failure::io(format_args!("{name}: temporary file in {folder}, to read it twice"), &error)
            }
            Trouble::Other(failure) => failure,
        }
    }
}

/// All bytes of an input, for a second reading.
pub struct Spool {
    memory: Vec<u8>,
    file: Option<File>,
}

impl Spool {
    /// No bytes yet.
    pub(crate) fn new() -> Spool {
        Spool { memory: Vec::new(), file: None }
    }

    /// Reads an input to its end.
    pub fn of(mut input: File, place: &Place, progress: &mut Progress) -> Result<Spool, Trouble> {
        let mut spool = Spool::new();
        let mut block = block().map_err(Trouble::Other)?;
        loop {
            let length = read(&mut input, &mut block).map_err(Trouble::Input)?;
            if length == 0 {
                return Ok(spool);
            }
            progress.add(length as u64);
            spool.keep(&block[..length], place).map_err(|error| Trouble::Temporary(place.folder.clone(), error))?;
        }
    }

    /// Keeps further bytes.
    ///
    /// # Errors
    /// The system's errors about the temporary file.
    pub(crate) fn keep(&mut self, bytes: &[u8], place: &Place) -> io::Result<()> {
        let fits = (self.memory.len() + bytes.len()) as u64 <= place.memory;
        if self.file.is_none() && fits && self.memory.try_reserve(bytes.len()).is_ok() {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(unnamed(&place.folder)?),
        };
        file.write_all(bytes)
    }

    /// A reader that starts at the first byte.
    pub fn reader(&self) -> io::Result<impl Read + '_> {
        let rest: Box<dyn Read> = match &self.file {
            Some(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
            None => Box::new(io::empty()),
        };
        Ok(self.memory.as_slice().chain(rest))
    }
}

/// A file that the system removes when it is closed, however the command ends.
fn unnamed(folder: &Path) -> io::Result<File> {
    let mut number = 0_u32;
    loop {
        let path = folder.join(format!(".petal-{}-{number}", process::id()));
        match fleeting(&path) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A new file that nobody else can open, and that goes when it is closed.
#[cfg(unix)]
fn fleeting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// A new file that nobody else can open, and that goes when it is closed.
#[cfg(windows)]
fn fleeting(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const READ_WRITE_DELETE: u32 = 0xc001_0000;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = File::options();
    options.create_new(true).write(true).access_mode(READ_WRITE_DELETE).share_mode(0).custom_flags(DELETE_ON_CLOSE);
    options.open(path)
}

/// Reads once, and again if a signal interrupted the read.
pub(crate) fn read(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
