//! Maps of every kind, compared with a map of the standard library. Present keys have exact values, absent keys are
//! given a value at the stated rate, and images give the same answers.

use crate::common::{Buffer, SECRET, each, each_kind, golden, hashed, image, is_wanted, mix};
use crate::specification;
use petal::registry::{FILTERS, MAPS};
use petal::{
    Answers, Builder, BuilderOptions, Capabilities, HashFunction, Hasher, Image, Keys, Map, MapBuilder, Mode,
    OpenOptions, Parameter, Result, Row, Spec, Status, load_as, open_as,
};
use std::collections::BTreeMap;

/// A spec of this kind, with those of the parameters that the kind has.
fn spec(row: &Row, parameters: &[(&str, u64)]) -> Spec {
    let mut spec = Spec { kind: Some(row.kind), ..Spec::default() };
    for (name, value) in parameters {
        if let Some(parameter) = row.parameter(name) {
            let (least, most) = parameter.bounds();
            spec.set(parameter, (*value as f64).clamp(least, most)).unwrap();
        }
    }
    spec
}

/// The kinds of map that are built, which give each key exactly its value.
fn built() -> impl Iterator<Item = &'static Row> {
    MAPS.iter().filter(|row| !row.is_made_empty())
}

/// These parameters with each combination of the kind's choices, such as the solver of a map.
fn variants(row: &Row, parameters: &[(&'static str, u64)]) -> Vec<Vec<(&'static str, u64)>> {
    let with = |before: Vec<Vec<_>>, choice: &&Parameter| {
        let (name, choices) = (choice.name, 0..choice.choices().len() as u64);
        before.iter().flat_map(|one| choices.clone().map(|number| [&one[..], &[(name, number)]].concat())).collect()
    };
    let choices = row.parameters.iter().filter(|parameter| !parameter.choices().is_empty());
    choices.fold(vec![parameters.to_vec()], with)
}

/// Whether the kind recognises absent keys, at a rate that the caller chooses.
fn has_checks(row: &Row) -> bool {
    (row.least_rate)(&Spec::default(), 1) < 1.0
}

/// The value of a parameter in the header.
fn parameter(map: &Map, name: &str) -> u64 {
    let row = map.base().row();
    map.base().geometry().parameter(row.parameter(name).unwrap()).unwrap()
}

/// Keys with values of at most this many bits.
fn exact(keys: u64, bits: u32) -> BTreeMap<u64, u64> {
    let value = |i: u64| mix(!i).checked_shr(64 - bits).unwrap_or(0);
    (0..keys).map(|i| (mix(i), value(i))).collect()
}

fn build_with(spec: &Spec, options: BuilderOptions, entries: impl IntoIterator<Item = (u64, u64)>) -> Result<Map> {
    let mut builder = MapBuilder::new(spec, options)?;
    for (key, value) in entries {
        match spec.hash {
            HashFunction::External => builder.put_hash(key, value)?,
            _ => builder.put_u64(key, value)?,
        }
    }
    builder.finish()
}

fn build(spec: &Spec, exact: &BTreeMap<u64, u64>) -> Map {
    build_with(spec, BuilderOptions::default(), exact.iter().map(|(key, value)| (*key, *value))).unwrap()
}

fn get(map: &Map, key: u64) -> Option<u64> {
    match map.base().hasher().function() {
        HashFunction::External => map.get_hash(key).unwrap(),
        _ => map.get_u64(key).unwrap(),
    }
}

/// The result of `with` for the map that is opened in a buffer with these bytes.
fn open<T>(bytes: &[u8], mode: Mode, with: impl FnOnce(Result<&mut Map>) -> T) -> T {
    Buffer::of(bytes).open_as(mode, None, with)
}

/// Every key has exactly its value, in single lookups and in a batch.
fn check(map: &Map, exact: &BTreeMap<u64, u64>) {
    map.verify().unwrap();
    for (key, value) in exact {
        assert_eq!(get(map, *key), Some(*value));
    }
    let keys: Vec<u64> = exact.keys().copied().collect();
    let keys = match map.base().hasher().function() {
        HashFunction::External => Keys::Hashes(&keys),
        _ => Keys::U64(&keys),
    };
    let mut values = vec![u64::MAX; keys.len()];
    let mut answers = Answers { values: Some(&mut values), ..Answers::default() };
    map.get_batch(&keys, &mut answers).unwrap();
    assert_eq!((answers.true_count, answers.done), (keys.len() as u64, keys.len()));
    assert!(values.iter().eq(exact.values()));
}

/// Pairs of value_bits and check_bits: the defaults, the least, pairs that share a cell, and pairs that do not.
const WIDTHS: [(u64, u64); 8] = [(0, 0), (1, 1), (8, 8), (32, 32), (57, 7), (33, 32), (64, 1), (64, 32)];

#[test]
fn values_are_exact() {
    each_kind(built(), |row| {
        for (value_bits, check_bits) in WIDTHS {
            for keys in [0, 1, 2, 3, 7, 64, 65, 1000, 20_000] {
                let exact = exact(keys, if value_bits == 0 { 11 } else { value_bits as u32 });
                for chosen in variants(row, &[("value_bits", value_bits), ("check_bits", check_bits)]) {
                    check(&build(&spec(row, &chosen), &exact), &exact);
                }
            }
        }
    });
}

/// Enough keys that the map has several parts and does not fit into the caches.
#[test]
fn values_of_many_keys_are_exact() {
    each_kind(built(), |row| {
        let exact = exact(1_300_000, 20);
        check(&build(&spec(row, &[]), &exact), &exact);
    });
}

#[test]
fn every_hash_function_serves() {
    each_kind(built(), |row| {
        for hash in HashFunction::ALL {
            let exact = exact(3000, 20);
            let spec = hashed(&spec(row, &[]), hash, 5);
            let map = build(&spec, &exact);
            check(&map, &exact);
            let others = (3000..6000).filter(|i| get(&map, mix(*i)).is_some()).count() as f64;
            let rate = map.expected_false_positive_rate(3000);
            assert!(others <= 3000.0 * rate + 30.0, "{others} of 3000 with {hash}");
        }
        // Hashes that the caller computes may be weak.
        let exact: BTreeMap<u64, u64> = (0..5000).map(|i| (i, i)).collect();
        check(&build(&hashed(&spec(row, &[]), HashFunction::External, 0), &exact), &exact);
    });
}

/// Absent keys are given a value at the stated rate, within 4.5 standard deviations.
#[test]
fn absent_keys_have_values_at_the_rate() {
    const ASKED: u64 = 400_000;
    each_kind(built(), |row| {
        for (value_bits, check_bits) in [(0, 1), (8, 4), (33, 7), (64, 5)] {
            let spec = spec(row, &[("value_bits", value_bits), ("check_bits", check_bits)]);
            let map = build(&spec, &exact(30_000, 8));
            let rate = map.expected_false_positive_rate(30_000);
            assert!(has_checks(row) && rate < 1.0 || rate == 1.0, "{rate}");
            assert_eq!(map.statistics().false_positive_rate, rate);
            let asked: Vec<u64> = (1_000_000..1_000_000 + ASKED).map(mix).collect();
            let (mut values, mut bytes) = (vec![1; asked.len()], vec![2; asked.len()]);
            let mut answers = Answers { values: Some(&mut values), bytes: Some(&mut bytes), ..Answers::default() };
            map.get_batch(&Keys::U64(&asked), &mut answers).unwrap();
            let found = answers.true_count;
            let deviation = (ASKED as f64 * rate * (1.0 - rate)).sqrt();
            assert!((found as f64 - ASKED as f64 * rate).abs() <= 4.5 * deviation, "{found} at {rate}");
            for (i, key) in asked.iter().enumerate() {
                let one = get(&map, *key);
                assert_eq!((bytes[i], values[i]), (one.is_some().into(), one.unwrap_or(0)));
            }
        }
    });
}

/// A map has the parameters, the rate and the size that the spec asks for.
#[test]
fn sizes_are_those_that_were_asked_for() {
    each_kind(built(), |row| {
        let exact = exact(10_000, 9);
        let refused = |spec: &Spec| MapBuilder::new(spec, BuilderOptions::default()).err().unwrap().status();
        for rate in [0.0_f64, 0.5, 0.01, 1.0 / 1024.0, 1e-9] {
            let rate =
                if rate > 0.0 && has_checks(row) { rate.max((row.least_rate)(&spec(row, &[]), 10_000)) } else { rate };
            let spec = Spec { false_positive_rate: rate, ..spec(row, &[]) };
            if rate != 0.0 && !has_checks(row) {
                assert_eq!(refused(&spec), Status::Contradiction);
                continue;
            }
            let map = build(&spec, &exact);
            assert_eq!(parameter(&map, "value_bits"), 9, "{rate}");
            let expected = map.expected_false_positive_rate(10_000);
            if rate != 0.0 {
                assert!(map.base().header().false_positive_rate == rate);
                assert!(expected <= rate && expected > rate / 2.0, "{expected} for {rate}");
            }
            // A map that is made from the map's own spec is the same.
            let again = build(&map.base().spec(), &exact);
            assert_eq!(image(&again), image(&map));
        }
        let bits = 10_000 * 25;
        let map = build(&Spec { capacity: 10_000, bits, ..spec(row, &[("value_bits", 9)]) }, &exact);
        check(&map, &exact);
        assert!(map.base().geometry().bits <= bits);
        assert!(map.base().geometry().bits > bits / 10 * 9 || !has_checks(row));
        assert_eq!(refused(&Spec { capacity: 10_000, bits, ..spec(row, &[]) }), Status::Contradiction);
        // The spec asks for a rate that its check bits do not keep, or that the kind cannot have.
        let both = Spec { false_positive_rate: 0.001, ..spec(row, &[("check_bits", 9)]) };
        assert_eq!(refused(&both), Status::Contradiction);
        assert_eq!(
            refused(&Spec { capacity: 10_000, bits: 1000, ..spec(row, &[("value_bits", 9)]) }),
            Status::Contradiction
        );
        assert_eq!(refused(&Spec { kind: Some(FILTERS[0].kind), ..Spec::default() }), Status::Unsupported);
        let mut builder = MapBuilder::new(&spec(row, &[("value_bits", 3)]), BuilderOptions::default()).unwrap();
        assert_eq!(builder.put(b"a", 8).unwrap_err().status(), Status::OutOfRange);
        builder.put(b"a", 7).unwrap();
        let taken = builder.put_batch(&Keys::U64(&[1, 2, 3]), &[1, 9, 1]);
        assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (1, Status::OutOfRange));
        assert_eq!(builder.key_count(), 2);
    });
}

/// The order of keys, the threads, the memory and the repetitions do not change the bytes of a map.
#[test]
fn bytes_depend_on_keys_and_values_only() {
    let folder = tempfile::tempdir().unwrap();
    each_kind(built(), |row| {
        let exact = exact(200_000, 40);
        let spec = spec(row, &[("value_bits", 64)]);
        let map = build(&spec, &exact);
        let expected = image(&map);
        let limited = BuilderOptions {
            memory_limit: Some(1 << 20),
            temporary_directory: Some(folder.path().to_owned()),
            threads: 3,
            ..BuilderOptions::default()
        };
        for options in [BuilderOptions { threads: 3, ..BuilderOptions::default() }, limited] {
            let backwards = exact.iter().rev().map(|(key, value)| (*key, *value));
            let again = build_with(&spec, options, backwards).unwrap();
            assert!(image(&again) == expected);
        }
        let twice = exact.iter().chain(exact.iter().take(1000)).map(|(key, value)| (*key, *value));
        let twice = build_with(&spec, BuilderOptions::default(), twice).unwrap();
        assert_eq!((map.insertions(), twice.insertions()), (200_000, 201_000));
        let payload = |map: &Map| {
            map.base().words().shared().iter().map(|w| w.load(std::sync::atomic::Ordering::Relaxed)).collect::<Vec<_>>()
        };
        assert!(payload(&twice) == payload(&map));
        check(&twice, &exact);
    });
}

#[test]
fn two_values_of_a_key_are_refused() {
    each_kind(built(), |row| {
        let mut builder = MapBuilder::new(&spec(row, &[]), BuilderOptions::default()).unwrap();
        builder.put(b"apple", 3).unwrap();
        builder.put(b"pear", 4).unwrap();
        builder.put(b"apple", 5).unwrap();
        let error = builder.finish().unwrap_err();
        assert_eq!(error.status(), Status::Contradiction);
        assert!(error.message().contains("3 and 5"), "{error}");
        assert_eq!(builder.key_count(), 3);
    });
}

/// A map gives the same answers in a file, mapped, in a buffer and loaded. Verifying finds damage.
#[test]
fn images_hold_what_they_were_made_of() {
    let folder = tempfile::tempdir().unwrap();
    each_kind(built(), |row| {
        for (keys, value_bits) in [(0, 8), (1000, 8), (1000, 64)] {
            let exact = exact(keys, value_bits as u32);
            let map = build(&spec(row, &[("value_bits", value_bits)]), &exact);
            let path = folder.path().join("map.petal");
            map.save(&path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes == image(&map));
            for mode in [Mode::Read, Mode::Load] {
                let opened: Map = open_as(&path, &OpenOptions { mode, ..OpenOptions::default() }).unwrap();
                check(&opened, &exact);
                open(&bytes, mode, |map| check(map.unwrap(), &exact));
                check(&opened.copy().unwrap(), &exact);
            }
            // A map that cannot change is not opened for writing, and the refusal leaves the file as it was.
            let changes = row.capabilities.contains(Capabilities::REPLACE);
            for mode in [Mode::Write, Mode::Share].into_iter().skip(changes.into()) {
                let refused = |error: petal::Error| {
                    assert!(error.status() == Status::Unsupported && error.message().contains(row.name), "{error}");
                };
                refused(open_as::<Map>(&path, &OpenOptions { mode, ..OpenOptions::default() }).unwrap_err());
                open(&bytes, mode, |map| refused(map.unwrap_err()));
            }
            assert!(std::fs::read(&path).unwrap() == bytes);
            // The test damages a bit of the first byte of the payload, of one in the middle, and of the last one.
            for at in [
                256,
                256 + map.base().geometry().payload_bytes as usize / 2,
                255 + map.base().geometry().payload_bytes as usize,
            ] {
                let mut damaged = bytes.clone();
                damaged[at] ^= 4;
                open(&damaged, Mode::Load, |map| assert_eq!(map.unwrap_err().status(), Status::Corrupt, "{at}"));
                open(&damaged, Mode::Read, |map| assert!(map.unwrap().verify().is_err()));
            }
        }
    });
}

/// A filter is not opened as a map, nor a map as a filter. Each error says what the image is.
#[test]
fn wrong_handles_are_told_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image.petal");
    let status = |text: &str, error: petal::Error| {
        assert_eq!(error.status(), Status::Unsupported);
        assert!(error.message().contains(text), "{error}");
    };
    each_kind(MAPS, |row| {
        build(&spec(row, &[]), &exact(10, 3)).save(&path).unwrap();
        status("open it as a map", petal::open(&path, &OpenOptions::default()).unwrap_err());
        let to_make_it = if row.is_made_empty() { "make it or open it as a map" } else { "map builder" };
        status(to_make_it, petal::Filter::new(&spec(row, &[])).err().unwrap());
        status(
            "map builder",
            Builder::new(&spec(row, &[]), BuilderOptions::default())
                .and_then(|mut builder| builder.finish())
                .err()
                .unwrap(),
        );
        petal::Filter::new(&Spec::default()).unwrap().save(&path).unwrap();
        status("open it as a filter", open_as::<Map>(&path, &OpenOptions::default()).unwrap_err());
    });
}

