//! Keys from files and pipes: records that end with a newline, or with NUL, as bytes and in blocks.
//!
//! Memory is one block and what belongs to [`RECORDS`] records, however long the input is; only a record longer than a
//! block makes its buffer grow. A record never has its separator in it, all its other bytes are the key (a carriage
//! return too), and a last record without a separator counts.

use crate::failure::{Failure, Outcome};
use crate::progress::Progress;
use memchr::{memchr_iter, memrchr};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// Records in a batch, at most.
pub const RECORDS: usize = 1024;

/// The KEYS arguments: where keys come from.
pub struct Inputs {
    sources: Vec<Source>,
    separator: u8,
}

struct Source {
    /// `None` is standard input.
    path: Option<PathBuf>,
    /// The length, of what can be read twice.
    length: Option<u64>,
    /// What tells the file from all others.
    identity: Option<(u64, u64)>,
}

impl Source {
    fn name(&self) -> impl std::fmt::Display + '_ {
        self.path.as_deref().unwrap_or(Path::new("standard input")).display()
    }

    fn open(&self) -> Outcome<File> {
        match &self.path {
            Some(path) => File::open(path),
            None => stdin(),
        }
        .map_err(|error| Failure::io(self.name(), &error))
    }
}

impl Inputs {
    /// The inputs that `paths` name; no paths, or `-`, are standard input. Whether they can be read is found out now
    /// and not when half of them have been.
    pub fn new(paths: &[PathBuf], null: bool) -> Outcome<Inputs> {
        let mut inputs = Inputs { sources: Vec::new(), separator: if null { 0 } else { b'\n' } };
        let standard = [PathBuf::from("-")];
        for path in if paths.is_empty() { &standard } else { paths } {
            let path = (path.as_os_str() != "-").then(|| path.clone());
            if path.is_none() && inputs.sources.iter().any(|source| source.path.is_none()) {
                return Err(Failure::new("KEYS: standard input (-) can be read only once"));
            }
            let mut source = Source { path, length: None, identity: None };
            let failed = |source: &Source, error| Failure::io(source.name(), &error);
            let metadata = match &source.path {
                Some(path) => path.metadata(),
                None => stdin().and_then(|file| file.metadata()),
            }
            .map_err(|error| failed(&source, error))?;
            if metadata.is_dir() {
                return Err(Failure::new(format_args!("{}: is a directory", source.name())));
            }
            if metadata.is_file() {
                // A pipe is opened only once: its writer would see the first reader leave.
                let mut file = source.open()?;
                let start = file.stream_position().map_err(|error| failed(&source, error))?;
                source.length = Some(metadata.len().saturating_sub(start));
                source.identity = identity(&metadata);
            }
            inputs.sources.push(source);
        }
        Ok(inputs)
    }

    /// Whether the file at `path` is one of the inputs.
    pub fn contains(&self, path: &Path) -> bool {
        let identity = path.metadata().ok().as_ref().and_then(identity);
        identity.is_some() && self.sources.iter().any(|source| source.identity == identity)
    }

    /// The name of the first input that can be read only once, such as a pipe.
    pub fn only_once(&self) -> Option<String> {
        self.sources.iter().find(|source| source.length.is_none()).map(|source| source.name().to_string())
    }

    /// How many bytes there are, where that is known.
    pub fn length(&self) -> Option<u64> {
        self.sources.iter().map(|source| source.length).sum()
    }

    /// How many records there are. All inputs can then be read again.
    pub fn count(&self, progress: &mut Progress) -> Outcome<u64> {
        let mut block = vec![0; BLOCK];
        let mut count = 0;
        for source in &self.sources {
            let mut file = source.open()?;
            let start = file.stream_position().map_err(|error| Failure::io(source.name(), &error))?;
            let mut last = self.separator;
            loop {
                let length = read(&mut file, &mut block).map_err(|error| Failure::io(source.name(), &error))?;
                let Some(byte) = block[..length].last() else { break };
                last = *byte;
                count += memchr_iter(self.separator, &block[..length]).count() as u64;
                progress.add(length);
            }
            count += u64::from(last != self.separator);
            // Standard input is one file however often it is opened.
            file.seek(SeekFrom::Start(start)).map_err(|error| Failure::io(source.name(), &error))?;
        }
        Ok(count)
    }

