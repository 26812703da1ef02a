//! Tests of growing filters alone. A filter keeps its rate and every key through any number of growths. Where it cannot
//! grow, keys without room are refused.

use crate::common::{Buffer, hash_of, image, mix, same_every_time};
use petal::estimate;
use petal::kinds::scalable::schedule::{MAX_LEVELS, Schedule};
use petal::{Answers, Filter, Image, Kernel, Keys, Mode, OpenOptions, Spec, Status, Taken, load, registry};
use proptest::prelude::*;

fn row() -> &'static petal::Row {
    registry::find_name("scalable").unwrap()
}

fn spec(capacity: u64, rate: f64, parameters: &[(&str, f64)]) -> Spec {
    let mut spec = Spec { kind: Some(row().kind), capacity, false_positive_rate: rate, ..Spec::default() };
    for (name, value) in parameters {
        spec.set(row().parameter(name).unwrap(), *value).unwrap();
    }
    spec
}

fn schedule(filter: &Filter) -> Schedule {
    Schedule::of(filter.base().geometry()).unwrap()
}

fn levels(filter: &Filter) -> u32 {
    schedule(filter).levels
}

/// Inserts new keys from number `from` on until the next key would make the filter grow. Returns the next number.
fn fill(filter: &mut Filter, from: u64) -> u64 {
    let (mut i, spec) = (from, filter.base().spec());
    while filter.kind().as_grow().unwrap().room() > 0 {
        filter.insert_hash(hash_of(&spec, i)).unwrap();
        i += 1;
    }
    i
}

/// A filter for very few keys grows as well. A whole line holds more than these keys, and the later levels are not for
/// one key each.
#[test]
fn a_chain_for_few_keys_grows_as_well() {
    const KEYS: u64 = 2000;
    for level in 0..3 {
        for rate in [0.5, 0.01, 1e-4, 1e-6] {
            for capacity in 1..=5 {
                let spec = spec(capacity, rate, &[("level", level.into())]);
                let mut filter = Filter::new(&spec).unwrap();
                for i in 0..KEYS {
                    filter.insert_hash(hash_of(&spec, i)).unwrap();
                }
                assert!((0..KEYS).all(|i| filter.contains_hash(hash_of(&spec, i))));
                let bits = filter.base().geometry().bits;
                assert!(bits <= KEYS * 4096, "level {level}, rate {rate}, capacity {capacity}: {bits} bits");
                // A filter that is made from its spec, or from the spec of its compact form, takes the filter in by a
                // merger.
                let mut form = vec![0; filter.compact_size().unwrap()];
                filter.serialize_compact(&mut form).unwrap();
                let compact = petal::load_compact(&form, &petal::CompactOptions::default()).unwrap();
                for spec in [filter.base().spec(), compact.base().spec()] {
                    let mut empty = Filter::new(&spec).unwrap();
                    assert_eq!(empty.base().compatibility_id(), filter.base().compatibility_id());
                    empty.merge(&filter).unwrap();
                    assert!((0..KEYS).all(|i| empty.contains_hash(hash_of(&spec, i))));
                }
            }
        }
    }
}

/// At very low rates a larger level would hold no more keys. A chain ends before it takes the memory of such a level.
/// From then on the chain refuses keys with a reason, does not change, and keeps its promise.
#[test]
fn a_chain_ends_where_levels_are_not_worth_their_memory() {
    for (level, rate, tightening, growth, most) in
        [(0, 1e-15, 0.5, 2, 160.0), (0, 1e-15, 0.9, 4, 360.0), (0, 1e-14, 0.7, 2, 160.0), (1, 1e-13, 0.5, 2, 60_000.0)]
    {
        let parameters = [("level", f64::from(level)), ("tightening", tightening), ("growth", f64::from(growth))];
        let spec = spec(20, rate, &parameters);
        let (mut filter, mut keys) = (Filter::new(&spec).unwrap(), 0);
        let refused = loop {
            match filter.insert_hash(hash_of(&spec, keys)) {
                Ok(_) => keys += 1,
                Err(error) => break error,
            }
            assert!(keys < 50_000, "level {level}, rate {rate}: it never ends");
        };
        let bits_a_key = filter.base().geometry().bits as f64 / keys as f64;
        assert!(bits_a_key < most, "level {level}, rate {rate}: {bits_a_key} bits for each of {keys} keys");
        assert!(refused.status() == Status::Full && refused.message().contains("false_positive_rate"), "{refused:?}");
        assert!(keys > 20, "level {level}, rate {rate}: it does not grow");
        assert!((0..keys).all(|i| filter.contains_hash(hash_of(&spec, i))));
        let expected = filter.expected_false_positive_rate(keys);
        assert!(expected <= rate, "{expected}");
        assert!(filter.expected_false_positive_rate(u64::MAX) >= expected);
        filter.verify().unwrap();
    }
    // At usual rates no chain comes near that end.
    for (level, rate) in [(0, 1e-9), (1, 1e-4), (2, 1e-8)] {
        let schedule = schedule(&Filter::new(&spec(1000, rate, &[("level", f64::from(level))])).unwrap());
        assert!((1..13).all(|i| schedule.is_worth_adding(i)), "level {level}, rate {rate}");
    }
}

