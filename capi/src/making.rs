//! FILTERS FROM SPECS

use crate::boundary::boundary;
use crate::filter::petal_filter;
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};

/// Makes an empty filter in its own memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_new(
    spec: *const petal_spec,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give filter, given spec], filter.made(|| petal_core::Filter::new(&spec)))
}
