//! SKETCHES: SINGLE NUMBERS AND VALUES
//!
//! A sketch of the kind `iblt` can be asked for single numbers, as long as it has few of them: `petal_sketch_get()`.
//! Sketches of other kinds refuse that with `PETAL_ERR_UNSUPPORTED`.
//!
//! With the parameter value_bits = 64 each number of an `iblt` sketch has a 64-bit value. Then the difference of two
//! sketches has the numbers that only one side has, and those whose values differ: the sketch lists such a number
//! twice, with -1 and the value of the subtracted sketch, and with 1 and the value of the other. For the capacity these
//! count twice. Remove a number with the value that you inserted it with. Functions without values work in such a
//! sketch as well: there a number has the value 0.

use super::petal_sketch;
use crate::boundary::{self, boundary};
use crate::filter::keys::{self, petal_answers, petal_keys};
use crate::status::{petal_error, petal_status};
use petal_core::{Answers, Keys, Presence, Result, Sketch, Taken};
use std::ffi::c_void;

/// What a sketch says of a number: one of `PETAL_PRESENCE_*`.
pub type petal_presence = u32;

/// The number is not there.
pub const PETAL_PRESENCE_ABSENT: petal_presence = 0;
/// The number is there.
pub const PETAL_PRESENCE_THERE: petal_presence = 1;
/// The sketch cannot say: each cell of the number has other numbers too. `petal_sketch_list()` may know.
pub const PETAL_PRESENCE_UNKNOWN: petal_presence = 2;

/// A number with its value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_pair {
    /// The number: a uint64_t key, or the hash of a byte key.
    pub number: u64,
    /// The value; 0 in a sketch without values.
    pub value: u64,
    /// 1 for a number that was inserted; -1 for a number that was removed, or that only the subtracted sketch had.
    pub count: i64,
}

/// Asks a sketch for one number.
///
/// # Safety
/// The conventions; `pair` is NULL or writable.
unsafe fn look_up(
    sketch: *const petal_sketch,
    presence: *mut petal_presence,
    pair: *mut petal_pair,
    error: *mut petal_error,
    ask: impl FnOnce(&Sketch) -> Result<(u64, Presence)>,
) -> petal_status {
    boundary!(error, [sketch, presence], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        let (number, found) = ask(unsafe { petal_sketch::get(sketch)? })?;
        let (answer, count, value) = match found {
            Presence::Absent => (PETAL_PRESENCE_ABSENT, 0, 0),
            Presence::There { count, value } => (PETAL_PRESENCE_THERE, count, value),
            Presence::Unknown => (PETAL_PRESENCE_UNKNOWN, 0, 0),
        };
        // SAFETY: checked for NULL; by the conventions `presence` is writable, and `pair` is NULL or writable.
        unsafe {
            presence.write(answer);
            if !pair.is_null() {
                pair.write(petal_pair { number, value, count });
            }
        }
        Ok(())
    })
}

/// Asks a sketch for a byte key: for its hash. `presence` becomes one of `PETAL_PRESENCE_*`. `pair`, nullable, becomes
/// the number with its count and value, which are 0 unless the number is there. The answer is right if each number was
/// inserted only once.
///
/// A sketch of n numbers in m cells, with k cells for each number, knows of a number that is there with the probability
/// 1 - (1 - e^(-kn/m))^k, and of a number that is not there more often. With values only one cell of a number can be
/// asked, and this probability is e^(-kn/m). A number with two values is unknown. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get(
    sketch: *const petal_sketch,
    key: *const c_void,
    length: usize,
    presence: *mut petal_presence,
    pair: *mut petal_pair,
    error: *mut petal_error,
) -> petal_status {
    let ask = |sketch: &Sketch| {
        // SAFETY: by the conventions `key` has `length` bytes.
        let number = sketch.number_of(unsafe { boundary::bytes(key.cast(), length, "key")? })?;
        Ok((number, sketch.get_u64(number)?))
    };
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody changes, `presence` is NULL or writable, and
    // so is `pair`.
    unsafe { look_up(sketch, presence, pair, error, ask) }
}

/// Asks a sketch for a number, as `petal_sketch_get()` does for a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get_u64(
    sketch: *const petal_sketch,
    number: u64,
    presence: *mut petal_presence,
    pair: *mut petal_pair,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody changes, `presence` is NULL or writable, and
    // so is `pair`.
    unsafe { look_up(sketch, presence, pair, error, |sketch| Ok((number, sketch.get_u64(number)?))) }
}

/// Asks a sketch for the hash of a key, as `petal_sketch_get()` does for a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get_hash(
    sketch: *const petal_sketch,
    hash: u64,
    presence: *mut petal_presence,
    pair: *mut petal_pair,
    error: *mut petal_error,
) -> petal_status {
    let ask = |sketch: &Sketch| {
        let number = sketch.number_of_hash(hash)?;
        Ok((number, sketch.get_u64(number)?))
    };
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody changes, `presence` is NULL or writable, and
    // so is `pair`.
    unsafe { look_up(sketch, presence, pair, error, ask) }
}

/// Writes the bits of a value: 64, or 0 if the numbers of the sketch have no values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_value_bits(
    sketch: *const petal_sketch,
    bits: *mut u32,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, bits], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes, and `bits` is
        // writable.
        unsafe { bits.write(petal_sketch::get(sketch)?.value_bits()) };
        Ok(())
    })
}

