//! What only some kinds can do: remove, count, grow, refuse keys, be built. No test names a kind: each takes the kinds
//! with the ability from the registry.

use crate::common::{Buffer, Case, at_rate, each, each_kind, empty, filled, hash_of, image, is_one_kind, main_layouts};
use crate::conformance::{CAPACITY, FRESH, can, fails, false_positives, for_each_case, for_each_hash, holds, is_like};
use petal::{Answers, Capabilities, Filter, Image, Keys, Mode, OpenOptions, Overfill, Spec, Status, registry};

// ---- Removing and counting ---------------------------------------------------------------------------------------

/// A removed key is gone, and all other keys are there. The test sees a removal that also takes a neighbour.
#[test]
fn a_removal_takes_one_key() {
    for_each_hash(|case, spec| {
        let mut filter = filled(spec, 0..CAPACITY);
        if !can(case, Capabilities::REMOVE) {
            return fails(filter.remove_hash(1), Status::Unsupported);
        }
        // From kinds that may lose keys the test removes few enough that no key is lost.
        let loses = can(case, Capabilities::MAY_LOSE_KEYS);
        let is_kept = |i: &u64| if loses { !i.is_multiple_of(500) } else { i.is_multiple_of(3) };
        for (removed, i) in (0..CAPACITY).filter(|i| !is_kept(i)).enumerate() {
            assert!(filter.remove_hash(hash_of(spec, i)).unwrap(), "key {i} is not there to be removed");
            if removed % 64 == 0 {
                holds(&filter, spec, (i + 1..CAPACITY).chain((0..i).filter(is_kept)));
            }
        }
        holds(&filter, spec, (0..CAPACITY).filter(is_kept));
        let kept = filled(spec, (0..CAPACITY).filter(is_kept));
        assert_eq!(filter.base().count(), kept.base().count());
        assert!(!case.row.is_canonical || filter.equals(&kept));
        filter.verify().unwrap();
        let left = (0..CAPACITY).filter(|i| !is_kept(i) && filter.contains_hash(hash_of(spec, *i))).count();
        assert!(left < CAPACITY as usize / 20, "{left} removed keys seem to be there");

        // Removing a key that certainly is not there changes nothing.
        let before = image(&filter);
        let absent: Vec<u64> =
            (FRESH..FRESH + 100).map(|i| hash_of(spec, i)).filter(|hash| !filter.contains_hash(*hash)).collect();
        assert!(absent.len() > 50);
        assert!(absent.iter().all(|hash| !filter.remove_hash(*hash).unwrap()));
        let mut answers = Answers::default();
        let taken = filter.remove_batch(&Keys::Hashes(&absent), Some(&mut answers));
        taken.outcome.unwrap();
        assert_eq!((taken.keys, answers.true_count), (absent.len(), 0));
        assert_eq!(image(&filter), before);

        // A batch does what single calls do.
        let (mut one, mut many) = (filled(spec, 0..CAPACITY), filled(spec, 0..CAPACITY));
        let hashes: Vec<u64> = (CAPACITY / 2..CAPACITY + 200).map(|i| hash_of(spec, i)).collect();
        let removed = hashes.iter().filter(|hash| one.remove_hash(**hash).unwrap()).count() as u64;
        let mut answers = Answers::default();
        many.remove_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome.unwrap();
        assert_eq!(answers.true_count, removed);
        assert_eq!(image(&one), image(&many));
    });
}