/// Growth loses no key with any parameters, whether the filter grows, is copied, or is read from its image. Geometries
/// on the way stay the same.
#[test]
fn no_growth_loses_a_key() {
    for level in 0..registry::FILTERS.len().min(3) {
        for (tightening, growth) in [(0.5, 2.0), (0.7, 4.0), (0.9, 3.0)] {
            let spec = spec(50, 0.01, &[("level", level as f64), ("tightening", tightening), ("growth", growth)]);
            let mut filter = Filter::new(&spec).unwrap();
            let mut keys = 0;
            for count in 1..=6 {
                assert_eq!(levels(&filter), count);
                keys = fill(&mut filter, keys);
                assert_eq!(levels(&filter), count, "it grows no sooner than it must");
                let all: Vec<u64> = (0..keys).map(|i| hash_of(&spec, i)).collect();
                let bytes = image(&filter);
                let read = load(&bytes, &OpenOptions::default()).unwrap();
                for filter in [&filter, &filter.copy().unwrap(), &read] {
                    filter.verify().unwrap();
                    assert!(all.iter().all(|hash| filter.contains_hash(*hash)), "{count} levels");
                    let mut answers = Answers::default();
                    filter.contains_batch(&Keys::Hashes(&all), &mut answers).unwrap();
                    assert_eq!(answers.true_count, keys);
                    assert_eq!(filter.base().header().count, keys);
                    assert_eq!(image(filter), bytes);
                }
                Buffer::of(&bytes).open(Mode::Read, None, |filter| {
                    let filter = filter.unwrap();
                    assert!(all.iter().all(|hash| filter.contains_hash(*hash)), "{count} levels");
                });
                // A copy grows like the original.
                let (mut copy, mut read, mut next) = (filter.copy().unwrap(), read, keys);
                for other in [&mut filter, &mut copy, &mut read] {
                    next = keys;
                    while !other.insert_hash(hash_of(&spec, next)).unwrap() {
                        next += 1;
                    }
                    assert_eq!(levels(other), count + 1);
                }
                keys = next + 1;
                assert!(filter.equals(&copy) && filter.equals(&read));
                // Growth changes neither the compatibility nor the spec that makes such a filter again.
                let again = Filter::new(&filter.base().spec()).unwrap();
                assert_eq!(levels(&again), 1);
                assert_eq!(again.base().compatibility_id(), filter.base().compatibility_id());
            }
        }
    }
}

/// A duplicate takes no room, and a new key takes one place in its level.
#[test]
fn only_new_keys_take_room() {
    let spec = spec(1000, 0.01, &[]);
    let mut filter = Filter::new(&spec).unwrap();
    assert_eq!(filter.kind().as_grow().unwrap().room(), 1000, "the first level takes the capacity, exactly");
    let mut new = 0;
    for i in 0..5000 {
        let room = filter.kind().as_grow().unwrap().room();
        let is_new = filter.insert_hash(hash_of(&spec, i)).unwrap();
        assert!(!filter.insert_hash(hash_of(&spec, i)).unwrap());
        if room > 0 {
            assert_eq!(filter.kind().as_grow().unwrap().room(), room - u64::from(is_new));
        }
        new += u64::from(is_new);
    }
    assert!(new > 4950, "{new}");
    assert_eq!(levels(&filter), 3, "1000, almost 2000, almost 4000");
}

