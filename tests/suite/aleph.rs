//! Properties of the kind `aleph` alone: it removes keys, however few bits their entries have.

use crate::common::{hash_of, image, mix};
use crate::grown::{self, assert_all, growths, insert};
use petal::estimate;
use petal::kinds::aleph::sizing::{Growing, Regime};
use petal::{Answers, Filter, Image, Keys, Mode, OpenOptions, Spec, Status, load, open_in_buffer};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

fn spec(capacity: u64, rate: f64, parameters: &[(&str, f64)]) -> Spec {
    grown::spec("aleph", capacity, rate, parameters)
}

/// After each doubling the test removes half of the keys, old and new ones. Each removal returns true, and the other
/// keys stay. Once all keys are removed the filter finds hardly any key, and after its next growth none.
#[test]
fn half_of_the_keys_are_removed_after_each_doubling() {
    let mut left = 0;
    for parameters in [
        &[("fingerprint_bits", 3.0), ("regime", 0.0), ("doublings", 20.0)][..],
        &[("fingerprint_bits", 2.0), ("regime", 2.0), ("doublings", 8.0)],
        &[("fingerprint_bits", 4.0)],
    ] {
        let spec = spec(57, 0.0, parameters);
        let mut filter = Filter::new(&spec).unwrap();
        let (mut keys, mut next, mut random) = (Vec::new(), 0, 0_u64);
        while growths(&filter) < 9 && next < 400_000 {
            let more = 64 + keys.len() as u64;
            // Every eighth key twice, of which a removal takes one.
            let twice = |i: u64| std::iter::repeat_n(i, if i.is_multiple_of(8) { 2 } else { 1 });
            for i in (next..next + more).flat_map(twice) {
                filter.insert_hash(hash_of(&spec, i)).unwrap();
                keys.push(i);
            }
            next += more;
            for _ in 0..keys.len() / 2 {
                random = mix(random ^ 0x5eed);
                let key = keys.swap_remove(random as usize % keys.len());
                assert!(filter.remove_hash(hash_of(&spec, key)).unwrap(), "{parameters:?}: {key}");
            }
            filter.verify().unwrap();
            assert_eq!(filter.base().count(), keys.len() as u64);
            assert_all(&filter, keys.iter().copied());
            let read: Filter = load(&image(&filter), &OpenOptions::default()).unwrap();
            assert!(read.equals(&filter));
        }
        assert!(growths(&filter) >= 8, "{parameters:?}: {}", growths(&filter));
        // Every removal takes an entry, so that the last takes the last.
        for key in keys.drain(..) {
            assert!(filter.remove_hash(hash_of(&spec, key)).unwrap(), "{parameters:?}: {key}");
        }
        filter.verify().unwrap();
        assert_eq!(filter.base().count(), 0);
        assert_eq!(estimate(&filter).unwrap().unwrap().value, 0.0, "{parameters:?}");
        assert!((0..20_000).all(|i| !filter.remove_hash(mix(i)).unwrap()));
        // Some copies of void entries are left, which the next growth leaves behind.
        let (before, mut fresh) = (growths(&filter), Vec::new());
        while growths(&filter) == before {
            let key = (1 << 40) + fresh.len() as u64;
            if filter.insert_hash(hash_of(&spec, key)).is_err() {
                break;
            }
            fresh.push(key);
        }
        let is_full = growths(&filter) == before;
        fresh.drain(..).for_each(|key| assert!(filter.remove_hash(hash_of(&spec, key)).unwrap()));
        filter.verify().unwrap();
        assert!(is_full || filter.statistics().taken == 0, "{parameters:?}: {} are left", filter.statistics().taken);
        left += u32::from(!is_full);
    }
    assert!(left >= 2, "{left} grew once more");
}

