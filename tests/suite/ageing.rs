//! Kinds that forget: lookups find every key of the window at every moment, older keys are gone, and rates hold in
//! every phase. No test names a kind: each takes its kinds from the registry.

use crate::common::{Buffer, Case, cases, each, empty, hash_of, image, is_soak, mix, share_of};
use crate::conformance::{FRESH, can, fails, false_positives};
use petal::{Answers, Capabilities, Filter, Image, Keys, Mode, OpenOptions, Overfill, Spec, Status, Window};
use std::any::type_name;
use std::collections::HashMap;

/// Every kind with a window, and its filter for `capacity` keys at `rate`.
fn for_each_window<T: Fn(&Case, &Spec, Window)>(capacity: u64, rate: f64, test: T) {
    let windows = share_of(cases(), 3, type_name::<T>()).into_iter().filter(|case| case.row.losses.window.is_some());
    each(windows, Case::name, |case| {
        let Some(window) = case.row.losses.window else { return };
        let spec = case.sized(capacity, rate);
        test(case, &spec, window(&petal::geometry(&spec).unwrap()));
    });
}

fn insert(filter: &mut Filter, spec: &Spec, keys: std::ops::Range<u64>) {
    let hashes: Vec<u64> = keys.map(|i| hash_of(spec, i)).collect();
    filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
}

/// Inserts keys, and returns those that the filter took as new: with `touch` = 0, the keys that it did not find before.
fn insert_taken(filter: &mut Filter, case: &Case, spec: &Spec, keys: std::ops::Range<u64>) -> Vec<u64> {
    let touches = case.value("touch") != Some(0.0);
    keys.filter(|i| filter.insert_hash(hash_of(spec, *i)).unwrap() || touches).collect()
}

fn missing_of(filter: &Filter, spec: &Spec, keys: &[u64]) -> usize {
    keys.iter().filter(|i| !filter.contains_hash(hash_of(spec, **i))).count()
}

fn missing(filter: &Filter, spec: &Spec, keys: std::ops::Range<u64>) -> usize {
    keys.filter(|i| !filter.contains_hash(hash_of(spec, *i))).count()
}

#[test]
fn rows_agree_about_ageing() {
    each(cases(), Case::name, |case| {
        let ages = can(case, Capabilities::AGE);
        assert_eq!(ages, case.row.overfill == Overfill::Forgets, "{}", case.row.name);
        // Kinds that may lose any key have no window. Others lose only a key that they never took.
        let loses = case.row.capabilities.contains(Capabilities::MAY_LOSE_KEYS);
        assert_eq!(case.row.losses.window.is_some(), ages && !loses, "{}", case.row.name);
        assert_eq!(case.may_lose(), loses || case.value("touch") == Some(0.0), "{}", case.name());
        assert_eq!(case.may_lose(), can(case, Capabilities::MAY_LOSE_KEYS) && has_losses(case), "{}", case.name());
        assert!(!ages || case.row.losses.false_negative_rate.is_some(), "{}", case.row.name);
        let mut filter = empty(&Spec { capacity: 100, ..case.spec() });
        match ages {
            true => filter.advance(1).unwrap(),
            false => fails(filter.advance(1), Status::Unsupported),
        }
    });
}

/// Lookups find all of the last keys, however many keys came before, and in every phase of a generation.
#[test]
fn every_key_of_the_window_is_found_at_every_phase() {
    for_each_window(60, 0.05, |case, spec, window| {
        let Some(keys) = window.keys else { return };
        let all = window.steps * keys;
        assert!((60..60 + 2 * window.steps).contains(&all), "a window of {all} keys");
        let (mut filter, mut taken) = (empty(spec), Vec::new());
        for i in 0..12 * all {
            taken.extend(insert_taken(&mut filter, case, spec, i..i + 1));
            let young = taken.len().saturating_sub(all as usize);
            assert_eq!(missing_of(&filter, spec, &taken[young..]), 0, "after {} keys", i + 1);
        }
    });
}

