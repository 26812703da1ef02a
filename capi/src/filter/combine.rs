//! FILTERS: COMBINING
//!
//! Filters combine if they are alike in kind, layout, geometry, hash function and seed or key: make
//! them from one spec. Otherwise `PETAL_ERR_INCOMPATIBLE`, with the first difference in the message.

use super::petal_filter;
use crate::boundary::{self, NO_ERROR, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{Filter, Image, Result};
use std::ptr;

/// Changes one filter by another, which may be the same one.
///
/// # Safety
/// Neither handle is NULL.
unsafe fn combine(
    filter: *mut petal_filter,
    other: *const petal_filter,
    operation: impl FnOnce(&mut Filter, &Filter) -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller's promise; a filter is not borrowed twice, since a copy stands in for it.
    unsafe {
        let copy;
        let other = if ptr::eq(filter, other) {
            copy = petal_filter::get(other)?.copy()?;
            &copy
        } else {
            petal_filter::get(other)?
        };
        petal_filter::change(filter, |filter| operation(filter, other))?
    }
}

/// Makes `filter` the union of both: it says true of every key of which either did. A kind that is canonical
/// (`is_canonical` of `petal_kind_info`) has the same bits then as if the keys of both had been inserted into it; a
/// union of kinds that grow may come to twice the rate that each keeps to. Counts add up. If `other` is `PETAL_STATE_UNVOUCHED` `filter` becomes so.
/// `PETAL_ERR_FULL` where there is no room for both; `PETAL_ERR_CORRUPT` if either lies in an image that does not match
/// its checksums. `filter` is then as it was. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_merge(
    filter: *mut petal_filter,
    other: *const petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, other], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { combine(filter, other, |filter, other| filter.merge(other)) }
    })
}

/// Makes `filter` hold every key that both hold. It says true of other keys at a rate no higher than either did, but
/// higher than a filter made from the common keys alone. Its count becomes the smaller of both. Dirt and damage are as
/// in `petal_filter_merge()`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_intersect(
    filter: *mut petal_filter,
    other: *const petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, other], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { combine(filter, other, |filter, other| filter.intersect(other)) }
    })
}

/// Makes the filter smaller by `factor`, at least 2, without its keys: the same bits as if it had been made so small at
/// once. The factor must divide the number of units (bits, bits of a slice, or blocks); the parameter "foldable" makes
/// many powers of two do. The capacity stays, and the rate expected at it becomes that of the smaller geometry. Only
/// for filters in memory of their own. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_fold(
    filter: *mut petal_filter,
    factor: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.fold(factor))? }
    })
}

/// Gives the filter room for `capacity` keys, and for those that it holds, without its keys: twice or half as many slots
/// as often as that takes, while a bit moves between their numbers and what they hold. The capacity becomes what then has
/// room. The rate with the keys that it holds stays, and it still combines with what it combined with; at its new
/// capacity the rate is twice or half what it was. `PETAL_ERR_OUT_OF_RANGE` if there is no such size, `PETAL_ERR_FULL` if
/// it would not hold what is there: nothing has changed then. `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_RESIZE`. Only
/// for filters in memory of their own. Linear in the filter. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_resize(
    filter: *mut petal_filter,
    capacity: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.resize(capacity))? }
    })
}

/// Moves time on by `steps` steps, of a kind that forgets its oldest keys: each step forgets those that are oldest then.
/// What a step is, and how many of them a key is found for at least, is for each kind to say: of `rotating` a generation,
/// of which it has the parameter "generations", and a key is found for one step less. So a window of time T moves on by
/// one step whenever T / (generations - 1) has passed. More steps than a key is there for do no more than those; 0 do
/// nothing. The count of keys offered stays. A filter whose window is one of keys (the parameter "clock") moves on by
/// itself, and may be moved on besides.
///
/// `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_AGE`. An image in place is changed only where keys are forgotten, and
/// those who read it go on meanwhile; `PETAL_ERR_CORRUPT` if it does not match its checksums there. After a failure the
/// filter is as it was. Linear in what is forgotten. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_advance(
    filter: *mut petal_filter,
    steps: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.advance(steps))? }
    })
}

/// Forgets all keys. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_clear(filter: *mut petal_filter, error: *mut petal_error) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { petal_filter::change(filter, |filter| filter.clear())? }
    })
}

/// Whether both filters would combine and have the same bits. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_equal(
    filter: *const petal_filter,
    other: *const petal_filter,
    equal: *mut bool,
) -> petal_status {
    boundary!(NO_ERROR, [filter, other, equal], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { equal.write(petal_filter::get(filter)?.equals(petal_filter::get(other)?)) };
        Ok(())
    })
}

/// The size of a compatibility id.
pub const PETAL_COMPATIBILITY_ID_SIZE: usize = 16;

/// What two filters must have in common to combine, as `PETAL_COMPATIBILITY_ID_SIZE` bytes. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_compatibility_id(filter: *const petal_filter, id: *mut u8) -> petal_status {
    boundary!(boundary::NO_ERROR, [filter, id], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let bytes: [u8; PETAL_COMPATIBILITY_ID_SIZE] = unsafe { petal_filter::get(filter)? }.base().compatibility_id();
        // SAFETY: as above.
        unsafe { id.cast::<[u8; PETAL_COMPATIBILITY_ID_SIZE]>().write(bytes) };
        Ok(())
    })
}
