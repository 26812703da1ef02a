//! Hash compaction, and the omissions of all kinds: what the literature says of them, and what random graphs do.

use crate::common::mix;
use crate::conformance::fails;
use petal::kinds::hash_compaction::sizing::{SIGNATURE_BITS, Table, size_for};
use petal::kinds::{bloom, hash_compaction};
use petal::sizing::bloom::asymptotic;
use petal::sizing::omissions::{best_hashes, sum_of_rates};
use petal::{Filter, HashFunction, Image, Spec, Status, create, expected_omissions, geometry};

/// A table of so many slots of so many bits.
fn table(slots: u64, signature_bits: u32) -> Spec {
    let mut spec = Spec { kind: Some(hash_compaction::ROW.kind), hash: HashFunction::External, ..Spec::default() };
    spec.bits = slots * u64::from(signature_bits);
    spec.set(&hash_compaction::SIGNATURE_BITS, signature_bits.into()).unwrap();
    spec
}

fn bitstate(bits: u64, hashes: u32) -> Spec {
    Spec { kind: Some(bloom::ROW.kind), hash: HashFunction::External, bits, hashes, ..Spec::default() }
}

// ---- The mathematics ---------------------------------------------------------------------------------------------

/// The estimate of Wolper, Leroy, Stern and Dill at the size for which it was simulated, and the exact sum that it
/// stands for.
#[test]
fn omissions_are_those_of_the_literature() {
    // 2^-12 (20000 ln 10 - 18000).
    let table = Table::with_probability(20_000.0, 1.0 / 4096.0);
    assert!((table.omissions_of_taken(18_000.0) - 6.85).abs() < 0.005, "{}", table.omissions_of_taken(18_000.0));
    assert!((table.omissions(18_000.0) - 6.85).abs() < 0.03, "{}", table.omissions(18_000.0));
    for (slots, width, keys) in [(1009, 8, 900), (1009, 2, 400), (101, 20, 101), (20_011, 12, 18_000), (7, 3, 6)] {
        let table = Table::new(slots, width);
        // Keys that fill m slots, each the 1 / (1 - rate)-th of those that come.
        let sum: f64 = (0..keys).map(|taken| 1.0 / (1.0 - table.rate_of_taken(taken as f64)) - 1.0).sum();
        let closed = table.omissions_of_taken(keys as f64);
        assert!((closed / sum - 1.0).abs() < 0.03, "{slots} slots of {width} bits, {keys} keys: {closed}, {sum}");
        let offered = keys as f64 + closed;
        if slots <= 256 {
            // Of a few slots each state is followed: on average nearly as many are taken after nearly as many keys.
            assert!((table.taken(offered) / keys as f64 - 1.0).abs() < 0.1, "{}", table.taken(offered));
            continue;
        }
        assert!((table.taken(offered) - keys as f64).abs() < 1e-5 * keys as f64);
        assert!((table.omissions(offered) - closed).abs() < 1e-5 * closed.max(1.0));
    }
    // A full table loses whatever else comes.
    assert!((Table::new(101, 40).omissions(1101.0) - 1000.0).abs() < 1e-6);
    assert_eq!((Table::new(101, 40).omissions(0.0), Table::new(101, 40).false_positive_rate(0)), (0.0, 0.0));
    assert!(Table::new(101, 2).false_positive_rate(u64::MAX) > 0.999_999);
}

/// The average omission probability of a bitstate search, by hashes and bits a state.
#[test]
fn bitstate_omissions_are_those_of_the_table() {
    const KEYS: u64 = 100_000;
    let expected = [
        (2, [(4, 0.0582), (8, 0.0173), (10, 0.0115), (16, 0.00475), (32, 0.00124), (100, 1.31e-4)]),
        (3, [(4, 0.0456), (8, 0.00854), (10, 0.00476), (16, 0.00132), (32, 1.84e-4), (100, 6.5e-6)]),
    ];
    for (hashes, row) in expected {
        for (ratio, probability) in row {
            let spec = bitstate(ratio * KEYS, hashes);
            let average = expected_omissions(&spec, KEYS).unwrap() / KEYS as f64;
            assert!((average / probability - 1.0).abs() < 0.008, "k = {hashes}, {ratio} bits a state: {average}");
            assert_eq!(create(&spec).unwrap().expected_omissions(KEYS).unwrap() / KEYS as f64, average);
        }
    }
}

