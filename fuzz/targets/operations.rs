//! The input is a program over a few filters, whatever their kinds. Each filter has an exact multiset of the hashes
//! that it must contain. No key is ever missing; each operation does what the same operation on the multisets does, or
//! fails and changes nothing; and a filter is bit for bit the one into which its keys are inserted afresh. Maps are
//! built, opened and changed as well ([`petal_fuzz::maps`]).

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use petal::plan::{Goal, Request, plan};
use petal::registry;
use petal::{
    Answers, Builder, BuilderOptions, Capabilities, Filter, HashFunction, Image, Keys, Mode, OpenOptions, Overfill,
    Row, Spec, Status, Taken,
};
use petal_fuzz::batch::Batch;
use petal_fuzz::exercise::{self, image};
use petal_fuzz::maps;
use petal_fuzz::specs::{LARGEST, SECRET, opens, spec};
use std::collections::HashMap;
use std::ptr::NonNull;

const SLOTS: usize = 3;

fuzz_target!(|bytes: &[u8]| {
    // An error says that the program is at its end.
    let _ = run(&mut Unstructured::new(bytes));
});

/// A filter and what is known of it.
struct Slot {
    /// Dropped before the memory that it may lie in.
    filter: Filter,
    /// The image that the filter is open in.
    memory: Option<Vec<u64>>,
    /// Each hash that must be there, and how often.
    hashes: HashMap<u64, u64>,
    /// Keys offered, less those removed.
    count: u64,
    /// Whether the filter holds `hashes` and nothing else, as after anything but an intersection and the removal of a
    /// key that only seemed to be there.
    exact: bool,
}

impl Slot {
    fn owned(filter: Filter) -> Slot {
        Slot { filter, memory: None, hashes: HashMap::new(), count: 0, exact: true }
    }

    fn can(&self, capability: Capabilities) -> bool {
        self.filter.capabilities().contains(capability)
    }

    /// Whether it takes a batch that changes it. A batch without keys changes nothing, and every filter of a kind that
    /// could takes it, even where it is open for reading.
    fn takes(&self, batch: &Batch, capability: Capabilities) -> bool {
        if batch.keys().is_empty() {
            self.filter.base().capabilities_in_memory().contains(capability)
        } else {
            self.can(capability)
        }
    }

    /// Does something that succeeds exactly if `possible`, and if there is room for it; otherwise leaves the filter as
    /// it was.
    fn attempt<T>(&mut self, possible: bool, act: impl FnOnce(&mut Filter) -> petal::Result<T>) -> Option<T> {
        self.attempt_that_fills(possible, false, act)
    }

    /// Does something that succeeds exactly if `possible`, unless it `fills` the filter: then it may be refused as full
    /// though there is room for single keys. What is refused changes nothing.
    fn attempt_that_fills<T>(
        &mut self,
        possible: bool,
        fills: bool,
        act: impl FnOnce(&mut Filter) -> petal::Result<T>,
    ) -> Option<T> {
        let before = image(&self.filter);
        let outcome = act(&mut self.filter);
        let full = possible && outcome.as_ref().is_err_and(|error| error.status() == Status::Full);
        assert!(!full || fills || self.may_be_full(), "a filter that never is full says that it is");
        assert_eq!(outcome.is_ok(), possible && !full, "{:?}", outcome.err());
        assert!(outcome.is_ok() || image(&self.filter) == before, "a failure changed something");
        outcome.ok()
    }

    /// Whether the filter may lose keys.
    fn loses(&self) -> bool {
        let row = self.filter.base().row();
        row.capabilities.contains(Capabilities::MAY_LOSE_KEYS) || row.overfill == Overfill::Forgets
    }

    /// Whether a key may be refused because there is no room for it.
    fn may_be_full(&self) -> bool {
        match self.filter.base().row().overfill {
            Overfill::Refuses => true,
            Overfill::Grows => self.filter.kind().as_grow().is_some_and(|grow| grow.room() == 0),
            // What was removed, or seems so, does not come back.
            Overfill::RateRises | Overfill::IsBuilt | Overfill::Forgets => self.loses(),
        }
    }

