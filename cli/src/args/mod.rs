//! The command line. `build.rs` makes the man pages and the shell completions from it too.

pub mod digest;
pub mod index;
pub mod map;
pub mod sketch;
pub mod sync;
#[cfg(feature = "redis")]
pub mod redis;

use crate::manual;
use crate::numbers;
use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueHint};
use std::path::PathBuf;

/// Bloom filters and other approximate-membership structures from the shell.
///
/// A filter answers "have I seen this key?" without storing the keys. A filter never says no to a key that was
/// inserted. To other keys it says yes at a false-positive rate that you choose.
///
/// Keys are records: lines, or with -0 whatever lies between NUL bytes; with --field, one field of each record. Keys
/// are bytes, not text: the command removes only the separator. KEYS are files, and `-`, or no file, means standard
/// input. `-` also means standard input for a filter that the command only reads, and for --secret-file. The command
/// refuses compressed input.
///
/// Numbers of keys and bits may be written 1000000, 1e6 or 1M: the suffixes are k, M, G (powers of 1000) and Ki, Mi, Gi
/// (powers of 1024). A rate may be written 0.01 or 1%.
///
/// With --json each result is one JSON value on a line of its own: one for each file, pair of files or kind. Names are
/// the names of the library's structs, and an unknown number is null. Results go to standard output, except those of
/// `dedup`, whose lines go there: its results go to standard error. A file name that is not UTF-8 has U+FFFD in it, and
/// `file_bytes` has its bytes in hexadecimal.
#[derive(Parser, Debug)]
#[command(name = "petal", bin_name = "petal", version, max_term_width = 100)]
#[command(after_long_help = manual::after_help("petal"))]
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
    /// Print results and errors only: no warnings, no reports, no progress.
    #[arg(short, long, global = true, display_order = 101)]
    pub quiet: bool,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a filter of keys.
    ///
    /// Without --capacity the command counts the keys first, and then reads them a second time. For that it keeps the
    /// bytes of a pipe: up to 64 MiB in memory, and the rest in a file without a name. With --memory-limit that file
    /// has all bytes. Without --kind, the filter of a pipe grows with its keys instead. If a file becomes shorter
    /// meanwhile, the command fails, because some keys would be missing.
    ///
    /// For a kind that is built from all of its keys, or that grows, the command reads keys once, and keeps 8 bytes of
    /// each until all keys are known. --threads is for such kinds.
    ///
    /// The command writes the complete filter. It replaces the file that -o names in one step, and programs that have
    /// the old file open or mapped keep the old file.
    #[command(after_long_help = manual::after_help("build"))]
    Build(Box<Build>),
    /// Print the keys that may be in a filter, or with -v the others.
    ///
    /// With -v the command prints the keys that certainly are not in the filter. With --field the command still prints
    /// whole records. With -q it prints nothing, and ends at the first selected key.
    #[command(after_long_help = manual::after_help("check"))]
    Check(Check),
    /// Insert keys into a filter, in place.
    ///
    /// If reading the keys fails, the keys before the failure are inserted, and the file is sound. If the command
    /// itself is stopped, by Ctrl-C too, the file stays unclean: see `petal mark-clean`.
    #[command(after_long_help = manual::after_help("insert"))]
    Insert(Change),
    /// Remove keys from a filter, in place, one occurrence of each.
    ///
    /// Says how many keys were removed, and how many certainly were not there. Remove only keys that were inserted. The
    /// filter takes other keys for inserted ones at its false-positive rate; removing such a key removes parts of
    /// others, which may then be missing. `petal help insert` says what happens if reading the keys fails, or the
    /// command is stopped.
    #[command(after_long_help = manual::after_help("remove"))]
    Remove(Change),
    /// Restore the entries of keys in a filter to full length, in place.
    ///
    /// A filter that grows may shorten the entries of the keys that it has: its false-positive rate rises with them. A
    /// rejuvenated key adds as little to the rate as a new key. Says how many keys were rejuvenated, and how many are
    /// unchanged: their entries have full length already, or they certainly are not there.
    ///
    /// Rejuvenate only keys that were inserted: a key that the filter takes for another one, at its false-positive
    /// rate, takes the entry of that other key, which may then be missing. `petal help insert` says what happens if
    /// reading the keys fails, or the command is stopped. `petal kinds` says which kinds can.
    #[command(after_long_help = manual::after_help("rejuvenate"))]
    Rejuvenate(KeysOfFilter),
    /// Print how often each key is in a filter: `count TAB key`.
    #[command(long_about = about_count(), after_long_help = manual::after_help("count"))]
    Count(KeysOfFilter),
    /// Print each line the first time it comes, in the memory of a filter.
    ///
    /// A new line is lost if the filter takes it for a line that it has seen. Only a program that stores all lines
    /// could count the lost lines. The command estimates their number from the false-positive rate at the moment of
    /// each line. It reports the estimate and its 95 % interval at the end, on standard error. A filter with far more
    /// lines than --capacity loses nearly all new lines. The report then says that the number of lost lines is unknown.
    ///
    /// Without --capacity the filter grows with its lines and keeps its rate. With --window the filter remembers the
    /// last lines and forgets the lines before them, so that an endless stream needs no more memory. A line that did
    /// not come within the window passes again.
    #[command(after_long_help = manual::after_help("dedup"))]
    Dedup(Dedup),
    /// Describe filters.
    #[command(after_long_help = manual::after_help("info"))]
    Info(Info),
    /// Check every byte of filters' files against their checksums.
    #[command(after_long_help = manual::after_help("verify"))]
    Verify(Filters),
    /// Declare an unclean file clean as it is, once its writer is gone.
    ///
    /// A program that inserts into a file first marks the file as unclean. At the end it writes new checksums and marks
    /// the file as clean. This command does the same for an unclean file as it is now.
    ///
    /// Use the command if `petal insert` or another program was stopped (by Ctrl-C, kill or a crash) and the machine
    /// did not crash. The file then has all inserted keys, and inserting a key again does no harm. Do not use the
    /// command after a crash of the machine or a power failure: parts of the file may be missing on the disk, and the
    /// filter would deny keys. Build the filter again then. The command refuses a clean file that `petal verify`
    /// rejects, because such a file is damaged.
    #[command(after_long_help = manual::after_help("mark-clean"))]
    MarkClean(Filters),
    /// Write the union of filters.
    ///
    /// The filters must agree in kind, size, hash function and seed or secret. Filters of different inputs agree in
    /// size if they were built with the same --capacity. The result has the same bits as a filter into which the keys
    /// of all filters were inserted.
    #[command(after_long_help = manual::after_help("merge"))]
    Merge(Combine),
    /// Write the intersection of filters.
    ///
    /// The filters must agree in kind, size, hash function and seed or secret. The result holds every key that all
    /// filters hold, and other keys at a rate no higher than that of any of the filters.
    #[command(after_long_help = manual::after_help("intersect"))]
    Intersect(Combine),
    /// Make a filter smaller, without its keys.
    ///
    /// Folds by the greatest factor that keeps the expected false-positive rate at or below --fpr, with as many
    /// distinct keys as the filter holds now. If no factor keeps the rate, the command writes nothing, and says so.
    #[command(after_long_help = manual::after_help("fold"))]
    Fold(Fold),
    /// Give a filter room for more keys, or for fewer, without its keys.
    ///
    /// The new filter has the least size with room for --capacity keys and for the present keys; sizes differ by powers
    /// of two. The rate with the present keys stays, and rises with later keys. The new filter merges with the same
    /// filters as before. `petal kinds` says which kinds can be resized.
    #[command(after_long_help = manual::after_help("resize"))]
    Resize(Resize),
    /// Make a filter from another system's bytes.
    ///
    /// You can use the result like any other filter, and `petal export` gives the same bytes back. `petal formats`
    /// lists the formats; docs/formats.md says for each format how its owner makes bytes of a key.
    #[command(after_long_help = manual::after_help("import"))]
    Import(Import),
    /// Write a filter as another system's bytes.
    ///
    /// Only a filter that was imported, or made by `petal build --format`, has a form in a format. Other filters place
    /// their keys elsewhere.
    #[command(after_long_help = manual::after_help("export"))]
    Export(Export),
    /// Write the packed form of a filter, map or sketch, to be sent.
    ///
    /// The bits are arithmetic-coded. The packed form takes at most 1 % and 32 bytes more than the entropy of their
    /// fill. A filter with few bits set becomes small, and a filter with half of its bits set does not.
    #[command(after_long_help = manual::after_help("pack"))]
    Pack(Pack),
    /// Make a filter from its packed form.
    ///
    /// The filter is the one that was packed, to the byte. A few bytes may claim a large filter: --limit is the most
    /// bytes that the filter may have.
    #[command(after_long_help = manual::after_help("unpack"))]
    Unpack(Unpack),
    /// Write what changed from an older state of a filter to a newer one.
    ///
    /// A delta takes as many bytes as the changed bits need. `petal patch` takes the delta for filters in the older
    /// state only.
    #[command(after_long_help = manual::after_help("delta"))]
    Delta(Delta),
    /// Make the newer state of a filter from the older one and a delta.
    ///
    /// The result is the newer filter to the byte. If OLD is not in the older state of the delta, the command writes
    /// nothing.
    #[command(after_long_help = manual::after_help("patch"))]
    Patch(Patch),
    /// List the formats of other systems, and what each allows.
    ///
    /// R: `petal import` reads the format. W: `petal export` writes it. C: `petal build --format` creates it. ?: `petal
    /// info` and `petal check` recognise the format by its first bytes and need no --format.
    #[command(after_long_help = manual::after_help("formats"))]
    Formats,
    /// Estimate how many keys filters hold, and any two in common.
    ///
    /// For each two filters the command also estimates how many keys they hold together.
    /// The command prints each estimate with its 95 % interval. The estimate of a small intersection may be negative.
    /// Two filters are compared if they agree in kind, size, hash function and seed or secret. Otherwise the command
    /// estimates each filter alone, says why, and the exit status is 2. Filters of different inputs agree in size if
    /// they were built with the same --capacity.
    #[command(after_long_help = manual::after_help("estimate"))]
    Estimate(Filters),
    /// List the numbers that a filter stores for its keys.
    ///
    /// The numbers are the keys' hashes, reduced to numbers below a range. Only kinds that can enumerate have them;
    /// `petal kinds` says which. The numbers come in ascending order, one a line and each once. With --counts, for
    /// kinds that count, the count of each number comes before the number. docs/format.md says how the numbers come
    /// from hashes.
    #[command(after_long_help = manual::after_help("hashes"))]
    Hashes(Hashes),
    /// List the kinds: what they can do, and the parameters for --set.
    #[command(after_long_help = manual::after_help("kinds"))]
    Kinds,
    /// Make maps, and look values up.
    ///
    /// A map gives the values of keys, and does not store the keys. It gives the exact value of each key that it was
    /// built from. It says that other keys are absent, except for a share that you choose, which get a meaningless
    /// value. `petal info`, `verify` and `mark-clean` take maps too.
    #[command(after_long_help = manual::after_help("map"))]
    Map(map::Map),
    /// Make small sketches of sets, and list what only one set has.
    ///
    /// Subtracting the sketches of two sets leaves the keys that only one of them has. The size of a sketch depends on
    /// the number of differences that it can list, and not on the size of the sets. `petal info` and `petal verify`
    /// take sketches too.
    #[command(after_long_help = manual::after_help("sketch"))]
    Sketch(sketch::Sketch),
    /// Make digests of files, and find the file that an excerpt is from.
    ///
    /// A digest keeps some hundredths of the bytes of the files. `petal info` and `petal verify` take digests too.
    #[command(after_long_help = manual::after_help("digest"))]
    Digest(digest::Digest),
    /// Make indexes of fingerprints, documents or files, and search them.
    ///
    /// An index has rows of bits. A search finds the rows that are similar to a query, or that have all of its bits.
    /// `petal info` and `petal verify` take indexes too.
    #[command(after_long_help = manual::after_help("index"))]
    Index(index::Index),
    /// Print what only one of two sets has.
    ///
    /// A key that only LEFT has is printed as `< key`, and one that only RIGHT has as `> key`.
    ///
    /// LEFT and RIGHT are files of keys in any order, or sketches. A key that comes twice counts once. Files of keys
    /// take 16 bytes of memory for each key. Keys come in the order of their file, each once.
    ///
    /// Of two sketches the command prints the numbers that only one of them has. Of a sketch and a file of keys it
    /// prints the keys that only the file has, and the numbers of the keys that only the sketch has. `petal sketch
    /// build` makes sketches. A sketch of pinsketch does not say which side has a number: the mark is `?` then.
    #[command(after_long_help = manual::after_help("diff"))]
    Diff(sync::Diff),
    /// Compare a file of keys with that of another machine.
    ///
    /// Little more goes over the channel than what differs. Run the command on both sides. The command prints `< key`
    /// for keys that only this side has, and `> key` for keys that only the other side has. With --exchange the command
    /// adds to KEYS the keys that only the other side has. The keys that differ go over the channel, and some ten to
    /// thirty bytes more for each of these keys, but not the files. A key has at most 64 MiB.
    ///
    /// With --exchange, lines that other programs append to KEYS before it is replaced are in the new file. A program
    /// that keeps KEYS open would go on writing to the old file. On Linux the command ends with an error if there is
    /// such a program, and leaves KEYS as it is.
    ///
    /// The command trusts the channel: anybody at its other end may ask for all keys. Take ssh, or a network where
    /// only the two sides are.
    #[command(after_long_help = manual::after_help("sync"))]
    Sync(sync::Sync),
    /// Fill, look up and move filters in Redis and Valkey.
    ///
    /// For servers and clusters with Petal's module. A set is one key. With --shards N it is spread over the keys
    /// NAME:{0} to NAME:{N-1}, and with them over the nodes of a cluster. A key of the input is in the shard whose
    /// number is the key's CRC-32 modulo N. All programs that use the set have to say the same N.
    #[cfg(feature = "redis")]
    #[command(after_long_help = manual::after_help("redis"))]
    Redis(redis::Redis),
    /// Say which kind of filter to take, and how large it will be.
    ///
    /// Prints the kinds that fit, in groups by their other abilities. The smallest kind of a group comes first; with
    /// --memory the most accurate kind comes first.
    ///
    /// The asterisk marks the kind to take if you have no other needs. Among the kinds that are at most a quarter
    /// larger than the smallest, it marks the kind whose lookups touch the fewest cache lines. With --memory it chooses
    /// in the same way among the kinds with at most twice the rate of the most accurate kind. With --static it marks
    /// the smallest kind. If keys are only inserted, it never marks a kind that refuses keys when it is full.
    #[command(after_long_help = manual::after_help("plan"))]
    Plan(Plan),
}

