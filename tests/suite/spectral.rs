//! The kind `spectral`: the accuracy of counts with its three methods, and what each method cannot do.
//! `state_machine.rs` tests that no key is lost.

use crate::common::{image, mix};
use petal::kinds::spectral::{COUNTER_BITS, METHOD, ROW};
use petal::{Answers, Builder, BuilderOptions, Filter, HashFunction, Image, Keys, Spec, Status, sizing};

/// A spec with this method, this number of counters in the first array, and this number of counters per key.
fn spec(method: &str, counters: u64, hashes: u32) -> Spec {
    let words = (16 * counters).div_ceil(64);
    let words = if method == "recurring_minimum" { words + words.div_ceil(2) - 1 } else { words };
    let (kind, hash) = (Some(ROW.kind), HashFunction::External);
    let mut spec = Spec { kind, bits: 64 * words, hashes, hash, ..Spec::default() };
    spec.set(&METHOD, METHOD.parse(method).unwrap()).unwrap();
    spec
}

/// The share of keys with a wrong count, the share of keys with too low a count, and the mean error of counts.
struct Errors {
    wrong: f64,
    low: f64,
    mean: f64,
}

/// The errors after the streams of the paper: 5 n arrivals of n keys, with 7.2 counters per key and k = 5.
fn stream(method: &str, streams: u64) -> Errors {
    const KEYS: u64 = 10_000;
    let (mut wrong, mut low, mut error, mut all) = (0, 0, 0, 0);
    for run in 0..streams {
        let mut filter = Filter::new(&spec(method, 72_000, 5)).unwrap();
        let mut counts = vec![0_u64; KEYS as usize];
        for arrival in 0..5 * KEYS {
            let key = mix(arrival ^ run << 32) % KEYS;
            counts[key as usize] += 1;
            filter.insert_hash(mix(key ^ run << 32)).unwrap();
        }
        for (key, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let told = filter.count_hash(mix(key as u64 ^ run << 32)).unwrap();
            (wrong, low) = (wrong + u64::from(told != *count), low + u64::from(told < *count));
            (error, all) = (error + told.abs_diff(*count), all + 1);
        }
        assert_eq!(filter.kind().as_count().unwrap().is_upper_bound(), method != "recurring_minimum");
    }
    let share = |some: u64| some as f64 / all as f64;
    Errors { wrong: share(wrong), low: share(low), mean: share(error) }
}

/// The ratios of the paper's experiment. Minimum selection errs at about the rate of a Bloom filter, and minimal
/// increase at a third of that rate. Recurring minimum has half as many counters again, and errs less than selection.
#[test]
fn counts_err_as_seldom_as_they_should() {
    const STREAMS: u64 = 20;
    let selection = stream("minimum_selection", STREAMS);
    let increase = stream("minimal_increase", STREAMS);
    let recurring = stream("recurring_minimum", STREAMS);
    println!("selection {:.4} by {:.4}", selection.wrong, selection.mean);
    println!("increase {:.4} by {:.4}", increase.wrong, increase.mean);
    println!("recurring {:.4} (low {:.5}) by {:.4}", recurring.wrong, recurring.low, recurring.mean);
    // The band of the share of wrong counts among 200,000 keys. Errors of one filter come together, so their variance
    // is three times that of independent errors. The paper's table has the shares of one stream.
    let band = |rate: f64| 4.5 * (3.0 * rate / (STREAMS as f64 * 10_000.0)).sqrt();
    // A count is wrong if the other keys hide the key. Nearly all of these keys came.
    let rate = sizing::bloom::exact(72_000, 5, (10_000.0 * (1.0 - (-5.0_f64).exp())) as u64);
    assert!((selection.wrong - rate).abs() < band(rate), "{} of {rate}", selection.wrong);
    assert!((selection.wrong - 0.033).abs() < band(0.033), "{}", selection.wrong);
    assert!((increase.wrong - 0.0125).abs() < band(0.0125), "{}", increase.wrong);
    assert!(selection.low == 0.0 && increase.low == 0.0, "these are upper bounds");
    assert!(recurring.wrong < 0.7 * selection.wrong && recurring.low < 0.001, "{}", recurring.wrong);
    assert!(increase.mean < selection.mean && recurring.mean < selection.mean);
}

