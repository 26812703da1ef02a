//! The calls of Windows. Errors are the numbers of GetLastError; nothing here allocates but [`PathBytes`] and what a
//! call needs for a name or for rights.

mod file;
mod folder;
mod lock;
mod memory;
mod path;
mod system;

pub use file::{FileStatus, RawFile, identity_of};
pub use folder::RawFolder;
pub use memory::{
    flush, free_anonymous, map_anonymous, map_file, mapping_step, move_anonymous, page_size, prefault, unmap_file,
};
pub use path::{Name, PathBytes, Unit, name_before_nul};

use core::ptr::NonNull;

/// The handle by which a caller passes an open file: a HANDLE.
pub type Descriptor = isize;

/// Numbers of errors that the rest of the library knows.
pub mod code {
    use super::system;

    /// There is nothing with this name.
    pub const NOT_FOUND: i32 = system::ERROR_FILE_NOT_FOUND;
    /// There is already something with this name.
    pub const EXISTS: i32 = system::ERROR_FILE_EXISTS;
    /// The system has nothing of this kind.
    pub const UNSUPPORTED: i32 = system::ERROR_NOT_SUPPORTED;
    /// There are no more threads.
    pub const NO_THREADS: i32 = system::ERROR_MAX_THRDS_REACHED;
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(system::ERROR_GEN_FAILURE)
}

/// Turns the answer of a call into an error if it is FALSE.
fn check(answer: i32) -> core::result::Result<(), i32> {
    if answer == 0 { Err(last_error()) } else { Ok(()) }
}

/// Processes have no children that share their memory.
pub fn wiped_in_children() -> Option<NonNull<u8>> {
    None
}

/// Processes have no children that share their memory.
pub fn call_in_children(_: extern "C" fn()) {}
