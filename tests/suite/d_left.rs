//! The kind `d_left` against an exact multiset, and its sizes, rates, refusals and resizing.

use crate::common::{copies, image, is_soak, mix};
use crate::specification::check;
use petal::blocks::fingerprint_table::FingerprintTable;
use petal::kinds::d_left::layout::Table;
use petal::kinds::d_left::{self, REMAINDER_BITS, ROW};
use petal::{Filter, HashFunction, Image, Keys, OpenOptions, Spec, Status, geometry};
use std::collections::BTreeMap;

/// A spec of `buckets` buckets in each subtable with remainders of `width` bits.
fn spec(buckets: u64, width: u32) -> Spec {
    let capacity = d_left::sizing::LOAD * buckets;
    let mut spec = Spec { kind: Some(ROW.kind), capacity, hash: HashFunction::External, ..Spec::default() };
    spec.set(&REMAINDER_BITS, width.into()).unwrap();
    spec
}

/// The fingerprints that a filter lists, with their counts, read some at a time.
fn listed(filter: &Filter, piece: usize) -> Vec<(u64, u64)> {
    let (mut all, mut from) = (Vec::new(), 0);
    let (mut numbers, mut counts) = (vec![0; piece], vec![0; piece]);
    loop {
        let found = filter.stored_hashes(from, &mut numbers, Some(&mut counts)).unwrap();
        all.extend(numbers[..found].iter().copied().zip(counts[..found].iter().copied()));
        match numbers[..found].last() {
            Some(last) if found == piece => from = last + 1,
            _ => return all,
        }
    }
}

/// The capacity after resizing.
fn resized(filter: &mut Filter, capacity: u64) -> petal::Result<u64> {
    filter.resize(capacity)?;
    Ok(filter.base().header().capacity)
}

/// A random walk of insertions and removals, of merging, resizing and saving, compared with the multiset of
/// fingerprints: the filter is that multiset exactly, and nothing that is refused changes anything.
#[test]
fn it_is_a_multiset() {
    let steps = if is_soak() { 100_000_000 } else { 90_000 };
    let shapes = [(1, 4), (3, 7), (8, 8), (20, 9), (40, 16), (7, 17), (12, 32)];
    for (i, (buckets, width)) in shapes.into_iter().enumerate() {
        let spec = spec(buckets, width);
        let table = Table::new(buckets, width).unwrap();
        let mut filter = Filter::new(&spec).unwrap();
        let mut model = BTreeMap::<u64, u64>::new();
        let cells = d_left::sizing::cells(buckets);
        let (mut refused, mut seed) = (0, i as u64);
        for step in 0..steps / shapes.len() as u64 {
            seed = mix(seed + 1);
            // Some keys come again and again, and more than have room.
            let hash = mix(seed % (cells * 3 / 2));
            let held = model.get(&table.fingerprint(hash)).copied().unwrap_or(0);
            let is_rising = step / (2 * cells) % 3 != 2;
            let before = (step % 97 == 0).then(|| image(&filter));
            assert_eq!((filter.contains_hash(hash), filter.count_hash(hash).unwrap()), (held > 0, held));
            if (seed >> 40) % 4 < if is_rising { 3 } else { 1 } {
                match filter.insert_hash(hash) {
                    Ok(new) => {
                        assert_eq!(new, held == 0);
                        model.insert(table.fingerprint(hash), held + 1);
                    }
                    Err(error) => {
                        assert_eq!(error.status(), Status::Full, "{error}");
                        refused += 1;
                        assert!(before.is_none_or(|before| before == image(&filter)), "a refusal changes something");
                    }
                }
            } else {
                assert_eq!(filter.remove_hash(hash).unwrap(), held > 0);
                assert!(held > 0 || before.is_none_or(|before| before == image(&filter)), "it removed nothing");
                if held > 1 {
                    model.insert(table.fingerprint(hash), held - 1);
                } else {
                    model.remove(&table.fingerprint(hash));
                }
            }
            if step % 500 == 0 {
                let all: Vec<_> = model.iter().map(|(fingerprint, count)| (*fingerprint, *count)).collect();
                for piece in [1, 7, 100, 10_000] {
                    assert_eq!(listed(&filter, piece), all);
                }
                assert_eq!(filter.base().count(), model.values().sum());
                assert!(filter.statistics().taken >= all.len() as u64);
                let rate = all.len() as f64 / table.range() as f64;
                assert!((filter.false_positive_rate() / rate - 1.0).abs() < 1e-9 || all.is_empty());
                filter.verify().unwrap();
                filter = petal::load(&image(&filter), &OpenOptions::default()).unwrap();
            }
            if step % 1700 == 0 {
                let mut other = Filter::new(&spec).unwrap();
                let more: Vec<u64> =
                    (0..mix(step) % cells).map(|i| mix(mix(step ^ i << 20) % (cells * 3 / 2))).collect();
                let taken = other.insert_batch(&Keys::Hashes(&more), None).keys;
                let before = image(&filter);
                match filter.merge(&other) {
                    Ok(()) => {
                        more[..taken].iter().for_each(|hash| *model.entry(table.fingerprint(*hash)).or_default() += 1);
                    }
                    Err(error) => {
                        assert_eq!(error.status(), Status::Full, "{error}");
                        assert!(before == image(&filter), "a merger that is refused changes something");
                    }
                }
            }
            if step % 2300 == 0 {
                // Larger and back again, or not if there is no room.
                if let Ok(capacity) = resized(&mut filter, 4 * d_left::sizing::LOAD * buckets) {
                    assert_eq!(capacity, 4 * d_left::sizing::LOAD * buckets);
                    assert!(filter.contains_hash(hash) == model.contains_key(&table.fingerprint(hash)));
                    let least = resized(&mut filter, d_left::sizing::LOAD * buckets).unwrap();
                    assert!(least >= d_left::sizing::LOAD * buckets);
                    if least > d_left::sizing::LOAD * buckets {
                        // It did not shrink back, so it cannot be compared with the model any more: the walk goes on
                        // with an empty filter.
                        filter = Filter::new(&spec).unwrap();
                        model.clear();
                    }
                }
            }
        }
        assert!(refused > 0, "it was never full");
    }
}

