//! `petal digest`.

use crate::args::{self, digest};
use crate::failure::{Failure, Outcome, warn};
use crate::file_name::{FileName, hexadecimal, is_standard, name};
use crate::folders;
use crate::image_file;
use crate::numbers::short;
use crate::output::{Destination, Text};
use crate::progress::Progress;
use crate::spec;
use crate::stdio::{check_standard_input, stdin};
use petal::{Digest, DigestFindOptions, DigestFindResult};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// How many bytes are read at a time.
const PIECE: usize = 1 << 18;

/// The probability from which on a chance match is worth a warning.
const WORTH_A_WARNING: f64 = 0.01;

/// What `petal digest make` says as JSON.
#[derive(Serialize)]
struct Made {
    #[serde(flatten)]
    file: FileName,
    files: u64,
    bytes: u64,
    fill: f64,
    entry_rate: f64,
    shortest_excerpt: u64,
}

pub fn make(args: &digest::Make, common: args::Common) -> Outcome {
    check_standard_input(args.files.iter().map(PathBuf::as_path))?;
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let files = folders::files_of(&args.files)?;
    let length = folders::bytes_of(&files, destination.path())?;
    let capacity = match (args.capacity, length) {
        (Some(capacity), _) => capacity,
        (None, Some(length)) => length.max(1),
        (None, None) => return Err(Failure::new("the bytes of a pipe are not known before: --capacity N says them")),
    };
    let names = names(&files);
    let mut digest = petal::Digest::new(&spec::of_digest(args, capacity, files.len(), names.len())?)?;
    if digest.names_payloads() {
        digest.attach(&names)?;
    }
    let mut progress = Progress::new("reading", length);
    let mut piece = vec![0; PIECE];
    for (id, path) in (0..).zip(&files) {
        let failed = |error: std::io::Error| Failure::io(name(path), &error);
        let mut file = if is_standard(path) { stdin() } else { File::open(path) }.map_err(failed)?;
        digest.begin(id)?;
        loop {
            let read = match file.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            digest.write(&piece[..read])?;
            progress.add(read as u64);
        }
        digest.end()?;
    }
    drop(progress);
    if digest.insertions() > capacity {
        let insertions = digest.insertions();
        warn(format_args!(
            "{insertions} bytes are more than the capacity of {capacity}, so that chance matches are likelier"
        ));
    }
    destination.write(&digest)?;
    if common.json {
        let mut text = Text::new()?;
        text.json(&Made {
            file: FileName::of(destination.path()),
            files: files.len() as u64,
            bytes: digest.insertions(),
            fill: digest.fill(),
            entry_rate: digest.entry_rate(),
            shortest_excerpt: digest.shortest_excerpt(),
        })?;
        text.flush()?;
    }
    Ok(0)
}

/// The attachment: the names in the order of their ids, each followed by NUL.
fn names(files: &[PathBuf]) -> Vec<u8> {
    files.iter().flat_map(|path| path.as_os_str().as_encoded_bytes().iter().copied().chain([0])).collect()
}

/// A place as JSON.
#[derive(Serialize)]
struct Place {
    payload: Option<u64>,
    file: Option<String>,
    /// The bytes of a name that is not UTF-8, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<String>,
    offset: u64,
    span: u64,
}

/// What was found of an excerpt, as JSON.
#[derive(Serialize)]
struct Report {
    excerpt: usize,
    length: usize,
    matches: Vec<Place>,
    is_complete: bool,
    rate: f64,
    wrong_segments: f64,
}

