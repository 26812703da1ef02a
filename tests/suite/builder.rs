//! The builder: it sizes for distinct keys, spills without a trace, and keeps its keys when it is cancelled.

use crate::common::{SECRET, each_kind, image, mix};
use petal::{
    Builder, BuilderOptions, Error, Filter, HashFunction, Image, Keys, MIN_MEMORY_LIMIT, OpenOptions, Spec, Status,
    Taken, load,
};
use std::sync::{Arc, Mutex};

/// The number of hashes that the least memory limit keeps in memory.
const LIMIT: u64 = MIN_MEMORY_LIMIT / 4 * 3 / 8;

fn builder(spec: &Spec) -> Builder {
    Builder::new(spec, BuilderOptions::default()).unwrap()
}

fn add(builder: &mut Builder, keys: impl IntoIterator<Item = u64>) {
    keys.into_iter().for_each(|key| builder.add_u64(key).unwrap());
}

#[test]
fn filters_are_sized_for_the_distinct_keys() {
    let spec = Spec { false_positive_rate: 0.001, ..Spec::default() };
    let mut builder = builder(&spec);
    add(&mut builder, (0..1000).chain(0..1000).chain(0..7));
    assert_eq!(builder.key_count(), 2007);
    let filter = builder.finish().unwrap();
    let header = filter.base().header();
    assert_eq!((header.capacity, header.count), (1000, 2007));
    let mut direct = Filter::new(&Spec { capacity: 1000, ..spec }).unwrap();
    for i in 0..1000 {
        direct.insert_u64(i).unwrap();
    }
    assert!(filter.equals(&direct));
    assert!(filter.expected_false_positive_rate(1000) <= 0.001);
    // The filter has the size of the spec.
    for sized in [Spec { capacity: 5000, ..Spec::default() }, Spec { bits: 64_000, hashes: 5, ..Spec::default() }] {
        let mut builder = Builder::new(&sized, BuilderOptions::default()).unwrap();
        add(&mut builder, 0..10);
        let (built, created) = (builder.finish().unwrap(), Filter::new(&sized).unwrap());
        assert_eq!(built.base().geometry(), created.base().geometry());
        assert_eq!(built.base().header().capacity, created.base().header().capacity);
    }
    // With bits alone, the number of hashes needs a capacity.
    let bits_only = Spec { bits: 10_000, ..Spec::default() };
    let refused = Builder::new(&bits_only, BuilderOptions::default()).err().map(|error| error.status());
    assert_eq!(refused, Filter::new(&bits_only).err().map(|error| error.status()));
}

#[test]
fn builders_can_be_used_again() {
    let mut builder = builder(&Spec::default());
    let empty = builder.finish().unwrap();
    assert_eq!((empty.base().header().capacity, empty.base().header().count, empty.statistics().fill), (1, 0, 0.0));
    add(&mut builder, 0..100);
    let first = builder.finish().unwrap();
    assert_eq!(builder.key_count(), 0);
    add(&mut builder, 0..100);
    assert_eq!(image(&first), image(&builder.finish().unwrap()));
    assert_eq!(image(&empty), image(&builder.finish().unwrap()));
}

#[test]
fn keys_come_in_every_form() {
    let spec = Spec { hash: HashFunction::SipHash13, secret: Some(SECRET), ..Spec::default() };
    let numbers: Vec<u64> = (0..1500).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let offsets: Vec<u64> = (0..=1500).map(|i| 8 * i).collect();
    let hasher = spec.hasher().unwrap();
    let hashes: Vec<u64> = numbers.iter().map(|number| hasher.hash_u64(*number).unwrap()).collect();
    let finish = |fill: &dyn Fn(&mut Builder)| {
        let mut builder = builder(&spec);
        fill(&mut builder);
        assert_eq!(builder.key_count(), 1500);
        image(&builder.finish().unwrap())
    };
    let expected = finish(&|builder| numbers.iter().for_each(|number| builder.add_u64(*number).unwrap()));
    assert_eq!(expected, finish(&|builder| hashes.iter().for_each(|hash| builder.add_hash(*hash).unwrap())));
    assert_eq!(expected, finish(&|builder| numbers.iter().for_each(|n| builder.add(&n.to_le_bytes()).unwrap())));
    for keys in [Keys::U64(&numbers), Keys::Hashes(&hashes), Keys::Bytes { bytes: &bytes, offsets: &offsets }] {
        assert_eq!(
            expected,
            finish(&|builder| {
                let Taken { keys: added, outcome } = builder.add_batch(&keys);
                outcome.unwrap();
                assert_eq!(added, 1500);
            })
        );
    }
    let mut builder = builder(&spec);
    let Taken { keys: added, outcome } = builder.add_batch(&Keys::Bytes { bytes: &bytes, offsets: &[0, 8, 4] });
    assert_eq!((added, outcome.unwrap_err().status(), builder.key_count()), (0, Status::Offsets, 0));
}

