//! The file of keys, which is replaced in one step by one that has more keys.

use crate::failure::{Failure, Outcome};
use crate::file_name::shown;
use crate::source::{identity_at, identity_of};
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// The next content of a file: the present one, and the keys that are added.
pub struct Growing {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    /// The file as it was when it was copied.
    before: Seen,
    /// What ends a key.
    end: &'static [u8],
    added: u64,
}

impl Growing {
    /// Begins with a copy of the file at a path. A symbolic link is followed, so that the link stays.
    pub fn of(path: &Path, end: &'static [u8]) -> Outcome<Growing> {
        let failed = |error: io::Error| Failure::io(shown(path), &error);
        let path = path.canonicalize().map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut from = File::open(&path).map_err(failed)?;
        let before = seen(identity_of(&from), &from.metadata().map_err(failed)?);
        let separator = end[end.len() - 1];
        let mut file = tempfile::Builder::new().prefix(".petal-sync-").tempfile_in(folder).map_err(failed)?;
        let length = io::copy(&mut from, &mut file).map_err(failed)?;
        let mut last = [separator];
        if length > 0 {
            from.seek(SeekFrom::Start(length - 1)).and_then(|_| from.read_exact(&mut last)).map_err(failed)?;
        }
        if last != [separator] {
            file.write_all(end).map_err(failed)?;
        }
        Ok(Growing { path, file: BufWriter::with_capacity(1 << 16, file), before, end, added: 0 })
    }

    /// Adds a key.
    pub fn add(&mut self, key: &[u8]) -> Outcome<()> {
        let written = self.file.write_all(key).and_then(|()| self.file.write_all(self.end));
        self.added += 1;
        written.map_err(|error| Failure::io(shown(&self.path), &error))
    }

    /// Replaces the file, unless nothing was added. The new file has the owner and the permissions of the old one. A
    /// file that changed meanwhile stays as it is, because the copy lacks what is new.
    pub fn replace(self) -> Outcome<()> {
        if self.added == 0 {
            return Ok(());
        }
        let failed = |error: &io::Error| Failure::io(shown(&self.path), error);
        let file = self.file.into_inner().map_err(|error| failed(error.error()))?;
        let now = self.path.metadata().map_err(|error| failed(&error))?;
        if seen(identity_at(&self.path), &now) != self.before {
            return Err(Failure::new(format_args!(
                "{}: changed while it was compared, and stays as it is: run the command again",
                shown(&self.path)
            )));
        }
        let written = take_after(file.as_file(), &now).and_then(|()| file.as_file().sync_all());
        written.map_err(|error| failed(&error))?;
        file.persist(&self.path).map_err(|error| failed(&error.error))?;
        // The name is on the disk once the folder is. Windows has no such call for folders.
        #[cfg(unix)]
        {
            let folder = self.path.parent().unwrap_or(Path::new("/"));
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}

/// What shows that a file is another one, or has changed.
type Seen = (Option<(u64, u64)>, u64, Option<SystemTime>);

fn seen(identity: Option<(u64, u64)>, metadata: &Metadata) -> Seen {
    (identity, metadata.len(), metadata.modified().ok())
}

/// Gives a new file the owner, the group and the permissions of the old one. If the group cannot be given, the new
/// file's group may do no more than all others.
#[cfg(unix)]
fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (own, mut mode) = (file.metadata()?, old.mode() & 0o777);
    let is_same = (own.uid(), own.gid()) == (old.uid(), old.gid());
    let is_given = is_same
        || fchown(file, Some(old.uid()), Some(old.gid())).is_ok()
        || own.gid() == old.gid()
        || fchown(file, None, Some(old.gid())).is_ok();
    if !is_given {
        mode = mode & 0o707 | (mode & 0o007) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Gives a new file the permissions of the old one.
#[cfg(not(unix))]
fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
