//! Kinds that grow, far past their capacity: no key is lost, and rates stay. No test names a kind.

use crate::common::{Case, cases, each, empty, hash_of, share_of};
use crate::conformance::can;
use petal::{Capabilities, Filter, Image, Spec, Status};

/// Every kind that grows, for `capacity` keys at `rate`, if the kind can.
fn for_each_growing<T: Fn(&Case, &Spec)>(capacity: u64, rate: f64, test: T) {
    each(share_of(cases(), 3, std::any::type_name::<T>()), Case::name, |case| {
        let spec = case.sized(capacity, rate);
        if can(case, Capabilities::GROW) && petal::geometry(&spec).is_ok() {
            println!("{} for {capacity} at {rate}", case.name());
            test(case, &spec);
        }
    });
}

/// Inserts keys until one is refused, and returns the inserted keys.
fn insert(filter: &mut Filter, spec: &Spec, keys: std::ops::Range<u64>) -> Vec<u64> {
    let mut taken = Vec::new();
    for key in keys {
        match filter.insert_hash(hash_of(spec, key)) {
            Ok(_) => taken.push(key),
            Err(error) => {
                assert_eq!(error.status(), Status::Full, "{error}");
                break;
            }
        }
    }
    taken
}

fn all_found(filter: &Filter, spec: &Spec, keys: &[u64], when: &str) {
    let missing = keys.iter().filter(|key| !filter.contains_hash(hash_of(spec, **key))).count();
    assert_eq!(missing, 0, "of {} keys, {when}", keys.len());
}

/// The entries of the first keys lose bits with each doubling, until some have none. Lookups still find these keys,
/// after any removals, and in unions.
#[test]
fn keys_stay_however_far_a_filter_grows() {
    for (capacity, rate) in [(1, 0.5), (20, 0.1), (20, 0.01)] {
        for_each_growing(capacity, rate, |case, spec| {
            let mut filter = empty(spec);
            let (mut held, mut next) = (Vec::new(), 0);
            for doubling in 0..12 {
                let until = capacity << doubling;
                held.extend(insert(&mut filter, spec, next..until));
                next = until;
                all_found(&filter, spec, &held, &format!("after {doubling} doublings"));
                if can(case, Capabilities::REMOVE) && doubling % 2 == 1 {
                    let mut index = 0;
                    held.retain(|key| {
                        index += 1;
                        let stays = index % 3 > 0;
                        assert!(stays || filter.remove_hash(hash_of(spec, *key)).unwrap(), "{key} was there");
                        stays
                    });
                    all_found(&filter, spec, &held, &format!("after removals, {doubling} doublings"));
                }
                if can(case, Capabilities::MERGE) && doubling % 4 == 3 {
                    let mut other = empty(spec);
                    let others = insert(&mut other, spec, 1 << 40..(1 << 40) + 7 * capacity);
                    for (into, from) in [(&filter, &other), (&other, &filter)] {
                        let mut union = into.copy().unwrap();
                        if union.merge(from).is_ok() {
                            all_found(&union, spec, &held, "in a union");
                            all_found(&union, spec, &others, "in a union, of the other");
                        }
                    }
                }
            }
        });
    }
}

/// A short entry of an old key may match newer keys, whose entries are longer. The test removes the newest keys first:
/// each removal finds its key, and older keys stay, even in later growths, until they are removed.
#[test]
fn each_key_is_removed_once_however_little_is_known_of_it() {
    for (capacity, rate) in [(1, 0.5), (20, 0.1)] {
        for_each_growing(capacity, rate, |case, spec| {
            if !can(case, Capabilities::REMOVE) || case.may_lose() {
                return;
            }
            let (mut filter, mut held) = (empty(spec), Vec::new());
            for (from, until) in [(0, 4000), (4000, 16_000)] {
                held.extend(insert(&mut filter, spec, from..until));
                all_found(&filter, spec, &held, &format!("inserted up to {until}"));
                for left in [1000, 200, 100, 50] {
                    for key in held.drain(left.min(held.len())..).rev() {
                        assert!(filter.remove_hash(hash_of(spec, key)).unwrap(), "{key} was there, of {until}");
                    }
                    all_found(&filter, spec, &held, &format!("the oldest of {until}"));
                }
            }
            for key in held.into_iter().rev() {
                assert!(filter.remove_hash(hash_of(spec, key)).unwrap(), "{key} was there, one of the last");
            }
            assert_eq!(filter.base().count(), 0);
        });
    }
}

/// However full both filters are, short of growing, the union has the promised rate, and as many keys as both.
#[test]
fn unions_keep_the_rate() {
    for_each_growing(2000, 0.01, |case, spec| {
        if !can(case, Capabilities::MERGE) {
            return;
        }
        for tenths in [3, 6, 9] {
            let keys = 200 * tenths;
            let (mut filter, mut other) = (empty(spec), empty(spec));
            insert(&mut filter, spec, 0..keys);
            insert(&mut other, spec, 1 << 40..(1 << 40) + keys);
            filter.merge(&other).unwrap();
            let rate = filter.false_positive_rate();
            // The rate of this payload differs from that of others, by less than 4.5 standard deviations.
            assert!(rate <= spec.false_positive_rate * 1.2, "{keys} keys of each: {rate}");
        }
    });
}
