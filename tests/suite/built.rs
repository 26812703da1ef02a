//! Filters and maps that are built from all of their keys, of every such kind: the same bytes in every way of building,
//! right progress reports, and no leftovers after a cancellation.

use crate::common::{Case, all_layouts, at_rate, each, image, mix};
use petal::contract::PROGRESS_INTERVAL;
use petal::{Builder, BuilderOptions, Error, Keys, MIN_MEMORY_LIMIT, MapBuilder, Progress, Result, Spec, Status};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A builder of filters or of maps.
enum Any {
    Filter(Box<Builder>),
    Map(Box<MapBuilder>),
}

impl Any {
    /// A builder with these keys.
    fn of(case: &Case, keys: &[u64], options: BuilderOptions) -> Any {
        let spec = at_rate(&Spec { capacity: keys.len() as u64, ..case.spec() }, 0.01);
        let spec = Spec { capacity: 0, ..spec };
        if !case.row.is_map() {
            let mut builder = Builder::new(&spec, options).unwrap();
            builder.add_batch(&Keys::U64(keys)).outcome.unwrap();
            return Any::Filter(Box::new(builder));
        }
        let bits = case.value("value_bits").map_or(8, |bits| if bits == 0.0 { 8 } else { bits as u32 });
        let values: Vec<u64> = keys.iter().map(|key| mix(*key) >> (64 - bits)).collect();
        let mut builder = MapBuilder::new(&spec, options).unwrap();
        builder.put_batch(&Keys::U64(keys), &values).outcome.unwrap();
        Any::Map(Box::new(builder))
    }

    /// The image of the built filter or map.
    fn finish(&mut self) -> Result<Vec<u8>> {
        match self {
            Any::Filter(builder) => builder.finish().map(|filter| image(&filter)),
            Any::Map(builder) => builder.finish().map(|map| image(&map)),
        }
    }

    fn save(&mut self, path: &Path) -> Result<()> {
        match self {
            Any::Filter(builder) => builder.save(path),
            Any::Map(builder) => builder.save(path),
        }
    }

    fn key_count(&self) -> u64 {
        match self {
            Any::Filter(builder) => builder.key_count(),
            Any::Map(builder) => builder.key_count(),
        }
    }
}

/// Every layout of the kinds that are built from all of their keys. Layouts whose fingerprints have the length that the
/// rate needs also come with lengths of one bit, of part of a byte and of a whole one.
fn layouts() -> impl Iterator<Item = Case> {
    let of_lengths = |case: Case| {
        let lengths = if case.value("fingerprint_bits") == Some(0.0) { &[1.0, 5.0, 8.0][..] } else { &[] };
        let with = |length: &f64| {
            let mut case = case.clone();
            let bits = case.values.iter_mut().filter(|(parameter, _)| parameter.name == "fingerprint_bits");
            bits.for_each(|(_, value)| *value = *length);
            case
        };
        let others: Vec<Case> = lengths.iter().map(with).collect();
        // Not all kinds take all of them.
        [case].into_iter().chain(others.into_iter().filter(|case| petal::geometry(&case.spec()).is_ok()))
    };
    all_layouts().into_iter().filter(|case| !case.row.is_made_empty()).flat_map(of_lengths)
}

/// These kinds with their default parameters.
fn kinds() -> impl Iterator<Item = Case> {
    layouts().filter(Case::is_default)
}

/// `n` keys in an order that depends on the salt; every tenth key comes twice or more often.
fn keys(n: u64, salt: u64) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..n).map(|i| if i % 10 == 0 { i / 3 } else { i }).collect();
    match salt {
        0 => {}
        1 => keys.reverse(),
        _ => keys.sort_unstable_by_key(|key| mix(key ^ mix(salt))),
    }
    keys
}

fn options(folder: &Path, memory_limit: Option<u64>, threads: usize) -> BuilderOptions {
    BuilderOptions { memory_limit, temporary_directory: Some(folder.to_owned()), threads, progress: None }
}

