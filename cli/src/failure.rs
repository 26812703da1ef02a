//! What ends the command early: one line for standard error, or nothing at all.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a subcommand stopped.
#[derive(Debug)]
pub enum Failure {
    /// What to tell the user, in one line.
    Message(String),
    /// Nothing to say: whoever read our output has closed it. This is the exit status then.
    Quiet(u8),
}

/// What subcommands return: the exit status, unless they fail.
pub type Outcome<T = u8> = Result<T, Failure>;

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl fmt::Display) -> Failure {
        Failure::Message(message.to_string())
    }

    /// An error of the system, and what it happened to.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Failure {
        Failure::new(format_args!("{what}: {error}"))
    }

    /// An error that the library found in, or with, the file at `path`.
    pub fn at(path: &Path, error: &petal::Error) -> Failure {
        // The library names the path itself where the system reported the error.
        if error.os_error() != 0 {
            return Failure::new(error);
        }
        let hint = match error.status() {
            petal::Status::KeyMissing | petal::Status::KeyMismatch => "; --key-file FILE gives the right one",
            petal::Status::Dirty => "; build it again",
            _ => "",
        };
        Failure::new(format_args!("{}: {error}{hint}", path.display()))
    }
}

impl From<petal::Error> for Failure {
    fn from(error: petal::Error) -> Failure {
        Failure::new(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A message is one line, whatever a file may be called.
            Failure::Message(message) => f.write_str(&message.replace(['\n', '\r'], " ")),
            Failure::Quiet(_) => Ok(()),
        }
    }
}

/// Tells the user something that does not end the command.
pub fn warn(message: impl fmt::Display) {
    note(format_args!("warning: {message}"));
}

/// Says something on standard error. Nobody listening there is no failure.
pub fn note(message: impl fmt::Display) {
    use io::Write;
    let _ = writeln!(io::stderr(), "petal: {message}");
}
