//! Locks on files, and on ranges of them where the system has such locks.

use super::{RawFile, retry};

impl RawFile {
    /// Takes a lock on the whole file that is none of those on ranges; false if somebody else has it. It goes with the
    /// last descriptor of this open file.
    pub fn lock_whole(&self) -> core::result::Result<bool, i32> {
        // SAFETY: the descriptor is open.
        match retry(|| unsafe { libc::flock(self.descriptor(), libc::LOCK_EX | libc::LOCK_NB) }) {
            Ok(_) => Ok(true),
            Err(libc::EWOULDBLOCK) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Takes the writer's lock on a range; false if somebody else has it.
    pub fn lock(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        match self.set_lock(libc::F_WRLCK as _, offset, length) {
            Ok(()) => Ok(true),
            Err(libc::EAGAIN | libc::EACCES) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Takes the lock of those who share a range, or turns the writer's lock into one; false if there is a writer.
    pub fn lock_shared(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        match self.set_lock(libc::F_RDLCK as _, offset, length) {
            Ok(()) => Ok(true),
            Err(libc::EAGAIN | libc::EACCES) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Takes the writer's lock on a range as soon as those who have it let go of it or end. Where locks are on whole
    /// files it does nothing: whoever shares a file there has it alone.
    pub fn wait_for_lock(&self, offset: u64, length: u64) -> core::result::Result<(), i32> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return self.lock_command(libc::F_OFD_SETLKW, libc::F_WRLCK as _, offset, length);
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        return Ok(());
    }

    /// Releases a part of what is locked. Where locks are on whole files it does nothing.
    pub fn release_lock(&self, offset: u64, length: u64) {
        if cfg!(any(target_os = "linux", target_os = "android")) {
            self.unlock(offset, length);
        }
    }

    /// Releases the lock.
    pub fn unlock(&self, offset: u64, length: u64) {
        // A lock that cannot be released goes with the descriptor.
        let _ = self.set_lock(libc::F_UNLCK as _, offset, length);
    }

    /// Locks of the open file description: unlike POSIX's process-wide ones, another handle of the same process is
    /// kept out, and closing some other descriptor of the file releases nothing.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn set_lock(&self, kind: libc::c_short, offset: u64, length: u64) -> core::result::Result<(), i32> {
        self.lock_command(libc::F_OFD_SETLK, kind, offset, length)
    }

    /// Runs one of the commands that take such a lock.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn lock_command(
        &self,
        command: libc::c_int,
        kind: libc::c_short,
        offset: u64,
        length: u64,
    ) -> core::result::Result<(), i32> {
        // SAFETY: all-zero bytes are a valid `flock`.
        let mut lock: libc::flock = unsafe { core::mem::zeroed() };
        lock.l_type = kind;
        lock.l_whence = libc::SEEK_SET as _;
        lock.l_start = offset as _;
        lock.l_len = length as _;
        // SAFETY: the descriptor is open and `lock` is a valid `flock`.
        retry(|| unsafe { libc::fcntl(self.descriptor(), command, &lock) }).map(|_| ())
    }

    /// Where there are no such locks, a lock on the whole file.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn set_lock(&self, kind: libc::c_short, _: u64, _: u64) -> core::result::Result<(), i32> {
        let operation = if kind == libc::F_UNLCK as libc::c_short { libc::LOCK_UN } else { libc::LOCK_EX };
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::flock(self.descriptor(), operation | libc::LOCK_NB) }).map(|_| ())
    }
}