/// Which keys a command takes, and how records become keys.
#[derive(Args, Debug)]
pub struct Keys {
    /// Records end with NUL instead of newline.
    #[arg(short = '0', long = "null", visible_short_alias = 'z')]
    pub null: bool,
    /// Lines end with CR and LF, as on Windows: the CR is no part of the key.
    #[arg(long, conflicts_with = "null")]
    pub crlf: bool,
    /// The key is this field of a record, counted from 1, and not the whole record.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub field: Option<u64>,
    /// The separator of fields, such as , or \t. If not given, runs of blanks and tabs separate fields, and those at
    /// the start of a record do not count.
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
    pub secret_file: Option<PathBuf>,
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

/// Limits for kinds that are built from all of their keys, which the command collects first.
#[derive(Args, Debug)]
pub struct Resources {
    /// How many threads sort and build. The result is the same.
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    #[arg(allow_negative_numbers = true, value_parser = numbers::threads)]
    pub threads: u32,
    /// The most memory for collecting keys and for building, at least 1MiB; keys that find no room go to a temporary
    /// file. Whatever the limit, solving takes 28 MB for two million keys and up to 118 MB; for a map 45 MB and up to
    /// 202 MB.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = numbers::memory_limit)]
    pub memory_limit: Option<u64>,
    /// The folder of the temporary file, which has no name: $TMPDIR if not given, or /tmp if $TMPDIR is not set or
    /// empty.
    #[arg(short = 'T', long, value_name = "DIR", requires = "memory_limit", value_hint = ValueHint::DirPath)]
    pub temporary_directory: Option<PathBuf>,
}

/// Where the command writes a filter.
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
    #[arg(long, value_name = "K", value_parser = kinds(petal::Handle::Filter))]
    pub kind: Option<String>,
    /// The greatest false-positive rate with all keys in the filter, such as 0.01 (the default).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// Bits for each key, in place of a rate. For a kind that is built from all of its keys, the most bits.
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = numbers::bits_per_key)]
    pub bits_per_key: Option<f64>,
    /// The format of another system in which the filter is written, in the size that the format's owner would choose.
    /// `petal formats` lists the formats.
    #[arg(long, value_name = "F", value_parser = formats())]
    #[arg(conflicts_with_all = ["kind", "bits_per_key", "bits", "hashes", "hash", "set", "memory_limit", "counts"])]
    pub format: Option<String>,
    /// The variant of the format; if not given, the first that `petal formats` lists.
    #[arg(long, value_name = "V", requires = "format")]
    pub variant: Option<String>,
    /// The exact number of bits. For a kind that is built from all of its keys, the most bits.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub bits: Option<u64>,
    /// The number of bits that a key sets; the best for the capacity if not given.
    #[arg(long, value_name = "K", requires = "bits", conflicts_with_all = ["fpr", "bits_per_key"])]
    #[arg(allow_negative_numbers = true, value_parser = numbers::few)]
    pub hashes: Option<u32>,
    /// How many distinct keys to make room for; the number of records if not given. A kind that is built from all of
    /// its keys has room for exactly those keys.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
    /// How keys are hashed.
    #[command(flatten)]
    pub hashing: Hashing,
    /// Keys are digests of MD5, SHA or BLAKE3 in hexadecimal digits, of which the filter takes its bits. --seed is the
    /// number of bits of a digest; that of the first digest if not given. The kind is bloom.
    #[arg(long, conflicts_with_all = ["hash", "secret_file", "format", "counts"])]
    pub hex_digests: bool,
    /// Sets a parameter that only this kind takes; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// A file with keys that are not in the filter, for which it gives no false answer; may be given more than once.
    /// The kind is then exact_set, if no other is given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["counts", "format"])]
    pub exclude: Vec<PathBuf>,
    /// A file with all keys that will be asked for, of which some are in the filter; may be given more than once. The
    /// filter gives no false answer for any of them. The kind is exact_set.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["counts", "format", "exclude"]
    )]
    pub universe: Vec<PathBuf>,
    /// The first N bytes of a key, such as its issuer, are its partition. Each partition is stored as suits its share
    /// of members. The kind is exact_set.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=64),
        conflicts_with_all = ["format", "counts"]
    )]
    pub partition_prefix: Option<u64>,
    /// Brings a filter of the kind exact_set up to date: the new filter is the old one and, after it, what changes. A
    /// delta of both is then as small as the change.
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath, conflicts_with_all = ["format", "counts"])]
    pub update: Option<PathBuf>,
    /// A file with keys that are not in the filter but are asked for often, for which it gives fewer false answers; may
    /// be given more than once. A key that comes again weighs more. The kind is then stacked, if no other is given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["counts", "format", "exclude", "universe", "update"])]
    pub frequent: Vec<PathBuf>,
    /// Each record of --frequent is how often the key is asked for, a blank or tab, and the key, as `uniq -c` writes
    /// them.
    #[arg(long, requires = "frequent", conflicts_with = "field")]
    pub weights: bool,
    /// What memory and threads the work may take.
    #[command(flatten)]
    pub resources: Resources,
    /// Where the filter goes.
    #[command(flatten)]
    pub output: Output,
    /// Whether keys come with their counts.
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
    /// Keys are hashes: decimal numbers below 2^64, or hexadecimal ones after 0x.
    #[arg(long, conflicts_with = "secret_file")]
    pub hashes: bool,
    /// Keys are digests of MD5, SHA or BLAKE3 in hexadecimal digits, for a filter that was built with this option. For
    /// a filter that takes keys whole, as most of other systems do, they are the bytes of any key in such digits.
    #[arg(long, conflicts_with_all = ["hashes", "secret_file"])]
    pub hex_digests: bool,
    /// The format of a file of another system, if its bytes do not show the format.
    #[arg(long, value_name = "F", value_parser = formats(), conflicts_with = "secret_file")]
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
    /// Keys are hashes: decimal numbers below 2^64, or hexadecimal ones after 0x.
    #[arg(long, conflicts_with = "secret_file")]
    pub hashes: bool,
    /// Keys are digests of MD5, SHA or BLAKE3 in hexadecimal digits, for a filter that was built with this option. For
    /// a filter that takes keys whole, as most of other systems do, they are the bytes of any key in such digits.
    #[arg(long, conflicts_with_all = ["hashes", "secret_file"])]
    pub hex_digests: bool,
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
    /// Whether keys come with their counts.
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
    /// The kind of filter, one that takes keys one by one; a kind that grows keeps its rate beyond N. `petal kinds`
    /// lists the kinds.
    #[arg(long, value_name = "K", value_parser = kinds(petal::Handle::Filter))]
    pub kind: Option<String>,
    /// How many distinct lines to expect. If not given, the filter is of a kind that grows with its lines, by default
    /// scalable.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
    /// Remember the last N lines, or a little more, and forget the lines before them. The filter is of a kind that
    /// forgets, by default rotating, and its size does not depend on how many lines come.
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
    /// The format of files of another system, where their bytes do not tell the format.
    #[arg(long, value_name = "F", value_parser = formats())]
    pub format: Option<String>,
    /// The filters.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub filters: Vec<PathBuf>,
}

