//! The kind `exact_bits` against an exact set: no false positives, and integers past the universe are refused.

use crate::common::{Buffer, image, mix};
use crate::conformance::fails;
use petal::format::REGION_BYTES;
use petal::kinds::exact_bits::ROW;
use petal::plan::{Goal, Request, plan};
use petal::{
    Answers, Builder, BuilderOptions, Capabilities, CompactOptions, Filter, HashFunction, Image, Keys, Mode,
    OpenOptions, Spec, Status, load_compact,
};
use std::collections::BTreeSet;

/// Around the ends of words, lines and pieces.
const UNIVERSES: [u64; 9] = [1, 2, 63, 64, 65, 511, 512, 513, 70_001];

fn spec(universe: u64) -> Spec {
    Spec { kind: Some(ROW.kind), bits: universe, ..Spec::default() }
}

fn filled(universe: u64, keys: impl IntoIterator<Item = u64>) -> Filter {
    let mut filter = Filter::new(&spec(universe)).unwrap();
    keys.into_iter().for_each(|key| assert!(filter.insert_u64(key).is_ok()));
    filter
}

/// The filter holds these and nothing else, and says so in every way.
#[track_caller]
fn is(filter: &Filter, set: &BTreeSet<u64>, universe: u64) {
    let asked: Vec<u64> = (0..universe + 100).chain([u64::MAX, 1 << 63, 1 << 32, universe << 6]).collect();
    let (mut found, mut counts) = (vec![2; asked.len()], vec![2; asked.len()]);
    let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
    filter.contains_batch(&Keys::U64(&asked), &mut answers).unwrap();
    let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
    filter.count_batch(&Keys::Hashes(&asked), &mut answers).unwrap();
    for ((key, found), count) in asked.iter().zip(found).zip(counts) {
        let is_there = set.contains(key);
        assert_eq!(filter.contains_u64(*key), is_there, "key {key}");
        assert!(filter.contains(&key.to_le_bytes()) == is_there && filter.contains_hash(*key) == is_there);
        assert_eq!((found, count), (is_there.into(), is_there.into()));
        assert_eq!(filter.count_u64(*key).unwrap(), is_there.into());
    }
    let measure = filter.statistics();
    assert_eq!((measure.taken, measure.false_positive_rate), (set.len() as u64, 0.0));
    let estimate = petal::estimate(filter).unwrap().unwrap();
    assert_eq!((estimate.value, estimate.standard_error), (set.len() as f64, 0.0));
    filter.verify().unwrap();
}

#[test]
fn it_is_a_set_of_integers() {
    for universe in UNIVERSES {
        let (mut filter, mut set) = (Filter::new(&spec(universe)).unwrap(), BTreeSet::new());
        assert_eq!(filter.capabilities(), ROW.capabilities);
        is(&filter, &set, universe);
        for step in 0..3 * universe.min(1000) {
            let key = mix(step) % universe;
            if !mix(!step).is_multiple_of(3) {
                assert_eq!(filter.insert_u64(key).unwrap(), set.insert(key));
            } else {
                assert_eq!(filter.remove_u64(key).unwrap(), set.remove(&key));
            }
        }
        is(&filter, &set, universe);
        assert!(filter.equals(&filled(universe, set.iter().copied())));
        for key in [universe, universe + 1, u64::MAX] {
            assert!(!filter.remove_u64(key).unwrap(), "what cannot be there is not removed");
        }
        filter.clear().unwrap();
        is(&filter, &BTreeSet::new(), universe);
    }
}

/// Integers past the universe are refused wherever they are inserted, and change nothing; batches take the keys before
/// them.
#[test]
fn integers_past_the_universe_are_refused() {
    for universe in UNIVERSES {
        let mut filter = filled(universe, [0, universe - 1]);
        let before = image(&filter);
        for key in [universe, universe + 1, u64::MAX, 1 << 63] {
            fails(filter.insert_u64(key), Status::OutOfRange);
            fails(filter.insert_hash(key), Status::OutOfRange);
            fails(filter.insert(&key.to_le_bytes()), Status::OutOfRange);
            fails(filter.insert_shared_u64(key), Status::OutOfRange);
        }
        assert!(filter.insert_u64(universe).unwrap_err().message().contains(&format!("{universe}")));
        for key in [&b""[..], b"7", b"1234567", b"123456789"] {
            fails(filter.insert(key), Status::OutOfRange);
            fails(filter.remove(key), Status::OutOfRange);
            fails(filter.count(key), Status::OutOfRange);
            fails(filter.contains_checked(key), Status::OutOfRange);
            fails(filter.insert_shared(key), Status::OutOfRange);
            assert!(filter.contains(key), "of what is no integer nothing is known");
        }
        let strings = Keys::Bytes { bytes: b"12345678+", offsets: &[0, 8, 9] };
        let strings32 = Keys::Bytes32 { bytes: b"12345678+", offsets: &[0, 8, 9] };
        for strings in [strings, strings32] {
            fails(filter.insert_batch(&strings, None).outcome, Status::OutOfRange);
            let mut answers = Answers::default();
            fails(filter.contains_batch(&strings, &mut answers), Status::OutOfRange);
            assert_eq!(answers.true_count, 2);
        }
        assert_eq!(image(&filter), before);
        let keys = [universe / 2, 0, universe, 0];
        let mut shared = filled(universe, []);
        for outcome in
            [shared.insert_shared_batch(&Keys::U64(&keys), None), shared.insert_batch(&Keys::U64(&keys), None)]
        {
            assert_eq!((outcome.keys, outcome.outcome.unwrap_err().status()), (2, Status::OutOfRange));
        }
        is(&shared, &BTreeSet::from([0, universe / 2]), universe);
        let mut builder = Builder::new(&spec(universe), BuilderOptions::default()).unwrap();
        builder.add_u64(universe).unwrap();
        fails(builder.finish(), Status::OutOfRange);
    }
}