/// Whatever the limit and the number of keys, a spilled build is the build in memory, and leaves no file.
#[test]
fn spilling_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let spilling = |limit| {
        let temporary_directory = Some(folder.path().to_path_buf());
        let options = BuilderOptions { memory_limit: Some(limit), temporary_directory, ..Default::default() };
        Builder::new(&Spec::default(), options).unwrap()
    };
    // Around whole runs, with limits around a power of two.
    for (limit, keys) in [
        (MIN_MEMORY_LIMIT, LIMIT - 1),
        (MIN_MEMORY_LIMIT, LIMIT),
        (MIN_MEMORY_LIMIT, LIMIT + 1),
        (MIN_MEMORY_LIMIT, 3 * LIMIT),
        (MIN_MEMORY_LIMIT + 11, 2 * LIMIT + 5),
        (MIN_MEMORY_LIMIT + 12, 400_000),
        (MIN_MEMORY_LIMIT + 504, 400_000),
        (3 << 20, 400_000),
    ] {
        // Some keys twice, in other runs and in the same.
        let all = || (0..keys).map(|i| mix(if i % 10 == 0 { i / 3 } else { i }));
        let mut spilled = spilling(limit);
        add(&mut spilled, all());
        // On Windows the file has a name, and goes with its handle.
        assert!(files() == 0 || cfg!(windows) && files() == 1, "the temporary file has no name");
        let mut in_memory = builder(&Spec::default());
        add(&mut in_memory, all());
        assert_eq!(spilled.key_count(), keys);
        let (spilled, in_memory) = (spilled.finish().unwrap(), in_memory.finish().unwrap());
        assert!(image(&spilled) == image(&in_memory), "limit {limit}, {keys} keys");
        assert!(all().all(|key| spilled.contains_u64(key)));
        assert_eq!(spilled.base().header().count, keys);
    }
    // One builder, used again after it spilled.
    let mut again = spilling(MIN_MEMORY_LIMIT);
    add(&mut again, 0..2 * LIMIT);
    again.finish().unwrap();
    add(&mut again, 0..100);
    let mut direct = builder(&Spec::default());
    add(&mut direct, 0..100);
    assert_eq!(image(&again.finish().unwrap()), image(&direct.finish().unwrap()));
    assert_eq!(files(), 0);
}

/// Threads change only the time, with and without a memory limit.
#[test]
fn threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let build = |memory_limit, threads| {
        let temporary_directory = Some(folder.path().to_path_buf());
        let options = BuilderOptions { memory_limit, temporary_directory, threads, ..Default::default() };
        let mut builder = Builder::new(&Spec::default(), options).unwrap();
        add(&mut builder, (0..400_000).map(|i| mix(i % 300_000)));
        image(&builder.finish().unwrap())
    };
    let expected = build(None, 0);
    for (memory_limit, threads) in [(None, 1), (None, 2), (None, 5), (Some(MIN_MEMORY_LIMIT), 2), (Some(4 << 20), 64)] {
        assert!(build(memory_limit, threads) == expected, "limit {memory_limit:?}, {threads} threads");
    }
}

#[test]
fn duplicates_do_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let temporary_directory = Some(folder.path().to_path_buf());
    let options = BuilderOptions { memory_limit: Some(MIN_MEMORY_LIMIT), temporary_directory, ..Default::default() };
    let mut builder = Builder::new(&Spec::default(), options).unwrap();
    add(&mut builder, (0..5 * LIMIT).map(|i| i % 10));
    let filter = builder.finish().unwrap();
    assert_eq!((filter.base().header().capacity, filter.base().header().count), (10, 5 * LIMIT));
}

