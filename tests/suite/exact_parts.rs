//! The kind `exact_set` in several parts: partitions by the prefixes of keys, each with its own choice, and updates of
//! sets that were built before. No error for any key of a universe; sizes compared with the entropies of the
//! partitions; the same bytes for every order, memory and number of threads; forged images; deltas.

use crate::common::{golden, image, mix};
use crate::specification;
use core::sync::atomic::{AtomicU64, Ordering};
use petal::kinds::exact_set::{self, sizing};
use petal::{
    Answers, Builder, BuilderOptions, Filter, HashFunction, Image, Keys, MIN_MEMORY_LIMIT, OpenOptions, Spec, Status,
    wire,
};
use std::sync::{Arc, Mutex};

/// A spec whose keys are divided by prefixes of `prefix_bytes` bytes.
fn spec(prefix_bytes: u64) -> Spec {
    let mut spec = Spec { kind: Some(exact_set::ROW.kind), ..Spec::default() };
    spec.set(&exact_set::PARTITION_PREFIX_BYTES, prefix_bytes as f64).unwrap();
    spec
}

fn options() -> BuilderOptions {
    BuilderOptions::default()
}

/// A key: two bytes of a partition and a serial number.
type Key = [u8; 10];

fn key(partition: u16, serial: u64) -> Key {
    let mut key = [0; 10];
    key[..2].copy_from_slice(&partition.to_be_bytes());
    key[2..].copy_from_slice(&mix(u64::from(partition) << 40 | serial).to_le_bytes());
    key
}

/// Members and excluded keys.
#[derive(Clone, Default)]
struct Universe {
    members: Vec<Key>,
    excluded: Vec<Key>,
    /// How many members and excluded keys each partition has.
    counts: Vec<(u64, u64)>,
}

impl Universe {
    /// Partitions with these numbers of members and excluded keys.
    fn of(counts: &[(u64, u64)]) -> Universe {
        let mut universe = Universe { counts: counts.to_vec(), ..Universe::default() };
        for (partition, (members, excluded)) in counts.iter().enumerate() {
            let partition = partition as u16;
            universe.members.extend((0..*members).map(|serial| key(partition, serial)));
            universe.excluded.extend((*members..members + excluded).map(|serial| key(partition, serial)));
        }
        universe
    }

    fn len(&self) -> u64 {
        (self.members.len() + self.excluded.len()) as u64
    }

    /// The sum of the entropies of all partitions.
    fn entropy(&self) -> f64 {
        self.counts.iter().map(|(members, excluded)| sizing::entropy(*members, members + excluded)).sum()
    }
}

/// The byte strings of keys, and their offsets.
fn strings(keys: &[Key]) -> (Vec<u8>, Vec<u64>) {
    (keys.concat(), (0..=keys.len() as u64).map(|i| 10 * i).collect())
}

fn build(spec: &Spec, options: BuilderOptions, universe: &Universe, old: Option<&Filter>) -> petal::Result<Filter> {
    let mut builder = Builder::new(spec, options)?;
    if let Some(old) = old {
        builder.update(old)?;
    }
    let (bytes, offsets) = strings(&universe.members);
    builder.add_batch(&Keys::Bytes { bytes: &bytes, offsets: &offsets }).outcome?;
    let (bytes, offsets) = strings(&universe.excluded);
    builder.exclude_batch(&Keys::Bytes { bytes: &bytes, offsets: &offsets }).outcome?;
    assert_eq!(builder.key_count(), universe.members.len() as u64);
    builder.finish()
}

/// How many of these keys the filter contains, in batches and one by one.
fn true_count(filter: &Filter, keys: &[Key]) -> u64 {
    let (bytes, offsets) = strings(keys);
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Bytes { bytes: &bytes, offsets: &offsets }, &mut answers).unwrap();
    let one_by_one = keys.iter().filter(|key| filter.contains(*key)).count() as u64;
    assert_eq!((answers.true_count, answers.done), (one_by_one, keys.len()));
    one_by_one
}

/// Asserts that a filter makes no error for its universe.
#[track_caller]
fn check(filter: &Filter, universe: &Universe) {
    filter.payload().check_payload().unwrap();
    assert_eq!(true_count(filter, &universe.members), universe.members.len() as u64);
    assert_eq!(true_count(filter, &universe.excluded), 0);
    assert_eq!(filter.base().count(), universe.members.len() as u64);
    assert_eq!(filter.base().header().capacity, universe.members.len().max(1) as u64);
}

/// A universe in which few partitions have most keys, and shares differ: a thousand partitions of 1 to 20,000 keys.
fn uneven() -> Universe {
    let counts = (0..1000_u64).map(|i| {
        let keys = 20_000 / (i + 1) + 1;
        let members = match i % 7 {
            0 => keys / 200,
            1 => keys / 3,
            2 => keys - keys / 50,
            3 => keys,
            4 => 0,
            5 => keys / 2,
            _ => 1,
        };
        (members, keys - members)
    });
    Universe::of(&counts.collect::<Vec<_>>())
}

