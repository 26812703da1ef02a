//! Compares the collector with a map of the standard library.

use super::*;
use crate::bits::mix;
use crate::contract::{Counted, Entry, Progress};
use std::collections::BTreeMap;
use std::path::Path;

/// A record that can be made from numbers and looked up in a map.
trait Sample: Record + PartialEq {
    /// A record with this key, offered for the `i`-th time.
    fn of(key: u64, i: u64) -> Self;

    /// The records that a collector keeps of these records.
    fn distinct(records: &[Self]) -> Vec<Self>;
}

impl Sample for u64 {
    fn of(key: u64, _: u64) -> u64 {
        key
    }

    fn distinct(records: &[u64]) -> Vec<u64> {
        records.iter().map(|hash| (*hash, ())).collect::<BTreeMap<_, _>>().into_keys().collect()
    }
}

impl Sample for Counted {
    fn of(key: u64, i: u64) -> Counted {
        Counted { hash: key, count: if i % 1000 == 999 { u64::MAX - 1 } else { 1 + i % 3 } }
    }

    fn distinct(records: &[Counted]) -> Vec<Counted> {
        let mut counts = BTreeMap::<u64, u64>::new();
        for Counted { hash, count } in records {
            let sum = counts.entry(*hash).or_default();
            *sum = sum.saturating_add(*count);
        }
        counts.into_iter().map(|(hash, count)| Counted { hash, count }).collect()
    }
}

impl Sample for Entry {
    /// Some keys share their first half, and others do not.
    fn of(key: u64, _: u64) -> Entry {
        Entry { id: u128::from(mix(key / 3)) << 64 | u128::from(mix(key)), value: key }
    }

    fn distinct(records: &[Entry]) -> Vec<Entry> {
        let entries: BTreeMap<u128, u64> = records.iter().map(|entry| (entry.id, entry.value)).collect();
        entries.into_iter().map(|(id, value)| Entry { id, value }).collect()
    }
}

/// Keys as they may come: uniform, in order, all alike, in clusters, alike in all but their last bits, or each a power
/// of two.
const SHAPES: [fn(u64) -> u64; 9] = [
    mix,
    |i| i,
    |i| u64::MAX - i,
    |_| 7,
    |i| mix(i) % 100,
    |i| mix(i) >> 40,
    |i| (mix(i / 50) << 20) | (i % 50),
    |i| 1 << (mix(i) % 64),
    |i| if i.is_multiple_of(100) { mix(i) } else { mix(i) & 0xff | mix(i % 3) << 8 },
];

fn options(limit: Option<u64>, folder: &Path, threads: usize) -> CollectorOptions {
    CollectorOptions { memory_limit: limit, temporary_directory: Some(folder.to_owned()), threads }
}

/// All records, read in two passes, which give the same records.
fn read<R: Sample>(sorted: &Sorted<R>) -> Vec<R> {
    let mut passes = [Vec::new(), Vec::new()];
    for pass in &mut passes {
        let take = &mut |records: &[R]| {
            assert!(!records.is_empty());
            pass.extend_from_slice(records);
            Ok(())
        };
        sorted.for_each(take).unwrap();
    }
    let [first, second] = passes;
    assert!(first == second);
    assert_eq!(first.len() as u64, sorted.count());
    first
}

