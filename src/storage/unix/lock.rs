//! Locks on files, and on ranges of them where the system has such locks.

use super::{RawFile, retry};

/// A lock as the system takes it, with offsets of 64 bits, and the call that takes it.
#[cfg(any(target_os = "linux", target_os = "android"))]
use wide::{Lock, Offset, call};

/// For systems whose file offsets have 64 bits.
#[cfg(all(any(target_os = "linux", target_os = "android"), any(target_pointer_width = "64", target_env = "musl")))]
mod wide {
    pub use libc::{fcntl as call, flock as Lock, off_t as Offset};
}

/// Where they have 32 bits, the system call still has 64.
#[cfg(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "32", not(target_env = "musl")))]
mod wide {
    pub use libc::{flock64 as Lock, off64_t as Offset};

    /// # Safety
    /// The descriptor is open.
    pub unsafe fn call(descriptor: libc::c_int, command: libc::c_int, lock: &Lock) -> libc::c_int {
        // SAFETY: `lock` is what this system call takes.
        unsafe { libc::syscall(libc::SYS_fcntl64, descriptor, command, core::ptr::from_ref(lock)) as libc::c_int }
    }
}

impl RawFile {
    /// Takes a lock on the whole file, separate from those on ranges; false if somebody else has it. It is released
    /// with the last descriptor of this open file.
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

    /// Takes the lock of those who share a range; false if there is a writer.
    pub fn lock_shared(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        match self.set_lock(libc::F_RDLCK as _, offset, length) {
            Ok(()) => Ok(true),
            Err(libc::EAGAIN | libc::EACCES) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Turns the writer's lock on a range, which this file has, into the lock of those who share the range.
    pub fn share_lock(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        self.lock_shared(offset, length)
    }

    /// Turns the lock of those who share a range, which this file has, into the writer's lock; false, with nothing
    /// changed, if there are others. Nobody else may take a lock on the range meanwhile.
    pub fn lock_alone(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        self.lock(offset, length)
    }

    /// Takes the writer's lock on a range as soon as those who have it release it or end. Where locks are on whole
    /// files this does nothing: whoever shares a file there has it alone.
    pub fn wait_for_lock(&self, offset: u64, length: u64) -> core::result::Result<(), i32> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return self.lock_command(libc::F_OFD_SETLKW, libc::F_WRLCK as _, offset, length);
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            let _ = (offset, length);
            Ok(())
        }
    }

    /// Releases a part of what is locked. Where locks are on whole files this does nothing.
    pub fn release_lock(&self, offset: u64, length: u64) {
        if cfg!(any(target_os = "linux", target_os = "android")) {
            self.unlock(offset, length);
        }
    }

    /// Releases the lock.
    pub fn unlock(&self, offset: u64, length: u64) {
        // A lock that cannot be released goes away with the descriptor.
        let _ = self.set_lock(libc::F_UNLCK as _, offset, length);
    }

    /// These are locks of the open file description: unlike POSIX's process-wide locks, they keep out another handle of
    /// the same process, and closing some other descriptor of the file does not release them.
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
        let (Ok(start), Ok(length)) = (Offset::try_from(offset), Offset::try_from(length)) else {
            return Err(libc::EOVERFLOW);
        };
        // SAFETY: all-zero bytes are a valid lock.
        let mut lock: Lock = unsafe { core::mem::zeroed() };
        lock.l_type = kind;
        lock.l_whence = libc::SEEK_SET as _;
        lock.l_start = start;
        lock.l_len = length;
        // SAFETY: the descriptor is open and `lock` is a valid lock.
        retry(|| unsafe { call(self.descriptor(), command, &lock) }).map(|_| ())
    }

    /// Where there are no such locks, a lock on the whole file.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn set_lock(&self, kind: libc::c_short, _: u64, _: u64) -> core::result::Result<(), i32> {
        let operation = if kind == libc::F_UNLCK as libc::c_short { libc::LOCK_UN } else { libc::LOCK_EX };
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::flock(self.descriptor(), operation | libc::LOCK_NB) }).map(|_| ())
    }
}
