//! Tests of the kind `variable_increment`. Rates agree with the formula and with the published tables, increments agree
//! with their definition, and removals leave nothing. `state_machine.rs` tests that no key is lost.

use crate::common::{image, mix};
use crate::specification::check;
use petal::kinds::variable_increment::sizing::{self, Refusals};
use petal::kinds::variable_increment::{self, INCREMENTS, ROW, SEQUENCE};
use petal::{Filter, HashFunction, Image, Keys, Spec, Status};

/// A filter with this number of cells, this sequence of increments, and this number of cells per key.
fn filter(sequence: &str, increments: u64, cells: u64, hashes: u32) -> Filter {
    let number = SEQUENCE.parse(sequence).unwrap();
    let width = petal::kinds::variable_increment::layout::Sequence::of(number as u64, increments).unwrap().width();
    let (kind, hash) = (Some(ROW.kind), HashFunction::External);
    let mut spec = Spec { kind, bits: cells * u64::from(width), hashes, hash, ..Spec::default() };
    spec.set(&SEQUENCE, number).unwrap();
    spec.set(&INCREMENTS, increments as f64).unwrap();
    Filter::new(&spec).unwrap()
}

fn expected(filter: &Filter, keys: u64) -> f64 {
    (ROW.false_positive_rate)(filter.base().geometry(), keys)
}

/// The rates of the tables for 10,000 keys. Each row has the cells per key, and for each number of increments the best
/// k with its rate.
#[test]
fn rates_are_those_of_the_tables() {
    let table: [(u64, [(u32, f64); 4]); 4] = [
        (4, [(4, 0.03268), (4, 0.01150), (4, 0.006151), (4, 0.004342)]),
        (6, [(6, 0.005909), (7, 0.001209), (6, 4.824e-4), (6, 2.861e-4)]),
        (8, [(9, 0.0010575), (9, 1.278e-4), (9, 3.728e-5), (8, 1.885e-5)]),
        (10, [(11, 1.900e-4), (11, 1.359e-5), (11, 2.895e-6), (11, 1.240e-6)]),
    ];
    for (cells, rates) in table {
        for (increments, (hashes, rate)) in [2, 4, 8, 16].into_iter().zip(rates) {
            let refusals = variable_increment::sizing::of_interval(increments);
            let best = variable_increment::sizing::optimal_hashes(cells * 10_000, 10_000, &refusals);
            assert_eq!(best, hashes, "{cells} cells a key, L = {increments}");
            let computed = variable_increment::sizing::published(cells * 10_000, best, 10_000, &refusals);
            let exact = variable_increment::sizing::false_positive_rate(cells * 10_000, best, 10_000, &refusals);
            assert!((computed / exact - 1.0).abs() < 0.01, "{computed} published, {exact} with dependences");
            assert!(
                (computed / rate - 1.0).abs() < 6e-4,
                "{cells} cells a key, L = {increments}: {computed} for {rate}"
            );
        }
    }
    for (h, increments, rate, hashes) in
        [(2, 4, 0.003239, 6), (2, 8, 6.18e-4, 6), (3, 4, 0.001209, 7), (3, 8, 6.5e-5, 8)]
    {
        let refusals = variable_increment::sizing::of_sequence(h, increments);
        assert_eq!(variable_increment::sizing::optimal_hashes(40_000, 10_000, &refusals), hashes);
        let computed = variable_increment::sizing::published(40_000, hashes, 10_000, &refusals);
        assert!((computed / rate - 1.0).abs() < 6e-3, "B_{h} of {increments}: {computed} for {rate}");
    }
    // These rates are for three hashes and eight cells per key.
    for (increments, rate) in [(4, 0.0014), (8, 4.98e-4)] {
        let computed = variable_increment::sizing::published(
            80_000,
            3,
            10_000,
            &variable_increment::sizing::of_interval(increments),
        );
        assert!((computed / rate - 1.0).abs() < 0.02, "{computed} for {rate}");
    }
}

