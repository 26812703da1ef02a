//! Aggregates: an exact model, gossip among many participants, images, and forged bytes.

use crate::common::{Buffer, golden, image as bytes, is_soak, mix};
use crate::format::seal;
use petal::aggregate::{ROLES, ROW, STATES};
use petal::{
    Aggregate, AggregateAnswer, AggregateStateValue, AggregateStatistics, HashFunction, Image, Mode, OpenOptions, Spec,
    Status, create_as, load_as, open_as,
};
use std::collections::BTreeMap;

/// A spec of aggregates for `capacity` participants with `states` states.
fn spec(capacity: u64, rate: f64, states: u32) -> Spec {
    let mut spec = Spec { kind: Some(ROW.kind), capacity, false_positive_rate: rate, ..Spec::default() };
    spec.set(&STATES, f64::from(states)).unwrap();
    spec
}

fn with_roles(spec: &Spec, roles: f64) -> Spec {
    let mut spec = *spec;
    spec.set(&ROLES, roles).unwrap();
    spec
}

fn at(state: u32, value: f64) -> AggregateStateValue {
    AggregateStateValue { state, value }
}

/// Random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// The value of a participant in a state. Sums of these numbers are exact in doubles too.
fn value_of(id: u64, state: u32) -> AggregateStateValue {
    at(state, (mix(id << 8 | u64::from(state)) % 2001) as f64 / 8.0 - 100.0)
}

/// An aggregate with a rate at which nothing goes wrong does what a table of ids does.
#[test]
fn meetings_do_what_a_table_does() {
    const STATES: u64 = 5;
    let mut aggregate: Aggregate = create_as(&spec(300, 1e-9, STATES as u32)).unwrap();
    let (mut model, mut random) = (BTreeMap::<u64, u32>::new(), Random(1));
    // The refusals without and with cited states.
    let mut counted = [0; 2];
    for step in 0..20_000 {
        let (id, state) = (random.below(300), random.below(STATES) as u32);
        let (now, before) = (value_of(id, state), model.get(&id).copied());
        match random.below(8) {
            0 => {
                let left = aggregate.remove(u64::to_le_bytes(id), now).unwrap();
                assert_eq!(left, before == Some(state));
                if left {
                    model.remove(&id);
                }
            }
            1 => {
                // A participant that forgot what it told is refused if it changed.
                let expected = match before {
                    None => AggregateAnswer::First,
                    Some(before) if before == state => AggregateAnswer::Duplicate,
                    Some(_) => AggregateAnswer::Refused,
                };
                assert_eq!(aggregate.add(u64::to_le_bytes(id), now, &[]).unwrap(), expected, "step {step}");
                model.entry(id).or_insert(state);
                counted[0] += u64::from(expected == AggregateAnswer::Refused);
            }
            2 if before.is_some_and(|before| before != state) => {
                // So is one that cites another value.
                let wrong = at(before.unwrap(), value_of(id, before.unwrap()).value + 0.5);
                assert_eq!(aggregate.add(u64::to_le_bytes(id), now, &[wrong]).unwrap(), AggregateAnswer::Refused);
                counted[1] += 1;
            }
            _ => {
                // Whoever cites all states can change from any of them.
                let all: Vec<_> = (0..STATES as u32).map(|state| value_of(id, state)).collect();
                let cited =
                    if step % 2 == 0 { all } else { before.map(|state| value_of(id, state)).into_iter().collect() };
                let expected = match before {
                    None => AggregateAnswer::First,
                    Some(before) if before == state => AggregateAnswer::Duplicate,
                    Some(replaced) => AggregateAnswer::Changed { replaced },
                };
                assert_eq!(aggregate.add(u64::to_le_bytes(id), now, &cited).unwrap(), expected, "step {step}");
                model.insert(id, state);
            }
        }
        if step % 97 == 0 || model.len() < 3 {
            check(&aggregate, &model);
        }
    }
    let tallies = aggregate.statistics().tallies;
    assert_eq!([tallies.refused_firsts, tallies.refused_changes], counted);
    for (id, state) in &model {
        assert!(aggregate.remove(u64::to_le_bytes(*id), value_of(*id, *state)).unwrap());
    }
    check(&aggregate, &BTreeMap::new());
}

/// Compares the results with those of the table `model`.
fn check(aggregate: &Aggregate, model: &BTreeMap<u64, u32>) {
    let values: Vec<f64> = model.iter().map(|(id, state)| value_of(*id, *state).value).collect();
    let AggregateStatistics {
        count,
        sum,
        mean,
        maximum,
        minimum,
        is_maximum_exact,
        is_minimum_exact,
        participants,
        ..
    } = aggregate.statistics();
    assert_eq!((count, sum), (values.len() as u64, values.iter().sum::<f64>()));
    assert!(participants >= count as f64 && participants < count as f64 + 1e-3);
    for state in 0..aggregate.state_count() {
        assert_eq!(
            aggregate.count_in_state(state).unwrap(),
            model.values().filter(|one| **one == state).count() as u64
        );
    }
    aggregate.verify().unwrap();
    if values.is_empty() {
        assert!(mean.is_nan() && maximum.is_nan() && minimum.is_nan() && !is_maximum_exact && !is_minimum_exact);
        return;
    }
    assert_eq!(mean, values.iter().sum::<f64>() / values.len() as f64);
    let (least, greatest) =
        (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max));
    // An extreme is exact, or a bound.
    assert!(if is_maximum_exact { maximum == greatest } else { maximum > greatest }, "{maximum} {greatest}");
    assert!(if is_minimum_exact { minimum == least } else { minimum < least }, "{minimum} {least}");
}

