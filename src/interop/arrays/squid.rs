//! Squid's cache digest, as peers fetch it from each other (`/squid-internal-periodic/store_digest`): a block of 128
//! bytes with big-endian fields, and the bits.
//!
//! The fields are the version and the version that a reader must know, 16 bits each; the capacity and the numbers of
//! keys, of deletions, and of bytes of bits, 32 bits each; then, in a byte each, the bits for an entry of the capacity
//! and the number of hashes; then zeros.

use super::{Parts, attachment_of, parts_of, spec_of, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::kinds::foreign_bloom::placements::{MOST_SQUID_BITS, SQUID_HASHES};
use crate::spec::Spec;

/// The bytes of the block before the bits.
const BLOCK: usize = 128;

/// The version of the block that this version writes, and the least one that a reader must know.
const VERSION: u16 = 5;
const REQUIRED: u16 = 3;

pub const FORMAT: Format = Format {
    name: "squid",
    summary: "a cache digest of Squid, as its peers fetch it",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

/// The bytes of bits that Squid gives to `capacity` entries of `bits_per_entry` bits.
fn mask_bytes(capacity: u64, bits_per_entry: u8) -> u64 {
    (capacity * u64::from(bits_per_entry)).div_ceil(8)
}

/// The block of a digest that is written for the first time; `None` if no whole number of bits for an entry gives the
/// size.
fn block(parts: &Parts) -> Option<[u8; BLOCK]> {
    let bytes = parts.bits / 8;
    let capacity = i32::try_from(parts.capacity).ok()?.to_be_bytes();
    let mut candidates = (1..=u8::MAX).filter(|bits_per_entry| mask_bytes(parts.capacity, *bits_per_entry) == bytes);
    let bits_per_entry = candidates.next().filter(|_| parts.bits.is_multiple_of(8))?;
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &VERSION.to_be_bytes());
    put(2, &REQUIRED.to_be_bytes());
    put(4, &capacity);
    put(8, &i32::try_from(parts.count).unwrap_or(i32::MAX).to_be_bytes());
    put(16, &i32::try_from(bytes).ok()?.to_be_bytes());
    put(20, &[bits_per_entry, SQUID_HASHES as u8]);
    Some(block)
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let head: [u8; BLOCK] = cursor.array()?;
    let mut fields = Cursor::new(&head);
    let (version, required) = (u16::from_be_bytes(fields.array()?), u16::from_be_bytes(fields.array()?));
    if required > VERSION {
        return Err(error!(NewerVersion, "the digest needs a reader of version {required}, this one has {VERSION}"));
    }
    let mut number = || fields.array().map(i32::from_be_bytes);
    let (capacity, count, deleted, length) = (number()?, number()?, number()?, number()?);
    let [bits_per_entry, hashes] = fields.array()?;
    if capacity <= 0 || length <= 0 || bits_per_entry == 0 || version == 0 {
        return Err(error!(
            Foreign,
            "version {version} with {capacity} entries of {bits_per_entry} bits in {length} bytes is not a cache digest"
        ));
    }
    if u32::from(hashes) != SQUID_HASHES {
        return Err(error!(Foreign, "{hashes} hashes are not the {SQUID_HASHES} of a cache digest"));
    }
    if count < 0 || deleted < 0 || mask_bytes(capacity as u64, bits_per_entry) != length as u64 {
        return Err(error!(
            Corrupt,
            "{count} keys, {deleted} deletions, and {length} bytes for {capacity} entries of {bits_per_entry} bits do not fit"
        ));
    }
    let mask = cursor.take(length as u64)?;
    cursor.finish(FORMAT.name)?;
    let parts = Parts {
        placement: "squid",
        bits: 8 * length as u64,
        hashes: SQUID_HASHES,
        capacity: capacity as u64,
        count: count as u64,
        ..Parts::default()
    };
    // A block that export would write differently is given back as it came.
    let attachment: &[u8] = if block(&parts) == Some(head) { &[] } else { &head };
    Parts { attachment, ..parts }.filter(little_endian(mask))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["squid"], FORMAT.name)?;
    let base = filter.base();
    let mut attachment = attachment_of(base)?;
    match (attachment.as_mut_slice(), block(&parts)) {
        (kept, Some(now)) if kept.len() == BLOCK => {
            // The number of keys may have changed since.
            kept[8..12].copy_from_slice(&now[8..12]);
            sink(kept)?;
        }
        ([], Some(now)) => sink(&now)?,
        _ => {
            let (bits, capacity) = (parts.bits, parts.capacity);
            return Err(error!(
                Unsupported,
                "bits = {bits} for capacity = {capacity} has no form in squid: not a whole number of bits for an entry"
            ));
        }
    }
    write_little_endian(base, parts.bits / 8, sink)
}

/// A whole number of bits for an entry: the least with which four hashes keep to the rate. Squid's own default is 5.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let hashes = f64::from(SQUID_HASHES);
    let bits_per_entry = (-hashes / (1.0 - rate.powf(1.0 / hashes)).ln()).ceil().max(1.0);
    if bits_per_entry > f64::from(u8::MAX) {
        return Err(error!(
            FalsePositiveRate,
            "false_positive_rate = {rate} needs {bits_per_entry} bits for an entry, and squid has at most 255"
        ));
    }
    let bytes = match i32::try_from(capacity) {
        Ok(_) => mask_bytes(capacity, bits_per_entry as u8),
        Err(_) => u64::MAX / 8,
    };
    if 8 * bytes > MOST_SQUID_BITS {
        return Err(error!(TooLarge, "capacity = {capacity} needs more than the {MOST_SQUID_BITS} bits of squid"));
    }
    spec_of("squid", capacity, 8 * bytes, SQUID_HASHES, 0)
}