/// In a window of time, lookups find a key for as many steps as the kind promises, however many keys come meanwhile.
#[test]
fn every_key_of_a_window_of_time_is_found() {
    for_each_window(50, 0.05, |case, spec, window| {
        if window.keys.is_some() {
            return;
        }
        let (mut filter, mut taken) = (empty(spec), Vec::new());
        for step in 0..3 * window.steps + 5 {
            // In some steps no key comes, and in others far more keys than the capacity.
            let count = [50, 0, 13, 300][step as usize % 4];
            taken.push(insert_taken(&mut filter, case, spec, 1000 * step..1000 * step + count));
            for past in step.saturating_sub(window.steps)..=step {
                let missing = missing_of(&filter, spec, &taken[past as usize]);
                assert_eq!(missing, 0, "of step {past} in step {step}");
            }
            filter.advance(1).unwrap();
        }
    });
}

/// After a window and one generation more, a lookup finds a key as rarely as a key that never came.
#[test]
fn what_is_older_is_forgotten() {
    for_each_window(2000, 0.05, |case, spec, window| {
        let mut filter = empty(spec);
        insert(&mut filter, spec, 0..1000);
        // Enough steps that none of the places that a key has at one time is left. Some later keys are taken for known,
        // and change nothing.
        let steps = window.steps + u64::from(filter.base().geometry().hashes) + 2;
        match window.keys {
            Some(keys) => insert(&mut filter, spec, 1000..1000 + steps * keys * 11 / 10),
            None => filter.advance(window.steps + 1).unwrap(),
        }
        let rate = filter.false_positive_rate();
        assert!(window.keys.is_none() || (0.005..0.07).contains(&rate), "{}: {rate}", case.name());
        let found = 1000.0 - missing(&filter, spec, 0..1000) as f64;
        assert!(found <= 1000.0 * rate + 4.5 * (1000.0 * rate).sqrt() + 1e-9, "{found} at a rate of {rate}");
    });
}

/// Keys of an age are lost as often as the function says, on average over the phases of a generation.
#[test]
fn keys_are_forgotten_by_age_as_expected() {
    for_each_window(12_000, 0.02, |case, spec, window| {
        let Some(keys) = window.keys else { return };
        let all = window.steps * keys;
        let (mut filter, mut next) = (empty(spec), 3 * all + 70 * keys);
        insert(&mut filter, spec, 0..next);
        let (phases, some) = (24, 20);
        let ages = [0, all / 2, all, all + keys / 2, all + keys, all + 3 * keys, 2 * all + 60 * keys];
        let (mut lost, mut expected) = ([0.0; 7], [0.0; 7]);
        for _ in 0..phases {
            let more = keys.div_ceil(phases);
            insert(&mut filter, spec, next..next + more);
            next += more;
            for (i, age) in ages.into_iter().enumerate() {
                lost[i] += missing(&filter, spec, next - age - some..next - age) as f64;
                expected[i] += (age..age + some).map(|age| filter.expected_false_negative_rate(age)).sum::<f64>();
            }
        }
        let tries = (phases * some) as f64;
        for (i, age) in ages.into_iter().enumerate() {
            // There are few phases, and where keys that come again stay old, some seem to have come before and are not
            // inserted.
            let error = (lost[i] - expected[i]).abs() / tries;
            assert!(
                error < 0.09,
                "{}: {} lost after {age}, and not {}",
                case.name(),
                lost[i] / tries,
                expected[i] / tries
            );
        }
        let none_is_lost = expected[0] == 0.0 && expected[1] == 0.0;
        assert!(none_is_lost != case.may_lose() && expected[6] > 0.9 * tries, "{}", case.name());
    });
}

/// Whether a case may lose keys that came recently.
fn has_losses(case: &Case) -> bool {
    let geometry = petal::geometry(&Spec { capacity: 1000, ..case.spec() }).unwrap();
    match case.row.losses.false_negative_rate {
        Some(rate) => (0..1000).any(|age| rate(&geometry, age) > 0.0),
        None => false,
    }
}

