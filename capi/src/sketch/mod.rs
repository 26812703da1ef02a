//! petal_sketch.h: sketches of sets, which are subtracted and listed. It is experimental: functions may still change.
//! petal.h has the conventions, which hold for sketches too.
//!
//! The memory of a sketch depends on the number of differences that it can list, and not on the number of inserted
//! keys. Two sides each make a sketch of their own set, with equal specs. Subtracting one sketch from the other leaves
//! the keys that only one set has, and the sketch lists them:
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.capacity = 1000;
//!     petal_sketch *ours = NULL, *theirs = NULL;
//!     if (petal_sketch_new(&spec, &ours, NULL) != PETAL_OK) return 1;
//!     if (petal_sketch_new(&spec, &theirs, NULL) != PETAL_OK) return 1;
//!     petal_sketch_insert_u64(ours, 7);
//!     petal_sketch_subtract(ours, theirs, NULL);
//!     petal_sketch_listed listed[1000];
//!     size_t count = 0;
//!     bool is_complete = false;
//!     petal_sketch_list(ours, listed, 1000, &count, &is_complete, NULL);
//!
//! A sketch holds 64-bit numbers. A uint64_t key is its own number, and the sketch lists the key itself. The number of
//! a byte key is its hash (`petal_spec_hash()`), and the sketch lists the hash. Insert a number only once: a sketch
//! cannot tell that it has the number already, and does not list numbers that are there twice. With
//! `petal_sketch_keep_keys()` the handle keeps the numbers too, and takes each only once.
//!
//! A sketch uses these fields of its spec: kind (0 is `PETAL_KIND_IBLT`), capacity, false_positive_rate, hash function,
//! seed, secret and parameters. The capacity is the number of differences. The false_positive_rate is the probability
//! that the sketch cannot list that many; `pinsketch` always can. Instead of both the spec may give bits (192 for a
//! cell of `iblt`, 256 with value_bits = 64; 192 for a symbol of `riblt`; field_bits for a difference of `pinsketch`)
//! and hashes (`iblt`: 3 to 7, the cells of a number).

use crate::arguments::{Out, list};
use crate::boundary::{NO_ERROR, boundary, number};
use crate::facets::combine::PETAL_COMPATIBILITY_ID_SIZE;
use crate::filter::keys::{petal_answers, petal_keys, refuse_answers, taking};
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Image, Listed, Listing, Sketch};
use std::ffi::c_void;

pub mod image;
pub mod kept;
pub mod minisketch;
#[cfg(feature = "riblt")]
pub mod stream;
pub mod whole;
pub mod pairs;

/// A sketch of any kind. Free it with `petal_sketch_free()`.
pub struct petal_sketch(Handle<Sketch>);

owner!(petal_sketch, Sketch);

/// Makes an empty sketch. Two sides have to agree on the spec only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_new(
    spec: *const petal_spec,
    sketch: *mut *mut petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give sketch, given spec], sketch.made(|| petal_core::Sketch::new(&spec)))
}

/// Frees a sketch. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_sketch_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_free(sketch: *mut petal_sketch) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(sketch) }
}

/// Inserts the hash of a byte key, as a number. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert(
    sketch: *mut petal_sketch,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [change sketch, bytes(key, length)], sketch.by(|sketch| sketch.insert(key)))
}

/// Inserts a number. Returns `PETAL_ERR_OUT_OF_RANGE` if the numbers of the kind have fewer than 64 bits, and the
/// number is too large for the kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_u64(sketch: *mut petal_sketch, number: u64) -> petal_status {
    boundary!(NO_ERROR, [change sketch], sketch.by(|sketch| sketch.insert_u64(number)))
}

/// Inserts the hash of a key, which is a number like any other. A kind whose numbers have fewer than 64 bits reduces
/// the hash to such a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_hash(sketch: *mut petal_sketch, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [change sketch], sketch.by(|sketch| sketch.insert_hash(hash)))
}

/// Inserts keys in order. `answers`, nullable, only tells how many keys the sketch took: the first `done`. A sketch
/// refuses every form of answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_insert_batch(
    sketch: *mut petal_sketch,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change sketch], {
        refuse_answers(answers)?;
        sketch.always(|sketch| sketch.insert_batch(keys))
    })
}

/// Removes a byte key. If you remove a number that you did not insert, the sketch lists the number with -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove(
    sketch: *mut petal_sketch,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [change sketch, bytes(key, length)], sketch.by(|sketch| sketch.remove(key)))
}

