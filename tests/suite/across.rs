//! One key looked up in many filters by one call.

use crate::common::{cases, filled, hash_of, hashed, image, mix};
use crate::conformance::fails;
use petal::{
    Answers, Capabilities, Filter, HashFunction, Image, OpenOptions, Spec, Status, filters_contain,
    filters_contain_hash,
};

/// `count` filters, of every kind and parameters in turn, each with 50 keys from its number on. Kinds whose keys are
/// integers are not among them: such keys have no other names.
fn filters(count: u64, spec: impl Fn(u64, Spec) -> Spec) -> Vec<(Spec, Filter)> {
    let cases: Vec<_> = cases().into_iter().filter(|case| !case.is_of_integers()).collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let one = |i: u64| {
        let case = &cases[i as usize % cases.len()];
        let spec = spec(i, Spec { capacity: 100, ..case.spec() });
        let filter = filled(&spec, i..i + 50);
        (spec, filter)
    };
    (0..count).map(one).collect()
}

const COUNTS: [usize; 9] = [0, 1, 63, 64, 65, 127, 128, 129, 300];

/// A filter of a megabyte, with the keys up to 50. After such a filter all others are fetched ahead.
fn large() -> Filter {
    filled(&Spec { capacity: 1 << 20, ..Spec::default() }, 0..50)
}

#[test]
fn many_filters_answer_as_each_does() {
    let (all, large) = (filters(300, |_, spec| spec), large());
    if all.is_empty() {
        return;
    }
    let near: Vec<&Filter> = all.iter().map(|(_, filter)| filter).collect();
    let far = [&[&large], &near[1..]].concat();
    for (handles, count) in [&near, &far].into_iter().flat_map(|handles| COUNTS.map(|count| (handles, count))) {
        let some = &handles[..count];
        for key in [0, 20, 49, 64, 200, 1 << 40] {
            let expected: Vec<u8> = some.iter().map(|filter| filter.contains_u64(key).into()).collect();
            let ones = expected.iter().filter(|answer| **answer == 1).count() as u64;
            let hash = hash_of(&all[0].0, key);
            for ask in 0..3 {
                let (mut bytes, mut bitmap) = (vec![7; count], vec![7; count.div_ceil(8)]);
                let mut answers = Answers { bytes: Some(&mut bytes), bitmap: Some(&mut bitmap), ..Answers::default() };
                match ask {
                    0 => filters_contain(some, u64::to_le_bytes(key), &mut answers).unwrap(),
                    1 => filters_contain(some, &key.to_le_bytes(), &mut answers).unwrap(),
                    _ => filters_contain_hash(some, hash, &mut answers).unwrap(),
                }
                assert_eq!((answers.true_count, answers.done), (ones, count));
                assert_eq!(bytes, expected, "{count} filters, key {key}");
                assert!((0..count).all(|i| bitmap[i / 8] >> (i % 8) & 1 == expected[i]));
            }
        }
    }
}

/// Filters that hash differently each get their own hash of the key.
#[test]
fn filters_may_hash_differently() {
    let functions = [HashFunction::Xxh3, HashFunction::Xxh64, HashFunction::SipHash13];
    let all = filters(200, |i, spec| hashed(&spec, functions[mix(i) as usize % 3], i % 5));
    if all.is_empty() {
        return;
    }
    let handles: Vec<&Filter> = all.iter().map(|(_, filter)| filter).collect();
    let large = large();
    for key in [0, 20, 100, 220, 1 << 40] {
        let expected: Vec<u8> = handles.iter().map(|filter| filter.contains_u64(key).into()).collect();
        let mut bytes = vec![7; 200];
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        filters_contain(&handles, u64::to_le_bytes(key), &mut answers).unwrap();
        assert_eq!(bytes, expected, "key {key}");
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        filters_contain(&[&[&large], &handles[1..]].concat(), u64::to_le_bytes(key), &mut answers).unwrap();
        assert_eq!(bytes[1..], expected[1..], "key {key}, fetched ahead");
        let mut holders = (key.saturating_sub(49)..=key.min(199)).map(|i| i as usize);
        let may_lose = |i: usize| handles[i].base().row().capabilities.contains(Capabilities::MAY_LOSE_KEYS);
        assert!(holders.all(|i| expected[i] == 1 || may_lose(i)));
    }
}

/// A filter late in the list can refuse a key too: a filter of external hashes, or a filter without its secret key.
/// Every answer is true then, even for the filters before it.
#[test]
fn the_last_of_many_is_asked_as_the_first_is() {
    let other = |i, last| if i == 149 { last } else { HashFunction::Xxh3 };
    let all = filters(150, |i, spec| hashed(&spec, other(i, HashFunction::External), 1));
    if all.is_empty() {
        return;
    }
    let keyed = filters(150, |_, spec| hashed(&spec, HashFunction::SipHash13, 1));
    let without = petal::load(&image(&keyed[0].1), &OpenOptions::default()).unwrap();
    let mut handles: Vec<&Filter> = keyed.iter().map(|(_, filter)| filter).collect();
    handles.push(&without);
    let mut far = handles.clone();
    let large = filled(&hashed(&Spec { capacity: 1 << 20, ..Spec::default() }, HashFunction::SipHash13, 1), 0..50);
    far[0] = &large;
    let external = all.iter().map(|(_, filter)| filter).collect();
    let lists = [(external, Status::ExternalHash), (handles, Status::SecretMissing), (far, Status::SecretMissing)];
    for (handles, refusal) in lists {
        let handles: Vec<&Filter> = handles;
        let mut bytes = vec![0; handles.len()];
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        fails(filters_contain(&handles, u64::to_le_bytes(1 << 50), &mut answers), refusal);
        assert_eq!((answers.true_count, answers.done), (handles.len() as u64, 0));
        assert!(bytes.iter().all(|answer| *answer == 1));
        filters_contain_hash(&handles, 1, &mut Answers::default()).unwrap();
    }
}

/// On a failure every answer is true.
#[test]
fn what_cannot_be_asked_is_true() {
    let hash = |i| if i == 7 { HashFunction::External } else { HashFunction::Xxh3 };
    let all = filters(10, |i, spec| hashed(&spec, hash(i), 1));
    if all.is_empty() {
        return;
    }
    let handles: Vec<&Filter> = all.iter().map(|(_, filter)| filter).collect();
    let mut bytes = vec![0; 10];
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    fails(filters_contain(&handles, b"key", &mut answers), Status::ExternalHash);
    assert_eq!((answers.true_count, answers.done), (10, 0));
    assert_eq!(bytes, [1; 10]);
    let mut short = vec![0; 9];
    let mut answers = Answers { bytes: Some(&mut short), ..Answers::default() };
    fails(filters_contain_hash(&handles, 1, &mut answers), Status::BufferTooSmall);
    assert_eq!(short, [1; 9]);
    let mut counts = vec![0; 10];
    let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
    fails(filters_contain_hash(&handles, 1, &mut answers), Status::Unsupported);
    assert!(handles[0].base().count() == 50);
}
