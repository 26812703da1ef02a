//! Keys from files and pipes: records that end with a newline, or with NUL, as bytes and in blocks.
//!
//! The memory is one block, and what [`RECORDS`] records need, for an input of any length. Only a record longer than a
//! block makes the buffer grow, in steps of an eighth, but at least a block.
//!
//! A key is a record without its separator, or one field of the record. A carriage return is a part of the key, unless
//! `--crlf` removes it. A last record without a separator counts. A record may be a count and a key.
//!
//! Files change while they are read: a log is truncated, or grows. A second reading of a counted file fails if it has
//! fewer records than were counted, and warns if it has more. A single reading fails if it has fewer bytes than the
//! file had at the start.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::file_name::is_standard;
use crate::numbers;
use crate::progress::Progress;
use crate::source::{Source, identity_at, identity_of, known};
use crate::spool::{self, read};
use crate::stdio::{check_standard_input, stdin};
use crate::text::{self, LineEnds};
use memchr::memmem::Finder;
use memchr::{memchr_iter, memrchr};
use petal::{HashFunction, Hasher};
use std::cell::{Cell, OnceCell};
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The bytes of one read.
const BLOCK: usize = 1 << 20;

/// The most records in a batch.
pub const RECORDS: usize = 1024;

/// Buffers for the keys of a batch, in the filter's form or as hashes.
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
    /// Buffers that fit any batch.
    pub fn new() -> Room {
        Room { hashes: [0; RECORDS], bytes: Vec::new(), offsets: Vec::new() }
    }
}