/// A callback that cancels leaves the keys where they are, spilled or not.
#[test]
fn cancelling_keeps_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    for (memory_limit, keys) in [(None, 50_000), (Some(MIN_MEMORY_LIMIT), 300_000)] {
        // The number of calls before one cancels; `None` for never.
        let calls_left = Arc::new(Mutex::new(Some(3)));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (left, log) = (calls_left.clone(), seen.clone());
        let progress = move |done, all| {
            log.lock().unwrap().push((done, all));
            match &mut *left.lock().unwrap() {
                Some(0) => false,
                Some(calls) => {
                    *calls -= 1;
                    true
                }
                None => true,
            }
        };
        let options = BuilderOptions {
            memory_limit,
            temporary_directory: Some(folder.path().to_path_buf()),
            progress: Some(Box::new(progress)),
            ..Default::default()
        };
        let mut builder = Builder::new(&Spec::default(), options).unwrap();
        add(&mut builder, (0..keys).chain(0..100));
        let stopped: Error = builder.finish().err().unwrap();
        assert_eq!(stopped.status(), Status::Cancelled);
        assert_eq!(builder.key_count(), keys + 100);
        assert_eq!(seen.lock().unwrap().len(), 4);
        // More keys, and another try.
        add(&mut builder, keys..keys + 1000);
        *calls_left.lock().unwrap() = None;
        seen.lock().unwrap().clear();
        let filter = builder.finish().unwrap();
        assert_eq!(filter.base().header().capacity, keys + 1000);
        assert_eq!(filter.base().header().count, keys + 1100);
        assert!((0..keys + 1000).all(|i| filter.contains_u64(i)));
        let mut whole = self::builder(&Spec::default());
        add(&mut whole, (0..keys + 1000).chain(0..100));
        assert!(image(&whole.finish().unwrap()) == image(&filter));
        let seen = seen.lock().unwrap();
        let (done, all) = *seen.last().unwrap();
        assert!(done == all && all > keys + 1000);
        assert!(seen.is_sorted() && seen.iter().all(|(_, total)| *total == all));
    }
}

