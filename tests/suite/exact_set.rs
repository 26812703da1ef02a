//! The kind `exact_set`: no error for any key of a universe, whatever the shares of members; the size compared with the
//! entropy; the rate for non-members; the same bytes for every order, memory and number of threads; a key on both
//! sides; forged images.

use crate::common::{image, is_soak, mix};
use core::sync::atomic::{AtomicU64, Ordering};
use petal::kinds::exact_set::{self, sizing};
use petal::{Answers, Builder, BuilderOptions, Filter, Image, Keys, MIN_MEMORY_LIMIT, OpenOptions, Spec, Status};

fn spec() -> Spec {
    Spec { kind: Some(exact_set::ROW.kind), ..Spec::default() }
}

fn options() -> BuilderOptions {
    BuilderOptions::default()
}

/// A filter with these members and excluded keys.
fn build(spec: &Spec, options: BuilderOptions, members: &[u64], excluded: &[u64]) -> petal::Result<Filter> {
    let mut builder = Builder::new(spec, options)?;
    builder.add_batch(&Keys::U64(members)).outcome?;
    builder.exclude_batch(&Keys::U64(excluded)).outcome?;
    assert_eq!(builder.key_count(), members.len() as u64);
    builder.finish()
}

/// How many of these keys the filter contains, in batches and one by one.
fn true_count(filter: &Filter, keys: &[u64]) -> u64 {
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::U64(keys), &mut answers).unwrap();
    let one_by_one = keys.iter().filter(|key| filter.contains_u64(**key)).count() as u64;
    assert_eq!(answers.true_count, one_by_one);
    one_by_one
}

/// `count` keys from `from` on.
fn keys(from: u64, count: u64) -> Vec<u64> {
    (from..from + count).map(mix).collect()
}

/// Asserts that a filter makes no error for its universe.
#[track_caller]
fn check(members: &[u64], excluded: &[u64]) -> Filter {
    let filter = build(&spec(), options(), members, excluded).unwrap();
    filter.payload().check_payload().unwrap();
    let name = format!("{} members, {} excluded keys", members.len(), excluded.len());
    assert_eq!(true_count(&filter, members), members.len() as u64, "{name}");
    assert_eq!(true_count(&filter, excluded), 0, "{name}");
    assert_eq!(filter.base().count(), members.len() as u64, "{name}");
    assert_eq!(filter.base().header().capacity, members.len().max(1) as u64, "{name}");
    filter
}

const SHARES: [f64; 12] = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.2, 0.24, 0.34, 0.5, 0.8, 0.95, 0.999];

#[test]
fn whole_universes_are_right() {
    let mut sizes = vec![1, 2, 3, 10, 100, 1000, 10_000, 200_000];
    sizes.extend(is_soak().then_some([1_000_000, 10_000_000]).into_iter().flatten());
    for universe in sizes {
        for share in SHARES {
            let members = (universe as f64 * share).round() as u64;
            let (members, excluded) = (keys(0, members), keys(members, universe - members));
            let filter = check(&members, &excluded);
            let entropy = sizing::entropy(members.len() as u64, universe);
            let most = 1.12 * entropy + if members.len().min(excluded.len()) < 100_000 { 4000.0 } else { 0.0 };
            // Without excluded keys there is nothing to choose a size for.
            if !excluded.is_empty() {
                let bits = filter.base().geometry().bits;
                assert!(bits as f64 <= most, "{} of {universe}: {bits} bits, entropy {entropy}", members.len());
            }
        }
    }
}

