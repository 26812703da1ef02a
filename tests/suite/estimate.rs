//! Estimates against the truth: unbiased, with the standard errors that they claim.

use crate::common::{at_rate, empty, mix};
use petal::estimate;
use petal::kinds::bloom;
use petal::{
    Builder, BuilderOptions, Capabilities, Filter, HashFunction, Keys, Overfill, Spec, estimate_overlap, registry,
};

/// A filter of `spec` with the external hashes of `keys`, under the given seed.
fn filled(spec: &Spec, seed: u64, keys: std::ops::Range<u64>) -> Filter {
    let hashes: Vec<u64> = keys.map(|key| mix(mix(seed) ^ key)).collect();
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    builder.add_batch(&Keys::Hashes(&hashes)).outcome.unwrap();
    builder.finish().unwrap()
}

fn spec_of(row: &petal::Row, capacity: u64) -> Spec {
    at_rate(&Spec { kind: Some(row.kind), hash: HashFunction::External, capacity, ..Spec::default() }, 0.01)
}

/// The kinds that can estimate, except those whose keys are integers, which know their number.
fn estimating() -> impl Iterator<Item = &'static petal::Row> {
    let estimates =
        |row: &&petal::Row| row.capabilities.contains(Capabilities::ESTIMATE) && row.hashing.universe.is_none();
    registry::FILTERS.iter().filter(estimates)
}

/// The kinds that can estimate what two filters have in common.
fn comparing() -> impl Iterator<Item = &'static petal::Row> {
    estimating().filter(|row| empty(&spec_of(row, 10)).kind().as_overlap().is_some())
}

/// The mean and the standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    (mean, variance.sqrt())
}

#[test]
#[ignore = "slow: make test-all"]
fn cardinality_errs_as_much_as_it_says() {
    const FILTERS: u64 = 400;
    for row in estimating() {
        // Half full, full, overfull; many blocks and few.
        for (capacity, keys) in [(2000, 1000), (2000, 2000), (2000, 5000), (100, 100)] {
            if keys > capacity && row.overfill == Overfill::Refuses {
                continue;
            }
            let spec = spec_of(row, capacity);
            let found: Vec<_> = (0..FILTERS).map(|i| estimate(&filled(&spec, i, 0..keys)).unwrap().unwrap()).collect();
            let (mean, deviation) = moments(&found.iter().map(|one| one.value).collect::<Vec<_>>());
            let (claimed, _) = moments(&found.iter().map(|one| one.standard_error).collect::<Vec<_>>());
            // The mean within 4.5 of its own deviations, and 1 % of the error's square for the estimator's curvature.
            let band = 4.5 * deviation / (FILTERS as f64).sqrt() + 0.01 * keys as f64;
            assert!((mean - keys as f64).abs() < band, "{} {capacity} {keys}: mean {mean}", row.name);
            // The deviation of a deviation is 1/sqrt(2 (R - 1)) of it.
            let band = 4.5 / (2.0 * (FILTERS - 1) as f64).sqrt();
            // Errors far below a key are none: where most filters of a kind err by nothing, few of them decide.
            assert!(
                (deviation - claimed).abs() < (band + 0.02) * claimed + 0.1,
                "{} {capacity} {keys}: deviation {deviation}, claimed {claimed}",
                row.name
            );
        }
    }
}

#[test]
fn comparisons_cover_the_truth() {
    const PAIRS: u64 = 200;
    for row in comparing() {
        let spec = spec_of(row, 4000);
        // 3000 and 2000 keys, 1000 of them in common.
        let (mut outside, mut values) = ([0; 5], Vec::new());
        for i in 0..PAIRS {
            let (a, b) = (filled(&spec, i, 0..3000), filled(&spec, i, 2000..4000));
            let found = estimate_overlap(&a, &b).unwrap();
            let all = [found.first, found.second, found.union, found.intersection, found.jaccard];
            for ((one, truth), outside) in all.iter().zip([3000.0, 2000.0, 4000.0, 1000.0, 0.25]).zip(&mut outside) {
                let one = one.unwrap();
                *outside += u64::from(!(one.low() < truth && truth < one.high()));
            }
            values.push(found.intersection.unwrap().value);
        }
        // 95 % intervals: 10 of 200 outside are expected, and 24 are 4.5 deviations more. The last two intervals are
        // bounds.
        assert!(outside.iter().all(|count| *count <= 24), "{}: {outside:?}", row.name);
        let (mean, deviation) = moments(&values);
        assert!((mean - 1000.0).abs() < 4.5 * deviation / (PAIRS as f64).sqrt() + 10.0, "{}: {mean}", row.name);
    }
}

