//! The command lines of `petal diff` and `petal sync`.

use super::Secret;
use crate::numbers;
use clap::{ArgGroup, Args, ValueHint};
use std::path::PathBuf;

/// How records become keys, of which each side has one file.
#[derive(Args, Clone, Copy, Debug)]
pub struct Records {
    /// Records end with NUL instead of newline.
    #[arg(short = '0', long = "null", visible_short_alias = 'z')]
    pub null: bool,
    /// Lines end with CR and LF, as on Windows: the CR is no part of the key.
    #[arg(long, conflicts_with = "null")]
    pub crlf: bool,
}

/// `petal diff`.
#[derive(Args, Debug)]
pub struct Diff {
    /// How records become keys.
    #[command(flatten)]
    pub records: Records,
    /// The keys that are compared with a sketch are numbers: decimal ones below 2^64, or hexadecimal ones after 0x.
    #[arg(long)]
    pub numbers: bool,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// A file of keys, or a sketch; - is keys on standard input.
    #[arg(value_name = "LEFT", value_hint = ValueHint::FilePath)]
    pub left: PathBuf,
    /// Another file of keys, or sketch; - is keys on standard input.
    #[arg(value_name = "RIGHT", value_hint = ValueHint::FilePath)]
    pub right: PathBuf,
}

/// `petal sync`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("other").args(["peer", "listen", "connect"]).required(true))]
pub struct Sync {
    /// A command line for the shell, on Windows for `cmd`. It runs `petal sync` on the other side, and passes its
    /// standard input and output on. With - this is the other side, and its own standard input and output are the
    /// channel.
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub peer: Option<String>,
    /// Wait for one connection of the other side at this address, such as 127.0.0.1:7000.
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Connect to the other side at this address.
    #[arg(long, value_name = "HOST:PORT")]
    pub connect: Option<String>,
    /// Add the keys that only the other side has to KEYS. The command replaces the file in one step. The other side
    /// adds keys to its file only if its own command line says so too.
    #[arg(long)]
    pub exchange: bool,
    /// End after this many seconds in which nothing comes from the other side and nothing goes to it; 0 for no limit.
    /// --listen waits for its connection without a limit.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, allow_negative_numbers = true)]
    #[arg(value_parser = numbers::whole)]
    pub timeout: u64,
    /// How records become keys.
    #[command(flatten)]
    pub records: Records,
    /// The file of keys.
    #[arg(value_name = "KEYS", value_hint = ValueHint::FilePath)]
    pub keys: PathBuf,
}