/// Batches of any length give the answers of single calls, whether few or all keys pass the first level, and answers of
/// many groups wait for each other.
#[test]
fn batches_of_every_length_agree_with_single_calls() {
    // Many keys pass the first levels of the first universe, few those of the second. The last has only one level.
    for (members, excluded) in [(30_000, 300_000), (300, 300_000), (300_000, 30_000), (20_000, 20_000)] {
        let (members, excluded) = (keys(0, members), keys(members, excluded));
        let filter = build(&spec(), options(), &members, &excluded).unwrap();
        let non_members = keys(1 << 40, 3000);
        let mixed: Vec<u64> =
            (0..3000).flat_map(|i| [members[i % members.len()], excluded[i], non_members[i]]).collect();
        // Here the second level is asked after long stretches in which nothing passes the first.
        let rare: Vec<u64> = (0..5000).map(|i| if i % 1500 == 700 { members[i % 300] } else { excluded[i] }).collect();
        for asked in [&mixed[..], &rare, &members[..members.len().min(5000)], &excluded[..5000]] {
            let expected: Vec<u8> = asked.iter().map(|key| filter.contains_u64(*key).into()).collect();
            for length in (1..=20).chain(60..=70).chain([127, 128, 129, 1000, 1023, 1024, 1025, 1088, 5000]) {
                for (asked, expected) in asked.chunks(length).zip(expected.chunks(length)).take(8) {
                    let mut bytes = vec![2; asked.len()];
                    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
                    filter.contains_batch(&Keys::U64(asked), &mut answers).unwrap();
                    assert_eq!(bytes, expected, "{} members, {length} at once", members.len());
                }
            }
        }
    }
}

/// A million keys at the share for which the figures are promised, and where nearly all are members.
#[test]
fn a_million_keys_are_near_the_entropy() {
    for (members, excluded) in [(100_000, 9_900_000 / if is_soak() { 1 } else { 10 }), (900_000, 100_000)] {
        let filter = check(&keys(0, members), &keys(members, excluded));
        let entropy = sizing::entropy(members, members + excluded);
        let share = filter.base().geometry().bits as f64 / entropy;
        let most = if excluded >= 99 * members { 1.08 } else { 1.12 };
        assert!((1.0..most).contains(&share), "{share} of the entropy");
    }
}

#[test]
fn empty_and_full_sets() {
    for count in [0, 1, 2, 1000, 50_000] {
        // Nothing is a member, and nothing is stored.
        let none = check(&[], &keys(0, count));
        assert_eq!((none.base().geometry().bits, true_count(&none, &keys(1 << 40, 10_000))), (512, 0));
        // Nothing is excluded: the rate is that of a spec without one.
        let all = check(&keys(0, count), &[]);
        let non_members = true_count(&all, &keys(1 << 40, 20_000)) as f64;
        let rate = if count == 0 { 0.0 } else { all.base().header().false_positive_rate };
        assert!(rate <= 0.01 && (non_members - rate * 20_000.0).abs() < 4.5 * (rate * 20_000.0).sqrt() + 1.0);
    }
}

/// NonMembers are taken for members at the rate that the filter states, on either side and for any number of bits.
#[test]
fn non_members_meet_the_stated_rate() {
    let non_members = keys(1 << 40, 200_000);
    for (members, excluded, rate) in [
        (5000, 50_000, 0.0),
        (50_000, 5000, 0.0),
        (1000, 100_000, 0.001),
        (20_000, 20_000, 0.0),
        (20_000, 100, 0.3),
        (20_000, 0, 0.6),
        (300_000, 400_000, 0.0),
    ] {
        let spec = Spec { false_positive_rate: rate, ..spec() };
        let filter = build(&spec, options(), &keys(0, members), &keys(members, excluded)).unwrap();
        assert_eq!(true_count(&filter, &keys(members, excluded)), 0);
        let stated = filter.expected_false_positive_rate(members);
        assert!(rate == 0.0 || stated <= rate);
        let (found, count) = (true_count(&filter, &non_members) as f64, non_members.len() as f64);
        let deviation = (count * stated * (1.0 - stated)).sqrt();
        assert!((found - count * stated).abs() < 4.5 * deviation + 1.0, "{members}, {excluded}: {found}, {stated}");
        if rate == 0.0 {
            assert_eq!(filter.base().header().false_positive_rate, stated);
        }
    }
}

