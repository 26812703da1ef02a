//! The functions, types and numbers of Windows that the library uses, as Microsoft's documentation declares them.

#![allow(non_snake_case, reason = "the names are those of the system")]

use core::ffi::c_void;

/// A HANDLE.
pub type Handle = *mut c_void;

/// A pointer that a call takes and that may stay unused, or NULL.
pub type Nothing = *const c_void;

pub const ERROR_FILE_NOT_FOUND: i32 = 2;
pub const ERROR_ACCESS_DENIED: i32 = 5;
pub const ERROR_INVALID_HANDLE: i32 = 6;
pub const ERROR_INVALID_FUNCTION: i32 = 1;
pub const ERROR_GEN_FAILURE: i32 = 31;
pub const ERROR_LOCK_VIOLATION: i32 = 33;
pub const ERROR_NOT_ENOUGH_MEMORY: i32 = 8;
pub const ERROR_HANDLE_EOF: i32 = 38;
pub const ERROR_NOT_SUPPORTED: i32 = 50;
pub const ERROR_FILE_EXISTS: i32 = 80;
pub const ERROR_INVALID_PARAMETER: i32 = 87;
pub const ERROR_CALL_NOT_IMPLEMENTED: i32 = 120;
pub const ERROR_INVALID_LEVEL: i32 = 124;
pub const ERROR_MAX_THRDS_REACHED: i32 = 164;
pub const ERROR_ALREADY_EXISTS: i32 = 183;
pub const ERROR_IO_PENDING: i32 = 997;

pub const GENERIC_READ: u32 = 0x8000_0000;
pub const GENERIC_WRITE: u32 = 0x4000_0000;
pub const DELETE: u32 = 0x0001_0000;
pub const READ_CONTROL: u32 = 0x0002_0000;
pub const WRITE_DAC: u32 = 0x0004_0000;
pub const FILE_READ_DATA: u32 = 0x0001;
pub const FILE_WRITE_DATA: u32 = 0x0002;
pub const FILE_READ_ATTRIBUTES: u32 = 0x0080;
/// FILE_SHARE_READ, FILE_SHARE_WRITE and FILE_SHARE_DELETE: files can be replaced and removed while they are open.
pub const SHARE_ALL: u32 = 7;
/// FILE_SHARE_READ and FILE_SHARE_WRITE: the name stays where it is.
pub const SHARE_KEPT: u32 = 3;
pub const CREATE_NEW: u32 = 1;
pub const OPEN_EXISTING: u32 = 3;
pub const FILE_ATTRIBUTE_DIRECTORY: u32 = 0x10;
pub const FILE_ATTRIBUTE_NORMAL: u32 = 0x80;
pub const FILE_ATTRIBUTE_TEMPORARY: u32 = 0x100;
pub const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x400;
pub const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
pub const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
pub const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
pub const FILE_TYPE_DISK: u32 = 1;
pub const DUPLICATE_SAME_ACCESS: u32 = 2;
pub const LOCKFILE_FAIL_IMMEDIATELY: u32 = 1;
pub const LOCKFILE_EXCLUSIVE_LOCK: u32 = 2;
/// A class of GetFileInformationByHandleEx.
pub const FILE_STANDARD_INFO: i32 = 1;
/// A class of SetFileInformationByHandle.
pub const FILE_RENAME_INFO_EX: i32 = 22;
/// FILE_RENAME_FLAG_REPLACE_IF_EXISTS and FILE_RENAME_FLAG_POSIX_SEMANTICS.
pub const RENAME_LIKE_POSIX: u32 = 3;
/// MOVEFILE_REPLACE_EXISTING and MOVEFILE_WRITE_THROUGH.
pub const MOVE_REPLACING_THROUGH: u32 = 9;
pub const DACL_SECURITY_INFORMATION: u32 = 4;
pub const PAGE_READONLY: u32 = 2;
pub const PAGE_READWRITE: u32 = 4;
pub const FILE_MAP_WRITE: u32 = 2;
pub const FILE_MAP_READ: u32 = 4;
pub const MEM_COMMIT: u32 = 0x1000;
pub const MEM_RESERVE: u32 = 0x2000;
pub const MEM_RELEASE: u32 = 0x8000;
pub const MEM_LARGE_PAGES: u32 = 0x2000_0000;

/// OVERLAPPED: where in a file a call reads, writes or locks.
#[repr(C)]
pub struct Overlapped {
    pub internal: usize,
    pub internal_high: usize,
    pub offset: u32,
    pub offset_high: u32,
    pub event: Handle,
}

impl Overlapped {
    pub fn at(offset: u64) -> Overlapped {
        let (low, high) = (offset as u32, (offset >> 32) as u32);
        Overlapped { internal: 0, internal_high: 0, offset: low, offset_high: high, event: core::ptr::null_mut() }
    }
}