/// A key that came more often than a counter counts stays, with all of its neighbours, however often others are
/// removed. The test sees a counter that wraps, and one that forgets that it was saturated.
#[test]
fn what_is_inserted_often_is_there() {
    const OFTEN: std::ops::Range<u64> = CAPACITY - 8..CAPACITY;
    for_each_case(|case, spec| {
        if !can(case, Capabilities::INSERT) || !case.is_multiset() {
            return;
        }
        let spec = &case.with_room(spec, CAPACITY / 2 + 8 * 300);
        let mut filter = filled(spec, 0..CAPACITY / 2);
        for i in OFTEN {
            let hash = hash_of(spec, i);
            for times in 1..=300_u64 {
                match filter.insert_hash(hash) {
                    Ok(_) => {}
                    // There is room, but perhaps not for one key that often.
                    Err(error) if case.row.overfill == Overfill::Refuses && times > 1 => {
                        assert_eq!(error.status(), Status::Full);
                        break;
                    }
                    Err(error) => panic!("{error}"),
                }
                assert!(filter.contains_hash(hash), "it is lost after {times} insertions");
                if let Some(count) = filter.kind().as_count().filter(|count| count.is_upper_bound()) {
                    let told = count.count_one(hash);
                    assert!(told >= times.min(count.greatest_count()), "{told} is told after {times} insertions");
                }
            }
        }
        holds(&filter, spec, (0..CAPACITY / 2).chain(OFTEN));
        if can(case, Capabilities::REMOVE) {
            // Keys that were inserted once, one after the other, in a filter with some saturated counters.
            for i in 0..CAPACITY / 4 {
                assert!(filter.remove_hash(hash_of(spec, i)).unwrap());
            }
            holds(&filter, spec, (CAPACITY / 4..CAPACITY / 2).chain(OFTEN));
            for i in OFTEN {
                let mut left = 300;
                while left > 0 && filter.remove_hash(hash_of(spec, i)).unwrap() {
                    left -= 1;
                }
            }
            holds(&filter, spec, CAPACITY / 4..CAPACITY / 2);
        }
    });
}

/// A key that is inserted in one call as often as a counter counts, or more often, is there, even after one removal.
/// The test sees a counter that wraps when many copies are added in one call.
#[test]
fn what_is_inserted_often_at_once_is_there() {
    for_each_case(|case, spec| {
        if !can(case, Capabilities::INSERT | Capabilities::COUNT) || !case.is_multiset() {
            return;
        }
        let mut filter = filled(spec, 0..CAPACITY / 2);
        let (often, greatest) = (CAPACITY - 8..CAPACITY, filter.kind().as_count().unwrap().greatest_count());
        let is_told = |filter: &Filter, i: u64, times: u64| {
            let (hash, count) = (hash_of(spec, i), filter.kind().as_count().unwrap());
            assert!(times == 0 || filter.contains_hash(hash), "key {i} is lost, which was inserted {times} times");
            let told = count.count_one(hash);
            assert!(told >= times.min(greatest) || !count.is_upper_bound(), "{told} is told of key {i}, not {times}");
        };
        for (i, first) in often.clone().zip([1, 2, 3, greatest / 2, greatest - 1, greatest, 1, 2]) {
            let mut times = 0;
            for more in [first, greatest, 1] {
                match filter.insert_times_hash(hash_of(spec, i), more) {
                    Ok(_) => times = more.saturating_add(times),
                    // The filter holds that many copies and no more, or has no room for another one.
                    Err(error) => assert_eq!(error.status(), Status::Full, "{error}"),
                }
                is_told(&filter, i, times);
            }
            if can(case, Capabilities::REMOVE) && times > 0 {
                assert!(filter.remove_hash(hash_of(spec, i)).unwrap());
                // A saturated counter may stand for more, and stays.
                is_told(&filter, i, times.min(greatest) - 1);
            }
        }
        holds(&filter, spec, 0..CAPACITY / 2);
    });
}

/// Where every copy takes a place, an empty filter takes as many copies of one key as its row says, and no more.
#[test]
fn as_many_copies_are_held_as_the_row_says() {
    for_each_case(|case, spec| {
        let Some(copies) = case.row.room.copies else { return };
        let mut filter = empty(spec);
        let (hash, most) = (hash_of(spec, 7), copies(filter.base().geometry()));
        for _ in 0..most {
            filter.insert_hash(hash).unwrap();
        }
        fails(filter.insert_hash(hash), Status::Full);
    });
}