/// The outcome of gossip among all participants.
struct Gossip {
    /// The mean relative error of the sums after all met.
    error: f64,
    /// How many changes were applied, of one change of every tenth participant at each aggregator.
    applied: u64,
    /// The share of the meetings before the changes that were refused.
    refused: f64,
    /// The share of pairs whose last meeting before the changes was refused.
    refused_pairs: f64,
}

/// Participants in gossip.
const NODES: u64 = 400;

/// `NODES` participants, each aggregator and disseminator, meet in pairs that are drawn at random, until everyone met
/// everyone (and itself). Then a tenth of them change their states, and all meet on until everyone met everyone again.
/// Every participant has its own seed, so that their false positives are independent.
fn gossip(rate: f64, seed: u64) -> Gossip {
    const STATES: u32 = 4;
    let mut random = Random(seed);
    let mut nodes: Vec<Aggregate> = (0..NODES)
        .map(|node| create_as(&Spec { seed: mix(seed ^ node << 32), ..spec(NODES, rate, STATES) }).unwrap())
        .collect();
    let mut states: Vec<u32> = (0..NODES).map(|_| random.below(STATES.into()) as u32).collect();
    // All values are above 0, so that an error of the sum has a scale.
    let value_of = |id: u64, state: u32| at(state, 50.0 + (mix(seed ^ id << 8 ^ u64::from(state)) % 101) as f64);
    let mut until_all_met = |nodes: &mut [Aggregate], states: &[u32]| {
        let (mut outcomes, mut left) = (vec![None; (NODES * NODES) as usize], NODES * NODES);
        while left > 0 {
            let (aggregator, teller) = (random.below(NODES), random.below(NODES));
            let state = states[teller as usize];
            let told = nodes[teller as usize].list_sent(u64::to_le_bytes(aggregator)).unwrap();
            let previous: Vec<_> = told.into_iter().map(|state| value_of(teller, state)).collect();
            let answer =
                nodes[aggregator as usize].add(u64::to_le_bytes(teller), value_of(teller, state), &previous).unwrap();
            nodes[teller as usize].record_sent(u64::to_le_bytes(aggregator), state, Some(answer)).unwrap();
            let outcome = &mut outcomes[(aggregator * NODES + teller) as usize];
            left -= u64::from(outcome.replace(answer).is_none());
        }
        let refused = outcomes.iter().filter(|outcome| **outcome == Some(AggregateAnswer::Refused)).count();
        refused as f64 / outcomes.len() as f64
    };
    let refused_pairs = until_all_met(&mut nodes, &states);
    let truth: f64 = states.iter().enumerate().map(|(id, state)| value_of(id as u64, *state).value).sum();
    let error = nodes.iter().map(|node| node.statistics().sum / truth - 1.0).sum::<f64>() / NODES as f64;
    let tally =
        |count: fn(&AggregateStatistics) -> u64| nodes.iter().map(|node| count(&node.statistics())).sum::<u64>() as f64;
    let refused = tally(|results| results.tallies.refusals()) / tally(|results| results.tallies.meetings());
    for state in states.iter_mut().step_by(10) {
        *state = (*state + 1) % STATES;
    }
    until_all_met(&mut nodes, &states);
    let applied = nodes.iter().map(|node| node.statistics().tallies.changes).sum();
    Gossip { error, applied, refused, refused_pairs }
}

/// One row of the table: the rate of the memories; the mean error of the sums in per cent, and how many of 16,000
/// changes were applied, each with the standard deviation of a run. The means come from simulations of the algorithm
/// outside the library, the deviations from runs of `gossip`: 20 at 5 %, and 5 at the other rates.
const TABLE: [(f64, [f64; 2], [f64; 2]); 3] = [
    (0.05, [-1.2, 0.027], [15_136.0, 23.0]),
    (0.01, [-0.16, 0.012], [15_852.0, 16.0]),
    (0.001, [-0.012, 0.0017], [15_981.0, 2.9]),
];