/// `petal hashes`.
#[derive(Args, Debug)]
pub struct Hashes {
    /// Print the count of each number before the number.
    #[arg(long)]
    pub counts: bool,
    /// The format of a file of another system, if its bytes do not show the format.
    #[arg(long, value_name = "F", value_parser = formats())]
    pub format: Option<String>,
    /// The filter.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
}

/// `petal import`.
#[derive(Args, Debug)]
pub struct Import {
    /// The number of bits of the filter, the modulus of places, where the bytes do not say it.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub bits: Option<u64>,
    /// The number of bits that a key sets, where the bytes do not say it.
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = numbers::few)]
    pub hashes: Option<u32>,
    /// The seed of the hash function, where the bytes do not say it.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// P of a Golomb-coded set, where it is not the format's own.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::few)]
    pub rice_bits: Option<u32>,
    /// M of a Golomb-coded set, where it is not the format's own.
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
    /// The variant of the format. If not given, the variant in which the filter was imported, or the first that `petal
    /// formats` lists.
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

/// `petal pack`.
#[derive(Args, Debug)]
pub struct Pack {
    /// The filter.
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filter: PathBuf,
    /// Where the bytes go.
    #[command(flatten)]
    pub output: Output,
}

/// `petal unpack`.
#[derive(Args, Debug)]
pub struct Unpack {
    /// The most bytes that the filter may have.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = numbers::memory_limit)]
    #[arg(allow_negative_numbers = true)]
    pub limit: u64,
    /// The key of the hash function, if it has one.
    #[command(flatten)]
    pub secret: Secret,
    /// What `petal pack` wrote; - is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Where the filter goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal delta`.
#[derive(Args, Debug)]
pub struct Delta {
    /// The filter in its older state.
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub old: PathBuf,
    /// The filter in its newer state.
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub new: PathBuf,
    /// Where the delta goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal patch`.
#[derive(Args, Debug)]
pub struct Patch {
    /// The most bytes that the filter may have.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = numbers::memory_limit)]
    #[arg(allow_negative_numbers = true)]
    pub limit: u64,
    /// The filter in its older state.
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub old: PathBuf,
    /// What `petal delta` wrote; - is standard input.
    #[arg(value_name = "DELTA", value_hint = ValueHint::FilePath)]
    pub delta: PathBuf,
    /// Where the newer filter goes.
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
pub struct Plan {
    /// How many distinct keys.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    #[arg(required_unless_present = "window")]
    pub keys: Option<u64>,
    /// The filter remembers the last W keys, and forgets the keys before them.
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = numbers::positive)]
    #[arg(conflicts_with_all = ["keys", "growing", "is_static"])]
    pub window: Option<u64>,
    /// The greatest false-positive rate; 0.01 if neither this nor --memory is given.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// The most memory, such as 64MiB or 1GB.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive_bytes)]
    #[arg(conflicts_with = "fpr")]
    pub memory: Option<u64>,
    /// The most bytes of the packed form, which is sent: lists the filters that are larger, sparser, and less often
    /// wrong for these bytes, up to --memory.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = numbers::positive_bytes)]
    #[arg(conflicts_with_all = ["fpr", "window", "plot", "is_static", "universe", "growing", "remove", "shared"])]
    #[arg(conflicts_with_all = ["in_place", "merge", "may_lose_keys", "count", "times", "verbose"])]
    pub wire: Option<u64>,
    /// Draw the false-positive rate against bits per key into this file, as SVG: a line for each kind that will do.
    /// Without --fpr and --memory nothing is printed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// All keys are known before the first lookup, and none comes later.
    #[arg(long = "static")]
    pub is_static: bool,
    /// All keys that are asked for are known, members and others, and there are U: integers less than U, or any keys
    /// of which a builder is given all.
    #[arg(long, value_name = "U", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub universe: Option<u64>,
    /// Some keys that are no members are known and asked for often: the share of all lookups of absent keys that asks
    /// for them, such as 0.8.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = numbers::rate)]
    #[arg(requires = "is_static")]
    pub frequent: Option<f64>,
    /// How many keys of --frequent there are; as many as --keys if not given.
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = numbers::positive)]
    #[arg(requires = "frequent")]
    pub non_members: Option<u64>,
    /// More keys than N may come, and the rate has to hold for them too.
    #[arg(long)]
    pub growing: bool,
    /// Single keys are removed.
    #[arg(long, visible_alias = "delete")]
    pub remove: bool,
    /// Many threads, or processes, insert at once.
    #[arg(long)]
    pub shared: bool,
    /// The filter is changed in its file, while others read it.
    #[arg(long, conflicts_with = "plot")]
    pub in_place: bool,
    /// Filters are merged: one becomes the union of two.
    #[arg(long)]
    pub merge: bool,
    /// Take also kinds that may lose keys: such a kind may say no to a key that was inserted.
    #[arg(long)]
    pub may_lose_keys: bool,
    /// The filter says how often a key was inserted.
    #[arg(long)]
    pub count: bool,
    /// The filter says how often a key was inserted, up to TIMES times.
    #[arg(long, value_name = "TIMES", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub times: Option<u64>,
    /// Say why each other kind will not do.
    #[arg(short, long)]
    pub verbose: bool,
}

