//! A Bloom chunk of HBase with what its `BloomFilterChunk` reads: the number of bytes of bits, k, the type of the hash
//! function and the number of keys as big-endian `int`s, then the bits. In an HFile the chunk of a block has only the
//! bits, and the meta block of the filter has k and the type of all its chunks.

use super::{Parts, parts_of, spec_of, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::kinds::foreign_bloom::placements::MOST_HBASE_BYTES;
use crate::spec::Spec;
use core::f64::consts::LN_2;

/// The placements, by the numbers of the types.
const PLACEMENTS: [&str; 3] = ["hbase_jenkins", "hbase_murmur", "hbase_murmur_3"];

/// The types of the variants.
const TYPES: [usize; 3] = [1, 0, 2];

pub const FORMAT: Format = Format {
    name: "hbase",
    summary: "a Bloom chunk of HBase, with the meta that BloomFilterChunk reads",
    variants: &["murmur", "jenkins", "murmur3"],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let mut number = || cursor.array().map(i32::from_be_bytes);
    let (length, hashes, hash_type, count) = (number()?, number()?, number()?, number()?);
    let Some(placement) = usize::try_from(hash_type).ok().and_then(|number| PLACEMENTS.get(number)) else {
        return Err(error!(Foreign, "hash type {hash_type} is not one of HBase's, 0 (Jenkins) to 2 (Murmur3)"));
    };
    if length <= 0 || hashes <= 0 || count < 0 {
        return Err(error!(Corrupt, "a chunk of {length} bytes with {hashes} hashes and {count} keys is not possible"));
    }
    let bits = cursor.take(length as u64)?;
    cursor.finish(FORMAT.name)?;
    let parts =
        Parts { placement, bits: 8 * length as u64, hashes: hashes as u32, count: count as u64, ..Parts::default() };
    parts.filter(little_endian(bits))
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let wanted = variant.map_or(&PLACEMENTS[..], |variant| &PLACEMENTS[TYPES[variant]..=TYPES[variant]]);
    let parts = parts_of(filter, wanted, FORMAT.name)?;
    let bytes = i32::try_from(parts.bits / 8).ok().filter(|_| parts.bits.is_multiple_of(8)).ok_or_else(|| {
        error!(Unsupported, "bits = {} has no form in hbase: not a multiple of 8 below 2^31", parts.bits)
    })?;
    let hash_type = PLACEMENTS.iter().position(|placement| *placement == parts.placement).unwrap_or_default();
    let count = i32::try_from(parts.count).unwrap_or(i32::MAX);
    for number in [bytes, parts.hashes as i32, hash_type as i32, count] {
        sink(&number.to_be_bytes())?;
    }
    write_little_endian(filter.base(), parts.bits / 8, sink)
}

/// HBase's own sizes, for chunks that are not folded. k comes from the whole number of bits for each key.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, variant, seed } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    if i32::try_from(capacity).is_err() {
        return Err(error!(OutOfRange, "capacity = {capacity} is not from 1 to {} of hbase", i32::MAX));
    }
    let bits = (capacity as f64 * (-rate.ln() / (LN_2 * LN_2))).ceil() as u64;
    if bits > 8 * MOST_HBASE_BYTES {
        return Err(error!(
            TooLarge,
            "capacity = {capacity} at this rate needs {bits} bits, and hbase has at most {}",
            8 * MOST_HBASE_BYTES
        ));
    }
    let hashes = (LN_2 * (bits / capacity) as f64).ceil() as u32;
    if hashes == 0 {
        return Err(error!(
            FalsePositiveRate,
            "false_positive_rate = {rate} leaves less than a bit for each of capacity = {capacity} keys, and hbase no hash"
        ));
    }
    spec_of(PLACEMENTS[TYPES[variant]], capacity, bits.div_ceil(8) * 8, hashes, 0)
}