    /// Takes note of keys that were inserted.
    fn note_inserted(&mut self, hashes: &[u64]) {
        for hash in hashes {
            let times = self.hashes.entry(*hash).or_default();
            *times = times.saturating_add(1);
        }
        self.count = self.count.saturating_add(hashes.len() as u64);
    }

    /// Takes note of a removal and of what the filter said of it.
    fn note_removed(&mut self, hash: u64, removed: bool) {
        let is_lost = self.loses() && !removed;
        assert!(removed || is_lost || !self.hashes.contains_key(&hash), "a key that is there was not removed");
        self.count = self.count.saturating_sub(removed.into());
        match self.hashes.get_mut(&hash) {
            Some(times) if *times > 1 => *times -= 1,
            Some(_) => drop(self.hashes.remove(&hash)),
            // A key that only seemed to be there was taken from any other keys.
            None if removed => {
                self.hashes.clear();
                self.exact = false;
            }
            None => {}
        }
    }

    /// Whatever was inserted may be forgotten once there were more keys than the window has, or at any time. What may
    /// be there yet is for tests to say that know the order in which keys came.
    fn forget(&mut self) {
        let base = self.filter.base();
        let keys = base.row().losses.window.and_then(|window| {
            let window = window(base.geometry());
            window.keys.map(|keys| keys.saturating_mul(window.steps))
        });
        if keys.is_some_and(|keys| self.count > keys) || self.can(Capabilities::MAY_LOSE_KEYS) {
            self.hashes.clear();
        }
    }

    /// Nothing is missing that may not be, and what is exact has no bit too many.
    fn check(&mut self) {
        if self.loses() {
            let filter = &self.filter;
            self.hashes.retain(|hash, _| filter.contains_hash(*hash));
        }
        let Slot { filter, hashes, count, .. } = &*self;
        assert!(hashes.keys().all(|hash| filter.contains_hash(*hash)), "a key is missing");
        let list: Vec<u64> = hashes.keys().copied().collect();
        let mut answers = Answers::default();
        filter.contains_batch(&Keys::Hashes(&list), &mut answers).expect("hashes are always taken");
        assert_eq!(answers.true_count, list.len() as u64, "a key is missing from a batch");
        assert_eq!(filter.base().count(), *count);
        if let Some(kind) = filter.kind().as_count() {
            let most = kind.greatest_count();
            for (hash, times) in hashes {
                let told = kind.count_one(*hash);
                let is_enough = told >= most.min(*times) || !kind.is_upper_bound();
                assert!(is_enough && told <= most, "{times} times there, told {told}");
            }
        }
        // Those that are made empty, whose payload does not depend on the order of keys. What is saturated no longer
        // knows how often keys came.
        let row = filter.base().row();
        let is_multiset = filter.base().capabilities_in_memory().contains(Capabilities::REMOVE);
        // Merging doubles how often keys are there.
        let is_long = is_multiset && hashes.values().fold(0, |sum: u64, times| sum.saturating_add(*times)) > 1 << 16;
        let is_told = !(is_long || is_multiset && filter.statistics().saturated > 0);
        if self.exact && row.is_canonical && row.is_made_empty() && is_told {
            let mut spec = filter.base().spec();
            spec.secret = (spec.hash == HashFunction::SipHash13).then_some(SECRET);
            let mut again = petal::Filter::new(&spec).expect("the spec of a filter is possible");
            for (hash, times) in hashes {
                for _ in 0..if is_multiset { *times } else { 1 } {
                    again.insert_hash(*hash).expect("it can insert");
                }
            }
            assert!(again.equals(filter), "the filter is not that of its keys");
        }
        let verified = filter.verify().map_err(|error| error.status());
        let expected = if filter.base().is_unclean() { Err(Status::Unclean) } else { Ok(()) };
        assert_eq!(verified, expected, "the payload is sound");
    }

