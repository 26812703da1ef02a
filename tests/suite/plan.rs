//! The planner: its proposals have the sizes and rates of the filters that kinds make, in the promised order.

use crate::common::{each_kind, filled, mix};
use petal::plan::{FILTERS_COUNT, Fit, Goal, Proposal, Request, plan};
use petal::{Capabilities, Filter, Image, Row, Spec, Status, image_size, registry};

fn request(keys: u64, goal: Goal) -> Request {
    Request {
        keys,
        goal,
        capabilities: Capabilities::NONE,
        is_static: false,
        universe: 0,
        frequent: 0.0,
        non_members: 0,
        times: 0,
    }
}

/// The proposals that fit; these come first in a plan.
fn fitting(proposals: &[Proposal]) -> Vec<(&Proposal, Fit)> {
    let fits: Vec<_> =
        proposals.iter().filter_map(|proposal| Some((proposal, *proposal.outcome.as_ref().ok()?))).collect();
    assert!(proposals[..fits.len()].iter().all(|proposal| proposal.outcome.is_ok()), "what fits comes first");
    fits
}

/// The spec of a proposed filter.
fn made(proposal: &Proposal, fit: &Fit, spec: Spec) -> Spec {
    let mut spec = Spec { kind: Some(proposal.kind), ..spec };
    spec.parameters[0] = fit.setting.unwrap_or_default();
    spec
}

/// The planner proposes two blocks per key for `blocked` where these save a tenth of the memory or halve the rate, as
/// at low rates.
#[test]
fn two_blocks_are_proposed_where_they_pay() {
    let blocked = petal::kinds::blocked::ROW.kind;
    let two = petal::Setting { id: petal::kinds::blocked::BLOCKS.id(), value: 2.0 };
    let of = |goal| {
        let all = plan(&request(1_000_000, goal)).unwrap();
        let fits = fitting(&all);
        fits.into_iter().find(|(proposal, _)| proposal.kind == blocked).unwrap().1
    };
    for (rate, pays) in [(0.1, false), (1e-2, false), (1e-3, false), (1e-4, true), (1e-6, true)] {
        let fit = of(Goal::FalsePositiveRate(rate));
        assert_eq!(fit.setting, pays.then_some(two), "{rate}");
        assert_eq!(fit.lines_per_lookup, if pays { 2.0 } else { 1.0 }, "{rate}");
        let one = image_size(&Spec { kind: Some(blocked), ..Spec::with_capacity(1_000_000, rate).unwrap() }).unwrap();
        assert!(fit.bytes as f64 <= if pays { 0.9 } else { 1.0 } * one as f64, "{rate}");
    }
    for (bits_per_key, pays) in [(5, false), (10, false), (24, true), (32, true)] {
        let fit = of(Goal::Memory(1_000_000 * bits_per_key / 8));
        assert_eq!(fit.setting, pays.then_some(two), "{bits_per_key} bits");
    }
}

/// A rate that is a power of two costs no bit more than a rate just above it, although equal hashes of n keys add
/// n / 2^64 to what fingerprints give: in every kind, and as the planner has it.
#[test]
fn powers_of_two_cost_what_their_neighbours_do() {
    let mut sizes = 0;
    for rate in [8, 16].map(|bits| (-f64::from(bits)).exp2()) {
        for keys in [10_000, 100_000, 1_000_000, 30_000_000, 1_000_000_000] {
            let of = |rate| {
                let wanted = Request { is_static: true, ..request(keys, Goal::FalsePositiveRate(rate)) };
                plan(&wanted).unwrap()
            };
            let (exact, above) = (of(rate), of(rate * 1.0002));
            for (proposal, fit) in fitting(&exact) {
                let neighbour = above.iter().find(|above| above.kind == proposal.kind).unwrap();
                let most = neighbour.outcome.as_ref().unwrap().bits_per_key * 1.01;
                assert!(fit.bits_per_key <= most, "{} of {keys} keys at {rate}: {fit:?}, {most}", proposal.name);
                let spec = made(proposal, &fit, Spec::with_capacity(keys, rate).unwrap());
                let bits = petal::geometry(&spec).unwrap().bits as f64 / keys as f64;
                assert!(bits <= most, "{} of {keys} keys at {rate}: {bits} bits a key", proposal.name);
                assert!(fit.false_positive_rate <= rate * (1.0 + 1e-4), "{}: {fit:?}", proposal.name);
                sizes += 1;
            }
        }
    }
    assert!(sizes > 150, "{sizes} sizes");
}

