//! The kind `stacked`: members are found; frequent non-members and others meet the stated rates; the share of false
//! answers compared with `ribbon`; the same bytes for every order, memory and number of threads; what is refused;
//! forged images.

use crate::common::{image, mix};
use crate::specification;
use core::sync::atomic::{AtomicU64, Ordering};
use petal::contract::Others;
use petal::kinds::stacked::sizing::{self, Known};
use petal::kinds::stacked::{self, plan::Stack};
use petal::{Answers, Builder, BuilderOptions, Filter, Image, Keys, MIN_MEMORY_LIMIT, OpenOptions, Spec, Status};
use std::collections::BTreeSet;

fn spec() -> Spec {
    Spec { kind: Some(stacked::ROW.kind), ..Spec::default() }
}

fn with_share(spec: Spec, share: f64) -> Spec {
    let mut spec = spec;
    spec.set(&stacked::FREQUENT_SHARE, share).unwrap();
    spec
}

fn options() -> BuilderOptions {
    BuilderOptions::default()
}

/// A filter with these members and frequent non-members.
fn build(
    spec: &Spec,
    options: BuilderOptions,
    members: &[u64],
    non_members: &[u64],
    weights: &[f64],
) -> petal::Result<Filter> {
    let mut builder = Builder::new(spec, options)?;
    builder.add_batch(&Keys::U64(members)).outcome?;
    builder.add_frequent_batch(&Keys::U64(non_members), Some(weights)).outcome?;
    assert_eq!((builder.key_count(), builder.frequent_count()), (members.len() as u64, non_members.len() as u64));
    builder.finish()
}

/// `count` keys from `from` on.
fn keys(from: u64, count: u64) -> Vec<u64> {
    (from..from + count).map(mix).collect()
}

/// The weights of `count` non-members, by Zipf's law with exponent 1.
fn zipf(count: usize) -> Vec<f64> {
    (1..=count).map(|rank| 1.0 / rank as f64).collect()
}

/// The sum of the weights of the keys that the filter contains, in batches and one by one.
fn found(filter: &Filter, keys: &[u64], weights: &[f64]) -> f64 {
    let (mut bits, mut sum) = (vec![0; keys.len().div_ceil(8)], 0.0);
    let mut answers = Answers { bitmap: Some(&mut bits), ..Answers::default() };
    filter.contains_batch(&Keys::U64(keys), &mut answers).unwrap();
    for (i, (key, weight)) in keys.iter().zip(weights).enumerate() {
        let is_found = filter.contains_u64(*key);
        assert_eq!(bits[i / 8] >> (i % 8) & 1 == 1, is_found, "key {i}");
        sum += if is_found { *weight } else { 0.0 };
    }
    sum
}

fn levels(filter: &Filter) -> Stack {
    stacked::levels(filter.base().geometry(), filter.base().words().shared()).unwrap()
}

/// Asserts that a filter has all of its members.
#[track_caller]
fn check(filter: &Filter, members: &[u64]) {
    filter.payload().check_payload().unwrap();
    assert_eq!(found(filter, members, &vec![1.0; members.len()]), members.len() as f64);
    assert_eq!(filter.base().count(), members.len() as u64);
    assert_eq!(filter.base().header().capacity, members.len().max(1) as u64);
    // The measure counts the keys and the slots of all levels.
    let (measure, words) = (filter.statistics(), filter.base().words().shared());
    let of_level = |i: usize, bits: u64| [2, 3].map(|at| words[at + 2 * i].load(Ordering::Relaxed) / [1, bits][at - 2]);
    let all = levels(filter).0.into_iter().take_while(|bits| *bits > 0).enumerate().map(|(i, bits)| of_level(i, bits));
    let [keys, slots] = all.fold([0; 2], |[keys, slots], of| [keys + of[0], slots + of[1]]);
    assert_eq!((measure.taken, measure.fill), (keys, if slots == 0 { 0.0 } else { keys as f64 / slots as f64 }));
    assert_eq!(measure.false_positive_rate, filter.expected_false_positive_rate(members.len() as u64));
}

