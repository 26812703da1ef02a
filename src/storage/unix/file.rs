//! Files: opening them, their status, reading and writing.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::ProcPath;
use super::{PathBytes, retry};
use core::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The status of a file.
pub struct FileStatus(pub(super) libc::stat);

impl FileStatus {
    /// The length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.0.st_size as u64
    }

    /// The file's device and inode, which no two files share.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub fn identity(&self) -> (u64, u64) {
        (self.0.st_dev as u64, self.0.st_ino as u64)
    }

    /// Whether the file still has a name in some folder.
    pub fn has_name(&self) -> bool {
        self.0.st_nlink > 0
    }

    /// Whether the file has at least as many blocks as its length needs. On tmpfs, which counts them exactly, it then
    /// has no holes.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn is_dense(&self) -> bool {
        self.0.st_blocks as u64 >= self.length().div_ceil(512)
    }

    /// Whether the file is a plain file and not a folder, a device or a pipe.
    pub fn is_regular(&self) -> bool {
        self.0.st_mode & libc::S_IFMT == libc::S_IFREG
    }
}

/// How many bytes one call asks room for.
#[cfg(any(target_os = "linux", target_os = "android"))]
const RESERVED_AT_ONCE: u64 = 64 << 20;

/// An open file, closed when dropped.
pub struct RawFile(OwnedFd);

