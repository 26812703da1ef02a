//! Filter policies: those of LevelDB, bit for bit, and those of the kind `blocked`.

use petal::interop::leveldb_policy::{Form, MAX_BITS_PER_KEY, Policy};
use petal::kinds::blocked::ROW;
use petal::{CompactOptions, Image, Spec, load_compact};
use std::path::Path;

/// The filter that a policy makes of keys, in a buffer that had other bytes.
fn create(policy: &Policy, keys: &[Vec<u8>]) -> Vec<u8> {
    let mut filter = vec![0xff; policy.filter_size(keys.len()).unwrap()];
    policy.create(keys.iter().map(|key| &key[..]), &mut filter);
    filter
}

/// The keys of the vectors: they have 0 to 12 bytes, and many have high bits set.
fn vector_key(i: usize) -> Vec<u8> {
    (0..i % 13).map(|at| (i * 31 + at * 97) as u8).collect()
}

#[test]
fn leveldbs_filters_are_those_that_it_made() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../integrations/leveldb/vectors.txt");
    let (text, mut vectors) = (std::fs::read_to_string(path).unwrap(), 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [bits_per_key, count, filter] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let policy = Policy::new(Form::LevelDb, bits_per_key.parse().unwrap()).unwrap();
        let keys: Vec<Vec<u8>> = (0..count.parse().unwrap()).map(vector_key).collect();
        let found = create(&policy, &keys);
        assert_eq!(found.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), filter, "{line}");
        assert!(keys.iter().all(|key| policy.may_match(key, &found)));
        vectors += 1;
    }
    assert_eq!(vectors, 45);
}

/// A filter of the form `blocked` is the compact form of a filter of that kind, made in the ordinary way.
#[test]
fn blocked_filters_are_compact_forms() {
    for (bits_per_key, count) in [(10, 0), (10, 1), (10, 17), (10, 51), (10, 52), (1, 1000), (24, 333), (10, 30_000)] {
        let policy = Policy::new(Form::Blocked, bits_per_key).unwrap();
        let keys: Vec<Vec<u8>> = (0..count).map(|i| format!("key {i}").into_bytes()).collect();
        let found = create(&policy, &keys);
        let opened = load_compact(&found, &CompactOptions::default()).unwrap();
        let geometry = opened.base().geometry();
        assert_eq!(geometry.bits, (u64::from(bits_per_key) * count as u64).max(1).next_multiple_of(512));
        let spec = Spec { kind: Some(ROW.kind), bits: geometry.bits, hashes: geometry.hashes, ..Spec::default() };
        let mut made = petal::Filter::new(&spec).unwrap();
        for key in &keys {
            made.insert(key).unwrap();
        }
        let mut expected = vec![0; made.compact_size().unwrap()];
        made.serialize_compact(&mut expected).unwrap();
        assert_eq!(found, expected, "{bits_per_key} bits for each of {count} keys");

        assert!(keys.iter().all(|key| policy.may_match(key, &found)));
        let absent = (0..20_000).map(|i| format!("absent {i}"));
        let wrong = absent.filter(|key| policy.may_match(key.as_bytes(), &found)).count();
        // The number of false positives is at most 4.5 sigma above the rate of the kind.
        let expected = 20_000.0 * (ROW.false_positive_rate)(geometry, count as u64);
        assert!((wrong as f64) < expected + 4.5 * expected.sqrt() + 1.0, "{wrong} of 20000, {expected} were expected");
    }
}

/// In the form `blocked` bytes that no policy made match every key.
#[test]
fn blocked_filters_that_are_none_match_all_keys() {
    let policy = Policy::new(Form::Blocked, 10).unwrap();
    let keys: Vec<Vec<u8>> = (0..100).map(|i: u64| i.to_le_bytes().to_vec()).collect();
    let filter = create(&policy, &keys);
    for length in 0..filter.len() {
        assert!(policy.may_match(b"absent", &filter[..length]), "{length}");
    }
    for bit in 8 * (filter.len() - 8)..8 * (filter.len() - 4) {
        let mut damaged = filter.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(policy.may_match(b"absent", &damaged), "bit {bit}");
    }
}

#[test]
fn names_are_kept_for_ever() {
    let name = |form| Policy::new(form, 10).unwrap().name().to_str().unwrap();
    assert_eq!(name(Form::LevelDb), "leveldb.BuiltinBloomFilter2");
    assert_eq!(name(Form::Blocked), "petal.BlockedBloomFilter");
}

#[test]
fn sizes_that_memory_does_not_have_are_none() {
    for &form in Form::ALL {
        let most = Policy::new(form, MAX_BITS_PER_KEY).unwrap();
        assert_eq!(most.filter_size(usize::MAX), None);
        assert_eq!(most.filter_size(usize::MAX / 2), None);
        assert!(most.filter_size(1 << 20).is_some());
    }
}
