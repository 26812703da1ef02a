//! Sums of odd powers as plain slices: an element is added, and the elements are listed.
//!
//! The sums of the powers 1, 3, 5, ..., 2 c - 1 of a set of elements determine the set if it has at most c elements. An
//! element that is added twice is gone. The sums of two sets, added element by element, are those of their difference.

use super::carryless::Arithmetic;
use super::{locator, roots};
use crate::error::Result;

/// The most sums. They bound the memory of a listing to 72 MiB.
pub const MAX_CAPACITY: usize = 4096;

/// Adds an element, or takes it away if it is there. The element is neither 0 nor above the field. Work: one product
/// for each sum.
pub(crate) fn toggle(arithmetic: &Arithmetic, element: u64, sums: &mut [u64]) {
    arithmetic.powers(arithmetic.field().raised(element)).add_next(sums);
}

/// The elements in ascending order, or `None` if there are more of them than sums, which are at most [`MAX_CAPACITY`].
/// No sum is above the field.
///
/// With a probability of about 1 / c!, c sums of more elements are also those of other, fewer elements. Whatever the
/// sums are, the work is at most c^2 (b + 4) products and 4 b c^2 more for elements that few bits tell apart, and the
/// memory is at most 4 c^2 + 24 b c bytes.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub(crate) fn decode(arithmetic: &Arithmetic, sums: &[u64]) -> Result<Option<Vec<u64>>> {
    let Some(locator) = locator::find(arithmetic, sums)? else { return Ok(None) };
    let Some(mut elements) = roots::find(arithmetic, locator)? else { return Ok(None) };
    for element in &mut elements {
        *element = arithmetic.field().lowered(*element);
    }
    elements.sort_unstable();
    Ok(Some(elements))
}
