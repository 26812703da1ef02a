//! `petal info`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::filter_file;
use crate::numbers::short;
use crate::output::Text;
use petal::{Domain, Filter, HashFunction, Mode, registry};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is said of a filter. The names are those of the JSON keys and of the lines for people.
#[derive(Serialize)]
struct Description {
    kind: &'static str,
    format_version: u16,
    layout_version: u16,
    hash: &'static str,
    /// None of a filter with a secret key.
    seed: Option<u64>,
    capacity: Option<u64>,
    count: u64,
    count_estimate: Option<f64>,
    bits: u64,
    bytes: u64,
    hashes: u32,
    bits_per_key: Option<f64>,
    fill: f64,
    fpr_target: Option<f64>,
    fpr_current: f64,
    parameters: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(u64),
    Choice(&'static str),
}

pub fn run(args: &args::Info) -> Outcome {
    let filter = filter_file::open(&args.filter, Mode::Read, None)?;
    let mut text = Text::new();
    let description = describe(&*filter);
    if args.json {
        text.line(serde_json::to_string_pretty(&description).map_err(Failure::new)?)?;
    } else {
        print(&*filter, &description, &mut text)?;
    }
    text.flush()?;
    Ok(0)
}

fn describe(filter: &dyn Filter) -> Description {
    let header = filter.base().header();
    let row = registry::find(header.kind);
    let keyed = header.hash == HashFunction::SipHash13;
    let some = |value: f64| (value != 0.0).then_some(value);
    let count_estimate = filter.cardinality();
    // As the library's statistics: for the capacity, or for the keys that are there where it is unknown.
    let keys = if header.capacity != 0 { header.capacity as f64 } else { count_estimate.unwrap_or(0.0) };
    let parameters = row.map_or(&[][..], |row| row.parameters).iter().filter_map(|parameter| {
        let value = header.geometry.parameter(parameter)?;
        let name = match parameter.domain {
            Domain::Choice(names) => usize::try_from(value).ok().and_then(|value| names.get(value)),
            Domain::Integer(..) => None,
        };
        Some((parameter.name, name.map_or(Value::Number(value), |name| Value::Choice(name))))
    });
    Description {
        kind: row.map_or("", |row| row.name),
        format_version: petal::format::FORMAT_VERSION,
        layout_version: header.layout_version,
        hash: header.hash.name(),
        seed: (!keyed).then_some(header.identifier),
        capacity: (header.capacity != 0).then_some(header.capacity),
        count: header.count,
        count_estimate,
        bits: header.geometry.bits,
        bytes: header.image_bytes(),
        hashes: header.geometry.hashes,
        bits_per_key: some(keys).map(|keys| header.geometry.bits as f64 / keys),
        fill: filter.measure().fill,
        fpr_target: some(header.false_positive_rate),
        fpr_current: filter.false_positive_rate(),
        parameters: parameters.collect(),
    }
}

fn print(filter: &dyn Filter, description: &Description, text: &mut Text) -> Outcome<()> {
    let d = description;
    let optional = |value: Option<String>| value.unwrap_or_else(|| String::from("unknown"));
    let estimate = match petal::estimate(filter) {
        Ok(Some(keys)) => format!("{:.1} (95 % interval: {:.1} to {:.1})", keys.value, keys.low(), keys.high()),
        Ok(None) => String::from("too full to tell"),
        Err(_) => String::from("unknown"),
    };
    let mut lines = vec![
        ("kind", d.kind.to_string()),
        ("format_version", d.format_version.to_string()),
        ("layout_version", d.layout_version.to_string()),
        ("hash", d.hash.to_string()),
        match d.seed {
            Some(seed) => ("seed", seed.to_string()),
            None => ("key_id", format!("{:#018x}", filter.base().header().identifier)),
        },
        ("capacity", optional(d.capacity.map(|value| value.to_string()))),
        ("count", d.count.to_string()),
        ("count_estimate", estimate),
        ("bits", d.bits.to_string()),
        ("bytes", d.bytes.to_string()),
        ("hashes", d.hashes.to_string()),
        ("bits_per_key", optional(d.bits_per_key.map(short))),
        ("fill", short(d.fill)),
        ("fpr_target", optional(d.fpr_target.map(short))),
        ("fpr_current", short(d.fpr_current)),
    ];
    for (name, value) in &d.parameters {
        let value = match value {
            Value::Number(number) => number.to_string(),
            Value::Choice(name) => String::from(*name),
        };
        lines.push((name, value));
    }
    if filter.base().header().dirty {
        lines.push(("state", String::from("dirty: a writer has it open, or did not close it")));
    }
    lines.iter().try_for_each(|(name, value)| text.line(format_args!("{name:<16}{value}")))
}