    /// Opens the image of the filter in another way.
    fn reopen(&mut self, mode: Mode, key: bool) {
        let bytes = image(&self.filter);
        let keyed = self.filter.base().header().hash == HashFunction::SipHash13;
        let mut memory: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        let place = NonNull::new(memory.as_mut_ptr().cast()).expect("a vector");
        let options = OpenOptions { mode, secret: (keyed && key).then_some(SECRET), ..OpenOptions::default() };
        // SAFETY: the memory stays with the filter, which alone uses it.
        let opened = unsafe { petal::open_in_buffer(place, bytes.len(), &options) };
        let row = self.filter.base().row();
        let is_refused = !opens(row, self.filter.base().geometry(), mode);
        let filter = match opened {
            Ok(filter) => filter,
            Err(error) => {
                assert_eq!((error.status(), is_refused), (Status::Unsupported, true), "{mode:?}: {error}");
                return;
            }
        };
        assert!(!is_refused, "{} opens in the mode {mode:?}", row.name);
        assert!(filter.equals(&self.filter));
        let external = self.filter.base().header().hash == HashFunction::External;
        assert_eq!(filter.base().hasher().can_hash(), !external && keyed == options.secret.is_some());
        self.filter = filter;
        self.memory = (mode != Mode::Load).then_some(memory);
    }

    /// Closes what is open in an image, and loads what it left there.
    fn close(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        let Ok(copy) = self.filter.copy() else { return };
        self.filter = copy;
        let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_le_bytes()).collect();
        let filter = petal::load(&bytes, &OpenOptions::default()).expect("a closed image");
        assert!(filter.equals(&self.filter), "closing lost something");
        assert_eq!(filter.base().header().count, self.count);
    }
}

fn run(input: &mut Unstructured) -> Result<()> {
    let mut slots: [Option<Slot>; SLOTS] = Default::default();
    let mut planned = false;
    while !input.is_empty() {
        let i = input.int_in_range(0..=SLOTS - 1)?;
        let (here, other) = if i == 0 {
            let (first, rest) = slots.split_at_mut(1);
            (&mut first[0], &mut rest[0])
        } else {
            let (first, rest) = slots.split_at_mut(i);
            (&mut rest[0], &mut first[i - 1])
        };
        let Some(slot) = here else {
            *here = make(input)?;
            // What a builder was given may have been forgotten already.
            here.iter_mut().for_each(Slot::check);
            continue;
        };
        match input.int_in_range(0..=17)? {
            0 => *here = make(input)?,
            1 | 2 => insert(slot, input)?,
            3 | 4 => insert_batch(slot, input)?,
            5 => look_up(slot, input)?,
            6 => combine(slot, other.as_ref(), true),
            7 => combine(slot, other.as_ref(), false),
            8 => fold(slot, input)?,
            9 if slot.can(Capabilities::AGE) && slot.count % 2 == 1 => {
                let steps = slot.count % 5;
                slot.attempt(true, |filter| filter.advance(steps));
                slot.hashes.clear();
            }
            9 => {
                if slot.attempt(slot.can(Capabilities::CLEAR), |filter| filter.clear()).is_some() {
                    (slot.count, slot.exact) = (0, true);
                    slot.hashes.clear();
                }
            }
            10 => {
                let filter = slot.filter.copy().expect("small");
                let Slot { hashes, count, exact, .. } = &*slot;
                *other = Some(Slot { filter, memory: None, hashes: hashes.clone(), count: *count, exact: *exact });
            }
            11 => slot
                .reopen(*input.choose(&[Mode::Load, Mode::Read, Mode::Write, Mode::Share])?, bool::arbitrary(input)?),
            12 => slot.close(),
            13 if slot.can(Capabilities::REJUVENATE) && slot.count % 2 == 1 => rejuvenate(slot, input)?,
            13 => remove(slot, input)?,
            14 => remove_batch(slot, input)?,
            15 => count(slot, input)?,
            16 => count_batch(slot, input)?,
            // Sizing is much slower than all else here.
            _ if planned => {}
            _ => {
                planned = true;
                propose(input)?;
            }
        }
        slots[i].iter_mut().for_each(Slot::forget);
        slots[i].iter_mut().for_each(Slot::check);
    }
    slots.iter_mut().flatten().for_each(Slot::check);
    slots.iter().flatten().for_each(|slot| exercise::look(&slot.filter));
    slots.iter_mut().flatten().for_each(Slot::close);
    Ok(())
}