/// After a merge a key is there as often as in both filters together. The test sees a merged counter that overflows.
#[test]
fn merging_adds_up() {
    for_each_case(|case, spec| {
        if !can(case, Capabilities::MERGE) || !case.is_multiset() {
            return;
        }
        // Sums on both sides of every power of two, each counter full in one of the two filters and in both.
        let most = case.times(17);
        let (first, second) = (|i: u64| 1 + i % most, |i: u64| 1 + i / most % most);
        let keys = 289;
        let spec = &case.with_room(spec, keys * (9 + 9));
        let often = |times: &dyn Fn(u64) -> u64| -> Vec<u64> {
            (0..keys).flat_map(|i| std::iter::repeat_n(i, times(i) as usize)).collect()
        };
        let (mut both, second_filter) = (filled(spec, often(&first)), filled(spec, often(&second)));
        match both.merge(&second_filter) {
            Err(error) if case.row.overfill == Overfill::Refuses => {
                assert_eq!(error.status(), Status::Full);
                return holds(&both, spec, 0..keys);
            }
            outcome => outcome.unwrap(),
        }
        holds(&both, spec, 0..keys);
        let Some(count) = both.kind().as_count() else { return };
        let mut larger = 0;
        for i in 0..keys {
            let (told, really) = (count.count_one(hash_of(spec, i)), first(i) + second(i));
            assert!(told >= really.min(count.greatest_count()), "{told} of key {i} are told, {really} is right");
            larger += usize::from(told > really);
        }
        assert!(larger < 15, "{larger} counts are too large");
    });
}

/// Counts are never too low, unless they are estimates. They are rarely wrong if each further copy comes for a quarter
/// of the keys only: some parameters make room for no more copies than that.
#[test]
fn counts_are_told() {
    for_each_hash(|case, spec| {
        let most = case.times(5);
        let keys = CAPACITY / 3;
        let spec = &case.with_room(spec, keys * 3);
        _ = counts_of(case, spec, keys, |i| 1 + i % most);
        let wrong = counts_of(case, spec, keys, |i| most.min(1 + u64::from((i + 1).trailing_zeros()) / 2));
        assert!(wrong < keys / 10, "{wrong} counts are wrong");
    });
}

/// How many counts are wrong if key i comes `times(i)` times, and as many other keys never do.
fn counts_of(case: &Case, spec: &Spec, keys: u64, times: impl Fn(u64) -> u64) -> u64 {
    let filter = filled(spec, (0..keys).flat_map(|i| std::iter::repeat_n(i, times(i) as usize)));
    let Some(count) = filter.kind().as_count() else {
        assert!(!can(case, Capabilities::COUNT));
        fails(filter.count_hash(1), Status::Unsupported);
        return 0;
    };
    let greatest = count.greatest_count();
    assert!(greatest >= 1 && can(case, Capabilities::COUNT));
    let hashes: Vec<u64> = (0..keys).chain(FRESH..FRESH + keys).map(|i| hash_of(spec, i)).collect();
    let mut counts = vec![0; hashes.len()];
    let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
    filter.count_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
    let mut wrong = 0;
    for (i, (hash, told)) in (0..).zip(hashes.iter().zip(&counts)) {
        assert_eq!(filter.count_hash(*hash).unwrap(), *told);
        assert_eq!(*told > 0, filter.contains_hash(*hash));
        let really = if i < keys { times(i).min(greatest) } else { 0 };
        assert!(*told <= greatest, "key {i}: {told} is told, {greatest} is the greatest");
        assert!(*told >= really || !count.is_upper_bound(), "key {i}: {told} is told, {really} is right");
        wrong += u64::from(*told != really);
    }
    wrong
}

// ---- Rejuvenating ------------------------------------------------------------------------------------------------

