//! Images in place while writers write or die and while readers read: when an image is clean, when unclean, when
//! verified.

use crate::common::file::FileAt;
use crate::common::mix;
use petal::format::{HEADER_LENGTH, REGION_BYTES};
use petal::{Filter, HashFunction, Image, Keys, Mode, OpenOptions, Spec, Status, Taken, load};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tempfile::TempDir;

/// An empty filter of eight regions.
fn spec() -> Spec {
    let bits = 8 * 8 * REGION_BYTES as u64;
    Spec { bits, hashes: 6, hash: HashFunction::External, ..Spec::default() }
}

/// A file with such a filter and a thousand keys.
fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    let mut filter = petal::Filter::new(&spec()).unwrap();
    insert(&mut filter, 0..1000);
    filter.save(&path).unwrap();
    (folder, path)
}

fn insert(filter: &mut Filter, keys: std::ops::Range<u64>) {
    keys.for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
}

fn try_open(path: &Path, mode: Mode) -> petal::Result<Filter> {
    petal::open(path, &OpenOptions { mode, ..OpenOptions::default() })
}

fn open(path: &Path, mode: Mode) -> Filter {
    try_open(path, mode).unwrap()
}

fn verified(path: &Path) -> Result<(), Status> {
    open(path, Mode::Read).verify().map_err(|error| error.status())
}

/// A hash whose block lies in this region.
fn hash_in(region: u64) -> u64 {
    (region << 61) + (1 << 60) + mix(region) % (1 << 60)
}

/// Sets a line in the middle of a region to zero, and returns the offset of its first byte.
fn spoil(path: &Path, region: usize) -> usize {
    let place = HEADER_LENGTH + region * REGION_BYTES + 32768;
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut before = [0; 4096];
    file.read_exact_at(&mut before, place as u64).unwrap();
    assert!(before.iter().any(|byte| *byte != 0), "there was something to spoil");
    file.write_all_at(&[0; 4096], place as u64).unwrap();
    place
}

#[track_caller]
fn corrupt_at(error: petal::Error, region: usize) {
    assert_eq!(error.status(), Status::Corrupt, "{error}");
    let from = HEADER_LENGTH + region * REGION_BYTES;
    let range = format!("bytes {from} to {}", from + REGION_BYTES - 1);
    assert!(error.message().contains(&range), "{error}");
}

// ---- Reading ahead -----------------------------------------------------------------------------------------------

/// Reading ahead changes no answer, in any mode. On Linux the whole file is in memory before the first lookup.
#[test]
fn a_file_is_read_ahead() {
    let (_folder, path) = file();
    for mode in Mode::ALL {
        let filter: Filter =
            petal::open(&path, &OpenOptions { mode, prefault: true, ..OpenOptions::default() }).unwrap();
        if let Some(resident) = resident(&path) {
            assert_eq!(resident >= fs::metadata(&path).unwrap().len(), mode != Mode::Load, "{mode}");
        }
        assert!((0..1000).all(|key| filter.contains_hash(mix(key))));
    }
    assert_eq!(verified(&path), Ok(()));
}

/// How many bytes of a file this process has mapped and touched, on a Linux that reads ahead when it is asked (5.14).
fn resident(path: &Path) -> Option<u64> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse().ok());
    if (numbers.next()?, numbers.next()?) < (5_u32, 14_u32) {
        return None;
    }
    let maps = fs::read_to_string("/proc/self/smaps").ok()?;
    let mapping = maps.split_once(path.to_str()?).map_or("Rss: 0 kB", |(_, mapping)| mapping);
    let (_, kilobytes) = mapping.split_once("Rss:")?;
    kilobytes.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

// --- Who marks clean -------------------------------------------------------------------------------------------------

