//! What only a taffy filter does: it grows segment by segment, loses no key, and its rate is the formula's at any size.

use crate::common::{hash_of, image, mix};
use petal::sizing::taffy::Growing;
use petal::{Answers, Filter, Image, Keys, OpenOptions, Spec, Status, create, estimate, load, registry};

fn row() -> &'static petal::Row {
    registry::find_name("taffy").unwrap()
}

fn spec(capacity: u64, rate: f64, parameters: &[(&str, f64)]) -> Spec {
    let mut spec = Spec { kind: Some(row().kind), capacity, false_positive_rate: rate, ..Spec::default() };
    for (name, value) in parameters {
        spec.set(row().parameter(name).unwrap(), *value).unwrap();
    }
    spec
}

fn insert(filter: &mut Filter, range: std::ops::Range<u64>) {
    let spec = filter.base().spec();
    let hashes: Vec<u64> = range.map(|i| hash_of(&spec, i)).collect();
    filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
}

#[track_caller]
fn assert_all(filter: &Filter, keys: u64) {
    let spec = filter.base().spec();
    let hashes: Vec<u64> = (0..keys).map(|i| hash_of(&spec, i)).collect();
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
    assert_eq!(answers.true_count, keys);
    assert!(hashes.iter().all(|hash| filter.contains_hash(*hash)));
}

/// From 240 keys through 13 doublings: all keys are found, the rate is the formula's and below what was asked for, single
/// keys and batches make the same bytes, and what is read back goes on growing in the same way.
#[test]
fn it_grows_without_losing_a_key_or_its_rate() {
    for (rate, parameters) in [(0.01, &[][..]), (0.1, &[("fingerprint_bits", 11.0), ("doublings", 14.0)][..])] {
        let spec = spec(240, if parameters.is_empty() { rate } else { 0.0 }, parameters);
        let mut filter = create(&spec).unwrap();
        let first = filter.base().compatibility_id();
        let (mut keys, most) = (0, 2_000_000);
        while keys < most {
            let next = (keys * 2).clamp(200, most);
            insert(&mut filter, keys..next);
            keys = next;
            filter.verify().unwrap();
            assert_all(&filter, keys);
            assert_eq!(filter.base().compatibility_id(), first);
            let (measured, expected) =
                (filter.measure().false_positive_rate, filter.expected_false_positive_rate(keys));
            // Segments grow a little sooner or later than all of them together would.
            assert!((measured / expected - 1.0).abs() < 0.06, "{keys}: {measured}, {expected}");
            assert!(measured <= filter.base().header().false_positive_rate);
            // The measure is exact: it is what absent keys meet.
            let lookups = 400_000_u64;
            let found = (0..lookups).filter(|i| filter.contains_hash(mix(i ^ 0x5eed << 40))).count() as f64;
            let mean = measured * lookups as f64;
            assert!((found - mean).abs() <= 4.5 * mean.sqrt() + 1.0, "{keys}: {found} of {mean}");
            let distinct = estimate(&filter).unwrap().unwrap().value;
            assert!((distinct / keys as f64 - 1.0).abs() < 0.01, "{keys}: {distinct}");
            if keys < 200_000 {
                let read = load(&image(&filter), &OpenOptions::default()).unwrap();
                let mut copies = [filter.copy().unwrap(), read];
                for copy in &mut copies {
                    (keys..2 * keys).for_each(|i| assert!(copy.insert_hash(hash_of(&spec, i)).is_ok()));
                }
                insert(&mut filter, keys..2 * keys);
                keys *= 2;
                assert!(copies.iter().all(|copy| copy.equals(&filter)));
            }
        }
        let growths = (filter.base().geometry().bits / create(&spec).unwrap().base().geometry().bits).ilog2();
        assert!((12..=14).contains(&growths), "{growths}");
        // Bits of a key as the formula has them: slots that are between half and wholly full, and lines.
        let bits_a_key = filter.base().geometry().payload_bytes as f64 * 8.0 / keys as f64;
        let slot = f64::from(filter.base().geometry().words[0] as u32 + 1) * 16.0 / 15.0;
        assert!((slot * 0.99..slot * 2.2).contains(&bits_a_key), "{bits_a_key}, {slot}");
        filter.clear().unwrap();
        assert!(filter.equals(&create(&spec).unwrap()));
    }
}

