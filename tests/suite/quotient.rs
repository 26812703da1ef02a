//! The kind `quotient` compared with an exact multiset of fingerprints, and its table compared with its definition.

use crate::common::{image, is_soak, mix};
use petal::blocks::runs::{Editor, Entries, Reader, Table, Writer};
use petal::{
    Answers, Builder, BuilderOptions, Filter, HashFunction, Image, Kernel, Keys, OpenOptions, Secret, Spec, Status,
    load,
};
use std::collections::BTreeMap;

/// Fingerprints with their counts.
type Multiset = BTreeMap<u64, u64>;

// ---- The table ---------------------------------------------------------------------------------------------------

fn words(table: Table) -> Vec<u64> {
    vec![0; table.payload_bytes() as usize / 8]
}

/// Asserts that a table equals its definition, computed slot by slot. Runs lie in the order of their quotients, each in
/// the slot of its quotient or right after the previous run. Runs go on past the last slot. The library computes the
/// codes, which have their own tests.
fn is_by_definition(table: Table, held: &Multiset, words: &[u64]) {
    let slots = table.slots();
    let mut runs: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (fingerprint, count) in held {
        let (quotient, remainder) = table.split(*fingerprint);
        let code = petal::blocks::runs::code::Code::of(remainder, *count, table.remainder_bits());
        runs.entry(quotient).or_default().extend(code.slots());
    }
    // The start of the first run depends on how far the last runs reach past the end. Two rounds are enough to find it.
    let place = |first: u64| {
        let (mut after, mut placed) = (first, Vec::new());
        for (quotient, remainders) in &runs {
            let start = after.max(*quotient);
            after = start + remainders.len() as u64;
            placed.push((*quotient, start, after));
        }
        (after.saturating_sub(slots), placed)
    };
    let (first, placed) = place(place(0).0);
    assert_eq!(place(first).0, first);
    let reader = Reader::new(table, words);
    let mut is_free = vec![true; slots as usize];
    for (quotient, start, after) in &placed {
        assert!(reader.is_occupied(*quotient));
        let run = reader.run(*quotient).unwrap();
        assert_eq!((run.start, run.end + 1), (*start, *after), "the run of {quotient}");
        for (position, remainder) in (*start..*after).zip(&runs[quotient]) {
            assert!(std::mem::replace(&mut is_free[(position % slots) as usize], false), "two lie in {position}");
            assert_eq!(reader.remainder(position), *remainder);
            let is_end = reader.runends(position) >> (position % 64) & 1 == 1;
            assert_eq!(is_end, position + 1 == *after);
        }
    }
    let occupied: u64 = (0..slots).step_by(64).map(|at| u64::from(reader.occupieds(at).count_ones())).sum();
    assert_eq!(occupied, runs.len() as u64);
    for slot in 0..slots {
        let reached = placed.iter().filter(|(quotient, ..)| *quotient <= slot).map(|(_, _, after)| *after).max();
        let after = reached.unwrap_or(0).max(first).max(slot / 64 * 64);
        let known = reader.after(slot).unwrap();
        assert_eq!(known > slot, after > slot, "whether slot {slot} is free");
        assert!(known <= slot || known == after, "after {slot} comes {known}, not {after}");
        assert_eq!(is_free[slot as usize], known <= slot);
        if slot % 64 == 0 {
            let before = placed.iter().filter(|(quotient, ..)| *quotient < slot).map(|(_, _, after)| *after).max();
            let offset = before.unwrap_or(0).max(first).saturating_sub(slot);
            assert_eq!(reader.offset(slot), Some(offset), "the offset of the block from {slot} on");
        }
    }
}

/// The choice of fingerprints in a test.
#[derive(Clone, Copy, Debug)]
enum Skew {
    Even,
    /// All fingerprints have one quotient: the first, a middle or the last one.
    One(u64),
    /// All fingerprints are in the last few quotients, so that runs go on at the beginning of the table.
    Last,
    /// A few fingerprints occur many times each.
    Few,
}