/// Gossip among 400 gives the errors of the table, within 4.5 deviations of a run, and those that `expected_errors`
/// predicts.
#[test]
#[ignore = "slow: make test-all"]
fn gossip_has_the_expected_errors() {
    let runs = if is_soak() { 20 } else { 1 };
    for (rate, [error, error_deviation], [applied, applied_deviation]) in TABLE {
        let all: Vec<Gossip> = (0..runs).map(|seed| gossip(rate, seed)).collect();
        let mean = |of: fn(&Gossip) -> f64| all.iter().map(of).sum::<f64>() / f64::from(runs as u32);
        let told = |of: fn(&Gossip) -> f64| {
            let spread = all.iter().map(|run| (of(run) - mean(of)).powi(2)).sum::<f64>();
            format!("{:.5} (deviation {:.5})", mean(of), (spread / f64::max(1.0, runs as f64 - 1.0)).sqrt())
        };
        let of_error: fn(&Gossip) -> f64 = |run| 100.0 * run.error;
        let of_applied: fn(&Gossip) -> f64 = |run| run.applied as f64;
        println!(
            "{rate}: error {} %, {} applied, {} of meetings and {} of pairs refused",
            told(of_error),
            told(of_applied),
            told(|run| run.refused),
            told(|run| run.refused_pairs)
        );
        assert!((mean(of_error) - error).abs() < 4.5 * error_deviation, "{} {error}", mean(of_error));
        assert!((mean(of_applied) - applied).abs() < 4.5 * applied_deviation, "{} {applied}", mean(of_applied));
        let aggregate: Aggregate = create_as(&spec(NODES, rate, 4)).unwrap();
        let expected = aggregate.expected_errors(NODES);
        assert!((mean(of_error) / 100.0 - expected.bias).abs() < 4.5 * error_deviation / 100.0);
        assert!(expected.false_positive_rate <= rate);
        assert!((0.95..1.1).contains(&(expected.missed_changes / expected.false_positive_rate)));
        // As many pairs are refused as first meetings are expected to be. The deviation is that of the sums, because
        // all values are about as large.
        let deviation = error_deviation / 100.0;
        assert!((mean(|run| run.refused_pairs) - expected.refused_firsts / NODES as f64).abs() < 4.5 * deviation);
        // A pair is refused again at each meeting, so the share of meetings nears that of the pairs.
        let share = mean(|run| run.refused) / mean(|run| run.refused_pairs);
        assert!((0.5..=1.0).contains(&share), "{share}");
        // Changes are lost at no more than the rate, and more than a few of them are.
        let lost = 1.0 - mean(of_applied) / 16_000.0;
        assert!(lost < expected.missed_changes - expected.bias, "{lost}");
    }
}

/// The estimate of how many came removes the bias.
#[test]
fn participants_are_estimated_without_bias() {
    let (mut all, mut squares) = (0.0, 0.0);
    const RUNS: u32 = 200;
    for run in 0..RUNS {
        let mut aggregate: Aggregate = create_as(&Spec { seed: u64::from(run), ..spec(200, 0.05, 1) }).unwrap();
        // An id that seems known is refused or, at the rate once more, taken for a duplicate.
        let mut is_missing =
            |id| aggregate.add(u64::to_le_bytes(id), at(0, 1.0), &[]).unwrap() != AggregateAnswer::First;
        let missing = (0..200).filter(|id| is_missing(*id)).count() as u64;
        let results = aggregate.statistics();
        assert_eq!(results.count, 200 - missing);
        assert_eq!(results.tallies.refused_firsts + results.tallies.duplicates, missing);
        assert_eq!((results.tallies.refused_changes, results.tallies.meetings()), (0, 200));
        let error = results.participants - 200.0;
        all += error;
        squares += error * error;
    }
    let deviation = (squares / f64::from(RUNS)).sqrt() / f64::from(RUNS).sqrt();
    assert!((all / f64::from(RUNS)).abs() < 4.5 * deviation, "{} {deviation}", all / f64::from(RUNS));
}

/// A sum with the sum of squares, for a mean with its deviation.
#[derive(Clone, Copy, Default)]
struct Mean {
    runs: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        *self = Mean { runs: self.runs + 1.0, sum: self.sum + value, squares: self.squares + value * value };
    }

    /// How many standard deviations of the mean lie between it and what is expected.
    fn z(&self, expected: f64) -> f64 {
        let mean = self.sum / self.runs;
        (mean - expected) / ((self.squares / self.runs - mean * mean) / self.runs).sqrt()
    }
}

/// At any rate and size the estimates of participants, refusals and missed changes have no bias that these runs show.
#[test]
fn estimates_hold_at_high_rates() {
    const STATES: u64 = 16;
    for (participants, rate, runs) in
        [(60, 0.2, 300), (300, 0.2, 100), (1000, 0.2, 30), (300, 0.1, 100), (300, 0.02, 60)]
    {
        let (mut come, mut refused, mut missed) = (Mean::default(), Mean::default(), Mean::default());
        let mut expected = None;
        for run in 0..runs {
            let spec = Spec { seed: run, ..spec(participants, rate, STATES as u32) };
            let mut aggregate: Aggregate = create_as(&spec).unwrap();
            expected = Some(aggregate.expected_errors(participants));
            let mut meet =
                |id, now, was: &[AggregateStateValue]| aggregate.add(u64::to_le_bytes(id), now, was).unwrap();
            let mut states: Vec<_> = (0..participants).map(|id| (id, value_of(id, 0))).collect();
            states.retain(|(id, now)| meet(*id, *now, &[]) == AggregateAnswer::First);
            refused.add((participants - states.len() as u64) as f64);
            // The first changes bring the memory into balance.
            let mut lost = 0;
            for round in 1..8 {
                for (id, was) in &mut states {
                    let now = AggregateStateValue {
                        value: (round * 1000 + *id) as f64,
                        ..value_of(*id, (round % STATES) as u32)
                    };
                    match meet(*id, now, &[*was]) {
                        AggregateAnswer::Duplicate => lost += u32::from(round > 3),
                        _ => *was = now,
                    }
                }
            }
            missed.add(f64::from(lost) / (4 * states.len()) as f64);
            come.add(aggregate.statistics().participants);
        }
        let expected = expected.unwrap();
        let z = [come.z(participants as f64), refused.z(expected.refused_firsts), missed.z(expected.missed_changes)];
        println!("{participants} participants at {rate}: {z:.2?}");
        assert!(z.iter().all(|z| z.abs() < 4.5), "{participants} participants at {rate}: {z:?}");
    }
}

