//! Memory from the system: mapped files and pages.

use super::system::{self, SystemInformation};
use super::{RawFile, check, last_error};
use core::ptr::{NonNull, null};
use core::result::Result;

fn information() -> SystemInformation {
    // SAFETY: all-zero bytes are a valid SYSTEM_INFO, which the call fills.
    unsafe {
        let mut information: SystemInformation = core::mem::zeroed();
        system::GetSystemInfo(&mut information);
        information
    }
}

/// The size of a page of memory.
pub fn page_size() -> usize {
    information().page_size.max(1) as usize
}

/// What the offset of a mapping in its file is a multiple of.
pub fn mapping_step() -> u64 {
    u64::from(information().allocation_granularity.max(1))
}

/// Maps part of a file, shared; `offset` is a multiple of [`mapping_step`] and `length` is not 0. The part must lie
/// inside the file, which does not grow.
pub fn map_file(file: &RawFile, offset: u64, length: usize, writable: bool) -> Result<NonNull<u8>, i32> {
    let (protection, access) = match writable {
        true => (system::PAGE_READWRITE, system::FILE_MAP_READ | system::FILE_MAP_WRITE),
        false => (system::PAGE_READONLY, system::FILE_MAP_READ),
    };
    // SAFETY: a new mapping at an address of the system's choice touches no memory that exists. It outlives the handle
    // that it is made with.
    let base = unsafe {
        let mapping = RawFile::owning(system::CreateFileMappingW(file.handle(), null(), protection, 0, 0, null()))?;
        system::MapViewOfFile(mapping.handle(), access, (offset >> 32) as u32, offset as u32, length)
    };
    NonNull::new(base.cast()).ok_or_else(last_error)
}

/// Has the system read the mapping of a file into memory. Whether it does makes no difference to what the bytes are, so
/// nobody learns of a failure.
///
/// # Safety
/// `base` and `length` are those of a mapping of [`map_file`].
pub unsafe fn prefault(base: NonNull<u8>, length: usize) {
    let range = system::MemoryRange { start: base.as_ptr().cast(), length };
    // SAFETY: the caller says that the range is a mapping, and reading it ahead changes no byte of it.
    unsafe { system::PrefetchVirtualMemory(system::GetCurrentProcess(), 1, &range, 0) };
}

/// Blocks from this size on ask for large pages.
const LARGE: usize = 4 << 20;

/// `length` zero bytes from the system. A large block gets large pages, if there are any, in a process that has enabled
/// the privilege to lock pages in memory (SeLockMemoryPrivilege).
pub fn map_anonymous(length: usize) -> Option<NonNull<u8>> {
    let kind = system::MEM_RESERVE | system::MEM_COMMIT;
    // SAFETY: new pages at an address of the system's choice touch no memory that exists.
    unsafe {
        let page = system::GetLargePageMinimum();
        if length >= LARGE
            && page > 0
            && let Some(whole) = length.checked_next_multiple_of(page)
        {
            let kind = kind | system::MEM_LARGE_PAGES;
            let large = NonNull::new(system::VirtualAlloc(null(), whole, kind, system::PAGE_READWRITE).cast());
            if large.is_some() {
                return large;
            }
        }
        NonNull::new(system::VirtualAlloc(null(), length, kind, system::PAGE_READWRITE).cast())
    }
}

/// Pages cannot be moved here, so the answer is always `None`.
///
/// # Safety
/// None is needed.
pub unsafe fn move_anonymous(_: NonNull<u8>, _: usize, _: usize) -> Option<NonNull<u8>> {
    None
}

/// Unmaps the mapping of a file.
///
/// # Safety
/// `base` is that of a mapping of [`map_file`], to which nothing refers.
pub unsafe fn unmap_file(base: NonNull<u8>, _: usize) {
    // SAFETY: the caller says that it is a mapping, and that nothing refers to it.
    unsafe { system::UnmapViewOfFile(base.as_ptr().cast()) };
}

/// Frees pages.
///
/// # Safety
/// `base` is that of a block of [`map_anonymous`], to which nothing refers.
pub unsafe fn free_anonymous(base: NonNull<u8>, _: usize) {
    // SAFETY: the caller says that it is such a block, and that nothing refers to it.
    unsafe { system::VirtualFree(base.as_ptr().cast(), 0, system::MEM_RELEASE) };
}

/// Waits until a part of a mapping is on the disk.
///
/// # Safety
/// `length` bytes from `base` are mapped, of `file`, which is open for writing.
pub unsafe fn flush(base: NonNull<u8>, length: usize, file: &RawFile) -> Result<(), i32> {
    #[cfg(test)]
    if super::super::failing::flush_fails() {
        return Err(system::ERROR_GEN_FAILURE);
    }
    // SAFETY: the caller says that the bytes are mapped.
    check(unsafe { system::FlushViewOfFile(base.as_ptr().cast(), length) })?;
    // The first call writes the bytes but does not wait for the disk.
    file.sync()
}