#[test]
fn blocks_of_rates_add_up_to_the_sum() {
    for keys in [0, 1, 2, 1023, 1024, 1025, 5000, 123_457] {
        for (hashes, bits) in [(2, 10 * keys), (3, 16 * keys), (24, 32 * keys), (4, 3 * keys)] {
            let rate = |i: u64| asymptotic(bits, hashes, i);
            let (sum, exact) = (sum_of_rates(keys, rate), (0..keys).map(rate).sum::<f64>());
            assert!((sum - exact).abs() <= 1e-4 * exact, "{keys} keys, {hashes} hashes: {sum}, {exact}");
        }
    }
}

/// Ten million states in as many bits: where hash compaction wins, and where a Bloom filter does. The table of
/// `docs/comparing.md`.
#[test]
fn hash_compaction_wins_from_twenty_bits_a_state_on() {
    const KEYS: u64 = 10_000_000;
    let rows: [(f64, f64, f64, u32, f64); 7] = [
        (10.0, 9.5, 29_700.0, 8, 12_900.0),
        (16.0, 15.5, 556.0, 12, 496.0),
        (20.0, 19.5, 37.5, 15, 59.9),
        (24.0, 23.5, 2.49, 18, 7.5),
        (32.0, 31.5, 0.0106, 24, 0.124),
        (40.0, 39.5, 4.4e-5, 29, 0.0022),
        (64.0, 63.5, 3.0e-12, 46, 1.4e-8),
    ];
    for (bits, width, compacted, hashes, in_bloom) in rows {
        let slots = KEYS as f64 * bits / width;
        let omissions = Table::with_probability(slots, (-width).exp2()).omissions(KEYS as f64);
        assert!((omissions / compacted - 1.0).abs() < 0.03, "{bits} bits a state: {omissions}, {compacted}");
        let memory = bits as u64 * KEYS;
        let expected = |hashes| sum_of_rates(KEYS, |i| asymptotic(memory, hashes, i));
        assert!((expected(hashes) / in_bloom - 1.0).abs() < 0.03, "{bits} bits a state: {}", expected(hashes));
        let best = best_hashes(memory, KEYS, 64);
        assert!(best.abs_diff(hashes) <= 1 && expected(best) <= expected(hashes), "{bits} bits a state: {best} hashes");
        assert_eq!(omissions < in_bloom, bits >= 20.0);
    }
    // What a wrong guess costs, at 20 bits a state.
    let in_table = |keys: f64| Table::with_probability(KEYS as f64 * 20.0 / 19.5, (-19.5_f64).exp2()).omissions(keys);
    let in_bloom = |keys: u64| sum_of_rates(keys, |i| asymptotic(20 * KEYS, 15, i));
    for (times, compacted, bloomed) in
        [(0.5, 2.5, 0.0099), (1.0, 37.5, 59.9), (1.05, 2.4e5, 104.0), (1.5, 4.7e6, 4320.0), (2.0, 9.7e6, 55_700.0)]
    {
        let keys = times * KEYS as f64;
        assert!((in_table(keys) / compacted - 1.0).abs() < 0.05, "{times} times the states: {}", in_table(keys));
        let bloom = in_bloom(keys as u64);
        assert!((bloom / bloomed - 1.0).abs() < 0.05, "{times} times the states: {bloom}");
    }
}

#[test]
fn sizes_keep_the_rate_and_are_the_least() {
    for (keys, rate) in [(1, 0.5), (10, 0.1), (1000, 0.01), (123_456, 1e-3), (1_000_000, 1e-9), (1 << 40, 1e-4)] {
        let (slots, width) = size_for(keys, rate, 0).unwrap();
        assert!(hash_compaction::primes::is_prime(slots) && slots > keys);
        assert!(Table::new(slots, width).false_positive_rate(keys) <= rate);
        for other in SIGNATURE_BITS.0..=SIGNATURE_BITS.1 {
            if let Some((slots_of_other, _)) = size_for(keys, rate, other) {
                assert!(slots_of_other * u64::from(other) >= slots * u64::from(width));
                let Some(smaller) = hash_compaction::primes::at_most(slots_of_other - 1) else { continue };
                let holds = Table::new(smaller, other).rate_of_taken(keys as f64) <= rate && smaller > keys;
                assert!(!holds || keys > 1 << 30, "{smaller} slots of {other} bits would do for {keys} at {rate}");
            }
        }
    }
    assert_eq!(size_for(10, 0.0, 0).or(size_for(10, f64::NAN, 0)).or(size_for(u64::MAX, 0.5, 0)), None);
    assert_eq!(size_for(1 << 40, 1e-12, 0), None, "64-bit hashes have no such rate");
}

// ---- The table ---------------------------------------------------------------------------------------------------

