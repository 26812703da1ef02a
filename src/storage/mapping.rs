//! A part of a file in memory.

use super::os::{self, RawFile};
use super::{Access, Process};
use crate::error::{Error, Result, error};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

/// A range of bytes of an open file.
#[derive(Clone, Copy, Debug)]
pub struct FileRange {
    /// The first byte.
    pub offset: u64,
    /// How many bytes there are.
    pub length: usize,
}

/// A mapped range of a file, shared with every other process that maps it.
///
/// A writable mapping holds a lock on its range, which lies at [`LOCKS`]. So there is either one writer, or several
/// that share the range. Closing releases the lock. A child that was forked since has a copy of the mapping, but the
/// lock is its parent's.
pub struct Mapping {
    /// Where the mapping starts: the range's first byte is `lead` bytes after it.
    base: NonNull<u8>,
    mapped: usize,
    lead: usize,
    range: FileRange,
    identity: (u64, u64),
    access: Access,
    process: Process,
    /// Whether nobody else had the range open for writing when this mapping was opened.
    alone: bool,
    /// Kept for as long as the lock is.
    locked: Option<RawFile>,
    /// Whether this mapping holds the gate.
    at_gate: AtomicBool,
}

/// The lock of byte i of a file is on byte `LOCKS` + i, past the end of every file: on Windows nobody else can read a
/// byte that somebody has locked.
const LOCKS: u64 = 1 << 62;

impl Mapping {
    /// Maps `range` of `file`. The caller has checked that it lies inside the file and starts at a multiple of 8.
    pub fn new(file: RawFile, range: FileRange, access: Access) -> Result<Mapping> {
        let failed = |code| Error::from_os(code, format_args!("mapping {} bytes of the file", range.length));
        let identity = file.status().map_err(failed)?.identity();
        let lead = (range.offset % os::mapping_step()) as usize;
        let too_large = || error!(TooLarge, "{} bytes of a file are more than can be mapped", range.length);
        let mapped = range.length.checked_add(lead).ok_or_else(too_large)?;
        let base = os::map_file(&file, range.offset - lead as u64, mapped, access.is_writing()).map_err(failed)?;
        // From here on the mapping and its locks are released when it is dropped.
        let process = Process::current();
        let (locked, at_gate) = (None, AtomicBool::new(false));
        let mut mapping =
            Mapping { base, mapped, lead, range, identity, access, process, alone: true, locked, at_gate };
        if access == Access::Read {
            return Ok(mapping);
        }
        let file = mapping.locked.insert(file);
        let (offset, length) = body(range);
        // Whoever opens or closes holds the gate alone, and the last one who shares keeps it while it seals: nobody is
        // turned away because of that.
        file.wait_for_lock(gate(range), 1).map_err(failed)?;
        *mapping.at_gate.get_mut() = true;
        mapping.alone = file.lock(offset, length).map_err(failed)?;
        let entered = match (access, mapping.alone) {
            (Access::Share, true) => file.share_lock(offset, length).map_err(failed)?,
            (Access::Share, false) => file.lock_shared(offset, length).map_err(failed)?,
            (_, alone) => alone,
        };
        if !entered {
            let offset = range.offset;
            return Err(error!(Locked, "another handle has the image at offset {offset} open for writing"));
        }
        if access == Access::Write {
            mapping.leave_gate();
        }
        Ok(mapping)
    }

    /// Whether nobody else had the range open for writing when this mapping was opened.
    pub fn was_alone(&self) -> bool {
        self.alone
    }

    /// Waits until nobody else who shares the file is opening or closing it, if need be for as long as the last one
    /// seals it. Whoever opens the file to share it already holds the gate when [`Mapping::new`] returns.
    pub fn enter_gate(&self) -> Result<()> {
        let Some(file) = &self.locked else { return Ok(()) };
        if !self.at_gate.load(Ordering::Relaxed) {
            file.wait_for_lock(gate(self.range), 1)
                .map_err(|code| Error::from_os(code, format_args!("locking the image to share it")))?;
            self.at_gate.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes the gate if nobody holds it, without waiting.
    pub fn try_gate(&self) -> bool {
        let has = self.at_gate.load(Ordering::Relaxed)
            || self.locked.as_ref().is_some_and(|file| file.lock(gate(self.range), 1) == Ok(true));
        self.at_gate.store(has, Ordering::Relaxed);
        has
    }

    /// Lets others open and close the file.
    pub fn leave_gate(&self) {
        if let Some(file) = &self.locked
            && self.at_gate.swap(false, Ordering::Relaxed)
        {
            file.release_lock(gate(self.range), 1);
        }
    }

    /// Turns the lock of those who share the range into that of a single writer, until the mapping is dropped; false if
    /// there are others. To be called only at the gate: of two callers at the same time each would see the other, and
    /// neither would be the last.
    pub fn is_last(&self) -> bool {
        let (offset, length) = body(self.range);
        self.locked.as_ref().is_some_and(|file| file.lock_alone(offset, length) == Ok(true))
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

    /// How the file was opened.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The process that opened it.
    pub fn process(&self) -> Process {
        self.process
    }

    /// The device and the inode of the file.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Has the system read the range into memory, as far as it can and will.
    pub fn prefault(&self) {
        // SAFETY: `mapped` bytes from `base` are this mapping.
        unsafe { os::prefault(self.base, self.mapped) }
    }

    /// Writes the bytes `from..to` of the range to the disk.
    pub fn flush(&self, from: usize, to: usize) -> Result<()> {
        // Only a writer has something to write.
        let Some(file) = &self.locked else { return Ok(()) };
        let page = os::page_size();
        let (from, to) = ((self.lead + from) / page * page, (self.lead + to).min(self.mapped));
        // SAFETY: the pages from `from` to `to` belong to this mapping.
        let result = unsafe { os::flush(self.base.add(from), to - from, file) };
        result.map_err(|code| Error::from_os(code, format_args!("writing the mapped image to the disk")))
    }

    /// Has the system keep room for the range on the disk, if it is to be written: writing to a hole in the file when
    /// the disk is full raises SIGBUS.
    pub fn reserve(&self) -> Result<()> {
        let (Some(file), FileRange { offset, length }) = (&self.locked, self.range) else { return Ok(()) };
        file.reserve(offset, length as u64)
            .map_err(|code| Error::from_os(code, format_args!("reserving {length} bytes of the disk for the image")))
    }
}

/// What a writer locks, and those who share: the locks of the range without its last byte.
fn body(range: FileRange) -> (u64, u64) {
    (LOCKS + range.offset, range.length as u64 - 1)
}

/// The lock of the last byte, for whoever opens or closes.
fn gate(range: FileRange) -> u64 {
    LOCKS + range.offset + range.length as u64 - 1
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // A child has a descriptor of the same open file: unlocking it would unlock its parent's, but closing it does
        // not.
        if let Some(file) = self.locked.as_ref().filter(|_| self.process.is_current()) {
            let (offset, length) = body(self.range);
            file.unlock(offset, length);
            if *self.at_gate.get_mut() {
                file.unlock(gate(self.range), 1);
            }
        }
        // SAFETY: `base` and `mapped` are what `map_file` returned and was given; nothing refers to the memory any
        // more.
        unsafe { os::unmap_file(self.base, self.mapped) }
    }
}
