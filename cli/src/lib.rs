//! The command `petal`, as a library so that tests and fuzzers can reach its parts.
//!
//! A file a subcommand; [`args`] is the command line, [`keys`] reads records, [`output`] writes. Which kinds of filters
//! there are is known to the library's registry and nowhere here.

pub mod args;
pub mod failure;
pub mod filter_file;
pub mod keys;
pub mod numbers;
pub mod output;
pub mod progress;

mod build;
mod check;
mod combine;
mod dedup;
mod estimate;
mod fold;
mod info;
mod insert;
mod kinds;
mod plan;
mod verify;

use args::{Cli, Command};
use clap::Parser;
use failure::{Failure, Outcome, note};
use std::ffi::OsString;
use std::io::Write;

/// The exit status of trouble.
pub const TROUBLE: u8 = 2;

/// Does what the arguments (the command's own name first) say; returns the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command,
        Err(error) => return usage(&error),
    };
    match dispatch(&command) {
        Ok(status) => status,
        Err(Failure::Quiet(status)) => status,
        Err(failure) => {
            note(&failure);
            TROUBLE
        }
    }
}

fn dispatch(command: &Command) -> Outcome {
    match command {
        Command::Build(args) => build::run(args),
        Command::Check(args) => check::run(args),
        Command::Insert(args) => insert::run(args),
        Command::Dedup(args) => dedup::run(args),
        Command::Info(args) => info::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Merge(args) => combine::run(args, |filter, other| filter.merge(other)),
        Command::Intersect(args) => combine::run(args, |filter, other| filter.intersect(other)),
        Command::Fold(args) => fold::run(args),
        Command::Estimate(args) => estimate::run(args),
        Command::Kinds => kinds::run(),
        Command::Plan(args) => plan::run(args),
    }
}

/// Help goes to standard output; a wrong command line becomes one line, without the usage.
fn usage(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        let _ = std::io::stdout().write_all(error.render().to_string().as_bytes());
        return 0;
    }
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = lines.join(" ");
    note(message.strip_prefix("error: ").unwrap_or(&message));
    TROUBLE
}
