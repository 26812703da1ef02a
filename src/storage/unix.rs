//! The system calls. Errors are `errno` numbers; nothing here allocates but [`PathBytes`].

use super::try_vec;
use crate::error::{Result, error};
use core::ffi::CStr;
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

/// A path as the system calls take it.
pub struct PathBytes(Vec<u8>);

impl PathBytes {
    /// A copy of `path`.
    pub fn new(path: &Path) -> Result<PathBytes> {
        PathBytes::of_bytes(path.as_os_str().as_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Result<PathBytes> {
        if bytes.contains(&0) {
            return Err(error!(OutOfRange, "the path has a NUL byte in it"));
        }
        let mut copy = try_vec(bytes.len() + 1)?;
        copy.extend_from_slice(bytes);
        copy.push(0);
        Ok(PathBytes(copy))
    }

    pub(super) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }

    /// The folder of the file, and the file's name in it; the name is empty where the path ends with a slash.
    pub fn split(&self) -> Result<(PathBytes, PathBytes)> {
        let path = &self.0[..self.0.len() - 1];
        let (folder, name): (&[u8], &[u8]) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(0) => (b"/", &path[1..]),
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (b".", path),
        };
        Ok((PathBytes::of_bytes(folder)?, PathBytes::of_bytes(name)?))
    }

    /// Whether it is the name of a folder whatever is there.
    pub fn is_of_folder(&self) -> bool {
        matches!(self.as_c_str().to_bytes(), b"" | b"." | b"..")
    }
}

/// What the system knows of a file.
pub struct FileStatus(libc::stat);

impl FileStatus {
    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.0.st_size as u64
    }

    /// Its device and inode, which no two files share.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub fn identity(&self) -> (u64, u64) {
        (self.0.st_dev as u64, self.0.st_ino as u64)
    }

    /// Whether it still has a name in some folder.
    pub fn has_name(&self) -> bool {
        self.0.st_nlink > 0
    }

    /// Whether it has at least as many blocks as its length needs: then on tmpfs, which counts them exactly, it has no
    /// holes.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn is_dense(&self) -> bool {
        self.0.st_blocks as u64 >= self.length().div_ceil(512)
    }

    /// Whether it is a plain file and not a folder, a device or a pipe.
    pub fn is_regular(&self) -> bool {
        self.0.st_mode & libc::S_IFMT == libc::S_IFREG
    }
}

