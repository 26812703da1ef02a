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
    /// counts, so that a key may have tabs in it. A key may come again with the same value, but not with another one.
    /// The input is read once, from wherever it comes, and 24 bytes of each key are kept until all are known. The map
    /// is written when it is complete, as by `petal build`.
    #[command(after_long_help = manual::after_help("map build"))]
    Build(Build),
    /// Print the values of keys: `key TAB value`, or with -v the keys that certainly are not there.
    ///
    /// Keys that are not there are left out. With -q nothing is printed, and the first selected key ends it.
    #[command(after_long_help = manual::after_help("map get"))]
    Get(Get),
}

/// `petal map build`.
#[derive(Args, Debug)]
pub struct Build {
    /// The kind of map; `petal kinds` lists them.
    #[arg(long, value_name = "K", value_parser = kinds(true))]
    pub kind: Option<String>,
    /// The greatest share of absent keys that get a value, such as 0.01 (the default).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// How keys are hashed.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Sets a parameter that only this kind takes; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// What the work may take.
    #[command(flatten)]
    pub resources: Resources,
    /// Where it goes.
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
    #[arg(short = '0', long = "null")]
    pub null: bool,
    /// What stands between key and value, such as , or =; a tab if not given.
    #[arg(short, long, value_name = "TEXT", default_value = "\\t", hide_default_value = true)]
    #[arg(value_parser = numbers::delimiter)]
    pub delimiter: String,
    /// Files with a key and its value on each line; - is standard input.
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
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