/// The planner proposes each kind once, with the figures of the filter that its spec makes.
#[test]
fn proposals_are_what_would_be_made() {
    for (keys, rate) in [(1, 0.5), (1000, 0.01), (1_000_000, 1e-3), (100_000_000, 0.02), (1_000_000, 1e-6)] {
        let wanted = Request { is_static: true, ..request(keys, Goal::FalsePositiveRate(rate)) };
        let proposals = plan(&wanted).unwrap();
        assert_eq!(proposals.len(), FILTERS_COUNT);
        let mut kinds: Vec<_> = proposals.iter().map(|proposal| proposal.kind.0).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), FILTERS_COUNT);
        for (proposal, fit) in fitting(&proposals) {
            let row = registry::find(proposal.kind).unwrap();
            let spec = made(proposal, &fit, Spec::with_capacity(keys, rate).unwrap());
            let geometry = petal::geometry(&spec).unwrap();
            let bytes = petal::format::image_bytes(geometry.payload_bytes).unwrap();
            // If a size depends on the hashes of keys, the plan has an upper bound that is close to the size.
            let most = if row.building.most_bytes.is_some() { bytes + bytes / 20 + 256 } else { bytes };
            assert!(proposal.name == row.name && (bytes..=most).contains(&fit.bytes), "{}: {fit:?}", row.name);
            assert!(!row.is_made_empty() || image_size(&spec).unwrap() == fit.bytes);
            assert_eq!(fit.bits_per_key, geometry.bits as f64 / keys as f64);
            assert_eq!(fit.false_positive_rate, (row.false_positive_rate)(&geometry, keys));
            assert!(fit.false_positive_rate <= rate);
            assert_eq!(fit.lines_per_lookup, (row.lines_per_lookup)(&geometry));
        }
    }
}

/// Filters that are built from all of their keys match their plan: nearly the same size, and the promised rate, by the
/// formula and among absent keys.
#[test]
fn what_is_built_is_what_was_planned() {
    for (keys, rate) in [(1, 0.1), (1000, 0.01), (11_500, 1.0 / 256.0), (200_000, 0.15), (1_300_000, 1e-3)] {
        let wanted = Request { is_static: true, ..request(keys, Goal::FalsePositiveRate(rate)) };
        let proposals = plan(&wanted).unwrap();
        for (proposal, fit) in fitting(&proposals) {
            let row = registry::find(proposal.kind).unwrap();
            // A build takes memory for the collected hashes and for the work of the kind.
            assert_eq!(fit.build_memory > 8 * keys, !row.is_made_empty(), "{}", row.name);
            if row.is_made_empty() {
                continue;
            }
            let what = format!("{}, {keys} keys at {rate}: {fit:?}", row.name);
            let spec = Spec { kind: Some(row.kind), false_positive_rate: rate, ..Spec::default() };
            let filter = filled(&spec, 0..keys);
            let close = |built: f64, planned: f64| (built - planned).abs() <= 0.01 * planned;
            let geometry = filter.base().geometry();
            let bytes = filter.serialized_size();
            assert!(bytes <= fit.bytes, "{what}, built with {bytes} bytes");
            assert!(bytes == fit.bytes || row.building.most_bytes.is_some(), "{what}, built with {bytes} bytes");
            assert!(fit.bytes <= bytes + bytes / 32 + 512, "{what}, built with {bytes} bytes");
            assert!(close(geometry.bits as f64 / keys as f64, fit.bits_per_key), "{what}, built as {geometry:?}");
            let promised = filter.expected_false_positive_rate(keys);
            assert!((promised / fit.false_positive_rate - 1.0).abs() < 1e-9, "{what}, built with {promised}");
            let asked = 200_000;
            let found = (keys..keys + asked).filter(|key| filter.contains_u64(*key)).count() as f64;
            let mean = fit.false_positive_rate * asked as f64;
            assert!((found - mean).abs() < 4.5 * mean.sqrt().max(1.0), "{what}: {found} of {mean}");
        }
    }
}