/// A table of `buckets` buckets, and its words.
fn table(buckets: u64, width: u32) -> (Table, Vec<u64>) {
    let table = Table::new(buckets, width).unwrap();
    (table, vec![0; table.bits().div_ceil(512) as usize * 8])
}

/// The literature's loads: the shares of buckets with four to eight taken cells at six keys per bucket; and the first
/// of 4 x 16384 buckets is found full when about 90.5 % of the cells are taken.
#[test]
fn loads_are_those_of_the_literature() {
    const BUCKETS: u64 = 1 << 14;
    // `cells` fingerprints, each once, and how many were in when one was refused.
    let filled = |cells: u64, width: u32| {
        let (table, mut words) = table(BUCKETS, width);
        let mut keys = (0..).map(|key| table.fingerprint(mix(key)));
        for taken in 0..cells {
            let new = loop {
                match keys.next() {
                    Some(fingerprint) if !table.has(&words[..], fingerprint) => break fingerprint,
                    _ => {}
                }
            };
            if table.add(&mut words, new).is_none() {
                return (table, words, Some(taken));
            }
        }
        (table, words, None)
    };
    for width in [11, 14] {
        let (table, words, refused) = filled(24 * BUCKETS, width);
        assert_eq!(refused, None);
        let mut loads = [0.0; 9];
        for bucket in 0..4 * BUCKETS {
            let bit = bucket * u64::from(8 * (width + 2));
            let counters = petal::blocks::source::window(&words[..], bit);
            let load = (0..8).filter(|cell| counters >> (2 * cell) & 3 != 0).count();
            loads[load] += 1.0 / (4 * BUCKETS) as f64;
        }
        for (load, share) in [(4, 0.0028), (5, 0.1217), (6, 0.7481), (7, 0.1274), (8, 0.0)] {
            let sd = (share * (1.0_f64 - share) / (4 * BUCKETS) as f64).sqrt();
            assert!((loads[load] - share).abs() < 4.5 * sd + 1e-4, "{load} of 8: {} of {share}", loads[load]);
        }
        assert_eq!(table.range(), BUCKETS << width);
        let (.., refused) = filled(32 * BUCKETS, width);
        let load = refused.unwrap() as f64 / (32 * BUCKETS) as f64;
        assert!((0.88..0.93).contains(&load), "{width} bits: full at {load}");
    }
}

