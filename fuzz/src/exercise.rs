//! Everything that can be asked of a filter whose image is unclean, and what must hold even then.

use crate::digests;
use petal::{Answers, Capabilities, Filter, Image, Keys, OpenOptions, Overfill, Status, Taken};

/// Hashes whose positions are first, last and in between.
const HASHES: [u64; 9] = [
    0,
    u64::MAX,
    1 << 63,
    (1 << 63) - 1,
    0x9e37_79b9_7f4a_7c15,
    0x0123_4567_89ab_cdef,
    u32::MAX as u64,
    (u32::MAX as u64) << 32,
    7,
];

/// The image of a filter or map.
pub fn image(handle: &impl Image) -> Vec<u8> {
    let mut image = Vec::new();
    let written = handle.serialize_to(&mut |bytes| {
        image.extend_from_slice(bytes);
        Ok(())
    });
    written.expect("a vector takes everything");
    assert_eq!(image.len() as u64, handle.serialized_size());
    image
}

/// Looks without changing anything.
pub fn look(filter: &Filter) {
    if digests::are_keys(filter) {
        return digests::look(filter);
    }
    let header = filter.base().header().clone();
    // Kinds that take keys whole know nothing of hashes.
    let is_keyed = filter.base().row().hashing.hashes_keys_itself || filter.base().hasher().takes_whole();
    let can_hash = is_keyed || filter.base().hasher().can_hash();
    for key in [&b""[..], b"a", b"a longer key, of more than a few words"] {
        assert!(filter.contains(key) || can_hash, "what cannot be looked up may be there");
    }
    assert!(filter.contains_u64(0) || can_hash);

    // All three forms of answers say what single lookups say.
    let single = HASHES.map(|hash| if is_keyed { filter.contains_u64(hash) } else { filter.contains_hash(hash) });
    let keys = if is_keyed { Keys::U64(&HASHES) } else { Keys::Hashes(&HASHES) };
    let (mut bytes, mut bitmap) = ([9; HASHES.len()], [0xaa; HASHES.len().div_ceil(8)]);
    let mut answers = Answers { bytes: Some(&mut bytes), bitmap: Some(&mut bitmap), ..Answers::default() };
    filter.contains_batch(&keys, &mut answers).expect("these are always taken");
    let trues = answers.true_count;
    // Nothing is promised for a payload that the kind cannot have, and the kernels say different things of it.
    let told = if filter.payload().check_payload().is_ok() { single } else { bytes.map(|byte| byte == 1) };
    assert_eq!(trues, told.iter().filter(|found| **found).count() as u64);
    for (i, found) in told.into_iter().enumerate() {
        assert_eq!(bytes[i], u8::from(found));
        assert_eq!(bitmap[i / 8] >> (i % 8) & 1, u8::from(found));
    }
    let keys = Keys::Bytes { bytes: b"abc", offsets: &[0, 0, 1, 3] };
    let mut answers = Answers::default();
    if let Err(error) = filter.contains_batch(&keys, &mut answers) {
        // Integers are keys of eight bytes.
        let takes_integers = filter.base().row().hashing.universe.is_some();
        assert!(takes_integers || matches!(error.status(), Status::ExternalHash | Status::SecretMissing), "{error}");
        assert_eq!(answers.true_count, 3);
    }

    // What is counted is contained, alone and in a batch.
    let mut counts = [9; HASHES.len()];
    let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
    let counted = filter.count_batch(&Keys::Hashes(&HASHES), &mut answers);
    assert_eq!(counted.is_ok(), can(filter, Capabilities::COUNT));
    if counted.is_ok() {
        assert!(counts.iter().zip(single).all(|(count, found)| (*count > 0) == found));
        assert!(HASHES.iter().zip(counts).all(|(hash, count)| filter.count_hash(*hash).ok() == Some(count)));
    }

    assert!((0.0..=1.0).contains(&filter.statistics().fill));
    rate(filter.false_positive_rate());
    for keys in [0, 1, header.count, header.capacity, u64::MAX] {
        rate(filter.expected_false_positive_rate(keys));
    }
    if let Ok(Some(estimate)) = petal::estimate(filter) {
        assert!(estimate.value >= 0.0 && estimate.standard_error >= 0.0, "{estimate:?}");
    }
    let compared = petal::estimate_overlap(filter, filter);
    assert_eq!(compared.is_ok(), filter.kind().as_overlap().is_some(), "a filter can be compared with itself");
    assert!(filter.equals(filter));
    let _ = petal::image_size(&filter.base().spec());
    let _ = filter.verify();
}