/// A rejuvenated key is found as before, fewer absent keys match it, and no other key is lost. The test sees an entry
/// of another key that was taken instead, a leftover of the old entry, and a key that seems to be there twice.
#[test]
fn a_rejuvenation_takes_no_other_key() {
    for_each_hash(|case, spec| {
        if !can(case, Capabilities::REJUVENATE) {
            let mut filter = filled(spec, 0..CAPACITY);
            fails(filter.rejuvenate_hash(hash_of(spec, 1)), Status::Unsupported);
            let taken = filter.rejuvenate_batch(&Keys::Hashes(&[hash_of(spec, 1)]), None);
            assert_eq!(taken.keys, 0);
            return fails(taken.outcome, Status::Unsupported);
        }
        let spec = &for_few(case, spec);
        let keys = 20 * CAPACITY;
        // Every eleventh key twice.
        let hashes: Vec<u64> = (0..keys).chain((0..keys).step_by(11)).map(|i| hash_of(spec, i)).collect();
        let mut filter = empty(spec);
        filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
        let (mut many, before, count) = (filter.copy().unwrap(), filter.false_positive_rate(), filter.base().count());
        // In another order than they came.
        let hashes: Vec<u64> = (0..keys).map(|i| hash_of(spec, i * 7 % keys)).collect();
        let mut changed = 0;
        for (i, hash) in hashes.iter().enumerate() {
            if filter.rejuvenate_hash(*hash).unwrap() {
                assert!(!filter.rejuvenate_hash(*hash).unwrap(), "key {i} is rejuvenated twice");
                changed += 1;
            }
            assert!(filter.contains_hash(*hash), "key {i} is lost at once");
            if i % 2000 == 0 {
                holds(&filter, spec, 0..keys);
            }
        }
        holds(&filter, spec, 0..keys);
        filter.verify().unwrap();
        assert_eq!(filter.base().count(), count);
        let rate = filter.false_positive_rate();
        assert!(changed > 0 && rate < before, "{changed} of {keys} are rejuvenated, from {before} to {rate}");
        let (fresh, found) = (100_000.0, false_positives(&filter, spec, 100_000) as f64);
        assert!((found - fresh * rate).abs() < 4.5 * (fresh * rate).sqrt(), "{found} of {fresh}, {rate} expected");

        // A batch does what single calls do, and a key that certainly is not there changes nothing.
        let mut answers = Answers::default();
        many.rejuvenate_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome.unwrap();
        assert_eq!(answers.true_count, changed);
        let image_of_one = image(&filter);
        assert_eq!(image(&many), image_of_one);
        let absent: Vec<u64> = (FRESH..FRESH + 100).map(|i| hash_of(spec, i)).collect();
        let absent: Vec<u64> = absent.into_iter().filter(|hash| !filter.contains_hash(*hash)).collect();
        assert!(absent.len() > 50 && absent.iter().all(|hash| !filter.rejuvenate_hash(*hash).unwrap()));
        assert_eq!(image(&filter), image_of_one);

        // Removals take old and new entries away.
        if can(case, Capabilities::REMOVE) {
            let left = |i: &u64| i.is_multiple_of(3);
            for i in (0..keys).step_by(11).chain((0..keys).filter(|i| !left(i))) {
                assert!(filter.remove_hash(hash_of(spec, i)).unwrap(), "key {i}");
            }
            holds(&filter, spec, (0..keys).filter(left));
            let is_full = leaves_nothing_behind(&mut filter, spec, (0..keys).filter(left));
            assert!(!is_full || !case.is_default(), "it did not grow");
        }
    });
}

// ---- Filling up --------------------------------------------------------------------------------------------------

/// A filter for a hundred keys, or for a few hundred if it has few doublings, so that the filter doubles seven times or
/// more.
fn for_few(case: &Case, spec: &Spec) -> Spec {
    let is_made_for_few = case.value("doublings").is_some_and(|most| most < 10.0);
    Spec { capacity: if is_made_for_few { 400 } else { 100 }, ..*spec }
}

/// Removes these keys, which are all keys of a filter, and then grows it: no trace of the keys is left then. The test
/// sees leftovers in wrong places. Returns whether the filter was full before it grew.
fn leaves_nothing_behind(filter: &mut Filter, spec: &Spec, keys: impl Iterator<Item = u64>) -> bool {
    for i in keys {
        assert!(filter.remove_hash(hash_of(spec, i)).unwrap(), "key {i}");
    }
    assert_eq!(filter.base().count(), 0);
    let (before, mut next) = (filter.base().geometry().payload_bytes, FRESH);
    // All parts of the filter have grown when the next growth makes room.
    while filter.base().geometry().payload_bytes < 3 * before {
        match filter.insert_hash(hash_of(spec, next)) {
            Ok(_) => next += 1,
            Err(error) => {
                assert_eq!(error.status(), Status::Full, "{error}");
                return true;
            }
        }
    }
    (FRESH..next).for_each(|i| assert!(filter.remove_hash(hash_of(spec, i)).unwrap(), "key {i}"));
    filter.verify().unwrap();
    assert_eq!(filter.statistics().taken, 0, "removed keys are still there");
    false
}

