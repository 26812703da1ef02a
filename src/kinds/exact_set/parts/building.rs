//! Building sets of several parts: one set for each class of partitions, and updates of sets built earlier.

use super::super::building::levels;
use super::super::layout::{EXCLUDED, Shape, hashes_of};
use super::super::plan::Plan;
use super::super::sizing;
use super::choice::{ALWAYS, Choice, Counts, FIRST_SET, NEVER, of_class};
use super::layout::{
    BASE_WORD, CLASS_BITS, Form, LINE, MAX_UPDATES, PREFIX_WORD, RATE_WORD, Set, UPDATES_WORD, without_updates,
};
use crate::batch::records::{PIECE, Placed, Records};
use crate::contract::{Base, Build, Built};
use crate::error::{Result, Status, error};
use crate::format::{Geometry, image_bytes};
use crate::order::sort;
use crate::simd;
use crate::spec::{Number, Size};
use crate::storage::{Words, try_vec};
use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicU64, Ordering};

/// What a spec asks for.
pub struct Limits {
    /// The bits that both levels of a set may have.
    pub allowed: RangeInclusive<u64>,
    /// The bytes of a prefix.
    pub prefix_bytes: u64,
}

/// What is needed of a record here.
trait PartitionedRecord: Copy {
    /// The record of the key's hash, with the mark of an excluded key.
    fn record(self) -> u64;
    /// The number of the key's partition.
    fn partition(self) -> usize;
}

impl PartitionedRecord for u64 {
    fn record(self) -> u64 {
        self
    }

    fn partition(self) -> usize {
        0
    }
}

impl PartitionedRecord for Placed {
    fn record(self) -> u64 {
        self.record
    }

    fn partition(self) -> usize {
        self.partition as usize
    }
}

/// Makes the payload of a universe whose keys are divided by prefixes with these hashes.
pub fn build(build: &mut Build<Placed>, asked: &Limits, prefixes: &[u64]) -> Result<Built> {
    if let Size::Exact { bits, .. } = build.size {
        return Err(error!(
            Contradiction,
            "bits = {bits}: with partitions the keys say how many bits an exact_set takes"
        ));
    }
    let mut counts = try_vec(prefixes.len())?;
    counts.resize(prefixes.len(), (0, 0));
    let [members, excluded] = count(build.records, &mut |record, partition| {
        if let Some((members, excluded)) = counts.get_mut(partition) {
            *(if record & EXCLUDED == 0 { members } else { excluded }) += 1;
        }
    })?;
    let rate = limit(build, excluded);
    let mut ordered = try_vec(counts.len())?;
    ordered.extend_from_slice(&counts);
    sort(&mut ordered);
    let mut partitions: Vec<(Counts, u64)> = try_vec(counts.len())?;
    for counts in ordered {
        match partitions.last_mut() {
            Some((last, times)) if *last == counts => *times += 1,
            _ => partitions.push((counts, 1)),
        }
    }
    let choice = Choice::of(&partitions, |class| match of_class(class) {
        None => class == NEVER || rate >= 1.0,
        Some((is_inverted, bits)) => {
            let bits = u64::from(bits);
            asked.allowed.contains(&bits) && sizing::decisive_rate(bits, is_inverted, members) <= rate
        }
    })?;
    let mut classes = try_vec(counts.len())?;
    classes.extend(counts.iter().map(|counts| choice.class(*counts)));
    // For the classes without a set only the number of keys is kept.
    let keys_of = |class: u8| {
        let of = counts.iter().zip(&classes).filter(|(_, of)| **of == class);
        of.map(|((members, excluded), _)| members + excluded).sum::<u64>()
    };
    let mut sets = try_vec(usize::from(u8::MAX))?;
    let mut used: Vec<u8> = try_vec(usize::from(u8::MAX))?;
    used.extend((FIRST_SET..u8::MAX).filter(|class| classes.contains(class)));
    if choice.rest >= FIRST_SET && !used.contains(&choice.rest) {
        used.push(choice.rest);
        sort(&mut used);
    }
    let parts = used.len() as u64;
    for (part, class) in used.iter().enumerate() {
        let of = OfClass { records: build.records, classes: &classes, class: *class, keys: 0 };
        let mut progress = |done, all| (build.progress)(share(part as u64, parts, done, all), SHARES * parts);
        let part = Budget { size: build.size, memory: build.memory, threads: build.threads, progress: &mut progress };
        sets.push(of.built(build.spec, part)?);
    }
    // Classes become the numbers of their sets, in order.
    let number = |class: u8| match used.iter().position(|used| *used == class) {
        Some(set) => FIRST_SET + set as u8,
        None => class,
    };
    let mut directory = try_vec(prefixes.len())?;
    let listed = prefixes.iter().zip(&classes).filter(|(_, class)| **class != choice.rest);
    directory.extend(listed.map(|(hash, class)| hash >> CLASS_BITS << CLASS_BITS | u64::from(number(*class))));
    sort(&mut directory);
    let head = [directory.len() as u64, parts, number(choice.rest).into(), keys_of(ALWAYS), keys_of(NEVER), 0, 0, 0];
    laid_out(asked, head, &directory, &sets)
}

