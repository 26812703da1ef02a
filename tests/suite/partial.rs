//! Builders that take in the keys of other builders: the bytes are those of one builder with all keys, whatever the
//! kind and wherever the keys are kept; and what no builder wrote is refused and changes nothing.

use crate::common::{Case, SECRET, all_layouts, each, hash_of, image, mix, share_of};
use petal::{
    Builder, BuilderOptions, Capabilities, Error, HashFunction, KindId, MIN_MEMORY_LIMIT, MapBuilder, Result, Spec,
    Status, row_of,
};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// A builder of filters or of maps, with its spec.
struct Any {
    spec: Spec,
    builder: Either,
}

enum Either {
    Filter(Box<Builder>),
    Map(Box<MapBuilder>),
}

impl Any {
    fn new(spec: &Spec, options: BuilderOptions) -> Result<Any> {
        let builder = match row_of(spec)?.is_map() {
            true => Either::Map(Box::new(MapBuilder::new(spec, options)?)),
            false => Either::Filter(Box::new(Builder::new(spec, options)?)),
        };
        Ok(Any { spec: *spec, builder })
    }

    /// A builder in memory that has these keys.
    fn of(spec: &Spec, keys: Range<u64>) -> Any {
        let mut any = Any::new(spec, BuilderOptions::default()).unwrap();
        any.give(keys);
        any
    }

    /// Gives keys, and whatever else the kind takes: copies, excluded keys, frequent non-members.
    fn give(&mut self, keys: Range<u64>) {
        let (spec, row) = (&self.spec, row_of(&self.spec).unwrap());
        let builder = match &mut self.builder {
            Either::Filter(builder) => builder,
            Either::Map(builder) => return keys.for_each(|key| builder.put_u64(key, mix(key) >> 63).unwrap()),
        };
        for key in keys {
            match builder.add_hash(hash_of(spec, key)) {
                // Keys that are divided by their prefixes come whole.
                Err(error) if error.status() == Status::Unsupported => builder.add(whole(key)).unwrap(),
                outcome => outcome.unwrap(),
            }
            if row.capabilities.contains(Capabilities::COUNT) {
                builder.add_times_hash(hash_of(spec, key), key % 2).unwrap();
            }
            if row.others.excludes.is_some() {
                let excluded = key + (1 << 40);
                match builder.exclude_hash(hash_of(spec, excluded)) {
                    Err(error) if error.status() == Status::Unsupported => builder.exclude(whole(excluded)).unwrap(),
                    outcome => outcome.unwrap(),
                }
            }
            if row.others.takes_frequent {
                builder.add_frequent_hash(hash_of(spec, key + (1 << 41)), 0.5 + key as f64).unwrap();
            }
        }
    }

    fn serialize(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let write = &mut |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        match &mut self.builder {
            Either::Filter(builder) => builder.serialize_to(write).unwrap(),
            Either::Map(builder) => builder.serialize_to(write).unwrap(),
        }
        bytes
    }

    fn merge(&mut self, state: &[u8]) -> Result<()> {
        match &mut self.builder {
            Either::Filter(builder) => builder.merge(state),
            Either::Map(builder) => builder.merge(state),
        }
    }

    fn key_count(&self) -> u64 {
        match &self.builder {
            Either::Filter(builder) => builder.key_count(),
            Either::Map(builder) => builder.key_count(),
        }
    }

    fn finish(&mut self) -> std::result::Result<Vec<u8>, Status> {
        let status = |error: Error| error.status();
        match &mut self.builder {
            Either::Filter(builder) => builder.finish().map(|filter| image(&filter)).map_err(status),
            Either::Map(builder) => builder.finish().map(|map| image(&map)).map_err(status),
        }
    }
}

/// A key of ten bytes, whose first two say its partition.
fn whole(key: u64) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&(mix(key) as u16 % 7).to_le_bytes());
    bytes[2..].copy_from_slice(&key.to_le_bytes());
    bytes
}

fn limited(folder: &Path) -> BuilderOptions {
    BuilderOptions {
        memory_limit: Some(MIN_MEMORY_LIMIT),
        temporary_directory: Some(folder.to_owned()),
        ..BuilderOptions::default()
    }
}

/// The shares of `n` keys that three builders get; some keys are in two of them.
fn shares(n: u64) -> [Range<u64>; 3] {
    [0..n / 2, n / 3..n * 3 / 4, n * 3 / 4..n]
}

/// The specs of all layouts, with room for the keys, of kinds that builders make.
fn specs(n: u64) -> Vec<(String, Spec)> {
    let spec = |case: &Case| (case.name(), case.with_room(&case.spec(), 4 * n));
    let made = |(_, spec): &(String, Spec)| Any::new(spec, BuilderOptions::default()).is_ok();
    share_of(all_layouts(), 3, "partial").iter().map(spec).filter(made).collect()
}

