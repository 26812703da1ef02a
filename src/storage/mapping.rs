//! A part of a file in memory.

use super::Access;
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
/// A writable mapping holds a lock on its range, so that there is one writer, or none but such as share it; closing
/// releases it.
pub struct Mapping {
    /// Where the mapping starts: at the page that holds the range's first byte.
    base: NonNull<u8>,
    mapped: usize,
    lead: usize,
    range: FileRange,
    identity: (u64, u64),
    access: Access,
    /// Whether nobody else had the range open for writing when it was opened.
    alone: bool,
    /// Kept while the lock is.
    locked: Option<RawFile>,
}

/// How long to wait for another process that is just opening or closing an image to be shared, in steps of a
/// millisecond.
const PATIENCE: u32 = 200;

impl Mapping {
    /// Maps `range` of `file`, which the caller has found to lie inside the file and to start at a multiple of 8.
    pub fn new(file: RawFile, range: FileRange, access: Access) -> Result<Mapping> {
        let failed = |code| Error::from_os(code, format_args!("mapping {} bytes of the file", range.length));
        let identity = file.status().map_err(failed)?.identity();
        let lead = (range.offset % os::page_size() as u64) as usize;
        let too_large = || error!(TooLarge, "{} bytes of a file are more than can be mapped", range.length);
        let mapped = range.length.checked_add(lead).ok_or_else(too_large)?;
        let base = os::map_file(&file, range.offset - lead as u64, mapped, access.is_writing()).map_err(failed)?;
        // From here on the mapping goes when it is dropped.
        let mut mapping = Mapping { base, mapped, lead, range, identity, access, alone: true, locked: None };
        let FileRange { offset, length } = range;
        let locked = match access {
            Access::Read => return Ok(mapping),
            Access::Write => file.lock(offset, length as u64).map_err(failed)?,
            Access::Share => mapping.share(&file).map_err(failed)?,
        };
        if !locked {
            return Err(error!(Locked, "another handle has the image at offset {offset} open for writing"));
        }
        mapping.locked = Some(file);
        Ok(mapping)
    }

    /// What those who share lock: the range without its last byte. That is for those of them who close.
    fn shared_range(&self) -> (u64, u64) {
        (self.range.offset, self.range.length as u64 - 1)
    }

    /// Takes the lock of those who share; alone for a moment if possible, to know whether others are there.
    fn share(&mut self, file: &RawFile) -> core::result::Result<bool, i32> {
        let (offset, length) = self.shared_range();
        for _ in 0..PATIENCE {
            self.alone = file.lock(offset, length)?;
            if file.lock_shared(offset, length)? {
                return Ok(true);
            }
            std::thread::sleep(core::time::Duration::from_millis(1));
        }
        Ok(false)
    }

    /// Whether nobody else had it open for writing when it was opened.
    pub fn was_alone(&self) -> bool {
        self.alone
    }

    /// Makes the lock of those who share that of a single writer, before it is closed; false if there are others.
    ///
    /// One asks at a time, and lets go of all locks before the next one asks: of two who asked at once each would see
    /// the other, and neither would be the last.
    pub fn lock_alone(&self) -> bool {
        let Some(file) = &self.locked else { return false };
        let (offset, length) = self.shared_range();
        for _ in 0..10 * PATIENCE {
            match file.lock(offset + length, 1) {
                Ok(true) => return file.lock(offset, length) == Ok(true),
                Ok(false) => std::thread::sleep(core::time::Duration::from_millis(1)),
                Err(_) => return false,
            }
        }
        false
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

    /// How it may be used.
    pub fn access(&self) -> Access {
        self.access
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
        // SAFETY: `base` and `mapped` are what `map_file` returned and was given; nothing refers to the memory any
        // more.
        unsafe { os::unmap(self.base, self.mapped) }
    }
}
