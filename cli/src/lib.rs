//! The command `petal`, as a library so that tests and fuzzers can reach its parts.
//!
//! Each subcommand has a file, and `petal redis` has a folder. [`args`] is the command line, [`keys`] reads records,
//! [`output`] writes. Only the library's registry knows the kinds of filters.

pub mod args;
pub mod failure;
pub mod file_name;
pub mod image_file;
pub mod keys;
pub mod manual;
pub mod numbers;
mod origin;
pub mod output;
pub mod plot;
pub mod progress;
pub mod signals;
pub mod spool;
pub mod stdio;

mod build;
mod check;
mod combine;
mod count;
mod dedup;
mod diff;
mod digest;
mod estimate;
mod fold;
mod folders;
mod formats;
mod hashes;
mod index;
mod info;
mod insert;
mod kinds;
mod map;
mod map_change;
mod plan;
mod records;
#[cfg(feature = "redis")]
mod redis;
mod rejuvenate;
mod remove;
mod resize;
mod sketch;
mod sketch_get;
mod source;
mod spec;
mod sync;
mod text;
mod verify;
mod mark_clean;
mod sparse;
mod wire;

use args::{Cli, Command};
use clap::FromArgMatches;
use clap::error::ErrorKind;
#[cfg(not(feature = "redis"))]
use clap::error::{ContextKind, ContextValue};
use failure::{Failure, Outcome};
use output::Text;
use std::ffi::OsString;
use std::io::Write;

/// The exit status for errors.
pub const TROUBLE: u8 = 2;

/// Runs the command line (the command's own name first), and returns the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let parsed = args::command().try_get_matches_from(arguments);
    let outcome = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => {
            failure::set_quiet(cli.common.quiet);
            dispatch(&cli)
        }
        Err(error) => usage(&error),
    };
    match outcome {
        Ok(status) => status,
        Err(Failure::Quiet) => TROUBLE,
        Err(failure) => {
            failure.tell();
            TROUBLE
        }
    }
}

fn dispatch(cli: &Cli) -> Outcome {
    let common = cli.common;
    match &cli.command {
        Command::Build(args) => build::run(args, common),
        Command::Check(args) => check::run(args, common),
        Command::Insert(args) => insert::run(args, common),
        Command::Remove(args) => remove::run(args, common),
        Command::Rejuvenate(args) => rejuvenate::run(args, common),
        Command::Count(args) => count::run(args, common),
        Command::Dedup(args) => dedup::run(args, common),
        Command::Info(args) => info::run(args, common),
        Command::Verify(args) => verify::run(args, common),
        Command::MarkClean(args) => mark_clean::run(args, common),
        Command::Merge(args) => combine::run(args, common, |filter, other| filter.merge(other)),
        Command::Intersect(args) => combine::run(args, common, |filter, other| filter.intersect(other)),
        Command::Fold(args) => fold::run(args, common),
        Command::Resize(args) => resize::run(args, common),
        Command::Import(args) => formats::import(args, common),
        Command::Export(args) => formats::export(args, common),
        Command::Pack(args) => wire::pack(args, common),
        Command::Unpack(args) => wire::unpack(args, common),
        Command::Delta(args) => wire::delta(args, common),
        Command::Patch(args) => wire::patch(args, common),
        Command::Formats => formats::list(common),
        Command::Estimate(args) => estimate::run(args, common),
        Command::Hashes(args) => hashes::run(args, common),
        Command::Kinds => kinds::run(common),
        Command::Map(args) => match &args.command {
            args::map::Command::Build(args) => map::build(args, common),
            args::map::Command::Get(args) => map::get(args, common),
            args::map::Command::Put(args) => map_change::put(args, common),
            args::map::Command::Replace(args) => map_change::replace(args, common),
        },
        Command::Sketch(args) => match &args.command {
            args::sketch::Command::Build(args) => sketch::build(args, common),
            args::sketch::Command::Insert(args) => sketch::insert(args, common),
            args::sketch::Command::Remove(args) => sketch::remove(args, common),
            args::sketch::Command::Get(args) => sketch_get::get(args, common),
            args::sketch::Command::Subtract(args) => sketch::combine(args, common, petal::Sketch::subtract),
            args::sketch::Command::Merge(args) => sketch::combine(args, common, petal::Sketch::merge),
            args::sketch::Command::List(args) => sketch::list(args, common),
            args::sketch::Command::Import(args) => sketch::import(args, common),
            args::sketch::Command::Export(args) => sketch::export(args, common),
        },
        Command::Digest(args) => match &args.command {
            args::digest::Command::Make(args) => digest::make(args, common),
            args::digest::Command::Find(args) => digest::find(args, common),
        },
        Command::Index(args) => match &args.command {
            args::index::Command::Build(args) => index::build::run(args, common),
            args::index::Command::Search(args) => index::search(args, common),
            args::index::Command::Top(args) => index::top(args, common),
            args::index::Command::Info(args) => index::info(args, common),
            args::index::Command::Export(args) => index::export(args, common),
        },
        Command::Diff(args) => diff::run(args, common),
        Command::Sync(args) => sync::run(args, common),
        #[cfg(feature = "redis")]
        Command::Redis(args) => redis::run(args, common),
        Command::Plan(args) => plan::run(args, common),
    }
}

/// Prints help to standard output. For a wrong command line, the failure is one line, without the usage.
fn usage(error: &clap::Error) -> Outcome {
    let text = error.render().to_string();
    if !error.use_stderr() {
        let mut out = Text::new()?;
        out.bytes(text.as_bytes())?;
        out.flush()?;
        return Ok(0);
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A closed standard error is no failure.
        let _ = std::io::stderr().write_all(text.as_bytes());
        return Ok(TROUBLE);
    }
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<&str>>().join(" ");
    let mut paragraphs = text.split("\n\n");
    let first = lines(paragraphs.next().unwrap_or_default());
    let mut message = first.strip_prefix("error: ").unwrap_or(&first).to_string();
    for tip in text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
        message.push_str("; ");
        message.push_str(tip);
    }
    let usage = text.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    if let Some(usage) = usage {
        let words = usage.split(' ').take_while(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
        message.push_str(&format!(" ({} --help says more)", words.collect::<Vec<&str>>().join(" ")));
    }
    #[cfg(not(feature = "redis"))]
    if error.get(ContextKind::InvalidSubcommand) == Some(&ContextValue::String(String::from("redis"))) {
        message = String::from(
            "this petal was built without `petal redis`: `make REDIS=1`, or CMake with \
            -DPETAL_CLI_REDIS=ON, builds it with that command",
        );
    }
    Err(Failure::new(message))
}
