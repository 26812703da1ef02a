//! AGGREGATES: MEETINGS

use super::petal_aggregate;
use crate::boundary::boundary;
use crate::status::{petal_error, petal_status};
use petal_core::{Meeting, StateValue};
use std::ffi::c_void;
use std::mem::offset_of;

/// A state with the value that belongs to it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_state_value {
    /// The state, from 0 to one less than the parameter `states`.
    pub state: u32,
    /// The value: any finite number.
    pub value: f64,
}

const _: () = assert!(
    size_of::<petal_state_value>() == size_of::<StateValue>()
        && align_of::<petal_state_value>() == align_of::<StateValue>()
        && offset_of!(petal_state_value, state) == offset_of!(StateValue, state)
        && offset_of!(petal_state_value, value) == offset_of!(StateValue, value)
);

/// What a meeting came to: one of `PETAL_MEETING_*`.
pub type petal_outcome = u32;

/// The id was met for the first time, and its value is aggregated.
pub const PETAL_MEETING_FIRST: petal_outcome = 0;
/// The value was aggregated already, or seemed so.
pub const PETAL_MEETING_DUPLICATE: petal_outcome = 1;
/// The value of the previous state is replaced by the new one.
pub const PETAL_MEETING_CHANGED: petal_outcome = 2;
/// Nothing is changed. Either the id is new and seems known; or the cited previous states are not aggregated; or more
/// than one of them seems to be, so that nobody knows which one to replace.
pub const PETAL_MEETING_REFUSED: petal_outcome = 3;

/// An aggregator's answer, for `petal_aggregate_tell()` of the participant that it met.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_meeting {
    /// What the meeting came to: one of `PETAL_MEETING_*`.
    pub outcome: petal_outcome,
    /// With `PETAL_MEETING_CHANGED`, the previous state that was replaced; otherwise 0.
    pub replaced: u32,
}

impl From<Meeting> for petal_meeting {
    fn from(meeting: Meeting) -> petal_meeting {
        let (outcome, replaced) = match meeting {
            Meeting::First => (PETAL_MEETING_FIRST, 0),
            Meeting::Duplicate => (PETAL_MEETING_DUPLICATE, 0),
            Meeting::Changed { replaced } => (PETAL_MEETING_CHANGED, replaced),
            Meeting::Refused => (PETAL_MEETING_REFUSED, 0),
        };
        petal_meeting { outcome, replaced }
    }
}

/// The cited states.
fn cited(previous: &[petal_state_value]) -> &[StateValue] {
    // SAFETY: both types have the same layout, see above.
    unsafe { std::slice::from_raw_parts(previous.as_ptr().cast(), previous.len()) }
}

/// Meets the participant with this id, which is in a state with a value. `previous` has the states that the participant
/// may have told this aggregator before, as `petal_aggregate_told()` lists them, each with its value; `previous` may be
/// NULL if `previous_count` is 0. A state that comes twice with one value counts once. Returns `PETAL_ERR_OUT_OF_RANGE`
/// for a state that is not below the parameter `states`, a value that is not finite, and more previous states than
/// `states`. Takes the time of one lookup for each cited state, and of two more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_meet(
    aggregate: *mut petal_aggregate,
    id: *const c_void,
    length: usize,
    state: u32,
    value: f64,
    previous: *const petal_state_value,
    previous_count: usize,
    meeting: *mut petal_meeting,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, out meeting, elements(previous, previous_count), bytes(id, length)], {
        let (now, previous) = (StateValue { state, value }, cited(previous));
        meeting.set(aggregate.by(|aggregate| aggregate.meet(id, now, previous))?.into());
        Ok(())
    })
}

/// Meets the participant whose id is a uint64_t, as `petal_aggregate_meet()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_meet_u64(
    aggregate: *mut petal_aggregate,
    id: u64,
    state: u32,
    value: f64,
    previous: *const petal_state_value,
    previous_count: usize,
    meeting: *mut petal_meeting,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, out meeting, elements(previous, previous_count)], {
        let (now, previous) = (StateValue { state, value }, cited(previous));
        meeting.set(aggregate.by(|aggregate| aggregate.meet_u64(id, now, previous))?.into());
        Ok(())
    })
}

/// Meets the participant whose id has this hash, as `petal_aggregate_meet()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_meet_hash(
    aggregate: *mut petal_aggregate,
    id: u64,
    state: u32,
    value: f64,
    previous: *const petal_state_value,
    previous_count: usize,
    meeting: *mut petal_meeting,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, out meeting, elements(previous, previous_count)], {
        let (now, previous) = (StateValue { state, value }, cited(previous));
        meeting.set(aggregate.by(|aggregate| aggregate.meet_hash(id, now, previous))?.into());
        Ok(())
    })
}

/// Forgets the participant with this id, which is aggregated in this state, and takes its value away. `left`, nullable,
/// becomes false, with nothing changed, if the participant is not aggregated in this state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_leave(
    aggregate: *mut petal_aggregate,
    id: *const c_void,
    length: usize,
    state: u32,
    value: f64,
    left: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, bytes(id, length), maybe left], {
        left.answer(aggregate.by(|aggregate| aggregate.leave(id, StateValue { state, value })))
    })
}

/// Forgets the participant whose id is a uint64_t, as `petal_aggregate_leave()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_leave_u64(
    aggregate: *mut petal_aggregate,
    id: u64,
    state: u32,
    value: f64,
    left: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, maybe left], {
        left.answer(aggregate.by(|aggregate| aggregate.leave_u64(id, StateValue { state, value })))
    })
}

/// Forgets the participant whose id has this hash, as `petal_aggregate_leave()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_leave_hash(
    aggregate: *mut petal_aggregate,
    id: u64,
    state: u32,
    value: f64,
    left: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, maybe left], {
        left.answer(aggregate.by(|aggregate| aggregate.leave_hash(id, StateValue { state, value })))
    })
}
