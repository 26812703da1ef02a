//! Formats whose filters are of the kind `foreign_static`.

pub mod binary_fuse;
pub mod blobloom;
pub mod clubcard;
pub mod datasketches_xor;
pub mod erigon_fuse;
pub mod erigon_shards;
pub mod holiman;
pub mod xor;

use super::payload::filter_of;
use crate::contract::Base;
use crate::error::{Result, Status, error};
use crate::handle::filter::Filter;
use crate::handle::image::Sink;
use crate::hash::HashFunction;
use crate::kinds::foreign_static;
use crate::spec::Spec;
use crate::storage::copy_words;

/// The static filter with this table. `settings` are what its form makes of the words after the form's number; `keys`
/// is the number of keys, or 0 if the bytes do not say it.
///
/// # Errors
/// [`Status::Corrupt`] where the form has no such table; [`Status::OutOfMemory`].
pub fn static_filter(form: &str, settings: [u64; 5], keys: u64, hash: HashFunction, table: &[u8]) -> Result<Filter> {
    let mut all = [0; 8];
    all[0] = foreign_static::tables::number(form).ok_or(Status::Internal)?;
    all[1..6].copy_from_slice(&settings);
    let bytes = table.len() as u64;
    let geometry = foreign_static::of(bytes, all)
        .ok_or_else(|| error!(Corrupt, "{bytes} bytes are no table of {form} with {settings:x?}"))?;
    let row = &foreign_static::ROW;
    let spec = Spec { kind: Some(row.kind), capacity: keys, bits: geometry.bits, hash, ..Spec::default() };
    filter_of(row, &spec, geometry, keys, table)
}

/// Gives the first `count` bytes of a table to a sink.
pub fn write_bytes(base: &Base, count: u64, sink: &mut Sink) -> Result<()> {
    let (mut left, mut bytes) = (count, [0; 8192]);
    base.words().shared().chunks(bytes.len() / 8).try_for_each(|words| {
        let piece = copy_words(words, &mut bytes);
        let taken = left.min(piece.len() as u64);
        left -= taken;
        if taken == 0 { Ok(()) } else { sink(&piece[..taken as usize]) }
    })
}
