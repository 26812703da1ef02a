//! FILTERS: ESTIMATING
//!
//! These functions estimate from the bits how many distinct keys filters hold, alone and in common. They read all bits.

use crate::boundary::{self, boundary};
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};
use petal_core::Estimate;

/// An estimate with its uncertainty. Other structs contain this one, so it has no `struct_size` and never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_filter_estimate {
    /// The estimate as the formula gives it: the estimate of an intersection may be negative. 0 if saturated.
    pub value: f64,
    /// The standard error, or a bound on it if the estimate comes from several others.
    pub standard_error: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// 1 if a filter is too full to tell, and the numbers above mean nothing; otherwise 0.
    pub saturated: u32,
    /// 0.
    pub reserved: u32,
}

fn to_c(estimate: Option<Estimate>) -> petal_filter_estimate {
    let saturated = u32::from(estimate.is_none());
    let estimate = estimate.unwrap_or(Estimate { value: 0.0, standard_error: 0.0 });
    petal_filter_estimate {
        value: estimate.value,
        standard_error: estimate.standard_error,
        low: estimate.low(),
        high: estimate.high(),
        saturated,
        reserved: 0,
    }
}

/// What two filters have in common.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_filter_overlap {
    /// sizeof(petal_filter_overlap), or 0 for its size in the first release.
    pub struct_size: usize,
    /// Distinct keys of the first.
    pub first_count: petal_filter_estimate,
    /// Distinct keys of the second.
    pub second_count: petal_filter_estimate,
    /// Distinct keys of both together.
    pub union_count: petal_filter_estimate,
    /// Keys in common. The error does not depend on their number, so nobody can tell few common keys of large sets from
    /// none.
    pub intersection_count: petal_filter_estimate,
    /// Keys in common as a share of all: the Jaccard index.
    pub jaccard: petal_filter_estimate,
    /// Keys that only one of the two has. The error grows with the number of such keys, and not with the size of the
    /// sets.
    pub difference_count: petal_filter_estimate,
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_filter_overlap {
    const FIRST_SIZE: usize = 248;
}

/// Estimates how many distinct keys a filter holds. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot estimate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_estimate(
    filter: *const petal_filter,
    estimate: *mut petal_filter_estimate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out estimate], estimate.answer(petal_core::estimate(filter).map(to_c)))
}

/// Compares two filters that could be merged: how many keys each holds, how many both hold together, how many are in
/// both, and how many in one only. Reads both payloads. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot estimate, or
/// if filters of the kind grow: filters of different sizes cannot be compared. Returns `PETAL_ERR_INCOMPATIBLE`, naming
/// the first difference, if the filters could not be merged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_estimate_overlap(
    filter: *const petal_filter,
    other: *const petal_filter,
    comparison: *mut petal_filter_overlap,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, read other, fill comparison], {
        let found = petal_core::estimate_overlap(filter, other)?;
        comparison.set(petal_filter_overlap {
            struct_size: 0,
            first_count: to_c(found.first),
            second_count: to_c(found.second),
            union_count: to_c(found.union),
            intersection_count: to_c(found.intersection),
            jaccard: to_c(found.jaccard),
            difference_count: to_c(found.differences),
        });
        Ok(())
    })
}