/// Extremes say whether they are exact.
#[test]
fn extremes_know_whether_they_are_exact() {
    let mut aggregate: Aggregate = create_as(&spec(10, 1e-9, 3)).unwrap();
    for (id, value) in [(1, 5.0), (2, -0.0), (3, 5.0), (4, 2.0)] {
        assert_eq!(aggregate.add(u64::to_le_bytes(id), at(0, value), &[]).unwrap(), AggregateAnswer::First);
    }
    let extremes = |aggregate: &Aggregate| {
        let AggregateStatistics { maximum, minimum, is_maximum_exact, is_minimum_exact, .. } = aggregate.statistics();
        ((maximum, is_maximum_exact), (minimum, is_minimum_exact))
    };
    assert_eq!(extremes(&aggregate), ((5.0, true), (0.0, true)));
    assert!(aggregate.statistics().minimum.is_sign_positive());
    aggregate.add(u64::to_le_bytes(1), at(1, 3.0), &[at(0, 5.0)]).unwrap();
    assert_eq!(extremes(&aggregate), ((5.0, true), (0.0, true)), "another one still has it");
    aggregate.add(u64::to_le_bytes(3), at(1, 4.0), &[at(0, 5.0)]).unwrap();
    assert_eq!(extremes(&aggregate), ((5.0, false), (0.0, true)), "a bound");
    // 0 and -0 are one value.
    assert!(aggregate.remove(u64::to_le_bytes(2), at(0, 0.0)).unwrap());
    assert_eq!(extremes(&aggregate), ((5.0, false), (0.0, false)));
    aggregate.add(u64::to_le_bytes(5), at(2, 5.0), &[]).unwrap();
    assert_eq!(extremes(&aggregate), ((5.0, true), (0.0, false)), "a participant came to it again");
    aggregate.add(u64::to_le_bytes(6), at(2, -1.0), &[]).unwrap();
    assert_eq!(extremes(&aggregate), ((5.0, true), (-1.0, true)));
}

/// Sums do not drift, whatever is added and taken away.
#[test]
fn sums_do_not_drift() {
    let mut aggregate: Aggregate = create_as(&spec(10, 1e-9, 2)).unwrap();
    aggregate.add(u64::to_le_bytes(1), at(0, 0.1), &[]).unwrap();
    aggregate.add(u64::to_le_bytes(2), at(0, 1e300), &[]).unwrap();
    for i in 0..1000 {
        let (from, to) = (i % 2, (i + 1) % 2);
        let value = |state| at(state, if state == 0 { 1e300 } else { -3e-300 });
        assert_eq!(
            aggregate.add(u64::to_le_bytes(2), value(to), &[value(from)]).unwrap(),
            AggregateAnswer::Changed { replaced: from }
        );
    }
    assert_eq!(aggregate.statistics().sum, 1e300);
    assert!(aggregate.remove(u64::to_le_bytes(2), at(0, 1e300)).unwrap());
    assert_eq!((aggregate.statistics().sum, aggregate.statistics().mean), (0.1, 0.1));
}

/// A value that nobody had is taken away if the memories mistake it for one that is there. No more ids have an extreme
/// then than are left, and the image still opens.
#[test]
fn values_taken_by_mistake_leave_an_image_that_opens() {
    let mut taken = 0;
    for seed in 0..40 {
        // Full memories of a few counters.
        let spec = Spec { seed, bits: 192, hashes: 1, ..spec(0, 0.0, 2) };
        let mut aggregate: Aggregate = create_as(&spec).unwrap();
        for id in 0..6 {
            aggregate.add(u64::to_le_bytes(id), at(0, 5.0), &[]).unwrap();
        }
        for other in 0..20 {
            let count = aggregate.statistics().count;
            taken += u32::from(
                aggregate.remove(u64::to_le_bytes(other % 6), at(0, f64::from(other as u32))).unwrap() && other != 5,
            );
            let cited = [at(0, f64::from(other as u32) + 100.0)];
            let changed = aggregate.add(u64::to_le_bytes(other % 6), at(1, 5.0), &cited).unwrap();
            taken += u32::from(matches!(changed, AggregateAnswer::Changed { .. }));
            aggregate.verify().unwrap();
            load(&bytes(&aggregate)).unwrap();
            assert!(aggregate.statistics().count <= count + 1);
        }
    }
    assert!(taken > 20, "{taken}");
}

/// Whoever cites several states that seem aggregated is refused, because nobody knows which one to replace. If only one
/// of the cited states seems aggregated, it is replaced. A state seems aggregated if a copy lets it leave.
#[test]
fn several_states_that_seem_aggregated_are_refused() {
    let mut came = [0; 3];
    for seed in 0..40 {
        let spec = Spec { seed, bits: 192, hashes: 1, ..spec(0, 0.0, 3) };
        let mut aggregate: Aggregate = create_as(&spec).unwrap();
        for id in 0..6 {
            aggregate.add(u64::to_le_bytes(id), at(id as u32 % 3, 5.0), &[]).unwrap();
        }
        for id in 0..6 {
            let seems = |one: AggregateStateValue| aggregate.copy().unwrap().remove(u64::to_le_bytes(id), one).unwrap();
            let (now, cited) = (at(id as u32 % 3, 70.0), [at(0, 5.0), at(1, 5.0), at(2, 5.0)]);
            // Only new states that do not seem aggregated, with cited ones of which some do.
            if seems(now) || !cited.into_iter().any(seems) {
                continue;
            }
            let found: Vec<_> = cited.into_iter().filter(|one| seems(*one)).collect();
            came[found.len() - 1] += 1;
            let expected = if let [one] = found[..] {
                AggregateAnswer::Changed { replaced: one.state }
            } else {
                AggregateAnswer::Refused
            };
            assert_eq!(aggregate.add(u64::to_le_bytes(id), now, &cited).unwrap(), expected, "seed {seed}: {found:?}");
        }
    }
    assert!(came.iter().all(|times| *times > 5), "{came:?}");
}