/// Measured rates and bits per key agree with the literature.
#[test]
fn rates_are_those_of_the_formula() {
    for (width, known, bits) in [(11, 0.0116532, 17.33), (14, 0.0014638, 21.33)] {
        const BUCKETS: u64 = 5000;
        let mut filter = Filter::new(&spec(BUCKETS, width)).unwrap();
        let keys = 24 * BUCKETS;
        let each = filter.base().geometry().bits as f64 / keys as f64;
        assert!((each / bits - 1.0).abs() < 1e-3, "{each} bits a key");
        let rate = d_left::sizing::false_positive_rate(BUCKETS, width, keys);
        assert!((rate / known - 1.0).abs() < 1e-3, "{rate} of {known}");
        (0..keys).for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
        const TRIED: u64 = 4_000_000;
        let found = (0..TRIED).filter(|i| filter.contains_hash(mix(i + (1 << 40)))).count() as f64;
        let exact = filter.false_positive_rate();
        for (rate, more) in [(exact, 0.0), (rate, TRIED as f64 * rate * (rate / keys as f64).sqrt())] {
            let (mean, sd) = (TRIED as f64 * rate, (TRIED as f64 * rate * (1.0 - rate)).sqrt());
            assert!((found - mean).abs() < 4.5 * (sd + more), "{width} bits: {found}, {mean} expected");
        }
        assert!(filter.cardinality().is_some_and(|found| (found / keys as f64 - 1.0).abs() < 1e-3));
    }
    let width = |rate| geometry(&Spec { kind: spec(1, 4).kind, ..Spec::with_capacity(24_000, rate)? });
    assert_eq!([0.0117, 0.0116].map(|rate| width(rate).unwrap().words[0]), [11, 12]);
}

/// Full tables agree with docs/format.md too, with cells that count and further cells after these.
#[test]
fn full_tables_are_as_specified() {
    for (buckets, width) in [(1, 4), (5, 9), (30, 12), (9, 31)] {
        let mut filter = Filter::new(&spec(buckets, width)).unwrap();
        let mut hashes: Vec<u64> = (0..d_left::sizing::cells(buckets) * 2).map(|i| mix(i * i % 97 * buckets)).collect();
        hashes.sort_unstable();
        let taken = filter.insert_batch(&Keys::Hashes(&hashes), None).keys;
        check(&format!("{buckets} buckets"), &image(&filter), &hashes[..taken]);
    }
}

/// Keys go in up to every capacity, in the order of hashes as builders insert them too, and a key 96 times.
#[test]
fn capacities_are_kept() {
    let trials = if is_soak() { 1000 } else { 10 };
    for buckets in (1..40).chain([100, 1000, 5000]) {
        for trial in 0..if buckets > 100 { 1 } else { trials } {
            for is_sorted in [false, true] {
                let (table, mut words) = table(buckets, 8);
                let mut hashes: Vec<u64> = (0..24 * buckets).map(|key| mix(mix(trial) ^ key)).collect();
                if is_sorted {
                    hashes.sort_unstable();
                }
                for hash in hashes {
                    assert!(table.add(&mut words, table.fingerprint(hash)).is_some(), "{buckets}, trial {trial}");
                }
            }
        }
    }
    copies::are_held(&spec(100, 12), 96);
}

#[test]
fn a_removal_of_an_absent_key_loses_one_other_at_most() {
    copies::are_lost_one_by_one(Filter::new(&spec(40, 6)).unwrap(), 960, 1920, 2);
}