fn drawn(table: Table, skew: Skew, random: u64) -> u64 {
    let width = table.remainder_bits();
    let remainder = random >> 7 & table.mask();
    match skew {
        Skew::Even => table.fingerprint(mix(random)),
        Skew::One(quotient) => quotient.min(table.slots() - 1) << width | remainder,
        Skew::Last => ((table.slots() - 1 - mix(random) % 5) << width) | remainder,
        Skew::Few => table.fingerprint(mix(random % 11)),
    }
}

/// After any insertions and removals, of one copy or of many in one call, the table equals the definition for the
/// remaining fingerprints, to the bit. Only fingerprints without room are refused.
#[test]
fn tables_are_what_their_definition_says() {
    let steps = if is_soak() { 40_000 } else { 3000 };
    for (slots, width) in [(64, 2), (64, 9), (128, 3), (192, 5), (256, 4), (640, 32), (1024, 7)] {
        for skew in [Skew::Even, Skew::One(0), Skew::One(slots / 2 + 3), Skew::One(u64::MAX), Skew::Last, Skew::Few] {
            let table = Table::new(slots, width).unwrap();
            let (mut words, mut held, mut refused) = (words(table), Multiset::new(), 0);
            for step in 0..steps {
                let random = mix(step ^ slots << 32 ^ u64::from(width) << 20);
                let fingerprint = drawn(table, skew, random);
                let times = [1, 1, 1, 2, 3, 30, 1000][(random % 7) as usize];
                let before = held.get(&fingerprint).copied().unwrap_or(0);
                // The table fills up and becomes nearly empty again.
                let is_growing = step % 1000 < 600;
                if random >> 60 < if is_growing { 11 } else { 5 } {
                    match Editor::new(table, &mut words).insert(fingerprint, times) {
                        Ok(new) => {
                            assert_eq!(new, before == 0);
                            held.insert(fingerprint, before + times);
                        }
                        Err(_) => refused += 1,
                    }
                } else {
                    let removed = Editor::new(table, &mut words).remove(fingerprint, times);
                    assert_eq!(removed, before.min(times));
                    if before > 0 {
                        held.insert(fingerprint, before - removed);
                    }
                    if before == removed {
                        held.remove(&fingerprint);
                    }
                }
                let reader = Reader::new(table, &words[..]);
                assert_eq!(reader.count(fingerprint), held.get(&fingerprint).copied().unwrap_or(0));
                if step % 97 == 0 || step + 1 == steps {
                    is_by_definition(table, &held, &words);
                    reader.check().unwrap_or_else(|error| panic!("{slots} slots, {width} bits, {skew:?}: {error}"));
                    assert!(Entries::new(reader, 0).eq(held.iter().map(|(number, count)| (*number, *count))));
                    for from in [fingerprint, fingerprint + 1, table.range() / 2, table.range() - 1] {
                        let rest = held.range(from..).map(|(number, count)| (*number, *count));
                        assert!(Entries::new(reader, from).eq(rest), "from {from}");
                    }
                    // Writing all fingerprints in one go gives the same table.
                    let mut again = self::words(table);
                    let mut writer = Writer::new(table, &mut again);
                    held.iter().for_each(|(number, count)| writer.push((*number, *count)).unwrap());
                    writer.finish();
                    assert!(again == words, "{slots} slots, {width} bits, {skew:?}, step {step}");
                }
            }
            assert!(refused > 0 || matches!(skew, Skew::Few | Skew::One(_)), "{slots} slots, {width} bits, {skew:?}");
            for (fingerprint, count) in held {
                assert_eq!(Editor::new(table, &mut words).remove(fingerprint, u64::MAX), count);
            }
            assert!(words.iter().all(|word| *word == 0), "an empty table is zeros");
        }
    }
}

