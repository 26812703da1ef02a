//! The kind `counting` against an exact multiset: the promises of removal and counting, and their limits.

use crate::common::file::FileAt;
use crate::common::{image, mix};
use petal::format::{HEADER_LENGTH, REGION_BYTES};
use petal::kinds::counting::{COUNTER_BITS, LAYOUT};
use petal::{
    Answers, Builder, BuilderOptions, Filter, HashFunction, Image, Keys, MIN_MEMORY_LIMIT, Mode, OpenOptions, Spec,
    Status,
};
use std::collections::BTreeMap;
use std::fs::File;

/// The greatest value of a counter of the default width.
const GREATEST: u64 = 15;

/// `counters` counters of the default width, with `hashes` of them for a key.
fn spec(counters: u64, hashes: u32) -> Spec {
    let kind = Some(petal::kinds::counting::ROW.kind);
    Spec { kind, bits: 4 * counters, hashes, hash: HashFunction::External, ..Spec::default() }
}

/// Widths and layouts that counters are tested with: whole numbers of them in a word and not, one word for two of them
/// and many, anywhere and in one line.
const SHAPES: [(u64, &str); 10] = [
    (4, "classic"),
    (2, "classic"),
    (3, "classic"),
    (7, "classic"),
    (13, "classic"),
    (16, "classic"),
    (2, "blocked"),
    (4, "blocked"),
    (8, "blocked"),
    (16, "blocked"),
];

/// `counters` counters of a width and layout, rounded up to what sizes are multiples of, with `hashes` of them for a
/// key.
fn shaped((width, layout): (u64, &str), counters: u64, hashes: u32) -> Spec {
    let unit = if layout == "blocked" { 512 } else { 4 };
    let mut shaped = Spec { bits: (width * counters).next_multiple_of(unit), ..spec(1, hashes) };
    shaped.set(&COUNTER_BITS, width as f64).unwrap();
    shaped.set(&LAYOUT, LAYOUT.parse(layout).unwrap()).unwrap();
    shaped
}

fn filled(spec: &Spec, keys: impl IntoIterator<Item = u64>) -> Filter {
    let mut filter = Filter::new(spec).unwrap();
    keys.into_iter().for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
    filter
}

/// The count of each key.
#[derive(Default)]
struct Model(BTreeMap<u64, u64>);

impl Model {
    fn count(&self, key: u64) -> u64 {
        self.0.get(&key).copied().unwrap_or(0)
    }

    fn keys(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|(key, count)| std::iter::repeat_n(*key, *count as usize))
    }

    #[track_caller]
    fn is_held_by(&self, filter: &Filter) {
        let greatest = (1 << filter.base().geometry().words[0]) - 1;
        for (key, count) in &self.0 {
            assert!(filter.count_hash(mix(*key)).unwrap() >= *count.min(&greatest), "key {key} is there {count} times");
            assert_eq!(filter.contains_hash(mix(*key)), filter.count_hash(mix(*key)).unwrap() > 0);
        }
        assert_eq!(filter.base().count(), self.0.values().sum::<u64>());
    }
}