/// The states that a disseminator told come back, even after lost answers.
#[test]
fn told_states_come_back() {
    let mut theirs: Aggregate = create_as(&spec(50, 1e-9, 6)).unwrap();
    let mut ours: Aggregate = create_as(&spec(50, 1e-9, 6)).unwrap();
    let mut meet = |theirs: &mut Aggregate, state: u32, arrives: bool| {
        let previous: Vec<_> = theirs.list_sent(b"we").unwrap().into_iter().map(|state| value_of(9, state)).collect();
        let answer = ours.add(b"they", value_of(9, state), &previous).unwrap();
        theirs.record_sent(b"we", state, arrives.then_some(answer)).unwrap();
        answer
    };
    assert_eq!(meet(&mut theirs, 3, true), AggregateAnswer::First);
    assert_eq!(theirs.list_sent(b"we").unwrap(), [3]);
    assert_eq!(meet(&mut theirs, 3, true), AggregateAnswer::Duplicate);
    assert_eq!(meet(&mut theirs, 5, true), AggregateAnswer::Changed { replaced: 3 });
    assert_eq!(theirs.list_sent(b"we").unwrap(), [5]);
    // An answer is lost: both states are cited from then on, and the aggregator knows which one it has.
    assert_eq!(meet(&mut theirs, 1, false), AggregateAnswer::Changed { replaced: 5 });
    assert_eq!(theirs.list_sent(b"we").unwrap(), [1, 5]);
    assert_eq!(meet(&mut theirs, 0, true), AggregateAnswer::Changed { replaced: 1 });
    assert_eq!(theirs.list_sent(b"we").unwrap(), [0, 5]);
    assert!(theirs.forget_sent(b"we", 5).unwrap() && !theirs.forget_sent(b"we", 5).unwrap());
    assert_eq!(theirs.list_sent(b"we").unwrap(), [0]);
    assert!(theirs.list_sent(b"others").unwrap().is_empty());
    // A state whose answers are lost twice is noted once.
    (0..2).for_each(|_| theirs.record_sent(b"we", 4, None).unwrap());
    assert!(theirs.forget_sent(b"we", 4).unwrap() && !theirs.forget_sent(b"we", 4).unwrap());
    // A refusal is not noted.
    theirs.record_sent(b"we", 2, Some(AggregateAnswer::Refused)).unwrap();
    assert_eq!(theirs.list_sent(b"we").unwrap(), [0]);
}

/// Bytes, numbers and hashes are ids alike.
#[test]
fn ids_have_three_forms() {
    let mut aggregate: Aggregate = create_as(&spec(50, 1e-9, 2)).unwrap();
    let hash = aggregate.base().hasher().hash_u64(7).unwrap();
    assert_eq!(aggregate.add(u64::to_le_bytes(7), at(0, 1.0), &[]).unwrap(), AggregateAnswer::First);
    assert_eq!(aggregate.add(&7_u64.to_le_bytes(), at(0, 1.0), &[]).unwrap(), AggregateAnswer::Duplicate);
    assert_eq!(aggregate.add_hash(hash, at(0, 1.0), &[]).unwrap(), AggregateAnswer::Duplicate);
    aggregate.record_sent_hash(hash, 1, Some(AggregateAnswer::First)).unwrap();
    assert_eq!(aggregate.list_sent(u64::to_le_bytes(7)).unwrap(), [1]);
    assert!(format!("{aggregate:?}").contains("count: 1"));
    assert!(aggregate.forget_sent(u64::to_le_bytes(7), 1).unwrap() && aggregate.remove_hash(hash, at(0, 1.0)).unwrap());
    let id = 7_u64.to_le_bytes();
    assert_eq!(aggregate.add(&id, at(1, 1.0), &[]).unwrap(), AggregateAnswer::First);
    assert!(aggregate.remove(&id, at(1, 1.0)).unwrap() && !aggregate.remove(&id, at(1, 1.0)).unwrap());
    let mut external: Aggregate = create_as(&Spec { hash: HashFunction::External, ..spec(50, 0.01, 2) }).unwrap();
    assert_eq!(external.add(b"id", at(0, 1.0), &[]).unwrap_err().status(), Status::ExternalHash);
    assert_eq!(external.add_hash(hash, at(0, 1.0), &[]).unwrap(), AggregateAnswer::First);
}

/// A state that is cited twice is one state, and with another value it is not.
#[test]
fn a_state_may_be_cited_twice() {
    let mut aggregate: Aggregate = create_as(&spec(50, 1e-6, 3)).unwrap();
    aggregate.add(u64::to_le_bytes(1), at(0, 2.0), &[]).unwrap();
    let changed = aggregate.add(u64::to_le_bytes(1), at(1, 3.0), &[at(0, 2.0), at(2, 2.0), at(0, 2.0)]).unwrap();
    assert_eq!(changed, AggregateAnswer::Changed { replaced: 0 });
    assert_eq!(
        aggregate.add(u64::to_le_bytes(1), at(2, 0.5), &[at(1, 3.0), at(1, 3.5)]).unwrap(),
        AggregateAnswer::Changed { replaced: 1 }
    );
    assert_eq!((aggregate.statistics().sum, aggregate.statistics().count), (0.5, 1));
}

