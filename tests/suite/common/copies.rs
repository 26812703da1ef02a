//! Checks for every kind of table whose entries are copies of keys' fingerprints.

use super::{image, mix};
use petal::{Filter, Image, Result, Spec, Status, create};

/// Whether an insertion was refused because there is no room. Any other error fails the test.
pub fn is_full(outcome: Result<bool>) -> bool {
    match outcome {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.status(), Status::Full, "{error}");
            true
        }
    }
}

/// Checks that a filter of this spec holds a key at most so many times, then has room for others, and is empty once all
/// copies are removed.
#[track_caller]
pub fn are_held(spec: &Spec, most: u64) {
    let mut filter = create(spec).unwrap();
    for copies in 0..most {
        assert_eq!(filter.count_hash(7).unwrap(), copies);
        assert_eq!(filter.insert_hash(7).unwrap(), copies == 0);
    }
    let before = image(&filter);
    let error = filter.insert_hash(7).unwrap_err();
    assert_eq!(error.status(), Status::Full);
    assert!(error.message().contains(&format!("{most} times")), "{error}");
    assert_eq!(image(&filter), before);
    assert!(filter.insert_hash(mix(1)).is_ok(), "there is room for others");
    assert!(filter.remove_hash(mix(1)).unwrap());
    for copies in (0..most).rev() {
        assert!(filter.remove_hash(7).unwrap());
        assert_eq!(filter.count_hash(7).unwrap(), copies);
    }
    assert!(!filter.remove_hash(7).unwrap());
    assert_eq!(image(&filter), image(&create(spec).unwrap()));
}

/// Checks what the documents say about removing a key that was never inserted. The filter refuses the removal if a
/// lookup says no; otherwise the removal removes another key, or a copy of one. Keys of one class are lost together
/// with the last copy of the class, and a class has at most `class` keys.
#[track_caller]
pub fn are_lost_one_by_one(mut filter: Filter, keys: u64, absent: u64, class: u64) {
    (0..keys).for_each(|key| assert!(filter.insert_hash(mix(key)).is_ok()));
    let mut removed = 0;
    for absent in keys..keys + absent {
        let maybe = filter.contains_hash(mix(absent));
        assert_eq!(filter.remove_hash(mix(absent)).unwrap(), maybe);
        removed += u64::from(maybe);
    }
    let lost = (0..keys).filter(|key| !filter.contains_hash(mix(*key))).count() as u64;
    assert!(removed > 0 && lost > 0 && filter.base().count() == keys - removed);
    assert!(lost <= class * removed, "{lost} lost by {removed} removals");
}
