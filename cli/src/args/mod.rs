//! The command line. `build.rs` makes the man pages and the shell completions from it too.

pub mod map;
#[cfg(feature = "redis")]
pub mod redis;

use crate::manual;
use crate::numbers;
use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueHint};
use std::path::PathBuf;

/// Bloom filters and other approximate-membership structures from the shell.
///
/// A filter answers "have I seen this key?" without storing the keys. It never says no to a key that was inserted; of
/// other keys it says yes at a false-positive rate that you choose.
///
/// Keys are records: lines, or with -0 whatever lies between NUL bytes; with --field, one field of each. They are
/// bytes, not text: only the separator is taken off. KEYS are files, and `-`, or none, is standard input. `-` is
/// standard input too where a filter is only read, and for --key-file. Compressed input is refused, not decompressed.
///
/// Numbers of keys and bits may be written 1000000, 1e6 or 1M: the suffixes are k, M, G (powers of 1000) and Ki, Mi, Gi
/// (powers of 1024).
///
/// With --json each result is one JSON value on a line of its own: one for each file, pair of files or kind. Its names
/// are those of the library's structs, what is not known is null. It goes to standard output; where keys go there
/// (`dedup`), to standard error.
#[derive(Parser, Debug)]
#[command(name = "petal", version, max_term_width = 100, after_long_help = manual::after_help("petal"))]
#[command(arg_required_else_help = true)]
pub struct Cli {
    /// What all subcommands take.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What all subcommands take.
#[derive(Args, Clone, Copy, Debug)]
pub struct Common {
    /// Print results as JSON, a value on a line.
    #[arg(long, global = true, display_order = 100)]
    pub json: bool,
    /// Say nothing that is no result: no warnings, no reports, no progress; errors are still told.
    #[arg(short, long, global = true, display_order = 101)]
    pub quiet: bool,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a filter of keys.
    ///
    /// Without --capacity the keys are counted first, so they must come from regular files, which are read twice. Of a
    /// kind that is built from all of its keys, or that grows, they are read once, from wherever they come, and 8 bytes
    /// of each are kept until all are known: --threads and --memory-limit are for these. The filter is written when it
    /// is complete: the file that -o names is replaced at once and as a whole, and programs that have the old one open
    /// or mapped keep the old one.
    #[command(after_long_help = manual::after_help("build"))]
    Build(Build),
    /// Print the keys that may be in a filter, or with -v those that certainly are not.
    ///
    /// With --field whole records are printed. With -q nothing is printed, and the first selected key ends it.
    #[command(after_long_help = manual::after_help("check"))]
    Check(Check),
    /// Insert keys into a filter, in place.
    ///
    /// Where reading the keys fails half-way, those that were read are inserted, and the file is sound. Where the
    /// command itself is stopped, by Ctrl-C too, the file stays marked as dirty: see `petal sync`.
    #[command(after_long_help = manual::after_help("insert"))]
    Insert(Change),
    /// Remove keys from a filter, in place, one occurrence of each.
    ///
    /// Says how many were removed, and how many certainly were not there. Remove only keys that were inserted: one that
    /// was not, and that the filter takes for one that was, at its false-positive rate, is removed at the expense of
    /// others, which may then be missing. `petal help insert` says what happens where reading the keys fails, or the
    /// command is stopped.
    #[command(after_long_help = manual::after_help("remove"))]
    Remove(Change),
    /// Print how often each key was inserted, less how often it was removed: `count TAB key`.
    #[command(long_about = about_count(), after_long_help = manual::after_help("count"))]
    Count(KeysOfFilter),
    /// Pass each line the first time it comes, in the memory of a filter.
    ///
    /// A line that comes for the first time is lost where the filter takes it for one that it has seen. How many lines
    /// that happened to cannot be known without storing them all, but it can be estimated from the false-positive rate
    /// at the moment of each line; the estimate and its 95 % interval are reported at the end, on standard error. A
    /// filter that came to hold far more than --capacity loses nearly all new lines, and cannot tell how many: the
    /// report then says that the number is unknown.
    ///
    /// Without --capacity the filter grows with its lines and keeps its rate. With --window the last lines are remembered
    /// and those before them forgotten, so that a stream may go on for ever in the same memory. A line passes again once
    /// it was not seen for so long.
    #[command(after_long_help = manual::after_help("dedup"))]
    Dedup(Dedup),
    /// Describe filters.
    #[command(after_long_help = manual::after_help("info"))]
    Info(Info),
    /// Check every byte of filters' files against their checksums.
    #[command(after_long_help = manual::after_help("verify"))]
    Verify(Filters),
    /// Vouch for a file whose writer did not come to its end.
    ///
    /// Whoever inserts into a file marks it as dirty first and as clean at the end, with a new checksum. A file that
    /// stayed dirty is vouched for as it is now: it is written to the disk, its checksum made anew, and it is clean.
    ///
    /// This is right after `petal insert` or a program was stopped (Ctrl-C, kill, a crash of its own) and the machine
    /// went on: all that was inserted is in the file, and the keys whose insertion is in doubt can be inserted again,
    /// which does no harm. It is wrong after a crash of the machine or a loss of power: parts of the file may never
    /// have come to the disk, and keys are missing that the filter would deny. Build it again then. A clean file that
    /// `petal verify` rejects is damaged; it is refused here too.
    #[command(after_long_help = manual::after_help("sync"))]
    Sync(Filters),
    /// Write the union of filters.
    ///
    /// The filters must agree in kind, size, hash function and seed or key. The result has the same bits as a filter
    /// into which the keys of all were inserted.
    #[command(after_long_help = manual::after_help("merge"))]
    Merge(Combine),
    /// Write the intersection of filters.
    ///
    /// The filters must agree in kind, size, hash function and seed or key. The result holds every key that all hold,
    /// and other keys at a rate no higher than that of any of them.
    #[command(after_long_help = manual::after_help("intersect"))]
    Intersect(Combine),
    /// Make a filter smaller, without its keys.
    ///
    /// Folds by the greatest factor for which the false-positive rate to expect, with as many distinct keys as the
    /// filter holds now, is at most --fpr. Writes nothing, and says so, where no factor will do.
    #[command(after_long_help = manual::after_help("fold"))]
    Fold(Fold),
    /// Give a filter room for more keys, or for fewer, without its keys.
    ///
    /// It has the least size in which --capacity keys fit, and those that are there: larger or smaller by powers of two.
    /// Its rate with the keys that it holds stays as it is, and rises with those that are inserted then. It can still
    /// be merged with filters that it could be merged with before. `petal kinds` says which kinds can.
    #[command(after_long_help = manual::after_help("resize"))]
    Resize(Resize),
    /// Make a filter of another system's bytes.
    ///
    /// It has all that a filter has: keys are looked up and inserted, filters are merged and estimated, and `petal
    /// export` gives it back as the same bytes. `petal formats` lists the formats; docs/formats.md says of each how its
    /// owner makes bytes of a key.
    #[command(after_long_help = manual::after_help("import"))]
    Import(Import),
    /// Write a filter as another system's bytes.
    ///
    /// Only a filter that was imported, or made by `petal build --format`, has a form in a format: others place their
    /// keys elsewhere.
    #[command(after_long_help = manual::after_help("export"))]
    Export(Export),
    /// List the formats of other systems, and what can be done with each.
    ///
    /// R is read by `petal import`, W is written by `petal export`, C is created by `petal build --format`; ? is told
    /// from others by its first bytes, so that `petal info` and `petal check` need no --format.
    #[command(after_long_help = manual::after_help("formats"))]
    Formats,
    /// Estimate how many keys filters hold, and each two of them together and in common.
    ///
    /// Each estimate stands with its 95 % interval, and as it comes out: that of a small intersection may be negative.
    /// Two filters are compared if they agree in kind, size, hash function and seed or key.
    #[command(after_long_help = manual::after_help("estimate"))]
    Estimate(Filters),
    /// List what a filter stores of its keys: their hashes, reduced to numbers below a range.
    ///
    /// Only kinds that can enumerate have such numbers; `petal kinds` says which. They come in ascending order, one a
    /// line and each once; with --counts after how often it is there, for kinds that count. docs/format.md says how they
    /// come from hashes.
    #[command(after_long_help = manual::after_help("hashes"))]
    Hashes(Hashes),
    /// List the kinds of filters and maps: what they can do, and the parameters for --set.
    #[command(after_long_help = manual::after_help("kinds"))]
    Kinds,
    /// Make and ask maps, which know the values of keys and do not keep the keys.
    ///
    /// A map gives each key that it was built from exactly its value. Of other keys it says that they are not there,
    /// but for a share that you choose, which get some value. `petal info`, `verify` and `sync` take maps too.
    #[command(after_long_help = manual::after_help("map"))]
    Map(map::Map),
    /// Fill, ask and move filters in Redis and Valkey, in a server or a cluster.
    ///
    /// For servers with Petal's module. A set is one key, or with --shards N it is spread over the keys NAME:{0} to
    /// NAME:{N-1}, and over the nodes of a cluster with them: a key of the input is in the one whose number is its
    /// CRC-32 modulo N, for all programs that use the set. They all have to say the same N.
    #[cfg(feature = "redis")]
    #[command(after_long_help = manual::after_help("redis"))]
    Redis(redis::Redis),
    /// Say which kind of filter to take, and how large it will be.
    #[command(after_long_help = manual::after_help("plan"))]
    Plan(Plan),
}

/// Which keys.
#[derive(Args, Debug)]
pub struct Keys {
    /// Records end with NUL instead of newline.
    #[arg(short = '0', long = "null")]
    pub null: bool,
    /// The key is this field of a record, counted from 1, and not the whole record.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub field: Option<u64>,
    /// What separates fields, such as , or \t; runs of blanks and tabs if not given, those at the start left out.
    #[arg(short, long, value_name = "TEXT", requires = "field", value_parser = numbers::delimiter)]
    pub delimiter: Option<String>,
    /// Files with a key on each line; - is standard input.
    #[arg(value_name = "KEYS", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// Keys with their counts.
#[derive(Args, Debug)]
pub struct Counts {
    /// Each record is how often the key comes, a blank or tab, and the key, as `petal count` and `uniq -c` write them.
    #[arg(long, conflicts_with = "field")]
    pub counts: bool,
}

/// The secret of a keyed filter.
#[derive(Args, Debug)]
pub struct Secret {
    /// The secret key of a keyed filter: a file of 16 bytes, or of 32 hexadecimal digits, not all zeros.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
}

/// How keys are hashed.
#[derive(Args, Debug)]
pub struct Hashing {
    /// The hash function: xxh3 unless there is a secret key, and then siphash13.
    #[arg(long, value_name = "H", value_parser = hashes())]
    pub hash: Option<String>,
    /// The seed of the hash function. It tells filters apart; it is not a secret.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
}

/// What the work may take where all keys are collected first, as kinds need it that are built from all of their keys.
#[derive(Args, Debug)]
pub struct Resources {
    /// How many threads sort and build. The result is the same.
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// The most memory for collecting keys and for building, at least 1MiB; what there is no room for goes to a file.
    /// Solving takes 28 MB of two million keys and up to 118 MB, and of a map 45 MB and up to 202 MB, in any case.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = numbers::memory_limit)]
    pub memory_limit: Option<u64>,
    /// Where that file is made, which has no name: $TMPDIR or /tmp if not given.
    #[arg(short = 'T', long, value_name = "DIR", requires = "memory_limit", value_hint = ValueHint::DirPath)]
    pub temporary_directory: Option<PathBuf>,
}

/// Where a filter goes.
#[derive(Args, Debug)]
pub struct Output {
    /// The file to write; standard output if not given.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// `petal build`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("size").args(["fpr", "bits_per_key", "bits"]))]
pub struct Build {
    /// The kind of filter; `petal kinds` lists them.
    #[arg(long, value_name = "K", value_parser = kinds(false))]
    pub kind: Option<String>,
    /// The greatest false-positive rate with all keys in the filter, such as 0.01 (the default).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// Bits for each key, in the place of a rate: at most so many, of a kind that is built from all of its keys.
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = numbers::bits_per_key)]
    pub bits_per_key: Option<f64>,
    /// Another system's format, in which the filter is written: of the size that its owner would give it. `petal
    /// formats` lists them.
    #[arg(long, value_name = "F", value_parser = formats())]
    #[arg(conflicts_with_all = ["kind", "bits_per_key", "bits", "hashes", "hash", "set", "memory_limit", "counts"])]
    pub format: Option<String>,
    /// The variant of the format; the first of those that `petal formats` lists if not given.
    #[arg(long, value_name = "V", requires = "format")]
    pub variant: Option<String>,
    /// The exact number of bits; the most, of a kind that is built from all of its keys.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub bits: Option<u64>,
    /// The number of bits that a key sets; the best for the capacity if not given.
    #[arg(long, value_name = "K", requires = "bits", conflicts_with_all = ["fpr", "bits_per_key"])]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub hashes: Option<u32>,
    /// How many distinct keys to make room for; the number of records if not given. A kind that is built from all of
    /// its keys has room for these.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
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
    /// Whether there are counts.
    #[command(flatten)]
    pub counts: Counts,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal check`.
#[derive(Args, Debug)]
pub struct Check {
    /// Select the keys that certainly are not in the filter.
    #[arg(short = 'v', long)]
    pub invert: bool,
    /// Print only how many keys are selected.
    #[arg(short, long)]
    pub count: bool,
    /// What the file is where it is another system's, and its bytes do not tell.
    #[arg(long, value_name = "F", value_parser = formats(), conflicts_with = "key_file")]
    pub format: Option<String>,
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The filter.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// A filter, and keys that go into it, out of it, or are counted in it.
#[derive(Args, Debug)]
pub struct KeysOfFilter {
    /// The secret.
    #[command(flatten)]
    pub secret: Secret,
    /// The filter.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// A filter, and keys that go into it or out of it, perhaps with their counts.
#[derive(Args, Debug)]
pub struct Change {
    /// Whether there are counts.
    #[command(flatten)]
    pub counts: Counts,
    /// The filter and the keys.
    #[command(flatten)]
    pub of: KeysOfFilter,
}

/// Filters that are looked at.
#[derive(Args, Debug)]
pub struct Filters {
    /// The filters.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub filters: Vec<PathBuf>,
}

/// `petal dedup`.
#[derive(Args, Debug)]
pub struct Dedup {
    /// The kind of filter, which takes keys one by one; one that grows keeps its rate beyond N. `petal kinds` lists
    /// them.
    #[arg(long, value_name = "K", value_parser = kinds(false))]
    pub kind: Option<String>,
    /// How many distinct lines to expect; if not given, the filter grows with them: it is of a kind that does, such as
    /// scalable, which is the default then.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
    /// Remember the last N lines, or a little more, and forget those before them, in a filter that is as large however many
    /// come: of a kind that forgets, such as rotating, which is the default here.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    #[arg(conflicts_with = "capacity")]
    pub window: Option<u64>,
    /// The greatest false-positive rate, reached after N distinct lines, or kept to with a window.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    #[arg(default_value_t = petal::DEFAULT_FALSE_POSITIVE_RATE)]
    pub fpr: f64,
    /// The lines.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal info`.
#[derive(Args, Debug)]
pub struct Info {
    /// Read only the header: leave out the statistics, for which all bytes of the filter are read.
    #[arg(long)]
    pub no_statistics: bool,
    /// What the files are where they are another system's, and their bytes do not tell.
    #[arg(long, value_name = "F", value_parser = formats())]
    pub format: Option<String>,
    /// The filters.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub filters: Vec<PathBuf>,
}

/// `petal hashes`.
#[derive(Args, Debug)]
pub struct Hashes {
    /// Print how often each is there before it.
    #[arg(long)]
    pub counts: bool,
    /// What the file is where it is another system's, and its bytes do not tell.
    #[arg(long, value_name = "F", value_parser = formats())]
    pub format: Option<String>,
    /// The filter.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
}

/// `petal import`.
#[derive(Args, Debug)]
pub struct Import {
    /// The number of bits that places are taken modulo, where the bytes do not say it.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub bits: Option<u64>,
    /// The number of bits that a key sets, where the bytes do not say it.
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub hashes: Option<u32>,
    /// The seed of the hash function, where the bytes do not say it.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// P of a Golomb-coded set that is not as the format has it.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub rice_bits: Option<u32>,
    /// M of a Golomb-coded set that is not as the format has it.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub multiplier: Option<u64>,
    /// The key of the hash function, where the format has one.
    #[command(flatten)]
    pub secret: Secret,
    /// What the bytes are; `petal formats` lists the formats.
    #[arg(value_name = "FORMAT", value_parser = formats())]
    pub format: String,
    /// The bytes; - is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Where the filter goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal export`.
#[derive(Args, Debug)]
pub struct Export {
    /// The variant of the format; the one that it was imported in, or the first that `petal formats` lists, if not
    /// given.
    #[arg(long, value_name = "V")]
    pub variant: Option<String>,
    /// The filter.
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    /// What to write; `petal formats` lists the formats.
    #[arg(value_name = "FORMAT", value_parser = formats())]
    pub format: String,
    /// Where the bytes go.
    #[command(flatten)]
    pub output: Output,
}

/// `petal merge` and `petal intersect`.
#[derive(Args, Debug)]
pub struct Combine {
    /// The filters.
    #[arg(value_name = "FILTER", required = true, num_args = 2.., value_hint = ValueHint::FilePath)]
    pub filters: Vec<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal fold`.
#[derive(Args, Debug)]
pub struct Fold {
    /// The filter.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    /// The greatest false-positive rate that the smaller filter may have.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: f64,
    /// Where the result goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal resize`.
#[derive(Args, Debug)]
pub struct Resize {
    /// The filter.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    /// How many distinct keys it is to have room for.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: u64,
    /// Where the result goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal plan`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("goal").args(["fpr", "memory", "plot"]).required(true).multiple(true))]
pub struct Plan {
    /// How many distinct keys.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    #[arg(required_unless_present = "window")]
    pub keys: Option<u64>,
    /// The last W keys are to be remembered, and those before them forgotten.
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = numbers::positive)]
    #[arg(conflicts_with_all = ["keys", "growing", "is_static"])]
    pub window: Option<u64>,
    /// The greatest false-positive rate.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// The most memory, such as 64MiB or 1GB.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive_bytes)]
    #[arg(conflicts_with = "fpr")]
    pub memory: Option<u64>,
    /// Draw the false-positive rate against bits per key into this file, as SVG: a line for each kind that will do.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// All keys are known before the first lookup, and none comes later.
    #[arg(long = "static")]
    pub is_static: bool,
    /// Keys are integers, and less than U.
    #[arg(long, value_name = "U", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub universe: Option<u64>,
    /// There may come more keys than N, and the rate is to hold for them too.
    #[arg(long)]
    pub growing: bool,
    /// Single keys are to be removed.
    #[arg(long, visible_alias = "delete")]
    pub remove: bool,
    /// Kinds will do, too, that may say of keys which are there that they are not.
    #[arg(long)]
    pub may_lose_keys: bool,
    /// It is to be told how often a key was inserted.
    #[arg(long)]
    pub count: bool,
    /// It is to be told, and keys are inserted up to TIMES times.
    #[arg(long, value_name = "TIMES", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub times: Option<u64>,
}

/// The kinds of maps, or those of filters. The others are known too: what they are for is said when they are given.
fn kinds(maps: bool) -> Vec<PossibleValue> {
    let value = |row: &petal::Row| PossibleValue::new(row.name).help(row.summary).hide(row.is_map() != maps);
    petal::registry::all().map(value).collect()
}

/// What `petal count` does, with the greatest count of each kind that counts.
fn about_count() -> String {
    let greatest = petal::registry::FILTERS.iter().filter_map(|row| {
        let spec = petal::Spec { kind: Some(row.kind), ..petal::Spec::with_capacity(1, 0.5).ok()? };
        let most = petal::create(&spec).ok()?.kind().as_count()?.greatest_count();
        Some(format!("{most} for {}", row.name))
    });
    let greatest: Vec<String> = greatest.collect();
    format!(
        "Print how often each key was inserted, less how often it was removed: `count TAB key`.\n\nA count is never less \
         than that, unless keys were removed that had not been inserted, and may be more at the false-positive rate. 0 \
         means that the key certainly is not there. The greatest count stands for itself and all that is more: {}.",
        greatest.join(", ")
    )
}

/// The formats of other systems.
fn formats() -> Vec<PossibleValue> {
    petal::interop::FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.summary)).collect()
}

fn hashes() -> Vec<PossibleValue> {
    petal::HashFunction::ALL.iter().map(|function| PossibleValue::new(function.name())).collect()
}