    /// Gives all records to `take`, in order.
    pub fn for_each(&self, progress: &mut Progress, mut take: impl FnMut(&Batch) -> Outcome<()>) -> Outcome<()> {
        let mut records = Records::new(self.separator)?;
        for source in &self.sources {
            let mut file = source.open()?;
            records.restart();
            while let Some(length) = records.refill(&mut file).map_err(|error| Failure::io(source.name(), &error))? {
                progress.add(length);
                while let Some(batch) = records.next_batch() {
                    take(&batch)?;
                }
            }
        }
        Ok(())
    }
}

/// Some records, each followed by its separator.
pub struct Batch<'a> {
    bytes: &'a [u8],
    /// Where the separators are.
    ends: &'a [usize],
    /// Whether no more records are at hand, so that the next ones may be long in coming.
    pub last_of_block: bool,
}

impl<'a> Batch<'a> {
    /// How many records there are: from 1 to [`RECORDS`].
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The records without their separators: the keys.
    pub fn keys(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let key = &self.bytes[start..*end];
            start = end + 1;
            key
        })
    }

    /// Record `i` with its separator. (The last record of an input is given one, as by `grep` and `sort`.)
    pub fn record(&self, i: usize) -> &'a [u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] + 1 };
        &self.bytes[start..=self.ends[i]]
    }
}

/// Cuts a stream of bytes into records.
struct Records {
    separator: u8,
    buffer: Vec<u8>,
    /// Where the records that were not given out yet start.
    start: usize,
    /// Where the last separator is, and one more: whole records end here.
    whole: usize,
    /// Where the bytes end that were read.
    filled: usize,
    ends: Vec<usize>,
}

impl Records {
    fn new(separator: u8) -> Outcome<Records> {
        let mut records =
            Records { separator, buffer: Vec::new(), start: 0, whole: 0, filled: 0, ends: Vec::with_capacity(RECORDS) };
        records.grow(BLOCK).map_err(|error| Failure::io("the input buffer", &error))?;
        Ok(records)
    }

    fn restart(&mut self) {
        (self.start, self.whole, self.filled) = (0, 0, 0);
    }

    fn grow(&mut self, size: usize) -> io::Result<()> {
        let more = size - self.buffer.len();
        self.buffer.try_reserve_exact(more).map_err(|_| {
            io::Error::new(ErrorKind::OutOfMemory, format!("a record longer than {} bytes: out of memory", size / 2))
        })?;
        self.buffer.resize(size, 0);
        Ok(())
    }

    /// Reads until there is a whole record, and returns how many bytes were read; `None` at the end.
    fn refill(&mut self, file: &mut File) -> io::Result<Option<usize>> {
        self.buffer.copy_within(self.whole..self.filled, 0);
        self.filled -= self.whole;
        (self.start, self.whole) = (0, 0);
        let mut total = 0;
        loop {
            // Always room for the separator that an input may end without.
            if self.filled + 1 >= self.buffer.len() {
                self.grow(2 * self.buffer.len())?;
            }
            let room = self.buffer.len() - 1;
            let length = read(file, &mut self.buffer[self.filled..room])?;
            if length == 0 && self.filled == 0 {
                return Ok(None);
            }
            if length == 0 {
                self.buffer[self.filled] = self.separator;
                self.filled += 1;
                self.whole = self.filled;
                return Ok(Some(total));
            }
            total += length;
            let new = &self.buffer[self.filled..self.filled + length];
            let separator = memrchr(self.separator, new);
            self.filled += length;
            if let Some(place) = separator {
                self.whole = self.filled - length + place + 1;
                return Ok(Some(total));
            }
        }
    }

    fn next_batch(&mut self) -> Option<Batch<'_>> {
        let whole = &self.buffer[self.start..self.whole];
        self.ends.clear();
        self.ends.extend(memchr_iter(self.separator, whole).take(RECORDS));
        let length = self.ends.last()? + 1;
        self.start += length;
        Some(Batch { bytes: &whole[..length], ends: &self.ends, last_of_block: self.start == self.whole })
    }
}

/// Reads once, whatever signals come between.
fn read(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Standard input without the buffer that `std` puts before it, so that it can be wound back.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}