/// Inside the window keys of each age are lost as often as the function says, and none is lost if it says 0. The test
/// uses many filters, whose last keys come in all phases of a generation.
#[test]
fn keys_inside_a_window_are_lost_as_expected() {
    for rate in [0.3, 0.1, 0.02] {
        for_each_window(300, rate, |case, spec, window| {
            let by_keys = window.keys.is_some();
            let keys = window.keys.unwrap_or(spec.capacity);
            let all = window.steps * keys;
            // `some` keys from each age on, all of them within the window.
            let some = 40.min(all);
            let ages = [0, 1, 2, 3, 4].map(|part| part * (all - some) / 4);
            let filters = if case.may_lose() { 250 } else { 20 };
            let (mut lost, mut expected, mut squares) = ([0.0; 5], [0.0; 5], [0.0; 5]);
            let mut told: [Option<f64>; 5] = [None; 5];
            for number in 0..filters {
                let mut filter = empty(spec);
                // Time is moved on after as many keys as a step is for, at another phase in each filter.
                let phase = mix(number) % keys;
                let end = 4 * all + 3 * keys + mix(number ^ 7) % (2 * keys);
                let first = number << 32;
                let mut next = 0;
                while next < end {
                    let to = if by_keys { end } else { end.min((next + phase) / keys * keys + keys - phase) };
                    insert(&mut filter, spec, first + next..first + to);
                    next = to;
                    if !by_keys && next < end {
                        filter.advance(1).unwrap();
                    }
                }
                for (i, age) in ages.iter().enumerate() {
                    let last = first + end - age;
                    let found = missing(&filter, spec, last - some..last) as f64;
                    // The same for all filters of a spec.
                    let here = *told[i].get_or_insert_with(|| {
                        (*age..age + some).map(|age| filter.expected_false_negative_rate(age)).sum()
                    });
                    (lost[i], expected[i]) = (lost[i] + found, expected[i] + here);
                    squares[i] += (found - here) * (found - here);
                }
            }
            for (i, age) in ages.iter().enumerate() {
                let error = squares[i].max(expected[i]).sqrt();
                assert!(
                    (lost[i] - expected[i]).abs() <= 4.5 * error,
                    "{} at {rate}: {} lost after {age}, and not {} +- {error}",
                    case.name(),
                    lost[i],
                    expected[i]
                );
                assert!(case.may_lose() || lost[i] == 0.0, "{}: {} lost", case.name(), lost[i]);
            }
        });
    }
}

/// The rate keeps to what was asked for in each phase, within what one filter's own bits add by chance, and is the one
/// that the filter states.
#[test]
fn rates_hold_at_every_phase() {
    const KEYS: u64 = 20_000;
    let rate = 0.02;
    for_each_window(KEYS, rate, |case, spec, window| {
        let mut filter = empty(spec);
        let (mut next, mut worst) = (0, 0.0_f64);
        for phase in 0..8 {
            match window.keys {
                Some(keys) => {
                    let more = if phase == 0 { (window.steps + 16) * keys } else { keys / 5 };
                    insert(&mut filter, spec, next..next + more);
                    next += more;
                }
                None => {
                    for _ in 0..if phase == 0 { window.steps + 16 } else { 1 } {
                        filter.advance(1).unwrap();
                        insert(&mut filter, spec, next..next + KEYS);
                        next += KEYS;
                    }
                }
            }
            let now = filter.false_positive_rate();
            worst = worst.max(now);
            let fresh = if is_soak() || case.is_default() { 200_000 } else { 50_000 };
            let found = false_positives(&filter, spec, fresh) as f64;
            let (mean, sd) = (fresh as f64 * now, (fresh as f64 * now).sqrt());
            assert!((found - mean).abs() < 4.5 * sd, "phase {phase}: {found} found, {mean} +- {sd} expected");
        }
        assert!((0.5 * rate..1.05 * rate).contains(&worst), "{}: at worst {worst}", case.name());
        let expected = filter.expected_false_positive_rate(u64::MAX / 2);
        assert!(window.keys.is_none() || (0.95..1.1).contains(&(expected / worst)), "{expected}, and really {worst}");
    });
}

