//! Checks on the first bytes of an input: whether the input is a text of keys, and how its lines end.

use crate::failure::{Failure, Outcome, warn};
use crate::source::Source;
use memchr::memchr_iter;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first bytes of compressed files, and the tools that decompress them.
const COMPRESSED: [(&[u8], &str); 4] =
    [(b"\x1f\x8b\x08", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2")];

/// The bytes after `BZh` and a digit: the start of a block, or the end of an empty file.
const BZIP2: [&[u8]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The number of bytes that decide whether a text is UTF-16.
const SAMPLE: usize = 64;

/// Refuses an input that starts like a compressed file or a text in UTF-16, whose bytes are no keys. Warns if a byte
/// order mark becomes a part of the first key.
pub fn check_start(source: &Source, start: &[u8], separator: u8) -> Outcome<()> {
    if let Some(tool) = compressed_by(start) {
        return Err(Failure::new(format_args!(
            "{}: is compressed by {tool}, and its bytes are no keys: {tool} -dc {} | petal ...",
            source.name(),
            source.argument()
        )));
    }
    // Records that end with NUL may have any bytes.
    if separator != b'\n' {
        return Ok(());
    }
    if let Some(encoding) = utf_16(start) {
        return Err(Failure::new(format_args!(
            "{}: is text in UTF-16, and keys are lines of bytes: iconv -f {encoding} -t UTF-8 {} | petal ...",
            source.name(),
            source.argument()
        )));
    }
    static SAID: AtomicBool = AtomicBool::new(false);
    if start.starts_with(MARK) && !SAID.swap(true, Ordering::Relaxed) {
        warn(format_args!(
            "{}: starts with a byte order mark, which is taken for a part of the first key: tail -c +4 {} | petal ... \
             leaves it out",
            source.name(),
            source.argument()
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

/// Warns, once, if most of the first lines end with CR and LF: the carriage return becomes a part of each key.
pub fn warn_of_crlf(source: &Source, start: &[u8], separator: u8) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if separator != b'\n' || SAID.load(Ordering::Relaxed) {
        return;
    }
    let (mut lines, mut returns) = (0, 0);
    for end in memchr_iter(b'\n', start).take(16) {
        lines += 1;
        returns += u32::from(end > 0 && start[end - 1] == b'\r');
    }
    if 2 * returns > lines && !SAID.swap(true, Ordering::Relaxed) {
        warn(format_args!(
            "{}: lines end with CR and LF, and the CR is taken for a part of the key: --crlf takes it for a part of \
             the line's end",
            source.name()
        ));
    }
}
