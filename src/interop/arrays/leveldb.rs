//! LevelDB's filters (`leveldb.BuiltinBloomFilter2`), which are also those of goleveldb: the bits and a byte for k. How
//! filters lie in a table's filter block is up to the table.

use super::{Parts, parts_of, spec_of, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Format, ImportOptions, Wanted};
use crate::kinds::foreign_bloom::placements::MOST_LEVELDB_HASHES;
use crate::spec::Spec;
use core::f64::consts::LN_2;

pub const FORMAT: Format = Format {
    name: "leveldb",
    summary: "a filter of LevelDB's built-in policy, as CreateFilter writes it",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let Some((&hashes, bits)) = bytes.split_last().filter(|(_, bits)| !bits.is_empty()) else {
        return Err(error!(Truncated, "{} bytes hold no filter", bytes.len()));
    };
    if u32::from(hashes) > MOST_LEVELDB_HASHES {
        return Err(error!(NewerVersion, "{hashes} hashes are reserved for later encodings, of which all keys match"));
    }
    if hashes == 0 {
        return Err(error!(Corrupt, "a filter of 0 hashes is not possible"));
    }
    let parts = Parts { placement: "leveldb", bits: 8 * bits.len() as u64, hashes: hashes.into(), ..Parts::default() };
    parts.filter(little_endian(bits))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["leveldb"], FORMAT.name)?;
    if !parts.bits.is_multiple_of(8) {
        return Err(error!(Unsupported, "bits = {} has no form in leveldb: not a multiple of 8", parts.bits));
    }
    write_little_endian(filter.base(), parts.bits / 8, sink)?;
    sink(&[parts.hashes as u8])
}

/// The bits of `keys` keys with `bits_per_key` bits for each, and the hashes, as the built-in policy chooses them.
pub(super) fn size(keys: u64, bits_per_key: u64) -> (u64, u32) {
    let hashes = ((bits_per_key as f64 * 0.69) as u32).clamp(1, MOST_LEVELDB_HASHES);
    (keys.saturating_mul(bits_per_key).max(64).div_ceil(8).saturating_mul(8), hashes)
}

/// The policy takes a whole number of bits per key: the least that the rate needs.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let bits_per_key = (-rate.ln() / (LN_2 * LN_2)).ceil() as u64;
    let (bits, hashes) = size(capacity, bits_per_key);
    spec_of("leveldb", capacity, bits, hashes, 0)
}