/// After any insertions and removals no present key is lost, and no count is too low. The filter equals one into which
/// only the remaining keys were inserted.
#[test]
#[ignore = "slow: make test-all"]
fn insertions_and_removals_are_those_of_a_multiset() {
    // Roomy, crowded (with counters that reach their end), and one in which most keys meet a counter twice.
    let sizes = |shape| [(if shape == SHAPES[0] { 100_000 } else { 20_000 }, 7, 2000), (500, 5, 120), (7, 4, 3)];
    let cases = SHAPES.into_iter().flat_map(|shape| sizes(shape).map(|size| (shape, size)));
    for (shape, (counters, hashes, universe)) in cases {
        let steps = if shape.0 == 4 { 20_000 } else { 5000 };
        let spec = shaped(shape, counters, hashes);
        let (mut filter, mut model, mut saturated) = (Filter::new(&spec).unwrap(), Model::default(), false);
        for step in 0..steps {
            let key = mix(step) % universe;
            let count = model.count(key);
            if mix(!step) % 100 < 45 {
                let seemed = filter.contains_hash(mix(key));
                assert_eq!(filter.insert_hash(mix(key)).unwrap(), !seemed);
                model.0.insert(key, count + 1);
            } else if count > 0 {
                assert!(filter.remove_hash(mix(key)).unwrap(), "key {key} was there {count} times");
                model.0.insert(key, count - 1);
            } else if !filter.contains_hash(mix(key)) {
                let before = image(&filter);
                assert!(!filter.remove_hash(mix(key)).unwrap());
                assert!(image(&filter) == before, "a removal that is refused changes nothing");
            }
            saturated |= filter.statistics().saturated > 0;
            if step % 1000 == 0 || step == steps - 1 {
                model.is_held_by(&filter);
                filter.verify().unwrap();
            }
        }
        if shape == SHAPES[0] {
            assert_eq!(saturated, counters < 1000, "{counters} counters");
        }
        // A counter may be at its end rightly.
        let is_equal = filter.equals(&filled(&spec, model.keys()));
        assert!(if shape == SHAPES[0] { is_equal != saturated } else { is_equal || saturated }, "{shape:?}");
        for key in model.keys() {
            assert!(filter.remove_hash(mix(key)).unwrap());
        }
        assert_eq!(filter.base().count(), 0);
        assert_eq!(filter.statistics().taken > 0, saturated, "what is left is what stays for ever");
        filter.clear().unwrap();
        assert_eq!(filter.statistics().taken, 0);
    }
}

#[test]
fn counters_end_at_their_greatest_value_and_stay_there() {
    let mut filter = filled(&spec(100_000, 7), 0..1000);
    for times in 1..=20 {
        assert_eq!(filter.insert_hash(mix(5000)).unwrap(), times == 1);
        assert_eq!(filter.count_hash(mix(5000)).unwrap(), times.min(GREATEST));
        assert_eq!(filter.statistics().saturated >= 7, times >= GREATEST, "{times}");
    }
    // The key is there twenty times, and can be removed for ever, because nobody knows how often it came.
    for _ in 0..40 {
        assert!(filter.remove_hash(mix(5000)).unwrap());
        assert_eq!(filter.count_hash(mix(5000)).unwrap(), GREATEST);
    }
    for key in 0..1000 {
        assert!(filter.contains_hash(mix(key)), "key {key} is lost");
        assert!(filter.remove_hash(mix(key)).unwrap());
    }
    let measure = filter.statistics();
    assert_eq!((measure.taken, measure.saturated), (7, 7), "only what stays for ever is left");
    // Fourteen times is known exactly.
    let mut filter = filled(&spec(100_000, 7), std::iter::repeat_n(1, 14));
    for left in (0..14).rev() {
        assert!(filter.remove_hash(mix(1)).unwrap());
        assert_eq!(filter.count_hash(mix(1)).unwrap(), left);
    }
    assert!(!filter.remove_hash(mix(1)).unwrap());
}

/// How many counters reach their greatest value at capacity: the tail of Poisson's distribution with mean ln 2.
#[test]
fn as_many_counters_are_at_their_end_as_chance_says() {
    const COUNTERS: u64 = 4_000_000;
    let keys = (COUNTERS as f64 * std::f64::consts::LN_2 / 7.0) as u64;
    for (width, tail) in [(2, 0.03331), (3, 8.34e-6), (4, 1.6e-15)] {
        let measure = filled(&shaped((width, "classic"), COUNTERS, 7), 0..keys).statistics();
        for (found, tail) in [(measure.saturated, tail), (measure.taken, 0.5)] {
            let mean = tail * COUNTERS as f64;
            assert!((found as f64 - mean).abs() < 4.5 * mean.sqrt() + 0.5, "{width} bits: {found}, {mean} expected");
        }
    }
}

/// A key with two equal positions counts once at their counter.
#[test]
fn a_counter_that_a_key_meets_twice_counts_it_once() {
    for counters in 1..20 {
        for key in 0..200 {
            let mut filter = filled(&spec(counters, 9), [key]);
            let once = filter.statistics();
            assert_eq!(filter.count_hash(mix(key)).unwrap(), 1);
            filter.insert_hash(mix(key)).unwrap();
            assert_eq!(filter.count_hash(mix(key)).unwrap(), 2);
            assert_eq!((filter.statistics().taken, filter.statistics().saturated), (once.taken, 0));
            assert!(filter.remove_hash(mix(key)).unwrap() && filter.remove_hash(mix(key)).unwrap());
            assert_eq!(filter.statistics().taken, 0);
        }
    }
}

