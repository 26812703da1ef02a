//! The system calls. Errors are `errno` numbers; nothing here allocates but [`PathBytes`].

use super::try_vec;
use crate::error::{Error, Result, error};
use core::ffi::CStr;
use core::fmt;
use core::ptr::{NonNull, null_mut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Repeats a call that a signal interrupted, and turns -1 into `errno`.
fn retry<T: PartialEq + From<i8>>(mut call: impl FnMut() -> T) -> core::result::Result<T, i32> {
    loop {
        let result = call();
        if result != T::from(-1) {
            return Ok(result);
        }
        let code = errno();
        if code != libc::EINTR {
            return Err(code);
        }
    }
}

/// A path as the system calls take it, with room for another file name in the same folder.
pub struct PathBytes(Vec<u8>);

impl PathBytes {
    /// The longest suffix that [`PathBytes::temporary`] adds.
    const SUFFIX: usize = 48;

    /// A copy of `path`.
    pub fn new(path: &Path) -> Result<PathBytes> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.contains(&0) {
            return Err(error!(OutOfRange, "the path has a NUL byte in it"));
        }
        let mut copy = try_vec(bytes.len() + 1)?;
        copy.extend_from_slice(bytes);
        copy.push(0);
        Ok(PathBytes(copy))
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }

    /// The folder of the file.
    pub fn folder(&self) -> Result<PathBytes> {
        let path = &self.0[..self.0.len() - 1];
        let folder: &[u8] = match path.iter().rposition(|byte| *byte == b'/') {
            Some(0) => b"/",
            Some(slash) => &path[..slash],
            None => b".",
        };
        PathBytes::new(Path::new(std::ffi::OsStr::from_bytes(folder)))
    }

    /// A file name in the folder that this path is, which no other call of this process gets.
    pub fn temporary(&self) -> Result<PathBytes> {
        use core::sync::atomic::{AtomicU32, Ordering};
        use std::io::Write;
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let mut path: Vec<u8> = try_vec(self.0.len() + PathBytes::SUFFIX)?;
        path.extend_from_slice(&self.0[..self.0.len() - 1]);
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        // Two numbers of at most ten digits fit into the room that was made.
        let _ = write!(path, "/.petal-{}-{call}.tmp\0", std::process::id());
        Ok(PathBytes(path))
    }
}

impl fmt::Display for PathBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Path::new(std::ffi::OsStr::from_bytes(&self.0[..self.0.len() - 1])).display())
    }
}

/// What the system knows of a file.
pub struct FileStatus(libc::stat);

impl FileStatus {
    /// The file at `path`, or behind the symbolic link there.
    pub fn of(path: &PathBytes) -> core::result::Result<FileStatus, i32> {
        // SAFETY: all-zero bytes are a valid `stat`, and stat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: the path ends with a NUL and `stat` is writable.
        retry(|| unsafe { libc::stat(path.as_c_str().as_ptr(), &mut stat) })?;
        Ok(FileStatus(stat))
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.0.st_size as u64
    }

    /// Its device and inode, which no two files share.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub fn identity(&self) -> (u64, u64) {
        (self.0.st_dev as u64, self.0.st_ino as u64)
    }

    /// Whether it is a plain file and not a folder, a device or a pipe.
    pub fn is_regular(&self) -> bool {
        self.0.st_mode & libc::S_IFMT == libc::S_IFREG
    }
}

/// An open file, closed when dropped.
pub struct RawFile(OwnedFd);