#[test]
fn unions_and_intersections_are_exact() {
    for universe in UNIVERSES {
        let multiples = |of: u64| (0..universe).filter(move |key| key % of == 0);
        let (twos, threes) = (filled(universe, multiples(2)), filled(universe, multiples(3)));
        let sets = [2, 3].map(|of| multiples(of).collect::<BTreeSet<u64>>());
        let compared = petal::estimate_overlap(&twos, &threes).unwrap();
        let union: BTreeSet<u64> = &sets[0] | &sets[1];
        let both: BTreeSet<u64> = &sets[0] & &sets[1];
        assert_eq!(compared.union.unwrap().value, union.len() as f64);
        assert_eq!(compared.intersection.unwrap().value, both.len() as f64);
        let mut merged = twos.copy().unwrap();
        merged.merge(&threes).unwrap();
        is(&merged, &union, universe);
        let mut common = twos.copy().unwrap();
        common.intersect(&threes).unwrap();
        is(&common, &both, universe);
        fails(common.merge(&filled(universe + 1, [])), Status::Incompatible);
        let tagged = Filter::new(&Spec { seed: 7, ..spec(universe) }).unwrap();
        fails(common.merge(&tagged), Status::Incompatible);
    }
}

/// However it is filled (by threads, in place, shared, by a builder) and wherever it lies, it is the same filter.
#[test]
fn every_way_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exact.petal");
    for universe in UNIVERSES {
        let keys: Vec<u64> = (0..universe).filter(|key| mix(*key).is_multiple_of(3)).collect();
        let set: BTreeSet<u64> = keys.iter().copied().collect();
        let expected = filled(universe, keys.iter().copied());
        let mut builder = Builder::new(&spec(universe), BuilderOptions::default()).unwrap();
        builder.add_batch(&Keys::U64(&keys)).outcome.unwrap();
        builder.add_batch(&Keys::Hashes(&keys)).outcome.unwrap();
        assert!(builder.finish().unwrap().equals(&expected), "a key is there or not, however often it came");

        let shared = Filter::new(&spec(universe)).unwrap();
        std::thread::scope(|scope| {
            for part in keys.chunks(keys.len().div_ceil(4).max(1)) {
                scope.spawn(|| shared.insert_shared_batch(&Keys::U64(part), None).outcome.unwrap());
            }
        });
        assert!(shared.equals(&expected));

        let empty = image(&Filter::new(&spec(universe)).unwrap());
        let mut buffer = Buffer::of(&empty);
        buffer.open(Mode::Write, None, |filter| {
            let filter = filter.unwrap();
            fails(filter.insert_u64(universe), Status::OutOfRange);
            filter.insert_batch(&Keys::U64(&keys), None).outcome.unwrap();
            (0..universe).filter(|key| !set.contains(key)).for_each(|key| {
                assert!(filter.insert_u64(key).unwrap() && filter.remove_u64(key).unwrap());
            });
        });
        assert_eq!(buffer.bytes(), image(&expected));
        std::fs::write(&path, &empty).unwrap();
        let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
        let opened = petal::open(&path, &share).unwrap();
        fails(opened.insert_shared_u64(universe), Status::OutOfRange);
        keys.iter().for_each(|key| assert!(opened.insert_shared_u64(*key).unwrap()));
        drop(opened);
        let loaded = petal::open(&path, &OpenOptions::default()).unwrap();
        is(&loaded, &set, universe);
        assert!(loaded.equals(&expected));

        let mut form = vec![0; expected.compact_size().unwrap()];
        expected.serialize_compact(&mut form).unwrap();
        is(&load_compact(&form, &CompactOptions::default()).unwrap(), &set, universe);
        for key in (0..universe + 70).chain([u64::MAX]) {
            let found = petal::compact_contains_hash(petal::storage::AnyBytes::of(&form), key).unwrap();
            assert_eq!(found, set.contains(&key));
        }
    }
}

