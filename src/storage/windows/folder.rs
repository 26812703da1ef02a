//! Files by their names in an open folder.

use super::system::{self, Handle};
use super::{FileStatus, Name, PathBytes, RawFile, check, code, last_error};
use crate::storage::try_vec;
use core::ptr::null_mut;
use core::result::Result;

/// A folder, which stays where it is while this value exists: its handle does not let others rename or remove it. Files
/// are found by the folder's path and their names.
pub struct RawFolder {
    path: PathBytes,
    opened: RawFile,
}

impl RawFolder {
    /// Opens a folder; if it may not be written, only to find files in it.
    pub fn open(path: &PathBytes) -> Result<RawFolder, i32> {
        let copy = path.join(&[])?;
        let open = |access| {
            let flags = system::FILE_FLAG_BACKUP_SEMANTICS;
            RawFile::open_with(&copy, access, system::SHARE_KEPT, system::OPEN_EXISTING, flags)
        };
        let opened = open(system::GENERIC_READ | system::GENERIC_WRITE)
            .or_else(|_| open(system::GENERIC_READ))
            .or_else(|_| open(system::FILE_READ_ATTRIBUTES))?;
        Ok(RawFolder { path: copy, opened })
    }

    /// Makes a file. It has the rights that the folder gives to new files, even if it is `private`.
    pub fn create(&self, name: &Name, _private: bool) -> Result<RawFile, i32> {
        let access = system::GENERIC_READ | system::GENERIC_WRITE | system::DELETE | system::READ_CONTROL;
        let flags = system::FILE_ATTRIBUTE_NORMAL;
        let make = |path: &_, access| RawFile::open_with(path, access, system::SHARE_ALL, system::CREATE_NEW, flags);
        self.create_with(name, |path| match make(path, access | system::WRITE_DAC) {
            // Not everybody may change the rights of what they make; the file then keeps those that the folder gave it.
            Err(system::ERROR_ACCESS_DENIED) => make(path, access),
            outcome => outcome,
        })
    }

    fn create_with(&self, name: &Name, make: impl Fn(&PathBytes) -> Result<RawFile, i32>) -> Result<RawFile, i32> {
        let path = self.path.join(name)?;
        match make(&path) {
            Err(system::ERROR_ALREADY_EXISTS) => Err(code::EXISTS),
            // A file that is removed keeps its name for as long as somebody has it open.
            Err(system::ERROR_ACCESS_DENIED) if is_there(&path)? => Err(code::EXISTS),
            outcome => outcome,
        }
    }

    /// Makes a file that nobody else can open, and that goes away with its last handle, even if the process is killed.
    pub fn create_fleeting(&self, name: &Name) -> Result<RawFile, i32> {
        let access = system::GENERIC_READ | system::GENERIC_WRITE | system::DELETE;
        let flags = system::FILE_ATTRIBUTE_TEMPORARY | system::FILE_FLAG_DELETE_ON_CLOSE;
        self.create_with(name, |path| RawFile::open_with(path, access, 0, system::CREATE_NEW, flags))
    }

    /// Opens a file that may have been left behind, to look at it, to lock it and to remove it.
    pub fn open_left(&self, name: &Name) -> Result<RawFile, i32> {
        let flags = system::FILE_FLAG_OPEN_REPARSE_POINT;
        let access = system::GENERIC_READ;
        RawFile::open_with(&self.path.join(name)?, access, system::SHARE_ALL, system::OPEN_EXISTING, flags)
    }

    /// There are no files without names.
    pub fn unnamed(&self, _: bool) -> Result<RawFile, i32> {
        Err(code::UNSUPPORTED)
    }

    /// There are no files without names.
    pub fn link(&self, _: &RawFile, _: &Name) -> Result<(), i32> {
        Err(code::UNSUPPORTED)
    }

    /// Opens what has a name in this folder, which may be a folder, for other purposes than reading its bytes.
    fn open_any(&self, name: &Name, access: u32, follow: bool) -> Result<RawFile, i32> {
        let flags = system::FILE_FLAG_BACKUP_SEMANTICS | if follow { 0 } else { system::FILE_FLAG_OPEN_REPARSE_POINT };
        RawFile::open_with(&self.path.join(name)?, access, system::SHARE_ALL, system::OPEN_EXISTING, flags)
    }

    /// The status of a file in this folder, or of the file that a symbolic link there leads to.
    pub fn status_of(&self, name: &Name, follow: bool) -> Result<FileStatus, i32> {
        let status = self.open_any(name, system::FILE_READ_ATTRIBUTES, follow)?.status()?;
        Ok(if follow { status } else { status.of_link() })
    }

