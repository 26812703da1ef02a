//! libbloom 2.0's `bloom_save`: nine letters, the size of `struct bloom` as 16 bits, the struct as it lies in memory on
//! a 64-bit machine, with a pointer that means nothing to others, and the bytes of the bits. A file that was saved over
//! a longer one still has that one's end behind it: what follows the bits is not part of the filter.
//!
//! Version 1 has no file: its bytes are the array behind `bf`, and the import options `bits` and `hashes` say what the
//! struct would.

use super::{Parts, attachment_of, parts_of, spec_of, spec_with_rate, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::check_no_seed;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::spec::{Spec, check_rate};

/// ln(2)^2 and ln(2) as libbloom writes them: the last bit of a size depends on this.
const LN_2_SQUARED: f64 = 0.480_453_013_918_201;
#[expect(clippy::approx_constant, reason = "the last digit is missing there as well")]
const LN_2: f64 = 0.693_147_180_559_945;

const MAGIC: &[u8; 9] = b"libbloom2";
/// sizeof(struct bloom).
const STRUCT: usize = 64;

pub const FORMAT: Format = Format {
    name: "libbloom",
    summary: "a file of libbloom 2, as bloom_save writes it",
    variants: &[],
    recognise: Some(|bytes| bytes.starts_with(MAGIC)),
    import,
    export: Some(export),
    spec: Some(spec),
};

/// The bit array of version 1.
pub const RAW: Format = Format {
    name: "libbloom_1",
    summary: "the bit array of libbloom 1; options.bits and options.hashes are those of its struct",
    variants: &[],
    recognise: None,
    import: import_raw,
    export: Some(export_raw),
    spec: Some(|wanted| spec_in("libbloom_1", wanted)),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    if cursor.array::<9>()? != *MAGIC {
        return Err(error!(Foreign, "the bytes do not start as libbloom 2's files do"));
    }
    let size = u16::from_le_bytes(cursor.array()?);
    if usize::from(size) != STRUCT {
        return Err(error!(Foreign, "a struct of {size} bytes is not that of a 64-bit machine"));
    }
    let object: [u8; STRUCT] = cursor.array()?;
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| object[at + i]));
    let (entries, bits, length, hashes) = (word(0) as u32, word(8), word(16), object[24]);
    let (rate, ready, major) = (f64::from_bits(word(32)), object[40], object[41]);
    if major != 2 || ready != 1 {
        return Err(error!(NewerVersion, "version {major} of a filter that is ready = {ready} is not known"));
    }
    check_rate(rate).map_err(|error| error!(Corrupt, "{error}"))?;
    if bits == 0 || hashes == 0 || length != bits.div_ceil(8) {
        return Err(error!(Corrupt, "{bits} bits in {length} bytes with {hashes} hashes are not possible"));
    }
    let parts = Parts {
        placement: "libbloom_2",
        bits,
        hashes: hashes.into(),
        capacity: entries.into(),
        false_positive_rate: rate,
        attachment: &object,
        ..Parts::default()
    };
    parts.filter(little_endian(cursor.take(length)?))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["libbloom_2"], FORMAT.name)?;
    let Parts { capacity, false_positive_rate: rate, bits, hashes, .. } = parts;
    let entries = u32::try_from(capacity).ok().filter(|entries| *entries > 0 && rate > 0.0 && hashes <= 255);
    let Some(entries) = entries else {
        return Err(error!(Unsupported, "capacity = {capacity} with rate {rate} has no form in libbloom"));
    };
    let base = filter.base();
    let object = match <[u8; STRUCT]>::try_from(attachment_of(base)?) {
        Ok(object) => object,
        Err(_) => {
            let mut object = [0; STRUCT];
            let mut put = |at: usize, bytes: &[u8]| object[at..at + bytes.len()].copy_from_slice(bytes);
            put(0, &entries.to_le_bytes());
            put(8, &bits.to_le_bytes());
            put(16, &bits.div_ceil(8).to_le_bytes());
            put(24, &[hashes as u8]);
            put(32, &rate.to_le_bytes());
            put(40, &[1, 2, 0]);
            put(48, &bits_per_entry(rate).to_le_bytes());
            object
        }
    };
    sink(MAGIC)?;
    sink(&(STRUCT as u16).to_le_bytes())?;
    sink(&object)?;
    write_little_endian(base, bits.div_ceil(8), sink)
}

fn import_raw(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    let ImportOptions { bits, hashes, seed, .. } = *options;
    ImportOptions { bits: 0, hashes: 0, seed: 0, ..*options }.check_unused(RAW.name)?;
    check_no_seed(seed, RAW.name)?;
    if bits == 0 || hashes == 0 {
        return Err(error!(Contradiction, "the bytes of libbloom_1 say neither bits nor hashes: give both as options"));
    }
    let length = bits.div_ceil(8);
    if bytes.len() as u64 != length {
        return Err(error!(Truncated, "bits = {bits} are {length} bytes, not {}", bytes.len()));
    }
    Parts { placement: "libbloom_1", bits, hashes, ..Parts::default() }.filter(little_endian(bytes))
}

fn export_raw(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["libbloom_1"], RAW.name)?;
    write_little_endian(filter.base(), parts.bits.div_ceil(8), sink)
}

fn bits_per_entry(rate: f64) -> f64 {
    -(rate.ln() / LN_2_SQUARED)
}

fn spec(wanted: &Wanted) -> Result<Spec> {
    spec_in("libbloom_2", wanted)
}

/// libbloom's own sizes: it refuses fewer than 1000 entries.
fn spec_in(placement: &'static str, wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    if !(1000..=u64::from(u32::MAX)).contains(&capacity) {
        return Err(error!(OutOfRange, "capacity = {capacity} is not from 1000 to {} of libbloom", u32::MAX));
    }
    let per_entry = bits_per_entry(rate);
    let bits = (capacity as f64 * per_entry) as u64;
    let hashes = (LN_2 * per_entry).ceil() as u32;
    Ok(spec_with_rate(rate, spec_of(placement, capacity, bits.max(1), hashes, 0)?))
}
