//! What `libbloom.so.1` and `libbloom.so.2` have in common: keys as C hands them over, bit arrays that callers can see,
//! and what is printed.
//!
//! Nothing in here can panic, so nothing has to be caught before C: no indexing, no arithmetic that overflows, no
//! memory but the bit array, which comes from `calloc` and may be refused.

mod array;
mod key;

pub use array::{add, allocate, check};
pub use key::Key;

use libc::{c_int, c_void};

/// What libbloom divides by to get from the logarithm of an error rate to bits per entry: ln(2)^2 to fifteen digits.
pub const LN_2_SQUARED: f64 = 0.480453013918201;

/// What libbloom multiplies bits per entry with to get the number of hashes: ln(2) to fifteen digits.
#[allow(clippy::approx_constant, reason = "libbloom's own, digit for digit")]
pub const LN_2: f64 = 0.693147180559945;

/// The fewest entries that libbloom makes a filter for.
pub const MIN_ENTRIES: c_int = 1000;

/// Prints, to C's standard output, that a filter is not ready, and returns what functions return then.
#[cold]
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "it is printed, and not followed")]
pub fn not_initialized(bloom: *const c_void) -> c_int {
    // SAFETY: the format takes one pointer, and one follows it.
    unsafe { libc::printf(c"bloom at %p not initialized!\n".as_ptr(), bloom) };
    -1
}