/// The union holds the keys of both, whichever is larger, and its rate is at most the sum of theirs; a filter united with
/// itself has not changed.
#[test]
fn unions_hold_the_keys_of_both() {
    let spec = spec(240, 0.01, &[("fingerprint_bits", 16.0)]);
    let of = |range: std::ops::Range<u64>| {
        let mut filter = create(&spec).unwrap();
        insert(&mut filter, range);
        filter
    };
    for (a, b) in [(0..100, 50..150), (0..1000, 1000..300_000), (0..200_000, 150_000..151_000), (0..90_000, 0..180_000)]
    {
        let (one, two) = (of(a.clone()), of(b.clone()));
        for (mut into, from) in [(one.copy().unwrap(), &two), (two.copy().unwrap(), &one)] {
            into.merge(from).unwrap();
            into.verify().unwrap();
            let keys = a.end.max(b.end);
            for i in a.clone().chain(b.clone()) {
                assert!(into.contains_hash(hash_of(&spec, i)), "{a:?} and {b:?}: {i}");
            }
            let distinct = estimate(&into).unwrap().unwrap().value;
            assert!((distinct / keys as f64 - 1.0).abs() < 0.02, "{a:?} and {b:?}: {distinct}");
            let rates = [&into, &one, &two].map(|filter| filter.measure().false_positive_rate);
            assert!(rates[0] <= rates[1] + rates[2], "{rates:?}");
        }
        let mut same = one.copy().unwrap();
        same.merge(&one).unwrap();
        assert!(same.equals(&one) || same.measure().taken == one.measure().taken);
    }
}

/// What is merged into a filter that is about to grow may grow with it: where not so much is known of an entry, it comes
/// into both halves.
#[test]
fn unions_grow_where_they_must() {
    let spec = spec(1000, 0.01, &[("fingerprint_bits", 16.0)]);
    let mut small = create(&spec).unwrap();
    insert(&mut small, 0..3500);
    let (mut large, mut from, mut grown) = (create(&spec).unwrap(), 1 << 32, 0);
    // 64 parts, each of which is full with 15,360.
    for keys in (0..=30).map(|i| 930_000 + 2000 * i) {
        insert(&mut large, from..(1 << 32) + keys);
        from = (1 << 32) + keys;
        let mut union = large.copy().unwrap();
        union.merge(&small).unwrap_or_else(|error| panic!("{keys}: {error}"));
        let lost = (0..3500).find(|i| !union.contains_hash(hash_of(&spec, *i)));
        assert!(lost.is_none(), "{keys}: key {lost:?} is lost");
        grown += u32::from(union.base().geometry().bits > large.base().geometry().bits);
    }
    assert!(grown > 0, "no union grew");
}

/// Begun with one key for a high rate, where tails have few bits: entries that have none left become two with each growth,
/// and keep to their share of every part.
#[test]
fn it_grows_on_when_tails_have_ended() {
    for (rate, most) in [(0.1, 3_000_000), (0.3, 1_000_000)] {
        let spec = spec(1, rate, &[]);
        let mut filter = create(&spec).unwrap();
        insert(&mut filter, 0..most);
        filter.verify().unwrap();
        assert_all(&filter, most);
        let (measured, expected) = (filter.measure().false_positive_rate, filter.expected_false_positive_rate(most));
        assert!((measured / expected - 1.0).abs() < 0.06 && measured <= rate, "{rate}: {measured}, {expected}");
        assert!(filter.measure().taken > most, "no entry became two");
    }
}

/// A filter that may not grow further refuses keys, and what it holds stays found.
#[test]
fn it_is_full_after_as_many_doublings_as_it_was_made_for() {
    for doublings in [8.0, 9.0] {
        let spec = spec(1000, 0.01, &[("doublings", doublings)]);
        let mut filter = create(&spec).unwrap();
        let mut keys = 0;
        let error = loop {
            match filter.insert_hash(hash_of(&spec, keys)) {
                Ok(_) => keys += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.status(), Status::Full);
        assert!(error.message().contains("double"), "{error:?}");
        // Tails have two bits less than it takes for all growths: of the first 1920 keys there are four entries in the
        // end, of as many after them two.
        let most = 1920.0 * doublings.exp2() - 4.0 * 1920.0;
        assert!((0.96..1.0).contains(&(keys as f64 / most)), "{doublings}: {keys} keys");
        assert_all(&filter, keys);
        assert!(filter.measure().false_positive_rate <= 0.01);
        // A union that does not fit changes nothing.
        let mut other = create(&spec).unwrap();
        (0..keys).for_each(|i| drop(other.insert_hash(hash_of(&spec, i + (1 << 40)))));
        let before = image(&filter);
        assert_eq!(filter.merge(&other).unwrap_err().status(), Status::Full);
        assert!(image(&filter) == before);
        filter.verify().unwrap();
    }
}

/// The hash that the bijection which hashes pass makes into this one.
fn unmix(mut x: u64) -> u64 {
    let inverse = |odd: u64| (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))));
    x ^= x >> 31 ^ x >> 62;
    x = x.wrapping_mul(inverse(0x94d0_49bb_1331_11eb));
    x ^= x >> 27 ^ x >> 54;
    x = x.wrapping_mul(inverse(0xbf58_476d_1ce4_e5b9));
    x ^ x >> 30 ^ x >> 60
}

