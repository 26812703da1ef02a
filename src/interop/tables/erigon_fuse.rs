//! The existence filter of Erigon's index files: a binary fuse filter with fingerprints of 8 bits behind a header of 40
//! bytes, all numbers big-endian. A version 0 and three bytes of features, of which the last bit says that the writer's
//! machine was little-endian; as `u32` the segments and the cells in which a key's first cell can lie; the seed as a
//! `u64`; as `u32` the cells of a segment and that less 1; and the number of fingerprints as a `u64`. Callers bring
//! hashes.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_static::{self, tables};

const NAME: &str = "erigon_fuse";

pub const FORMAT: Format = Format {
    name: NAME,
    summary: "the existence filter of Erigon's index files; keys are given as hashes",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: None,
};

/// Version 0, written on a little-endian machine.
const START: [u8; 4] = [0, 0, 0, 1];

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(NAME)?;
    let mut cursor = Cursor::new(bytes);
    let start: [u8; 4] = cursor.array()?;
    if start != START {
        return Err(error!(Foreign, "the bytes begin with {start:02x?}, and a filter of Erigon with {START:02x?}"));
    }
    let mut number = || -> Result<u64> { Ok(u32::from_be_bytes(cursor.array()?).into()) };
    let [segments, starts, high, low, segment, mask] =
        [number()?, number()?, number()?, number()?, number()?, number()?];
    let cells = u64::from_be_bytes(cursor.array()?);
    if segments.checked_mul(segment) != Some(starts) || segment.checked_sub(1) != Some(mask) {
        return Err(error!(
            Corrupt,
            "{segments} segments of {segment} cells are not {starts} cells with mask {mask:#x}"
        ));
    }
    if cells != starts + 2 * segment {
        return Err(error!(Corrupt, "{cells} fingerprints are not {starts} and two segments of {segment}"));
    }
    let table = cursor.take(cells)?;
    cursor.finish(NAME)?;
    static_filter("binary_fuse", [high << 32 | low, segment, starts, 8, 0], 0, HashFunction::External, table)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    let (name, geometry) = (base.row().name, base.geometry());
    let [form, seed, segment, starts, width, ..] = geometry.words;
    let is_ours = base.row().kind == foreign_static::ROW.kind && Some(form) == tables::number("binary_fuse");
    if !is_ours || width != 8 || base.header().hash != HashFunction::External {
        return Err(error!(
            Unsupported,
            "kind = {name} has no form in {NAME}, only imported binary fuse filters with 8 bits have"
        ));
    }
    sink(&START)?;
    for number in [starts / segment, starts] {
        sink(&(number as u32).to_be_bytes())?;
    }
    sink(&seed.to_be_bytes())?;
    for number in [segment, segment - 1] {
        sink(&(number as u32).to_be_bytes())?;
    }
    let cells = geometry.bits / 8;
    sink(&cells.to_be_bytes())?;
    super::write_bytes(base, cells, sink)
}
