//! Kinds that take keys and lose none, compared with an exact multiset. Operations come in any order: insertions,
//! removals, counts, batches, growth, mergers, intersections, other sizes and images. The test asks each kind what it
//! can do and names no kind. The soak runs 10^8 operations on single keys for each kind.

use crate::common::{Buffer, Case, cases, each, hash_of, image, is_soak, main_layouts, mix, share_of};
use crate::conformance::{CAPACITY, can};
use petal::format::REGION_BYTES;
use petal::{Answers, Capabilities, Filter, Image, Keys, Mode, OpenOptions, Overfill, Spec, Status, load};

/// The number of different keys. A filter has room for half of them, and many share fingerprints or cells.
const UNIVERSE: u64 = 2 * CAPACITY;

/// The number of operations between one image and the next.
const ROUND: u64 = 400;

/// The model of a filter, and a generator of random numbers.
struct Machine<'a> {
    case: &'a Case,
    /// The capacity that the filter was made for.
    capacity: u64,
    capabilities: Capabilities,
    empty: Filter,
    hashes: Vec<u64>,
    /// For each key, how often the filter has it at least.
    held: Vec<u64>,
    /// Whether `held` is exact: insertions less removals. After an intersection it is a lower bound.
    is_counted: bool,
    /// Whether the filter is an image in place, which can neither grow nor take another size.
    is_in_place: bool,
    random: u64,
    /// The number of operations on single keys.
    operations: u64,
    /// The number of insertions, mergers and sizes that were refused for want of room.
    refused: u64,
}

