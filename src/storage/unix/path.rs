//! Paths as the system calls take them.

use crate::error::{Result, error};
use crate::storage::try_vec;
use core::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The name of a file, or a path.
pub type Name = CStr;

/// The units that names are made of.
pub type Unit = u8;

/// The name that ends with the first NUL.
pub fn name_before_nul(units: &[Unit]) -> &Name {
    CStr::from_bytes_until_nul(units).unwrap_or_default()
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

    pub(in crate::storage) fn as_name(&self) -> &Name {
        name_before_nul(&self.0)
    }

    /// The folder of the file, and the file's name in it; the name is empty if the path ends with a slash.
    pub fn split(&self) -> Result<(PathBytes, PathBytes)> {
        let path = &self.0[..self.0.len() - 1];
        let (folder, name): (&[u8], &[u8]) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(0) => (b"/", &path[1..]),
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (b".", path),
        };
        Ok((PathBytes::of_bytes(folder)?, PathBytes::of_bytes(name)?))
    }

    /// Whether the path names a folder, whatever the file system holds.
    pub fn is_of_folder(&self) -> bool {
        matches!(self.as_name().to_bytes(), b"" | b"." | b"..")
    }
}

/// The path under which Linux shows a descriptor of this process.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub struct ProcPath([u8; 32]);

#[cfg(any(target_os = "linux", target_os = "android"))]
impl ProcPath {
    pub(super) fn new(fd: std::os::fd::RawFd) -> ProcPath {
        let mut path = [0; 32];
        // Ten digits leave a NUL at the end.
        let _ = std::io::Write::write_fmt(&mut &mut path[..31], format_args!("/proc/self/fd/{fd}"));
        ProcPath(path)
    }

    pub(super) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }

    /// Whether the path exists: /proc need not be mounted.
    pub fn exists(&self) -> bool {
        // SAFETY: the path ends with a NUL.
        unsafe { libc::access(self.as_c_str().as_ptr(), libc::F_OK) == 0 }
    }
}
