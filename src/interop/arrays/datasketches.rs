//! Apache DataSketches' Bloom filter (family 21): a preamble of three longs; the number of bits that are set, or -1 if
//! nobody counted them; and the words, little-endian. An empty filter is only its preamble.

use super::{Parts, attachment_of, classical_bits, parts_of, spec_of, words_of};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::spec::Spec;
use core::f64::consts::LN_2;

const FAMILY: u8 = 21;
const VERSION: u8 = 1;
/// How many bits an empty filter may have if the caller does not give the number: its 24 bytes can ask for 2^37.
const MOST_UNASKED: u64 = 1 << 27;
/// The flag which says that no bit is set and no words follow.
const EMPTY: u8 = 4;

pub const FORMAT: Format = Format {
    name: "datasketches",
    summary: "a Bloom filter of Apache DataSketches (family 21)",
    variants: &["counted", "uncounted"],
    recognise: Some(|bytes| matches!(bytes, [3 | 4, VERSION, FAMILY, ..] if bytes.len() >= 24)),
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    ImportOptions { bits: 0, ..*options }.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let [longs, version, family, flags] = cursor.array()?;
    if family != FAMILY || version != VERSION {
        return Err(error!(Foreign, "family {family} in version {version} is not 21 in version 1"));
    }
    let hashes = u16::from_le_bytes(cursor.array()?);
    cursor.array::<2>()?;
    let seed = u64::from_le_bytes(cursor.array()?);
    let words = i32::from_le_bytes(cursor.array()?);
    cursor.array::<4>()?;
    if hashes == 0 || words <= 0 {
        return Err(error!(Corrupt, "a filter of {hashes} hashes and {words} words is not possible"));
    }
    let bits = 64 * words as u64;
    if options.bits != 0 && options.bits != bits {
        return Err(error!(Contradiction, "the bytes say {bits} bits, the options {}", options.bits));
    }
    let parts = Parts { placement: "datasketches", bits, hashes: hashes.into(), seed, ..Parts::default() };
    match (longs, flags & EMPTY != 0) {
        (3, true) => {
            cursor.finish(FORMAT.name)?;
            if bits > MOST_UNASKED && options.bits == 0 {
                return Err(error!(
                    TooLarge,
                    "an empty filter of {bits} bits takes more memory than its bytes: if that is meant, give bits as \
                     an option"
                ));
            }
            parts.filter(core::iter::empty())
        }
        (4, false) => {
            let ones = u64::from_le_bytes(cursor.array()?);
            let bytes = cursor.take(8 * words as u64)?;
            cursor.finish(FORMAT.name)?;
            let counted: u64 = little_endian(bytes).map(|word| u64::from(word.count_ones())).sum();
            if ones == u64::MAX {
                return Parts { attachment: &[1], ..parts }.filter(little_endian(bytes));
            }
            if ones != counted {
                return Err(error!(Corrupt, "the bytes say that {ones} bits are set; {counted} are"));
            }
            parts.filter(little_endian(bytes))
        }
        _ => Err(error!(Corrupt, "{longs} preamble longs with flags {flags} are not possible")),
    }
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let Parts { bits, hashes, seed, .. } = parts_of(filter, &["datasketches"], FORMAT.name)?;
    let words = i32::try_from(bits / 64).ok().filter(|_| bits.is_multiple_of(64) && hashes <= u16::MAX.into());
    let Some(words) = words else {
        return Err(error!(Unsupported, "bits = {bits} has no form in datasketches: not a multiple of 64 below 2^37"));
    };
    let base = filter.base();
    let is_uncounted = match variant {
        Some(variant) => variant == 1,
        None => attachment_of(base)? == [1],
    };
    let ones: u64 = words_of(base).map(|word| u64::from(word.count_ones())).sum();
    let is_empty = ones == 0 && !is_uncounted;
    sink(&[if is_empty { 3 } else { 4 }, VERSION, FAMILY, if is_empty { EMPTY } else { 0 }])?;
    sink(&(hashes as u16).to_le_bytes())?;
    sink(&[0; 2])?;
    sink(&seed.to_le_bytes())?;
    sink(&words.to_le_bytes())?;
    sink(&[0; 4])?;
    if is_empty {
        return Ok(());
    }
    sink(&(if is_uncounted { u64::MAX } else { ones }).to_le_bytes())?;
    words_of(base).try_for_each(|word| sink(&word.to_le_bytes()))
}

/// DataSketches' own sizes, those of `create_by_accuracy`.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    let bits = classical_bits(capacity, rate).ceil() as u64;
    let hashes = (bits as f64 / capacity as f64 * LN_2).ceil() as u32;
    spec_of("datasketches", capacity, bits.div_ceil(64).max(1).saturating_mul(64), hashes.max(1), seed)
}
