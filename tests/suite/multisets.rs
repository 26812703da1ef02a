//! Kinds that remove or count, each against an exact multiset: insertions, removals, counts, unions, intersections and
//! images in whatever order, by whatever the filter says that it can do. No kind is named here. Ten million operations
//! of each kind in the soak.

use crate::common::{Case, hash_of, image, is_soak, layouts, main_layouts, mix, share_of};
use petal::format::REGION_BYTES;
use petal::{Answers, Capabilities, Filter, Image, Keys, Mode, OpenOptions, Overfill, Spec, Status, create};
use std::collections::BTreeMap;

/// The keys that come and go; filters have room for most of them.
const KEYS: u64 = 600;

/// A filter and what it holds.
struct Walk<'a> {
    case: &'a Case,
    spec: Spec,
    filter: Filter,
    model: BTreeMap<u64, u64>,
    /// Whether the model says how often keys were inserted less how often they were removed: not after an intersection.
    is_counted: bool,
    /// Insertions and unions for which there was no room.
    refused: u64,
}

impl Walk<'_> {
    fn can(&self, capability: Capabilities) -> bool {
        self.filter.capabilities().contains(capability)
    }

    fn held(&self, hash: u64) -> u64 {
        self.model.get(&hash).copied().unwrap_or(0)
    }

    fn set(&mut self, hash: u64, held: u64) {
        match held {
            0 => drop(self.model.remove(&hash)),
            held => drop(self.model.insert(hash, held)),
        }
    }

    /// Whether something was done; a filter that has no room says so and is as it was.
    fn is_done(&mut self, outcome: petal::Result<bool>, before: Option<Vec<u8>>) -> bool {
        let Err(error) = outcome else { return true };
        assert!(self.case.row.overfill == Overfill::Refuses && error.status() == Status::Full, "{error}");
        assert!(before.is_none_or(|before| before == image(&self.filter)), "a refusal changes something");
        self.refused += 1;
        false
    }

    fn insert(&mut self, hash: u64, random: u64, before: Option<Vec<u8>>) {
        let times = if random & 7 == 0 { random >> 3 & 0x3f } else { 1 };
        let outcome = match times {
            1 => self.filter.insert_hash(hash),
            _ if self.can(Capabilities::COUNT) => self.filter.insert_hash_times(hash, times),
            _ => return,
        };
        if let Ok(is_new) = outcome {
            assert!(!is_new || self.held(hash) == 0, "{hash:#x} is there and was said to be new");
        }
        // Some of many may have been inserted and removed again, which moves entries.
        if self.is_done(outcome, before.filter(|_| times == 1)) {
            self.set(hash, self.held(hash) + times);
        }
    }

    fn remove(&mut self, hash: u64, random: u64, before: Option<Vec<u8>>) {
        let held = self.held(hash);
        if held == 0 {
            if !self.filter.contains_hash(hash) {
                assert!(!self.filter.remove_hash(hash).unwrap());
                assert!(before.is_none_or(|before| before == image(&self.filter)), "it removed nothing");
            }
        } else if random & 3 == 0 && self.can(Capabilities::COUNT) {
            let is_bound = self.filter.kind().as_count().is_some_and(|count| count.is_upper_bound());
            let wanted = 1 + random % held;
            let removed = self.filter.remove_hash_times(hash, wanted).unwrap();
            let greatest = self.filter.kind().as_count().unwrap().greatest_count();
            assert!(removed >= wanted.min(greatest) || !is_bound, "{hash:#x} is lost: {removed} of {wanted}");
            self.set(hash, held - removed);
        } else {
            assert!(self.filter.remove_hash(hash).unwrap(), "{hash:#x} is lost");
            self.set(hash, held - 1);
        }
    }

    fn merge(&mut self, random: u64) {
        let mut other = create(&self.spec).unwrap();
        let more: Vec<u64> = (0..random % 40).map(|i| hash_of(&self.spec, mix(random ^ i << 20) % KEYS)).collect();
        let taken = other.insert_batch(&Keys::Hashes(&more), None).keys;
        let before = image(&self.filter);
        let outcome = self.filter.merge(&other).map(|()| true);
        if self.is_done(outcome, Some(before)) {
            more[..taken].iter().for_each(|hash| *self.model.entry(*hash).or_default() += 1);
        }
    }

    /// Keeps what a copy has too, of which some keys are removed before.
    fn intersect(&mut self) {
        let mut other = self.filter.copy().unwrap();
        if self.can(Capabilities::REMOVE) {
            let hashes: Vec<u64> = self.model.keys().copied().step_by(5).collect();
            for hash in hashes {
                assert!(other.remove_hash(hash).unwrap());
                self.set(hash, self.held(hash) - 1);
            }
        }
        self.filter.intersect(&other).unwrap();
        self.is_counted = false;
    }

    fn check(&self) {
        let filter = &self.filter;
        filter.verify().unwrap();
        let hashes: Vec<u64> = self.model.keys().copied().collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
        assert_eq!(answers.true_count, hashes.len() as u64, "keys are missing from a batch");
        assert!(hashes.iter().all(|hash| filter.contains_hash(*hash)), "a key is lost");
        if self.is_counted {
            assert_eq!(filter.base().count(), self.model.values().sum::<u64>());
        }
        let Some(count) = filter.kind().as_count() else { return };
        for i in 0..KEYS {
            let hash = hash_of(&self.spec, i);
            let (told, held) = (count.count_one(hash), self.held(hash).min(count.greatest_count()));
            assert_eq!(told > 0, filter.contains_hash(hash));
            assert!(told >= held || !count.is_upper_bound(), "{hash:#x}: {told} is told and {held} right");
        }
    }

    fn run(&mut self, steps: u64) {
        for step in 0..steps {
            let random = mix(step);
            let hash = hash_of(&self.spec, random % KEYS);
            let before = (step % 97 == 0).then(|| image(&self.filter));
            match (random >> 20) % 1024 {
                0 => {
                    let bytes = image(&self.filter);
                    self.filter = petal::load(&bytes, &OpenOptions::default()).unwrap();
                    assert_eq!(image(&self.filter), bytes);
                }
                1 if self.can(Capabilities::MERGE) => self.merge(random),
                2 if self.can(Capabilities::INTERSECT) && step % 3 == 0 => self.intersect(),
                3 if self.can(Capabilities::CLEAR) && !self.can(Capabilities::REMOVE) => {
                    self.filter.clear().unwrap();
                    self.model.clear();
                    self.is_counted = true;
                }
                // Up and down, so that it is crowded now and then, and nearly empty.
                _ if (random >> 32) % 16 < if step / (4 * KEYS) % 2 == 0 { 11 } else { 4 } => {
                    self.insert(hash, random >> 40, before);
                }
                _ if self.can(Capabilities::REMOVE) => self.remove(hash, random >> 40, before),
                _ => {}
            }
            if step % 4000 == 3999 || step + 1 == steps {
                self.check();
            }
        }
    }
}