#[test]
fn what_cannot_be_looked_up_is_absent_and_refused() {
    each_kind(built(), |row| {
        let map = build(&spec(row, &[]), &exact(10, 3));
        assert_eq!(map.get_hash(1).unwrap_err().status(), Status::Unsupported);
        let (mut values, mut bytes) = ([7; 2], [7; 2]);
        let mut answers = Answers { values: Some(&mut values), bytes: Some(&mut bytes), ..Answers::default() };
        assert_eq!(map.get_batch(&Keys::Hashes(&[1, 2]), &mut answers).unwrap_err().status(), Status::Unsupported);
        assert_eq!((values, bytes), ([0; 2], [0; 2]));
        let mut counts = [0; 2];
        let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
        assert_eq!(map.get_batch(&Keys::U64(&[1, 2]), &mut answers).unwrap_err().status(), Status::Unsupported);
        let external = build(&hashed(&spec(row, &[]), HashFunction::External, 0), &exact(10, 3));
        assert_eq!(external.get(b"a").unwrap_err().status(), Status::ExternalHash);
    });
}

/// Without its secret key a keyed map finds nothing and says why. All calls that need no hashing work.
#[test]
fn keyed_maps_without_their_key_say_so() {
    each_kind(built(), |row| {
        let exact = exact(100, 8);
        let spec = hashed(&spec(row, &[]), HashFunction::SipHash13, 7);
        let bytes = image(&build(&spec, &exact));
        let secret = spec.secret.unwrap();
        assert!(!bytes.windows(8).any(|window| window == &secret[..8]), "an image never holds the key");
        let open = |key| load_as::<Map>(&bytes, &OpenOptions { secret: key, ..OpenOptions::default() });
        let locked = open(None).unwrap();
        assert_eq!(locked.get_u64(mix(1)).unwrap_err().status(), Status::SecretMissing);
        assert_eq!(locked.get(b"key").unwrap_err().status(), Status::SecretMissing);
        let (mut values, mut bytes) = ([7; 2], [7; 2]);
        let mut answers = Answers { values: Some(&mut values), bytes: Some(&mut bytes), ..Answers::default() };
        assert_eq!(
            locked.get_batch(&Keys::U64(&[mix(1), 2]), &mut answers).unwrap_err().status(),
            Status::SecretMissing
        );
        assert_eq!((values, bytes), ([0; 2], [0; 2]));
        locked.verify().unwrap();
        assert_eq!(open(Some(SECRET)).unwrap_err().status(), Status::SecretMismatch);
        check(&open(spec.secret).unwrap(), &exact);
    });
}

