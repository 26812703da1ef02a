//! `petal plan`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::file_name::shown;
use crate::numbers::short;
use crate::output::{Table, Text, save};
use crate::plot;
use crate::sparse;
use petal::plan::{Fit, Goal, Proposal, Request, keep_in_place, plan, recommended};
use petal::{Capabilities, Setting, registry};
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer, as JSON.
#[derive(Serialize)]
struct Answer {
    keys: u64,
    universe: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_members: Option<u64>,
    times: Option<u64>,
    false_positive_rate: Option<f64>,
    memory: Option<u64>,
    /// The kind to take without further needs.
    recommended: Option<&'static str>,
    /// The kinds that fit come first, the best of them at the top.
    proposals: Vec<Choice>,
}

/// A kind with its numbers, or with the reason why it does not fit.
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
    /// The parameters to set, if the kind's numbers are for values other than the defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'static str, f64>,
    /// The further abilities of the kind, by the names of their options.
    also: Vec<&'static str>,
}

/// The groups of kinds by their abilities, in the order of the table. A kind belongs to the last group whose
/// capabilities it has.
const GROUPS: [(&str, Capabilities); 7] = [
    ("Built from all keys at once", Capabilities::NONE),
    ("Keys are inserted at any time", Capabilities::INSERT),
    ("Keys are removed too", Capabilities::REMOVE),
    ("Keys are counted too", Capabilities::COUNT),
    ("Keys are removed and counted too", Capabilities::REMOVE.with(Capabilities::COUNT)),
    ("The filter grows with its keys", Capabilities::GROW),
    ("Old keys are forgotten", Capabilities::AGE),
];

/// The index and the heading of a kind's group.
fn group(kind: &str) -> (usize, &'static str) {
    let capabilities = registry::find_name(kind).map_or(Capabilities::NONE, |row| row.capabilities);
    let place = GROUPS.iter().rposition(|(_, all)| capabilities.contains(*all)).unwrap_or(0);
    (place, GROUPS[place].0)
}

pub fn run(args: &args::Plan, common: args::Common) -> Outcome {
    if let Some(packed_bytes) = args.wire {
        return sparse::run(args.keys.unwrap_or(0), packed_bytes, args.memory, common);
    }
    let goal = match (args.fpr, args.memory) {
        (Some(rate), _) => Some(Goal::FalsePositiveRate(rate)),
        (None, Some(memory)) => Some(Goal::Memory(memory)),
        (None, None) if args.plot.is_some() => None,
        (None, None) => Some(Goal::FalsePositiveRate(petal::DEFAULT_FALSE_POSITIVE_RATE)),
    };
    let wanted = [
        (args.window.is_some(), Capabilities::AGE),
        (args.remove, Capabilities::REMOVE),
        (args.count || args.times.is_some(), Capabilities::COUNT),
        (args.growing, Capabilities::GROW),
        (args.shared, Capabilities::INSERT_SHARED),
        (args.merge, Capabilities::MERGE),
        (args.may_lose_keys, Capabilities::MAY_LOSE_KEYS),
    ];
    let capabilities = wanted.iter().filter(|(wanted, _)| *wanted).fold(Capabilities::NONE, |all, (_, one)| all | *one);
    let keys = args.window.or(args.keys).unwrap_or(0);
    let (universe, times) = (args.universe.unwrap_or(0), args.times.unwrap_or(0));
    let (frequent, non_members) = (args.frequent.unwrap_or(0.0), args.non_members.unwrap_or(0));
    let is_static = args.is_static;
    let wanted = |goal| Request { keys, goal, capabilities, is_static, universe, frequent, non_members, times };
    if let Some(path) = &args.plot {
        let svg = plot::svg(&wanted(Goal::FalsePositiveRate(petal::DEFAULT_FALSE_POSITIVE_RATE)));
        let svg = svg.map_err(|error| Failure::new(format_args!("--plot {}: {error}", shown(path))))?;
        save("--plot", path, svg.as_bytes())?;
    }
    let Some(goal) = goal else { return Ok(0) };
    let request = wanted(goal);
    let mut proposals = plan(&request)?;
    if args.in_place {
        keep_in_place(&mut proposals);
    }
    let recommended = recommended(&proposals, &request).map(|place| proposals[place].name);
    let proposals: Vec<Choice> = proposals.into_iter().map(Choice::from).collect();
    let none_fits = proposals.iter().all(|choice| choice.fit.is_none());
    let answer = Answer {
        keys,
        universe: args.universe,
        frequent: args.frequent,
        non_members: args.non_members,
        times: args.times,
        false_positive_rate: match goal {
            Goal::FalsePositiveRate(rate) => Some(rate),
            Goal::Memory(_) => None,
        },
        memory: args.memory,
        recommended,
        proposals,
    };
    let mut text = Text::new()?;
    if common.json {
        text.json(&answer)?;
    } else {
        print(&answer, args.verbose, &mut text)?;
    }
    text.flush()?;
    Ok(u8::from(none_fits))
}