/// Keys that were inserted several times, before and after growths, can be removed as often, and not more often than
/// they have entries.
#[test]
fn copies_of_a_key_are_removed_one_by_one() {
    let spec = spec(57, 0.0, &[("fingerprint_bits", 4.0), ("regime", 0.0), ("doublings", 12.0)]);
    let mut filter = Filter::new(&spec).unwrap();
    let mut next = 100_000_u64;
    let mut inserted = 0;
    for round in 0..8 {
        for key in 0..20 {
            for _ in 0..1 << round {
                filter.insert_hash(hash_of(&spec, key)).unwrap();
                inserted += 1;
            }
        }
        let more = 50 << round;
        insert(&mut filter, next..next + more);
        next += more;
    }
    filter.verify().unwrap();
    assert!(growths(&filter) >= 6);
    assert_eq!(inserted, 20 * 255);
    for key in 0..20 {
        for copy in 0..255 {
            assert!(filter.contains_hash(hash_of(&spec, key)), "{key}: {copy}");
            assert!(filter.remove_hash(hash_of(&spec, key)).unwrap(), "{key}: {copy}");
        }
    }
    assert_all(&filter, 100_000..next);
    (100_000..next).for_each(|key| assert!(filter.remove_hash(hash_of(&spec, key)).unwrap()));
    assert_eq!(filter.base().count(), 0);
    filter.verify().unwrap();
}

/// A million copies of one key take no more room than the count needs, even once the entry is void.
#[test]
fn many_copies_take_no_room() {
    let spec = spec(57, 0.0, &[("fingerprint_bits", 2.0)]);
    let mut filter = Filter::new(&spec).unwrap();
    let hash = hash_of(&spec, 0);
    (0..1_000_000).for_each(|_| assert!(filter.insert_hash(hash).is_ok()));
    assert_eq!(growths(&filter), 0);
    insert(&mut filter, 1..30_000);
    filter.verify().unwrap();
    assert!(growths(&filter) > 8);
    (0..1_000_000).for_each(|_| assert!(filter.remove_hash(hash).unwrap()));
    assert_all(&filter, 1..30_000);
}

/// Growth copies void entries into both parts. After many merges these can be too many for any growth to make room.
/// Then a merge is refused, before memory runs out.
#[test]
fn unions_do_not_grow_without_end() {
    let spec = spec(10, 0.5, &[]);
    let (mut whole, mut keys) = (Filter::new(&spec).unwrap(), 0);
    loop {
        let next = keys + 20_000;
        let mut one = Filter::new(&spec).unwrap();
        insert(&mut one, keys..next);
        let before = image(&whole);
        if let Err(error) = whole.merge(&one) {
            assert!(error.status() == Status::Full && error.message().contains("known"), "{error}");
            assert!(image(&whole) == before);
            break;
        }
        keys = next;
        assert_all(&whole, 0..keys);
        whole.verify().unwrap();
        assert!(whole.serialized_size() < 100 * keys, "{keys}: {} bytes", whole.serialized_size());
    }
    assert!(keys >= 40_000);
    assert_all(&whole, 0..keys);
}

/// With any unverified payload, no call panics, and every call ends.
#[test]
fn forged_payloads_do_no_harm() {
    let spec = spec(57, 0.0, &[("fingerprint_bits", 2.0), ("regime", 2.0), ("doublings", 8.0)]);
    let mut filter = Filter::new(&spec).unwrap();
    insert(&mut filter, 0..11_000);
    let image = image(&filter);
    let mut taken = 0;
    for round in 0..20_u64 {
        let mut forged = image.clone();
        for change in 0..1 << (round % 9) {
            let random = mix(round << 20 | change);
            let from = if random & 1 == 0 { forged.len() - 4096 } else { 256 };
            let at = from + (random >> 8) as usize % (forged.len() - from);
            forged[at] = [0xff, 0, (random >> 1) as u8][(random >> 4) as usize % 3];
        }
        crate::format::seal(&mut forged);
        let words: Vec<u64> = forged.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        let start = NonNull::new(words.as_ptr().cast_mut()).unwrap().cast();
        let options = OpenOptions { mode: Mode::Read, ..OpenOptions::default() };
        // SAFETY: the words outlive the filter, and nobody changes them.
        let opened: petal::Result<Filter> = unsafe { open_in_buffer(start, forged.len(), &options) };
        let Ok(opened) = opened else { continue };
        taken += 1;
        let _ = opened.verify();
        opened.statistics();
        let _ = estimate(&opened);
        assert!((0..3000).filter(|i| opened.contains_hash(mix(*i))).count() <= 3000);
        // What is copied is a payload that the kind may have.
        let Ok(mut filter) = opened.copy() else { continue };
        filter.verify().unwrap();
        filter.statistics();
        let mut copy = filter.copy().unwrap();
        for i in 0..1000 {
            filter.contains_hash(mix(i));
            let _ = filter.rejuvenate_hash(hash_of(&spec, 3 * i));
            let _ = filter.remove_hash(hash_of(&spec, 2 * i));
            let _ = filter.insert_hash(mix(i ^ 1 << 40));
        }
        let _ = copy.merge(&filter);
        let _ = filter.merge(&copy);
    }
    assert!(taken > 5, "{taken} were opened");
}