impl Machine<'_> {
    fn can(&self, capability: Capabilities) -> bool {
        self.capabilities.contains(capability)
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((u128::from(mix(self.random)) * u128::from(below)) >> 64) as u64
    }

    /// Does `change`, which may be refused only for want of room, and then changes nothing. Returns `None` if it was
    /// refused.
    fn unless_full<T>(
        &mut self,
        filter: &mut Filter,
        change: impl FnOnce(&mut Filter) -> petal::Result<T>,
    ) -> Option<T> {
        // A full filter refuses thousands of changes, so only some refusals compare all bytes.
        let is_looked_at = self.draw(16) == 0;
        self.unless_full_and(filter, is_looked_at, change)
    }

    /// [`Machine::unless_full`]. `is_looked_at` says whether a refusal compares all bytes.
    fn unless_full_and<T>(
        &mut self,
        filter: &mut Filter,
        is_looked_at: bool,
        change: impl FnOnce(&mut Filter) -> petal::Result<T>,
    ) -> Option<T> {
        let may_refuse = match self.case.row.overfill {
            Overfill::Refuses => true,
            Overfill::Grows => self.is_in_place,
            _ => false,
        };
        self.unless_refused(filter, is_looked_at, may_refuse, change)
    }

    fn unless_refused<T>(
        &mut self,
        filter: &mut Filter,
        is_looked_at: bool,
        may_refuse: bool,
        change: impl FnOnce(&mut Filter) -> petal::Result<T>,
    ) -> Option<T> {
        let before = is_looked_at.then(|| image(filter));
        match change(filter) {
            Ok(outcome) => Some(outcome),
            Err(error) => {
                assert_eq!(error.status(), Status::Full, "{error}");
                assert!(may_refuse, "{error}");
                assert!(before.is_none_or(|before| before == image(filter)), "a refusal changes something: {error}");
                self.refused += 1;
                None
            }
        }
    }

    /// Asserts that the filter finds a key and that its count is high enough.
    fn is_told(&mut self, filter: &Filter, key: usize) {
        self.operations += 1;
        let (hash, held) = (self.hashes[key], self.held[key]);
        let is_there = filter.contains_hash(hash);
        assert!(is_there || held == 0, "key {key} is lost: it was there {held} times");
        if let Some(count) = filter.kind().as_count() {
            self.operations += 1;
            let told = count.count_one(hash);
            let is_enough = told >= held.min(count.greatest_count()) || !count.is_upper_bound();
            assert!(is_enough, "{told} of key {key} are told, {held} is right");
            assert_eq!(told > 0, is_there);
        }
    }

    fn insert(&mut self, filter: &mut Filter, key: usize) {
        let hash = self.hashes[key];
        let seemed = filter.contains_hash(hash);
        if let Some(new) = self.unless_full(filter, |filter| filter.insert_hash(hash)) {
            assert_eq!(new, !seemed);
            self.held[key] += 1;
            self.operations += 1;
        }
    }

    /// Removes a present key, or a key that is certainly absent. Removing any other key could take the place of another
    /// one.
    fn remove(&mut self, filter: &mut Filter, key: usize) {
        let hash = self.hashes[key];
        if self.held[key] > 0 {
            assert!(filter.remove_hash(hash).unwrap(), "key {key} is lost");
            self.held[key] -= 1;
            self.operations += 1;
        } else if !filter.contains_hash(hash) {
            let before = (self.draw(8) == 0).then(|| image(filter));
            assert!(!filter.remove_hash(hash).unwrap());
            assert!(before.is_none_or(|before| before == image(filter)), "it removed nothing");
        }
    }

    /// Rejuvenates a present key, or a key that is certainly absent.
    fn rejuvenate(&mut self, filter: &mut Filter, key: usize) {
        let (hash, is_there) = (self.hashes[key], self.held[key] > 0);
        if !is_there && filter.contains_hash(hash) {
            return;
        }
        let (before, count) = ((self.draw(8) == 0).then(|| image(filter)), filter.base().count());
        let Some(changed) = self.unless_full(filter, |filter| filter.rejuvenate_hash(hash)) else { return };
        self.operations += 1;
        assert!(is_there || !changed, "a key that is not there is rejuvenated");
        assert!(before.is_none_or(|before| changed != (before == image(filter))), "{changed} is not what it did");
        assert!(!changed || !filter.rejuvenate_hash(hash).unwrap(), "key {key} is rejuvenated twice");
        assert_eq!(filter.base().count(), count);
    }

    /// Random keys, at most `keys` of them. For a removal each occurs no more often than the filter has it.
    fn some(&mut self, keys: u64, to_remove: bool) -> Vec<usize> {
        let mut left = self.held.clone();
        let keys: Vec<usize> = (0..keys).map(|_| self.draw(UNIVERSE) as usize).collect();
        let is_left = |key: &usize| {
            let is_left = left[*key] > 0;
            left[*key] = left[*key].saturating_sub(1);
            is_left || !to_remove
        };
        keys.into_iter().filter(is_left).collect()
    }

    fn batch(&mut self, filter: &mut Filter, is_removal: bool) {
        let keys = self.draw(150);
        let keys = self.some(keys, is_removal);
        let hashes: Vec<u64> = keys.iter().map(|key| self.hashes[*key]).collect();
        let (batch, mut found) = (Keys::Hashes(&hashes), vec![9; hashes.len()]);
        let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
        let taken = match is_removal {
            true => filter.remove_batch(&batch, Some(&mut answers)),
            false => filter.insert_batch(&batch, Some(&mut answers)),
        };
        match taken.outcome {
            Ok(()) => assert_eq!(taken.keys, keys.len()),
            Err(error) => assert!(error.status() == Status::Full && !is_removal, "{error}"),
        }
        self.operations += taken.keys as u64;
        for (key, found) in keys.iter().zip(&found).take(taken.keys) {
            assert!(!is_removal || *found == 1, "key {key} is lost");
            self.held[*key] = if is_removal { self.held[*key] - 1 } else { self.held[*key] + 1 };
        }
    }

    /// Inserts or removes a key several times in one call.
    fn times(&mut self, filter: &mut Filter, key: usize) {
        let (hash, held) = (self.hashes[key], self.held[key]);
        let times = [0, 2, 3, 5, 40, 300][self.draw(6) as usize];
        if self.draw(3) > 0 {
            // A refused call may have inserted some copies and taken them out again, after which other entries may lie
            // elsewhere.
            let is_looked_at = self.case.row.is_canonical;
            if self.unless_full_and(filter, is_looked_at, |filter| filter.insert_times_hash(hash, times)).is_some() {
                self.held[key] += times;
            }
        } else if self.can(Capabilities::REMOVE) && held > 0 {
            let times = times.min(held);
            let removed = filter.remove_times_hash(hash, times).unwrap();
            let may_differ =
                filter.kind().as_count().is_some_and(|count| held >= count.greatest_count() || !count.is_upper_bound());
            assert!(removed == times || may_differ, "{removed} of {times} were removed of {held}");
            self.held[key] -= removed;
        }
    }

    /// Merges or intersects with a filter of random keys, some of which occur several times.
    fn combine(&mut self, filter: &mut Filter, is_merger: bool) {
        let mut other = self.empty.copy().unwrap();
        let (keys, mut held) = (if is_merger { 60 } else { 3 * CAPACITY / 2 }, vec![0; UNIVERSE as usize]);
        for key in self.some(keys, false) {
            if other.insert_hash(self.hashes[key]).is_ok() {
                held[key] += 1;
            }
        }
        if is_merger {
            // A growing filter whose entries do not move takes the other filter's levels, of which there is a greatest
            // number.
            let may_refuse = match self.case.row.overfill {
                Overfill::Refuses => true,
                Overfill::Grows => self.is_in_place || !self.case.row.form.moves_entries,
                _ => false,
            };
            if self.unless_refused(filter, true, may_refuse, |filter| filter.merge(&other)).is_some() {
                self.held.iter_mut().zip(held).for_each(|(here, there)| *here += there);
            }
        } else {
            filter.intersect(&other).unwrap();
            self.held.iter_mut().zip(held).for_each(|(here, there)| *here = (*here).min(there));
            self.is_counted = false;
        }
    }

    fn resize(&mut self, filter: &mut Filter) {
        let capacity = [1, self.capacity / 2, self.capacity, 3 * self.capacity][self.draw(4) as usize];
        self.unless_full(filter, |filter| filter.resize(capacity));
    }

    /// One round of operations. `is_rising` says whether keys become more or fewer.
    fn round(&mut self, filter: &mut Filter, is_rising: bool) {
        for _ in 0..ROUND {
            // A few keys occur often.
            let key = if self.draw(4) == 0 { self.draw(64) } else { self.draw(UNIVERSE) } as usize;
            let removes = self.can(Capabilities::REMOVE) && self.draw(8) >= if is_rising { 6 } else { 2 };
            match self.draw(2000) {
                0..40 => self.batch(filter, removes),
                40..100 if self.can(Capabilities::COUNT) => self.times(filter, key),
                100..104 if self.can(Capabilities::MERGE) => self.combine(filter, true),
                104 if self.can(Capabilities::INTERSECT) && !self.is_in_place => self.combine(filter, false),
                105..108 if self.can(Capabilities::RESIZE) && !self.is_in_place => self.resize(filter),
                // A kind that cannot remove becomes empty only by clearing.
                108 if self.can(Capabilities::CLEAR)
                    && (self.draw(8) == 0 || !is_rising && !self.can(Capabilities::REMOVE)) =>
                {
                    filter.clear().unwrap();
                    self.held.fill(0);
                    self.is_counted = true;
                }
                109..180 if self.can(Capabilities::REJUVENATE) => self.rejuvenate(filter, key),
                _ if removes => self.remove(filter, key),
                _ => self.insert(filter, key),
            }
            self.is_told(filter, key);
        }
    }

    /// Removes all keys. If the size and bits of a filter come from its keys alone, nothing is left.
    fn remove_all(&self, mut filter: Filter) {
        if !self.can(Capabilities::REMOVE) || self.case.row.overfill != Overfill::Refuses || !self.is_counted {
            return;
        }
        for (hash, held) in self.hashes.iter().zip(&self.held) {
            assert!((0..*held).all(|_| filter.remove_hash(*hash).unwrap()), "a key is lost");
        }
        assert_eq!(filter.base().count(), 0);
        let is_as_made = filter.base().geometry() == self.empty.base().geometry();
        assert!(!is_as_made || image(&filter) == image(&self.empty), "what was removed has left something");
    }

    fn all(&mut self, filter: &Filter) {
        (0..UNIVERSE as usize).for_each(|key| self.is_told(filter, key));
        filter.verify().unwrap();
        let there = self.hashes.iter().zip(&self.held).filter(|(_, held)| **held > 0);
        let there: Vec<u64> = there.map(|(hash, _)| *hash).collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::Hashes(&there), &mut answers).unwrap();
        assert_eq!(answers.true_count, there.len() as u64, "keys are missing from a batch");
        let is_sum = !self.is_counted || filter.base().count() == self.held.iter().sum::<u64>();
        assert!(is_sum || !self.case.is_multiset());
    }
}