/// Of 10^6 non-members that come by Zipf's law, the most frequent are known. A ribbon filter and a stacked one get the
/// same bits. The stacked one has at most 1.1 (1 - s) of the ribbon's false answers by its levels. The exact sum over
/// all non-members agrees, with a deviation that follows from the weights.
#[test]
fn known_strangers_save_false_answers() {
    let (members, non_members, weights) = (keys(0, 100_000), keys(1 << 40, 1_000_000), zipf(1_000_000));
    let all: f64 = weights.iter().sum();
    for (known, share) in [(1000, 0.52), (100_000, 0.84)] {
        let s = weights[..known].iter().sum::<f64>() / all;
        assert!((s - share).abs() < 0.005, "{s}");
        for each in [6.2, 8.1, 8.9, 12.5] {
            let bits = (each * 100_000.0) as u64;
            let ribbon =
                Spec { kind: Some(petal::kinds::ribbon::ROW.kind), bits, capacity: 100_000, ..Spec::default() };
            let of_ribbon = petal::expected_false_positive_rate(&ribbon, 100_000).unwrap();
            assert_eq!(of_ribbon.log2().round(), -f64::floor(each));
            let spec = with_share(Spec { bits, capacity: 1, ..spec() }, s);
            let filter = build(&spec, options(), &members, &non_members[..known], &weights[..known]).unwrap();
            assert!(filter.base().geometry().bits <= bits);
            check(&filter, &members);
            let stack = levels(&filter);
            // Without a second level no non-member that is known passes the first one.
            let of_known = if stack.levels() == 1 { 0.0 } else { stack.frequent_rate() };
            let of_others = stack.non_member_rate();
            let stated = s * of_known + (1.0 - s) * of_others;
            assert!(stack.levels() == 1 || stack.rate(s) == stated);
            assert!(stated <= 1.1 * (1.0 - s) * of_ribbon, "{known}, {each}: {stated}, {of_ribbon}, {stack:?}");
            let wrong = found(&filter, &non_members, &weights) / all;
            let variance = |weights: &[f64], rate: f64| {
                weights.iter().map(|weight| (weight / all).powi(2) * rate * (1.0 - rate)).sum::<f64>()
            };
            let deviation = (variance(&weights[..known], of_known) + variance(&weights[known..], of_others)).sqrt();
            assert!((wrong - stated).abs() <= 4.5 * deviation, "{known}, {each}: {wrong}, {stated} +- {deviation}");
        }
    }
}

/// A frequent non-member and any other key are taken for members at the rates that the levels state.
#[test]
fn rates_are_those_of_the_levels() {
    let others = keys(1 << 50, 300_000);
    for (members, non_members, share, rate) in [
        (20_000, 200_000, 0.9, 0.05),
        (2000, 300_000, 0.99, 0.02),
        (100_000, 100_000, 0.5, 0.01),
        (30_000, 50, 0.5, 0.6),
    ] {
        let (members, non_members) = (keys(0, members), keys(1 << 40, non_members));
        let spec = with_share(Spec { false_positive_rate: rate, ..spec() }, share);
        let filter = build(&spec, options(), &members, &non_members, &vec![1.0; non_members.len()]).unwrap();
        check(&filter, &members);
        let stack = levels(&filter);
        assert!(stack.rate(share) <= rate && filter.base().header().false_positive_rate == rate);
        let stated = filter.expected_false_positive_rate(members.len() as u64);
        assert!((stated - stack.non_member_rate()).abs() < 1e-12);
        for (keys, rate) in [(&others, stated), (&non_members, stack.frequent_rate())] {
            let (found, count) = (found(&filter, keys, &vec![1.0; keys.len()]), keys.len() as f64);
            let deviation = (count * rate * (1.0 - rate)).sqrt();
            assert!((found - count * rate).abs() <= 4.5 * deviation + 1.0, "{stack:?}: {found} of {count}, {rate}");
        }
    }
}

