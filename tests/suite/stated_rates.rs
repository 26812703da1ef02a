//! The rate that statistics state for one filter is the rate of that filter, and not the mean over filters like it: in
//! small filters, at rates at which nearly all lookups say yes, and where keys come again. Each kind is held to what
//! petal.h says about the field.

use crate::common::{Case, cases, hash_of, is_soak, mix};
use petal::{Answers, Builder, BuilderOptions, Capabilities, Filter, Keys, Spec};

const SIGMAS: f64 = 4.5;

/// Numbers of keys and rates.
const CORNERS: [(u64, f64); 9] =
    [(2, 0.3), (10, 0.9), (10, 0.3), (40, 0.5), (300, 0.9), (300, 0.2), (700, 0.7), (3000, 0.9), (3000, 0.05)];

/// How far petal.h says the stated rate may be off, as a share of it: 0 if it is exact.
fn words(case: &Case, keys: u64) -> f64 {
    match case.row.name {
        "scalable" => 0.05,
        "hash_compaction" if keys >= 300 => 0.05,
        "bloom" if ["double", "triple"].iter().any(|name| case.layout_name().contains(name)) && keys >= 300 => 0.1,
        _ => 0.0,
    }
}

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

/// What is wrong with the rate of one filter, if anything.
fn compare(case: &Case, filter: &Filter, (keys, rate): (u64, f64), lookups: u64, what: &str) -> Option<String> {
    let others: Vec<u64> = (0..lookups).map(|i| hash_of(&case.spec(), mix(keys << 40 | 1 << 39 | i))).collect();
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(&others), &mut answers).unwrap();
    let (said, found) = (filter.statistics().false_positive_rate, answers.true_count as f64 / lookups as f64);
    let sigma = (said * (1.0 - said) / lookups as f64).sqrt().max(1.0 / lookups as f64);
    let band = SIGMAS * sigma + words(case, keys) * said;
    let off = (found - said) / sigma;
    ((found - said).abs() > band).then(|| {
        format!("{}: {keys} keys at {rate}{what}: said {said:.5}, found {found:.5}, {off:+.1} sigma", case.name())
    })
}

/// In the soak every kind with all values of its parameters; otherwise the default ones, and one in ten of the others.
#[test]
fn one_filter_has_the_rate_that_is_stated_of_it() {
    let lookups = if is_soak() { 400_000 } else { 40_000 };
    let mut wrong = Vec::new();
    let is_taken =
        |(i, case): &(usize, Case)| !case.is_of_integers() && (is_soak() || case.is_default() || i % 10 == 3);
    for (i, case) in cases().into_iter().enumerate().filter(is_taken) {
        let is_corner = |place: usize| is_soak() || case.is_default() || (place + i).is_multiple_of(3);
        for (_, corner) in CORNERS.into_iter().enumerate().filter(|(place, _)| is_corner(*place)) {
            let (keys, rate) = corner;
            let spec = case.sized(keys, rate);
            if petal::geometry(&spec).is_err() {
                continue;
            }
            let hashes_of =
                |set: u64| -> Vec<u64> { (0..keys).map(|i| hash_of(&spec, mix(set << 50 | keys << 34 | i))).collect() };
            // One small filter may happen to have the mean rate.
            for set in 1..if keys <= 40 { 8 } else { 1 } {
                let filter = made(&spec, &hashes_of(set));
                wrong.extend(filter.and_then(|filter| compare(&case, &filter, corner, lookups, "")));
            }
            let hashes = hashes_of(0);
            let Some(mut filter) = made(&spec, &hashes) else { continue };
            wrong.extend(compare(&case, &filter, corner, lookups, ""));
            // Windows that have the same keys over and over.
            if case.capabilities().contains(Capabilities::AGE) {
                let some = &hashes[..keys.div_ceil(3) as usize];
                for _ in 0..4 {
                    // Windows of keys move on by themselves too.
                    let _ = filter.advance(1);
                    filter.insert_batch(&Keys::Hashes(some), None).outcome.unwrap();
                }
                wrong.extend(compare(&case, &filter, corner, lookups, ", again and again"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