fn rate(rate: f64) {
    assert!((0.0..=1.0).contains(&rate), "a rate of {rate}");
}

/// Changes a copy in every way that there is.
pub fn change(filter: &Filter) {
    if digests::are_keys(filter) {
        return digests::change(filter);
    }
    let original = image(filter);
    // What a payload that was never verified holds past its last bit stays there.
    let sound = filter.payload().check_payload().is_ok();
    // Where a key lies depends on what others left: nothing is promised for a payload that the kind cannot have, nor
    // for a kind that may lose keys.
    let is_scattered = !sound && filter.base().row().form.moves_entries || can(filter, Capabilities::MAY_LOSE_KEYS);
    let mut copy = filter.copy().expect("small");
    assert!(copy.equals(filter));
    for hash in taken(filter) {
        let known = copy.contains_hash(hash);
        let Some(new) = insert(&mut copy, hash) else { continue };
        assert!(!new || !known, "what may have been there was new");
        assert!(copy.contains_hash(hash) || is_scattered);
    }
    // All of the hashes, if the filter took them.
    let known: Vec<u64> = HASHES.into_iter().filter(|hash| copy.contains_hash(*hash)).collect();
    let refuses = matches!(filter.base().row().overfill, Overfill::Refuses | Overfill::Grows);
    if can(&copy, Capabilities::MERGE) {
        match copy.merge(filter) {
            Err(error) if refuses => assert_eq!(error.status(), Status::Full),
            outcome => outcome.expect("a copy is compatible"),
        }
        assert!(is_scattered || known.iter().all(|hash| copy.contains_hash(*hash)), "a merge lost a key");
    }
    if can(&copy, Capabilities::RESIZE) {
        for capacity in [0, 1, 1000, 100_000, u64::MAX] {
            let mut resized = copy.copy().expect("small");
            match resized.resize(capacity) {
                Ok(()) => {
                    let same = |hash: &u64| resized.count_hash(*hash).ok() == copy.count_hash(*hash).ok();
                    assert!(is_scattered || HASHES.iter().all(same), "a resize lost a key");
                }
                Err(error) => {
                    assert!(matches!(error.status(), Status::OutOfRange | Status::Full | Status::TooLarge), "{error}");
                    assert!(resized.equals(&copy), "a failed resize changed something");
                }
            }
        }
    }
    if can(&copy, Capabilities::COUNT | Capabilities::REMOVE) {
        let mut often = copy.copy().expect("small");
        for (hash, times) in HASHES.into_iter().zip([0, 1, 2, 3, 100, 1 << 40, u64::MAX, 7, 1]) {
            let before = often.count_hash(hash).expect("it can");
            let _ = often.insert_times_hash(hash, times);
            assert!(is_scattered || often.count_hash(hash).expect("it can") >= before);
            let _ = often.remove_times_hash(hash, times / 2);
        }
        let _ = often.verify();
    }
    rejuvenate(&copy, is_scattered);
    if can(&copy, Capabilities::AGE) {
        let mut aged = copy.copy().expect("small");
        aged.advance(1).expect("it can");
        reload(&aged, sound);
        aged.advance(u64::MAX).expect("it can");
        assert!(!sound || aged.statistics().taken == 0, "something outlives all time");
    }
    reload(&copy, sound);
    remove(&copy, is_scattered);
    if can(&copy, Capabilities::INTERSECT) {
        let before = copy.copy().expect("small");
        copy.intersect(&before).expect("a copy is compatible");
        assert!(copy.equals(&before) || is_scattered);
    }
    let geometry = *filter.base().geometry();
    let bits = geometry.bits;
    for factor in [0, 1, 2, 3, 7, 64, bits, bits / 256, bits / u64::from(geometry.hashes.max(1)), u64::MAX] {
        let mut folded = copy.copy().expect("small");
        match folded.fold(factor) {
            Ok(()) => {
                assert!(known.iter().all(|hash| folded.contains_hash(*hash)), "folding by {factor} lost a key");
                reload(&folded, sound);
            }
            Err(error) => {
                let expected = if can(&copy, Capabilities::FOLD) { Status::OutOfRange } else { Status::Unsupported };
                assert_eq!(error.status(), expected);
                assert!(folded.equals(&copy), "a failed fold changed something");
            }
        }
    }
    if can(&copy, Capabilities::CLEAR) {
        copy.clear().expect("it can");
        assert_eq!((copy.statistics().fill, copy.base().header().count), (0.0, 0));
        reload(&copy, true);
    }
    assert!(image(filter) == original, "changing a copy changed the original");
}

