//! Where the bytes of a filter live: in its own memory, in a caller's buffer, or in a mapped file.
//!
//! A filter sees [`Words`] and need not know where they are. All unsafe code of the core outside of kernels is in this
//! folder.

mod access;
mod any_bytes;
#[cfg(test)]
pub(crate) mod failing;
#[cfg(not(target_family = "wasm"))]
mod folder;
mod image;
mod mapping;
#[cfg(target_family = "wasm")]
mod none;
mod owned;
mod process;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as os;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as os;
mod words;
#[cfg(target_family = "wasm")]
use none as os;

pub use access::Access;
pub use any_bytes::AnyBytes;
#[cfg(not(target_family = "wasm"))]
pub(crate) use folder::{Folder, Temporary};
pub(crate) use image::ImageBytes;
pub(crate) use mapping::{FileRange, Mapping};
#[cfg(target_family = "wasm")]
pub(crate) use none::{Folder, Temporary};
pub use os::Descriptor;
#[cfg(windows)]
pub use os::identity_of;
pub(crate) use os::{PathBytes, RawFile, code};
pub use owned::use_allocator_only;
pub(crate) use process::Process;
pub use words::Words;
pub(crate) use words::{copy_words, for_each_chunk};

use crate::error::{Result, error};
use core::alloc::Layout;

/// Moves `value` to the heap.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn try_box<T>(value: T) -> Result<Box<T>> {
    let layout = Layout::new::<T>();
    assert!(layout.size() > 0, "only values with a size are boxed");
    // SAFETY: the layout has a size; a non-null block is written before it becomes a Box, which frees it with the same
    // layout and allocator.
    unsafe {
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return Err(error!(OutOfMemory, "{} bytes for a handle could not be had", layout.size()));
        }
        place.write(value);
        Ok(Box::from_raw(place))
    }
}

/// A vector with room for `capacity` elements, or an error that says that there is no memory.
pub fn try_vec<T>(capacity: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(capacity) {
        Ok(()) => Ok(vector),
        Err(_) => Err(error!(OutOfMemory, "{capacity} elements of {} bytes could not be had", size_of::<T>())),
    }
}

/// A copy of a path.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn try_path(path: &std::path::Path) -> Result<std::path::PathBuf> {
    let mut copy = std::path::PathBuf::new();
    let length = path.as_os_str().len();
    match copy.try_reserve_exact(length) {
        Ok(()) => copy.push(path),
        Err(_) => return Err(error!(OutOfMemory, "{length} bytes for a path could not be had")),
    }
    Ok(copy)
}

/// A path in a message, which has room for [`SHOWN_LENGTH`] bytes of it: the end says more than the beginning.
pub(crate) struct Shown<'a>(pub &'a std::path::Path);

impl core::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let bytes = self.0.as_os_str().as_encoded_bytes();
        match bytes.len().checked_sub(SHOWN_LENGTH) {
            None | Some(0) => write!(f, "{}", self.0.display()),
            Some(hidden) => {
                let text = &bytes[hidden..];
                // Do not begin in the middle of a character.
                let start = text.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
                write!(f, "...")?;
                text[start..].utf8_chunks().try_for_each(|chunk| f.write_str(chunk.valid()))
            }
        }
    }
}

/// The bytes of a path that a message shows.
const SHOWN_LENGTH: usize = 120;