#[test]
fn universes_of_partitions_are_right() {
    let universes: [&[(u64, u64)]; 12] = [
        &[],
        &[(1, 0)],
        &[(0, 1)],
        &[(1, 1)],
        &[(5, 0), (0, 5), (1, 0), (0, 1)],
        &[(0, 100), (0, 3000)],
        &[(100, 0), (3000, 0)],
        &[(100, 20_000), (20_000, 100)],
        &[(3000, 0), (0, 3000), (1000, 1000)],
        &[(10, 40_000), (40_000, 10), (3000, 3000), (5000, 0), (0, 5000)],
        &[(1, 70_000), (0, 70_000), (70_000, 1)],
        &[(1000, 300_000), (0, 1), (1, 0)],
    ];
    for counts in universes {
        let universe = Universe::of(counts);
        check(&build(&spec(2), options(), &universe, None).unwrap(), &universe);
        // No prefixes, prefixes that no two keys share, and prefixes longer than a key.
        for prefix_bytes in [0, 1, 10, 64] {
            check(&build(&spec(prefix_bytes), options(), &universe, None).unwrap(), &universe);
        }
    }
}

/// The size compared with the sum of the partitions' entropies, and with a set without partitions.
#[test]
fn sizes_follow_the_partitions() {
    let universe = Universe::of(&[
        (2000, 198_000),
        (100_000, 900),
        (30_000, 30_000),
        (50_000, 0),
        (0, 150_000),
        (20_000, 130_000),
        (70, 99_000),
    ]);
    let parts = build(&spec(2), options(), &universe, None).unwrap();
    check(&parts, &universe);
    let whole = build(&spec(0), options(), &universe, None).unwrap();
    let [bits, plain] = [&parts, &whole].map(|filter| filter.base().geometry().bits as f64);
    let entropy = universe.entropy();
    assert!((1.0..1.13).contains(&(bits / entropy)), "{bits} bits, {entropy}");
    assert!(bits < 0.35 * plain, "{bits} bits, {plain} without partitions");
    // Partitions that are all alike cost no more than no partitions, except for the head.
    let alike = Universe::of(&[(20, 380); 500]);
    let parts = build(&spec(2), options(), &alike, None).unwrap().base().geometry().bits;
    let whole = build(&spec(0), options(), &alike, None).unwrap().base().geometry().bits;
    assert!(parts <= whole + 2 * 512, "{parts} bits, {whole} without partitions");
}

/// Thousands of partitions, most of them small.
#[test]
fn many_small_partitions_stay_small() {
    let universe = uneven();
    let filter = build(&spec(2), options(), &universe, None).unwrap();
    check(&filter, &universe);
    let whole = build(&spec(0), options(), &universe, None).unwrap();
    let [bits, plain] = [&filter, &whole].map(|filter| filter.base().geometry().bits);
    // A small partition takes no more than a word of the directory besides its own bits, and often less in the rest.
    let most = 1.13 * universe.entropy() + 0.75 * 64.0 * 1000.0;
    assert!((bits as f64) < most, "{bits}, {most}");
    assert!((bits as f64) < 0.6 * plain as f64, "{bits}, {plain}");
    let ones = Universe::of(&(0..20_000).map(|i| ((i % 20 == 0).into(), (i % 20 != 0).into())).collect::<Vec<_>>());
    let filter = build(&spec(2), options(), &ones, None).unwrap();
    check(&filter, &ones);
    let bits = filter.base().geometry().bits as f64;
    let entropy = sizing::entropy(1000, 20_000);
    assert!(bits < 1.12 * entropy + 3000.0, "{bits}, {entropy}");
}

/// NonMembers of the universe's prefixes, as often as these come, and keys of prefixes that are not there.
#[test]
fn non_members_meet_the_stated_rate() {
    let counts = [(1000, 99_000), (20_000, 20_000), (30_000, 300), (10_000, 0), (0, 40_000)];
    let universe = Universe::of(&counts);
    for rate in [0.0, 0.01] {
        let filter = build(&Spec { false_positive_rate: rate, ..spec(2) }, options(), &universe, None).unwrap();
        check(&filter, &universe);
        let non_members: Vec<Key> = counts
            .iter()
            .enumerate()
            .flat_map(|(partition, (members, excluded))| {
                (0..members + excluded).map(move |i| key(partition as u16, 1 << 30 | i))
            })
            .collect();
        let stated = filter.expected_false_positive_rate(0);
        assert!(rate == 0.0 || stated <= rate, "{stated}");
        let (found, count) = (true_count(&filter, &non_members) as f64, non_members.len() as f64);
        assert!((found - stated * count).abs() < 4.5 * (stated * count).sqrt() + 1.0, "{found} of {count}, {stated}");
        if rate == 0.0 {
            assert_eq!(filter.base().header().false_positive_rate, stated);
        }
    }
    // A universe whose partitions are all listed, or have no members, has no members in others.
    let filter = build(&spec(2), options(), &Universe::of(&[(3000, 0), (0, 3000)]), None).unwrap();
    let unknown: Vec<Key> = (0..1000).map(|i| key(77, i)).collect();
    assert_eq!(true_count(&filter, &unknown), 0);
}

#[test]
fn bytes_depend_on_the_keys_alone() {
    let folder = tempfile::tempdir().unwrap();
    let universe = uneven();
    let changed = Universe { members: universe.members[100..].to_vec(), ..universe.clone() };
    let mut old: Option<Filter> = None;
    for mut universe in [universe, changed] {
        let expected = build(&spec(2), options(), &universe, old.as_ref()).unwrap();
        for (memory_limit, threads) in [(None, 2), (Some(MIN_MEMORY_LIMIT), 0), (Some(MIN_MEMORY_LIMIT), 3)] {
            universe.members.reverse();
            universe.excluded.rotate_left(1234);
            let temporary_directory = Some(folder.path().to_owned());
            let options = BuilderOptions { memory_limit, temporary_directory, threads, ..options() };
            let made = build(&spec(2), options, &universe, old.as_ref()).unwrap();
            assert!(image(&made) == image(&expected), "{memory_limit:?}, {threads} threads");
        }
        old = Some(expected);
    }
}

