//! Rates at the corners: few keys, rates of nearly one, and ten times the capacity. What a filter says about its rate,
//! from its geometry and from its bits, is what lookups of absent keys show, and what was asked for is kept. No kind is
//! named here.
//!
//! Many filters, each with other keys, are asked for fresh keys. The standard error of the mean comes from the rates of
//! the filters, but is never less than that of as many independent lookups. A rate must be within 4.5 standard errors,
//! plus the error that the row states for its formula, plus ten lookups for rates at which hardly any is positive.

use crate::common::{Case, cases, each, each_kind, hash_of, is_soak, mix};
use petal::{Answers, Builder, BuilderOptions, Filter, Keys, Overfill, Spec, registry};
use std::cell::RefCell;

const SIGMAS: f64 = 4.5;

const KEYS: [u64; 6] = [1, 2, 3, 10, 30, 300];
const RATES: [f64; 5] = [0.9, 0.5, 0.3, 0.1, 1e-4];

/// A mean over filters, and what is needed for its error.
#[derive(Default)]
struct Mean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// The standard error, at least that of `lookups` lookups at this rate. If nearly all filters say yes to
    /// everything, the few that do not may all be missing from the sample, so the error is then the greatest that it
    /// can be.
    fn error(&self, rate: f64, lookups: f64) -> f64 {
        let between = (self.squares / self.count - self.mean() * self.mean()) / (self.count - 1.0);
        let trials = if rate > 0.95 { self.count } else { lookups };
        between.max(rate * (1.0 - rate) / trials).sqrt()
    }
}

/// The filter of these hashes, if it takes all of them.
fn made(spec: &Spec, hashes: &[u64]) -> Option<Filter> {
    match Filter::new(spec) {
        Ok(mut filter) => filter.insert_batch(&Keys::Hashes(hashes), None).outcome.ok().map(|()| filter),
        Err(_) => {
            let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
            builder.add_batch(&Keys::Hashes(hashes)).outcome.unwrap();
            Some(builder.finish().unwrap())
        }
    }
}

/// What is wrong with the rates of filters of this spec that hold `load` times their capacity.
fn compare(case: &Case, spec: &Spec, load: u64, wrong: &mut Vec<String>) {
    let held = spec.capacity * load;
    // Making a filter costs as much as hundreds of lookups.
    let (filters, fresh) = match (is_soak(), held) {
        (false, _) => (150, 400),
        (true, 0..100) => (3000, 300),
        (true, _) => (1000, 1000),
    };
    let geometry = petal::geometry(spec).unwrap();
    let expected = (case.row.false_positive_rate)(&geometry, held);
    let (mut found, mut said, mut off) = (Mean::default(), Mean::default(), Mean::default());
    for number in 0..filters {
        let key = |i: u64| hash_of(spec, mix(number + 1) ^ i);
        let hashes: Vec<u64> = (0..held).map(key).collect();
        let Some(filter) = made(spec, &hashes) else { continue };
        let others: Vec<u64> = (held..held + fresh).map(key).collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::Hashes(&others), &mut answers).unwrap();
        let (rate, now) = (answers.true_count as f64 / fresh as f64, filter.false_positive_rate());
        found.add(rate);
        said.add(now);
        off.add(rate - now);
    }
    // Kinds that refuse keys now and then do so where keys crowd.
    if found.count < 0.95 * filters as f64 {
        return;
    }
    let (mean, lookups) = (found.mean(), found.count * fresh as f64);
    // Kinds that forget have no rate at each moment after the window, but a largest one.
    let is_bound = case.row.overfill == Overfill::Forgets && load > 1;
    for (what, rate, error) in [
        ("expected", expected, found.error(expected, lookups)),
        ("of the bits", said.mean(), off.error(said.mean(), lookups)),
    ] {
        let band = SIGMAS * error + (case.row.rate_error)(rate) * rate + 10.0 / lookups;
        if mean - rate > band || (rate - mean > band && !(is_bound && what == "expected")) {
            wrong.push(format!(
                "{}: {} keys at {}, {load} times: {what} {rate:.4e}, measured {mean:.4e} +- {error:.1e}",
                case.name(),
                spec.capacity,
                spec.false_positive_rate
            ));
        }
    }
}