/// With every instruction set, single keys and batches of any length give the same answers, counts and bytes. Batches
/// have duplicates within and between them.
#[test]
fn batches_and_single_keys_make_the_same_filter_with_every_kernel() {
    let kernels: Vec<Kernel> = petal::simd::available().map(|instructions| instructions.kernel()).collect();
    for (growth, tightening) in [(2.0, 0.7), (3.0, 0.5), (4.0, 0.9)] {
        let with = |kernel| Spec { kernel, ..spec(300, 0.01, &[("growth", growth), ("tightening", tightening)]) };
        // Every third key is a duplicate, some of them in the same batch.
        let key = |i: u64| mix(if i.is_multiple_of(3) { mix(i) % (i / 2 + 1) } else { i });
        let hashes: Vec<u64> = (0..40_000).map(key).collect();
        let mut plain = Filter::new(&with(Kernel::Portable)).unwrap();
        let new: Vec<bool> = hashes.iter().map(|hash| plain.insert_hash(*hash).unwrap()).collect();
        let (asked, bytes) = ((20_000..60_000).map(mix).collect::<Vec<u64>>(), image(&plain));
        let found: Vec<bool> = asked.iter().map(|hash| plain.contains_hash(*hash)).collect();
        assert!(found.contains(&false) && found.contains(&true));
        for kernel in &kernels {
            for length in [1, 100, 1000, 8192] {
                let mut filter = Filter::new(&with(*kernel)).unwrap();
                for (hashes, new) in hashes.chunks(length).zip(new.chunks(length)) {
                    let mut bytes = vec![2; hashes.len()];
                    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                    filter.insert_batch(&Keys::Hashes(hashes), Some(&mut answers)).outcome.unwrap();
                    assert!(bytes.iter().zip(new).all(|(byte, new)| *byte == u8::from(*new)));
                }
                assert!(image(&filter) == bytes, "{kernel:?}, growth {growth}, batches of {length}");
                for (hashes, found) in asked.chunks(length).zip(found.chunks(length)) {
                    let mut bytes = vec![2; hashes.len()];
                    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                    filter.contains_batch(&Keys::Hashes(hashes), &mut answers).unwrap();
                    assert!(bytes.iter().zip(found).all(|(byte, found)| *byte == u8::from(*found)));
                }
            }
            let mut alone = Filter::new(&with(*kernel)).unwrap();
            assert!(hashes.iter().zip(&new).all(|(hash, new)| alone.insert_hash(*hash).unwrap() == *new));
            assert!(image(&alone) == bytes, "{kernel:?}, growth {growth}, one by one");
            assert!(asked.iter().zip(&found).all(|(hash, found)| alone.contains_hash(*hash) == *found));
        }
    }
}

/// Filters grow a thousandfold. The measured rate agrees with their bits, the mean over filters agrees with the
/// formula, and the formula keeps the promise.
#[test]
fn the_rate_is_kept_while_growing() {
    const FILTERS: u64 = 16;
    const FRESH: u64 = 50_000;
    const STEPS: [u64; 4] = [200, 2000, 20_000, 200_000];
    let promised = 0.02;
    for (level, tightening, growth) in [(0, 0.7, 2), (1, 0.9, 2), (2, 0.7, 2), (2, 0.5, 4), (2, 0.9, 3)] {
        let parameters = [("level", f64::from(level)), ("tightening", tightening), ("growth", f64::from(growth))];
        let mut rates = [[0.0; FILTERS as usize]; STEPS.len()];
        let mut expected = [0.0; STEPS.len()];
        for seed in 0..FILTERS {
            let spec = Spec { seed, ..spec(200, promised, &parameters) };
            let (mut filter, mut from) = (Filter::new(&spec).unwrap(), 0);
            for (step, keys) in STEPS.into_iter().enumerate() {
                let hashes: Vec<u64> = (from..keys).map(|i| hash_of(&spec, i)).collect();
                filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
                from = keys;
                let fresh: Vec<u64> = (0..FRESH).map(|i| mix((1 << 40) + seed * FRESH + i)).collect();
                let mut answers = Answers::default();
                filter.contains_batch(&Keys::Hashes(&fresh), &mut answers).unwrap();
                let (measured, exact) = (answers.true_count as f64 / FRESH as f64, filter.false_positive_rate());
                let band = 4.5 * (exact / FRESH as f64).sqrt();
                assert!((measured - exact).abs() < band, "{parameters:?} {keys}: {measured}, of its bits {exact}");
                let estimate = estimate(&filter).unwrap().unwrap();
                let error = (estimate.value - keys as f64).abs();
                assert!(error < 4.5 * estimate.standard_error + 1.0, "{keys}: {estimate:?}");
                rates[step][seed as usize] = exact;
                expected[step] = filter.expected_false_positive_rate(keys);
            }
        }
        for ((rates, expected), keys) in rates.iter().zip(expected).zip(STEPS) {
            let mean = rates.iter().sum::<f64>() / FILTERS as f64;
            let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (FILTERS - 1) as f64;
            let band = 4.5 * (variance / FILTERS as f64).sqrt() + 0.002 * expected;
            assert!((mean - expected).abs() < band, "{parameters:?} {keys}: {mean} +- {band}, expected {expected}");
            assert!(expected <= promised, "{parameters:?} {keys}: expected {expected}");
        }
    }
}