/// Some offsets are too great for a block to store: a cluster is longer than 65,535 slots. The cluster lies in the
/// middle of the table or across its end. Insertions or one write make it, and removals end it.
#[test]
#[ignore = "slow: make test-all"]
fn offsets_that_are_too_far_are_counted() {
    let table = Table::new(100 * 1024, 16).unwrap();
    let last = table.slots() - 1;
    for first in [1000, last - 20_000] {
        // Four quotients have nearly all keys, so that the blocks after these begin far from their own runs.
        let fingerprint = |i: u64| (first + i % 4) << 16 | mix(i) & 0xffff;
        let keys = 66_000;
        let mut held = Multiset::new();
        (0..keys).for_each(|i| *held.entry(fingerprint(i)).or_default() += 1);
        held.insert((first + 70) << 16 | 5, 1);
        held.insert((first + 10_000) << 16 | 7, 3);
        let mut written = words(table);
        let mut writer = Writer::new(table, &mut written);
        held.iter().for_each(|(number, count)| writer.push((*number, *count)).unwrap());
        writer.finish();
        let reader = Reader::new(table, &written[..]);
        assert!((0..table.slots()).step_by(64).any(|at| reader.offset(at).unwrap() > 65_600));
        assert!((0..table.slots()).step_by(64).any(|at| reader.stored_offset(at) == 0xffff));
        reader.check().unwrap();
        let some = held.iter().rev().step_by(61);
        assert!(some.into_iter().all(|(number, count)| reader.count(*number) == *count && reader.contains(*number)));
        assert!(Entries::new(reader, 0).eq(held.iter().map(|(number, count)| (*number, *count))));
        assert!(!reader.contains((first + 71) << 16) && !reader.contains((first + 10_000) << 16 | 8));

        // The removal and insertion of a few fingerprints restore the table. Some of these end the cluster, and some
        // begin it.
        let before = written.clone();
        let some: Vec<(u64, u64)> = held.iter().map(|(number, count)| (*number, *count)).step_by(4001).collect();
        for (number, count) in &some {
            assert_eq!(Editor::new(table, &mut written).remove(*number, u64::MAX), *count);
        }
        Reader::new(table, &written[..]).check().unwrap();
        for (number, count) in &some {
            assert!(Editor::new(table, &mut written).insert(*number, *count).unwrap());
        }
        assert!(written == before);
        // The test removes enough fingerprints that blocks can store their offsets again.
        let many: Vec<u64> = held.keys().copied().step_by(100).collect();
        for number in &many {
            Editor::new(table, &mut written).remove(*number, u64::MAX);
        }
        let reader = Reader::new(table, &written[..]);
        assert!((0..table.slots()).step_by(64).all(|at| reader.stored_offset(at) < 0xffff));
        reader.check().unwrap();
    }
}

// ---- The filter --------------------------------------------------------------------------------------------------

fn spec(capacity: u64, remainder_bits: u32) -> Spec {
    let kind = Some(petal::kinds::quotient::ROW.kind);
    let mut spec = Spec { kind, capacity, hash: HashFunction::External, ..Spec::default() };
    spec.set(&petal::kinds::quotient::REMAINDER_BITS, remainder_bits.into()).unwrap();
    spec
}

/// Measured rates and bits per key at a load of 95 % agree with the literature.
#[test]
fn rates_and_sizes_are_those_of_the_literature() {
    for (bits, most_bits) in [(4, 6.4), (8, 10.4), (9, 11.4), (16, 18.4)] {
        let slots = 1 << 17;
        let keys = petal::blocks::runs::limit(slots);
        let mut filter = Filter::new(&spec(keys, bits)).unwrap();
        for i in 0..keys {
            filter.insert_hash(mix(i)).unwrap();
        }
        let geometry = *filter.base().geometry();
        assert_eq!(geometry.words[..2], [u64::from(bits), slots]);
        let measure = filter.statistics();
        assert!(measure.fill > 0.9499 && measure.fill <= 0.95, "{}", measure.fill);
        assert!(8.0 * geometry.payload_bytes as f64 / slots as f64 <= most_bits);
        let rate = 0.95 * (-f64::from(bits)).exp2();
        assert!((measure.false_positive_rate / (1.0 - (-rate).exp()) - 1.0).abs() < 0.01, "{measure:?}");
        let fresh = 400_000;
        let found = (0..fresh).filter(|i| filter.contains_hash(mix(u64::MAX - i))).count() as f64;
        let (mean, sd) = (fresh as f64 * rate, (fresh as f64 * rate * (1.0 - rate)).sqrt());
        let mean = mean * measure.false_positive_rate / rate;
        assert!((found - mean).abs() < 4.5 * sd, "{bits} bits: {found} found, {mean} +- {sd} expected");
        filter.verify().unwrap();
    }
}

