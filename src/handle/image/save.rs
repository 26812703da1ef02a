//! Saves an image to a file in such a way that no reader ever sees half of it.

use super::{Sink, write_at};
use crate::contract::Base;
use crate::error::{Error, Result, error};
use crate::storage::{Folder, PathBytes, RawFile, Shown, Temporary, code};
use std::path::Path;

/// Writes the image to a file at `path` in one step: at every moment the path names the old bytes or the new ones. The
/// bytes go to a file without a name in the same folder, and then onto the disk. Then that file takes the old one's
/// place. Processes that map the old file keep it. The new file gets the owner, the group and the permissions of the
/// old one, as far as that is allowed.
///
/// # Errors
/// [`Status::MappedPath`](crate::Status::MappedPath) if `base` lies in that very file, and the system's errors. The
/// path then stays as it was.
pub fn save(base: &Base, path: &Path) -> Result<()> {
    let write = |file: &RawFile, failed: &dyn Fn(i32) -> Error| {
        write_at(base, &mut |offset, bytes| file.write_all_at(bytes, offset).map_err(failed))
    };
    replace(Some(base), path, write, || Ok(()))
}

/// Writes what `write` gives to its sink to a file at `path`, in the same way. `base` is the filter that is written.
///
/// # Errors
/// The errors of [`save`] and of `write`.
pub fn save_as(base: &Base, path: &Path, write: impl FnOnce(&mut Sink) -> Result<()>) -> Result<()> {
    replace(Some(base), path, |file, failed| write_in_order(file, failed, write), || Ok(()))
}

/// Writes bytes that are not an image to a file at `path`, in the same way. `write` gives the bytes to its sink. When
/// they are on the disk, `may_place` decides whether the new file takes the old one's place.
///
/// # Errors
/// The errors of [`save`], of `write` and of `may_place`. The path then stays as it was.
pub fn save_bytes(
    path: &Path,
    write: impl FnOnce(&mut Sink) -> Result<()>,
    may_place: impl FnOnce() -> Result<()>,
) -> Result<()> {
    replace(None, path, |file, failed| write_in_order(file, failed, write), may_place)
}

/// Writes what `write` gives to its sink, from the start of the file on.
fn write_in_order(
    file: &RawFile,
    failed: &dyn Fn(i32) -> Error,
    write: impl FnOnce(&mut Sink) -> Result<()>,
) -> Result<()> {
    let mut offset = 0;
    write(&mut |bytes| {
        file.write_all_at(bytes, offset).map_err(failed)?;
        offset += bytes.len() as u64;
        Ok(())
    })
}

/// Replaces the file at `path` by one that `write` writes, in pieces, once `may_place` allows it. `base` is the image
/// that is written, if it is one.
fn replace(
    base: Option<&Base>,
    path: &Path,
    write: impl FnOnce(&RawFile, &dyn Fn(i32) -> Error) -> Result<()>,
    may_place: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let failed = |code| Error::from_os(code, format_args!("saving to {}", Shown(path)));
    let (parent, name) = PathBytes::new(path)?.split()?;
    let no_folder = |code| Error::of_folder(code, format_args!("saving to {}", Shown(path)));
    let folder = Folder::open(&parent).map_err(no_folder)?;
    if path.as_os_str().is_empty() {
        return Err(failed(code::NOT_FOUND));
    }
    if name.is_of_folder() {
        return Err(error!(Unsupported, "{} is a folder and not a regular file", Shown(path)));
    }
    let existing = folder.status(&name).ok();
    if let Some(existing) = &existing {
        let mapped = base.and_then(|base| base.words().image()).and_then(|image| image.file());
        // A symbolic link to the file is a separate file, and the new file replaces the link.
        let named = folder.status_of_name(&name).map_err(failed)?;
        if mapped.is_some_and(|mapped| mapped.identity() == named.identity()) {
            return Err(error!(MappedPath, "{} is the file that the filter maps; use sync", Shown(path)));
        }
        // A rename would put a file in the place of a device, so only regular files are replaced.
        if !existing.is_regular() {
            return Err(error!(Unsupported, "{} is not a regular file", Shown(path)));
        }
    }
    let temporary = Temporary::new(&folder, existing.is_some()).map_err(failed)?;
    let file = temporary.file();
    if let Some(existing) = &existing {
        folder.hand_on_rights(&name, existing, file);
    }
    write(file, &failed)?;
    file.sync().map_err(failed)?;
    may_place()?;
    temporary.place(&name).map_err(failed)?;
    folder.sync().map_err(failed)
}
