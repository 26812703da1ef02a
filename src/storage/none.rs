//! A system without files, processes and pages, such as WebAssembly in a browser: memory comes from the allocator, and
//! calls about files fail.

use crate::error::Result;
use core::alloc::Layout;
use core::ptr::NonNull;
use std::path::Path;

/// The handle by which a caller passes an open file: nothing here.
pub type Descriptor = i32;

/// The error of every call about files.
const NO_FILES: i32 = -1;

/// Numbers of errors that the rest of the library knows.
pub mod code {
    /// There is nothing with this name.
    pub const NOT_FOUND: i32 = super::NO_FILES;
    /// There are no threads.
    pub const NO_THREADS: i32 = super::NO_FILES;
}

/// A path, whose bytes nobody needs.
pub struct PathBytes;

impl PathBytes {
    /// Takes any path.
    pub fn new(_: &Path) -> Result<PathBytes> {
        Ok(PathBytes)
    }

    /// The folder of the file, and the file's name in it.
    pub fn split(&self) -> Result<(PathBytes, PathBytes)> {
        Ok((PathBytes, PathBytes))
    }

    /// Whether the path names a folder: there are none.
    pub fn is_of_folder(&self) -> bool {
        false
    }
}

/// The status of a file. There are no files, so there are no values of this type.
pub enum FileStatus {}

impl FileStatus {
    /// The length of the file in bytes.
    pub fn length(&self) -> u64 {
        match *self {}
    }

    /// The identity of the file, which no two files share.
    pub fn identity(&self) -> (u64, u64) {
        match *self {}
    }

    /// Whether the file is a plain file.
    pub fn is_regular(&self) -> bool {
        match *self {}
    }
}

/// An open file. There are none.
pub enum RawFile {}

impl RawFile {
    /// Says that there are no files.
    pub fn open(_: &PathBytes, _: bool) -> core::result::Result<RawFile, i32> {
        Err(NO_FILES)
    }

    /// Says that there are no files.
    pub fn from_descriptor(_: Descriptor, _: bool) -> core::result::Result<RawFile, i32> {
        Err(NO_FILES)
    }

    /// The status of the file.
    pub fn status(&self) -> core::result::Result<FileStatus, i32> {
        match *self {}
    }

    /// Reads from an offset.
    pub fn read_at(&self, _: &mut [u8], _: u64) -> core::result::Result<usize, i32> {
        match *self {}
    }

    /// Writes at an offset.
    pub fn write_all_at(&self, _: &[u8], _: u64) -> core::result::Result<(), i32> {
        match *self {}
    }

    /// Has the system keep room for a part of the file.
    pub fn reserve(&self, _: u64, _: u64) -> core::result::Result<(), i32> {
        match *self {}
    }

    /// Waits until everything written is on the disk.
    pub fn sync(&self) -> core::result::Result<(), i32> {
        match *self {}
    }

    /// Takes the writer's lock on a range.
    pub fn lock(&self, _: u64, _: u64) -> core::result::Result<bool, i32> {
        match *self {}
    }

    /// Takes the lock of those who share a range.
    pub fn lock_shared(&self, _: u64, _: u64) -> core::result::Result<bool, i32> {
        match *self {}
    }

    /// Turns the writer's lock into a lock of those who share a range.
    pub fn share_lock(&self, _: u64, _: u64) -> core::result::Result<bool, i32> {
        match *self {}
    }

    /// Turns a lock of those who share a range into the writer's.
    pub fn lock_alone(&self, _: u64, _: u64) -> core::result::Result<bool, i32> {
        match *self {}
    }

    /// Waits for the writer's lock on a range.
    pub fn wait_for_lock(&self, _: u64, _: u64) -> core::result::Result<(), i32> {
        match *self {}
    }

    /// Releases a part of what is locked.
    pub fn release_lock(&self, _: u64, _: u64) {
        match *self {}
    }

    /// Releases the lock.
    pub fn unlock(&self, _: u64, _: u64) {
        match *self {}
    }
}

