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
//!     size_t found = 0;
//!     if (petal_index_top(index, &query, sizeof query, 3, NULL, hits, &found, NULL) != PETAL_OK) return 1;
//!     for (size_t i = 0; i < found; i++) printf("%d: %.3f\n", (int)hits[i].id, hits[i].similarity);
//!     petal_index_free(index);
//!
//! An index uses these fields of its spec: capacity (the rows that there is room for), hash function, seed, key and
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

use crate::boundary::{self, NO_ERROR, boundary};
use crate::handle::{self, Handle};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Image, Index, Result};
use std::ffi::c_void;

pub mod builder;
pub mod image;
pub mod search;
pub mod superimposed;

/// An index. Free it with `petal_index_free()`.
pub struct petal_index(Handle<Index>);

impl petal_index {
    /// The index behind a handle.
    ///
    /// # Safety
    /// The handle is not NULL and lives.
    unsafe fn get<'a>(index: *const petal_index) -> Result<&'a Index> {
        // SAFETY: the handle is not NULL and lives, as this function's safety section says.
        unsafe { &*index }.0.get()
    }
}

/// Hands the index that `make` makes to the caller.
///
/// # Safety
/// `out` is writable.
unsafe fn give(out: *mut *mut petal_index, make: impl FnOnce() -> Result<Index>) -> Result<()> {
    // SAFETY: `out` is writable, as this function's safety section says.
    unsafe { handle::give(out, || Ok(petal_index(Handle::new(make()?)))) }
}

impl Drop for petal_index {
    fn drop(&mut self) {
        if let Some(index) = self.0.poisoned() {
            index.base_mut().abandon();
        }
    }
}

/// Makes an empty index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_new(
    spec: *const petal_spec,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, index], {
        // SAFETY: checked for NULL; by the conventions `spec` is a struct of its size, and `index` is writable.
        unsafe { give(index, || petal_core::create_index(&petal_spec::get(spec)?)) }
    })
}

/// Frees an index. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_index_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_free(index: *mut petal_index) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(index) }
}

/// Copies an index, wherever it lives, into new memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_copy(
    index: *const petal_index,
    copy: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, copy], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `copy` is writable.
        unsafe { give(copy, || petal_index::get(index)?.copy()) }
    })
}

/// Adds a row under an id of yours, and writes the number of the row, which is nullable. Several rows may have one id.
/// `length` is the number of bytes of a row. Returns `PETAL_ERR_FULL` if the index has as many rows as its capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_add(
    index: *mut petal_index,
    id: u64,
    row: *const c_void,
    length: usize,
    number: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, row], {
        // SAFETY: checked for NULL; by the conventions `row` has `length` bytes, `index` is a handle that nobody else
        // uses, and `number` is NULL or writable.
        unsafe {
            let row = boundary::bytes(row.cast(), length, "row")?;
            let added = (*index).0.change(|index| index.add(id, row))??;
            if !number.is_null() {
                number.write(added);
            }
        }
        Ok(())
    })
}

/// Removes all rows with an id, and writes how many these were, which is nullable. Reads all ids. A removed row keeps
/// its number and its place, and is found no more. `petal_index_arranged()` makes an index without such rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_remove(
    index: *mut petal_index,
    id: u64,
    removed: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses, and `removed` is NULL
        // or writable.
        unsafe {
            let rows = (*index).0.change(|index| index.remove(id))??;
            if !removed.is_null() {
                removed.write(rows);
            }
        }
        Ok(())
    })
}

/// Removes the row with a number, and writes whether it was there, which is nullable. Returns
/// `PETAL_ERR_OUT_OF_RANGE` for a number that no row has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_remove_row(
    index: *mut petal_index,
    row: u64,
    removed: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses, and `removed` is NULL
        // or writable.
        unsafe {
            let was_there = (*index).0.change(|index| index.remove_row(row))??;
            if !removed.is_null() {
                removed.write(was_there);
            }
        }
        Ok(())
    })
}

/// Returns how many rows have numbers, with those that were removed: the number of the next row. Constant time. 0 for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_rows(index: *const petal_index) -> u64 {
    let mut rows = 0;
    let _ = boundary!(NO_ERROR, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes.
        rows = unsafe { petal_index::get(index)? }.rows();
        Ok(())
    });
    rows
}

/// Returns how many rows there are, without those that were removed. Reads a bit of each row. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_count(index: *const petal_index) -> u64 {
    let mut rows = 0;
    let _ = boundary!(NO_ERROR, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes.
        rows = unsafe { petal_index::get(index)? }.len();
        Ok(())
    });
    rows
}

/// Returns the number of bits of a row; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_width(index: *const petal_index) -> u64 {
    let mut width = 0;
    let _ = boundary!(NO_ERROR, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes.
        width = unsafe { petal_index::get(index)? }.width();
        Ok(())
    });
    width
}