/// The regimes of the paper "Aleph Filter", at a load of 9/10. Fixed fingerprints add half of the first rate in each
/// growth. Widening fingerprints keep the rate below a bound for ever. With a known number of growths the last
/// fingerprints are as short as in a filter that does not grow.
#[test]
fn regimes_are_those_of_the_paper() {
    let growing = |regime| Growing { slot_bits: 13, bits: 10, doublings: 10, regime };
    let keys = |growths: i32| (0.9 * f64::from(13 + growths).exp2()) as u64;
    let first = 0.9 / 1024.0;
    for growths in 0..=10 {
        let fixed = growing(Regime::Fixed).false_positive_rate(keys(growths));
        assert!((fixed / (first * (1.0 + f64::from(growths) / 2.0)) - 1.0).abs() < 0.01, "{growths}: {fixed}");
        let widening = growing(Regime::Widening).false_positive_rate(keys(growths));
        assert!(widening < first * (1.0 + (std::f64::consts::PI.powi(2) / 6.0 - 1.0) / 2.0), "{growths}: {widening}");
    }
    assert_eq!(growing(Regime::Predictive).fingerprint_bits(10), 10);
    let predictive = growing(Regime::Predictive).false_positive_rate(keys(10));
    assert!(predictive < first * 1.1, "{predictive}, {first}");
}

// ---- Rejuvenating ------------------------------------------------------------------------------------------------

/// How many different mothers of void entries there are.
fn mothers(filter: &Filter) -> u64 {
    let words = filter.base().words().shared();
    words[words.len() - 8].load(Ordering::Relaxed)
}

/// How many bits of a hash an insertion keeps now, if no segment is divided.
fn known(filter: &Filter) -> u32 {
    let [bits, doublings, slot_bits, .., 0, regime, _] = filter.base().geometry().words else {
        panic!("it is dividing")
    };
    let regime = [Regime::Fixed, Regime::Widening, Regime::Predictive][regime as usize];
    let growing = Growing { slot_bits: slot_bits as u32, bits: bits as u32, doublings: doublings as u32, regime };
    growing.slot_bits + growths(filter) + growing.fingerprint_bits(growths(filter))
}

/// A filter by its definition: prefixes of hashes with their counts.
#[derive(Default)]
struct Prefixes {
    all: HashMap<(u32, u64), u64>,
}

impl Prefixes {
    fn of(hash: u64, bits: u32) -> (u32, u64) {
        (bits, mix(hash) & ((1 << bits) - 1))
    }

    /// The length of the longest prefix that a hash has.
    fn longest(&self, hash: u64) -> Option<u32> {
        (0..40).rev().find(|bits| self.all.contains_key(&Prefixes::of(hash, *bits)))
    }

    fn add(&mut self, hash: u64, bits: u32) {
        *self.all.entry(Prefixes::of(hash, bits)).or_default() += 1;
    }

    fn take(&mut self, hash: u64, bits: u32) {
        let prefix = Prefixes::of(hash, bits);
        match self.all.get_mut(&prefix) {
            Some(1) => drop(self.all.remove(&prefix)),
            times => *times.unwrap() -= 1,
        }
    }
}