/// Minimal increase keeps counters as low as possible, and therefore cannot remove. A refused removal changes nothing.
#[test]
fn minimal_increase_refuses_removals() {
    let mut filter = Filter::new(&spec("minimal_increase", 1000, 4)).unwrap();
    (0..300).for_each(|key| assert!(filter.insert_hash(mix(key % 100)).is_ok()));
    let before = image(&filter);
    let refused = [
        filter.remove_hash(mix(1)).unwrap_err(),
        filter.remove_times_hash(mix(1), 2).unwrap_err(),
        filter.remove_batch(&Keys::Hashes(&[1, 2]), None).outcome.unwrap_err(),
        filter.remove_times_batch(&Keys::Hashes(&[1, 2]), &[1, 1], None).outcome.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.status(), Status::Unsupported);
        assert!(error.message().contains("spectral with method = minimal_increase cannot remove"), "{error}");
    }
    assert_eq!(image(&filter), before);
    // Recurring minimum can neither merge nor intersect.
    let mut filter = Filter::new(&spec("recurring_minimum", 1000, 4)).unwrap();
    let other = filter.copy().unwrap();
    assert_eq!(filter.merge(&other).unwrap_err().status(), Status::Unsupported);
    assert_eq!(filter.intersect(&other).unwrap_err().status(), Status::Unsupported);
}

/// One insertion with a count does the same as that many insertions, for each method, and counters stay at their
/// maximum.
#[test]
fn keys_come_often_at_once() {
    for method in ["minimum_selection", "minimal_increase", "recurring_minimum"] {
        let small = |counters, width: f64| {
            let mut spec = spec(method, counters, 4);
            spec.set(&COUNTER_BITS, width).unwrap();
            Filter::new(&spec).unwrap()
        };
        let (mut single, mut times) = (small(300, 16.0), small(300, 16.0));
        for key in 0..150 {
            let often = 1 + mix(key) % 5;
            let new = times.insert_times_hash(mix(key), often).unwrap();
            let news: Vec<bool> = (0..often).map(|_| single.insert_hash(mix(key)).unwrap()).collect();
            assert_eq!(news[0], new);
        }
        if method != "recurring_minimum" {
            assert_eq!(image(&single), image(&times), "{method}");
        }
        assert_eq!(single.base().count(), times.base().count());
        // Four thousand million copies take as long as one copy.
        for (width, greatest) in [(8.0, 255), (16.0, 65_535), (32.0, u64::from(u32::MAX))] {
            let mut filter = small(10_000, width);
            filter.insert_times_hash(mix(1), greatest - 1).unwrap();
            assert_eq!((filter.count_hash(mix(1)).unwrap(), filter.statistics().saturated), (greatest - 1, 0));
            filter.insert_times_hash(mix(1), u64::MAX).unwrap();
            assert_eq!(filter.count_hash(mix(1)).unwrap(), greatest, "{method}");
            assert!(filter.statistics().saturated >= 4, "saturated counters are seen");
            if method != "minimal_increase" {
                // The counters are at their maximum, so a removal leaves them alone.
                assert!(filter.remove_hash(mix(1)).unwrap());
                assert_eq!(filter.count_hash(mix(1)).unwrap(), greatest);
                filter.insert_times_hash(mix(2), 1000.min(greatest - 1)).unwrap();
                assert_eq!(filter.remove_times_hash(mix(2), u64::MAX).unwrap(), 1000.min(greatest - 1));
                assert!(!filter.contains_hash(mix(2)));
            }
        }
    }
}

/// Minimum selection has the counts of the kind `counting`, with wider counters.
#[test]
fn minimum_selection_is_counting() {
    let wide = spec("minimum_selection", 4000, 6);
    let mut counting = Spec { kind: Some(petal::kinds::counting::ROW.kind), ..wide };
    counting.parameters = Default::default();
    counting.set(&petal::kinds::counting::COUNTER_BITS, 16.0).unwrap();
    let [mut wide, mut counting] = [wide, counting].map(|spec| Filter::new(&spec).unwrap());
    for step in 0..5000 {
        let hash = mix(mix(step) % 700);
        for filter in [&mut wide, &mut counting] {
            match mix(!step) % 3 {
                0 => drop(filter.remove_hash(hash).unwrap()),
                _ => drop(filter.insert_hash(hash).unwrap()),
            }
        }
        assert_eq!(wide.count_hash(hash).unwrap(), counting.count_hash(hash).unwrap());
    }
    let payload = |filter: &Filter| image(filter)[256..].to_vec();
    assert_eq!(payload(&wide)[..8000], payload(&counting)[..8000]);
}