/// A filter that grew merges another one, which grew less, and then removes keys, however much their entries still know
/// of them.
fn grown_filters_merge_and_remove(case: &Case, spec: &Spec, grown: &Filter) {
    let (all, more) = (50 * CAPACITY, FRESH..FRESH + 20 * CAPACITY);
    let mut filter = grown.copy().unwrap();
    if can(case, Capabilities::MERGE) {
        // In either direction the larger table receives the entries.
        let other = filled(spec, more.clone());
        for (mut into, from) in [(filter.copy().unwrap(), &other), (other.copy().unwrap(), grown)] {
            into.merge(from).unwrap();
            holds(&into, spec, (0..all).chain(more.clone()));
            into.verify().unwrap();
        }
    }
    if can(case, Capabilities::REMOVE) {
        for i in (0..all).filter(|i| i % 3 > 0) {
            assert!(filter.remove_hash(hash_of(spec, i)).unwrap(), "key {i}");
        }
        holds(&filter, spec, (0..all).step_by(3));
        more.clone().for_each(|i| assert!(filter.insert_hash(hash_of(spec, i)).is_ok()));
        holds(&filter, spec, (0..all).step_by(3).chain(more.clone()));
        filter.verify().unwrap();
        let is_full = leaves_nothing_behind(&mut filter, spec, (0..all).step_by(3).chain(more));
        assert!(!is_full || !case.is_default(), "it did not grow");
    }
}

/// A filter that grows keeps all keys and its rate. The test sees a level that lookups skip, and a level that is too
/// small.
#[test]
fn what_grows_keeps_its_keys_and_its_rate() {
    for_each_hash(|case, spec| {
        if !can(case, Capabilities::GROW) {
            return assert!(case.row.overfill != Overfill::Grows);
        }
        // Nine doublings, or seven for kinds that are made for few.
        let spec = &for_few(case, spec);
        let (mut filter, mut many) = (filled(spec, 0..50), filled(spec, 0..50));
        let mut new = vec![true; 50];
        for i in 50..50 * CAPACITY {
            new.push(filter.insert_hash(hash_of(spec, i)).unwrap());
            assert!(filter.contains_hash(hash_of(spec, i)), "key {i} is lost at once");
            if i.is_power_of_two() || i % 10_000 == 0 {
                holds(&filter, spec, 0..=i);
            }
        }
        holds(&filter, spec, 0..50 * CAPACITY);
        let hashes: Vec<u64> = (0..50 * CAPACITY).map(|i| hash_of(spec, i)).collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
        assert_eq!(answers.true_count, hashes.len() as u64);

        // Batches in which it grows do what single calls do.
        for (hashes, new) in hashes[50..].chunks(777).zip(new[50..].chunks(777)) {
            let mut bytes = vec![0; hashes.len()];
            let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
            many.insert_batch(&Keys::Hashes(hashes), Some(&mut answers)).outcome.unwrap();
            assert!(bytes.iter().zip(new).all(|(byte, new)| (*byte == 1) == *new));
        }
        assert_eq!(image(&many), image(&filter));
        let rate = filter.false_positive_rate();
        assert!(rate <= 1.05 * spec.false_positive_rate, "the rate that was promised has become {rate}");
        let (fresh, found) = (100_000.0, false_positives(&filter, spec, 100_000) as f64);
        let sd = (fresh * rate * (1.0 - rate)).sqrt();
        assert!((found - fresh * rate).abs() < 4.5 * sd, "{found} found of {fresh}, {rate} expected");
        filter.verify().unwrap();
        grown_filters_merge_and_remove(case, spec, &filter);

        // An image keeps its grown size. In place the filter refuses keys when it is full, and loses none.
        let bytes = image(&filter);
        let loaded = petal::load(&bytes, &OpenOptions { secret: spec.secret, ..OpenOptions::default() }).unwrap();
        is_like(&loaded, &filter, spec);
        if case.row.form.moves_entries {
            return;
        }
        Buffer::of(&bytes).open(Mode::Write, spec.secret, |filter| {
            let filter = filter.unwrap();
            let room = filter.kind().as_grow().unwrap().room();
            let mut inserted = FRESH;
            let error = loop {
                match filter.insert_hash(hash_of(spec, inserted)) {
                    Ok(_) => inserted += 1,
                    Err(error) => break error,
                }
            };
            assert_eq!(error.status(), Status::Full, "{error}");
            assert!(inserted - FRESH >= room, "{} keys fit where there was room for {room}", inserted - FRESH);
            holds(filter, spec, (0..50 * CAPACITY).chain(FRESH..inserted));
        });
        // A batch takes as many, and says so.
        Buffer::of(&bytes).open(Mode::Write, spec.secret, |filter| {
            let filter = filter.unwrap();
            let (room, before) = (filter.kind().as_grow().unwrap().room(), filter.base().count());
            let hashes: Vec<u64> = (FRESH..FRESH + 2 * room + 100).map(|i| hash_of(spec, i)).collect();
            let mut answers = Answers::default();
            let taken = filter.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers));
            assert_eq!(taken.outcome.unwrap_err().status(), Status::Full);
            assert_eq!((answers.done as u64, filter.base().count() - before), (taken.keys as u64, taken.keys as u64));
            assert_eq!(answers.true_count, room, "of {} keys that were taken", taken.keys);
            holds(filter, spec, (0..50 * CAPACITY).chain(FRESH..FRESH + taken.keys as u64));
            assert!(!filter.contains_hash(hashes[taken.keys]), "the key that was refused is there");
        });
    });
}

