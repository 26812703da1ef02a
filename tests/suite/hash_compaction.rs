//! Hash compaction, and the omissions of all kinds, compared with the literature and with searches of random graphs.

use crate::common::mix;
use crate::conformance::fails;
use petal::kinds::hash_compaction::sizing::{SIGNATURE_BITS, Table, best_signature_bits, size_for};
use petal::kinds::{bloom, hash_compaction};
use petal::sizing::bloom::asymptotic;
use petal::sizing::omissions::{best_hashes, sum_of_rates};
use petal::{Filter, HashFunction, Image, Spec, Status, expected_omissions, geometry};

/// A table with this number of slots and of bits in each slot.
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

/// The estimate of Wolper, Leroy, Stern and Dill agrees with their simulation, and with the exact sum that it
/// approximates.
#[test]
fn omissions_are_those_of_the_literature() {
    // The estimate is 2^-12 (20000 ln 10 - 18000).
    let table = Table::with_probability(20_000.0, 1.0 / 4096.0);
    assert!((table.omissions_of_taken(18_000.0) - 6.85).abs() < 0.005, "{}", table.omissions_of_taken(18_000.0));
    assert!((table.omissions(18_000.0) - 6.85).abs() < 0.03, "{}", table.omissions(18_000.0));
    for (slots, width, keys) in [(1009, 8, 900), (1009, 2, 400), (101, 20, 101), (20_011, 12, 18_000), (7, 3, 6)] {
        let table = Table::new(slots, width);
        // The next slot is taken after 1 / (1 - rate) keys on average, and the table omits all of these but the last.
        let sum: f64 = (0..keys).map(|taken| 1.0 / (1.0 - table.rate_of_taken(taken as f64)) - 1.0).sum();
        let closed = table.omissions_of_taken(keys as f64);
        assert!((closed / sum - 1.0).abs() < 0.03, "{slots} slots of {width} bits, {keys} keys: {closed}, {sum}");
        let insertions = keys as f64 + closed;
        if slots <= 256 {
            // For a table with few slots the library follows every state. The mean number of taken slots is then nearly
            // `keys`.
            assert!((table.taken(insertions) / keys as f64 - 1.0).abs() < 0.1, "{}", table.taken(insertions));
            continue;
        }
        assert!((table.taken(insertions) - keys as f64).abs() < 1e-5 * keys as f64);
        assert!((table.omissions(insertions) - closed).abs() < 1e-5 * closed.max(1.0));
    }
    // A full table omits every further key.
    assert!((Table::new(101, 40).omissions(1101.0) - 1000.0).abs() < 1e-6);
    assert_eq!((Table::new(101, 40).omissions(0.0), Table::new(101, 40).false_positive_rate(0)), (0.0, 0.0));
    assert!(Table::new(101, 2).false_positive_rate(u64::MAX) > 0.999_999);
}

/// The average omission probability of a bitstate search, by hashes and bits per state.
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
            assert_eq!(Filter::new(&spec).unwrap().expected_omissions(KEYS).unwrap() / KEYS as f64, average);
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

/// The table of `docs/comparing.md`, for ten million states: hash compaction omits fewer states from 20 bits per state
/// on, and a Bloom filter omits fewer below.
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
    // The omissions at 20 bits per state where there are fewer or more states than the memory was made for.
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
    let few = (1..=8).flat_map(|keys| [0.5, 0.3, 0.1, 0.05, 0.01].map(|rate| (keys, rate)));
    let many = [(10, 0.1), (1000, 0.01), (123_456, 1e-3), (1_000_000, 1e-9), (1 << 40, 1e-4)];
    for (keys, rate) in few.chain(many) {
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
        let filter = Filter::new(&table(slots, width)).unwrap();
        let geometry = *filter.base().geometry();
        assert_eq!(geometry.words[..2], [u64::from(width), hash_compaction::primes::at_most(slots).unwrap()]);
        assert_eq!(geometry.bits, slots * u64::from(width));
        let again = Filter::new(&filter.base().spec()).unwrap();
        assert_eq!(again.base().compatibility_id(), filter.base().compatibility_id());
    }
    let exact = Spec { kind: Some(hash_compaction::ROW.kind), bits: 10_000, ..Spec::default() };
    fails(Filter::new(&exact), Status::Contradiction);
    // There are ten bits per key, and a signature takes nine of them.
    let by_capacity = geometry(&Spec { capacity: 1000, ..exact }).unwrap();
    assert_eq!(by_capacity.words[..2], [9, hash_compaction::primes::at_most(1111).unwrap()]);
    fails(Filter::new(&Spec { hashes: 3, capacity: 1000, ..exact }), Status::OutOfRange);
    fails(Filter::new(&Spec { bits: 10, ..table(1, 13) }), Status::Contradiction);
    let mut one = table(100, 13);
    one.set(&hash_compaction::SIGNATURE_BITS, 1.0).unwrap();
    fails(Filter::new(&one), Status::OutOfRange);
}