/// A forged header or directory is refused or gives wrong answers. No access goes outside of the payload.
#[test]
#[ignore = "slow: make test-all"]
fn forged_images_do_no_harm() {
    each_kind(MAPS, |row| {
        for value_bits in [8, 64] {
            let exact = exact(1000, value_bits as u32);
            let map = build(&spec(row, &[("value_bits", value_bits)]), &exact);
            let bytes = image(&map);
            let payload = map.base().geometry().payload_bytes as usize;
            for i in 0..4000 {
                let mut forged = bytes.clone();
                let word = match i % 2 {
                    // A word of the geometry.
                    0 => 64 + 8 * (mix(i) % 10) as usize,
                    // A word near the end of the payload, where directories are.
                    _ => 256 + payload - 8 * (1 + mix(i) % 16) as usize,
                };
                let value = mix(i + 1) >> (mix(i + 2) % 64);
                forged[word..word + 8].copy_from_slice(&value.to_le_bytes());
                seal(&mut forged);
                open(&forged, Mode::Read, |map| {
                    let Ok(map) = map else { return };
                    let _ = map.verify();
                    let keys: Vec<u64> = (0..500).map(mix).collect();
                    let _ = keys.iter().filter(|key| get(map, **key).is_some()).count();
                    map.get_batch(&Keys::U64(&keys), &mut Answers::default()).unwrap();
                    map.statistics();
                });
            }
        }
    });
}

