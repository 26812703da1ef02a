//! Paths as the system calls take them: UTF-16 that ends with a NUL.

use super::system;
use crate::error::{Result, error};
use crate::storage::try_vec;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

/// The name of a file, or a path, without a NUL.
pub type Name = [u16];

/// The units that names are made of.
pub type Unit = u16;

/// The name that ends with the first NUL.
pub fn name_before_nul(units: &[Unit]) -> &Name {
    let end = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
    &units[..end]
}

/// A path, with a NUL at its end.
pub struct PathBytes(Vec<u16>);

impl PathBytes {
    /// A copy of `path`.
    pub fn new(path: &Path) -> Result<PathBytes> {
        let units = || path.as_os_str().encode_wide();
        if units().any(|unit| unit == 0) {
            return Err(error!(OutOfRange, "the path has a NUL byte in it"));
        }
        let mut copy = try_vec(units().count() + 1)?;
        units().for_each(|unit| copy.push(unit));
        copy.push(0);
        Ok(PathBytes(copy))
    }

    fn of(name: &[u16]) -> Result<PathBytes> {
        let mut copy = try_vec(name.len() + 1)?;
        copy.extend_from_slice(name);
        copy.push(0);
        Ok(PathBytes(copy))
    }

    pub(in crate::storage) fn as_name(&self) -> &Name {
        &self.0[..self.0.len() - 1]
    }

    /// The folder of the file, and the file's name in it; the name is empty if the path ends with a slash.
    pub fn split(&self) -> Result<(PathBytes, PathBytes)> {
        let path = self.as_name();
        let is_slash = |unit: &u16| *unit == u16::from(b'/') || *unit == u16::from(b'\\');
        let has_drive = path.get(1) == Some(&u16::from(b':'));
        let (folder, name) = match path.iter().rposition(is_slash) {
            // A slash that begins a path, alone or after a drive, is the root's.
            Some(slash) if slash == 0 || (slash == 2 && has_drive) => path.split_at(slash + 1),
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            // This is the drive's current folder.
            None if has_drive => path.split_at(2),
            None => (&[u16::from(b'.')][..], path),
        };
        Ok((PathBytes::of(folder)?, PathBytes::of(name)?))
    }

    /// Whether the path names a folder, whatever the file system holds.
    pub fn is_of_folder(&self) -> bool {
        const DOT: u16 = b'.' as u16;
        matches!(self.as_name(), [] | [DOT] | [DOT, DOT])
    }

    /// The path in the form that allows more than 260 characters, if it is long.
    pub(super) fn extended(&self) -> core::result::Result<Vec<u16>, i32> {
        /// From this length on the plain form fails for folders.
        const LONG: usize = 248;
        let (no_memory, prefix) = (|_| system::ERROR_NOT_ENOUGH_MEMORY, r"\\?\".encode_utf16());
        let is_extended = self.0.len() > 3 && self.0.iter().copied().take(4).eq(prefix);
        if is_extended || self.0.len() < LONG {
            let mut copy = try_vec(self.0.len()).map_err(no_memory)?;
            copy.extend_from_slice(&self.0);
            return Ok(copy);
        }
        // SAFETY: the path ends with a NUL, and the call is given no room.
        let room =
            unsafe { system::GetFullPathNameW(self.0.as_ptr(), 0, core::ptr::null_mut(), core::ptr::null_mut()) };
        let mut full = try_vec::<u16>(room as usize).map_err(no_memory)?;
        full.resize(room as usize, 0);
        // SAFETY: the path ends with a NUL, and that many units are there.
        let length = unsafe {
            system::GetFullPathNameW(self.0.as_ptr(), room, full.as_mut_ptr(), core::ptr::null_mut()) as usize
        };
        if length == 0 || length >= full.len() {
            return Err(if length == 0 { super::last_error() } else { system::ERROR_GEN_FAILURE });
        }
        full.truncate(length);
        let slash = u16::from(b'\\');
        let is_share = full.starts_with(&[slash, slash]);
        let mut extended = try_vec(full.len() + 9).map_err(no_memory)?;
        extended.extend(if is_share { r"\\?\UNC\" } else { r"\\?\" }.encode_utf16());
        extended.extend_from_slice(if is_share { &full[2..] } else { &full });
        extended.push(0);
        Ok(extended)
    }

    /// The path of a name in this folder.
    pub(super) fn join(&self, name: &Name) -> core::result::Result<PathBytes, i32> {
        let folder = self.as_name();
        let mut path = try_vec(folder.len() + name.len() + 2).map_err(|_| system::ERROR_NOT_ENOUGH_MEMORY)?;
        path.extend_from_slice(folder);
        // After `C:` a slash would turn the drive's current folder into its root.
        if !matches!(folder.last().and_then(|unit| u8::try_from(*unit).ok()), Some(b'/' | b'\\' | b':')) {
            path.push(u16::from(b'\\'));
        }
        path.extend_from_slice(name);
        path.push(0);
        Ok(PathBytes(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &PathBytes) -> String {
        String::from_utf16(path.as_name()).unwrap()
    }

    #[test]
    fn a_path_is_its_folder_and_its_name() {
        for (path, folder, name) in [
            ("a", ".", "a"),
            (r"a\b", "a", "b"),
            ("a/b", "a", "b"),
            (r"\b", r"\", "b"),
            (r"C:\b", r"C:\", "b"),
            ("C:/b", "C:/", "b"),
            ("C:b", "C:", "b"),
            (r"C:\a\b", r"C:\a", "b"),
            (r"\\server\share\b", r"\\server\share", "b"),
            (r"a\", "a", ""),
        ] {
            let (found, named) = PathBytes::new(Path::new(path)).unwrap().split().unwrap();
            assert_eq!((text(&found).as_str(), text(&named).as_str()), (folder, name), "{path}");
            let joined = text(&found.join(named.as_name()).unwrap());
            assert_eq!(joined.replace('/', r"\").trim_start_matches(r".\"), path.replace('/', r"\"));
        }
    }

    #[test]
    fn long_paths_have_the_form_that_may_be_long() {
        let part = "x".repeat(200);
        let extended = |path: &str| {
            let units = PathBytes::new(Path::new(path)).unwrap().extended().unwrap();
            assert_eq!(units.last(), Some(&0));
            String::from_utf16(&units[..units.len() - 1]).unwrap()
        };
        assert_eq!(extended(r"C:\short"), r"C:\short");
        assert_eq!(extended(&format!(r"C:\{part}/{part}\..\b")), format!(r"\\?\C:\{part}\b"));
        assert_eq!(extended(&format!(r"\\a\b\{part}\{part}")), format!(r"\\?\UNC\a\b\{part}\{part}"));
        let already = format!(r"\\?\C:\{part}\{part}");
        assert_eq!(extended(&already), already);
    }
}