/// Time moves on by as many steps as are asked for, together or one by one, in memory and in place.
#[test]
fn time_is_moved_on() {
    for_each_window(300, 0.01, |_, spec, window| {
        let mut filter = empty(spec);
        insert(&mut filter, spec, 0..200);
        let before = image(&filter);
        filter.advance(0).unwrap();
        assert_eq!(image(&filter), before, "no step changes nothing");
        for steps in [1, 2, window.steps, window.steps + 1, 3 * window.steps + 7, u64::MAX] {
            let (mut at_once, mut one_by_one) = (filter.copy().unwrap(), filter.copy().unwrap());
            at_once.advance(steps).unwrap();
            assert_eq!(at_once.base().header().count, 200);
            if steps <= 100 {
                (0..steps).for_each(|_| one_by_one.advance(1).unwrap());
                assert_eq!(image(&at_once), image(&one_by_one), "{steps} steps");
            }
            if steps > 3 * window.steps {
                assert_eq!(at_once.statistics().taken, 0, "all is forgotten");
            }
            let mut buffer = Buffer::of(&before);
            buffer.open(Mode::Write, None, |filter| {
                let filter = filter.unwrap();
                filter.advance(steps).unwrap();
                insert(filter, spec, 200..260);
            });
            insert(&mut at_once, spec, 200..260);
            assert_eq!(buffer.bytes(), image(&at_once), "{steps} steps in place");
            assert_eq!(missing(&at_once, spec, 200..260), 0);
            at_once.verify().unwrap();
        }
        Buffer::of(&before)
            .open(Mode::Read, None, |filter| fails(filter.unwrap().advance(1), Status::UnsupportedByHandle));
    });
}

/// Two filters are merged, wherever they are in their windows: what either has is found, for as long as without the
/// merge.
#[test]
fn windows_are_merged_by_age() {
    for_each_window(90, 0.01, |case, spec, window| {
        let Some(keys) = window.keys.filter(|_| can(case, Capabilities::MERGE)) else { return };
        for (first, second) in [(0, 1), (3, 40), (40, 3), (5 * keys, keys + 1), (7 * keys + 1, 9 * keys)] {
            let all = window.steps * keys;
            let (mut a, mut b) = (empty(spec), empty(spec));
            let mut young =
                [insert_taken(&mut a, case, spec, 0..first), insert_taken(&mut b, case, spec, FRESH..FRESH + second)];
            a.merge(&b).unwrap();
            for more in 0..all {
                // The last keys of each, less as many as came since.
                for keys in &mut young {
                    let kept = (all - more) as usize;
                    keys.drain(..keys.len().saturating_sub(kept));
                    assert_eq!(missing_of(&a, spec, keys), 0, "{first} and {second}, {more} later");
                }
                insert(&mut a, spec, 2 * FRESH + more..2 * FRESH + more + 1);
            }
            a.verify().unwrap();
        }
    });
}

// ---- A long stream of operations ---------------------------------------------------------------------------------

/// What must be found in a filter, judging only by what was done to it.
#[derive(Clone)]
struct Model {
    window: Window,
    insertions: u64,
    advanced: u64,
    /// For each key, how many were offered and how many steps were made when it came, and how many generations may have
    /// passed since then in filters that were merged.
    keys: HashMap<u64, [u64; 3]>,
    count: u64,
}

impl Model {
    /// The most generations that began since a key came.
    fn generations(&self, [insertions, advanced, before]: [u64; 3]) -> u64 {
        let by_keys = self.window.keys.map_or(0, |keys| (self.insertions - insertions).div_ceil(keys));
        before + by_keys + (self.advanced - advanced)
    }

