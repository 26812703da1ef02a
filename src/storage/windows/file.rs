//! Files: opening them, their status, reading and writing.

use super::system::{self, FileInformation, Handle, ObjectInformation, Overlapped, StandardInformation};
use super::{Descriptor, PathBytes, check, last_error};
use core::ptr::{null, null_mut};
use core::result::Result;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

/// The status of a file.
pub struct FileStatus {
    information: FileInformation,
    is_on_disk: bool,
    is_link: bool,
    has_name: bool,
}

impl FileStatus {
    /// The length of the file in bytes.
    pub fn length(&self) -> u64 {
        u64::from(self.information.size_high) << 32 | u64::from(self.information.size_low)
    }

    /// The file's volume and its number there.
    pub fn identity(&self) -> (u64, u64) {
        let FileInformation { volume, index_high, index_low, .. } = self.information;
        (u64::from(volume), u64::from(index_high) << 32 | u64::from(index_low))
    }

    /// Whether the file still has a name in some folder.
    pub fn has_name(&self) -> bool {
        self.has_name
    }

    /// Whether the file is a plain file and not a folder, a device or a pipe.
    pub fn is_regular(&self) -> bool {
        self.is_on_disk && !self.is_link && self.information.attributes & system::FILE_ATTRIBUTE_DIRECTORY == 0
    }

    /// Whether the file is a symbolic link or something similar that was itself opened.
    pub(super) fn of_link(mut self) -> FileStatus {
        self.is_link = self.information.attributes & system::FILE_ATTRIBUTE_REPARSE_POINT != 0;
        self
    }
}

/// An open file, closed when dropped.
pub struct RawFile(OwnedHandle);

impl RawFile {
    /// The file's handle, which is open for as long as this lives.
    pub(super) fn handle(&self) -> Handle {
        self.0.as_raw_handle()
    }

