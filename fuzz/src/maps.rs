//! Maps, built from keys and values that may contradict each other, and opened in every way that there is.

use crate::batch::Batch;
use crate::exercise::image;
use arbitrary::{Arbitrary, Result, Unstructured};
use petal::{
    Answers, BuilderOptions, Hasher, Image, Keys, Map, MapBuilder, Mode, OpenOptions, SecretKey, Spec, Status, Taken,
};
use std::collections::HashMap;
use std::ptr::NonNull;

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

/// Builds a map of this spec, if there can be one, and looks at it.
///
/// # Errors
/// The end of the input.
pub fn build(spec: &Spec, input: &mut Unstructured) -> Result<()> {
    let Ok(mut builder) = MapBuilder::new(spec, BuilderOptions::default()) else { return Ok(()) };
    let hasher = spec.hasher().expect("the builder took the spec");
    let mut entries: HashMap<u128, u64> = HashMap::new();
    let (mut offered, mut contradicts) = (0, false);
    while entries.len() < 1000 && bool::arbitrary(input)? {
        let batch = Batch::arbitrary(input)?;
        let Some(ids) = identities(&batch, &hasher) else {
            let values = vec![0; batch.keys().len()];
            assert!(builder.put_batch(&batch.keys(), &values).outcome.is_err());
            assert_eq!(builder.count(), offered);
            continue;
        };
        // The value that the key always has, but for a salt, and of any length.
        let (salt, shift) = (*input.choose(&[0, 0, 0, 1])?, *input.choose(&[63, 56, 40, 0])?);
        let values: Vec<u64> =
            ids.iter().map(|id| ((*id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt) >> shift).collect();
        let Taken { keys: done, outcome } = builder.put_batch(&batch.keys(), &values);
        if let Err(error) = outcome {
            assert!(error.status() == Status::OutOfRange && done < ids.len(), "{error}");
        } else {
            assert_eq!(done, ids.len());
        }
        offered += done as u64;
        assert_eq!(builder.count(), offered);
        for (id, value) in ids.iter().zip(&values).take(done) {
            contradicts |= *entries.entry(*id).or_insert(*value) != *value;
        }
    }
    match builder.finish() {
        Ok(map) => {
            assert!(!contradicts, "a key has two values");
            assert_eq!((builder.count(), map.offered()), (0, offered));
            check(&map, &entries);
            reopen(&map, &entries, spec.key);
        }
        Err(error) => {
            assert_eq!(builder.count(), offered, "the keys stay");
            // Only an exact size may be too small.
            let expected = contradicts && error.status() == Status::Contradiction;
            assert!(expected || spec.bits != 0, "{error}");
        }
    }
    Ok(())
}

/// Every key has its value, alone and in a batch.
fn check(map: &Map, entries: &HashMap<u128, u64>) {
    assert!(entries.iter().all(|(id, value)| map.get_id(*id) == Some(*value)), "a key has another value");
    map.verify().expect("the payload is sound");
    let measure = map.measure();
    assert!((0.0..=1.0).contains(&measure.fill) && (0.0..=1.0).contains(&measure.false_positive_rate));
    let numbers: Vec<u64> = (0..300).collect();
    let expected: Vec<u64> = numbers.iter().map(|key| map.get_u64(*key).ok().flatten().unwrap_or(0)).collect();
    let mut values = vec![1; numbers.len()];
    let mut answers = Answers { values: Some(&mut values), ..Answers::default() };
    let outcome = map.get_batch(&Keys::U64(&numbers), &mut answers);
    assert_eq!(outcome.is_ok(), map.base().hasher().can_hash());
    assert_eq!(values, expected);
}

/// What opens from the map's image, in every mode that its row allows, is the map.
fn reopen(map: &Map, entries: &HashMap<u128, u64>, key: Option<SecretKey>) {
    let bytes = image(map);
    let options = OpenOptions { mode: Mode::Load, key };
    assert_eq!(petal::load(&bytes, &options).unwrap_err().status(), Status::Unsupported, "a map is no filter");
    let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut memory: Vec<u64> = words.collect();
    let place = NonNull::new(memory.as_mut_ptr().cast::<u8>()).expect("a vector");
    for mode in [Mode::Load, Mode::Read, Mode::Write, Mode::Share] {
        // SAFETY: the memory outlives the map, which alone uses it.
        let opened = unsafe { petal::open_buffer_as::<Map>(place, bytes.len(), &OpenOptions { mode, key }) };
        assert_eq!(opened.is_ok(), crate::specs::opens(map.base().row(), mode), "{mode:?}");
        if let Ok(again) = opened {
            check(&again, entries);
            assert!(image(&again) == bytes && again.offered() == map.offered());
        }
    }
}