/// Keys can fill every slot, whatever their hashes are. A full table then refuses keys, keeps its keys, and does not
/// change.
#[test]
fn it_takes_as_many_keys_as_it_has_slots() {
    for slots in [2, 3, 5, 97, 499] {
        for (name, hash) in [
            ("mixed", mix as fn(u64) -> u64),
            ("equal low bits", |i| i << 40 | 7),
            ("equal high bits", |i| 0xabc << 52 | i),
        ] {
            let mut filter = Filter::new(&table(slots, 40)).unwrap();
            for i in 0..slots {
                assert!(filter.insert_hash(hash(i)).unwrap(), "{slots} slots, {name}: key {i} seems to be there");
            }
            assert_eq!(filter.statistics().taken, slots);
            let before = crate::common::image(&filter);
            for i in slots..slots + 5 {
                fails(filter.insert_hash(hash(i)), Status::Full);
                assert!(!filter.contains_hash(hash(i)));
            }
            assert_eq!(crate::common::image(&filter), before);
            // Lookups still find the keys in the table. Insertions of these keys count as offered keys.
            assert!((0..slots).all(|i| !filter.insert_hash(hash(i)).unwrap()));
            assert_eq!((filter.base().count(), filter.cardinality()), (2 * slots, None));
            filter.verify().unwrap();
        }
    }
}

// ---- Searches ----------------------------------------------------------------------------------------------------

/// The number of states of a random graph that a filter omits, because it takes them for known. An exact set decides
/// how the search goes on. Each state has two random successors and a third one that leads through all states, so the
/// search reaches all of them.
fn unexplored(filter: &mut Filter, states: u64, seed: u64) -> u64 {
    let successors =
        |state: u64| [mix(state ^ seed << 40) % states, mix(!state ^ seed << 40) % states, (state + 1) % states];
    let mut known = vec![false; states as usize];
    let mut omitted = 0;
    // The exact set decides which states are new, so the search offers each state to the filter exactly once.
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

/// Searches of random graphs omit as many states as expected, within 4.5 standard deviations. The test takes tables at
/// several loads, and bitstate searches.
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
            (0..runs).map(|seed| unexplored(&mut Filter::new(&spec).unwrap(), STATES, seed + 1) as f64).collect();
        let mean = all.iter().sum::<f64>() / runs as f64;
        // Omissions are rare, nearly independent events. The fill differs from run to run, which widens their
        // distribution a little.
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
                // The last key meets the highest rate, so this product is an upper bound.
                let most = 1000.0 * petal::expected_false_positive_rate(&spec, 1000).unwrap();
                assert!(omissions <= most, "{}: {omissions} of {most}", row.name);
            }
            Err(error) => assert_eq!((error.status(), row.is_made_empty()), (Status::Unsupported, false), "{error}"),
        }
    }
}

// ---- Past the capacity -------------------------------------------------------------------------------------------

/// From its capacity on, a filter refuses every key that it does not find, and keeps the promised rate.
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
            let mut filter = Filter::new(&spec).unwrap();
            let mut taken = Vec::new();
            for i in 0..10 * capacity {
                if i == 4 * capacity {
                    // A filter that is saved and loaded goes on as before.
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
                // As many distinct keys as the capacity fit.
                assert!(i >= capacity || taken.len() as u64 == i + 1);
            }
            assert!(filter.statistics().taken <= capacity);
            assert!(taken.iter().all(|i| filter.contains_hash(key(*i))));
            let expected = filter.expected_false_positive_rate(10 * capacity);
            assert!(expected <= rate, "capacity {capacity} at {rate}: {expected} is expected");
            let absent = 100_000 / runs;
            found += (0..absent).filter(|i| filter.contains_hash(key(1 << 40 | i))).count() as u64;
            asked += absent;
            assert!(filter.expected_omissions(10 * capacity).unwrap() >= 9.0 * capacity as f64);
        }
        let measured = found as f64 / asked as f64;
        // The second term is for tables of few keys, whose rate differs from run to run.
        let band =
            4.5 * (rate * (1.0 - rate) / asked as f64).sqrt() + 4.5 * rate / (runs as f64 * capacity as f64).sqrt();
        assert!(measured < rate + band, "capacity {capacity} at {rate}: {measured} +- {band}");
        assert!(refusals > 0 || capacity < 3, "capacity {capacity} at {rate}");
    }
}

