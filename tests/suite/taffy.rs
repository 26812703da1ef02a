//! Tests of the kind `taffy` alone.

use crate::common::{hash_of, mix};
use crate::grown::{self, assert_all, insert, spread, unmix};
use petal::kinds::taffy::sizing::Growing;
use petal::{Filter, Image, Spec, Status, registry};

fn spec(capacity: u64, rate: f64, parameters: &[(&str, f64)]) -> Spec {
    grown::spec("taffy", capacity, rate, parameters)
}

/// A merger into a filter that is about to grow may make it grow. An entry without the next bit then goes into both
/// halves.
#[test]
fn unions_grow_where_they_must() {
    let spec = spec(1000, 0.01, &[("fingerprint_bits", 16.0)]);
    let mut small = Filter::new(&spec).unwrap();
    insert(&mut small, 0..3500);
    let (mut large, mut from, mut grown) = (Filter::new(&spec).unwrap(), 1 << 32, 0);
    // There are 64 parts, each of which is full with 15,360 entries.
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

/// A filter that begins with one key at a high rate has tails of few bits. An entry without tail bits becomes two
/// entries with each growth, and keeps its share of every part.
#[test]
fn it_grows_on_when_tails_have_ended() {
    for (rate, most) in [(0.1, 3_000_000), (0.3, 1_000_000)] {
        let spec = spec(1, rate, &[]);
        let mut filter = Filter::new(&spec).unwrap();
        insert(&mut filter, 0..most);
        filter.verify().unwrap();
        assert_all(&filter, 0..most);
        let (measured, expected) = (filter.statistics().false_positive_rate, filter.expected_false_positive_rate(most));
        assert!((measured / expected - 1.0).abs() < 0.06 && measured <= rate, "{rate}: {measured}, {expected}");
        assert!(filter.statistics().taken > most, "no entry became two");
    }
}

/// If a segment is full again while others wait for their first division, all of these are divided first. The place of
/// the full segment does not matter. A refusal after these divisions means that there is no room.
#[test]
fn a_segment_that_is_ahead_lets_all_others_be_divided_first() {
    for (segment, refused) in [(0, None), (1, None), (1, Some(Status::Full))] {
        let spec = spec(30_000, 0.01, &[]);
        let mut filter = Filter::new(&spec).unwrap();
        let (even, bits) = (16_000, if refused.is_some() { 3 } else { 1 });
        // 2^11 buckets and 6 bits of a fingerprint: the bits after these choose the segment.
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

/// The table of sizes in `docs/kinds/taffy.md` agrees with the formula in `sizing`: bits of a key at each rate.
#[test]
fn sizes_are_what_the_formula_says() {
    let row = registry::find_name("taffy").unwrap();
    for rate in [0.1, 0.01, 1e-3, 1e-4, 1e-6] {
        let geometry = row.geometry_of(&spec(1000, rate, &[])).unwrap();
        let growing = Growing { bucket_bits: 8, bits: geometry.words[0] as u32, doublings: 32 };
        // A key takes lg((1 + X/2) 15/2 / rate) bits, rounded up. Where tails are so short that entries become two
        // early, a key takes fewer bits, which leaves less room for late keys.
        let (expected, bits) = ((17.0 * 7.5 / rate).log2(), f64::from(growing.bits));
        assert!(bits < expected + 1.2 && (bits >= expected || rate > 0.05), "{rate}: {growing:?}, {expected}");
        assert_eq!(growing.false_positive_rate(u64::MAX), (row.false_positive_rate)(&geometry, u64::MAX));
    }
}
