//! The file of keys, which is replaced in one step by one that has more keys.

use crate::failure::{Failure, Outcome};
use crate::file_name::shown;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The next content of a file: the present one, and the keys that are added.
pub struct Growing {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    separator: u8,
    added: u64,
}

impl Growing {
    /// Begins with a copy of the file at a path. A symbolic link is followed, so that the link stays.
    pub fn of(path: &Path, separator: u8) -> Outcome<Growing> {
        let failed = |error: io::Error| Failure::io(shown(path), &error);
        let path = path.canonicalize().map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut from = File::open(&path).map_err(failed)?;
        if !from.metadata().map_err(failed)?.is_file() {
            return Err(Failure::new(format_args!("{}: --exchange needs a file that it can replace", shown(&path))));
        }
        let mut file = tempfile::Builder::new().prefix(".petal-sync-").tempfile_in(folder).map_err(failed)?;
        let length = io::copy(&mut from, &mut file).map_err(failed)?;
        let mut last = [separator];
        if length > 0 {
            from.seek(SeekFrom::Start(length - 1)).and_then(|_| from.read_exact(&mut last)).map_err(failed)?;
        }
        if last != [separator] {
            file.write_all(&[separator]).map_err(failed)?;
        }
        Ok(Growing { path, file: BufWriter::with_capacity(1 << 16, file), separator, added: 0 })
    }

    /// Adds a key.
    pub fn add(&mut self, key: &[u8]) -> Outcome<()> {
        let written = self.file.write_all(key).and_then(|()| self.file.write_all(&[self.separator]));
        self.added += 1;
        written.map_err(|error| Failure::io(shown(&self.path), &error))
    }

    /// Replaces the file, unless nothing was added. The new file has the permissions of the old one.
    pub fn replace(self) -> Outcome<()> {
        if self.added == 0 {
            return Ok(());
        }
        let failed = |error: &io::Error| Failure::io(shown(&self.path), error);
        let file = self.file.into_inner().map_err(|error| failed(error.error()))?;
        let permissions = self.path.metadata().map_err(|error| failed(&error))?.permissions();
        file.as_file()
            .set_permissions(permissions)
            .and_then(|()| file.as_file().sync_all())
            .map_err(|error| failed(&error))?;
        file.persist(&self.path).map_err(|error| failed(&error.error))?;
        // The name is on the disk once the folder is.
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| failed(&error))
    }
}