/// Batches and builders do the same as single calls, with and without fetching ahead.
#[test]
fn batches_and_builders_are_single_calls() {
    for (method, counters) in ["minimum_selection", "minimal_increase", "recurring_minimum"]
        .map(|method| [(method, 3000), (method, 3 << 20)])
        .concat()
    {
        let spec = spec(method, counters, 5);
        let hashes: Vec<u64> = (0..3001).map(|i| mix(mix(i) % 1200)).collect();
        let (mut single, mut batch) = (Filter::new(&spec).unwrap(), Filter::new(&spec).unwrap());
        let mut bytes = vec![7; hashes.len()];
        let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
        batch.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome.unwrap();
        let new: Vec<u8> = hashes.iter().map(|hash| single.insert_hash(*hash).unwrap().into()).collect();
        assert!(bytes == new && image(&single) == image(&batch), "{method}");
        let asked: Vec<u64> = (0..2000).map(mix).collect();
        let mut counts = vec![0; asked.len()];
        let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
        batch.count_batch(&Keys::Hashes(&asked), &mut answers).unwrap();
        assert!(asked.iter().zip(&counts).all(|(hash, count)| single.count_hash(*hash).unwrap() == *count));
        if method != "minimal_increase" {
            let taken = batch.remove_batch(&Keys::Hashes(&asked), None);
            taken.outcome.unwrap();
            asked.iter().for_each(|hash| assert!(single.remove_hash(*hash).is_ok()));
            assert!(image(&single) == image(&batch), "{method}");
        }
        // A builder inserts keys in the order of their hashes.
        let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
        builder.add_batch(&Keys::Hashes(&hashes)).outcome.unwrap();
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        let mut inserted = Filter::new(&spec).unwrap();
        inserted.insert_batch(&Keys::Hashes(&sorted), None).outcome.unwrap();
        assert!(image(&builder.finish().unwrap()) == image(&inserted), "{method}");
    }
}

/// A rate gets the least size, which is that of the primary counters. Impossible sizes are refused.
#[test]
fn sizes_are_those_of_their_counters() {
    for (method, width, capacity) in [
        ("minimum_selection", 8.0, 1000),
        ("minimal_increase", 16.0, 1),
        ("recurring_minimum", 32.0, 12_345),
        ("recurring_minimum", 8.0, 1),
    ] {
        let mut by_rate = Spec { capacity, false_positive_rate: 0.001, bits: 0, hashes: 0, ..spec(method, 1, 1) };
        by_rate.set(&COUNTER_BITS, width).unwrap();
        let geometry = petal::geometry(&by_rate).unwrap();
        assert!((ROW.false_positive_rate)(&geometry, capacity) <= 0.001);
        if geometry.bits > 512 {
            let (bits, payload_bytes) = (geometry.bits - 512, geometry.payload_bytes - 64);
            let smaller = petal::format::Geometry { bits, payload_bytes, ..geometry };
            assert!((ROW.false_positive_rate)(&smaller, capacity) > 0.001, "{method}");
        }
        let again = Filter::new(&Filter::new(&by_rate).unwrap().base().spec()).unwrap();
        assert_eq!(*again.base().geometry(), geometry);
    }
    let refused = Filter::new(&Spec { bits: 128, ..spec("recurring_minimum", 100, 3) }).err().unwrap();
    assert_eq!(refused.status(), Status::Contradiction, "{refused}");
    let refused = Filter::new(&Spec { bits: 72, ..spec("minimal_increase", 100, 3) }).err().unwrap();
    assert_eq!((refused.status(), refused.message()), (Status::OutOfRange, "bits = 72 is not a multiple of 64"));
}

/// Two arrays take at least three words.
#[test]
fn the_least_has_two_arrays() {
    let of = |bits| Filter::new(&Spec { bits, ..spec("recurring_minimum", 4, 1) });
    assert_eq!(of(128).unwrap_err().status(), Status::Contradiction);
    assert_eq!(of(192).unwrap().base().geometry().bits, 192);
}

/// The number of counters at their maximum covers all arrays. The message about damage has the number of counters.
#[test]
fn all_counters_are_measured() {
    for method in ["minimum_selection", "minimal_increase", "recurring_minimum"] {
        let mut narrow = spec(method, 400, 3);
        narrow.set(&COUNTER_BITS, 8.0).unwrap();
        let mut filter = Filter::new(&narrow).unwrap();
        for key in 0..50 {
            (0..300).for_each(|_| assert!(filter.insert_hash(mix(key)).is_ok()));
        }
        let bytes = image(&filter);
        let bits = filter.base().geometry().bits as usize;
        let full = bytes[256..256 + bits / 8].iter().filter(|counter| **counter == 255).count() as u64;
        assert!(full > 100, "{method}: {full}");
        assert_eq!(filter.statistics().saturated, full, "{method}");
        if !(bits / 8).is_multiple_of(64) {
            let mut forged = bytes.clone();
            forged[256 + bits / 8] = 1;
            crate::format::seal(&mut forged);
            let error = petal::load(&forged, &petal::OpenOptions::default()).unwrap_err();
            assert!(error.message().contains(&format!("its last one, {bits} ")), "{error}");
        }
    }
}