/// Builders with shares of the keys, some of them in several, make what one builder makes of all keys.
#[test]
fn shares_make_the_bytes_of_one_builder() {
    const KEYS: u64 = 300;
    each(
        specs(KEYS),
        |(name, _)| name.clone(),
        |(name, spec)| {
            let mut one = Any::new(spec, BuilderOptions::default()).unwrap();
            shares(KEYS).into_iter().rev().for_each(|share| one.give(share));
            let [mut first, mut second, mut third] = shares(KEYS).map(|share| Any::of(spec, share));
            let states = [&mut second, &mut third].map(|any| any.serialize());
            // One by one, and by way of a builder that only passes on.
            let mut passing = Any::new(spec, BuilderOptions::default()).unwrap();
            let mut empty = Any::new(spec, BuilderOptions::default()).unwrap();
            passing.merge(&states[1]).unwrap();
            passing.merge(&states[0]).unwrap();
            passing.merge(&empty.serialize()).unwrap();
            let passed = passing.serialize();
            passing.merge(&first.serialize()).unwrap();
            states.iter().for_each(|state| first.merge(state).unwrap());
            assert_eq!((first.key_count(), passing.key_count()), (one.key_count(), one.key_count()), "{name}");
            let all = one.serialize();
            let expected = one.finish();
            // Partitions have numbers in the order in which they came.
            if !name.contains("partition_prefix_bytes") {
                assert!(first.serialize() == all, "{name}: the bytes depend on the way");
            }
            assert!(first.finish() == expected && passing.finish() == expected, "{name}");
            // Whoever gave out its keys has them still, and an emptied builder takes others'.
            first.give(shares(KEYS)[0].clone());
            first.merge(&passed).unwrap();
            assert!(first.finish() == expected, "{name}");
            second.merge(&Any::of(spec, shares(KEYS)[0].clone()).serialize()).unwrap();
            second.merge(&third.serialize()).unwrap();
            assert!(second.finish() == expected, "{name}");
        },
    );
}

/// The builders that keep their keys in different ways.
fn ways() -> Vec<(&'static str, Spec)> {
    let of = |name: &'static str, settings: &[(&str, f64)]| {
        let kind = name.split('-').next().unwrap();
        let mut spec = Spec { kind: Some(kind.parse().unwrap()), ..Spec::default() };
        for (parameter, value) in settings {
            spec.set(petal::parameter_of(&spec, parameter).unwrap(), *value).unwrap();
        }
        (name, spec)
    };
    vec![
        of("fuse", &[]),
        of("golomb", &[]),
        of("blocked", &[]),
        of("counting", &[]),
        of("exact_set", &[]),
        of("exact_set-parts", &[("partition_prefix_bytes", 2.0)]),
        of("stacked", &[]),
        of("bloomier", &[]),
        of("bloomier-value_bits", &[("value_bits", 5.0)]),
        of("mutable_bloomier", &[]),
        of("approximator", &[]),
    ]
}

