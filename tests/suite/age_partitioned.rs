//! The published table of age-partitioned filters, measured in filters: in the worst phase and on average over a
//! generation.

use crate::common::{hash_of, mix};
use crate::kernels::Hashes;
use petal::kinds::age_partitioned::layout::{self, kernel};
use petal::kinds::age_partitioned::sizing::Slices;
use petal::simd::available;
use petal::{Answers, Filter, Image, Keys, Spec, registry};

/// Keys per generation.
const KEYS: u64 = 20_000;

/// A filter with half-full slices, as in the paper.
fn half_full(hashes: u32, old: u32, seed: u64) -> (Filter, Spec) {
    let row = registry::find_name("age_partitioned").unwrap();
    let each = (f64::from(hashes) * KEYS as f64 / std::f64::consts::LN_2).round() as u64;
    let (bits, capacity) = (each * u64::from(hashes + old), KEYS * u64::from(old));
    let mut spec = Spec { kind: Some(row.kind), capacity, bits, hashes, seed, ..Spec::default() };
    spec.set(row.parameter("slices").unwrap(), old.into()).unwrap();
    (Filter::new(&spec).unwrap(), spec)
}

fn insert(filter: &mut Filter, spec: &Spec, keys: std::ops::Range<u64>) {
    let hashes: Vec<u64> = keys.map(|i| hash_of(spec, i)).collect();
    filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
}

/// How many of `fresh` absent keys are found.
fn found(filter: &Filter, spec: &Spec, fresh: u64) -> f64 {
    let hashes: Vec<u64> = (1 << 40..(1 << 40) + fresh).map(|i| hash_of(spec, i)).collect();
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
    answers.true_count as f64
}

/// k, l, the worst rate, the mean one, and the bits for each key of the window.
const PAIRS: [(u32, u32, f64, f64, f64); 4] = [
    (7, 5, 0.01283, 0.01059, 24.2),
    (8, 8, 0.01105, 0.01003, 23.1),
    (10, 25, 0.01032, 0.01006, 20.2),
    (12, 14, 0.001_050, 0.000_987, 32.2),
];

#[test]
fn the_published_table_is_met() {
    for (seed, (hashes, old, worst, mean, bits)) in (1..).zip(PAIRS) {
        let (mut filter, spec) = half_full(hashes, old, seed);
        let a_key = filter.base().geometry().bits as f64 / (KEYS * u64::from(old)) as f64;
        assert!((a_key - bits).abs() < 0.06, "({hashes}, {old}): {a_key} bits a key");
        // Up to the end of a generation, when all older ones are as full as they become.
        let mut next = KEYS * u64::from(hashes + old + 1);
        insert(&mut filter, &spec, 0..next);
        let fresh = 400_000;
        let check = |filter: &Filter, expected: f64, what: &str| {
            let found = found(filter, &spec, fresh);
            let mean = fresh as f64 * expected;
            // Lookups are tossed coins, and the fills of the slices that a run goes over differ by chance from filter
            // to filter, by a thousandth or two.
            let sd = (mean + (mean * 0.002 * f64::from(hashes).sqrt()).powi(2)).sqrt();
            assert!(
                (found - mean).abs() < 4.5 * sd,
                "({hashes}, {old}), {what}: {found} found, {mean} +- {sd} expected"
            );
        };
        check(&filter, worst, "at worst");
        assert!((filter.false_positive_rate() / worst - 1.0).abs() < 0.03);
        // A generation, in parts.
        let (mut sum, parts) = (0.0, 40);
        for _ in 0..parts {
            insert(&mut filter, &spec, next..next + KEYS / parts / 2);
            sum += filter.false_positive_rate();
            insert(&mut filter, &spec, next + KEYS / parts / 2..next + KEYS / parts);
            next += KEYS / parts;
        }
        let average = sum / parts as f64;
        assert!((average / mean - 1.0).abs() < 0.03, "({hashes}, {old}): {average} on average");
        check(&filter, worst, "at worst again");
    }
}

/// A filter made by rate keeps the rate before each step, by the exact formula, and takes as few bits as the table
/// says.
#[test]
fn what_is_asked_for_is_strict() {
    let row = registry::find_name("age_partitioned").unwrap();
    for (rate, slices, most) in
        [(0.1, 14, 12.6), (0.01, 8, 23.6), (0.01, 25, 20.4), (0.01, 46, 19.8), (0.001, 23, 29.8)]
    {
        let keys = 1_000_000;
        let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(keys, rate).unwrap() };
        spec.set(row.parameter("slices").unwrap(), f64::from(slices)).unwrap();
        let geometry = petal::geometry(&spec).unwrap();
        let worst = (row.false_positive_rate)(&geometry, u64::MAX);
        assert!(worst <= rate && worst > 0.999 * rate, "{worst}");
        let bits = geometry.bits as f64 / keys as f64;
        assert!(bits <= most && bits > 0.93 * most, "{rate}, {slices}: {bits} bits a key");
    }
}