/// The expected rate for many keys is cheap to compute and stays below the promise.
#[test]
fn the_expected_rate_stays_below_the_promise() {
    for level in 0..3 {
        let filter = Filter::new(&spec(100, 0.01, &[("level", f64::from(level))])).unwrap();
        let mut last = 0.0;
        for exponent in 0..40 {
            let rate = filter.expected_false_positive_rate(1 << exponent);
            assert!((last..=0.01).contains(&rate), "2^{exponent}: {rate} after {last}");
            last = rate;
        }
    }
}

/// Builders give hashes in ascending order, and such hashes do not crowd at one end of a level.
#[test]
fn the_order_of_keys_does_not_matter_to_the_rate() {
    let spec = spec(1000, 0.01, &[]);
    let mut hashes: Vec<u64> = (0..50_000).map(|i| hash_of(&spec, i)).collect();
    hashes.sort_unstable();
    let mut filter = Filter::new(&spec).unwrap();
    filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
    assert!(filter.false_positive_rate() < 0.01, "{}", filter.false_positive_rate());
    assert!(estimate(&filter).unwrap().unwrap().value > 49_900.0);
}

/// The geometry of each level is that of docs/format.md, and its capacity is what its rate allows.
#[test]
fn levels_are_what_the_formula_says() {
    for (level, least, most) in [(0_u64, 1, 64_u64), (1, 8, 8), (2, 1, 16)] {
        let parameters = [("level", level as f64), ("tightening", 0.5), ("growth", 3.0)];
        let filter = Filter::new(&spec(5000, 0.01, &parameters)).unwrap();
        let of = schedule(&filter);
        let first = of.full(0).unwrap();
        assert_eq!(first.capacity, 5000);
        assert!(first.false_positive_rate <= 0.005 && first.false_positive_rate > 0.0045);
        let rate = (of.kind().row.false_positive_rate)(&of.level(0).unwrap(), first.seen.round() as u64);
        assert_eq!(rate, first.false_positive_rate);
        let (mut start, mut capacity) = (0, 0);
        for i in 0..8 {
            let geometry = of.level(i).unwrap();
            assert_eq!(geometry.bits, of.first_bits * 3_u64.pow(i));
            let step = if least == most { 0 } else { 64 };
            let hashes = (u64::from(of.hashes) + u64::from(i) * step / 64).clamp(least, most);
            assert_eq!(u64::from(geometry.hashes), hashes, "level {i}");
            assert_eq!(of.with_levels(8).start(i), Some(start));
            start += geometry.payload_bytes as usize / 8;
            let full = of.full(i).unwrap();
            assert!(full.false_positive_rate <= first.false_positive_rate * 0.5_f64.powi(i as i32));
            let more = (of.kind().row.false_positive_rate)(&geometry, full.seen as u64 + 1);
            assert!(i == 0 || more > first.false_positive_rate * 0.5_f64.powi(i as i32), "level {i} takes too few");
            assert!(full.capacity as f64 <= full.seen && full.capacity > capacity, "level {i}: {}", full.capacity);
            capacity = full.capacity;
        }
        let whole = of.with_levels(8).geometry().unwrap();
        assert_eq!(whole.payload_bytes as usize, 8 * start + 64);
        assert_eq!(Schedule::of(&whole).unwrap().levels, 8);
    }
    // A size in bits is the size of the first level.
    for bits in [512, 5120, 512_000] {
        let filter = Filter::new(&Spec { bits, false_positive_rate: 0.0, ..spec(bits / 12, 0.01, &[]) }).unwrap();
        assert_eq!((schedule(&filter).first_bits, filter.kind().as_grow().unwrap().room()), (bits, bits / 12));
    }
}

