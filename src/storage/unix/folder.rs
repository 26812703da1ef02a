//! Files by their names in an open folder.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::ProcPath;
use super::{FileStatus, RawFile, retry};
use core::ffi::CStr;

impl RawFile {
    /// Opens a folder; where it may not be read, only to find files in it.
    pub fn open_folder(path: &CStr) -> core::result::Result<RawFile, i32> {
        match RawFile::open_with(path, libc::O_RDONLY | libc::O_DIRECTORY, 0) {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Err(libc::EACCES) => RawFile::open_with(path, libc::O_PATH | libc::O_DIRECTORY, 0),
            outcome => outcome,
        }
    }

    /// Opens or makes a file in this folder.
    pub fn open_in(&self, name: &CStr, flags: i32, mode: libc::c_uint) -> core::result::Result<RawFile, i32> {
        let folder = self.descriptor();
        // SAFETY: `name` ends with a NUL; the descriptor is new and owned from here on.
        let fd = retry(|| unsafe { libc::openat(folder, name.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
        // SAFETY: the descriptor is new, and nobody else has it.
        Ok(unsafe { RawFile::owning(fd) })
    }

    /// What the system knows of a file in this folder, or of the file that a symbolic link there leads to.
    pub fn status_in(&self, name: &CStr, follow: bool) -> core::result::Result<FileStatus, i32> {
        let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        // SAFETY: all-zero bytes are a valid `stat`, and fstatat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: `name` ends with a NUL and `stat` is writable.
        retry(|| unsafe { libc::fstatat(self.descriptor(), name.as_ptr(), &mut stat, flags) })?;
        Ok(FileStatus(stat))
    }

    /// Puts the file `from` of this folder in the place of `to`, whatever was there before.
    pub fn rename_in(&self, from: &CStr, to: &CStr) -> core::result::Result<(), i32> {
        let folder = self.descriptor();
        // SAFETY: both names end with a NUL.
        retry(|| unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) }).map(|_| ())
    }

    /// Gives the file at `path`, which may be a link of /proc to one without a name, a name in this folder.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn link_in(&self, path: &ProcPath, name: &CStr) -> core::result::Result<(), i32> {
        let (folder, path) = (self.descriptor(), path.as_c_str().as_ptr());
        let flags = libc::AT_SYMLINK_FOLLOW;
        // SAFETY: both names end with a NUL.
        retry(|| unsafe { libc::linkat(libc::AT_FDCWD, path, folder, name.as_ptr(), flags) }).map(|_| ())
    }

    /// Removes a file of this folder, if it is there.
    pub fn remove_in(&self, name: &CStr) {
        // SAFETY: `name` ends with a NUL.
        unsafe { libc::unlinkat(self.descriptor(), name.as_ptr(), 0) };
    }
}