    /// Gives `file` the access control list of another file, as far as that is allowed.
    pub fn hand_on_rights(&self, name: &Name, _: &FileStatus, file: &RawFile) {
        // Without the right to read or set access rights the file keeps those that the folder gave it.
        let _ = self.open_any(name, system::READ_CONTROL, true).and_then(|other| copy_rights(&other, file));
    }

    /// Renames the file `from` of this folder, which is open as `file`, to `to`, whatever was there before.
    pub fn rename(&self, file: &RawFile, from: &Name, to: &Name) -> Result<(), i32> {
        let (from, to) = (self.path.join(from)?, self.path.join(to)?);
        match rename_like_posix(file.handle(), &to) {
            // These come from file systems and versions of the system that cannot rename like this.
            Err(
                system::ERROR_INVALID_PARAMETER
                | system::ERROR_INVALID_FUNCTION
                | system::ERROR_INVALID_LEVEL
                | system::ERROR_NOT_SUPPORTED
                | system::ERROR_CALL_NOT_IMPLEMENTED,
            ) => {}
            outcome => return outcome,
        }
        let (from, to) = (from.extended()?, to.extended()?);
        // SAFETY: both paths end with a NUL.
        check(unsafe { system::MoveFileExW(from.as_ptr(), to.as_ptr(), system::MOVE_REPLACING_THROUGH) })
    }

    /// Removes a file of this folder, if it is there.
    pub fn remove(&self, name: &Name) {
        if let Ok(path) = self.path.join(name).and_then(|path| path.extended()) {
            // SAFETY: `path` ends with a NUL.
            unsafe { system::DeleteFileW(path.as_ptr()) };
        }
    }

    /// Writes the folder's entries to the disk if the file system can do that.
    pub fn sync(&self) -> Result<(), i32> {
        match self.opened.sync() {
            Err(
                system::ERROR_ACCESS_DENIED
                | system::ERROR_INVALID_FUNCTION
                | system::ERROR_INVALID_HANDLE
                | system::ERROR_INVALID_PARAMETER
                | system::ERROR_NOT_SUPPORTED,
            )
            | Ok(()) => Ok(()),
            Err(code) => Err(code),
        }
    }
}

/// Whether there is something at a path, even something that is being removed.
fn is_there(path: &PathBytes) -> Result<bool, i32> {
    let path = path.extended()?;
    // SAFETY: `path` ends with a NUL.
    let attributes = unsafe { system::GetFileAttributesW(path.as_ptr()) };
    Ok(attributes != u32::MAX || last_error() != system::ERROR_FILE_NOT_FOUND)
}

/// Gives a file a name, even if others have a file with this name open.
fn rename_like_posix(file: Handle, to: &PathBytes) -> Result<(), i32> {
    let name = to.extended()?;
    let name = &name[..name.len() - 1];
    // FILE_RENAME_INFO: flags, a folder's handle that stays NULL, the length of the name in bytes, and the name.
    let start = 2 * size_of::<usize>() / 4;
    let words = start + 1 + name.len().div_ceil(2) + 1;
    let mut words = {
        let mut zeros = try_vec::<u64>(words.div_ceil(2)).map_err(|_| system::ERROR_NOT_ENOUGH_MEMORY)?;
        zeros.resize(words.div_ceil(2), 0);
        zeros
    };
    let length = size_of_val(words.as_slice()) as u32;
    let place = words.as_mut_ptr().cast::<u32>();
    // SAFETY: the struct and the name were given room above, at an address that is a multiple of 8.
    unsafe {
        place.write(system::RENAME_LIKE_POSIX);
        place.add(start).write(size_of_val(name) as u32);
        core::ptr::copy_nonoverlapping(name.as_ptr(), place.add(start + 1).cast(), name.len());
        check(system::SetFileInformationByHandle(file, system::FILE_RENAME_INFO_EX, place.cast(), length))
    }
}

/// Gives `to` the access control list of `from`.
fn copy_rights(from: &RawFile, to: &RawFile) -> Result<(), i32> {
    let (what, mut needed) = (system::DACL_SECURITY_INFORMATION, 0);
    // SAFETY: the call is given no room, and `needed` is writable.
    unsafe { system::GetKernelObjectSecurity(from.handle(), what, null_mut(), 0, &mut needed) };
    let count = (needed as usize).div_ceil(8).max(1);
    let mut rights = try_vec::<u64>(count).map_err(|_| system::ERROR_NOT_ENOUGH_MEMORY)?;
    rights.resize(count, 0);
    let room = size_of_val(rights.as_slice()) as u32;
    // SAFETY: that many bytes are there, and what the first call puts there is what the second takes.
    unsafe {
        let place = rights.as_mut_ptr().cast();
        check(system::GetKernelObjectSecurity(from.handle(), what, place, room, &mut needed))?;
        check(system::SetKernelObjectSecurity(to.handle(), what, place))
    }
}
