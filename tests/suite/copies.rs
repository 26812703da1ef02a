//! Keys that come several times, in kinds whose copies of a key take room: the parameter `times` of a spec.

use crate::common::{hash_of, is_wanted};
use petal::plan::{self, Goal, Request};
use petal::{Builder, BuilderOptions, Capabilities, Filter, Image, Row, Spec, Status, registry};

/// The kinds with the parameter, and the most times that each takes with its defaults.
fn rows() -> impl Iterator<Item = (&'static Row, u64)> {
    let rows = registry::FILTERS.iter().filter(|row| row.parameter("times").is_some() && is_wanted(row));
    rows.map(|row| {
        let geometry = petal::geometry(&Spec { kind: Some(row.kind), capacity: 1000, ..Spec::default() }).unwrap();
        (row, row.room.copies.map_or(1 << 32, |copies| (copies(&geometry) - 1) / 2))
    })
}

fn spec(row: &Row, keys: u64, times: u64) -> Spec {
    let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(keys, 0.01).unwrap() };
    spec.set(row.parameter("times").unwrap(), times as f64).unwrap();
    spec
}

/// Every kind in which a copy takes room can be given that room, and no other kind needs it.
#[test]
fn kinds_whose_copies_take_room_have_the_parameter() {
    for row in registry::FILTERS.iter().filter(|row| is_wanted(row)) {
        let takes_room = row.room.copies.is_some() || row.room.places.is_some();
        assert_eq!(row.parameter("times").is_some(), takes_room, "{}", row.name);
    }
}

/// Consecutive ids and mixed numbers, around the sizes of blocks, each key as often as the spec says, in rounds.
#[test]
fn every_key_may_come_so_often() {
    for (row, most) in rows() {
        for keys in [1, 63, 64, 65, 128, 511, 512, 513, 1024, 20_000] {
            for times in [1, 2, 3, 4, 5, 8, most].into_iter().filter(|times| *times <= most.min(48)) {
                let spec = spec(row, keys, times);
                let mut filter: Filter = Filter::new(&spec).unwrap();
                for round in 0..times {
                    for i in 0..keys {
                        filter.insert_hash(hash_of(&spec, i)).unwrap_or_else(|error| {
                            panic!("{}, {keys} keys {times} times, key {i} in round {round}: {error}", row.name)
                        });
                    }
                }
                for i in 0..keys {
                    assert!(filter.count_hash(hash_of(&spec, i)).unwrap() >= times, "{}, key {i}", row.name);
                }
                let rate = filter.expected_false_positive_rate(keys);
                assert!(rate <= 0.01, "{}, {keys} keys {times} times: {rate}", row.name);
            }
        }
    }
}

/// Without the parameter such a filter refuses keys, so that the test above proves something.
#[test]
fn without_it_there_is_less_room() {
    for (row, _) in rows() {
        let spec = spec(row, 20_000, 1);
        let mut filter: Filter = Filter::new(&spec).unwrap();
        let mut refused = 0;
        // A cell of `d_left` counts to three.
        for i in (0..4).flat_map(|_| 0..20_000) {
            refused += u64::from(filter.insert_hash(hash_of(&spec, i)).is_err());
        }
        assert!(refused > 1000, "{}: {refused}", row.name);
    }
}

/// The size is that of the plan for as many copies, and a filter reports the capacity that it has room for.
#[test]
fn the_size_is_that_of_the_plan() {
    for (row, most) in rows() {
        for times in [2, 3, 7].into_iter().filter(|times| *times <= most) {
            let request = Request {
                keys: 10_000,
                goal: Goal::FalsePositiveRate(0.01),
                capabilities: Capabilities::COUNT,
                is_static: false,
                universe: 0,
                frequent: 0.0,
                non_members: 0,
                times,
            };
            let proposals = plan::plan(&request).unwrap();
            let planned = proposals.iter().find(|one| one.kind == row.kind).unwrap().outcome.as_ref().unwrap();
            let with = spec(row, 10_000, times);
            let mut asked = with;
            if let Some(setting) = planned.setting {
                let parameter = row.parameters.iter().find(|parameter| parameter.id() == setting.id).unwrap();
                asked.set(parameter, setting.value).unwrap();
            }
            assert_eq!(petal::image_size(&asked).unwrap(), planned.bytes, "{} {times} times", row.name);
            let filter: Filter = Filter::new(&with).unwrap();
            let capacity = filter.base().header().capacity;
            assert!(capacity > 10_000 && capacity <= 10_000 * (3 * times - 2), "{}: {capacity}", row.name);
            // The spec that the filter reports makes one of its size, which can be merged with it.
            let again: Filter = Filter::new(&filter.base().spec()).unwrap();
            assert_eq!(again.base().geometry(), filter.base().geometry(), "{}", row.name);
            assert_eq!(again.base().compatibility_id(), filter.base().compatibility_id(), "{}", row.name);
        }
    }
}