#[test]
fn bytes_depend_on_the_keys_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (members, non_members, share) in [(20_000, 300_000, 0.95), (400_000, 100_000, 0.5)] {
        let (mut members, mut non_members) = (keys(0, members), keys(1 << 40, non_members));
        let weight = |key: &u64| (1 + key % 1000) as f64 / 7.0;
        let spec = with_share(Spec { false_positive_rate: 0.004, ..spec() }, share);
        let weights: Vec<f64> = non_members.iter().map(weight).collect();
        let expected = image(&build(&spec, options(), &members, &non_members, &weights).unwrap());
        for (memory_limit, threads) in
            [(None, 2), (Some(MIN_MEMORY_LIMIT), 0), (Some(MIN_MEMORY_LIMIT), 3), (Some(16 << 20), 1)]
        {
            members.reverse();
            non_members.rotate_left(12_345);
            let weights: Vec<f64> = non_members.iter().map(weight).collect();
            let temporary_directory = Some(folder.path().to_owned());
            let options = BuilderOptions { memory_limit, temporary_directory, threads, ..options() };
            let made = build(&spec, options, &members, &non_members, &weights).unwrap();
            assert!(image(&made) == expected, "{memory_limit:?}, {threads} threads");
        }
        // Half of the weight twice is the whole weight, next to non-members that come once.
        let mut builder = Builder::new(&spec, options()).unwrap();
        for i in 0..members.len().max(non_members.len()) {
            if let Some(key) = non_members.get(i) {
                let times = 1 + key % 2;
                (0..times)
                    .for_each(|_| builder.add_frequent(u64::to_le_bytes(*key), weight(key) / times as f64).unwrap());
            }
            members.get(i).into_iter().for_each(|key| builder.add_u64(*key).unwrap());
        }
        assert!(image(&builder.finish().unwrap()) == expected);
        assert_eq!((builder.key_count(), builder.frequent_count()), (0, 0));
    }
}

/// A filter takes those non-members that pay: all whose weights are at least a bound, out of four bounds for each
/// doubling of a weight. The best plan of all plans for such non-members has the levels of the filter.
#[test]
fn the_strangers_that_pay_are_taken() {
    let members = keys(0, 2000);
    let mut taken = BTreeSet::new();
    for (exponent, scale, share, rate) in [
        (1.0, 1.0, 0.9, 0.01),
        (1.0, 1.1e18, 0.5, 0.02),
        (2.0, 1e-10, 0.7, 0.05),
        (0.5, 7e9, 0.99, 0.03),
        (0.0, 3.0, 0.6, 0.01),
        (2.0, 2.0, 0.2, 0.01),
    ] {
        let weights: Vec<f64> = (1..=6000).map(|rank| scale * f64::powf(f64::from(rank), -exponent)).collect();
        let non_members = keys(1 << 40, 6000);
        // The bound below a weight: 1, 1.25, 1.5 or 1.75 times a power of two.
        let bound = |weight: f64| {
            let power = weight.log2().floor().exp2();
            power * (1.0 + (4.0 * (weight / power - 1.0)).floor() / 4.0)
        };
        let (mut best, mut weight) = (sizing::smallest(2000, &[], rate).unwrap(), 0.0);
        let all: f64 = weights.iter().sum();
        for (i, one) in weights.iter().enumerate() {
            weight += one;
            if weights.get(i + 1).is_none_or(|next| bound(*next) < bound(*one)) {
                let known = Known { non_members: i as u64 + 1, share: share * f64::min(weight / all, 1.0) };
                best = sizing::smallest(2000, &[known], rate).filter(|plan| plan.bits < best.bits).unwrap_or(best);
            }
        }
        let spec = with_share(Spec { false_positive_rate: rate, ..spec() }, share);
        let filter = build(&spec, options(), &members, &non_members, &weights).unwrap();
        let of_filter = filter.base().words().shared()[0].load(Ordering::Relaxed);
        // A level for which no key is left is left out, and so are those after it.
        let expected = best.stack.first(levels(&filter).levels());
        assert_eq!((of_filter, levels(&filter)), (best.known.non_members, expected), "{exponent}, {scale}, {share}");
        taken.insert(of_filter);
    }
    assert!(taken.len() >= 4 && taken.iter().all(|taken| *taken > 0), "{taken:?}");
}

