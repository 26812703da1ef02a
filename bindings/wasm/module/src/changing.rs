//! Filters and maps changed, measured and saved.

use crate::handles::{Held, not_for, with, with_both};
use crate::memory::{give, slice};
use crate::outcome::{answer_real, answer_text};
use petal::{Error, Filter, Image, Result, Status};

/// Inserts a key; 1 if it certainly was not there before.
///
/// # Safety
/// `length` bytes from `start` on are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_insert(handle: u32, start: *const u8, length: usize) -> i32 {
    // SAFETY: the caller's promise.
    let key = unsafe { slice(start, length) };
    with(handle, |held| match held {
        Held::Filter(filter) => filter.insert(key).map(i32::from),
        Held::Builder(builder) => builder.add(key).map(|()| 1),
        other => Err(not_for(other, "insert")),
    })
}

/// [`petal_insert`] for a number.
#[unsafe(no_mangle)]
pub extern "C" fn petal_insert_u64(handle: u32, key: u64) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => filter.insert_u64(key).map(i32::from),
        Held::Builder(builder) => builder.add_u64(key).map(|()| 1),
        other => Err(not_for(other, "insert")),
    })
}

/// Says that the excluded keys are a whole universe: those that are members too are members.
#[unsafe(no_mangle)]
pub extern "C" fn petal_exclude_all_but_members(handle: u32) -> i32 {
    with(handle, |held| match held {
        Held::Builder(builder) => {
            builder.exclude_all_but_members();
            Ok(0)
        }
        other => Err(not_for(other, "exclude")),
    })
}

/// Makes a builder bring a filter up to date.
#[unsafe(no_mangle)]
pub extern "C" fn petal_update(handle: u32, old: u32) -> i32 {
    with_both(handle, old, |held, old| match (held, old) {
        (Held::Builder(builder), Held::Filter(old)) => builder.update(old).map(|()| 0),
        (held, _) => Err(not_for(held, "bring up to date what is no filter")),
    })
}

/// Uses a filter.
fn with_filter(handle: u32, call: &str, body: impl FnOnce(&mut Filter) -> Result<i32>) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => body(filter),
        other => Err(not_for(other, call)),
    })
}

/// Forgets all keys.
#[unsafe(no_mangle)]
pub extern "C" fn petal_clear(handle: u32) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => filter.clear().map(|()| 0),
        Held::Map(map) => map.clear().map(|()| 0),
        other => Err(not_for(other, "forget keys")),
    })
}

/// Forgets the oldest keys: moves time on by `steps` steps.
#[unsafe(no_mangle)]
pub extern "C" fn petal_advance(handle: u32, steps: u64) -> i32 {
    with_filter(handle, "forget old keys", |filter| filter.advance(steps).map(|()| 0))
}

/// Makes a filter or a map the union of both.
#[unsafe(no_mangle)]
pub extern "C" fn petal_merge(handle: u32, other: u32) -> i32 {
    with_both(handle, other, |one, other| match (one, other) {
        (Held::Filter(one), Held::Filter(other)) => one.merge(other).map(|()| 0),
        (Held::Map(one), Held::Map(other)) => one.merge(other).map(|()| 0),
        (one, _) => Err(not_for(one, "merge with something else")),
    })
}

/// Gives the image as memory of [`crate::memory::petal_allocate`]: address and length are the first answers.
#[unsafe(no_mangle)]
pub extern "C" fn petal_save(handle: u32) -> i32 {
    with(handle, |held| match held {
        Held::Filter(filter) => save(filter),
        Held::Map(map) => save(map),
        other => Err(not_for(other, "be saved")),
    })
}

fn save(image: &impl Image) -> Result<i32> {
    let length = image.serialized_size();
    let too_large = || Error::new(Status::OutOfMemory, format_args!("{length} bytes for the image could not be had"));
    let mut bytes = Vec::new();
    usize::try_from(length).ok().and_then(|length| bytes.try_reserve_exact(length).ok()).ok_or_else(too_large)?;
    image.serialize_to(&mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    give(&bytes)
}

/// Measures a filter or a map: the share of places that are taken, the rate, the keys by that measure (negative if
/// nobody can tell), and the counters that have reached their greatest value.
#[unsafe(no_mangle)]
pub extern "C" fn petal_statistics(handle: u32) -> i32 {
    with(handle, |held| {
        let (measure, keys) = match held {
            Held::Filter(filter) => {
                let measure = filter.statistics();
                (measure, filter.kind().as_cardinality().and_then(|kind| kind.of_taken(measure.taken)))
            }
            Held::Map(map) => {
                let measure = map.statistics();
                (measure, map.keys_of(&measure))
            }
            other => return Err(not_for(other, "be measured")),
        };
        answer_real(0, measure.fill);
        answer_real(1, measure.false_positive_rate);
        answer_real(2, keys.unwrap_or(-1.0));
        crate::outcome::answer(3, measure.saturated);
        Ok(0)
    })
}

/// The exact rate to expect with `keys` distinct keys.
#[unsafe(no_mangle)]
pub extern "C" fn petal_expected_rate(handle: u32, keys: u64) -> i32 {
    with(handle, |held| {
        answer_real(
            0,
            match held {
                Held::Filter(filter) => filter.expected_false_positive_rate(keys),
                Held::Map(map) => map.expected_false_positive_rate(keys),
                other => return Err(not_for(other, "have a rate")),
            },
        );
        Ok(0)
    })
}

/// The name and the value of the parameter of this number; 1 after the last.
#[unsafe(no_mangle)]
pub extern "C" fn petal_parameter(handle: u32, number: usize) -> i32 {
    with(handle, |held| {
        let base = match held {
            Held::Filter(filter) => filter.base(),
            Held::Map(map) => map.base(),
            other => return Err(not_for(other, "have parameters")),
        };
        let Some(parameter) = base.row().parameters.get(number) else { return Ok(1) };
        answer_text(0, parameter.name);
        answer_real(2, base.spec().real_parameter(parameter)?);
        Ok(0)
    })
}