/// BY_HANDLE_FILE_INFORMATION.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct FileInformation {
    pub attributes: u32,
    pub times: [u32; 6],
    pub volume: u32,
    pub size_high: u32,
    pub size_low: u32,
    pub links: u32,
    pub index_high: u32,
    pub index_low: u32,
}

/// FILE_STANDARD_INFO.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct StandardInformation {
    pub allocation_size: i64,
    pub end_of_file: i64,
    pub links: u32,
    pub delete_pending: u8,
    pub directory: u8,
}

/// The first part of PUBLIC_OBJECT_BASIC_INFORMATION, and what is reserved after it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ObjectInformation {
    pub attributes: u32,
    pub granted_access: u32,
    pub rest: [u32; 12],
}

/// WIN32_MEMORY_RANGE_ENTRY.
#[repr(C)]
pub struct MemoryRange {
    pub start: Nothing,
    pub length: usize,
}

/// SYSTEM_INFO.
#[repr(C)]
pub struct SystemInformation {
    pub architecture: u32,
    pub page_size: u32,
    pub least_address: Nothing,
    pub greatest_address: Nothing,
    pub processor_mask: usize,
    pub processors: u32,
    pub processor_type: u32,
    pub allocation_granularity: u32,
    pub processor_level: u16,
    pub processor_revision: u16,
}

#[link(name = "kernel32")]
unsafe extern "system" {
    pub fn CreateFileW(
        name: *const u16,
        access: u32,
        share: u32,
        security: Nothing,
        disposition: u32,
        flags: u32,
        template: Handle,
    ) -> Handle;
    pub fn ReOpenFile(file: Handle, access: u32, share: u32, flags: u32) -> Handle;
    pub fn DuplicateHandle(
        from_process: Handle,
        from: Handle,
        to_process: Handle,
        to: *mut Handle,
        access: u32,
        inherit: i32,
        options: u32,
    ) -> i32;
    pub fn GetCurrentProcess() -> Handle;
    pub fn GetFileType(file: Handle) -> u32;
    pub fn GetFileInformationByHandle(file: Handle, information: *mut FileInformation) -> i32;
    pub fn GetFileInformationByHandleEx(file: Handle, class: i32, to: *mut c_void, length: u32) -> i32;
    pub fn SetFileInformationByHandle(file: Handle, class: i32, from: Nothing, length: u32) -> i32;
    pub fn ReadFile(file: Handle, to: *mut c_void, length: u32, done: *mut u32, at: *mut Overlapped) -> i32;
    pub fn WriteFile(file: Handle, from: Nothing, length: u32, done: *mut u32, at: *mut Overlapped) -> i32;
    pub fn GetOverlappedResult(file: Handle, at: *mut Overlapped, done: *mut u32, wait: i32) -> i32;
    pub fn FlushFileBuffers(file: Handle) -> i32;
    pub fn LockFileEx(file: Handle, flags: u32, zero: u32, low: u32, high: u32, at: *mut Overlapped) -> i32;
    pub fn UnlockFileEx(file: Handle, zero: u32, low: u32, high: u32, at: *mut Overlapped) -> i32;
    pub fn GetFileAttributesW(name: *const u16) -> u32;
    pub fn DeleteFileW(name: *const u16) -> i32;
    pub fn MoveFileExW(from: *const u16, to: *const u16, flags: u32) -> i32;
    pub fn GetFullPathNameW(name: *const u16, room: u32, to: *mut u16, file_part: *mut *mut u16) -> u32;
    pub fn CreateFileMappingW(
        file: Handle,
        security: Nothing,
        protection: u32,
        size_high: u32,
        size_low: u32,
        name: *const u16,
    ) -> Handle;
    pub fn MapViewOfFile(mapping: Handle, access: u32, high: u32, low: u32, length: usize) -> *mut c_void;
    pub fn UnmapViewOfFile(base: Nothing) -> i32;
    pub fn FlushViewOfFile(base: Nothing, length: usize) -> i32;
    pub fn VirtualAlloc(base: Nothing, length: usize, kind: u32, protection: u32) -> *mut c_void;
    pub fn VirtualFree(base: *mut c_void, length: usize, kind: u32) -> i32;
    pub fn PrefetchVirtualMemory(process: Handle, count: usize, ranges: *const MemoryRange, flags: u32) -> i32;
    pub fn GetLargePageMinimum() -> usize;
    pub fn GetSystemInfo(to: *mut SystemInformation);
}

#[link(name = "advapi32")]
unsafe extern "system" {
    pub fn GetKernelObjectSecurity(of: Handle, what: u32, to: *mut c_void, room: u32, needed: *mut u32) -> i32;
    pub fn SetKernelObjectSecurity(of: Handle, what: u32, from: Nothing) -> i32;
}

#[link(name = "ntdll")]
unsafe extern "system" {
    pub fn NtQueryObject(of: Handle, class: i32, to: *mut c_void, length: u32, needed: *mut u32) -> i32;
}
