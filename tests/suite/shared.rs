//! Lock-free insertion: the guarantees of its contract, for every kind that has the capability.

use crate::common::{Case, at_rate, cases, each, empty, image, mix, share_of};
use core::sync::atomic::{AtomicU64, Ordering};
use petal::{
    Answers, Capabilities, Filter, HashFunction, Image, Keys, Mode, OpenOptions, Overfill, Spec, Status, Window,
};
use std::collections::VecDeque;
use std::sync::Barrier;
use std::thread;

/// Runs `test` on specs of every kind and layout that can insert without locks, for `capacity` hashes.
fn for_each_spec(capacity: u64, rate: f64, test: impl Fn(&Spec)) {
    for_each_case(Capabilities::INSERT_SHARED, |case| {
        test(&at_rate(&Spec { capacity, ..case.external() }, rate));
    });
}

fn for_each_case(capability: Capabilities, test: impl Fn(&Case)) {
    let able = share_of(cases(), 3, type_name_of(&test)).into_iter();
    each(able.filter(|case| case.capabilities().contains(capability)), Case::name, test);
}

fn type_name_of<T>(_: &T) -> &'static str {
    std::any::type_name::<T>()
}

/// Whether a filter that several threads filled holds what an ordinary filter holds after the same keys in another
/// order. The two have equal bits or, where bits depend on the order, the filter finds all keys.
fn holds_the_same(filter: &Filter, ordinary: &Filter, keys: &[u64]) -> bool {
    if filter.base().row().is_canonical {
        return ordinary.equals(filter);
    }
    keys.iter().all(|key| filter.contains_hash(*key))
}

/// Whether two filters are equal as far as lookups can tell. A filter that forgets can express in two ways which of its
/// generations is the newest.
fn answers_the_same(a: &Filter, b: &Filter) -> bool {
    let is_same = a.base().row().overfill == Overfill::Forgets || a.equals(b);
    is_same
        && a.statistics() == b.statistics()
        && (0..10_000).all(|i| a.contains_hash(mix(i)) == b.contains_hash(mix(i)))
}

fn hashes(count: u64, seed: u64) -> Vec<u64> {
    (0..count).map(|i| mix(seed << 32 | i)).collect()
}

/// `count` of [`hashes`], or integers below the capacity for a kind whose keys are integers.
fn keys_of(spec: &Spec, count: u64, seed: u64) -> Vec<u64> {
    match spec.hash {
        HashFunction::Identity => (0..count).map(|i| i % spec.capacity).collect(),
        _ => hashes(count, seed),
    }
}

/// Shared insertion sets the same bits as exclusive insertion, and gives the same answer for each key.
#[test]
fn alone_it_is_ordinary_insertion() {
    for_each_spec(2000, 0.01, |spec| {
        let (mut ordinary, shared, batched) = (empty(spec), empty(spec), empty(spec));
        let keys = keys_of(spec, 3000, 1);
        let mut new = vec![0; keys.len()];
        let mut answers = Answers { bytes: Some(&mut new), ..Answers::default() };
        batched.insert_shared_batch(&Keys::Hashes(&keys), Some(&mut answers)).outcome.unwrap();
        assert_eq!(answers.true_count, new.iter().map(|new| u64::from(*new)).sum::<u64>());
        for (key, new) in keys.iter().zip(new) {
            let expected = ordinary.insert_hash(*key).unwrap();
            assert_eq!(shared.insert_shared_hash(*key).unwrap(), expected);
            assert_eq!(new == 1, expected);
        }
        assert!(answers_the_same(&ordinary, &shared) && batched.equals(&shared));
        assert_eq!(shared.base().header().count, 0, "shared insertion does not count");
    });
}

