//! petal_index.h: indexes, which find rows of bits that are similar to a query. It is experimental: functions may still
//! change. petal.h has the conventions, which hold for indexes too.
//!
//! A row is a fixed number of bits, such as the fingerprint of a molecule or the terms of a document, with an id of
//! yours. An index finds the rows that are similar to a query:
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.kind = PETAL_KIND_INDEX;
//!     spec.capacity = 1000;
//!     petal_spec_set(&spec, "width", 64, NULL);
//!     petal_index *index = NULL;
//!     if (petal_index_new(&spec, &index, NULL) != PETAL_OK) return 1;
//!     for (uint64_t i = 0; i < 1000; i++) {
//!         uint64_t row = i * i;
//!         petal_index_add(index, i, &row, sizeof row, NULL, NULL);
//!     }
//!     uint64_t query = 0xff;
//!     petal_index_hit hits[3];
//!     size_t hit_count = 0;
//!     if (petal_index_find_top(index, &query, sizeof query, 3, NULL, hits, &hit_count, NULL) != PETAL_OK) return 1;
//!     for (size_t i = 0; i < hit_count; i++) printf("%d: %.3f\n", (int)hits[i].id, hits[i].similarity);
//!     petal_index_free(index);
//!
//! An index uses these fields of its spec: capacity (the rows that there is room for), hash function, seed, secret and
//! parameters. The kind is `PETAL_KIND_INDEX`, or 0 if you set no parameter. `width` is the number of bits of a row,
//! from 64 to 65536, and 1024 unless you set it. `fold` is the length of the fold that is kept with each row; `store`
//! says whether the index keeps rows, columns or both. docs/index.md explains these parameters.
//!
//! A row is ceil(width / 8) bytes: bit i of the row is bit i % 8 of byte i / 8, and bits after the last one are 0. Rows
//! have numbers, from 0 on in the order in which they came.
//!
//! Answers are exact. With a bits in the query, b in the row, and c in both, a similarity is the double that the
//! comment of its constant says, with each operation rounded once. A row is found if that double is at least the
//! threshold. Of rows that are equally similar, those with the least ids come first, then those with the least numbers.

use crate::arguments::{arguments, list};
use crate::boundary::{self, boundary, number};
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Image, Index, Status};
use std::ffi::c_void;

pub mod builder;
pub mod image;
pub mod search;
pub mod superimposed;

/// An index. Free it with `petal_index_free()`.
pub struct petal_index(Handle<Index>);

owner!(petal_index, Index);

/// Makes an empty index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_new(
    spec: *const petal_spec,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give index, given spec], index.made(|| petal_core::Index::new(&spec)))
}

/// Frees an index. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_index_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_free(index: *mut petal_index) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(index) }
}

/// Adds a row under an id of yours, and writes the number of the row to `number`, which is nullable. Several rows may
/// have one id. `length` is the number of bytes of a row. Returns `PETAL_ERR_FULL` if the index has as many rows as its
/// capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_add(
    index: *mut petal_index,
    id: u64,
    row: *const c_void,
    length: usize,
    number: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change index, row, bytes(row, length), maybe number], {
        number.answer(index.by(|index| index.add(id, row)))
    })
}

/// Removes all rows with an id, and writes how many these were to `removed`, which is nullable. Reads all ids. A
/// removed row keeps its number and its place, and is found no more. `petal_index_arrange()` makes an index without
/// such rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_remove(
    index: *mut petal_index,
    id: u64,
    removed: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change index, maybe removed], removed.answer(index.by(|index| index.remove(id))))
}

/// Removes the row with a number, and writes whether it was there to `removed`, which is nullable. Returns
/// `PETAL_ERR_OUT_OF_RANGE` for a number that no row has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_remove_row(
    index: *mut petal_index,
    row: u64,
    removed: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change index, maybe removed], removed.answer(index.by(|index| index.remove_row(row))))
}

/// Returns how many rows have numbers, with those that were removed: the number of the next row. Constant time. 0 for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_next_row(index: *const petal_index) -> u64 {
    number!([read index], index.next_row())
}

