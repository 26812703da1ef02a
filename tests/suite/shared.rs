//! Lock-free insertion: what the contract promises, for every kind that has the capability.

use crate::common::{cases, empty, mix};
use core::sync::atomic::{AtomicU64, Ordering};
use petal::{Answers, Capabilities, HashFunction, Image, Keys, Mode, OpenOptions, Spec, Status};
use std::sync::Barrier;
use std::thread;

/// Runs `test` on specs of every kind and layout that can insert without locks, for `capacity` hashes.
fn for_each_spec(capacity: u64, rate: f64, test: impl Fn(&Spec)) {
    for case in cases().into_iter().filter(|case| case.capabilities().contains(Capabilities::INSERT_SHARED)) {
        println!("{}", case.name());
        test(&Spec { capacity, false_positive_rate: rate, hash: HashFunction::External, ..case.spec() });
    }
}

fn hashes(count: u64, seed: u64) -> Vec<u64> {
    (0..count).map(|i| mix(seed << 32 | i)).collect()
}

/// Shared insertion sets the bits that exclusive insertion sets, and tells the same of each key.
#[test]
fn alone_it_is_ordinary_insertion() {
    for_each_spec(2000, 0.01, |spec| {
        let (mut ordinary, shared, batched) = (empty(spec), empty(spec), empty(spec));
        let keys = hashes(3000, 1);
        let mut new = vec![0; keys.len()];
        let mut answers = Answers { bytes: Some(&mut new), ..Answers::default() };
        batched.insert_batch_shared(&Keys::Hashes(&keys), Some(&mut answers)).outcome.unwrap();
        assert_eq!(answers.true_count, new.iter().map(|new| u64::from(*new)).sum::<u64>());
        for (key, new) in keys.iter().zip(new) {
            let expected = ordinary.insert_hash(*key).unwrap();
            assert_eq!(shared.insert_hash_shared(*key).unwrap(), expected);
            assert_eq!(new == 1, expected);
        }
        assert!(ordinary.equals(&shared) && ordinary.equals(&batched));
        assert_eq!(shared.base().header().count, 0, "shared insertion does not count");
    });
}

/// Whatever the threads do to one another, afterwards every bit of every key is there, and no other.
#[test]
fn threads_lose_nothing() {
    for_each_spec(40_000, 0.01, |spec| {
        let shared = empty(spec);
        let keys = hashes(40_000, 2);
        thread::scope(|scope| {
            for part in 0..4 {
                let (shared, keys) = (&shared, &keys);
                scope.spawn(move || {
                    // Overlapping halves, from both ends, singly and in batches.
                    let part = &keys[part * 5_000..part * 5_000 + 25_000];
                    let (first, second) = part.split_at(10_000);
                    first.iter().rev().for_each(|key| assert!(shared.insert_hash_shared(*key).is_ok()));
                    shared.insert_batch_shared(&Keys::Hashes(second), None).outcome.unwrap();
                    assert!(part.iter().all(|key| shared.contains_hash(*key)), "a thread finds its own keys");
                });
            }
        });
        let mut ordinary = empty(spec);
        ordinary.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
        assert!(ordinary.equals(&shared));
    });
}

/// A key whose insertion happened before a lookup is found by it.
#[test]
fn what_happened_before_is_found() {
    for_each_spec(20_000, 0.001, |spec| {
        let filter = empty(spec);
        let keys = hashes(20_000, 3);
        let inserted = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for (i, key) in keys.iter().enumerate() {
                    filter.insert_hash_shared(*key).unwrap();
                    inserted.store(i as u64 + 1, Ordering::Release);
                }
            });
            let mut seen = 0;
            while seen < keys.len() {
                let now = inserted.load(Ordering::Acquire) as usize;
                let mut answers = Answers::default();
                filter.contains_batch(&Keys::Hashes(&keys[seen..now]), &mut answers).unwrap();
                assert_eq!(answers.true_count, (now - seen) as u64);
                assert!(keys[seen..now].iter().all(|key| filter.contains_hash(*key)));
                seen = now;
            }
        });
    });
}