/// The golden files that there must be. Built maps have cells with values and checks together, and apart. Maps that are
/// made empty have each choice, and are so large that all readings are exact. There is one of every hash function.
fn golden_specs() -> Vec<(&'static Row, String, Spec)> {
    let mut specs = Vec::new();
    for row in MAPS {
        // Maps that are made empty have one width for each combination of choices. Built maps have three widths.
        let widths: &[(u64, u64)] =
            if row.is_made_empty() { &[(17, 0), (64, 0), (21, 0)] } else { &[(0, 0), (17, 9), (64, 10)] };
        let of = |(value_bits, check_bits)| [("value_bits", value_bits), ("check_bits", check_bits)];
        let chosen = variants(row, &[]).into_iter();
        let parameters: Vec<Vec<(&str, u64)>> = match row.is_made_empty() {
            true => chosen.zip(widths.iter().cycle()).map(|(one, width)| [&of(*width)[..], &one].concat()).collect(),
            false => chosen.flat_map(|one| widths.iter().map(move |width| [&of(*width)[..], &one].concat())).collect(),
        };
        for (i, parameters) in parameters.iter().enumerate() {
            let taken = parameters.iter().filter(|(name, _)| row.parameter(name).is_some());
            let text = |(name, value): &(&str, u64)| match row.parameter(name).unwrap().choices() {
                [] => format!("{value}-"),
                choices => format!("{}-", choices[*value as usize]),
            };
            let values: String = taken.map(text).collect();
            let rate = if row.is_made_empty() { 1e-6 } else { 0.0 };
            for hash in HashFunction::ALL.into_iter().filter(|hash| i == 0 || *hash == HashFunction::Xxh3) {
                let spec = hashed(&spec(row, parameters), hash, 42);
                let key = spec.secret.map(|_| std::array::from_fn(|i| i as u8));
                let name = format!("{}-{values}{hash}.petal", row.name);
                specs.push((row, name, Spec { secret: key, false_positive_rate: rate, ..spec }));
            }
        }
    }
    specs
}

