//! Where results go: text to standard output, filters to a file or to standard output.

use crate::TROUBLE;
use crate::failure::{Failure, Outcome};
use crate::keys::Inputs;
use petal::Filter;
use std::fmt;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write, stdout};
use std::path::{Path, PathBuf};

/// Text, or records, for standard output.
pub struct Text(BufWriter<StdoutLock<'static>>);

impl Text {
    /// Standard output.
    pub fn new() -> Text {
        Text(BufWriter::with_capacity(1 << 16, stdout().lock()))
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.0.write_all(bytes).map_err(failed)
    }

    /// A line.
    pub fn line(&mut self, line: impl fmt::Display) -> Outcome<()> {
        writeln!(self.0, "{line}").map_err(failed)
    }

    /// Sends off what has gathered. Without this the last of it would be lost, and its errors with it.
    pub fn flush(&mut self) -> Outcome<()> {
        self.0.flush().map_err(failed)
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::new()
    }
}

/// As after `head`: a reader of lines who has had enough is no trouble.
fn failed(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::Quiet(0),
        _ => Failure::io("standard output", &error),
    }
}

/// Lines of columns: the first to the left, the others to the right.
#[derive(Default)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// One line more.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl fmt::Display>) {
        self.0.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }

    /// Prints the lines, each column as wide as its widest cell.
    pub fn print(&self, text: &mut Text) -> Outcome<()> {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.0.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.0 {
            let mut line = String::new();
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let cell = if i == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
                line.push_str(&cell);
            }
            text.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Where a filter is to be written.
pub struct Destination(Option<PathBuf>);

impl Destination {
    /// What `-o` says: a file, or standard output for `-` or nothing. Finds out before the work whether it can be.
    pub fn new(path: Option<&Path>) -> Outcome<Destination> {
        let path = path.filter(|path| path.as_os_str() != "-");
        let Some(path) = path else {
            if stdout().is_terminal() {
                return Err(Failure::new("a filter is not for a terminal to show: -o FILE saves it, or redirect it"));
            }
            return Ok(Destination(None));
        };
        if path.is_dir() {
            return Err(Failure::new(format_args!("-o {}: is a directory", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match folder.metadata() {
            Ok(metadata) if metadata.is_dir() => Ok(Destination(Some(path.to_path_buf()))),
            Ok(_) => Err(Failure::new(format_args!("-o {}: its folder is not a folder", path.display()))),
            Err(error) => Err(Failure::io(format_args!("-o {}", path.display()), &error)),
        }
    }

    /// Refuses to write over the keys.
    pub fn check_apart_from(&self, inputs: &Inputs) -> Outcome<()> {
        match &self.0 {
            Some(path) if inputs.contains(path) => {
                Err(Failure::new(format_args!("-o {}: is one of the KEYS files too", path.display())))
            }
            _ => Ok(()),
        }
    }

    /// Writes the filter. A file is replaced at once and as a whole, or stays as it was.
    pub fn write(&self, filter: &dyn Filter) -> Outcome<()> {
        if let Some(path) = &self.0 {
            return filter.save(path).map_err(|error| Failure::new(format_args!("-o {}: {error}", path.display())));
        }
        let mut out = stdout().lock();
        let mut outcome = Ok(());
        let written = filter.serialize(&mut |bytes| {
            outcome = out.write_all(bytes);
            if outcome.is_ok() { Ok(()) } else { Err(petal::Status::Callback.into()) }
        });
        // Half a filter is of no use to anybody.
        outcome.and_then(|()| out.flush()).map_err(|error| match failed(error) {
            Failure::Quiet(_) => Failure::Quiet(TROUBLE),
            failure => failure,
        })?;
        Ok(written?)
    }
}
