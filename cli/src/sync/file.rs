//! The file of keys, which is replaced in one step by one that has more keys.
//!
//! Another program may append lines meanwhile. Once the copy is on the disk, right before it takes the file's place,
//! the command looks at the file again, and makes a new copy if the file changed. What another program writes to the
//! old file after that look is carried over.

use crate::failure::{Failure, Outcome, without_name};
use crate::file_name::shown;
use crate::signals::has_writer;
use crate::source::{identity_at, identity_of};
use crate::spool::{Place, Spool, read};
use petal::Status;
use petal::image::Sink;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// How many copies the command makes of a file that changes again and again.
const COPIES: u32 = 5;

/// How often the command checks whether another program writes to the file, and how long it waits between two looks.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// The bytes of one read.
const BLOCK: usize = 1 << 18;

/// Why the file may not be replaced now.
#[derive(Clone, Copy)]
enum Obstacle {
    Changed,
    Written,
}

/// The moments of a replacement at which another program may come between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// The copy is on the disk.
    Copied,
    /// The copy has taken the file's place.
    Placed,
}

/// Keys that are added to a file.
pub struct Additions {
    records: Spool,
    place: Place,
    /// What ends a key.
    end: &'static [u8],
}

impl Additions {
    /// No keys yet. `end` is what ends a key.
    pub fn new(end: &'static [u8]) -> Additions {
        Additions { records: Spool::new(), place: Place::new(None, None), end }
    }

    /// Adds a key.
    pub fn add(&mut self, key: &[u8]) -> Outcome<()> {
        let kept = self.records.keep(key, &self.place).and_then(|()| self.records.keep(self.end, &self.place));
        kept.map_err(|error| Failure::io("temporary file for the keys of the other side", &error))
    }

    /// Replaces the file at a path by one that has these keys too. A symbolic link is followed, so that the link stays.
    /// The new file has the owner and the permissions of the old one.
    pub fn append_to(&self, path: &Path) -> Outcome<()> {
        self.append_among(path, &mut |_| ())
    }

    /// As [`Additions::append_to`]; calls `others` at each moment.
    fn append_among(&self, path: &Path, others: &mut dyn FnMut(Moment)) -> Outcome<()> {
        let failed = |error: io::Error| Failure::io(shown(path), &error);
        let target = path.canonicalize().map_err(failed)?;
        for _ in 0..COPIES {
            let old = File::open(&target).map_err(failed)?;
            let before = Seen::of(&old).map_err(failed)?;
            let (mut trouble, mut obstacle) = (None, None);
            let saved = petal::image::save_bytes(
                &target,
                |sink| self.copy(&old, sink, &mut trouble),
                || {
                    others(Moment::Copied);
                    obstacle = before.obstacle(&old, &target);
                    obstacle.map_or(Ok(()), |_| Err(Status::Callback.into()))
                },
            );
            match (saved, trouble, obstacle) {
                (Ok(()), ..) => {
                    others(Moment::Placed);
                    return carry_over(&old, before.length, &target).map_err(failed);
                }
                (Err(_), Some(error), _) => return Err(failed(error)),
                (Err(_), None, Some(Obstacle::Changed)) => {}
                (Err(_), None, Some(Obstacle::Written)) => {
                    return Err(Failure::new(format_args!(
                        "{}: another program has it open for writing, and would go on writing to the old file: KEYS \
                         stays as it is",
                        shown(path)
                    )));
                }
                (Err(error), None, None) => {
                    let why = without_name(&error.to_string(), &target);
                    return Err(Failure::new(format_args!("{}: {why}", shown(path))));
                }
            }
        }
        Err(Failure::new(format_args!(
            "{}: changed each time that it was copied, and stays as it is: run the command again",
            shown(path)
        )))
    }

    /// Gives the bytes of the old file and those of the keys to a sink. `trouble` gets an error of the old file.
    fn copy(&self, old: &File, sink: &mut Sink, trouble: &mut Option<io::Error>) -> petal::Result<()> {
        let mut block = vec![0; BLOCK];
        let separator = self.end.last();
        let mut last = separator.copied();
        let mut pass = |from: &mut dyn Read, sink: &mut Sink| {
            loop {
                let length = read(&mut &mut *from, &mut block).map_err(|error| {
                    *trouble = Some(error);
                    petal::Error::from(Status::Callback)
                })?;
                if length == 0 {
                    return Ok::<_, petal::Error>(last);
                }
                last = block[..length].last().copied();
                sink(&block[..length])?;
            }
        };
        if pass(&mut &*old, sink)?.as_ref() != separator {
            sink(self.end)?;
        }
        match self.records.reader() {
            Ok(mut records) => pass(&mut records, sink).map(|_| ()),
            Err(error) => {
                *trouble = Some(error);
                Err(Status::Callback.into())
            }
        }
    }
}