/// Every refusal names the parameter, and changes nothing.
#[test]
fn refusals_change_nothing() {
    let mut aggregate: Aggregate = create_as(&spec(50, 0.01, 3)).unwrap();
    aggregate.add(u64::to_le_bytes(1), at(0, 2.0), &[]).unwrap();
    let before = bytes(&aggregate);
    let refused = |result: petal::Result<AggregateAnswer>, text: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.status(), Status::OutOfRange);
        assert!(error.message().contains(text), "{}", error.message());
    };
    refused(aggregate.add(u64::to_le_bytes(1), at(3, 2.0), &[at(0, 2.0)]), "state = 3 is not one of 0 to 2");
    refused(aggregate.add(u64::to_le_bytes(1), at(1, 2.0), &[at(u32::MAX, 2.0)]), "state = 4294967295");
    refused(aggregate.add(u64::to_le_bytes(2), at(1, f64::NAN), &[]), "value = NaN of state 1 is not a finite number");
    refused(aggregate.add(u64::to_le_bytes(2), at(1, f64::INFINITY), &[]), "value = inf");
    refused(aggregate.add(u64::to_le_bytes(1), at(1, 0.0), &[at(0, f64::NEG_INFINITY)]), "value = -inf");
    refused(aggregate.add(u64::to_le_bytes(1), at(1, 2.0), &[at(0, 2.0); 4]), "4 previous states");
    assert_eq!(aggregate.remove(u64::to_le_bytes(1), at(0, f64::NAN)).unwrap_err().status(), Status::OutOfRange);
    assert!(
        !aggregate.remove(u64::to_le_bytes(1), at(0, 2.5)).unwrap()
            && !aggregate.remove(u64::to_le_bytes(1), at(1, 2.0)).unwrap()
    );
    for answer in [None, Some(AggregateAnswer::First), Some(AggregateAnswer::Changed { replaced: 0 })] {
        assert_eq!(aggregate.record_sent(u64::to_le_bytes(1), 3, answer).unwrap_err().status(), Status::OutOfRange);
    }
    let forged = Some(AggregateAnswer::Changed { replaced: 9 });
    assert_eq!(aggregate.record_sent(u64::to_le_bytes(1), 0, forged).unwrap_err().status(), Status::OutOfRange);
    assert_eq!(aggregate.count_in_state(3).unwrap_err().status(), Status::OutOfRange);
    assert_eq!(bytes(&aggregate), before);

    let most = aggregate.expected_errors(u64::MAX);
    assert!(most.false_positive_rate > 0.999 && most.bias < -0.999);

    // Roles that are not there.
    let mut teller: Aggregate = create_as(&with_roles(&spec(50, 0.01, 3), 2.0)).unwrap();
    let mut taker: Aggregate = create_as(&with_roles(&spec(50, 0.01, 3), 1.0)).unwrap();
    assert_eq!(teller.add(u64::to_le_bytes(1), at(0, 1.0), &[]).unwrap_err().status(), Status::Unsupported);
    assert_eq!(teller.remove(u64::to_le_bytes(1), at(0, 1.0)).unwrap_err().status(), Status::Unsupported);
    assert_eq!(teller.count_in_state(0).unwrap_err().status(), Status::Unsupported);
    assert_eq!(taker.list_sent(u64::to_le_bytes(1)).unwrap_err().status(), Status::Unsupported);
    assert_eq!(taker.record_sent(u64::to_le_bytes(1), 0, None).unwrap_err().status(), Status::Unsupported);
    assert_eq!(taker.forget_sent(u64::to_le_bytes(1), 0).unwrap_err().status(), Status::Unsupported);
    teller.record_sent(u64::to_le_bytes(1), 2, Some(AggregateAnswer::First)).unwrap();
    assert_eq!(teller.list_sent(u64::to_le_bytes(1)).unwrap(), [2]);
    assert_eq!(taker.add(u64::to_le_bytes(1), at(0, 1.0), &[]).unwrap(), AggregateAnswer::First);
    assert!(teller.statistics().mean.is_nan() && teller.statistics().count == 0);
    let [both, teller, taker] = [&aggregate, &teller, &taker].map(|one| one.base().geometry().bits);
    assert_eq!((taker, both), (2 * teller, 3 * teller));
    // An image of another handle, and this one as another.
    assert_eq!(create_as::<petal::Filter>(&spec(50, 0.01, 3)).unwrap_err().status(), Status::Unsupported);
    assert_eq!(create_as::<Aggregate>(&Spec::default()).unwrap_err().status(), Status::Unsupported);
    let error = petal::geometry(&Spec { bits: 64, hashes: 2, ..spec(0, 0.0, 3) }).unwrap_err();
    assert!(error.message().contains("bits = 64 is not a multiple of 192"), "{}", error.message());
}

/// Exact bits are those of all memories. A key gets as many places as are best for the counters of one memory, and a
/// lookup reads at most the lines that are there.
#[test]
fn bits_are_divided_among_the_memories() {
    for (roles, memories) in [(0.0, 3), (1.0, 2), (2.0, 1)] {
        // 1,600 counters for 160 ids.
        let spec = with_roles(&Spec { bits: 6400 * memories, ..spec(160, 0.0, 2) }, roles);
        let geometry = petal::geometry(&spec).unwrap();
        assert_eq!((geometry.bits, geometry.hashes), (6400 * memories, 7));
    }
    let spec = with_roles(&Spec { bits: 64, hashes: 16, ..spec(0, 0.0, 2) }, 2.0);
    let geometry = petal::geometry(&spec).unwrap();
    // A line of counters, and the journal.
    assert_eq!((geometry.payload_bytes, (ROW.lines_per_lookup)(&geometry)), (576, 1.0));
}

