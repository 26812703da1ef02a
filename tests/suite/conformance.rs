//! One suite for every kind, every combination of its parameters and every hash function. No kind is named here: a new
//! row of the registry is covered without touching this file.

use crate::common::{
    Buffer, Case, SECRET, at_rate, cases, each, empty, filled, hash_of, hashed, image, is_one_kind, is_soak, layouts,
    main_layouts, mix, share_of, tried, try_empty,
};
use petal::registry::FILTERS;
use petal::{
    Answers, Builder, BuilderOptions, Capabilities, Filter, HashFunction, Image, Keys, Mode, OpenOptions, Overfill,
    Sizes, Spec, Status, Taken, load,
};
use std::any::type_name;
use std::cell::Cell;

/// The capacity of most filters here.
pub const CAPACITY: u64 = 1000;

/// Key numbers from here on are never inserted.
pub const FRESH: u64 = 1 << 40;

/// Runs `test` for every kind, with its default parameters and with some others (`share_of`), sized for `CAPACITY` keys
/// at 1 %.
pub fn for_each_case<T: Fn(&Case, &Spec)>(test: T) {
    each_case_of(type_name::<T>(), test);
}

/// As [`for_each_case`], without the kinds whose keys are integers and are never hashed.
fn for_each_hashed_case<T: Fn(&Case, &Spec)>(test: T) {
    each_case_of(type_name::<T>(), |case, spec| {
        if !case.is_of_integers() {
            test(case, spec);
        }
    });
}

/// The layouts in the share of the calling test. The type of a closure has the name of the function in which it was
/// written, which gives the test's name.
fn each_case_of(name: &str, test: impl Fn(&Case, &Spec)) {
    each(share_of(cases(), 6, name), Case::name, |case| {
        test(case, &case.sized(CAPACITY, 0.01));
    });
}

/// As [`for_each_case`], with every hash function, or, where parameters are not the default ones, with one in turn,
/// because a layout sees only hashes, and not where they come from.
pub fn for_each_hash<T: Fn(&Case, &Spec)>(test: T) {
    let turn = Cell::new(0);
    each_case_of(type_name::<T>(), |case, spec| {
        let all = case.row.hash_functions();
        let one = turn.replace(turn.get() + 1) % all.len();
        let some = if is_soak() || case.is_default() { 0..all.len() } else { one..one + 1 };
        for hash in &all[some] {
            println!("    {hash}");
            test(case, &hashed(spec, *hash, 7));
        }
    });
}

pub fn can(case: &Case, capability: Capabilities) -> bool {
    case.capabilities().contains(capability)
}

/// Asserts that the filter finds all of these keys; of a kind that may lose keys, all but the expected share.
#[track_caller]
pub fn holds(filter: &Filter, spec: &Spec, keys: impl IntoIterator<Item = u64>) {
    if filter.capabilities().contains(Capabilities::MAY_LOSE_KEYS) {
        let found: Vec<bool> = keys.into_iter().map(|i| filter.contains_hash(hash_of(spec, i))).collect();
        let lost = found.iter().filter(|found| !**found).count() as f64;
        // No key is older than the number of insertions, which a compact form does not know.
        let age = filter.base().count().max(found.len() as u64);
        let most = filter.expected_false_negative_rate(age) * found.len() as f64;
        assert!(lost <= most + 4.5 * most.sqrt() + 1e-6 * found.len() as f64, "{lost} keys are lost, and not {most}");
        return;
    }
    for i in keys {
        assert!(filter.contains_hash(hash_of(spec, i)), "key {i} is lost");
    }
}

/// How many of the fresh keys the filter finds.
pub fn false_positives(filter: &Filter, spec: &Spec, fresh: u64) -> u64 {
    (FRESH..FRESH + fresh).filter(|i| filter.contains_hash(hash_of(spec, *i))).count() as u64
}

#[track_caller]
pub fn fails<T>(result: petal::Result<T>, status: Status) {
    match result {
        Ok(_) => panic!("this should fail with {status:?}"),
        Err(error) => {
            assert_eq!(error.status(), status, "{error}");
            assert!(!error.message().is_empty());
        }
    }
}

// ---- Keys --------------------------------------------------------------------------------------------------------

#[test]
fn no_key_is_ever_lost() {
    for_each_hash(|case, spec| {
        for keys in [1, 10, CAPACITY / 2, CAPACITY, case.room_for(5 * CAPACITY, CAPACITY)] {
            let filter = filled(spec, 0..keys);
            holds(&filter, spec, 0..keys);
            assert_eq!(filter.base().header().count, keys);
        }
    });
}

#[test]
fn an_empty_filter_holds_nothing() {
    for_each_hash(|case, spec| {
        let filter = empty(spec);
        assert_eq!(false_positives(&filter, spec, 1000), 0);
        assert_eq!(filter.statistics().fill, 0.0);
        assert_eq!(filter.false_positive_rate(), 0.0);
        assert_eq!(filter.expected_false_positive_rate(0), 0.0);
        assert_eq!(filter.base().header().count, 0);
        if can(case, Capabilities::ESTIMATE) {
            assert_eq!(filter.cardinality(), Some(0.0));
        }
        filter.verify().unwrap();
        // The smallest filters: without keys, for one key and for none.
        for capacity in [0, 1] {
            let small = Spec::with_capacity(capacity, 0.01).unwrap();
            let small = Spec { capacity: small.capacity, ..*spec };
            let filter = filled(&small, []);
            assert_eq!(false_positives(&filter, spec, 1000), 0);
            let filter = filled(&small, [0]);
            holds(&filter, &small, [0]);
            assert!(false_positives(&filter, &small, 1000) < 1000);
        }
    });
}

/// A filter takes new keys for known ones as often as its rate says: no less often than the rate before these keys, and
/// no more often than the rate after them.
#[test]
fn omissions_are_the_sum_of_the_rates() {
    each(layouts(), Case::name, |case| {
        let row = case.row;
        let forgets = matches!(row.overfill, Overfill::Forgets | Overfill::Grows);
        let Some(omissions) = row.losses.omissions.filter(|_| forgets) else { return };
        for rate in [0.2, 0.01] {
            let geometry = petal::geometry(&case.sized(500, rate)).unwrap();
            for keys in [1_u64, 10, 100, 300, 700, 2000, 10_000, 12_345, 100_000] {
                let later = keys + keys.div_ceil(3);
                let more = omissions(&geometry, later) - omissions(&geometry, keys);
                let (low, high) =
                    ((row.false_positive_rate)(&geometry, keys), (row.false_positive_rate)(&geometry, later));
                let of = |rate: f64| rate * (later - keys) as f64;
                // For a filter that forgets, the rate is the largest one; the average is not much lower.
                assert!(
                    more >= 0.3 * of(low) - 1e-9 && more <= 1.05 * of(high) + 1e-9,
                    "{keys} to {later}: {more}, {low}, {high}"
                );
                assert!(omissions(&geometry, keys) <= keys as f64, "{keys}");
            }
            assert_eq!(omissions(&geometry, 0), 0.0);
        }
    });
}

