//! AGGREGATES: MEETINGS

use super::petal_aggregate;
use crate::boundary::boundary;
use crate::status::{petal_error, petal_status};
use petal_core::{AggregateAnswer, AggregateStateValue};
use std::ffi::c_void;
use std::mem::offset_of;

/// A state with the value that belongs to it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_aggregate_state_value {
    /// The state, from 0 to one less than the parameter `states`.
    pub state: u32,
    /// The value: any finite number.
    pub value: f64,
}

const _: () = assert!(
    size_of::<petal_aggregate_state_value>() == size_of::<AggregateStateValue>()
        && align_of::<petal_aggregate_state_value>() == align_of::<AggregateStateValue>()
        && offset_of!(petal_aggregate_state_value, state) == offset_of!(AggregateStateValue, state)
        && offset_of!(petal_aggregate_state_value, value) == offset_of!(AggregateStateValue, value)
);

/// What a meeting came to: one of `PETAL_AGGREGATE_OUTCOME_*`.
pub type petal_aggregate_outcome = u32;

/// The id was met for the first time, and its value is aggregated.
pub const PETAL_AGGREGATE_OUTCOME_FIRST: petal_aggregate_outcome = 0;
/// The value was aggregated already, or seemed so.
pub const PETAL_AGGREGATE_OUTCOME_DUPLICATE: petal_aggregate_outcome = 1;
/// The value of the previous state is replaced by the new one.
pub const PETAL_AGGREGATE_OUTCOME_CHANGED: petal_aggregate_outcome = 2;
/// Nothing is changed. Either the id is new and seems known; or the cited previous states are not aggregated; or more
/// than one of them seems to be, so that nobody knows which one to replace.
pub const PETAL_AGGREGATE_OUTCOME_REFUSED: petal_aggregate_outcome = 3;

/// An aggregator's answer, for `petal_aggregate_record_sent()` of the participant that it met.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_aggregate_answer {
    /// What the meeting came to: one of `PETAL_AGGREGATE_OUTCOME_*`.
    pub outcome: petal_aggregate_outcome,
    /// With `PETAL_AGGREGATE_OUTCOME_CHANGED`, the previous state that was replaced; otherwise 0.
    pub replaced: u32,
}

impl From<AggregateAnswer> for petal_aggregate_answer {
    fn from(meeting: AggregateAnswer) -> petal_aggregate_answer {
        let (outcome, replaced) = match meeting {
            AggregateAnswer::First => (PETAL_AGGREGATE_OUTCOME_FIRST, 0),
            AggregateAnswer::Duplicate => (PETAL_AGGREGATE_OUTCOME_DUPLICATE, 0),
            AggregateAnswer::Changed { replaced } => (PETAL_AGGREGATE_OUTCOME_CHANGED, replaced),
            AggregateAnswer::Refused => (PETAL_AGGREGATE_OUTCOME_REFUSED, 0),
        };
        petal_aggregate_answer { outcome, replaced }
    }
}

/// The cited states.
fn cited(previous: &[petal_aggregate_state_value]) -> &[AggregateStateValue] {
    // SAFETY: both types have the same layout, see above.
    unsafe { std::slice::from_raw_parts(previous.as_ptr().cast(), previous.len()) }
}

/// Meets the participant with this id, which is in a state with a value. `previous` has the states that the participant
/// may have told this aggregator before, as `petal_aggregate_list_sent()` lists them, each with its value; `previous`
/// may be NULL if `previous_count` is 0. A state that comes twice with one value counts once. Returns
/// `PETAL_ERR_OUT_OF_RANGE` for a state that is not below the parameter `states`, a value that is not finite, and more
/// previous states than `states`. Takes the time of one lookup for each cited state, and of two more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_add(
    aggregate: *mut petal_aggregate,
    id: *const c_void,
    length: usize,
    state: u32,
    value: f64,
    previous: *const petal_aggregate_state_value,
    previous_count: usize,
    answer: *mut petal_aggregate_answer,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, out answer, elements(previous, previous_count), bytes(id, length)], {
        let (now, previous) = (AggregateStateValue { state, value }, cited(previous));
        answer.set(aggregate.by(|aggregate| aggregate.add(id, now, previous))?.into());
        Ok(())
    })
}

/// Meets the participant whose id has this hash, as `petal_aggregate_add()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_add_hash(
    aggregate: *mut petal_aggregate,
    hash: u64,
    state: u32,
    value: f64,
    previous: *const petal_aggregate_state_value,
    previous_count: usize,
    answer: *mut petal_aggregate_answer,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, out answer, elements(previous, previous_count)], {
        let (now, previous) = (AggregateStateValue { state, value }, cited(previous));
        answer.set(aggregate.by(|aggregate| aggregate.add_hash(hash, now, previous))?.into());
        Ok(())
    })
}

/// Forgets the participant with this id, which is aggregated in this state, and takes its value away. `left`, nullable,
/// becomes false, with nothing changed, if the participant is not aggregated in this state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_remove(
    aggregate: *mut petal_aggregate,
    id: *const c_void,
    length: usize,
    state: u32,
    value: f64,
    left: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, bytes(id, length), maybe left], {
        left.answer(aggregate.by(|aggregate| aggregate.remove(id, AggregateStateValue { state, value })))
    })
}

/// Forgets the participant whose id has this hash, as `petal_aggregate_remove()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_remove_hash(
    aggregate: *mut petal_aggregate,
    hash: u64,
    state: u32,
    value: f64,
    left: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, maybe left], {
        left.answer(aggregate.by(|aggregate| aggregate.remove_hash(hash, AggregateStateValue { state, value })))
    })
}
