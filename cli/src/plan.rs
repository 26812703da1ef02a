//! `petal plan`.

use crate::args;
use crate::failure::Outcome;
use crate::numbers::short;
use crate::output::{Table, Text};
use petal::Capabilities;
use petal::plan::{Fit, Goal, Proposal, Request, plan};
use serde::Serialize;

/// The answer, as JSON.
#[derive(Serialize)]
struct Answer {
    keys: u64,
    universe: Option<u64>,
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
}

pub fn run(args: &args::Plan, common: args::Common) -> Outcome {
    let goal = match (args.fpr, args.memory) {
        (Some(rate), _) => Goal::FalsePositiveRate(rate),
        (None, memory) => Goal::Memory(memory.unwrap_or(0)),
    };
    let wanted =
        [(args.remove, Capabilities::REMOVE), (args.count, Capabilities::COUNT), (args.growing, Capabilities::GROW)];
    let capabilities = wanted.iter().filter(|(wanted, _)| *wanted).fold(Capabilities::NONE, |all, (_, one)| all | *one);
    let proposals = plan(&Request {
        keys: args.keys,
        goal,
        capabilities,
        is_static: args.is_static,
        universe: args.universe.unwrap_or(0),
    })?;
    let proposals: Vec<Choice> = proposals.into_iter().map(Choice::from).collect();
    let none_fits = proposals.iter().all(|choice| choice.fit.is_none());
    let answer = Answer {
        keys: args.keys,
        universe: args.universe,
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
                let Fit { bits_per_key, bytes, false_positive_rate, lines_per_lookup } = fit;
                let fit = Numbers { bits_per_key, bytes, false_positive_rate, lines_per_lookup };
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
    table.row(["kind", "bits/key", "bytes", "FPR", "lines/lookup"]);
    for (kind, fit) in fits() {
        table.row([
            kind,
            &format!("{:.2}", fit.bits_per_key),
            &fit.bytes.to_string(),
            &short(fit.false_positive_rate),
            &format!("{:.1}", fit.lines_per_lookup),
        ]);
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
