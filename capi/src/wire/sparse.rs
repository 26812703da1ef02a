//! LARGER, SPARSER FILTERS
//!
//! A filter that is sent has fewer false answers for the same bytes if it has more bits and fewer hashes. The price is
//! memory at both ends. docs/choosing.md has a table.

use crate::boundary::boundary;
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::wire::sparse;

/// Writes the spec of the filter of the kind `bloom` that has the lowest false-positive rate, for `petal_filter_new()`.
/// With `keys` distinct keys in it the filter's packed form has at most `packed_bytes`, if its fill is the expected
/// one. The filter's image has at most `memory` bytes; 0 is no limit. `petal_spec_expected_false_positive_rate()` tells
/// the rate. Returns `PETAL_ERR_TOO_LARGE` if no filter is so small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_wire_get_spec(
    keys: u64,
    packed_bytes: u64,
    memory: u64,
    spec: *mut petal_spec,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [fill spec], {
        let memory = if memory == 0 { u64::MAX } else { memory };
        spec.set(petal_spec::of_core(&sparse::best(keys, packed_bytes, memory)?.spec));
        Ok(())
    })
}
