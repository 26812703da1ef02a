//! The planner where absent keys are known: a whole universe, or those that are asked for often. What is proposed is
//! what a builder makes.

use crate::common::{image, mix};
use petal::plan::{Fit, Goal, Request, plan};
use petal::{Builder, BuilderOptions, Capabilities, Filter, Image, Keys, Result, Spec, Status, registry};

fn request(keys: u64, goal: Goal) -> Request {
    Request {
        keys,
        goal,
        capabilities: Capabilities::NONE,
        is_static: true,
        universe: 0,
        frequent: 0.0,
        non_members: 0,
        times: 0,
    }
}

fn of(kind: &str, request: &Request) -> Result<Fit> {
    plan(request).unwrap().into_iter().find(|proposal| proposal.name == kind).unwrap().outcome
}

fn keys(from: u64, count: u64) -> Vec<u64> {
    (from..from + count).map(mix).collect()
}

fn build(spec: &Spec, members: u64, give: impl FnOnce(&mut Builder) -> petal::Taken) -> Filter {
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    builder.add_batch(&Keys::U64(&keys(0, members))).outcome.unwrap();
    give(&mut builder).outcome.unwrap();
    builder.finish().unwrap()
}

/// Asserts that a filter is at most as large as a fit says, and about as large.
#[track_caller]
fn check(filter: &Filter, fit: &Fit, members: u64) {
    let bits = filter.base().geometry().bits as f64;
    let bytes = image(filter).len() as u64;
    assert!(bytes <= fit.bytes && fit.bytes <= bytes + bytes / 32 + 1024, "{bytes} bytes, {fit:?}");
    let expected = fit.bits_per_key * members as f64;
    assert!((bits - expected).abs() <= 0.01 * expected + 2000.0, "{bits} bits, {expected} expected");
}

#[test]
#[ignore = "slow: make test-all"]
fn universes() {
    let kind = registry::find_name("exact_set").unwrap().kind;
    for (members, universe) in
        [(1, 1), (1, 1000), (1000, 1000), (20_000, 400_000), (150_000, 300_000), (90_000, 100_000)]
    {
        let spec = Spec { kind: Some(kind), ..Spec::default() };
        let excluded = keys(members, universe - members);
        let filter = build(&spec, members, |builder| builder.exclude_batch(&Keys::U64(&excluded)));
        for rate in [0.3, 1e-15] {
            let wanted = Request { universe, ..request(members, Goal::FalsePositiveRate(rate)) };
            let fit = of("exact_set", &wanted).unwrap();
            assert_eq!((fit.false_positive_rate, fit.setting), (0.0, None));
            assert!(fit.build_memory >= 8 * universe);
            // Without excluded keys a filter has the rate of its spec.
            if universe > members {
                check(&filter, &fit, members);
            }
            for memory in [fit.bytes, fit.bytes + 1000] {
                assert_eq!(of("exact_set", &Request { goal: Goal::Memory(memory), ..wanted }).unwrap(), fit);
            }
            let error = of("exact_set", &Request { goal: Goal::Memory(fit.bytes - 1), ..wanted }).unwrap_err();
            assert_eq!(error.status(), Status::TooLarge, "{error}");
        }
        let plain = of("exact_set", &request(members, Goal::FalsePositiveRate(0.01))).unwrap();
        assert!(plain.false_positive_rate > 0.0);
        let moving = Request { universe, is_static: false, ..request(members, Goal::FalsePositiveRate(0.01)) };
        assert_eq!(of("exact_set", &moving).unwrap_err().status(), Status::Unsupported);
    }
}

#[test]
fn frequent_non_members() {
    let kind = registry::find_name("stacked").unwrap().kind;
    for (members, non_members, share, rate) in
        [(1, 1, 0.5, 0.01), (50_000, 1000, 0.52, 0.004), (50_000, 0, 0.84, 0.001), (100_000, 300_000, 0.95, 1e-4)]
    {
        let wanted = Request { frequent: share, non_members, ..request(members, Goal::FalsePositiveRate(rate)) };
        let fit = of("stacked", &wanted).unwrap();
        if non_members == 0 {
            assert_eq!(of("stacked", &Request { non_members: members, ..wanted }).unwrap(), fit);
        }
        assert!(fit.false_positive_rate <= rate && fit.bits_per_key > 0.0);
        let plain = of("stacked", &request(members, Goal::FalsePositiveRate(rate))).unwrap();
        assert!(members == 1 || fit.bits_per_key < plain.bits_per_key - 0.5, "{fit:?}, {plain:?}");
        let mut spec = Spec { kind: Some(kind), false_positive_rate: rate, ..Spec::default() };
        spec.set(&petal::kinds::stacked::FREQUENT_SHARE, share).unwrap();
        let known = keys(1 << 40, if non_members == 0 { members } else { non_members });
        let filter = build(&spec, members, |builder| builder.add_frequent_batch(&Keys::U64(&known), None));
        check(&filter, &fit, members);
        for memory in [fit.bytes, 2 * fit.bytes, 20_000] {
            match of("stacked", &Request { goal: Goal::Memory(memory), ..wanted }) {
                Ok(within) => {
                    assert!(within.bytes <= memory, "{within:?}");
                    let is_more = memory >= fit.bytes;
                    assert!(
                        !is_more || within.false_positive_rate <= 2.0 * fit.false_positive_rate,
                        "{within:?}, {fit:?}"
                    );
                }
                Err(error) => assert!(memory == 20_000 && error.status() == Status::TooLarge, "{error}"),
            }
        }
    }
    let wanted = request(1000, Goal::FalsePositiveRate(0.01));
    for frequent in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(plan(&Request { frequent, ..wanted }).unwrap_err().status(), Status::OutOfRange);
    }
    assert_eq!(plan(&Request { non_members: 5, ..wanted }).unwrap_err().status(), Status::Contradiction);
    assert!(plan(&Request { frequent: 1.0, ..wanted }).unwrap()[0].outcome.is_ok());
}

/// A build works on a shard at a time, which has at most 6 standard deviations more keys than the mean.
#[test]
fn builds_take_a_shard_and_all_keys() {
    use petal::kinds::{exact_set, ribbon::sizing::SHARD_KEYS, stacked};
    let shard = SHARD_KEYS + 6 * SHARD_KEYS.isqrt();
    for keys in [0, 1, 1000, SHARD_KEYS, shard, shard + 1, 1 << 40] {
        let work = 32 * if keys < shard { keys } else { shard };
        assert_eq!((exact_set::ROW.building.build_memory)(keys), work + 8 * keys);
        assert_eq!((stacked::ROW.building.build_memory)(keys), work + 4 * keys);
    }
}
