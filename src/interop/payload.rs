//! Filters whose payload is the foreign bytes themselves, unchanged.

use crate::contract::Row;
use crate::error::Result;
use crate::format::Geometry;
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::spec::Spec;
use crate::storage::Words;

/// Bytes as little-endian words, where zeros follow the last byte.
pub fn little_endian(data: &[u8]) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| u64::from_le_bytes(core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0)));
    data.chunks(8).map(word)
}

/// The filter of this spec and geometry that `keys` keys were inserted to, and whose payload begins with these bytes,
/// of which there are no more than it has.
///
/// # Errors
/// [`Status::Corrupt`] where the kind cannot have such a payload; [`Status::OutOfMemory`].
pub fn filter_of(row: &'static Row, spec: &Spec, geometry: Geometry, keys: u64, data: &[u8]) -> Result<Filter> {
    let mut base = crate::making::base(row, spec, geometry, |header| Words::zeroed(header.geometry.payload_bytes))?;
    base.set_count(keys);
    base.writable()?.iter_mut().zip(little_endian(data)).for_each(|(to, word)| *to = word);
    let filter = Filter::over(base)?;
    filter.payload().check_payload()?;
    Ok(filter)
}