/// Lays the parts out.
fn laid_out(asked: &Limits, head: [u64; LINE], directory: &[u64], sets: &[(Shape, Words)]) -> Result<Built> {
    let pad = |words: usize| words.next_multiple_of(LINE);
    let start = LINE + pad(2 * sets.len());
    let front = (start + pad(directory.len())) as u64;
    let length = sets.iter().try_fold(front, |sum, (shape, _)| sum.checked_add(shape.words()));
    let payload_bytes = length.and_then(|words| words.checked_mul(8)).filter(|bytes| image_bytes(*bytes).is_some());
    let payload_bytes = payload_bytes.ok_or(Status::TooLarge)?;
    let mut words = Words::zeroed(payload_bytes)?;
    let to = words.exclusive().ok_or(Status::Internal)?;
    to[..LINE].copy_from_slice(&head);
    to[start..start + directory.len()].copy_from_slice(directory);
    let (mut at, mut bits) = (front as usize, 64 * front);
    for (i, (shape, from)) in sets.iter().enumerate() {
        let row = Set::row(shape).ok_or(Status::TooLarge)?;
        to[LINE + 2 * i..LINE + 2 * i + 2].copy_from_slice(&row);
        let length = shape.words() as usize;
        copy(from.shared(), &mut to[at..at + length]);
        bits = 64 * at as u64 + row[1];
        at += length;
    }
    let mut geometry = Geometry { bits, hashes: 1, words: [0; 8], payload_bytes };
    geometry.words[PREFIX_WORD] = asked.prefix_bytes;
    told(geometry, words)
}

/// The payload, with its rate in the geometry.
fn told(mut geometry: Geometry, words: Words) -> Result<Built> {
    let form = Form::untold(&geometry, words.shared(), simd::best())?.ok_or(Status::TooLarge)?;
    geometry.words[RATE_WORD] = form.rate.to_bits();
    Ok(Built { geometry, words })
}

fn copy(from: &[AtomicU64], to: &mut [u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
}

/// The greatest rate for non-members that a spec allows. Without excluded keys that is the rate of a plain filter.
fn limit<R>(build: &Build<R>, excluded: u64) -> f64 {
    match build.size {
        Size::Rate { false_positive_rate, .. } if build.spec.false_positive_rate != 0.0 || excluded == 0 => {
            false_positive_rate
        }
        _ => 1.0,
    }
}

/// How many members and excluded keys there are. Gives every record to `take`, and refuses a key on both sides.
fn count<R: PartitionedRecord>(records: &dyn Records<R>, take: &mut dyn FnMut(u64, usize)) -> Result<[u64; 2]> {
    let (mut sides, mut last) = ([0; 2], None);
    records.for_each(&mut |piece| {
        for of in piece {
            let record = of.record();
            if last == Some(record ^ EXCLUDED) {
                let [hash, other] = hashes_of(record);
                return Err(error!(
                    Contradiction,
                    "a key is a member and excluded too; its hash is {hash:#018x} or {other:#018x}"
                ));
            }
            sides[(record & EXCLUDED) as usize] += 1;
            take(record, of.partition());
            last = Some(record);
        }
        Ok(())
    })?;
    Ok(sides)
}

/// What building a part may take.
struct Budget<'a> {
    size: Size,
    memory: u64,
    threads: usize,
    progress: &'a mut (dyn FnMut(u64, u64) -> bool + Send),
}

/// How many units the progress of a part is divided into.
const SHARES: u64 = 1 << 20;

/// The progress of all parts when `done` of `all` of this part is done.
fn share(part: u64, parts: u64, done: u64, all: u64) -> u64 {
    let of_part = u128::from(done) * u128::from(SHARES) / u128::from(all.max(1));
    (part * SHARES + of_part.min(SHARES.into()) as u64).min(SHARES * parts)
}

