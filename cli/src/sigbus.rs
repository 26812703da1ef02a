//! The message about a mapped file that became shorter, or whose disk cannot be read. The system then sends SIGBUS,
//! which ends a program without a message unless the program handles the signal.

#[cfg(unix)]
const MESSAGE: &[u8] = b"petal: a file that was being read became shorter meanwhile, or cannot be read (SIGBUS)\n";

/// Installs a handler that ends the command on SIGBUS, with one line on standard error and the exit status for errors.
#[cfg(unix)]
pub fn install() {
    // SAFETY: the action is all zeros, except for the handler, a function that takes a signal's number. The handler
    // calls only `write` and `_exit`, which are allowed in any signal handler.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigemptyset(&raw mut action.sa_mask);
        // Without the handler, the command still works; SIGBUS then ends it without a message.
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

/// This system sends no SIGBUS.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
extern "C" fn end(_: libc::c_int) {
    // SAFETY: `write` reads static bytes, and `_exit` ends the process.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(libc::c_int::from(crate::TROUBLE));
    }
}
