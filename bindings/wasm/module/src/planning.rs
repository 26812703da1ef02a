//! The planner, and what the kinds are.

use crate::outcome::{answer, answer_real, answer_text, run};
use core::cell::RefCell;
use petal::plan::{Fit, Goal, Proposal, Request, keep_in_place, plan, recommended};
use petal::{Capabilities, Error, Overfill, Row, Status, registry};

thread_local! {
    static PROPOSALS: RefCell<Vec<Proposal>> = const { RefCell::new(Vec::new()) };
}

/// Asks every kind. The goal is a memory, unless that is 0; then it is a rate. Returns how many proposals there are.
/// The first answer is the place of the kind to take without further needs.
#[unsafe(no_mangle)]
pub extern "C" fn petal_plan_propose(
    keys: u64,
    rate: f64,
    memory: u64,
    capabilities: u64,
    is_static: bool,
    in_place: bool,
    universe: u64,
    times: u64,
    frequent: f64,
    non_members: u64,
) -> i32 {
    run(|| {
        let goal = if memory == 0 { Goal::FalsePositiveRate(rate) } else { Goal::Memory(memory) };
        let capabilities = Capabilities(capabilities);
        let request = Request { keys, goal, capabilities, is_static, universe, times, frequent, non_members };
        let mut proposals = plan(&request)?;
        if in_place {
            keep_in_place(&mut proposals);
        }
        answer(0, recommended(&proposals, &request).map_or(u64::MAX, |place| place as u64));
        let mut all = Vec::new();
        let no_memory = |_| Error::new(Status::OutOfMemory, format_args!("a plan could not be had"));
        all.try_reserve_exact(proposals.len()).map_err(no_memory)?;
        all.extend(proposals);
        let count = all.len() as i32;
        PROPOSALS.set(all);
        Ok(count)
    })
}

/// A proposal of the last plan. Returns 0 if the kind fits, and otherwise its status, with the message of the error.
#[unsafe(no_mangle)]
pub extern "C" fn petal_plan_proposal(number: usize) -> i32 {
    PROPOSALS.with_borrow(|proposals| {
        let Some(Proposal { kind, name, outcome }) = proposals.get(number) else { return 1 };
        answer_text(0, name);
        match outcome {
            Ok(Fit { bits_per_key, bytes, false_positive_rate, lines_per_lookup, build_memory, setting }) => {
                answer_real(2, *bits_per_key);
                answer(3, *bytes);
                answer_real(4, *false_positive_rate);
                answer_real(5, *lines_per_lookup);
                answer(6, *build_memory);
                let row = registry::find(*kind);
                let parameter =
                    setting.and_then(|setting| row?.parameters.iter().find(|parameter| parameter.id() == setting.id));
                answer_text(7, parameter.map_or("", |parameter| parameter.name));
                answer_real(9, setting.map_or(0.0, |setting| setting.value));
                0
            }
            Err(error) => run(|| Err(Error::new(error.status(), format_args!("{}", error.message())))),
        }
    })
}

/// What a kind of filter or map is, by its place in the list of all; 1 after the last.
#[unsafe(no_mangle)]
pub extern "C" fn petal_kind(number: usize) -> i32 {
    let Some(row) = registry::all().nth(number) else { return 1 };
    answer_text(0, row.name);
    answer_text(2, row.summary);
    answer(4, row.capabilities.0);
    answer(5, row.is_made_empty().into());
    answer(6, row.is_map().into());
    answer(7, row.is_changed_in_place().into());
    answer(8, row.hashing.universe.is_some().into());
    answer(9, (row.overfill == Overfill::RateRises).into());
    answer(10, row.kind.0.into());
    0
}

/// A parameter of a kind: its name, its sentence, its default, its bounds; 1 after the last.
#[unsafe(no_mangle)]
pub extern "C" fn petal_kind_get_parameter(kind: usize, number: usize) -> i32 {
    let row: Option<&Row> = registry::all().nth(kind);
    let Some(parameter) = row.and_then(|row| row.parameters.get(number)) else { return 1 };
    answer_text(0, parameter.name);
    answer_text(2, parameter.summary);
    answer_real(4, parameter.default);
    let (least, greatest) = parameter.bounds();
    answer_real(5, least);
    answer_real(6, greatest);
    0
}