/// Compared with a multiset of prefixes, with fingerprints so short that a key mostly finds those of others as well:
/// each insertion, removal and rejuvenation does the same in both, no key that is there is ever lost, and after each
/// growth exactly the hashes are found that have a prefix in the multiset.
#[test]
#[ignore = "slow: make test-all"]
fn rejuvenations_are_those_of_a_multiset_of_prefixes() {
    let (mut all_void, mut all_of_others) = (0, 0);
    for parameters in [
        &[("fingerprint_bits", 2.0), ("regime", 0.0), ("doublings", 12.0)][..],
        &[("fingerprint_bits", 4.0), ("regime", 0.0), ("doublings", 12.0)],
        &[("fingerprint_bits", 2.0)],
        &[("fingerprint_bits", 2.0), ("regime", 2.0), ("doublings", 8.0)],
    ] {
        // One segment, so that its growths are those of the filter.
        let spec = spec(57, 0.0, parameters);
        let (mut filter, mut model) = (Filter::new(&spec).unwrap(), Prefixes::default());
        let (mut keys, mut next, mut random): (Vec<u64>, u64, u64) = (Vec::new(), 0, 0);
        let (mut grown, mut rejuvenated, mut of_void, mut of_others) = (0, 0, 0, 0);
        for step in 0..30_000 {
            random = mix(random ^ 0x5eed).wrapping_add(step);
            let (before, some) = (growths(&filter), (random >> 20) as usize % keys.len().max(1));
            match random % 16 {
                // At times a key that is there already is inserted again.
                0..8 if before < 7 || filter.kind().as_grow().unwrap().room() > 8 => {
                    let key = if random % 64 == 0 && !keys.is_empty() { keys[some] } else { next };
                    next += 1;
                    let hash = hash_of(&spec, key);
                    let was_there = filter.contains_hash(hash);
                    match filter.insert_hash(hash) {
                        Ok(new) => assert_eq!(new, !was_there),
                        Err(error) => {
                            assert!(error.status() == Status::Full && before >= 6, "{error}");
                            continue;
                        }
                    }
                    model.add(hash, known(&filter));
                    keys.push(key);
                    if growths(&filter) > before {
                        grown += 1;
                        let address = 6 + growths(&filter);
                        let voids = model.all.keys().filter(|(bits, _)| *bits <= address).count();
                        assert_eq!(mothers(&filter), voids as u64);
                        for i in 0..4000 {
                            let hash = mix(i ^ step << 20);
                            assert_eq!(filter.contains_hash(hash), model.longest(hash).is_some());
                        }
                    }
                }
                8..11 if !keys.is_empty() => {
                    let hash = hash_of(&spec, keys.swap_remove(some));
                    assert!(filter.remove_hash(hash).unwrap());
                    model.take(hash, model.longest(hash).unwrap());
                }
                _ if !keys.is_empty() => {
                    let hash = hash_of(&spec, keys[some]);
                    let (longest, count) = (model.longest(hash).unwrap(), filter.base().count());
                    let is_void = longest <= 6 + before;
                    let is_changed = filter.rejuvenate_hash(hash).unwrap();
                    assert_eq!(is_changed, longest < known(&filter), "{parameters:?}: {longest} bits were known");
                    if is_changed {
                        model.take(hash, longest);
                        model.add(hash, known(&filter));
                        rejuvenated += 1;
                        of_void += u64::from(is_void);
                        of_others +=
                            u64::from((0..longest).any(|bits| model.all.contains_key(&Prefixes::of(hash, bits))));
                    }
                    assert!(filter.contains_hash(hash));
                    assert_eq!(filter.base().count(), count);
                }
                // There is no key to rejuvenate.
                _ => {}
            }
            if step % 500 == 0 {
                assert_all(&filter, keys.iter().copied());
                assert!(keys.iter().all(|key| model.longest(hash_of(&spec, *key)).is_some()));
                for i in 0..500 {
                    let hash = mix(i ^ step << 20);
                    let is_there = model.longest(hash).is_some();
                    assert!(filter.contains_hash(hash) || !is_there);
                    if !is_there {
                        let taken = filter.statistics().taken;
                        assert!(!filter.rejuvenate_hash(hash).unwrap());
                        assert_eq!(filter.statistics().taken, taken);
                    }
                }
                filter.verify().unwrap();
            }
        }
        assert!(grown >= 6 && rejuvenated > 50, "{parameters:?}: {grown} growths, {rejuvenated} rejuvenations");
        println!("{parameters:?}: {rejuvenated}, {of_void} of them void, {of_others} found by several entries");
        (all_void, all_of_others) = (all_void + of_void, all_of_others + of_others);
        for key in keys {
            assert!(filter.remove_hash(hash_of(&spec, key)).unwrap());
        }
        assert_eq!(filter.base().count(), 0);
        assert_eq!(mothers(&filter), 0);
        filter.verify().unwrap();
    }
    assert!(all_void > 300 && all_of_others > 300, "{all_void} void ones, {all_of_others} found by several entries");
}

