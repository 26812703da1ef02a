//! One filter of a valkey-bloom object: the bytes of the Rust crate bloomfilter, version 3. They are a 1, the number of
//! bytes as 64 bits, k as 32 bits, two secrets of 16 bytes, and the bits.

use super::{Parts, parts_of, write_little_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions};

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
    let Blob { hashes, key, bits } = blob(bytes)?;
    let parts = Parts { placement: "valkey", bits: 8 * bits.len() as u64, hashes, key, ..Parts::default() };
    parts.filter(little_endian(bits))
}

/// What the bytes of one filter say.
pub struct Blob<'a> {
    /// Bits that a key sets.
    pub hashes: u32,
    /// The two secrets.
    pub key: [u64; 4],
    /// The array.
    pub bits: &'a [u8],
}

/// The bytes before the array.
pub const HEADER: u64 = 1 + 8 + 4 + 32;

/// The fields of one filter's bytes. All of the bytes must belong to it.
///
/// # Errors
/// As [`Format::import`].
pub fn blob(bytes: &[u8]) -> Result<Blob<'_>> {
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
    Ok(Blob { hashes, key, bits })
}

/// Gives the bytes before the array of one filter to a sink.
pub fn write_header(bytes: u64, hashes: u32, key: &[u64; 4], sink: &mut Sink) -> Result<()> {
    sink(&[1])?;
    sink(&bytes.to_le_bytes())?;
    sink(&hashes.to_le_bytes())?;
    key.iter().try_for_each(|word| sink(&word.to_le_bytes()))
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let parts = parts_of(filter, &["valkey"], FORMAT.name)?;
    if !parts.bits.is_multiple_of(8) {
        return Err(error!(Unsupported, "bits = {} has no form in valkey: not a multiple of 8", parts.bits));
    }
    write_header(parts.bits / 8, parts.hashes, &parts.key, sink)?;
    write_little_endian(filter.base(), parts.bits / 8, sink)
}
