//! What `Dump` of the Go package blobloom writes. The word `blobloom`; the version 0, the number of blocks less 1, and
//! k, as little-endian `u32`; a comment of at most 44 bytes, filled up with zeros; and the blocks, of 64 bytes each.
//! Callers of blobloom bring hashes, and so do callers of the filter here: they have to know which function they use.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::hash::HashFunction;
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_static::tables::MAX_BLOBLOOM_HASHES as MAX_HASHES;

pub const FORMAT: Format = Format {
    name: "blobloom",
    summary: "the Go package blobloom, as Dump writes it; callers hash",
    variants: &[],
    recognise: Some(|bytes| bytes.starts_with(MAGIC)),
    import,
    export: None,
    spec: None,
};

const MAGIC: &[u8] = b"blobloom";

/// Bytes of the comment, and of a block.
const COMMENT: u64 = 44;
const BLOCK: u64 = 64;

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    if !bytes.starts_with(MAGIC) {
        return Err(error!(Foreign, "the bytes do not begin with blobloom"));
    }
    cursor.take(MAGIC.len() as u64)?;
    let mut number = || -> Result<u64> { Ok(u32::from_le_bytes(cursor.array()?).into()) };
    let [version, last, hashes] = [number()?, number()?, number()?];
    if version != 0 {
        return Err(error!(NewerVersion, "version {version} of blobloom's format is not known, 0 is"));
    }
    if !(1..=MAX_HASHES).contains(&hashes) {
        return Err(error!(
            OutOfRange,
            "k = {hashes} is not in 1 to {MAX_HASHES}: each lookup would take as many steps"
        ));
    }
    cursor.take(COMMENT)?;
    let table = cursor.take(BLOCK * (last + 1))?;
    cursor.finish(FORMAT.name)?;
    static_filter("blobloom", [hashes, 0, 0, 0, 0], 0, HashFunction::External, table)
}
