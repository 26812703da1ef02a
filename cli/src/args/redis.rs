//! The command line of `petal redis`.

use super::{Keys, Output, Secret, kinds};
use crate::manual;
use crate::numbers;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// `petal redis`.
#[derive(Args, Debug)]
pub struct Redis {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `petal redis`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Add keys to a set, and make the shards that are not there.
    ///
    /// Each new shard is made for its share of --capacity and a little more. If the command ends half-way, it says for
    /// how many keys the server answered. The same command again adds the other keys, and changes nothing for keys that
    /// are there. Kinds that count or remove, and cuckoo filters, are the exception: they then hold a key twice, so
    /// delete such a set first.
    ///
    /// Without --capacity the command counts the keys first, and then reads them a second time. For that it keeps the
    /// bytes of a pipe, as `petal build` does.
    #[command(after_long_help = manual::after_help("redis build"))]
    Build(Build),
    /// Say how many keys may be in a set, and how many certainly are not; with -v, which ones are not.
    #[command(after_long_help = manual::after_help("redis check"))]
    Check(Check),
    /// Write the union of a set's shards, and of files, as one filter.
    ///
    /// The images of the shards come in chunks, one after the other. The shards must be alike. Without `build
    /// --mergeable` each shard has room for its share of the keys only. A filter with all keys would have a higher rate
    /// than --fpr, so the command refuses to merge such shards.
    #[command(after_long_help = manual::after_help("redis merge"))]
    Merge(Merge),
    /// Write the filters or maps of a set to files.
    ///
    /// The images come in chunks, and the command checks each image before it writes the file. It refuses a filter that
    /// was changed meanwhile. Filters of RedisBloom's commands come as BF.SCANDUMP and CF.SCANDUMP give them, and the
    /// files are images of these filters.
    #[command(after_long_help = manual::after_help("redis export"))]
    Export(Export),
    /// Make filters and maps in a server of files.
    ///
    /// The images go in chunks. Each image takes the place of its key when it is complete; until then lookups use what
    /// was there before.
    #[command(after_long_help = manual::after_help("redis import"))]
    Import(Import),
}

/// Which set, and where.
#[derive(Args, Debug)]
pub struct Set {
    /// The server, or any server of a cluster, such as redis://user:password@host:port/database, rediss:// for TLS, or
    /// unix:///path. If not given, REDIS_URL of the environment, or redis://127.0.0.1:6379.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The set is spread over N keys, NAME:{0} and so on; one key, NAME, if not given.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = numbers::shards)]
    pub shards: Option<u32>,
    /// The name of the set.
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// What a key of a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Type {
    /// A filter of `PETAL.*`, of any kind.
    Petal,
    /// A Bloom filter of `BF.*`, as RedisBloom has them, or valkey-bloom where the server's module makes those.
    Bf,
    /// A cuckoo filter of `CF.*`, as RedisBloom has them.
    Cf,
}

/// `petal redis build`.
#[derive(Args, Debug)]
pub struct Build {
    /// The type of the shards that are made; petal if not given.
    #[arg(long = "type", value_name = "T")]
    pub of: Option<Type>,
    /// The kind of filter; `petal kinds` lists them.
    #[arg(long, value_name = "K", value_parser = kinds(petal::Handle::Filter))]
    pub kind: Option<String>,
    /// The greatest false-positive rate with all keys in the set, such as 0.01 (the default).
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = numbers::rate)]
    pub fpr: Option<f64>,
    /// How many distinct keys to make room for; the number of records if not given.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = numbers::positive)]
    pub capacity: Option<u64>,
    /// Give each shard room for all keys, so that `petal redis merge` makes one filter of them at the same rate.
    #[arg(long)]
    pub mergeable: bool,
    /// The seed of the hash function. It tells filters apart; it is not a secret.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// The secret, which the server keeps.
    #[command(flatten)]
    pub secret: Secret,
    /// Sets a parameter that only this kind takes; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The set.
    #[command(flatten)]
    pub to: Set,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal redis check`.
#[derive(Args, Debug)]
pub struct Check {
    /// Print the records whose keys certainly are not in the set, and no numbers.
    #[arg(short = 'v', long)]
    pub invert: bool,
    /// The set.
    #[command(flatten)]
    pub of: Set,
    /// The keys.
    #[command(flatten)]
    pub keys: Keys,
}

/// `petal redis merge`.
#[derive(Args, Debug)]
pub struct Merge {
    /// The set.
    #[command(flatten)]
    pub of: Set,
    /// Files with filters that go into the union too.
    #[arg(value_name = "FILTER", value_hint = ValueHint::FilePath)]
    pub filters: Vec<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub output: Output,
}

/// `petal redis export`.
#[derive(Args, Debug)]
pub struct Export {
    /// The set.
    #[command(flatten)]
    pub of: Set,
    /// The file to write, in whose name {} is the number of the shard; standard output if not given.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// `petal redis import`.
#[derive(Args, Debug)]
pub struct Import {
    /// Replace filters and maps that are there.
    #[arg(long)]
    pub replace: bool,
    /// The secret of keyed filters, which the server keeps.
    #[command(flatten)]
    pub secret: Secret,
    /// The set.
    #[command(flatten)]
    pub to: Set,
    /// The file, in whose name {} is the number of the shard; - is standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
}