/// The content of a filter: each fingerprint with its count.
fn held(filter: &Filter) -> Multiset {
    let (mut all, mut from, mut stored, mut counts) = (Multiset::new(), 0, [0; 100], [0; 100]);
    loop {
        let some = filter.stored_hashes(from, &mut stored, Some(&mut counts)).unwrap();
        all.extend(stored[..some].iter().copied().zip(counts[..some].iter().copied()));
        if some < stored.len() {
            return all;
        }
        from = stored[some - 1] + 1;
    }
}

/// After insertions, removals, counts, unions, intersections, resizing and images in any order, the filter equals an
/// exact multiset of fingerprints. The soak runs 10^8 operations.
#[test]
fn filters_are_exact_multisets_of_fingerprints() {
    let steps: u64 = if is_soak() { 100_000_000 } else { 120_000 };
    let spec = spec(3000, 10);
    let mut filter = Filter::new(&spec).unwrap();
    let mut model = Multiset::new();
    let range = filter.stored_hash(0).unwrap().1;
    for step in 0..steps {
        let random = mix(step);
        // Many keys share one of these hashes or have a neighbouring one.
        let hash = mix(random % 4000).wrapping_add(random >> 50);
        let (fingerprint, same) = filter.stored_hash(hash).unwrap();
        assert_eq!(same, range, "a resize keeps fingerprints");
        let before = model.get(&fingerprint).copied().unwrap_or(0);
        let times = if random >> 20 & 15 == 0 { random >> 32 & 0xffff } else { 1 + (random >> 20 & 3) };
        let is_growing = step % 20_000 < 12_000;
        match random % 1009 {
            0..=3 => {
                let bytes = image(&filter);
                filter = load(&bytes, &OpenOptions::default()).unwrap();
                assert_eq!(image(&filter), bytes);
            }
            4..=6 => {
                let mut other = Filter::new(&spec).unwrap();
                for i in 0..50 {
                    other.insert_times_hash(mix(random ^ i), 1 + i % 5).unwrap();
                }
                let copy = image(&filter);
                match filter.merge(&other) {
                    Ok(()) => {
                        held(&other).iter().for_each(|(number, count)| *model.entry(*number).or_default() += count)
                    }
                    Err(error) => assert!(error.status() == Status::Full && image(&filter) == copy),
                }
            }
            7 => {
                let other = filter.copy().unwrap();
                for number in model.keys().copied().step_by(3).collect::<Vec<_>>() {
                    // The least hash with this fingerprint.
                    let hash = ((u128::from(number) << 64).div_ceil(u128::from(range))) as u64;
                    assert_eq!(filter.remove_times_hash(hash, u64::MAX).unwrap(), model.remove(&number).unwrap());
                }
                filter.intersect(&other).unwrap();
            }
            8..=12 => {
                let capacity = [1, 3000, 5000, 12_000][(random >> 40 & 3) as usize];
                let copy = image(&filter);
                match filter.resize(capacity) {
                    Ok(()) => assert!(filter.base().header().capacity >= capacity),
                    Err(error) => assert!(error.status() == Status::Full && image(&filter) == copy, "{error}"),
                }
            }
            _ if random >> 60 < if is_growing { 11 } else { 4 } => match filter.insert_times_hash(hash, times) {
                Ok(new) => {
                    assert_eq!(new, before == 0, "{times} times");
                    model.insert(fingerprint, before + times);
                }
                Err(error) => assert_eq!(error.status(), Status::Full),
            },
            _ => {
                assert_eq!(filter.remove_times_hash(hash, times).unwrap(), before.min(times));
                model.insert(fingerprint, before - before.min(times));
            }
        }
        model.retain(|number, count| *number != fingerprint || *count > 0);
        let count = model.get(&fingerprint).copied().unwrap_or(0);
        assert_eq!(filter.count_hash(hash).unwrap(), count);
        assert_eq!(filter.contains_hash(hash), count > 0);
        if step % 5000 == 4999 || step + 1 == steps {
            filter.verify().unwrap();
            assert_eq!(held(&filter), model);
            assert_eq!(filter.statistics().false_positive_rate, model.len() as f64 / range as f64);
        }
    }
    assert!(model.len() > 500);
}