/// Slices in which a key sets a bit, and older ones. The last pairs have as many as possible.
const SHAPES: [(u32, u32); 14] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (1, 59),
    (3, 3),
    (7, 5),
    (9, 24),
    (12, 14),
    (20, 1),
    (5, 55),
    (59, 1),
    (30, 30),
    (64, 128),
    (1, 128),
];

/// Every kernel gives a batch the same answers and the same bytes as single calls: in many phases of a generation, with
/// repeated keys in a batch, and with batches in which a generation ends.
#[test]
fn kernels_do_as_keys_do_that_come_one_by_one() {
    // `far` has some shapes at sizes so large that lines are fetched ahead as well.
    let near = SHAPES.into_iter().flat_map(|shape| [(70, 5), (700, 100), (5000, 600)].map(|size| (shape, size)));
    let far = [((9, 24), (1_020_000, 1500)), ((2, 5), (4_800_000, 1 << 20))];
    let row = registry::find_name("age_partitioned").unwrap();
    for (case, ((hashes, old), (each, keys))) in (1..).zip(near.chain(far)) {
        let mut filters: Vec<Filter> = [petal::Kernel::Portable]
            .into_iter()
            .chain(petal::simd::available().map(|instructions| instructions.kernel()))
            .map(|kernel| {
                let (bits, capacity) = (each * u64::from(hashes + old), keys * u64::from(old));
                let mut spec = Spec { kind: Some(row.kind), capacity, bits, hashes, kernel, ..Spec::default() };
                spec.set(row.parameter("slices").unwrap(), old.into()).unwrap();
                Filter::new(&spec).unwrap()
            })
            .collect();
        let (expected, filters) = filters.split_first_mut().unwrap();
        let mut totals = [0; 2];
        let lengths = [1000, 0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 2000].into_iter().cycle();
        for (batch, count) in (case << 32..).zip(lengths).take(40) {
            let name = format!("{hashes} and {old} slices of {each} bits, batch {batch}, {count} keys");
            // Most are new, some came before, and some come twice in this batch.
            let key = |i: u64| match mix((batch << 12) + i) % 16 {
                0 => mix((batch << 12) + i / 8),
                1 | 2 => mix(((batch - 1) << 12) + i),
                _ => mix((batch << 12) + i),
            };
            let inserted: Vec<u64> = (0..count).map(key).collect();
            let new: Vec<u8> = inserted.iter().map(|hash| u8::from(expected.insert_hash(*hash).unwrap())).collect();
            if batch % 7 == 3 {
                expected.advance(batch % 3).unwrap();
            }
            let sought: Vec<u64> = (0..count).map(|i| mix(((batch - i % 5) << 12) + i / (1 + i % 2))).collect();
            let there: Vec<u8> = sought.iter().map(|hash| u8::from(expected.contains_hash(*hash))).collect();
            for one in there.iter().chain(&new) {
                totals[usize::from(*one)] += 1;
            }
            for filter in &mut *filters {
                let mut answers = vec![2; inserted.len()];
                let mut asked = Answers { bytes: Some(&mut answers), ..Answers::default() };
                let is_asked = batch % 3 > 0;
                filter.insert_batch(&Keys::Hashes(&inserted), is_asked.then_some(&mut asked)).outcome.unwrap();
                assert!(!is_asked || answers == new, "{name}: new keys");
                if batch % 7 == 3 {
                    filter.advance(batch % 3).unwrap();
                }
                assert!(filter.equals(expected), "{name}: the bytes differ");
                let mut found = vec![2; sought.len()];
                let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
                filter.contains_batch(&Keys::Hashes(&sought), &mut answers).unwrap();
                assert!(found == there, "{name}: keys that are there");
            }
        }
        assert!(totals.iter().all(|total| *total > 100), "{hashes} and {old} slices of {each} bits: {totals:?}");
    }
}

/// A key that all young slices have takes no room, and does not make the next slice follow when one is due.
#[test]
fn keys_that_are_young_change_nothing() {
    let row = registry::find_name("age_partitioned").unwrap();
    let spec = Spec { kind: Some(row.kind), capacity: 300, false_positive_rate: 1e-6, ..Spec::default() };
    let mut filter = Filter::new(&spec).unwrap();
    let payload = |filter: &Filter| {
        crate::common::image(filter)[256..][..filter.base().geometry().payload_bytes as usize].to_vec()
    };
    for i in 0..600 {
        let hash = hash_of(&spec, i);
        filter.insert_hash(hash).unwrap();
        let before = payload(&filter);
        assert!(!filter.insert_hash(hash).unwrap());
        assert!(payload(&filter) == before, "key {i} came twice");
    }
}

