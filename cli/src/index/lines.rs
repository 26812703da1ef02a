//! Lines of fingerprints and documents. What is wrong is said with the number of the line.

use crate::failure::{Failure, Outcome};
use crate::file_name::{is_standard, name};
use crate::origin::Origin;
use crate::stdio::stdin;
use crate::text;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The first line of the format FPS.
pub const MAGIC: &[u8] = b"#FPS1";

/// The most bytes of a line: a row of the greatest width as digits, and names or terms.
const LONGEST: usize = 1 << 24;

/// What lines have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Rows as hexadecimal digits.
    Fingerprints,
    /// Documents with terms.
    Documents,
    /// Texts that are searched for, or their terms.
    Queries,
}

impl What {
    /// The plural, for messages.
    fn name(self) -> &'static str {
        match self {
            What::Fingerprints => "fingerprints",
            What::Documents => "documents",
            What::Queries => "queries",
        }
    }
}

/// A file that is read line by line.
pub struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    number: u64,
    line: Vec<u8>,
    /// Whether the line is to be given once more.
    again: bool,
}

impl<'a> Lines<'a> {
    /// Opens a file of such things. Refuses a file that is compressed or in UTF-16. Hexadecimal digits have no byte
    /// order mark before them, so that one is skipped there.
    pub fn open(path: &'a Path, what: What) -> Outcome<Lines<'a>> {
        let failed = |error| Failure::io(name(path), &error);
        let file = if is_standard(path) { stdin() } else { File::open(path) };
        let mut reader = BufReader::with_capacity(1 << 18, file.map_err(failed)?);
        let start = reader.fill_buf().map_err(failed)?;
        if what == What::Fingerprints && start.starts_with(text::MARK) {
            reader.consume(text::MARK.len());
        } else {
            text::check_start(&Origin::of(path, what.name()), start, b'\n')?;
        }
        Ok(Lines { path, reader, number: 0, line: Vec::new(), again: false })
    }

    /// Reads a line, without its end: a newline, or a carriage return and a newline.
    pub fn line(&mut self) -> Outcome<Option<&[u8]>> {
        if !std::mem::take(&mut self.again) {
            self.line.clear();
            loop {
                let buffer = self.reader.fill_buf().map_err(|error| Failure::io(name(self.path), &error))?;
                let end = memchr::memchr(b'\n', buffer).map(|at| at + 1);
                let taken = end.unwrap_or(buffer.len());
                if taken == 0 && self.line.is_empty() {
                    return Ok(None);
                }
                self.line.extend_from_slice(&buffer[..taken]);
                self.reader.consume(taken);
                if self.line.len() > LONGEST {
                    self.number += 1;
                    return Err(self.failed(format_args!("the line is longer than {LONGEST} bytes")));
                }
                if end.is_some() || taken == 0 {
                    break;
                }
            }
            self.number += 1;
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
                if self.line.last() == Some(&b'\r') {
                    self.line.pop();
                }
            }
        }
        Ok(Some(&self.line))
    }

    /// The line that was read last comes once more.
    pub fn put_back(&mut self) {
        self.again = true;
    }

    /// What is wrong with the line that was read last.
    pub fn failed(&self, what: impl std::fmt::Display) -> Failure {
        Failure::new(format_args!("{}: line {}: {what}", name(self.path), self.number))
    }
}

/// A fingerprint: its bits, the first in the lowest bit of the first byte, and its name if it has one.
pub struct Fingerprint {
    pub bytes: Vec<u8>,
    pub name: Option<Vec<u8>>,
}

/// Reads fingerprints in the formats FPS and hex.
pub struct Fingerprints<'a> {
    lines: Lines<'a>,
    is_fps: bool,
    /// The bits of each, once the input or the first of them says it.
    pub width: Option<u64>,
}

