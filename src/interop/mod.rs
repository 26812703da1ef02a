//! Other systems' bytes: a foreign filter becomes a [`Filter`] that can do everything that a filter can, and is written
//! back as the same bytes.
//!
//! Each format has a file, with functions that read and write its bytes, and a [`Format`] in [`FORMATS`]. What a file
//! says besides its bits, and what Petal has no name for, is kept with the filter (the attachment of
//! `crate::kinds::foreign_bloom`), so that a filter which nobody changed is exported as the bytes that it came from.
//!
//! Bytes come from anywhere. A reader checks every length, count and shape against the bytes that are there before it
//! allocates. It refuses what the format's owner would refuse or could not have written. It never reads bytes in such a
//! way that a key could be missing which the owner would find.

#[cfg(feature = "foreign_bloom")]
mod arrays;
#[cfg(feature = "golomb_stream")]
mod bip158;
#[cfg(feature = "foreign_scalable")]
mod chains;
mod cursor;
pub mod leveldb_policy;
#[cfg(feature = "split_block")]
mod parquet;
mod payload;
#[cfg(feature = "foreign_cuckoo")]
pub mod redisbloom_cuckoo;
#[cfg(feature = "rocksdb_bloom")]
mod rocksdb;
#[cfg(feature = "foreign_static")]
mod tables;

#[cfg(feature = "foreign_scalable")]
pub use chains::{redisbloom, valkey_chain};
pub use cursor::Cursor;

use crate::error::{List, Result, error, left_out};
use crate::handle::filter::Filter;
use crate::handle::image::Sink;
use crate::hash::Secret;
use crate::spec::Spec;

/// What the bytes alone do not say of a filter. Only formats that need an option take it. Zero means that it is not
/// given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// The number of bits that places are taken modulo.
    pub bits: u64,
    /// Bits that a key sets.
    pub hashes: u32,
    /// The seed of the hash function.
    pub seed: u64,
    /// The secret or public key of the hash function; `None` if it is not given.
    pub secret: Option<Secret>,
    /// P of a Golomb-coded set: the bits of a gap's remainder.
    pub rice_bits: u32,
    /// M of a Golomb-coded set: how many numbers there are for each key.
    pub multiplier: u64,
}

/// The empty filter of a format that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Distinct keys, at least 1.
    pub capacity: u64,
    /// Inside (0, 1).
    pub false_positive_rate: f64,
    /// Which of [`Format::variants`], by its place there.
    pub variant: usize,
    /// The seed of the hash function if the format has one; otherwise 0.
    pub seed: u64,
}

/// A format of another system.
pub struct Format {
    /// The format's name, the same in Rust, C, C++, Go, the command and the documents.
    pub name: &'static str,
    /// Whose format it is and what its bytes hold, in a sentence.
    pub summary: &'static str,
    /// The ways in which the format's owners write it, the default first; empty if there is only one.
    pub variants: &'static [&'static str],
    /// Whether bytes start like this format and like no other. `None` if the start does not show that.
    pub recognise: Option<fn(&[u8]) -> bool>,
    /// The filter that bytes hold.
    pub import: fn(&[u8], &ImportOptions) -> Result<Filter>,
    /// The bytes of a filter, in a variant if one is asked for; `None` for a format that is only read.
    pub export: Option<Export>,
    /// The spec of a filter with the size that the format's owner would give it. The filter is made empty or built,
    /// depending on its kind. `None` if no filters of the format are made here.
    pub spec: Option<fn(&Wanted) -> Result<Spec>>,
}

/// Gives the bytes of a filter to a sink, in order: in the given variant, or as the filter was imported.
pub type Export = fn(&Filter, Option<usize>, &mut Sink) -> Result<()>;

