//! The kind `removed_set`: false positives and lost keys occur at their rates, and no removed key comes back.

use crate::common::{image, mix};
use petal::kinds::removed_set::{REMOVALS, ROW, false_negative_rate};
use petal::{Capabilities, Filter, HashFunction, Image, Keys, Spec, Status};

const KEYS: u64 = 20_000;

/// A filter for [`KEYS`] keys at a rate, of which this percentage may be removed.
fn filter(removals: u64, rate: f64) -> Filter {
    let (kind, hash) = (Some(ROW.kind), HashFunction::External);
    let mut spec = Spec { kind, capacity: KEYS, false_positive_rate: rate, hash, ..Spec::default() };
    spec.set(&REMOVALS, removals as f64).unwrap();
    Filter::new(&spec).unwrap()
}

fn is_near(found: u64, asked: u64, rate: f64, what: &str) {
    let expected = asked as f64 * rate;
    let band = 4.5 * (expected * (1.0 - rate)).sqrt();
    assert!((found as f64 - expected).abs() <= band, "{what}: {found} of {asked}, {expected:.1} expected");
}

/// Absent keys are found at the rate fA (1 - fR), present keys are lost at the rate fR, and removed keys are never
/// found.
#[test]
fn rates_are_those_of_both_filters() {
    for (removals, rate) in [(5, 0.01), (10, 0.03), (50, 0.02), (100, 0.05)] {
        let mut filter = filter(removals, rate);
        assert!(filter.capabilities().contains(Capabilities::MAY_LOSE_KEYS));
        (0..KEYS).for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
        assert!((0..KEYS).all(|key| filter.contains_hash(mix(key))), "nothing is lost before the first removal");
        assert_eq!(filter.expected_false_negative_rate(KEYS), 0.0);
        let gone = KEYS * removals / 100;
        // A key that seems to be removed already is not removed again.
        let removed = (0..gone).filter(|key| filter.remove_hash(mix(*key)).unwrap()).count() as u64;
        assert!(removed as f64 > gone as f64 * (1.0 - rate) && filter.base().count() == KEYS - removed);
        assert!((0..gone).all(|key| !filter.contains_hash(mix(key))), "what was removed is not found");
        let lost_rate = false_negative_rate(filter.base().geometry(), removed);
        assert_eq!(ROW.losses.false_negative_rate.unwrap()(filter.base().geometry(), removed), lost_rate);
        for age in [0, 1, KEYS] {
            let told = filter.expected_false_negative_rate(age);
            assert!((told / lost_rate - 1.0).abs() < 0.05, "{told} is told, of {lost_rate}");
        }
        assert!(lost_rate <= rate * 1.02, "{lost_rate} of {rate}");
        let lost = (gone..KEYS).filter(|key| !filter.contains_hash(mix(*key))).count() as u64;
        is_near(lost, KEYS - gone, lost_rate, "lost");
        let added_rate = (ROW.false_positive_rate)(filter.base().geometry(), KEYS);
        let found = (KEYS..11 * KEYS).filter(|key| filter.contains_hash(mix(*key))).count() as u64;
        is_near(found, 10 * KEYS, filter.false_positive_rate(), "found, by the bits");
        let both = added_rate * (1.0 - lost_rate);
        assert!((filter.false_positive_rate() / both - 1.0).abs() < 0.05, "{} of {both}", filter.false_positive_rate());
    }
}

/// A key that was removed, or seems so, is refused and nothing changes, singly and in a batch. Clearing ends that.
#[test]
fn no_key_comes_back() {
    let mut filter = filter(10, 0.01);
    for key in 0..1000 {
        filter.insert_hash(mix(key)).unwrap();
        filter.insert_hash(mix(key)).unwrap();
    }
    assert!(filter.remove_hash(mix(7)).unwrap() && !filter.remove_hash(mix(7)).unwrap(), "all copies go at once");
    let before = image(&filter);
    let refused = filter.insert_hash(mix(7)).unwrap_err();
    assert_eq!(refused.status(), Status::Full);
    assert!(refused.message().contains("takes no key twice"), "{refused}");
    assert!(image(&filter) == before);
    let keys: Vec<u64> = [5000, 5001, 7, 5002].map(mix).to_vec();
    let taken = filter.insert_batch(&Keys::Hashes(&keys), None);
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (2, Status::Full));
    assert!(filter.contains_hash(keys[1]) && !filter.contains_hash(keys[2]) && !filter.contains_hash(keys[3]));
    // Removing keys that are certainly absent changes nothing.
    let absent: Vec<u64> = (9000..9100).map(mix).filter(|hash| !filter.contains_hash(*hash)).collect();
    let before = image(&filter);
    assert!(absent.len() > 90 && absent.iter().all(|hash| !filter.remove_hash(*hash).unwrap()));
    assert!(image(&filter) == before);
    filter.clear().unwrap();
    assert!(filter.insert_hash(mix(7)).unwrap() && filter.contains_hash(mix(7)));
}

#[test]
fn sizes_are_those_of_both_filters() {
    for removals in [1, 10, 100] {
        for (capacity, rate) in [(1, 0.5), (1000, 0.01), (100_000, 1e-5)] {
            let mut spec = Spec { kind: Some(ROW.kind), capacity, false_positive_rate: rate, ..Spec::default() };
            spec.set(&REMOVALS, removals as f64).unwrap();
            let geometry = petal::geometry(&spec).unwrap();
            let least = petal::sizing::bloom::size_for(capacity, rate, 64).unwrap();
            let words = least.bits.div_ceil(64);
            assert_eq!((geometry.bits / 64, geometry.hashes), (words + (words * removals).div_ceil(100), least.hashes));
            assert!((ROW.false_positive_rate)(&geometry, capacity) <= rate);
            assert!(false_negative_rate(&geometry, (capacity * removals).div_ceil(100).min(capacity)) <= 1.05 * rate);
        }
    }
    let refused = Filter::new(&Spec { bits: 64, hashes: 2, kind: Some(ROW.kind), ..Spec::default() }).err().unwrap();
    assert_eq!(refused.status(), Status::Contradiction);
}

/// The smallest filter has one word for the keys and one for the removals.
#[test]
fn the_least_has_a_word_for_each() {
    let of = |bits| Filter::new(&Spec { kind: Some(ROW.kind), bits, hashes: 2, ..Spec::default() });
    assert_eq!(of(64).unwrap_err().status(), Status::Contradiction);
    let mut least = of(128).unwrap();
    assert!(least.insert(b"key").is_ok() && least.contains(b"key"));
    assert!(least.remove(b"key").unwrap() && !least.contains(b"key"));
}