/// A folder. There are none.
pub enum Folder {}

impl Folder {
    /// Says that there are no files.
    pub fn open(_: &PathBytes) -> core::result::Result<Folder, i32> {
        Err(NO_FILES)
    }

    /// The status of a file in the folder.
    pub fn status(&self, _: &PathBytes) -> core::result::Result<FileStatus, i32> {
        match *self {}
    }

    /// The status of what has this name in the folder.
    pub fn status_of_name(&self, _: &PathBytes) -> core::result::Result<FileStatus, i32> {
        match *self {}
    }

    /// Waits until the folder's entries are on the disk.
    pub fn sync(&self) -> core::result::Result<(), i32> {
        match *self {}
    }

    /// Gives a file the rights of another one.
    pub fn hand_on_rights(&self, _: &PathBytes, _: &FileStatus, _: &RawFile) {
        match *self {}
    }

    /// A new file that never has a name.
    pub fn new_file(&self) -> core::result::Result<RawFile, i32> {
        match *self {}
    }
}

/// A new file that will get a name. There are none.
pub struct Temporary<'a> {
    folder: &'a Folder,
}

impl Temporary<'_> {
    /// A new file in a folder.
    pub fn new(folder: &Folder, _: bool) -> core::result::Result<Temporary<'_>, i32> {
        Ok(Temporary { folder })
    }

    /// The file.
    pub fn file(&self) -> &RawFile {
        match *self.folder {}
    }

    /// Gives the file a name in the folder.
    pub fn place(self, _: &PathBytes) -> core::result::Result<(), i32> {
        match *self.folder {}
    }
}

/// The size of a page of memory.
pub fn page_size() -> usize {
    1 << 16
}

/// What the offset of a mapping in its file would have to be a multiple of.
pub fn mapping_step() -> u64 {
    1 << 16
}

/// Says that there are no files.
pub fn map_file(file: &RawFile, _: u64, _: usize, _: bool) -> core::result::Result<NonNull<u8>, i32> {
    match *file {}
}

/// Nothing: no file is mapped.
///
/// # Safety
/// None is needed.
pub unsafe fn prefault(_: NonNull<u8>, _: usize) {}

/// What the memory is aligned to: a cache line.
const ALIGNMENT: usize = 64;

/// How a block of `length` bytes is allocated and freed.
fn layout(length: usize) -> Option<Layout> {
    Layout::from_size_align(length.max(ALIGNMENT), ALIGNMENT).ok()
}

/// `length` zero bytes from the allocator.
pub fn map_anonymous(length: usize) -> Option<NonNull<u8>> {
    // SAFETY: the layout has a size of at least one line.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(length)?) })
}

/// Moves nothing: there are no pages to move.
///
/// # Safety
/// None is needed.
pub unsafe fn move_anonymous(_: NonNull<u8>, _: usize, _: usize) -> Option<NonNull<u8>> {
    None
}

/// Frees memory of [`map_anonymous`].
///
/// # Safety
/// `base` came from `map_anonymous` with this length, and nothing refers to it.
pub unsafe fn free_anonymous(base: NonNull<u8>, length: usize) {
    if let Some(layout) = layout(length) {
        // SAFETY: the caller says that the memory came from the allocator with this layout.
        unsafe { std::alloc::dealloc(base.as_ptr(), layout) };
    }
}

/// Nothing: no file is mapped.
///
/// # Safety
/// None is needed.
pub unsafe fn unmap_file(_: NonNull<u8>, _: usize) {}

/// Says that there are no files.
///
/// # Safety
/// None is needed.
pub unsafe fn flush(_: NonNull<u8>, _: usize, file: &RawFile) -> core::result::Result<(), i32> {
    match *file {}
}

/// Nothing: there are no child processes.
pub fn wiped_in_children() -> Option<NonNull<u8>> {
    None
}

/// Calls nobody: there are no child processes.
pub fn call_in_children(_: extern "C" fn()) {}