/// The keys from index `start` on.
pub fn from(keys: petal::Keys<'_>, start: usize) -> petal::Keys<'_> {
    match keys {
        petal::Keys::Bytes { bytes, offsets } => petal::Keys::Bytes { bytes, offsets: &offsets[start..] },
        petal::Keys::Bytes32 { bytes, offsets } => petal::Keys::Bytes32 { bytes, offsets: &offsets[start..] },
        petal::Keys::U64(keys) => petal::Keys::U64(&keys[start..]),
        petal::Keys::Hashes(hashes) => petal::Keys::Hashes(&hashes[start..]),
        petal::Keys::Digests { bytes, each } => petal::Keys::Digests { bytes: &bytes[start * each..], each },
    }
}

/// The KEYS arguments: the sources of keys.
pub struct Inputs {
    sources: Vec<Source>,
    form: Form,
}

/// The form of records: separator, fields and counts.
struct Form {
    separator: u8,
    /// A carriage return before the separator belongs to the separator.
    crlf: bool,
    field: Option<Field>,
    /// Keys are hashes, as decimal or hexadecimal numbers.
    hashes: bool,
    /// Keys are digests in hexadecimal digits.
    digests: bool,
}

impl Inputs {
    /// The inputs that the arguments name; without paths, or for `-`, standard input. Checks now, before the first key,
    /// whether each input can be read. `others` are the command's other inputs: only one of all may be standard input.
    pub fn new<'a>(args: &'a args::Keys, others: impl IntoIterator<Item = &'a Path>) -> Outcome<Inputs> {
        let field = args.field.map(|number| Field::new(number, args.delimiter.as_deref()));
        let separator = if args.null { 0 } else { b'\n' };
        Inputs::of_records(
            &args.files,
            Form { separator, crlf: args.crlf, field, hashes: false, digests: false },
            others,
        )
    }

    /// The inputs; if `hashes` is set, records are hashes of keys.
    pub fn with_hashes(self, hashes: bool) -> Inputs {
        Inputs { form: Form { hashes, ..self.form }, ..self }
    }

    /// The inputs; if `digests` is set, records are digests in hexadecimal digits.
    pub fn with_digests(self, digests: bool) -> Inputs {
        Inputs { form: Form { digests, ..self.form }, ..self }
    }

    /// The inputs; if `counts` is set, records are counts and keys. See [`Inputs::new`].
    pub fn with_counts<'a>(
        args: &'a args::Keys,
        counts: &args::Counts,
        others: impl IntoIterator<Item = &'a Path>,
    ) -> Outcome<Inputs> {
        let inputs = Inputs::new(args, others)?;
        let field = if counts.counts { Some(Field::AfterCount) } else { inputs.form.field };
        Ok(Inputs { form: Form { field, ..inputs.form }, ..inputs })
    }

    /// The inputs; if `weights` is set, records are weights and keys.
    pub fn with_weights(self, weights: bool) -> Inputs {
        let field = if weights { Some(Field::AfterCount) } else { self.form.field };
        Inputs { form: Form { field, ..self.form }, ..self }
    }

    /// The inputs; if `values` is set, records are keys with their values.
    pub fn with_values(self, values: bool) -> Inputs {
        let field = if values { Some(Field::BeforeValue) } else { self.form.field };
        Inputs { form: Form { field, ..self.form }, ..self }
    }

    /// Whether records are keys with their values.
    pub fn have_values(&self) -> bool {
        matches!(self.form.field, Some(Field::BeforeValue))
    }

    /// Whether keys are hashes.
    pub fn have_hashes(&self) -> bool {
        self.form.hashes
    }

    /// Whether keys are digests in hexadecimal digits.
    pub fn have_digests(&self) -> bool {
        self.form.digests
    }

    /// The number of bits of the first digest, of inputs that can be read more than once; `None` if there are no
    /// records.
    pub fn digest_bits(&self, progress: &mut Progress) -> Outcome<Option<u64>> {
        let mut bits = None;
        self.for_each(progress, |batch| {
            bits = Some(4 * batch.key(0).len() as u64);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(bits)
    }

    /// Whether records are counts and keys.
    pub fn have_counts(&self) -> bool {
        matches!(self.form.field, Some(Field::AfterCount))
    }

    /// The inputs of records that are keys with their values; see [`Inputs::new`].
    pub fn of_entries<'a>(args: &'a args::map::Entries, others: impl IntoIterator<Item = &'a Path>) -> Outcome<Inputs> {
        let separator = if args.null { 0 } else { b'\n' };
        Inputs::of_records(
            &args.files,
            Form { separator, crlf: args.crlf, field: None, hashes: false, digests: false },
            others,
        )
    }

    fn of_records<'a>(files: &'a [PathBuf], form: Form, others: impl IntoIterator<Item = &'a Path>) -> Outcome<Inputs> {
        let mut paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        if paths.is_empty() {
            paths.push(Path::new("-"));
        }
        check_standard_input(paths.iter().copied().chain(others))?;
        let mut inputs = Inputs { sources: Vec::new(), form };
        for path in paths {
            let path = (!is_standard(path)).then(|| path.to_path_buf());
            let (spool, counted, end) = (OnceCell::new(), Cell::new(None), 0);
            let mut source = Source { path, length: None, end, identity: None, spool, counted };
            let failed = |source: &Source, error| Failure::io(source.name(), &error);
            let metadata = known(match &source.path {
                Some(path) => path.metadata(),
                None => stdin().and_then(|file| file.metadata()),
            })
            .map_err(|error| failed(&source, error))?;
            if metadata.as_ref().is_some_and(Metadata::is_dir) {
                return Err(Failure::new(format_args!("{}: is a directory", source.name())));
            }
            if let Some(metadata) = metadata.filter(Metadata::is_file) {
                // A pipe is opened only once: its writer would see the first reader close it.
                let mut file = source.open()?;
                let start = file.stream_position().map_err(|error| failed(&source, error))?;
                source.length = Some(metadata.len().saturating_sub(start));
                source.end = metadata.len();
                source.identity = identity_of(&file);
            }
            inputs.sources.push(source);
        }
        Ok(inputs)
    }

    /// Whether the file at `path` is one of the inputs.
    pub fn contains(&self, path: &Path) -> bool {
        let identity = identity_at(path);
        identity.is_some() && self.sources.iter().any(|source| source.identity == identity)
    }

    /// The name of the first input that can be read only once, such as a pipe.
    pub fn only_once(&self) -> Option<String> {
        self.sources.iter().find(|source| source.length.is_none()).map(|source| source.name().to_string())
    }

    /// The number of bytes of all inputs, if it is known.
    pub fn length(&self) -> Option<u64> {
        self.sources.iter().map(|source| source.length).sum()
    }

    /// The number of records in all inputs, which can be read again afterwards. An input that can be read only once is
    /// kept.
    pub fn count(&self, place: &spool::Place, progress: &mut Progress) -> Outcome<u64> {
        let mut block = spool::block()?;
        let mut count = 0;
        for source in &self.sources {
            if source.length.is_none() && source.spool.get().is_none() {
                let spool = spool::Spool::of(source.open()?, place, progress);
                let _ = source.spool.set(spool.map_err(|what| what.of(&source.name()))?);
            }
            let (mut reader, mut file) = source.reader()?;
            let start = match &mut file {
                Some(file) => Some(file.stream_position().map_err(|error| source.failed(&error))?),
                None => None,
            };
            let (mut records, mut last, mut first) = (0, self.form.separator, true);
            loop {
                let length = read(&mut reader, &mut block).map_err(|error| source.failed(&error))?;
                if std::mem::take(&mut first) {
                    text::check_start(&source.origin(), &block[..length], self.form.separator)?;
                }
                let Some(byte) = block[..length].last() else { break };
                last = *byte;
                records += memchr_iter(self.form.separator, &block[..length]).count() as u64;
                progress.add(length as u64);
            }
            records += u64::from(last != self.form.separator);
            source.counted.set(Some(records));
            count += records;
            // Standard input keeps its position even if it is opened again.
            if let (Some(file), Some(start)) = (&mut file, start) {
                file.seek(SeekFrom::Start(start)).map_err(|error| source.failed(&error))?;
            }
        }
        Ok(count)
    }

    /// Calls `take` with all records, in order, until `take` stops. Fails at the end of a file that became shorter
    /// meanwhile.
    pub fn for_each(
        &self,
        progress: &mut Progress,
        mut take: impl FnMut(&Batch) -> Outcome<ControlFlow<()>>,
    ) -> Outcome<()> {
        let mut records = Records::new(self.form.separator, self.form.crlf)?;
        for source in &self.sources {
            let (mut reader, file) = source.reader()?;
            records.restart();
            let (mut first, mut taken, mut bytes) = (true, 0, 0);
            // Records that end with NUL may have any bytes.
            let mut ends = (self.form.separator == b'\n' && !self.form.crlf).then(LineEnds::default);
            while let Some(length) = records.refill(&mut reader).map_err(|error| source.failed(&error))? {
                progress.add(length as u64);
                bytes += length as u64;
                if std::mem::take(&mut first) {
                    text::check_start(&source.origin(), &records.buffer[..records.filled], self.form.separator)?;
                }
                while let Some(batch) = records.next_batch(self.form.field.as_ref()).map_err(|(i, what)| {
                    Failure::new(format_args!("{}: record {} has no {what}", source.name(), taken + i + 1))
                })? {
                    let Form { hashes, digests, .. } = self.form;
                    let batch = Batch { source: Some(source), before: taken, hashes, digests, ..batch };
                    taken += batch.len() as u64;
                    if let Some(ends) = &mut ends {
                        ends.count(source, batch.len(), || batch.returns());
                    }
                    if take(&batch)?.is_break() {
                        return Ok(());
                    }
                }
            }
            if let Some(ends) = &ends {
                ends.judge_all(source);
            }
            source.check_whole(file.as_ref(), taken, bytes)?;
        }
        Ok(())
    }
}