fn run(case: &Case, operations: u64) {
    run_with(case, CAPACITY, operations);
}

fn run_with(case: &Case, capacity: u64, operations: u64) {
    // A growing filter begins with few keys. Where copies take room it begins with more, so that it can double often
    // enough.
    let made_for = match case.row.overfill {
        Overfill::Grows => capacity / if case.is_multiset() { 4 } else { 50 },
        _ => capacity,
    };
    let spec = case.sized(made_for, 0.01);
    let hashes = (0..UNIVERSE).map(|i| hash_of(&spec, i)).collect();
    let held = vec![0; UNIVERSE as usize];
    let empty = Filter::new(&spec).unwrap();
    let mut filter = empty.copy().unwrap();
    let mut machine = Machine {
        case,
        capacity,
        capabilities: case.capabilities(),
        empty,
        hashes,
        held,
        is_counted: true,
        is_in_place: false,
        random: 1,
        operations: 0,
        refused: 0,
    };
    let mut round = 0_u64;
    while machine.operations < operations {
        // The filter becomes full, and then nearly empty.
        let is_rising = round % 20 < 12;
        let bytes = image(&filter);
        match machine.draw(4) {
            0 => filter = load(&bytes, &OpenOptions::default()).unwrap(),
            1 => filter = filter.copy().unwrap(),
            2 if !case.row.form.moves_entries => {
                let mut buffer = Buffer::of(&bytes);
                machine.is_in_place = true;
                buffer.open(Mode::Write, None, |filter| machine.round(filter.unwrap(), is_rising));
                machine.is_in_place = false;
                filter = load(&buffer.bytes(), &OpenOptions::default()).unwrap();
            }
            2 => Buffer::of(&bytes).open(Mode::Read, None, |filter| machine.all(filter.unwrap())),
            _ => {}
        }
        machine.round(&mut filter, is_rising);
        if round % 10 == 9 {
            machine.all(&filter);
        }
        round += 1;
    }
    machine.all(&filter);
    println!("{}: {} operations", case.name(), machine.operations);
    assert!(machine.refused > 0 || case.row.overfill != Overfill::Refuses, "it was never full");
    machine.remove_all(filter);
}