/// The measured rate of many filters agrees with the formula and with their cells, within 4.5 standard deviations.
#[test]
fn filters_keep_to_the_formula() {
    const KEYS: u64 = 2000;
    const ASKED: u64 = 20_000;
    const FILTERS: u64 = 20;
    let shapes = [("d_l", 2, 4, 4), ("d_l", 4, 8, 3), ("d_l", 8, 4, 4), ("d_l", 16, 3, 3)];
    let sequences = [("b_2", 4, 3, 4), ("b_2", 8, 2, 3), ("b_3", 2, 3, 5), ("b_3", 8, 2, 4)];
    for (sequence, increments, cells, hashes) in shapes.into_iter().chain(sequences) {
        let (mut found, mut now, mut rate) = (0, 0.0, 0.0);
        for salt in 0..FILTERS {
            let mut filter = filter(sequence, increments, cells * KEYS, hashes);
            (0..KEYS).for_each(|key| assert!(filter.insert_hash(mix(key ^ salt << 32)).is_ok()));
            found += (KEYS..KEYS + ASKED).filter(|key| filter.contains_hash(mix(key ^ salt << 32))).count();
            now += filter.false_positive_rate() / FILTERS as f64;
            rate = expected(&filter, KEYS);
        }
        let asked = (ASKED * FILTERS) as f64;
        let measured = found as f64 / asked;
        let band = 4.5 * (rate * (1.0 - rate) / asked).sqrt();
        let name = format!("{sequence} of {increments}, {cells} cells a key, k = {hashes}: {rate}");
        println!("{name}, measured {measured:.5}, said {now:.5}");
        assert!((measured - now).abs() < band, "{name}: {now} said now, {measured} measured");
        // The relative deviation of one filter's rate is k times that of the share of its cells.
        let of_filters = 4.5 * rate * f64::from(hashes) / ((cells * KEYS * FILTERS) as f64).sqrt();
        assert!((measured - rate).abs() < band + of_filters, "{name}: {measured} measured");
    }
}

/// Removed keys leave nothing, a refused removal changes nothing, and cells stay at their maximum.
#[test]
fn removals_give_everything_back() {
    for (sequence, increments) in [("d_l", 2), ("d_l", 8), ("d_l", 16), ("b_2", 4), ("b_3", 8)] {
        let mut filter = filter(sequence, increments, 5000, 4);
        let empty = image(&filter);
        let keys: Vec<u64> = (0..1500).map(mix).collect();
        filter.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
        assert_eq!(filter.statistics().saturated, 0);
        let before = image(&filter);
        let absent: Vec<u64> = (9000..9500).map(mix).filter(|hash| !filter.contains_hash(*hash)).collect();
        assert!(absent.len() > 300 && absent.iter().all(|hash| !filter.remove_hash(*hash).unwrap()));
        assert!(image(&filter) == before, "a removal that is refused changes nothing");
        filter.remove_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
        assert!(image(&filter) == empty, "{sequence} of {increments}");
        // A key occurs more often than a cell can count. The key then stays for ever, and no other key is lost.
        for _ in 0..100 {
            filter.insert_hash(mix(1)).unwrap();
        }
        filter.insert_hash(mix(2)).unwrap();
        assert!(filter.statistics().saturated > 0 && filter.contains_hash(mix(2)));
        assert!((0..200).all(|_| filter.remove_hash(mix(1)).unwrap()), "it cannot be removed any more");
        assert!(filter.contains_hash(mix(2)));
        filter.clear().unwrap();
        assert!(image(&filter) == empty);
    }
}

/// Keys with many cells choose increments by the bits of a second number, as docs/format.md says.
#[test]
fn keys_of_many_cells_are_as_specified() {
    for (sequence, increments) in [("d_l", 2), ("d_l", 4), ("d_l", 8), ("d_l", 16), ("b_2", 8), ("b_3", 8)] {
        for hashes in [16, 17, 21, 22, 32] {
            let hashed: Vec<u64> = (0..20).map(mix).collect();
            let mut filter = filter(sequence, increments, 300, hashes);
            hashed.iter().for_each(|hash| assert!(filter.insert_hash(*hash).is_ok()));
            check(&format!("{hashes} cells, {sequence} of {increments}"), &image(&filter), &hashed);
        }
    }
}

