//! Files by their names in an open folder.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::ProcPath;
use super::{FileStatus, Name, PathBytes, RawFile, code, retry};
use core::result::Result;

/// An open folder, in which files are found by their names.
pub struct RawFolder(RawFile);

impl RawFolder {
    /// Opens a folder; if it may not be read, only to find files in it.
    pub fn open(path: &PathBytes) -> Result<RawFolder, i32> {
        let path = path.as_name();
        match RawFile::open_with(path, libc::O_RDONLY | libc::O_DIRECTORY, 0) {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Err(libc::EACCES) => RawFile::open_with(path, libc::O_PATH | libc::O_DIRECTORY, 0),
            outcome => outcome,
        }
        .map(RawFolder)
    }

    /// Opens or makes a file in this folder.
    fn open_in(&self, name: &Name, flags: i32, mode: libc::c_uint) -> Result<RawFile, i32> {
        let folder = self.0.descriptor();
        // SAFETY: `name` ends with a NUL; the descriptor is new and owned from here on.
        let fd = retry(|| unsafe { libc::openat(folder, name.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
        // SAFETY: the descriptor is new, and nobody else has it.
        Ok(unsafe { RawFile::owning(fd) })
    }

    /// Makes a file. `private` keeps everybody else from opening it.
    pub fn create(&self, name: &Name, private: bool) -> Result<RawFile, i32> {
        self.open_in(name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, mode(private))
    }

    /// Opens a file that may have been left behind, to look at it, to lock it and to remove it.
    pub fn open_left(&self, name: &Name) -> Result<RawFile, i32> {
        self.open_in(name, libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0)
    }

    /// A new file without a name, which [`RawFolder::link`] can give it.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn unnamed(&self, private: bool) -> Result<RawFile, i32> {
        let file = self.open_in(c".", libc::O_RDWR | libc::O_TMPFILE, mode(private))?;
        // Without /proc it could not be given a name.
        if ProcPath::of(&file).exists() { Ok(file) } else { Err(code::NOT_FOUND) }
    }

    /// A new file without a name, which can never have one.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn unnamed_for_ever(&self) -> Result<RawFile, i32> {
        self.open_in(c".", libc::O_RDWR | libc::O_TMPFILE | libc::O_EXCL, mode(true))
    }

    /// Gives a file without a name this name, if it is free.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn link(&self, file: &RawFile, name: &Name) -> Result<(), i32> {
        let (folder, path) = (self.0.descriptor(), ProcPath::of(file));
        let path = path.as_c_str().as_ptr();
        let flags = libc::AT_SYMLINK_FOLLOW;
        // SAFETY: both names end with a NUL.
        retry(|| unsafe { libc::linkat(libc::AT_FDCWD, path, folder, name.as_ptr(), flags) }).map(|_| ())
    }

    /// There are no files without names.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn unnamed(&self, _: bool) -> Result<RawFile, i32> {
        Err(code::UNSUPPORTED)
    }

    /// There are no files without names.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn unnamed_for_ever(&self) -> Result<RawFile, i32> {
        Err(code::UNSUPPORTED)
    }

    /// There are no files without names.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn link(&self, _: &RawFile, _: &Name) -> Result<(), i32> {
        Err(code::UNSUPPORTED)
    }

    /// The status of a file in this folder, or of the file that a symbolic link there leads to.
    pub fn status_of(&self, name: &Name, follow: bool) -> Result<FileStatus, i32> {
        let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        // SAFETY: all-zero bytes are a valid `stat`, and fstatat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: `name` ends with a NUL and `stat` is writable.
        retry(|| unsafe { libc::fstatat(self.0.descriptor(), name.as_ptr(), &mut stat, flags) })?;
        Ok(FileStatus(stat))
    }

    /// Gives `file` the owner, the group and the permissions of another file, as far as that is allowed.
    pub fn hand_on_rights(&self, _: &Name, status: &FileStatus, file: &RawFile) {
        file.take_after(status);
    }

    /// Renames the file `from` of this folder to `to`, whatever was there before.
    pub fn rename(&self, _: &RawFile, from: &Name, to: &Name) -> Result<(), i32> {
        let folder = self.0.descriptor();
        // SAFETY: both names end with a NUL.
        retry(|| unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) }).map(|_| ())
    }

    /// Removes a file of this folder, if it is there.
    pub fn remove(&self, name: &Name) {
        // SAFETY: `name` ends with a NUL.
        unsafe { libc::unlinkat(self.0.descriptor(), name.as_ptr(), 0) };
    }

    /// Waits until the folder's entries are on the disk.
    pub fn sync(&self) -> Result<(), i32> {
        match self.0.sync() {
            // Some file systems cannot sync a folder and need not; a folder that is not open for reading cannot be
            // synced.
            Err(libc::EINVAL | libc::EBADF) | Ok(()) => Ok(()),
            Err(code) => Err(code),
        }
    }
}

fn mode(private: bool) -> libc::c_uint {
    if private { 0o600 } else { 0o666 }
}