/// A filter from a spec: an empty one, one in a buffer, or one from a builder. `None` where the spec is impossible.
fn make(input: &mut Unstructured) -> Result<Option<Slot>> {
    let spec = spec(input)?;
    if spec.kind.and_then(registry::find).is_some_and(Row::is_map) {
        return maps::run(&spec, input).map(|()| None);
    }
    let size = petal::image_size(&spec);
    match input.int_in_range(0..=3)? {
        0 => return build(&spec, input),
        1 => return Ok(make_in_buffer(&spec, size, input.int_in_range(0..=16)?)),
        _ => {}
    }
    match size {
        Ok(size) if size > LARGEST => Ok(None),
        Ok(size) => {
            let filter = petal::Filter::new(&spec).expect("its image has a size");
            assert_eq!(filter.serialized_size(), size);
            assert_eq!((filter.statistics().fill, filter.false_positive_rate()), (0.0, 0.0));
            Ok(Some(Slot::owned(filter)))
        }
        Err(error) => {
            let refused = petal::Filter::new(&spec).err().map(|error| error.status());
            assert_eq!(refused, Some(error.status()));
            Ok(None)
        }
    }
}

fn make_in_buffer(spec: &Spec, size: petal::Result<u64>, spare: usize) -> Option<Slot> {
    let needed = size.ok().filter(|size| *size <= LARGEST)? as usize;
    // One byte short at times, and at times not on a multiple of 8.
    let (length, shift) = if spare == 0 { (needed - 1, 0) } else { (needed + spare, if spare == 1 { 1 } else { 0 }) };
    let mut memory = vec![u64::MAX; needed / 8 + 3];
    let place = NonNull::new(memory.as_mut_ptr().cast::<u8>()).expect("a vector");
    // SAFETY: `shift + length` is inside the memory, which stays with the filter, which alone uses it.
    let filter = match unsafe { petal::new_in_buffer(spec, place.add(shift), length) } {
        Ok(filter) => filter,
        Err(error) => {
            let expected = match spare {
                0 => Status::BufferTooSmall,
                1 => Status::Misaligned,
                // Readers of the buffer would be answered wrongly.
                _ => Status::Unsupported,
            };
            let moves = petal::row_of(spec).is_ok_and(|row| row.form.moves_entries);
            assert_eq!((error.status(), spare <= 1 || moves), (expected, true));
            assert!(memory.iter().all(|word| *word == u64::MAX), "a failure changed something");
            return None;
        }
    };
    assert!(spare > 1 && memory[needed / 8..].iter().all(|word| *word == u64::MAX), "written past the image");
    memory.truncate(needed / 8);
    Some(Slot { memory: Some(memory), ..Slot::owned(filter) })
}

fn build(spec: &Spec, input: &mut Unstructured) -> Result<Option<Slot>> {
    let Ok(mut builder) = Builder::new(spec, BuilderOptions::default()) else { return Ok(None) };
    let most = Spec { capacity: if spec.bits == 0 { spec.capacity.max(1000) } else { spec.capacity }, ..*spec };
    if petal::image_size(&most).is_ok_and(|size| size > LARGEST) {
        return Ok(None);
    }
    let hasher = spec.hasher().expect("the builder took the spec");
    let mut hashes: HashMap<u64, u64> = HashMap::new();
    while bool::arbitrary(input)? {
        let batch = Batch::arbitrary(input)?;
        let count = builder.key_count();
        match batch.hashes(&hasher).filter(|_| batch.sound()) {
            Some(more) => {
                assert_eq!(builder.add_batch(&batch.keys()).keys, more.len());
                more.into_iter().for_each(|hash| *hashes.entry(hash).or_default() += 1);
            }
            None => {
                assert_eq!(builder.add_batch(&batch.keys()).keys, 0);
                assert_eq!(builder.key_count(), count);
            }
        }
        if hashes.len() > 1000 {
            break;
        }
    }
    let count = builder.key_count();
    // A size that fits no key at all may still not fit those that came.
    let Ok(filter) = builder.finish() else { return Ok(None) };
    assert_eq!(builder.key_count(), 0);
    if spec.capacity == 0 && spec.bits == 0 {
        let (capacity, distinct) = (filter.base().header().capacity, hashes.len().max(1) as u64);
        // Each copy of a key may take a place, or make others take more.
        let row = filter.base().row();
        let is_right = match (row.room.places, row.room.copies) {
            (Some(_), _) => (distinct..=count.max(1)).contains(&capacity),
            (None, Some(_)) => capacity == distinct || capacity > count,
            (None, None) => capacity == distinct,
        };
        assert!(is_right, "capacity {capacity} of {distinct} keys that came {count} times");
    }
    Ok(Some(Slot { hashes, count, ..Slot::owned(filter) }))
}

