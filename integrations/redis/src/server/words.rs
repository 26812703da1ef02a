//! Arrays of filters: their memory, and their bytes, as what writes and reads whole strings needs them.

use petal::Status;
use petal::storage::Words;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::AtomicU64;

/// What any bytes are, zeros among them.
///
/// # Safety
/// All bytes are values of the type.
pub unsafe trait Plain {}

// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: likewise.
unsafe impl Plain for AtomicU64 {}

/// So many zeros, in exactly as much of the server's memory: what is a size of its allocator stays one. Memory that
/// nobody touched is none yet.
///
/// # Errors
/// [`Status::TooLarge`], [`Status::OutOfMemory`].
pub fn zeros<T: Plain>(count: u64) -> petal::Result<Box<[T]>> {
    let count = usize::try_from(count).map_err(|_| Status::TooLarge)?;
    let layout = Layout::array::<T>(count).map_err(|_| Status::TooLarge)?;
    if layout.size() == 0 {
        return Ok(Box::default());
    }
    // SAFETY: the layout has a size, and what the allocator gives has it, holds zeros, and is nobody else's.
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
    // SAFETY: as many initialised bytes as the words have, borrowed as long as they are. Values of the module change
    // through `&mut` only.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The bytes of an array's words, to be changed.
pub fn array_bytes_mut(words: &mut [AtomicU64]) -> &mut [u8] {
    // SAFETY: as many initialised bytes as the words have, borrowed as long as they are; any bytes are words.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// An array's words, for whoever has them alone.
pub fn plain(words: &mut [AtomicU64]) -> &mut [u64] {
    // SAFETY: the same bytes, borrowed alone for as long.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

/// The bytes of words in memory of their own.
pub fn bytes(words: &Words) -> &[u8] {
    let words = words.shared();
    // SAFETY: as many initialised bytes as the words have, borrowed as long as they are. Values of the module change
    // through `&mut` only, and no insertion beside others is ever asked for.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}