/// Hashes have no prefixes. Numbers do: their first bytes are their lowest.
#[test]
fn keys_of_every_form() {
    let mut builder = Builder::new(&spec(1), options()).unwrap();
    assert!(builder.hasher().takes_whole());
    builder.add_u64(0x0101).unwrap();
    builder.exclude(u64::to_le_bytes(0x0201)).unwrap();
    builder.add_batch(&Keys::U64(&[0x0302, 0x0402])).outcome.unwrap();
    builder.exclude(b"\x03").unwrap();
    builder.add(b"").unwrap();
    for refused in [builder.add_hash(1), builder.exclude_hash(1)] {
        assert_eq!(refused.unwrap_err().status(), Status::Unsupported);
    }
    assert_eq!(builder.add_batch(&Keys::Hashes(&[1])).outcome.unwrap_err().status(), Status::Unsupported);
    assert_eq!(builder.key_count(), 4);
    let mut filter = builder.finish().unwrap();
    assert_eq!(builder.key_count(), 0);
    assert!(filter.contains_u64(0x0101) && filter.contains(&[1, 1, 0, 0, 0, 0, 0, 0]) && filter.contains(b""));
    assert!(!filter.contains_u64(0x0201) && !filter.contains(b"\x03") && filter.contains_u64(0x0402));
    // A hash may be that of any key.
    assert!(filter.contains_hash(1));
    let mut answers = Answers::default();
    let refused = filter.contains_batch(&Keys::Hashes(&[1]), &mut answers).unwrap_err();
    assert_eq!(refused.status(), Status::Unsupported);
    for refused in [filter.insert(b"x"), filter.insert_u64(1), filter.insert_hash(1)] {
        assert_eq!(refused.unwrap_err().status(), Status::Unsupported);
    }
    assert_eq!(filter.insert_batch(&Keys::U64(&[1]), None).outcome.unwrap_err().status(), Status::Unsupported);
    assert_eq!(filter.compact_size().unwrap_err().status(), Status::Unsupported);
    assert!(Builder::new(&Spec { hash: HashFunction::External, ..spec(0) }, options()).is_ok());
    let external = Spec { hash: HashFunction::External, ..spec(1) };
    assert_eq!(Builder::new(&external, options()).map(drop).unwrap_err().status(), Status::Contradiction);
    // Keys under a secret.
    let secret = Spec { hash: HashFunction::SipHash13, secret: Some([7; 16]), ..spec(2) };
    let universe = Universe::of(&[(500, 9500), (3000, 0)]);
    let filter = build(&secret, options(), &universe, None).unwrap();
    check(&filter, &universe);
    let without = petal::load(&image(&filter), &OpenOptions::default()).unwrap();
    assert!(without.contains(&universe.excluded[0]));
    assert_eq!(without.contains_checked(&universe.excluded[0]).unwrap_err().status(), Status::SecretMissing);
    let asked = without.contains_batch(&Keys::U64(&[1]), &mut answers);
    assert_eq!(asked.unwrap_err().status(), Status::SecretMissing);
}

#[test]
fn what_contradicts_is_refused() {
    let mut builder = Builder::new(&spec(2), options()).unwrap();
    builder.add(b"both").unwrap();
    builder.exclude(b"both").unwrap();
    builder.exclude(b"bother").unwrap();
    assert_eq!(builder.finish().map(drop).unwrap_err().status(), Status::Contradiction);
    assert_eq!(builder.key_count(), 1);
    let universe = Universe::of(&[(50, 70)]);
    let exact = Spec { bits: 10_000, capacity: 50, ..spec(2) };
    assert_eq!(build(&exact, options(), &universe, None).map(drop).unwrap_err().status(), Status::Contradiction);
    let mut fixed = spec(2);
    fixed.set(&exact_set::FINGERPRINT_BITS, 5.0).unwrap();
    check(&build(&fixed, options(), &universe, None).unwrap(), &universe);
    let rare = Spec { false_positive_rate: 0.001, ..fixed };
    assert!(build(&rare, options(), &universe, None).is_err());
}

/// The rate that a spec asks for holds for non-members, whatever the partitions: also where no key is excluded, and
/// above one half, where the excluded keys may be stored.
#[test]
fn asked_rates_hold_for_every_universe() {
    for rate in [0.9, 0.76, 0.6, 0.5, 0.3, 0.01] {
        let spec = Spec { false_positive_rate: rate, ..spec(2) };
        for counts in [&[(1, 0)][..], &[(3000, 0); 3], &[(500, 0), (0, 500), (700, 9)], &[(2, 0), (3000, 1)], &[]] {
            let universe = Universe::of(counts);
            let filter = build(&spec, options(), &universe, None).unwrap();
            check(&filter, &universe);
            // Keys that share a hash count where they are more than one in 10,000 of the rate.
            assert!(filter.expected_false_positive_rate(0) <= 1.0001 * rate, "{rate}: {counts:?}");
        }
    }
}

