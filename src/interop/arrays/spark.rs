//! Apache Spark's `BloomFilter` (org.apache.spark.util.sketch): the version, k, in version 2 a seed, and the number of
//! 64-bit words as big-endian `int`s, then the words, big-endian. Texts are hashed as UTF-8, whole numbers as eight
//! little-endian bytes.

use super::{Parts, big_endian, classical_bits, parts_of, spec_of, write_big_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::spec::Spec;
use core::f64::consts::LN_2;

/// The placements, the later version first, as the variants are.
const PLACEMENTS: [&str; 2] = ["spark_2", "spark_1"];

pub const FORMAT: Format = Format {
    name: "spark",
    summary: "Apache Spark's BloomFilter, as writeTo writes it",
    variants: &["v2", "v1"],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let (placement, has_seed) = match i32::from_be_bytes(cursor.array()?) {
        1 => (PLACEMENTS[1], false),
        2 => (PLACEMENTS[0], true),
        version => return Err(error!(Foreign, "version {version} is not one of Spark's, 1 and 2")),
    };
    let hashes = i32::from_be_bytes(cursor.array()?);
    let seed = if has_seed { i32::from_be_bytes(cursor.array()?) } else { 0 };
    let count = i32::from_be_bytes(cursor.array()?);
    if hashes <= 0 || count <= 0 {
        return Err(error!(Corrupt, "a filter of {hashes} hashes and {count} words is not possible"));
    }
    let words = cursor.take(8 * count as u64)?;
    cursor.finish(FORMAT.name)?;
    let (bits, hashes) = (64 * count as u64, hashes as u32);
    Parts { placement, bits, hashes, seed: seed as u32 as u64, ..Parts::default() }.filter(big_endian(words))
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let wanted = variant.map_or(&PLACEMENTS[..], |i| &PLACEMENTS[i..=i]);
    let parts = parts_of(filter, wanted, FORMAT.name)?;
    let words = i32::try_from(parts.bits / 64).ok().filter(|_| parts.bits.is_multiple_of(64)).ok_or_else(|| {
        error!(Unsupported, "bits = {} has no form in spark: not a multiple of 64 below 2^37", parts.bits)
    })?;
    let has_seed = parts.placement == PLACEMENTS[0];
    sink(&(if has_seed { 2_i32 } else { 1 }).to_be_bytes())?;
    sink(&parts.hashes.to_be_bytes())?;
    if has_seed {
        sink(&(parts.seed as i32).to_be_bytes())?;
    }
    sink(&words.to_be_bytes())?;
    write_big_endian(filter.base(), sink)
}

/// Spark's own sizes.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, variant, seed } = wanted;
    if variant == 1 {
        check_no_seed(seed, "spark v1")?;
    }
    if seed > u64::from(u32::MAX) {
        return Err(error!(OutOfRange, "seed = {seed} is not below 2^32"));
    }
    let bits = classical_bits(capacity, rate) as u64;
    let hashes = (bits as f64 / capacity as f64 * LN_2).round().max(1.0) as u32;
    spec_of(PLACEMENTS[variant], capacity, bits.div_ceil(64).max(1).saturating_mul(64), hashes, seed)
}