/// An aggregate after many meetings.
fn used(spec: &Spec) -> Aggregate {
    let mut aggregate: Aggregate = create_as(spec).unwrap();
    let states = u64::from(aggregate.state_count());
    for step in 0..200_u64 {
        let (id, state) = (mix(step) % 60, (mix(!step) % states) as u32);
        if spec.parameter(&ROLES).unwrap() != 2 {
            let all: Vec<_> = (0..states as u32).map(|state| value_of(id, state)).collect();
            aggregate.add_hash(mix(id), value_of(id, state), &all).unwrap();
            if step % 9 == 0 {
                aggregate.remove_hash(mix(id), value_of(id, state)).unwrap();
            }
        }
        if spec.parameter(&ROLES).unwrap() != 1 {
            aggregate.record_sent_hash(mix(id), state, Some(AggregateAnswer::First)).unwrap();
        }
    }
    aggregate
}

fn load(image: &[u8]) -> petal::Result<Aggregate> {
    load_as(image, &OpenOptions::default())
}

/// Images are written the same for ever, and have what the aggregate had.
#[test]
fn golden_images_open() {
    for (roles, name) in [(0.0, "both"), (1.0, "aggregator"), (2.0, "disseminator")] {
        let spec = Spec { seed: 42, ..with_roles(&spec(64, 0.02, 3), roles) };
        let aggregate = used(&spec);
        let image = bytes(&aggregate);
        golden::check(&ROW, &format!("aggregate-roles_{name}-layout_2-xxh3.petal"), &image);
        let loaded = load(&image).unwrap();
        loaded.verify().unwrap();
        assert_eq!(format!("{:?}", loaded.statistics()), format!("{:?}", aggregate.statistics()));
        assert_eq!(bytes(&loaded), image);
        assert_eq!(bytes(&aggregate.copy().unwrap()), image);
        assert_eq!(petal::image_size(&spec).unwrap(), image.len() as u64);
        // An image from before there was a journal opens, and is changed in place without one.
        let files = golden::files(&ROW);
        let older = &files[&format!("aggregate-roles_{name}-layout_1-xxh3.petal")];
        let mut loaded = load(older).unwrap();
        loaded.verify().unwrap();
        assert_eq!(format!("{:?}", loaded.statistics()), format!("{:?}", aggregate.statistics()));
        assert_eq!(loaded.base().header().layout_version, 1);
        assert_eq!(bytes(&loaded), *older);
        if roles != 2.0 {
            loaded.add(u64::to_le_bytes(77), at(0, 7.0), &[]).unwrap();
            let mut buffer = Buffer::of(older);
            buffer.open_as(Mode::Write, None, |older: petal::Result<&mut Aggregate>| {
                older.unwrap().add(u64::to_le_bytes(77), at(0, 7.0), &[]).unwrap();
            });
            assert_eq!(bytes(&load(&buffer.bytes()).unwrap()), bytes(&loaded));
        }
    }
    assert_eq!(golden::files(&ROW).len(), 6);
}

