//! Bitcoin's `filterload` message (BIP 37): the number of bytes as a CompactSize, the bytes, k, the tweak, and a byte
//! of flags.

use super::{Parts, attachment_of, parts_of, spec_of, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::kinds::foreign_bloom::placements::{MOST_BIP37_BYTES, MOST_BIP37_HASHES};
use crate::spec::Spec;
use core::f64::consts::LN_2;

/// ln(2)^2 with as many digits as the reference client has.
const LN_2_SQUARED: f64 = 0.480_453_013_918_201_4;

pub const FORMAT: Format = Format {
    name: "bip37",
    summary: "the filter of Bitcoin's filterload message (BIP 37); the seed is its tweak",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let length = match cursor.u8()? {
        253 => u16::from_le_bytes(cursor.array()?).into(),
        // 36000 bytes, which is the maximum, need no more than two.
        length @ 254.. => {
            return Err(error!(Corrupt, "a length that starts with {length} is above {MOST_BIP37_BYTES}"));
        }
        length => u64::from(length),
    };
    if length > MOST_BIP37_BYTES {
        return Err(error!(Corrupt, "{length} bytes of bits are above {MOST_BIP37_BYTES}"));
    }
    if length == 0 {
        return Err(error!(Unsupported, "a filter without bits matches every key and takes none"));
    }
    let bits = cursor.take(length)?;
    let hashes = u32::from_le_bytes(cursor.array()?);
    let tweak = u32::from_le_bytes(cursor.array()?);
    let flags = cursor.u8()?;
    cursor.finish(FORMAT.name)?;
    if !(1..=MOST_BIP37_HASHES).contains(&hashes) {
        return Err(error!(Corrupt, "{hashes} hashes are not from 1 to {MOST_BIP37_HASHES}"));
    }
    let parts = Parts {
        placement: "bip37",
        bits: 8 * length,
        hashes,
        seed: tweak.into(),
        attachment: &[flags],
        ..Parts::default()
    };
    parts.filter(little_endian(bits))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["bip37"], FORMAT.name)?;
    let length = parts.bits / 8;
    if !parts.bits.is_multiple_of(8) || parts.seed > u32::MAX.into() {
        let Parts { bits, seed, .. } = parts;
        return Err(error!(Unsupported, "bits = {bits} with seed = {seed} has no form in bip37"));
    }
    match length {
        0..253 => sink(&[length as u8])?,
        _ => {
            sink(&[253])?;
            sink(&(length as u16).to_le_bytes())?;
        }
    }
    let base = filter.base();
    write_little_endian(base, length, sink)?;
    sink(&parts.hashes.to_le_bytes())?;
    sink(&(parts.seed as u32).to_le_bytes())?;
    sink(&[attachment_of(base)?.first().copied().unwrap_or(0)])
}

/// The reference client's own sizes. Beyond the greatest one the rate is missed, as it is there.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    if seed > u32::MAX.into() {
        return Err(error!(OutOfRange, "seed = {seed} is not a tweak below 2^32"));
    }
    let bits = (-1.0 / LN_2_SQUARED * capacity as f64 * rate.ln()) as u32;
    let bytes = u64::from(bits).min(8 * MOST_BIP37_BYTES) / 8;
    if bytes == 0 {
        return Err(error!(OutOfRange, "capacity = {capacity} at this rate gives a filter without bits"));
    }
    let hashes = ((8 * bytes) as f64 / capacity as f64 * LN_2) as u32;
    spec_of("bip37", capacity, 8 * bytes, hashes.clamp(1, MOST_BIP37_HASHES), seed)
}