/// The fill rises with the keys and lies between 0 and 1, and statistics come from the payload.
#[test]
fn what_is_measured_rises_with_the_keys() {
    each(share_of(layouts(), 20, "what_is_measured_rises_with_the_keys"), Case::name, |case| {
        let spec = Spec { capacity: 2000, ..case.spec() };
        let mut before = 0;
        for keys in [0, 100, 500] {
            let filter = filled(&spec, 0..keys);
            let mut read = 0;
            let measure = filter.statistics_with(&mut |bytes| read += bytes);
            assert_eq!(measure, filter.statistics());
            let payload = filter.base().geometry().payload_bytes;
            assert!(read <= payload && 4 * read >= payload - 256.min(payload), "{read} of {payload} bytes are read");
            assert!(measure.taken > before || keys == 0, "{keys} keys: {measure:?}");
            assert!(keys == 0 || (measure.fill > 0.0 && measure.fill <= 1.0), "{keys} keys: {measure:?}");
            before = measure.taken;
        }
    });
}

#[test]
fn duplicates_change_nothing_but_the_count() {
    for_each_case(|case, spec| {
        // A kind that ages may count a repeated key as a young one.
        if case.is_multiset() || can(case, Capabilities::AGE) {
            return;
        }
        let once = filled(spec, 0..100);
        let often = filled(spec, (0..100).chain(0..100).chain(50..60));
        assert!(once.equals(&often));
        assert_eq!(often.base().header().count, 210);
    });
}

/// A filter far beyond its capacity shows that in its rate and its estimate, and still answers. `facets.rs` tests kinds
/// that do something else past their capacity.
#[test]
fn overfull_filters_own_up() {
    for_each_case(|case, spec| {
        if case.row.overfill != Overfill::RateRises {
            return;
        }
        let filter = filled(spec, 0..100 * CAPACITY);
        holds(&filter, spec, 0..100 * CAPACITY);
        assert!(filter.false_positive_rate() > 0.9);
        assert!(filter.expected_false_positive_rate(100 * CAPACITY) > 0.9);
        assert!(false_positives(&filter, spec, 1000) > 900);
        if let Some(keys) = filter.cardinality() {
            assert!(keys > 5.0 * CAPACITY as f64, "{keys}");
        }
        filter.verify().unwrap();
    });
}

/// `insert` says "certainly new" of a key exactly if it did not find the key before.
#[test]
fn insertion_knows_what_is_new() {
    for_each_hash(|case, spec| {
        let spec = &case.with_room(spec, CAPACITY);
        let mut filter = empty(spec);
        if !can(case, Capabilities::INSERT) {
            return fails(filter.insert_hash(1), Status::Unsupported);
        }
        // Each key comes at least twice, and half of them four times where that is possible.
        let distinct = case.room_for(9 * CAPACITY, CAPACITY) / 3;
        let third = |i| if case.times(4) == 4 { i / 2 } else { distinct + i };
        let keys = || (0..distinct).flat_map(|i| [i, i, third(i)]);
        let mut news = 0;
        for i in keys() {
            let hash = hash_of(spec, i);
            let seemed = filter.contains_hash(hash);
            let new = filter.insert_hash(hash).unwrap();
            assert_eq!(new, !seemed, "key {i}");
            assert!(filter.contains_hash(hash));
            news += u64::from(new);
        }
        let all = if case.times(4) == 4 { distinct } else { 2 * distinct };
        // A key that was lost meanwhile is new again.
        let most = if case.may_lose() { 3 * distinct } else { all };
        assert!((all / 3..=most).contains(&news), "{news} of {all} keys were new");
        assert_eq!(filter.base().header().count, 3 * distinct);
        // Every way to fill the filter gives the same filter.
        assert!(!case.row.is_canonical || filter.equals(&filled(spec, keys())));
    });
}

#[test]
fn three_ways_to_name_a_key_are_one() {
    for_each_hash(|case, spec| {
        if !can(case, Capabilities::INSERT) || spec.hash == HashFunction::External {
            return;
        }
        let mut filter = empty(spec);
        for i in 0..100_u64 {
            let bytes = i.to_le_bytes();
            let hash = spec.hasher().unwrap().hash_bytes(&bytes).unwrap();
            match i % 3 {
                0 => filter.insert(&bytes).unwrap(),
                1 => filter.insert_u64(i).unwrap(),
                _ => filter.insert_hash(hash).unwrap(),
            };
            assert!(filter.contains(&bytes) && filter.contains_u64(i) && filter.contains_hash(hash));
        }
        if case.is_of_integers() {
            return;
        }
        filter.insert(b"").unwrap();
        assert!(filter.contains(b""));
        let long = vec![9; 100_000];
        filter.insert(&long).unwrap();
        assert!(filter.contains(&long) && !filter.contains(&long[1..]));
    });
}

// ---- Batches -----------------------------------------------------------------------------------------------------

/// All three forms of answers of one batch.
struct Forms {
    bytes: Vec<u8>,
    bitmap: Vec<u8>,
    count: u64,
}

fn answers_of(keys: usize, run: impl FnOnce(&mut Answers)) -> Forms {
    let (mut bytes, mut bitmap) = (vec![7; keys], vec![0xaa; keys.div_ceil(8)]);
    let mut answers = Answers { bytes: Some(&mut bytes), bitmap: Some(&mut bitmap), ..Answers::default() };
    run(&mut answers);
    let count = answers.true_count;
    Forms { bytes, bitmap, count }
}

impl Forms {
    #[track_caller]
    fn are(&self, expected: &[bool]) {
        assert_eq!(self.bytes, expected.iter().map(|answer| u8::from(*answer)).collect::<Vec<_>>());
        let mut bitmap = vec![0; expected.len().div_ceil(8)];
        expected.iter().enumerate().for_each(|(i, answer)| bitmap[i / 8] |= u8::from(*answer) << (i % 8));
        assert_eq!(self.bitmap, bitmap);
        assert_eq!(self.count, expected.iter().filter(|answer| **answer).count() as u64);
    }
}

/// Keys of all lengths with their offsets. The empty key comes often, if the kind allows many copies.
fn strings(count: usize, case: &Case) -> (Vec<u8>, Vec<u64>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    for i in 0..count {
        let times = if case.row.room.copies.is_none() || i == 0 { i % 5 } else { 1 + i % 4 };
        bytes.extend(format!("{i}.").repeat(times).bytes());
        offsets.push(bytes.len() as u64);
    }
    (bytes, offsets)
}