/// Removes a number, as `petal_sketch_remove()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_u64(sketch: *mut petal_sketch, number: u64) -> petal_status {
    boundary!(NO_ERROR, [change sketch], sketch.by(|sketch| sketch.remove_u64(number)))
}

/// Removes the hash of a key, as `petal_sketch_remove()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_hash(sketch: *mut petal_sketch, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [change sketch], sketch.by(|sketch| sketch.remove_hash(hash)))
}

/// Removes keys in order, as `petal_sketch_insert_batch()` inserts them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_remove_batch(
    sketch: *mut petal_sketch,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change sketch], {
        refuse_answers(answers)?;
        sketch.always(|sketch| sketch.remove_batch(keys))
    })
}

/// Subtracts another sketch: numbers that both have are gone, and the sketch lists numbers that only the other has with
/// -1. Returns `PETAL_ERR_INCOMPATIBLE`, naming the first difference, unless both have the same kind, size, hash
/// function and seed or secret.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_subtract(
    sketch: *mut petal_sketch,
    other: *const petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [pair(sketch, other)], sketch.by(Sketch::subtract))
}

/// Adds all that another sketch has. If the two sets have nothing in common, the result is the sketch of both. Refuses
/// what `petal_sketch_subtract()` refuses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_merge(
    sketch: *mut petal_sketch,
    other: *const petal_sketch,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [pair(sketch, other)], sketch.by(Sketch::merge))
}

/// A number that a sketch lists.
#[repr(C)]
pub struct petal_sketch_listed {
    /// The number: a uint64_t key, or the hash of a byte key.
    pub number: u64,
    /// 1 for a number that was inserted; -1 for a number that was removed, or that only the subtracted sketch had.
    /// A kind whose sketches have no signs lists 1 for every number.
    pub sign: i64,
}

impl From<&Listed> for petal_sketch_listed {
    fn from(&Listed { number, sign }: &Listed) -> petal_sketch_listed {
        petal_sketch_listed { number, sign }
    }
}

/// Lists the numbers of a sketch: first those with -1, then those with 1, each in ascending order. `count` becomes the
/// number of all listed numbers. The function writes the first `room` of these to `listed`, which may be NULL if `room`
/// is 0. `is_complete` becomes false if there are more differences than the sketch can tell apart: then the list is
/// right, but some numbers are missing. A `pinsketch` lists all numbers or none. Without the secret key of the sketch
/// the function returns `PETAL_ERR_SECRET_MISSING`. A sketch lists at most one number for each of its cells: one for
/// each 192 of the `bits` of `petal_sketch_describe()`, unless the kind's page says otherwise. The size of the sketch
/// also bounds the time of the function, whatever bytes an image holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_list(
    sketch: *const petal_sketch,
    listed: *mut petal_sketch_listed,
    room: usize,
    count: *mut usize,
    is_complete: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out count, out is_complete, room(listed, room)], {
        write_listing(&sketch.list()?, listed, count, is_complete);
        Ok(())
    })
}

/// Writes a listing to the outputs of a caller.
fn write_listing(found: &Listing, listed: &mut [petal_sketch_listed], count: Out<usize>, is_complete: Out<bool>) {
    list(found.listed.iter().map(petal_sketch_listed::from), listed, count);
    is_complete.set(found.is_complete);
}

/// Forgets all numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_clear(sketch: *mut petal_sketch, error: *mut petal_error) -> petal_status {
    boundary!(error, [change sketch], sketch.by(|sketch| sketch.clear()))
}

/// Returns what this sketch can do now: `PETAL_CAN_*`, ORed. A sketch that is open for reading can do less than its
/// kind. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_capabilities(sketch: *const petal_sketch) -> u64 {
    number!([read sketch], sketch.capabilities().0)
}

/// Writes the probability that the sketch cannot list `numbers` numbers. The calculated probability errs on the high
/// side.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_expected_failure_rate(
    sketch: *const petal_sketch,
    numbers: u64,
    rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, out rate], {
        rate.set(sketch.expected_failure_rate(numbers));
        Ok(())
    })
}

/// Writes `PETAL_COMPATIBILITY_ID_SIZE` bytes that are the same for two sketches if one can be subtracted from the
/// other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_sketch_get_compatibility_id(
    sketch: *const petal_sketch,
    id: *mut u8,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, room(id, PETAL_COMPATIBILITY_ID_SIZE)], {
        id.copy_from_slice(&sketch.base().compatibility_id());
        Ok(())
    })
}
