//! Filters whose payload is the foreign bytes themselves, unchanged.

use crate::contract::Row;
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::hash::HashFunction;
use crate::kinds::foreign_static;
use crate::spec::Spec;
use crate::storage::Words;

/// Bytes as little-endian words, where zeros follow the last byte.
pub fn words(data: &[u8]) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| u64::from_le_bytes(core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0)));
    data.chunks(8).map(word)
}

/// The filter of this spec and geometry that `keys` keys were offered to, and whose payload begins with these bytes, of
/// which there are no more than it has.
///
/// # Errors
/// [`Status::Corrupt`] where the kind cannot have such a payload; [`Status::OutOfMemory`].
pub fn filter_of(row: &'static Row, spec: &Spec, geometry: Geometry, keys: u64, data: &[u8]) -> Result<Filter> {
    let mut base = crate::making::base(row, spec, geometry, |header| Words::zeroed(header.geometry.payload_bytes))?;
    base.set_count(keys);
    base.writable()?.iter_mut().zip(words(data)).for_each(|(to, word)| *to = word);
    let filter = Filter::over(base)?;
    filter.payload().check_payload()?;
    Ok(filter)
}

/// The static filter with this table. `settings` are what its form makes of the words after the form's number; `keys`
/// is the number of keys, or 0 if the bytes do not say it.
///
/// # Errors
/// [`Status::Corrupt`] where the form has no such table; [`Status::OutOfMemory`].
pub fn static_filter(form: &str, settings: [u64; 5], keys: u64, hash: HashFunction, table: &[u8]) -> Result<Filter> {
    let mut all = [0; 8];
    all[0] = crate::kinds::foreign_static::tables::number(form).ok_or(Status::Internal)?;
    all[1..6].copy_from_slice(&settings);
    let bytes = table.len() as u64;
    let geometry = foreign_static::of(bytes, all)
        .ok_or_else(|| error!(Corrupt, "{bytes} bytes are no table of {form} with {settings:x?}"))?;
    let row = &foreign_static::ROW;
    let spec = Spec { kind: Some(row.kind), capacity: keys, bits: geometry.bits, hash, ..Spec::default() };
    filter_of(row, &spec, geometry, keys, table)
}
