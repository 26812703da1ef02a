//! Guava's `BloomFilter.writeTo`: a byte for the strategy, one for k, the number of 64-bit words as a big-endian `int`,
//! and the words, big-endian. The number of bits is 64 times that of the words. The funnel, which turns a key into
//! bytes, is not stored: `stringFunnel` gives the encoded text, `longFunnel` and `integerFunnel` little-endian numbers,
//! `unencodedCharsFunnel` UTF-16LE, `byteArrayFunnel` the bytes.

use super::{Parts, big_endian, classical_bits, parts_of, spec_of, write_big_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};

use crate::spec::Spec;
use core::f64::consts::LN_2;

/// The placements in the order of the strategies' numbers.
const PLACEMENTS: [&str; 2] = ["guava_32", "guava_64"];

/// The strategies by Guava's names, the default first.
const VARIANTS: [&str; 2] = ["mitz_64", "mitz_32"];

pub const FORMAT: Format = Format {
    name: "guava",
    summary: "Guava's BloomFilter, as writeTo writes it",
    variants: &VARIANTS,
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let strategy = cursor.u8()?;
    let Some(placement) = PLACEMENTS.get(usize::from(strategy)) else {
        return Err(error!(Foreign, "strategy {strategy} is not one of Guava's, 0 and 1"));
    };
    let hashes = cursor.u8()?;
    let count = i32::from_be_bytes(cursor.array()?);
    if hashes == 0 || count <= 0 {
        return Err(error!(Corrupt, "a filter of {hashes} hashes and {count} words is not possible"));
    }
    let words = cursor.take(8 * count as u64)?;
    cursor.finish(FORMAT.name)?;
    let parts = Parts { placement, bits: 64 * count as u64, hashes: hashes.into(), ..Parts::default() };
    parts.filter(big_endian(words))
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let wanted = match variant {
        Some(i) => &PLACEMENTS[1 - i..=1 - i],
        None => &PLACEMENTS,
    };
    let parts = parts_of(filter, wanted, FORMAT.name)?;
    let words = i32::try_from(parts.bits / 64).ok().filter(|_| parts.bits.is_multiple_of(64)).ok_or_else(|| {
        error!(Unsupported, "bits = {} is not a multiple of 64 below 2^37, as Guava has it", parts.bits)
    })?;
    let strategy = u8::from(parts.placement == PLACEMENTS[1]);
    sink(&[strategy, parts.hashes as u8])?;
    sink(&words.to_be_bytes())?;
    write_big_endian(filter.base(), sink)
}

/// Guava's own sizes, those of version 33. Before that, k came from the number of bits for each key, which makes a
/// difference only for few keys.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, variant, seed } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let bits = classical_bits(capacity, rate) as u64;
    let bits = bits.div_ceil(64).max(1).saturating_mul(64);
    let hashes = (-rate.ln() / LN_2).round().max(1.0) as u32;
    spec_of(PLACEMENTS[1 - variant], capacity, bits, hashes, seed)
}
