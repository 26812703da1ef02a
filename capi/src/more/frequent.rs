//! BUILDERS: FREQUENT NON_MEMBERS
//!
//! For kinds whose filters give fewer false answers for keys that are known to be asked for often, such as `stacked`.
//! Its members are added to a builder as for every kind. The frequent non-members are keys that are no members. Each
//! has a weight: how often it is asked for compared with the other frequent non-members, as a number of lookups or a
//! share of them. Weights are numbers from 2^-60 to 2^60, and those of a key that is given again add up, to less than
//! 2^64. The parameter `frequent_share` says which share of all lookups of absent keys asks for frequent non-members. A
//! key that is a member too is found when the filter is made: `petal_builder_finish()` then returns
//! `PETAL_ERR_CONTRADICTION` and says the key's hash.

use crate::boundary::{NO_ERROR, boundary};
use crate::builder::petal_builder;
use crate::filter::keys::{self, petal_answers, petal_keys, taking};
use crate::status::{petal_error, petal_status};
use std::ffi::c_void;

/// Gives a frequent non-member with its weight. Returns `PETAL_ERR_UNSUPPORTED` if the kind takes none, and
/// `PETAL_ERR_OUT_OF_RANGE` for another weight.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_frequent(
    builder: *mut petal_builder,
    key: *const c_void,
    length: usize,
    weight: f64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder, bytes(key, length)], builder.by(|builder| builder.add_frequent(key, weight)))
}

/// Gives the hash of a frequent non-member, as `petal_builder_add_frequent()` does a byte key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_frequent_hash(
    builder: *mut petal_builder,
    hash: u64,
    weight: f64,
) -> petal_status {
    boundary!(NO_ERROR, [change builder], builder.by(|builder| builder.add_frequent_hash(hash, weight)))
}

/// Gives frequent non-members in order. `weights` is nullable: then each key has the weight 1. Otherwise it has one
/// element a key. `answers` is nullable: its field `done` tells how many keys were taken. A builder finds out nothing
/// about a key, so it refuses every output in `answers`. Returns the statuses of `petal_builder_add_frequent()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_builder_add_frequent_batch(
    builder: *mut petal_builder,
    keys: *const petal_keys,
    weights: *const f64,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change builder, maybe elements(weights, keys.len())], {
        keys::refuse_answers(answers)?;
        builder.always(|builder| builder.add_frequent_batch(keys, weights))
    })
}
