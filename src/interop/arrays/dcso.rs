//! DCSO's bloom: six little-endian 64-bit fields (flags, n, p, k, m, keys that were new when they were inserted), the
//! words, and the user's data up to the end. A file that is compressed with gzip is uncompressed first, by its owner.

use super::{Parts, attachment_of, classical_bits, parts_of, spec_of, spec_with_rate, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::spec::{Spec, check_rate};
use core::f64::consts::LN_2;

/// The version, which is the lowest byte of the flags.
const VERSION: u64 = 1;

pub const FORMAT: Format = Format {
    name: "dcso",
    summary: "a file of DCSO's bloom, not compressed",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let flags = u64::from_le_bytes(cursor.array()?);
    if flags != VERSION {
        return Err(error!(Foreign, "flags {flags:#x} are not those of version 1"));
    }
    let mut next = || cursor.array().map(u64::from_le_bytes);
    let (capacity, rate, hashes, bits, count) = (next()?, f64::from_bits(next()?), next()?, next()?, next()?);
    let hashes = u32::try_from(hashes).map_err(|_| error!(Corrupt, "{hashes} hashes are not possible"))?;
    check_rate(rate).map_err(|error| error!(Corrupt, "{error}"))?;
    let bytes = bits.div_ceil(64).checked_mul(8).ok_or_else(|| error!(Corrupt, "{bits} bits are not possible"))?;
    let words = cursor.take(bytes)?;
    let parts = Parts {
        placement: "dcso",
        bits,
        hashes,
        capacity,
        false_positive_rate: rate,
        count,
        attachment: cursor.rest(),
        ..Parts::default()
    };
    parts.filter(little_endian(words))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let Parts { capacity, false_positive_rate: rate, hashes, bits, count, .. } =
        parts_of(filter, &["dcso"], FORMAT.name)?;
    if capacity == 0 || rate == 0.0 {
        return Err(error!(Unsupported, "a filter without capacity and false_positive_rate has no form in dcso"));
    }
    for field in [VERSION, capacity, rate.to_bits(), hashes.into(), bits, count] {
        sink(&field.to_le_bytes())?;
    }
    let base = filter.base();
    write_little_endian(base, bits.div_ceil(64) * 8, sink)?;
    sink(&attachment_of(base)?)
}

/// DCSO's own sizes. Its n ln p is negative when it is rounded up, so in effect the size is rounded down.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let bits = classical_bits(capacity, rate) as u64;
    let hashes = (LN_2 * bits as f64 / capacity as f64).ceil() as u32;
    Ok(spec_with_rate(rate, spec_of("dcso", capacity, bits.max(1), hashes.max(1), 0)?))
}
