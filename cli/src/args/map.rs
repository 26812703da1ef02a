//! The command line of `petal map`.

use super::{Hashing, Keys, Output, Resources, Secret, kinds};
use crate::manual;
use crate::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `petal map`.
#[derive(Args, Debug)]
pub struct Map {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `petal map`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a map of keys and their values.
    ///
    /// Each record is a key, a tab, and the key's value: a decimal number from 0 to 18446744073709551615. The last tab
    /// counts, so that a key may have tabs in it. A key may come again with the same value, but not with another value.
    /// The input is read once, also from a file, and 24 bytes of each key are kept until all keys are known. The map is
    /// written when it is complete, as by `petal build`.
    #[command(after_long_help = manual::after_help("map build"))]
    Build(Build),
    /// Print the values of keys: `key TAB value`, or with -v the keys that certainly are not there.
    ///
    /// The command leaves out keys that are not there. With -q it prints nothing, and ends at the first selected key.
    #[command(after_long_help = manual::after_help("map get"))]
    Get(Get),
    /// Give keys values in a map, in place, in addition to the values that they have.
    ///
    /// For the kind `approximator`, which takes keys at any time and joins the values of each key as its parameter
    /// lattice says: to the greatest, the least, or the union. Records are as for `petal map build`. Where reading
    /// records fails half-way, the records before are in the map, and the file is sound. Where the command itself is
    /// stopped, by Ctrl-C too, the file stays marked as unclean: see `petal mark-clean`.
    #[command(after_long_help = manual::after_help("map put"))]
    Put(Change),
    /// Give keys that are in a map other values, in place.
    ///
    /// For the kind `mutable_bloomier`. Says how many values were replaced, and how many keys certainly are not in the
    /// map; these change nothing. Replace only values of keys that the map was built from. The map takes other keys for
    /// such keys at its false-positive rate, and then replaces another key's value. `petal help map put` says what
    /// happens where reading the records fails, or the command is stopped.
    #[command(after_long_help = manual::after_help("map replace"))]
    Replace(Change),
}

/// `petal map build`.
#[derive(Args, Debug)]
pub struct Build {
    /// The kind of map; `petal kinds` lists them.
    #[arg(long, value_name = "K", value_parser = kinds(petal::Handle::Map))]
    pub kind: Option<String>,
    /// The greatest share of absent keys that get a value, such as 0.01 (the default).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// How many keys to make room for, in a kind that takes more keys later; if not given, at least those of the input.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
    /// How keys are hashed.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Sets a parameter that only this kind takes; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// What memory and threads the work may take.
    #[command(flatten)]
    pub resources: Resources,
    /// Where the map goes.
    #[command(flatten)]
    pub output: Output,
    /// The keys with their values.
    #[command(flatten)]
    pub entries: Entries,
}

/// Keys with their values.
#[derive(Args, Debug)]
pub struct Entries {
    /// Records end with NUL instead of newline.
    #[arg(short = '0', long = "null", visible_short_alias = 'z')]
    pub null: bool,
    /// Lines end with CR and LF, as on Windows: the CR is no part of the value.
    #[arg(long, conflicts_with = "null")]
    pub crlf: bool,
    /// What stands between key and value, such as , or =; a tab if not given.
    #[arg(short, long, value_name = "TEXT", default_value = "\\t", hide_default_value = true)]
    #[arg(value_parser = numbers::delimiter)]
    pub delimiter: String,
    /// Files with a key and its value on each line; - is standard input.
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// `petal map put` and `petal map replace`.
#[derive(Args, Debug)]
pub struct Change {
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The map.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub map: PathBuf,
    /// The keys with their values.
    #[command(flatten)]
    pub entries: Entries,
}

/// `petal map get`.
#[derive(Args, Debug)]
pub struct Get {
    /// Select the keys that certainly are not in the map.
    #[arg(short = 'v', long)]
    pub invert: bool,
    /// Print only how many keys are selected.
    #[arg(short, long)]
    pub count: bool,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The map.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub map: PathBuf,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}