/// The rate is kept even with the greatest weights: the non-members that a filter takes do not weigh less because no
/// number of 128 bits holds the sum of all.
#[test]
fn great_weights_are_summed_exactly() {
    let (members, non_members) = (keys(0, 2000), keys(1 << 40, 100_016));
    let weights: Vec<f64> = (0..100_016).map(|i| f64::exp2(if i < 16 { 60.0 } else { 59.0 })).collect();
    let spec = with_share(Spec { false_positive_rate: 0.01, ..spec() }, 0.9);
    let filter = build(&spec, options(), &members, &non_members, &weights).unwrap();
    let taken = filter.base().words().shared()[0].load(Ordering::Relaxed) as usize;
    let share = 0.9 * weights[..taken].iter().sum::<f64>() / weights.iter().sum::<f64>();
    let rate = levels(&filter).rate(share);
    assert!(rate <= 0.01, "{rate} with {taken} non-members, {:?}", levels(&filter));
}

/// Few keys or none on either side, and hashes that lie together.
#[test]
fn corners() {
    let members_of = |count| keys(0, count);
    for members in [0, 1, 2, 1000] {
        for non_members in [0, 1, 1000] {
            for (share, rate) in [(0.0, 0.01), (1.0, 0.01), (0.5, 0.9), (1.0, 0.9), (0.999, 1e-4)] {
                let (members, non_members) = (members_of(members), keys(1 << 40, non_members));
                let spec = with_share(Spec { false_positive_rate: rate, ..spec() }, share);
                let filter = build(&spec, options(), &members, &non_members, &vec![1.0; non_members.len()]).unwrap();
                check(&filter, &members);
                let found = found(&filter, &non_members, &vec![1.0; non_members.len()]);
                assert!(!members.is_empty() || found == 0.0);
                assert!(found <= 1000.0 * levels(&filter).frequent_rate() * 2.0 + 4.0, "{found}");
            }
        }
    }
    let shapes: [fn(u64) -> u64; 6] =
        [|_| 7, |i| i, |i| u64::MAX - i, |i| i << 28, |i| mix(i) & 0xff | mix(i % 300) << 8, |i| 1 << (i % 64)];
    for shape in shapes {
        let hashes: BTreeSet<u64> = (0..20_000).map(shape).collect();
        let spec = with_share(Spec { false_positive_rate: 0.1, ..spec() }, 0.9);
        let mut builder = Builder::new(&spec, options()).unwrap();
        for (i, hash) in hashes.iter().enumerate() {
            match i % 2 {
                0 => builder.add_hash(*hash).unwrap(),
                _ => builder.add_frequent_hash(*hash, 1.0).unwrap(),
            }
        }
        let filter = builder.finish().unwrap();
        filter.payload().check_payload().unwrap();
        assert!(hashes.iter().step_by(2).all(|hash| filter.contains_hash(*hash)));
    }
}

/// Invalid weights, kinds that take none, and wrong numbers of weights.
#[test]
fn what_is_refused() {
    let mut builder = Builder::new(&spec(), options()).unwrap();
    let outside = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-19, 1.2e18, f64::MIN_POSITIVE];
    for weight in outside {
        let errors = [
            builder.add_frequent(b"a", weight).unwrap_err(),
            builder.add_frequent(u64::to_le_bytes(1), weight).unwrap_err(),
            builder.add_frequent_hash(1, weight).unwrap_err(),
            builder.add_frequent_batch(&Keys::U64(&[1]), Some(&[weight])).outcome.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.status(), Status::OutOfRange, "{error}");
            assert!(error.message().contains("weight = "), "{error}");
        }
    }
    let taken = builder.add_frequent_batch(&Keys::U64(&[1, 2, 3]), Some(&[1.0, 2.0, 0.0]));
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (2, Status::OutOfRange));
    let taken = builder.add_frequent_batch(&Keys::U64(&[1, 2]), Some(&[1.0]));
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (0, Status::BufferTooSmall));
    assert_eq!(builder.frequent_count(), 2);
    let (least, most) = ((-60_f64).exp2(), 60_f64.exp2());
    for weight in [least, most] {
        builder.add_frequent(b"a", weight).unwrap();
    }
    assert_eq!(builder.exclude(b"a").unwrap_err().status(), Status::Unsupported);
    for kind in [petal::kinds::ribbon::ROW.kind, petal::kinds::exact_set::ROW.kind] {
        let mut other = Builder::new(&Spec { kind: Some(kind), ..spec() }, options()).unwrap();
        let error = other.add_frequent(u64::to_le_bytes(1), 1.0).unwrap_err();
        assert_eq!(error.status(), Status::Unsupported);
        assert!(error.message().contains("stacked"), "{error}");
        assert_eq!(other.add_frequent_batch(&Keys::U64(&[1]), None).outcome.unwrap_err().status(), Status::Unsupported);
    }
    for share in [-0.1, 1.1, f64::NAN] {
        let error = Builder::new(&with_share(spec(), share), options()).map(drop).unwrap_err();
        assert_eq!(error.status(), Status::OutOfRange);
    }
}

