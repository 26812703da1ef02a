//! Maps that change: values that are put, joined, replaced, merged and forgotten, in memory and in images in place.

use crate::common::{Buffer, each_kind, hashed, image, mix};
use petal::format::REGION_BYTES;
use petal::kinds::approximator::sizing::{expected_excess, read_above, read_distribution};
use petal::registry::MAPS;
use petal::{
    Answers, BuilderOptions, Capabilities, HashFunction, Image, Keys, Map, MapBuilder, Mode, OpenOptions, Overfill,
    Row, Spec, Status, create_as, open_as, row_of,
};
use std::collections::BTreeMap;

/// The kinds of map with this capability.
fn that_can(capability: Capabilities) -> impl Iterator<Item = &'static Row> {
    MAPS.iter().filter(move |row| row.capabilities.contains(capability))
}

fn spec(row: &Row, parameters: &[(&str, u64)]) -> Spec {
    let mut spec = Spec { kind: Some(row.kind), ..Spec::default() };
    for (name, value) in parameters {
        spec.set(row.parameter(name).unwrap(), *value as f64).unwrap();
    }
    spec
}

/// The value that a map of this spec must have for each key after these pairs are put.
fn joined(spec: &Spec, all: &[(u64, u64)]) -> BTreeMap<u64, Option<u64>> {
    let (joined, geometry) = (row_of(spec).unwrap().joined().unwrap(), petal::geometry(spec).unwrap());
    let mut exact = BTreeMap::new();
    for (key, value) in all {
        let read: &mut Option<u64> = exact.entry(*key).or_default();
        *read = joined(&geometry, *read, *value);
    }
    exact
}

/// A spec of each combination of the kind's choices, with values of this many bits.
fn variants(row: &Row, value_bits: u64) -> Vec<Spec> {
    let mut all = vec![spec(row, &[("value_bits", value_bits)])];
    for parameter in row.parameters.iter().filter(|parameter| !parameter.choices().is_empty()) {
        let with = |spec: &Spec, number| {
            let mut spec = *spec;
            spec.set(parameter, number as f64).unwrap();
            spec
        };
        all = all.iter().flat_map(|spec| (0..parameter.choices().len()).map(|number| with(spec, number))).collect();
    }
    all
}

/// Pairs of keys and values, where a third of the keys has two values.
fn given(value_bits: u64, keys: u64) -> Vec<(u64, u64)> {
    let value = |i: usize| mix(!(i as u64)) >> (64 - value_bits);
    (0..keys).chain(0..keys / 3).enumerate().map(|(i, key)| (mix(key), value(i))).collect()
}

/// Each key reads as its value or above it. Returns the number of keys that read as exactly their value.
fn check_above(map: &Map, exact: &BTreeMap<u64, Option<u64>>) -> usize {
    map.verify().unwrap();
    let (joined, geometry) = (map.base().row().joined().unwrap(), map.base().geometry());
    let keys: Vec<u64> = exact.keys().copied().collect();
    let (mut values, mut bytes) = (vec![7; keys.len()], vec![7; keys.len()]);
    let mut answers = Answers { values: Some(&mut values), bytes: Some(&mut bytes), ..Answers::default() };
    map.get_batch(&Keys::U64(&keys), &mut answers).unwrap();
    let mut same = 0;
    for (i, (key, value)) in exact.iter().enumerate() {
        let read = map.get_u64(*key).unwrap();
        assert_eq!((u64::from(bytes[i]), values[i]), (read.is_some().into(), read.unwrap_or(0)));
        assert_eq!(value.map_or(read, |value| joined(geometry, read, value)), read, "{key}");
        same += usize::from(read == *value);
    }
    same
}

