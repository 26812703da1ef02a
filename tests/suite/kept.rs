//! Sketches whose handles keep the keys: they are sketches of sets, whatever is inserted twice.

use crate::common::image as bytes;
use crate::sketches::{Random, of};
use petal::registry::SKETCHES;
use petal::{Image, Keys, Mode, OpenOptions, Sketch, Spec, Status, load_as, open_as};
use std::collections::BTreeSet;

/// Sketches that are equal except for their kind.
fn specs() -> impl Iterator<Item = Spec> {
    SKETCHES.iter().map(|row| Spec { kind: Some(row.kind), ..Spec::with_capacity(30, 0.01).unwrap() })
}

fn keeping(spec: &Spec) -> Sketch {
    let mut sketch = Sketch::new(spec).unwrap();
    assert!(!sketch.keeps_keys() && sketch.kept().is_none());
    sketch.keep_keys().unwrap();
    assert!(sketch.keeps_keys() && sketch.kept() == Some(&[]));
    sketch
}

fn kept(sketch: &Sketch) -> BTreeSet<u64> {
    let kept = sketch.kept().unwrap();
    let set: BTreeSet<u64> = kept.iter().copied().collect();
    assert_eq!(set.len(), kept.len());
    set
}

/// After any insertions and removals, many of them of keys that are or are not there, the sketch is that of the set.
#[test]
fn sketches_with_kept_keys_are_those_of_the_set() {
    for spec in specs() {
        let (mut sketch, mut set, mut random) = (keeping(&spec), BTreeSet::new(), Random(41 << 32));
        for step in 0..4000 {
            let number = 1 + random.next() % 300;
            let pair = BTreeSet::from([number, number + 1]);
            let batch = [number, number + 1, number];
            match random.next() % 6 {
                0 => sketch.insert_u64(number).map(|()| set.insert(number)).unwrap(),
                1 => sketch.remove_u64(number).map(|()| set.remove(&number)).unwrap(),
                2 => sketch.insert_hash(number).map(|()| set.insert(number)).unwrap(),
                3 => sketch.remove_hash(number).map(|()| set.remove(&number)).unwrap(),
                4 => {
                    assert_eq!(sketch.insert_batch(&Keys::U64(&batch)).keys, 3);
                    set = &set | &pair;
                    true
                }
                _ => {
                    assert_eq!(sketch.remove_batch(&Keys::Hashes(&batch)).keys, 3);
                    set = &set - &pair;
                    true
                }
            };
            if step % 200 == 199 {
                assert_eq!(kept(&sketch), set, "{:?} at step {step}", spec.kind);
                assert_eq!(bytes(&sketch), bytes(&of(&spec, set.iter().copied())), "{:?} at step {step}", spec.kind);
            }
        }
        assert!(set.len() > 50);
        sketch.insert(b"apple").unwrap();
        sketch.insert(b"apple").unwrap();
        sketch.remove(b"pear").unwrap();
        assert_eq!((sketch.insertions(), kept(&sketch).len()), (set.len() as u64 + 1, set.len() + 1));
    }
}

/// What becomes of the kept keys when a sketch is copied, cleared, merged and subtracted.
#[test]
fn other_verbs_say_what_they_do_with_kept_keys() {
    for spec in specs() {
        let mut sketch = keeping(&spec);
        (0..20).for_each(|number| sketch.insert_u64(number + 1).unwrap());
        let mut copy = sketch.copy().unwrap();
        copy.remove_u64(1).unwrap();
        copy.insert_u64(2).unwrap();
        assert_eq!((kept(&sketch).len(), kept(&copy).len()), (20, 19));
        sketch.clear().unwrap();
        assert!(sketch.keeps_keys() && kept(&sketch).is_empty());
        sketch.insert_u64(7).unwrap();
        sketch.insert_u64(7).unwrap();
        assert_eq!(bytes(&sketch), bytes(&of(&spec, [7])));
        // A refused combination changes nothing. One that succeeds leaves no set that is known.
        let other = Sketch::new(&Spec { seed: 1, ..spec }).unwrap();
        assert!(sketch.merge(&other).is_err() && sketch.keeps_keys());
        sketch.subtract(&copy).unwrap();
        copy.merge(&of(&spec, [99])).unwrap();
        assert!(!sketch.keeps_keys() && !copy.keeps_keys());
        let error = sketch.keep_keys().unwrap_err();
        assert!(error.status() == Status::Contradiction && error.to_string().contains("not kept"), "{error}");
    }
}

/// An image has no kept keys. A handle that opens an empty image to write may keep those that it inserts.
#[test]
fn images_have_no_kept_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sketch");
    for spec in specs() {
        let mut sketch = keeping(&spec);
        let read: Sketch = load_as(&bytes(&sketch), &OpenOptions::default()).unwrap();
        assert!(!read.keeps_keys());
        sketch.save(&path).unwrap();
        let mut read: Sketch = open_as(&path, &OpenOptions::default()).unwrap();
        assert_eq!(read.keep_keys().unwrap_err().status(), Status::UnsupportedByHandle);
        drop(read);
        let mut written: Sketch = open_as(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() }).unwrap();
        written.keep_keys().unwrap();
        written.keep_keys().unwrap();
        for number in [5, 6, 5] {
            sketch.insert_u64(number).unwrap();
            written.insert_u64(number).unwrap();
        }
        written.sync().unwrap();
        assert!(written.copy().unwrap().keeps_keys());
        drop(written);
        assert_eq!(std::fs::read(&path).unwrap(), bytes(&sketch));
        // A sketch that is empty again starts anew, with no insertions.
        let mut empty = of(&spec, []);
        empty.remove_u64(5).unwrap();
        empty.insert_u64(5).unwrap();
        assert_eq!(empty.insertions(), 1);
        empty.keep_keys().unwrap();
        assert_eq!(empty.insertions(), 0);
    }
}

/// A sketch says how many coded symbols it keeps.
#[test]
fn sketches_of_riblt_have_symbols() {
    for spec in specs() {
        let name = Sketch::new(&spec).unwrap().base().row().name;
        let sketch = Sketch::new(&Spec { capacity: 0, bits: 192 * 60, ..spec }).ok();
        let expected = if name == "riblt" { 60 } else { 0 };
        assert!(sketch.is_none_or(|sketch| sketch.symbol_count() == expected), "{name}");
    }
}
