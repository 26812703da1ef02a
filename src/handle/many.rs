//! Calls for many keys: pull the keys' hashes, a group at a time, into a kind, and take the answers out as bits
//! ([`crate::batch::ring::Batch`]).

use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::batch::ring::{self, Batch, Few, GROUP, Lookups, Stages, Taken};
use crate::contract::{Base, Count, MapKind, Verb, check_value, mark_entries};
use crate::error::{Result, error};
use crate::hash::Hasher;
use crate::simd::Instructions;

/// How many groups of keys are counted in one call.
const GROUPS: usize = 8;

/// The keys of a call on their way into a filter, and the answers on their way out.
struct Call<'a, 'b> {
    keys: &'a Keys<'a>,
    hasher: &'a Hasher,
    instructions: Instructions,
    /// How many keys were hashed, and how many of them have answers.
    hashed: usize,
    answered: usize,
    answers: Option<&'a mut Answers<'b>>,
}

impl Batch for Call<'_, '_> {
    fn keys(&self) -> usize {
        self.keys.len()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = GROUP.min(self.keys.len() - self.hashed);
        if count == 0 {
            return 0;
        }
        self.keys.hash_range(self.hashed, self.hasher, self.instructions, &mut hashes[..count]);
        self.hashed += count;
        count
    }

    fn is_asked(&self) -> bool {
        self.answers.is_some()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        if let Some(to) = &mut self.answers {
            to.take(self.answered, answers, keys);
        }
        self.answered += keys;
    }
}

/// Looks up keys. On an error every answer is true.
pub(crate) fn contains(
    base: &Base,
    keys: &Keys,
    answers: &mut Answers,
    look_up_few: impl FnOnce(&Few) -> Option<u64>,
    look_up: impl FnOnce(&mut dyn Batch),
) -> Result<()> {
    let (hasher, instructions) = (base.hasher(), base.instructions());
    if let Some(few) = keys.few(hasher)
        && let Some(found) = answers.of_few(&few, || look_up_few(&few))
    {
        answers.true_count = found.count_ones().into();
        answers.done = few.keys.len();
        return Ok(());
    }
    (answers.true_count, answers.done) = (0, 0);
    if let Err(error) = answers.check(keys.len()).and_then(|()| keys.check(hasher)) {
        answers.fill(true, keys.len());
        return Err(error);
    }
    look_up(&mut Call { keys, hasher, instructions, hashed: 0, answered: 0, answers: Some(answers) });
    answers.done = keys.len();
    Ok(())
}

/// How many filters ahead of an answer two things are fetched: first the lines that lead to a filter's payload, and
/// then the payload's lines.
const ACROSS: Stages = Stages { far: ring::AHEAD, near: ring::AHEAD / 2 };

/// Asks many filters, by their numbers, for one key. `ask` gives the answer of each filter, in order. Some filters
/// ahead of that, `fetch` asks for the lines of the payload, and further ahead `touch` asks for the lines that lead to
/// it. If all filters are near, in a cache, nothing is fetched ahead.
///
/// # Errors
/// An error if the answers have no room for this many filters. All answers then say true.
#[inline(always)]
pub(crate) fn across(
    count: usize,
    are_near: bool,
    answers: &mut Answers,
    touch: impl Fn(usize),
    fetch: impl Fn(usize),
    mut ask: impl FnMut(usize) -> bool,
) -> Result<()> {
    (answers.true_count, answers.done) = (0, 0);
    if let Err(error) = answers.check(count) {
        answers.fill(true, count);
        return Err(error);
    }
    if are_near {
        each(count, answers, ask);
    } else {
        let Stages { far, near } = ACROSS;
        (0..far.min(count)).for_each(&touch);
        (0..near.min(count)).for_each(&fetch);
        each(count, answers, |i| {
            if i + far < count {
                touch(i + far);
            }
            if i + near < count {
                fetch(i + near);
            }
            ask(i)
        });
    }
    answers.done = count;
    Ok(())
}

