//! FILTERS: DESCRIBING

use super::petal_filter;
use crate::boundary::{self, NO_ERROR, boundary};
use crate::kinds::petal_kind;
use crate::spec::{petal_hash_function, petal_spec};
use crate::status::{petal_error, petal_status};
use petal_core::storage::Access;
use petal_core::{Filter, format, sizing};

/// The image was open for writing when its process ended: its checksum is not known and its count may lag.
pub const PETAL_STATE_DIRTY: u32 = 1 << 0;
/// The image lies in a caller's buffer or a mapped file.
pub const PETAL_STATE_IN_PLACE: u32 = 1 << 1;
/// The filter can be changed.
pub const PETAL_STATE_WRITABLE: u32 = 1 << 2;
/// Keys can be hashed: the filter takes them, and has its secret key if it needs one.
pub const PETAL_STATE_CAN_HASH: u32 = 1 << 3;

/// What a filter is and how full. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_statistics {
    /// sizeof(petal_statistics).
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// The hash function.
    pub hash: petal_hash_function,
    /// The seed; the identifier of the secret key of a keyed filter; the tag of external hashes.
    pub seed: u64,
    /// The version of the header's format.
    pub format_version: u32,
    /// The version of the kind's layout.
    pub layout_version: u32,
    /// What this handle can do: `PETAL_CAN_*`, ORed.
    pub capabilities: u64,
    /// `PETAL_STATE_*`, ORed.
    pub state: u32,
    /// Bits that a key sets.
    pub hashes: u32,
    /// Distinct keys that it was sized for; 0 is unknown.
    pub capacity: u64,
    /// Keys offered so far, duplicates included.
    pub count: u64,
    /// Distinct keys, estimated from the fill; negative if the filter is too full to tell.
    pub count_estimate: f64,
    /// Bits that keys are spread over.
    pub bits: u64,
    /// Bytes of the whole image: header and payload.
    pub bytes: u64,
    /// `bits` per key, for the capacity; for the estimated keys where that is unknown; 0 where both are.
    pub bits_per_key: f64,
    /// The share of the bits that are set.
    pub fill: f64,
    /// The false-positive rate promised at capacity; 0 where exact bits were asked for.
    pub false_positive_rate_target: f64,
    /// The false-positive rate now, from the bits as they are.
    pub false_positive_rate: f64,
    /// The rate below which 64-bit hashes cannot get with so many keys, however many bits there are.
    pub false_positive_rate_floor: f64,
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_statistics {}

fn statistics_of(filter: &dyn Filter) -> petal_statistics {
    let base = filter.base();
    let header = base.header();
    let in_place = base.words().in_place();
    let flag = |is: bool, flag: u32| if is { flag } else { 0 };
    let estimate = filter.cardinality();
    let keys = if header.capacity != 0 { header.capacity as f64 } else { estimate.unwrap_or(0.0) };
    petal_statistics {
        struct_size: 0,
        kind: header.kind.0,
        hash: header.hash as u32,
        seed: header.identifier,
        format_version: format::FORMAT_VERSION.into(),
        layout_version: header.layout_version.into(),
        capabilities: filter.capabilities().0,
        state: flag(header.dirty, PETAL_STATE_DIRTY)
            | flag(in_place.is_some(), PETAL_STATE_IN_PLACE)
            | flag(in_place != Some(Access::Read), PETAL_STATE_WRITABLE)
            | flag(base.hasher().can_hash(), PETAL_STATE_CAN_HASH),
        hashes: header.geometry.hashes,
        capacity: header.capacity,
        count: header.count,
        count_estimate: estimate.unwrap_or(-1.0),
        bits: header.geometry.bits,
        bytes: header.image_bytes(),
        bits_per_key: if keys > 0.0 { header.geometry.bits as f64 / keys } else { 0.0 },
        fill: filter.ones() as f64 / header.geometry.bits as f64,
        false_positive_rate_target: header.false_positive_rate,
        false_positive_rate: filter.false_positive_rate(),
        false_positive_rate_floor: sizing::hash_floor(estimate.unwrap_or(header.count as f64) as u64, 64),
    }
}

/// Describes a filter. Reads the whole payload. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_statistics(
    filter: *const petal_filter,
    statistics: *mut petal_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, statistics], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::check_out(statistics)?;
            boundary::write(statistics, statistics_of(petal_filter::get(filter)?));
        }
        Ok(())
    })
}

/// The spec from which an empty filter compatible with this one can be made: its kind, exact bits and hashes, hash
/// function, seed and parameters. The secret key of a keyed filter is not in it. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_spec(
    filter: *const petal_filter,
    spec: *mut petal_spec,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, spec], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            boundary::check_out(spec)?;
            boundary::write(spec, petal_spec::of_core(&petal_filter::get(filter)?.spec()));
        }
        Ok(())
    })
}

/// What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. 0 for NULL. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_capabilities(filter: *const petal_filter) -> u64 {
    let mut capabilities = 0;
    let _ = boundary!(NO_ERROR, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        capabilities = unsafe { petal_filter::get(filter)? }.capabilities().0;
        Ok(())
    });
    capabilities
}

/// The exact false-positive rate to expect of this filter with `keys` distinct keys in it. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_false_positive_rate(
    filter: *const petal_filter,
    keys: u64,
    false_positive_rate: *mut f64,
) -> petal_status {
    boundary!(NO_ERROR, [filter, false_positive_rate], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let rate = unsafe { petal_filter::get(filter)? }.expected_false_positive_rate(keys);
        // SAFETY: as above.
        unsafe { false_positive_rate.write(rate) };
        Ok(())
    })
}