/// A filter in place, in a buffer or a file, cannot grow. Keys without room are refused, and no key is lost.
#[test]
fn an_image_in_place_is_full_in_the_end() {
    let spec = spec(1000, 0.01, &[]);
    let size = petal::image_size(&spec).unwrap() as usize;
    let mut buffer = Buffer::of(&vec![0; size]);
    buffer.create(&spec, |filter| fills_up(filter.unwrap(), &spec));
    let bytes = buffer.bytes();
    let mut copy = load(&bytes, &OpenOptions::default()).unwrap();
    let before = image(&copy);
    assert_eq!(before, bytes, "the image is clean and complete");
    let next = (5000..).find(|i| !copy.contains_hash(hash_of(&spec, *i))).unwrap();
    assert!(copy.insert_hash(hash_of(&spec, next)).unwrap(), "a copy grows");
    assert_eq!(levels(&copy), 2);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.petal");
    Filter::new(&spec).unwrap().save(&path).unwrap();
    let writing = OpenOptions { mode: Mode::Write, ..OpenOptions::default() };
    fills_up(&mut petal::open(&path, &writing).unwrap(), &spec);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let sharing = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
    assert_eq!(petal::open(&path, &sharing).unwrap_err().status(), Status::Unsupported);

    // After clearing, an image that has grown has room in all of its levels.
    let mut grown = copy.copy().unwrap();
    fill(&mut grown, 2000);
    grown.save(&path).unwrap();
    let mut cleared = petal::open(&path, &writing).unwrap();
    let room = |filter: &Filter| filter.kind().as_grow().unwrap().room();
    assert_eq!(room(&cleared), 0);
    cleared.clear().unwrap();
    assert_eq!(cleared.statistics().taken, 0);
    let whole = room(&cleared);
    assert!(whole > 2500, "{whole}");
    let keys = fill(&mut cleared, 0);
    assert!((0..keys).all(|i| cleared.contains_hash(hash_of(&spec, i))));
    cleared.sync().unwrap();
    cleared.verify().unwrap();
    drop(cleared);
    load(&std::fs::read(&path).unwrap(), &OpenOptions::default()).unwrap().verify().unwrap();
}

fn fills_up(filter: &mut Filter, spec: &Spec) {
    assert!(!filter.capabilities().contains(petal::Capabilities::GROW));
    let keys = fill(filter, 0);
    assert!((1000..1010).contains(&keys), "{keys}");
    filter.sync().unwrap();
    let before = image(filter);
    let full = |outcome: petal::Result<bool>| {
        let error = outcome.unwrap_err();
        assert_eq!(error.status(), Status::Full);
        assert!(error.message().contains("full"), "{error}");
    };
    let absent = |filter: &Filter, i: &u64| !filter.contains_hash(hash_of(spec, *i));
    let next = (keys..).find(|i| absent(filter, i)).unwrap();
    full(filter.insert_hash(hash_of(spec, next)));
    assert!(filter.insert_hash_at_once(hash_of(spec, next)).is_none());
    // A batch takes the keys before the first key without room.
    let hashes: Vec<u64> = [0, 1, 2, next, 3].into_iter().map(|i| hash_of(spec, i)).collect();
    let mut bytes = [7; 5];
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    let Taken { keys: taken, outcome } = filter.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers));
    assert_eq!((taken, answers.done, answers.true_count), (3, 3, 0));
    assert_eq!(outcome.unwrap_err().status(), Status::Full);
    assert_eq!(bytes[..3], [0; 3]);
    // Present keys are not new and take no room.
    assert!(!filter.insert_hash(hash_of(spec, 5)).unwrap());
    assert!((0..keys).all(|i| filter.contains_hash(hash_of(spec, i))));
    assert_eq!(filter.base().header().count, keys + 4);
    filter.sync().unwrap();
    filter.verify().unwrap();
    let after = image(filter);
    assert_eq!(before[256..], after[256..], "the payload is as it was");
}

