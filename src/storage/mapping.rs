//! A part of a file in memory.

use super::os::{self, RawFile};
use crate::error::{Error, Result, error};
use core::ptr::NonNull;

/// A range of bytes of an open file.
#[derive(Clone, Copy, Debug)]
pub struct FileRange {
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub length: usize,
}

/// A mapped range of a file, shared with every other process that maps it.
///
/// A writable mapping holds a lock on its range, so that there is one writer; closing releases it.
pub struct Mapping {
    /// Where the mapping starts: at the page that holds the range's first byte.
    base: NonNull<u8>,
    mapped: usize,
    lead: usize,
    range: FileRange,
    identity: (u64, u64),
    /// Kept while the lock is.
    locked: Option<RawFile>,
}

impl Mapping {
    /// Maps `range` of `file`, which the caller has found to lie inside the file and to start at a multiple of 8.
    pub fn new(file: RawFile, range: FileRange, writable: bool) -> Result<Mapping> {
        let failed = |code| Error::from_os(code, format_args!("mapping {} bytes of the file", range.length));
        let identity = file.status().map_err(failed)?.identity();
        let lead = (range.offset % os::page_size() as u64) as usize;
        let too_large = || error!(TooLarge, "{} bytes of a file are more than can be mapped", range.length);
        let mapped = range.length.checked_add(lead).ok_or_else(too_large)?;
        let base = os::map_file(&file, range.offset - lead as u64, mapped, writable).map_err(failed)?;
        // From here on the mapping goes when it is dropped.
        let mut mapping = Mapping { base, mapped, lead, range, identity, locked: None };
        if writable {
            if !file.lock(range.offset, range.length as u64).map_err(failed)? {
                return Err(error!(Locked, "another handle has the image at offset {} open for writing", range.offset));
            }
            mapping.locked = Some(file);
        }
        Ok(mapping)
    }

    /// The first byte of the range.
    pub fn start(&self) -> NonNull<u8> {
        // SAFETY: `lead` bytes lie before the range inside the mapping.
        unsafe { self.base.add(self.lead) }
    }

    /// How many bytes the range has.
    pub fn length(&self) -> usize {
        self.range.length
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.locked.is_some()
    }

    /// The device and the inode of the file.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Writes the bytes `from..to` of the range to the disk.
    pub fn flush(&self, from: usize, to: usize) -> Result<()> {
        let page = os::page_size();
        let (from, to) = ((self.lead + from) / page * page, (self.lead + to).min(self.mapped));
        // SAFETY: the pages from `from` to `to` belong to this mapping.
        let result = unsafe { os::flush(self.base.add(from), to - from) };
        result.map_err(|code| Error::from_os(code, format_args!("writing the mapped image to the disk")))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Some(file) = &self.locked {
            file.unlock(self.range.offset, self.range.length as u64);
        }
        // SAFETY: `base` and `mapped` are what `map_file` returned and was given; nothing refers to the memory any more.
        unsafe { os::unmap(self.base, self.mapped) }
    }
}
