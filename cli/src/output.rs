//! Where results go: text to standard output, filters and maps to a file or to standard output.

use crate::failure::{Failure, Outcome};
use crate::file_name::{hexadecimal, is_standard, name, shown};
use crate::keys::Inputs;
use crate::source::known;
use crate::stdio;
use petal::image::Sink;
use petal::{Base, Filter, Image};
use serde::Serialize;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write, stdout};
use std::path::{Path, PathBuf};

/// Text or records, for standard output.
pub struct Text(BufWriter<StdoutLock<'static>>);

impl Text {
    /// Opens standard output, unless it is closed.
    pub fn new() -> Outcome<Text> {
        stdio::check_output().map_err(failed)?;
        Ok(Text(BufWriter::with_capacity(1 << 16, stdout().lock())))
    }

    /// Writes a value as JSON, on its own line.
    pub fn json(&mut self, value: &impl Serialize) -> Outcome<()> {
        self.line(json(value)?)
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.0.write_all(bytes).map_err(failed)
    }

    /// Writes the name of a file that was read: byte by byte, except to a terminal, which would obey control
    /// characters.
    pub fn name(&mut self, path: &Path) -> Outcome<()> {
        if stdout().is_terminal() {
            return self.write(name(path));
        }
        let name = if is_standard(path) { OsStr::new("standard input") } else { path.as_os_str() };
        self.bytes(name.as_encoded_bytes())
    }

    /// Writes a piece of a line.
    pub fn write(&mut self, piece: impl fmt::Display) -> Outcome<()> {
        write!(self.0, "{piece}").map_err(failed)
    }

    /// Writes a line.
    pub fn line(&mut self, line: impl fmt::Display) -> Outcome<()> {
        writeln!(self.0, "{line}").map_err(failed)
    }

    /// Writes out the buffer. Without this call the end of the output, and its write errors, would be lost.
    pub fn flush(&mut self) -> Outcome<()> {
        self.0.flush().map_err(failed)
    }
}

/// A value as JSON, without a newline.
pub fn json(value: &impl Serialize) -> Outcome<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Numbers)).map_err(Failure::new)?;
    String::from_utf8(bytes).map_err(Failure::new)
}

/// Writes a zero without a sign, because -0.0 means nothing to a reader.
struct Numbers;

impl serde_json::ser::Formatter for Numbers {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        serde_json::ser::CompactFormatter.write_f64(writer, if value == 0.0 { 0.0 } else { value })
    }
}

/// A key in JSON, which has only text. U+FFFD stands for bytes that are not UTF-8; `key_bytes` then has the bytes of
/// the key in hexadecimal.
#[derive(Serialize)]
pub struct Key<'a> {
    key: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_bytes: Option<String>,
}

impl<'a> Key<'a> {
    /// The key with these bytes.
    pub fn of(bytes: &'a [u8]) -> Key<'a> {
        Key { key: String::from_utf8_lossy(bytes), key_bytes: hexadecimal(bytes) }
    }
}

fn failed(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::Quiet,
        _ => Failure::io("standard output", &error),
    }
}

/// A table: the first column is left-aligned, the others right-aligned, except a last column with words.
#[derive(Default)]
pub struct Table {
    lines: Vec<Vec<String>>,
    /// Whether the last column has words.
    ends_in_words: bool,
}

impl Table {
    /// An empty table whose last column has words.
    pub fn ending_in_words() -> Table {
        Table { ends_in_words: true, ..Table::default() }
    }