/// A key that is a member too is refused, with the key's hash, and the keys stay.
#[test]
fn a_key_on_both_sides_is_a_contradiction() {
    let folder = tempfile::tempdir().unwrap();
    for (count, memory_limit) in [(1, None), (20_000, None), (300_000, Some(MIN_MEMORY_LIMIT))] {
        for both in [0, count - 1] {
            let temporary_directory = Some(folder.path().to_owned());
            let options = BuilderOptions { memory_limit, temporary_directory, ..options() };
            let mut builder = Builder::new(&spec(), options).unwrap();
            (0..count).for_each(|i| builder.add_hash(mix(i)).unwrap());
            (count..2 * count).for_each(|i| builder.add_frequent_hash(mix(i), 1.0).unwrap());
            builder.add_frequent_hash(mix(both), (-60_f64).exp2()).unwrap();
            for _ in 0..2 {
                let error = builder.finish().map(drop).unwrap_err();
                assert_eq!(error.status(), Status::Contradiction);
                assert!(error.message().contains(&format!("{:#018x}", mix(both))), "{error}");
                assert_eq!((builder.key_count(), builder.frequent_count()), (count, count + 1));
            }
        }
    }
    // All non-members are members.
    let same = keys(0, 5000);
    let error = build(&spec(), options(), &same, &same, &vec![1.0; 5000]).map(drop).unwrap_err();
    assert_eq!(error.status(), Status::Contradiction);
}

#[test]
fn sizes_and_bits_that_are_asked_for() {
    let (members, non_members) = (keys(0, 10_000), keys(1 << 40, 5000));
    let with = |spec: &Spec| build(spec, options(), &members, &non_members, &zipf(5000));
    for each in [1.3, 2.0, 5.5, 8.0, 12.9, 20.0] {
        let most = (each * 10_000.0) as u64;
        let filter = with(&Spec { bits: most, capacity: 10_000, ..with_share(spec(), 0.9) }).unwrap();
        let geometry = filter.base().geometry();
        assert!(geometry.bits <= most, "{} of {most}", geometry.bits);
        check(&filter, &members);
        // A filter with a single level never has a lower rate.
        let plain = Stack::single((each - 0.15) as u64).rate(0.9);
        assert!(levels(&filter).rate(0.9) <= plain * 1.000_001, "{each}: {:?}", levels(&filter));
    }
    let refused = with(&Spec { bits: 5000, capacity: 10_000, ..spec() }).map(drop).unwrap_err();
    assert_eq!(refused.status(), Status::Contradiction, "{refused}");
}