/// If one of several sharers dies, the file stays unclean, whichever handles open and close it afterwards.
#[test]
fn a_death_among_sharers_is_not_forgotten() {
    for order in 0..3 {
        let (_folder, path) = file();
        let (mut dying, second) = (open(&path, Mode::Share), open(&path, Mode::Share));
        dying.insert_shared_hash(mix(1)).unwrap();
        dying.base_mut().abandon();
        drop(dying);
        match order {
            0 => drop(second),
            1 => {
                let third = open(&path, Mode::Share);
                drop(second);
                drop(third);
            }
            _ => {
                let third = open(&path, Mode::Share);
                drop(third);
                drop(second);
            }
        }
        assert_eq!(verified(&path), Err(Status::Unclean), "order {order}");
        // Later sharers do not make the file clean either, one by one or overlapping.
        let (first, second) = (open(&path, Mode::Share), open(&path, Mode::Share));
        first.insert_shared_hash(mix(2)).unwrap();
        drop(first);
        drop(second);
        drop(open(&path, Mode::Share));
        let mut writer = open(&path, Mode::Write);
        insert(&mut writer, 0..10);
        writer.sync().unwrap();
        drop(writer);
        assert_eq!(verified(&path), Err(Status::Unclean), "order {order}");

        let mut writer = open(&path, Mode::Write);
        writer.mark_clean().unwrap();
        assert_eq!(verified(&path), Ok(()));
        insert(&mut writer, 0..10);
        drop(writer);
        assert_eq!(verified(&path), Ok(()));
        drop((open(&path, Mode::Share), open(&path, Mode::Share)));
        assert_eq!(verified(&path), Ok(()));
    }
}

/// A handle that opens a file for writing and changes nothing leaves every byte as it was, damaged bytes too.
#[test]
fn opening_changes_nothing() {
    let (_folder, path) = file();
    for damaged in [false, true] {
        if damaged {
            spoil(&path, 3);
        }
        let bytes = fs::read(&path).unwrap();
        for mode in [Mode::Share, Mode::Write] {
            drop(open(&path, mode));
            assert!(fs::read(&path).unwrap() == bytes, "{mode:?}");
        }
        drop((open(&path, Mode::Share), open(&path, Mode::Share)));
        assert!(fs::read(&path).unwrap() == bytes);
    }
    assert_eq!(verified(&path), Err(Status::Corrupt));
}

/// Everything that is made from an unclean filter is unclean until somebody marks it clean.
#[test]
fn dirt_spreads() {
    let (folder, path) = file();
    let (clean, other) = (folder.path().join("clean"), folder.path().join("other"));
    fs::copy(&path, &clean).unwrap();
    let mut writer = open(&path, Mode::Write);
    insert(&mut writer, 5..6);
    writer.base_mut().abandon();
    drop(writer);

    let is_unclean = |filter: &Filter| filter.verify().is_err_and(|error| error.status() == Status::Unclean);
    let unclean = open(&path, Mode::Load);
    let mut merged = open(&clean, Mode::Load);
    merged.verify().unwrap();
    merged.merge(&unclean).unwrap();
    let mut common = open(&clean, Mode::Load);
    common.intersect(&open(&path, Mode::Read)).unwrap();
    for filter in [&unclean, &merged, &common, &unclean.copy().unwrap()] {
        assert!(is_unclean(filter));
        filter.save(&other).unwrap();
        assert_eq!(verified(&other), Err(Status::Unclean));
        assert!(is_unclean(&load(&crate::common::image(filter), &OpenOptions::default()).unwrap()));
    }
    merged.mark_clean().unwrap();
    merged.save(&other).unwrap();
    assert_eq!(verified(&other), Ok(()));

    // The same holds in place, after every sync.
    let mut filter = open(&clean, Mode::Write);
    filter.merge(&unclean).unwrap();
    filter.sync().unwrap();
    assert!(is_unclean(&filter) && verified(&clean) == Err(Status::Unclean));
    drop(filter);
    assert_eq!(verified(&clean), Err(Status::Unclean));
}

/// The counts of sharers are in the file when they have closed it, or earlier if they sync.
#[test]
fn sharers_count() {
    let (_folder, path) = file();
    let (first, mut second) = (open(&path, Mode::Share), open(&path, Mode::Share));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| first.add_insertions(3).unwrap()));
        }
    });
    second.add_insertions(30).unwrap();
    assert_eq!((first.base().count(), second.base().count()), (2200, 1030));
    second.sync().unwrap();
    assert_eq!((second.base().count(), open(&path, Mode::Read).base().count()), (1030, 1030));
    drop(first);
    drop(second);
    assert_eq!(verified(&path), Ok(()));
    assert_eq!(open(&path, Mode::Read).base().count(), 2230);
    assert_eq!(open(&path, Mode::Read).add_insertions(1).unwrap_err().status(), Status::UnsupportedByHandle);

    let mut writer = open(&path, Mode::Write);
    writer.add_insertions(7).unwrap();
    writer.sync().unwrap();
    assert_eq!(open(&path, Mode::Read).base().count(), 2237);
}

