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
use crate::arguments::{Out, list};
use crate::boundary::boundary;
use crate::filter::keys::{petal_answers, petal_keys, refuse_answers, taking};
use crate::status::{petal_error, petal_status};
use petal_core::{ListedValue, Presence, Result, Sketch};
use std::ffi::c_void;

/// What a sketch says of a number: one of `PETAL_SKETCH_PRESENCE_*`.
pub type petal_sketch_presence = u32;

/// The number is not there.
pub const PETAL_SKETCH_PRESENCE_ABSENT: petal_sketch_presence = 0;
/// The number is there.
pub const PETAL_SKETCH_PRESENCE_PRESENT: petal_sketch_presence = 1;
/// The sketch cannot say: each cell of the number has other numbers too. `petal_sketch_list()` may know.
pub const PETAL_SKETCH_PRESENCE_UNKNOWN: petal_sketch_presence = 2;

/// A number with its value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_sketch_pair {
    /// The number: a uint64_t key, or the hash of a byte key.
    pub number: u64,
    /// The value; 0 in a sketch without values.
    pub value: u64,
    /// 1 for a number that was inserted; -1 for a number that was removed, or that only the subtracted sketch had.
    pub sign: i64,
}

/// Asks a sketch for one number.
fn look_up(
    sketch: &Sketch,
    number: u64,
    presence: Out<petal_sketch_presence>,
    pair: Out<petal_sketch_pair>,
) -> Result<()> {
    let (answer, sign, value) = match sketch.get_u64(number)? {
        Presence::Absent => (PETAL_SKETCH_PRESENCE_ABSENT, 0, 0),
        Presence::Present { sign, value } => (PETAL_SKETCH_PRESENCE_PRESENT, sign, value),
        Presence::Unknown => (PETAL_SKETCH_PRESENCE_UNKNOWN, 0, 0),
    };
    presence.set(answer);
    pair.set(petal_sketch_pair { number, value, sign });
    Ok(())
}

/// Asks a sketch for a byte key: for its hash. `presence` becomes one of `PETAL_SKETCH_PRESENCE_*`. `pair`, nullable,
/// becomes the number with its sign and value, which are 0 unless the number is there. The answer is right if each
/// number was inserted only once.
///
/// A sketch of n numbers in m cells, with k cells for each number, knows of a number that is there with the probability
/// 1 - (1 - e^(-kn/m))^k, and of a number that is not there more often. With values only one cell of a number can be
/// asked, and this probability is e^(-kn/m). A number with two values is unknown. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get(
    sketch: *const petal_sketch,
    key: *const c_void,
    length: usize,
    presence: *mut petal_sketch_presence,
    pair: *mut petal_sketch_pair,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out presence, bytes(key, length), maybe pair], {
        look_up(sketch, sketch.number_of(key)?, presence, pair)
    })
}

/// Asks a sketch for a number, as `petal_sketch_get()` does for a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get_u64(
    sketch: *const petal_sketch,
    number: u64,
    presence: *mut petal_sketch_presence,
    pair: *mut petal_sketch_pair,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out presence, maybe pair], look_up(sketch, number, presence, pair))
}

/// Asks a sketch for the hash of a key, as `petal_sketch_get()` does for a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get_hash(
    sketch: *const petal_sketch,
    hash: u64,
    presence: *mut petal_sketch_presence,
    pair: *mut petal_sketch_pair,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out presence, maybe pair], {
        look_up(sketch, sketch.number_of_hash(hash)?, presence, pair)
    })
}

/// Writes the bits of a value: 64, or 0 if the numbers of the sketch have no values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_value_bits(
    sketch: *const petal_sketch,
    bits: *mut u32,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out bits], {
        bits.set(sketch.value_bits());
        Ok(())
    })
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
    boundary!(error, [change sketch, bytes(key, length)], sketch.by(|sketch| sketch.insert_value(key, value)))
}

/// Inserts a number with its value, as `petal_sketch_insert_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_value_u64(
    sketch: *mut petal_sketch,
    number: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.insert_value_u64(number, value)))
}

/// Inserts the hash of a key with its value, as `petal_sketch_insert_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_value_hash(
    sketch: *mut petal_sketch,
    hash: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.insert_value_hash(hash, value)))
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
    taking!(error, [keys, answers, change sketch, elements(values, keys.len())], {
        refuse_answers(answers)?;
        sketch.always(|sketch| sketch.insert_value_batch(keys, values))
    })
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
    boundary!(error, [change sketch, bytes(key, length)], sketch.by(|sketch| sketch.remove_value(key, value)))
}

/// Removes a number with its value, as `petal_sketch_remove_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_value_u64(
    sketch: *mut petal_sketch,
    number: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.remove_value_u64(number, value)))
}

/// Removes the hash of a key with its value, as `petal_sketch_remove_value()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_value_hash(
    sketch: *mut petal_sketch,
    hash: u64,
    value: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.remove_value_hash(hash, value)))
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
    taking!(error, [keys, answers, change sketch, elements(values, keys.len())], {
        refuse_answers(answers)?;
        sketch.always(|sketch| sketch.remove_value_batch(keys, values))
    })
}

/// Lists the numbers of a sketch with their values, as `petal_sketch_list()` lists them without. The order is by sign,
/// then by number, then by value. `count` becomes the number of all listed pairs. The function writes the first `room`
/// of these to `pairs`, which may be NULL if `room` is 0. A sketch lists at most one pair for each of its cells: one
/// for each 256 of the `bits` of `petal_sketch_describe()`. Returns `PETAL_ERR_UNSUPPORTED` if the sketch has no
/// values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_list_values(
    sketch: *const petal_sketch,
    pairs: *mut petal_sketch_pair,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out count, out is_complete, room(pairs, room)], {
        let found = sketch.list_values()?;
        let pair = |one: &ListedValue| petal_sketch_pair { number: one.number, value: one.value, sign: one.sign };
        list(found.listed.iter().map(pair), pairs, count);
        is_complete.set(found.is_complete);
        Ok(())
    })
}