/// The command line, with a help in which the subcommands stand by what they are for.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (heading, names) in manual::GROUPS {
        groups += &format!("{heading}:\n");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            groups += &format!("  {name:<10}  {}\n", about.map(ToString::to_string).unwrap_or_default());
        }
        groups.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// The kinds of a handle. The other kinds are hidden values, so that a message can say what they are for.
fn kinds(handle: petal::Handle) -> Vec<PossibleValue> {
    let value = |row: &petal::Row| PossibleValue::new(row.name).help(row.summary).hide(row.handle() != handle);
    petal::registry::all().chain(petal::registry::SKETCHES).map(value).collect()
}

/// What `petal count` does, with the greatest count of each kind that counts.
fn about_count() -> String {
    let greatest = petal::registry::FILTERS.iter().filter_map(|row| {
        let spec = petal::Spec { kind: Some(row.kind), ..petal::Spec::with_capacity(1, 0.5).ok()? };
        let most = petal::Filter::new(&spec).ok()?.kind().as_count()?.greatest_count();
        Some(format!("{most} for {}", row.name))
    });
    let greatest: Vec<String> = greatest.collect();
    format!(
        "Print how often each key is in a filter: `count TAB key`.\n\nThat is how often the key was inserted, less how \
         often it was removed. A count is never too low, unless keys were removed that had not been inserted. A count \
         may be too high, at the false-positive rate. 0 means that the key certainly is not there. The greatest count \
         stands for itself and all that is more: {}.",
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