pub fn find(args: &digest::Find, common: args::Common) -> Outcome {
    check_standard_input(args.excerpt_file.iter().map(PathBuf::as_path).chain([&*args.digest]))?;
    let excerpts = excerpts(args)?;
    let digest = image_file::open_digest(&args.digest, image_file::secret(&args.secret)?)?;
    image_file::warn_if_unclean(&args.digest, &digest);
    let attachment = digest.attachment()?;
    let names: Vec<&[u8]> = attachment.split(|byte| *byte == 0).collect();
    let name_of = |payload: Option<u64>| {
        let index = usize::try_from(payload?).ok()?;
        // The last piece is what follows the last NUL.
        names.get(index).copied().filter(|_| index + 1 < names.len())
    };
    let options = DigestFindOptions {
        max_lookups: args.max_lookups,
        max_matches: usize::try_from(args.max_matches).unwrap_or(usize::MAX),
        ..DigestFindOptions::default()
    };
    let mut text = Text::new()?;
    let mut any = false;
    for (i, excerpt) in excerpts.iter().enumerate() {
        let number = i + 1;
        let found = digest
            .find(excerpt, &options)
            .map_err(|error| Failure::new(format_args!("{}: excerpt {number}: {error}", name(&args.digest))))?;
        any |= found.is_found();
        warn_of(number, &digest, &found);
        if common.json {
            let place = |one: &petal::DigestMatch| Place {
                payload: one.payload,
                file: name_of(one.payload).map(|name| String::from_utf8_lossy(name).into_owned()),
                file_bytes: name_of(one.payload).and_then(hexadecimal),
                offset: one.offset,
                span: one.span,
            };
            text.json(&Report {
                excerpt: number,
                length: excerpt.len(),
                matches: found.matches.iter().map(place).collect(),
                is_complete: found.is_complete,
                rate: found.rate,
                wrong_segments: found.wrong_segments,
            })?;
        } else if !common.quiet {
            for one in &found.matches {
                if excerpts.len() > 1 {
                    text.write(format_args!("{number}\t"))?;
                }
                print(&mut text, one, name_of(one.payload))?;
            }
        }
    }
    text.flush()?;
    Ok(u8::from(!any))
}

/// Prints a place: the file's name, or the payload's id, and the offset.
fn print(text: &mut Text, one: &petal::DigestMatch, file: Option<&[u8]>) -> Outcome<()> {
    match (file, one.payload) {
        (Some(file), _) => text.name(&path_of(file))?,
        (None, Some(payload)) => text.write(payload)?,
        (None, None) => text.write("-")?,
    }
    match one.span {
        0 | 1 => text.line(format_args!("\t{}", one.offset)),
        span => text.line(format_args!("\t{}-{}", one.offset, one.offset + span - 1)),
    }
}

/// Warns of a search that did not end, and of matches that chance may have made.
fn warn_of(number: usize, digest: &Digest, found: &DigestFindResult) {
    if !found.is_complete {
        warn(format_args!("excerpt {number}: the search stopped at its bounds, so that there may be more matches"));
    }
    if found.is_found() && found.rate > WORTH_A_WARNING {
        let (rate, length) = (short(100.0 * found.rate), digest.shortest_excerpt_at(WORTH_A_WARNING));
        let enough = match length {
            Ok(Some(length)) => format!("; excerpts of {length} bytes are long enough for 1 %"),
            _ => String::new(),
        };
        warn(format_args!("excerpt {number}: an excerpt of this length is found by chance with {rate} %{enough}"));
    } else if found.is_found() && found.wrong_segments > WORTH_A_WARNING {
        let wrong = short(found.wrong_segments);
        warn(format_args!("excerpt {number}: some {wrong} wrong places are named with the right one, on average"));
    }
}

/// The excerpts: of files, in hexadecimal, and as they are.
fn excerpts(args: &digest::Find) -> Outcome<Vec<Vec<u8>>> {
    let mut excerpts = Vec::new();
    for path in &args.excerpt_file {
        let failed = |error: std::io::Error| Failure::io(name(path), &error);
        let file = if is_standard(path) { stdin() } else { File::open(path) }.map_err(failed)?;
        let mut excerpt = Vec::new();
        // One byte more than the library takes, so that the library says what is too long.
        file.take(DigestFindOptions::default().max_excerpt + 1).read_to_end(&mut excerpt).map_err(failed)?;
        excerpts.push(excerpt);
    }
    for digits in &args.hex {
        let bytes = digits.as_bytes();
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
        let excerpt: Option<Vec<u8>> = bytes.chunks(2).map(pair).collect();
        excerpts
            .push(excerpt.ok_or_else(|| {
                Failure::new(format_args!("--hex {digits}: is no even number of hexadecimal digits"))
            })?);
    }
    excerpts.extend(args.texts.iter().map(|text| text.as_encoded_bytes().to_vec()));
    if excerpts.is_empty() {
        return Err(Failure::new("no excerpt was given: TEXT, --hex DIGITS or --excerpt-file FILE"));
    }
    Ok(excerpts)
}

/// The path with these bytes, of which an image has any.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