/// Once all keys are rejuvenated, the rate is that of as many new keys. Hardly any mother of a void entry is left, and
/// after the next growth hardly any copy.
#[test]
fn rejuvenated_keys_are_as_good_as_new_ones() {
    for (parameters, expected_growths) in [
        (&[("fingerprint_bits", 8.0), ("regime", 0.0), ("doublings", 20.0)][..], 10),
        (&[("fingerprint_bits", 5.0)], 10),
    ] {
        let spec = spec(57, 0.0, parameters);
        let mut filter = Filter::new(&spec).unwrap();
        let mut keys = 0;
        while growths(&filter) < expected_growths || filter.base().geometry().words[5] == 1 {
            insert(&mut filter, keys..keys + 50);
            keys += 50;
        }
        insert(&mut filter, keys..keys + 15_000);
        keys += 15_000;
        let new_rate = |filter: &Filter| 1.0 - (-(keys as f64) * (-f64::from(known(filter))).exp2()).exp();
        let (voids, old) = (mothers(&filter), filter.statistics());
        let expected = filter.expected_false_positive_rate(keys);
        assert!((old.false_positive_rate / expected - 1.0).abs() < 0.05, "{parameters:?}: {old:?}, {expected}");
        assert!(old.false_positive_rate > 1.5 * new_rate(&filter), "{old:?}");
        let copies = old.taken - keys + voids;
        assert!(voids > 50 && copies > voids, "{voids} void ones with {copies} copies");

        let (geometry, count) = (*filter.base().geometry(), filter.base().count());
        let hashes: Vec<u64> = (0..keys).map(|i| hash_of(&spec, i)).collect();
        let mut answers = Answers::default();
        filter.rejuvenate_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome.unwrap();
        assert_eq!((*filter.base().geometry(), filter.base().count()), (geometry, count), "nothing grows for it");
        assert!(answers.true_count > keys / 4 && answers.done as u64 == keys);
        assert_all(&filter, 0..keys);
        filter.verify().unwrap();
        // A key that finds the new entry of another one keeps its old one, which is as rare as false positives.
        assert!(mothers(&filter) <= voids / 20, "{} mothers of {voids} are left", mothers(&filter));

        // Copies of void entries in other places are left until the filter grows.
        let known_then = known(&filter);
        while growths(&filter) == expected_growths || filter.base().geometry().words[5] == 1 {
            let fresh = (1 << 40) + filter.base().count();
            insert(&mut filter, fresh..fresh + 50);
        }
        let (measure, all) = (filter.statistics(), filter.base().count());
        let left = measure.taken.abs_diff(all);
        assert!(left < copies / 10, "{parameters:?}: {left} copies of {copies} are left");
        // Entries that came after the growth know more bits, and are few.
        let fresh_rate = {
            let mut fresh = Filter::new(&spec).unwrap();
            insert(&mut fresh, 0..all);
            fresh.statistics().false_positive_rate
        };
        let rate = measure.false_positive_rate;
        let expected = 1.0 - (-(all as f64) * (-f64::from(known_then)).exp2()).exp();
        assert!(rate < 1.02 * expected && rate < 0.7 * fresh_rate, "{parameters:?}: {rate}, {expected}, {fresh_rate}");
        assert_all(&filter, 0..keys);
        // Rejuvenated keys are removed entirely, and the others stay.
        hashes.iter().for_each(|hash| assert!(filter.remove_hash(*hash).unwrap()));
        assert_all(&filter, (1 << 40) + count..(1 << 40) + all);
        filter.verify().unwrap();
    }
}

