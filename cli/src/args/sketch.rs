//! The command line of `petal sketch`.

use super::{Hashing, Keys, Output, Secret, kinds};
use crate::manual;
use crate::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `petal sketch`.
#[derive(Args, Debug)]
pub struct Sketch {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `petal sketch`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a sketch of a set.
    ///
    /// The sketch is as large as --capacity asks for, however many keys the set has. Two sketches can be subtracted if
    /// they were made with the same --kind, --capacity, --fpr, --hash, --seed, --secret-file and --set.
    ///
    /// A sketch holds 64-bit numbers. The number of a key is its hash; with --numbers the keys are the numbers
    /// themselves. With --kind riblt --set key_bytes=16 the sketch holds whole keys of 16 bytes (8 to 64). The sketch
    /// does not list a key that comes twice: sort -u removes such keys.
    #[command(after_long_help = manual::after_help("sketch build"))]
    Build(Build),
    /// Insert keys into a sketch, in place.
    #[command(after_long_help = manual::after_help("sketch insert"))]
    Insert(Change),
    /// Remove keys from a sketch, in place.
    ///
    /// `petal sketch list` puts a minus sign before a key that was removed and never inserted.
    #[command(after_long_help = manual::after_help("sketch remove"))]
    Remove(Change),
    /// Say of each key whether the sketch has it: `key TAB +1` or -1 if so, 0 if not, ? if the sketch cannot say.
    ///
    /// The number is -1 for a key that was removed or subtracted. If the sketch has values, a tab and the value follow.
    /// Only sketches of the kind `iblt` with few keys can say much: a difference, or the sketch of a small set. No key
    /// may have been inserted twice.
    #[command(after_long_help = manual::after_help("sketch get"))]
    Get(Get),
    /// Subtract sketches from the first one, and write the difference.
    ///
    /// Numbers that both have are gone. `petal sketch list` puts a minus sign before numbers that only the others have.
    #[command(after_long_help = manual::after_help("sketch subtract"))]
    Subtract(Combine),
    /// Write the sum of sketches: the sketch of the union, if the sets have no common keys.
    #[command(after_long_help = manual::after_help("sketch merge"))]
    Merge(Combine),
    /// List the numbers that a sketch has: +number, or -number if it was removed or subtracted.
    ///
    /// If the sketch has values, a tab and the value follow. A number whose value differs is there twice. Whole keys
    /// (--set key_bytes) are listed in hexadecimal.
    ///
    /// Those with - come first, each in ascending order. If the sketch holds more than it can tell apart, the command
    /// lists those that it can, and the exit status is 1.
    #[command(after_long_help = manual::after_help("sketch list"))]
    List(List),
    /// Make a sketch from the bytes of another library.
    ///
    /// minisketch: serialized sketches, which become sketches of the kind pinsketch. Their bytes do not say how many
    /// bits an element has; --set field_bits=BITS does.
    #[command(after_long_help = manual::after_help("sketch import"))]
    Import(Import),
    /// Write a sketch as the bytes of another library.
    ///
    /// minisketch: serialized sketches, of sketches of the kind pinsketch.
    #[command(after_long_help = manual::after_help("sketch export"))]
    Export(Export),
}

/// Whether keys are numbers.
#[derive(Args, Debug)]
pub struct Numbers {
    /// Keys are numbers: decimal ones below 2^64, or hexadecimal ones after 0x.
    #[arg(long)]
    pub numbers: bool,
}

/// Whether keys have values.
#[derive(Args, Debug)]
pub struct Values {
    /// Each record is a key, a tab, and the key's value: a decimal number below 2^64, or a hexadecimal one after 0x.
    #[arg(long, conflicts_with = "field")]
    pub values: bool,
}

/// `petal sketch build`.
#[derive(Args, Debug)]
pub struct Build {
    /// The kind of sketch, `iblt` if not given; `petal kinds` lists them.
    #[arg(long, value_name = "K", value_parser = kinds(petal::Handle::Sketch))]
    pub kind: Option<String>,
    /// How many differences the sketch is to list.
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: u64,
    /// The greatest probability that the sketch cannot list that many differences, such as 0.01 (the default).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// How keys are hashed.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Sets a parameter that only this kind takes; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Whether keys are numbers.
    #[command(flatten)]
    pub numbers: Numbers,
    /// Whether keys have values.
    #[command(flatten)]
    pub values: Values,
    /// Where the sketch goes.
    #[command(flatten)]
    pub output: Output,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal sketch insert` and `petal sketch remove`.
#[derive(Args, Debug)]
pub struct Change {
    /// Whether keys are numbers.
    #[command(flatten)]
    pub numbers: Numbers,
    /// Whether keys have values.
    #[command(flatten)]
    pub values: Values,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The sketch.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sketch: PathBuf,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal sketch get`.
#[derive(Args, Debug)]
pub struct Get {
    /// Whether keys are numbers.
    #[command(flatten)]
    pub numbers: Numbers,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The sketch.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sketch: PathBuf,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal sketch subtract` and `petal sketch merge`.
#[derive(Args, Debug)]
pub struct Combine {
    /// The sketches.
    #[arg(value_name = "SKETCH", required = true, num_args = 2.., value_hint = ValueHint::FilePath)]
    pub sketches: Vec<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal sketch list`.
#[derive(Args, Debug)]
pub struct List {
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The sketch.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sketch: PathBuf,
}

/// The formats of `petal sketch import` and `petal sketch export`.
const FORMATS: [&str; 1] = ["minisketch"];

/// `petal sketch import`.
#[derive(Args, Debug)]
pub struct Import {
    /// How keys are hashed that come later.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Sets a parameter that the bytes do not say: field_bits, the bits of an element, 64 if not given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// What the bytes are.
    #[arg(value_name = "FORMAT", value_parser = FORMATS)]
    pub format: String,
    /// The bytes; - is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Where the sketch goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal sketch export`.
#[derive(Args, Debug)]
pub struct Export {
    /// The sketch.
    #[arg(value_name = "SKETCH", value_hint = ValueHint::FilePath)]
    pub sketch: PathBuf,
    /// What to write.
    #[arg(value_name = "FORMAT", value_parser = FORMATS)]
    pub format: String,
    /// Where the bytes go.
    #[command(flatten)]
    pub output: Output,
}