/// The bytes for which room is asked at once.
#[cfg(any(target_os = "linux", target_os = "android"))]
const RESERVED_AT_ONCE: u64 = 64 << 20;

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
        let folder = self.0.as_raw_fd();
        // SAFETY: `name` ends with a NUL; the descriptor is new and owned from here on.
        let fd = retry(|| unsafe { libc::openat(folder, name.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
        // SAFETY: as above.
        Ok(RawFile(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// What the system knows of a file in this folder, or of the file that a symbolic link there leads to.
    pub fn status_in(&self, name: &CStr, follow: bool) -> core::result::Result<FileStatus, i32> {
        let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        // SAFETY: all-zero bytes are a valid `stat`, and fstatat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: `name` ends with a NUL and `stat` is writable.
        retry(|| unsafe { libc::fstatat(self.0.as_raw_fd(), name.as_ptr(), &mut stat, flags) })?;
        Ok(FileStatus(stat))
    }

    /// Puts the file `from` of this folder in the place of `to`, whatever was there before.
    pub fn rename_in(&self, from: &CStr, to: &CStr) -> core::result::Result<(), i32> {
        let folder = self.0.as_raw_fd();
        // SAFETY: both names end with a NUL.
        retry(|| unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) }).map(|_| ())
    }

    /// Gives the file at `path`, which may be a link of /proc to one without a name, a name in this folder.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn link_in(&self, path: &ProcPath, name: &CStr) -> core::result::Result<(), i32> {
        let (folder, path) = (self.0.as_raw_fd(), path.as_c_str().as_ptr());
        let flags = libc::AT_SYMLINK_FOLLOW;
        // SAFETY: both names end with a NUL.
        retry(|| unsafe { libc::linkat(libc::AT_FDCWD, path, folder, name.as_ptr(), flags) }).map(|_| ())
    }

    /// Removes a file of this folder, if it is there.
    pub fn remove_in(&self, name: &CStr) {
        // SAFETY: `name` ends with a NUL.
        unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) };
    }

    /// Another descriptor of the same open file.
    pub fn duplicate(&self) -> core::result::Result<RawFile, i32> {
        duplicate(self.0.as_raw_fd())
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
        if cfg!(target_os = "linux")
            && writable
            && let Ok(file) = RawFile::open_with(ProcPath::new(fd).as_c_str(), libc::O_RDWR, 0)
        {
            return Ok(file);
        }
        duplicate(fd)
    }

    /// What the system knows of it.
    pub fn status(&self) -> core::result::Result<FileStatus, i32> {
        // SAFETY: all-zero bytes are a valid `stat`, and fstat fills it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: the descriptor is open and `stat` is writable.
        retry(|| unsafe { libc::fstat(self.0.as_raw_fd(), &mut stat) })?;
        Ok(FileStatus(stat))
    }

    /// Gives it the owner, the group and the permissions of another file, as far as that is allowed. Who may not give
    /// it to that group gives the group that it has no more than everybody.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub fn take_after(&self, other: &FileStatus) {
        let Ok(FileStatus(own)) = self.status() else { return };
        let (fd, libc::stat { st_uid, st_gid, st_mode, .. }) = (self.0.as_raw_fd(), other.0);
        const SAME: libc::uid_t = libc::uid_t::MAX;
        let mut mode = st_mode & 0o777;
        // SAFETY: the descriptor is open, here and below.
        if (own.st_uid, own.st_gid) != (st_uid, st_gid) && unsafe { libc::fchown(fd, st_uid, st_gid) } != 0 {
            // SAFETY: as above.
            if own.st_gid != st_gid && unsafe { libc::fchown(fd, SAME, st_gid) } != 0 {
                mode &= 0o707 | (mode & 0o007) << 3;
            }
        }
        // SAFETY: as above.
        unsafe { libc::fchmod(fd, mode) };
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

    /// Has the system keep room on the disk for a part of the file, so that writing to it through a mapping cannot find
    /// the disk full. File systems that cannot do that are left as they are. Takes microseconds where the blocks are
    /// there already.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn reserve(&self, offset: u64, length: u64) -> core::result::Result<(), i32> {
        if self.is_in_memory() && self.status()?.is_dense() {
            // There it would look at every page.
            return Ok(());
        }
        let end = offset.saturating_add(length);
        let mut start = offset;
        while start < end {
            // Piece by piece, because a call that a signal interrupts may begin again.
            let piece = (end - start).min(RESERVED_AT_ONCE);
            let (Ok(at), Ok(count)) = (libc::off_t::try_from(start), libc::off_t::try_from(piece)) else {
                return Err(libc::EOVERFLOW);
            };
            let keep_size = libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: the descriptor is open.
            match retry(|| unsafe { libc::fallocate(self.0.as_raw_fd(), keep_size, at, count) }) {
                Err(code @ (libc::ENOSPC | libc::EDQUOT | libc::EFBIG)) => return Err(code),
                // It cannot do that.
                Err(_) => return Ok(()),
                Ok(_) => start += piece,
            }
        }
        Ok(())
    }

    /// This system has no call for that.
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
        let known = retry(|| unsafe { libc::fstatfs(self.0.as_raw_fd(), &mut system) });
        known.is_ok() && system.f_type as u64 == libc::TMPFS_MAGIC as u64
    }

    /// Waits until everything written is on the disk.
    pub fn sync(&self) -> core::result::Result<(), i32> {
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::fsync(self.0.as_raw_fd()) }).map(|_| ())
    }

    /// Takes a lock on the whole file that is none of those on ranges; false if somebody else has it. It goes with the
    /// last descriptor of this open file.
    pub fn lock_whole(&self) -> core::result::Result<bool, i32> {
        // SAFETY: the descriptor is open.
        match retry(|| unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
            Ok(_) => Ok(true),
            Err(libc::EWOULDBLOCK) => Ok(false),
            Err(code) => Err(code),
        }
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

    /// Takes the writer's lock on a range as soon as those who have it let go of it or end. Where locks are on whole
    /// files it does nothing: whoever shares a file there has it alone.
    pub fn wait_for_lock(&self, offset: u64, length: u64) -> core::result::Result<(), i32> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return self.lock_command(libc::F_OFD_SETLKW, libc::F_WRLCK as _, offset, length);
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        return Ok(());
    }

    /// Releases a part of what is locked. Where locks are on whole files it does nothing.
    pub fn release_lock(&self, offset: u64, length: u64) {
        if cfg!(any(target_os = "linux", target_os = "android")) {
            self.unlock(offset, length);
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
        self.lock_command(libc::F_OFD_SETLK, kind, offset, length)
    }

    /// One of the commands that take such a lock.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn lock_command(
        &self,
        command: libc::c_int,
        kind: libc::c_short,
        offset: u64,
        length: u64,
    ) -> core::result::Result<(), i32> {
        // SAFETY: all-zero bytes are a valid `flock`.
        let mut lock: libc::flock = unsafe { core::mem::zeroed() };
        lock.l_type = kind;
        lock.l_whence = libc::SEEK_SET as _;
        lock.l_start = offset as _;
        lock.l_len = length as _;
        // SAFETY: the descriptor is open and `lock` is a valid `flock`.
        retry(|| unsafe { libc::fcntl(self.0.as_raw_fd(), command, &lock) }).map(|_| ())
    }

    /// Where there are no such locks, a lock on the whole file.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn set_lock(&self, kind: libc::c_short, _: u64, _: u64) -> core::result::Result<(), i32> {
        let operation = if kind == libc::F_UNLCK as libc::c_short { libc::LOCK_UN } else { libc::LOCK_EX };
        // SAFETY: the descriptor is open.
        retry(|| unsafe { libc::flock(self.0.as_raw_fd(), operation | libc::LOCK_NB) }).map(|_| ())
    }
}