/// A table without a capacity takes keys until all of its slots are taken, and says so.
#[test]
fn a_size_alone_is_filled_to_the_last_slot() {
    let mut filter = Filter::new(&table(101, 30)).unwrap();
    let error = (0..).find_map(|i| filter.insert_hash(mix(i)).err()).unwrap();
    assert_eq!((error.status(), filter.statistics().taken), (Status::Full, 101));
    assert!(error.message().contains("all of its 101 slots"), "{error}");
}

/// A table that is opened for writing counts its keys before it takes more.
#[test]
fn an_image_in_place_keeps_to_its_capacity() {
    let spec =
        Spec { kind: Some(hash_compaction::ROW.kind), hash: HashFunction::External, capacity: 100, ..Spec::default() };
    let mut filter = Filter::new(&spec).unwrap();
    (0..95).for_each(|i| drop(filter.insert_hash(mix(i))));
    let mut buffer = crate::common::Buffer::of(&crate::common::image(&filter));
    for _ in 0..3 {
        buffer.open(petal::Mode::Write, None, |opened| {
            let opened = opened.unwrap();
            let taken = (0..200).filter(|i| opened.insert_hash(mix(1000 + i)).is_ok()).count();
            assert!(opened.statistics().taken == 100 && taken < 10, "{taken}");
            let error = opened.insert_hash(mix(5000)).unwrap_err();
            assert!(error.message().contains("its capacity"), "{error}");
        });
    }
    filter.clear().unwrap();
    assert!((0..100).all(|i| filter.insert_hash(mix(i)).is_ok()));
}

// ---- A second calculation ----------------------------------------------------------------------------------------

/// The rate of a table with few slots for each number of taken slots. Then the mean number of taken slots after `keys`
/// keys, and the mean rate. The calculation follows every state, and leaves no rare state out.
fn followed(slots: usize, same: f64, keys: u64) -> (Vec<f64>, f64, f64) {
    let found = |count: usize, taken: usize| match count {
        0 => 0.0,
        _ => count as f64 / (count + slots - taken) as f64,
    };
    let mut of_count = vec![0.0; slots + 1];
    of_count[0] = 1.0;
    let mut rates = Vec::new();
    for taken in 0..=slots {
        let rate = (0..=taken).map(|count| of_count[count] * found(count, taken)).sum::<f64>();
        rates.push(rate);
        let more = |count: usize| of_count[count] * (1.0 - found(count, taken)) * same / (1.0 - rate);
        let before = |count: usize| if count == 0 { 0.0 } else { more(count - 1) };
        if taken < slots {
            of_count = (0..=slots).map(|count| of_count[count] - more(count) + before(count)).collect();
        }
    }
    let mut of_taken = vec![0.0; slots + 1];
    of_taken[0] = 1.0;
    for _ in 0..keys {
        let stays = |taken: usize| if taken == slots { 1.0 } else { rates[taken] };
        let comes = |taken: usize| if taken == 0 { 0.0 } else { of_taken[taken - 1] * (1.0 - stays(taken - 1)) };
        of_taken = (0..=slots).map(|taken| of_taken[taken] * stays(taken) + comes(taken)).collect();
    }
    let taken = (0..=slots).map(|taken| taken as f64 * of_taken[taken]).sum();
    let rate = (0..=slots).map(|taken| rates[taken] * of_taken[taken]).sum();
    (rates, taken, rate)
}

/// The rate of many slots, by the binomial distribution from its first term on.
fn binomial(slots: f64, same: f64, taken: u64) -> f64 {
    let (mut term, mut sum) = ((taken as f64 * (-same).ln_1p()).exp(), 0.0);
    for count in 1..=taken.min(3000) {
        term *= (taken - count + 1) as f64 / count as f64 * same / (1.0 - same);
        sum += term * count as f64 / (count as f64 + slots - taken as f64);
    }
    sum
}

fn near(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() <= 1e-7 * want.abs() + 1e-15, "{what}: {got}, and {want} by the other way");
}