/// Where the keys are kept makes no difference: in memory or in files, on either side.
#[test]
fn spilled_keys_make_the_same_bytes() {
    // Of these, the second share alone is more than the least limit keeps.
    const KEYS: u64 = 240_000;
    let folder = tempfile::tempdir().unwrap();
    each(
        ways(),
        |(name, _)| name.to_string(),
        |(name, spec)| {
            // Some have longer records.
            let row = row_of(spec).unwrap();
            let keys = if row.is_map() || row.capabilities.contains(Capabilities::REMOVE) { KEYS / 2 } else { KEYS };
            let with = |share: Range<u64>, options| {
                let mut any = Any::new(spec, options).unwrap();
                any.give(share);
                any
            };
            let mut one = Any::new(spec, BuilderOptions::default()).unwrap();
            shares(keys).into_iter().for_each(|share| one.give(share));
            let expected = one.finish();
            assert!(expected.is_ok(), "{name}");
            let [first, second, third] = shares(keys);
            let (spilled, kept) =
                (with(second, limited(folder.path())).serialize(), with(third, BuilderOptions::default()).serialize());
            for options in [BuilderOptions::default(), limited(folder.path())] {
                let mut any = Any::new(spec, options).unwrap();
                any.merge(&spilled).unwrap();
                any.give(first.clone());
                any.merge(&kept).unwrap();
                assert!(any.finish() == expected, "{name}");
            }
        },
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The bytes of a state with another checksum: that of what stands before it.
fn sealed(mut state: Vec<u8>) -> Vec<u8> {
    let end = state.len() - 8;
    let checksum = xxh3_64(&state[..end]);
    state[end..].copy_from_slice(&checksum.to_le_bytes());
    state
}

/// What no builder wrote is refused, and the builder makes what it made without it.
#[test]
fn forged_bytes_are_refused_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    each(
        ways(),
        |(name, _)| name.to_string(),
        |(name, spec)| {
            let state = Any::of(spec, 0..40).serialize();
            let expected = Any::of(spec, 20..60).finish().unwrap();
            let mut builders = [BuilderOptions::default(), limited(folder.path())].map(|options| {
                let mut any = Any::new(spec, options).unwrap();
                any.give(20..60);
                any
            });
            let count = builders[0].key_count();
            let mut refused = |bytes: &[u8], statuses: &[Status]| {
                for builder in &mut builders {
                    let error = builder.merge(bytes).expect_err(name);
                    assert!(statuses.contains(&error.status()), "{name}: {error}");
                    assert_eq!(builder.key_count(), count);
                }
            };
            for length in 0..state.len() {
                refused(&state[..length], if length < 8 { &[Status::Foreign] } else { &[Status::Truncated] });
            }
            refused(&[&state[..], &[0]].concat(), &[Status::Corrupt]);
            for at in 0..state.len() {
                let mut damaged = state.clone();
                damaged[at] ^= 1 << (at % 8);
                refused(&damaged, &[Status::Foreign, Status::NewerVersion, Status::Truncated, Status::Corrupt]);
            }
            // With a right checksum: numbers of the header, in their order.
            let set = |word: usize, number: u64| {
                let mut forged = state.clone();
                forged[8 * word..8 * word + 8].copy_from_slice(&number.to_le_bytes());
                sealed(forged)
            };
            let word = |word: usize| u64::from_le_bytes(state[8 * word..8 * word + 8].try_into().unwrap());
            refused(&set(1, word(1) + 1), &[Status::NewerVersion]);
            refused(&set(1, word(1) ^ 1 << 33), &[Status::Incompatible]);
            for changed in [2, 3, 4] {
                refused(&set(changed, word(changed) ^ 1), &[Status::Incompatible]);
            }
            refused(&set(5, 3), &[Status::Corrupt]);
            refused(&set(5, u64::MAX), &[Status::TooLarge]);
            refused(&set(6, word(5) + 1), &[Status::Corrupt]);
            for counted in 8..11 {
                for number in [word(counted) + 1, 1 << 61, 1 << 63, u64::MAX] {
                    refused(&set(counted, number), &[Status::Truncated, Status::Corrupt]);
                }
            }
            // Records in another order, and one twice.
            let (each, prefixes) = ((word(2) >> 32) as usize, 8 * word(8) as usize);
            let records = 88 + prefixes;
            let swapped = |from: usize, to: usize| {
                let mut forged = state.clone();
                forged.copy_within(records + from * each..records + (from + 1) * each, records + to * each);
                sealed(forged)
            };
            refused(&swapped(0, 1), &[Status::Corrupt]);
            refused(&swapped(1, 0), &[Status::Corrupt]);
            refused(&swapped(5, 30), &[Status::Corrupt]);
            if prefixes > 0 {
                let mut twice = state.clone();
                twice.copy_within(88..96, 96);
                refused(&sealed(twice), &[Status::Corrupt]);
                let mut unclean = state.clone();
                unclean[88] |= 1;
                refused(&sealed(unclean), &[Status::Corrupt]);
                let mut none = state.clone();
                none[records + 8..records + 12].fill(0xff);
                refused(&sealed(none), &[Status::Corrupt]);
            }
            // What counts and weights cannot be, and values past their bits.
            let mut nothing = state.clone();
            match (each, word(10)) {
                (16, _) => nothing[records + 8..records + 16].fill(0),
                (24, _) => nothing[records + 16..records + 24].fill(0xff),
                (_, 0) => nothing[0] = 0,
                (_, _) => {
                    let frequent = records + each * word(9) as usize;
                    nothing[frequent + 8..frequent + 24].fill(0);
                }
            }
            if each != 24 || name.ends_with("value_bits") {
                refused(&sealed(nothing), &[Status::Foreign, Status::Corrupt]);
            }
            for builder in &mut builders {
                assert!(builder.finish().unwrap() == expected, "{name}");
            }
        },
    );
}

/// Builders with another spec do not take the keys, and say why.
#[test]
fn builders_with_another_spec_refuse_the_keys() {
    let spec = Spec { kind: Some(KindId::FUSE), ..Spec::default() };
    let keyed = |key| {
        let mut keyed = spec;
        (keyed.hash, keyed.secret) = (HashFunction::SipHash13, Some(key));
        keyed
    };
    let mut other_key = SECRET;
    other_key[0] ^= 1;
    let mut bits = spec;
    bits.set(petal::parameter_of(&spec, "fingerprint_bits").unwrap(), 9.0).unwrap();
    for (from, to, said) in [
        (spec, Spec { kind: Some(KindId::RIBBON), ..spec }, "of fuse, not of ribbon"),
        (spec, Spec { seed: 1, ..spec }, "another seed, tag or secret"),
        (spec, Spec { hash: HashFunction::Xxh64, ..spec }, "hash function"),
        (keyed(SECRET), keyed(other_key), "another seed, tag or secret"),
        (spec, keyed(SECRET), "hash function"),
        (spec, Spec { capacity: 7, ..spec }, "another capacity"),
        (spec, Spec { false_positive_rate: 0.25, ..spec }, "another capacity"),
        (spec, bits, "another capacity"),
    ] {
        for (from, to) in [(from, to), (to, from)] {
            let error = Any::of(&to, 0..5).merge(&Any::of(&from, 0..5).serialize()).unwrap_err();
            assert_eq!(error.status(), Status::Incompatible);
            assert!(error.message().contains(said) || said.contains("fuse"), "{error}");
        }
    }
    // A parameter that is set to its default is no other parameter.
    let mut same = spec;
    let parameter = petal::parameter_of(&spec, "fingerprint_bits").unwrap();
    same.set(parameter, parameter.default).unwrap();
    Any::of(&same, 0..5).merge(&Any::of(&spec, 0..5).serialize()).unwrap();
}

/// A callback that refuses, or cancels, leaves the keys where they are.
#[test]
fn a_failed_serialization_loses_nothing() {
    let spec = Spec { kind: Some(KindId::FUSE), ..Spec::default() };
    let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
    (0..1000).for_each(|key| builder.add_u64(key).unwrap());
    let refused = builder.serialize_to(&mut |_| Err(Status::Callback.into())).unwrap_err();
    assert_eq!((refused.status(), builder.key_count()), (Status::Callback, 1000));
    let options = BuilderOptions { progress: Some(Box::new(|_, _| false)), ..BuilderOptions::default() };
    let mut cancelled = Builder::new(&spec, options).unwrap();
    (0..1000).for_each(|key| cancelled.add_u64(key).unwrap());
    assert_eq!(cancelled.serialize_to(&mut |_| Ok(())).unwrap_err().status(), Status::Cancelled);
    assert_eq!(cancelled.key_count(), 1000);
    // One value too many is found when keys are given out.
    let spec = Spec { kind: Some(KindId::BLOOMIER), ..Spec::default() };
    let mut map = MapBuilder::new(&spec, BuilderOptions::default()).unwrap();
    [1, 2].iter().for_each(|value| map.put_u64(7, *value).unwrap());
    assert_eq!(map.serialize_to(&mut |_| Ok(())).unwrap_err().status(), Status::Contradiction);
    assert_eq!(map.key_count(), 2);
}

/// The bytes are those that `docs/format.md` says, worked out without the library's code.
#[test]
fn the_bytes_are_what_the_format_says() {
    let spec = Spec { kind: Some(KindId::FUSE), hash: HashFunction::External, seed: 42, ..Spec::default() };
    let mut any = Any::new(&spec, BuilderOptions::default()).unwrap();
    any.give(0..100);
    any.give(0..10);
    let mut records: Vec<u64> = (0..100)
        .map(|i| {
            let hash = hash_of(&spec, i);
            let x = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^ x >> 27
        })
        .collect();
    records.sort_unstable();
    let row = row_of(&spec).unwrap();
    let mut rest = Vec::new();
    rest.extend_from_slice(&u32::from(row.form.layout_version).to_le_bytes());
    rest.extend_from_slice(&[0; 4 + 3 * 8]);
    for parameter in row.parameters {
        rest.extend_from_slice(&parameter.id().to_le_bytes());
        rest.extend_from_slice(&parameter.default.to_le_bytes());
    }
    let external = HashFunction::External as u64;
    let header = [1 | 4 << 32, external | 8 << 32, 42, xxh3_64(&rest), 110, 0, 0, 0, 100, 0];
    let mut expected = b"\x89PTLKEY\n".to_vec();
    header.iter().chain(&records).for_each(|word| expected.extend_from_slice(&word.to_le_bytes()));
    expected.extend_from_slice(&[0; 8]);
    assert!(any.serialize() == sealed(expected));
}

/// What was written once is read for ever, and written again.
#[test]
fn golden_keys_are_read_and_written() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/keys");
    for (name, spec) in ways() {
        let path = folder.join(format!("{name}.keys"));
        let mut all = Any::of(&spec, 0..30);
        let written = all.serialize();
        if !path.exists() {
            assert!(std::env::var_os("PETAL_UPDATE").is_some(), "{name} is missing: run with PETAL_UPDATE=1");
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &written).unwrap();
        }
        let golden = fs::read(&path).unwrap();
        assert!(written == golden, "{name} is written with other bytes now");
        let mut merged = Any::of(&spec, 0..0);
        merged.merge(&golden).unwrap();
        assert!(merged.finish() == all.finish(), "{name}");
    }
}
