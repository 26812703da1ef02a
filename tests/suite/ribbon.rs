//! The ribbon: lookups find all keys, for any number of keys, bits of a value and hashes. The payload depends on
//! nothing else.

use crate::common::sets::{Changing, Ids, hash, hashes, ordered};
use petal::blocks::mixing::scatter;
use petal::contract::Work;
use petal::kinds::ribbon;
use petal::kinds::ribbon::layout::{
    Array, Equations, Fingerprints, Lookup, MAX_COLUMNS, Shape, ValueShape, Values, solve,
};
use petal::simd::Instructions;
use petal::storage::Words;
use petal::{Entry, Result, Status};

const NO_LIMIT: u64 = u64::MAX;
const WIDTHS: [u32; 2] = [64, 128];

fn build_with(hashes: &[u64], bits: u32, width: u32, memory: u64, threads: usize) -> Result<(Shape, Words)> {
    let mut work = Work { memory, threads, progress: &mut |_, _| true };
    Fingerprints::build(&&ordered(hashes)[..], bits, width, &mut work)
}

fn build(hashes: &[u64], bits: u32, width: u32) -> (Shape, Words) {
    let (shape, words) = build_with(hashes, bits, width, NO_LIMIT, 1).expect("every set of hashes can be solved");
    assert_eq!(words.shared().len() as u64, shape.words());
    shape.check(words.shared()).expect("what was built is whole");
    (shape, words)
}

/// Builds a filter from hashes, and asserts that each of them is contained.
fn check_found(hashes: &[u64], bits: u32, width: u32) -> (Shape, Words) {
    let (shape, words) = build(hashes, bits, width);
    let filter = Fingerprints::new(shape, words.shared());
    let lost = hashes.iter().filter(|hash| !filter.contains(**hash)).count();
    assert_eq!(lost, 0, "of {} hashes, {bits} bits, width {width}", hashes.len());
    (shape, words)
}

/// Records that are numbers in their own order, with values of any number of bits.
struct Numbers;

/// The records of [`Numbers`].
fn number(x: u64) -> u128 {
    u128::from(x.rotate_left(17)) << 50 ^ u128::from(hash(99, x & 0xffff_ffff))
}

impl Equations<u64> for Numbers {
    type Value = u128;

    fn order(&self, record: &u64) -> u64 {
        *record
    }

    fn scatter(&self, record: &u64) -> u64 {
        scatter(*record, 0)
    }

    fn value(&self, record: &u64, _: u64) -> u128 {
        number(*record)
    }
}

/// Solves sorted numbers, and looks up all of them.
fn check_numbers(x: &[u64], columns: u32, width: u32) -> (Shape, Words) {
    let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
    let (shape, words) = solve(&x, &Numbers, columns, width, &mut work).unwrap();
    shape.check(words.shared()).unwrap();
    let array = Array::new(shape, words.shared());
    let mask = u128::MAX >> (128 - columns);
    let right = |x: &&u64| array.value(**x, scatter(**x, 0)) == Some(number(**x) & mask);
    assert_eq!(x.iter().filter(right).count(), x.len(), "{columns} columns, width {width}");
    (shape, words)
}

#[test]
fn values_of_every_width_come_back() {
    let mut x = hashes(3, 3000);
    x.sort_unstable();
    for columns in 1..=MAX_COLUMNS {
        for width in WIDTHS {
            check_numbers(&x, columns, width);
        }
    }
    for (columns, width) in [(0, 64), (MAX_COLUMNS + 1, 64), (8, 63), (8, 0)] {
        let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
        assert_eq!(solve(&&x[..], &Numbers, columns, width, &mut work).err().unwrap().status(), Status::OutOfRange);
    }
}

/// If the ranges of shards were off by one, the keys at their ends would be lost.
#[test]
fn shards_have_all_of_their_keys() {
    let shards: u64 = 5;
    let part = u64::MAX / shards;
    // Around each border lies a run of consecutive numbers. Uniform numbers lie in between.
    let mut x: Vec<u64> = (1..shards).flat_map(|i| (0..40).map(move |j| i * part - 20 + j)).collect();
    x.extend([0, 1, 2, u64::MAX, u64::MAX - 1]);
    x.extend(hashes(7, shards * ribbon::sizing::SHARD_KEYS - 1000));
    x.sort_unstable();
    x.dedup();
    for width in WIDTHS {
        assert_eq!(check_numbers(&x, 20, width).0.shards(), shards);
    }
}

/// Hashes that lie next to each other are bumped, even in one shard of several. Lookups find all of them.
#[test]
fn hashes_that_are_not_spread_at_all_build() {
    for count in [3, 100, 1000, 30_000, 300_000] {
        for spread in [1, 1 << 20, 1 << 44] {
            let mut x: Vec<u64> = (0..count).map(|i| (1 << 63) + i * (spread / count).max(1)).collect();
            x.sort_unstable();
            for width in WIDTHS {
                let (shape, _) = check_numbers(&x, 20, width);
                assert!(shape.bits() <= 20 * (3 * count + 200), "{} bits for {count} hashes", shape.bits());
            }
        }
    }
}