/// Universes change a little, again and again. Each update is right for the universe that it was made for.
#[test]
fn updates_are_right() {
    for prefix_bytes in [0, 2] {
        let mut universe = uneven();
        let first = build(&spec(prefix_bytes), options(), &universe, None).unwrap();
        let mut filter = petal::load(&image(&first), &OpenOptions::default()).unwrap();
        for round in 0..5_u64 {
            // Some keys come, some go, and some change sides. The last round changes nothing.
            if round < 4 {
                let came = (0..50).map(|i| key((round * 37 + i % 3) as u16, 1 << 32 | round << 8 | i));
                universe.members.extend(came.clone().step_by(2));
                universe.excluded.extend(came.skip(1).step_by(2));
                universe.excluded.truncate(universe.excluded.len() - 20);
                let moved = universe.excluded.split_off(universe.excluded.len() - 100);
                universe.members.extend(moved);
                universe.members.swap_remove(round as usize);
            }
            let newer = build(&spec(prefix_bytes), options(), &universe, Some(&filter)).unwrap();
            check(&newer, &universe);
            // The delta makes the newer image of the older one.
            let mut delta = Vec::new();
            wire::delta(&filter, &newer, &mut |bytes| {
                delta.extend_from_slice(bytes);
                Ok(())
            })
            .unwrap();
            let patched: Filter = wire::patch(&filter, &delta, u64::MAX).unwrap();
            assert!(image(&patched) == image(&newer));
            check(&patched, &universe);
            let changes = if round < 4 { 250.0 } else { 1.0 };
            let least = sizing::entropy(changes as u64, universe.len()) / 8.0;
            assert!(delta.len() as f64 <= 1.2 * least + 400.0, "{} bytes, {least}", delta.len());
            filter = newer;
        }
    }
}

/// NonMembers after an update have the rate that the filter states.
#[test]
fn rates_after_updates() {
    for (rate, counts) in [(0.0, (20_000, 20_000)), (0.01, (1000, 90_000)), (0.0, (90_000, 1000))] {
        let universe = Universe::of(&[counts]);
        let spec = Spec { false_positive_rate: rate, ..spec(0) };
        let mut filter = build(&spec, options(), &universe, None).unwrap();
        let non_members: Vec<Key> = (0..100_000).map(|i| key(0, 1 << 33 | i)).collect();
        let mut changed = universe.clone();
        let moved = changed.excluded.split_off(changed.excluded.len() - 500);
        changed.members.extend(moved);
        let limited = Spec { false_positive_rate: 2.0 * rate, ..spec };
        filter = build(&limited, options(), &changed, Some(&filter)).unwrap();
        check(&filter, &changed);
        let stated = filter.expected_false_positive_rate(0);
        assert!(rate == 0.0 || stated <= 2.0 * rate);
        let (found, count) = (true_count(&filter, &non_members) as f64, non_members.len() as f64);
        let deviation = (stated * (1.0 - stated) * count).sqrt();
        assert!((found - stated * count).abs() < 4.5 * deviation + 1.0, "{found} of {count}, {stated}");
        if rate > 0.0 {
            let refused =
                build(&Spec { false_positive_rate: stated / 9.0, ..spec }, options(), &changed, Some(&filter));
            assert_eq!(refused.map(drop).unwrap_err().status(), Status::Contradiction);
        }
    }
}

/// The stated rate after an update of few keys is an approximation: on average over seeds it is up to an eighth too
/// high.
#[test]
fn rates_after_updates_of_few_keys() {
    for keys in [2_u64, 4, 8, 12, 35] {
        let (mut found, mut stated) = (0.0, 0.0);
        for seed in 0..100_u64 {
            let random = |salt: u64, below: u64| mix(seed << 16 | salt << 8 | keys) % below;
            let members = random(0, keys + 1);
            let universe = Universe::of(&[(members, keys - members)]);
            let spec = Spec { seed, ..spec(0) };
            let old = build(&spec, options(), &universe, None).unwrap();
            let mut changed = universe.clone();
            for change in 1..=3 {
                let Universe { members, excluded, .. } = &mut changed;
                let (from, to) = if random(change, 2) == 0 { (excluded, members) } else { (members, excluded) };
                to.extend(from.pop());
            }
            let newer = build(&spec, options(), &changed, Some(&old)).unwrap();
            check(&newer, &changed);
            let non_members: Vec<Key> = (0..1000).map(|i| key(0, 1 << 33 | seed << 20 | i)).collect();
            found += true_count(&newer, &non_members) as f64 / 1000.0;
            stated += newer.expected_false_positive_rate(0);
        }
        assert!((0.87..1.03).contains(&(found / stated)), "{keys} keys: {}", found / stated);
    }
}

/// An update has the fewest bits with which non-members keep to the rate that is asked for, and not fewer.
#[test]
fn updates_take_the_bits_of_the_rate() {
    let universe = Universe::of(&[(500, 20_000)]);
    let filter = build(&Spec { false_positive_rate: 0.01, ..spec(0) }, options(), &universe, None).unwrap();
    let before = filter.expected_false_positive_rate(500);
    let mut changed = universe.clone();
    let moved = changed.excluded.split_off(changed.excluded.len() - 3000);
    changed.members.extend(moved);
    for bits in [3, 5, 7, 12] {
        let rate = |update: f64| before * (1.0 - update) + update * (1.0 - before);
        let (least, next) = (rate((-f64::from(bits)).exp2()), rate((1.0 - f64::from(bits)).exp2()));
        let limited = Spec { false_positive_rate: 0.5 * least + 0.5 * next, ..spec(0) };
        let update = build(&limited, options(), &changed, Some(&filter)).unwrap();
        check(&update, &changed);
        let stated = update.expected_false_positive_rate(0);
        assert!((stated - least).abs() < 1e-9, "{bits} bits: {stated}, and not {least}");
    }
}