/// Every word of the header and of the payload's head is held to its meaning.
#[test]
fn forged_words_are_refused() {
    for (members, non_members) in [(3000, 30_000), (3000, 0), (0, 10), (300_000, 100_000)] {
        let (members, non_members) = (keys(0, members), keys(1 << 40, non_members));
        let spec = with_share(Spec { false_positive_rate: 0.001, ..spec() }, 0.95);
        let filter = build(&spec, options(), &members, &non_members, &vec![1.0; non_members.len()]).unwrap();
        let (geometry, payload) = (*filter.base().geometry(), filter.base().words().shared());
        let count = levels(&filter).levels();
        assert_eq!(count > 1, !non_members.is_empty() && !members.is_empty());
        let forged = |of_geometry: &[(usize, u64)], of_head: &[(usize, u64)]| {
            let mut geometry = geometry;
            of_geometry.iter().for_each(|(i, change)| geometry.words[*i] = geometry.words[*i].wrapping_add(*change));
            let words: Vec<AtomicU64> = payload.iter().map(|word| word.load(Ordering::Relaxed).into()).collect();
            for (i, change) in of_head {
                words[*i].fetch_add(*change, Ordering::Relaxed);
            }
            stacked::is_known(&geometry, &words)
        };
        assert!(forged(&[], &[]));
        for i in 2..8 {
            assert!(!forged(&[(i, 1)], &[]) && !forged(&[(i, u64::MAX)], &[]), "{i}");
        }
        // Levels of no bits or too many, a level more, a level less, and a level behind one that is not there.
        let [first, rest] = [0, 1].map(|i| geometry.words[i]);
        for [to_first, to_rest] in [
            [0, rest],
            [33, rest],
            [u64::MAX, rest],
            [first, rest | 1 << (6 * (count - 1))],
            [first, rest ^ rest & 0x3f << (6 * count.saturating_sub(2)) | u64::from(count == 1)],
            [first, rest | 33 << (6 * (count - 1))],
            [first, rest | 1 << (6 * count)],
            [first, rest | 1 << 36],
            [first, u64::MAX],
        ] {
            let change = [(0, to_first.wrapping_sub(first)), (1, to_rest.wrapping_sub(rest))];
            assert!(!forged(&change, &[]), "{count} levels: {to_first}, {to_rest:#x} for {first}, {rest:#x}");
        }
        for (i, word) in payload.iter().enumerate().take(16).skip(1) {
            // A level may have fewer keys, as long as it has some.
            let is_size = i >= 2 && i % 2 == 0 && i < 2 + 2 * count;
            for change in [1, 64, 1 << 20, 1 << 62, u64::MAX] {
                assert!(is_size || !forged(&[], &[(i, change)]), "{count} levels, word {i}, {change}");
            }
            let keys = word.load(Ordering::Relaxed);
            assert!(!is_size || members.is_empty() || !forged(&[], &[(i, keys.wrapping_neg())]), "word {i}");
            assert!(!is_size || !forged(&[], &[(i, 1 << 62)]), "word {i}");
        }
        // A level of non-members has no more keys than there are, and a later level of a side no more than an earlier.
        if count > 1 {
            assert!(!forged(&[], &[(0, payload[0].load(Ordering::Relaxed).wrapping_neg())]));
        }
        if count > 2 {
            let [first, third] = [2, 6].map(|i| payload[i].load(Ordering::Relaxed));
            assert!(!forged(&[], &[(6, first + 1 - third)]));
        }
    }
    assert!(Stack::of_words([0, 0]).is_none() && Stack::of_words([1, 0]) == Some(Stack::single(1)));
    // Without members there are no non-members.
    let filter = build(&spec(), options(), &[], &[], &[]).unwrap();
    let words: Vec<AtomicU64> = filter.base().words().shared().iter().map(|_| 0.into()).collect();
    assert!(stacked::is_known(filter.base().geometry(), &words));
    words[0].store(1, Ordering::Relaxed);
    assert!(!stacked::is_known(filter.base().geometry(), &words));
}

