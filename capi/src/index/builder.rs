//! INDEXES: BUILDERS
//!
//! A builder takes any number of rows, and makes an index of them whose rows are arranged for searches.

use super::{give, petal_index};
use crate::boundary::{self, boundary};
use crate::handle::{self, Handle};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::IndexBuilder;
use std::ffi::c_void;

/// A builder of an index. Free it with `petal_index_builder_free()`.
pub struct petal_index_builder(pub(super) Handle<Option<IndexBuilder>>);

/// The error for a builder that has made its index.
pub(super) fn is_done() -> petal_core::Error {
    boundary::error(
        petal_core::Status::Contradiction,
        format_args!("the builder has made its index, and takes no more rows"),
    )
}

/// Makes a builder of the index that a spec describes. The index gets room for as many rows as come, and for the
/// capacity of the spec if that is more; the capacity may be 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_builder_new(
    spec: *const petal_spec,
    builder: *mut *mut petal_index_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, builder], {
        // SAFETY: checked for NULL; by the conventions `spec` is a struct of its size, and `builder` is writable.
        unsafe {
            handle::give(builder, || {
                Ok(petal_index_builder(Handle::new(Some(IndexBuilder::new(&petal_spec::get(spec)?)?))))
            })
        }
    })
}

/// Frees a builder. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_builder_free(builder: *mut petal_index_builder) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(builder) }
}

/// Adds a row under an id of yours. `length` is the number of bytes of a row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_builder_add(
    builder: *mut petal_index_builder,
    id: u64,
    row: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, row], {
        // SAFETY: checked for NULL; by the conventions `row` has `length` bytes, and `builder` is a handle that nobody
        // else uses.
        unsafe {
            let row = boundary::bytes(row.cast(), length, "row")?;
            (*builder).0.change(|builder| builder.as_mut().ok_or_else(is_done)?.add(id, row))?
        }
    })
}

/// Makes the index of all rows that were added. The builder takes no more rows then, and you free it all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_builder_finish(
    builder: *mut petal_index_builder,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [builder, index], {
        // SAFETY: checked for NULL; by the conventions `builder` is a handle that nobody else uses, and `index` is
        // writable.
        unsafe {
            give(index, || {
                let made = (*builder).0.change(|builder| builder.as_ref().ok_or_else(is_done)?.build())??;
                let _ = (*builder).0.change(Option::take);
                Ok(made)
            })
        }
    })
}
