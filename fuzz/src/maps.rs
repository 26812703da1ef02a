//! Maps, built from keys and values that may contradict each other, opened in every way that there is, and changed.
//! Each map has a model: the exact values, or what they are joined to.

use crate::batch::Batch;
use crate::exercise::image;
use arbitrary::{Arbitrary, Result, Unstructured};
use petal::{
    Answers, BuilderOptions, Capabilities, Hasher, Image, Keys, Map, MapBuilder, Mode, OpenOptions, Row, Secret, Spec,
    Status, Taken,
};
use std::collections::HashMap;
use std::ptr::NonNull;

/// The largest map that is changed step by step.
const LARGEST: u64 = 64 << 10;

/// The identities of the keys of a sound batch, if they have any.
fn identities(batch: &Batch, hasher: &Hasher) -> Option<Vec<u128>> {
    match batch.keys() {
        _ if !batch.sound() => None,
        Keys::U64(keys) if hasher.can_hash() => keys.iter().map(|key| hasher.identify_u64(*key).ok()).collect(),
        Keys::Bytes { bytes, offsets } if hasher.can_hash() => {
            offsets.windows(2).map(|ends| hasher.identify(&bytes[ends[0] as usize..ends[1] as usize]).ok()).collect()
        }
        Keys::Hashes(hashes) if hasher.identify_hash(0).is_ok() => {
            hashes.iter().map(|hash| hasher.identify_hash(*hash).ok()).collect()
        }
        _ => None,
    }
}

/// Two values of one key make one, in kinds that take several.
type Join = fn(u64, u64) -> u64;

/// What a map of this spec joins values by, and what keys without one read; `None` of kinds whose values are exact.
fn join_of(spec: &Spec, row: &Row) -> Option<(Join, u64)> {
    let lattice = row.parameter("lattice")?;
    let bits = row.parameter("value_bits").map_or(Ok(64), |bits| spec.parameter(bits)).unwrap_or(64);
    let number = spec.parameter(lattice).unwrap_or(0) as usize;
    Some(match lattice.choices()[number] {
        "max" => (u64::max, 0),
        "min" => (u64::min, u64::MAX >> (64 - bits)),
        "union" => (|a, b| a | b, 0),
        other => panic!("what is the join of {other}?"),
    })
}

/// What a map must give: of each key a value.
#[derive(Clone)]
struct Model {
    entries: HashMap<u128, u64>,
    join: Option<(Join, u64)>,
    /// Keys offered.
    insertions: u64,
}

impl Model {
    /// Takes note of a value; false if the key has another one, and it is not one that joins them.
    fn put(&mut self, id: u128, value: u64) -> bool {
        let entry = self.entries.entry(id).or_insert(value);
        match self.join {
            Some((join, _)) => *entry = join(*entry, value),
            None => return *entry == value,
        }
        true
    }

    /// Whether this may be read of a key with this value.
    fn may_read(&self, value: u64, read: Option<u64>) -> bool {
        match self.join {
            Some((join, least)) => join(read.unwrap_or(least), value) == read.unwrap_or(least),
            None => read == Some(value),
        }
    }
}

