//! Why the command ends early: one line for standard error, or nothing at all.

use crate::file_name::{name, visible};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a subcommand stopped.
#[derive(Debug)]
pub enum Failure {
    /// The message for the user, in one line.
    Message(String),
    /// No message: the reader of our output has closed it (EPIPE). Tools that die of SIGPIPE, such as cat and grep, say
    /// nothing either.
    Quiet,
}

/// The result of a subcommand: the exit status, or a failure.
pub type Outcome<T = u8> = Result<T, Failure>;

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl fmt::Display) -> Failure {
        Failure::Message(message.to_string())
    }

    /// An error of the system, with the name of the file or step that failed.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Failure {
        Failure::new(format_args!("{what}: {error}"))
    }

    /// An error of the library about the file at `path`.
    pub fn at(path: &Path, error: &petal::Error) -> Failure {
        let hint = match error.status() {
            petal::Status::SecretMissing | petal::Status::SecretMismatch => "; --secret-file FILE gives the right one",
            petal::Status::Unclean => "; build it again, or see petal help mark-clean",
            _ => "",
        };
        Failure::new(format_args!("{}: {}{hint}", name(path), without_name(&error.to_string(), path)))
    }

    /// Reports the failure, even with `--quiet`.
    pub fn tell(&self) {
        say(format_args!("petal: {self}"));
    }
}

/// A message of the library without the file's name at its end or start: this command puts the name first, as other
/// tools do.
pub fn without_name(message: &str, path: &Path) -> String {
    let shown = path.display();
    let after = [": opening ", ": saving to ", ": "].map(|before| format!("{before}{shown}"));
    let rest = after.iter().find_map(|end| message.strip_suffix(end)).unwrap_or(message);
    rest.strip_prefix(&format!("{shown} ")).unwrap_or(rest).to_string()
}

impl From<petal::Error> for Failure {
    fn from(error: petal::Error) -> Failure {
        Failure::new(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A message stays one line, even if a file's name contains newlines.
            Failure::Message(message) => f.write_str(&visible(message)),
            Failure::Quiet => Ok(()),
        }
    }
}

/// Whether the user wants only errors: `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether warnings, notes and progress are shown.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether only errors are shown.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Warns about something that does not end the command.
pub fn warn(message: impl fmt::Display) {
    note(format_args!("warning: {message}"));
}

/// Writes a note to standard error, except with `--quiet`.
pub fn note(message: impl fmt::Display) {
    if !is_quiet() {
        say(format_args!("petal: {message}"));
    }
}

/// Writes a line to standard error. A closed standard error is no failure.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&line.to_string()));
}