/// No inserted key is lost before it is removed, no count is too low, and a refused change changes nothing.
#[test]
fn filters_hold_what_a_multiset_holds() {
    let keeps = |case: &Case| can(case, Capabilities::INSERT) && !can(case, Capabilities::MAY_LOSE_KEYS);
    let ages = |case: &Case| can(case, Capabilities::AGE);
    // A set of integers holds each key once: `exact_bits.rs` compares it with a set.
    let is_chosen = |case: &Case| keeps(case) && !ages(case) && !case.is_of_integers();
    let cases: Vec<Case> = cases().into_iter().filter(is_chosen).collect();
    each(share_of(cases.clone(), 7, "filters_hold_what_a_multiset_holds"), Case::name, |case| {
        let layouts = cases.iter().filter(|other| other.row.kind == case.row.kind).count() as u64;
        run(case, if is_soak() { 100_000_000 / layouts } else { 50_000 });
        if case.row.overfill == Overfill::Refuses {
            // The filter is so small that each key could have most places, and each place is taken and left many times.
            run_with(case, 20, 10_000);
        }
    });
}

/// Images in place with several regions are changed as filters in memory are. Changed regions are marked.
#[test]
fn images_of_many_regions_are_changed_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    let cases = main_layouts()
        .into_iter()
        .filter(|case| case.is_multiset() && case.row.is_made_empty() && !case.row.form.moves_entries);
    each(cases, Case::name, |case| {
        println!("{}", case.name());
        let mut spec = case.sized(40_000, 1e-4);
        let regions = |spec: &Spec| petal::geometry(spec).unwrap().payload_bytes / REGION_BYTES as u64;
        while regions(&spec) < 6 {
            spec.capacity *= 2;
        }
        let mut model = Filter::new(&spec).unwrap();
        model.save(&path).unwrap();
        let mut filter = petal::open(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() }).unwrap();
        // Few keys come at a time, so that not all regions change at once.
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
    });
}

/// An image in place with several regions changes by one key at a time. Only marked regions change, because the
/// checksums of all others still hold. The test does the same for steps of time. Where keys move time on, it also takes
/// a filter that forgets after few keys.
#[test]
#[ignore = "slow: make test-all"]
fn what_a_key_changes_is_marked() {
    let cases = main_layouts().into_iter().filter(|case| case.row.is_made_empty() && !case.row.form.moves_entries);
    each(cases, Case::name, |case| {
        let mut spec = case.sized(40_000, 1e-4);
        let geometry = |spec: &Spec| petal::geometry(spec).unwrap();
        while geometry(&spec).payload_bytes < 4 * REGION_BYTES as u64 {
            spec.capacity *= 2;
        }
        changes_are_marked(case, &spec);
        if can(case, Capabilities::AGE) {
            let few = Spec { capacity: 40, bits: geometry(&spec).bits, hashes: geometry(&spec).hashes, ..spec };
            changes_are_marked(case, &Spec { false_positive_rate: 0.0, ..few });
        }
    });
}

fn changes_are_marked(case: &Case, spec: &Spec) {
    let capabilities = case.capabilities();
    let mut buffer = Buffer::of(&image(&Filter::new(spec).unwrap()));
    let mut change = |what: String, change: &dyn Fn(&mut Filter)| {
        buffer.open(Mode::Write, None, |filter| change(filter.unwrap()));
        buffer.open(Mode::Read, None, |filter| {
            filter.unwrap().verify().unwrap_or_else(|error| panic!("{what}: {error}"));
        });
    };
    for i in 0..if is_soak() { 2000 } else { 60 } {
        let key = if case.is_of_integers() { mix(i) % spec.capacity } else { i };
        let hash = hash_of(spec, key);
        change(format!("key {i} is inserted"), &|filter| assert!(filter.insert_hash(hash).is_ok()));
        if capabilities.contains(Capabilities::REMOVE) && i % 2 == 0 {
            change(format!("key {i} is removed"), &|filter| assert!(filter.remove_hash(hash).is_ok()));
        }
        if capabilities.contains(Capabilities::AGE) && i % 8 == 0 {
            change(format!("time goes on after key {i}"), &|filter| assert!(filter.advance(1).is_ok()));
        }
    }
}