fn can(filter: &Filter, capability: Capabilities) -> bool {
    filter.capabilities().contains(capability)
}

/// Hashes that the filter can take: where keys are integers, those below its universe.
fn taken(filter: &Filter) -> [u64; HASHES.len()] {
    let base = filter.base();
    HASHES.map(|hash| base.row().hashing.universe.map_or(hash, |universe| hash % universe(base.geometry()).max(1)))
}

/// Removes from a copy what is there and what is not, one by one and in a batch.
fn remove(filter: &Filter, is_scattered: bool) {
    let (mut one_by_one, mut at_once) = (filter.copy().expect("small"), filter.copy().expect("small"));
    let hashes = taken(filter);
    let Taken { keys, outcome } = at_once.remove_batch(&Keys::Hashes(&hashes), None);
    assert_eq!((outcome.is_ok(), keys > 0), (can(filter, Capabilities::REMOVE), outcome.is_ok()));
    for hash in hashes {
        let found = one_by_one.contains_hash(hash);
        match one_by_one.remove_hash(hash) {
            Ok(removed) => assert!(removed == found || is_scattered, "what may be there is removed, and nothing else"),
            Err(error) => assert_eq!((error.status(), outcome.is_err()), (Status::Unsupported, true)),
        }
    }
    assert!(one_by_one.equals(&at_once), "a batch is not its keys one by one");
}

/// Rejuvenates in a copy what is there and what is not, one by one and in a batch.
fn rejuvenate(filter: &Filter, is_scattered: bool) {
    let (mut one_by_one, mut at_once) = (filter.copy().expect("small"), filter.copy().expect("small"));
    let hashes = taken(filter);
    let Taken { keys, outcome } = at_once.rejuvenate_batch(&Keys::Hashes(&hashes), None);
    let can = can(filter, Capabilities::REJUVENATE);
    for hash in hashes.into_iter().take(if can { keys } else { 1 }) {
        let found = one_by_one.contains_hash(hash);
        match one_by_one.rejuvenate_hash(hash) {
            Ok(changed) => assert!(found || !changed || is_scattered, "what is not there is rejuvenated"),
            Err(error) => assert_eq!((error.status(), can, keys), (Status::Unsupported, false, 0)),
        }
        assert!(one_by_one.contains_hash(hash) == found || is_scattered, "a rejuvenated key is lost");
    }
    match outcome {
        Ok(()) => {
            assert_eq!((can, keys), (true, hashes.len()));
            assert!(one_by_one.equals(&at_once), "a batch is not its keys one by one");
        }
        // Part of it may have grown before it was full.
        Err(error) => assert!(!can || error.status() == Status::Full, "{error}"),
    }
}

/// Whether the key was new; `None` if the filter cannot insert, or is full.
fn insert(filter: &mut Filter, hash: u64) -> Option<bool> {
    filter
        .insert_hash(hash)
        .map_err(|error| assert!(error.status() == Status::Full || !can(filter, Capabilities::INSERT), "{error:?}"))
        .ok()
}

/// A sound filter comes back from its image as it was.
fn reload(filter: &Filter, sound: bool) {
    let image = image(filter);
    match petal::load(&image, &OpenOptions::default()) {
        Ok(again) => {
            assert!(again.equals(filter));
            assert_eq!(again.base().header().count, filter.base().header().count);
        }
        Err(error) => assert!(!sound, "the image just written does not load: {error:?}"),
    }
}