/// An image in place is changed by one handle, is clean after it, and is refused changes when it is open for reading.
#[test]
fn images_are_changed_in_place() {
    let folder = std::env::temp_dir().join(format!("petal-aggregate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("aggregate.petal");
    let mut aggregate = used(&spec(64, 0.02, 3));
    aggregate.save(&path).unwrap();
    let options = |mode| OpenOptions { mode, ..OpenOptions::default() };
    {
        let mut in_place: Aggregate = open_as(&path, &options(Mode::Write)).unwrap();
        for one in [&mut in_place, &mut aggregate] {
            one.add(u64::to_le_bytes(1 << 40), at(1, 7.5), &[]).unwrap();
            one.record_sent(u64::to_le_bytes(5), 2, None).unwrap();
        }
    }
    let mut read: Aggregate = open_as(&path, &options(Mode::Read)).unwrap();
    read.verify().unwrap();
    assert_eq!(read.statistics(), aggregate.statistics());
    assert_eq!(read.list_sent(u64::to_le_bytes(5)).unwrap(), aggregate.list_sent(u64::to_le_bytes(5)).unwrap());
    assert_eq!(read.add(u64::to_le_bytes(1), at(0, 1.0), &[]).unwrap_err().status(), Status::UnsupportedByHandle);
    assert_eq!(read.record_sent(u64::to_le_bytes(1), 0, None).unwrap_err().status(), Status::UnsupportedByHandle);
    assert_eq!(read.forget_sent(u64::to_le_bytes(1), 0).unwrap_err().status(), Status::UnsupportedByHandle);
    assert_eq!(read.clear().unwrap_err().status(), Status::UnsupportedByHandle);
    drop(read);
    aggregate.clear().unwrap();
    let empty: Aggregate = create_as(&spec(64, 0.02, 3)).unwrap();
    assert_eq!(bytes(&aggregate), bytes(&empty));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Calls everything of an aggregate that opened, whatever its bytes are.
fn exercise(mut aggregate: Aggregate) {
    let results = aggregate.statistics();
    assert!(results.participants >= 0.0);
    let _ = (aggregate.verify(), format!("{aggregate:?}"));
    for id in 0..8 {
        for state in [0, 1, 2, u32::MAX] {
            let _ = aggregate.add_hash(mix(id), value_of(id, state), &[value_of(id, 0), value_of(id, 1)]);
            let _ = (
                aggregate.list_sent_hash(mix(id)),
                aggregate.record_sent_hash(mix(id), state, Some(AggregateAnswer::First)),
            );
            let _ = (aggregate.remove_hash(mix(id), value_of(id, state)), aggregate.forget_sent_hash(mix(id), state));
            let _ = aggregate.count_in_state(state);
        }
    }
    let _ = aggregate.statistics();
    aggregate.clear().unwrap();
}

/// Every damaged image is refused, or harmless where checksums are made anew.
#[test]
fn forged_images_are_refused_or_harmless() {
    let image = bytes(&used(&spec(64, 0.02, 3)));
    for length in 0..image.len() {
        assert!(load(&image[..length]).is_err(), "{length} bytes");
    }
    for bit in 0..8 * image.len() {
        let mut flipped = image.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match load(&flipped) {
            Err(_) => {}
            Ok(opened) => exercise(opened),
        }
    }
    let mut random = Random(7);
    let (mut opened, runs) = (0, if is_soak() { 200_000 } else { 10_000 });
    for _ in 0..runs {
        let mut forged = image.clone();
        for _ in 0..=random.below(4) {
            let at = 256 + random.below(image.len() as u64 - 256) as usize / 8 * 8;
            let small = random.next() >> random.below(64);
            let numbers = [0, 1, u64::MAX, 1 << 63, f64::NAN.to_bits(), random.next(), small];
            let number = numbers[random.below(numbers.len() as u64) as usize];
            if at + 8 <= forged.len() {
                forged[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
        seal(&mut forged);
        if let Ok(aggregate) = load(&forged) {
            exercise(aggregate);
            opened += 1;
        }
    }
    assert!(opened > runs / 20 && opened < runs, "{opened} of {runs} forged images are possible ones");
}

/// Words of the aggregate that no meetings leave are refused when an image is opened.
#[test]
fn impossible_words_are_refused() {
    let aggregate = used(&spec(64, 0.02, 3));
    let geometry = *aggregate.base().geometry();
    let first = 256 + (geometry.bits / 8) as usize;
    let image = bytes(&aggregate);
    let (counts, state) = (first, first + 3 * 8);
    let refused = |offset: usize, number: u64| {
        let mut forged = image.clone();
        forged[offset..offset + 8].copy_from_slice(&number.to_le_bytes());
        seal(&mut forged);
        assert_eq!(load(&forged).map(drop).unwrap_err().status(), Status::Corrupt, "{offset} {number:#x}");
    };
    let count = aggregate.statistics().count;
    // A count of a state; the top of the sum; the maximum and who has it; the minimum; the tallies; the padding.
    refused(counts, u64::MAX);
    refused(counts, 0);
    refused(state + 33 * 8, 1 << 55);
    for value in [f64::NAN, f64::INFINITY, -0.0, -1e9] {
        refused(state + 34 * 8, value.to_bits());
    }
    refused(state + 35 * 8, count + 1);
    refused(state + 36 * 8, 1e9_f64.to_bits());
    refused(state + 37 * 8, u64::MAX);
    for tally in 38..43 {
        refused(state + tally * 8, (1 << 62) + 1);
    }
    refused(state + 43 * 8, u64::MAX);
    refused(state + 44 * 8, 1);
}

/// Without ids the sum and the extremes are 0, and no meeting changed anything.
#[test]
fn words_of_nobody_are_zero() {
    let aggregate: Aggregate = create_as(&spec(64, 0.02, 3)).unwrap();
    let image = bytes(&aggregate);
    let state = 256 + (aggregate.base().geometry().bits / 8) as usize + 3 * 8;
    let (five, minus_one) = (5.0_f64.to_bits(), (-1.0_f64).to_bits());
    let forgeries: [&[(usize, u64)]; 6] =
        [&[], &[(0, 1)], &[(34, five), (36, five)], &[(36, minus_one)], &[(34, five)], &[(39, 1)]];
    for forgery in forgeries {
        let mut forged = image.clone();
        for (word, number) in forgery {
            forged[state + 8 * word..][..8].copy_from_slice(&number.to_le_bytes());
        }
        seal(&mut forged);
        let status = load(&forged).map(drop).map_err(|error| error.status());
        let expected = if forgery.is_empty() { Ok(()) } else { Err(Status::Corrupt) };
        assert_eq!(status, expected, "{forgery:?}");
    }
}

/// Nobody leaves an aggregate without ids, whatever its memories and its counts of states say. An image that is opened
/// in place is not read to its end, so these may be forged.
#[test]
fn nobody_leaves_an_empty_aggregate() {
    let aggregate: Aggregate = create_as(&spec(64, 0.02, 3)).unwrap();
    let mut forged = bytes(&aggregate);
    let memories = (aggregate.base().geometry().bits / 8) as usize;
    forged[256..256 + memories].fill(0xff);
    forged[256 + memories] = 1;
    Buffer::of(&forged).open_as(Mode::Write, None, |aggregate: petal::Result<&mut Aggregate>| {
        let aggregate = aggregate.unwrap();
        assert!(!aggregate.remove(u64::to_le_bytes(1), at(0, 5.0)).unwrap());
        assert_eq!(aggregate.statistics().tallies.departures, 0);
    });
}