/// Batches in which the filter grows do the same as single keys.
#[test]
fn batches_grow_as_single_keys_do() {
    for growth in [2.0, 4.0] {
        let spec = spec(100, 0.05, &[("growth", growth)]);
        let (mut one, mut many) = (Filter::new(&spec).unwrap(), Filter::new(&spec).unwrap());
        let hashes: Vec<u64> = (0..20_000).map(|i| hash_of(&spec, mix(i) % 15_000)).collect();
        let mut start = 0;
        for length in (0..).map(|i| [1, 63, 64, 65, 511, 512, 513, 2000][i % 8]) {
            let batch = &hashes[start..hashes.len().min(start + length)];
            let new: Vec<u8> = batch.iter().map(|hash| one.insert_hash(*hash).unwrap().into()).collect();
            let mut bytes = vec![7; batch.len()];
            let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
            many.insert_batch(&Keys::Hashes(batch), Some(&mut answers)).outcome.unwrap();
            assert_eq!(bytes, new);
            start += batch.len();
            if start == hashes.len() {
                break;
            }
        }
        assert_eq!(image(&one), image(&many));
        assert!(levels(&one) > 3);
    }
}

/// A filter is also full if its next level could have no lower rate, or if it has the greatest number of levels.
#[test]
fn growth_has_an_end() {
    let mut spec = spec(1, 0.000_1, &[("level", 1.0), ("tightening", 0.5)]);
    spec.bits = 512;
    spec.false_positive_rate = 0.0;
    let mut filter = Filter::new(&spec).unwrap();
    let error = (0..1 << 20).find_map(|i| filter.insert_hash(hash_of(&spec, i)).err()).expect("it ends");
    assert_eq!(error.status(), Status::Full);
    assert!(levels(&filter) <= MAX_LEVELS);
    filter.verify().unwrap();
}

proptest! {
    #![proptest_config(same_every_time(256))]

    /// Whatever numbers a header has, the image is opened with them or refused. A state that nobody checked does no
    /// harm.
    #[test]
    fn any_numbers_are_opened_or_refused(
        word in 0_usize..10,
        value in prop_oneof![any::<u64>(), 0_u64..100, Just(f64::NAN.to_bits()), Just(0.3_f64.to_bits())],
        state in prop::array::uniform8(prop_oneof![any::<u64>(), 0_u64..4]),
    ) {
        let spec = spec(100, 0.01, &[]);
        let mut filter = Filter::new(&spec).unwrap();
        for i in 0..500 {
            filter.insert_hash(hash_of(&spec, i)).unwrap();
        }
        let mut bytes = image(&filter);
        let mut geometry = *filter.base().geometry();
        match word {
            8 => geometry.bits = value,
            9 => geometry.hashes = value as u32,
            word => geometry.words[word] = value,
        }
        if let Some(schedule) = Schedule::of(&geometry) {
            prop_assert_eq!(schedule.geometry().unwrap(), geometry);
            (row().false_positive_rate)(&geometry, 1000);
            (row().lines_per_lookup)(&geometry);
            (row().identity)(&geometry);
        }
        // The state is the last line of the payload. An unclean image has no checksums to prove it.
        bytes[216..224].copy_from_slice(b"DIRTY\0\0\0");
        let end = 256 + filter.base().geometry().payload_bytes as usize;
        for (i, word) in state.iter().enumerate() {
            bytes[end - 64 + 8 * i..end - 56 + 8 * i].copy_from_slice(&word.to_le_bytes());
        }
        for mode in [Mode::Read, Mode::Write, Mode::Load] {
            let mut buffer = Buffer::of(&bytes);
            buffer.open(mode, None, |opened| {
                let Ok(opened) = opened else { return };
                assert!((0..500).all(|i| opened.contains_hash(hash_of(&spec, i))));
                let _ = (opened.statistics(), opened.verify().is_ok(), opened.cardinality());
                opened.kind().as_grow().unwrap().room();
                let mut union = filter.copy().unwrap();
                if union.merge(opened).is_ok() {
                    assert!((0..500).all(|i| union.contains_hash(hash_of(&spec, i))));
                }
                if mode != Mode::Read {
                    let _ = (0..300).all(|i| opened.insert_hash(mix(i)).is_ok());
                }
                assert!((0..500).all(|i| opened.contains_hash(hash_of(&spec, i))));
            });
        }
    }
}

/// The number of omissions is the sum of the rates, though the rates of levels are computed once for all keys.
#[test]
fn omissions_are_the_sum_of_the_rates() {
    for (capacity, keys) in [(1000, 0), (1000, 900), (1000, 30_000), (1, 5000), (50_000, 1 << 22)] {
        let spec = spec(capacity, 0.01, &[]);
        let rate = |before| petal::expected_false_positive_rate(&spec, before).unwrap();
        let omissions = petal::expected_omissions(&spec, keys).unwrap();
        assert_eq!(omissions, petal::sizing::omissions::sum_of_rates(keys, rate), "{keys} keys, first {capacity}");
    }
}