/// The list of formats, `"feature" "name" format`: those that this build has, because it has the kind of their filters,
/// and the names of the others with the name of their kind.
macro_rules! formats {
    ($($feature:literal $name:literal $format:path,)*) => {
        /// All formats that this build has, by name.
        pub static FORMATS: &[Format] = &[$(#[cfg(feature = $feature)] $format,)*];
        static LEFT_OUT: &[(&str, &str)] = &[$(#[cfg(not(feature = $feature))] ($name, $feature),)*];

        #[cfg(test)]
        static NAMES: &[&str] = &[$($name,)*];
    };
}

formats! {
    "foreign_static" "binary_fuse" tables::binary_fuse::FORMAT,
    "golomb_stream" "bip158" bip158::FORMAT,
    "foreign_bloom" "bip37" arrays::bip37::FORMAT,
    "foreign_bloom" "bits_and_blooms" arrays::bits_and_blooms::FORMAT,
    "foreign_static" "blobloom" tables::blobloom::FORMAT,
    "foreign_bloom" "cassandra" arrays::cassandra::V4,
    "foreign_bloom" "cassandra_3" arrays::cassandra::V3,
    "foreign_static" "clubcard" tables::clubcard::FORMAT,
    "foreign_bloom" "datasketches" arrays::datasketches::FORMAT,
    "foreign_static" "datasketches_xor" tables::datasketches_xor::FORMAT,
    "foreign_bloom" "dcso" arrays::dcso::FORMAT,
    "foreign_static" "erigon_fuse" tables::erigon_fuse::FORMAT,
    "foreign_static" "erigon_shards" tables::erigon_shards::FORMAT,
    "foreign_bloom" "guava" arrays::guava::FORMAT,
    "foreign_bloom" "hbase" arrays::hbase::FORMAT,
    "foreign_static" "holiman" tables::holiman::FORMAT,
    "foreign_bloom" "leveldb" arrays::leveldb::FORMAT,
    "foreign_bloom" "libbloom" arrays::libbloom::FORMAT,
    "foreign_bloom" "libbloom_1" arrays::libbloom::RAW,
    "foreign_bloom" "orc_number" arrays::orc::NUMBER,
    "foreign_bloom" "orc_text" arrays::orc::TEXT,
    "split_block" "parquet" parquet::FORMAT,
    "foreign_scalable" "redisbloom" chains::redisbloom::FORMAT,
    "foreign_cuckoo" "redisbloom_cuckoo" redisbloom_cuckoo::FORMAT,
    "rocksdb_bloom" "rocksdb" rocksdb::FORMAT,
    "foreign_bloom" "spark" arrays::spark::FORMAT,
    "split_block" "split_blocks" parquet::BLOCKS,
    "foreign_bloom" "squid" arrays::squid::FORMAT,
    "foreign_bloom" "valkey" arrays::valkey::FORMAT,
    "foreign_scalable" "valkey_chain" chains::valkey_chain::FORMAT,
    "foreign_static" "xor" tables::xor::FORMAT,
}

/// The format with this name.
///
/// # Errors
/// [`Status::UnknownValue`](crate::Status::UnknownValue);
/// [`Status::UnsupportedByBuild`](crate::Status::UnsupportedByBuild) for a format whose kind this build leaves out.
pub fn find(name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        if let Some((_, kind)) = LEFT_OUT.iter().find(|(format, _)| *format == name) {
            return left_out("format", name, kind, "PETAL_KINDS");
        }
        let names: [&str; FORMATS.len()] = core::array::from_fn(|i| FORMATS[i].name);
        error!(UnknownValue, "format = {name} is not one of {}", List(&names))
    })
}

/// The format that bytes start like, if their start shows it.
pub fn recognise(bytes: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.recognise.is_some_and(|recognise| recognise(bytes)))
}

impl Format {
    /// The filter that foreign bytes hold. All of the bytes must belong to it.
    ///
    /// # Errors
    /// [`Status::Foreign`](crate::Status::Foreign) for bytes of another format,
    /// [`Status::Truncated`](crate::Status::Truncated), [`Status::Corrupt`](crate::Status::Corrupt),
    /// [`Status::NewerVersion`](crate::Status::NewerVersion);
    /// [`Status::Contradiction`](crate::Status::Contradiction) for options that the format does not take, or lacks;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn import(&self, bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
        (self.import)(bytes, options)
    }

    /// Gives the bytes of a filter to a sink, in order.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) if the filter cannot be written in this format, saying which
    /// of its properties stands in the way; [`Status::UnknownValue`](crate::Status::UnknownValue) for an unknown
    /// variant; the errors of the sink.
    pub fn export(&self, filter: &Filter, variant: Option<&str>, sink: &mut Sink) -> Result<()> {
        let Some(export) = self.export else {
            return Err(error!(Unsupported, "{} is only read, not written", self.name));
        };
        let variant = variant.map(|name| self.variant(name)).transpose()?;
        export(filter, variant, sink)
    }

    /// The spec of an empty filter of this format, sized as its owner would.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for a format in which no filters are made;
    /// [`Status::UnknownValue`](crate::Status::UnknownValue) for an unknown variant;
    /// [`Status::FalsePositiveRate`](crate::Status::FalsePositiveRate), and where the format has no such size
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn spec(&self, capacity: u64, false_positive_rate: f64, variant: Option<&str>, seed: u64) -> Result<Spec> {
        let Some(spec) = self.spec else {
            return Err(error!(Unsupported, "no filters are made in the format {}", self.name));
        };
        crate::spec::check_rate(false_positive_rate)?;
        let variant = variant.map_or(Ok(0), |name| self.variant(name))?;
        spec(&Wanted { capacity: capacity.max(1), false_positive_rate, variant, seed })
    }

    /// Whether filters of the format are made by a builder, from all of their keys; `None` if none are made.
    pub fn is_built(&self) -> Option<bool> {
        self.spec?;
        let row = self.spec(1000, 0.01, None, 0).and_then(|spec| crate::making::row_of(&spec));
        Some(row.is_ok_and(|row| !row.is_made_empty()))
    }

    fn variant(&self, name: &str) -> Result<usize> {
        self.variants.iter().position(|variant| *variant == name).ok_or_else(|| match self.variants {
            [] => error!(UnknownValue, "variant = {name}: {} has no variants", self.name),
            names => error!(UnknownValue, "variant = {name} is not one of {}", List(names)),
        })
    }
}

impl ImportOptions {
    /// Refuses options whose values the format's bytes already give.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction).
    fn check_unused(&self, format: &str) -> Result<()> {
        let ImportOptions { bits, hashes, seed, secret, rice_bits, multiplier } = *self;
        let said = [
            (bits != 0, "bits"),
            (hashes != 0, "hashes"),
            (seed != 0, "seed"),
            (secret.is_some(), "secret"),
            (rice_bits != 0, "rice_bits"),
            (multiplier != 0, "multiplier"),
        ];
        let Some((_, option)) = said.iter().find(|(is_said, _)| *is_said) else { return Ok(()) };
        Err(error!(Contradiction, "{option} has no meaning for {format}, whose bytes say it"))
    }
}

/// Refuses a seed where the format has none.
///
/// # Errors
/// [`Status::Contradiction`].
fn check_no_seed(seed: u64, format: &str) -> Result<()> {
    match seed {
        0 => Ok(()),
        _ => Err(error!(Contradiction, "seed = {seed} has no meaning for {format}, whose filters have none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_listed_by_their_names() {
        assert!(FORMATS.iter().map(|format| format.name).eq(NAMES.iter().copied()) && NAMES.is_sorted());
    }
}