// ---- Damage ------------------------------------------------------------------------------------------------------

/// Verifying finds damage through every handle, whatever that handle has changed.
#[test]
fn verifying_reads() {
    for mode in [Mode::Read, Mode::Write, Mode::Share] {
        for changed in [false, true] {
            let (_folder, path) = file();
            let mut filter = open(&path, mode);
            if changed && mode == Mode::Write {
                filter.insert_hash(hash_in(5)).unwrap();
            } else if changed && mode == Mode::Share {
                filter.insert_shared_hash(hash_in(5)).unwrap();
            }
            let expected = match mode {
                Mode::Write if changed => Err(Status::Unclean),
                Mode::Share => Err(Status::Unclean),
                _ => Ok(()),
            };
            assert_eq!(filter.verify().map_err(|error| error.status()), expected, "{mode:?}");
            spoil(&path, 2);
            corrupt_at(filter.verify().unwrap_err(), 2);
            corrupt_at(filter.copy().err().unwrap(), 2);
            let mut pieces = 0;
            let serialized = filter.serialize_to(&mut |_| {
                pieces += 1;
                Ok(())
            });
            corrupt_at(serialized.unwrap_err(), 2);
            corrupt_at(petal::Filter::new(&spec()).unwrap().merge(&filter).unwrap_err(), 2);
        }
    }
}

/// A writer never changes a damaged region and never gives it a new checksum; other regions take changes.
#[test]
fn damage_is_not_sealed() {
    for mode in [Mode::Write, Mode::Share] {
        let (_folder, path) = file();
        spoil(&path, 3);
        let bytes = fs::read(&path).unwrap();
        let mut filter = open(&path, mode);
        let mut insert = |hash| match mode {
            Mode::Write => filter.insert_hash(hash),
            _ => filter.insert_shared_hash(hash),
        };
        for region in (0..8).filter(|region| *region != 3) {
            insert(hash_in(region)).unwrap();
        }
        for _ in 0..2 {
            corrupt_at(insert(hash_in(3)).unwrap_err(), 3);
        }
        // The first `done` keys of the batch are in the filter.
        let keys = [hash_in(1) ^ 1, hash_in(2) ^ 1, hash_in(3), hash_in(4) ^ 1];
        let keys = Keys::Hashes(&keys);
        if mode == Mode::Write {
            let Taken { keys: done, outcome } = filter.insert_batch(&keys, None);
            assert_eq!(done, 2);
            corrupt_at(outcome.unwrap_err(), 3);
            corrupt_at(filter.writable_view().err().unwrap(), 3);
            corrupt_at(filter.clear().unwrap_err(), 3);
            filter.sync().unwrap();
        } else {
            corrupt_at(filter.insert_shared_batch(&keys, None).outcome.unwrap_err(), 3);
        }
        drop(filter);
        let after = fs::read(&path).unwrap();
        let region = HEADER_LENGTH + 3 * REGION_BYTES..HEADER_LENGTH + 4 * REGION_BYTES;
        let entry = HEADER_LENGTH + 8 * REGION_BYTES + 8 * 3;
        assert!(after[region.clone()] == bytes[region], "the region stays");
        assert_eq!(after[entry..entry + 8], bytes[entry..entry + 8], "so does its entry");
        let reader = open(&path, Mode::Read);
        corrupt_at(reader.verify().unwrap_err(), 3);
        assert!((0..8).filter(|region| *region != 3).all(|region| reader.contains_hash(hash_in(region))));
        drop(reader);
        // Vouching makes the damaged image clean.
        open(&path, Mode::Write).mark_clean().unwrap();
        assert_eq!(verified(&path), Ok(()));
    }
}

/// An entry that became 0 by itself does not count as touched.
#[test]
fn a_damaged_table_is_refused() {
    let (_folder, path) = file();
    let place = HEADER_LENGTH + 8 * REGION_BYTES + 8 * 3;
    File::options().write(true).open(&path).unwrap().write_all_at(&[0; 8], place as u64).unwrap();
    assert_eq!(verified(&path), Err(Status::Corrupt));
    let mut writer = open(&path, Mode::Write);
    assert_eq!(writer.insert_hash(hash_in(0)).unwrap_err().status(), Status::Corrupt);
    assert_eq!(writer.copy().err().unwrap().status(), Status::Corrupt);
    drop(writer);
    assert_eq!(try_open(&path, Mode::Share).err().unwrap().status(), Status::Corrupt);
    assert_eq!(try_open(&path, Mode::Load).err().unwrap().status(), Status::Corrupt);
    assert_eq!(verified(&path), Err(Status::Corrupt));
}

