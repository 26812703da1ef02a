//! The arrays of filters: how they are allocated, and how they are read and written as bytes.

use petal::Status;
use petal::storage::Words;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::AtomicU64;

/// A type for which any bytes are a value, all zeros too.
///
/// # Safety
/// All bytes are values of the type.
pub unsafe trait Plain {}

// SAFETY: any bytes are an integer.
unsafe impl Plain for u8 {}
// SAFETY: any bytes are an atomic integer.
unsafe impl Plain for AtomicU64 {}

/// An array of `count` zeros, in exactly as much memory of the server: an array of a size class of the allocator stays
/// in that class. Untouched pages take no memory.
///
/// # Errors
/// [`Status::TooLarge`], [`Status::OutOfMemory`].
pub fn zeros<T: Plain>(count: u64) -> petal::Result<Box<[T]>> {
    let count = usize::try_from(count).map_err(|_| Status::TooLarge)?;
    let layout = Layout::array::<T>(count).map_err(|_| Status::TooLarge)?;
    if layout.size() == 0 {
        return Ok(Box::default());
    }
    // SAFETY: the layout is not empty. The allocated block has its size, holds zeros, and belongs to nobody else.
    unsafe {
        let start = alloc_zeroed(layout).cast::<T>();
        if start.is_null() {
            return Err(Status::OutOfMemory.into());
        }
        Ok(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, count)))
    }
}

/// The bytes of an array's words.
pub fn array_bytes(words: &[AtomicU64]) -> &[u8] {
    // SAFETY: the bytes are initialised, as many as the words have, and borrowed as long. Values of the module change
    // through `&mut` only.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The bytes of an array's words, to be changed.
pub fn array_bytes_mut(words: &mut [AtomicU64]) -> &mut [u8] {
    // SAFETY: the bytes are initialised, as many as the words have, and borrowed as long. Any bytes are words.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// An array's words as plain integers: `&mut` excludes other readers.
pub fn plain(words: &mut [AtomicU64]) -> &mut [u64] {
    // SAFETY: the same bytes, borrowed exclusively for as long.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

/// The bytes of an array that owns its memory.
pub fn bytes(words: &Words) -> &[u8] {
    let words = words.shared();
    // SAFETY: the bytes are initialised, as many as the words have, and borrowed as long. Values of the module change
    // through `&mut` only: the module never inserts concurrently.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}
