//! Keys from files and pipes: records that end with a newline, or with NUL, as bytes and in blocks.
//!
//! Memory is one block and what belongs to [`RECORDS`] records, however long the input is; only a record longer than a
//! block makes its buffer grow, to an eighth more than the record at most. A record never has its separator in it, all
//! its other bytes are the key (a carriage return too) unless one field is, and a last record without a separator
//! counts. Records may be keys with their counts before them.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file::{check_standard_input, is_standard, name};
use crate::progress::Progress;
use crate::stdio;
use memchr::memmem::Finder;
use memchr::{memchr_iter, memrchr};
use petal::{HashFunction, Hasher};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// Records in a batch, at most.
pub const RECORDS: usize = 1024;

/// Room for the keys of a batch as a filter takes them, or for their hashes.
pub struct Room {
    hashes: [u64; RECORDS],
    bytes: Vec<u8>,
    offsets: Vec<u64>,
}

impl Default for Room {
    fn default() -> Room {
        Room::new()
    }
}

impl Room {
    /// Room for any batch.
    pub fn new() -> Room {
        Room { hashes: [0; RECORDS], bytes: Vec::new(), offsets: Vec::new() }
    }
}

/// The keys from the one at `start` on.
pub fn from(keys: petal::Keys<'_>, start: usize) -> petal::Keys<'_> {
    match keys {
        petal::Keys::Bytes { bytes, offsets } => petal::Keys::Bytes { bytes, offsets: &offsets[start..] },
        petal::Keys::U64(keys) => petal::Keys::U64(&keys[start..]),
        petal::Keys::Hashes(hashes) => petal::Keys::Hashes(&hashes[start..]),
    }
}

/// The KEYS arguments: where keys come from.
pub struct Inputs {
    sources: Vec<Source>,
    separator: u8,
    field: Option<Field>,
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
        name(self.path.as_deref().unwrap_or(Path::new("-")))
    }

    fn open(&self) -> Outcome<File> {
        match &self.path {
            Some(path) => File::open(path),
            None => stdin(),
        }
        .map_err(|error| Failure::io(self.name(), &error))
    }
}

