//! The kinds `golomb` and `golomb_stream`: sizes, what is stored, hashes of all sorts, forged payloads, and the vectors
//! of BIP 158.

use crate::common::{filled, image, is_soak, mix};
use crate::format::seal;
use petal::format::Geometry;
use petal::interop::{self, ImportOptions};
use petal::kinds::golomb;
use petal::kinds::golomb::layout::{Reader, Shape, Stream, StreamWriter};
use petal::sizing::rate_in_range;
use petal::{
    Answers, Builder, BuilderOptions, Filter, HashFunction, Image, Keys, OpenOptions, Secret, Spec, Status, registry,
};
use std::sync::atomic::AtomicU64;

fn spec(rate: f64) -> Spec {
    let kind = registry::find_name("golomb").map(|row| row.kind);
    Spec { kind, false_positive_rate: rate, hash: HashFunction::External, ..Spec::default() }
}

fn stream_spec(rice_bits: f64, multiplier: f64) -> Spec {
    let row = registry::find_name("golomb_stream").unwrap();
    let mut spec = Spec { kind: Some(row.kind), hash: HashFunction::External, ..Spec::default() };
    spec.set(row.parameter("rice_bits").unwrap(), rice_bits).unwrap();
    spec.set(row.parameter("multiplier").unwrap(), multiplier).unwrap();
    spec
}

fn with_range(spec: &Spec, range: u64) -> Spec {
    let mut spec = *spec;
    spec.set(registry::find_name("golomb").unwrap().parameter("range").unwrap(), range as f64).unwrap();
    spec
}

/// The filter of these hashes.
fn of(spec: &Spec, hashes: &[u64]) -> Filter {
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    builder.add_batch(&Keys::Hashes(hashes)).outcome.unwrap();
    builder.finish().unwrap()
}

fn hashes(set: u64, count: u64) -> Vec<u64> {
    (0..count).map(|i| mix(set << 40 | i)).collect()
}

/// All stored numbers of a filter, read in pieces of `piece` numbers.
fn stored(filter: &Filter, piece: usize) -> Vec<u64> {
    let (mut all, mut from, mut numbers) = (Vec::new(), 0, vec![0; piece]);
    loop {
        let count = filter.stored_hashes(from, &mut numbers, None).unwrap();
        all.extend_from_slice(&numbers[..count]);
        if count < piece {
            return all;
        }
        from = all.last().unwrap() + 1;
    }
}