impl RawFile {
    /// The file's descriptor, which is open for as long as this lives.
    pub(super) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// The file of a descriptor, which is closed with it.
    ///
    /// # Safety
    /// The descriptor is open, and nothing else closes it.
    pub(super) unsafe fn owning(fd: RawFd) -> RawFile {
        // SAFETY: the caller promises that the descriptor is open, and nothing else closes it.
        RawFile(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    pub(super) fn open_with(path: &CStr, flags: i32, mode: libc::c_uint) -> core::result::Result<RawFile, i32> {
        // SAFETY: `path` ends with a NUL; the descriptor is new and owned from here on.
        let fd = retry(|| unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
        // SAFETY: the descriptor is new, and nobody else has it.
        Ok(unsafe { RawFile::owning(fd) })
    }

    /// Opens an existing file.
    pub fn open(path: &PathBytes, writable: bool) -> core::result::Result<RawFile, i32> {
        let access = if writable { libc::O_RDWR } else { libc::O_RDONLY };
        // Opening a pipe must not wait for its other end; a pipe is refused later.
        RawFile::open_with(path.as_name(), access | libc::O_NONBLOCK, 0)
    }

    /// Another descriptor of the same open file.
    pub fn duplicate(&self) -> core::result::Result<RawFile, i32> {
        duplicate(self.descriptor())
    }

    /// A separate handle for a caller's descriptor.
    ///
    /// Locks belong to an open file description, so a writer asks for a new one if the system can make it; otherwise
    /// two handles made from one descriptor do not see each other's lock.
    pub fn from_descriptor(fd: RawFd, writable: bool) -> core::result::Result<RawFile, i32> {
        // SAFETY: fcntl takes any descriptor number.
        let flags = retry(|| unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
        if writable && flags & libc::O_ACCMODE != libc::O_RDWR {
            return Err(libc::EACCES);
        }
        #[cfg(target_os = "linux")]
        if writable && let Ok(file) = RawFile::open_with(ProcPath::new(fd).as_c_str(), libc::O_RDWR, 0) {
            return Ok(file);
        }
        duplicate(fd)
    }

    /// The status of the file.
    pub fn status(&self) -> core::result::Result<FileStatus, i32> {
        // SAFETY: all-zero bytes are a valid `stat`, and fstat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: the descriptor is open and `stat` is writable.
        retry(|| unsafe { libc::fstat(self.descriptor(), &mut stat) })?;
        Ok(FileStatus(stat))
    }

    /// Gives the file the owner, the group and the permissions of another file, as far as that is allowed. If the file
    /// may not be given to that group, its group gets no more permissions than everybody.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub fn take_after(&self, other: &FileStatus) {
        let Ok(FileStatus(own)) = self.status() else { return };
        let (fd, libc::stat { st_uid, st_gid, st_mode, .. }) = (self.descriptor(), other.0);
        const SAME: libc::uid_t = libc::uid_t::MAX;
        let mut mode = st_mode & 0o777;
        // SAFETY: the descriptor is open.
        if (own.st_uid, own.st_gid) != (st_uid, st_gid) && unsafe { libc::fchown(fd, st_uid, st_gid) } != 0 {
            // SAFETY: the descriptor is open.
            if own.st_gid != st_gid && unsafe { libc::fchown(fd, SAME, st_gid) } != 0 {
                mode &= 0o707 | (mode & 0o007) << 3;
            }
        }
        // SAFETY: the descriptor is open.
        unsafe { libc::fchmod(fd, mode) };
    }

    /// Reads from `offset` until `bytes` is full or the file ends; returns how many bytes were read.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> core::result::Result<usize, i32> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &mut bytes[done..];
            let at = libc::off_t::try_from(offset + done as u64).map_err(|_| libc::EOVERFLOW)?;
            // SAFETY: `rest` is writable for its length.
            match retry(|| unsafe { libc::pread(self.descriptor(), rest.as_mut_ptr().cast(), rest.len(), at) })? {
                0 => break,
                count => done += count as usize,
            }
        }
        Ok(done)
    }

    /// Writes all of `bytes` at `offset`. What the process may not write because of its limit on the size of files
    /// (RLIMIT_FSIZE) is not even tried: the system would answer with the signal SIGXFSZ, which ends a process.
    pub fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> core::result::Result<(), i32> {
        if offset.saturating_add(bytes.len() as u64) > file_size_limit() {
            return Err(libc::EFBIG);
        }
        while !bytes.is_empty() {
            let at = libc::off_t::try_from(offset).map_err(|_| libc::EOVERFLOW)?;
            // SAFETY: `bytes` is readable for its length.
            match retry(|| unsafe { libc::pwrite(self.descriptor(), bytes.as_ptr().cast(), bytes.len(), at) })? {
                0 => return Err(libc::EIO),
                count => {
                    bytes = &bytes[count as usize..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }

    /// Has the system keep room on the disk for a part of the file, so that writing to it through a mapping cannot find
    /// the disk full. File systems that cannot do that are left as they are. Takes microseconds if the blocks are there
    /// already.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn reserve(&self, offset: u64, length: u64) -> core::result::Result<(), i32> {
        if self.is_in_memory() && self.status()?.is_dense() {
            // On tmpfs the call would look at every page.
            return Ok(());
        }
        let end = offset.saturating_add(length);
        let mut start = offset;
        while start < end {
            // This goes piece by piece, because a call that a signal interrupts may start again from the beginning.
            let piece = (end - start).min(RESERVED_AT_ONCE);
            let (Ok(at), Ok(count)) = (libc::off_t::try_from(start), libc::off_t::try_from(piece)) else {
                return Err(libc::EOVERFLOW);
            };
            let keep_size = libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: the descriptor is open.
            match retry(|| unsafe { libc::fallocate(self.descriptor(), keep_size, at, count) }) {
                Err(code @ (libc::ENOSPC | libc::EDQUOT | libc::EFBIG)) => return Err(code),
                // The file system cannot reserve space.
                Err(_) => return Ok(()),
                Ok(_) => start += piece,
            }
        }
        Ok(())
    }

    /// Reserves nothing, because this system has no call for it.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn reserve(&self, _: u64, _: u64) -> core::result::Result<(), i32> {
        Ok(())
    }

    /// Whether the file lives in memory: its file system is tmpfs.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    fn is_in_memory(&self) -> bool {
        // SAFETY: all-zero bytes are a valid `statfs`, and fstatfs fills it.
        let mut system: libc::statfs = unsafe { core::mem::zeroed() };
        // SAFETY: the descriptor is open and `system` is writable.
        let known = retry(|| unsafe { libc::fstatfs(self.descriptor(), &mut system) });
        known.is_ok() && system.f_type as u64 == libc::TMPFS_MAGIC as u64
    }

    /// Waits until everything written is on the disk.
    pub fn sync(&self) -> core::result::Result<(), i32> {
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::fsync(self.descriptor()) }).map(|_| ())
    }
}

/// How long a file may become when this process writes to it.
#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is writable. If the call fails, it stays as it is: without a limit.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur as u64
}

/// A new descriptor of an open file.
fn duplicate(fd: RawFd) -> core::result::Result<RawFile, i32> {
    // SAFETY: fcntl takes any descriptor number; the copy is new and owned.
    let copy = retry(|| unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) })?;
    // SAFETY: the descriptor is new, and nobody else has it.
    Ok(unsafe { RawFile::owning(copy) })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl ProcPath {
    /// The path of an open file.
    pub fn of(file: &RawFile) -> ProcPath {
        ProcPath::new(file.descriptor())
    }
}