/// The first bytes of compressed files, and what decompresses them.
const COMPRESSED: [(&[u8], &str); 4] =
    [(b"\x1f\x8b\x08", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2")];

/// What follows `BZh` and a digit: the start of a block, or the end of no blocks.
const BZIP2: [&[u8]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];

/// Refuses an input that starts as compressed files do: its bytes are no keys.
fn check_start(source: &Source, start: &[u8]) -> Outcome<()> {
    let Some((magic, tool)) = COMPRESSED.iter().find(|(magic, _)| start.starts_with(magic)) else { return Ok(()) };
    if *tool == "bzip2" && !start.get(magic.len() + 1..).is_some_and(|rest| BZIP2.iter().any(|b| rest.starts_with(b))) {
        return Ok(());
    }
    let name = source.name();
    let file = if source.path.is_some() { name.to_string() } else { String::from("FILE") };
    Err(Failure::new(format_args!(
        "{name}: is compressed by {tool}, and its bytes are no keys: {tool} -dc {file} | petal ..."
    )))
}

impl Inputs {
    /// The inputs that the arguments name; no paths, or `-`, are standard input. Whether they can be read is found out
    /// now and not when half of them have been. `others` are what else the command reads, of which only one may be
    /// standard input.
    pub fn new<'a>(args: &'a args::Keys, others: impl IntoIterator<Item = &'a Path>) -> Outcome<Inputs> {
        let field = args.field.map(|number| Field::new(number, args.delimiter.as_deref()));
        Inputs::of_records(&args.files, args.null, field, others)
    }

    /// The inputs of records that are keys, or with `counts` counts and keys; see [`Inputs::new`].
    pub fn with_counts<'a>(
        args: &'a args::Keys,
        counts: &args::Counts,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Outcome<Inputs> {
        let inputs = Inputs::new(args, others)?;
        let field = if counts.counts { Some(Field::AfterCount) } else { inputs.field };
        Ok(Inputs { field, ..inputs })
    }

    /// Whether records are counts and keys.
    pub fn have_counts(&self) -> bool {
        matches!(self.field, Some(Field::AfterCount))
    }

    /// The inputs of records that are keys with their values; see [`Inputs::new`].
    pub fn of_entries<'a>(args: &'a args::map::Entries, others: impl IntoIterator<Item = &'a Path>) -> Outcome<Inputs> {
        Inputs::of_records(&args.files, args.null, None, others)
    }

    fn of_records<'a>(
        files: &'a [PathBuf],
        null: bool,
        field: Option<Field>,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Outcome<Inputs> {
        let mut paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        if paths.is_empty() {
            paths.push(Path::new("-"));
        }
        check_standard_input(paths.iter().copied().chain(others))?;
        let mut inputs = Inputs { sources: Vec::new(), separator: if null { 0 } else { b'\n' }, field };
        for path in paths {
            let path = (!is_standard(path)).then(|| path.to_path_buf());
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
            let mut first = true;
            loop {
                let length = read(&mut file, &mut block).map_err(|error| Failure::io(source.name(), &error))?;
                if std::mem::take(&mut first) {
                    check_start(source, &block[..length])?;
                }
                let Some(byte) = block[..length].last() else { break };
                last = *byte;
                count += memchr_iter(self.separator, &block[..length]).count() as u64;
                progress.add(length as u64);
            }
            count += u64::from(last != self.separator);
            // Standard input is one file however often it is opened.
            file.seek(SeekFrom::Start(start)).map_err(|error| Failure::io(source.name(), &error))?;
        }
        Ok(count)
    }

    /// Gives all records to `take`, in order, until it says that it has enough.
    pub fn for_each(
        &self,
        progress: &mut Progress,
        mut take: impl FnMut(&Batch) -> Outcome<ControlFlow<()>>,
    ) -> Outcome<()> {
        let mut records = Records::new(self.separator)?;
        for source in &self.sources {
            let mut file = source.open()?;
            records.restart();
            let (mut first, mut taken) = (true, 0);
            while let Some(length) = records.refill(&mut file).map_err(|error| Failure::io(source.name(), &error))? {
                progress.add(length as u64);
                if std::mem::take(&mut first) {
                    check_start(source, &records.buffer[..records.filled])?;
                }
                while let Some(batch) = records.next_batch(self.field.as_ref()).map_err(|(i, what)| {
                    Failure::new(format_args!("{}: record {} has no {what}", source.name(), taken + i + 1))
                })? {
                    let batch = Batch { source: Some(source), before: taken, ..batch };
                    taken += batch.len() as u64;
                    if take(&batch)?.is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Which part of a record is the key.
enum Field {
    /// That with a number, from 1 on, between delimiters.
    Between(u64, Box<Finder<'static>>),
    /// That with a number, from 1 on, between runs of blanks.
    AmongBlanks(u64),
    /// What follows a decimal number and a blank.
    AfterCount,
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

impl Field {
    fn new(number: u64, delimiter: Option<&str>) -> Field {
        match delimiter {
            Some(text) => Field::Between(number, Box::new(Finder::new(text).into_owned())),
            None => Field::AmongBlanks(number),
        }
    }

    /// Where the field is in the record, if it has one.
    fn find(&self, record: &[u8]) -> Option<Range<usize>> {
        match self {
            Field::Between(number, delimiter) => Field::between(*number, delimiter, record),
            Field::AmongBlanks(number) => Field::among_blanks(*number, record),
            Field::AfterCount => {
                let digits = record.iter().position(|byte| !is_blank(byte))?;
                let end = digits + record[digits..].iter().position(is_blank)?;
                Some(end + 1..record.len())
            }
        }
    }

    /// What a record lacks that has no such field.
    fn name(&self) -> String {
        match self {
            Field::Between(number, _) | Field::AmongBlanks(number) => format!("field {number}"),
            Field::AfterCount => String::from("count and key with a blank or tab between them"),
        }
    }

    fn between(number: u64, delimiter: &Finder, record: &[u8]) -> Option<Range<usize>> {
        let mut start = 0;
        for _ in 1..number {
            start += delimiter.find(&record[start..])? + delimiter.needle().len();
        }
        let end = delimiter.find(&record[start..]).map_or(record.len(), |length| start + length);
        Some(start..end)
    }

    fn among_blanks(number: u64, record: &[u8]) -> Option<Range<usize>> {
        let mut end = 0;
        let mut start = 0;
        for _ in 0..number {
            start = end + record[end..].iter().position(|byte| !is_blank(byte))?;
            end = record[start..].iter().position(is_blank).map_or(record.len(), |length| start + length);
        }
        Some(start..end)
    }
}

/// Some records, each followed by its separator.
pub struct Batch<'a> {
    bytes: &'a [u8],
    /// Where the separators are.
    ends: &'a [usize],
    /// Where the keys are, if they are not whole records.
    fields: Option<&'a [Range<usize>]>,
    /// Whether no more records are at hand, so that the next ones may be long in coming.
    pub last_of_block: bool,
    /// Where they come from, and how many came from there before.
    source: Option<&'a Source>,
    before: u64,
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

    /// The keys as a filter with this hasher takes them: by their hashes, or whole where its format hashes them.
    pub fn keys<'h>(&self, hasher: &Hasher, room: &'h mut Room) -> Outcome<petal::Keys<'h>> {
        if hasher.function() == HashFunction::Format {
            return self.whole(room);
        }
        let hashes = &mut room.hashes[..self.len()];
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = match hasher.function() {
                HashFunction::Identity => self.integer(i)?,
                _ => hasher.hash_bytes(self.key(i)).map_err(petal::Error::from)?,
            };
        }
        Ok(petal::Keys::Hashes(hashes))
    }

    /// The counts that stand before the keys, where they do ([`Inputs::have_counts`]).
    pub fn counts<'r>(&self, room: &'r mut [u64; RECORDS]) -> Outcome<&'r [u64]> {
        let counts = &mut room[..self.len()];
        for (i, count) in counts.iter_mut().enumerate() {
            let record = &self.bytes[self.start(i)..self.ends[i]];
            let before = &record[..record.len() - self.key(i).len()];
            let text = String::from_utf8_lossy(before.trim_ascii());
            *count = text.parse().map_err(|_| {
                Failure::new(format_args!("{}: {text:?} is no count, as --counts needs it, below 2^64", self.place(i)))
            })?;
        }
        Ok(counts)
    }

    /// The key of record `i` of a filter whose keys are integers: its decimal digits.
    fn integer(&self, i: usize) -> Outcome<u64> {
        let integer = std::str::from_utf8(self.key(i)).ok().and_then(|key| key.parse().ok());
        integer.ok_or_else(|| {
            Failure::new(format_args!("{}: the key is no integer, as this kind takes them, below 2^64", self.place(i)))
        })
    }

    /// The keys, one after the other.
    fn whole<'h>(&self, room: &'h mut Room) -> Outcome<petal::Keys<'h>> {
        let Room { bytes, offsets, .. } = room;
        bytes.clear();
        offsets.clear();
        let failed = |_| Failure::new("out of memory for a batch of keys");
        let length = (0..self.len()).map(|i| self.key(i).len()).sum();
        bytes.try_reserve_exact(length).map_err(failed)?;
        offsets.try_reserve_exact(self.len() + 1).map_err(failed)?;
        offsets.push(0);
        for i in 0..self.len() {
            bytes.extend_from_slice(self.key(i));
            offsets.push(bytes.len() as u64);
        }
        Ok(petal::Keys::Bytes { bytes, offsets })
    }

    /// The key of record `i`.
    pub fn key(&self, i: usize) -> &'a [u8] {
        match self.fields {
            Some(fields) => &self.bytes[fields[i].clone()],
            None => &self.bytes[self.start(i)..self.ends[i]],
        }
    }

    /// The key of record `i` as text, which JSON needs.
    pub fn text(&self, i: usize) -> Outcome<&'a str> {
        std::str::from_utf8(self.key(i)).map_err(|_| {
            Failure::new(format_args!("{}: the key is not UTF-8, as JSON needs it: leave out --json", self.place(i)))
        })
    }

    /// What ends a record.
    pub fn separator(&self) -> &'a [u8] {
        &self.bytes[self.ends[0]..=self.ends[0]]
    }

    /// Where record `i` stands, for messages.
    pub fn place(&self, i: usize) -> String {
        let name = self.source.map(|source| source.name().to_string()).unwrap_or_default();
        format!("{name}: record {}", self.before + i as u64 + 1)
    }

    /// Record `i` with its separator. (The last record of an input is given one, as by `grep` and `sort`.)
    pub fn record(&self, i: usize) -> &'a [u8] {
        &self.bytes[self.start(i)..=self.ends[i]]
    }

    fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] + 1 }
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
    fields: Vec<Range<usize>>,
}

