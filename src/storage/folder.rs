//! Names in an opened folder, and files that have no name yet.
//!
//! A name is relative to its folder, which is opened once. So a path may be as long as the system allows, and whoever
//! moves the folder meanwhile moves the file with it.

use super::os::{FileStatus, Name, PathBytes, RawFile, RawFolder, Unit, code, name_before_nul};

/// A folder, opened so that files can be made in it and a rename in it can be made to last.
pub struct Folder(RawFolder);

impl Folder {
    /// Opens a folder. If it may be written but not read, it cannot be synced, but that is no reason not to write.
    pub fn open(path: &PathBytes) -> Result<Folder, i32> {
        RawFolder::open(path).map(Folder)
    }

    /// The status of a file in the folder, or of what a symbolic link there leads to.
    pub fn status(&self, name: &PathBytes) -> Result<FileStatus, i32> {
        self.0.status_of(name.as_name(), true)
    }

    /// The status of what has this name in the folder, without following a symbolic link.
    pub fn status_of_name(&self, name: &PathBytes) -> Result<FileStatus, i32> {
        self.0.status_of(name.as_name(), false)
    }

    /// Waits until the folder's entries are on the disk.
    pub fn sync(&self) -> Result<(), i32> {
        self.0.sync()
    }

    /// Gives `file` the rights of the file `name` in the folder, as far as that is allowed; `status` is that file's
    /// status.
    pub fn hand_on_rights(&self, name: &PathBytes, status: &FileStatus, file: &RawFile) {
        self.0.hand_on_rights(name.as_name(), status, file);
    }

    /// A new file that never has a name, or only for a moment if the system cannot make such files. It goes away with
    /// its last descriptor. Nobody else can open it. On Windows it keeps its name as long as it exists.
    pub fn new_file(&self) -> Result<RawFile, i32> {
        #[cfg(windows)]
        return self.take_name(|name| self.0.create_fleeting(name)).map(|(_, file)| file);
        #[cfg(unix)]
        self.0.unnamed_for_ever().or_else(|_| {
            self.sweep();
            Temporary::named(self, true)?.file.duplicate()
        })
    }

    /// Removes the temporary files whose makers are dead.
    fn sweep(&self) {
        for number in 0..TEMPORARY_NAMES {
            let name = TemporaryName::new(number);
            match self.0.open_left(name.as_name()) {
                Ok(file) => self.remove_abandoned(&name, &file),
                Err(code::NOT_FOUND) if number >= SWEPT_NAMES => break,
                // The file is somebody else's.
                Err(_) => {}
            }
        }
    }

    /// Removes a temporary file, unless its maker is alive and so holds its lock. Only whoever has the lock renames or
    /// removes the name.
    fn remove_abandoned(&self, name: &TemporaryName, file: &RawFile) {
        let Ok(opened) = file.status() else { return };
        if !opened.is_regular() || !matches!(file.lock_whole(), Ok(true)) {
            return;
        }
        let named = self.0.status_of(name.as_name(), false);
        if named.is_ok_and(|named| named.identity() == opened.identity()) {
            self.0.remove(name.as_name());
        }
    }

    /// The first temporary name that `take` can make a file under.
    fn take_name<T>(&self, take: impl Fn(&Name) -> Result<T, i32>) -> Result<(TemporaryName, T), i32> {
        for number in 0..TEMPORARY_NAMES {
            let name = TemporaryName::new(number);
            match take(name.as_name()) {
                Err(code::EXISTS) => {}
                outcome => return outcome.map(|taken| (name, taken)),
            }
        }
        Err(code::EXISTS)
    }
}

/// How many temporary names there are in a folder: this many savers can be at the same point of their work.
const TEMPORARY_NAMES: u32 = 1 << 16;

/// This many of the names are always looked at when a folder is swept, and those after them as long as there are files.
const SWEPT_NAMES: u32 = 16;

/// `.petal-NUMBER.tmp`. The names are few and known, so what a killed process left behind can be found without a search
/// through the folder.
struct TemporaryName([Unit; 24]);

impl TemporaryName {
    fn new(number: u32) -> TemporaryName {
        let mut name = [0; 24];
        // Ten digits leave a NUL at the end.
        let _ = std::io::Write::write_fmt(&mut &mut name[..23], format_args!(".petal-{number}.tmp"));
        TemporaryName(name.map(Unit::from))
    }

    fn as_name(&self) -> &Name {
        name_before_nul(&self.0)
    }
}

/// A new file that will get a name in a folder. If the system can make such files, it has no name, so it goes away with
/// its process. Otherwise, and for the moment before it takes another file's place, it has a temporary name, and a lock
/// which shows others that its maker is alive. It is gone when it is dropped.
pub struct Temporary<'a> {
    folder: &'a Folder,
    file: RawFile,
    name: Option<TemporaryName>,
}