/// The lattices of an approximator have the documented names, and join as documented.
#[test]
fn an_approximator_joins_as_documented() {
    type Join = fn(u64, u64) -> u64;
    let row = petal::registry::find_name("approximator").unwrap();
    let lattice = row.parameter("lattice").unwrap();
    let documented: [(&str, Join, u64); 3] = [("max", u64::max, 0), ("min", u64::min, 255), ("union", |a, b| a | b, 0)];
    assert!(lattice.choices().iter().eq(documented.iter().map(|(name, ..)| name)));
    for (number, (name, join, bottom)) in (0..).zip(documented) {
        let spec = spec(row, &[("lattice", number), ("value_bits", 8)]);
        for (a, b) in (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))) {
            let expected = Some(join(a, b)).filter(|joined| *joined != bottom);
            assert_eq!(joined(&spec, &[(1, a), (1, b)])[&1], expected, "{name} of {a} and {b}");
        }
    }
}

#[test]
fn what_is_read_is_the_value_or_above_it() {
    each_kind(that_can(Capabilities::PUT), |row| {
        for (value_bits, spec) in (1..=64).flat_map(|bits| variants(row, bits).into_iter().map(move |one| (bits, one)))
        {
            for keys in [0, 1, 2, 50, 1000] {
                let spec = Spec { capacity: keys.max(1), ..spec };
                let all = given(value_bits, keys);
                let exact = joined(&spec, &all);
                let mut map: Map = create_as(&spec).unwrap();
                for (key, value) in &all {
                    let before = map.get_u64(*key).unwrap();
                    let is_changed = map.put_u64(*key, *value).unwrap();
                    assert_eq!(is_changed, map.get_u64(*key).unwrap() != before);
                    // Putting the same value again changes nothing.
                    assert!(!map.put_u64(*key, *value).unwrap());
                }
                // At a rate of 1 % a few of a thousand keys read too high.
                let same = check_above(&map, &exact);
                assert!(same + 25 >= exact.len(), "{same} of {}", exact.len());
                // The builder and the batch make the same payload.
                let mut builder = MapBuilder::new(&Spec { capacity: 0, ..spec }, BuilderOptions::default()).unwrap();
                let (keys, values): (Vec<u64>, Vec<u64>) = all.iter().rev().copied().unzip();
                builder.put_batch(&Keys::U64(&keys), &values).outcome.unwrap();
                let built = builder.finish().unwrap();
                assert!(built.base().words().shared().len() == map.base().words().shared().len());
                check_above(&built, &exact);
                let mut batch: Map = create_as(&spec).unwrap();
                let mut bytes = vec![7; keys.len()];
                let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                let taken = batch.put_batch(&Keys::U64(&keys), &values, Some(&mut answers));
                assert!(taken.keys == keys.len() && taken.outcome.is_ok());
                assert_eq!(answers.done, keys.len());
                check_above(&batch, &exact);
                assert!(!row.is_canonical || image(&batch) == image(&built), "{spec:?}");
            }
        }
    });
}

/// A map that refuses keys when it is full takes as many keys as its capacity. A refused key changes nothing.
#[test]
fn full_maps_refuse_and_change_nothing() {
    let refusing = that_can(Capabilities::PUT).filter(|row| row.overfill == Overfill::Refuses);
    each_kind(refusing, |row| {
        for spec in variants(row, 8) {
            let mut map: Map = create_as(&Spec { capacity: 200, ..spec }).unwrap();
            (0..200).for_each(|key| assert!(map.put_u64(key, 1).is_ok()));
            let mut refused = 0;
            for key in 200..2000 {
                let before = image(&map);
                if let Err(error) = map.put_u64(key, 1) {
                    assert!(error.status() == Status::Full && error.message().contains(row.name), "{error}");
                    let taken = map.put_batch(&Keys::U64(&[key, 1]), &[1, 1], None);
                    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (0, Status::Full));
                    assert!(image(&map) == before, "key {key} is refused, and changes bytes");
                    refused += 1;
                }
            }
            assert!(refused > 0 && (0..200).all(|key| map.get_u64(key).unwrap().is_some()));
        }
    });
}

