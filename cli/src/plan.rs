//! `petal plan`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::numbers::short;
use crate::output::{Table, Text};
use petal::Capabilities;
use petal::plan::{Goal, Proposal, Request, plan};
use serde::Serialize;

/// The answer, as JSON.
#[derive(Serialize)]
struct Answer {
    keys: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpr: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    /// Best first.
    kinds: Vec<Fit>,
    others: Vec<Misfit>,
}

#[derive(Serialize)]
struct Fit {
    kind: &'static str,
    bits_per_key: f64,
    bytes: u64,
    fpr: f64,
    lines_per_lookup: f64,
}

#[derive(Serialize)]
struct Misfit {
    kind: &'static str,
    reason: String,
}

pub fn run(args: &args::Plan) -> Outcome {
    let goal = match (args.fpr, args.memory) {
        (Some(rate), _) => Goal::FalsePositiveRate(rate),
        (None, memory) => Goal::Memory(memory.unwrap_or(0)),
    };
    let wanted =
        [(args.delete, Capabilities::REMOVE), (args.count, Capabilities::COUNT), (args.grow, Capabilities::GROW)];
    let capabilities = wanted.iter().filter(|(wanted, _)| *wanted).fold(Capabilities::NONE, |all, (_, one)| all | *one);
    let proposals = plan(&Request { keys: args.keys, goal, capabilities, is_static: args.fixed })?;
    let answer = answer(args, &proposals);
    let mut text = Text::new();
    if args.json {
        text.line(serde_json::to_string_pretty(&answer).map_err(Failure::new)?)?;
    } else {
        print(&answer, &mut text)?;
    }
    text.flush()?;
    Ok(u8::from(answer.kinds.is_empty()))
}

fn answer(args: &args::Plan, proposals: &[Proposal]) -> Answer {
    let mut answer =
        Answer { keys: args.keys, fpr: args.fpr, memory: args.memory, kinds: Vec::new(), others: Vec::new() };
    for proposal in proposals {
        let kind = proposal.name;
        match &proposal.outcome {
            Ok(fit) => answer.kinds.push(Fit {
                kind,
                bits_per_key: fit.bits_per_key,
                bytes: fit.bytes,
                fpr: fit.false_positive_rate,
                lines_per_lookup: fit.lines_per_lookup,
            }),
            Err(error) => answer.others.push(Misfit { kind, reason: error.to_string() }),
        }
    }
    answer
}

fn print(answer: &Answer, text: &mut Text) -> Outcome<()> {
    let mut table = Table::default();
    table.row(["kind", "bits/key", "bytes", "FPR", "lines/lookup"]);
    for fit in &answer.kinds {
        table.row([
            fit.kind,
            &format!("{:.2}", fit.bits_per_key),
            &fit.bytes.to_string(),
            &short(fit.fpr),
            &format!("{:.1}", fit.lines_per_lookup),
        ]);
    }
    if !answer.kinds.is_empty() {
        table.print(text)?;
    }
    if !answer.others.is_empty() {
        let heading = if answer.kinds.is_empty() { "No kind fits:" } else { "\nDo not fit:" };
        text.line(heading)?;
    }
    answer.others.iter().try_for_each(|other| text.line(format_args!("{}: {}", other.kind, other.reason)))
}