/// One key, in one of the three forms.
struct Key {
    form: u8,
    number: u64,
    length: usize,
}

impl<'a> Arbitrary<'a> for Key {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Key> {
        let number = u64::from(u8::arbitrary(input)?);
        Ok(Key { number, length: input.int_in_range(0..=8)?, form: input.int_in_range(0..=2)? })
    }
}

impl Key {
    /// What one of three functions says of the key.
    fn ask<T>(&self, bytes: impl FnOnce(&[u8]) -> T, number: impl FnOnce(u64) -> T, hash: impl FnOnce(u64) -> T) -> T {
        match self.form {
            0 => bytes(&self.number.to_be_bytes()[..self.length]),
            1 => number(self.number),
            _ => hash(self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        }
    }

    /// The key's hash, if the key can be hashed.
    fn hash(&self, filter: &Filter) -> Option<u64> {
        let hasher = filter.base().hasher();
        self.ask(|key| hasher.hash_bytes(key).ok(), |key| hasher.hash_u64(key).ok(), Some)
    }
}

fn insert(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let key = Key::arbitrary(input)?;
    let hash = key.hash(&slot.filter);
    let possible = hash.is_some() && slot.can(Capabilities::INSERT);
    let new = slot.attempt(possible, |filter| {
        let filter = core::cell::RefCell::new(filter);
        key.ask(
            |key| filter.borrow_mut().insert(key),
            |key| filter.borrow_mut().insert_u64(key),
            |hash| filter.borrow_mut().insert_hash(hash),
        )
    });
    if let (Some(new), Some(hash)) = (new, hash) {
        assert!(!new || !slot.hashes.contains_key(&hash), "a key that was there is new");
        slot.note_inserted(&[hash]);
    }
    Ok(())
}

fn remove(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let key = Key::arbitrary(input)?;
    let hash = key.hash(&slot.filter);
    let possible = hash.is_some() && slot.can(Capabilities::REMOVE);
    let before = slot.filter.copy().expect("small");
    let removed = slot.attempt(possible, |filter| {
        let filter = core::cell::RefCell::new(filter);
        key.ask(
            |key| filter.borrow_mut().remove(key),
            |key| filter.borrow_mut().remove_u64(key),
            |hash| filter.borrow_mut().remove_hash(hash),
        )
    });
    if let (Some(removed), Some(hash)) = (removed, hash) {
        assert_eq!(removed, before.contains_hash(hash), "what may be there is removed, and nothing else");
        assert!(removed || slot.filter.equals(&before), "a removal that was refused changed something");
        slot.note_removed(hash, removed);
    }
    Ok(())
}

/// Only of keys that are there, or certainly are not: any other may take what another key is found by.
fn rejuvenate(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let key = Key::arbitrary(input)?;
    let hash = key.hash(&slot.filter);
    let is_there = hash.is_some_and(|hash| slot.hashes.contains_key(&hash));
    if !is_there && hash.is_some_and(|hash| slot.filter.contains_hash(hash)) {
        return Ok(());
    }
    let before = slot.filter.copy().expect("small");
    let changed = slot.attempt(hash.is_some(), |filter| {
        let filter = core::cell::RefCell::new(filter);
        key.ask(
            |key| filter.borrow_mut().rejuvenate(key),
            |key| filter.borrow_mut().rejuvenate(u64::to_le_bytes(key)),
            |hash| filter.borrow_mut().rejuvenate_hash(hash),
        )
    });
    if let (Some(changed), Some(hash)) = (changed, hash) {
        assert_eq!(changed, !slot.filter.equals(&before), "it changes something exactly if it says so");
        assert!(is_there || !changed, "a key that is not there is rejuvenated");
        assert!(!changed || !slot.filter.rejuvenate_hash(hash).expect("it can"), "it is rejuvenated twice");
    }
    Ok(())
}

fn count(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let key = Key::arbitrary(input)?;
    let (filter, hash) = (&slot.filter, key.hash(&slot.filter));
    let told = key.ask(|key| filter.count(key), |key| filter.count_u64(key), |hash| filter.count_hash(hash));
    assert_eq!(told.is_ok(), hash.is_some() && slot.can(Capabilities::COUNT), "{told:?}");
    if let (Ok(told), Some(hash)) = (told, hash) {
        assert_eq!(told > 0, filter.contains_hash(hash));
        assert!(told >= slot.hashes.get(&hash).copied().unwrap_or(0).min(greatest_count(filter)));
    }
    Ok(())
}

/// The greatest count that a filter reports.
fn greatest_count(filter: &Filter) -> u64 {
    filter.kind().as_count().map_or(0, |kind| kind.greatest_count())
}

/// Room for answers, of the right length or not.
struct Room {
    bytes: Option<Vec<u8>>,
    bitmap: Option<Vec<u8>>,
    right: bool,
}

impl Room {
    fn new(keys: usize, input: &mut Unstructured) -> Result<Room> {
        let wrong = usize::from(input.ratio(1, 8)?);
        let bytes = bool::arbitrary(input)?.then(|| vec![0xaa; keys + wrong]);
        let bitmap = bool::arbitrary(input)?.then(|| vec![0xaa; keys.div_ceil(8) + wrong]);
        let right = wrong == 0 || (bytes.is_none() && bitmap.is_none());
        Ok(Room { bytes, bitmap, right })
    }