/// An update of a set to which most non-members belong makes the rate no greater, and is refused if that is too much.
#[test]
fn updates_of_high_rates_keep_to_them() {
    for (counts, bits) in [((20_000, 2000), 2), ((20_000, 20), 4), ((2000, 4000), 2)] {
        let universe = Universe::of(&[counts]);
        let mut fixed = Spec { false_positive_rate: 0.95, ..spec(0) };
        fixed.set(&exact_set::FINGERPRINT_BITS, f64::from(bits)).unwrap();
        let filter = build(&fixed, options(), &universe, None).unwrap();
        let before = filter.expected_false_positive_rate(counts.0);
        let is_inverted = filter.base().geometry().words[1] == 2;
        assert_eq!(is_inverted, counts.0 > counts.1);
        let mut changed = universe.clone();
        let moved = changed.members.split_off(changed.members.len() - 1500);
        changed.excluded.extend(moved);
        let with =
            |rate: f64| build(&Spec { false_positive_rate: rate, ..spec(0) }, options(), &changed, Some(&filter));
        let refused = |rate: f64| {
            let error = with(rate).map(drop).unwrap_err();
            assert_eq!(error.status(), Status::Contradiction, "{error}");
        };
        refused(0.99 * before);
        for above in [1.0, 1.001, 1.01, 1.04] {
            let limit = before * above;
            if above == 1.0 && !is_inverted {
                refused(limit);
                continue;
            }
            let update = with(limit);
            let Ok(update) = update else {
                assert!(!is_inverted, "{limit} of {before}");
                continue;
            };
            check(&update, &changed);
            assert!(update.expected_false_positive_rate(0) <= limit, "{limit} of {before}");
        }
    }
    // The bits of an update are those of the rate that is left.
    let universe = Universe::of(&[(2000, 4000)]);
    let mut fixed = spec(0);
    fixed.set(&exact_set::FINGERPRINT_BITS, 2.0).unwrap();
    let filter = build(&fixed, options(), &universe, None).unwrap();
    let mut changed = universe.clone();
    let moved = changed.excluded.split_off(2500);
    changed.members.extend(moved);
    for bits in [3, 5, 7] {
        // With a rate of 1/4, an update of `bits` bits leaves 1/4 and half of its own rate.
        let update = (-f64::from(bits)).exp2();
        let limited = Spec { false_positive_rate: 0.25 + 0.75 * update, ..spec(0) };
        let stated = build(&limited, options(), &changed, Some(&filter)).unwrap().expected_false_positive_rate(0);
        assert!((stated - (0.25 + 0.5 * update)).abs() < 1e-9, "{bits} bits: {stated}");
    }
}

/// Updates that change most keys are right, even where memory keeps only a part of the changes. Pure sides need no set.
#[test]
fn updates_of_most_keys_are_right() {
    let universe = Universe::of(&[(30_000, 30_000)]);
    let filter = build(&spec(0), options(), &universe, None).unwrap();
    for kept in [0, 10_000] {
        let mut other =
            Universe { members: universe.excluded.clone(), excluded: universe.members.clone(), counts: vec![] };
        other.members.extend(other.excluded.split_off(other.excluded.len() - kept));
        let folder = tempfile::tempdir().unwrap();
        let temporary_directory = Some(folder.path().to_owned());
        let little = BuilderOptions { memory_limit: Some(MIN_MEMORY_LIMIT), temporary_directory, ..options() };
        let updates = [options(), little].map(|options| build(&spec(0), options, &other, Some(&filter)).unwrap());
        check(&updates[0], &other);
        assert!(image(&updates[0]) == image(&updates[1]));
    }
    let pure = build(&spec(2), options(), &Universe::of(&[(3000, 0), (0, 3000)]), None).unwrap();
    assert!(pure.base().geometry().bits <= 3 * 512, "{:?}", pure.base().geometry());
}

/// Progress reports rise through all sets and both of their levels, so that nobody waits long for the next number.
#[test]
fn progress_rises_through_the_sets() {
    let single = Universe::of(&[(30_000, 40_000)]);
    let several = Universe::of(&[(30_000, 90_000), (60_000, 20_000), (20_000, 60_000), (0, 9000)]);
    for (prefix_bytes, universe) in [(0, &single), (2, &several)] {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let how = || {
            let calls = calls.clone();
            let progress = Box::new(move |done, total| {
                calls.lock().unwrap().push((done, total));
                true
            });
            BuilderOptions { progress: Some(progress), ..options() }
        };
        let check_calls = |what: &str, most: f64| {
            let calls = core::mem::take(&mut *calls.lock().unwrap());
            let total = calls[0].1;
            let steps = calls.windows(2).map(|pair| pair[1].0 - pair[0].0);
            let longest = steps.max().unwrap() as f64 / total as f64;
            assert!(longest < most, "{what}, {prefix_bytes}: {longest}");
        };
        let spec = spec(prefix_bytes);
        let old = build(&spec, how(), universe, None).unwrap();
        assert!(old.statistics().taken >= universe.counts.iter().map(|of| of.0.min(of.1)).sum(), "its keys take slots");
        check_calls("a set", if prefix_bytes == 0 { 0.26 } else { 0.13 });
        let mut newer = universe.clone();
        let moved = newer.excluded.split_off(newer.excluded.len() - 5000);
        newer.members.extend(moved);
        build(&spec, how(), &newer, Some(&old)).unwrap();
        check_calls("an update", 0.26);
    }
}