/// Keys without a value read as having one at the false-positive rate, which is exactly that of a Bloom filter with a
/// cell for each bit. Keys read above their value as often as the formulas say.
#[test]
fn readings_are_distributed_as_stated() {
    const KEYS: u64 = 1200;
    const MAPS_MADE: u64 = 60;
    each_kind(petal::registry::find_name("approximator"), |row| {
        // The map has few bits, so that many readings are too high. The value of key i is i mod 8, plus 1.
        let value = |i: u64| i % 8 + 1;
        let spec = Spec { capacity: KEYS, false_positive_rate: 0.2, ..spec(row, &[("value_bits", 8)]) };
        let mut values: Vec<u64> = (0..KEYS).map(value).collect();
        values.sort_unstable();
        let mut readings = [[0_u64; 10]; 10];
        let (mut cells, mut hashes) = (0, 0);
        for made in 0..MAPS_MADE {
            let mut map: Map = create_as(&Spec { seed: made, ..spec }).unwrap();
            for i in 0..KEYS {
                map.put_u64(i, value(i)).unwrap();
            }
            for i in 0..2 * KEYS {
                let own = if i < KEYS { value(i) } else { 0 };
                readings[own as usize][map.get_u64(i).unwrap().unwrap_or(0) as usize] += 1;
            }
            (cells, hashes) = (map.base().geometry().bits / 8, map.base().geometry().hashes);
            let rate = map.expected_false_positive_rate(KEYS);
            assert!(rate <= 0.2 && rate == read_above(cells, hashes, KEYS), "{rate}");
            let measure = map.statistics();
            assert!((map.keys_of(&measure).unwrap() - KEYS as f64).abs() < 120.0);
            assert!((measure.false_positive_rate - rate).abs() < 0.05);
        }
        for (own, readings) in readings.iter().enumerate().take(9) {
            let asked: u64 = readings.iter().sum();
            assert_eq!(asked, MAPS_MADE * if own == 0 { KEYS } else { KEYS / 8 });
            let mut above = 0;
            for (read, expected) in read_distribution(cells, hashes, own as u64, &values) {
                above += readings[read as usize];
                let (mean, found) = (expected * asked as f64, readings[read as usize] as f64);
                // Keys of one map share its fill, which varies by some per cent. The band is therefore half as wide
                // again as that of a binomial distribution.
                let band = 4.5 * 1.5 * (mean * (1.0 - expected)).sqrt() + 1.0;
                assert!((found - mean).abs() < band, "{found} of {mean} read {read} for {own}");
            }
            assert_eq!(above, asked, "nothing else is read");
            let sum: u64 = (own..10).map(|read| (read - own) as u64 * readings[read]).sum();
            let (mean, excess) = (sum as f64 / asked as f64, expected_excess(cells, hashes, own as u64, &values));
            assert!((mean - excess).abs() < 0.05 * excess + 0.02, "{mean} for {excess}");
        }
    });
}

#[test]
fn merged_is_what_both_were_given() {
    each_kind(that_can(Capabilities::MERGE), |row| {
        let widths = [1, 7, 8, 21, 33, 64];
        for (value_bits, spec) in
            widths.into_iter().flat_map(|bits| variants(row, bits).into_iter().map(move |s| (bits, s)))
        {
            let spec = Spec { capacity: 1000, ..spec };
            let all = given(value_bits, 1000);
            let exact = joined(&spec, &all);
            let mut both: [Map; 3] = std::array::from_fn(|_| create_as(&spec).unwrap());
            for (i, (key, value)) in all.iter().enumerate() {
                both[i % 2].put_u64(*key, *value).unwrap();
                both[2].put_u64(*key, *value).unwrap();
            }
            let [mut a, b, all] = both;
            a.merge(&b).unwrap();
            assert!(!row.is_canonical || image(&a) == image(&all));
            check_above(&a, &exact);
            let other: Map = create_as(&Spec { capacity: 2000, ..spec }).unwrap();
            assert_eq!(a.merge(&other).unwrap_err().status(), Status::Incompatible);
            a.clear().unwrap();
            assert!(image(&a) == image(&create_as::<Map>(&spec).unwrap()));
        }
    });
}