    fn insert(&mut self, hash: u64, is_young: bool) {
        self.insertions += 1;
        self.count += 1;
        if is_young {
            self.keys.insert(hash, [self.insertions, self.advanced, 0]);
        }
    }

    fn check(&mut self, filter: &Filter) {
        let model = self.clone();
        self.keys.retain(|_, came| model.generations(*came) <= model.window.steps);
        let hashes: Vec<u64> = self.keys.keys().copied().collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
        assert_eq!(answers.true_count, hashes.len() as u64, "keys of the window are missing");
        assert_eq!(filter.base().count(), self.count);
    }
}

/// Operations of each of `streams` streams of a kind: few, or in the soak 10^8 for all of them together.
pub fn operations(streams: u64) -> u64 {
    if is_soak() { 100_000_000_u64.div_ceil(streams) } else { 20_000 }
}

/// Insertions, single and in batches, lookups, steps, merges, copies, images that are loaded, and images that are
/// written in place: the keys of the window are always found, and the bytes are those of a filter in its own memory to
/// which the same was done one by one.
#[test]
fn long_streams_lose_nothing() {
    for_each_window(120, 0.02, |case, spec, window| {
        let streams = cases().iter().filter(|other| other.row.kind == case.row.kind).count();
        let touches = case.value("touch") != Some(0.0);
        let (mut filter, mut twin) = (empty(spec), empty(spec));
        let mut model = Model { window, insertions: 0, advanced: 0, keys: HashMap::new(), count: 0 };
        let mut random = mix(case.name().len() as u64);
        let mut next = || {
            random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(random)
        };
        let operations = operations(streams as u64);
        let mut done = 0;
        while done < operations {
            let choice = next() % 64;
            // Keys come again, soon or late.
            let key = |number: u64| hash_of(spec, number % 700);
            done += 1;
            match choice {
                0..32 => {
                    let hash = key(next());
                    let new = filter.insert_hash(hash).unwrap();
                    assert_eq!(twin.insert_hash(hash).unwrap(), new);
                    model.insert(hash, new || touches);
                }
                32..40 => {
                    let hashes: Vec<u64> = (0..next() % 100).map(|_| key(next())).collect();
                    let mut new = vec![0; hashes.len()];
                    let mut answers = Answers { bytes: Some(&mut new), ..Answers::default() };
                    let is_asked = next() % 2 == 0;
                    filter.insert_batch(&Keys::Hashes(&hashes), is_asked.then_some(&mut answers)).outcome.unwrap();
                    for (hash, answer) in hashes.iter().zip(new) {
                        let new = twin.insert_hash(*hash).unwrap();
                        assert!(!is_asked || answer == u8::from(new), "a batch says other things than single calls");
                        model.insert(*hash, new || touches);
                    }
                    done += hashes.len() as u64;
                }
                40..52 => {
                    let hash = key(next());
                    let must = model.keys.get(&hash).is_some_and(|came| model.generations(*came) <= window.steps);
                    let found = filter.contains_hash(hash);
                    assert!(found || !must, "a key of the window is missing");
                    assert_eq!(found, twin.contains_hash(hash));
                }
                52..55 => {
                    let steps = [1, 1, 2, 5, 1, 1, 1, 40][next() as usize % 8];
                    filter.advance(steps).unwrap();
                    (0..steps).for_each(|_| twin.advance(1).unwrap());
                    model.advanced += steps;
                }
                55 => {
                    let bytes = image(&filter);
                    filter = petal::load(&bytes, &OpenOptions::default()).unwrap();
                }
                56 => filter = filter.copy().unwrap(),
                57..60 => {
                    let mut buffer = Buffer::of(&image(&filter));
                    let hashes: Vec<u64> = (0..next() % 20).map(|_| key(next())).collect();
                    let steps = next() % 2;
                    buffer.open(Mode::Write, None, |filter| {
                        let filter = filter.unwrap();
                        filter.advance(steps).unwrap();
                        filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
                    });
                    (0..steps).for_each(|_| twin.advance(1).unwrap());
                    model.advanced += steps;
                    for hash in &hashes {
                        let new = twin.insert_hash(*hash).unwrap();
                        model.insert(*hash, new || touches);
                    }
                    filter = petal::load(&buffer.bytes(), &OpenOptions::default()).unwrap();
                }
                60..62 if can(case, Capabilities::MERGE) => {
                    let mut other = empty(spec);
                    other.advance(next() % 3).unwrap();
                    // In order, the keys that the other filter took as they came.
                    let mut hashes: Vec<u64> = (0..next() % 60).map(|_| key(next())).collect();
                    let count = hashes.len() as u64;
                    hashes.retain(|hash| other.insert_hash(*hash).unwrap() || touches);
                    let now = [model.insertions, model.advanced, 0];
                    // After a merge, it does not show any more where in their generation keys were.
                    for came in model.keys.values_mut() {
                        let [insertions, advanced, before] = *came;
                        let by_keys = window.keys.map_or(0, |keys| (now[0] - insertions).div_ceil(keys));
                        *came = [now[0], now[1], before + by_keys + (now[1] - advanced)];
                    }
                    for (i, hash) in hashes.iter().enumerate() {
                        let later = window.keys.map_or(0, |keys| (count - 1 - i as u64).div_ceil(keys));
                        let came = model.keys.entry(*hash).or_insert([now[0], now[1], later]);
                        came[2] = came[2].min(later);
                    }
                    filter.merge(&other).unwrap();
                    twin.merge(&other).unwrap();
                    model.count += count;
                }
                62 if next() % 8 == 0 => {
                    filter.clear().unwrap();
                    twin.clear().unwrap();
                    model.keys.clear();
                    model.count = 0;
                }
                _ => {
                    filter.verify().unwrap();
                    assert_eq!(image(&filter), image(&twin));
                    model.check(&filter);
                }
            }
        }
        model.check(&filter);
    });
}