/// The bits of a spec are a limit, whatever else it says.
#[test]
fn bits_are_a_limit() {
    let universe = Universe::of(&[(200, 300)]);
    let alone = Universe::of(&[(200, 0)]);
    let mut built = [0; 4];
    for bits in (520..3000).step_by(24) {
        for (i, (fixed, universe)) in [0.0, 6.0].iter().flat_map(|of| [(of, &universe), (of, &alone)]).enumerate() {
            let mut asked = Spec { bits, capacity: 200, ..spec(0) };
            asked.set(&exact_set::FINGERPRINT_BITS, *fixed).unwrap();
            match build(&asked, options(), universe, None) {
                Ok(filter) => {
                    built[i] += 1;
                    assert!(filter.base().geometry().bits <= bits, "{bits} bits, {fixed} fixed");
                }
                Err(error) => {
                    assert!([Status::OutOfRange, Status::Contradiction].contains(&error.status()), "{error}");
                }
            }
        }
    }
    assert!(built.iter().all(|times| (10..103).contains(times)), "{built:?}");
    // With as few bits as are expected, about half of all seeds need more.
    let universe = Universe::of(&[(200, 4000)]);
    let bits = sizing::smallest(200, 4000, 1..=32, 1.0).unwrap().expected_bits().unwrap();
    let of_seed = |seed| build(&Spec { bits, seed, capacity: 200, ..spec(0) }, options(), &universe, None);
    let fits = (0..24).filter(|seed| match of_seed(*seed) {
        Ok(filter) => filter.base().geometry().bits <= bits || panic!("seed {seed}"),
        Err(error) => error.status() != Status::OutOfRange,
    });
    assert!((5..20).contains(&fits.count()));
}

#[test]
fn updates_of_something_else_are_refused() {
    let universe = Universe::of(&[(50, 70)]);
    let old = build(&spec(2), options(), &universe, None).unwrap();
    let seeded = Spec { seed: 5, ..spec(2) };
    for other in [spec(0), spec(3), seeded] {
        let refused = build(&other, options(), &universe, Some(&old)).map(drop).unwrap_err();
        assert_eq!(refused.status(), Status::Incompatible, "{refused}");
    }
    let ribbon = Spec { kind: Some(petal::kinds::ribbon::ROW.kind), ..Spec::default() };
    let mut builder = Builder::new(&ribbon, options()).unwrap();
    assert_eq!(builder.update(&old).unwrap_err().status(), Status::Unsupported);
    builder.add(b"a").unwrap();
    let other = builder.finish().unwrap();
    let mut builder = Builder::new(&spec(0), options()).unwrap();
    assert_eq!(builder.update(&other).unwrap_err().status(), Status::Incompatible);
    // An image that nobody marked clean.
    let mut unclean = image(&old);
    unclean[216..221].copy_from_slice(b"DIRTY");
    let unclean: Filter = petal::load(&unclean, &OpenOptions::default()).unwrap();
    let refused = build(&spec(2), options(), &universe, Some(&unclean)).map(drop).unwrap_err();
    assert_eq!(refused.status(), Status::Unclean, "{refused}");
    // The set takes 64 updates, and no more.
    let mut filter = old;
    for _ in 0..64 {
        filter = build(&spec(2), options(), &universe, Some(&filter)).unwrap();
    }
    check(&filter, &universe);
    let refused = build(&spec(2), options(), &universe, Some(&filter)).map(drop).unwrap_err();
    assert_eq!(refused.status(), Status::Full);
    // Two sets that were built apart have no delta.
    let apart = build(&spec(2), options(), &Universe::of(&[(5000, 9000)]), None).unwrap();
    let refused = wire::delta(&filter, &apart, &mut |_| Ok(())).unwrap_err();
    assert_eq!(refused.status(), Status::Incompatible);
}

/// With a rate the updates end where one more would pass it, and say so. Without a rate one more is possible.
#[test]
fn updates_end_at_the_rate() {
    let mut universe = Universe::of(&[(100, 900)]);
    let with = |rate| Spec { false_positive_rate: rate, ..spec(0) };
    for (rate, first, least, most) in [(0.4, 0.4, 40, 64), (0.01, 0.01, 3, 30), (1e-9, 1e-9, 0, 0), (0.01, 0.0, 0, 0)] {
        let mut filter = build(&with(first), options(), &universe, None).unwrap();
        let mut done = 0;
        let refused = loop {
            let moved = universe.excluded.remove(done);
            universe.excluded.push(core::mem::replace(&mut universe.members[0], moved));
            match build(&with(rate), options(), &universe, Some(&filter)) {
                Ok(update) => filter = update,
                Err(refused) => break refused,
            }
            check(&filter, &universe);
            assert!(filter.statistics().false_positive_rate <= rate, "{rate} after {done} updates");
            done += 1;
        };
        assert!((least..=most).contains(&done), "{done} updates at {rate}: {refused}");
        if done < 64 {
            assert_eq!(refused.status(), Status::Contradiction, "{refused}");
            let named = refused.to_string();
            let is_named = |what: &str| assert!(named.contains(what), "{named}");
            is_named(&if rate < 1e-4 { format!("rate = {rate:e} ") } else { format!("rate = {rate} ") });
            is_named(&format!("after {done} updates"));
            check(&build(&with(0.0), options(), &universe, Some(&filter)).unwrap(), &universe);
        }
    }
}