/// In place, what an insertion marks is what it changes, at both ends of each region; the first integer past the
/// universe, whose region is not there, is refused.
#[test]
fn the_regions_that_change_are_marked() {
    const REGION_BITS: u64 = 8 * REGION_BYTES as u64;
    let universe = 4 * REGION_BITS;
    let mut buffer = Buffer::of(&image(&filled(universe, [])));
    let mut set = BTreeSet::new();
    for key in (0..universe).step_by(REGION_BITS as usize).flat_map(|first| [first, first + REGION_BITS - 1]) {
        buffer.open(Mode::Write, None, |filter| {
            let filter = filter.unwrap();
            fails(filter.insert_u64(universe), Status::OutOfRange);
            assert!(filter.insert_u64(key).unwrap());
        });
        set.insert(key);
        assert_eq!(buffer.bytes(), image(&filled(universe, set.iter().copied())), "after key {key}");
    }
}

/// Bits after the last one are no integers, whoever set them, and however the filter is asked.
#[test]
fn bits_after_the_last_are_not_there() {
    for universe in UNIVERSES {
        let filter = filled(universe, [0]);
        let mut form = vec![0; filter.compact_size().unwrap()];
        filter.serialize_compact(&mut form).unwrap();
        let payload = filter.base().geometry().payload_bytes;
        for bit in universe..8 * payload {
            form[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        let trusting = CompactOptions { verify: false, ..CompactOptions::default() };
        let loaded = load_compact(&form, &trusting).ok();
        for key in (universe..8 * payload + 70).chain([u64::MAX]) {
            let found = petal::compact_contains_hash(petal::storage::AnyBytes::of(&form), key).unwrap();
            assert!(!found && loaded.as_ref().is_none_or(|filter| !filter.contains_u64(key)), "{key} of {universe}");
        }
        if let Some(loaded) = loaded {
            assert_eq!(loaded.statistics().taken, 1);
        }
    }
}

#[test]
fn specs_say_what_it_can_be() {
    // Without bits the universe is that of the capacity.
    let by_capacity = Filter::new(&Spec { kind: Some(ROW.kind), capacity: 1000, ..Spec::default() }).unwrap();
    assert_eq!(by_capacity.base().geometry().bits, 1000);
    assert_eq!(by_capacity.base().hasher().function(), HashFunction::Identity);
    let own = by_capacity.base().spec();
    assert_eq!(Filter::new(&own).unwrap().base().compatibility_id(), by_capacity.base().compatibility_id());
    for hash in [HashFunction::Xxh64, HashFunction::External, HashFunction::Format, HashFunction::Xxph3] {
        fails(Filter::new(&Spec { hash, ..spec(10) }), Status::Contradiction);
    }
    fails(Filter::new(&Spec { hash: HashFunction::Identity, ..Spec::default() }), Status::Contradiction);
    fails(Filter::new(&Spec { hashes: 2, ..spec(10) }), Status::OutOfRange);
    fails(Filter::new(&spec(1 << 62)), Status::OutOfMemory);
}

/// The planner proposes the kind where the universe is known, and first where its bits are fewest.
#[test]
fn the_planner_proposes_it_where_it_wins() {
    let request = |keys, universe| Request {
        keys,
        goal: Goal::FalsePositiveRate(0.01),
        capabilities: Capabilities::NONE,
        is_static: true,
        universe,
        frequent: 0.0,
        non_members: 0,
        times: 0,
    };
    // 9.6 bits per key are the most that any kind needs for 1 %.
    for (keys, universe, wins) in [(1000, 5000, true), (1000, 100_000, false)] {
        let proposals = plan(&request(keys, universe)).unwrap();
        assert_eq!(proposals[0].kind == ROW.kind, wins, "{keys} of {universe}");
        let own = proposals.iter().find(|proposal| proposal.kind == ROW.kind).unwrap();
        let fit = own.outcome.as_ref().unwrap();
        assert_eq!(fit.bytes, petal::image_size(&spec(universe)).unwrap());
        assert_eq!((fit.false_positive_rate, fit.bits_per_key), (0.0, universe as f64 / keys as f64));
    }
    let unknown = plan(&request(1000, 0)).unwrap();
    let own = unknown.iter().find(|proposal| proposal.kind == ROW.kind).unwrap();
    assert!(own.outcome.as_ref().unwrap_err().message().contains("universe"));
    fails(plan(&request(11, 10)), Status::OutOfRange);
    let small = Request { goal: Goal::Memory(1000), ..request(10, 1_000_000) };
    let own = plan(&small).unwrap().into_iter().find(|proposal| proposal.kind == ROW.kind).unwrap();
    assert_eq!(own.outcome.unwrap_err().status(), Status::TooLarge);
}