/// Batches in filters that are so large that lines are fetched ahead are many single calls, and lose no key.
#[test]
fn batches_in_large_filters_are_single_calls() {
    each(
        cases().into_iter().filter(|case| case.is_default() && case.row.losses.window.is_some()),
        Case::name,
        |case| {
            let sized = |capacity| case.sized(capacity, 0.01);
            let is_far = |spec: &Spec| petal::geometry(spec).unwrap().payload_bytes > 5 << 20;
            let spec = (16..).map(|bits| sized(1 << bits)).find(is_far).unwrap();
            let hashes = |range: std::ops::Range<u64>| range.map(|i| hash_of(&spec, i)).collect::<Vec<_>>();
            let (mut single, mut batch) = (empty(&spec), empty(&spec));
            let (keys, mut next) = (spec.capacity / 4, 0);
            while next < keys {
                // Some of these come again.
                let some = hashes(next.saturating_sub(next % 50)..next + 1 + next % 997);
                let mut bytes = vec![7; some.len()];
                let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                batch.insert_batch(&Keys::Hashes(&some), Some(&mut answers)).outcome.unwrap();
                let new: Vec<u8> = some.iter().map(|hash| single.insert_hash(*hash).unwrap().into()).collect();
                assert!(bytes == new, "{}: {next}", case.name());
                next += 1 + next % 997;
            }
            assert!(single.equals(&batch), "{}", case.name());
            // Batches of every small number of keys that are there, and of many that are or are not.
            let small = (1..200).map(|count| (mix(count) % (keys - 200), count));
            for (from, count) in small.chain((0..400).map(|i| (mix(i) % (2 * keys), 1 + mix(i ^ 1) % 700))) {
                let some = hashes(from..from + count);
                let mut bytes = vec![7; some.len()];
                let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                batch.contains_batch(&Keys::Hashes(&some), &mut answers).unwrap();
                let found: Vec<u8> = some.iter().map(|hash| single.contains_hash(*hash).into()).collect();
                assert!(bytes == found, "{}: {count} keys from {from} on", case.name());
            }
        },
    );
}
