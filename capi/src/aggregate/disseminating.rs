//! AGGREGATES: WHAT A DISSEMINATOR TOLD

use super::meeting::{
    PETAL_AGGREGATE_OUTCOME_CHANGED, PETAL_AGGREGATE_OUTCOME_DUPLICATE, PETAL_AGGREGATE_OUTCOME_FIRST,
    PETAL_AGGREGATE_OUTCOME_REFUSED, petal_aggregate_answer,
};
use super::petal_aggregate;
use crate::arguments::list;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{AggregateAnswer, Result, Status};
use std::ffi::c_void;

/// The answer that C gives, or none.
fn answer_of(answer: Option<petal_aggregate_answer>) -> Result<Option<AggregateAnswer>> {
    let Some(petal_aggregate_answer { outcome, replaced }) = answer else { return Ok(None) };
    Ok(Some(match outcome {
        PETAL_AGGREGATE_OUTCOME_FIRST => AggregateAnswer::First,
        PETAL_AGGREGATE_OUTCOME_DUPLICATE => AggregateAnswer::Duplicate,
        PETAL_AGGREGATE_OUTCOME_CHANGED => AggregateAnswer::Changed { replaced },
        PETAL_AGGREGATE_OUTCOME_REFUSED => AggregateAnswer::Refused,
        _ => {
            let message = format_args!("outcome = {outcome} is none of 0 (first) to 3 (refused)");
            return Err(boundary::error(Status::UnknownValue, message));
        }
    }))
}

/// Lists the states that this disseminator told the aggregator with this id, in ascending order: none before their
/// first meeting, then one. At the false-positive rate the list also has states that were never told. Cite all of them:
/// the aggregator finds out which one is aggregated. `count` becomes the number of all states in the list. The function
/// writes the first `room` of these to `states`, which may be NULL if `room` is 0. Looks up all states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_list_sent(
    aggregate: *const petal_aggregate,
    id: *const c_void,
    length: usize,
    states: *mut u32,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, out count, bytes(id, length), room(states, room)], {
        list(aggregate.list_sent(id)?.into_iter(), states, count);
        Ok(())
    })
}

/// Lists what this disseminator told the aggregator whose id has this hash, as `petal_aggregate_list_sent()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_list_sent_hash(
    aggregate: *const petal_aggregate,
    hash: u64,
    states: *mut u32,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read aggregate, out count, room(states, room)], {
        list(aggregate.list_sent_hash(hash)?.into_iter(), states, count);
        Ok(())
    })
}

/// Notes what the aggregator with this id answered when it was told `state`. A first meeting and a change are noted. A
/// duplicate and a refusal change nothing. `answer` is NULL if no answer came: the memory then has this state and the
/// previous one, and the next meeting shows which of them is aggregated. `petal_aggregate_list_sent()` may go on
/// listing the other state. That does no harm, and `petal_aggregate_forget_sent()` ends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_record_sent(
    aggregate: *mut petal_aggregate,
    id: *const c_void,
    length: usize,
    state: u32,
    answer: *const petal_aggregate_answer,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, bytes(id, length), optional answer], {
        let answer = answer_of(answer)?;
        aggregate.by(|aggregate| aggregate.record_sent(id, state, answer))
    })
}

/// Notes the answer of the aggregator whose id has this hash, as `petal_aggregate_record_sent()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_record_sent_hash(
    aggregate: *mut petal_aggregate,
    hash: u64,
    state: u32,
    answer: *const petal_aggregate_answer,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, optional answer], {
        let answer = answer_of(answer)?;
        aggregate.by(|aggregate| aggregate.record_sent_hash(hash, state, answer))
    })
}

/// Forgets that the aggregator with this id was told `state`, for an aggregator that left or lost its memories.
/// `forgotten`, nullable, becomes false, with nothing changed, if the aggregator was not told `state`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_forget_sent(
    aggregate: *mut petal_aggregate,
    id: *const c_void,
    length: usize,
    state: u32,
    forgotten: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, bytes(id, length), maybe forgotten], {
        forgotten.answer(aggregate.by(|aggregate| aggregate.forget_sent(id, state)))
    })
}

/// Forgets what the aggregator whose id has this hash was told, as `petal_aggregate_forget_sent()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_forget_sent_hash(
    aggregate: *mut petal_aggregate,
    hash: u64,
    state: u32,
    forgotten: *mut bool,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate, maybe forgotten], {
        forgotten.answer(aggregate.by(|aggregate| aggregate.forget_sent_hash(hash, state)))
    })
}