/// A filter that refuses keys does so before it loses a key.
#[test]
fn what_is_full_refuses_and_loses_nothing() {
    for_each_hash(|case, spec| {
        if case.row.overfill != Overfill::Refuses || !can(case, Capabilities::INSERT) {
            return;
        }
        let mut filter = filled(spec, 0..CAPACITY);
        let mut i = CAPACITY;
        let error = loop {
            match filter.insert_hash(hash_of(spec, i)) {
                Ok(_) => i += 1,
                Err(error) => break error,
            }
            // A capacity with room for many copies of each key takes that many keys, and some more.
            assert!(i < 1000 * CAPACITY, "it takes everything");
        };
        let full = if case.is_of_integers() { Status::OutOfRange } else { Status::Full };
        assert_eq!(error.status(), full, "{error}");
        holds(&filter, spec, 0..i);
        assert_eq!(filter.base().count(), i);
        filter.verify().unwrap();
        // A batch takes as many, and says so.
        let mut batched = filled(spec, 0..CAPACITY);
        let hashes: Vec<u64> = (CAPACITY..2 * i).map(|i| hash_of(spec, i)).collect();
        let taken = batched.insert_batch(&Keys::Hashes(&hashes), None);
        assert_eq!(taken.outcome.unwrap_err().status(), full);
        assert_eq!(taken.keys as u64, i - CAPACITY);
        assert_eq!(image(&batched), image(&filter));
    });
}

// ---- Building ----------------------------------------------------------------------------------------------------