/// Gives the answers of all filters, in order.
#[inline(always)]
fn each(count: usize, answers: &mut Answers, mut ask: impl FnMut(usize) -> bool) {
    for start in (0..count).step_by(GROUP) {
        let (end, mut group) = (count.min(start + GROUP), 0);
        for i in start..end {
            group |= u64::from(ask(i)) << (i - start);
        }
        answers.take(start, group, end - start);
    }
}

/// Counts keys. After an error every answer is true, and every count is the greatest possible.
pub(crate) fn count(base: &Base, keys: &Keys, answers: &mut Answers, kind: Result<&dyn Count>) -> Result<()> {
    (answers.true_count, answers.done) = (0, 0);
    let room = answers.check_counts(keys.len()).and_then(|()| keys.check(base.hasher()));
    let kind = match room.and(kind) {
        Ok(kind) => kind,
        Err(error) => {
            answers.fill(true, keys.len());
            if let Some(counts) = &mut answers.counts {
                counts.fill(u64::MAX);
            }
            return Err(error);
        }
    };
    let mut wanted = answers.counts.take();
    // Each call counts enough groups that the lines which a kind fetches ahead seldom run out between two calls.
    let (mut start, mut hashes, mut counts) = (0, [[0; GROUP]; GROUPS], [0; GROUPS * GROUP]);
    let mut call = Call {
        keys,
        hasher: base.hasher(),
        instructions: base.instructions(),
        hashed: 0,
        answered: 0,
        answers: Some(answers),
    };
    while start < keys.len() {
        let end = start + hashes.iter_mut().map(|group| call.next(group)).sum::<usize>();
        let counts = &mut counts[..end - start];
        kind.count_many(&hashes.as_flattened()[..end - start], counts);
        for group in counts.chunks(GROUP) {
            let bit = |(i, count): (usize, &u64)| u64::from(*count > 0) << i;
            call.answer(group.iter().enumerate().map(bit).sum(), group.len());
        }
        if let Some(wanted) = &mut wanted {
            wanted[start..end].copy_from_slice(counts);
        }
        start = end;
    }
    answers.counts = wanted;
    answers.done = keys.len();
    Ok(())
}

/// The keys of a call on their way into a map, and the values on their way out.
struct MapLookups<'a, 'b> {
    keys: &'a Keys<'a>,
    hasher: &'a Hasher,
    identified: usize,
    answered: usize,
    answers: &'a mut Answers<'b>,
}

impl Lookups for MapLookups<'_, '_> {
    fn next(&mut self, ids: &mut [u128; GROUP]) -> usize {
        let count = GROUP.min(self.keys.len() - self.identified);
        self.keys.identify_range(self.identified, self.hasher, &mut ids[..count]);
        self.identified += count;
        count
    }

    fn give(&mut self, found: &[Option<u64>]) {
        let bit = |(i, value): (usize, &Option<u64>)| u64::from(value.is_some()) << i;
        self.answers.take(self.answered, found.iter().enumerate().map(bit).sum(), found.len());
        if let Some(values) = &mut self.answers.values {
            let places = values[self.answered..].iter_mut();
            places.zip(found).for_each(|(to, value)| *to = value.unwrap_or(0));
        }
        self.answered += found.len();
    }
}

/// Looks up keys in a map. After an error every answer is false, and every value 0.
pub(crate) fn get(kind: &dyn MapKind, keys: &Keys, answers: &mut Answers) -> Result<()> {
    (answers.true_count, answers.done) = (0, 0);
    let hasher = kind.base().hasher();
    if let Err(error) = answers.check_values(keys.len()).and_then(|()| keys.check_identities(hasher)) {
        answers.fill(false, keys.len());
        if let Some(values) = &mut answers.values {
            values.fill(0);
        }
        return Err(error);
    }
    kind.get_many(&mut MapLookups { keys, hasher, identified: 0, answered: 0, answers });
    answers.done = keys.len();
    Ok(())
}