/// Members that are among the excluded keys are members, if the excluded keys are a whole universe.
#[test]
fn universes_may_have_the_members() {
    for prefix_bytes in [0, 2] {
        let universe = Universe::of(&[(300, 9000), (0, 50), (70, 0), (5000, 200)]);
        let expected = build(&spec(prefix_bytes), options(), &universe, None).unwrap();
        let mut builder = Builder::new(&spec(prefix_bytes), options()).unwrap();
        builder.exclude_all_but_members();
        universe.members.iter().for_each(|key| builder.add(key).unwrap());
        universe.members.iter().chain(&universe.excluded).for_each(|key| builder.exclude(key).unwrap());
        assert!(image(&builder.finish().unwrap()) == image(&expected));
        // The next filter has excluded keys that are no universe.
        builder.add(b"both").unwrap();
        builder.exclude(b"both").unwrap();
        assert_eq!(builder.finish().map(drop).unwrap_err().status(), Status::Contradiction);
    }
}

/// Golden images of partitions: built anew, and updated. Both have the members "key 0" to "key 99", with which every
/// golden image is filled, and excluded keys of partitions of other shares. The older one, which is no golden image,
/// has "key 500" instead of "key 99".
#[test]
fn golden_images() {
    let spec = Spec { seed: 42, ..spec(5) };
    let mut old: Option<Filter> = None;
    for name in [Some(""), None, Some("-updated")] {
        let mut builder = Builder::new(&spec, options()).unwrap();
        if let (Some(old), Some(_)) = (&old, name) {
            builder.update(old).unwrap();
        }
        for i in 0..1000 {
            let is_member = i < 99 || i == if name.is_some() { 99 } else { 500 };
            let key = format!("key {i}");
            if is_member { builder.add(key.as_bytes()) } else { builder.exclude(key.as_bytes()) }.unwrap();
            builder.exclude(format!("other {i}").as_bytes()).unwrap();
        }
        let filter = builder.finish().unwrap();
        let written = image(&filter);
        assert!(written.len() <= 2048, "{}", written.len());
        let Some(name) = name else {
            old = Some(filter);
            continue;
        };
        let name = format!("exact_set-partition_prefix_bytes_5{name}-layout_1-xxh3.petal");
        golden::check(&exact_set::ROW, &name, &written);
        // The document says the same of each key, and of non-members of known and unknown partitions.
        let hasher = filter.base().hasher().of_parts();
        for key in (0..2000).flat_map(|i| [format!("key {i}"), format!("other {i}"), format!("{i} non-member")]) {
            let found = specification::exact_parts(&written, key.as_bytes(), |key| hasher.hash_key(key).unwrap());
            assert_eq!(found, filter.contains(key.as_bytes()), "{key}");
        }
    }
}

/// The geometry and all words of a payload's heads are held to their meaning: no other value of a word opens, or the
/// value that it has says the same.
#[test]
fn forged_words_are_refused() {
    let universe = Universe::of(&[(3000, 100_000), (9000, 9000), (2000, 0), (0, 4000), (1, 5)]);
    let first = build(&spec(2), options(), &universe, None).unwrap();
    let mut changed = universe.clone();
    changed.members.extend(changed.excluded.split_off(100));
    let second = build(&spec(2), options(), &changed, Some(&first)).unwrap();
    let plain = build(&spec(0), options(), &universe, None).unwrap();
    let plain = build(&spec(0), options(), &changed, Some(&plain)).unwrap();
    for filter in [&first, &second, &plain] {
        let (geometry, payload) = (*filter.base().geometry(), filter.base().words().shared());
        let known = |geometry: &petal::format::Geometry, words: &[AtomicU64]| exact_set::is_known(geometry, words);
        assert!(known(&geometry, payload));
        for word in 0..8 {
            for value in [0, 1, 2, 3, 65, u64::MAX, geometry.words[word] + 1, geometry.words[word] ^ 1 << 62] {
                let mut forged = geometry;
                forged.words[word] = value;
                // Prefixes may have any length, which the payload does not say.
                let is_prefix = word == 2 && geometry.words[2] > 0 && (1..=64).contains(&value);
                // The rate is compared as a number.
                let is_rate = word == 3 && value == geometry.words[3] + 1;
                assert!(
                    is_prefix || is_rate || value == geometry.words[word] || !known(&forged, payload),
                    "geometry {word}: {value}"
                );
            }
        }
        // An update has at most as many members as keys.
        if geometry.words[4] > 0 {
            let line = geometry.words[5].div_ceil(512) as usize * 8;
            let forged: Vec<AtomicU64> = payload.iter().map(|word| word.load(Ordering::Relaxed).into()).collect();
            let all = forged[line + 3].load(Ordering::Relaxed);
            for (members, is_possible) in [(all, true), (all + 1, false), (u64::MAX, false)] {
                forged[line + 2].store(members, Ordering::Relaxed);
                assert_eq!(known(&geometry, &forged), is_possible, "{members} members of {all} keys");
            }
        }
        for bits in [0, 1, geometry.bits - 1, geometry.bits + 1, geometry.bits + 512, u64::MAX] {
            assert!(!known(&petal::format::Geometry { bits, ..geometry }, payload));
        }
        // The head and the table of sets, and the line of the update. Words of the directory may be those of other
        // partitions; that they ascend is tested below. `exact_set` tests the heads of sets.
        let updated = (geometry.words[4] > 0).then(|| geometry.words[5].div_ceil(512) as usize * 8);
        let sets = payload[1].load(Ordering::Relaxed) as usize;
        let front = if geometry.words[2] > 0 { 8 + (2 * sets).next_multiple_of(8) } else { 0 };
        let words = (0..front).chain(updated.into_iter().flat_map(|line| line..line + 8));
        for word in words {
            for flip in [1, 2, 1 << 7, 1 << 13, 1 << 40, 1 << 63] {
                let forged: Vec<AtomicU64> = payload.iter().map(|word| word.load(Ordering::Relaxed).into()).collect();
                forged[word].fetch_xor(flip, Ordering::Relaxed);
                let mut bytes = image(filter);
                for (to, word) in bytes[256..].chunks_exact_mut(8).zip(&forged) {
                    to.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
                }
                if !known(&geometry, &forged) {
                    continue;
                }
                // What opens is found by a check of the payload, or counts other keys than there are.
                let mut aligned: Vec<u64> =
                    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
                let start = std::ptr::NonNull::new(aligned.as_mut_ptr().cast::<u8>()).unwrap();
                // SAFETY: the words outlive the handle, and nobody else uses them.
                let opened = unsafe { petal::open_in_buffer(start, bytes.len(), &OpenOptions::default()) };
                let Ok(opened) = opened else { continue };
                true_count(&opened, &universe.members[..100]);
                let is_found = opened.payload().check_payload().is_err();
                // The keys of classes without a set, and the members after an update, do not follow from other words.
                let is_count = word == 3 || word == 4 || updated.is_some_and(|line| word == line + 2);
                // Other bits of the levels may be possible, as in an exact set alone.
                let is_bits = flip <= 2 && updated == Some(word);
                assert!(is_found || is_count || is_bits, "word {word}, flip {flip:#x}");
            }
        }
    }
}