/// Removing a key that was never inserted changes nothing if the filter is certain. Otherwise it loses at most as many
/// other keys as a key has counters, as the documents say.
#[test]
fn removals_of_absent_keys_lose_no_more_than_is_said() {
    const KEYS: u64 = 1000;
    let spec = spec(10_000, 4);
    let mut filter = filled(&spec, 0..KEYS);
    let rate = filter.false_positive_rate();
    let mut removed = 0;
    const TRIED: u64 = 100_000;
    for absent in KEYS..KEYS + TRIED {
        let maybe = filter.contains_hash(mix(absent));
        assert_eq!(filter.remove_hash(mix(absent)).unwrap(), maybe);
        removed += u64::from(maybe);
    }
    // The rate falls with each removal.
    assert!(removed > 0 && (removed as f64) < TRIED as f64 * rate, "{removed} at a rate of {rate}");
    let lost = (0..KEYS).filter(|key| !filter.contains_hash(mix(*key))).count() as u64;
    assert!(lost > 0 && lost <= 4 * removed, "{lost} lost by {removed} removals");
    assert_eq!(filter.base().count(), KEYS - removed);
}

#[test]
fn combining_adds_and_keeps_the_smaller() {
    let spec = spec(4000, 5);
    let times = |key: u64, salt: u64| mix(key ^ salt) % 5;
    let multiset = |salt| (0..300_u64).flat_map(move |key| std::iter::repeat_n(key, times(key, salt) as usize));
    let (a, b) = (filled(&spec, multiset(1 << 20)), filled(&spec, multiset(1 << 30)));
    let mut sum = a.copy().unwrap();
    sum.merge(&b).unwrap();
    assert!(sum.equals(&filled(&spec, multiset(1 << 20).chain(multiset(1 << 30)))));
    let mut both = a.copy().unwrap();
    both.intersect(&b).unwrap();
    let common = |key| times(key, 1 << 20).min(times(key, 1 << 30));
    for key in 0..300 {
        let count = both.count_hash(mix(key)).unwrap();
        assert!(count >= common(key) && count <= a.count_hash(mix(key)).unwrap().min(b.count_hash(mix(key)).unwrap()));
    }
    // Removing what both hold, in turn, never loses a key that is still there.
    for key in 0..300 {
        for _ in 0..common(key) {
            assert!(both.remove_hash(mix(key)).unwrap());
        }
        assert!((key + 1..300).all(|other| both.count_hash(mix(other)).unwrap() >= common(other)));
    }
    // A counter at its end stays there, whatever it is added to.
    let mut sum = filled(&spec, std::iter::repeat_n(1, 9));
    sum.merge(&filled(&spec, std::iter::repeat_n(1, 9))).unwrap();
    assert_eq!((sum.count_hash(mix(1)).unwrap(), sum.statistics().saturated), (GREATEST, sum.statistics().taken));
    // The estimate is of distinct keys, and so is that of a union.
    let comparison = petal::estimate_overlap(&filled(&spec, (0..400).chain(0..400)), &filled(&spec, 200..600)).unwrap();
    for (estimate, keys) in [(comparison.first, 400.0), (comparison.union, 600.0), (comparison.intersection, 200.0)] {
        let estimate = estimate.unwrap();
        assert!((estimate.value - keys).abs() < 4.5 * estimate.standard_error, "{estimate:?} of {keys}");
    }
}