#[test]
fn bytes_depend_on_the_keys_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (members, excluded) in [(20_000, 280_000), (250_000, 60_000), (130_000, 170_000)] {
        let (mut members, mut excluded) = (keys(0, members), keys(members, excluded));
        let expected = image(&build(&spec(), options(), &members, &excluded).unwrap());
        for (memory_limit, threads) in
            [(None, 2), (Some(MIN_MEMORY_LIMIT), 0), (Some(MIN_MEMORY_LIMIT), 3), (Some(16 << 20), 1)]
        {
            members.reverse();
            excluded.rotate_left(12_345);
            let temporary_directory = Some(folder.path().to_owned());
            let options = BuilderOptions { memory_limit, temporary_directory, threads, ..options() };
            let made = build(&spec(), options, &members, &excluded).unwrap();
            assert!(image(&made) == expected, "{memory_limit:?}, {threads} threads");
        }
        // Sides take turns, and keys come twice.
        let mut builder = Builder::new(&spec(), options()).unwrap();
        for i in 0..members.len().max(excluded.len()) {
            for _ in 0..1 + i % 2 {
                excluded.get(i).into_iter().for_each(|key| builder.exclude(u64::to_le_bytes(*key)).unwrap());
            }
            members.get(i).into_iter().for_each(|key| builder.add_u64(*key).unwrap());
        }
        assert_eq!(builder.key_count(), members.len() as u64);
        assert!(image(&builder.finish().unwrap()) == expected);
        assert_eq!(builder.key_count(), 0);
    }
}

/// Strings, numbers and hashes exclude the same keys.
#[test]
fn keys_of_every_form_are_excluded() {
    let mut builder = Builder::new(&spec(), options()).unwrap();
    builder.add(b"member").unwrap();
    builder.exclude(b"excluded").unwrap();
    builder.exclude(u64::to_le_bytes(7)).unwrap();
    let hash = petal::Hasher::new(petal::HashFunction::Xxh3, 0, None).unwrap().hash_key(b"by hash").unwrap();
    builder.exclude_hash(hash).unwrap();
    assert_eq!(builder.key_count(), 1);
    let filter = builder.finish().unwrap();
    assert!(filter.contains(b"member") && !filter.contains(b"excluded"));
    assert!(!filter.contains_u64(7) && !filter.contains(b"by hash"));
    let mut plain = Builder::new(&Spec { kind: Some(petal::kinds::ribbon::ROW.kind), ..spec() }, options()).unwrap();
    for refused in [plain.exclude(b"a"), plain.exclude(u64::to_le_bytes(1)), plain.exclude_hash(1)] {
        let error = refused.unwrap_err();
        assert_eq!(error.status(), Status::Unsupported);
        assert!(error.message().contains("exact_set"), "{error}");
    }
    assert_eq!(plain.exclude_batch(&Keys::U64(&[1])).outcome.unwrap_err().status(), Status::Unsupported);
}

/// A key on both sides is refused, with the key's hash, and the keys stay.
#[test]
fn a_key_on_both_sides_is_a_contradiction() {
    let folder = tempfile::tempdir().unwrap();
    for (count, memory_limit) in [(1, None), (20_000, None), (400_000, Some(MIN_MEMORY_LIMIT))] {
        for both in [0, count / 2, count - 1] {
            let temporary_directory = Some(folder.path().to_owned());
            let options = BuilderOptions { memory_limit, temporary_directory, ..options() };
            let mut builder = Builder::new(&spec(), options).unwrap();
            (0..count).for_each(|i| builder.add_hash(mix(i)).unwrap());
            (count..2 * count).for_each(|i| builder.exclude_hash(mix(i)).unwrap());
            builder.exclude_hash(mix(both)).unwrap();
            for _ in 0..2 {
                let error = builder.finish().map(drop).unwrap_err();
                assert_eq!(error.status(), Status::Contradiction);
                assert!(error.message().contains(&format!("{:#018x}", mix(both))), "{error}");
                assert_eq!(builder.key_count(), count);
            }
        }
    }
    // Two hashes of a pair are one key. On one side they make no difference.
    let mut builder = Builder::new(&spec(), options()).unwrap();
    for hash in [5, 5 ^ 1 << 27] {
        builder.add_hash(hash).unwrap();
    }
    builder.exclude_hash(6).unwrap();
    let filter = builder.finish().unwrap();
    assert!(filter.contains_hash(5) && filter.contains_hash(5 ^ 1 << 27) && !filter.contains_hash(6));
    builder.add_hash(5).unwrap();
    builder.exclude_hash(5 ^ 1 << 27).unwrap();
    assert_eq!(builder.finish().map(drop).unwrap_err().status(), Status::Contradiction);
}

