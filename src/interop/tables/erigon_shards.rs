//! The existence filter of Erigon's index files in 256 shards: the same four bytes as [`super::erigon_fuse`] begins
//! with, and a table of the form `binary_fuse_shards`. Callers bring hashes.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_static::{self, tables};

const NAME: &str = "erigon_shards";

const FORM: &str = "binary_fuse_shards";

pub const FORMAT: Format = Format {
    name: NAME,
    summary: "the existence filter of Erigon's index files in 256 shards; keys are given as hashes",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: None,
};

/// The features: only the last bit, written on a little-endian machine.
const START: [u8; 4] = [0, 0, 0, 1];

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(NAME)?;
    let mut cursor = Cursor::new(bytes);
    let start: [u8; 4] = cursor.array()?;
    if start != START {
        return Err(error!(Foreign, "the bytes begin with {start:02x?}, and shards of Erigon with {START:02x?}"));
    }
    static_filter(FORM, [0; 5], 0, HashFunction::External, cursor.rest())
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    let (name, geometry) = (base.row().name, base.geometry());
    let is_ours = base.row().kind == foreign_static::ROW.kind && Some(geometry.words[0]) == tables::number(FORM);
    if !is_ours || base.header().hash != HashFunction::External {
        return Err(error!(Unsupported, "kind = {name} has no form in {NAME}, only filters that came from it have"));
    }
    sink(&START)?;
    super::write_bytes(base, geometry.bits / 8, sink)
}