/// An attacker who knows the hash function can choose keys that all belong to one slot. The keys form one run, so
/// answers stay right and become slow. Under a secret key the same keys behave like any others.
#[test]
fn chosen_keys_make_one_run_only_under_a_known_hash() {
    const SECRET: Secret = *b"nobody knows it.";
    const CHOSEN: usize = 300;
    let sized = |hash, key| Spec { hash, secret: key, ..spec(4000, 9) };
    let public = sized(HashFunction::Xxh3, None);
    let mut attacked = Filter::new(&public).unwrap();
    let hasher = public.hasher().unwrap();
    let quotient = |filter: &Filter, hash| filter.stored_hash(hash).unwrap().0 >> 9;
    let target = quotient(&attacked, hasher.hash_u64(0).unwrap());
    let is_same = |key: &u64| quotient(&attacked, hasher.hash_u64(*key).unwrap()) == target;
    let chosen: Vec<u64> = (0..).filter(is_same).take(CHOSEN).collect();
    let longest_run = |filter: &mut Filter| {
        chosen.iter().for_each(|key| assert!(filter.insert_u64(*key).is_ok()));
        assert!(chosen.iter().all(|key| filter.contains_u64(*key)));
        filter.verify().unwrap();
        let mut runs = BTreeMap::<u64, u64>::new();
        held(filter).keys().for_each(|fingerprint| *runs.entry(fingerprint >> 9).or_default() += 1);
        runs.into_values().max().unwrap()
    };
    // Some of the chosen keys have the same remainder.
    assert!(longest_run(&mut attacked) > 200);
    // If 300 keys fall at random into more than 4000 slots, six of them share a slot with a probability of 10^-6.
    let mut keyed = Filter::new(&sized(HashFunction::SipHash13, Some(SECRET))).unwrap();
    assert!(longest_run(&mut keyed) < 6);
}

/// A resized filter has the fingerprints of a filter that was made in that size. Resizing back restores the first
/// filter.
#[test]
fn another_size_is_the_same_filter() {
    let small = Filter::new(&spec(2500, 12)).unwrap();
    let large = Filter::new(&spec(petal::blocks::runs::limit(4 * small.base().geometry().words[1]), 10)).unwrap();
    let [mut small, mut large] = [small, large].map(|mut filter| {
        (0..1000).for_each(|i| assert!(filter.insert_times_hash(mix(i), 1 + i % 3).is_ok()));
        filter
    });
    let first = image(&small);
    assert_eq!(small.base().compatibility_id(), large.base().compatibility_id());
    assert_eq!(held(&small), held(&large));
    small.resize(7000).unwrap();
    assert!(small.equals(&large));
    assert_eq!(small.base().header().capacity, large.base().header().capacity);
    let again = Filter::new(&small.base().spec()).unwrap();
    assert_eq!(again.base().geometry(), small.base().geometry());
    // Filters of different sizes merge.
    large.resize(1).unwrap();
    assert_eq!(large.base().geometry(), load(&first, &OpenOptions::default()).unwrap().base().geometry());
    small.merge(&large).unwrap();
    assert!(held(&small).iter().all(|(number, count)| held(&large)[number] * 2 == *count));
    // No size has remainders of less than two bits, and no size is too small for the present keys.
    let refused = small.resize(1 << 40).unwrap_err();
    assert_eq!(refused.status(), Status::OutOfRange, "{refused}");
    let before = small.base().geometry().words;
    small.resize(1).unwrap();
    assert!(small.base().geometry().words[1] < before[1]);
    assert_eq!(held(&small).len(), held(&large).len());
    small.verify().unwrap();
}

