//! Checks on the first bytes of an input: whether the input is a text of keys, and how its lines end.

use crate::failure::{Failure, Outcome, warn};
use crate::file_name::is_standard;
use crate::origin::Origin;
use crate::source::Source;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first bytes of compressed files, and the tools that decompress them.
const COMPRESSED: [(&[u8], &str); 4] =
    [(b"\x1f\x8b\x08", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2")];

/// The bytes after `BZh` and a digit: the start of a block, or the end of an empty file.
const BZIP2: [&[u8]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];

/// The byte order mark of UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// The number of bytes that decide whether a text is UTF-16.
const SAMPLE: usize = 64;

/// The message about a file that starts like a compressed one, and so is no image.
pub fn compressed(path: &Path, start: &[u8]) -> Option<String> {
    let tool = compressed_by(start)?;
    let Origin { name, argument, .. } = Origin::of(path, "");
    Some(match is_standard(path) {
        true => format!("{name}: is compressed by {tool}: {tool} -dc {argument} | petal ... decompresses it"),
        false => format!("{name}: is compressed by {tool}; decompress it first: {tool} -dc {argument} > OTHER"),
    })
}

/// Refuses an input that starts like a compressed file or a text in UTF-16, whose bytes are no keys. Warns if a byte
/// order mark becomes a part of the first key.
pub fn check_start(origin: &Origin, start: &[u8], separator: u8) -> Outcome<()> {
    let Origin { name, argument, what } = origin;
    if let Some(tool) = compressed_by(start) {
        return Err(Failure::new(format_args!(
            "{name}: is compressed by {tool}, and its bytes are no {what}: {tool} -dc {argument} | petal ..."
        )));
    }
    // Records that end with NUL may have any bytes.
    if separator != b'\n' {
        return Ok(());
    }
    if let Some(encoding) = utf_16(start) {
        return Err(Failure::new(format_args!(
            "{name}: is text in UTF-16, and {what} are lines of bytes: iconv -f {encoding} -t UTF-8 {argument} | petal \
             ..."
        )));
    }
    static SAID: AtomicBool = AtomicBool::new(false);
    if start.starts_with(MARK) && !SAID.swap(true, Ordering::Relaxed) {
        warn(format_args!(
            "{name}: starts with a byte order mark, which is taken for a part of the first of the {what}: tail -c +4 \
             {argument} | petal ... leaves it out"
        ));
    }
    Ok(())
}

fn compressed_by(start: &[u8]) -> Option<&'static str> {
    let (magic, tool) = COMPRESSED.iter().find(|(magic, _)| start.starts_with(magic))?;
    if *tool == "bzip2" && !start.get(magic.len() + 1..).is_some_and(|rest| BZIP2.iter().any(|b| rest.starts_with(b))) {
        return None;
    }
    Some(tool)
}

/// The encoding of a text in UTF-16, by iconv's name. A text with a byte order mark is UTF-16 if it has a NUL byte.
/// Without a mark, every second byte must be NUL.
fn utf_16(start: &[u8]) -> Option<&'static str> {
    let sample = &start[..start.len().min(SAMPLE)];
    let marked = sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff");
    if marked && sample.len().is_multiple_of(2) && sample.contains(&0) {
        return Some("UTF-16");
    }
    let (pairs, []) = sample.as_chunks::<2>() else { return None };
    if pairs.len() < 4 {
        return None;
    }
    match () {
        () if pairs.iter().all(|[low, high]| *low != 0 && *high == 0) => Some("UTF-16LE"),
        () if pairs.iter().all(|[high, low]| *low != 0 && *high == 0) => Some("UTF-16BE"),
        () => None,
    }
}

/// How many keys of an input there were so far, and how many of them end with a carriage return.
#[derive(Default)]
pub struct LineEnds {
    keys: u64,
    returns: u64,
}

/// Whether the warning about line ends came.
static SAID_OF_ENDS: AtomicBool = AtomicBool::new(false);

/// This many carriage returns are no accident, whatever the number of lines.
const MANY_RETURNS: u64 = 3;

impl LineEnds {
    /// Counts further keys, of which `returns` end with a carriage return. Warns once that the carriage return is a
    /// part of these keys.
    pub fn count(&mut self, source: &Source, keys: usize, returns: impl FnOnce() -> usize) {
        if SAID_OF_ENDS.load(Ordering::Relaxed) {
            return;
        }
        self.keys += keys as u64;
        self.returns += returns() as u64;
        if self.returns >= MANY_RETURNS || 2 * self.returns > self.keys {
            self.warn(source);
        }
    }

    /// Decides at the end of the input, of which a third may be enough.
    pub fn judge_all(&self, source: &Source) {
        if self.returns > 0 && 3 * self.returns >= self.keys {
            self.warn(source);
        }
    }

    fn warn(&self, source: &Source) {
        if SAID_OF_ENDS.swap(true, Ordering::Relaxed) {
            return;
        }
        let (name, Self { keys, returns }) = (source.name(), self);
        if keys == returns {
            warn(format_args!(
                "{name}: lines end with CR and LF, and the CR is taken for a part of the key: --crlf takes it for a \
                 part of the line's end"
            ));
        } else {
            warn(format_args!(
                "{name}: some lines end with CR and LF ({returns} of the first {keys}), others with LF, and the CR is \
                 taken for a part of the key: --crlf takes it for a part of the line's end"
            ));
        }
    }
}