fn collect_every_shape<R: Sample>() {
    let folder = tempfile::tempdir().unwrap();
    for (s, shape) in SHAPES.iter().enumerate() {
        for (n, limit, threads) in [
            (0, None, 0),
            (1, None, 0),
            (33, None, 0),
            (5000, None, 0),
            (150_000, None, 0),
            (150_000, None, 2),
            (300_000, None, 3),
            (5000, Some(MIN_MEMORY_LIMIT), 0),
            (300_000, Some(MIN_MEMORY_LIMIT), 0),
            (300_000, Some(MIN_MEMORY_LIMIT + 12_345), 2),
        ] {
            let records: Vec<R> = (0..n).map(|i| R::of(shape(i), i)).collect();
            let mut collector = Collector::new(options(limit, folder.path(), threads)).unwrap();
            let half = records.len() / 2;
            records[..half].iter().for_each(|record| collector.add(*record).unwrap());
            let Taken { keys, outcome } = collector.add_all(&records[half..]);
            outcome.unwrap();
            assert_eq!((keys, collector.added()), (records.len() - half, n));
            let sorted = collector.finish(0, &mut Steps::silent()).unwrap();
            assert!(read(&sorted) == R::distinct(&records), "shape {s}, {n} records, {limit:?}, {threads} threads");
            assert_eq!(limit.is_some(), sorted.memory_left() != u64::MAX);
        }
    }
}

#[test]
fn hashes_of_every_shape() {
    collect_every_shape::<u64>();
}

#[test]
fn counted_hashes_of_every_shape() {
    collect_every_shape::<Counted>();
}

#[test]
fn entries_of_every_shape() {
    collect_every_shape::<Entry>();
}

/// Runs are merged however many there are, even more than can be merged together.
#[test]
fn runs_are_merged_in_passes_where_memory_is_short() {
    let folder = tempfile::tempdir().unwrap();
    for (runs, records) in [(2, 5000), (3, 1), (200, 100), (300, 3)] {
        let mut file = RunFile::new(folder.path()).unwrap();
        let mut all = Vec::new();
        for run in 0..runs {
            // Half of these hashes are in other runs too.
            let mut hashes: Vec<u64> =
                (0..records).map(|i| mix(if i % 2 == 0 { i } else { i + run * records })).collect();
            hashes.sort_unstable();
            let mut append = file.append(folder.path()).unwrap();
            append.write(&hashes, &mut Steps::silent()).unwrap();
            append.done();
            all.extend(hashes);
        }
        let mut files = vec![file];
        let memory = 1 << 20;
        let total = merge::work(runs as usize, runs * records, memory);
        assert_eq!(total, if runs > 96 { 2 } else { 1 } * runs * records);
        let mut steps = Steps::new(None, total);
        merge::merge::<u64>(&mut files, folder.path(), memory, 0, &mut steps).unwrap();
        let run = files.iter().flat_map(RunFile::runs).next().unwrap();
        assert_eq!(files.len(), 1);
        let sorted = Sorted::<u64> { place: Place::File { run, room: 1000 }, memory_left: 0 };
        assert!(read(&sorted) == u64::distinct(&all), "{runs} runs of {records}");
    }
}

/// A collector leaves as much memory as the caller asks for, can go on, and can be finished again.
#[test]
fn memory_is_left_and_more_can_come() {
    let folder = tempfile::tempdir().unwrap();
    let mut collector = Collector::new(options(Some(MIN_MEMORY_LIMIT), folder.path(), 0)).unwrap();
    let mut all: Vec<u64> = Vec::new();
    for (n, leave) in [(10, 0), (50_000, 0), (50_000, MIN_MEMORY_LIMIT / 2), (10, 0), (200_000, 0), (0, 0)] {
        for i in 0..n {
            let hash = mix(i + all.len() as u64 / 2);
            all.push(hash);
            collector.add(hash).unwrap();
        }
        let sorted = collector.finish(leave, &mut Steps::silent()).unwrap();
        assert!(sorted.memory_left() >= leave && sorted.memory_left() < MIN_MEMORY_LIMIT);
        assert!(read(&sorted) == u64::distinct(&all));
    }
    collector.clear();
    assert_eq!((collector.added(), collector.kept(), collector.work()), (0, 0, 0));
    assert_eq!(collector.finish(0, &mut Steps::silent()).unwrap().count(), 0);
}