/// Changes a sketch by a key with its value.
///
/// # Safety
/// The conventions.
unsafe fn change(
    sketch: *mut petal_sketch,
    error: *mut petal_error,
    change: impl FnOnce(&mut Sketch) -> Result<()>,
) -> petal_status {
    boundary!(error, [sketch], {
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody else uses.
        unsafe { (*sketch).0.change(change)? }
    })
}

/// Changes a sketch by many keys with their values.
///
/// # Safety
/// The conventions.
unsafe fn change_batch(
    sketch: *mut petal_sketch,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
    change: fn(&mut Sketch, &Keys, &[u64]) -> Taken,
) -> petal_status {
    let take = |keys: &Keys, answers: Option<&mut Answers>| {
        if sketch.is_null() {
            return Err(boundary::null("sketch"));
        }
        keys::refuse_answers(answers)?;
        // SAFETY: by the conventions `sketch` is a handle that nobody else uses, and `values` is NULL or an array with
        // an element a key.
        unsafe {
            let values = boundary::elements(values, keys.len(), "values")?;
            (*sketch).0.change(|sketch| change(sketch, keys, values))
        }
    };
    // SAFETY: by the conventions `keys` is NULL or a struct with arrays as long as it says, and `answers` is NULL or a
    // struct with room for all answers.
    unsafe { keys::take(keys, answers, error, take) }
}

/// Inserts a byte key with its value. Insert a key only once, with one value. Returns `PETAL_ERR_UNSUPPORTED` if the
/// sketch has no values. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_value(
    sketch: *mut petal_sketch,
    key: *const c_void,
    length: usize,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses, and `key` has `length` bytes.
    unsafe { change(sketch, error, |sketch| sketch.insert_value(boundary::bytes(key.cast(), length, "key")?, value)) }
}

/// Inserts a number with its value, as `petal_sketch_insert_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_value_u64(
    sketch: *mut petal_sketch,
    number: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses.
    unsafe { change(sketch, error, |sketch| sketch.insert_value_u64(number, value)) }
}

/// Inserts the hash of a key with its value, as `petal_sketch_insert_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_value_hash(
    sketch: *mut petal_sketch,
    hash: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses.
    unsafe { change(sketch, error, |sketch| sketch.insert_value_hash(hash, value)) }
}

/// Inserts keys with their values in order. `values` has one value a key, and may be NULL if there are no keys.
/// `answers`, nullable, only tells how many keys the sketch took: the first `done`. A sketch refuses every form of
/// answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_value_batch(
    sketch: *mut petal_sketch,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses, `keys` is NULL or a struct with
    // arrays as long as it says, `values` is NULL or an array with an element a key, and `answers` is NULL or a struct
    // with room for all answers.
    unsafe { change_batch(sketch, keys, values, answers, error, Sketch::insert_value_batch) }
}

/// Removes a byte key with the value that it was inserted with. If you remove a pair of key and value that you did not
/// insert, the sketch lists the pair with -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_value(
    sketch: *mut petal_sketch,
    key: *const c_void,
    length: usize,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses, and `key` has `length` bytes.
    unsafe { change(sketch, error, |sketch| sketch.remove_value(boundary::bytes(key.cast(), length, "key")?, value)) }
}

/// Removes a number with its value, as `petal_sketch_remove_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_value_u64(
    sketch: *mut petal_sketch,
    number: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses.
    unsafe { change(sketch, error, |sketch| sketch.remove_value_u64(number, value)) }
}

/// Removes the hash of a key with its value, as `petal_sketch_remove_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_value_hash(
    sketch: *mut petal_sketch,
    hash: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses.
    unsafe { change(sketch, error, |sketch| sketch.remove_value_hash(hash, value)) }
}

/// Removes keys with their values in order, as `petal_sketch_insert_value_batch()` inserts them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_value_batch(
    sketch: *mut petal_sketch,
    keys: *const petal_keys,
    values: *const u64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    // SAFETY: by the conventions `sketch` is NULL or a handle that nobody else uses, `keys` is NULL or a struct with
    // arrays as long as it says, `values` is NULL or an array with an element a key, and `answers` is NULL or a struct
    // with room for all answers.
    unsafe { change_batch(sketch, keys, values, answers, error, Sketch::remove_value_batch) }
}

/// Lists the numbers of a sketch with their values, as `petal_sketch_list()` lists them without. The order is by count,
/// then by number, then by value. `count` becomes the number of all listed pairs. The function writes the first `room`
/// of these to `pairs`, which may be NULL if `room` is 0. A sketch lists at most one pair for each of its cells: one
/// for each 256 of the `bits` of `petal_sketch_describe()`. Returns `PETAL_ERR_UNSUPPORTED` if the sketch has no
/// values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_list_values(
    sketch: *const petal_sketch,
    pairs: *mut petal_pair,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [sketch, count, is_complete], {
        if pairs.is_null() && room > 0 {
            return Err(boundary::null("pairs"));
        }
        // SAFETY: checked for NULL; by the conventions `sketch` is a handle that nobody changes.
        let found = unsafe { petal_sketch::get(sketch)? }.list_values()?;
        // SAFETY: checked for NULL; by the conventions the outputs are writable, and `pairs` has room for `room`.
        unsafe {
            count.write(found.listed.len());
            is_complete.write(found.is_complete);
            for (i, one) in found.listed.iter().take(room).enumerate() {
                pairs.add(i).write(petal_pair { number: one.number, value: one.value, count: one.count });
            }
        }
        Ok(())
    })
}