#[test]
fn batches_do_what_single_calls_do() {
    for_each_hash(|case, spec| {
        let spec = &case.with_room(spec, 300 + 1500);
        for count in [0, 1, 7, 8, 9, 511, 512, 513, 1500] {
            // Some of them often, where that is possible.
            let number = |i| if case.row.room.copies.is_none() { mix(i) % 900 } else { i };
            let numbers: Vec<u64> = (0..count as u64).map(number).collect();
            let hashes: Vec<u64> = numbers.iter().map(|i| hash_of(spec, *i)).collect();
            let (bytes, offsets) = strings(count, case);
            let offsets32: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
            let all = [
                Keys::Hashes(&hashes),
                Keys::U64(&numbers),
                Keys::Bytes { bytes: &bytes, offsets: &offsets },
                Keys::Bytes32 { bytes: &bytes, offsets: &offsets32 },
            ];
            let usable = match spec.hash {
                HashFunction::External => &all[..1],
                HashFunction::Identity => &all[..2],
                _ => &all,
            };
            for keys in usable {
                let hash = |i: usize| match keys {
                    Keys::Hashes(_) | Keys::U64(_) | Keys::Digests { .. } => hashes[i],
                    Keys::Bytes { .. } | Keys::Bytes32 { .. } => {
                        let key = &bytes[offsets[i] as usize..offsets[i + 1] as usize];
                        spec.hasher().unwrap().hash_bytes(key).unwrap()
                    }
                };
                let filter = filled(spec, 0..300);
                let found: Vec<bool> = (0..count).map(|i| filter.contains_hash(hash(i))).collect();
                answers_of(count, |answers| {
                    filter.contains_batch(keys, answers).unwrap();
                    assert_eq!(answers.done, count);
                })
                .are(&found);
                if !can(case, Capabilities::INSERT) {
                    continue;
                }
                let (mut one, mut many) = (filter.copy().unwrap(), filter.copy().unwrap());
                let new: Vec<bool> = (0..count).map(|i| one.insert_hash(hash(i)).unwrap()).collect();
                let forms = answers_of(count, |answers| {
                    let Taken { keys: done, outcome } = many.insert_batch(keys, Some(answers));
                    outcome.unwrap();
                    assert_eq!((done, answers.done), (count, count));
                });
                forms.are(&new);
                assert_eq!(image(&one), image(&many));
            }
        }
    });
}

/// A batch that fails inserts no key, and answers true for every key.
#[test]
fn wrong_batches_say_maybe() {
    for_each_hashed_case(|case, spec| {
        let mut filter = empty(spec);
        let before = image(&filter);
        let inserts = can(case, Capabilities::INSERT);
        let bytes = b"0123456789";
        for offsets in [&[0, 5, 4][..], &[0, 11], &[3, 2], &[u64::MAX, u64::MAX], &[0, 1 << 63, 5], &[0, 5, 1 << 63]] {
            let keys = Keys::Bytes { bytes, offsets };
            let count = offsets.len() - 1;
            answers_of(count, |a| fails(filter.contains_batch(&keys, a), Status::Offsets)).are(&vec![true; count]);
            let Taken { keys: done, outcome } = filter.insert_batch(&keys, None);
            assert_eq!(done, 0);
            fails(outcome, if inserts { Status::Offsets } else { Status::Unsupported });
        }
        // Offsets of 32 bits are refused with the same words.
        for offsets in [&[0, 5, 4][..], &[0, 11], &[3, 2], &[0, -1], &[-1, 3], &[i32::MIN, -1], &[0, i32::MAX]] {
            let wide: Vec<u64> = offsets.iter().map(|offset| i64::from(*offset) as u64).collect();
            let refused = |keys| filter.contains_batch(&keys, &mut Answers::default()).unwrap_err();
            let (error, of_wide) =
                (refused(Keys::Bytes32 { bytes, offsets }), refused(Keys::Bytes { bytes, offsets: &wide }));
            assert_eq!((error.status(), of_wide.status()), (Status::Offsets, Status::Offsets));
            if offsets.iter().all(|offset| *offset >= 0) {
                assert_eq!(error.message(), of_wide.message());
            }
            let count = offsets.len() - 1;
            let keys = Keys::Bytes32 { bytes, offsets };
            answers_of(count, |a| fails(filter.contains_batch(&keys, a), Status::Offsets)).are(&vec![true; count]);
            assert_eq!(filter.insert_batch(&keys, None).keys, 0);
        }
        let negative = Keys::Bytes32 { bytes, offsets: &[-1, 3] };
        let error = filter.contains_batch(&negative, &mut Answers::default()).unwrap_err();
        assert_eq!(error.message(), "offsets[0] = -1 is less than 0");
        for (answers, keys) in [(2, 3), (4, 3), (0, 1)] {
            let hashes = vec![1; keys];
            let mut short = vec![0; answers];
            let mut answers = Answers { bytes: Some(&mut short), ..Answers::default() };
            fails(filter.contains_batch(&Keys::Hashes(&hashes), &mut answers), Status::BufferTooSmall);
            assert!(short.iter().all(|answer| *answer == 1));
            let mut answers = Answers { bytes: Some(&mut short), ..Answers::default() };
            let status = if inserts { Status::BufferTooSmall } else { Status::Unsupported };
            fails(filter.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome, status);
        }
        // A function refuses an output that it does not give, for few keys and for many.
        for keys in [3, 100] {
            let (hashes, mut numbers) = (vec![1; keys], vec![7; keys]);
            let mut answers = Answers { counts: Some(&mut numbers), ..Answers::default() };
            fails(filter.contains_batch(&Keys::Hashes(&hashes), &mut answers), Status::Unsupported);
            assert_eq!((answers.true_count, answers.done), (keys as u64, 0));
            let mut answers = Answers { values: Some(&mut numbers), ..Answers::default() };
            fails(filter.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome, Status::Unsupported);
            assert_eq!((answers.true_count, answers.done), (0, 0));
            assert_eq!(numbers, vec![7; keys]);
        }
        assert_eq!(image(&filter), before);
        // No offsets mean no keys, and offsets need not start at the beginning or fill the buffer.
        for none in [Keys::Bytes { bytes, offsets: &[] }, Keys::Bytes32 { bytes, offsets: &[] }] {
            answers_of(0, |answers| filter.contains_batch(&none, answers).unwrap()).are(&[]);
        }
        for some in [Keys::Bytes { bytes, offsets: &[3, 3, 5] }, Keys::Bytes32 { bytes, offsets: &[3, 3, 5] }] {
            answers_of(2, |answers| filter.contains_batch(&some, answers).unwrap()).are(&[false, false]);
        }
    });
}

// ---- Capabilities ------------------------------------------------------------------------------------------------

type Operation<'a> = dyn Fn(&mut Filter) -> petal::Result<()> + 'a;