/// A key with two values is found, in memory and in files, and no record is lost by that.
#[test]
fn two_values_of_a_key_are_a_contradiction() {
    let folder = tempfile::tempdir().unwrap();
    for (n, limit) in
        [(100, None), (100_000, None), (30_000, Some(MIN_MEMORY_LIMIT)), (100_000, Some(MIN_MEMORY_LIMIT))]
    {
        for (first, second) in [(0, n - 1), (n / 2, n / 2 + 1)] {
            let mut collector = Collector::new(options(limit, folder.path(), 0)).unwrap();
            let mut refused = None;
            for i in 0..n {
                let key = if i == second { first } else { i };
                let id = u128::from(mix(key)) << 64 | 5;
                let value = if i == second { 1_000_000 } else { i };
                if let Err(error) = collector.add(Entry { id, value }) {
                    refused = Some(error);
                    break;
                }
            }
            let added = collector.added();
            for _ in 0..2 {
                let error = collector.finish(0, &mut Steps::silent()).err();
                let error = refused.take().or(error).unwrap();
                assert_eq!(error.status(), Status::Contradiction);
                let named = format!("{first} and 1000000; its identity is {:#034x}", u128::from(mix(first)) << 64 | 5);
                assert!(error.message().contains(&named), "{error}");
                assert_eq!(collector.added(), added);
            }
        }
    }
}

/// Progress rises to the end, and cancelling at any point loses nothing.
#[test]
fn progress_rises_and_cancelling_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (n, limit, threads) in
        [(200_000, None, 0), (200_000, None, 2), (200_000, Some(MIN_MEMORY_LIMIT), 0), (0, None, 0), (10, None, 0)]
    {
        let records: Vec<u64> = (0..n).map(|i| mix(i % (n / 2 + 1))).collect();
        let fresh = || {
            let mut collector = Collector::new(options(limit, folder.path(), threads)).unwrap();
            collector.add_all(&records).outcome.unwrap();
            collector
        };
        let mut seen = Vec::new();
        let mut collector = fresh();
        let total = collector.work();
        // The callback must own what it uses, so the log comes back through a channel.
        let (tell, told) = std::sync::mpsc::channel();
        let mut progress: Box<Progress> = Box::new(move |done, total| tell.send((done, total)).is_ok());
        collector.finish(0, &mut Steps::new(Some(&mut *progress), total)).unwrap();
        seen.extend(told.try_iter());
        assert!(seen.is_sorted() && seen.iter().all(|(_, all)| *all == total), "{seen:?}");
        assert_eq!(seen.last().copied(), (n > 0).then_some((total, total)));
        for stop in [0, 1, 2, seen.len() / 2, seen.len().saturating_sub(2), seen.len().saturating_sub(1)] {
            let mut collector = fresh();
            let mut calls = 0;
            let mut progress: Box<Progress> = Box::new(move |_, _| {
                calls += 1;
                calls != stop + 1
            });
            let outcome = collector.finish(0, &mut Steps::new(Some(&mut *progress), total)).map(|_| ());
            if threads < 2 {
                assert_eq!(
                    outcome.map_err(|error| error.status()),
                    if stop < seen.len() { Err(Status::Cancelled) } else { Ok(()) }
                );
            }
            assert_eq!(collector.added(), n);
            let sorted = collector.finish(0, &mut Steps::silent()).unwrap();
            assert!(read(&sorted) == u64::distinct(&records));
        }
    }
}

/// An error of the function that takes the records ends the pass.
#[test]
fn a_pass_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for limit in [None, Some(MIN_MEMORY_LIMIT)] {
        let mut collector = Collector::new(options(limit, folder.path(), 0)).unwrap();
        (0..200_000).for_each(|i| collector.add(mix(i)).unwrap());
        let sorted = collector.finish(0, &mut Steps::silent()).unwrap();
        let mut pieces = 0;
        let outcome = sorted.for_each(&mut |_| {
            pieces += 1;
            if pieces == 2 { Err(Status::Callback.into()) } else { Ok(()) }
        });
        assert_eq!((pieces, outcome.unwrap_err().status()), (2, Status::Callback));
    }
}
