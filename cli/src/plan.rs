//! `petal plan`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::numbers::short;
use crate::output::{Table, Text};
use crate::plot;
use petal::Capabilities;
use petal::plan::{Fit, Goal, Proposal, Request, plan};
use serde::Serialize;
use std::fmt::Display;
use std::fs;

/// The answer, as JSON.
#[derive(Serialize)]
struct Answer {
    keys: u64,
    universe: Option<u64>,
    times: Option<u64>,
    false_positive_rate: Option<f64>,
    memory: Option<u64>,
    /// Those that fit first, best first.
    proposals: Vec<Choice>,
}

/// A kind that fits, with its numbers, or one that does not, with the reason.
#[derive(Serialize)]
struct Choice {
    kind: &'static str,
    #[serde(flatten)]
    fit: Option<Numbers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Numbers {
    bits_per_key: f64,
    bytes: u64,
    false_positive_rate: f64,
    lines_per_lookup: f64,
    build_memory: u64,
}

pub fn run(args: &args::Plan, common: args::Common) -> Outcome {
    let goal = match (args.fpr, args.memory) {
        (Some(rate), _) => Some(Goal::FalsePositiveRate(rate)),
        (None, memory) => memory.map(Goal::Memory),
    };
    let wanted = [
        (args.window.is_some(), Capabilities::AGE),
        (args.remove, Capabilities::REMOVE),
        (args.count || args.times.is_some(), Capabilities::COUNT),
        (args.growing, Capabilities::GROW),
        (args.may_lose_keys, Capabilities::MAY_LOSE_KEYS),
    ];
    let capabilities = wanted.iter().filter(|(wanted, _)| *wanted).fold(Capabilities::NONE, |all, (_, one)| all | *one);
    let keys = args.window.or(args.keys).unwrap_or(0);
    let (universe, times) = (args.universe.unwrap_or(0), args.times.unwrap_or(0));
    let wanted = |goal| Request { keys, goal, capabilities, is_static: args.is_static, universe, times };
    if let Some(path) = &args.plot {
        let svg = plot::svg(&wanted(Goal::FalsePositiveRate(petal::DEFAULT_FALSE_POSITIVE_RATE)));
        let failed = |error: &dyn Display| Failure::new(format_args!("--plot {}: {error}", path.display()));
        fs::write(path, svg.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
    }
    let Some(goal) = goal else { return Ok(0) };
    let proposals = plan(&wanted(goal))?;
    let proposals: Vec<Choice> = proposals.into_iter().map(Choice::from).collect();
    let none_fits = proposals.iter().all(|choice| choice.fit.is_none());
    let answer = Answer {
        keys,
        universe: args.universe,
        times: args.times,
        false_positive_rate: args.fpr,
        memory: args.memory,
        proposals,
    };
    let mut text = Text::new()?;
    if common.json {
        text.json(&answer)?;
    } else {
        print(&answer, &mut text)?;
    }
    text.flush()?;
    Ok(u8::from(none_fits))
}

impl From<Proposal> for Choice {
    fn from(proposal: Proposal) -> Choice {
        let kind = proposal.name;
        match proposal.outcome {
            Ok(fit) => {
                let Fit { bits_per_key, bytes, false_positive_rate, lines_per_lookup, build_memory } = fit;
                let fit = Numbers { bits_per_key, bytes, false_positive_rate, lines_per_lookup, build_memory };
                Choice { kind, fit: Some(fit), reason: None }
            }
            Err(error) => Choice { kind, fit: None, reason: Some(error.to_string()) },
        }
    }
}

fn print(answer: &Answer, text: &mut Text) -> Outcome<()> {
    let fits = || answer.proposals.iter().filter_map(|choice| Some((choice.kind, choice.fit.as_ref()?)));
    let others = || answer.proposals.iter().filter_map(|choice| Some((choice.kind, choice.reason.as_ref()?)));
    let mut table = Table::default();
    let mut heads = vec!["kind", "bits/key", "bytes", "FPR", "lines/lookup"];
    // What is made empty takes no memory to build, so the column is for those that are not.
    let is_built = fits().any(|(_, fit)| fit.build_memory > 0);
    heads.extend(is_built.then_some("build memory"));
    table.row(heads);
    for (kind, fit) in fits() {
        let mut row = vec![
            kind.to_owned(),
            format!("{:.2}", fit.bits_per_key),
            fit.bytes.to_string(),
            short(fit.false_positive_rate),
            format!("{:.1}", fit.lines_per_lookup),
        ];
        row.extend(is_built.then(|| fit.build_memory.to_string()));
        table.row(row);
    }
    let some_fit = fits().next().is_some();
    if some_fit {
        table.print(text)?;
    }
    if others().next().is_some() {
        text.line(if some_fit { "\nDo not fit:" } else { "No kind fits:" })?;
    }
    others().try_for_each(|(kind, reason)| text.line(format_args!("{kind}: {reason}")))
}