/// The estimate of differences is unbiased, and its errors are as large as its standard error says: for sets that are
/// nearly the same, for unlike sets, and for one set inside the other.
#[test]
#[ignore = "slow: make test-all"]
fn differences_err_as_much_as_they_say() {
    const PAIRS: u64 = 250;
    for row in comparing() {
        let spec = spec_of(row, 4000);
        for (first, second, truth) in [
            (0..3000, 15..3005, 20.0),
            (0..3000, 2000..4000, 3000.0),
            (0..1000, 1000..3000, 3000.0),
            (0..3800, 0..3700, 100.0),
        ] {
            let found: Vec<_> = (0..PAIRS)
                .map(|i| {
                    let (a, b) = (filled(&spec, i, first.clone()), filled(&spec, i, second.clone()));
                    estimate_overlap(&a, &b).unwrap().differences.unwrap()
                })
                .collect();
            let (mean, deviation) = moments(&found.iter().map(|one| one.value).collect::<Vec<_>>());
            let (claimed, _) = moments(&found.iter().map(|one| one.standard_error).collect::<Vec<_>>());
            let band = 4.5 * deviation / (PAIRS as f64).sqrt() + 0.003 * truth;
            assert!((mean - truth).abs() < band, "{} {first:?} {second:?}: mean {mean}", row.name);
            let band = 4.5 / (2.0 * (PAIRS - 1) as f64).sqrt();
            assert!(
                (deviation - claimed).abs() < (band + 0.03) * claimed + 0.1,
                "{} {first:?} {second:?}: deviation {deviation}, claimed {claimed}",
                row.name
            );
        }
        let same = filled(&spec, 1, 0..3000);
        let found = estimate_overlap(&same, &same).unwrap().differences.unwrap();
        assert!(found.value == 0.0 && found.standard_error < 1e-3, "{}: {found:?}", row.name);
    }
}

/// X_A = 400, X_B = 380, X_or = 600 of m = 1024 with k = 3: the published vector, through real filters.
#[test]
fn an_intersection_is_what_the_bits_say() {
    let spec =
        Spec { kind: Some(bloom::ROW.kind), bits: 1024, hashes: 3, hash: HashFunction::External, ..Spec::default() };
    let (a, b) = (filled(&spec, 1, 0..170), filled(&spec, 1, 150..300));
    let found = estimate_overlap(&a, &b).unwrap();
    let mut union = a.copy().unwrap();
    union.merge(&b).unwrap();
    let ones = |filter: &Filter| (filter.statistics().fill * 1024.0).round();
    let (xa, xb, xor) = (ones(&a), ones(&b), ones(&union));
    let (m, both) = (1024.0_f64, xa + xb - xor);
    // Papapetrou et al. write it with the bits of the AND, of which some are accidents.
    let accidents = m - (both * m - xa * xb) / (m - xa - xb + both);
    let papapetrou = -(m.ln() - accidents.ln()) / (3.0 * (-1.0 / m).ln_1p());
    let from_counts = |x: f64| (-x / m).ln_1p() / (3.0 * (-1.0 / m).ln_1p());
    let ours = found.intersection.unwrap().value;
    assert!((ours - (from_counts(xa) + from_counts(xb) - from_counts(xor))).abs() < 1e-9);
    assert!((ours - papapetrou).abs() < 1e-6, "{ours} {papapetrou}");
}

#[test]
fn disjoint_sets_may_overlap_by_less_than_nothing_and_full_filters_do_not_tell() {
    let spec =
        Spec { kind: Some(bloom::ROW.kind), bits: 4096, hashes: 3, hash: HashFunction::External, ..Spec::default() };
    let raw = (0..50).map(|i| {
        let (a, b) = (filled(&spec, i, 0..600), filled(&spec, i, 600..1200));
        estimate_overlap(&a, &b).unwrap().intersection.unwrap().value
    });
    assert!(raw.clone().any(|value| value < 0.0), "raw values are not clamped");
    let full = filled(&spec, 0, 0..20_000);
    assert_eq!(estimate(&full).unwrap(), None);
    let empty = empty(&spec);
    let found = estimate_overlap(&full, &empty).unwrap();
    assert!(found.first.is_none() && found.union.is_none() && found.intersection.is_none());
    assert!(found.differences.is_none());
    assert_eq!(found.second.unwrap().value, 0.0);
}

/// The errors of what is made of several estimates are the bounds that [`petal::Overlap`] claims: those of a sum for
/// an intersection, and for the Jaccard index `(|A| + |B|) / |A or B| - 1` those of its numerator and, as many times as
/// the numerator is larger, of its denominator. They are compared with numbers, because a test of coverage lets a bound
/// be too large.
#[test]
fn errors_add_up() {
    for row in comparing() {
        let spec = spec_of(row, 4000);
        let (a, b) = (filled(&spec, 1, 0..3000), filled(&spec, 1, 2000..4000));
        let found = estimate_overlap(&a, &b).unwrap();
        let (first, second, union) = (found.first.unwrap(), found.second.unwrap(), found.union.unwrap());
        for one in [first, second, union] {
            assert!(one.standard_error > 0.0);
            assert!((one.low() - (one.value - 1.96 * one.standard_error)).abs() < 1e-4 * one.standard_error);
            assert!((one.high() - (one.value + 1.96 * one.standard_error)).abs() < 1e-4 * one.standard_error);
        }
        let intersection = found.intersection.unwrap();
        let expected = first.standard_error + second.standard_error + union.standard_error;
        assert!((intersection.standard_error / expected - 1.0).abs() < 1e-12, "{}", row.name);
        let jaccard = found.jaccard.unwrap();
        let ratio = (first.value + second.value) / union.value;
        let expected = (first.standard_error + second.standard_error + ratio * union.standard_error) / union.value;
        assert!((jaccard.value - (ratio - 1.0)).abs() < 1e-12);
        assert!((jaccard.standard_error / expected - 1.0).abs() < 1e-12, "{}", row.name);
        // Two empty filters have nothing in common, with certainty.
        let empty = empty(&spec);
        let nothing = estimate_overlap(&empty, &empty).unwrap().jaccard.unwrap();
        assert_eq!((nothing.value, nothing.standard_error), (0.0, 0.0));
        assert!(estimate_overlap(&a, &empty).unwrap().jaccard.unwrap().value.abs() < 1e-12);
    }
}