/// A builder without a capacity makes room for the copies that came, whatever the spec says about copies; with a
/// capacity it has room for as many as the spec says.
#[test]
fn builders_make_room_once() {
    for (row, _) in rows() {
        let build = |spec: &Spec| {
            let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
            for i in (0..3).flat_map(|_| 0..5000) {
                builder.add_hash(hash_of(spec, i)).unwrap();
            }
            builder.finish().unwrap()
        };
        let plain = Spec { kind: Some(row.kind), ..Spec::default() };
        let mut often = plain;
        often.set(row.parameter("times").unwrap(), 3.0).unwrap();
        assert_eq!(build(&often).base().geometry(), build(&plain).base().geometry(), "{}", row.name);
        let given = Spec { capacity: 5000, ..often };
        let created: Filter = Filter::new(&given).unwrap();
        assert_eq!(build(&given).base().geometry(), created.base().geometry(), "{}", row.name);
    }
}

/// A wrong number of times, or more than the kind counts, is refused, and the message says what is allowed.
#[test]
fn wrong_numbers_are_refused() {
    for (row, most) in rows() {
        for times in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY, (most + 1) as f64, 1e18] {
            let mut spec = spec(row, 1000, 1);
            spec.set(row.parameter("times").unwrap(), times).unwrap();
            let error = Filter::new(&spec).err().unwrap_or_else(|| panic!("{}: times = {times}", row.name));
            assert!([Status::OutOfRange, Status::Contradiction].contains(&error.status()), "{}: {error}", row.name);
            assert!(error.message().contains("times = "), "{}: {error}", row.name);
        }
        Filter::new(&spec(row, 1, most)).unwrap();
        // Too many for any number of places.
        if row.room.copies.is_none() {
            let error = Filter::new(&spec(row, u64::MAX / 2, most)).err().unwrap();
            assert!([Status::TooLarge, Status::OutOfRange].contains(&error.status()), "{}: {error}", row.name);
        }
    }
    // Other kinds do not have it.
    for row in registry::FILTERS.iter().filter(|row| row.parameter("times").is_none()) {
        let spec = Spec { kind: Some(row.kind), ..Spec::default() };
        assert_eq!(petal::parameter_of(&spec, "times").err().unwrap().status(), Status::UnknownValue);
    }
}

/// At most one of a hundred filters refuses a copy, over seeds: a few keys may have the same buckets, and more copies
/// than these hold.
#[test]
#[ignore = "slow: make test-all"]
fn a_copy_is_seldom_refused() {
    const FILTERS: u64 = 1000;
    for (row, most) in rows() {
        for (keys, times) in [(16, 2), (16, 3), (64, 2), (64, 3), (64, most), (512, 3), (512, most)] {
            if times > most.min(48) {
                continue;
            }
            let mut refused = 0;
            for seed in 0..FILTERS {
                let spec = Spec { seed, ..spec(row, keys, times) };
                let mut filter: Filter = Filter::new(&spec).unwrap();
                let mut insert = |i| filter.insert_hash(hash_of(&spec, i)).is_err();
                refused += u64::from((0..times).flat_map(|_| 0..keys).any(&mut insert));
            }
            // One of a hundred, and 4.5 sigma.
            assert!(refused <= 10 + 14, "{}, {keys} keys {times} times: {refused} of {FILTERS}", row.name);
        }
    }
}