/// Sizes double and halve while the fingerprints stay; filters that were resized merge with those that were not.
#[test]
fn filters_are_resized_without_their_keys() {
    let mut filter = Filter::new(&spec(50, 12)).unwrap();
    (0..1000).for_each(|key| assert!(filter.insert_hash(mix(key % 700)).is_ok()));
    let all = listed(&filter, 100);
    assert_eq!(resized(&mut filter, 10_000).unwrap(), 24 * 50 * 16);
    assert_eq!((filter.base().geometry().words[0], filter.base().geometry().words[1]), (8, 800));
    assert_eq!(listed(&filter, 100), all);
    let mut small = Filter::new(&spec(50, 12)).unwrap();
    small.insert_hash(mix(5000)).unwrap();
    small.merge(&filter).unwrap();
    assert_eq!(small.base().count(), 1001);
    assert!((0..700).all(|key| small.count_hash(mix(key)).unwrap() >= filter.count_hash(mix(key)).unwrap()));
    filter.merge(&small).unwrap();
    assert_eq!(filter.base().count(), 2001);
    // Not smaller than what is there.
    let least = resized(&mut filter, 1).unwrap();
    assert!((700..=1200).contains(&least), "{least}");
    let before = image(&filter);
    for (capacity, part) in [(1 << 40, "remainder_bits"), (u64::MAX, "than")] {
        let error = filter.resize(capacity).unwrap_err();
        assert_eq!(error.status(), Status::OutOfRange, "{error}");
        assert!(error.message().contains(part), "{error}");
    }
    assert_eq!(image(&filter), before);
}

/// Damaged words are looked up, changed and listed without harm.
#[test]
fn damaged_words_do_no_harm() {
    for (buckets, width) in [(3, 4), (9, 13), (5, 32)] {
        let geometry = *Filter::new(&spec(buckets, width)).unwrap().base().geometry();
        let mut made = petal::kinds::d_left::layout::DLeft::of(&geometry, petal::simd::best()).unwrap().unwrap();
        let mut words: Vec<u64> = (0..geometry.payload_bytes / 8).map(mix).collect();
        for i in 0..3000 {
            made.insert(&mut words, mix(i));
            made.remove(&mut words, mix(i * 7));
        }
        let atomics: Vec<_> = words.iter().map(|word| (*word).into()).collect();
        (0..3000).for_each(|i| assert_eq!(made.copies(&atomics, mix(i)) > 0, made.contains(&atomics, mix(i))));
        made.held(&atomics, &mut |_| {});
        let mut stored = [0; 50];
        let found = petal::kinds::d_left::layout::list::stored_from(&made.table, &atomics, 0, &mut stored, None);
        assert!(stored[..found].is_sorted());
    }
}

/// The smallest and the largest sizes.
#[test]
fn sizes_have_ends() {
    use petal::kinds::d_left::sizing::*;
    let most = MAX_RANGE >> REMAINDER_BITS.0;
    assert_eq!((buckets_for(most * LOAD), buckets_for(most * LOAD + 1)), (Some(most), None));
    assert_eq!((buckets_for(0), buckets_for(LOAD), buckets_for(LOAD + 1)), (Some(1), Some(1), Some(2)));
    let sized = |capacity, false_positive_rate, bits| {
        let made = geometry(&Spec { kind: spec(1, 4).kind, capacity, false_positive_rate, bits, ..Spec::default() });
        made.map(|geometry| geometry.words[0] as u32).map_err(|error| error.status())
    };
    for width in REMAINDER_BITS.0..=REMAINDER_BITS.1 {
        // A rate that one length of remainders has, and no shorter one.
        assert_eq!(sized(24_000, false_positive_rate(1000, width, 24_000), 0), Ok(width));
        let all = bits(1000, width).unwrap();
        assert_eq!(sized(24_000, 0.0, all), Ok(width));
        let shorter = if width > REMAINDER_BITS.0 { Ok(width - 1) } else { Err(Status::Contradiction) };
        assert_eq!(sized(24_000, 0.0, all - 1), shorter);
        // The most buckets for that length: no longer remainder is taken, and this one only if its bits can be counted.
        let (buckets, most) = (MAX_RANGE >> width, (1 << 63) - 1);
        let is_countable = |width: &u32| bits(buckets, *width).is_some_and(|bits| bits <= most);
        let countable = (REMAINDER_BITS.0..=width).rev().find(is_countable);
        assert_eq!(sized(buckets * LOAD, 0.0, most).ok(), countable, "{width} bits");
    }
}