/// If a table does not match its own checksum, a copy is not clean.
#[test]
fn a_damaged_table_proves_nothing() {
    let end = HEADER_LENGTH + 8 * REGION_BYTES + 128;
    let entry = HEADER_LENGTH + 8 * REGION_BYTES + 8 * 3;
    for place in [entry, end - 16, end - 8] {
        for mode in [Mode::Read, Mode::Write] {
            let (folder, path) = file();
            if place == entry {
                spoil(&path, 3);
            }
            let mut word = [0; 8];
            let table = File::options().read(true).write(true).open(&path).unwrap();
            table.read_exact_at(&mut word, place as u64).unwrap();
            let other = if place == end - 16 { [1; 8] } else { [0; 8] };
            assert_ne!(word, other);
            table.write_all_at(&other, place as u64).unwrap();

            let filter = open(&path, mode);
            let mut merged = petal::Filter::new(&spec()).unwrap();
            let outcomes = [
                filter.verify(),
                filter.copy().map(drop),
                filter.serialize_to(&mut |_| Ok(())),
                filter.save(&folder.path().join("saved")),
                merged.merge(&filter),
                merged.intersect(&filter),
            ];
            for outcome in outcomes {
                assert_eq!(outcome.unwrap_err().status(), Status::Corrupt, "{place}, {mode:?}");
            }
            drop(filter);
            // Vouching writes the whole table again.
            open(&path, Mode::Write).mark_clean().unwrap();
            assert_eq!(verified(&path), Ok(()));
        }
    }
}

/// Somebody truncates the file while it is open, and extends it to its old length: a sync does not seal the lost bytes.
/// On Windows nobody can truncate a mapped file.
#[cfg(unix)]
#[test]
fn what_was_cut_off_is_not_sealed() {
    for mode in [Mode::Write, Mode::Share] {
        let (_folder, path) = file();
        let length = fs::metadata(&path).unwrap().len();
        let mut filter = open(&path, mode);
        match mode {
            Mode::Write => filter.insert_hash(hash_in(0)).map(drop).unwrap(),
            _ => filter.insert_shared_hash(hash_in(0)).map(drop).unwrap(),
        }
        let outside = File::options().write(true).open(&path).unwrap();
        outside.set_len((HEADER_LENGTH + 4 * REGION_BYTES) as u64).unwrap();
        outside.set_len(length).unwrap();
        if mode == Mode::Write {
            assert_eq!(filter.sync().unwrap_err().status(), Status::Corrupt);
        }
        drop(filter);
        assert_eq!(verified(&path), Err(Status::Unclean), "{mode:?}");
        // Vouching seals the lost bytes as well.
        open(&path, Mode::Write).mark_clean().unwrap();
        assert_eq!(verified(&path), Ok(()));
    }
}

// ---- At the same time --------------------------------------------------------------------------------------------

