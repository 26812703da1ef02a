//! One filter of a valkey-bloom object: the bytes of the Rust crate bloomfilter, version 3. A 1, the number of bytes as
//! 64 bits, k as 32, two secrets of 16 bytes, and the bits.

use super::array::{Parts, little_endian, parts_of, write_little_endian};
use super::{Cursor, Format, ImportOptions};
use crate::error::{Result, error};
use crate::filter::Filter;
use crate::image::{Image, Sink};

pub const FORMAT: Format = Format {
    name: "valkey",
    summary: "one filter of a valkey-bloom object: the Rust crate bloomfilter 3",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: None,
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let version = cursor.u8()?;
    if version != 1 {
        return Err(error!(Foreign, "version {version} is not 1"));
    }
    let length = u64::from_le_bytes(cursor.array()?);
    let hashes = u32::from_le_bytes(cursor.array()?);
    let mut word = || cursor.array().map(u64::from_le_bytes);
    let key = [word()?, word()?, word()?, word()?];
    let bits = cursor.take(length)?;
    cursor.finish(FORMAT.name)?;
    if hashes == 0 || length == 0 {
        return Err(error!(Corrupt, "a filter of {hashes} hashes and {length} bytes is not possible"));
    }
    Parts { placement: "valkey", bits: 8 * length, hashes, key, ..Parts::default() }.filter(little_endian(bits))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["valkey"], FORMAT.name)?;
    if !parts.bits.is_multiple_of(8) {
        return Err(error!(Unsupported, "bits = {} has no form in valkey: not a multiple of 8", parts.bits));
    }
    sink(&[1])?;
    sink(&(parts.bits / 8).to_le_bytes())?;
    sink(&parts.hashes.to_le_bytes())?;
    parts.key.iter().try_for_each(|word| sink(&word.to_le_bytes()))?;
    write_little_endian(filter.base(), parts.bits / 8, sink)
}