/// The part of a record that is the key.
enum Field {
    /// The field with this number, from 1 on, between delimiters.
    Between(u64, Box<Finder<'static>>),
    /// The field with this number, from 1 on, between runs of blanks.
    AmongBlanks(u64),
    /// The text after a decimal number and a blank.
    AfterCount,
    /// The text before the last tab. The value of the key comes after it.
    BeforeValue,
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

    /// The place of the field in the record; `None` if the record lacks the field.
    fn find(&self, record: &[u8]) -> Option<Range<usize>> {
        match self {
            Field::Between(number, delimiter) => Field::between(*number, delimiter, record),
            Field::AmongBlanks(number) => Field::among_blanks(*number, record),
            Field::AfterCount => {
                let digits = record.iter().position(|byte| !is_blank(byte))?;
                let end = digits + record[digits..].iter().position(is_blank)?;
                Some(end + 1..record.len())
            }
            Field::BeforeValue => Some(0..record.iter().rposition(|byte| *byte == b'\t')?),
        }
    }

    /// The name of a missing field, for messages.
    fn name(&self) -> String {
        match self {
            Field::Between(number, _) | Field::AmongBlanks(number) => format!("field {number}"),
            Field::AfterCount => String::from("count and key with a blank or tab between them"),
            Field::BeforeValue => String::from("key and value with a tab between them"),
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
    /// The positions of the separators.
    ends: &'a [usize],
    /// The places of the keys, if they are not whole records.
    fields: Option<&'a [Range<usize>]>,
    /// Whether no more records have been read, so that the next record may take long to arrive.
    pub last_of_block: bool,
    /// The source of the records, and the number of records before them in it.
    source: Option<&'a Source>,
    before: u64,
    /// Whether keys are hashes.
    hashes: bool,
    /// Whether keys are digests, or other bytes, in hexadecimal digits.
    digests: bool,
}

impl<'a> Batch<'a> {
    /// How many records there are: from 1 to [`RECORDS`].
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The keys in the form that a filter with this hasher takes: hashes, or whole keys if the filter's format hashes
    /// them.
    pub fn keys<'h>(&self, hasher: &Hasher, room: &'h mut Room) -> Outcome<petal::Keys<'h>> {
        if hasher.function() == HashFunction::Format && !self.hashes {
            return if self.digests { self.decoded(room) } else { self.whole(room) };
        }
        if hasher.function() == HashFunction::Digest && !self.hashes {
            return self.digests(hasher, room);
        }
        let hashes = &mut room.hashes[..self.len()];
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = match hasher.function() {
                _ if self.hashes => self.hash(i)?,
                HashFunction::Identity => self.integer(i)?,
                _ => hasher.hash_bytes(self.key(i)).map_err(petal::Error::from)?,
            };
        }
        Ok(petal::Keys::Hashes(hashes))
    }

