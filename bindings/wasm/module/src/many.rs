//! Many keys in one call.

use crate::handles::{Held, not_for, with};
#[cfg(feature = "making")]
use crate::memory::reals;
use crate::memory::{room, slice};
use crate::outcome::answer;
#[cfg(feature = "making")]
use petal::Taken;
use petal::{Answers, Error, Keys, Result, Status};

const CONTAINS: u32 = 0;
#[cfg(feature = "making")]
const INSERT: u32 = 1;
#[cfg(feature = "making")]
const REMOVE: u32 = 2;
const COUNT: u32 = 3;
#[cfg(feature = "making")]
const PUT: u32 = 4;
#[cfg(feature = "making")]
const REPLACE: u32 = 5;
#[cfg(feature = "making")]
const EXCLUDE: u32 = 6;
#[cfg(feature = "making")]
const FREQUENT: u32 = 7;

/// Runs a verb on `count` keys. Their form is 0 for byte strings (`length` bytes with `count + 1` offsets), 1 for
/// numbers, 2 for hashes, 3 for digests (`length` bytes in all). `answers` takes a byte a key; `values` gives or takes
/// a number a key, which is a weight's bits for frequent non-members; both may be null. The first two answers are how
/// many keys had a yes, and how many were taken.
///
/// # Safety
/// As many bytes and numbers are readable, and writable in `answers` and `values`, as this says; nobody else uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_many(
    verb: u32,
    handle: u32,
    form: u32,
    start: *const u8,
    length: usize,
    offsets: *const u64,
    count: usize,
    answers: *mut u8,
    values: *mut u64,
) -> i32 {
    // SAFETY: the caller's promise. Numbers lie in memory of `petal_allocate`, which is aligned for them.
    let (keys, bytes, values) = unsafe {
        let keys = match form {
            0 => Keys::Bytes { bytes: slice(start, length), offsets: slice(offsets, count + 1) },
            1 => Keys::U64(slice(start.cast(), count)),
            2 => Keys::Hashes(slice(start.cast(), count)),
            _ => Keys::Digests { bytes: slice(start, length), each: length.checked_div(count).unwrap_or(0) },
        };
        (keys, room(answers, count), room(values, count))
    };
    with(handle, |held| {
        let mut answers = Answers { bytes, ..Answers::default() };
        let outcome = call(verb, held, &keys, &mut answers, values);
        answer(0, answers.true_count);
        answer(1, answers.done as u64);
        outcome.map(|()| 0)
    })
}

fn call<'a>(
    verb: u32,
    held: &mut Held,
    keys: &Keys,
    answers: &mut Answers<'a>,
    values: Option<&'a mut [u64]>,
) -> Result<()> {
    match (verb, held) {
        (CONTAINS, Held::Filter(filter)) => filter.contains_batch(keys, answers),
        #[cfg(feature = "maps")]
        (CONTAINS, Held::Map(map)) => {
            answers.values = values;
            map.get_batch(keys, answers)
        }
        (COUNT, Held::Filter(filter)) => {
            answers.counts = values;
            filter.count_batch(keys, answers)
        }
        #[cfg(feature = "making")]
        (verb, held) => change(verb, held, keys, answers, values.map(|values| &*values)).outcome,
        #[cfg(not(feature = "making"))]
        (verb, held) => Err(refusal(verb, held)),
    }
}

/// Runs a verb that changes what is held.
#[cfg(feature = "making")]
fn change(verb: u32, held: &mut Held, keys: &Keys, answers: &mut Answers, values: Option<&[u64]>) -> Taken {
    let given = values.unwrap_or_default();
    match (verb, held) {
        (INSERT, Held::Filter(filter)) => {
            // Whether a key is new is found out only for callers who ask.
            let asked = answers.bytes.is_some();
            let taken = filter.insert_batch(keys, asked.then_some(&mut *answers));
            done(answers, taken)
        }
        (REMOVE, Held::Filter(filter)) => filter.remove_batch(keys, Some(answers)),
        (PUT, Held::Map(map)) => map.put_batch(keys, given, Some(answers)),
        (REPLACE, Held::Map(map)) => map.replace_batch(keys, given, Some(answers)),
        (INSERT, Held::Builder(builder)) => done(answers, builder.add_batch(keys)),
        (EXCLUDE, Held::Builder(builder)) => done(answers, builder.exclude_batch(keys)),
        // Frequent non-members without weights each have the weight 1.
        (FREQUENT, Held::Builder(builder)) => done(answers, builder.add_frequent_batch(keys, values.map(reals))),
        (PUT, Held::MapBuilder(builder)) => done(answers, builder.put_batch(keys, given)),
        (verb, held) => Taken::none(refusal(verb, held)),
    }
}

/// Says how many keys a builder took.
#[cfg(feature = "making")]
fn done(answers: &mut Answers, taken: Taken) -> Taken {
    answers.done = taken.keys;
    taken
}

#[cold]
fn refusal(verb: u32, held: &Held) -> Error {
    let names = [
        "look keys up",
        "insert",
        "remove",
        "count",
        "put values",
        "replace values",
        "exclude",
        "take frequent non-members",
    ];
    match names.get(verb as usize) {
        Some(name) => not_for(held, name),
        None => Error::new(Status::UnknownValue, format_args!("verb = {verb} is not known")),
    }
}
