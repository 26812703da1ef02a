//! Makes a filter or a map, of any kind, from a spec, an image or many keys.

#[cfg(feature = "aggregate")]
mod aggregate;
mod builder;
mod collect;
mod compact;
mod create;
#[cfg(feature = "digest")]
mod digest;
mod frequent;
#[cfg(test)]
mod full_map;
mod handles;
#[cfg(feature = "index")]
mod index;
mod inserted;
#[cfg(feature = "map")]
mod map;
#[cfg(feature = "map")]
mod map_builder;
mod added;
mod open;
mod partial;
mod payload;
mod placed;
pub mod plan;
mod progress;
#[cfg(feature = "router")]
mod router;
#[cfg(feature = "sketch")]
mod sketch;
mod state;
mod times;
mod universe;

pub use builder::{Builder, BuilderOptions};
pub use collect::{Collector, CollectorOptions, MIN_MEMORY_LIMIT, Record, Sorted};
pub use compact::{
    CompactOptions, compact_contains_hash, compacts_contain_hash, load_compact, open_compact, verify_compact,
};
pub(crate) use create::base;
pub use create::{
    create_as, expected_false_positive_rate, expected_omissions, geometry, image_size, new_in_buffer, parameter_of,
    row_of,
};
#[cfg(feature = "index")]
pub use index::IndexBuilder;
#[cfg(feature = "map")]
pub use map_builder::MapBuilder;
pub use open::open_descriptor as open_descriptor_as;
pub(crate) use open::reopen;
pub use open::{Mode, OpenOptions, load as load_as, open as open_as, open_in_buffer as open_in_buffer_as};
pub use progress::Steps;

use crate::error::Result;
use crate::handle::filter::Filter;
use crate::storage::Descriptor;
use std::path::Path;

/// Opens a file that is an image, as a filter; [`open_as`] has the errors.
///
/// # Errors
/// As [`open_as`].
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Filter> {
    // Compiled here, and not once more in each program.
    fn open_filter(path: &Path, options: &OpenOptions) -> Result<Filter> {
        open_as(path, options)
    }
    open_filter(path.as_ref(), options)
}

/// Copies the image of a filter out of `bytes`, and checks its payload.
///
/// # Errors
/// As [`open_in_buffer_as`].
pub fn load(bytes: &[u8], options: &OpenOptions) -> Result<Filter> {
    load_as(bytes, options)
}

/// Opens the image of a filter in a caller's buffer.
///
/// # Errors
/// As [`open_in_buffer_as`].
///
/// # Safety
/// As [`open_in_buffer_as`].
pub unsafe fn open_in_buffer(base: core::ptr::NonNull<u8>, length: usize, options: &OpenOptions) -> Result<Filter> {
    // SAFETY: the caller's promise.
    unsafe { open_in_buffer_as(base, length, options) }
}

/// Opens the image of a filter at `offset`, a multiple of 8, of an open file, which stays the caller's. The file may go
/// on after the image.
///
/// # Errors
/// As [`open_descriptor_as`].
pub fn open_descriptor(fd: Descriptor, offset: u64, options: &OpenOptions) -> Result<Filter> {
    open_descriptor_as(fd, offset, options)
}