/// Hashes of both sides in long runs, of one more or fewer than are kept at a time.
#[test]
fn long_runs_of_one_side_are_right() {
    let mut hashes: Vec<u64> = (0..30_000).map(mix).collect();
    hashes.sort_unstable_by_key(|hash| exact_set::order(*hash));
    for first in [1, 2, 4095, 4096, 4097] {
        for is_inverted in [false, true] {
            // A few of one side, then none of it, then many: the other side has the rest.
            let is_member = |i: usize| (i < first || (4096..13_000).contains(&i)) != is_inverted;
            let mut builder = Builder::new(&spec(), options()).unwrap();
            for (i, hash) in hashes.iter().enumerate() {
                if is_member(i) { builder.add_hash(*hash) } else { builder.exclude_hash(*hash) }.unwrap();
            }
            let filter = builder.finish().unwrap();
            let wrong = hashes.iter().enumerate().filter(|(i, hash)| filter.contains_hash(**hash) != is_member(*i));
            assert_eq!(wrong.count(), 0, "{first}, {is_inverted}");
            let mut answers = Answers::default();
            filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
            assert_eq!(answers.true_count, (0..hashes.len()).filter(|i| is_member(*i)).count() as u64);
        }
    }
}

/// NonMembers pass by their bits, or because they have the hash of a member.
#[test]
fn rates_are_those_of_the_formula() {
    let rate = sizing::false_positive_rate;
    for members in [1, 1 << 30, 1 << 61, 1 << 62] {
        // With a thousand bits no other non-member passes.
        let same = rate(1000, false, members);
        assert!((same / -(-(members as f64) * 0.5_f64.powi(63)).exp_m1() - 1.0).abs() < 1e-9, "{members}: {same}");
        for bits in [1, 2, 9] {
            let passes = 0.5_f64.powi(bits as i32);
            assert!((rate(bits, false, members) - (1.0 - (1.0 - same) * (1.0 - passes))).abs() < 1e-15);
            assert_eq!(rate(bits, true, members), 1.0 - passes);
        }
    }
    assert_eq!([rate(3, false, 0), rate(3, true, 0)], [0.0, 0.875]);
}

/// Hashes that were made to lie together, even with sides that alternate.
#[test]
fn hashes_of_any_shape_are_right() {
    let shapes: [fn(u64) -> u64; 6] = [
        |i| i,
        |i| u64::MAX - i,
        |i| i << 28,
        |i| mix(i) >> 40,
        |i| mix(i) & 0xff | mix(i % 300) << 8,
        |i| 1 << (i % 64),
    ];
    for (s, shape) in shapes.iter().enumerate() {
        for (count, one_in) in [(3000, 2), (3000, 30), (20_000, 3), (2, 2)] {
            let mut sides = std::collections::BTreeMap::new();
            for i in 0..count {
                sides.insert(exact_set::order(shape(i)), (shape(i), i % one_in == 0));
            }
            let mut builder = Builder::new(&spec(), options()).unwrap();
            for (hash, is_member) in sides.values() {
                if *is_member { builder.add_hash(*hash) } else { builder.exclude_hash(*hash) }.unwrap();
            }
            let filter = builder.finish().unwrap();
            filter.payload().check_payload().unwrap();
            let wrong = sides.values().filter(|(hash, is_member)| filter.contains_hash(*hash) != *is_member).count();
            assert_eq!(wrong, 0, "shape {s}, {count} hashes, one in {one_in}");
            let hashes: Vec<u64> = sides.values().map(|(hash, _)| *hash).collect();
            let mut answers = Answers::default();
            filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
            assert_eq!(answers.true_count, sides.values().filter(|(_, is_member)| *is_member).count() as u64);
        }
    }
}

#[test]
fn sizes_and_bits_that_are_asked_for() {
    let (members, excluded) = (keys(0, 10_000), keys(10_000, 90_000));
    let with = |spec: &Spec| build(spec, options(), &members, &excluded);
    let smallest = with(&spec()).unwrap();
    let bits = smallest.base().geometry().bits;
    for most in [bits + 200, bits * 2, bits * 3] {
        let filter = with(&Spec { bits: most, capacity: 10_000, ..spec() }).unwrap();
        let geometry = filter.base().geometry();
        assert!(geometry.bits <= most && geometry.words[0] >= smallest.base().geometry().words[0]);
        assert_eq!((true_count(&filter, &members), true_count(&filter, &excluded)), (10_000, 0));
    }
    let refused = with(&Spec { bits: 20_000, capacity: 10_000, ..spec() }).map(drop).unwrap_err();
    assert_eq!(refused.status(), Status::Contradiction, "{refused}");
    for wanted in [1, 2, 9, 32] {
        let mut spec = spec();
        spec.set(&exact_set::FINGERPRINT_BITS, f64::from(wanted)).unwrap();
        let filter = with(&spec).unwrap();
        assert_eq!(filter.base().geometry().words[0], u64::from(wanted as u32));
        assert_eq!((true_count(&filter, &members), true_count(&filter, &excluded)), (10_000, 0));
    }
}