#[test]
fn rates_and_omissions_are_those_of_a_second_calculation() {
    for (slots, width) in [(2_usize, 2), (3, 2), (7, 3), (13, 5), (31, 2), (101, 4), (251, 2), (256, 3), (256, 12)] {
        let (table, same) = (Table::new(slots as u64, width), 1.0 / ((1_u64 << width) - 1) as f64);
        for keys in [0, 1, 2, slots as u64 / 2, slots as u64 - 1, slots as u64, 2 * slots as u64, 600] {
            let what = format!("{slots} slots of {width} bits, {keys} keys");
            let (rates, taken, rate) = followed(slots, same, keys);
            near(table.taken(keys as f64), taken, &what);
            near(table.false_positive_rate(keys), rate, &what);
            assert!((table.omissions(keys as f64) - (keys as f64 - taken)).abs() < 1e-6, "{what}");
            let at = (keys as usize).min(slots);
            near(table.rate_of_taken(at as f64), rates[at], &what);
            near(table.omissions_of_taken(at as f64), rates[..at].iter().map(|rate| rate / (1.0 - rate)).sum(), &what);
        }
    }
    for (slots, width) in [(257_u64, 2), (257, 9), (1009, 3), (1009, 16), (5003, 5), (2_000_003, 16)] {
        let (table, same) = (Table::new(slots, width), 1.0 / ((1_u64 << width) - 1) as f64);
        for taken in [1, 2, slots / 2, slots - 20, slots - 1] {
            let what = format!("{slots} slots of {width} bits, {taken} taken");
            near(table.rate_of_taken(taken as f64), binomial(slots as f64, same, taken), &what);
            let (s, m) = (slots as f64, taken as f64);
            let omitted = same * ((s + 1.0) * ((s + 1.5) / (s + 1.5 - m)).ln() - m);
            assert!((table.omissions_of_taken(m) - omitted).abs() < 1e-9 * (s + omitted), "{what}");
            near(table.taken(m + omitted), m, &what);
        }
        near(table.rate_of_taken(slots as f64), -(slots as f64 * (-same).ln_1p()).exp_m1(), "all slots taken");
    }
    // Where very many slots share a signature, their number is close to its mean.
    for (slots, taken) in [(1e8, 5e7), (1e8, 9.9e7), (1e9, 1e8), (4e6, 3.9e6)] {
        let mean: f64 = taken / 3.0;
        near(
            Table::with_probability(slots, 1.0 / 3.0).rate_of_taken(taken),
            mean / (mean + slots + 1.0 - taken),
            "mean",
        );
    }
    assert_eq!(Table::with_probability(1000.0, 1.0).rate_of_taken(1000.0), 1.0);
}

/// A table of two slots and three signatures is small enough to count all cases.
#[test]
fn the_smallest_tables_are_counted_by_hand() {
    let table = Table::new(2, 2);
    // One of two slots has one of three signatures. A lookup of an equal signature meets that slot before the empty one
    // in half of the cases.
    near(table.rate_of_taken(1.0), 1.0 / 6.0, "one of two slots");
    // The second key has the signature of the first if its lookup began at the other slot. 5/6 of all keys come to that
    // slot, and 1/6 of all keys have the signature.
    near(table.rate_of_taken(2.0), 0.2 / 3.0 + 0.8 * 2.0 / 3.0, "two of two slots");
    near(table.omissions(2.0), 1.0 / 6.0, "two keys");
}

#[test]
fn the_best_signatures_omit_the_fewest_keys() {
    for (bits, keys) in [(1000, 50), (1000, 100), (4096, 400), (100_000, 5000), (1 << 20, 100_000), (300, 148)] {
        let best = best_signature_bits(bits, keys);
        let omissions = |width: u32| {
            let slots = hash_compaction::primes::at_most(bits / u64::from(width)).filter(|slots| *slots > keys)?;
            Some(Table::new(slots, width).omissions(keys as f64))
        };
        let least = omissions(best).expect("it has a slot for each key");
        for width in SIGNATURE_BITS.0..=SIGNATURE_BITS.1 {
            assert!(omissions(width).is_none_or(|other| least <= other), "{bits} bits, {keys} keys: {best}, {width}");
        }
    }
    // There are slots for the present keys only, or for none at all.
    assert_eq!((best_signature_bits(202, 101), best_signature_bits(3, 1)), (SIGNATURE_BITS.0, SIGNATURE_BITS.0));
}