/// A union equals a filter of both sets of keys. Batches do the same as single keys, with and without fetching ahead.
#[test]
fn unions_and_batches_are_single_insertions() {
    for (sequence, increments) in [("d_l", 4), ("b_2", 2), ("b_3", 8)] {
        for cells in [900, 3 << 20] {
            let make = |keys: &[u64]| {
                let mut filter = filter(sequence, increments, cells, 5);
                keys.iter().for_each(|key| assert!(filter.insert_hash(*key).is_ok()));
                filter
            };
            // Some keys occur so often that cells reach their maximum, in one of the filters or only in the union.
            let keys: Vec<u64> = (0..600).map(|i| mix(mix(i) % (3 + i))).collect();
            let (mut union, other, both) = (make(&keys[..350]), make(&keys[350..]), make(&keys));
            union.merge(&other).unwrap();
            assert!(image(&union) == image(&both), "{sequence} of {increments}");
            let mut batch = filter(sequence, increments, cells, 5);
            batch.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
            assert!(image(&batch) == image(&both));
        }
    }
}

/// A rate gets the smallest size, which takes less memory than `counting` takes for the rate.
#[test]
fn sizes_are_the_least() {
    for (sequence, increments, most) in [("d_l", 4, 31.0), ("d_l", 8, 31.0), ("b_2", 4, 31.5), ("b_3", 4, 30.0)] {
        for (capacity, rate) in [(1, 0.5), (1000, 0.01), (100_000, 1e-5)] {
            let spec = |bits| {
                let mut spec = Spec { bits, ..filter(sequence, increments, 1, 1).base().spec() };
                (spec.hashes, spec.capacity, spec.false_positive_rate) =
                    (0, capacity, if bits == 0 { rate } else { 0.0 });
                spec
            };
            let geometry = petal::geometry(&spec(0)).unwrap();
            assert!((ROW.false_positive_rate)(&geometry, capacity) <= rate);
            if let Ok(smaller) = petal::geometry(&spec(geometry.bits - 1)) {
                assert!((ROW.false_positive_rate)(&smaller, capacity) > rate, "{sequence} of {increments}");
            }
            if rate == 0.01 {
                let bits = geometry.bits as f64 / capacity as f64;
                println!("{sequence} of {increments}: {bits:.2} bits/key with k = {}", geometry.hashes);
                assert!(bits < most, "{bits} bits/key");
            }
        }
    }
    let mut spec = filter("b_2", 8, 100, 3).base().spec();
    spec.set(&INCREMENTS, 16.0).unwrap();
    let error = Filter::new(&spec).err().unwrap();
    assert_eq!(
        (error.status(), error.message()),
        (Status::Contradiction, "increments = 16 goes with sequence = d_l only")
    );
}

/// Without cells, or with one cell that a key took, every key seems to be there. Without keys no key is found.
#[test]
fn rates_have_ends() {
    let refusals =
        variable_increment::layout::Sequence::of(SEQUENCE.parse("d_l").unwrap() as u64, 4).unwrap().refusals();
    for hashes in [1, 3] {
        use variable_increment::sizing::{false_positive_rate, published};
        for rate in [published, false_positive_rate] {
            let of = |cells, keys| rate(cells, hashes, keys, &refusals);
            assert_eq!((of(0, 0), of(0, 5), of(1, 1), of(1, 100)), (1.0, 1.0, 1.0, 1.0));
            assert_eq!((of(1, 0), of(2, 0), of(100, 0)), (0.0, 0.0, 0.0));
            assert!(of(2, 40) > 0.99 && of(2, 40) <= 1.0);
            assert!(of(2, 1) < 1.0 && of(3, 1) < 1.0 && of(1000, 1) < 0.01);
        }
    }
}

/// All ways to throw `hashes` times into `cells` cells, as sets of the cells that are hit.
fn throws(cells: u32, hashes: u32) -> Vec<u32> {
    (0..hashes)
        .fold(vec![0], |sets, _| sets.iter().flat_map(|set| (0..cells).map(move |cell| set | 1 << cell)).collect())
}