impl Records {
    fn new(separator: u8) -> Outcome<Records> {
        let (ends, fields) = (Vec::with_capacity(RECORDS), Vec::new());
        let mut records = Records { separator, buffer: Vec::new(), start: 0, whole: 0, filled: 0, ends, fields };
        records.grow(BLOCK).map_err(|error| Failure::io("the input buffer", &error))?;
        Ok(records)
    }

    fn restart(&mut self) {
        (self.start, self.whole, self.filled) = (0, 0, 0);
    }

    fn grow(&mut self, size: usize) -> io::Result<()> {
        let more = size - self.buffer.len();
        self.buffer.try_reserve_exact(more).map_err(|_| {
            io::Error::new(ErrorKind::OutOfMemory, format!("a record longer than {} bytes: out of memory", self.filled))
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
                // In small steps: the system moves a large buffer without copying it.
                let length = self.buffer.len();
                self.grow(length + (length / 8).max(BLOCK))?;
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

    /// The next records at hand; or which of them, counted from 0, has not the field of which number.
    fn next_batch(&mut self, field: Option<&Field>) -> Result<Option<Batch<'_>>, (u64, String)> {
        let whole = &self.buffer[self.start..self.whole];
        self.ends.clear();
        self.ends.extend(memchr_iter(self.separator, whole).take(RECORDS));
        let Some(last) = self.ends.last() else { return Ok(None) };
        let length = last + 1;
        if let Some(field) = field {
            self.fields.clear();
            let mut start = 0;
            for (i, end) in self.ends.iter().enumerate() {
                let place = field.find(&whole[start..*end]).ok_or_else(|| (i as u64, field.name()))?;
                self.fields.push(start + place.start..start + place.end);
                start = end + 1;
            }
        }
        self.start += length;
        Ok(Some(Batch {
            bytes: &whole[..length],
            ends: &self.ends,
            fields: field.map(|_| &self.fields[..]),
            last_of_block: self.start == self.whole,
            source: None,
            before: 0,
        }))
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
pub fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    stdio::check_input()?;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Standard input without the buffer that `std` puts before it, so that it can be wound back.
#[cfg(windows)]
pub fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    stdio::check_input()?;
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