/// Everything in the handle's capabilities works. Everything else is refused as unsupported, and changes nothing.
fn tells_the_truth(filter: &mut Filter, spec: &Spec) {
    let operations: [(Capabilities, &Operation); 11] = [
        (Capabilities::INSERT, &|filter| filter.insert_hash(hash_of(spec, 1)).map(drop)),
        (Capabilities::MERGE, &|filter| filter.merge(&filled(&filter_spec(filter, spec), 0..50))),
        (Capabilities::INTERSECT, &|filter| filter.intersect(&filled(&filter_spec(filter, spec), 0..50))),
        (Capabilities::REMOVE, &|filter| filter.remove_hash(hash_of(spec, 2)).map(drop)),
        (Capabilities::REJUVENATE, &|filter| filter.rejuvenate_hash(hash_of(spec, 3)).map(drop)),
        (Capabilities::COUNT, &|filter| filter.count_hash(hash_of(spec, 2)).map(drop)),
        (Capabilities::CLEAR, &|filter| filter.clear()),
        (Capabilities::AGE, &|filter| filter.advance(1)),
        (Capabilities::INSERT_SHARED, &|filter| filter.insert_shared_hash(1).map(|_| ())),
        (Capabilities::AGE_SHARED, &|filter| filter.advance_shared(1)),
        // Some factor divides the units, if only their number itself.
        (Capabilities::FOLD, &|filter| {
            let bits = filter.base().geometry().bits;
            let mut outcome = filter.fold(2);
            for factor in 3..=bits {
                match &outcome {
                    Err(error) if error.status() == Status::OutOfRange => outcome = filter.fold(factor),
                    _ => break,
                }
            }
            outcome
        }),
    ];
    for (capability, operation) in operations {
        let before = image(filter);
        let claimed = filter.capabilities().contains(capability);
        match operation(filter) {
            Ok(()) => assert!(claimed, "{capability:?} is not claimed but works"),
            Err(error) => {
                assert!(!claimed, "{capability:?} is claimed but: {error}");
                let is_of_kind = !filter.base().capabilities_in_memory().contains(capability);
                let expected = if is_of_kind { Status::Unsupported } else { Status::UnsupportedByHandle };
                assert_eq!(error.status(), expected, "{capability:?}");
                assert_eq!(image(filter), before, "{capability:?} changed something");
            }
        }
    }
    let before = image(filter);
    let kind = filter.base().capabilities_in_memory();
    for none in [Keys::Hashes(&[]), Keys::U64(&[]), Keys::Bytes { bytes: &[], offsets: &[0] }] {
        if kind.contains(Capabilities::INSERT) && none.check(filter.base().hasher()).is_ok() {
            assert!(matches!(filter.insert_batch(&none, None), Taken { keys: 0, outcome: Ok(()) }));
        }
    }
    assert_eq!(image(filter), before, "no keys changed something");
    if !filter.capabilities().contains(Capabilities::INSERT) {
        let can = kind.contains(Capabilities::INSERT);
        let refused = if can { Status::UnsupportedByHandle } else { Status::Unsupported };
        let Taken { keys: done, outcome } = filter.insert_batch(&Keys::Hashes(&[1]), None);
        assert_eq!(done, 0);
        fails(outcome, refused);
        let bytes = 7_u64.to_le_bytes();
        fails(filter.insert(&bytes), if spec.hash == HashFunction::External { Status::ExternalHash } else { refused });
    }
    assert!(filter.capabilities().contains(Capabilities::ESTIMATE) || filter.cardinality().is_none());
}

/// The spec of a compatible filter.
fn filter_spec(filter: &Filter, original: &Spec) -> Spec {
    Spec { secret: original.secret, ..filter.base().spec() }
}

#[test]
fn capabilities_are_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    for_each_hash(|case, spec| {
        // There is room for the inserted and the merged keys.
        let spec = &case.with_room(spec, CAPACITY + 100);
        let filter = filled(spec, 0..CAPACITY);
        let bytes = image(&filter);
        assert_eq!(filter.capabilities(), case.capabilities());
        assert!(!case.is_default() || filter.capabilities() == case.row.capabilities);
        tells_the_truth(&mut filter.copy().unwrap(), spec);
        for mode in [Mode::Read, Mode::Write, Mode::Share, Mode::Load] {
            let mut buffer = Buffer::of(&bytes);
            let is_refused = match mode {
                Mode::Read | Mode::Load => false,
                Mode::Write => case.row.form.moves_entries,
                Mode::Share => case.row.form.moves_entries || !can(case, Capabilities::INSERT_SHARED),
            };
            if is_refused {
                buffer.open(mode, spec.secret, |filter| fails(filter, Status::Unsupported));
                continue;
            }
            let (kind, shared) = (case.capabilities(), Capabilities::SHARING);
            if mode == Mode::Share && !kind.contains(Capabilities::INSERT_SHARED) {
                buffer.open(mode, spec.secret, |filter| fails(filter, Status::Unsupported));
                continue;
            }
            buffer.open(mode, spec.secret, |filter| {
                let filter = filter.unwrap();
                let changing = Capabilities::WRITING;
                assert_eq!(
                    filter.capabilities(),
                    match mode {
                        Mode::Load => kind,
                        Mode::Write => kind.without(Capabilities::RESIZING | shared),
                        Mode::Share => kind.without(changing),
                        Mode::Read => kind.without(changing | shared),
                    }
                );
                tells_the_truth(filter, spec);
            });
            let writing = mode == Mode::Write || mode == Mode::Share;
            let changes = case.capabilities().0 & Capabilities::WRITING.0 != 0;
            assert_eq!(buffer.bytes() == bytes, !writing || !changes);
            filter.save(&path).unwrap();
            let options = OpenOptions { mode, secret: spec.secret, ..OpenOptions::default() };
            tells_the_truth(&mut petal::open(&path, &options).unwrap(), spec);
        }
    });
}

// ---- Images ------------------------------------------------------------------------------------------------------

/// Asserts that two filters have equal answers, statistics and bits.
pub fn is_like(a: &Filter, b: &Filter, spec: &Spec) {
    assert!(a.equals(b) && b.equals(a));
    holds(a, spec, 0..CAPACITY);
    for i in FRESH..FRESH + 2000 {
        let hash = hash_of(spec, i);
        assert_eq!(a.contains_hash(hash), b.contains_hash(hash));
    }
    assert_eq!(a.statistics(), b.statistics());
    assert_eq!(a.false_positive_rate(), b.false_positive_rate());
    assert_eq!(a.cardinality(), b.cardinality());
    assert_eq!(a.base().header().count, b.base().header().count);
    assert_eq!(a.base().compatibility_id(), b.base().compatibility_id());
    assert_eq!(image(a), image(b));
    a.verify().unwrap();
}

#[test]
fn images_are_the_filter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    for_each_hash(|case, spec| {
        let filter = filled(spec, 0..CAPACITY);
        let bytes = image(&filter);
        // Kinds that are built may need a little more than was expected, and kinds that grow have grown.
        if case.row.is_made_empty() && !can(case, Capabilities::GROW) {
            assert_eq!(bytes.len() as u64, petal::image_size(spec).unwrap());
        }
        let options = |mode| OpenOptions { mode, secret: spec.secret, ..OpenOptions::default() };
        is_like(&petal::load(&bytes, &options(Mode::Load)).unwrap(), &filter, spec);
        filter.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        for mode in [Mode::Read, Mode::Write, Mode::Load] {
            if case.row.form.moves_entries && mode == Mode::Write {
                continue;
            }
            let mut buffer = Buffer::of(&bytes);
            buffer.open(mode, spec.secret, |opened| is_like(opened.unwrap(), &filter, spec));
            assert_eq!(buffer.bytes(), bytes, "opening changes nothing");
            is_like(&petal::open(&path, &options(mode)).unwrap(), &filter, spec);
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "opening changes nothing");
        }
        let others: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(others.len(), 1, "saving leaves nothing behind: {others:?}");
    });
}