/// Values of keys: those that they always have, but for a salt, and of any length.
fn values_of(ids: &[u128], input: &mut Unstructured) -> Result<Vec<u64>> {
    let (salt, shift) = (*input.choose(&[0, 0, 0, 1])?, *input.choose(&[63, 56, 40, 0])?);
    Ok(ids.iter().map(|id| ((*id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt) >> shift).collect())
}

/// Builds a map of this spec, if there can be one, looks at it, and changes it.
///
/// # Errors
/// The end of the input.
pub fn run(spec: &Spec, input: &mut Unstructured) -> Result<()> {
    let Ok(mut builder) = MapBuilder::new(spec, BuilderOptions::default()) else { return Ok(()) };
    let row = petal::row_of(spec).expect("the builder took the spec");
    if row.is_made_empty() && petal::image_size(spec).is_ok_and(|size| size > LARGEST) {
        return Ok(());
    }
    let hasher = spec.hasher().expect("the builder took the spec");
    let mut model = Model { entries: HashMap::new(), join: join_of(spec, row), insertions: 0 };
    let mut contradicts = false;
    while model.entries.len() < 1000 && bool::arbitrary(input)? {
        let batch = Batch::arbitrary(input)?;
        let Some(ids) = identities(&batch, &hasher) else {
            let values = vec![0; batch.keys().len()];
            assert!(builder.put_batch(&batch.keys(), &values).outcome.is_err());
            assert_eq!(builder.key_count(), model.insertions);
            continue;
        };
        let values = values_of(&ids, input)?;
        let Taken { keys: done, outcome } = builder.put_batch(&batch.keys(), &values);
        match outcome {
            Err(error) => assert!(error.status() == Status::OutOfRange && done < ids.len(), "{error}"),
            Ok(()) => assert_eq!(done, ids.len()),
        }
        model.insertions += done as u64;
        assert_eq!(builder.key_count(), model.insertions);
        ids.iter().zip(&values).take(done).for_each(|(id, value)| contradicts |= !model.put(*id, *value));
    }
    match builder.finish() {
        Ok(map) => {
            assert!(!contradicts, "a key has two values");
            assert_eq!((builder.key_count(), map.insertions()), (0, model.insertions));
            check(&map, &model);
            reopen(&map, &model, spec.secret);
            change(map, model, spec.secret, input)
        }
        Err(error) => {
            assert_eq!(builder.key_count(), model.insertions, "the keys stay");
            // Only an exact size may be too small.
            let expected = contradicts && error.status() == Status::Contradiction;
            assert!(expected || spec.bits != 0, "{error}");
            Ok(())
        }
    }
}

/// Every key has its value, alone and in a batch.
fn check(map: &Map, model: &Model) {
    let is_right = |(id, value): (&u128, &u64)| model.may_read(*value, map.get_id(*id));
    assert!(model.entries.iter().all(is_right), "a key has another value");
    assert_eq!(map.insertions(), model.insertions);
    let verified = map.verify().map_err(|error| error.status());
    assert_eq!(verified, if map.base().is_unclean() { Err(Status::Unclean) } else { Ok(()) }, "the payload is sound");
    let measure = map.statistics();
    assert!((0.0..=1.0).contains(&measure.fill) && (0.0..=1.0).contains(&measure.false_positive_rate));
    let numbers: Vec<u64> = (0..300).collect();
    let expected: Vec<u64> = numbers.iter().map(|key| map.get_u64(*key).ok().flatten().unwrap_or(0)).collect();
    let mut values = vec![1; numbers.len()];
    let mut answers = Answers { values: Some(&mut values), ..Answers::default() };
    let outcome = map.get_batch(&Keys::U64(&numbers), &mut answers);
    assert_eq!(outcome.is_ok(), map.base().hasher().can_hash());
    assert_eq!(values, expected);
}

/// The words of an image, to be opened in place.
fn memory_of(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// What opens from the map's image, in every mode that its row allows, is the map.
fn reopen(map: &Map, model: &Model, key: Option<Secret>) {
    let bytes = image(map);
    let options = OpenOptions { mode: Mode::Load, secret: key, ..OpenOptions::default() };
    assert_eq!(petal::load(&bytes, &options).unwrap_err().status(), Status::Unsupported, "a map is no filter");
    let mut memory = memory_of(&bytes);
    let place = NonNull::new(memory.as_mut_ptr().cast::<u8>()).expect("a vector");
    for mode in [Mode::Load, Mode::Read, Mode::Write, Mode::Share] {
        // SAFETY: the memory outlives the map, which alone uses it.
        let opened = unsafe {
            petal::open_in_buffer_as::<Map>(
                place,
                bytes.len(),
                &OpenOptions { mode, secret: key, ..OpenOptions::default() },
            )
        };
        assert_eq!(opened.is_ok(), crate::specs::opens(map.base().row(), map.base().geometry(), mode), "{mode:?}");
        if let Ok(again) = opened {
            check(&again, model);
            assert!(image(&again) == bytes && again.insertions() == map.insertions());
        }
    }
}

/// Puts, replaces, merges and clears, in memory and in an image in place, as often as there is input for.
fn change(map: Map, mut model: Model, key: Option<Secret>, input: &mut Unstructured) -> Result<()> {
    let mut other = (map.copy().expect("small"), model.clone());
    // Dropped after the map that lies in it.
    let mut _memory = Vec::new();
    let mut map = map;
    for _ in 0..input.int_in_range(0..=12)? {
        match input.int_in_range(0..=5)? {
            0 | 1 => give(&mut map, &mut model, input, Capabilities::PUT)?,
            2 | 3 => give(&mut map, &mut model, input, Capabilities::REPLACE)?,
            4 => merge(&mut map, &mut model, &mut other),
            _ => {
                let mode = *input.choose(&[Mode::Load, Mode::Read, Mode::Write])?;
                let bytes = image(&map);
                let mut memory = memory_of(&bytes);
                let place = NonNull::new(memory.as_mut_ptr().cast::<u8>()).expect("a vector");
                // SAFETY: the memory is kept until the map is gone, which alone uses it.
                let opened = unsafe {
                    petal::open_in_buffer_as::<Map>(
                        place,
                        bytes.len(),
                        &OpenOptions { mode, secret: key, ..OpenOptions::default() },
                    )
                };
                if let Ok(opened) = opened {
                    map = opened;
                    _memory = memory;
                }
            }
        }
        check(&map, &model);
    }
    if can(&map, Capabilities::CLEAR) {
        map.clear().expect("it can");
        assert_eq!((map.statistics().fill, map.insertions()), (0.0, 0));
    }
    drop(map);
    Ok(())
}

fn can(map: &Map, capability: Capabilities) -> bool {
    map.capabilities().contains(capability)
}

/// Puts or replaces many values, and checks that this does the same as one by one.
fn give(map: &mut Map, model: &mut Model, input: &mut Unstructured, verb: Capabilities) -> Result<()> {
    let batch = Batch::arbitrary(input)?;
    let is_put = verb == Capabilities::PUT;
    let Some(ids) = identities(&batch, map.base().hasher()) else {
        let before = image(map);
        let values = vec![0; batch.keys().len()];
        let keys = batch.keys();
        let taken = if is_put { map.put_batch(&keys, &values, None) } else { map.replace_batch(&keys, &values, None) };
        assert!(
            taken.keys == 0 && taken.outcome.is_err() && image(map) == before,
            "what was refused changed something"
        );
        return Ok(());
    };
    let values = values_of(&ids, input)?;
    let greatest = match map.base().row().parameter("value_bits") {
        Some(parameter) => match map.base().geometry().parameter(parameter) {
            Some(bits) => u64::MAX.checked_shr(64 - bits as u32).unwrap_or(0),
            None => u64::MAX,
        },
        None => u64::MAX,
    };
    let fitting = values.iter().position(|value| *value > greatest).unwrap_or(ids.len());
    let (before, mut one_by_one) = (image(map), map.copy().expect("small"));
    let (mut bytes, keys) = (vec![7; ids.len()], batch.keys());
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    let Taken { keys: done, outcome } = match is_put {
        true => map.put_batch(&keys, &values, Some(&mut answers)),
        false => map.replace_batch(&keys, &values, Some(&mut answers)),
    };
    if !can(map, verb) {
        // A batch without keys changes nothing, whatever takes it.
        assert!(done == 0 && (outcome.is_err() || ids.is_empty()) && image(map) == before);
        return Ok(());
    }
    assert_eq!((done, outcome.is_ok()), (fitting, fitting == ids.len()), "{outcome:?}");
    for (i, (id, value)) in ids.iter().zip(&values).take(done).enumerate() {
        let said = match is_put {
            true => one_by_one.put_id(*id, *value),
            false => replace(&mut one_by_one, &keys, i, *value),
        };
        assert_eq!(said.ok(), Some(bytes[i] == 1), "a batch says of key {i} what it does not say alone");
        if is_put {
            model.put(*id, *value);
            model.insertions += 1;
        } else {
            note_replaced(&one_by_one, model, *id, *value, bytes[i] == 1);
        }
    }
    assert!(image(&one_by_one)[256..] == image(map)[256..], "a batch is not its keys one by one");
    Ok(())
}

/// One key of a batch gets another value.
fn replace(map: &mut Map, keys: &Keys, i: usize, value: u64) -> petal::Result<bool> {
    match keys {
        Keys::U64(keys) => map.replace(u64::to_le_bytes(keys[i]), value),
        Keys::Hashes(hashes) => map.replace_hash(hashes[i], value),
        Keys::Bytes { bytes, offsets } => map.replace(&bytes[offsets[i] as usize..offsets[i + 1] as usize], value),
        Keys::Bytes32 { bytes, offsets } => map.replace(&bytes[offsets[i] as usize..offsets[i + 1] as usize], value),
        Keys::Digests { bytes, each } => map.replace(&bytes[i * each..(i + 1) * each], value),
    }
}

/// Takes note of a value that was replaced: the key's, or, where that is not there, at most one other's.
fn note_replaced(map: &Map, model: &mut Model, id: u128, value: u64, said: bool) {
    if let Some(entry) = model.entries.get_mut(&id) {
        assert!(said, "a key that is there is said not to be");
        *entry = value;
        return;
    }
    let changed: Vec<u128> =
        model.entries.iter().filter(|(id, before)| map.get_id(**id) != Some(**before)).map(|(id, _)| *id).collect();
    assert!(changed.len() <= usize::from(said), "{} other keys have another value", changed.len());
    for id in changed {
        assert_eq!(map.get_id(id), Some(value));
        model.entries.insert(id, value);
    }
}

/// Merges what the other was given, which becomes what this one was before.
fn merge(map: &mut Map, model: &mut Model, other: &mut (Map, Model)) {
    let before = (map.copy().expect("small"), model.clone());
    match map.merge(&other.0) {
        Ok(()) => {
            for (id, value) in &other.1.entries {
                model.put(*id, *value);
            }
            model.insertions += other.1.insertions;
        }
        Err(error) => {
            assert_eq!((error.status(), can(map, Capabilities::MERGE)), (Status::Unsupported, false), "{error}");
            assert!(image(map) == image(&before.0));
        }
    }
    *other = before;
}