/// Returns how many rows there are, without those that were removed. Reads a bit of each row. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_row_count(index: *const petal_index) -> u64 {
    number!([read index], index.row_count())
}

/// Returns the number of bits of a row; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_width(index: *const petal_index) -> u64 {
    number!([read index], index.width())
}

/// Writes the id of the row with a number, and how many bits the row has set. `is_there` becomes false if the row was
/// removed, and the others are then not written. `is_there`, `id` and `ones` are nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_get_row_at(
    index: *const petal_index,
    row: u64,
    is_there: *mut bool,
    id: *mut u64,
    ones: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, maybe is_there, maybe id, maybe ones], {
        let there = index.row_at(row)?;
        is_there.set(there.is_some());
        if let Some((its_id, its_ones)) = there {
            id.set(its_id);
            ones.set(its_ones);
        }
        Ok(())
    })
}

/// Copies the bits of the row with a number, also of one that was removed. `length` is the number of bytes of a row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_copy_row(
    index: *const petal_index,
    row: u64,
    bytes: *mut c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, bytes, room_bytes(bytes, length)], index.copy_row(row, bytes))
}

/// Writes the number of the first row with an id, from the row `from` on, that was not removed. `found` becomes
/// false if there is none, and `row`, nullable, is then not written. Reads ids until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find_row(
    index: *const petal_index,
    id: u64,
    from: u64,
    row: *mut u64,
    found: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, maybe row, out found], {
        let first = index.find_row(id, from);
        found.set(first.is_some());
        if let Some(first) = first {
            row.set(first);
        }
        Ok(())
    })
}

/// Appends all rows of `other` to `index`, without those that were removed. Returns `PETAL_ERR_INCOMPATIBLE` if the
/// indexes differ in `width`, `nesting`, `feature_bits`, hash function, seed or secret. Returns `PETAL_ERR_FULL` if
/// there is no room for all rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_merge(
    index: *mut petal_index,
    other: *const petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, other], {
        if std::ptr::eq(index, other) {
            let message = format_args!("other is the index itself, which cannot be appended to itself");
            return Err(boundary::error(Status::Contradiction, message));
        }
        arguments!(change index, read other);
        index.by(|index| index.merge(other))
    })
}

/// Makes an index, in its own memory, with room for `capacity` rows; 0 is as many as there are. Removed rows are left
/// out, and the others are in the order of their numbers of set bits, then of their ids. Searches are fastest that way.
/// Rows get new numbers. To make an index larger, save the result over the old file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_arrange(
    index: *const petal_index,
    capacity: u64,
    arranged: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, give arranged], {
        let capacity = if capacity == 0 { index.row_count().max(1) } else { capacity };
        arranged.made(|| index.arrange(capacity))
    })
}

/// Makes an arranged index of the rows of two, with room for `capacity` rows; 0 is as many as there are. The attachment
/// is that of `index`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_arrange_both(
    index: *const petal_index,
    other: *const petal_index,
    capacity: u64,
    merged: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, read other, give merged], {
        let capacity = if capacity == 0 { (index.row_count() + other.row_count()).max(1) } else { capacity };
        merged.made(|| index.arrange_both(other, capacity))
    })
}

/// Keeps your own bytes in the image, instead of those that were there before. Returns `PETAL_ERR_TOO_LARGE` if they
/// are more than the parameter `attachment_bytes` has room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_attach(
    index: *mut petal_index,
    bytes: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change index, bytes(bytes, length)], index.by(|index| index.attach(bytes)))
}

/// Copies the bytes that `petal_index_attach()` kept, up to `room` of them. `length` becomes the number of all of them.
/// `buffer` may be NULL if `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_get_attachment(
    index: *const petal_index,
    buffer: *mut c_void,
    room: usize,
    length: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, out length, room_bytes(buffer, room)], {
        list(index.attachment()?.into_iter(), buffer, length);
        Ok(())
    })
}

/// Removes all rows and the attachment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_clear(index: *mut petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [change index], index.by(|index| index.clear()))
}

/// Returns what this index can do now: `PETAL_CAN_*`, ORed. An index that is open for reading can do less than its
/// kind. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_capabilities(index: *const petal_index) -> u64 {
    number!([read index], index.capabilities().0)
}
