//! The command line of `petal digest`.

use super::{Hashing, Output, Secret};
use crate::manual;
use crate::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `petal digest`.
#[derive(Args, Debug)]
pub struct Digest {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `petal digest`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a digest of files, and of all files in folders.
    ///
    /// The digest keeps the files' names and some hundredths of their bytes. The command reads each file once, and does
    /// not follow symbolic links inside folders.
    #[command(after_long_help = manual::after_help("digest make"))]
    Make(Make),
    /// Say in which files excerpts were, and where: `file TAB offset`.
    ///
    /// With more than one excerpt, the number of the excerpt and a tab come first. If blocks are cut by content, the
    /// excerpt begins from the first to the second of two offsets.
    ///
    /// Every excerpt that is long enough is found. An excerpt that no file has may be found all the same: the command
    /// warns if the probability is above 1 %.
    #[command(after_long_help = manual::after_help("digest find"))]
    Find(Find),
}

/// `petal digest make`.
#[derive(Args, Debug)]
pub struct Make {
    /// Bytes of memory for each byte of data, such as 0.05 (the default).
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub bytes_per_byte: Option<f64>,
    /// The bytes of a block, 32 if not given. Shorter blocks find shorter excerpts, and take more memory to do so well.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub block_bytes: Option<f64>,
    /// The levels of groups of blocks, 1 to 4. More levels help only digests without ids: --set payloads=0.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub levels: Option<f64>,
    /// How files are cut into blocks: fixed (the default) needs the least memory, content is found faster.
    #[arg(long, value_name = "CUT", value_parser = ["fixed", "content"])]
    pub cut: Option<String>,
    /// The bytes of data to make room for; the bytes of all files if not given. Standard input needs it.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
    /// How blocks are hashed.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Sets another parameter of the kind `digest`; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Where the digest goes.
    #[command(flatten)]
    pub output: Output,
    /// Files and folders; - is standard input.
    #[arg(value_name = "FILES", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
}

/// `petal digest find`.
#[derive(Args, Debug)]
pub struct Find {
    /// A file whose bytes are an excerpt; - is standard input. May be given more than once.
    #[arg(short = 'e', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub excerpt_file: Vec<PathBuf>,
    /// An excerpt in hexadecimal digits. May be given more than once.
    #[arg(long, value_name = "DIGITS")]
    pub hex: Vec<String>,
    /// How many places of an excerpt are printed at most.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = numbers::positive)]
    pub max_matches: u64,
    /// How many entries are looked up at most for an excerpt.
    #[arg(long, value_name = "N", default_value_t = 1 << 28, value_parser = numbers::positive)]
    pub max_lookups: u64,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The digest.
    #[arg(value_name = "DIGEST", value_hint = ValueHint::FilePath)]
    pub digest: PathBuf,
    /// Excerpts as they are.
    #[arg(value_name = "TEXT")]
    pub texts: Vec<std::ffi::OsString>,
}