/// The bits of a number from one on moved up by so many, with zeros in their place.
fn spread(x: u64, from: u32, bits: u32) -> u64 {
    let low = (1 << from) - 1;
    x & low | (x & !low) << bits
}

/// Hashes that somebody chose so that they all go to the same place are refused soon, before the filter has grown without
/// end.
#[test]
fn chosen_hashes_do_not_make_it_grow_without_end() {
    assert!((0..100).all(|i| mix(unmix(mix(i))) == mix(i)), "mix of the tests is that of the library");
    // All have the same bits after the bijection that hashes pass: of their prefixes or segments.
    for (from, bits) in
        [(0, 1), (0, 8), (0, 13), (0, 20), (0, 40), (13, 1), (13, 8), (17, 1), (17, 3), (17, 8), (17, 30)]
    {
        let spec = spec(1000, 0.01, &[]);
        let mut filter = create(&spec).unwrap();
        let bytes = filter.base().geometry().payload_bytes;
        let mut taken = 0_u64;
        for i in 0..40_000_u64 {
            let hash = unmix(spread(mix(i), from, bits));
            match filter.insert_hash(hash) {
                Ok(_) => taken += 1,
                Err(error) => assert!(error.message().contains("one part of it"), "{error}"),
            }
        }
        filter.verify().unwrap();
        let grown = filter.base().geometry().payload_bytes;
        assert!(grown <= bytes.max(40 * taken), "{from}, {bits}: {grown} bytes for {taken} keys");
    }
}

/// A segment that is full once more while others wait for their first division: all of them are divided before, in
/// whichever place it is, and what is refused after that is refused because there is no room.
#[test]
fn a_segment_that_is_ahead_lets_all_others_be_divided_first() {
    for (segment, refused) in [(0, None), (1, None), (1, Some(Status::Full))] {
        let spec = spec(30_000, 0.01, &[]);
        let mut filter = create(&spec).unwrap();
        let (even, bits) = (16_000, if refused.is_some() { 3 } else { 1 });
        // 2^11 buckets and 6 bits of a fingerprint: the bits after these say the segment.
        let ahead = (even..60_000).map(|i| spread(mix(i), 17, bits) | segment << 17);
        let hashes = (0..even).map(mix).chain(ahead).map(unmix);
        let (mut taken, mut outcome) = (vec![], None);
        for hash in hashes {
            match filter.insert_hash(hash) {
                Ok(_) => taken.push(hash),
                Err(error) => outcome = Some(error.status()),
            }
            if outcome.is_some() {
                break;
            }
        }
        assert_eq!(outcome, refused, "{segment}");
        assert!(taken.len() > 24_000 && taken.iter().all(|hash| filter.contains_hash(*hash)));
        filter.verify().unwrap();
    }
}

/// The table of sizes in `docs/choosing.md` and the formula in `sizing`: bits of a key at each rate.
#[test]
fn sizes_are_what_the_formula_says() {
    for rate in [0.1, 0.01, 1e-3, 1e-4, 1e-6] {
        let geometry = row().geometry_of(&spec(1000, rate, &[])).unwrap();
        let growing = Growing { bucket_bits: 8, bits: geometry.words[0] as u32, doublings: 32 };
        // lg((1 + X/2) 15/2 / rate), rounded up; fewer where tails are so short that entries become two early, which
        // leaves less room for keys that are inserted late.
        let (expected, bits) = ((17.0 * 7.5 / rate).log2(), f64::from(growing.bits));
        assert!(bits < expected + 1.2 && (bits >= expected || rate > 0.05), "{rate}: {growing:?}, {expected}");
        assert_eq!(growing.false_positive_rate(u64::MAX), (row().false_positive_rate)(&geometry, u64::MAX));
    }
}