/// The number of levels of each size.
fn of_sizes(filter: &Filter) -> Vec<usize> {
    let of = schedule(filter);
    (0..of.levels).map(|size| of.sizes().filter(|other| *other == size).count()).collect()
}

/// Filters of one spec with these numbers of keys. No key is in two of them.
fn shards<const N: usize>(spec: &Spec, keys: [u64; N]) -> [(Filter, Vec<u64>); N] {
    core::array::from_fn(|shard| {
        let hashes: Vec<u64> = (0..keys[shard]).map(|i| hash_of(spec, (shard as u64) << 32 | i)).collect();
        let mut filter = Filter::new(spec).unwrap();
        filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
        (filter, hashes)
    })
}

fn holds(filter: &Filter, hashes: &[u64]) {
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(hashes), &mut answers).unwrap();
    assert_eq!(answers.true_count, hashes.len() as u64);
    assert!(hashes.iter().all(|hash| filter.contains_hash(*hash)));
}

/// The union of chains has the levels of both, whichever takes the other over. The rate of the union is that of a
/// lookup in both, and the union grows on.
#[test]
fn chains_are_merged_side_by_side() {
    for level in 0..3 {
        for (growth, tightening) in [(2.0, 0.7), (3.0, 0.9), (4.0, 0.5)] {
            let spec = spec(100, 0.02, &[("level", level.into()), ("growth", growth), ("tightening", tightening)]);
            let [(small, few), (large, many)] = shards(&spec, [900, 30_000]);
            let rate = small.false_positive_rate() + large.false_positive_rate() * (1.0 - small.false_positive_rate());
            for (mut union, other) in [(small.copy().unwrap(), &large), (large.copy().unwrap(), &small)] {
                union.merge(other).unwrap();
                union.verify().unwrap();
                let sizes = of_sizes(&union);
                assert_eq!(sizes.len() as u32, levels(&large));
                assert!(
                    (0..sizes.len()).all(|i| sizes[i] == if i < levels(&small) as usize { 2 } else { 1 }),
                    "{sizes:?}"
                );
                assert!(
                    (union.false_positive_rate() - rate).abs() < 1e-9,
                    "{} is not {rate}",
                    union.false_positive_rate()
                );
                assert_eq!(union.base().header().count, 30_900);

                // The share of absent keys that lookups find agrees with the rate.
                const FRESH: u64 = 1 << 19;
                let fresh: Vec<u64> = (0..FRESH).map(|i| mix(1 << 60 | i)).collect();
                let mut answers = Answers::default();
                union.contains_batch(&Keys::Hashes(&fresh), &mut answers).unwrap();
                let found = answers.true_count as f64;
                let expected = rate * FRESH as f64;
                assert!((found - expected).abs() < 4.5 * expected.sqrt(), "{found} of {expected}");

                // The image of the union is like any other. The estimate allows for keys that both filters have.
                let bytes = image(&union);
                let read = load(&bytes, &OpenOptions::default()).unwrap();
                assert_eq!(image(&read), bytes);
                assert_eq!(union.compact_size().unwrap_err().status(), Status::Unsupported);
                let estimate = estimate(&union).unwrap().unwrap();
                assert!(estimate.low() < 30_100.0 && estimate.high() > 30_850.0, "{estimate:?}");
                assert!((estimate.value / 30_900.0 - 1.0).abs() < 0.02, "{estimate:?}");
                let formula = union.expected_false_positive_rate(30_900);
                assert!((formula / rate - 1.0).abs() < 0.25, "{formula} by the formula, {rate} by the bits");

                // The union takes over none of its levels a second time, neither those of others nor its own.
                for again in [&small, &large, &read, &Filter::new(&spec).unwrap()] {
                    union.merge(again).unwrap();
                    assert!(union.equals(&read));
                }

                // The union grows on.
                let more: Vec<u64> = (0..60_000).map(|i| hash_of(&spec, 7 << 32 | i)).collect();
                let [mut one, mut many_at_once] = [union.copy().unwrap(), union];
                more.iter().for_each(|hash| assert!(one.insert_hash(*hash).is_ok()));
                many_at_once.insert_batch(&Keys::Hashes(&more), None).outcome.unwrap();
                assert_eq!(image(&one), image(&many_at_once));
                assert!(levels(&one) > levels(&large));
                one.verify().unwrap();
                [&few, &many, &more].into_iter().for_each(|keys| holds(&one, keys));
            }
        }
    }
}

