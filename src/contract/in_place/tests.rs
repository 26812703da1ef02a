//! Tests of what sealing costs, and of system calls that fail.

use crate::format::{REGION_BYTES, tests::READ};
use crate::storage::failing::FLUSHES_LEFT;
use crate::{Filter, HashFunction, Image, Mode, OpenOptions, Spec, Status, open};
use std::path::Path;

const REGIONS: usize = 100;

fn file(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let bits = 8 * (REGIONS * REGION_BYTES) as u64;
    let path = folder.path().join("filter.petal");
    let spec = Spec { bits, hashes: 6, hash: HashFunction::External, ..Spec::default() };
    Filter::new(&spec).unwrap().save(&path).unwrap();
    path
}

fn opened(path: &Path, mode: Mode) -> Filter {
    open(path, &OpenOptions { mode, ..OpenOptions::default() }).unwrap()
}

/// How many bytes `body` reads for checksums of regions.
fn read_by(body: impl FnOnce()) -> usize {
    let before = READ.get();
    body();
    READ.get() - before
}

#[test]
fn sealing_costs_what_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let one = read_by(|| {
        let mut filter = opened(&path, Mode::Write);
        (0..1000).for_each(|i| assert!(filter.insert_hash(i).is_ok()));
        filter.sync().unwrap();
    });
    assert_eq!(one, 2 * REGION_BYTES, "all of these hashes lie in the first block");
    let shared = read_by(|| {
        let (first, second) = (opened(&path, Mode::Share), opened(&path, Mode::Share));
        first.insert_shared_hash(1).unwrap();
        second.insert_shared_hash(u64::MAX).unwrap();
    });
    assert_eq!(shared, 4 * REGION_BYTES);
    assert_eq!(read_by(|| drop((opened(&path, Mode::Share), opened(&path, Mode::Share)))), 0);
    let all = read_by(|| {
        let mut filter = opened(&path, Mode::Write);
        filter.writable_view().unwrap();
    });
    assert_eq!(all, 2 * REGIONS * REGION_BYTES);
}

/// Whichever flush fails, the file is unclean or as it was, the handle knows that, and another sync puts it right.
#[test]
fn a_sync_that_fails_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    for flushes in 0.. {
        let mut filter = opened(&path, Mode::Write);
        filter.insert_hash(flushes).unwrap();
        FLUSHES_LEFT.set(Some(flushes as u32));
        let synced = filter.sync();
        FLUSHES_LEFT.set(None);
        if synced.is_ok() {
            assert_eq!(flushes, 3, "payload and table, the header's second part, the state");
            return;
        }
        assert_eq!(synced.unwrap_err().status(), Status::Io);
        let reader = opened(&path, Mode::Read);
        assert!(reader.base().is_unclean() && filter.base().is_unclean());
        assert_eq!(reader.verify().unwrap_err().status(), Status::Unclean);
        // A change between the two syncs is not lost either.
        filter.insert_hash(u64::MAX - flushes).unwrap();
        filter.sync().unwrap();
        reader.verify().unwrap();
        assert!(reader.contains_hash(flushes) && reader.contains_hash(u64::MAX - flushes));
    }
}

/// If the image cannot be marked unclean, nothing is changed.
#[test]
fn nothing_begins_before_it_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let before = std::fs::read(&path).unwrap();
    let mut filter = opened(&path, Mode::Write);
    FLUSHES_LEFT.set(Some(0));
    assert_eq!(filter.insert_hash(1).unwrap_err().status(), Status::Io);
    assert_eq!(filter.sync().map_err(|error| error.status()), Ok(()));
    drop(filter);
    let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
    assert_eq!(open(&path, &share).err().unwrap().status(), Status::Io);
    FLUSHES_LEFT.set(None);
    assert!(std::fs::read(&path).unwrap() == before);
    opened(&path, Mode::Read).verify().unwrap();
}