/// A filter that is written in place becomes what a filter in memory becomes.
#[test]
fn images_are_written_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    for_each_hash(|case, spec| {
        if !can(case, Capabilities::INSERT) || case.row.form.moves_entries {
            return;
        }
        // Room for one key more than are inserted first.
        let spec = &Spec { capacity: CAPACITY + 1, ..*spec };
        let insert = |filter: &mut Filter| {
            for i in 0..CAPACITY {
                filter.insert_hash(hash_of(spec, i)).unwrap();
            }
        };
        let nothing = empty(spec);
        // Keys come in the same order, which some kinds keep.
        let mut expected = nothing.copy().unwrap();
        insert(&mut expected);
        let expected = image(&expected);

        let mut buffer = Buffer::of(&vec![0x55; expected.len() + 8]);
        buffer.create(spec, |filter| {
            let filter = filter.unwrap();
            insert(filter);
            fails(filter.verify(), Status::Unclean);
            assert_eq!(image(filter), expected);
            filter.sync().unwrap();
            filter.verify().unwrap();
        });
        assert_eq!(buffer.bytes()[..expected.len()], expected);
        assert_eq!(buffer.bytes()[expected.len()..], [0x55; 8], "what follows the image is not Petal's");

        let mut buffer = Buffer::of(&image(&nothing));
        buffer.open(Mode::Write, spec.secret, |filter| insert(filter.unwrap()));
        assert_eq!(buffer.bytes(), expected);

        nothing.save(&path).unwrap();
        let options = |mode| OpenOptions { mode, secret: spec.secret, ..OpenOptions::default() };
        let mut filter = petal::open(&path, &options(Mode::Write)).unwrap();
        fails(petal::open(&path, &options(Mode::Write)), Status::Locked);
        insert(&mut filter);
        assert!(petal::open(&path, &options(Mode::Read)).unwrap().base().header().unclean);
        fails(petal::open(&path, &options(Mode::Read)).unwrap().verify(), Status::Unclean);
        fails(filter.save(&path), Status::MappedPath);
        filter.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        filter.insert_hash(1).unwrap();
        filter.base_mut().abandon();
        drop(filter);
        assert!(petal::open(&path, &options(Mode::Load)).unwrap().base().header().unclean);
    });
}

/// Each change of an image in place leaves the checksums of all regions true, wherever the changed words lie.
#[test]
fn changes_of_any_region_are_sealed() {
    for_each_case(|case, spec| {
        if !can(case, Capabilities::INSERT) || case.row.form.moves_entries {
            return;
        }
        // Several regions of 64 KiB.
        let spec = &Spec { capacity: if case.is_of_integers() { 1 << 21 } else { 200_000 }, ..*spec };
        let mut buffer = Buffer::of(&image(&empty(spec)));
        for i in 0..12 {
            buffer.open(Mode::Write, spec.secret, |filter| {
                let filter = filter.unwrap();
                let hash = hash_of(spec, i / 2 * 300_007 % spec.capacity);
                if i % 4 == 3 && can(case, Capabilities::AGE) {
                    filter.advance(1 + i % 2).unwrap();
                    return;
                }
                match i % 3 {
                    2 if can(case, Capabilities::REMOVE) => filter.remove_hash(hash).unwrap(),
                    1 if can(case, Capabilities::COUNT) => filter.insert_times_hash(hash, 2).unwrap(),
                    _ => filter.insert_hash(hash).unwrap(),
                };
            });
            buffer.open(Mode::Read, spec.secret, |filter| filter.unwrap().verify().unwrap());
        }
    });
}

/// An image in the middle of a file.
#[test]
fn images_are_opened_at_an_offset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("container");
    for_each_case(|case, spec| {
        let filter = filled(spec, 0..CAPACITY);
        let bytes = image(&filter);
        for offset in [0, 8, 4096, 5000] {
            std::fs::write(&path, [&vec![1; offset][..], &bytes, &[2; 3]].concat()).unwrap();
            let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
            for mode in [Mode::Read, Mode::Write, Mode::Load] {
                if case.row.form.moves_entries && mode == Mode::Write {
                    continue;
                }
                let options = OpenOptions { mode, ..OpenOptions::default() };
                let opened =
                    petal::open_descriptor(crate::common::file::descriptor(&file), offset as u64, &options).unwrap();
                is_like(&opened, &filter, spec);
                fails(
                    petal::open_descriptor(crate::common::file::descriptor(&file), offset as u64 + 4, &options),
                    Status::Misaligned,
                );
            }
        }
    });
}

// ---- Combining ---------------------------------------------------------------------------------------------------

#[test]
fn merging_is_building_from_both() {
    for_each_hash(|case, spec| {
        // Merged with itself it holds 2400.
        let spec = &case.with_room(spec, 2400);
        let mut a = filled(spec, 0..600);
        let b = filled(spec, 400..CAPACITY);
        if !can(case, Capabilities::MERGE) {
            return fails(a.merge(&b), Status::Unsupported);
        }
        a.merge(&b).unwrap();
        assert!(!case.row.is_canonical || a.equals(&filled(spec, (0..600).chain(400..CAPACITY))));
        holds(&a, spec, 0..CAPACITY);
        assert_eq!(a.base().header().count, 1200);
        a.verify().unwrap();
        let before = a.copy().unwrap();
        a.merge(&empty(spec)).unwrap();
        assert!(a.equals(&before), "merging nothing changes nothing");
        if case.times(4) < 4 {
            return;
        }
        a.merge(&before).unwrap();
        holds(&a, spec, 0..CAPACITY);
        assert!(case.is_multiset() || a.equals(&before), "merging itself changes no bit");
    });
}

#[test]
fn intersecting_keeps_what_both_hold() {
    for_each_hash(|case, spec| {
        let (a, b) = (filled(spec, 0..600), filled(spec, 400..CAPACITY));
        let mut both = a.copy().unwrap();
        if !can(case, Capabilities::INTERSECT) {
            return fails(both.intersect(&b), Status::Unsupported);
        }
        both.intersect(&b).unwrap();
        holds(&both, spec, 400..600);
        assert!(both.false_positive_rate() <= a.false_positive_rate().min(b.false_positive_rate()));
        for i in (0..CAPACITY).chain(FRESH..FRESH + 1000) {
            let hash = hash_of(spec, i);
            assert!(!both.contains_hash(hash) || (a.contains_hash(hash) && b.contains_hash(hash)));
        }
        let gone = (0..400).filter(|i| !both.contains_hash(hash_of(spec, *i))).count();
        assert!(gone > 200, "only {gone} of the 400 keys that one alone holds are gone");
        assert_eq!(both.base().header().count, 600);
        both.verify().unwrap();
        both.intersect(&empty(spec)).unwrap();
        assert_eq!(both.statistics().fill, 0.0);
    });
}

