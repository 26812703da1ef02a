//! Writes a filter as its compact form: the payload and a short trailer ([`crate::format::compact`]).

use crate::contract::{Base, Row};
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::format::compact::{Packing, Trailer};
use crate::storage::copy_words;

/// The trailer of the compact form of a filter of this kind, geometry and layout version.
///
/// # Errors
/// [`Status::Unsupported`] for a geometry that a trailer cannot express.
fn trailer_of(row: &Row, geometry: &Geometry, layout_version: u16) -> Result<Trailer> {
    if row.hashing.hashes_keys_itself {
        let name = row.name;
        return Err(error!(
            Unsupported,
            "{name} has no compact form: whoever opened one could not say how keys are hashed"
        ));
    }
    let parts = (|| {
        let kind = u16::try_from(row.kind.0).ok()?;
        let shape = Packing::pack(geometry, row.compact)?;
        let (layout_version, hashes) = (layout_version.try_into().ok()?, geometry.hashes.try_into().ok()?);
        let payload_bytes = usize::try_from(geometry.payload_bytes).ok()?;
        Some(Trailer { kind: crate::spec::KindId(kind.into()), layout_version, hashes, shape, payload_bytes })
    })();
    parts.ok_or_else(|| {
        let (name, words) = (row.name, &geometry.words);
        error!(
            Unsupported,
            "this {name} filter has no compact form: the 8 bytes of a trailer's shape do not hold its words {words:x?}"
        )
    })
}

/// The length of the compact form of a filter of this kind and geometry.
///
/// # Errors
/// [`Status::Unsupported`] if such a filter has no compact form.
pub fn compact_size(row: &Row, geometry: &Geometry) -> Result<usize> {
    Ok(trailer_of(row, geometry, row.form.layout_version)?.length())
}

/// Writes a filter's compact form to the start of `to`, and returns its length. Threads and processes may insert
/// meanwhile: the form has all keys whose insertion happened before.
///
/// # Errors
/// [`Status::Unsupported`] if the filter has no compact form; [`Status::BufferTooSmall`]; [`Status::Unclean`] if the
/// filter is unclean, which the form cannot say; [`Status::Corrupt`] if an image in place does not match its checksums;
/// [`Status::OutOfMemory`].
pub fn write_compact(base: &Base, to: &mut [u8]) -> Result<usize> {
    let trailer = trailer_of(base.row(), base.geometry(), base.header().layout_version)?;
    let (length, given) = (trailer.length(), to.len());
    let Some(whole) = to.get_mut(..length) else {
        return Err(error!(BufferTooSmall, "the buffer has {given} bytes, the compact form {length}"));
    };
    let refusal = || {
        error!(Unclean, "nobody marked the filter clean, and its compact form could not say so: mark it clean first")
    };
    if base.stays_unclean() {
        return Err(refusal());
    }
    if base.is_own() {
        copy_words(base.words().shared(), &mut whole[..trailer.payload_bytes]);
    } else {
        let mut done = 0;
        let stays_unclean = base.for_each_region(false, |bytes, _| {
            let place = whole.get_mut(done..done + bytes.len()).ok_or(Status::Internal)?;
            place.copy_from_slice(bytes);
            done += bytes.len();
            Ok(())
        })?;
        if stays_unclean {
            return Err(refusal());
        }
    }
    trailer.write(whole);
    Ok(length)
}