/// The rate with few keys, by counting. The sum goes over all throws of all keys. For each number of keys in the cells
/// of a lookup it goes over all ways to spread these keys.
fn counted(cells: u32, hashes: u32, keys: u32, refusals: &Refusals) -> f64 {
    let all = throws(cells, hashes);
    let maybe = |load: u32| if load == 0 { 0.0 } else { 1.0 - refusals.get(load as usize).unwrap_or(&0.0) };
    let of_cells = |d: u32| {
        let met = |set: &u32| (set & ((1 << d) - 1)).count_ones() as usize;
        let mut totals = vec![1.0];
        for _ in 0..keys {
            let mut more = vec![0.0; totals.len() + d as usize];
            for (total, chance) in totals.iter().enumerate() {
                all.iter().for_each(|set| more[total + met(set)] += chance / all.len() as f64);
            }
            totals = more;
        }
        let (mut sums, mut ways) = (vec![0.0; totals.len()], vec![0.0; totals.len()]);
        for spread in 0_u32..1 << (keys * d) {
            let load = |cell: u32| (spread >> (cell * keys) & ((1 << keys) - 1)).count_ones();
            sums[spread.count_ones() as usize] += (0..d).map(|cell| maybe(load(cell))).product::<f64>();
            ways[spread.count_ones() as usize] += 1.0;
        }
        totals.iter().zip(sums).zip(ways).map(|((chance, sum), ways)| chance * sum / ways).sum::<f64>()
    };
    let rates: Vec<f64> = (0..=hashes.min(cells)).map(of_cells).collect();
    all.iter().map(|set| rates[set.count_ones() as usize]).sum::<f64>() / all.len() as f64
}

/// Rates with few keys equal the counted rates.
#[test]
fn rates_of_few_keys_are_counted() {
    let sequences = [sizing::of_interval(4), sizing::of_sequence(2, 4), sizing::of_sequence(3, 3)];
    for refusals in sequences {
        let sizes =
            [(2, 1, 1), (2, 3, 2), (3, 2, 5), (4, 3, 1), (4, 3, 3), (5, 3, 4), (9, 2, 4), (7, 4, 2), (30, 2, 3)];
        for (cells, hashes, keys) in sizes {
            let rate = sizing::false_positive_rate(cells.into(), hashes, keys.into(), &refusals);
            let expected = counted(cells, hashes, keys, &refusals);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{cells}, {hashes}, {keys}: {rate}, {expected}");
        }
    }
}

/// With two hashes a lookup reads at most two cells, so mean and covariance give the exact rate. The test computes both
/// over all ways in which keys fall into one cell, the other, or both. With three hashes the rate is a sum of such
/// means and covariances.
#[test]
fn rates_of_many_keys_are_those_of_two_cells() {
    for refusals in [sizing::of_interval(8), sizing::of_sequence(3, 4)] {
        let maybe = |load: u64| 1.0 - refusals.get(load as usize).unwrap_or(&0.0);
        for (m, k, n) in [(3.0, 2, 17_u64), (8.0, 2, 20), (30.0, 2, 25), (90.0, 2, 40), (25.0, 3, 18), (60.0, 3, 30)] {
            let neither = (1.0_f64 - 2.0 / m).powi(k);
            let not = (1.0_f64 - 1.0 / m).powi(k);
            let (one, both) = (not - neither, 1.0 - 2.0 * not + neither);
            let (mut of_one, mut of_two) = (0.0, 0.0);
            let choose =
                |from: u64, count: u64| (0..count).map(|i| (from - i) as f64 / (i + 1) as f64).product::<f64>();
            for shared in 0..=n {
                let all = choose(n, shared) * (1.0 - not).powi(shared as i32) * not.powi((n - shared) as i32);
                of_one += all * maybe(shared);
                for first in 0..=n - shared {
                    for second in 0..=n - shared - first {
                        let left = n - shared - first - second;
                        let ways = choose(n, shared) * choose(n - shared, first) * choose(n - shared - first, second);
                        let chance = both.powi(shared as i32) * one.powi((first + second) as i32);
                        of_two +=
                            ways * chance * neither.powi(left as i32) * maybe(shared + first) * maybe(shared + second);
                    }
                }
            }
            // Two throws hit one cell or two. Three throws hit one cell, two or three.
            let expected = match k {
                2 => of_one / m + of_two * (m - 1.0) / m,
                _ => {
                    let three = of_one.powi(3) + 3.0 * of_one * (of_two - of_one * of_one);
                    (of_one + 3.0 * (m - 1.0) * of_two + (m - 1.0) * (m - 2.0) * three) / (m * m)
                }
            };
            let rate = sizing::false_positive_rate(m as u64, k as u32, n, &refusals);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{m}, {k}, {n}: {rate}, {expected}");
        }
    }
}