/// A builder makes room for counts of any size, and its filter equals one that was made by insertions.
#[test]
fn builders_make_room_for_counts() {
    let spec = Spec { capacity: 0, ..spec(0, 6) };
    let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
    let hashes: Vec<u64> =
        (0..2000).flat_map(|i| std::iter::repeat_n(mix(i), [1, 1, 2, 3, 200][i as usize % 5])).collect();
    builder.add_batch(&Keys::Hashes(&hashes)).outcome.unwrap();
    let built = builder.finish().unwrap();
    let mut inserted = Filter::new(&built.base().spec()).unwrap();
    inserted.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
    assert!(built.equals(&inserted));
    assert_eq!(built.base().count(), hashes.len() as u64);
    assert!(built.statistics().fill > 0.7, "{:?}", built.statistics());
}

/// One call with a count does the same as that many single calls. A count that is too large is refused before a copy is
/// inserted.
#[test]
fn keys_come_with_their_counts() {
    let mut filter = Filter::new(&spec(3000, 8)).unwrap();
    let hashes: Vec<u64> = (0..300).map(mix).collect();
    let times: Vec<u64> = (0..300).map(|i| i * i * i).collect();
    let mut answers = Answers::default();
    let taken = filter.insert_times_batch(&Keys::Hashes(&hashes), &times, Some(&mut answers));
    taken.outcome.unwrap();
    assert_eq!((taken.keys, filter.base().count()), (300, times.iter().sum()));
    let mut counts = vec![0; 300];
    let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
    filter.count_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
    assert!(counts.iter().zip(&times).all(|(count, times)| count >= times));
    let taken = filter.remove_times_batch(&Keys::Hashes(&hashes), &times, None);
    taken.outcome.unwrap();
    assert_eq!((filter.base().count(), filter.statistics().taken), (0, 0));
    let short = filter.insert_times_batch(&Keys::Hashes(&hashes), &times[1..], None);
    assert_eq!(short.outcome.unwrap_err().status(), Status::BufferTooSmall);
    // The count does not fit into 64 bits.
    filter.insert_times_hash(1, u64::MAX).unwrap();
    let before = image(&filter);
    assert_eq!(filter.insert_hash(1).unwrap_err().status(), Status::Full);
    assert_eq!(image(&filter), before);
    let other = filter.copy().unwrap();
    assert_eq!(filter.merge(&other).unwrap_err().status(), Status::Full);
    assert_eq!(image(&filter), before);
    assert_eq!(filter.count_hash(1).unwrap(), u64::MAX);
    assert_eq!(filter.remove_times_hash(1, u64::MAX).unwrap(), u64::MAX);
    assert_eq!(filter.statistics().taken, 0);
}

/// The kernels of this processor answer as plain code does, even in a table that is too large for the caches, and for
/// long and short remainders.
#[test]
fn kernels_answer_alike() {
    for (capacity, bits) in [(50, 9), (3000, 2), (3000, 9), (3000, 20), (3000, 32), (600_000, 9)] {
        let mut filter = Filter::new(&spec(capacity, bits)).unwrap();
        for i in 0..capacity {
            drop(
                filter
                    .insert_times_hash(mix(i), [1, 1, 1, 1, 7][i as usize % 5])
                    .or_else(|_| filter.insert_hash(mix(i))),
            );
        }
        let bytes = image(&filter);
        let hashes: Vec<u64> = (0..3 * capacity.min(40_000)).map(|i| mix(i * (capacity / 40_000).max(1))).collect();
        let answer = |kernel| {
            let portable = petal::simd::choose(kernel).unwrap();
            let filter = load(&bytes, &OpenOptions::default()).unwrap();
            let table = Table::new(filter.base().geometry().words[1], bits).unwrap();
            let kernel = petal::blocks::runs::kernel(portable);
            let words = filter.base().words().shared();
            let mut counts = vec![0; hashes.len()];
            (kernel.count_many)(table, words, &hashes, &mut counts);
            let found: Vec<bool> = hashes.iter().map(|hash| (kernel.contains)(table, words, *hash)).collect();
            assert!(found.iter().zip(&counts).all(|(found, count)| *found == (*count > 0)));
            counts
        };
        let expected = answer(Kernel::Portable);
        assert_eq!(answer(Kernel::Best), expected);
        let mut found = vec![0; hashes.len()];
        let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
        filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
        assert!(found.iter().zip(&expected).all(|(found, count)| (*found == 1) == (*count > 0)));
    }
}