#[test]
fn a_file_is_made_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    std::fs::write(&path, b"old").unwrap();
    let mut builder = builder(&Spec::default());
    add(&mut builder, 0..1000);
    let refused = builder.save(&folder.path().join("nowhere/filter")).unwrap_err();
    assert_eq!(refused.status(), Status::NotFound);
    assert!(refused.to_string().contains("the folder does not exist"), "{refused}");
    assert_eq!(builder.key_count(), 1000);
    builder.save(&path).unwrap();
    assert_eq!(builder.key_count(), 0);
    let filter = load(&std::fs::read(&path).unwrap(), &OpenOptions::default()).unwrap();
    assert!((0..1000).all(|i| filter.contains_u64(i)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn wrong_options_and_specs_are_refused_at_once() {
    let status = |spec: &Spec, options| Builder::new(spec, options).err().map(|error| error.status());
    let limit = |memory_limit, folder: Option<&str>| BuilderOptions {
        memory_limit: Some(memory_limit),
        temporary_directory: folder.map(Into::into),
        ..Default::default()
    };
    let plain = Spec::default();
    assert_eq!(status(&plain, limit(MIN_MEMORY_LIMIT - 1, Some("."))), Some(Status::OutOfRange));
    assert_eq!(status(&plain, limit(0, Some("."))), Some(Status::OutOfRange));
    assert_eq!(status(&plain, limit(MIN_MEMORY_LIMIT, None)), Some(Status::Contradiction));
    let none = BuilderOptions::default;
    assert_eq!(status(&Spec { false_positive_rate: 2.0, ..plain }, none()), Some(Status::FalsePositiveRate));
    assert_eq!(status(&Spec { false_positive_rate: f64::NAN, ..plain }, none()), Some(Status::FalsePositiveRate));
    assert_eq!(status(&Spec { kind: Some(petal::KindId(999)), ..plain }, none()), Some(Status::UnknownValue));
    assert_eq!(status(&Spec { hash: HashFunction::SipHash13, ..plain }, none()), Some(Status::SecretMissing));
    assert_eq!(status(&Spec { bits: 1 << 63, capacity: 1, ..plain }, none()), Some(Status::TooLarge));
}

/// Making a builder fails if it cannot make a file in the folder, and the error names the folder.
#[test]
fn a_missing_folder_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    for (memory_limit, missing) in
        [(Some(MIN_MEMORY_LIMIT), folder.path().join("missing")), (None, folder.path().join("missing")), (None, file)]
    {
        let options =
            BuilderOptions { memory_limit, temporary_directory: Some(missing.clone()), ..BuilderOptions::default() };
        let error = Builder::new(&Spec::default(), options).err().unwrap();
        assert_eq!(error.status(), Status::NotFound);
        assert!(error.message().contains(missing.file_name().unwrap().to_str().unwrap()), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A builder that cannot spill any more does not add the key that does not fit, and keeps the others.
#[test]
fn a_folder_that_goes_loses_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    std::fs::create_dir(&missing).unwrap();
    let options = BuilderOptions {
        memory_limit: Some(MIN_MEMORY_LIMIT),
        temporary_directory: Some(missing.clone()),
        ..Default::default()
    };
    let mut builder = Builder::new(&Spec::default(), options).unwrap();
    std::fs::remove_dir(&missing).unwrap();
    add(&mut builder, 0..LIMIT);
    assert_eq!(builder.add_u64(LIMIT).unwrap_err().status(), Status::NotFound);
    assert_eq!(builder.key_count(), LIMIT);
    std::fs::create_dir(&missing).unwrap();
    add(&mut builder, LIMIT..LIMIT + 10);
    let filter = builder.finish().unwrap();
    assert!((0..LIMIT + 10).all(|i| filter.contains_u64(i)));
    assert_eq!(filter.base().header().capacity, LIMIT + 10);
}

/// Keys with their counts are the same as that many single keys, in every kind that counts. A count beyond the greatest
/// one becomes the greatest one, or is refused if every copy takes a place. Kinds that do not count refuse counts.
#[test]
fn keys_come_with_counts() {
    each_kind(petal::registry::FILTERS.iter().filter(|row| row.hashing.universe.is_none()), |row| {
        println!("{}", row.name);
        let spec = Spec { kind: Some(row.kind), false_positive_rate: 1e-6, ..Spec::default() };
        let (mut by_counts, mut one_by_one) = (builder(&spec), builder(&spec));
        let keys: Vec<u64> = (0..300).map(|i| i % 200).collect();
        let times: Vec<u64> = keys.iter().map(|key| key % 3).collect();
        let taken = by_counts.add_times_batch(&Keys::U64(&keys), &times);
        if !row.capabilities.contains(petal::Capabilities::COUNT) {
            assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (0, Status::Unsupported));
            assert_eq!(by_counts.add_times(u64::to_le_bytes(1), 2).unwrap_err().status(), Status::Unsupported);
            return;
        }
        taken.outcome.unwrap();
        assert_eq!(taken.keys, 300);
        by_counts.add_times(b"some bytes", 2).unwrap();
        by_counts.add_times_hash(77, 3).unwrap();
        for (key, times) in keys.iter().zip(&times) {
            (0..*times).for_each(|_| one_by_one.add_u64(*key).unwrap());
        }
        (0..2).for_each(|_| one_by_one.add(b"some bytes").unwrap());
        (0..3).for_each(|_| one_by_one.add_hash(77).unwrap());
        assert_eq!(by_counts.key_count(), one_by_one.key_count());
        assert_eq!(by_counts.key_count(), times.iter().sum::<u64>() + 5);
        let refused = by_counts.add_times_batch(&Keys::U64(&keys), &times[1..]).outcome.unwrap_err();
        assert_eq!(refused.status(), Status::BufferTooSmall);
        let (built, singly) = (by_counts.finish().unwrap(), one_by_one.finish().unwrap());
        assert_eq!(image(&built), image(&singly));
        let greatest = built.kind().as_count().unwrap().greatest_count();
        for key in 0..200 {
            let really: u64 = keys.iter().zip(&times).filter(|(one, _)| **one == key).map(|(_, times)| times).sum();
            assert_eq!(built.count_u64(key).unwrap(), really.min(greatest), "key {key}");
        }
        assert_eq!(by_counts.key_count(), 0);
        by_counts.add_times(u64::to_le_bytes(1), 1_000_000).unwrap();
        match by_counts.finish() {
            Ok(filter) => assert_eq!(filter.count_u64(1).unwrap(), greatest.min(1_000_000)),
            Err(error) => {
                assert!(row.overfill == petal::Overfill::Refuses && error.status() == Status::Full, "{error}");
            }
        }
    });
}