/// `replace` gives a present key a new value, leaves all others alone, and reports an absent key as absent.
#[test]
fn values_are_replaced() {
    each_kind(that_can(Capabilities::REPLACE), |row| {
        for value_bits in 1..=64_u64 {
            for keys in [0, 1, 2, 300, 2000] {
                let value = |i: u64| mix(!i) >> (64 - value_bits);
                let mut builder = MapBuilder::new(&spec(row, &[("value_bits", value_bits)]), BuilderOptions::default());
                let builder = builder.as_mut().unwrap();
                for i in 0..keys {
                    builder.put_u64(i, value(i)).unwrap();
                }
                let mut map = builder.finish().unwrap();
                for i in (0..keys).step_by(3) {
                    assert!(map.replace(u64::to_le_bytes(i), value(i + keys)).unwrap());
                }
                // The greatest value is taken, and one above it is refused.
                let greatest = u64::MAX >> (64 - value_bits);
                if value_bits < 64 {
                    assert_eq!(
                        map.replace(u64::to_le_bytes(0), greatest + 1).unwrap_err().status(),
                        Status::OutOfRange
                    );
                }
                let some: Vec<u64> = (1..keys).step_by(3).collect();
                let mut bytes = vec![7; some.len()];
                let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                let taken = map.replace_batch(&Keys::U64(&some), &vec![greatest; some.len()], Some(&mut answers));
                assert!(taken.outcome.is_ok() && taken.keys == some.len() && bytes.iter().all(|byte| *byte == 1));
                for i in 0..keys {
                    let now = [value(i + keys), greatest, value(i)][i as usize % 3];
                    assert_eq!(map.get_u64(i).unwrap(), Some(now), "{value_bits} {keys} {i}");
                }
                map.verify().unwrap();
            }
        }
        // An absent key seems to be there at the rate. Replacing its value changes the value of another key, or of
        // none.
        let mut builder = MapBuilder::new(&spec(row, &[("value_bits", 8)]), BuilderOptions::default()).unwrap();
        (0..5000).for_each(|i| builder.put_u64(i, i % 256).unwrap());
        let mut map = builder.finish().unwrap();
        let rate = map.expected_false_positive_rate(5000);
        let found = (5000..105_000).filter(|i| map.copy().is_ok() && map.get_u64(*i).unwrap().is_some()).take(1);
        let found: Vec<u64> = found.collect();
        let replaced = (5000..105_000).filter(|i| map.replace(u64::to_le_bytes(*i), 1).unwrap()).count() as f64;
        assert!(!found.is_empty() && (replaced - 1e5 * rate).abs() < 4.5 * (1e5 * rate).sqrt(), "{replaced} {rate}");
        let mut too_great = [0; 3];
        too_great[1] = 256;
        let taken = map.replace_batch(&Keys::U64(&[1, 2, 3]), &too_great, None);
        assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (1, Status::OutOfRange));
        let taken = map.replace_batch(&Keys::U64(&[1, 2, 3]), &[1, 2], None);
        assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (0, Status::BufferTooSmall));
    });
}

