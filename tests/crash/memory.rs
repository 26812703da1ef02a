//! A few numbers that two processes share, and that outlive both.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::AtomicU64;

pub struct Memory(*mut libc::c_void);

const LENGTH: usize = size_of::<[AtomicU64; 4]>();

pub fn create(path: &Path) -> Memory {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(LENGTH as u64).unwrap();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of a file that is long enough.
    let base = unsafe { libc::mmap(core::ptr::null_mut(), LENGTH, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    assert!(base != libc::MAP_FAILED);
    Memory(base)
}

impl Memory {
    pub fn words(&self) -> &[AtomicU64; 4] {
        // SAFETY: the mapping is long enough, begins at the start of a page, and lives as long as `self`.
        unsafe { &*self.0.cast() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more.
        unsafe { libc::munmap(self.0, LENGTH) };
    }
}

/// A file as other processes that map it see it.
pub struct Mapped(*mut libc::c_void, usize);

pub fn map(path: &Path) -> Mapped {
    let file = OpenOptions::new().read(true).open(path).unwrap();
    let length = file.metadata().unwrap().len() as usize;
    // SAFETY: a new mapping of a file that is as long.
    let base =
        unsafe { libc::mmap(core::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    assert!(base != libc::MAP_FAILED);
    Mapped(base, length)
}

impl Mapped {
    /// The bytes. Nobody may change them while the slice is used: the child that does stands still.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is as long, and lives as long as `self`.
        unsafe { core::slice::from_raw_parts(self.0.cast(), self.1) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more.
        unsafe { libc::munmap(self.0, self.1) };
    }
}