/// A planned size is the built size, to the byte, or an upper bound if the row says so. The test covers every kind, few
/// keys and many, a rate and a memory. No filter that is planned for a memory exceeds it.
#[test]
#[ignore = "slow: make test-all"]
fn no_filter_is_larger_than_planned() {
    let (mut exact, mut bounded) = (0, 0);
    for keys in (1..20).chain([23, 31, 44, 45, 64, 99, 100, 101, 180, 333, 500, 1000, 3000, 12_000]) {
        let rates = [0.5, 0.3, 0.1, 1.0 / 256.0, 0.01, 1e-4, 1e-6, 1e-8].map(Goal::FalsePositiveRate);
        let memories = [3, 7, 11, 16, 28].map(|bits| Goal::Memory(keys * bits / 8 + 400));
        for goal in rates.into_iter().chain(memories) {
            let wanted = Request { is_static: true, ..request(keys, goal) };
            for (proposal, fit) in fitting(&plan(&wanted).unwrap()) {
                let row = registry::find(proposal.kind).unwrap();
                let rate = fit.false_positive_rate;
                if let Goal::Memory(bytes) = goal {
                    assert!(fit.bytes <= bytes, "{}: {fit:?} in {bytes}", row.name);
                }
                if row.is_made_empty()
                    || keys > 1000 && !mix(keys ^ u64::from(row.kind.0) ^ rate.to_bits()).is_multiple_of(4)
                {
                    continue;
                }
                let rate = if let Goal::FalsePositiveRate(rate) = goal { rate } else { rate };
                let spec = Spec { kind: Some(row.kind), false_positive_rate: rate, ..Spec::default() };
                let tries = if row.building.most_bytes.is_none() || keys > 1000 { 1 } else { 5 };
                for try_number in 0..tries {
                    let first = mix(keys ^ try_number << 32);
                    let built = filled(&spec, first..first + keys).serialized_size();
                    let is_right =
                        if row.building.most_bytes.is_some() { built <= fit.bytes } else { built == fit.bytes };
                    assert!(is_right, "{}, {keys} keys, {goal:?}: built with {built} bytes, {fit:?}", row.name);
                    if row.building.most_bytes.is_some() { bounded += 1 } else { exact += 1 }
                }
            }
        }
    }
    assert!(exact > 300 && bounded > 1500, "{exact} and {bounded} were built");
}

/// If keys come often, proposed kinds have room for the copies and count them. Kinds that do not count so far say so.
#[test]
fn what_is_to_count_has_room_for_it() {
    const KEYS: u64 = 2000;
    let capabilities = Capabilities::COUNT;
    let mut refused = 0;
    for times in [1, 2, 3, 9, 200] {
        let wanted = Request { capabilities, times, ..request(KEYS, Goal::FalsePositiveRate(0.01)) };
        for Proposal { kind, name, outcome } in plan(&wanted).unwrap() {
            let row = registry::find(kind).unwrap();
            let fit = match outcome {
                Ok(fit) => fit,
                Err(error) => {
                    let counts = row.capabilities.contains(capabilities);
                    refused += u64::from(counts && times > 1 && error.status() == Status::Unsupported);
                    continue;
                }
            };
            // The spec's capacity gives the filter the planned size, with room for all copies.
            let sized = |capacity| Spec { kind: Some(kind), ..Spec::with_capacity(capacity, 0.01).unwrap() };
            let is_it = |capacity: &u64| image_size(&sized(*capacity)).unwrap() == fit.bytes;
            let capacity = (KEYS..=KEYS * 3 * times).find(is_it).unwrap();
            let mut filter = Filter::new(&sized(capacity)).unwrap();
            for key in 0..KEYS {
                filter
                    .insert_times(u64::to_le_bytes(key), times)
                    .unwrap_or_else(|error| panic!("{name}, {times} times: {error}"));
            }
            assert!((0..KEYS).all(|key| filter.count_u64(key).unwrap() >= times), "{name}, {times} times");
        }
    }
    assert!(refused > 0, "every kind counts to 200");
}

/// The proposed rate also holds for keys that come after the capacity.
#[test]
fn what_is_to_grow_keeps_its_rate() {
    for goal in [Goal::FalsePositiveRate(0.01), Goal::Memory(8000)] {
        let wanted = Request { capabilities: Capabilities::GROW, ..request(1000, goal) };
        let proposals = plan(&wanted).unwrap();
        let reaches = |row: &&Row| goal == Goal::Memory(8000) || (row.least_rate)(&Spec::default(), 1000) <= 0.01;
        let grow = registry::FILTERS.iter().filter(|row| row.capabilities.contains(Capabilities::GROW));
        let able = grow.filter(reaches).count();
        let fits = fitting(&proposals);
        assert_eq!(fits.len(), able);
        for (proposal, fit) in fits {
            let spec = Spec::with_capacity(1000, fit.false_positive_rate).unwrap();
            let mut filter = Filter::new(&Spec { kind: Some(proposal.kind), ..spec }).unwrap();
            (0..10_000).for_each(|key| assert!(filter.insert_u64(key).is_ok()));
            let rate = filter.false_positive_rate();
            assert!(rate <= 1.2 * fit.false_positive_rate, "{}: {rate}, not {fit:?}", proposal.name);
        }
    }
}