    /// Adds a line.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl fmt::Display>) {
        self.lines.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }

    /// Adds a line that spans all columns.
    pub fn heading(&mut self, text: &str) {
        self.lines.push(vec![text.to_owned()]);
    }

    /// Prints the lines, each column as wide as its widest cell.
    pub fn print(&self, text: &mut Text) -> Outcome<()> {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let rows = || self.lines.iter().filter(|row| row.len() > 1 || columns == 1);
        let width = |column: usize| rows().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.lines {
            let mut line = String::new();
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let cell = match i {
                    0 => format!("{cell:<width$}"),
                    _ if self.ends_in_words && i + 1 == columns => format!("  {cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                };
                line.push_str(&cell);
            }
            text.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Where the command writes a filter, map or sketch.
pub enum Destination {
    /// Standard output.
    Standard,
    /// A file, which the command replaces in one step.
    File(PathBuf),
    /// A named pipe or a device, which cannot be replaced.
    Stream(PathBuf),
}

impl Destination {
    /// The destination that `-o` names: a file, or standard output for `-` or without `-o`. Checks before the work
    /// whether the destination can be written, and whether standard output is free for `json`.
    pub fn new(path: Option<&Path>, json: bool) -> Outcome<Destination> {
        if json {
            stdio::check_output().map_err(failed)?;
        }
        let path = path.filter(|path| !is_standard(path));
        let Some(path) = path else {
            if json {
                return Err(Failure::new(
                    "--json: the filter goes to standard output, where JSON would go too; -o FILE saves the filter",
                ));
            }
            stdio::check_output().map_err(failed)?;
            if stdout().is_terminal() {
                return Err(Failure::new(
                    "a filter is not text for a terminal: save it with -o FILE, or redirect the output",
                ));
            }
            return Ok(Destination::Standard);
        };
        if path.is_dir() {
            return Err(Failure::new(format_args!("-o {}: is a directory", shown(path))));
        }
        if is_stream(path) {
            return Ok(Destination::Stream(path.to_path_buf()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match folder.metadata() {
            Ok(metadata) if metadata.is_dir() => Ok(Destination::File(path.to_path_buf())),
            Ok(_) => Err(Failure::new(format_args!("-o {}: the folder of the file is not a folder", shown(path)))),
            Err(error) => Err(Failure::io(format_args!("-o {}", shown(path)), &error)),
        }
    }

    /// Refuses a destination that is one of the KEYS files.
    pub fn check_apart_from(&self, inputs: &Inputs) -> Outcome<()> {
        match self {
            Destination::File(path) if inputs.contains(path) => {
                Err(Failure::new(format_args!("-o {}: is one of the KEYS files too", shown(path))))
            }
            _ => Ok(()),
        }
    }

    /// The path of the file; `-` for standard output.
    pub fn path(&self) -> &Path {
        match self {
            Destination::Standard => Path::new("-"),
            Destination::File(path) | Destination::Stream(path) => path,
        }
    }

    /// Writes the filter, map or sketch. A file is replaced in one step, or stays as it was.
    pub fn write(&self, image: &impl Image) -> Outcome<()> {
        self.take(image.base(), |sink| image.serialize_to(sink))
    }

    /// Writes the filter in a variant of another system's format. A file is replaced in one step, or stays as it was.
    pub fn write_in(&self, filter: &Filter, format: &str, variant: Option<&str>) -> Outcome<()> {
        let format = petal::interop::find(format)?;
        // A filter without a form in the format is refused before a file is opened.
        format.export(filter, variant, &mut |_| Ok(()))?;
        self.take(filter.base(), |sink| format.export(filter, variant, sink))
    }

    /// Writes what `write` gives to its sink of an image. A file is replaced in one step, or stays as it was.
    pub fn write_with(&self, image: &impl Image, write: impl FnOnce(&mut Sink) -> petal::Result<()>) -> Outcome<()> {
        self.take(image.base(), write)
    }

    /// Writes the bytes that stand for an image elsewhere. A file is replaced in one step, or stays as it was.
    pub fn write_bytes(&self, image: &impl Image, bytes: &[u8]) -> Outcome<()> {
        self.take(image.base(), |sink| sink(bytes))
    }

    fn take(&self, base: &Base, write: impl FnOnce(&mut Sink) -> petal::Result<()>) -> Outcome<()> {
        match self {
            Destination::Standard => stream(write, &mut stdout().lock(), failed),
            Destination::File(path) => petal::image::save_as(base, path, write).map_err(|error| {
                let error = Failure::at(path, &error);
                Failure::new(format_args!("-o {error}"))
            }),
            Destination::Stream(path) => {
                let failed = |error: io::Error| Failure::io(format_args!("-o {}", shown(path)), &error);
                stream(write, &mut File::options().write(true).open(path).map_err(failed)?, failed)
            }
        }
    }
}

/// Writes bytes to the file that an option names. A file is replaced in one step, or stays as it was.
pub fn save(option: &str, path: &Path, bytes: &[u8]) -> Outcome<()> {
    if is_stream(path) {
        let written = File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes));
        return written.map_err(|error| Failure::io(format_args!("{option} {}", shown(path)), &error));
    }
    petal::image::save_bytes(path, |sink| sink(bytes), || Ok(()))
        .map_err(|error| Failure::new(format_args!("{option} {}", Failure::at(path, &error))))
}

/// Whether something is at a path that cannot be replaced, such as a named pipe or a device.
fn is_stream(path: &Path) -> bool {
    known(path.metadata()).is_ok_and(|known| known.is_none_or(|metadata| !metadata.is_file()))
}

/// Writes the bytes of `write` to a stream.
fn stream(
    write: impl FnOnce(&mut Sink) -> petal::Result<()>,
    out: &mut impl Write,
    failed: impl Fn(io::Error) -> Failure,
) -> Outcome<()> {
    let mut outcome = Ok(());
    let written = write(&mut |bytes| {
        outcome = out.write_all(bytes);
        if outcome.is_ok() { Ok(()) } else { Err(petal::Status::Callback.into()) }
    });
    outcome.and_then(|()| out.flush()).map_err(failed)?;
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_in_json_have_no_sign() {
        let text = json(&[Some(-0.0), Some(0.0), Some(-0.5), None, Some(f64::NAN)]).expect("JSON");
        assert_eq!(text, "[0.0,0.0,-0.5,null,null]");
        assert_eq!(json(&Key::of(b"a\xff\"")).expect("JSON"), "{\"key\":\"a\u{fffd}\\\"\",\"key_bytes\":\"61ff22\"}");
        assert_eq!(json(&Key::of("\u{e9}".as_bytes())).expect("JSON"), "{\"key\":\"\u{e9}\"}");
    }
}
