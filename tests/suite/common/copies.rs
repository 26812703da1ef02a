//! Properties of every table whose entries are copies of keys' fingerprints.

use super::{image, mix};
use petal::{Filter, Image, Result, Spec, Status};

/// Whether an insertion is refused for want of room. No other refusal is allowed.
pub fn is_full(outcome: Result<bool>) -> bool {
    match outcome {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.status(), Status::Full, "{error}");
            true
        }
    }
}

/// Asserts that a filter of this spec holds `most` copies of a key and no more, has room for others then, and is empty
/// after the removal of all.
#[track_caller]
pub fn are_held(spec: &Spec, most: u64) {
    let mut filter = Filter::new(spec).unwrap();
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
    assert_eq!(image(&filter), image(&Filter::new(spec).unwrap()));
}

/// Asserts what the documents say about removing a key that was never inserted. The removal is refused if the lookup
/// says no, and otherwise it costs a copy of another key. With its last copy up to `class` keys are lost together.
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