/// An image that is serialized, saved or copied while threads insert matches its checksums, and has all keys that were
/// inserted before.
#[test]
fn copies_of_what_changes_are_sound() {
    let (folder, path) = file();
    let saved = folder.path().join("saved");
    let owned = petal::Filter::new(&spec()).unwrap();
    (0..1000).for_each(|key| assert!(owned.insert_shared_hash(mix(key)).is_ok()));
    let sharing = open(&path, Mode::Share);
    for filter in [owned, sharing] {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for part in 1..3_u64 {
                let (filter, done) = (&filter, &done);
                scope.spawn(move || {
                    for key in 0.. {
                        filter.insert_shared_hash(mix(part << 40 | key)).unwrap();
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
            }
            for _ in 0..30 {
                let loaded = load(&crate::common::image(&filter), &OpenOptions::default()).unwrap();
                let copy = filter.copy().unwrap();
                filter.save(&saved).unwrap();
                let saved = open(&saved, Mode::Load);
                for sound in [loaded, copy, saved] {
                    sound.verify().unwrap();
                    assert!((0..1000).all(|key| sound.contains_hash(mix(key))));
                }
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

/// A reader sees the state of its file: unclean while a writer changes it, and sound after each sync.
#[test]
fn a_reader_follows_its_file() {
    let (_folder, path) = file();
    let reader = open(&path, Mode::Read);
    let mut writer = open(&path, Mode::Write);
    for round in 0..3 {
        assert_eq!(reader.verify().map_err(|error| error.status()), Ok(()));
        assert!(!reader.base().is_unclean());
        insert(&mut writer, 5000 + 10 * round..5010 + 10 * round);
        assert_eq!(reader.verify().unwrap_err().status(), Status::Unclean);
        assert!(reader.base().is_unclean());
        let image = crate::common::image(&reader);
        assert_eq!(load(&image, &OpenOptions::default()).unwrap().verify().unwrap_err().status(), Status::Unclean);
        writer.sync().unwrap();
        assert_eq!(reader.base().count_now(), 1010 + 10 * round);
        // Copies of the reader have those keys too.
        assert_eq!(
            load(&crate::common::image(&reader), &OpenOptions::default()).unwrap().base().count(),
            1010 + 10 * round
        );
        let (mut copy, mut merged) = (reader.copy().unwrap(), petal::Filter::new(&spec()).unwrap());
        merged.merge(&reader).unwrap();
        assert_eq!((copy.base().count(), merged.base().count()), (1010 + 10 * round, 1010 + 10 * round));
        insert(&mut copy, 0..5);
        copy.intersect(&reader).unwrap();
        assert_eq!(copy.base().count(), 1010 + 10 * round);
    }
}

/// Opening, loading and verifying while a writer works find the file sound or unclean, and never damaged.
#[test]
#[ignore = "slow: make test-all"]
fn beside_a_writer_nothing_is_damaged() {
    let (_folder, path) = file();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..100 {
                let mut writer = open(&path, Mode::Write);
                for step in 0..3 {
                    insert(&mut writer, 7000 + 9 * round + 3 * step..7003 + 9 * round + 3 * step);
                    writer.sync().unwrap();
                    // Inserting a key that is there gives the same image again.
                    insert(&mut writer, step..step + 1);
                    writer.sync().unwrap();
                }
                drop(writer);
                let sharing = open(&path, Mode::Share);
                sharing.insert_shared_hash(mix(1 << 32 | round)).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        let reader = open(&path, Mode::Read);
        let is_fine = |outcome: petal::Result<()>| {
            assert!(outcome.as_ref().err().is_none_or(|error| error.status() == Status::Unclean), "{outcome:?}");
        };
        while !done.load(Ordering::Relaxed) {
            is_fine(reader.verify());
            is_fine(open(&path, Mode::Read).verify());
            is_fine(try_open(&path, Mode::Load).and_then(|loaded| loaded.verify()));
            is_fine(reader.serialize_to(&mut |_| Ok(())));
            is_fine(reader.copy().map(|_| ()));
        }
    });
    assert_eq!(verified(&path), Ok(()));
}

/// The locks of a file's bytes: byte i's is on byte `LOCKS` + i.
#[cfg(target_os = "linux")]
const LOCKS: u64 = 1 << 62;

/// Opening waits for a handle that holds the gate, as the last sharer does while it seals. Opening does not wait for a
/// writer.
#[test]
#[cfg(target_os = "linux")]
fn opening_waits_at_the_gate() {
    use std::os::fd::AsRawFd;
    let (_folder, path) = file();
    let gate = File::options().read(true).write(true).open(&path).unwrap();
    let last = LOCKS + gate.metadata().unwrap().len() - 1;
    let lock = |kind: i32| {
        // SAFETY: all-zero bytes are a valid `flock`.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind as libc::c_short;
        lock.l_start = last as libc::off_t;
        lock.l_len = 1;
        // SAFETY: the descriptor is open and `lock` is a valid `flock`.
        assert_eq!(unsafe { libc::fcntl(gate.as_raw_fd(), libc::F_OFD_SETLK, &lock) }, 0);
    };
    lock(libc::F_WRLCK);
    for mode in [Mode::Share, Mode::Write] {
        thread::scope(|scope| {
            let opened = scope.spawn(|| try_open(&path, mode).map(drop));
            // The sleep is long enough to see a call that does not wait. A shorter sleep would only weaken the test.
            thread::sleep(std::time::Duration::from_millis(300));
            assert!(!opened.is_finished());
            lock(libc::F_UNLCK);
            opened.join().unwrap().unwrap();
            lock(libc::F_WRLCK);
        });
    }
    lock(libc::F_UNLCK);
    let _writer = open(&path, Mode::Write);
    assert_eq!(try_open(&path, Mode::Share).err().unwrap().status(), Status::Locked);
}

/// The locks are on the bytes that docs/format.md names, so that other implementations can keep to them. The gate is
/// the lock of the image's last byte, and the body those of all other bytes. The same holds for an image inside a
/// larger file, and nothing else is locked: no byte of the file.
#[cfg(target_os = "linux")]
#[test]
fn locks_are_where_the_format_says() {
    use std::os::fd::AsRawFd;
    let (_folder, path) = file();
    let image = fs::read(&path).unwrap();
    const OFFSET: u64 = 4096 + 8;
    let larger = path.with_extension("larger");
    fs::write(&larger, [&[0; OFFSET as usize][..], &image, &[0; 100]].concat()).unwrap();
    let ours = File::options().read(true).write(true).open(&larger).unwrap();
    // Whether the lock of another handle prevents such a lock on a byte.
    let is_locked = |byte: u64, kind: libc::c_int| {
        // SAFETY: all-zero bytes are a valid `flock`, the descriptor is open, and the struct is filled.
        unsafe {
            let mut lock: libc::flock = core::mem::zeroed();
            (lock.l_type, lock.l_whence) = (kind as _, libc::SEEK_SET as _);
            (lock.l_start, lock.l_len) = (byte as _, 1);
            assert_eq!(libc::fcntl(ours.as_raw_fd(), libc::F_OFD_GETLK, &mut lock), 0);
            lock.l_type != libc::F_UNLCK as libc::c_short
        }
    };
    let (first, last) = (LOCKS + OFFSET, LOCKS + OFFSET + image.len() as u64 - 1);
    for (mode, to_read) in [(Mode::Read, false), (Mode::Write, true), (Mode::Share, false)] {
        let descriptor = File::options().read(true).write(true).open(&larger).unwrap();
        let options = OpenOptions { mode, ..OpenOptions::default() };
        let filter = petal::open_descriptor(descriptor.as_raw_fd(), OFFSET, &options).unwrap();
        for byte in [first, first + image.len() as u64 / 2, last - 1] {
            assert_eq!(is_locked(byte, libc::F_RDLCK), to_read, "{mode:?}: byte {byte} to read");
            assert_eq!(is_locked(byte, libc::F_WRLCK), mode != Mode::Read, "{mode:?}: byte {byte} to write");
        }
        for byte in [0, OFFSET, last - LOCKS, first - 1, last, last + 1] {
            assert!(!is_locked(byte, libc::F_WRLCK), "{mode:?}: byte {byte}");
        }
        drop(filter);
        assert!(!is_locked(first, libc::F_WRLCK) && !is_locked(last, libc::F_WRLCK), "closing unlocks");
    }
}

/// Saving refuses to replace the file that the filter maps, under every name of that file, and replaces every other
/// file.
#[test]
fn a_mapped_file_is_known_by_all_its_names() {
    let (_folder, path) = file();
    let (link, other) = (path.with_extension("link"), path.with_extension("other"));
    fs::hard_link(&path, &link).unwrap();
    fs::copy(&path, &other).unwrap();
    for mode in [Mode::Read, Mode::Write] {
        let filter = open(&path, mode);
        for name in [&path, &link] {
            assert_eq!(filter.save(name).unwrap_err().status(), Status::MappedPath);
        }
        filter.save(&other).unwrap();
        filter.save(&path.with_extension("new")).unwrap();
        // A symbolic link to the file is not the file: saving replaces the link, and the file stays as it was.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let soft = path.with_extension("soft");
            let _ = fs::remove_file(&soft);
            std::os::unix::fs::symlink(&path, &soft).unwrap();
            let before = fs::metadata(&path).unwrap();
            filter.save(&soft).unwrap();
            let (replaced, after) = (fs::symlink_metadata(&soft).unwrap(), fs::metadata(&path).unwrap());
            assert!(replaced.is_file() && replaced.ino() != after.ino());
            assert_eq!((before.ino(), before.nlink()), (after.ino(), after.nlink()));
        }
    }
    // A loaded filter maps no file.
    open(&path, Mode::Load).save(&path).unwrap();
}
