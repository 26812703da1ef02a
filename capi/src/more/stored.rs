//! FILTERS: WHAT IS STORED OF KEYS
//!
//! Some kinds (`PETAL_CAN_ENUMERATE`) store each key as one number, its hash reduced to the numbers below a range, and
//! nothing else. A program can list these numbers, in ascending order:
//!
//!     uint64_t stored[512], counts[512], from = 0;
//!     size_t count;
//!     do {
//!       if (petal_filter_get_stored_hashes(filter, from, stored, counts, 512, &count, NULL) != PETAL_OK) break;
//!       for (size_t i = 0; i < count; i++) printf("%" PRIu64 " %" PRIu64 "\n", stored[i], counts[i]);
//!       if (count > 0) from = stored[count - 1] + 1;
//!     } while (count == 512);
//!
//! Kinds that count give each number with its count, which is that of all keys with this number.
//!
//! A key may be there exactly if the list has the number of its hash; docs/format.md says how the number comes from the
//! hash. You can compare the numbers of filters that have one range and one hash function.

use crate::boundary::boundary;
use crate::filter::petal_filter;
use crate::status::{petal_error, petal_status};

/// Writes the number that a filter stores for a hash, and the range, which is above all such numbers. `stored` and
/// `range` are nullable. Returns `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_ENUMERATE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_stored_hash(
    filter: *const petal_filter,
    hash: u64,
    stored: *mut u64,
    range: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, maybe stored, maybe range], {
        let (number, below) = filter.stored_hash(hash)?;
        stored.set(number);
        range.set(below);
        Ok(())
    })
}

/// Writes the stored numbers from `from` on, in ascending order and each once, into `stored`, which has room for `room`
/// numbers. `count` becomes how many the function wrote: fewer than `room` if there are no more. `counts`, nullable,
/// has as much room and gets the count of each number: 1 if the kind does not count. The time depends on the numbers
/// that the function writes; with `golomb_stream`, on all numbers up to the last one. Returns `PETAL_ERR_UNSUPPORTED`
/// without `PETAL_CAN_ENUMERATE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_get_stored_hashes(
    filter: *const petal_filter,
    from: u64,
    stored: *mut u64,
    counts: *mut u64,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out count, room(stored, room), maybe room(counts, room)], {
        count.answer(filter.stored_hashes(from, stored, counts))
    })
}
