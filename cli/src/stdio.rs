//! Standard input and output, even if they were closed when the command began, as by `>&-`.
//!
//! Before `main`, Rust's runtime opens `/dev/null` for each closed standard stream, so that no later file gets its
//! number. Results would vanish in `/dev/null`, and no keys would come from there. This module therefore checks even
//! earlier which streams are closed, while the program is loaded.

use crate::failure::{Failure, Outcome};
use crate::file_name::is_standard;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// Fails with the system's error if standard input was closed.
pub fn check_input() -> io::Result<()> {
    check(0)
}

/// Fails with the system's error if standard output was closed.
pub fn check_output() -> io::Result<()> {
    check(1)
}

fn check(descriptor: usize) -> io::Result<()> {
    if !CLOSED[descriptor].load(Ordering::Relaxed) {
        return Ok(());
    }
    #[cfg(unix)]
    return Err(io::Error::from_raw_os_error(libc::EBADF));
    #[cfg(not(unix))]
    Err(io::ErrorKind::BrokenPipe.into())
}

#[cfg(unix)]
extern "C" fn look() {
    for (descriptor, closed) in CLOSED.iter().enumerate() {
        // SAFETY: `fcntl` asks for the flags of a file descriptor, which need not be open, and touches no memory.
        let flags = unsafe { libc::fcntl(descriptor as libc::c_int, libc::F_GETFD) };
        closed.store(flags == -1, Ordering::Relaxed);
    }
}

// SAFETY: the section holds pointers to functions that are called before `main`. The arguments of a call, if any, may
// be ignored. `look` needs nothing of Rust's runtime.
#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

/// Refuses a command line that would read standard input for more than one thing.
pub fn check_standard_input<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Outcome<()> {
    match paths.into_iter().filter(|path| is_standard(path)).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::new("standard input (-) can be read only once")),
    }
}

/// Standard input without `std`'s buffer, so that the command can seek back.
#[cfg(unix)]
pub fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    check_input()?;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Standard input without `std`'s buffer, so that the command can seek back.
#[cfg(windows)]
pub fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    check_input()?;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}
