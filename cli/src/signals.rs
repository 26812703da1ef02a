//! Signals that would end the command without a message, and files that others have open.
//!
//! The system sends SIGBUS if a mapped file became shorter, or if its disk cannot be read. It sends SIGXFSZ if a file
//! would become larger than the limit on the size of files (`ulimit -f`); without that signal the write fails, and the
//! command says so. It sends SIGIO to a process that watches a file, as [`has_writer`] does for a moment.

use std::fs::File;

#[cfg(unix)]
const MESSAGE: &[u8] = b"petal: a file that was being read became shorter meanwhile, or cannot be read (SIGBUS)\n";

/// Installs a handler that ends the command on SIGBUS, with one line on standard error and the exit status for errors,
/// and handlers for SIGXFSZ and SIGIO that do nothing. A command that this one starts does not inherit handlers, as it
/// would inherit ignored signals.
#[cfg(unix)]
pub fn install() {
    handle(libc::SIGBUS, end);
    handle(libc::SIGXFSZ, go_on);
    handle(libc::SIGIO, go_on);
}

/// This system sends no such signals.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: the action is all zeros, except for the handler, a function that takes a signal's number, and the flag
    // that system calls go on after it. The handlers call only `write` and `_exit`, which are allowed in any signal
    // handler.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        // Without the handler, the command still works; the signal then ends it without a message.
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

#[cfg(unix)]
extern "C" fn end(_: libc::c_int) {
    // SAFETY: `write` reads static bytes, and `_exit` ends the process.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(libc::c_int::from(crate::TROUBLE));
    }
}

#[cfg(unix)]
extern "C" fn go_on(_: libc::c_int) {}

/// Whether somebody has the file open for writing. False where the system does not tell.
#[cfg(target_os = "linux")]
pub fn has_writer(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    // The system grants a lease for reading only while nobody has the file open for writing.
    // SAFETY: `fcntl` takes a descriptor that is open, and no pointer.
    let lease = |kind: libc::c_int| unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) };
    if lease(libc::F_RDLCK) == 0 {
        lease(libc::F_UNLCK);
        return false;
    }
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

/// Whether somebody has the file open for writing. This system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn has_writer(_: &File) -> bool {
    false
}