/// Records that a later layer puts all in the same place. The final search finds the records that no layer took.
struct Same;

impl Equations<u64> for Same {
    type Value = u64;

    fn order(&self, record: &u64) -> u64 {
        *record
    }

    fn scatter(&self, record: &u64) -> u64 {
        mix(record.wrapping_add(GOLDEN))
    }

    fn value(&self, record: &u64, _: u64) -> u64 {
        record.wrapping_mul(GOLDEN)
    }

    fn seeds(&self) -> u32 {
        0
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The function with which layers make their hashes.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Keys that a layer cannot tell apart go to the next layer. Lookups also find the keys that no layer took.
#[test]
#[ignore = "slow: make test-all"]
fn what_no_layer_takes_is_searched_for() {
    for count in [1, 50, 1000, 20_000, 300_000] {
        for spread in [1, 1 << 44] {
            let x: Vec<u64> = (0..count).map(|i| (1 << 63) + i * (spread / count).max(1)).collect();
            for width in WIDTHS {
                let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
                let (shape, words) = solve(&&x[..], &Same, 64, width, &mut work).unwrap();
                shape.check(words.shared()).unwrap();
                let array = Array::new(shape, words.shared());
                for x in &x {
                    assert_eq!(array.value(*x, Same.scatter(x)), Some(u128::from(Same.value(x, 0))));
                }
            }
        }
    }
}

#[test]
fn records_that_change_between_passes_are_an_error() {
    let ordered = ordered(&hashes(12, 5000));
    let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
    assert_eq!(
        Fingerprints::build(&Changing::new(&ordered), 4, 64, &mut work).err().unwrap().status(),
        Status::Internal
    );
}

#[test]
#[ignore = "slow: make test-all"]
fn the_false_positive_rate_is_two_to_the_minus_bits() {
    for (bits, width, keys, lookups) in [
        (1, 64, 1, 1 << 18),
        (2, 128, 3000, 1 << 20),
        (3, 64, 700, 1 << 20),
        (3, 128, 70_000, 1 << 22),
        (8, 64, 600_000, 1 << 24),
        (13, 64, 20_000, 1 << 24),
    ] {
        let (shape, words) = build(&hashes(20, keys), bits, width);
        let filter = Fingerprints::new(shape, words.shared());
        let found = (0..lookups).filter(|i| filter.contains(hash(21, *i))).count() as f64;
        let rate = petal::sizing::fingerprint_rate(bits, keys);
        let (mean, sigma) = (rate * lookups as f64, (rate * (1.0 - rate) * lookups as f64).sqrt());
        assert!((found - mean).abs() < 4.5 * sigma, "{bits} bits, {keys} keys: {found} found, {mean} expected");
    }
}

/// Absent keys next to present keys, with which they agree in most bits.
#[test]
fn the_false_positive_rate_of_structured_keys_is_the_same() {
    for (name, there, asked) in [
        ("sequential", (|i| i) as fn(u64) -> u64, (|i| i + 100_000) as fn(u64) -> u64),
        ("one bit apart", |i| hash(1, i), |i| hash(1, i % 100_000) ^ 1 << (i / 100_000 % 64)),
        ("multiples", |i| i << 32, |i| (i << 32) + 1),
    ] {
        let set: Vec<u64> = (0..100_000).map(there).collect();
        for width in WIDTHS {
            let (shape, words) = check_found(&set, 8, width);
            let filter = Fingerprints::new(shape, words.shared());
            let lookups = 1_600_000;
            let found = (0..lookups).filter(|i| filter.contains(asked(*i))).count() as f64;
            let rate = petal::sizing::fingerprint_rate(8, 100_000);
            let (mean, sigma) = (rate * lookups as f64, (rate * (1.0 - rate) * lookups as f64).sqrt());
            assert!((found - mean).abs() < 4.5 * sigma, "{name}: {found} found, {mean} expected");
        }
    }
}

/// A flipped bit of the directory or of the metadata is unused, detected, or harmless.
#[test]
fn a_forged_payload_is_found_and_harms_nobody() {
    let set = hashes(30, 10_000);
    for width in WIDTHS {
        let (shape, mut words) = build(&set, 9, width);
        for bit in 0..64 {
            words.exclusive().unwrap()[0] ^= 1 << bit;
            // Another seed for the keys that no layer took is valid too, and so is a slightly different number of
            // slots.
            let found = shape.check(words.shared()).is_err();
            assert!(
                found || bit < 60 && bit % 15 < 8 || (45..56).contains(&bit) || bit >= 61,
                "bit {bit} of the sizes"
            );
            let filter = Fingerprints::new(shape, words.shared());
            let _ = set.iter().filter(|hash| filter.contains(**hash)).count();
            words.exclusive().unwrap()[0] ^= 1 << bit;
        }
        // There are too few words, with any content.
        for length in (0..words.shared().len()).step_by(7) {
            assert!(shape.check(&words.shared()[..length]).is_err());
            let _ = Fingerprints::new(shape, &words.shared()[..length]).contains(set[0]);
        }
        words.exclusive().unwrap().iter_mut().enumerate().for_each(|(i, word)| *word = hash(42, i as u64));
        assert!(shape.check(words.shared()).is_err());
        let _ = set.iter().filter(|hash| Fingerprints::new(shape, words.shared()).contains(**hash)).count();
    }
    let shapes =
        [(0, 64, 1, 640), (97, 64, 1, 640), (8, 65, 1, 640), (8, 64, 1, 641), (8, 64, 0, 8), (8, 64, 1 << 20, 640)];
    for (columns, width, keys, bits) in shapes {
        assert_eq!(Shape::new(columns, width, keys, bits), None);
    }
    assert_eq!(Shape::new(64, 64, 1, u64::MAX - 7), None);
}

/// The directory of several shards.
#[test]
fn a_forged_directory_of_shards_is_found() {
    let set = hashes(31, 600_000);
    let (shape, mut words) = build(&set, 3, 64);
    assert_eq!(shape.shards(), 3);
    for word in 0..2 {
        for bit in 0..64 {
            words.exclusive().unwrap()[word] ^= 1 << bit;
            assert!(shape.check(words.shared()).is_err(), "bit {bit} of word {word}");
            let filter = Fingerprints::new(shape, words.shared());
            let _ = set.iter().step_by(1000).filter(|hash| filter.contains(**hash)).count();
            words.exclusive().unwrap()[word] ^= 1 << bit;
        }
    }
}

/// Maps of values and check bits of every length, and without check bits.
#[test]
#[ignore = "slow: make test-all"]
fn maps_give_back_their_values() {
    let lengths = (0..=64).map(|bits| (bits, bits / 2)).chain([(64, 32), (0, 0), (1, 0), (33, 32), (5, 32)]);
    for (i, (value_bits, check_bits)) in lengths.enumerate() {
        let count = if i % 20 == 0 { 300_000 } else { 2000 };
        let mask = u64::MAX.checked_shr(64 - value_bits).unwrap_or(0);
        let id = |i: u64| u128::from(hash(50, i)) << 64 | u128::from(hash(51, i));
        let mut entries: Vec<Entry> = (0..count).map(|i| Entry { id: id(i), value: hash(52, i) & mask }).collect();
        // These keys have equal high halves.
        entries.extend((0..20).map(|i| Entry { id: 7 << 64 | i, value: hash(53, i as u64) & mask }));
        entries.sort_unstable_by_key(|entry| entry.id);
        let width = WIDTHS[i % 2];
        let mut work = Work { memory: NO_LIMIT, threads: 1, progress: &mut |_, _| true };
        let (shape, words) = Values::build(&&entries[..], value_bits, check_bits, width, &mut work).unwrap();
        shape.check(words.shared()).unwrap();
        assert_eq!(ValueShape::new(value_bits, check_bits, width, count + 20, shape.bits()), Some(shape));
        let map = Values::new(shape, words.shared());
        let mut ids: Vec<u128> = entries.iter().map(|entry| entry.id).collect();
        let plain = Lookup::new(width, Instructions::PORTABLE);
        for entry in &entries {
            assert_eq!(map.get(&plain, entry.id), Some(entry.value), "{value_bits} and {check_bits} bits");
        }
        ids.truncate(5000);
        ids.extend((0..5000).map(|i| id(i + count)));
        let expected: Vec<_> = ids.iter().map(|id| map.get(&plain, *id)).collect();
        for instructions in petal::simd::available() {
            let (what, lookup) =
                (format!("{instructions:?}, {value_bits} and {check_bits} bits"), Lookup::new(width, instructions));
            for length in [0, 1, 7, 64, 65, ids.len()] {
                let found = Ids::answered(&ids[..length], |batch| map.get_many(&lookup, batch));
                assert!(found == expected[..length], "{what}, {length} at once");
            }
            assert!(ids.iter().map(|id| map.get(&lookup, *id)).eq(expected.iter().copied()), "{what}, one by one");
        }
        let given = expected[ids.len() - 5000..].iter().filter(|found| found.is_some()).count() as f64;
        let rate = (-f64::from(check_bits)).exp2();
        let (mean, sigma) = (rate * 5000.0, (rate * (1.0 - rate) * 5000.0).sqrt());
        assert!((given - mean).abs() <= 4.5 * sigma.max(0.5), "{given} absent keys have a value, {mean} expected");
    }
}