    /// The file of a new handle; `INVALID_HANDLE_VALUE` and NULL stand for an error.
    ///
    /// # Safety
    /// Nothing else closes the handle.
    pub(super) unsafe fn owning(handle: Handle) -> Result<RawFile, i32> {
        if handle.is_null() || handle as isize == -1 {
            return Err(last_error());
        }
        // SAFETY: the handle is open, and nothing else closes it, as the caller says.
        Ok(RawFile(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    pub(super) fn open_with(
        path: &PathBytes,
        access: u32,
        share: u32,
        disposition: u32,
        flags: u32,
    ) -> Result<RawFile, i32> {
        let path = path.extended()?;
        // SAFETY: `path` ends with a NUL; the handle is new and owned from here on.
        unsafe {
            RawFile::owning(system::CreateFileW(path.as_ptr(), access, share, null(), disposition, flags, null_mut()))
        }
    }

    /// Opens an existing file.
    pub fn open(path: &PathBytes, writable: bool) -> Result<RawFile, i32> {
        let flags = system::FILE_ATTRIBUTE_NORMAL;
        RawFile::open_with(path, access(writable), system::SHARE_ALL, system::OPEN_EXISTING, flags)
    }

    /// A separate handle for a caller's handle.
    ///
    /// Locks and positions belong to an open file, so the file is opened anew if its caller shares it in a way that
    /// allows that. Otherwise two handles made from the caller's do not see each other's lock.
    pub fn from_descriptor(descriptor: Descriptor, writable: bool) -> Result<RawFile, i32> {
        let file = descriptor as Handle;
        // The pseudo-handles of processes and threads can be duplicated too, but are refused.
        if descriptor <= 0 {
            return Err(system::ERROR_INVALID_HANDLE);
        }
        // Opening anew checks what the user may do; the caller's handle may allow less.
        let mut object = ObjectInformation::default();
        let length = size_of::<ObjectInformation>() as u32;
        // SAFETY: `object` is writable for `length` bytes; the call takes any handle.
        if unsafe { system::NtQueryObject(file, 0, (&raw mut object).cast(), length, null_mut()) } < 0 {
            return Err(system::ERROR_INVALID_HANDLE);
        }
        let needed = system::FILE_READ_DATA | if writable { system::FILE_WRITE_DATA } else { 0 };
        if object.granted_access & needed != needed {
            return Err(system::ERROR_ACCESS_DENIED);
        }
        // SAFETY: the call takes any handle; the handle that it gives is new and owned from here on.
        unsafe { RawFile::owning(system::ReOpenFile(file, access(writable), system::SHARE_ALL, 0)) }
            .or_else(|_| duplicate(file))
    }

    /// The status of the file.
    pub fn status(&self) -> Result<FileStatus, i32> {
        let mut information = FileInformation::default();
        // SAFETY: the handle is open.
        let is_on_disk = unsafe { system::GetFileType(self.handle()) } == system::FILE_TYPE_DISK;
        if !is_on_disk {
            return Ok(FileStatus { information, is_on_disk, is_link: false, has_name: true });
        }
        let (mut standard, length) = (StandardInformation::default(), size_of::<StandardInformation>() as u32);
        // SAFETY: the handle is open, and what the calls fill is writable and as long as the calls are told.
        unsafe {
            check(system::GetFileInformationByHandle(self.handle(), &mut information))?;
            let (class, to) = (system::FILE_STANDARD_INFO, (&raw mut standard).cast());
            check(system::GetFileInformationByHandleEx(self.handle(), class, to, length))?;
        }
        let has_name = standard.links > 0 && standard.delete_pending == 0;
        Ok(FileStatus { information, is_on_disk, is_link: false, has_name })
    }

    /// Reads from `offset` until `bytes` is full or the file ends; returns how many bytes were read.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<usize, i32> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &mut bytes[done..];
            let (mut at, mut count) = (Overlapped::at(offset + done as u64), 0);
            let read = {
                let (to, length) = (rest.as_mut_ptr().cast(), at_once(rest.len()));
                // SAFETY: `rest` is writable for its length, and `at` and `count` live until the call is done.
                let answer = unsafe { system::ReadFile(self.handle(), to, length, null_mut(), &mut at) };
                self.finish(answer, &mut at, &mut count)
            };
            match read {
                Ok(()) if count > 0 => done += count as usize,
                Ok(()) | Err(system::ERROR_HANDLE_EOF) => break,
                Err(code) => return Err(code),
            }
        }
        Ok(done)
    }

    /// Writes all of `bytes` at `offset`.
    pub fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<(), i32> {
        while !bytes.is_empty() {
            let (mut at, mut count) = (Overlapped::at(offset), 0);
            let (from, length) = (bytes.as_ptr().cast(), at_once(bytes.len()));
            // SAFETY: `bytes` is readable for its length, and `at` and `count` live until the call is done.
            let answer = unsafe { system::WriteFile(self.handle(), from, length, null_mut(), &mut at) };
            self.finish(answer, &mut at, &mut count)?;
            if count == 0 {
                return Err(system::ERROR_GEN_FAILURE);
            }
            bytes = &bytes[count as usize..];
            offset += u64::from(count);
        }
        Ok(())
    }

    /// Waits for a call to be done, and gives how many bytes it took. With some of the handles that callers have, calls
    /// return before they are done.
    pub(super) fn finish(&self, answer: i32, at: &mut Overlapped, count: &mut u32) -> Result<(), i32> {
        if let Err(code) = check(answer)
            && code != system::ERROR_IO_PENDING
        {
            return Err(code);
        }
        // SAFETY: the handle is open, and `at` is that of the call.
        check(unsafe { system::GetOverlappedResult(self.handle(), at, count, 1) })
    }

    /// Reserves nothing: a file has room for all of its length, unless it is compressed or sparse.
    pub fn reserve(&self, _: u64, _: u64) -> Result<(), i32> {
        Ok(())
    }

    /// Waits until everything written is on the disk.
    pub fn sync(&self) -> Result<(), i32> {
        // SAFETY: the handle is open.
        check(unsafe { system::FlushFileBuffers(self.handle()) })
    }
}

fn access(writable: bool) -> u32 {
    system::GENERIC_READ | if writable { system::GENERIC_WRITE } else { 0 }
}

/// The volume of an open file and its number there, which `std` gives on Unix only; `None` if the system does not say.
pub fn identity_of(file: &std::fs::File) -> Option<(u64, u64)> {
    let file = RawFile(OwnedHandle::from(file.try_clone().ok()?));
    file.status().ok().map(|status| status.identity())
}

/// How many bytes one call reads or writes.
fn at_once(length: usize) -> u32 {
    length.min(1 << 30) as u32
}

/// A new handle of an open file.
fn duplicate(file: Handle) -> Result<RawFile, i32> {
    let mut copy = null_mut();
    // SAFETY: the call takes any handle and writes one; the copy is new and owned.
    unsafe {
        let process = system::GetCurrentProcess();
        check(system::DuplicateHandle(process, file, process, &mut copy, 0, 0, system::DUPLICATE_SAME_ACCESS))?;
        RawFile::owning(copy)
    }
}