/// The number of keys in a golden file. Key number i has the value 1000 i + 7.
const GOLDEN_KEYS: u64 = 100;

fn golden_value(i: u64) -> u64 {
    1000 * i + 7
}

fn golden_id(hasher: &Hasher, i: u64) -> u128 {
    match hasher.function() {
        HashFunction::External => u128::from(mix(mix(i + 1))) << 64 | u128::from(mix(i + 1)),
        _ => hasher.identify(format!("key {i}").as_bytes()).unwrap(),
    }
}

/// The library writes the committed bytes today. To the bit they are what `docs/format.md` says about these keys and
/// values.
#[test]
fn golden_files_are_as_specified() {
    each(
        golden_specs().into_iter().filter(|(row, ..)| is_wanted(row)),
        |(_, name, _)| name.clone(),
        |(row, name, spec)| {
            let hasher = spec.hasher().unwrap();
            let mut builder = MapBuilder::new(spec, BuilderOptions::default()).unwrap();
            for i in 0..GOLDEN_KEYS {
                match hasher.function() {
                    HashFunction::External => builder.put_hash(mix(i + 1), golden_value(i)).unwrap(),
                    _ => builder.put(format!("key {i}").as_bytes(), golden_value(i)).unwrap(),
                }
            }
            let map = builder.finish().unwrap();
            let written = image(&map);
            golden::check(row, name, &written);
            for i in 0..GOLDEN_KEYS {
                assert_eq!(specification::value(&written, golden_id(&hasher, i)), Some(golden_value(i)), "{name}");
            }
            for i in 0..20_000 {
                let id = u128::from(mix(i)) << 64 | u128::from(mix(!i));
                assert_eq!(specification::value(&written, id), map.get_id(id), "{name}");
            }
        },
    );
}