/// A new descriptor of an open file.
fn duplicate(fd: RawFd) -> core::result::Result<RawFile, i32> {
    // SAFETY: fcntl takes any descriptor number; the copy is new and owned.
    let copy = retry(|| unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) })?;
    // SAFETY: as above.
    Ok(RawFile(unsafe { OwnedFd::from_raw_fd(copy) }))
}

/// The path under which Linux shows a descriptor of this process.
pub struct ProcPath([u8; 32]);

impl ProcPath {
    fn new(fd: RawFd) -> ProcPath {
        let mut path = [0; 32];
        // Ten digits leave a NUL at the end.
        let _ = std::io::Write::write_fmt(&mut &mut path[..31], format_args!("/proc/self/fd/{fd}"));
        ProcPath(path)
    }

    /// The path of an open file.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn of(file: &RawFile) -> ProcPath {
        ProcPath::new(file.0.as_raw_fd())
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }

    /// Whether it is there: /proc need not be.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn exists(&self) -> bool {
        // SAFETY: the path ends with a NUL.
        unsafe { libc::access(self.as_c_str().as_ptr(), libc::F_OK) == 0 }
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

/// A page of zeros for ever that is all zeros again in a child process, however that was made; `None` where the system
/// has no such pages.
pub fn wiped_in_children() -> Option<NonNull<u8>> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let page = page_size();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the system's choice touches no memory that exists.
        let base = unsafe { libc::mmap(null_mut(), page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let base = NonNull::new(base.cast::<u8>()).filter(|_| base != libc::MAP_FAILED)?;
        // SAFETY: the page was just mapped.
        if unsafe { libc::madvise(base.as_ptr().cast(), page, libc::MADV_WIPEONFORK) } == 0 {
            return Some(base);
        }
        // SAFETY: as above, and nothing refers to it.
        unsafe { unmap(base, page) };
    }
    None
}

/// Has the C library's `fork` call `function` in every child.
pub fn call_in_children(function: extern "C" fn()) {
    unsafe extern "C" {
        // POSIX; the crate libc has it for some systems only.
        fn pthread_atfork(
            before: Option<extern "C" fn()>,
            in_parent: Option<extern "C" fn()>,
            in_child: Option<extern "C" fn()>,
        ) -> i32;
    }
    // SAFETY: declared as POSIX does; `function` may be called at any time. A failure is a lack of memory.
    unsafe { pthread_atfork(None, None, Some(function)) };
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
    #[cfg(test)]
    if tests::fails() {
        return Err(libc::EIO);
    }
    // SAFETY: as above.
    retry(|| unsafe { libc::msync(base.as_ptr().cast(), length, libc::MS_SYNC) }).map(|_| ())
}

#[cfg(test)]
pub(crate) mod tests {
    std::thread_local! {
        /// How many flushes of this thread still succeed; `None` is all.
        pub static FLUSHES_LEFT: core::cell::Cell<Option<u32>> = const { core::cell::Cell::new(None) };
    }

    pub(super) fn fails() -> bool {
        FLUSHES_LEFT.with(|left| {
            let now = left.get();
            left.set(now.map(|left| left.saturating_sub(1)));
            now == Some(0)
        })
    }
}
