//! The command line of `petal index`.

use super::{Hashing, Output, Secret};
use crate::manual;
use crate::numbers;
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// `petal index`.
#[derive(Args, Debug)]
pub struct Index {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `petal index`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make an index of fingerprints, of documents with terms, or of files.
    ///
    /// The format `fps` is chemfp's text format: a line `#FPS1`, then hexadecimal digits, a tab and a name on each
    /// line. `hex` has lines of hexadecimal digits, with or without a tab and a name. `terms` has documents: a name and
    /// the document's terms, separated by tabs. With `files` each file is a document, and its terms are all sequences
    /// of --grams bytes, so that a search finds the files that may have a text.
    ///
    /// Documents take as many bits as keep --fpr for nine of ten documents. The rate is that of a term, and an answer
    /// to several terms is wrong far more seldom.
    #[command(after_long_help = manual::after_help("index build"))]
    Build(Build),
    /// Print the names of rows that have all bits of a query, or are similar to it.
    ///
    /// In an index of fingerprints a QUERY is hexadecimal digits. In an index of documents all QUERYs are the terms of
    /// one query. In an index of files each QUERY is a text: every file that has the text is printed, and others are
    /// by chance.
    ///
    /// The rows come in the order of the input. With --at-least the command prints the rows with this similarity or
    /// more, the most similar first. With more than one query, the name or number of the query and a tab come first.
    #[command(after_long_help = manual::after_help("index search"))]
    Search(Search),
    /// Print the rows that are most similar to a query: `name TAB similarity`.
    ///
    /// With more than one query, the name or number of the query and a tab come first.
    #[command(after_long_help = manual::after_help("index top"))]
    Top(Top),
    /// Describe an index.
    #[command(after_long_help = manual::after_help("index info"))]
    Info(Info),
    /// Write the rows of an index in the format FPS, each with its name or id.
    #[command(after_long_help = manual::after_help("index export"))]
    Export(Info),
}

/// `petal index build`.
#[derive(Args, Debug)]
pub struct Build {
    /// What the input has: fps, hex, terms or files. If not given, fps for an input that begins with #FPS1, else hex.
    #[arg(long, value_name = "F", value_parser = ["fps", "hex", "terms", "files"])]
    pub format: Option<String>,
    /// The bits of a row: of fingerprints, if the input does not say it; of documents, in place of --fpr.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub width: Option<u64>,
    /// How often a document seems to have a term that it does not have; 0.01 if not given, and 0.1 for
    /// files.
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub fpr: Option<f64>,
    /// The bytes of the sequences that are terms of files, 3 to 8. Texts need as many bytes.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(3..=8))]
    pub grams: u8,
    /// The bits do not nest, as those of circular fingerprints: refuse searches for rows with all bits of a query.
    #[arg(long)]
    pub not_nesting: bool,
    /// How features are hashed.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Sets another parameter of the kind `index`; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Where the index goes.
    #[command(flatten)]
    pub output: Output,
    /// Files; - is standard input. With --format files, also folders.
    #[arg(value_name = "FILES", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
}

/// What is searched for.
#[derive(Args, Debug)]
pub struct Queries {
    /// A file of queries, one on each line, as the input of the index has rows; texts for an index of files. - is
    /// standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub queries: Option<PathBuf>,
    /// How similarity is measured: tanimoto, dice, cosine, hamming, or tversky:A,B with weights for the bits that only
    /// the query has, and only the row.
    #[arg(long, value_name = "M", default_value = "tanimoto")]
    pub measure: String,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::FilePath)]
    pub index: PathBuf,
    /// Queries.
    #[arg(value_name = "QUERY")]
    pub texts: Vec<std::ffi::OsString>,
}

/// `petal index search`.
#[derive(Args, Debug)]
pub struct Search {
    /// Print the rows with at least this similarity, from 0 to 1.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub at_least: Option<f64>,
    /// What is searched for.
    #[command(flatten)]
    pub queries: Queries,
}

/// `petal index top`.
#[derive(Args, Debug)]
pub struct Top {
    /// How many rows are printed.
    #[arg(short = 'k', value_name = "N", default_value_t = 10, value_parser = numbers::positive)]
    pub k: u64,
    /// What is searched for.
    #[command(flatten)]
    pub queries: Queries,
}

/// `petal index info` and `petal index export`.
#[derive(Args, Debug)]
pub struct Info {
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::FilePath)]
    pub index: PathBuf,
}
