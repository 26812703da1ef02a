//! AGGREGATES: RESULTS

use super::petal_aggregate;
use crate::boundary::{self, boundary, number};
use crate::status::{petal_error, petal_status};
use petal_core::AggregateStatistics;

/// A participant has the maximum. If all who had it changed or left, the maximum is a bound, until a participant comes
/// to it again or above it.
pub const PETAL_AGGREGATE_MAXIMUM_IS_EXACT: u64 = 1 << 0;
/// A participant has the minimum.
pub const PETAL_AGGREGATE_MINIMUM_IS_EXACT: u64 = 1 << 1;

/// What is aggregated now.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_aggregate_statistics {
    /// sizeof(petal_aggregate_statistics), or 0 for its size in the first release.
    pub struct_size: usize,
    /// How many participants are aggregated.
    pub count: u64,
    /// The sum of their values, rounded once to the nearest double. Infinite if no double is that great.
    pub sum: f64,
    /// The exact mean of their values, rounded once. NaN if nobody is aggregated.
    pub mean: f64,
    /// The greatest value, or a bound above all of them: see `exact`. NaN if nobody is aggregated.
    pub maximum: f64,
    /// The least value, or a bound below all of them: see `exact`. NaN if nobody is aggregated.
    pub minimum: f64,
    /// Which of `PETAL_AGGREGATE_MAXIMUM_IS_EXACT` and `PETAL_AGGREGATE_MINIMUM_IS_EXACT` hold.
    pub exact: u64,
    /// An estimate of how many participants have come: those who are aggregated, and those who were refused because
    /// they seemed known. The mean times this estimate is the sum without the bias of false positives.
    pub participants: f64,
    /// Meetings that aggregated an id for the first time.
    pub firsts: u64,
    /// Meetings that replaced a state and its value by others.
    pub changes: u64,
    /// Meetings with a state that was aggregated already, or seemed so.
    pub duplicates: u64,
    /// Refused meetings that cited no previous state: an id that is new and seems known, or a participant that lost its
    /// memory. Such a participant is refused at each meeting, so this number grows with the meetings.
    pub refused_firsts: u64,
    /// Refused meetings that cited previous states. None of these states seemed aggregated, or more than one did.
    pub refused_changes: u64,
    /// Participants that left.
    pub departures: u64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_aggregate_statistics {
    const FIRST_SIZE: usize = 112;
}

/// What false positives are expected to cost if n participants are met, all of them. `f(n)` is the false-positive rate
/// of a memory of n entries.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_aggregate_expected_errors {
    /// sizeof(petal_aggregate_expected_errors), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The false-positive rate of each memory that has as many entries as there are participants: `f(n)`.
    pub false_positive_rate: f64,
    /// How many of the participants are refused when they come, one after the other, because they seem known:
    /// `f(0) + ... + f(n - 1)`. Each is refused again at each further meeting.
    pub refused_firsts: f64,
    /// The relative error of sum and count: `-refused_firsts / n`, if values do not depend on ids. The mean has none.
    pub bias: f64,
    /// The share of changes of aggregated participants that the aggregator takes for duplicates, once all have changed
    /// several times. Of the first changes fewer are missed, from `f(n - refused_firsts)` on. Such a change is taken
    /// for a duplicate at each further meeting too, until other changes free the counters.
    pub missed_changes: f64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_aggregate_expected_errors {
    const FIRST_SIZE: usize = 40;
}

/// Tells what is aggregated now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_get_statistics(
    aggregate: *const petal_aggregate,
    results: *mut petal_aggregate_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, fill results], {
        let AggregateStatistics {
            count,
            sum,
            mean,
            maximum,
            minimum,
            is_maximum_exact,
            is_minimum_exact,
            participants,
            tallies,
        } =
            aggregate.statistics();
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        results.set(petal_aggregate_statistics {
            struct_size: 0,
            count,
            sum,
            mean,
            maximum,
            minimum,
            exact: flag(is_maximum_exact, PETAL_AGGREGATE_MAXIMUM_IS_EXACT)
                | flag(is_minimum_exact, PETAL_AGGREGATE_MINIMUM_IS_EXACT),
            participants,
            firsts: tallies.firsts,
            changes: tallies.changes,
            duplicates: tallies.duplicates,
            refused_firsts: tallies.refused_firsts,
            refused_changes: tallies.refused_changes,
            departures: tallies.departures,
        });
        Ok(())
    })
}

/// Tells what false positives are expected to cost with this many participants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_get_expected_errors(
    aggregate: *const petal_aggregate,
    participants: u64,
    expected: *mut petal_aggregate_expected_errors,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, fill expected], {
        let told = aggregate.expected_errors(participants);
        expected.set(petal_aggregate_expected_errors {
            struct_size: 0,
            false_positive_rate: told.false_positive_rate,
            refused_firsts: told.refused_firsts,
            bias: told.bias,
            missed_changes: told.missed_changes,
        });
        Ok(())
    })
}

/// Tells how many participants are aggregated with a state. If a state means the same value everywhere, these counts
/// are the exact distribution of values, with maximum, minimum and median.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_count_in_state(
    aggregate: *const petal_aggregate,
    state: u32,
    count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, out count], count.answer(aggregate.count_in_state(state)))
}

/// Returns how many states a participant can have. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_state_count(aggregate: *const petal_aggregate) -> u32 {
    number!([read aggregate], aggregate.state_count())
}