/// Every number of keys can be built, and all of them are found, one by one and in a batch. The test sees a shard that
/// is off by one. The largest has more than one shard.
#[test]
#[ignore = "slow: make test-all"]
fn every_number_of_keys_is_built() {
    each(main_layouts(), Case::name, |case| {
        let spec = at_rate(&case.spec(), 0.01);
        let large: &[u64] = if case.is_default() { &[65_537, 1_300_000] } else { &[] };
        for keys in (0..70).chain([127, 128, 129, 1000, 4095, 4096, 4097, 20_000]).chain(large.iter().copied()) {
            let filter = filled(&spec, 0..keys);
            holds(&filter, &spec, 0..keys);
            assert_eq!(filter.base().count(), keys);
            let hashes: Vec<u64> = (0..keys).chain(FRESH..FRESH + keys.min(1000)).map(|i| hash_of(&spec, i)).collect();
            let mut found = vec![2; hashes.len()];
            let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
            filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
            assert!(hashes.iter().zip(found).all(|(hash, found)| found == u8::from(filter.contains_hash(*hash))));
            if keys >= 1000 {
                let found = false_positives(&filter, &spec, 10_000);
                let most = 20_000.0 * spec.false_positive_rate;
                assert!((found as f64) < most, "{}: {keys} keys: {found} of 10000 absent keys are found", case.name());
            }
        }
    });
}

// ---- What is stored, and what is omitted -------------------------------------------------------------------------

/// Every stored number, read in pieces of `piece` numbers.
fn listed(filter: &Filter, piece: usize) -> Vec<u64> {
    let (mut all, mut from, mut numbers) = (Vec::new(), 0, vec![0; piece]);
    loop {
        let count = filter.stored_hashes(from, &mut numbers, None).unwrap();
        all.extend_from_slice(&numbers[..count]);
        match numbers[..count].last().and_then(|last| last.checked_add(1)) {
            Some(next) if count == piece => from = next,
            _ => return all,
        }
    }
}