/// A filter of another size holds its keys, at the rate that it had, and has room for more. It combines with the same
/// filters as before, and can get its old size back. A refused size changes nothing.
#[test]
fn another_size_holds_the_same_keys() {
    for_each_hash(|case, spec| {
        let spec = &case.with_room(spec, CAPACITY);
        let filter = filled(spec, 0..600);
        let mut resized = filter.copy().unwrap();
        if !can(case, Capabilities::RESIZE) {
            return fails(resized.resize(3 * CAPACITY), Status::Unsupported);
        }
        let room = 3 * spec.capacity;
        resized.resize(room).unwrap();
        assert!(resized.base().header().capacity >= room);
        assert_eq!(resized.base().count(), 600);
        holds(&resized, spec, 0..600);
        let (rate, before) = (resized.false_positive_rate(), filter.false_positive_rate());
        assert!((rate / before - 1.0).abs() < 0.1, "the rate was {before} and is {rate}");
        let expected = resized.expected_false_positive_rate(resized.base().header().capacity);
        assert_eq!(resized.base().header().false_positive_rate, expected);
        resized.verify().unwrap();
        // A resized filter is saved and loaded as others are.
        let again = load(&image(&resized), &OpenOptions::default()).unwrap();
        assert!(again.equals(&resized) && image(&again) == image(&resized));
        if can(case, Capabilities::MERGE) {
            let mut both = resized.copy().unwrap();
            both.merge(&filled(spec, 400..CAPACITY)).unwrap();
            holds(&both, spec, 0..CAPACITY);
        }
        let before = image(&resized);
        assert!(resized.resize(u64::MAX).is_err());
        assert_eq!(image(&resized), before, "a refusal changes something");
        // Never too small for what is there.
        let mut small = resized.copy().unwrap();
        small.resize(1).unwrap();
        holds(&small, spec, 0..600);
        resized.resize(spec.capacity).unwrap();
        assert!(!case.row.is_canonical || resized.equals(&filter));
        holds(&resized, spec, 0..600);
        for i in 600..case.room_for(2 * CAPACITY, CAPACITY) {
            resized.insert_hash(hash_of(spec, i)).unwrap();
        }
        holds(&resized, spec, 0..CAPACITY);
    });
}

#[test]
fn folding_is_building_small() {
    for_each_case(|case, spec| {
        let big = filled(spec, 0..CAPACITY);
        if !can(case, Capabilities::FOLD) {
            return fails(big.copy().unwrap().fold(2), Status::Unsupported);
        }
        let bits = big.base().geometry().bits;
        let mut folds = 0;
        for factor in (0..=70).chain([127, 128, 256, 1000, 1024, bits, bits + 1, u64::MAX]) {
            let mut folded = big.copy().unwrap();
            if let Err(error) = folded.fold(factor) {
                assert_eq!(error.status(), Status::OutOfRange, "{error}");
                assert_eq!(image(&folded), image(&big));
                continue;
            }
            folds += 1;
            assert!(factor >= 2 && folded.base().geometry().bits == bits / factor);
            let small = filled(&Spec { bits: bits / factor, ..big.base().spec() }, 0..CAPACITY);
            assert_eq!(folded.base().geometry(), small.base().geometry(), "factor {factor}");
            assert!(folded.equals(&small), "factor {factor}");
            holds(&folded, spec, 0..CAPACITY);
            folded.verify().unwrap();
            let header = folded.base().header();
            assert_eq!(header.count, CAPACITY);
            assert_eq!(header.false_positive_rate, folded.expected_false_positive_rate(CAPACITY));
            // The folded filter can still be filled, merged and saved.
            folded.merge(&small).unwrap();
            is_like(&petal::load(&image(&folded), &OpenOptions::default()).unwrap(), &folded, spec);
            let compatible = petal::Filter::new(&folded.base().spec()).unwrap();
            assert_eq!(compatible.base().compatibility_id(), folded.base().compatibility_id());
        }
        // Where a size was rounded to be folded, powers of two divide it.
        assert!(case.value("foldable") != Some(1.0) || folds >= 4, "{folds} folds");
    });
}

/// Rounding for folding costs less than 0.8 %.
#[test]
fn foldable_sizes_are_little_larger() {
    each(cases().into_iter().filter(|case| case.value("foldable") == Some(1.0)), Case::name, |case| {
        for capacity in [10, 1000, 12_345, 1 << 20] {
            let foldable = Spec { capacity, ..case.spec() };
            let mut exact = foldable;
            let parameter = case.values.iter().find(|(parameter, _)| parameter.name == "foldable").unwrap().0;
            exact.set(parameter, 0.0).unwrap();
            let bits = |spec| petal::Filter::new(spec).unwrap().base().geometry().bits as f64;
            let ratio = bits(&foldable) / bits(&exact);
            assert!((1.0..1.008).contains(&ratio), "{} at {capacity}: {ratio}", case.name());
        }
    });
}

#[test]
fn copies_are_equal_and_apart() {
    for_each_hash(|case, spec| {
        let filter = filled(spec, 0..CAPACITY);
        let mut copy = filter.copy().unwrap();
        is_like(&copy, &filter, spec);
        if !can(case, Capabilities::CLEAR) {
            return fails(copy.clear(), Status::Unsupported);
        }
        copy.clear().unwrap();
        assert!(!copy.equals(&filter));
        holds(&filter, spec, 0..CAPACITY);
        assert_eq!(image(&copy), image(&empty(spec)));
        if can(case, Capabilities::INSERT) {
            for i in 0..CAPACITY {
                copy.insert_hash(hash_of(spec, i)).unwrap();
            }
            assert!(!case.row.is_canonical || image(&copy) == image(&filter));
            if case.row.overfill == Overfill::Refuses {
                return;
            }
            let before = filter.copy().unwrap();
            while !copy.insert_hash(mix(copy.base().header().count)).unwrap() {}
            assert!(!copy.equals(&filter) && filter.equals(&before));
        }
    });
}

/// Filters combine only if they are alike in everything that decides where a key's bits are.
#[test]
fn unlike_filters_are_refused() {
    for_each_hash(|case, spec| {
        let mut filter = filled(spec, 0..CAPACITY);
        let own = filter_spec(&filter, spec);
        let mut others = vec![
            ("capacity", Spec { capacity: 2 * CAPACITY, ..*spec }),
            ("bits", Spec { bits: 2 * own.bits, ..own }),
            ("hashes", Spec { hashes: own.hashes + 1, ..own }),
            ("hashes", Spec { hashes: own.hashes.max(2) - 1, ..own }),
            ("seed, tag or key", hashed(&own, own.hash, 8)),
        ];
        for hash in HashFunction::ALL.into_iter().filter(|hash| *hash != own.hash) {
            others.push(("hash", hashed(&own, hash, 7)));
        }
        for row in FILTERS.iter().filter(|row| row.kind != case.row.kind) {
            others.push((
                "kind",
                Spec { kind: Some(row.kind), capacity: CAPACITY, ..hashed(&Spec::default(), own.hash, 7) },
            ));
        }
        for (parameter, value) in case.values.iter().filter(|(parameter, _)| parameter.word.is_some()) {
            for other in tried(parameter).into_iter().filter(|other| other != value) {
                let mut changed = own;
                changed.set(parameter, other).unwrap();
                others.push((parameter.name, changed));
            }
        }
        let before = image(&filter);
        for (what, other) in others {
            let other = match try_empty(&other) {
                Ok(other) => other,
                // A kind need not have every size, or every combination of parameters.
                Err(error) => {
                    assert!([Status::OutOfRange, Status::Contradiction].contains(&error.status()), "{what}: {error}");
                    continue;
                }
            };
            // A default may stand for the very value that the filter has.
            if other.base().header().kind == own.kind.unwrap()
                && other.base().hasher().identifier() == filter.base().hasher().identifier()
                && other.base().hasher().function() == own.hash
                && (case.row.identity)(other.base().geometry()) == (case.row.identity)(filter.base().geometry())
            {
                continue;
            }
            if can(case, Capabilities::MERGE) {
                fails(filter.merge(&other), Status::Incompatible);
            }
            if can(case, Capabilities::INTERSECT) {
                fails(filter.intersect(&other), Status::Incompatible);
            }
            assert!(!filter.equals(&other), "{what}");
            assert_eq!(image(&filter), before, "{what}");
        }
    });
}

