//! FILTERS FROM SPECS

use crate::boundary::{self, boundary};
use crate::filter::{give, petal_filter};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use std::ffi::c_void;
use std::ptr::NonNull;

/// Makes an empty filter in memory of its own. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_new(
    spec: *const petal_spec,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, filter], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        unsafe { give(filter, || petal_core::create(&petal_spec::get(spec)?)) }
    })
}

/// Makes an empty filter inside `buffer`, of at least `petal_spec_image_size()` bytes and aligned to 8 (64 is faster):
/// the buffer becomes a complete image, which other processes may open if it is shared memory. It must outlive the
/// handle. The image's count and checksum are brought up to date by `petal_filter_sync()` and `petal_filter_free()`.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_new_in_buffer(
    spec: *const petal_spec,
    buffer: *mut c_void,
    length: usize,
    filter: *mut *mut petal_filter,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, buffer, filter], {
        let base = NonNull::new(buffer.cast::<u8>()).ok_or_else(|| boundary::null("buffer"))?;
        // SAFETY: checked not to be NULL; the caller gives `length` bytes for as long as the handle lives.
        unsafe { give(filter, || petal_core::create_in(&petal_spec::get(spec)?, base, length)) }
    })
}
