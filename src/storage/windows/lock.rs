//! Locks on ranges of files. They belong to an open file, and others fail to read or write a locked byte, so the ranges
//! lie where no file has bytes.

use super::RawFile;
use super::system::{self, Overlapped};
use core::result::Result;

/// The byte that stands for a whole file, before those that stand for ranges.
const WHOLE: u64 = (1 << 62) - 1;

impl RawFile {
    /// Takes a lock on the whole file, separate from those on ranges; false if somebody else has it. It is released
    /// with the last handle of this open file.
    pub fn lock_whole(&self) -> Result<bool, i32> {
        self.lock(WHOLE, 1)
    }

    /// Takes the writer's lock on a range; false if somebody else has it.
    pub fn lock(&self, offset: u64, length: u64) -> Result<bool, i32> {
        self.try_lock(system::LOCKFILE_EXCLUSIVE_LOCK, offset, length)
    }

    /// Takes the lock of those who share a range; false if there is a writer.
    pub fn lock_shared(&self, offset: u64, length: u64) -> Result<bool, i32> {
        self.try_lock(0, offset, length)
    }

    /// Turns the writer's lock on a range, which this file has, into the lock of those who share the range.
    pub fn share_lock(&self, offset: u64, length: u64) -> Result<bool, i32> {
        let shared = self.lock_shared(offset, length)?;
        // Of the two locks, this releases the writer's first.
        self.unlock(offset, length);
        Ok(shared)
    }

    /// Turns the lock of those who share a range, which this file has, into the writer's lock; false, with nothing
    /// changed, if there are others. Nobody else may take a lock on the range meanwhile.
    pub fn lock_alone(&self, offset: u64, length: u64) -> Result<bool, i32> {
        self.unlock(offset, length);
        let alone = self.lock(offset, length);
        if alone != Ok(true) {
            // Others share the range, and nobody has the writer's lock.
            self.lock_shared(offset, length)?;
        }
        alone
    }

    /// Takes the writer's lock on a range as soon as those who have it release it or end.
    pub fn wait_for_lock(&self, offset: u64, length: u64) -> Result<(), i32> {
        self.lock_with(system::LOCKFILE_EXCLUSIVE_LOCK, offset, length)
    }

    /// Releases one of several ranges that are locked.
    pub fn release_lock(&self, offset: u64, length: u64) {
        self.unlock(offset, length);
    }

    /// Releases the lock on a range.
    pub fn unlock(&self, offset: u64, length: u64) {
        let mut at = Overlapped::at(offset);
        // A lock that cannot be released goes away with the handle. SAFETY: the handle is open, and `at` lives until
        // the call is done.
        unsafe { system::UnlockFileEx(self.handle(), 0, length as u32, (length >> 32) as u32, &mut at) };
    }

    fn try_lock(&self, flags: u32, offset: u64, length: u64) -> Result<bool, i32> {
        match self.lock_with(flags | system::LOCKFILE_FAIL_IMMEDIATELY, offset, length) {
            Ok(()) => Ok(true),
            Err(system::ERROR_LOCK_VIOLATION) => Ok(false),
            Err(code) => Err(code),
        }
    }

    fn lock_with(&self, flags: u32, offset: u64, length: u64) -> Result<(), i32> {
        let mut at = Overlapped::at(offset);
        let (low, high) = (length as u32, (length >> 32) as u32);
        // SAFETY: the handle is open, and `at` lives until the call is done.
        let answer = unsafe { system::LockFileEx(self.handle(), flags, 0, low, high, &mut at) };
        self.finish(answer, &mut at, &mut 0)
    }
}