impl RawFile {
    fn open_with(path: &CStr, flags: i32, mode: libc::c_uint) -> core::result::Result<RawFile, i32> {
        // SAFETY: `path` ends with a NUL; the descriptor is new and owned from here on.
        let fd = retry(|| unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
        // SAFETY: as above.
        Ok(RawFile(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Opens an existing file.
    pub fn open(path: &PathBytes, writable: bool) -> core::result::Result<RawFile, i32> {
        let access = if writable { libc::O_RDWR } else { libc::O_RDONLY };
        // Opening a pipe must not wait for its other end; it is refused for what it is later.
        RawFile::open_with(path.as_c_str(), access | libc::O_NONBLOCK, 0)
    }

    /// Creates a file in a folder under a name that nothing else has, and returns that name. `private` keeps everybody
    /// else from opening it.
    pub fn create_temporary(folder: &PathBytes, private: bool) -> Result<(PathBytes, RawFile)> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        loop {
            let path = folder.temporary()?;
            match RawFile::open_with(path.as_c_str(), flags, if private { 0o600 } else { 0o666 }) {
                Ok(file) => return Ok((path, file)),
                // A file of that name may be left over from a process of the same number that died.
                Err(libc::EEXIST) => continue,
                Err(code) => return Err(Error::from_os(code, format_args!("making a temporary file in {folder}"))),
            }
        }
    }

    /// A handle of its own for a caller's descriptor.
    ///
    /// Locks belong to an open file description, so a writer asks for a new one where the system can make it;
    /// otherwise two handles made from one descriptor do not see each other's lock.
    pub fn from_descriptor(fd: RawFd, writable: bool) -> core::result::Result<RawFile, i32> {
        // SAFETY: fcntl takes any descriptor number.
        let flags = retry(|| unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
        if writable && flags & libc::O_ACCMODE != libc::O_RDWR {
            return Err(libc::EACCES);
        }
        if cfg!(target_os = "linux") && writable {
            let mut path = [0_u8; 32];
            let mut rest = &mut path[..31];
            if std::io::Write::write_fmt(&mut rest, format_args!("/proc/self/fd/{fd}")).is_ok() {
                let path = CStr::from_bytes_until_nul(&path).unwrap_or_default();
                if let Ok(file) = RawFile::open_with(path, libc::O_RDWR, 0) {
                    return Ok(file);
                }
            }
        }
        // SAFETY: fcntl takes any descriptor number; the copy is new and owned.
        let copy = retry(|| unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) })?;
        // SAFETY: as above.
        Ok(RawFile(unsafe { OwnedFd::from_raw_fd(copy) }))
    }

    /// What the system knows of it.
    pub fn status(&self) -> core::result::Result<FileStatus, i32> {
        // SAFETY: all-zero bytes are a valid `stat`, and fstat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: the descriptor is open and `stat` is writable.
        retry(|| unsafe { libc::fstat(self.0.as_raw_fd(), &mut stat) })?;
        Ok(FileStatus(stat))
    }

    /// Gives it the permissions of another file, as far as that is allowed.
    pub fn copy_permissions(&self, other: &FileStatus) {
        // SAFETY: the descriptor is open.
        unsafe { libc::fchmod(self.0.as_raw_fd(), other.0.st_mode & 0o777) };
    }

    /// Reads from `offset` until `bytes` is full or the file ends; returns how many bytes were read.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> core::result::Result<usize, i32> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &mut bytes[done..];
            let at = libc::off_t::try_from(offset + done as u64).map_err(|_| libc::EOVERFLOW)?;
            // SAFETY: `rest` is writable for its length.
            match retry(|| unsafe { libc::pread(self.0.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), at) })? {
                0 => break,
                count => done += count as usize,
            }
        }
        Ok(done)
    }

    /// Writes all of `bytes` at `offset`.
    pub fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> core::result::Result<(), i32> {
        while !bytes.is_empty() {
            let at = libc::off_t::try_from(offset).map_err(|_| libc::EOVERFLOW)?;
            // SAFETY: `bytes` is readable for its length.
            match retry(|| unsafe { libc::pwrite(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), at) })? {
                0 => return Err(libc::EIO),
                count => {
                    bytes = &bytes[count as usize..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }

    /// Waits until everything written is on the disk.
    pub fn sync(&self) -> core::result::Result<(), i32> {
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::fsync(self.0.as_raw_fd()) }).map(|_| ())
    }

    /// Takes the writer's lock on a range; false if somebody else has it.
    pub fn lock(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        match self.set_lock(libc::F_WRLCK as _, offset, length) {
            Ok(()) => Ok(true),
            Err(libc::EAGAIN | libc::EACCES) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Takes the lock of those who share a range, or turns the writer's lock into one; false if there is a writer.
    pub fn lock_shared(&self, offset: u64, length: u64) -> core::result::Result<bool, i32> {
        match self.set_lock(libc::F_RDLCK as _, offset, length) {
            Ok(()) => Ok(true),
            Err(libc::EAGAIN | libc::EACCES) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Releases the lock.
    pub fn unlock(&self, offset: u64, length: u64) {
        // A lock that cannot be released goes with the descriptor.
        let _ = self.set_lock(libc::F_UNLCK as _, offset, length);
    }

    /// Locks of the open file description: unlike POSIX's process-wide ones, another handle of the same process is
    /// kept out, and closing some other descriptor of the file releases nothing.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn set_lock(&self, kind: libc::c_short, offset: u64, length: u64) -> core::result::Result<(), i32> {
        // SAFETY: all-zero bytes are a valid `flock`.
        let mut lock: libc::flock = unsafe { core::mem::zeroed() };
        lock.l_type = kind;
        lock.l_whence = libc::SEEK_SET as _;
        lock.l_start = offset as _;
        lock.l_len = length as _;
        // SAFETY: the descriptor is open and `lock` is a valid `flock`.
        retry(|| unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_OFD_SETLK, &lock) }).map(|_| ())
    }

    /// Where there are no such locks, a lock on the whole file.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn set_lock(&self, kind: libc::c_short, _: u64, _: u64) -> core::result::Result<(), i32> {
        let operation = if kind == libc::F_UNLCK as libc::c_short { libc::LOCK_UN } else { libc::LOCK_EX };
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::flock(self.0.as_raw_fd(), operation | libc::LOCK_NB) }).map(|_| ())
    }
}

