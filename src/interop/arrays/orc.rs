//! Apache ORC's `BloomFilter` message, one of those in a BLOOM_FILTER_UTF8 stream: k as field 1, and as field 3 the
//! bytes of the bits, little-endian words; older streams have these words as field 2. A stream holds an index of such
//! messages, one for each row group, each behind a tag (0a) and its length. The bytes do not say whether texts or
//! numbers were hashed: there is a format for each.

use super::{Parts, classical_bits, parts_of, spec_of, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::spec::Spec;
use core::f64::consts::LN_2;

/// Texts and byte strings.
pub const TEXT: Format = Format {
    name: "orc_text",
    summary: "Apache ORC's Bloom filter of a column of texts or byte strings",
    variants: &[],
    recognise: None,
    import: |bytes, options| import("orc_text", bytes, options),
    export: Some(|filter, _, sink| export("orc_text", filter, sink)),
    spec: Some(|wanted| spec("orc_text", wanted)),
};

/// Whole numbers, dates, and the bits of floating-point numbers.
pub const NUMBER: Format = Format {
    name: "orc_number",
    summary: "Apache ORC's Bloom filter of a column of numbers; keys are eight little-endian bytes",
    variants: &[],
    recognise: None,
    import: |bytes, options| import("orc_number", bytes, options),
    export: Some(|filter, _, sink| export("orc_number", filter, sink)),
    spec: Some(|wanted| spec("orc_number", wanted)),
};

/// Tags: the field's number, times eight, plus how its value is written.
const HASHES: u64 = 1 << 3;
const WORD: u64 = 2 << 3 | 1;
const WORDS: u64 = 2 << 3 | 2;
const BYTES: u64 = 3 << 3 | 2;

fn import(placement: &'static str, bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(placement)?;
    let mut cursor = Cursor::new(bytes);
    let (mut hashes, mut bits) = (0, None);
    while !cursor.rest().is_empty() {
        match varint(&mut cursor)? {
            HASHES => hashes = varint(&mut cursor)?,
            BYTES => {
                let length = varint(&mut cursor)?;
                bits = Some(cursor.take(length)?);
            }
            WORD | WORDS => {
                return Err(error!(
                    NewerVersion,
                    "the filter is one of a stream before BLOOM_FILTER_UTF8, which is not read"
                ));
            }
            tag => return Err(error!(Foreign, "the bytes have a field with tag {tag}, which no ORC filter has")),
        }
    }
    let bits = bits.filter(|bits| !bits.is_empty() && bits.len().is_multiple_of(8));
    let (Some(bytes), Ok(hashes @ 1..)) = (bits, u32::try_from(hashes)) else {
        return Err(error!(Corrupt, "a filter of {hashes} hashes and its bytes are not possible"));
    };
    Parts { placement, bits: 8 * bytes.len() as u64, hashes, ..Parts::default() }.filter(little_endian(bytes))
}

fn export(placement: &'static str, filter: &Filter, sink: &mut Sink) -> Result<()> {
    let Parts { bits, hashes, .. } = parts_of(filter, &[placement], placement)?;
    if !bits.is_multiple_of(64) {
        return Err(error!(Unsupported, "bits = {bits} has no form in {placement}: not a multiple of 64"));
    }
    for number in [HASHES, hashes.into(), BYTES, bits / 8] {
        write_varint(number, sink)?;
    }
    write_little_endian(filter.base(), bits / 8, sink)
}

/// ORC's own sizes: a multiple of 64 gets 64 bits more.
fn spec(placement: &'static str, wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, placement)?;
    let bits = classical_bits(capacity, rate) as u64;
    let bits = (bits - bits % 64).saturating_add(64);
    let hashes = (bits as f64 / capacity as f64 * LN_2).round().max(1.0) as u32;
    spec_of(placement, capacity, bits, hashes, 0)
}

/// A number with seven bits in each byte, the lowest first. Each byte but the last has its highest bit set.
fn varint(cursor: &mut Cursor) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = cursor.u8()?;
        let part = u64::from(byte & 0x7f);
        if part << shift >> shift != part {
            break;
        }
        value |= part << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(error!(Corrupt, "a number of variable length is above 2^64"))
}

fn write_varint(mut value: u64, sink: &mut Sink) -> Result<()> {
    while value >= 0x80 {
        sink(&[value as u8 | 0x80])?;
        value >>= 7;
    }
    sink(&[value as u8])
}
