//! FILTERS: WHAT TO EXPECT
//!
//! These rates and numbers follow from a spec, or from a filter's geometry, whatever the filter holds.

use crate::boundary::boundary;
use crate::filter::petal_filter;
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};

/// The expected number of omissions when `keys` distinct keys are inserted, one after the other, into the filter that a
/// spec describes. An omission is a new key that the filter takes for a known one, or that it refuses because it is
/// full. A model checker that explores only new states omits this many states. The number is the sum of the
/// false-positive rates before each key. Returns `PETAL_ERR_UNSUPPORTED` for a kind that a builder makes from its keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_expected_omissions(
    spec: *const petal_spec,
    keys: u64,
    omissions: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, out omissions, given spec], {
        omissions.answer(petal_core::expected_omissions(&spec, keys))
    })
}

/// The exact false-positive rate of the filter that a spec describes, with `keys` distinct keys in the filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_spec_expected_false_positive_rate(
    spec: *const petal_spec,
    keys: u64,
    false_positive_rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, out false_positive_rate, given spec], {
        false_positive_rate.answer(petal_core::expected_false_positive_rate(&spec, keys))
    })
}

/// The expected number of omissions when `keys` distinct keys are inserted, one after the other, into an empty filter
/// of this geometry: see `petal_spec_expected_omissions()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_omissions(
    filter: *const petal_filter,
    keys: u64,
    omissions: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out omissions], omissions.answer(filter.expected_omissions(keys)))
}

/// The false-positive rate to expect of this filter with `keys` distinct keys in it. It is exact for most kinds.
///
/// For a bloom filter with derivation double, enhanced_double or triple the rate is an approximation: within 5 % from
/// ten keys on if the filter was made by rate. With exact bits that have small factors the true rate is higher: by up
/// to a sixth at ten keys (with triple, up to 2.5 times), and by 2 % at a thousand.
///
/// For some other kinds this rate, and that of the statistics, is an approximation too:
///
/// - `signatures`: within 0.5 %;
/// - `hash_compaction`: within 1 %, and 5 % where hardly any slot is empty;
/// - `variable_increment`: up to 8 % too high with 2 to 16 keys;
/// - `exact_set` after an update, if the universe has fewer than 36 keys: too high by up to an eighth in the mean over
///   seeds; in 6,000 trials no filter had more than 1.8 times the stated rate;
/// - `scalable`, and `rotating` with `touch` = 0: the relative error is at most 0.15 times the rate (0.15 % at a rate
///   of 1 %), because a level does not get the keys that earlier levels seem to have;
/// - `age_partitioned`: the relative error is at most 0.03 times the rate.
///
/// For a kind that forgets, more keys than the window has do not raise the rate any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_false_positive_rate(
    filter: *const petal_filter,
    keys: u64,
    false_positive_rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out false_positive_rate], {
        false_positive_rate.set(filter.expected_false_positive_rate(keys));
        Ok(())
    })
}

/// The probability of a false negative: that a lookup does not find a key after `age` other keys came. The key itself
/// did not come again meanwhile. The probability is 0 for kinds that neither lose keys (`PETAL_MAY_LOSE_KEYS`) nor
/// forget them (`PETAL_CAN_AGE`).
///
/// For a window the probability is 0 up to the window's end, and then the average over all places that the key may have
/// in a step. The probability stays 0 if only `petal_filter_advance()` moves time on.
///
/// A `rotating` filter with `touch` = 0 may lose keys inside its window too: keys that seemed to be in an older
/// generation go with that one. If `petal_filter_advance()` moves time on, the function takes a step to come after as
/// many keys as the capacity.
///
/// `removed_set` loses keys when others are removed. For such a filter the probability is the share that it has lost by
/// now, whatever the age. Constant time; for `removed_set` linear in the part that knows of removed keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_filter_expected_false_negative_rate(
    filter: *const petal_filter,
    age: u64,
    false_negative_rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read filter, out false_negative_rate], {
        false_negative_rate.set(filter.expected_false_negative_rate(age));
        Ok(())
    })
}
