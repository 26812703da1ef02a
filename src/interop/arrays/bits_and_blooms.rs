//! The Go module bits-and-blooms/bloom, version 3, and willf/bloom before it, as `WriteTo` writes: m and k as
//! big-endian 64-bit numbers, then the bit set: its length, which is m, and its words. A program-wide switch makes
//! these last two little-endian.

use super::{
    Parts, attachment_of, big_endian, classical_bits, parts_of, spec_of, write_big_endian, write_little_endian,
};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::spec::Spec;
use core::f64::consts::LN_2;

const LITTLE: usize = 1;

pub const FORMAT: Format = Format {
    name: "bits_and_blooms",
    summary: "a BloomFilter of Go's bits-and-blooms/bloom v3, as WriteTo writes it",
    variants: &["big_endian", "little_endian"],
    recognise: Some(|bytes| {
        header(&mut Cursor::new(bytes)).is_ok_and(|header| header.bytes + 24 == bytes.len() as u64)
    }),
    import,
    export: Some(export),
    spec: Some(spec),
};

struct Header {
    bits: u64,
    hashes: u32,
    is_little: bool,
    /// The size of the words in bytes.
    bytes: u64,
}

fn header(cursor: &mut Cursor) -> Result<Header> {
    let bits = u64::from_be_bytes(cursor.array()?);
    let hashes = u64::from_be_bytes(cursor.array()?);
    let length: [u8; 8] = cursor.array()?;
    let is_little = u64::from_be_bytes(length) != bits;
    if is_little && u64::from_le_bytes(length) != bits {
        return Err(error!(Foreign, "the length of the bit set is not the {bits} bits of the filter in either order"));
    }
    match (u32::try_from(hashes), bits.div_ceil(64).checked_mul(8)) {
        (Ok(hashes), Some(bytes)) if hashes > 0 && bits > 0 => Ok(Header { bits, hashes, is_little, bytes }),
        _ => Err(error!(Corrupt, "a filter of {bits} bits and {hashes} hashes is not possible")),
    }
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let Header { bits, hashes, is_little, bytes } = header(&mut cursor)?;
    let words = cursor.take(bytes)?;
    cursor.finish(FORMAT.name)?;
    let parts = Parts { placement: "bits_and_blooms", bits, hashes, ..Parts::default() };
    match is_little {
        true => Parts { attachment: &[LITTLE as u8], ..parts }.filter(little_endian(words)),
        false => parts.filter(big_endian(words)),
    }
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["bits_and_blooms"], FORMAT.name)?;
    let base = filter.base();
    let is_little = match variant {
        Some(variant) => variant == LITTLE,
        None => attachment_of(base)? == [LITTLE as u8],
    };
    sink(&parts.bits.to_be_bytes())?;
    sink(&u64::from(parts.hashes).to_be_bytes())?;
    match is_little {
        true => {
            sink(&parts.bits.to_le_bytes())?;
            write_little_endian(base, parts.bits.div_ceil(64) * 8, sink)
        }
        false => {
            sink(&parts.bits.to_be_bytes())?;
            write_big_endian(base, sink)
        }
    }
}

/// The module's own sizes, those of `NewWithEstimates`.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let bits = classical_bits(capacity, rate).ceil() as u64;
    let hashes = (LN_2 * bits as f64 / capacity as f64).ceil() as u32;
    spec_of("bits_and_blooms", capacity, bits.max(1), hashes.max(1), 0)
}