impl<'a> Fingerprints<'a> {
    /// Opens a file, and reads its header. `is_fps` is `None` if the first line says the format; `width` is what each
    /// fingerprint has to have, if it is known.
    pub fn open(path: &'a Path, is_fps: Option<bool>, width: Option<u64>) -> Outcome<Fingerprints<'a>> {
        let mut lines = Lines::open(path, What::Fingerprints)?;
        let begins = lines.line()?.is_some_and(|line| line == MAGIC);
        let mut all = Fingerprints { lines, is_fps: is_fps.unwrap_or(begins), width };
        if !all.is_fps {
            all.lines.put_back();
            return Ok(all);
        }
        if !begins {
            all.lines.number = all.lines.number.max(1);
            return Err(all.lines.failed("the format fps begins with a line #FPS1"));
        }
        while let Some(line) = all.lines.line()? {
            if !line.starts_with(b"#") {
                all.lines.put_back();
                break;
            }
            let Some(bits) = line.strip_prefix(b"#num_bits=") else { continue };
            let bits = std::str::from_utf8(bits).ok().and_then(|bits| bits.parse().ok()).filter(|bits| *bits > 0_u64);
            let Some(bits) = bits else {
                return Err(all.lines.failed("num_bits is no positive number"));
            };
            if let Some(width) = all.width.filter(|width| *width != bits) {
                return Err(all.lines.failed(format_args!("num_bits={bits} where rows have {width} bits")));
            }
            all.width = Some(bits);
        }
        Ok(all)
    }

    /// The next fingerprint.
    pub fn fingerprint(&mut self) -> Outcome<Option<Fingerprint>> {
        let (is_fps, width) = (self.is_fps, self.width);
        let Some(line) = self.lines.line()? else { return Ok(None) };
        match parse(line, is_fps, width) {
            Ok(fingerprint) => {
                self.width = Some(width.unwrap_or(8 * fingerprint.bytes.len() as u64));
                Ok(Some(fingerprint))
            }
            Err(what) => Err(self.lines.failed(what)),
        }
    }
}

/// The fingerprint of a line, or what is wrong with it.
fn parse(line: &[u8], is_fps: bool, width: Option<u64>) -> Result<Fingerprint, String> {
    if is_fps && line.starts_with(b"#") {
        return Err("a line of the header comes after fingerprints".into());
    }
    let mut fields = line.split(|byte| *byte == b'\t');
    let digits = fields.next().unwrap_or_default();
    let name = fields.next();
    match name {
        None if is_fps => return Err("a tab and a name are missing after the fingerprint".into()),
        Some([]) => return Err("the name is empty".into()),
        _ if !is_fps && fields.next().is_some() => return Err("there is more than digits, a tab and a name".into()),
        _ => {}
    }
    if name.is_some_and(|name| name.contains(&0)) {
        return Err("a name has the byte NUL".into());
    }
    let bytes = hex(digits).ok_or("the fingerprint is no even number of hexadecimal digits")?;
    check_width(&bytes, width)?;
    Ok(Fingerprint { bytes, name: name.map(<[u8]>::to_vec) })
}

/// Refuses another number of bytes than a fingerprint of this width has, and bits after the last one.
pub fn check_width(bytes: &[u8], width: Option<u64>) -> Result<(), String> {
    let Some(width) = width else {
        return if bytes.is_empty() { Err("the fingerprint is empty".into()) } else { Ok(()) };
    };
    let given = bytes.len() as u64;
    if given != width.div_ceil(8) {
        return Err(format!("a fingerprint of {given} bytes where {width} bits are {} bytes", width.div_ceil(8)));
    }
    let rest = width % 8;
    match bytes.last() {
        Some(last) if rest != 0 && last >> rest != 0 => Err(format!("a bit is set after the last of {width} bits")),
        _ => Ok(()),
    }
}

/// The bytes of hexadecimal digits.
pub fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::{check_width, hex, parse};

    #[test]
    fn digits() {
        assert_eq!(hex(b"0fA0"), Some(vec![0x0f, 0xa0]));
        assert_eq!((hex(b""), hex(b"0"), hex(b"0g"), hex(b"+1")), (Some(vec![]), None, None, None));
    }

    #[test]
    fn widths() {
        assert!(check_width(&[0xff, 0x3f], Some(14)).is_ok());
        for (bytes, width) in [(&[0xff, 0x40][..], Some(14)), (&[0], Some(14)), (&[0; 3], Some(14)), (&[], None)] {
            assert!(check_width(bytes, width).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn lines_that_are_no_fingerprints() {
        for (line, is_fps, words) in [
            (&b"00"[..], true, "name are missing"),
            (b"00\t", true, "name is empty"),
            (b"00\t", false, "name is empty"),
            (b"00\ta\tb", false, "more than digits"),
            (b"0\ta", true, "even number"),
            (b" 00\ta", true, "even number"),
            (b"#x", true, "header"),
            (b"#x", false, "even number"),
            (b"00\ta\0b", true, "NUL"),
            (b"", false, "empty"),
        ] {
            let what = parse(line, is_fps, None).err().unwrap();
            assert!(what.contains(words), "{what}");
        }
        // Fields after the name are for others.
        assert_eq!(parse(b"07\tname\tmore", true, Some(3)).unwrap().name.unwrap(), b"name");
    }
}