/// The probability that a lookup misses a key is the probability that no run of slices is set. The test counts all
/// patterns of slices in the middle of a generation.
#[test]
fn keys_are_lost_as_often_as_patterns_of_slices_say() {
    for (hashes, old, bits, each) in [(2, 1, 40, 20), (3, 3, 60, 20), (4, 2, 300, 100), (2, 6, 100, 64)] {
        let slices = Slices { hashes, old, bits, keys: Some(each) };
        let count = hashes + old;
        let after = |steps: u32| {
            let fills: Vec<f64> = (0..count)
                .map(|age| {
                    let keys = (f64::from(age.min(hashes)) + if age < hashes { 0.5 } else { 0.0 }) * each as f64;
                    let by_chance = 1.0 - (1.0 - 1.0 / bits as f64).powf(keys);
                    if (steps..steps + hashes).contains(&age) { 1.0 } else { by_chance }
                })
                .collect();
            let has_run =
                |pattern: u32| (0..=old).any(|first| pattern >> first & ((1 << hashes) - 1) == (1 << hashes) - 1);
            let chance = |pattern: u32| -> f64 {
                (0..count)
                    .map(|i| if pattern >> i & 1 == 1 { fills[i as usize] } else { 1.0 - fills[i as usize] })
                    .product()
            };
            1.0 - (0..1_u32 << count).filter(|pattern| has_run(*pattern)).map(chance).sum::<f64>()
        };
        for steps in old..count + 2 {
            let (now, later) = (after(steps), after(steps + 1));
            for quarter in 0..4 {
                let age = u64::from(steps) * each + quarter * each / 4;
                let expected =
                    if age <= each * u64::from(old) { 0.0 } else { now + quarter as f64 / 4.0 * (later - now) };
                let told = slices.false_negative_rate(age);
                assert!((told - expected).abs() < 1e-9, "{slices:?} after {age} keys: {told}, {expected}");
            }
        }
    }
}

/// With every instruction set a batch has the answers of single lookups, however full the slices are and whichever of
/// them is the youngest.
#[test]
fn walks_in_turns_end_where_single_walks_end() {
    use std::sync::atomic::AtomicU64;
    for (seed, (hashes, old)) in (0..).zip(SHAPES) {
        for zeros in [2, 4, 40] {
            let count = hashes + old;
            let slices = layout::Slices { hashes, old, bits: 1009, youngest: mix(seed) as u32 % count };
            let mut words = vec![u64::MAX; (1009 * u64::from(count)).div_ceil(64) as usize];
            for i in 0..1009 * u64::from(count) / zeros {
                let bit = mix(i ^ seed << 40) % (1009 * u64::from(count));
                words[bit as usize / 64] &= !(1 << (bit % 64));
            }
            let words: Vec<AtomicU64> = words.into_iter().map(AtomicU64::new).collect();
            let asked: Vec<u64> = (0..300).map(|i| mix(i ^ seed << 32)).collect();
            let expected: Vec<bool> = asked.iter().map(|hash| slices.contains(&words, mix(*hash))).collect();
            for instructions in available() {
                let kernel = kernel(instructions);
                for some in [1, 15, 16, 300] {
                    let found = Hashes::answered(&asked[..some], true, |batch| {
                        (kernel.contains_many)(&slices, &words, batch);
                    });
                    assert_eq!(found, expected[..some], "{slices:?}, {instructions:?}");
                }
            }
        }
    }
}

/// A size without a capacity takes as many keys per generation as fill half of its slices' bits. A lookup in a large
/// filter looks at its k young slices, and at one older slice for each k of them.
#[test]
fn a_size_says_how_many_keys_there_are() {
    let row = registry::find_name("age_partitioned").unwrap();
    for (hashes, old) in [(7, 5), (10, 25)] {
        let mut spec = Spec { kind: Some(row.kind), bits: 10_000_000, hashes, ..Spec::default() };
        spec.set(row.parameter("slices").unwrap(), f64::from(old)).unwrap();
        let geometry = petal::geometry(&spec).unwrap();
        let each = 10_000_000 / u64::from(hashes + old);
        assert_eq!(geometry.words[2], (each as f64 * 2.0_f64.ln() / f64::from(hashes)) as u64);
        let lines = (row.lines_per_lookup)(&geometry);
        assert!((lines - f64::from(hashes) - f64::from(old) / f64::from(hashes)).abs() < 1e-9, "{lines}");
    }
}