/// Proposals for a rate are ordered by bytes, and proposals for a memory by the rate. Among equals, the one that
/// touches fewer lines comes first.
#[test]
fn the_best_comes_first() {
    for keys in [1, 100, 10_000, 10_000_000] {
        for rate in [0.1, 0.01, 1e-4] {
            let proposals = plan(&request(keys, Goal::FalsePositiveRate(rate))).unwrap();
            for pair in fitting(&proposals).windows(2) {
                let (a, b) = (pair[0].1, pair[1].1);
                assert!((a.bytes, a.lines_per_lookup) <= (b.bytes, b.lines_per_lookup), "{keys} keys at {rate}");
            }
        }
        for bits_per_key in [6, 10, 16] {
            let bytes = (keys * bits_per_key).div_ceil(8) + 1024;
            let proposals = plan(&request(keys, Goal::Memory(bytes))).unwrap();
            for pair in fitting(&proposals).windows(2) {
                let (a, b) = (pair[0].1, pair[1].1);
                let order = (a.false_positive_rate, a.lines_per_lookup) <= (b.false_positive_rate, b.lines_per_lookup);
                assert!(order, "{keys} keys in {bytes} bytes: {a:?} before {b:?}");
            }
        }
    }
    // Filters of one line have the same size in every kind, so the lines of a lookup decide.
    let proposals = plan(&request(1, Goal::FalsePositiveRate(0.5))).unwrap();
    let fits = fitting(&proposals);
    assert!(fits.windows(2).any(|pair| pair[0].1.bytes == pair[1].1.bytes), "no equals were compared");
}

/// Whether a kind forgets or loses keys, so that the planner proposes it only on request.
fn forgets(row: &petal::Row) -> bool {
    row.capabilities.contains(Capabilities::AGE) || row.capabilities.contains(Capabilities::MAY_LOSE_KEYS)
}

/// A proposal uses the memory as well as its kind can: no lower rate fits.
#[test]
fn a_memory_is_used_up() {
    for (keys, bytes) in [(1000, 2000), (100_000, 150_000), (1_000_000, 1_500_000)] {
        let proposals = plan(&request(keys, Goal::Memory(bytes))).unwrap();
        let can = |row: &&petal::Row| {
            row.capabilities.contains(Capabilities::INSERT)
                && row.hashing.universe.is_none()
                && !row.room.is_power_of_two
                && !forgets(row)
        };
        let fits: Vec<_> = fitting(&proposals)
            .into_iter()
            .filter(|(proposal, _)| registry::find(proposal.kind).as_ref().is_some_and(can))
            .collect();
        assert_eq!(fits.len(), registry::FILTERS.iter().filter(can).count());
        for (proposal, fit) in fits {
            assert!(fit.bytes <= bytes);
            let better = Spec::with_capacity(keys, fit.false_positive_rate * 0.98).unwrap();
            let better = Spec { kind: Some(proposal.kind), ..better };
            if (registry::find(proposal.kind).unwrap().least_rate)(&better, keys) > better.false_positive_rate {
                continue;
            }
            let larger = image_size(&better).unwrap();
            assert!(
                larger > bytes,
                "{}: {} bytes of {bytes} used, {larger} for a little less",
                proposal.name,
                fit.bytes
            );
        }
    }
}