/// Whatever threads do to one another, afterwards every bit of every key is set, and no other bit.
#[test]
fn threads_lose_nothing() {
    for_each_spec(40_000, 0.01, |spec| {
        let keys = keys_of(spec, 40_000, 2);
        // A key that is inserted again becomes young again in some kinds of window, and takes the room of another key.
        let shared = empty(&Spec { capacity: 100_000, ..*spec });
        thread::scope(|scope| {
            for part in 0..4 {
                let (shared, keys) = (&shared, &keys);
                scope.spawn(move || {
                    // The halves overlap; threads insert from both ends, singly and in batches.
                    let part = &keys[part * 5_000..part * 5_000 + 25_000];
                    let (first, second) = part.split_at(10_000);
                    first.iter().rev().for_each(|key| assert!(shared.insert_shared_hash(*key).is_ok()));
                    shared.insert_shared_batch(&Keys::Hashes(second), None).outcome.unwrap();
                    assert!(part.iter().all(|key| shared.contains_hash(*key)), "a thread finds its own keys");
                });
            }
        });
        let mut ordinary = empty(&Spec { capacity: 100_000, ..*spec });
        ordinary.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
        assert!(holds_the_same(&shared, &ordinary, &keys));
    });
}

/// A lookup finds every key whose insertion happened before the lookup.
#[test]
fn what_happened_before_is_found() {
    for_each_spec(20_000, 0.001, |spec| {
        let filter = empty(spec);
        let keys = keys_of(spec, 20_000, 3);
        let inserted = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for (i, key) in keys.iter().enumerate() {
                    filter.insert_shared_hash(*key).unwrap();
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

/// If threads race to insert a new key, at least one of them is told that the key was new. The filter is so large that
/// no key is mistaken for another.
#[test]
fn somebody_is_told_that_a_key_is_new() {
    for_each_spec(1_000_000, 1e-6, |spec| {
        let filter = empty(spec);
        let keys = keys_of(spec, 3000, 4);
        let told: Vec<AtomicU64> = keys.iter().map(|_| AtomicU64::new(0)).collect();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for (key, told) in keys.iter().zip(&told) {
                        let new = filter.insert_shared_hash(*key).unwrap();
                        told.fetch_add(new.into(), Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(told.iter().all(|told| (1..=3).contains(&told.load(Ordering::Relaxed))));
        assert!(keys.iter().all(|key| !filter.insert_shared_hash(*key).unwrap()), "nothing is new twice");
    });
}

/// If many handles close a file at the same moment, one of them is the last and leaves the file clean.
#[test]
fn one_of_those_who_close_at_once_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.petal");
    petal::Filter::new(&Spec::with_capacity(1000, 0.01).unwrap()).unwrap().save(&path).unwrap();
    let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
    // Waiting for a lock takes long in Wine.
    for round in 0..if cfg!(windows) { 20 } else { 1000 } {
        let together = Barrier::new(4);
        thread::scope(|scope| {
            for i in 0..4 {
                let (path, share, together) = (&path, &share, &together);
                scope.spawn(move || {
                    let filter = petal::open(path, share).unwrap();
                    filter.insert_shared_hash(mix(4 * round + i)).unwrap();
                    together.wait();
                    drop(filter);
                });
            }
        });
        let filter = petal::open(&path, &OpenOptions::default()).unwrap();
        filter.verify().unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
}

/// Handles that share a file insert side by side. The last handle to close the file leaves it clean and with all keys.
#[test]
fn handles_share_a_file() {
    for_each_spec(10_000, 0.01, |spec| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.petal");
        empty(spec).save(&path).unwrap();
        let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
        let keys = keys_of(spec, 10_000, 5);
        let (first, second) = (petal::open(&path, &share).unwrap(), petal::open(&path, &share).unwrap());
        thread::scope(|scope| {
            for (filter, part) in [&first, &second].into_iter().zip(keys.chunks(5_000)) {
                scope.spawn(move || part.iter().for_each(|key| assert!(filter.insert_shared_hash(*key).is_ok())));
            }
        });
        assert!(keys.iter().all(|key| first.contains_hash(*key) && second.contains_hash(*key)));

        let reading = petal::open(&path, &OpenOptions::default()).unwrap();
        assert!(reading.base().header().unclean, "others are writing");
        let alone = OpenOptions { mode: Mode::Write, ..OpenOptions::default() };
        assert_eq!(petal::open(&path, &alone).err().unwrap().status(), Status::Locked);
        assert_eq!(reading.insert_shared_hash(1).unwrap_err().status(), Status::UnsupportedByHandle);

        // The handles may close in either order.
        drop(first);
        assert!(petal::open(&path, &OpenOptions::default()).unwrap().base().header().unclean);
        drop(second);
        let clean = petal::open(&path, &OpenOptions::default()).unwrap();
        clean.verify().unwrap();
        let mut ordinary = empty(spec);
        ordinary.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
        assert!(holds_the_same(&clean, &ordinary, &keys));
    });
}

/// The calls that a sharing handle may make and those that it may not. A file that a process left unclean stays unclean
/// until somebody marks it clean.
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
            let all = filter.base().capabilities_in_memory();
            let refused = [filter.insert_hash(1).err(), filter.clear().err(), filter.fold(2).err()];
            for (refused, of) in
                refused.into_iter().zip([Capabilities::INSERT, Capabilities::CLEAR, Capabilities::FOLD])
            {
                let expected = if all.contains(of) { Status::UnsupportedByHandle } else { Status::Unsupported };
                assert_eq!(refused.unwrap().status(), expected);
            }
            filter.insert_shared_hash(1).unwrap();
            // The file is on the disk and is still shared.
            filter.sync().unwrap();
            assert!(petal::open(&path, &OpenOptions::default()).unwrap().base().header().unclean);
            // The handle leaves the file as a dying process leaves it.
            filter.base_mut().abandon();
        }
        {
            let unclean = petal::open(&path, &share).unwrap();
            assert!(unclean.base().header().unclean && unclean.contains_hash(1));
        }
        let mut unclean = petal::open(&path, &write).unwrap();
        assert!(unclean.base().header().unclean);
        assert_eq!(unclean.insert_shared_hash(2).unwrap_err().status(), Status::UnsupportedByHandle);
        unclean.add_insertions(1).unwrap();
        unclean.sync().unwrap();
        assert!(petal::open(&path, &OpenOptions::default()).unwrap().base().header().unclean);
        unclean.mark_clean().unwrap();
        drop(unclean);
        let clean = petal::open(&path, &OpenOptions::default()).unwrap();
        clean.verify().unwrap();
        assert_eq!(clean.base().header().count, 1);
    });
}

// ---- Windows -------------------------------------------------------------------------------------------------------

/// The moves of a window: insertions, or steps.
#[derive(Default)]
struct Moves {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Moves {
    fn make<T>(&self, body: impl FnOnce() -> T) -> T {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let made = body();
        self.ended.fetch_add(1, Ordering::SeqCst);
        made
    }
}

/// Inserts keys, and asserts that the filter keeps its window. Each key is found unless more than `window` moves may
/// have come after it. Such a move begins before the lookup and had not ended when the insertion began.
fn insert_and_look(filter: &Filter, keys: &[u64], (counts_keys, window): (bool, u64), moves: &Moves) {
    let mut young: VecDeque<(u64, u64)> = VecDeque::new();
    for key in keys {
        let before = moves.ended.load(Ordering::SeqCst);
        let insert = || filter.insert_shared_hash(*key).unwrap();
        // If a key seems to be there already, it may have the window of another key, so the test does not follow it.
        if if counts_keys { moves.make(insert) } else { insert() } {
            young.push_back((*key, before + u64::from(counts_keys)));
        }
        let found: Vec<bool> = young.iter().step_by(7).map(|(key, _)| filter.contains_hash(*key)).collect();
        let now = moves.begun.load(Ordering::SeqCst);
        for (found, (key, then)) in found.iter().zip(young.iter().step_by(7)) {
            assert!(
                *found || now.saturating_sub(*then) > window,
                "{key:x} is lost: {then} ended before it, {now} have begun"
            );
        }
        while young.front().is_some_and(|(_, then)| now.saturating_sub(*then) > window) {
            young.pop_front();
        }
    }
}

fn for_each_window(capacity: u64, of_keys: bool, test: impl Fn(&Spec, Window)) {
    for_each_case(Capabilities::INSERT_SHARED | Capabilities::AGE_SHARED, |case| {
        let spec = at_rate(&Spec { capacity, ..case.external() }, 0.01);
        let window = case.row.losses.window.unwrap()(&petal::geometry(&spec).unwrap());
        if window.keys.is_some() == of_keys {
            test(&spec, window);
        }
    });
}

/// Threads turn the generations of one handle some hundred times. Meanwhile no key of the window is lost.
#[test]
fn threads_keep_the_window() {
    for_each_window(100, true, |spec, window| {
        let filter = empty(spec);
        let (keys, moves) = (hashes(40_000, 6), Moves::default());
        let all = window.steps * window.keys.unwrap();
        thread::scope(|scope| {
            for part in keys.chunks(10_000) {
                let (filter, moves) = (&filter, &moves);
                scope.spawn(move || insert_and_look(filter, part, (true, all), moves));
            }
        });
        // While a thread is held up in a turn, the other threads put all of their keys into the newest generation. A
        // window later the filter has dropped that generation.
        for key in hashes(2 * all, 7) {
            filter.insert_shared_hash(key).unwrap();
        }
        let rate = filter.false_positive_rate();
        assert!(rate < 0.03, "{rate}");
    });
}

/// Threads have a handle each on one file. Meanwhile another handle moves time on.
#[test]
fn handles_keep_the_window_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("window.petal");
    let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
    for of_keys in [true, false] {
        for_each_window(200, of_keys, |spec, window| {
            empty(spec).save(&path).unwrap();
            let (keys, moves) = (hashes(20_000, 7), Moves::default());
            let all = window.steps * window.keys.unwrap_or(1);
            let running = AtomicU64::new(2);
            thread::scope(|scope| {
                for part in keys.chunks(10_000) {
                    let (path, share, moves, running) = (&path, &share, &moves, &running);
                    scope.spawn(move || {
                        let filter = petal::open(path, share).unwrap();
                        insert_and_look(&filter, part, (of_keys, all), moves);
                        running.fetch_sub(1, Ordering::SeqCst);
                    });
                }
                if !of_keys {
                    let filter = petal::open(&path, &share).unwrap();
                    while running.load(Ordering::SeqCst) > 0 {
                        moves.make(|| filter.advance_shared(1)).unwrap();
                        thread::sleep(std::time::Duration::from_micros(200));
                    }
                }
            });
            petal::open(&path, &OpenOptions::default()).unwrap().verify().unwrap();
        });
    }
}

/// Shared steps have the same effect as exclusive steps.
#[test]
fn time_moves_on_beside_others_as_it_does_alone() {
    for of_keys in [true, false] {
        for_each_window(100, of_keys, |spec, window| {
            let (mut alone, shared) = (empty(spec), empty(spec));
            for step in 0..2 * window.steps + 5 {
                for key in hashes(30 + 40 * (step % 3), 8 + step) {
                    assert_eq!(alone.insert_hash(key).unwrap(), shared.insert_shared_hash(key).unwrap());
                }
                alone.advance(step % 3).unwrap();
                shared.advance_shared(step % 3).unwrap();
                assert!(answers_the_same(&alone, &shared), "step {step}");
            }
            // A copy that one thread has alone goes on from the same state.
            let mut copy = shared.copy().unwrap();
            let keys = hashes(500, 9);
            alone.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
            copy.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
            assert!(answers_the_same(&alone, &copy));
            alone.merge(&shared).unwrap();
            copy.merge(&shared).unwrap();
            assert!(answers_the_same(&alone, &copy));
            copy.advance_shared(u64::MAX).unwrap();
            assert_eq!(copy.statistics().taken, 0);
            let before = image(&copy);
            copy.advance_shared(0).unwrap();
            assert_eq!(image(&copy), before);
        });
    }
}
