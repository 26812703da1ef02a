//! The xor filter of DataSketches (family 22): the number of words before the table, a version, the family, no flags,
//! the bits of a fingerprint and the number of cells of a key, in a byte each; two bytes 0; the seed as a `u64`; the
//! cells of a third and the distinct keys as `u32`; and the fingerprints. The table is that of [`super::xor`], and keys
//! are hashed by XXH64 with the seed 0. The owner also writes all of this as whole words.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_static::{self, tables};

const NAME: &str = "datasketches_xor";

pub const FORMAT: Format = Format {
    name: NAME,
    summary: "the xor filter of Apache DataSketches",
    variants: &[],
    recognise: Some(|bytes| bytes.starts_with(&START)),
    import,
    export: Some(export),
    spec: None,
};

/// Three words before the table, version 1, family 22, no flags.
const START: [u8; 4] = [3, 1, 22, 0];

/// A key has three cells, and two bytes are not used.
const SHAPE: [u8; 3] = [3, 0, 0];

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(NAME)?;
    let mut cursor = Cursor::new(bytes);
    let start: [u8; 4] = cursor.array()?;
    if [start[0], start[2]] != [START[0], START[2]] {
        return Err(error!(Foreign, "the bytes do not begin as a xor filter of DataSketches, family 22"));
    }
    if start != START {
        let [_, version, _, flags] = start;
        return Err(error!(NewerVersion, "version {version} with flags {flags:#x} is not known, 1 with 0 is"));
    }
    let width = u64::from(cursor.u8()?);
    let shape: [u8; 3] = cursor.array()?;
    if !matches!(width, 8 | 16) || shape != SHAPE {
        return Err(error!(Corrupt, "{width} bits with {shape:?} are no shape of a xor filter of DataSketches"));
    }
    let seed = u64::from_le_bytes(cursor.array()?);
    let mut number = || -> Result<u64> { Ok(u32::from_le_bytes(cursor.array()?).into()) };
    let [third, keys] = [number()?, number()?];
    if third > i32::MAX as u64 || keys > i32::MAX as u64 {
        return Err(error!(Corrupt, "{third} cells in a third or {keys} keys are more than an int holds"));
    }
    let table = cursor.take(3 * third * width / 8)?;
    let padding = cursor.rest();
    if !(padding.is_empty() || padding.len() < 8 && bytes.len().is_multiple_of(8))
        || padding.iter().any(|byte| *byte != 0)
    {
        return Err(error!(Corrupt, "{} bytes follow the end of the {NAME} filter", padding.len()));
    }
    static_filter("xor", [seed, third, width, 0, 0], keys, HashFunction::Xxh64, table)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    let (name, geometry, hash) = (base.row().name, base.geometry(), base.header().hash);
    let [form, seed, third, width, ..] = geometry.words;
    let is_ours = base.row().kind == foreign_static::ROW.kind && Some(form) == tables::number("xor");
    if !is_ours || hash != HashFunction::Xxh64 || base.header().identifier != 0 {
        return Err(error!(Unsupported, "kind = {name} has no form in {NAME}, only filters that came from it have"));
    }
    sink(&START)?;
    sink(&[width as u8])?;
    sink(&SHAPE)?;
    sink(&seed.to_le_bytes())?;
    for number in [third, base.count_now()] {
        sink(&(number as u32).to_le_bytes())?;
    }
    super::write_bytes(base, geometry.bits / 8, sink)
}