    /// The counts before the keys, if records have counts ([`Inputs::have_counts`]).
    pub fn counts<'r>(&self, room: &'r mut [u64; RECORDS]) -> Outcome<&'r [u64]> {
        self.before(room, |_| true, "a count below 2^64, and --counts needs one")
    }

    /// The weights before the keys, if records have weights ([`Inputs::with_weights`]).
    pub fn weights<'r>(&self, room: &'r mut [f64; RECORDS]) -> Outcome<&'r [f64]> {
        let is_weight = |weight: &f64| petal::Weighted::new(0, *weight).is_ok();
        self.before(room, is_weight, "a weight from 2^-60 to 2^60, and --weights needs one")
    }

    /// The numbers before the keys.
    fn before<'r, T: FromStr>(
        &self,
        room: &'r mut [T; RECORDS],
        is_one: impl Fn(&T) -> bool,
        what: &str,
    ) -> Outcome<&'r [T]> {
        let numbers = &mut room[..self.len()];
        for (i, number) in numbers.iter_mut().enumerate() {
            let start = self.start(i);
            let end = self.fields.map_or(start, |fields| fields[i].start);
            let text = String::from_utf8_lossy(self.bytes[start..end].trim_ascii());
            *number = text
                .parse()
                .ok()
                .filter(&is_one)
                .ok_or_else(|| Failure::new(format_args!("{}: {text:?} is not {what}", self.place(i))))?;
        }
        Ok(numbers)
    }

    /// The values after the keys, if records have values ([`Inputs::have_values`]).
    pub fn values<'r>(&self, room: &'r mut [u64; RECORDS]) -> Outcome<&'r [u64]> {
        let values = &mut room[..self.len()];
        for (i, value) in values.iter_mut().enumerate() {
            let start = self.fields.map_or(self.ends[i], |fields| fields[i].end + 1);
            let text = String::from_utf8_lossy(&self.bytes[start..self.ends[i]]);
            *value = numbers::seed(&text).map_err(|_| {
                Failure::new(format_args!(
                    "{}: {text:?} is not a value: a decimal number below 2^64, or a hexadecimal one after 0x",
                    self.place(i)
                ))
            })?;
        }
        Ok(values)
    }

    /// The keys as digests, out of their hexadecimal digits.
    fn digests<'h>(&self, hasher: &Hasher, room: &'h mut Room) -> Outcome<petal::Keys<'h>> {
        let bits = hasher.identifier();
        let each = bits as usize / 8;
        room.bytes.clear();
        for i in 0..self.len() {
            let digits = self.key(i);
            if digits.len() != 2 * each {
                return Err(Failure::new(format_args!(
                    "{}: has {} digits, and digests of {bits} bits have {}",
                    self.place(i),
                    digits.len(),
                    2 * each
                )));
            }
            self.decode(i, &mut room.bytes)?;
        }
        Ok(petal::Keys::Digests { bytes: &room.bytes, each })
    }

    /// Whole keys of any length, out of their hexadecimal digits.
    fn decoded<'h>(&self, room: &'h mut Room) -> Outcome<petal::Keys<'h>> {
        let Room { bytes, offsets, .. } = room;
        bytes.clear();
        offsets.clear();
        offsets.push(0);
        for i in 0..self.len() {
            self.decode(i, bytes)?;
            offsets.push(bytes.len() as u64);
        }
        Ok(petal::Keys::Bytes { bytes, offsets })
    }

    /// Appends the bytes of record `i`, which has hexadecimal digits.
    fn decode(&self, i: usize, bytes: &mut Vec<u8>) -> Outcome {
        let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let (pairs, rest) = self.key(i).as_chunks::<2>();
        for pair in pairs {
            let [Some(high), Some(low)] = pair.map(value) else { return Err(self.no_digits(i)) };
            bytes.push(high << 4 | low);
        }
        if rest.is_empty() { Ok(0) } else { Err(self.no_digits(i)) }
    }

    fn no_digits(&self, i: usize) -> Failure {
        let record = String::from_utf8_lossy(self.key(i));
        Failure::new(format_args!(
            "{}: {record:?} is not a digest, and --hex-digests needs pairs of hexadecimal digits",
            self.place(i)
        ))
    }

    /// The key of record `i` as an integer in decimal digits.
    fn integer(&self, i: usize) -> Outcome<u64> {
        let integer = std::str::from_utf8(self.key(i)).ok().and_then(|key| key.parse().ok());
        integer.ok_or_else(|| {
            Failure::new(format_args!(
                "{}: the key is not an integer below 2^64, and this kind takes integers only",
                self.place(i)
            ))
        })
    }

    /// Record `i` as a hash in decimal digits, or hexadecimal digits after 0x.
    fn hash(&self, i: usize) -> Outcome<u64> {
        let number = std::str::from_utf8(self.key(i)).ok().and_then(|text| numbers::seed(text).ok());
        number.ok_or_else(|| {
            Failure::new(format_args!(
                "{}: is not a hash, and --hashes (--numbers of sketches) needs one: a decimal number below 2^64, or a \
                 hexadecimal one after 0x",
                self.place(i)
            ))
        })
    }

    /// The whole keys, one after the other.
    pub fn whole<'h>(&self, room: &'h mut Room) -> Outcome<petal::Keys<'h>> {
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

    /// How many keys end with a carriage return at the end of their record.
    fn returns(&self) -> usize {
        let is_return = |end: usize| end > 0 && self.bytes[end - 1] == b'\r';
        match self.fields {
            None => self.ends.iter().filter(|end| is_return(**end)).count(),
            Some(fields) => {
                let pairs = fields.iter().zip(self.ends);
                pairs.filter(|(field, end)| field.end == **end && !field.is_empty() && is_return(**end)).count()
            }
        }
    }

    /// The key of record `i` as text, which JSON needs.
    pub fn text(&self, i: usize) -> Outcome<&'a str> {
        std::str::from_utf8(self.key(i)).map_err(|_| {
            Failure::new(format_args!("{}: the key is not UTF-8, as JSON needs it: leave out --json", self.place(i)))
        })
    }

    /// The byte that ends a record.
    pub fn separator(&self) -> &'a [u8] {
        &self.bytes[self.ends[0]..=self.ends[0]]
    }

    /// The place of record `i` in the inputs, for messages.
    pub fn place(&self, i: usize) -> String {
        let name = self.source.map(|source| source.name().to_string()).unwrap_or_default();
        format!("{name}: record {}", self.before + i as u64 + 1)
    }

    /// Record `i` with its separator. (A last record without a separator gets one, as in `grep` and `sort`.)
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
    crlf: bool,
    buffer: Vec<u8>,
    /// The start of the records that `next_batch` has not returned yet.
    start: usize,
    /// The end of the whole records: the position after the last separator.
    whole: usize,
    /// The end of the bytes that were read.
    filled: usize,
    ends: Vec<usize>,
    fields: Vec<Range<usize>>,
}