#[test]
fn filters_are_multisets() {
    let cases: Vec<Case> =
        layouts().into_iter().filter(|case| case.is_multiset() && case.row.is_made_empty()).collect();
    for case in share_of(cases.clone(), 3) {
        let of_kind = cases.iter().filter(|other| other.row.kind == case.row.kind).count() as u64;
        let steps = if is_soak() { 10_000_000 / of_kind } else { 9000 };
        println!("{}", case.name());
        let spec = Spec { capacity: KEYS / 2, false_positive_rate: 0.02, ..case.spec() };
        let filter = create(&spec).unwrap();
        let mut walk = Walk { case: &case, spec, filter, model: BTreeMap::new(), is_counted: true, refused: 0 };
        walk.run(steps);
        assert!(walk.refused > 0 || case.row.overfill != Overfill::Refuses, "it was never full");
    }
}

/// Images in place that have several regions are changed as filters in memory are: what is marked is what is changed.
#[test]
fn images_of_many_regions_are_changed_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    let cases = main_layouts()
        .into_iter()
        .filter(|case| case.is_multiset() && case.row.is_made_empty() && !case.row.moves_entries);
    for case in cases {
        println!("{}", case.name());
        let mut spec = Spec { capacity: 40_000, false_positive_rate: 1e-4, ..case.spec() };
        let regions = |spec: &Spec| petal::geometry(spec).unwrap().payload_bytes / REGION_BYTES as u64;
        while regions(&spec) < 6 {
            spec.capacity *= 2;
        }
        let mut model = create(&spec).unwrap();
        model.save(&path).unwrap();
        let mut filter = petal::open(&path, &OpenOptions { mode: Mode::Write, key: None }).unwrap();
        // Few keys at a time, so that not all regions are changed at once.
        for i in 0..20 {
            let hash = hash_of(&spec, i % 13);
            for filter in [&mut model, &mut filter] {
                filter.insert_hash(hash).unwrap();
                if i % 3 == 0 && filter.capabilities().contains(Capabilities::REMOVE) {
                    assert!(filter.remove_hash(hash_of(&spec, i % 13)).unwrap());
                }
            }
            filter.sync().unwrap();
            filter.verify().unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == image(&model));
        drop(filter);
        std::fs::remove_file(&path).unwrap();
    }
}
