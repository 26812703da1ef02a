//! A call of many keys: pulls their hashes, a group at a time, into a kind, and takes its answers out as bits
//! ([`crate::bits::ring::Batch`]).

use crate::answers::Answers;
use crate::base::Base;
use crate::bits::ring::{Batch, Few, GROUP, Taken};
use crate::error::Result;
use crate::hash::Hasher;
use crate::keys::Keys;
use crate::simd::Instructions;

/// The keys of a call on their way into a filter, and the answers on their way out.
struct Call<'a, 'b> {
    keys: &'a Keys<'a>,
    hasher: &'a Hasher,
    instructions: Instructions,
    /// How many keys were hashed, and how many have answers.
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

/// Looks keys up. On an error every answer is true.
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

/// Inserts keys. Says how many were inserted, the first so many, and what stopped it there. Only these have answers.
pub(crate) fn insert(
    hasher: &Hasher,
    instructions: Instructions,
    keys: &Keys,
    mut answers: Option<&mut Answers>,
    insert: impl FnOnce(&mut dyn Batch) -> Taken,
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
        insert(&mut Call { keys, hasher, instructions, hashed: 0, answered: 0, answers: answers.as_deref_mut() });
    if let Some(answers) = answers {
        answers.done = taken.keys;
    }
    taken
}