/// Writes the id of the row with a number, and how many bits the row has set. `is_there` becomes false if the row was
/// removed, and the others are then not written. All outputs are nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_row_at(
    index: *const petal_index,
    row: u64,
    is_there: *mut bool,
    id: *mut u64,
    count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and the outputs are
        // NULL or writable.
        unsafe {
            let found = petal_index::get(index)?.row_at(row)?;
            if !is_there.is_null() {
                is_there.write(found.is_some());
            }
            if let Some((its_id, its_count)) = found {
                if !id.is_null() {
                    id.write(its_id);
                }
                if !count.is_null() {
                    count.write(its_count);
                }
            }
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
    boundary!(error, [index, bytes], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `bytes` has
        // `length` writable bytes.
        unsafe {
            let bytes = boundary::elements_mut(bytes.cast::<u8>(), length, "bytes")?;
            petal_index::get(index)?.copy_row(row, bytes)
        }
    })
}

/// Writes the number of the first row with an id, from the row `from` on, that was not removed. `row` becomes
/// `PETAL_NO_ROW` if there is none. Reads ids until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find(
    index: *const petal_index,
    id: u64,
    from: u64,
    row: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, row], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `row` is writable.
        unsafe { row.write(petal_index::get(index)?.find(id, from).unwrap_or(PETAL_NO_ROW)) };
        Ok(())
    })
}

/// The number of no row.
pub const PETAL_NO_ROW: u64 = 0xffff_ffff_ffff_ffff;

/// Appends all rows of `other` to `index`, without those that were removed. Returns `PETAL_ERR_INCOMPATIBLE` if the
/// indexes differ in `width`, `nesting`, `feature_bits`, hash function, seed or key. Returns `PETAL_ERR_FULL` if there
/// is no room for all rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_merge(
    index: *mut petal_index,
    other: *const petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, other], {
        if std::ptr::eq(index, other) {
            return Err(boundary::error(
                petal_core::Status::Contradiction,
                format_args!("other is the index itself, which cannot be appended to itself"),
            ));
        }
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses, and `other` one that
        // nobody changes.
        unsafe {
            let other = petal_index::get(other)?;
            (*index).0.change(|index| index.merge(other))?
        }
    })
}

/// Makes an index, in its own memory, with room for `capacity` rows; 0 is as many as there are. Removed rows are left
/// out, and the others are in the order of their numbers of set bits, then of their ids. Searches are fastest that way.
/// Rows get new numbers. To make an index larger, save the result over the old file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_arranged(
    index: *const petal_index,
    capacity: u64,
    arranged: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, arranged], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, and `arranged` is
        // writable.
        unsafe {
            let index = petal_index::get(index)?;
            let capacity = if capacity == 0 { index.len().max(1) } else { capacity };
            give(arranged, || index.arranged(capacity))
        }
    })
}

/// Makes an arranged index of the rows of two, with room for `capacity` rows; 0 is as many as there are. The attachment
/// is that of `index`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_merged(
    index: *const petal_index,
    other: *const petal_index,
    capacity: u64,
    merged: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, other, merged], {
        // SAFETY: checked for NULL; by the conventions `index` and `other` are handles that nobody changes, and
        // `merged` is writable.
        unsafe {
            let (index, other) = (petal_index::get(index)?, petal_index::get(other)?);
            let capacity = if capacity == 0 { (index.len() + other.len()).max(1) } else { capacity };
            give(merged, || index.merged(other, capacity))
        }
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
    boundary!(error, [index], {
        // SAFETY: by the conventions `bytes` has `length` bytes.
        let bytes = unsafe { boundary::bytes(bytes.cast(), length, "bytes")? };
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses.
        unsafe { (*index).0.change(|index| index.attach(bytes))? }
    })
}

/// Copies the bytes that `petal_index_attach()` kept, up to `room` of them. `length` becomes the number of all of them.
/// `buffer` may be NULL if `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_attachment(
    index: *const petal_index,
    buffer: *mut c_void,
    room: usize,
    length: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, length], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `buffer` has `room`
        // writable bytes, and `length` is writable.
        unsafe {
            let kept = petal_index::get(index)?.attachment()?;
            let buffer = boundary::elements_mut(buffer.cast::<u8>(), room, "buffer")?;
            let given = kept.len().min(room);
            buffer[..given].copy_from_slice(&kept[..given]);
            length.write(kept.len());
        }
        Ok(())
    })
}

/// Removes all rows and the attachment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_clear(index: *mut petal_index, error: *mut petal_error) -> petal_status {
    boundary!(error, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody else uses.
        unsafe { (*index).0.change(|index| index.clear())? }
    })
}

/// Returns what this index can do now: `PETAL_CAN_*`, ORed. An index that is open for reading can do less than its
/// kind. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_capabilities(index: *const petal_index) -> u64 {
    let mut capabilities = 0;
    let _ = boundary!(NO_ERROR, [index], {
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes.
        capabilities = unsafe { petal_index::get(index)? }.capabilities().0;
        Ok(())
    });
    capabilities
}
