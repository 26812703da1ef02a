//! Files that are given by their names or by those of folders, and read into one output.

use crate::failure::{Failure, Outcome};
use crate::file_name::{is_standard, shown};
use crate::source::identity_at;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// All files, and the regular files inside folders, in the order of names. Symbolic links inside folders are not
/// followed.
pub(crate) fn files_of(paths: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    paths.iter().try_for_each(|path| gather(path, &mut files))?;
    Ok(files)
}

/// Adds a file, or all regular files of a folder in the order of their names.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let failed = |error: std::io::Error| Failure::io(shown(path), &error);
    if is_standard(path) || !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut entries: Vec<_> = std::fs::read_dir(path).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            gather(&inside(path, &entry.file_name()), files)?;
        } else if kind.is_file() {
            files.push(inside(path, &entry.file_name()));
        }
    }
    Ok(())
}

/// A file of a folder. Names that go into images have a slash on every system, which Windows takes too.
fn inside(folder: &Path, name: &OsStr) -> PathBuf {
    if cfg!(unix) || folder.as_os_str().as_encoded_bytes().ends_with(b"\\") {
        return folder.join(name);
    }
    let mut path = folder.as_os_str().to_owned();
    if !path.as_encoded_bytes().ends_with(b"/") {
        path.push("/");
    }
    path.push(name);
    path.into()
}

/// The bytes of all files, if all are known. Refuses to overwrite one of them.
pub(crate) fn bytes_of(files: &[PathBuf], destination: &Path) -> Outcome<Option<u64>> {
    let written = identity_at(destination);
    let mut total = Some(0_u64);
    for path in files {
        if is_standard(path) {
            total = None;
            continue;
        }
        let metadata = path.metadata().map_err(|error| Failure::io(shown(path), &error))?;
        if !is_standard(destination) && written.is_some() && identity_at(path) == written {
            return Err(Failure::new(format_args!("-o {}: is one of the FILES too", shown(destination))));
        }
        total = total.filter(|_| metadata.is_file()).map(|total| total.saturating_add(metadata.len()));
    }
    Ok(total)
}
