//! The kind `signatures`: every key has a slot, whatever the hashes are. Loads, sizes and rates agree with the
//! literature.

use crate::common::{is_soak, mix};
use petal::kinds::signatures::layout::{Shape, build, order};
use petal::kinds::signatures::sizing::{NAMES, SHAPES, shards};
use petal::kinds::signatures::{BUCKETS, ROW, SIGNATURE_BITS};
use petal::storage::Words;
use petal::{Answers, Builder, BuilderOptions, Filter, HashFunction, Image, Keys, Spec, Status, geometry};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

fn hashes(set: u64, count: u64) -> Vec<u64> {
    (0..count).map(|i| mix(set << 40 | i)).collect()
}

/// The hash that `order` maps to this number.
fn hash_of(x: u64) -> u64 {
    let x = (x ^ x >> 31 ^ x >> 62).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let x = (x ^ x >> 27 ^ x >> 54).wrapping_mul(0x96de_1b17_3f11_9089);
    x ^ x >> 30 ^ x >> 60
}

fn spec(buckets: usize, signature_bits: u32) -> Spec {
    let mut spec = Spec { kind: Some(ROW.kind), hash: HashFunction::External, ..Spec::default() };
    spec.set(&BUCKETS, buckets as f64).unwrap();
    spec.set(&SIGNATURE_BITS, signature_bits.into()).unwrap();
    spec
}

fn of(spec: &Spec, hashes: &[u64]) -> Filter {
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    builder.add_batch(&Keys::Hashes(hashes)).outcome.unwrap();
    builder.finish().unwrap()
}

/// Asserts that lookups find all hashes, one by one and in a batch, and that the filter knows their number.
#[track_caller]
fn check(spec: &Spec, hashes: &[u64]) -> Filter {
    let filter = of(spec, hashes);
    filter.verify().unwrap();
    assert!(hashes.iter().all(|hash| filter.contains_hash(*hash)), "{} hashes", hashes.len());
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(hashes), &mut answers).unwrap();
    assert_eq!(answers.true_count, hashes.len() as u64);
    let distinct: BTreeSet<&u64> = hashes.iter().collect();
    assert_eq!(filter.statistics().taken, distinct.len() as u64);
    filter
}

/// The buckets of a filter.
fn length(filter: &Filter) -> u64 {
    let geometry = filter.base().geometry();
    geometry.bits / geometry.words[0] / u64::from(SHAPES[geometry.words[1] as usize].slots)
}

#[test]
fn every_small_number_of_keys_builds() {
    let step = if is_soak() { 1 } else { 9 };
    for count in (0..300).chain((300..3000).step_by(step)) {
        let shape = count as usize % SHAPES.len();
        let filter = check(&spec(shape, 2 + count as u32 % 31), &hashes(count, count));
        // None of these sets needs more room than planned, and empty filters find nothing.
        assert_eq!(length(&filter), SHAPES[shape].length(count.max(1)), "{count} keys, {}", NAMES[shape]);
        assert!(count > 0 || (0..1000).all(|i| !filter.contains_hash(mix(i))));
    }
    for (shape, name) in NAMES.iter().enumerate() {
        for bits in 2..=32 {
            for count in [1, 2, 3, 10, 1000] {
                let filter = check(&spec(shape, bits), &hashes(u64::from(bits), count));
                assert_eq!(filter.base().geometry().words[..3], [bits.into(), shape as u64, 1], "{name}");
            }
        }
    }
}

/// Tables of all sizes are filled to 0.98 of the thresholds in the literature, or nearly so with few keys.
#[test]
#[ignore = "slow: make test-all"]
fn loads_are_near_the_thresholds() {
    let thresholds = [0.9803, 0.9592, 0.8970, 0.5, 0.9179, 0.9768];
    for (shape, (buckets, threshold)) in SHAPES.iter().zip(thresholds).enumerate() {
        assert!((buckets.threshold - threshold).abs() < 0.001);
        for count in [10_000, 100_000, 1 << 20] {
            let filter = check(&spec(shape, 8), &hashes(count, count));
            let load = count as f64 / (length(&filter) * u64::from(buckets.slots)) as f64;
            assert!((load / threshold - 0.98).abs() < 0.002, "{}, {count} keys: {load}", NAMES[shape]);
            assert_eq!(filter.statistics().fill, load);
        }
    }
}