/// Puts or replaces the value of one key of a map in an image in place.
///
/// # Errors
/// The kind's refusal ([`Status::Full`]); [`Status::Corrupt`] if a region does not match its checksum; the system's
/// errors. Then the value of that key has not changed.
pub(crate) fn give_one(kind: &mut dyn MapKind, id: u128, value: u64, verb: Verb) -> Result<bool> {
    kind.base_mut().begin_writing()?;
    mark_entries(kind, &[id]).outcome?;
    kind.base_mut().allow_at_once(true);
    let answer = verb.at_once(kind, id, value);
    kind.base_mut().allow_at_once(false);
    answer.ok_or_else(|| kind.refusal(id, value))
}

/// Puts or replaces the values of keys, in a map that can do that. Returns how many keys, counted from the first, were
/// taken, and the error that stopped the call there. Only these keys have answers.
pub(crate) fn give(
    kind: &mut dyn MapKind,
    keys: &Keys,
    values: &[u64],
    mut answers: Option<&mut Answers>,
    verb: Verb,
) -> Taken {
    if let Some(answers) = &mut answers {
        (answers.true_count, answers.done) = (0, 0);
    }
    let (length, hasher) = (keys.len(), kind.base().hasher().clone());
    if values.len() != length {
        return Taken::none(error!(BufferTooSmall, "{length} keys have {} values", values.len()));
    }
    let room = answers.as_ref().map_or(Ok(()), |answers| answers.check(length));
    let ready = room.and_then(|()| keys.check_identities(&hasher)).and_then(|()| kind.base_mut().begin_writing());
    if let Err(error) = ready {
        return Taken::none(error);
    }
    let greatest = kind.greatest_value();
    let (mut done, mut ids, mut outcome) = (0, [0; GROUP], Ok(()));
    for group in values.chunks(GROUP) {
        // How many values come before the first one that is too large.
        let fitting = group.iter().position(|value| *value > greatest).unwrap_or(group.len());
        keys.identify_range(done, &hasher, &mut ids[..fitting]);
        ids[..fitting].iter().for_each(|id| kind.fetch(*id));
        let marked = if kind.base().is_own() { Taken::all(fitting) } else { mark_entries(kind, &ids[..fitting]) };
        kind.base_mut().allow_at_once(true);
        let (mut bits, mut given) = (0, Taken::all(0));
        for (id, value) in ids.iter().zip(group).take(marked.keys) {
            let Some(answer) = verb.at_once(kind, *id, *value) else {
                given.outcome = Err(kind.refusal(*id, *value));
                break;
            };
            bits |= u64::from(answer) << given.keys;
            given.keys += 1;
        }
        kind.base_mut().allow_at_once(false);
        if let Some(answers) = &mut answers {
            answers.take(done, bits, given.keys);
        }
        done += given.keys;
        let too_great = || group.get(fitting).map_or(Ok(()), |value| check_value(*value, greatest));
        outcome = given.outcome.and(marked.outcome).and_then(|()| too_great());
        if outcome.is_err() {
            break;
        }
    }
    if let Some(answers) = answers {
        answers.done = done;
    }
    Taken { keys: done, outcome }
}

/// Inserts or removes keys. Returns how many keys, counted from the first, were taken, and the error that stopped the
/// call there. Only these keys have answers.
pub(crate) fn change(
    hasher: &Hasher,
    instructions: Instructions,
    keys: &Keys,
    mut answers: Option<&mut Answers>,
    change: impl FnOnce(&mut dyn Batch) -> Taken,
) -> Taken {
    if let Some(answers) = &mut answers {
        (answers.true_count, answers.done) = (0, 0);
    }
    let room = answers.as_ref().map_or(Ok(()), |answers| answers.check(keys.len()));
    if let Err(error) = room.and_then(|()| keys.check(hasher)) {
        return Taken::none(error);
    }
    if keys.is_empty() {
        return Taken::all(0);
    }
    let taken =
        change(&mut Call { keys, hasher, instructions, hashed: 0, answered: 0, answers: answers.as_deref_mut() });
    if let Some(answers) = answers {
        answers.done = taken.keys;
    }
    taken
}