/// Puts the file `from` in the place of `to`, whatever was there before.
pub fn rename(from: &PathBytes, to: &PathBytes) -> core::result::Result<(), i32> {
    // SAFETY: both paths end with a NUL.
    retry(|| unsafe { libc::rename(from.as_c_str().as_ptr(), to.as_c_str().as_ptr()) }).map(|_| ())
}

/// Removes a file, if it is there.
pub fn remove(path: &PathBytes) {
    // SAFETY: the path ends with a NUL.
    unsafe { libc::unlink(path.as_c_str().as_ptr()) };
}

/// A folder, opened so that a rename in it can be made to last.
pub struct Folder(Option<RawFile>);

impl Folder {
    /// Opens a folder. One that may be written but not read cannot be synced, and that is no reason not to write.
    pub fn open(path: &PathBytes) -> core::result::Result<Folder, i32> {
        match RawFile::open_with(path.as_c_str(), libc::O_RDONLY | libc::O_DIRECTORY, 0) {
            Ok(folder) => Ok(Folder(Some(folder))),
            Err(libc::EACCES) => Ok(Folder(None)),
            Err(code) => Err(code),
        }
    }

    /// Waits until its entries are on the disk.
    pub fn sync(&self) -> core::result::Result<(), i32> {
        match self.0.as_ref().map_or(Ok(()), RawFile::sync) {
            // Some file systems cannot sync a folder and need not.
            Err(libc::EINVAL | libc::EBADF) | Ok(()) => Ok(()),
            Err(code) => Err(code),
        }
    }
}

/// The size of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes any name.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Maps part of a file, shared; `offset` is a multiple of the page size and `length` is not 0.
pub fn map_file(file: &RawFile, offset: u64, length: usize, writable: bool) -> core::result::Result<NonNull<u8>, i32> {
    let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    let offset = libc::off_t::try_from(offset).map_err(|_| libc::EOVERFLOW)?;
    // SAFETY: a new mapping at an address of the system's choice touches no memory that exists.
    let base = unsafe { libc::mmap(null_mut(), length, protection, libc::MAP_SHARED, file.0.as_raw_fd(), offset) };
    if base == libc::MAP_FAILED {
        return Err(errno());
    }
    NonNull::new(base.cast()).ok_or(libc::ENOMEM)
}

/// The size of the huge pages that large blocks ask for.
const HUGE_PAGE: usize = 2 << 20;

/// `length` zero bytes from the system, on huge pages where the block is large and the system has them.
pub fn map_anonymous(length: usize) -> Option<NonNull<u8>> {
    let huge = length >= 2 * HUGE_PAGE;
    // Enough to start at a huge page wherever the system puts it.
    let room = if huge { length.checked_add(HUGE_PAGE)? } else { length };
    // Without MAP_NORESERVE the system refuses what it could never give.
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the system's choice touches no memory that exists.
    let base = unsafe { libc::mmap(null_mut(), room, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    let base = NonNull::new(base.cast::<u8>())?;
    if !huge {
        return Some(base);
    }
    let page = page_size();
    let lead = base.as_ptr().align_offset(HUGE_PAGE);
    let used = length.next_multiple_of(page);
    // SAFETY: `lead` and the bytes after `used` lie inside the `room` that was just mapped, at page boundaries, and
    // nothing refers to them.
    unsafe {
        let start = base.add(lead);
        if lead > 0 {
            unmap(base, lead);
        }
        if room > lead + used {
            unmap(start.add(used), room - lead - used);
        }
        #[cfg(target_os = "linux")]
        libc::madvise(start.as_ptr().cast(), used, libc::MADV_HUGEPAGE);
        Some(start)
    }
}

/// Gives a mapping back.
///
/// # Safety
/// `base` and `length` are those of a mapping, or of a part of one that starts at a page, to which nothing refers.
pub unsafe fn unmap(base: NonNull<u8>, length: usize) {
    // SAFETY: as above.
    unsafe { libc::munmap(base.as_ptr().cast(), length) };
}

/// Waits until a part of a shared mapping is on the disk.
///
/// # Safety
/// `base` is at a page boundary and `length` bytes from it are mapped.
pub unsafe fn flush(base: NonNull<u8>, length: usize) -> core::result::Result<(), i32> {
    // SAFETY: as above.
    retry(|| unsafe { libc::msync(base.as_ptr().cast(), length, libc::MS_SYNC) }).map(|_| ())
}