impl From<Proposal> for Choice {
    fn from(proposal: Proposal) -> Choice {
        let kind = proposal.name;
        match proposal.outcome {
            Ok(fit) => {
                let Fit { bits_per_key, bytes, false_positive_rate, lines_per_lookup, build_memory, setting } = fit;
                let named = |setting: Setting| Some((parameter(kind, setting.id)?, setting.value));
                let fit = Numbers {
                    bits_per_key,
                    bytes,
                    false_positive_rate,
                    lines_per_lookup,
                    build_memory,
                    parameters: setting.and_then(named).into_iter().collect(),
                    also: also(kind),
                };
                Choice { kind, fit: Some(fit), reason: None }
            }
            Err(error) => Choice { kind, fit: None, reason: Some(error.to_string()) },
        }
    }
}

/// The name of a kind's parameter.
fn parameter(kind: &str, id: u32) -> Option<&'static str> {
    let row = registry::find_name(kind)?;
    row.parameters.iter().find(|parameter| parameter.id() == id).map(|parameter| parameter.name)
}

/// The abilities of a kind, by the names of their options.
fn also(kind: &str) -> Vec<&'static str> {
    let Some(row) = registry::find_name(kind) else { return Vec::new() };
    let can = |one| row.capabilities.contains(one);
    let all = [
        ("merge", can(Capabilities::MERGE)),
        ("shared", can(Capabilities::INSERT_SHARED)),
        ("in-place", row.is_changed_in_place()),
    ];
    all.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect()
}

fn print(answer: &Answer, verbose: bool, text: &mut Text) -> Outcome<()> {
    let fits = || answer.proposals.iter().filter_map(|choice| Some((choice.kind, choice.fit.as_ref()?)));
    let others = || answer.proposals.iter().filter_map(|choice| Some((choice.kind, choice.reason.as_ref()?)));
    let mut table = Table::ending_in_words();
    let mut heads = vec!["  kind", "bits/key", "bytes", "FPR", "lines/lookup"];
    // Only kinds that are built take memory to build, so the column is left out without such a kind.
    let is_built = fits().any(|(_, fit)| fit.build_memory > 0);
    heads.extend(is_built.then_some("build memory"));
    heads.push("also");
    table.row(heads);
    let mut groups: Vec<(usize, &str)> = fits().map(|(kind, _)| group(kind)).collect();
    groups.sort_unstable();
    groups.dedup();
    // The group of the recommended kind comes first.
    let first = answer.recommended.map(group);
    groups.sort_by_key(|of| Some(*of) != first);
    let mut heading = None;
    for (of, (kind, fit)) in groups.iter().flat_map(|of| fits().map(move |fit| (of, fit))) {
        if group(kind) != *of {
            continue;
        }
        if heading != Some(of) {
            table.heading(of.1);
            heading = Some(of);
        }
        let mark = if answer.recommended == Some(kind) { '*' } else { ' ' };
        let mut row = vec![
            fit.parameters.iter().fold(format!("{mark} {kind}"), |all, (name, value)| format!("{all} {name}={value}")),
            format!("{:.2}", fit.bits_per_key),
            fit.bytes.to_string(),
            short(fit.false_positive_rate),
            format!("{:.1}", fit.lines_per_lookup),
        ];
        row.extend(is_built.then(|| fit.build_memory.to_string()));
        row.push(fit.also.join(", "));
        table.row(row);
    }
    let some_fit = fits().next().is_some();
    if some_fit {
        table.print(text)?;
    }
    if some_fit && !verbose {
        return match others().count() {
            0 => Ok(()),
            count => text.line(format_args!("\n{count} other kinds will not do; -v says why")),
        };
    }
    if others().next().is_some() {
        text.line(if some_fit { "\nDo not fit:" } else { "No kind fits:" })?;
    }
    others().try_for_each(|(kind, reason)| text.line(format_args!("{kind}: {reason}")))
}