/// A kind refuses what it cannot do, with a message that says so.
#[test]
fn what_a_kind_cannot_do_is_refused() {
    each_kind(MAPS, |row| {
        let mut map = match row.is_made_empty() {
            true => create_as::<Map>(&spec(row, &[])).unwrap(),
            false => {
                assert_eq!(create_as::<Map>(&spec(row, &[])).unwrap_err().status(), Status::Unsupported);
                MapBuilder::new(&spec(row, &[]), BuilderOptions::default()).unwrap().finish().unwrap()
            }
        };
        let other = map.copy().unwrap();
        for (capability, outcome) in [
            (Capabilities::PUT, map.put_u64(1, 0).map(|_| ())),
            (Capabilities::PUT, map.put_batch(&Keys::U64(&[1]), &[0], None).outcome),
            (Capabilities::REPLACE, map.replace(u64::to_le_bytes(1), 0).map(|_| ())),
            (Capabilities::REPLACE, map.replace_batch(&Keys::U64(&[1]), &[0], None).outcome),
            (Capabilities::MERGE, map.merge(&other)),
            (Capabilities::CLEAR, map.clear()),
        ] {
            match (row.capabilities.contains(capability), outcome) {
                (true, outcome) => outcome.unwrap(),
                (false, outcome) => {
                    let error = outcome.unwrap_err();
                    assert!(error.status() == Status::Unsupported && error.message().contains(row.name), "{error}");
                }
            }
        }
        assert_eq!(map.capabilities(), row.capabilities);
    });
}

/// A map in a file is changed in the file. The changed regions get new checksums, readers see the new values, and
/// nothing else in the file changes.
#[test]
fn images_are_changed_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.petal");
    let able = that_can(Capabilities::PUT).chain(that_can(Capabilities::REPLACE)).filter(|row| !row.form.moves_entries);
    each_kind(able, |row| {
        let spec = hashed(&spec(row, &[("value_bits", 64)]), HashFunction::Xxh3, 3);
        let mut builder = MapBuilder::new(&spec, BuilderOptions::default()).unwrap();
        (0..60_000).for_each(|i| builder.put_u64(i, i + 1).unwrap());
        builder.save(&path).unwrap();
        let before = std::fs::read(&path).unwrap();
        let puts = row.capabilities.contains(Capabilities::PUT);
        let give = |map: &mut Map, i, value| {
            if puts { map.put_u64(i, value) } else { map.replace(u64::to_le_bytes(i), value) }
        };
        let reader: Map = open_as(&path, &OpenOptions::default()).unwrap();
        let mut writer: Map = open_as(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() }).unwrap();
        assert!(give(&mut writer, 7, 1 << 40).unwrap());
        assert_eq!(reader.get_u64(7).unwrap(), Some(1 << 40));
        assert_eq!(reader.verify().unwrap_err().status(), Status::Unclean);
        writer.sync().unwrap();
        reader.verify().unwrap();
        let keys: Vec<u64> = (100..200).collect();
        let values = vec![1 << 40; 100];
        let taken = match puts {
            true => writer.put_batch(&Keys::U64(&keys), &values, None),
            false => writer.replace_batch(&Keys::U64(&keys), &values, None),
        };
        assert!(taken.keys == 100 && taken.outcome.is_ok());
        drop(writer);
        reader.verify().unwrap();
        for i in 0..60_000 {
            let changed = i == 7 || (100..200).contains(&i);
            let read = reader.get_u64(i).unwrap().unwrap();
            assert!(read >= if changed { 1 << 40 } else { i + 1 }, "{i}");
            assert!(puts || read == if changed { 1 << 40 } else { i + 1 }, "{i}");
        }
        // A handle for reading refuses changes, and no handle changes a damaged region.
        let mut reader = reader;
        assert_eq!(give(&mut reader, 1, 1).unwrap_err().status(), Status::UnsupportedByHandle);
        let mut damaged = before.clone();
        let payload = 256..256 + reader.base().geometry().payload_bytes as usize;
        (payload.start + 5..payload.end).step_by(REGION_BYTES).for_each(|at| damaged[at] ^= 1);
        damaged[payload.end - 8 - REGION_BYTES / 2] ^= 1;
        let kept = damaged.clone();
        Buffer::of(&damaged).open_as(Mode::Write, None, |map: petal::Result<&mut Map>| {
            let map = map.unwrap();
            assert_eq!(give(map, 9, 1 << 41).unwrap_err().status(), Status::Corrupt);
            assert_ne!(map.get_u64(9).unwrap(), Some(1 << 41));
        });
        assert!(kept == damaged);
    });
}