/// A spec of an exact size makes a filter of that size, however small, or is refused, and then it has no size either.
#[test]
fn what_has_a_size_can_be_made() {
    let all = Cell::new(0);
    each(main_layouts().into_iter().filter(|case| case.row.is_made_empty()), Case::name, |case| {
        let mut made = 0;
        for (bits, capacity) in (1..=300).chain([511, 512, 513, 1024, 4095]).flat_map(|bits| [(bits, 0), (bits, 40)]) {
            for hashes in [0, 1, 2, 8, 16, 64] {
                let spec = Spec { bits, hashes, capacity, false_positive_rate: 0.0, ..case.spec() };
                let Ok(size) = petal::image_size(&spec) else {
                    assert!(try_empty(&spec).is_err(), "{spec:?} has no size");
                    continue;
                };
                let filter = try_empty(&spec).unwrap_or_else(|error| panic!("{spec:?}: {error}"));
                assert_eq!(image(&filter).len() as u64, size, "{spec:?}");
                made += 1;
            }
        }
        all.set(all.get() + made);
    });
    let made = all.get();
    assert!(made > 10_000 || is_one_kind(), "only {made} were made");
}

#[test]
fn specs_are_read_back() {
    for_each_hash(|case, spec| {
        let filter = filled(spec, 0..CAPACITY);
        let again = filled(&filter_spec(&filter, spec), 0..CAPACITY);
        assert!(filter.equals(&again));
        assert_eq!(filter.base().geometry(), again.base().geometry());
        let read = filter.base().spec();
        // Room for copies makes the capacity greater, and there is no other trace of it.
        let has_copies = case.value("times").is_some_and(|times| times > 1.0);
        assert!(read.capacity == CAPACITY || has_copies && read.capacity > CAPACITY, "{}", read.capacity);
        assert_eq!((read.kind, read.hash, read.secret), (Some(case.row.kind), spec.hash, None));
        assert_eq!(read.seed, spec.seed);
        for (parameter, value) in case.values.iter().filter(|(parameter, _)| parameter.word.is_some()) {
            // A default may stand for a value that depends on the size.
            let read = read.real_parameter(parameter).unwrap();
            assert!(read == *value || *value == parameter.default, "{} = {read}", parameter.name);
        }
        assert_eq!(filter.base().header().false_positive_rate, spec.false_positive_rate);
        let promised = if matches!(case.row.sizes, Sizes::Multiples(_)) { 0.0 } else { spec.false_positive_rate };
        assert_eq!(again.base().header().false_positive_rate, promised, "a geometry promises no rate");
    });
}

// ---- Keys that cannot be hashed ----------------------------------------------------------------------------------

#[test]
fn keyed_filters_without_their_key_say_maybe() {
    for_each_hashed_case(|case, spec| {
        let spec = case.with_room(&hashed(spec, HashFunction::SipHash13, 7), 2 * CAPACITY);
        let filter = filled(&spec, 0..CAPACITY);
        let bytes = image(&filter);
        let secret = spec.secret.unwrap();
        assert!(!bytes.windows(8).any(|window| window == &secret[..8]), "an image never holds the key");
        let mut locked = petal::load(&bytes, &OpenOptions::default()).unwrap();
        assert!((0..1000).all(|i| locked.contains_u64(FRESH + i)) && locked.contains(b"never inserted"));
        let keys = [FRESH; 20];
        answers_of(20, |a| fails(locked.contains_batch(&Keys::U64(&keys), a), Status::SecretMissing)).are(&[true; 20]);
        if can(case, Capabilities::INSERT) {
            fails(locked.insert(b"key"), Status::SecretMissing);
            fails(locked.insert_u64(1), Status::SecretMissing);
            fails(locked.insert_batch(&Keys::U64(&keys), None).outcome, Status::SecretMissing);
        }
        assert_eq!(image(&locked), bytes);
        // Everything but hashing works.
        is_like(&locked, &filter, &spec);
        if can(case, Capabilities::MERGE) {
            locked.merge(&filter).unwrap();
        }
        let open = |key| petal::load(&bytes, &OpenOptions { secret: Some(key), ..OpenOptions::default() });
        fails(open(SECRET), Status::SecretMismatch);
        assert!(open(secret).unwrap().contains_u64(0));
        fails(try_empty(&Spec { secret: None, ..spec }), Status::SecretMissing);
        fails(try_empty(&Spec { hash: HashFunction::Xxh3, ..spec }), Status::Contradiction);
    });
}

#[test]
fn external_filters_take_hashes_only() {
    for_each_hashed_case(|case, spec| {
        let spec = hashed(spec, HashFunction::External, 0xabc);
        let mut filter = filled(&spec, 0..CAPACITY);
        let before = image(&filter);
        assert!(filter.contains(b"never inserted") && filter.contains_u64(FRESH));
        let keys = [FRESH; 20];
        let offsets = [0; 21];
        for keys in [Keys::U64(&keys), Keys::Bytes { bytes: b"", offsets: &offsets }] {
            answers_of(20, |a| fails(filter.contains_batch(&keys, a), Status::ExternalHash)).are(&[true; 20]);
            if can(case, Capabilities::INSERT) {
                fails(filter.insert_batch(&keys, None).outcome, Status::ExternalHash);
            }
            let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
            fails(builder.add_batch(&keys).outcome, Status::ExternalHash);
            fails(builder.add(b"key"), Status::ExternalHash);
        }
        fails(filter.insert(b"key"), Status::ExternalHash);
        fails(filter.insert_u64(1), Status::ExternalHash);
        assert_eq!(image(&filter), before);
        assert_eq!(filter.base().header().identifier, 0xabc, "the tag is kept");
    });
}

// ---- Numbers -----------------------------------------------------------------------------------------------------

/// How many of `all` filters or keys a test takes, whose bands follow from the number: a quarter for parameters other
/// than the default ones, unless it is the soak.
fn sampled(case: &Case, all: u64) -> u64 {
    if is_soak() || case.is_default() { all } else { all / 4 }
}