/// Keys that are spread unevenly take more bits than expected. The set then has fewer bits for each key, unless the
/// spec says how many.
#[test]
fn no_set_takes_more_bits_than_it_may() {
    let (mut uneven, mut refused, mut exact) = (0, 0, 0);
    for seed in 0..12 {
        let (members, excluded) = (keys(seed << 20, 1000), keys(1 << 40 | seed << 20, 9000));
        let with = |most: u64, fixed: u64| {
            let mut spec = Spec { bits: most, capacity: u64::from(most > 0), ..spec() };
            spec.set(&exact_set::FINGERPRINT_BITS, fixed as f64).unwrap();
            build(&spec, options(), &members, &excluded)
        };
        for wanted in [6, 7, 11] {
            let bits = with(0, wanted).unwrap().base().geometry().bits;
            let planned = |most| sizing::most_accurate(1000, 9000, 1..=32, most).unwrap().bits;
            for most in [bits - 1, bits, bits + 1] {
                let filter = with(most, 0).unwrap();
                let geometry = filter.base().geometry();
                let told = if most < bits { wanted - 1 } else { wanted }.min(planned(most));
                assert!(geometry.bits <= most && geometry.words[0] == told, "{wanted} bits in {most}: {geometry:?}");
                assert_eq!((true_count(&filter, &members), true_count(&filter, &excluded)), (1000, 0));
                uneven += u32::from(told < planned(most));
            }
            // A set that takes exactly its limit is built, unless the plan expects more.
            match with(bits, wanted) {
                Ok(filter) => exact += u32::from(filter.base().geometry().bits == bits),
                Err(error) => assert_eq!(error.status(), Status::Contradiction, "{error}"),
            }
            if let Err(error) = with(bits - 1, wanted) {
                assert!([Status::OutOfRange, Status::Contradiction].contains(&error.status()), "{error}");
                refused += u32::from(error.status() == Status::OutOfRange);
            } else {
                panic!("{wanted} bits in {} bits", bits - 1);
            }
        }
    }
    assert!(uneven > 3 && refused > 3 && exact > 3, "{uneven} are uneven, {refused} are refused, {exact} are exact");
    // Also without excluded keys, if the spec says how many bits each key takes.
    let bits = sizing::smallest(200, 0, 6..=6, 1.0).unwrap().expected_bits().unwrap();
    let mut fits = 0;
    for seed in 0..24 {
        let mut spec = Spec { bits, seed, capacity: 200, ..spec() };
        spec.set(&exact_set::FINGERPRINT_BITS, 6.0).unwrap();
        match build(&spec, options(), &keys(0, 200), &[]) {
            Ok(filter) => {
                assert!(filter.base().geometry().bits <= bits, "seed {seed}");
                fits += 1;
            }
            Err(error) => assert_eq!(error.status(), Status::OutOfRange, "{error}"),
        }
    }
    assert!((1..24).contains(&fits), "{fits}");
    // With one bit for each member there is no bit to save.
    let bits = sizing::smallest(1000, 0, 1..=1, 1.0).unwrap().expected_bits().unwrap();
    let mut fits = 0;
    for seed in 0..24 {
        match build(&Spec { bits, seed, capacity: 1000, ..self::spec() }, options(), &keys(0, 1000), &[]) {
            Ok(filter) => {
                assert!(filter.base().geometry().bits <= bits, "seed {seed}");
                fits += 1;
            }
            Err(error) => assert_eq!(error.status(), Status::OutOfRange, "{error}"),
        }
    }
    assert!((8..24).contains(&fits), "{fits}");
}