#[test]
#[ignore = "slow: make test-all"]
fn the_order_of_keys_memory_and_threads_change_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let made = |case: &Case, n, (order, limit, threads)| {
        Any::of(case, &keys(n, order), options(folder.path(), limit, threads)).finish().unwrap()
    };
    let (none, least) = (None, Some(MIN_MEMORY_LIMIT));
    // Few keys in every layout.
    each(layouts(), Case::name, |case| {
        let expected = made(case, 3000, (0, none, 1));
        for how in [(1, none, 3), (2, least, 2)] {
            assert!(made(case, 3000, how) == expected, "{}: order, limit, threads: {how:?}", case.name());
        }
    });
    // More than are kept in memory, and more than a shard has.
    let hows = [(1, none, 0), (2, none, 8), (3, least, 1), (4, least, 2), (5, Some(5 << 19), 3), (1, Some(3 << 20), 8)];
    each(kinds(), Case::name, |case| {
        for (n, hows) in [(250_000, &hows[..]), (1_200_000, &[(6, none, 3)])] {
            let expected = made(case, n, (0, none, 1));
            for how in hows {
                assert!(made(case, n, *how) == expected, "{}: order, limit, threads: {how:?}", case.name());
            }
        }
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The reports to a callback, and the number of the call that cancels, counted from 0.
#[derive(Clone)]
struct Log(Arc<Mutex<(Vec<(u64, u64)>, usize)>>);

impl Log {
    fn until(last: usize) -> Log {
        Log(Arc::new(Mutex::new((Vec::new(), last))))
    }

    fn callback(&self) -> Option<Box<Progress>> {
        let Log(log) = self.clone();
        Some(Box::new(move |done, total| {
            let (calls, last) = &mut *log.lock().unwrap();
            calls.push((done, total));
            calls.len() <= *last
        }))
    }

    /// The calls up to now, which are then forgotten. Nothing is cancelled any more.
    fn take(&self) -> Vec<(u64, u64)> {
        std::mem::replace(&mut *self.0.lock().unwrap(), (Vec::new(), usize::MAX)).0
    }
}

/// Asserts what the documentation promises about progress reports.
fn check_progress(calls: &[(u64, u64)], what: &str) {
    let (_, total) = calls[0];
    assert!(calls.iter().all(|call| call.1 == total), "{what}: one work in all");
    assert!(calls.is_sorted(), "{what}: never less");
    assert_eq!(calls.last(), Some(&(total, total)), "{what}: all at the end");
}

/// There are never more keys between two calls than the contract says.
#[test]
#[ignore = "slow: make test-all"]
fn progress_comes_often() {
    let folder = tempfile::tempdir().unwrap();
    each(kinds(), Case::name, |case| {
        for (limit, threads) in [(None, 1), (Some(4 << 20), 2)] {
            let log = Log::until(usize::MAX);
            let how = BuilderOptions { progress: log.callback(), ..options(folder.path(), limit, threads) };
            Any::of(case, &keys(2_200_000, 2), how).finish().unwrap();
            let (what, calls) = (format!("{}, limit {limit:?}", case.name()), log.take());
            check_progress(&calls, &what);
            for pair in calls.windows(2) {
                assert!(pair[1].0 - pair[0].0 <= PROGRESS_INTERVAL, "{what}: {pair:?}");
            }
        }
    });
}

#[test]
#[ignore = "slow: make test-all"]
fn cancelling_at_any_call_leaves_nothing_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    each(kinds(), Case::name, |case| {
        for (n, limit) in [(0, None), (1, None), (50_000, None), (105_000, Some(MIN_MEMORY_LIMIT))] {
            let keys = keys(n, 2);
            let builder = |log: &Log| {
                let how = BuilderOptions { progress: log.callback(), ..options(folder.path(), limit, 0) };
                Any::of(case, &keys, how)
            };
            let log = Log::until(usize::MAX);
            let expected = builder(&log).finish().unwrap();
            let all_calls = log.take();
            check_progress(&all_calls, &format!("{}, {n} keys, limit {limit:?}", case.name()));
            for last in 0..all_calls.len() {
                let what = format!("{}, {n} keys, limit {limit:?}, call {last}", case.name());
                let log = Log::until(last);
                let mut builder = builder(&log);
                let stopped: Error = builder.save(&path).unwrap_err();
                assert_eq!(stopped.status(), Status::Cancelled, "{what}: {stopped}");
                assert_eq!(log.take(), all_calls[..=last], "{what}");
                // On Windows the file that holds the keys has a name, and goes with its handle.
                let left = fs::read_dir(folder.path()).unwrap().count();
                assert!(left == 0 || cfg!(windows) && limit.is_some() && left == 1, "{what}");
                // All keys are there still.
                assert_eq!(builder.key_count(), n, "{what}");
                if last % 8 == 0 {
                    assert!(builder.finish().unwrap() == expected, "{what}");
                    check_progress(&log.take(), &what);
                }
            }
        }
    });
}