/// Every width and layout agrees with its formula, from empty to over-full, and with the size for a rate.
#[test]
fn rates_and_sizes_are_those_of_the_formula() {
    const ASKED: u64 = 200_000;
    for (width, layout) in SHAPES {
        let by_rate = Spec { capacity: 5000, false_positive_rate: 0.01, bits: 0, ..shaped((width, layout), 1, 0) };
        let mut filter = Filter::new(&by_rate).unwrap();
        let geometry = *filter.base().geometry();
        let row = &petal::kinds::counting::ROW;
        let expected = |keys| (row.false_positive_rate)(&geometry, keys);
        assert!(expected(5000) <= 0.01, "{width} bits, {layout}");
        let unit = if layout == "blocked" { 512 } else { 16 * width };
        let smaller = petal::format::Geometry { bits: geometry.bits - unit, ..geometry };
        assert!((row.false_positive_rate)(&smaller, 5000) > 0.01, "{width} bits, {layout}: larger than it needs to be");
        let mut keys = 0;
        for until in [1000, 5000, 12_000] {
            (keys..until).for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
            keys = until;
            let found = (0..ASKED).filter(|i| filter.contains_hash(mix(1 << 40 | i))).count() as f64;
            let (rate, measured) = (expected(keys), filter.statistics().false_positive_rate);
            let band = 4.5 * (rate * (1.0 - rate) / ASKED as f64).sqrt();
            let name = format!("{width} bits, {layout}, {keys} keys");
            // Chance moves the rate of this filter by a few hundredths, which the measured rate includes.
            let own_band = 4.5 * (measured * (1.0 - measured) / ASKED as f64).sqrt();
            assert!((found / ASKED as f64 - measured).abs() <= own_band, "{name}: {found} found, {measured} measured");
            assert!((measured - rate).abs() <= band + 0.1 * rate, "{name}: {measured} measured, {rate} expected");
            let estimate = petal::estimate(&filter).unwrap().unwrap();
            assert!((estimate.value - keys as f64).abs() <= 4.5 * estimate.standard_error, "{name}: {estimate:?}");
        }
    }
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let refused = |(width, layout), bits, hashes| {
        let error = Filter::new(&Spec { bits, ..shaped((width, layout), 1, hashes) }).err().unwrap();
        (error.status(), error.message().to_string())
    };
    let lanes = "counter_bits = 3 is not 2, 4, 8 or 16, as layout = blocked has them";
    assert_eq!(refused((3, "blocked"), 512, 4), (Status::Contradiction, lanes.into()));
    assert_eq!(refused((17, "classic"), 512, 4).0, Status::OutOfRange);
    assert_eq!(refused((1, "classic"), 512, 4).0, Status::OutOfRange);
    let hashes = "hashes = 17 is above 16, the most of layout = blocked";
    assert_eq!(refused((4, "blocked"), 512, 17), (Status::OutOfRange, hashes.into()));
    assert_eq!(refused((4, "blocked"), 508, 4).0, Status::Contradiction);
    assert_eq!(refused((16, "classic"), 12, 4).0, Status::Contradiction);
    let rare = Spec { false_positive_rate: 1e-10, capacity: 10, bits: 0, ..shaped((4, "blocked"), 1, 0) };
    let rare = Filter::new(&rare).err().unwrap();
    let least = "false_positive_rate = 1e-10 is below 1e-9, the least of counting with layout = blocked";
    assert_eq!((rare.status(), rare.message()), (Status::Contradiction, least));
}