/// Forged sizes of layers, with which each level begins, are found. Lookups in such a payload end and read nothing
/// outside it.
#[test]
fn forged_levels_are_found() {
    let (members, excluded) = (keys(0, 3000), keys(3000, 100_000));
    let filter = build(&spec(), options(), &members, &excluded).unwrap();
    let first_bits = filter.base().words().shared()[3].load(Ordering::Relaxed);
    let image = image(&filter);
    let words: Vec<u64> = image.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    for level in [8, 8 + first_bits.div_ceil(64) as usize] {
        for bit in [0, 8, 23, 44, 60] {
            let mut forged = words.clone();
            forged[256 / 8 + level] ^= 1 << bit | 1 << 10;
            let start = std::ptr::NonNull::new(forged.as_mut_ptr().cast::<u8>()).unwrap();
            // SAFETY: the words outlive the handle, and nobody else uses them.
            let opened = unsafe { petal::open_in_buffer(start, image.len(), &OpenOptions::default()) };
            let Ok(opened) = opened else { continue };
            let checked = opened.payload().check_payload();
            assert!(checked.is_err_and(|error| error.status() == Status::Corrupt), "word {level}, bit {bit}");
            true_count(&opened, &members);
        }
    }
}

/// Every word of the header and of the payload's head is held to its meaning.
#[test]
fn forged_words_are_refused() {
    for (members, excluded) in [(3000, 100_000), (3000, 1000), (0, 10), (10, 0), (50, 70)] {
        let filter = build(&spec(), options(), &keys(0, members), &keys(members, excluded)).unwrap();
        let (geometry, payload) = (*filter.base().geometry(), filter.base().words().shared());
        let head: Vec<u64> = payload[..8].iter().map(|word| word.load(Ordering::Relaxed)).collect();
        let forged = |of_geometry: [u64; 2], of_head: [u64; 4], unused: usize| {
            let mut geometry = geometry;
            geometry.words[..2].copy_from_slice(&of_geometry);
            let words: Vec<AtomicU64> = payload.iter().map(|word| word.load(Ordering::Relaxed).into()).collect();
            words.iter().zip(of_head).for_each(|(word, forged)| word.store(forged, Ordering::Relaxed));
            match unused {
                2..8 => geometry.words[unused] = 1,
                8..12 => words[unused - 4].store(1, Ordering::Relaxed),
                _ => (),
            }
            exact_set::is_known(&geometry, &words)
        };
        let ([b, side, ..], [stored, passed, universe, first]) = (geometry.words, [head[0], head[1], head[2], head[3]]);
        assert!(forged([b, side], [stored, passed, universe, first], 0));
        for (i, of_geometry) in [[0, side], [33, side], [b, 0], [b, 3]].into_iter().enumerate() {
            assert!(!forged(of_geometry, [stored, passed, universe, first], 0), "{members}, {excluded}, word {i}");
        }
        let heads = [
            [universe + 1, passed, universe, first],
            [stored, universe + 1, universe, first],
            [stored, universe, universe.wrapping_sub(1), first],
            [passed + 1, passed, universe, first],
            [stored, passed, universe, first + 1],
            [stored, passed, universe, geometry.bits + 8],
            [stored, passed, universe, u64::MAX],
            [u64::MAX, passed, universe, first],
            [stored, passed, u64::MAX, first + 8 * 64],
        ];
        for (i, of_head) in heads.into_iter().enumerate() {
            assert!(!forged([b, side], of_head, 0), "{members}, {excluded}, head {i}");
        }
        for unused in 2..12 {
            assert!(!forged([b, side], [stored, passed, universe, first], unused));
        }
    }
    // Nothing is stored of the excluded side if there is none.
    let filter = build(&spec(), options(), &[], &keys(0, 10)).unwrap();
    let geometry = petal::format::Geometry { words: [1, 2, 0, 0, 0, 0, 0, 0], ..*filter.base().geometry() };
    assert!(!exact_set::is_known(&geometry, filter.base().words().shared()));
}

#[test]
fn images_and_compact_forms_come_back() {
    let (members, excluded) = (keys(0, 500), keys(500, 5000));
    for (members, excluded) in [(&members, &excluded), (&excluded, &members)] {
        let filter = build(&spec(), options(), members, excluded).unwrap();
        let mut form = vec![0; filter.compact_size().unwrap()];
        assert_eq!(filter.serialize_compact(&mut form).unwrap(), form.len());
        let opened = petal::load(&image(&filter), &OpenOptions::default()).unwrap();
        let compact = petal::load_compact(&form, &petal::CompactOptions::default()).unwrap();
        for filter in [&filter, &opened, &compact] {
            assert_eq!((true_count(filter, members), true_count(filter, excluded)), (members.len() as u64, 0));
        }
        assert!(
            petal::compact_contains_hash(
                petal::storage::AnyBytes::of(&form),
                filter.base().hasher().hash_u64(members[0]).unwrap()
            )
            .unwrap()
        );
    }
}