    fn answers(&mut self) -> Answers<'_> {
        Answers { bytes: self.bytes.as_deref_mut(), bitmap: self.bitmap.as_deref_mut(), ..Answers::default() }
    }

    /// All forms say `expected` of the first keys. Where these are all, bits after the last are zero.
    fn check(&self, expected: &[bool]) {
        if let Some(bytes) = &self.bytes {
            assert!(bytes.iter().zip(expected).all(|(byte, answer)| *byte == u8::from(*answer)));
        }
        if let Some(bitmap) = &self.bitmap {
            let bit = |i: usize| bitmap[i / 8] >> (i % 8) & 1 == 1;
            assert!(expected.iter().enumerate().all(|(i, answer)| bit(i) == *answer));
            let is_all = bitmap.len() == expected.len().div_ceil(8);
            assert!(!is_all || (expected.len()..bitmap.len() * 8).all(|i| !bit(i)), "bits after the last key");
        }
    }
}

fn insert_batch(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let batch = Batch::arbitrary(input)?;
    let mut room = Room::new(batch.keys().len(), input)?;
    let can = slot.takes(&batch, Capabilities::INSERT);
    let hashes = batch.hashes(slot.filter.base().hasher()).filter(|_| room.right && can);
    let mut one_by_one = slot.filter.copy().expect("small");
    let before = image(&slot.filter);
    let mut answers = room.answers();
    let Taken { keys: done, outcome } = slot.filter.insert_batch(&batch.keys(), Some(&mut answers));
    let (taken, trues) = (answers.done, answers.true_count);
    let Some(hashes) = hashes else {
        assert!(outcome.is_err() && done == 0, "{done} keys were taken: {outcome:?}");
        assert!(image(&slot.filter) == before, "a failure changed something");
        return Ok(());
    };
    let hashes = match outcome {
        Ok(()) => &hashes[..],
        Err(error) => {
            assert!(error.status() == Status::Full && slot.may_be_full() && done < hashes.len(), "{error}");
            &hashes[..done]
        }
    };
    let new: Vec<bool> = hashes.iter().map(|hash| one_by_one.insert_hash(*hash).expect("there is room")).collect();
    assert!(slot.filter.equals(&one_by_one), "a batch is not its keys one by one");
    assert_eq!((done, taken, trues), (new.len(), new.len(), new.iter().filter(|new| **new).count() as u64));
    room.check(&new);
    slot.note_inserted(hashes);
    Ok(())
}

