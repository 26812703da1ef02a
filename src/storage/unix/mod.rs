//! The system calls. Errors are `errno` numbers; nothing here allocates but [`PathBytes`].

mod file;
mod folder;
mod fork;
mod lock;
mod memory;
mod path;

pub use file::{FileStatus, RawFile};
pub use folder::RawFolder;
pub use fork::{call_in_children, wiped_in_children};
pub use memory::{
    flush, free_anonymous, map_anonymous, map_file, mapping_step, move_anonymous, page_size, prefault, unmap_file,
};
#[cfg(any(target_os = "linux", target_os = "android"))]
use path::ProcPath;
pub use path::{Name, PathBytes, Unit, name_before_nul};

/// The handle by which a caller passes an open file.
pub type Descriptor = std::os::fd::RawFd;

/// Numbers of errors that the rest of the library knows.
pub mod code {
    /// There is nothing with this name.
    pub const NOT_FOUND: i32 = libc::ENOENT;
    /// There is already something with this name.
    pub const EXISTS: i32 = libc::EEXIST;
    /// The system has nothing of this kind.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub const UNSUPPORTED: i32 = libc::ENOTSUP;
    /// There are no more threads.
    pub const NO_THREADS: i32 = libc::EAGAIN;
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Repeats a call that a signal interrupted, and turns -1 into `errno`.
fn retry<T: PartialEq + From<i8>>(mut call: impl FnMut() -> T) -> core::result::Result<T, i32> {
    loop {
        let result = call();
        if result != T::from(-1) {
            return Ok(result);
        }
        let code = errno();
        if code != libc::EINTR {
            return Err(code);
        }
    }
}