impl Temporary<'_> {
    /// A new file, after a look at what dead processes left in the folder. `private` keeps everybody else from opening
    /// it.
    pub fn new(folder: &Folder, private: bool) -> Result<Temporary<'_>, i32> {
        folder.sweep();
        Temporary::unnamed(folder, private).or_else(|_| Temporary::named(folder, private))
    }

    /// A file without a name that can be given one.
    fn unnamed(folder: &Folder, private: bool) -> Result<Temporary<'_>, i32> {
        let file = folder.0.unnamed(private)?;
        // Before it has a name nobody else can have the lock.
        let _ = file.lock_whole();
        Ok(Temporary { folder, file, name: None })
    }

    /// A file under a temporary name.
    fn named(folder: &Folder, private: bool) -> Result<Temporary<'_>, i32> {
        loop {
            let (name, file) = folder.take_name(|name| folder.0.create(name, private))?;
            // Another process that sweeps may have come before the lock; then it removes the file. Where there are no
            // locks nobody sweeps.
            if !matches!(file.lock_whole(), Ok(false)) && file.status()?.has_name() {
                return Ok(Temporary { folder, file, name: Some(name) });
            }
        }
    }

    /// The file.
    pub fn file(&self) -> &RawFile {
        &self.file
    }

    /// Gives the file the name `name` in the folder, and replaces what is there.
    pub fn place(mut self, name: &PathBytes) -> Result<(), i32> {
        if self.name.is_none() {
            match self.folder.0.link(&self.file, name.as_name()) {
                Err(code::EXISTS) => {}
                outcome => return outcome,
            }
            self.name = Some(self.folder.take_name(|name| self.folder.0.link(&self.file, name))?.0);
        }
        if let Some(temporary) = &self.name {
            self.folder.0.rename(&self.file, temporary.as_name(), name.as_name())?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.folder.0.remove(name.as_name());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn opened(path: &Path) -> Folder {
        Folder::open(&PathBytes::new(path).unwrap()).unwrap()
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Where files without a name do not exist, one with a temporary name does the same.
    #[test]
    fn files_with_and_without_a_temporary_name_take_the_place_of_what_is_there() {
        let place = tempfile::tempdir().unwrap();
        let (folder, name) = (opened(place.path()), PathBytes::new(Path::new("file")).unwrap());
        for (round, make) in
            [Temporary::named, Temporary::unnamed, Temporary::named, Temporary::unnamed].iter().enumerate()
        {
            let Ok(temporary) = make(&folder, false) else {
                eprintln!("{round}: this folder has no files without a name; they were not tested");
                continue;
            };
            temporary.file().write_all_at(&[b'0' + round as u8], 0).unwrap();
            assert!(names(place.path()).contains(&".petal-0.tmp".to_string()) != (round % 2 == 1));
            temporary.place(&name).unwrap();
            assert_eq!(names(place.path()), ["file"]);
            assert_eq!(std::fs::read(place.path().join("file")).unwrap(), [b'0' + round as u8]);
            drop(make(&folder, true).unwrap());
            assert_eq!(names(place.path()), ["file"], "one that is given up is gone");
        }
    }

    /// What dead processes left behind is removed; what living ones are working on, and what only looks like it, stays.
    #[test]
    fn only_what_the_dead_left_is_swept_away() {
        let place = tempfile::tempdir().unwrap();
        let folder = opened(place.path());
        let leave = |name: &str| std::fs::write(place.path().join(name), b"left").unwrap();
        let living = Temporary::named(&folder, true).unwrap();
        [1, 2, 15].iter().for_each(|number| leave(&format!(".petal-{number}.tmp")));
        std::fs::create_dir(place.path().join(".petal-3.tmp")).unwrap();
        // A link there is nobody's temporary file. On Windows only some users may make one, so a folder stands in for
        // it.
        #[cfg(unix)]
        std::os::unix::fs::symlink("kept", place.path().join(".petal-4.tmp")).unwrap();
        #[cfg(windows)]
        std::fs::create_dir(place.path().join(".petal-4.tmp")).unwrap();
        ["kept", ".petal-.tmp", "petal-5.tmp", ".petal-006.tmp"].iter().for_each(|name| leave(name));
        let stay =
            [".petal-.tmp", ".petal-0.tmp", ".petal-006.tmp", ".petal-3.tmp", ".petal-4.tmp", "kept", "petal-5.tmp"];
        drop(Temporary::new(&folder, false).unwrap());
        assert_eq!(names(place.path()), stay);
        living.file().write_all_at(b"alive", 0).unwrap();
        living.place(&PathBytes::new(Path::new("placed")).unwrap()).unwrap();
        assert_eq!(std::fs::read(place.path().join("placed")).unwrap(), b"alive");
    }

    /// However many work at the same time, each has its own name.
    #[test]
    fn many_at_once_have_their_own_names() {
        let place = tempfile::tempdir().unwrap();
        let folder = opened(place.path());
        let all: Vec<Temporary> = (0..40).map(|_| Temporary::named(&folder, true).unwrap()).collect();
        assert_eq!(names(place.path()).len(), 40);
        // The names after the first few are also swept while there are files.
        std::fs::write(place.path().join(".petal-40.tmp"), b"left").unwrap();
        folder.sweep();
        assert_eq!(names(place.path()).len(), 40);
        drop(all);
        assert!(names(place.path()).is_empty());
    }

    #[test]
    fn a_file_of_its_own_has_no_name() {
        let place = tempfile::tempdir().unwrap();
        let file = opened(place.path()).new_file().unwrap();
        file.write_all_at(b"keys", 0).unwrap();
        // Windows lists the file until it is closed.
        let opened = names(place.path()).iter().any(|name| std::fs::File::open(place.path().join(name)).is_ok());
        let is_nameless = || names(place.path()).is_empty() && !file.status().unwrap().has_name();
        assert!(!opened && (cfg!(windows) || is_nameless()));
        drop(file);
        assert!(names(place.path()).is_empty());
    }
}