/// Batches do what single keys do, with and without fetching ahead.
#[test]
fn batches_are_many_single_keys() {
    let shapes = [SHAPES[0], (3, "classic"), (4, "blocked")];
    for (counters, shape) in [5000, 10 << 20].into_iter().flat_map(|counters| shapes.map(|shape| (counters, shape))) {
        let spec = shaped(shape, counters, 6);
        let keys: Vec<u64> = (0..3001).map(|i| mix(mix(i) % 1500)).collect();
        let (mut single, mut batch) = (Filter::new(&spec).unwrap(), Filter::new(&spec).unwrap());
        let (mut bytes, mut counts) = (vec![7; keys.len()], vec![7; keys.len()]);
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        let taken = batch.insert_batch(&Keys::Hashes(&keys), Some(&mut answers));
        assert_eq!(taken.keys, keys.len());
        taken.outcome.unwrap();
        let new: Vec<u8> = keys.iter().map(|hash| single.insert_hash(*hash).unwrap().into()).collect();
        assert_eq!(bytes, new);
        assert!(image(&single) == image(&batch));
        // Some keys that are there and some that are not.
        let asked: Vec<u64> = (0..2999).map(mix).collect();
        let expected: Vec<u64> = asked.iter().map(|hash| single.count_hash(*hash).unwrap()).collect();
        bytes.truncate(asked.len());
        counts.truncate(asked.len());
        let mut answers = Answers { bytes: Some(&mut bytes), counts: Some(&mut counts), ..Answers::default() };
        batch.count_batch(&Keys::Hashes(&asked), &mut answers).unwrap();
        let there = expected.iter().filter(|count| **count > 0).count();
        assert_eq!((answers.true_count, answers.done), (there as u64, asked.len()));
        assert_eq!(counts, expected);
        assert!(expected.iter().any(|count| *count > 1) && there < asked.len());
        let yes: Vec<u8> = expected.iter().map(|count| u8::from(*count > 0)).collect();
        assert_eq!(bytes, yes);
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        batch.contains_batch(&Keys::Hashes(&asked), &mut answers).unwrap();
        assert_eq!(bytes, yes);
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        let taken = batch.remove_batch(&Keys::Hashes(&asked), Some(&mut answers));
        taken.outcome.unwrap();
        let removed: Vec<u8> = asked.iter().map(|hash| single.remove_hash(*hash).unwrap().into()).collect();
        let all = removed.iter().map(|removed| u64::from(*removed)).sum::<u64>();
        assert_eq!((answers.true_count, answers.done), (all, asked.len()));
        assert_eq!(bytes, removed);
        batch.remove_batch(&Keys::Hashes(&keys[..100]), None).outcome.unwrap();
        keys[..100].iter().for_each(|hash| assert!(single.remove_hash(*hash).is_ok()));
        assert!(image(&single) == image(&batch));
    }
}

/// A builder keeps how often each key came, in memory and in runs that are merged.
#[test]
fn built_filters_are_those_that_were_inserted_into() {
    let folder = tempfile::tempdir().unwrap();
    // More than a memory limit has room for, most of it more than once, and one key more often than counters count.
    let hashes: Vec<u64> = (0..200_000).map(|i| mix(mix(i) % 60_000)).chain([3; 40]).collect();
    let distinct = hashes.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
    let by_keys = Spec { capacity: 0, bits: 0, hashes: 0, ..spec(1, 1) };
    let mut inserted = Filter::new(&Spec { capacity: distinct, ..by_keys }).unwrap();
    hashes.iter().for_each(|hash| assert!(inserted.insert_hash(*hash).is_ok()));
    for memory_limit in [None, Some(MIN_MEMORY_LIMIT)] {
        let temporary_directory = Some(folder.path().to_path_buf());
        let options = BuilderOptions { memory_limit, temporary_directory, ..BuilderOptions::default() };
        let mut builder = Builder::new(&by_keys, options).unwrap();
        for half in hashes.chunks(hashes.len() / 2) {
            builder.add_batch(&Keys::Hashes(half)).outcome.unwrap();
        }
        let built = builder.finish().unwrap();
        assert!(image(&built) == image(&inserted));
        assert_eq!(built.count_hash(3).unwrap(), GREATEST);
    }
}

#[test]
fn sizes_are_those_of_bloom_with_four_bits_a_counter() {
    for (capacity, false_positive_rate) in [(1, 0.5), (1000, 0.01), (1_000_000, 1e-6)] {
        let by_rate = |kind| Spec { kind: Some(kind), capacity, false_positive_rate, ..Spec::default() };
        let bloom = petal::geometry(&by_rate(petal::kinds::bloom::ROW.kind)).unwrap();
        let counting = petal::geometry(&by_rate(petal::kinds::counting::ROW.kind)).unwrap();
        assert_eq!((counting.bits, counting.hashes), (4 * bloom.bits, bloom.hashes));
    }
    let refused = Filter::new(&Spec { bits: 4002, ..spec(1, 3) }).err().unwrap();
    assert_eq!((refused.status(), refused.message()), (Status::OutOfRange, "bits = 4002 is not a multiple of 4"));
    let filter = filled(&spec(1001, 3), 0..10);
    assert_eq!(Filter::new(&filter.base().spec()).unwrap().base().geometry(), filter.base().geometry());
}