/// The numbers that keys are stored as, in order and each once.
fn numbers_of(filter: &Filter, spec: &Spec, keys: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = keys.map(|i| filter.stored_hash(hash_of(spec, i)).unwrap().0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A listing has the numbers of the keys, each once and in order, starting anywhere; a hash may be there exactly if its
/// number is listed. Unions and intersections list what both do, or what both have in common.
#[test]
fn what_is_stored_is_listed() {
    let (mut listing, mut combined) = (0, 0);
    each_kind(registry::with_foreign().filter(|row| !row.is_map()), |row| {
        let hash = row.hash_functions()[0];
        // Where full filters refuse keys, a union needs room for the keys of both.
        let capacity = if row.overfill == Overfill::Refuses { 3 * CAPACITY } else { CAPACITY };
        let spec = at_rate(&Spec { kind: Some(row.kind), hash, capacity, ..Spec::default() }, 0.01);
        if !row.capabilities.contains(Capabilities::ENUMERATE) {
            if let Ok(filter) = crate::common::try_empty(&spec) {
                fails(filter.stored_hash(1), Status::Unsupported);
                fails(filter.stored_hashes(0, &mut [0; 3], None), Status::Unsupported);
            }
            return;
        }
        listing += 1;
        let filter = filled(&spec, 0..CAPACITY);
        let numbers = numbers_of(&filter, &spec, 0..CAPACITY);
        let (_, range) = filter.stored_hash(1).unwrap();
        assert!(numbers.last().is_some_and(|last| *last < range));
        for piece in [1, 2, 63, numbers.len() - 1, numbers.len(), numbers.len() + 1] {
            assert!(listed(&filter, piece) == numbers, "{}, in pieces of {piece}", row.name);
        }
        let between = (0..CAPACITY).map(|i| hash_of(&spec, FRESH + i) % range);
        for from in between.chain(numbers.iter().flat_map(|number| [*number, number + 1])).chain([0, range, u64::MAX]) {
            let mut some = [0; 3];
            let count = filter.stored_hashes(from, &mut some, None).unwrap();
            let first = numbers.partition_point(|number| *number < from);
            let expected = &numbers[first..numbers.len().min(first + 3)];
            assert_eq!(&some[..count], expected, "{}, from {from}", row.name);
        }
        for i in 0..20 * CAPACITY {
            let hash = hash_of(&spec, i);
            let is_listed = numbers.binary_search(&filter.stored_hash(hash).unwrap().0).is_ok();
            assert_eq!(filter.contains_hash(hash), is_listed, "{}, key {i}", row.name);
        }
        assert_eq!(listed(&crate::common::empty(&spec), 3), []);

        let other = filled(&spec, CAPACITY / 2..2 * CAPACITY);
        let others = listed(&other, 100);
        let (mut union, mut both) = (filter.copy().unwrap(), filter.copy().unwrap());
        let able = |capability| row.capabilities.contains(capability);
        if able(Capabilities::MERGE) {
            union.merge(&other).unwrap();
            assert!(listed(&union, 100) == numbers_of(&filter, &spec, 0..2 * CAPACITY), "{}, a union", row.name);
            combined += 1;
        }
        if able(Capabilities::INTERSECT) {
            both.intersect(&other).unwrap();
            let common: Vec<u64> =
                numbers.iter().copied().filter(|number| others.binary_search(number).is_ok()).collect();
            assert!(common.len() as u64 >= CAPACITY / 2 && listed(&both, 100) == common, "{}, in common", row.name);
        }
    });
    assert!(is_one_kind() || listing > 1 && combined > 0);
}

/// New keys are taken for known as often as stated, within 4.5 standard deviations, in every kind that says whether a
/// key is new.
#[test]
fn omissions_are_as_many_as_expected() {
    const RUNS: u64 = 60;
    each(
        main_layouts().into_iter().filter(|case| case.is_default() && can(case, Capabilities::INSERT)),
        Case::name,
        |case| {
            let spec = case.sized(CAPACITY, 0.1);
            let expected = petal::expected_omissions(&spec, CAPACITY).unwrap();
            let run = |run: u64| {
                let mut filter = petal::Filter::new(&spec).unwrap();
                assert_eq!(filter.expected_omissions(CAPACITY).unwrap(), expected);
                let number = |i| if case.is_of_integers() { i } else { run << 32 | i };
                (0..CAPACITY).filter(|i| !filter.insert_hash(hash_of(&spec, number(*i))).unwrap()).count() as f64
            };
            let mean = (0..RUNS).map(run).sum::<f64>() / RUNS as f64;
            let band = 4.5 * (1.3 * expected / RUNS as f64).sqrt() + 0.01 * expected;
            assert!((mean - expected).abs() <= band, "{}: {mean} omitted, {expected} +- {band} expected", case.name());
        },
    );
}

/// The error says why two filters cannot be merged: which parameter or which size is different, and how it becomes the
/// same.
#[test]
fn what_two_filters_differ_in_is_named() {
    let cases: Vec<Case> = main_layouts().into_iter().filter(|case| can(case, Capabilities::MERGE)).collect();
    let (mut parameters, mut sizes) = (0, 0);
    for case in &cases {
        let spec = Spec { capacity: 100, ..case.spec() };
        let mut filter = empty(&spec);
        let mut check = |other: &Spec, names: &[&str]| {
            let Err(error) = filter.merge(&empty(other)) else { return false };
            let said = error.to_string();
            let is_told = names.iter().any(|name| said.contains(name)) && !said.contains("parameters: [");
            assert!(error.status() == Status::Incompatible && is_told, "{}: {said}", case.name());
            said.contains("100 keys") && said.contains("1000") && said.contains("one capacity")
        };
        sizes += usize::from(check(&Spec { capacity: 1000, ..spec }, &["bits: ", "hashes: ", "range: ", "size: "]));
        for other in cases.iter().filter(|other| other.row.kind == case.row.kind) {
            let names =
                other.values.iter().map(|(parameter, _)| parameter.name).chain(["bits: ", "hashes: ", "size: "]);
            parameters += 1;
            check(&Spec { capacity: 100, ..other.spec() }, &names.collect::<Vec<_>>());
        }
        for other in cases.iter().filter(|other| other.row.kind != case.row.kind && other.is_default()) {
            let other_spec = Spec { hash: spec.hash, capacity: 100, ..other.spec() };
            if other.row.hash_functions() == case.row.hash_functions() {
                check(&other_spec, &[&format!("kind: {} and {}", case.row.name, other.row.name)]);
            }
        }
    }
    assert!(is_one_kind() || parameters > 100 && sizes > 10, "{parameters} {sizes}");
}