/// The rate of known cells is the mean over all throws of a lookup.
#[test]
fn rates_of_known_cells_are_means_over_all_lookups() {
    let choices = [0_u64, 3, 1, 4, 2, 0, 3];
    let mut by_choices = [0; sizing::MOST_INCREMENTS + 1];
    choices.iter().for_each(|choices| by_choices[*choices as usize] += 1);
    for hashes in 1..=4 {
        let all = throws(choices.len() as u32, hashes);
        let found = |set: &u32| {
            let met = (0..choices.len()).filter(|cell| set >> cell & 1 == 1);
            met.map(|cell| choices[cell] as f64 / 4.0).product::<f64>()
        };
        let expected = all.iter().map(found).sum::<f64>() / all.len() as f64;
        let rate = sizing::rate_of_cells(choices.len() as u64, hashes, 4, &by_choices);
        assert!((rate / expected - 1.0).abs() < 1e-12, "{hashes}: {rate}, {expected}");
    }
}

/// The search finds the least size and the best number of hashes of all.
#[test]
fn searches_find_what_looking_at_all_finds() {
    for refusals in [sizing::of_interval(2), sizing::of_interval(16), sizing::of_sequence(2, 3)] {
        // Where cells are few, only few sizes differ, and the best number of hashes may follow worse ones.
        let small = (1..60).map(|i| (17 + i % 5, 0.93_f64.powi(i as i32)));
        for (keys, rate) in small.chain([(30, 0.02), (100, 1e-3), (100, 1e-6)]) {
            let holds = |cells: u64, hashes| sizing::false_positive_rate(cells, hashes, keys, &refusals) <= rate;
            let (cells, hashes) = sizing::size_for(keys, rate, &refusals).unwrap();
            assert!(holds(cells, hashes));
            assert!((1..=sizing::MAX_HASHES).all(|hashes| !holds(cells - 1, hashes)), "{keys}, {rate}: {cells}");
            let best = sizing::optimal_hashes(cells, keys, &refusals);
            let of = |hashes| sizing::false_positive_rate(cells, hashes, keys, &refusals);
            assert!((1..=sizing::MAX_HASHES).all(|hashes| of(hashes) >= of(best)), "{keys}, {rate}: {best}");
        }
        // For few keys a search in steps of a 128th finds the size.
        for (keys, rate) in [(1, 0.3), (1, 1e-6), (5, 0.01), (16, 1e-4)] {
            let (cells, hashes) = sizing::size_for(keys, rate, &refusals).unwrap();
            let holds = |cells| sizing::false_positive_rate(cells, hashes, keys, &refusals) <= rate;
            assert!(holds(cells) && !holds(cells * 9 / 10 - 1), "{keys}, {rate}: {cells}");
        }
        assert_eq!((sizing::size_for(10, 0.0, &refusals), sizing::size_for(10, 1.0, &refusals)), (None, None));
        assert_eq!(sizing::size_for(1 << 60, 0.01, &refusals), None);
        assert_eq!((sizing::optimal_hashes(0, 10, &refusals), sizing::optimal_hashes(1, 10, &refusals)), (1, 1));
    }
    // A key with more hashes is more likely to have both of two cells.
    assert_eq!(sizing::optimal_hashes(2, 1, &sizing::of_interval(16)), sizing::MAX_HASHES);
}
