//! Formats whose filters are of the kind `foreign_static`.

pub mod binary_fuse;
pub mod blobloom;
pub mod datasketches_xor;
pub mod holiman;
pub mod xor;

use super::payload::filter_of;
use crate::error::{Result, Status, error};
use crate::handle::filter::Filter;
use crate::hash::HashFunction;
use crate::kinds::foreign_static;
use crate::spec::Spec;

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