/// If copies of one filter grew on, a merger takes only the levels that came later. Levels of both are there once.
#[test]
fn copies_that_grew_on_are_merged_once() {
    let spec = spec(100, 0.01, &[]);
    let [(first, common)] = shards(&spec, [3000]);
    let [mut a, mut b] = [first.copy().unwrap(), first.copy().unwrap()];
    for i in 0..20_000 {
        a.insert_hash(hash_of(&spec, 1 << 40 | i)).unwrap();
        b.insert_hash(hash_of(&spec, 1 << 41 | i)).unwrap();
    }
    // Both copies have all but the last level of the original.
    let kept = levels(&first) as usize - 1;
    a.merge(&b).unwrap();
    assert!(kept >= 4 && of_sizes(&a)[..kept].iter().all(|levels| *levels == 1), "{:?}", of_sizes(&a));
    holds(&a, &common);
    for i in 0..20_000 {
        assert!(a.contains_hash(hash_of(&spec, 1 << 40 | i)) && a.contains_hash(hash_of(&spec, 1 << 41 | i)));
    }
    // A filter that is merged with a later copy of itself becomes that copy.
    let mut before = first.copy().unwrap();
    before.merge(&b).unwrap();
    assert!(before.equals(&b));
}

/// If the keys of both filters fit into one level, the union has one level. The same holds in place. Where the level
/// has no room, a filter in place refuses the merger and stays as it was.
#[test]
fn levels_in_use_are_united_where_they_have_room() {
    let spec = spec(1000, 0.01, &[]);
    let [(a, first), (b, second), (c, third)] = shards(&spec, [400, 500, 300]);
    let mut union = a.copy().unwrap();
    union.merge(&b).unwrap();
    assert_eq!(of_sizes(&union), [1]);
    let room = union.kind().as_grow().unwrap().room();
    assert!((60..140).contains(&room), "room for {room} more");
    union.merge(&c).unwrap();
    assert_eq!(of_sizes(&union), [2]);
    [&first, &second, &third].into_iter().for_each(|keys| holds(&union, keys));

    let mut buffer = Buffer::of(&image(&a));
    buffer.open(Mode::Write, None, |filter| {
        let filter = filter.unwrap();
        filter.merge(&b).unwrap();
        filter.sync().unwrap();
        let before = image(filter);
        let error = filter.merge(&c).unwrap_err();
        assert_eq!(error.status(), Status::Full);
        assert!(error.message().contains("mode load"), "{error}");
        assert_eq!(image(filter), before);
        filter.verify().unwrap();
        [&first, &second].into_iter().for_each(|keys| holds(filter, keys));
    });
    let mut expected = a.copy().unwrap();
    expected.merge(&b).unwrap();
    assert_eq!(buffer.bytes(), image(&expected));
    Buffer::of(&image(&a)).open(Mode::Read, None, |filter| {
        let error = filter.unwrap().merge(&a).unwrap_err();
        assert_eq!(error.status(), Status::UnsupportedByHandle);
    });
}

/// A chain holds at most sixteen levels of a size. After clearing it has room in all of them.
#[test]
fn so_many_chains_are_merged() {
    let spec = spec(50, 0.01, &[]);
    let mut all = Filter::new(&spec).unwrap();
    let mut keys = Vec::new();
    for shard in 0..17_u64 {
        let hashes: Vec<u64> = (0..100).map(|i| hash_of(&spec, shard << 32 | i)).collect();
        let mut filter = Filter::new(&spec).unwrap();
        filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
        let before = image(&all);
        match all.merge(&filter) {
            Ok(()) => keys.extend(hashes),
            Err(error) => {
                assert_eq!((shard, error.status()), (16, Status::Full));
                assert_eq!(image(&all), before);
            }
        }
    }
    assert_eq!((of_sizes(&all)[0], keys.len()), (16, 1600));
    holds(&all, &keys);
    let expected = all.expected_false_positive_rate(1600);
    assert!((all.false_positive_rate() / expected - 1.0).abs() < 0.4, "{} and {expected}", all.false_positive_rate());
    all.clear().unwrap();
    assert_eq!(all.statistics().taken, 0);
    assert!(all.kind().as_grow().unwrap().room() > 1600);
    all.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
    holds(&all, &keys);
    all.verify().unwrap();
}
