//! What holds of every table whose entries are copies of keys' fingerprints.

use super::{image, mix};
use petal::{Filter, Image, Result, Spec, Status, create};

/// Whether an insertion is refused for want of room, which is all that it may be refused for.
pub fn is_full(outcome: Result<bool>) -> bool {
    match outcome {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.status(), Status::Full, "{error}");
            true
        }
    }
}

/// A filter of this spec holds a key so many times and no more often, has room for others then, and is empty once all
/// of them are removed.
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

/// What the documents say of removing a key that was never inserted: refused where the lookup says no, and otherwise it
/// costs another key, or a copy of it. Keys of one class are lost together with its last copy: there are at most
/// `class` of them.
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