/// The records of the partitions of a class.
struct OfClass<'a> {
    records: &'a dyn Records<Placed>,
    classes: &'a [u8],
    class: u8,
    keys: u64,
}

impl OfClass<'_> {
    /// The set of these records.
    fn built(mut self, spec: &crate::spec::Spec, part: Budget) -> Result<(Shape, Words)> {
        let Some((is_inverted, bits)) = of_class(self.class) else { return Err(Status::Internal.into()) };
        let mut sides = [0; 2];
        self.for_each(&mut |piece| {
            piece.iter().for_each(|record| sides[(record & EXCLUDED) as usize] += 1);
            Ok(())
        })?;
        let [members, excluded] = sides;
        self.keys = members + excluded;
        let (stored, others) = if is_inverted { (excluded, members) } else { (members, excluded) };
        let plan = Plan { bits: bits.into(), is_inverted, stored, others };
        // The records are read several times, so they are kept if they take no more than half of the memory.
        let kept_bytes = self.keys.saturating_mul(8);
        if kept_bytes > part.memory / 2 {
            return of_records(&self, spec, part, &plan);
        }
        let mut kept = try_vec(self.keys as usize)?;
        self.for_each(&mut |piece| {
            kept.extend_from_slice(piece);
            Ok(())
        })?;
        let memory = if part.memory == u64::MAX { u64::MAX } else { part.memory - kept_bytes };
        of_records(&&kept[..], spec, Budget { memory, ..part }, &plan)
    }
}

/// Both levels of a plan for these records.
fn of_records(
    records: &dyn Records<u64>,
    spec: &crate::spec::Spec,
    part: Budget,
    plan: &Plan,
) -> Result<(Shape, Words)> {
    let Budget { size, memory, threads, progress } = part;
    levels(&mut Build { spec, size, records, frequent: None, memory, threads, progress }, plan)
}

impl Records<u64> for OfClass<'_> {
    fn count(&self) -> u64 {
        self.keys
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        // Two keys of different partitions may have the same record.
        let mut last = None;
        changed(self.records, take, &mut |of| {
            let is_of = self.classes.get(of.partition()) == Some(&self.class) && last != Some(of.record());
            is_of.then(|| {
                last = Some(of.record());
                of.record()
            })
        })
    }
}

/// Passes on what `change` makes of records, a piece at a time.
fn changed<R: PartitionedRecord>(
    records: &dyn Records<R>,
    take: &mut dyn FnMut(&[u64]) -> Result<()>,
    change: &mut dyn FnMut(R) -> Option<u64>,
) -> Result<()> {
    let mut kept = try_vec(PIECE)?;
    records.for_each(&mut |piece| {
        for of in piece {
            if let Some(record) = change(*of) {
                kept.push(record);
            }
            if kept.len() == PIECE {
                take(&kept)?;
                kept.clear();
            }
        }
        Ok(())
    })?;
    if kept.is_empty() { Ok(()) } else { take(&kept) }
}

/// Makes the payload of a set built earlier, for a universe without partitions, with an update after it.
pub fn update(build: &mut Build<u64>, asked: &Limits, old: &Base) -> Result<Built> {
    updated(build, asked, old, &[0])
}

/// [`update`] for a universe whose keys are divided by prefixes with these hashes.
pub fn update_placed(build: &mut Build<Placed>, asked: &Limits, old: &Base, prefixes: &[u64]) -> Result<Built> {
    updated(build, asked, old, prefixes)
}

