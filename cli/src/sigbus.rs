//! What is said where a mapped file ends before its length at the start: somebody cut it off meanwhile, or its disk
//! cannot be read. The system then sends SIGBUS, which ends a program without a word where nobody takes it.

#[cfg(unix)]
const MESSAGE: &[u8] = b"petal: a file that was being read became shorter meanwhile, or cannot be read (SIGBUS)\n";

/// From now on SIGBUS ends the command with one line on standard error and the status of trouble.
#[cfg(unix)]
pub fn install() {
    // SAFETY: the action is all zeros but for what is set here, which is a function that takes a signal's number. That
    // function calls `write` and `_exit` only, which a handler of any signal may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigemptyset(&raw mut action.sa_mask);
        // Where it cannot be had, the command ends as it would without it.
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

/// Nothing sends it here.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
extern "C" fn end(_: libc::c_int) {
    // SAFETY: writes bytes that are always there, and ends the process.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(libc::c_int::from(crate::TROUBLE));
    }
}