fn remove_batch(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let batch = Batch::arbitrary(input)?;
    let mut room = Room::new(batch.keys().len(), input)?;
    let can = slot.takes(&batch, Capabilities::REMOVE);
    let hashes = batch.hashes(slot.filter.base().hasher()).filter(|_| room.right && can);
    let mut one_by_one = slot.filter.copy().expect("small");
    let (mut done, mut trues) = (0, 0);
    slot.attempt(hashes.is_some(), |filter| {
        let mut answers = room.answers();
        let Taken { keys, outcome } = filter.remove_batch(&batch.keys(), Some(&mut answers));
        (done, trues) = (keys, answers.true_count);
        outcome
    });
    let Some(hashes) = hashes else {
        assert_eq!(done, 0);
        return Ok(());
    };
    let removed: Vec<bool> = hashes.iter().map(|hash| one_by_one.remove_hash(*hash).expect("it can remove")).collect();
    assert!(slot.filter.equals(&one_by_one), "a batch is not its keys one by one");
    assert_eq!((done, trues), (hashes.len(), removed.iter().filter(|removed| **removed).count() as u64));
    room.check(&removed);
    hashes.iter().zip(removed).for_each(|(hash, removed)| slot.note_removed(*hash, removed));
    Ok(())
}

fn count_batch(slot: &Slot, input: &mut Unstructured) -> Result<()> {
    let batch = Batch::arbitrary(input)?;
    let keys = batch.keys().len();
    let mut room = Room::new(keys, input)?;
    let mut counts = vec![7; if input.ratio(1, 8)? { keys + 1 } else { keys }];
    let right = room.right && counts.len() == keys && slot.can(Capabilities::COUNT);
    let hashes = batch.hashes(slot.filter.base().hasher()).filter(|_| right);
    let mut answers = Answers { counts: Some(&mut counts), ..room.answers() };
    let outcome = slot.filter.count_batch(&batch.keys(), &mut answers);
    let trues = answers.true_count;
    assert_eq!(outcome.is_ok(), hashes.is_some(), "{outcome:?}");
    let Some(hashes) = hashes else {
        // Whatever fails says "maybe" of every key, and as often as can be.
        assert!(trues == keys as u64 && counts.iter().all(|count| *count == u64::MAX));
        return Ok(());
    };
    let told: Vec<u64> = hashes.iter().map(|hash| slot.filter.count_hash(*hash).expect("it can count")).collect();
    assert_eq!(counts, told);
    let found: Vec<bool> = told.iter().map(|count| *count > 0).collect();
    assert_eq!(trues, found.iter().filter(|found| **found).count() as u64);
    room.check(&found);
    Ok(())
}

fn look_up(slot: &Slot, input: &mut Unstructured) -> Result<()> {
    let batch = Batch::arbitrary(input)?;
    let mut room = Room::new(batch.keys().len(), input)?;
    let hashes = batch.hashes(slot.filter.base().hasher()).filter(|_| room.right);
    let mut answers = room.answers();
    let outcome = slot.filter.contains_batch(&batch.keys(), &mut answers);
    let trues = answers.true_count;
    assert_eq!(outcome.is_ok(), hashes.is_some());
    match hashes {
        Some(hashes) => {
            let found: Vec<bool> = hashes.iter().map(|hash| slot.filter.contains_hash(*hash)).collect();
            assert_eq!(trues, found.iter().filter(|found| **found).count() as u64);
            room.check(&found);
        }
        // Whatever fails says "maybe" of every key.
        None => {
            assert_eq!(trues, batch.keys().len() as u64);
            if room.right {
                room.check(&vec![true; batch.keys().len()]);
            }
        }
    }
    Ok(())
}