/// Forged sizes of layers, with which each level begins, are found. Lookups in such a payload end and read nothing
/// outside it.
#[test]
fn forged_levels_are_found() {
    let (members, non_members) = (keys(0, 3000), keys(1 << 40, 30_000));
    let spec = with_share(Spec { false_positive_rate: 0.001, ..spec() }, 0.95);
    let filter = build(&spec, options(), &members, &non_members, &vec![1.0; non_members.len()]).unwrap();
    assert!(levels(&filter).levels() >= 3);
    let image = image(&filter);
    let words: Vec<u64> = image.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let mut level = 16;
    for number in 0..levels(&filter).levels() {
        for bit in [0, 8, 23, 44, 60] {
            let mut forged = words.clone();
            forged[256 / 8 + level] ^= 1 << bit | 1 << 10;
            let start = std::ptr::NonNull::new(forged.as_mut_ptr().cast::<u8>()).unwrap();
            // SAFETY: the words outlive the handle, and nobody else uses them.
            let opened = unsafe { petal::open_in_buffer(start, image.len(), &OpenOptions::default()) };
            let Ok(opened) = opened else { continue };
            let checked = opened.payload().check_payload();
            assert!(checked.is_err_and(|error| error.status() == Status::Corrupt), "level {number}, bit {bit}");
            found(&opened, &members, &vec![1.0; members.len()]);
        }
        level += words[256 / 8 + 3 + 2 * number].div_ceil(64) as usize;
    }
}

/// docs/format.md gives the answers of the library, even of levels after the second and of non-members.
#[test]
fn answers_are_those_of_the_format() {
    for (members, non_members, share, rate) in
        [(2000, 20_000, 0.95, 1e-3), (300_000, 100_000, 0.9, 0.01), (50, 0, 0.5, 0.2)]
    {
        let (members, non_members) = (keys(0, members), keys(1 << 40, non_members));
        let spec = with_share(Spec { false_positive_rate: rate, ..spec() }, share);
        let filter = build(&spec, options(), &members, &non_members, &vec![1.0; non_members.len()]).unwrap();
        let (image, hasher) = (image(&filter), filter.base().hasher());
        let others = keys(1 << 50, 3000);
        let some = [&members, &non_members, &others].map(|keys| keys.iter().take(3000));
        for key in some.into_iter().flatten() {
            let hash = hasher.hash_u64(*key).unwrap();
            assert_eq!(specification::is_stacked(&image, hash), filter.contains_hash(hash));
        }
    }
}

#[test]
fn images_and_compact_forms_come_back() {
    let (members, non_members) = (keys(0, 500), keys(1 << 40, 5000));
    let spec = with_share(Spec { false_positive_rate: 0.001, ..spec() }, 0.95);
    let filter = build(&spec, options(), &members, &non_members, &vec![1.0; non_members.len()]).unwrap();
    assert!(levels(&filter).levels() >= 3);
    let mut form = vec![0; filter.compact_size().unwrap()];
    assert_eq!(filter.serialize_compact(&mut form).unwrap(), form.len());
    let opened = petal::load(&image(&filter), &OpenOptions::default()).unwrap();
    let compact = petal::load_compact(&form, &petal::CompactOptions::default()).unwrap();
    let wrong = found(&filter, &non_members, &zipf(5000));
    for filter in [&opened, &compact] {
        check_members(filter, &members);
        assert_eq!(found(filter, &non_members, &zipf(5000)), wrong);
    }
}

fn check_members(filter: &Filter, members: &[u64]) {
    assert_eq!(found(filter, members, &vec![1.0; members.len()]), members.len() as f64);
}

/// The plan for known non-members is what is built: the same levels, and the rate of these levels.
#[test]
fn what_is_planned_for_strangers_is_built() {
    let (members, non_members) = (keys(0, 20_000), keys(1 << 40, 50_000));
    for (share, rate) in [(0.9, 0.02), (0.99, 0.004), (0.5, 0.01)] {
        let spec = with_share(Spec { false_positive_rate: rate, capacity: 20_000, ..spec() }, share);
        let size = petal::Size::Rate { capacity: 20_000, false_positive_rate: rate };
        let others = Others { keys: 50_000, share };
        let (geometry, planned) = stacked::ROW.others.knowing.unwrap()(&spec, size, &others).unwrap();
        let filter = build(&spec, options(), &members, &non_members, &[1.0; 50_000]).unwrap();
        let built = filter.base().geometry();
        assert!(planned <= rate && planned == levels(&filter).rate(share), "{planned}");
        assert_eq!(geometry.words, built.words);
        assert!(geometry.bits.abs_diff(built.bits) < built.bits / 50, "{} {}", geometry.bits, built.bits);
    }
}