/// Adds to the new file what other programs wrote to the old one since it had `from` bytes. They may have opened the
/// old file right before it was replaced.
fn carry_over(mut old: &File, from: u64, target: &Path) -> io::Result<()> {
    if is_written(old) {
        return Err(io::Error::other(
            "another program opened it while it was replaced, and goes on writing to the old file",
        ));
    }
    let length = old.metadata()?.len();
    if length <= from {
        return Ok(());
    }
    let mut new = File::options().append(true).open(target)?;
    old.seek(SeekFrom::Start(from))?;
    io::copy(&mut old.take(length - from), &mut new)?;
    new.sync_all()
}

/// Whether somebody has the file open for writing, and keeps it open.
fn is_written(file: &File) -> bool {
    (0..LOOKS).all(|look| {
        if look > 0 {
            sleep(PAUSE);
        }
        has_writer(file)
    })
}

/// What shows that a file is another one, or has changed.
#[derive(PartialEq, Eq)]
struct Seen {
    identity: Option<(u64, u64)>,
    length: u64,
    modified: Option<SystemTime>,
}

impl Seen {
    fn new(identity: Option<(u64, u64)>, metadata: &Metadata) -> Seen {
        Seen { identity, length: metadata.len(), modified: metadata.modified().ok() }
    }

    fn of(file: &File) -> io::Result<Seen> {
        Ok(Seen::new(identity_of(file), &file.metadata()?))
    }

    /// What keeps the copy of the file, which looked like this, from taking its place; `None` if nothing does.
    fn obstacle(&self, old: &File, target: &Path) -> Option<Obstacle> {
        if is_written(old) {
            return Some(Obstacle::Written);
        }
        // Whoever opened the file before this look has closed it, and what was written shows.
        let now = target.metadata().map(|metadata| Seen::new(identity_at(target), &metadata));
        if now.is_ok_and(|now| now == *self) { None } else { Some(Obstacle::Changed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn additions() -> Additions {
        let mut additions = Additions::new(b"\n");
        ["new", "keys"].iter().for_each(|key| additions.add(key.as_bytes()).expect("a key"));
        additions
    }

    fn append(path: &Path, line: &str) {
        File::options().append(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).expect("a line");
    }

    fn lines(path: &Path) -> Vec<String> {
        let mut lines: Vec<String> = fs::read_to_string(path).expect("a file").lines().map(String::from).collect();
        lines.sort_unstable();
        lines
    }

    /// Whatever another program appends is there afterwards: while the copy goes to the disk, and through a name of the
    /// old file right before the copy takes its place.
    #[test]
    fn lines_of_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, old) = (folder.path().join("keys"), folder.path().join("old"));
        for moment in [Moment::Copied, Moment::Placed] {
            fs::write(&path, "mine").expect("a file");
            let _ = fs::remove_file(&old);
            fs::hard_link(&path, &old).expect("a name");
            let mut once = Some(());
            let mut others = |now| {
                if now == moment && once.take().is_some() {
                    append(&old, "\ntheirs\n");
                }
            };
            additions().append_among(&path, &mut others).expect("replaced");
            let mut lines = lines(&path);
            lines.retain(|line| !line.is_empty());
            assert_eq!(lines, ["keys", "mine", "new", "theirs"]);
        }
    }

    /// A file that changes all the time stays as it is, and so does one that is another file now.
    #[test]
    fn what_changes_all_the_time_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys");
        fs::write(&path, "mine\n").expect("a file");
        let mut count = 0;
        let failure = additions().append_among(&path, &mut |_| {
            count += 1;
            append(&path, "theirs\n");
        });
        assert!(failure.expect_err("it changes").to_string().contains("changed each time"));
        assert_eq!((count, lines(&path).len()), (COPIES, 1 + COPIES as usize));
        let mut once = Some(());
        let replaced = additions().append_among(&path, &mut |_| {
            if once.take().is_some() {
                fs::write(folder.path().join("other"), "other\n").expect("a file");
                fs::rename(folder.path().join("other"), &path).expect("renamed");
            }
        });
        replaced.expect("the second copy is of the other file");
        assert_eq!(lines(&path), ["keys", "new", "other"]);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