#[test]
fn specs_say_what_it_can_be() {
    for (slots, width) in [(11, 2), (97, 63), (1000, 13), (1009, 32)] {
        let filter = create(&table(slots, width)).unwrap();
        let geometry = *filter.base().geometry();
        assert_eq!(geometry.words[..2], [u64::from(width), hash_compaction::primes::at_most(slots).unwrap()]);
        assert_eq!(geometry.bits, slots * u64::from(width));
        let again = create(&filter.base().spec()).unwrap();
        assert_eq!(again.base().compatibility_id(), filter.base().compatibility_id());
    }
    let exact = Spec { kind: Some(hash_compaction::ROW.kind), bits: 10_000, ..Spec::default() };
    fails(create(&exact), Status::Contradiction);
    // Ten bits a key: nine of them are a signature's.
    let by_capacity = geometry(&Spec { capacity: 1000, ..exact }).unwrap();
    assert_eq!(by_capacity.words[..2], [9, hash_compaction::primes::at_most(1111).unwrap()]);
    fails(create(&Spec { hashes: 3, capacity: 1000, ..exact }), Status::OutOfRange);
    fails(create(&Spec { bits: 10, ..table(1, 13) }), Status::Contradiction);
    let mut one = table(100, 13);
    one.set(&hash_compaction::SIGNATURE_BITS, 1.0).unwrap();
    fails(create(&one), Status::OutOfRange);
}

/// Every slot can be taken, by hashes however alike, and then no more come: what is there stays, and nothing changes.
#[test]
fn it_takes_as_many_keys_as_it_has_slots() {
    for slots in [2, 3, 5, 97, 499] {
        for (name, hash) in [
            ("mixed", mix as fn(u64) -> u64),
            ("equal low bits", |i| i << 40 | 7),
            ("equal high bits", |i| 0xabc << 52 | i),
        ] {
            let mut filter = create(&table(slots, 40)).unwrap();
            for i in 0..slots {
                assert!(filter.insert_hash(hash(i)).unwrap(), "{slots} slots, {name}: key {i} seems to be there");
            }
            assert_eq!(filter.measure().taken, slots);
            let before = crate::common::image(&filter);
            for i in slots..slots + 5 {
                fails(filter.insert_hash(hash(i)), Status::Full);
                assert!(!filter.contains_hash(hash(i)));
            }
            assert_eq!(crate::common::image(&filter), before);
            // Known ones are still known, and count as offered.
            assert!((0..slots).all(|i| !filter.insert_hash(hash(i)).unwrap()));
            assert_eq!((filter.base().count(), filter.cardinality()), (2 * slots, None));
            filter.verify().unwrap();
        }
    }
}

// ---- Searches ----------------------------------------------------------------------------------------------------

/// How many states of a random graph a search does not find because a filter takes them for known: of all that are
/// reached from the first, those that the search of the same graph with an exact set finds. States have two random
/// successors each and a third that leads through all of them, so that an omission hides no others for long.
fn unexplored(filter: &mut Filter, states: u64, seed: u64) -> u64 {
    let successors =
        |state: u64| [mix(state ^ seed << 40) % states, mix(!state ^ seed << 40) % states, (state + 1) % states];
    let mut known = vec![false; states as usize];
    let mut omitted = 0;
    // The search goes on from what an exact set calls new, so that each state is offered first exactly once.
    let mut open = vec![0];
    known[0] = true;
    while let Some(state) = open.pop() {
        omitted += u64::from(!filter.insert_hash(mix(state ^ seed << 32)).unwrap());
        for next in successors(state) {
            if !std::mem::replace(&mut known[next as usize], true) {
                open.push(next);
            }
        }
    }
    assert!(known.iter().all(|known| *known));
    omitted
}

/// The omissions of searches over random graphs are those that are expected, within 4.5 standard deviations: of tables
/// at several loads, and of bitstate searches.
#[test]
fn searches_omit_as_many_states_as_expected() {
    const STATES: u64 = 18_000;
    let specs = [
        (table(20_000, 12), 60),
        (table(18_100, 10), 20),
        (table(36_000, 6), 20),
        (bitstate(8 * STATES, 2), 20),
        (bitstate(10 * STATES, 3), 20),
        (bitstate(16 * STATES, 12), 60),
    ];
    for (spec, runs) in specs {
        let expected = expected_omissions(&spec, STATES).unwrap();
        let all: Vec<f64> =
            (0..runs).map(|seed| unexplored(&mut create(&spec).unwrap(), STATES, seed + 1) as f64).collect();
        let mean = all.iter().sum::<f64>() / runs as f64;
        // Omissions are rare events of their own; those of a run differ a little more, with how the filter was filled.
        let band = 4.5 * (1.2 * expected / runs as f64).sqrt() + 0.01 * expected;
        assert!((mean - expected).abs() < band, "{spec:?}: {mean} states, {expected} +- {band} expected");
    }
}