/// Union or intersection with another filter, or with itself.
fn combine(slot: &mut Slot, other: Option<&Slot>, union: bool) {
    let copy = slot.filter.copy().expect("small");
    let (filter, hashes, count, exact) = match other {
        Some(other) => (&other.filter, &other.hashes, other.count, other.exact),
        None => (&copy, &slot.hashes.clone(), slot.count, slot.exact),
    };
    let compatible = filter.base().compatibility_id() == copy.base().compatibility_id();
    let comparable = compatible && copy.kind().as_overlap().is_some();
    assert_eq!(petal::estimate_overlap(filter, &copy).is_ok(), comparable);
    let capability = if union { Capabilities::MERGE } else { Capabilities::INTERSECT };
    let possible = compatible && slot.can(capability);
    // Where many filters were merged no growth makes room for more.
    let fills = union && slot.filter.base().row().overfill == Overfill::Grows;
    let unite = |here: &mut Filter| if union { here.merge(filter) } else { here.intersect(filter) };
    let done = slot.attempt_that_fills(possible, fills, unite);
    if done.is_none() {
        return;
    }
    if union {
        for (hash, times) in hashes {
            let here = slot.hashes.entry(*hash).or_default();
            *here = here.saturating_add(*times);
        }
        slot.count = slot.count.saturating_add(count);
        slot.exact &= exact;
    } else {
        let most = copy.false_positive_rate().min(filter.false_positive_rate());
        assert!(slot.filter.false_positive_rate() <= most * (1.0 + 1e-9), "an intersection is less accurate");
        slot.hashes.retain(|hash, times| {
            *times = hashes.get(hash).copied().unwrap_or(0).min(*times);
            *times > 0
        });
        slot.count = slot.count.min(count);
        slot.exact = false;
    }
}

fn fold(slot: &mut Slot, input: &mut Unstructured) -> Result<()> {
    let factor = *input.choose(&[0, 1, 2, 3, 4, 5, 7, 8, 64, u64::MAX])?;
    let can = slot.can(Capabilities::FOLD);
    let units = slot.filter.fold_units().unwrap_or(1);
    let possible = can && factor >= 2 && units.is_multiple_of(factor);
    if slot.attempt(possible, |filter| filter.fold(factor)).is_some() {
        assert_eq!(slot.filter.fold_units(), Some(units / factor));
    }
    Ok(())
}

/// What the planner proposes can be had, and is as good as it says.
fn propose(input: &mut Unstructured) -> Result<()> {
    let keys = if bool::arbitrary(input)? { u64::arbitrary(input)? } else { u64::from(u16::arbitrary(input)?) };
    let goal = match input.int_in_range(0..=3)? {
        0 => Goal::FalsePositiveRate(f64::arbitrary(input)?),
        1 => Goal::FalsePositiveRate(*input.choose(&[0.1, 0.01, 1e-6, 1e-15])?),
        2 => Goal::Memory(u64::arbitrary(input)?),
        _ => Goal::Memory(u64::from(u16::arbitrary(input)?)),
    };
    let capabilities = Capabilities(1 << input.int_in_range(0..=9)?);
    let request = Request {
        keys,
        goal,
        capabilities,
        is_static: bool::arbitrary(input)?,
        universe: 0,
        frequent: 0.0,
        non_members: 0,
        times: keys % 20,
    };
    let Ok(proposals) = plan(&request) else {
        return Ok(());
    };
    for proposal in proposals {
        let Ok(fit) = proposal.outcome else { continue };
        assert!((0.0..=1.0).contains(&fit.false_positive_rate) && fit.bits_per_key > 0.0, "{proposal:?}");
        match goal {
            Goal::FalsePositiveRate(rate) => {
                // No filter is more accurate than the hashes of its keys.
                let floor = petal::sizing::hash_floor(keys.max(1), 64);
                assert!(fit.false_positive_rate <= rate.max(floor) * (1.0 + 1e-9), "{proposal:?}");
                let spec = Spec {
                    kind: Some(proposal.kind),
                    capacity: keys.max(1),
                    false_positive_rate: rate,
                    ..Spec::default()
                };
                // A kind that is built says what it takes once it has its keys; copies of keys may take room.
                let size = petal::image_size(&spec).ok();
                let is_made_empty = petal::registry::find(proposal.kind).is_some_and(|row| row.is_made_empty());
                assert_eq!(size.is_some(), is_made_empty, "{proposal:?}");
                let is_same = size.is_none_or(|size| size == fit.bytes || request.times > 1 && size < fit.bytes);
                assert!(is_same, "{proposal:?} takes {size:?}");
            }
            Goal::Memory(bytes) => assert!(fit.bytes <= bytes, "{proposal:?}"),
        }
    }
    Ok(())
}