fn updated<R: PartitionedRecord>(build: &mut Build<R>, asked: &Limits, old: &Base, prefixes: &[u64]) -> Result<Built> {
    if let Size::Exact { bits, .. } = build.size {
        return Err(error!(Contradiction, "bits = {bits}: the keys say how many bits an update takes"));
    }
    let geometry = old.geometry();
    let done = geometry.words[UPDATES_WORD];
    if done >= MAX_UPDATES {
        return Err(error!(Full, "the set was updated {done} times already: build it anew"));
    }
    let words = old.words().shared();
    let form = Form::untold(geometry, words, simd::best())?.ok_or_else(|| old.foreign_geometry())?;
    let mut classes = try_vec(prefixes.len())?;
    classes.extend(prefixes.iter().map(|prefix| form.class(words, *prefix)));
    let flips = |of: R| {
        let record = of.record();
        let class = classes.get(of.partition()).copied().unwrap_or(NEVER);
        // Both hashes of a record are one key.
        form.contains(words, class, hashes_of(record)[0]) == (record & EXCLUDED != 0)
    };
    let [members, excluded] = count(build.records, &mut |_, _| {})?;
    let (mut all, mut flipped, mut last) = (0, 0, None);
    let mut kept: Vec<u64> = Vec::new();
    let most = usize::try_from(build.memory / 4 / 8).unwrap_or(usize::MAX);
    build.records.for_each(&mut |piece| {
        for of in piece {
            let (record, is_flipped) = (of.record() & !EXCLUDED, flips(*of));
            match last.replace((record, is_flipped)) {
                Some((before, was_flipped)) if before == record => {
                    if was_flipped != is_flipped {
                        return Err(error!(
                            Contradiction,
                            "two keys have one hash; build the set anew, by another seed"
                        ));
                    }
                    continue;
                }
                _ => all += 1,
            }
            if !is_flipped {
                continue;
            }
            flipped += 1;
            if kept.len() < most {
                if kept.len() == kept.capacity() {
                    kept.try_reserve_exact(kept.len().max(PIECE)).map_err(|_| Status::OutOfMemory)?;
                }
                kept.push(record);
            }
        }
        Ok(())
    })?;
    let is_kept = kept.len() as u64 == flipped;
    let records = Flipped { records: build.records, flips: &flips, kept: is_kept.then_some(&kept[..]), keys: all };
    // At the rate of the update non-members get the opposite of the older answer.
    let (limit, before) = (limit(build, excluded.max(1)), form.rate);
    let most = match () {
        () if before > limit => -1.0,
        () if before >= 0.5 => 1.0,
        () => (limit - before) / (1.0 - 2.0 * before),
    };
    let plan = sizing::smallest(flipped, all - flipped, asked.allowed.clone(), most).ok_or_else(|| {
        error!(
            Contradiction,
            "false_positive_rate = {} has no room for an update: after {done} updates the rate for non-members is {}, \
             and each adds to it; give a greater rate, or none, or build the set anew",
            Number(limit),
            Number(before)
        )
    })?;
    let memory = if build.memory == u64::MAX { u64::MAX } else { build.memory - 8 * kept.len() as u64 };
    let part = Budget { size: build.size, memory, threads: build.threads, progress: build.progress };
    let (shape, levels) = of_records(&records, build.spec, part, &plan)?;
    let [of_set, bits] = Set::row(&shape).ok_or(Status::TooLarge)?;
    let before = geometry.payload_bytes / 8;
    let length = before.checked_add(LINE as u64 + shape.words()).and_then(|words| words.checked_mul(8));
    let payload_bytes = length.filter(|bytes| image_bytes(*bytes).is_some()).ok_or(Status::TooLarge)?;
    let mut new = Words::zeroed(payload_bytes)?;
    let to = new.exclusive().ok_or(Status::Internal)?;
    let (older, newer) = to.split_at_mut(before as usize);
    copy(words, older);
    newer[..LINE].copy_from_slice(&[of_set, bits, members.min(all), all, 0, 0, 0, 0]);
    copy(levels.shared(), &mut newer[LINE..]);
    let mut after = Geometry { bits: 64 * (before + LINE as u64) + bits, payload_bytes, ..*geometry };
    if done == 0 {
        after.words[BASE_WORD] = geometry.bits;
    }
    after.words[UPDATES_WORD] = done + 1;
    told(after, new)
}

/// The records of a universe: those whose answers change as members, and the others as excluded keys.
struct Flipped<'a, R> {
    records: &'a dyn Records<R>,
    flips: &'a dyn Fn(R) -> bool,
    /// The records that change, if they fit into memory.
    kept: Option<&'a [u64]>,
    keys: u64,
}

impl<R: PartitionedRecord> Records<u64> for Flipped<'_, R> {
    fn count(&self) -> u64 {
        self.keys
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let (mut last, mut rest) = (None, self.kept.unwrap_or_default());
        changed(self.records, take, &mut |of| {
            let record = of.record() & !EXCLUDED;
            if last.replace(record) == Some(record) {
                return None;
            }
            let flips = match self.kept {
                None => (self.flips)(of),
                Some(_) => {
                    let flips = rest.first() == Some(&record);
                    rest = if flips { &rest[1..] } else { rest };
                    flips
                }
            };
            Some(record | if flips { 0 } else { EXCLUDED })
        })
    }
}

/// The geometry of a set without its updates, which is the same however often it was updated.
pub fn identity(geometry: &Geometry) -> Geometry {
    without_updates(geometry)
}