/// The search goes as deep as levels pay: among these settings seven are the best for most.
#[test]
fn seven_levels_pay() {
    let settings = [
        (15_468, 30_134, 0.999_995_94, 3.167e-6),
        (1_413_118, 224_661, 0.999_987_6, 6.596e-4),
        (2_584_609, 1_702_107, 0.999_693_48, 6.738e-4),
        (828_468, 1_265_987, 0.869_791_57, 6.505e-3),
        (33_388, 26_584, 0.999_971_04, 1.776e-5),
    ];
    let levels = settings.map(|(members, non_members, share, rate)| {
        let plan = sizing::smallest(members, &[Known { non_members, share }], rate).unwrap();
        assert!(plan.stack.decisive_rate(share, members) <= rate);
        plan.stack.levels()
    });
    assert!(levels.iter().filter(|levels| **levels == 7).count() >= 3, "{levels:?}");
}

/// Other keys have the hash of a member at a rate that matters with this many members.
#[test]
fn hashes_of_members_are_counted() {
    let members = 1_u64 << 60;
    let same = -(members as f64 * (-(-64_f64).exp2()).ln_1p()).exp_m1();
    assert!((Stack::single(1).rate_with(members) - (same + (1.0 - same) * 0.5)).abs() < 1e-12);
    assert_eq!(Stack::single(1).rate_with(0), 0.0);
}

/// A level is no larger than a ribbon filter may become, and building takes the memory of a ribbon filter, plus that of
/// half of the members.
#[test]
fn bounds_are_those_of_a_ribbon() {
    let ribbon = &petal::kinds::ribbon::ROW;
    for keys in [0, 1, 1000, 100_000, 10_000_000, 3_000_000_000] {
        assert_eq!((stacked::ROW.building.build_memory)(keys), (ribbon.building.build_memory)(keys) + 4 * keys);
        for levels in [[9, 0, 0], [3, 8, 7]] {
            let mut stack = Stack::default();
            stack.0[..3].copy_from_slice(&levels);
            let most = |row: &petal::Row, [first, second]: [u64; 2]| {
                let (bits, words) = (20 * keys + 1000, [first, second, 0, 0, 0, 0, 0, 0]);
                let payload_bytes = bits.div_ceil(512) * 64;
                row.building.most_bytes.unwrap()(
                    &petal::format::Geometry { bits, hashes: 1, words, payload_bytes },
                    keys,
                )
            };
            let of_ribbon = most(ribbon, [levels.iter().sum(), 0]);
            assert_eq!(most(&stacked::ROW, stack.words()), of_ribbon, "{keys} keys, {levels:?}");
        }
    }
}

/// A member is asked for in all levels that it passes. Each is a line of the level's directory, and a row that may
/// begin at any byte.
#[test]
fn lookups_read_as_many_lines_as_told() {
    let level = |columns: u64| {
        let bytes = columns * if columns <= 4 { 17 } else { 9 };
        1.0 + (0..64).map(|first| (first + bytes - 1) / 64 + 1).sum::<u64>() as f64 / 64.0
    };
    for levels in [[9, 0, 0, 0, 0], [4, 3, 0, 0, 0], [8, 2, 5, 0, 0], [20, 1, 3, 4, 30]] {
        let mut stack = Stack::default();
        stack.0[..5].copy_from_slice(&levels);
        let [first, rest] = stack.words();
        let told = |payload_bytes| {
            let words = [first, rest, 0, 0, 0, 0, 0, 0];
            let geometry = petal::format::Geometry { bits: 8 * payload_bytes, hashes: 1, words, payload_bytes };
            (stacked::ROW.lines_per_lookup)(&geometry)
        };
        let passes = |bits: u64| (-(bits as f64)).exp2();
        let shares = [1.0, 1.0, passes(levels[1]), passes(levels[1]), passes(levels[1] + levels[3])];
        let read = levels.iter().zip(shares).filter(|(bits, _)| **bits > 0).map(|(bits, share)| share * level(*bits));
        assert!((told(1 << 20) - read.sum::<f64>()).abs() < 1e-9, "{levels:?}");
        assert_eq!(told(64), 1.0);
    }
}
