//! Tests of a map that has places for a fixed number of keys, as an added kind may have. A refusal changes nothing.

use super::create::create_sized;
use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::batch::ring::Taken;
use crate::blocks::Measure;
use crate::contract::{Base, Capabilities, MapKind, Overfill, Payload, Row, Sizes, Structure, over_base};
use crate::error::{Result, Status};
use crate::format::Geometry;
use crate::handle::image::Image;
use crate::handle::map::Map;
use crate::hash::HashFunction;
use crate::spec::{KindId, Spec};
use crate::storage::try_box;
use core::sync::atomic::Ordering;

static ROW: Row = Row {
    kind: KindId(255),
    name: "places",
    capabilities: Capabilities::PUT.with(Capabilities::REPLACE),
    structure: Structure::Map {
        open: |base| Ok(try_box(Places { base })?),
        joined: Some(|_, read, value| Some(read.map_or(value, |read| read.max(value)))),
    },
    sizes: Sizes::Multiples(128),
    geometry: |_, size| Geometry::of_bits(128 * size.capacity(), 0, [size.capacity(), 0, 0, 0, 0, 0, 0, 0]),
    overfill: Overfill::Refuses,
    ..Row::BASE
};

/// Pairs of words: a key, which is not 0, and then its value.
struct Places {
    base: Base,
}

impl Places {
    fn word(&self, i: usize) -> u64 {
        self.base.words().shared()[i].load(Ordering::Relaxed)
    }

    /// The place of a key, or of the first empty pair.
    fn find(&self, key: u64) -> Option<usize> {
        let mut all = (0..self.base.geometry().words[0] as usize).map(|place| 2 * place);
        all.find(|at| [key, 0].contains(&self.word(*at)))
    }
}

impl Payload for Places {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        Ok(())
    }
}

impl MapKind for Places {
    fn get_one(&self, id: u128) -> Option<u64> {
        self.find(id as u64).filter(|at| self.word(*at) != 0).map(|at| self.word(at + 1))
    }

    fn greatest_value(&self) -> u64 {
        u64::MAX
    }

    fn measure_with(&self, _: &mut dyn FnMut(u64)) -> Measure {
        Measure::of_bits(0, 1, 0.0)
    }

    fn put_at_once(&mut self, id: u128, value: u64) -> Option<bool> {
        let at = self.find(id as u64)?;
        let words = self.base.writable_at_once()?;
        let changed = words[at] == 0 || words[at + 1] < value;
        if changed {
            words[at..at + 2].copy_from_slice(&[id as u64, value]);
        }
        self.base.add_count(1);
        Some(changed)
    }

    fn replace_at_once(&mut self, id: u128, value: u64) -> Option<bool> {
        let at = self.find(id as u64).filter(|at| self.word(*at) != 0);
        let words = self.base.writable_at_once()?;
        at.iter().for_each(|at| words[at + 1] = value);
        Some(at.is_some())
    }
}

/// The map's words, and how many keys it was given.
fn state(map: &Map) -> (Vec<u64>, u64) {
    (map.base().words().shared().iter().map(|word| word.load(Ordering::Relaxed)).collect(), map.insertions())
}

#[test]
fn a_full_map_refuses_keys_and_changes_nothing() {
    let spec = Spec { capacity: 100, hash: HashFunction::External, ..Spec::default() };
    let mut map: Map = create_sized(&ROW, &spec, ROW.geometry_of(&spec).unwrap()).unwrap();
    (1..=98).for_each(|key| assert!(map.put_hash(key, 7).unwrap()));
    // A batch ends before the first key without a place. Each key that was taken has an answer: whether its value
    // changed.
    let (mut bytes, before) = ([9; 70], map.insertions());
    let keys: Vec<u64> = (34..=103).map(|key| if key == 101 { 5 } else { key }).collect();
    let values = [8; 70];
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    let Taken { keys: taken, outcome } = map.put_batch(&Keys::Hashes(&keys), &values, Some(&mut answers));
    assert_eq!((taken, answers.done, outcome.unwrap_err().status()), (68, 68, Status::Full));
    assert_eq!((map.insertions() - before, answers.true_count), (68, 68));
    assert_eq!(map.get_hash(5).unwrap(), Some(8));
    // One key.
    let before = state(&map);
    let error = map.put_hash(200, 1).unwrap_err();
    assert_eq!((error.status(), error.message()), (Status::Full, "the places map is full: it holds 166 keys"));
    assert_eq!(map.put_batch(&Keys::Hashes(&[200]), &[1], None).keys, 0);
    assert!(state(&map) == before && map.get_hash(200).unwrap().is_none());
    // Keys that are there still take values.
    assert!(!map.replace_hash(200, 1).unwrap() && map.replace_hash(7, 1).unwrap() && map.put_hash(7, 9).unwrap());
    assert_eq!(map.get_hash(7).unwrap(), Some(9));
}