/// Every golden file opens, verifies and holds its values, even those of layouts that are no longer written.
#[test]
fn golden_files_open_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    each_kind(MAPS, |row| {
        let files = golden::files(row);
        assert!(!files.is_empty(), "there is no golden file");
        for (name, bytes) in &files {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let key = name.contains("siphash").then(|| std::array::from_fn(|i| i as u8));
            for mode in [Mode::Read, Mode::Load] {
                let map: Map = open_as(&path, &OpenOptions { mode, secret: key, ..OpenOptions::default() }).unwrap();
                map.verify().unwrap();
                let header = map.base().header();
                assert_eq!((header.kind, header.count), (row.kind, GOLDEN_KEYS), "{name}");
                for i in 0..GOLDEN_KEYS {
                    assert_eq!(map.get_id(golden_id(map.base().hasher(), i)), Some(golden_value(i)), "{name}");
                }
                assert!(image(&map) == *bytes, "{name} is written with other bytes");
            }
        }
    });
}

/// Computes the header's checksums again.
fn seal(bytes: &mut [u8]) {
    use xxhash_rust::xxh3::xxh3_64;
    let checksum = xxh3_64(&bytes[..208]);
    bytes[208..216].copy_from_slice(&checksum.to_le_bytes());
    let seal = xxh3_64(&bytes[208..248]);
    bytes[248..256].copy_from_slice(&seal.to_le_bytes());
}