#[test]
fn kinds_that_take_no_keys_omit_none() {
    for row in petal::registry::FILTERS {
        let spec = Spec { kind: Some(row.kind), capacity: 1000, ..Spec::default() };
        match expected_omissions(&spec, 1000) {
            Ok(omissions) => {
                // Less than as many as if all came to the rate of the last.
                let most = 1000.0 * petal::expected_false_positive_rate(&spec, 1000).unwrap();
                assert!(omissions <= most, "{}: {omissions} of {most}", row.name);
            }
            Err(error) => assert_eq!((error.status(), row.is_made_empty()), (Status::Unsupported, false), "{error}"),
        }
    }
}

// ---- Past the capacity -------------------------------------------------------------------------------------------

/// From its capacity on a filter refuses every key that it does not find, whatever memory it lies in, and keeps the
/// rate that was asked for.
#[test]
fn a_full_table_keeps_its_rate() {
    for (capacity, rate) in
        [(1, 0.5), (2, 0.3), (5, 0.9), (30, 0.5), (100, 0.1), (1000, 0.3), (1000, 0.01), (10_000, 0.01)]
    {
        let kind = Some(hash_compaction::ROW.kind);
        let hash = HashFunction::External;
        let runs = (40_000 / capacity).clamp(1, 4000);
        let (mut found, mut asked, mut refusals) = (0_u64, 0_u64, 0);
        for run in 0..runs {
            let spec = Spec { kind, hash, capacity, false_positive_rate: rate, ..Spec::default() };
            let key = |i: u64| mix(i ^ mix(run << 20 ^ capacity));
            let mut filter = create(&spec).unwrap();
            let mut taken = Vec::new();
            for i in 0..10 * capacity {
                if i == 4 * capacity {
                    // What is opened again goes on as it was.
                    filter = petal::load(&crate::common::image(&filter), &petal::OpenOptions::default()).unwrap();
                }
                let is_there = filter.contains_hash(key(i));
                match filter.insert_hash(key(i)) {
                    Ok(new) => {
                        assert_eq!(new, !is_there);
                        taken.push(i);
                    }
                    Err(error) => {
                        assert_eq!(error.status(), Status::Full, "{error}");
                        assert!(!is_there, "capacity {capacity}: what is found is taken");
                        refusals += 1;
                    }
                }
                // Its capacity's distinct keys fit.
                assert!(i >= capacity || taken.len() as u64 == i + 1);
            }
            assert!(filter.measure().taken <= capacity);
            assert!(taken.iter().all(|i| filter.contains_hash(key(*i))));
            let expected = filter.expected_false_positive_rate(10 * capacity);
            assert!(expected <= rate, "capacity {capacity} at {rate}: {expected} is expected");
            let absent = 100_000 / runs;
            found += (0..absent).filter(|i| filter.contains_hash(key(1 << 40 | i))).count() as u64;
            asked += absent;
            assert!(filter.expected_omissions(10 * capacity).unwrap() >= 9.0 * capacity as f64);
        }
        let measured = found as f64 / asked as f64;
        // Of few keys how many lookups a table answers wrongly differs from run to run too.
        let band =
            4.5 * (rate * (1.0 - rate) / asked as f64).sqrt() + 4.5 * rate / (runs as f64 * capacity as f64).sqrt();
        assert!(measured < rate + band, "capacity {capacity} at {rate}: {measured} +- {band}");
        assert!(refusals > 0 || capacity < 3, "capacity {capacity} at {rate}");
    }
}

/// A table that is opened to be written counts what is there before it takes more.
#[test]
fn an_image_in_place_keeps_to_its_capacity() {
    let spec =
        Spec { kind: Some(hash_compaction::ROW.kind), hash: HashFunction::External, capacity: 100, ..Spec::default() };
    let mut filter = create(&spec).unwrap();
    (0..95).for_each(|i| drop(filter.insert_hash(mix(i))));
    let mut buffer = crate::common::Buffer::of(&crate::common::image(&filter));
    for _ in 0..3 {
        buffer.open(petal::Mode::Write, None, |opened| {
            let opened = opened.unwrap();
            let taken = (0..200).filter(|i| opened.insert_hash(mix(1000 + i)).is_ok()).count();
            assert!(opened.measure().taken == 100 && taken < 10, "{taken}");
            let error = opened.insert_hash(mix(5000)).unwrap_err();
            assert!(error.message().contains("its capacity"), "{error}");
        });
    }
    filter.clear().unwrap();
    assert!((0..100).all(|i| filter.insert_hash(mix(i)).is_ok()));
}