/// Of threads that race to insert a new key at least one is told that it was new. The filter is so large that no key is
/// mistaken for another.
#[test]
fn somebody_is_told_that_a_key_is_new() {
    for_each_spec(1_000_000, 1e-6, |spec| {
        let filter = empty(spec);
        let keys = hashes(3000, 4);
        let told: Vec<AtomicU64> = keys.iter().map(|_| AtomicU64::new(0)).collect();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for (key, told) in keys.iter().zip(&told) {
                        let new = filter.insert_hash_shared(*key).unwrap();
                        told.fetch_add(new.into(), Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(told.iter().all(|told| (1..=3).contains(&told.load(Ordering::Relaxed))));
        assert!(keys.iter().all(|key| !filter.insert_hash_shared(*key).unwrap()), "nothing is new twice");
    });
}

/// However many close a file at the same moment, one of them is the last, and leaves it clean.
#[test]
fn one_of_those_who_close_at_once_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.petal");
    petal::create(&Spec::with_capacity(1000, 0.01).unwrap()).unwrap().save(&path).unwrap();
    let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
    for round in 0..1000 {
        let together = Barrier::new(4);
        thread::scope(|scope| {
            for i in 0..4 {
                let (path, share, together) = (&path, &share, &together);
                scope.spawn(move || {
                    let filter = petal::open(path, share).unwrap();
                    filter.insert_hash_shared(mix(4 * round + i)).unwrap();
                    together.wait();
                    drop(filter);
                });
            }
        });
        let filter = petal::open(&path, &OpenOptions::default()).unwrap();
        filter.verify().unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
}

/// Handles that share a file insert side by side; the last one to close it leaves it clean and with all their keys.
#[test]
fn handles_share_a_file() {
    for_each_spec(10_000, 0.01, |spec| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.petal");
        empty(spec).save(&path).unwrap();
        let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
        let keys = hashes(10_000, 5);
        let (first, second) = (petal::open(&path, &share).unwrap(), petal::open(&path, &share).unwrap());
        thread::scope(|scope| {
            for (filter, part) in [&first, &second].into_iter().zip(keys.chunks(5_000)) {
                scope.spawn(move || part.iter().for_each(|key| assert!(filter.insert_hash_shared(*key).is_ok())));
            }
        });
        assert!(keys.iter().all(|key| first.contains_hash(*key) && second.contains_hash(*key)));

        let reading = petal::open(&path, &OpenOptions::default()).unwrap();
        assert!(reading.base().header().dirty, "others are writing");
        let alone = OpenOptions { mode: Mode::Write, ..OpenOptions::default() };
        assert_eq!(petal::open(&path, &alone).err().unwrap().status(), Status::Locked);
        assert_eq!(reading.insert_hash_shared(1).unwrap_err().status(), Status::Unsupported);

        // In whichever order they go.
        drop(first);
        assert!(petal::open(&path, &OpenOptions::default()).unwrap().base().header().dirty);
        drop(second);
        let clean = petal::open(&path, &OpenOptions::default()).unwrap();
        clean.verify().unwrap();
        let mut ordinary = empty(spec);
        ordinary.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
        assert!(ordinary.equals(&clean));
    });
}

/// What a handle that shares may and may not do; what a process left dirty stays so until somebody vouches for it.
#[test]
fn sharing_has_its_limits() {
    for_each_spec(100, 0.01, |spec| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.petal");
        empty(spec).save(&path).unwrap();
        let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
        let write = OpenOptions { mode: Mode::Write, ..OpenOptions::default() };
        {
            let mut filter = petal::open(&path, &share).unwrap();
            let can = filter.capabilities();
            assert!(can.contains(Capabilities::INSERT_SHARED) && !can.contains(Capabilities::INSERT));
            for refused in [filter.insert_hash(1).err(), filter.clear().err(), filter.fold(2).err()] {
                assert_eq!(refused.unwrap().status(), Status::Unsupported);
            }
            filter.insert_hash_shared(1).unwrap();
            // On the disk, and still shared.
            filter.sync().unwrap();
            assert!(petal::open(&path, &OpenOptions::default()).unwrap().base().header().dirty);
            // As a process that dies leaves it.
            filter.base_mut().abandon();
        }
        {
            let dirty = petal::open(&path, &share).unwrap();
            assert!(dirty.base().header().dirty && dirty.contains_hash(1));
        }
        let mut dirty = petal::open(&path, &write).unwrap();
        assert!(dirty.base().header().dirty);
        assert_eq!(dirty.insert_hash_shared(2).unwrap_err().status(), Status::Unsupported);
        dirty.add_offered(1).unwrap();
        dirty.sync().unwrap();
        assert!(petal::open(&path, &OpenOptions::default()).unwrap().base().header().dirty);
        dirty.vouch().unwrap();
        drop(dirty);
        let clean = petal::open(&path, &OpenOptions::default()).unwrap();
        clean.verify().unwrap();
        assert_eq!(clean.base().header().count, 1);
    });
}