/// The bits per key for a rate are `(lg(1 / rate) + lg(d b load)) / load`, up to a bit of the signature.
#[test]
fn sizes_are_those_of_the_formula() {
    const KEYS: u64 = 1_000_000;
    for (shape, buckets) in SHAPES.iter().enumerate() {
        for rate in [0.3, 0.1, 0.01, 1e-3, 1e-6] {
            let spec = Spec { capacity: KEYS, false_positive_rate: rate, ..spec(shape, 0) };
            let geometry = geometry(&spec).unwrap();
            let load = 0.98 * buckets.threshold;
            let needed = ((1.0 / rate).log2() + (f64::from(buckets.choices * buckets.slots) * load).log2()) / load;
            let bits = geometry.bits as f64 / KEYS as f64;
            assert!(bits > needed - 0.1 && bits < needed + 1.7 / load, "{}, {rate}: {bits}, {needed}", NAMES[shape]);
            assert!((ROW.false_positive_rate)(&geometry, KEYS) <= rate);
            let fewer = geometry.words[0] as u32 - 1;
            let keeps = |fewer| {
                let shorter = petal::geometry(&Spec { capacity: KEYS, ..self::spec(shape, fewer) }).unwrap();
                (ROW.false_positive_rate)(&shorter, KEYS) <= rate
            };
            assert!(fewer < 2 || !keeps(fewer), "{}, {rate}: a bit less would do", NAMES[shape]);
        }
    }
    // Three lookups of one slot: 1.46 bits and a tenth more.
    let (rate, load): (f64, f64) = (1e-9, 0.98 * 0.917);
    let spec = Spec { capacity: KEYS, false_positive_rate: rate, ..spec(4, 0) };
    let bits = geometry(&spec).unwrap().bits as f64 / KEYS as f64;
    assert!((bits - (1.0 / rate).log2().ceil() / load - 1.46 / load).abs() < 1.2, "{bits}");
}

/// Rates are within 4.5 sigma of `1 - (1 - load / (2^r - 1))^(d b)`, with few keys too. Keys of one set share their
/// buckets, so the test takes many small sets.
#[test]
fn rates_are_those_of_the_formula() {
    for (shape, name) in NAMES.iter().enumerate() {
        for (bits, keys, sets) in
            [(2, 100_000, 1), (8, 100_000, 1), (12, 20_000, 5), (8, 1, 900), (8, 20, 300), (5, 4, 600)]
        {
            let asked = 300_000 / sets;
            let (mut found, mut expected, mut by_formula) = (0, 0.0, 0.0);
            for set in 0..sets {
                let filter = of(&spec(shape, bits), &hashes(set, keys));
                let absent = |i: u64| !mix(set << 40 | 1 << 39 | i);
                found += (0..asked).filter(|i| filter.contains_hash(absent(*i))).count();
                let rate = filter.statistics().false_positive_rate;
                expected += rate * asked as f64;
                by_formula += (ROW.false_positive_rate)(filter.base().geometry(), keys) * asked as f64;
            }
            // With few buckets the bits show the real fill, and the formula has the average.
            let off = (ROW.rate_error)(0.0) + if keys < 10_000 { 0.005 } else { 0.0 };
            assert!((by_formula / expected - 1.0).abs() <= off, "{name}, {bits} bits, {keys} keys: {by_formula}");
            // The rates of small sets differ between sets by about their own size.
            let of_sets = if keys < 100 { expected / (sets as f64).sqrt() } else { 0.0 };
            let sigma = (expected + of_sets * of_sets / 16.0).sqrt();
            let off = found as f64 - expected;
            assert!(off.abs() <= 4.5 * sigma, "{name}, {bits} bits, {keys} keys: {found}, not {expected}");
        }
    }
}

/// Weak hashes, and hashes whose keys all lie in one shard.
#[test]
fn awkward_hashes_build() {
    let count = 100_000;
    let sets: [(&str, fn(u64) -> u64); 7] = [
        ("sequential", |i| i),
        ("equal high bits", |i| i * 0x9e37),
        ("equal low bits", |i| i << 40),
        ("the highest", |i| u64::MAX - i),
        ("all in the first shard", hash_of),
        ("all in the last shard", |i| hash_of(u64::MAX - i)),
        ("equal", |_| 7),
    ];
    for (name, hash) in sets {
        for shape in 0..SHAPES.len() {
            let hashes: Vec<u64> = (0..count).map(hash).collect();
            let filter = check(&spec(shape, 9), &hashes);
            let distinct = if name == "equal" { 1 } else { count };
            assert_eq!(length(&filter), SHAPES[shape].length(distinct), "{name}, {}", NAMES[shape]);
        }
    }
    assert!((0..1000).all(|i| order(hash_of(mix(i))) == mix(i)));
}

fn build_of(hashes: &[u64], shape: Shape) -> (Shape, Words) {
    let mut ordered: Vec<u64> = hashes.iter().map(|hash| order(*hash)).collect();
    ordered.sort_unstable();
    build(&&ordered[..], shape, &mut |_, _| true).unwrap()
}

fn contains(shape: &Shape, words: &Words, hash: u64) -> bool {
    shape.contains(hash, words.shared())
}

