//! INDEXES: BUILDERS
//!
//! A builder takes any number of rows, and makes an index of them whose rows are arranged for searches.

use super::petal_index;
use crate::boundary::{self, boundary};
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Error, IndexBuilder, Status};
use std::ffi::c_void;

/// A builder of an index. Free it with `petal_index_builder_free()`.
pub struct petal_index_builder(Handle<Option<IndexBuilder>>);

owner!(imageless petal_index_builder, Option<IndexBuilder>);

/// The error for a builder that has made its index.
fn is_done() -> Error {
    let message = format_args!("the builder has made its index, and takes no more rows");
    boundary::error(Status::Contradiction, message)
}

/// Makes a builder of the index that a spec describes. The index gets room for as many rows as come, and for the
/// capacity of the spec if that is more; the capacity may be 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_builder_new(
    spec: *const petal_spec,
    builder: *mut *mut petal_index_builder,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give builder, given spec], builder.made(|| IndexBuilder::new(&spec).map(Some)))
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
    boundary!(error, [change builder, row, bytes(row, length)], {
        builder.by(|builder| builder.as_mut().ok_or_else(is_done)?.add(id, row))
    })
}

/// Makes the index of all rows that were added. The builder takes no more rows then, and you free it all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_builder_finish(
    builder: *mut petal_index_builder,
    index: *mut *mut petal_index,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change builder, give index], {
        let make = |builder: &mut Option<IndexBuilder>| {
            let made = builder.as_ref().ok_or_else(is_done)?.build()?;
            *builder = None;
            Ok(made)
        };
        index.made(|| builder.by(make))
    })
}
