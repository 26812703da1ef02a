//! Open files, on every system.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Reading and writing at a place of a file.
pub trait FileAt {
    /// Fills `bytes` from `offset` on.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes `bytes` at `offset`.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

impl FileAt for File {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }
}

/// The descriptor of a file, or its HANDLE.
pub fn descriptor(file: &File) -> petal::storage::Descriptor {
    #[cfg(unix)]
    return std::os::fd::AsRawFd::as_raw_fd(file);
    #[cfg(windows)]
    return std::os::windows::io::AsRawHandle::as_raw_handle(file) as isize;
}