/// If the ranges of shards were off by one, the keys at their ends would be lost. A shard without keys has one bucket.
#[test]
fn shards_have_all_of_their_keys() {
    const SHARDS: u64 = 5;
    let part = u64::MAX / SHARDS;
    // A run of consecutive numbers lies around each border. A second set has these runs only, so that shards are empty.
    let runs = (1..SHARDS).flat_map(|i| (0..40).map(move |j| hash_of(i * part - 20 + j)));
    let mut all: Vec<u64> = runs.chain([hash_of(0), hash_of(u64::MAX)]).collect();
    let first: Vec<u64> = (0..5000).map(hash_of).collect();
    for (shape, buckets) in (0..).zip(SHAPES) {
        let expected = Shape::new(11, shape, SHARDS, SHARDS * buckets.length(2000)).unwrap();
        for set in [&first, &all, &Vec::new()] {
            let (built, words) = build_of(set, expected);
            built.check(words.shared()).unwrap();
            assert_eq!((built.shards(), built.words() * 8), (SHARDS, words.bytes()));
            assert!(set.iter().all(|hash| contains(&built, &words, *hash)), "{buckets:?}");
        }
        let (built, words) = build_of(&first, expected);
        assert_eq!(built.length(), buckets.length(5000) + 4, "one shard has them all");
        assert_eq!(built.slots().taken(built.slot_words(words.shared()), &mut |_| {}), 5000);
    }
    all.extend(hashes(7, 2 << 20));
    let filter = check(&spec(0, 7), &all);
    assert_eq!((filter.base().geometry().words[2], shards(all.len() as u64)), (3, 3));
}

#[test]
fn bits_and_rates_that_do_not_go_together_are_refused() {
    let status = |spec: Spec| geometry(&spec).err().map(|error| error.status());
    assert_eq!(status(Spec { capacity: 100, ..spec(0, 0) }), None);
    let mut one = spec(0, 0);
    one.set(&SIGNATURE_BITS, 1.0).unwrap();
    assert_eq!(status(Spec { capacity: 100, ..one }), Some(Status::OutOfRange));
    assert_eq!(status(Spec { capacity: 100, false_positive_rate: 1e-10, ..spec(0, 0) }), Some(Status::OutOfRange));
    assert_eq!(status(Spec { capacity: 100, false_positive_rate: 0.01, ..spec(0, 8) }), Some(Status::Contradiction));
    assert_eq!(status(Spec { capacity: 1 << 51, ..spec(0, 8) }), Some(Status::TooLarge));
    assert_eq!(status(Spec { capacity: 1000, bits: 2000, ..spec(0, 0) }), Some(Status::Contradiction));
    // The filter has the longest signatures that fit, and never more bits than allowed.
    for bits in (2200..40_000).step_by(777) {
        let spec = Spec { capacity: 1000, bits, ..spec(0, 0) };
        let expected = geometry(&spec).unwrap();
        assert!(
            expected.bits <= bits
                && (expected.words[0] == 32 || expected.bits + expected.bits / expected.words[0] > bits)
        );
        assert_eq!(*check(&spec, &hashes(bits, 1000)).base().geometry(), expected);
    }
}

/// With any directory, lookups read the payload only, and verifying finds an impossible directory.
#[test]
fn a_forged_directory_is_found() {
    let set = hashes(3, 3000);
    for (shape, _) in (0..).zip(SHAPES) {
        let (built, mut words) = build_of(&set, Shape::new(13, shape, 3, 6000).unwrap());
        for word in 0..3 {
            for bit in 0..64 {
                words.exclusive().unwrap()[word] ^= 1 << bit;
                let _ = set.iter().step_by(30).filter(|hash| contains(&built, &words, **hash)).count();
                built.fetch(set[0], |word| words.shared()[word].load(Ordering::Relaxed), |_| {});
                // Any seed is valid, and a border may lie at another bucket.
                let found = built.check(words.shared()).is_err();
                assert!(found || bit < 16 || word > 0 && bit < 28, "bit {bit} of word {word}");
                words.exclusive().unwrap()[word] ^= 1 << bit;
            }
        }
        let last = words.shared().len() - 1;
        words.exclusive().unwrap()[last] |= 1 << 63;
        assert!(built.check(words.shared()).is_err() || built.bits().is_multiple_of(512));
        assert!(built.check(&words.shared()[1..]).is_err());
    }
    for (width, shape, shards, length) in
        [(1, 0, 1, 9), (33, 0, 1, 9), (8, 6, 1, 9), (8, 0, 0, 9), (8, 0, 10, 9), (8, 0, 1, 0), (8, 0, 1, 1 << 48)]
    {
        assert_eq!(Shape::new(width, shape, shards, length), None);
    }
}