/// If a key is there several times, rejuvenation restores one copy, which takes one more slot. The filter grows for
/// that slot, or refuses and changes nothing.
#[test]
fn a_rejuvenation_without_room_grows_or_is_refused() {
    const COPIES: u64 = 12;
    for regime in [0.0, 1.0] {
        let spec = spec(57, 0.0, &[("fingerprint_bits", 5.0), ("regime", regime), ("doublings", 8.0)]);
        let mut filter = Filter::new(&spec).unwrap();
        insert(&mut filter, 1 << 40..(1 << 40) + 100);
        let often = 0..1000;
        for _ in 0..COPIES {
            insert(&mut filter, often.clone());
        }
        // So full that the next key is refused, or makes it grow.
        let mut next = 1 << 41;
        while growths(&filter) < 8 || filter.kind().as_grow().unwrap().room() > 0 || regime == 0.0 {
            match filter.insert_hash(hash_of(&spec, next)) {
                Ok(_) => next += 1,
                Err(error) => {
                    assert!(regime == 0.0 && error.status() == Status::Full, "{error}");
                    break;
                }
            }
        }
        let (mut changed, mut refused, count) = (0, 0, filter.base().count());
        let geometry = *filter.base().geometry();
        for key in often.clone() {
            let before = image(&filter);
            match filter.rejuvenate_hash(hash_of(&spec, key)) {
                Ok(true) => changed += 1,
                Ok(false) => assert!(image(&filter) == before),
                Err(error) => {
                    assert_eq!(error.status(), Status::Full, "{error}");
                    assert!(image(&filter) == before, "a refusal changed something");
                    refused += 1;
                }
            }
        }
        assert!(changed > 100, "{changed}");
        assert_eq!((refused > 50, *filter.base().geometry() != geometry), (regime == 0.0, regime == 1.0), "{refused}");
        assert_eq!(filter.base().count(), count);
        filter.verify().unwrap();
        assert_all(&filter, often.clone().chain(1 << 40..(1 << 40) + 100).chain(1 << 41..next));
        for key in often {
            (0..COPIES).for_each(|_| assert!(filter.remove_hash(hash_of(&spec, key)).unwrap(), "{key}"));
        }
        assert_all(&filter, (1 << 40..(1 << 40) + 100).chain(1 << 41..next));
    }
}

/// A filter that is open for reading refuses rejuvenation.
#[test]
fn images_that_are_read_are_not_rejuvenated() {
    let spec = spec(57, 0.01, &[]);
    let mut filter = Filter::new(&spec).unwrap();
    insert(&mut filter, 0..1000);
    let bytes = image(&filter);
    let words: Vec<u64> = bytes.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
    let start = NonNull::new(words.as_ptr().cast_mut()).unwrap().cast();
    // SAFETY: the words outlive the filter, and nobody changes them.
    let mut opened: Filter = unsafe { open_in_buffer(start, bytes.len(), &OpenOptions::default()) }.unwrap();
    let error = opened.rejuvenate_hash(hash_of(&spec, 1)).unwrap_err();
    assert_eq!(error.status(), Status::UnsupportedByHandle);
    assert!(error.message().contains("open for reading"), "{error}");
    assert!(opened.rejuvenate(b"key").is_err() && opened.rejuvenate(u64::to_le_bytes(1)).is_err());
    // The three ways to name a key are equivalent.
    let mut keys = Filter::new(&Spec { false_positive_rate: 0.0, ..spec }).unwrap();
    (0..100_000_u64).for_each(|i| assert!(keys.insert_u64(i).is_ok()));
    let mut copies = [keys.copy().unwrap(), keys.copy().unwrap(), keys.copy().unwrap()];
    assert!(copies[0].rejuvenate(&5_u64.to_le_bytes()).unwrap() && copies[1].rejuvenate(u64::to_le_bytes(5)).unwrap());
    assert!(copies[2].rejuvenate_hash(keys.base().hasher().hash_u64(5).unwrap()).unwrap());
    assert!(copies[0].equals(&copies[1]) && copies[0].equals(&copies[2]) && !copies[0].equals(&keys));
}

/// With twice as many keys in the first table, the share of absent keys that are not found is squared. This holds to
/// all digits, even for rates so small that the module adds a series up.
#[test]
fn small_rates_have_all_digits() {
    for rate in [1e-2, 1e-3, 1e-4, 1e-6] {
        let spec = spec(1000, rate, &[]);
        let row = petal::registry::find_name("aleph").unwrap();
        let geometry = row.geometry_of(&spec).unwrap();
        let of = |keys: u64| (row.false_positive_rate)(&geometry, keys);
        let small: Vec<u64> = (1..=200).filter(|keys| of(2 * keys) < 9e-5).collect();
        for keys in &small {
            let (one, two) = (of(*keys), of(2 * keys));
            assert!((two / (one * (2.0 - one)) - 1.0).abs() < 1e-12, "{keys} keys at {rate}: {one}, {two}");
        }
        assert!(!small.is_empty() || rate > 1e-4, "{rate}");
    }
}