/// Over many filters the estimate is right on average and errs as much as it says; every single one is within five of
/// its standard errors.
#[test]
fn cardinality_is_estimated() {
    for_each_case(|case, spec| {
        let filters = sampled(case, 400);
        if !can(case, Capabilities::ESTIMATE) {
            let filter = filled(spec, 0..CAPACITY);
            assert_eq!(filter.cardinality(), None);
            return fails(petal::estimate(&filter), Status::Unsupported);
        }
        for keys in [CAPACITY / 10, CAPACITY, case.room_for(2 * CAPACITY, CAPACITY)] {
            let (mut sum, mut squares, mut claimed) = (0.0, 0.0, 0.0);
            for seed in 0..filters {
                let filter = filled(&Spec { seed, ..*spec }, 0..keys);
                let estimate = petal::estimate(&filter).unwrap().unwrap();
                assert_eq!(filter.cardinality(), Some(estimate.value));
                let kind = filter.kind().as_cardinality().unwrap();
                assert_eq!(kind.of_taken(filter.statistics().taken), kind.of_payload());
                let error = estimate.value - keys as f64;
                // Kinds that err by only a few keys err by whole ones.
                assert!(error.abs() < 5.0 * estimate.standard_error + 3.0, "{keys} keys: {estimate:?}");
                sum += error;
                squares += error * error;
                claimed += estimate.standard_error * estimate.standard_error;
            }
            // 4.5 sigma each for their mean and their mean square. That of a count of few errors varies
            // as Poisson's distribution says.
            let [mean, square, claimed] = [sum, squares, claimed].map(|sum| sum / filters as f64);
            let band = 4.5 * (claimed / filters as f64).sqrt() + 3.0 / filters as f64;
            assert!(mean.abs() < band, "{keys} keys: off by {mean} of {band}");
            let band = 4.5 * ((2.0 + 1.0 / claimed) / filters as f64).sqrt();
            let is_exact = square == 0.0 && claimed == 0.0;
            let is_near = is_exact || (square / claimed - 1.0).abs() < band;
            assert!(is_near, "{keys} keys: {square} of the stated variance {claimed}");
        }
    });
}

/// What two filters have in common, within five of the stated errors, which are bounds.
#[test]
fn filters_are_compared() {
    for_each_case(|_, spec| {
        let (a, b) = (filled(spec, 0..700), filled(spec, 400..CAPACITY));
        if a.kind().as_overlap().is_none() {
            return fails(petal::estimate_overlap(&a, &b), Status::Unsupported);
        }
        let comparison = petal::estimate_overlap(&a, &b).unwrap();
        let close = |estimate: Option<petal::Estimate>, truth: f64| {
            let estimate = estimate.unwrap();
            if estimate.standard_error == 0.0 {
                let is_exact = (estimate.value - truth).abs() < 1e-12 && estimate.low() == estimate.high();
                return assert!(is_exact, "{estimate:?}, really {truth}");
            }
            assert!((estimate.value - truth).abs() < 5.0 * estimate.standard_error, "{estimate:?}, really {truth}");
            assert!(estimate.low() < estimate.value && estimate.value < estimate.high());
        };
        close(comparison.first, 700.0);
        close(comparison.second, 600.0);
        close(comparison.union, CAPACITY as f64);
        close(comparison.intersection, 300.0);
        close(comparison.jaccard, 0.3);
        fails(petal::estimate_overlap(&a, &empty(&Spec { seed: 1, ..*spec })), Status::Incompatible);
    });
}

/// Given its bits, a filter says yes to a fresh key with exactly the probability that it states.
#[test]
fn the_rate_now_is_the_measured_one() {
    const KEYS: u64 = 100_000;
    let turn = Cell::new(0);
    for_each_case(|case, spec| {
        let fresh = sampled(case, if is_soak() { 1_000_000 } else { 400_000 });
        let fills = [(1, KEYS / 2), (2, KEYS), (3, case.room_for(2 * KEYS, KEYS))];
        let one = turn.replace(turn.get() + 1) % fills.len();
        let some = if is_soak() || case.is_default() { 0..fills.len() } else { one..one + 1 };
        for (seed, keys) in fills[some].iter().copied() {
            let spec = Spec { capacity: KEYS, seed, ..*spec };
            let filter = filled(&spec, 0..keys);
            let now = filter.false_positive_rate();
            // Where none will be found, few lookups show that as well.
            let fresh = if now < 1e-9 { 1000 } else { fresh };
            let found = false_positives(&filter, &spec, fresh) as f64;
            let (mean, sd) = (fresh as f64 * now, (fresh as f64 * now * (1.0 - now)).sqrt());
            // Where hardly any are expected, one or two are not as rare as a normal deviation has it.
            assert!((found - mean).abs() < 4.5 * sd + 2.0, "{keys} keys: {found} found, {mean} +- {sd} expected");
            // And the rate of one filter is near the mean over all: a large one varies little. That two keys have the
            // same hash is part of the mean, and does not show in a filter's bits.
            let (expected, floor) = (filter.expected_false_positive_rate(keys), petal::sizing::hash_floor(keys, 64));
            if expected == 0.0 {
                assert_eq!(now, 0.0, "of a kind that never errs");
                continue;
            }
            let ratio = now.max(floor) / expected;
            assert!((0.9..1.1).contains(&ratio), "{keys} keys: {ratio} of the expected rate");
        }
    });
}

#[test]
fn the_expected_rate_keeps_the_promise() {
    for_each_case(|case, spec| {
        for (capacity, rate) in [(1, 0.5), (10, 0.1), (1000, 0.01), (1000, 1e-6), (1_000_000, 0.003)] {
            let spec = at_rate(&Spec { capacity, ..*spec }, rate);
            let rate = spec.false_positive_rate;
            let geometry = match petal::geometry(&spec) {
                Ok(geometry) => geometry,
                // The lowest rate for a parameter may depend on the load of the table.
                Err(error) => {
                    assert!(error.status() == Status::Contradiction && !case.is_default(), "{error}");
                    continue;
                }
            };
            let expected = |keys| (case.row.false_positive_rate)(&geometry, keys);
            // That two keys have the same hash counts against a promise only above a ten-thousandth of the rate. Kinds
            // that have a bit of the hash for themselves tell keys apart by 63 bits.
            let (stated, equal) = (expected(capacity), petal::sizing::hash_floor(capacity, 63));
            let is_kept = stated <= rate || (stated - equal <= rate && stated <= rate * (1.0 + 1e-4));
            assert!(is_kept, "{capacity} keys: {rate} promised, {stated}");
            if case.row.is_made_empty() {
                let filter = petal::Filter::new(&spec).unwrap();
                assert_eq!(filter.base().header().false_positive_rate, rate);
                assert_eq!(expected(capacity), filter.expected_false_positive_rate(capacity));
            }
            let rising: Vec<f64> = [0, 1, 10, 1000, 1 << 20, 1 << 40, u64::MAX].into_iter().map(expected).collect();
            assert!(rising.is_sorted() && rising[0] == 0.0 && rising[6] <= 1.0 + 1e-12, "{rising:?}");
            assert!(case.row.overfill != Overfill::RateRises || rising[6] > 0.99);
        }
    });
}
