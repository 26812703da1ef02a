//! FILTERS: WHAT IS STORED OF KEYS
//!
//! Some kinds (`PETAL_CAN_ENUMERATE`) store each key as one number, its hash reduced to the numbers
//! below a range, and nothing else. These numbers can be listed, in ascending order:
//!
//!     uint64_t stored[512], counts[512], from = 0;
//!     size_t count;
//!     do {
//!       if (petal_filter_stored_hashes(filter, from, stored, counts, 512, &count, NULL) != PETAL_OK) break;
//!       for (size_t i = 0; i < count; i++) printf("%" PRIu64 " %" PRIu64 "\n", stored[i], counts[i]);
//!       if (count > 0) from = stored[count - 1] + 1;
//!     } while (count == 512);
//!
//! Kinds that count say how often each is there, which is how often all keys with this number are.
//!
//! A key may be there exactly if the number of its hash is among them; docs/format.md says how the number
//! comes from the hash. Numbers of filters with one range and one hash function can be compared.

use super::petal_filter;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};

/// The number that a filter stores a hash as, and the range that all such numbers are below; both nullable.
/// `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_ENUMERATE`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_stored_hash(
    filter: *const petal_filter,
    hash: u64,
    stored: *mut u64,
    range: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let (number, below) = petal_filter::get(filter)?.stored_hash(hash)?;
            if !stored.is_null() {
                stored.write(number);
            }
            if !range.is_null() {
                range.write(below);
            }
        }
        Ok(())
    })
}

/// Writes the numbers that a filter stores and that are not less than `from`, in ascending order and each once, into
/// `stored`, which has room for `room` of them, and how many these are into `count`: fewer than `room` if there are no
/// more. `counts`, nullable, gets how often each is there, and has as much room: 1 where the kind does not count. The
/// time is that of the numbers that are written; with `golomb_stream` that of all up to the last of them.
/// `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_ENUMERATE`. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_stored_hashes(
    filter: *const petal_filter,
    from: u64,
    stored: *mut u64,
    counts: *mut u64,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [filter, count], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe {
            let filter = petal_filter::get(filter)?;
            let stored = boundary::elements_mut(stored, room, "stored")?;
            let counts = if counts.is_null() { None } else { Some(boundary::elements_mut(counts, room, "counts")?) };
            count.write(filter.stored_hashes(from, stored, counts)?);
        }
        Ok(())
    })
}