impl Records {
    fn new(separator: u8, crlf: bool) -> Outcome<Records> {
        let (ends, fields) = (Vec::with_capacity(RECORDS), Vec::new());
        let mut records = Records { separator, crlf, buffer: Vec::new(), start: 0, whole: 0, filled: 0, ends, fields };
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

    /// Reads until there is a whole record, and returns the number of bytes read; `None` at the end of the input.
    fn refill(&mut self, file: &mut impl Read) -> io::Result<Option<usize>> {
        self.buffer.copy_within(self.whole..self.filled, 0);
        self.filled -= self.whole;
        (self.start, self.whole) = (0, 0);
        let mut total = 0;
        loop {
            // Leaves room for the separator that the last record may lack.
            if self.filled + 1 >= self.buffer.len() {
                // Grows in small steps: the system moves a large buffer without a copy.
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

    /// The next records that have been read. If a record lacks its field, returns the index of the first such record
    /// and the field's name.
    fn next_batch(&mut self, field: Option<&Field>) -> Result<Option<Batch<'_>>, (u64, String)> {
        let whole = &self.buffer[self.start..self.whole];
        self.ends.clear();
        self.ends.extend(memchr_iter(self.separator, whole).take(RECORDS));
        let Some(last) = self.ends.last() else { return Ok(None) };
        let length = last + 1;
        let are_parts = field.is_some() || self.crlf;
        if are_parts {
            self.fields.clear();
            let mut start = 0;
            for (i, end) in self.ends.iter().enumerate() {
                let mut record = &whole[start..*end];
                if self.crlf {
                    record = record.strip_suffix(b"\r").unwrap_or(record);
                }
                let place = match field {
                    Some(field) => field.find(record).ok_or_else(|| (i as u64, field.name()))?,
                    None => 0..record.len(),
                };
                self.fields.push(start + place.start..start + place.end);
                start = end + 1;
            }
        }
        self.start += length;
        Ok(Some(Batch {
            bytes: &whole[..length],
            ends: &self.ends,
            fields: are_parts.then_some(&self.fields[..]),
            last_of_block: self.start == self.whole,
            source: None,
            before: 0,
            hashes: false,
            digests: false,
        }))
    }
}
