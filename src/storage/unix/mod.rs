//! The system calls. Errors are `errno` numbers; nothing here allocates but [`PathBytes`].

mod file;
mod folder;
mod fork;
mod lock;
mod memory;
mod path;

pub use file::{FileStatus, RawFile};
pub use fork::{call_in_children, wiped_in_children};
#[cfg(test)]
pub(crate) use memory::tests;
pub use memory::{flush, map_anonymous, map_file, move_anonymous, page_size, unmap};
pub use path::{PathBytes, ProcPath};

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
