//! FILTERS: COMBINING
//!
//! Filters combine if they are alike in kind, layout, geometry, hash function and seed or secret: make them from one
//! spec. Functions refuse other filters with `PETAL_ERR_INCOMPATIBLE`, and the message names the first difference.

use crate::boundary::boundary;
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};
use petal_core::{Filter, Image};

/// Makes `filter` the union of both: the union finds every key that either filter found. Counts add up. If the kind is
/// canonical (`PETAL_IS_CANONICAL`), the union has the same bits as a filter into which all keys of both were inserted.
/// If the kind grows, the union may have twice the rate that each filter keeps. If `other` is
/// `PETAL_STATE_STAYS_UNCLEAN`, `filter` becomes stays_unclean too.
///
/// Returns `PETAL_ERR_FULL` if there is no room for both, and `PETAL_ERR_CORRUPT` if either filter lies in an image
/// that does not match its checksums. `filter` has not changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_merge(
    filter: *mut petal_filter,
    other: *const petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [pair(filter, other)], filter.by(Filter::merge))
}

/// Makes `filter` hold every key that both hold. The false-positive rate of the result is no higher than that of either
/// filter, but higher than that of a filter made from the common keys alone. The count becomes the smaller of both. An
/// stays_unclean or damaged `other` has the same effect as in `petal_filter_merge()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_intersect(
    filter: *mut petal_filter,
    other: *const petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [pair(filter, other)], filter.by(Filter::intersect))
}

/// Makes the filter smaller by `factor`, at least 2, without its keys. The result has the same bits as a filter that
/// was this small from the beginning. The factor must divide the number of units (bits, bits of a slice, or blocks). A
/// filter with the parameter "foldable" allows many powers of two. The capacity stays, and the rate expected at the
/// capacity becomes that of the smaller geometry. Only for filters in their own memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_fold(
    filter: *mut petal_filter,
    factor: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change filter], filter.by(|filter| filter.fold(factor)))
}

/// Gives the filter another size, without its keys: room for `capacity` keys, and for the keys that the filter holds.
/// The function doubles or halves the number of slots as often as that takes. Each step moves one bit between the
/// slots' numbers and their fingerprints. The capacity becomes the number of keys that the new size has room for.
///
/// The rate with the present keys stays, and the filter still combines with the same filters. Each doubling doubles the
/// rate at the new capacity, and each halving halves that rate.
///
/// Returns `PETAL_ERR_OUT_OF_RANGE` if there is no such size, and `PETAL_ERR_FULL` if the new size has no room for the
/// present keys. Nothing has changed then. Returns `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_RESIZE`. Only for filters
/// in their own memory. Linear in the filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_resize(
    filter: *mut petal_filter,
    capacity: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change filter], filter.by(|filter| filter.resize(capacity)))
}

/// Moves time on by `steps` steps, for a kind that forgets its oldest keys: each step forgets the keys that are oldest
/// then. Each kind has its own steps, and its own least number of steps for which it finds a key. In `rotating` a step
/// is a generation. The parameter "generations" is their number, and the filter finds a key for one step less than
/// that. So for a window of time T, call this function with one step whenever T / (generations - 1) has passed.
///
/// Once the steps have forgotten all keys, further steps do nothing more; 0 steps do nothing. The count of insertions
/// stays. If the window is one of keys (the parameter "clock"), the filter moves on by itself, and you may move it on
/// besides. While others insert, use `petal_filter_advance_shared()`.
///
/// Returns `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_AGE`. In an image in place the function changes only the parts
/// that hold forgotten keys, and readers of the image go on meanwhile. Returns `PETAL_ERR_CORRUPT` if those parts do
/// not match their checksums. A failure changes nothing. Linear in the forgotten parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_advance(
    filter: *mut petal_filter,
    steps: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change filter], filter.by(|filter| filter.advance(steps)))
}

/// Forgets all keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_clear(filter: *mut petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [change filter], filter.by(|filter| filter.clear()))
}

/// Says whether both filters would combine and have the same bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_equals(
    filter: *const petal_filter,
    other: *const petal_filter,
    equal: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, read other, out equal], {
        equal.set(filter.equals(other));
        Ok(())
    })
}

/// The size of a compatibility id.
pub const PETAL_COMPATIBILITY_ID_SIZE: usize = 16;

/// Writes `PETAL_COMPATIBILITY_ID_SIZE` bytes that are the same for two filters if they can combine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_compatibility_id(
    filter: *const petal_filter,
    id: *mut u8,
    error: *mut petal_error,
) -> petal_status {
    let id = id.cast::<[u8; PETAL_COMPATIBILITY_ID_SIZE]>();
    boundary!(error, [read filter, out id], {
        id.set(filter.base().compatibility_id());
        Ok(())
    })
}
