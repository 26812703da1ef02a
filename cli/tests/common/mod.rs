//! Runs the command as a shell does.
#![allow(dead_code, reason = "each test program uses a part")]

use petal::registry::FILTERS;
use petal::{Capabilities, Row};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What the system says of a file that is not there. Windows and Wine say it in their own words.
pub const NOT_THERE: &str = if cfg!(unix) { "No such file" } else { "" };

/// A file without bytes.
pub const NOTHING: &str = if cfg!(unix) { "/dev/null" } else { "NUL" };

/// What a run of the command gave.
#[derive(Debug)]
pub struct Run {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// Standard output, of a run that went well and said nothing on the side.
    pub fn quiet(self) -> Vec<u8> {
        assert_eq!((self.status, &*self.stderr), (0, ""), "{}", String::from_utf8_lossy(&self.stdout));
        self.stdout
    }

    /// Standard output as text, of a run that worked and said nothing else.
    pub fn text(self) -> String {
        String::from_utf8(self.quiet()).expect("text")
    }

    /// The message of a run that failed as it should: one line, after nothing on standard output.
    pub fn trouble(self) -> String {
        assert_eq!(self.status, 2, "{self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
        let message = self.stderr.strip_prefix("petal: ").and_then(|rest| rest.strip_suffix('\n'));
        let message = message.unwrap_or_else(|| panic!("{:?}", self.stderr));
        assert!(!message.is_empty() && !message.contains('\n'), "{message:?}");
        message.to_string()
    }

    /// Checks that the message of a run that failed as it should names certain things.
    #[track_caller]
    pub fn names(self, things: &[&str]) {
        let message = self.trouble();
        for thing in things {
            assert!(message.contains(thing), "{message:?} does not name {thing:?}");
        }
    }

    /// Checks that the messages of a run that failed, together with another command, name certain things.
    #[track_caller]
    pub fn names_among(self, things: &[&str]) {
        assert_eq!((self.status, &self.stdout[..]), (2, &b""[..]), "{self:?}");
        for thing in things {
            assert!(self.stderr.contains(thing), "{:?} does not name {thing:?}", self.stderr);
        }
    }
}

/// The command, to be given arguments.
pub fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_petal"))
}

/// Runs the command on nothing.
pub fn petal<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Run {
    petal_on(arguments, b"")
}

/// Runs the command with `input` coming through a pipe.
pub fn petal_on<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>, input: &[u8]) -> Run {
    run(command().args(arguments), input)
}

/// Runs a command with `input` coming through a pipe.
pub fn run(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("petal");
    let mut stdin = child.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        // It may end without having read everything.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("output")
    });
    let stderr = String::from_utf8(output.stderr).expect("messages are text");
    Run { status: output.status.code().expect("no signal"), stdout: output.stdout, stderr }
}

/// A folder with files in it.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Place {
        Place(TempDir::new().expect("a folder"))
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).expect("writing");
        self.path(name)
    }

    /// Runs the command here.
    pub fn petal(&self, line: &str) -> Run {
        self.petal_on(line, b"")
    }

    /// Runs the command here; the arguments are separated by spaces.
    pub fn petal_on(&self, line: &str, input: &[u8]) -> Run {
        run(command().args(line.split_whitespace()).current_dir(self.0.path()), input)
    }

    /// Runs the command here with arguments that may have spaces.
    pub fn petal_with<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Run {
        run(command().args(arguments).current_dir(self.0.path()), b"")
    }

    /// The names of the files.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

/// The kinds of filters.
pub fn kinds() -> impl Iterator<Item = &'static Row> {
    FILTERS.iter().filter(|row| row.hashing.universe.is_none())
}

/// Whether a filter finds every one of the last keys, as many as its capacity.
pub fn keeps_keys(row: &Row) -> bool {
    !row.capabilities.contains(Capabilities::AGE | Capabilities::MAY_LOSE_KEYS)
}

/// The kinds of filters that can do all of this.
pub fn able(capabilities: Capabilities) -> impl Iterator<Item = &'static Row> {
    kinds().filter(move |row| row.capabilities.contains(capabilities))
}

/// The numbers of a range as lines.
pub fn lines(range: std::ops::Range<u32>) -> Vec<u8> {
    range.flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// What `info --json` says of a filter.
pub fn info(path: &Path) -> serde_json::Value {
    let json = petal([OsStr::new("info"), OsStr::new("--json"), path.as_os_str()]).quiet();
    serde_json::from_slice(&json).expect("JSON")
}