// ---- In place ----------------------------------------------------------------------------------------------------

/// Counters per region.
const REGION_COUNTERS: u64 = 2 * REGION_BYTES as u64;

fn open(path: &std::path::Path, mode: Mode) -> Filter {
    petal::open(path, &OpenOptions { mode, ..OpenOptions::default() }).unwrap()
}

/// A removal in place does the same as one in memory: after a sync the image is the same. If the process dies, the
/// image stays unclean.
#[test]
fn images_in_place_are_removed_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    let spec = spec(8 * REGION_COUNTERS, 3);
    let mut model = filled(&spec, (0..1000).chain(0..500));
    model.save(&path).unwrap();
    let mut filter = open(&path, Mode::Write);
    for key in 0..700 {
        assert_eq!(filter.remove_hash(mix(key)).unwrap(), model.remove_hash(mix(key)).unwrap());
    }
    let hashes: Vec<u64> = (400..1100).map(mix).collect();
    filter.remove_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
    model.remove_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
    assert!(filter.base().is_unclean());
    filter.sync().unwrap();
    assert!(std::fs::read(&path).unwrap() == image(&model));
    // A reader sees the removals of a writer, and cannot remove.
    let mut reader = open(&path, Mode::Read);
    assert_eq!(reader.remove_hash(mix(0)).err().unwrap().status(), Status::UnsupportedByHandle);
    assert_eq!(reader.count_hash(mix(0)).unwrap(), 1);
    assert!(filter.remove_hash(mix(0)).unwrap());
    assert_eq!(reader.count_hash(mix(0)).unwrap(), 0);
    // The writer ends without sealing the image.
    filter.base_mut().abandon();
    drop(filter);
    let survivor = open(&path, Mode::Read);
    assert!(survivor.base().is_unclean() && !survivor.contains_hash(mix(0)));
    drop((survivor, reader));
    let mut filter = open(&path, Mode::Write);
    filter.mark_clean().unwrap();
    drop(filter);
    open(&path, Mode::Read).verify().unwrap();
}

/// A removal does not change a region that does not match its checksum, and counters in other regions stay right.
#[test]
fn damaged_regions_are_not_removed_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    filled(&spec(8 * REGION_COUNTERS, 1), 0..1000).save(&path).unwrap();
    // With one counter a key lies in one region: that of the highest bits of its hash.
    let region = |key: &u64| mix(*key) >> 61;
    let damaged = 3;
    let place = (HEADER_LENGTH + damaged * REGION_BYTES + 1) as u64;
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, place).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], place).unwrap();
    let mut filter = open(&path, Mode::Write);
    let bad = (0..1000).find(|key| region(key) == damaged as u64).unwrap();
    let hashes: Vec<u64> = (0..=bad).rev().map(mix).collect();
    let taken = filter.remove_batch(&Keys::Hashes(&hashes), None);
    assert_eq!((taken.keys, taken.outcome.err().unwrap().status()), (0, Status::Corrupt));
    let hashes: Vec<u64> = (0..=bad).map(mix).collect();
    let taken = filter.remove_batch(&Keys::Hashes(&hashes), None);
    assert_eq!((taken.keys as u64, taken.outcome.err().unwrap().status()), (bad, Status::Corrupt));
    for key in bad..1000 {
        let removed = filter.remove_hash(mix(key));
        match region(&key) == damaged as u64 {
            true => assert_eq!(removed.err().unwrap().status(), Status::Corrupt),
            false => assert!(removed.unwrap()),
        }
    }
    assert_eq!(filter.base().count(), (0..1000).filter(|key| region(key) == damaged as u64).count() as u64);
    drop(filter);
    assert_eq!(open(&path, Mode::Read).verify().err().unwrap().status(), Status::Corrupt);
    file.write_all_at(&byte, place).unwrap();
    let healed = open(&path, Mode::Read);
    healed.verify().unwrap();
    assert!((0..1000).all(|key| healed.contains_hash(mix(key)) == (region(&key) == damaged as u64)));
}