/// A rate that is not that of the parts is refused, even a small one, and sets come in order.
#[test]
fn forged_rates_and_orders_are_refused() {
    let rare = Spec { false_positive_rate: 0.001, ..spec(2) };
    let universe = Universe::of(&[(500, 9000), (600, 300)]);
    let filter = build(&rare, options(), &universe, None).unwrap();
    let (mut geometry, payload) = (*filter.base().geometry(), filter.base().words().shared());
    let rate = f64::from_bits(geometry.words[3]);
    assert!(rate <= 0.001);
    for (forged, is_known) in [(rate * (1.0 + 1e-12), true), (rate * (1.0 + 1e-8), false), (rate + 1e-7, false)] {
        geometry.words[3] = forged.to_bits();
        assert_eq!(exact_set::is_known(&geometry, payload), is_known, "{forged}, not {rate}");
    }
    let universe = Universe::of(&[(3000, 100_000), (9000, 9000)]);
    let filter = build(&spec(2), options(), &universe, None).unwrap();
    let (mut geometry, payload) = (*filter.base().geometry(), filter.base().words().shared());
    let words: Vec<u64> = payload.iter().map(|word| word.load(Ordering::Relaxed)).collect();
    assert_eq!(words[1], 2, "two sets");
    let front = (16 + words[0] as usize).next_multiple_of(8);
    let [first, second] = [9, 11].map(|row| 8 * words[row].div_ceil(512) as usize);
    let known = |geometry: &petal::format::Geometry, words: &[u64]| {
        let words: Vec<AtomicU64> = words.iter().map(|word| (*word).into()).collect();
        exact_set::is_known(geometry, &words)
    };
    assert!(known(&geometry, &words) && front + first + second == words.len());
    let mut swapped = words.clone();
    swapped[8..12].rotate_left(2);
    swapped[front..].rotate_left(first);
    geometry.bits = 64 * (front + second) as u64 + words[9];
    assert!(!known(&geometry, &swapped));
}

/// A directory whose words do not ascend, or name a class that is not there, is found by a check of the payload.
/// Lookups end.
#[test]
fn forged_directories_are_found() {
    let universe = Universe::of(&[(3000, 90_000), (9000, 9000), (2000, 0), (0, 4000), (1, 5), (70, 9000)]);
    let filter = build(&spec(2), options(), &universe, None).unwrap();
    let written = image(&filter);
    let words: Vec<u64> = written.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let [listed, sets, rest] = [32, 33, 34].map(|word| words[word]);
    let start = 40 + (2 * sets as usize).next_multiple_of(8);
    assert!(listed >= 3 && sets >= 2);
    let forge = |word: usize, value: u64| {
        let mut forged = words.clone();
        forged[word] = value;
        forged
    };
    for mut forged in [
        forge(start, words[start + 1]),
        forge(start + 1, words[start]),
        forge(start, words[start] >> 7 << 7 | rest),
        forge(start, words[start] >> 7 << 7 | (2 + sets)),
        forge(start + 1, words[start + 1] | 127),
    ] {
        let place = std::ptr::NonNull::new(forged.as_mut_ptr().cast::<u8>()).unwrap();
        // SAFETY: the words outlive the handle, and nobody else uses them.
        let opened = unsafe { petal::open_in_buffer(place, written.len(), &OpenOptions::default()) }.unwrap();
        assert_eq!(opened.payload().check_payload().unwrap_err().status(), Status::Corrupt);
        true_count(&opened, &universe.members);
    }
}