/// A set is no larger than a ribbon filter of all its bits may become, plus a directory and the end of a level.
#[test]
fn bounds_are_those_of_a_ribbon() {
    for keys in [0, 1, 1000, 100_000, 10_000_000, 3_000_000_000] {
        for fingerprint_bits in [1, 7, 32] {
            let (bits, words) = (20 * keys + 1000, [fingerprint_bits, 1, 0, 0, 0, 0, 0, 0]);
            let geometry =
                petal::format::Geometry { bits, hashes: 1, words, payload_bytes: u64::div_ceil(bits, 512) * 64 };
            let [set, ribbon] = [&exact_set::ROW, &petal::kinds::ribbon::ROW]
                .map(|of| of.building.most_bytes.unwrap()(&geometry, keys));
            let directory = 4 * petal::kinds::ribbon::sizing::shards(keys);
            let more = set - ribbon;
            assert!(more >= 128 + directory / 64 * 64 && more <= 192 + directory, "{keys} keys: {more} bytes more");
        }
    }
}

/// A measure counts the keys and the slots of both levels.
#[test]
fn measures_count_both_levels() {
    for (members, excluded) in [(3000, 90_000), (5000, 5000)] {
        let filter = build(&spec(), options(), &keys(0, members), &keys(members, excluded)).unwrap();
        let (geometry, words) = (*filter.base().geometry(), filter.base().words().shared());
        let [stored, passed, _, first] = [0, 1, 2, 3].map(|word| words[word].load(Ordering::Relaxed));
        let columns = geometry.words[0] - 1;
        let taken = passed + if columns > 0 { stored } else { 0 };
        let slots = geometry.bits - 512 - first.next_multiple_of(64) + first.checked_div(columns).unwrap_or(0);
        let measure = filter.statistics();
        assert_eq!(measure.taken, taken);
        assert!((measure.fill - taken as f64 / slots as f64).abs() < 1e-9, "{} of {slots}", measure.taken);
    }
}

/// A set of one bit may say that the excluded keys are stored, although no builder makes one: the answers are opposite.
#[test]
fn sets_of_one_bit_may_be_inverted() {
    let (members, excluded) = (keys(0, 5000), keys(5000, 5000));
    let filter = build(&spec(), options(), &members, &excluded).unwrap();
    assert_eq!(filter.base().geometry().words[..2], [1, 1]);
    let mut inverted = image(&filter);
    inverted[80] = 2;
    crate::format::seal(&mut inverted);
    let inverted = petal::load(&inverted, &OpenOptions::default()).unwrap();
    assert_eq!((true_count(&inverted, &members), true_count(&inverted, &excluded)), (0, 5000));
}

/// A lookup reads a line of each level's directory, and a row that may begin at any byte. An update is one set more.
#[test]
fn lookups_read_as_many_lines_as_told() {
    let level = |columns: u64| {
        let bytes = columns * if columns <= 4 { 17 } else { 9 };
        1.0 + (0..64).map(|first| (first + bytes - 1) / 64 + 1).sum::<u64>() as f64 / 64.0
    };
    let told = |words, payload_bytes| {
        let geometry = petal::format::Geometry { bits: 8 * payload_bytes, hashes: 1, words, payload_bytes };
        (exact_set::ROW.lines_per_lookup)(&geometry)
    };
    for bits in 1..=32 {
        let counted = if bits > 1 { level(bits - 1) } else { 0.0 } + level(1);
        assert_eq!(told([bits, 1, 0, 0, 0, 0, 0, 0], 1 << 20), counted, "{bits} bits");
        assert_eq!(told([bits, 1, 0, 0, 0, 0, 0, 0], 128), counted.min(2.0), "{bits} bits");
    }
    for updates in 1..5 {
        assert_eq!(told([9, 1, 0, 0, updates, 0, 0, 0], 1 << 20), (5 + 4 * updates) as f64);
    }
}