#[test]
fn what_cannot_be_says_why() {
    for (goal, status) in [
        (Goal::FalsePositiveRate(0.0), Status::FalsePositiveRate),
        (Goal::FalsePositiveRate(1.0), Status::FalsePositiveRate),
        (Goal::FalsePositiveRate(f64::NAN), Status::FalsePositiveRate),
        (Goal::Memory(0), Status::OutOfRange),
    ] {
        assert_eq!(plan(&request(10, goal)).err().unwrap().status(), status);
    }
    // Even the smallest image is larger than a byte.
    let tiny = Request { is_static: true, ..request(10, Goal::Memory(1)) };
    for universe in [0, 10] {
        for proposal in plan(&Request { universe, ..tiny }).unwrap() {
            let needs_universe = registry::find(proposal.kind).unwrap().hashing.universe.is_some() && universe == 0;
            let forgets = forgets(registry::find(proposal.kind).unwrap());
            let expected = if needs_universe || forgets { Status::Unsupported } else { Status::TooLarge };
            assert_eq!(proposal.outcome.unwrap_err().status(), expected, "{}", proposal.name);
        }
    }
    each_kind(registry::FILTERS, |row| {
        for (name, capability) in Capabilities::ALL {
            let rate = (row.least_rate)(&Spec::default(), 10).max(0.1);
            let wanted = Request { capabilities: capability, ..request(10, Goal::FalsePositiveRate(rate)) };
            let proposals = plan(&wanted).unwrap();
            let outcome = &proposals.iter().find(|proposal| proposal.kind == row.kind).unwrap().outcome;
            // The planner proposes kinds that lose keys only if the request allows lost keys.
            let allows_losses = capability == Capabilities::MAY_LOSE_KEYS;
            let can = row.capabilities.contains(capability) || allows_losses;
            match outcome {
                // The planner proposes a kind that forgets only if the request asks for ageing.
                Err(error) if forgets(row) && capability != Capabilities::AGE => {
                    assert_eq!(error.status(), Status::Unsupported)
                }
                Ok(_) => assert!(can, "{} cannot {name}", row.name),
                Err(error) if row.hashing.universe.is_some() => assert!(!error.message().is_empty()),
                Err(error) if row.capabilities.contains(Capabilities::MAY_LOSE_KEYS) && !allows_losses => {
                    assert!(error.message().contains("lose keys") || error.message().contains(name), "{error}");
                }
                Err(error) if can => {
                    assert!(!row.capabilities.contains(Capabilities::INSERT), "{}: {error}", row.name);
                }
                Err(error) => assert!(error.message().contains(name), "{error}"),
            }
        }
    });
}

/// Every number of keys has a size in bits and in bytes, or is refused.
#[test]
fn no_capacity_overflows() {
    each_kind(registry::FILTERS, |row| {
        for shift in 30..64 {
            for rate in [0.3, 0.01, 1e-9] {
                let capacity = u64::MAX >> (63 - shift);
                let spec = Spec { kind: Some(row.kind), capacity, false_positive_rate: rate, ..Spec::default() };
                match row.geometry_of(&spec) {
                    Ok(geometry) => assert!(geometry.bits / 8 <= geometry.payload_bytes, "{}: {geometry:?}", row.name),
                    // Low rates for that many keys need hashes of more than 64 bits.
                    Err(error) => assert!(
                        matches!(error.status(), Status::TooLarge | Status::OutOfRange),
                        "{} for {capacity}: {error}",
                        row.name
                    ),
                }
            }
        }
    });
}

/// A plan for no keys is a plan for one key. The filter exists, and its bits per key are a number.
#[test]
fn no_keys_are_one() {
    let (none, one) = (request(0, Goal::FalsePositiveRate(0.01)), request(1, Goal::FalsePositiveRate(0.01)));
    let fits =
        |request: &Request| -> Vec<Fit> { fitting(&plan(request).unwrap()).into_iter().map(|(_, fit)| fit).collect() };
    assert_eq!(fits(&none), fits(&one));
    assert!(Filter::new(&Spec::with_capacity(1, 0.01).unwrap()).is_ok());
}

/// A bucket lies in one line or across two. A lookup reads as many lines as the mean over all places of a bucket.
#[test]
fn buckets_lie_in_as_many_lines_as_told() {
    // The buckets of a lookup, the bits of each, and the bits between the places where a bucket may begin.
    type Bits = fn(u64) -> u64;
    let kinds: [(&str, u64, Bits, u64); 2] =
        [("d_left", 4, |width| 8 * (width + 2), 8), ("taffy", 2, |width| 4 * (width + 1), 1)];
    for (name, buckets, bits, step) in kinds {
        for rate in [0.1, 0.01, 1e-4] {
            let row = registry::find_name(name).unwrap();
            let spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(1_000_000, rate).unwrap() };
            let geometry = petal::geometry(&spec).unwrap();
            let bits = bits(geometry.words[0]);
            let lines: u64 = (0..512 / step).map(|i| (i * step + bits - 1) / 512 + 1).sum();
            let (mean, told) = ((buckets * lines * step) as f64 / 512.0, (row.lines_per_lookup)(&geometry));
            assert!((told - mean).abs() < 1e-9, "{name} at {rate}: {told} told, {mean} counted");
        }
    }
}