fn numbers_of(filter: &Filter, hashes: &[u64]) -> Vec<u64> {
    let mut numbers: Vec<u64> = hashes.iter().map(|hash| filter.stored_hash(*hash).unwrap().0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Asserts that lookups find all hashes, one by one and in a batch, that the payload is sound, and that exactly their
/// numbers are stored.
#[track_caller]
fn check(spec: &Spec, hashes: &[u64]) -> Filter {
    let filter = of(spec, hashes);
    filter.verify().unwrap();
    let numbers = numbers_of(&filter, hashes);
    assert!(hashes.iter().all(|hash| filter.contains_hash(*hash)));
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(hashes), &mut answers).unwrap();
    assert_eq!(answers.true_count, hashes.len() as u64);
    assert_eq!(filter.statistics().taken, numbers.len() as u64);
    assert!(stored(&filter, 100) == numbers, "{} numbers are listed otherwise", numbers.len());
    // And no others are found.
    let found = |hash: &u64| numbers.binary_search(&filter.stored_hash(*hash).unwrap().0).is_ok();
    let others: Vec<u64> = (0..300).map(|i| mix(!i)).collect();
    assert!(others.iter().all(|hash| filter.contains_hash(*hash) == found(hash)));
    filter
}

fn shape_of(filter: &Filter) -> Shape {
    Shape::read(filter.base().geometry(), filter.base().words().shared()).unwrap()
}

// ---- Sizes -------------------------------------------------------------------------------------------------------

/// The table of Rice's parameter: bits per key of `P + 1 / (1 - e^(-2^P/M))`, and which P is best.
#[test]
fn the_formula_has_its_published_values() {
    const KEYS: u64 = 1 << 20;
    for (multiplier, rice_bits, bits, is_best) in [
        (784_931.0, 19, 21.0524, true),
        (f64::from(1 << 20), 20, 21.5820, false),
        (1024.0, 10, 11.5820, false),
        (100.0, 6, 8.1155, true),
        (1000.0, 9, 11.4956, true),
        (1e6, 19, 21.4508, true),
    ] {
        let range = (multiplier * KEYS as f64) as u64;
        let found = golomb::sizing::stream_bits(range, KEYS, rice_bits);
        // The geometric law for gaps of whole numbers is that of e^(-1/M), except for a share of 1/M.
        assert!((found - bits).abs() < 0.0001 + 2.0 / multiplier, "M = {multiplier}: {found}, not {bits}");
        assert_eq!(golomb::sizing::rice_bits(range, KEYS) == rice_bits, is_best, "M = {multiplier}");
    }
    // The best is no worse than its neighbours, at any mean gap.
    for step in 0..2000 {
        let range = (KEYS as f64 * (1.0_f64 + f64::from(step) / 1000.0).powi(20)) as u64;
        let best = golomb::sizing::rice_bits(range, KEYS);
        let bits = |rice_bits| golomb::sizing::stream_bits(range, KEYS, rice_bits);
        assert!(bits(best) <= bits(best + 1) * 1.000_001, "range {range}");
        assert!(best == 0 || bits(best) <= bits(best - 1) * 1.000_001, "range {range}");
    }
}

/// A stream has the bits of the formula within half a per cent. With the index the codes have fewer, because a gap ends
/// where its bucket does, and the index has at most two thirds of a bit per key. What a spec is said to need is what it
/// takes.
#[test]
fn sizes_are_those_of_the_formula() {
    const KEYS: u64 = 200_000;
    let all = hashes(1, KEYS);
    for (rice_bits, multiplier) in [(19.0, 784_931.0), (20.0, f64::from(1 << 20)), (6.0, 100.0), (10.0, 1024.0)] {
        let filter = of(&stream_spec(rice_bits, multiplier), &all);
        let bits = filter.base().geometry().bits as f64 / KEYS as f64;
        let formula = golomb::sizing::stream_bits((multiplier as u64) * KEYS, KEYS, rice_bits as u32);
        assert!((bits / formula - 1.0).abs() < 0.005, "M = {multiplier}: {bits} and {formula}");
    }
    for rate in [0.3, 0.1, 0.01, 1.0 / 256.0, 0.001, 1e-4, 1.0 / 784_931.0, 1e-6, 1e-9] {
        let filter = of(&spec(rate), &all);
        let (rice_bits, index, codes) = shape_of(&filter).sizes();
        let values = filter.statistics().taken;
        let range = filter.base().geometry().words[0];
        let formula = golomb::sizing::stream_bits(range, values, rice_bits);
        assert_eq!(golomb::layout::HEAD_BITS + index + codes, filter.base().geometry().bits);
        let [index, codes] = [index, codes].map(|bits| bits as f64 / values as f64);
        let expected =
            golomb::sizing::bucket_bits(range, values, rice_bits) * golomb::sizing::buckets(range, rice_bits) as f64;
        assert!((codes * values as f64 / expected - 1.0).abs() < 0.005, "{rate}: {codes} bits of codes a key");
        assert!(codes <= formula && codes > 0.95 * formula, "{rate}: {codes} and {formula}");
        assert!(index < 0.67, "{rate}: {index} bits of index a key");
        let planned = petal::geometry(&Spec { capacity: KEYS, ..spec(rate) }).unwrap().bits as f64;
        let ratio = filter.base().geometry().bits as f64 / planned;
        assert!((ratio - 1.0).abs() < 0.01, "{rate}: {ratio} of the bits that were planned");
        if rate == 1.0 / 256.0 {
            assert!(index + codes < 10.06, "{} bits a key at 1/256", index + codes);
        }
    }
}

/// The formulas at the ends of what they are for.
#[test]
fn formulas_hold_at_their_ends() {
    use golomb::sizing::{MAX_RANGE, payload_bits, range_for};
    assert_eq!((rate_in_range(1, 0), rate_in_range(0, 0)), (0.0, 0.0));
    assert_eq!((range_for(1, 0.5), range_for(1, 1.0 / MAX_RANGE as f64)), (Some(2), Some(MAX_RANGE)));
    assert_eq!((range_for(1 << 60, 1e-9), range_for(u64::MAX, 1e-9)), (None, None));
    // Head, a bit of an entry, another after it, and one number of one bit.
    assert_eq!(payload_bits(1, 1), 515.0);
    let exact = |bits| petal::geometry(&with_range(&Spec { bits, capacity: 1, ..spec(0.0) }, 1));
    assert!(exact(515).is_ok() && exact(514).is_err());
    // Lines of the index and of the codes, but no more than there are.
    let lines = |keys: u64| {
        let geometry = *of(&spec(0.01), &hashes(1, keys)).base().geometry();
        (registry::find_name("golomb").unwrap().lines_per_lookup)(&geometry)
    };
    assert_eq!([0, 100_000].map(lines), [1.0, 2.5]);
}

/// With exact bits the range is the greatest that fits.
#[test]
fn bits_that_are_given_are_kept() {
    let all = hashes(2, 50_000);
    for bits in [100_000_u64, 300_000, 500_000, 1_000_001] {
        let filter = check(&Spec { bits, capacity: 50_000, false_positive_rate: 0.0, ..spec(0.0) }, &all);
        let taken = filter.base().geometry().bits;
        assert!(taken <= bits && taken as f64 > 0.985 * bits as f64, "{taken} of {bits} bits");
    }
    let few = Spec { bits: 100, capacity: 1000, ..spec(0.0) };
    let refused = petal::geometry(&few).unwrap_err();
    assert!(refused.status() == Status::Contradiction && refused.message().contains("100"), "{refused}");
}

/// Hashes have 64 bits: a range near 2^64 is refused, naming what was asked for.
#[test]
fn ranges_end_below_two_to_the_64() {
    let asked = Spec { capacity: 1 << 40, ..spec(1e-7) };
    assert_eq!(petal::geometry(&asked).unwrap_err().status(), Status::TooLarge);
    let message = petal::geometry(&asked).unwrap_err().message().to_string();
    assert!(message.contains("1099511627776") && message.contains("1e-7"), "{message}");
    let refused = petal::geometry(&with_range(&Spec { capacity: 10, ..spec(0.0) }, (1 << 50) + 1)).unwrap_err();
    assert!(refused.status() == Status::OutOfRange && refused.message().contains("1125899906842625"), "{refused}");
    let stream = Spec { capacity: 1 << 20, ..stream_spec(42.0, (1_u64 << 48) as f64) };
    let refused = petal::geometry(&stream).unwrap_err();
    assert!(refused.status() == Status::TooLarge && refused.message().contains("281474976710656"), "{refused}");
}

/// Parameters of a stream go together, or are refused: whatever they are, a few keys take a few bytes.
#[test]
fn no_parameters_of_a_stream_ask_for_much_memory() {
    let mut refused = 0;
    for rice_bits in 0..=56 {
        for multiplier in (0..=48).map(|bits| 1_u64 << bits).chain([784_931, (1 << 48) - 1]) {
            let spec = Spec { capacity: 1000, ..stream_spec(f64::from(rice_bits), multiplier as f64) };
            match petal::geometry(&spec) {
                Ok(geometry) => assert!(geometry.bits <= 1000 * 130, "P = {rice_bits}, M = {multiplier}: {geometry:?}"),
                Err(error) => {
                    assert_eq!(error.status(), Status::Contradiction, "{error}");
                    let least: u32 =
                        error.message().split("rice_bits from ").nth(1).unwrap()[..2].trim().parse().unwrap();
                    let next = |bits: u32| {
                        petal::geometry(&Spec { capacity: 1000, ..stream_spec(f64::from(bits), multiplier as f64) })
                    };
                    assert!(next(least).is_ok() && next(least - 1).is_err(), "{error}");
                    let built = petal::Builder::new(&spec, petal::BuilderOptions::default());
                    assert!(built.and_then(|mut builder| builder.finish()).is_err());
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

// ---- Keys --------------------------------------------------------------------------------------------------------

/// The false-positive rate is 1 - (1 - 1/F)^n, within 4.5 sigma.
#[test]
fn the_rate_is_that_of_the_range() {
    for (keys, rate) in [(100_000, 0.01), (100_000, 1.0 / 256.0), (3000, 0.2)] {
        let filter = of(&spec(rate), &hashes(3, keys));
        let range = filter.base().geometry().words[0];
        let expected = -(keys as f64 * (-1.0 / range as f64).ln_1p()).exp_m1();
        assert!((filter.expected_false_positive_rate(keys) / expected - 1.0).abs() < 1e-12);
        assert!(expected <= rate && expected > 0.999 * rate - 1.0 / range as f64);
        const FRESH: u64 = 2_000_000;
        let found = (0..FRESH).filter(|i| filter.contains_hash(mix(1 << 60 | i))).count() as f64;
        // The filter's own rate varies too, with how many numbers it has.
        let sd = (FRESH as f64 * expected * (1.0 + FRESH as f64 / range as f64)).sqrt();
        assert!((found - FRESH as f64 * expected).abs() < 4.5 * sd, "{found} of {FRESH} at {expected}");
    }
}

/// The inverse of the bijection `bits::mix`.
fn unmixed(mut x: u64) -> u64 {
    let inverse = |odd: u64| (0..6).fold(odd, |y, _| y.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(y))));
    x ^= x >> 31 ^ x >> 62;
    x = x.wrapping_mul(inverse(0x94d0_49bb_1331_11eb));
    x ^= x >> 27 ^ x >> 54;
    x = x.wrapping_mul(inverse(0xbf58_476d_1ce4_e5b9));
    x ^ x >> 30 ^ x >> 60
}

/// Hashes that differ only in a few bits, and hashes that were made to meet in one bucket.
#[test]
fn weak_hashes_are_coded() {
    let keys = 3000;
    for rate in [0.1, 1.0 / 256.0, 1e-6] {
        check(&spec(rate), &vec![7; keys as usize]);
        check(&spec(rate), &(0..keys).collect::<Vec<_>>());
        check(&spec(rate), &(0..keys).map(|i| i << 52).collect::<Vec<_>>());
        check(&spec(rate), &(0..keys).map(|i| u64::MAX - i).collect::<Vec<_>>());
        // At the end of the range, in its middle, in all of some buckets and in none of others.
        for start in [0, 1 << 63, u64::MAX - (keys << 20)] {
            check(&spec(rate), &(0..keys).map(|i| unmixed(start + (i << 20))).collect::<Vec<_>>());
            check(&spec(rate), &(0..keys).map(|i| unmixed(start + i)).collect::<Vec<_>>());
        }
        let range = golomb::sizing::range_for(keys, rate).unwrap();
        let step = u64::MAX / range;
        check(&spec(rate), &(0..keys).map(|i| unmixed(i * (step + 1))).collect::<Vec<_>>());
    }
    assert_eq!(mix(unmixed(12_345)), 12_345);
}

/// Two keys may have the same stored number, so there may be fewer numbers than keys.
#[test]
fn keys_that_are_one_number_are_one() {
    for range in [1, 2, 31, 32, 33, 100, 1000, 5000] {
        let filter = check(&with_range(&Spec { capacity: 1000, ..spec(0.0) }, range), &hashes(4, 1000));
        let values = filter.statistics().taken;
        assert!(values <= range.min(1000) && filter.base().header().count == 1000);
        assert_eq!(filter.false_positive_rate(), values as f64 / range as f64);
    }
    // All numbers of a range.
    let all = check(&with_range(&Spec { capacity: 1000, ..spec(0.0) }, 100), &hashes(5, 10_000));
    assert_eq!(stored(&all, 7), (0..100).collect::<Vec<_>>());
}

#[test]
fn order_and_threads_change_nothing() {
    let all = hashes(6, 300_000);
    let (mut shuffled, folder) = (all.clone(), tempfile::tempdir().unwrap());
    shuffled.reverse();
    shuffled.sort_by_key(|hash| mix(hash ^ 5));
    for spec in [spec(1.0 / 256.0), stream_spec(19.0, 784_931.0)] {
        let expected = image(&of(&spec, &all));
        for (threads, memory_limit) in [(1, None), (3, None), (1, Some(1 << 20)), (2, Some(1 << 20))] {
            let temporary_directory = memory_limit.map(|_| folder.path().to_path_buf());
            let options = BuilderOptions { threads, memory_limit, temporary_directory, progress: None };
            let mut builder = Builder::new(&spec, options).unwrap();
            builder.add_batch(&Keys::Hashes(&shuffled)).outcome.unwrap();
            assert!(image(&builder.finish().unwrap()) == expected);
        }
    }
}

// ---- Sets --------------------------------------------------------------------------------------------------------

/// Unions and intersections are of what is stored, between filters of any sizes and one range.
#[test]
fn sets_of_one_range_are_combined() {
    let wide = |capacity| with_range(&Spec { capacity, ..spec(0.0) }, 1 << 24);
    let (a, b) = (hashes(7, 50_000), [hashes(7, 100), hashes(8, 300)].concat());
    let (large, small) = (of(&wide(1_000_000), &a), of(&wide(10), &b));
    let mut union = small.copy().unwrap();
    union.merge(&large).unwrap();
    assert!(stored(&union, 1000) == numbers_of(&large, &[&a[..], &b].concat()));
    // It is what one builder makes of all keys.
    assert!(union.equals(&of(&wide(10), &[&a[..], &b].concat())));
    union.verify().unwrap();
    let mut both = large.copy().unwrap();
    both.intersect(&small).unwrap();
    let in_small = numbers_of(&small, &b);
    let common: Vec<u64> =
        numbers_of(&large, &a).into_iter().filter(|number| in_small.binary_search(number).is_ok()).collect();
    assert!(stored(&both, 1000) == common && common.len() >= 100);
    both.verify().unwrap();
    let refused = both.merge(&of(&spec(0.01), &a)).unwrap_err();
    assert_eq!(refused.status(), Status::Incompatible);
    // Enumeration begins anywhere.
    let all = stored(&large, 1000);
    for from in [0, 1, all[17], all[17] + 1, all[49_000], *all.last().unwrap(), 1 << 24, u64::MAX] {
        let mut some = [0; 10];
        let count = large.stored_hashes(from, &mut some, None).unwrap();
        let expected: Vec<u64> = all.iter().copied().filter(|number| *number >= from).take(10).collect();
        assert_eq!(some[..count], expected, "from {from}");
    }
    let other = filled(&Spec { capacity: 100, ..Spec::default() }, 0..10);
    assert_eq!(other.stored_hashes(0, &mut [0; 3], None).unwrap_err().status(), Status::Unsupported);
    assert_eq!(other.stored_hash(1).unwrap_err().status(), Status::Unsupported);
}

// ---- Forged payloads ---------------------------------------------------------------------------------------------

/// With any payload, lookups, lists and checks end, and a check finds the damage.
#[test]
fn forged_payloads_do_no_harm() {
    let mut changed = 0;
    for (set, rate) in [(9, 0.1), (10, 1.0 / 256.0), (11, 1e-6)] {
        let filter = of(&spec(rate), &hashes(set, 700));
        let geometry = *filter.base().geometry();
        let sound: Vec<u64> =
            filter.base().words().shared().iter().map(|word| word.load(std::sync::atomic::Ordering::Relaxed)).collect();
        for i in 0..if is_soak() { 200_000 } else { 4000 } {
            let mut words = sound.clone();
            for j in 0..1 + i % 3 {
                let chosen = mix(i << 8 | j);
                // The head, or anything.
                let word = if i % 2 == 0 { chosen % 6 } else { chosen % words.len() as u64 } as usize;
                match chosen >> 60 {
                    0..8 => words[word] ^= 1 << (chosen >> 20 & 63),
                    8..10 => words[word] = 0,
                    10..12 => words[word] = u64::MAX,
                    _ => words[word] = mix(chosen),
                }
            }
            let words: Vec<AtomicU64> = words.into_iter().map(AtomicU64::new).collect();
            let Some(shape) = Shape::read(&geometry, &words) else { continue };
            let reader = Reader::new(&shape, &words);
            (0..50).for_each(|key| {
                reader.fetch_index(mix(key));
                reader.fetch_codes(mix(key));
                reader.contains(mix(key));
            });
            let some: [u64; 8] = core::array::from_fn(|key| mix(key as u64));
            for instructions in petal::simd::available() {
                reader.contains_few(instructions, &petal::ring::Few { keys: &some, flip: None });
            }
            changed += usize::from(reader.check().is_err());
            assert!(reader.from(mix(i)).take(2000).count() <= 2000);
            let listed = reader.from(0).take(100_000).count();
            assert!(reader.check().is_err() || listed as u64 == shape.values());
        }
    }
    assert!(changed > 1000, "{changed}");
}

/// An index whose fields have no bits may claim any number of buckets; reading them ends nevertheless.
#[test]
fn buckets_without_numbers_end() {
    let geometry = |range| Geometry { bits: 513, hashes: 1, words: [range, 0, 0, 0, 0, 0, 0, 0], payload_bytes: 128 };
    for (range, values, code_bits) in [(1 << 62, 1, 1), (1 << 62, 1 << 57, 1), (64, 0, 1), (128, 2, 1)] {
        let mut words: [u64; 16] = [0; 16];
        (words[0], words[1]) = (values, code_bits);
        let words = words.map(AtomicU64::new);
        assert!(Shape::read(&geometry(range), &words).is_none(), "{values} numbers below {range}");
    }
    // The header and the head of the first, as an image.
    let mut bytes = image(&of(&with_range(&spec(0.01), 1 << 62), &[]));
    bytes[64..72].copy_from_slice(&513_u64.to_le_bytes());
    bytes[256..272].copy_from_slice(&[[1, 0, 0, 0, 0, 0, 0, 0]; 2].concat());
    seal(&mut bytes);
    let opened = petal::load_as::<Filter>(&bytes, &OpenOptions::default());
    assert_eq!(opened.unwrap_err().status(), Status::Corrupt);
}

/// A payload without room for its last code, with a head of other lengths, with bits after the last code or in the
/// unused words of its head, or with a number that is not below the range, is not sound.
#[test]
fn each_part_of_a_payload_is_checked() {
    let (geometry, payload) = golomb::layout::write(1000, &mut |take| (0..1000).try_for_each(take)).unwrap();
    let words: Vec<u64> = payload.shared().iter().map(|word| word.load(std::sync::atomic::Ordering::Relaxed)).collect();
    let atomic = |words: &[u64]| words.iter().copied().map(AtomicU64::new).collect::<Vec<_>>();
    let check = |geometry: &Geometry, words: &[u64]| {
        let words = atomic(words);
        Shape::read(geometry, &words).map(|shape| Reader::new(&shape, &words).check().is_ok())
    };
    assert_eq!(check(&geometry, &words), Some(true));
    let changed = |place: usize, mask: u64| {
        let mut words = words.clone();
        words[place] ^= mask;
        check(&geometry, &words)
    };
    assert_eq!([6, 7, words.len() - 1].map(|place| changed(place, 1 << 63)), [Some(false); 3]);
    assert_eq!(changed(1, 2), None);
    assert_eq!(check(&geometry, &words[..geometry.bits as usize / 64]), None);
    let narrow = Geometry { words: [999, 0, 0, 0, 0, 0, 0, 0], ..geometry };
    assert_eq!(check(&narrow, &words), Some(false));
    // The bits after an empty set are zeros too.
    let (geometry, payload) = golomb::layout::write(1000, &mut |_| Ok(())).unwrap();
    let mut words = vec![0; payload.shared().len()];
    assert_eq!(check(&geometry, &words), Some(true));
    words[9] = 1;
    assert_eq!(check(&geometry, &words), Some(false));
}

/// A stream may have a code without an end, or claim more numbers than it has.
#[test]
fn forged_streams_do_no_harm() {
    let format = interop::find("bip158").unwrap();
    let import = |bytes: &[u8]| format.import(bytes, &ImportOptions::default());
    let sound = exported(&of(&stream_spec(19.0, 784_931.0), &hashes(12, 300)));
    import(&sound).unwrap().verify().unwrap();
    let ones = [&[3][..], &[0xff; 100]].concat();
    assert_eq!(import(&ones).err().unwrap().status(), Status::Corrupt);
    for bytes in [&[1][..], &[0, 0], &[253, 5, 0, 1, 2, 3], &[255, 0, 0, 0, 0, 0, 0, 0, 128], &[254, 1], &[]] {
        assert!(import(bytes).is_err(), "{bytes:?}");
    }
    for i in 0..3000 {
        let mut bytes = sound.clone();
        let chosen = mix(i);
        let at = chosen as usize % bytes.len();
        match i % 3 {
            0 => bytes[at] ^= (chosen >> 32) as u8 | 1,
            1 => bytes.truncate(at),
            _ => bytes[at..].fill(0xff),
        }
        if let Ok(filter) = import(&bytes) {
            filter.contains_hash(chosen);
            stored(&filter, 1000);
        }
    }
}

// ---- BIP 158 -----------------------------------------------------------------------------------------------------

fn exported(filter: &Filter) -> Vec<u8> {
    let mut bytes = Vec::new();
    let format = interop::find("bip158").unwrap();
    format
        .export(filter, None, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    bytes
}

/// Rice's code with P = 2.
#[test]
fn codes_are_the_published_ones() {
    for (gap, code) in [(0, "000"), (1, "001"), (4, "1000"), (9, "11001"), (400, &format!("{}000", "1".repeat(100)))] {
        let mut words = [0_u64; 4];
        StreamWriter::new(&mut words, 2).put(gap);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        assert!(text.starts_with(code) && !text[code.len()..].contains('1'), "{gap}: {text}");
        let words = words.map(AtomicU64::new);
        assert_eq!(Stream::new(&words, code.len() as u64, 2, 1).collect::<Vec<_>>(), [gap]);
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// The filters of blocks of the test network that BIP 158 publishes: hash of the block, filter, and scripts.
#[test]
fn filters_of_blocks_are_the_published_ones() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/formats/bip158/blocks.txt")).unwrap();
    let format = interop::find("bip158").unwrap();
    let mut blocks = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (mut hash, bytes) = (unhex(words.next().unwrap()), unhex(words.next().unwrap()));
        let scripts: Vec<Vec<u8>> = words.map(unhex).collect();
        // On the wire the bytes of the hash are reversed.
        hash.reverse();
        let key: Secret = hash[..16].try_into().unwrap();
        let spec = Spec { secret: Some(key), ..format.spec(1, 0.01, None, 0).unwrap() };
        let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
        for script in &scripts {
            builder.add(script).unwrap();
        }
        let made = builder.finish().unwrap();
        assert!(exported(&made) == bytes, "{line}");
        let options = ImportOptions { secret: Some(key), ..ImportOptions::default() };
        let read = format.import(&bytes, &options).unwrap();
        assert!(read.equals(&made) && exported(&read) == bytes);
        read.verify().unwrap();
        assert!(scripts.iter().all(|script| read.contains(script)) && !read.contains(b"a script of no block"));
        // Whether any of many keys matches is what the count of a batch says.
        let non_members: Vec<u64> = (0..5000).map(|i| read.base().hasher().hash_u64(i).unwrap()).collect();
        let mut answers = Answers::default();
        read.contains_batch(&Keys::Hashes(&non_members), &mut answers).unwrap();
        assert_eq!(answers.true_count, 0);
        let wanted: Vec<u64> = scripts.iter().map(|script| read.base().hasher().hash_bytes(script).unwrap()).collect();
        read.contains_batch(&Keys::Hashes(&[&non_members[..], &wanted].concat()), &mut answers).unwrap();
        assert_eq!(answers.true_count, scripts.len() as u64);
        // An image keeps everything but the key.
        let open = |key| petal::load(&image(&read), &OpenOptions { secret: key, ..OpenOptions::default() });
        assert!(exported(&open(None).unwrap()) == bytes && open(Some(key)).unwrap().equals(&read));
        assert_eq!(open(Some([1; 16])).unwrap_err().status(), Status::SecretMismatch);
        blocks += 1;
    }
    assert_eq!(blocks, 10);
}