/// In the soak, every kind with all values of its parameters at all corners; otherwise the default ones at a third of
/// the corners.
#[test]
#[ignore = "slow: make test-all"]
fn rates_are_those_that_are_told() {
    let wrong = RefCell::new(Vec::new());
    let chosen = cases().into_iter().filter(|case| is_soak() || case.is_default()).enumerate();
    each(
        chosen,
        |(_, case)| case.name(),
        |(place, case)| {
            let corners = KEYS.iter().flat_map(|keys| RATES.map(|rate| (*keys, rate))).enumerate();
            for (_, (keys, rate)) in corners.filter(|(corner, _)| is_soak() || (corner + place).is_multiple_of(3)) {
                let spec = case.sized(keys, rate);
                if petal::geometry(&spec).is_err() {
                    continue;
                }
                let loads: &[u64] = match case.row.overfill {
                    Overfill::RateRises | Overfill::Grows | Overfill::Forgets => &[1, 10],
                    Overfill::Refuses | Overfill::IsBuilt => &[1],
                };
                loads.iter().for_each(|load| compare(case, &spec, *load, &mut wrong.borrow_mut()));
            }
        },
    );
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The promised rate is at most the rate that was asked for, at every size and rate, even at powers of two and down to
/// the last part in 10^15. Only equal hashes may add to it, up to a ten-thousandth, where no size accounts for them.
#[test]
fn no_promised_rate_passes_what_was_asked_for() {
    let rates =
        (1..40).map(|bits| 0.5_f64.powi(bits)).chain([0.9, 0.7, 0.3, 0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12]);
    each_kind(registry::all(), |row| {
        let (mut tried, mut reachable) = (0, 0);
        for rate in rates.clone() {
            for keys in [1, 2, 3, 10, 30, 300, 10_000, 1_000_000, 100_000_000, 1_000_000_000_000] {
                let (kind, hash) = (Some(row.kind), row.hash_functions()[0]);
                let spec = Spec { kind, hash, capacity: keys, false_positive_rate: rate, ..Spec::default() };
                let (is_reachable, geometry) = ((row.least_rate)(&spec, keys) <= rate, petal::geometry(&spec));
                assert!(is_reachable || geometry.is_err(), "{}: {keys} keys at {rate} are not refused", row.name);
                reachable += usize::from(is_reachable);
                let Ok(geometry) = geometry else { continue };
                let promised = (row.false_positive_rate)(&geometry, keys);
                // Kinds that have a bit of the hash for themselves tell keys apart by 63 bits.
                let equal = petal::sizing::hash_floor(keys, 63);
                let is_kept = promised <= rate || (promised - equal <= rate && promised <= rate * (1.0 + 1e-4));
                assert!(is_kept, "{}: {keys} keys at {rate} are promised {promised}", row.name);
                tried += 1;
            }
        }
        assert!(5 * tried >= 2 * reachable, "{}: {tried} of {reachable}", row.name);
    });
}

/// An exact size that leaves out the number of hashes takes the best number: no other has a much lower rate. Filters
/// that forget also weigh how long they remember. With parameters that are not the default the number is only near it.
#[test]
fn exact_sizes_take_the_best_number_of_hashes() {
    let capacity = 1 << 12;
    let weighs_rate = |case: &Case| case.is_default() && case.row.overfill != Overfill::Forgets;
    each(cases().into_iter().filter(weighs_rate), Case::name, |case| {
        let (least, most) = case.row.hashes;
        for bits_per_key in [4, 8, 16, 32, 64, 128] {
            let spec = &Spec { capacity, bits: bits_per_key * capacity, ..case.spec() };
            let rate = |hashes| {
                let geometry = petal::geometry(&Spec { hashes, ..*spec }).ok()?;
                Some((case.row.false_positive_rate)(&geometry, capacity))
            };
            let Some(own) = rate(0) else { continue };
            let best = (least..=most.min(64)).filter_map(rate).fold(own, f64::min);
            assert!(own <= 1.01 * best, "{}: {own:e} with {bits_per_key} bits a key, {best:e} could be", case.name());
        }
    });
}
