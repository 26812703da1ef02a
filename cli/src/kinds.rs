//! `petal kinds`.

use crate::args;
use crate::failure::Outcome;
use crate::info::Value;
use crate::output::Text;
use petal::registry;
use petal::{Capabilities, Domain, Row, Sizes, Structure};
use serde::Serialize;

/// A kind, as JSON.
#[derive(Serialize)]
struct Description {
    name: &'static str,
    summary: &'static str,
    is_default: bool,
    /// The handle of the kind: `filter`, `map` or `sketch`.
    handle: &'static str,
    layout_version: u16,
    /// How a filter or map of the kind is made. `empty`: made empty, and takes keys later. `keys`: a filter that is
    /// built from all keys. `entries`: a map that is built from all of its keys and values.
    made_from: &'static str,
    capabilities: Vec<&'static str>,
    /// Exact sizes are multiples of this number of bits; null if the size follows from the keys.
    bits_unit: Option<u64>,
    parameters: Vec<Choice>,
}

/// A parameter for `--set`, as JSON.
#[derive(Serialize)]
struct Choice {
    name: &'static str,
    summary: &'static str,
    /// A number, or a name if there are `choices`.
    default_value: Value,
    minimum: Value,
    maximum: Value,
    choices: Option<&'static [&'static str]>,
}

pub fn run(common: args::Common) -> Outcome {
    let mut text = Text::new()?;
    for (i, row) in registry::all().chain(registry::SKETCHES).enumerate() {
        let description = describe(row);
        if common.json {
            text.json(&description)?;
            continue;
        }
        let default = if description.is_default { " (default)" } else { "" };
        if i > 0 {
            text.line("")?;
        }
        text.line(format_args!("{}{default}", row.name))?;
        text.line(format_args!("    {}", row.summary))?;
        match row.structure {
            Structure::Filter { .. } => {}
            Structure::StaticFilter { .. } => text.line("    is built from all of its keys at once")?,
            Structure::Map { .. } | Structure::StaticMap { .. } => text.line("    is a map: see petal help map")?,
            Structure::Sketch { .. } => text.line("    is a sketch: see petal help sketch")?,
            Structure::Own { .. } => {}
        }
        if !description.capabilities.is_empty() {
            text.line(format_args!("    can: {}", description.capabilities.join(", ")))?;
        }
        for parameter in &description.parameters {
            let domain = match parameter.choices {
                Some(names) => names.join(", "),
                None => format!("{} to {}", parameter.minimum, parameter.maximum),
            };
            text.line(format_args!("    --set {}={}    {domain}", parameter.name, parameter.default_value))?;
            text.line(format_args!("        {}", parameter.summary))?;
        }
    }
    text.flush()?;
    Ok(0)
}

fn describe(row: &'static Row) -> Description {
    let can = Capabilities::ALL.iter().filter(|(_, one)| row.capabilities.contains(*one));
    let parameters = row.parameters.iter().map(|parameter| Choice {
        name: parameter.name,
        summary: parameter.summary,
        default_value: Value::of(parameter, parameter.default),
        minimum: Value::number(parameter, parameter.bounds().0),
        maximum: Value::number(parameter, parameter.bounds().1),
        choices: match parameter.domain {
            Domain::Choice(names) => Some(names),
            _ => None,
        },
    });
    Description {
        name: row.name,
        summary: row.summary,
        is_default: [registry::DEFAULT_KIND, registry::DEFAULT_MAP_KIND, registry::DEFAULT_SKETCH_KIND]
            .contains(&row.kind),
        handle: row.handle().name(),
        layout_version: row.form.layout_version,
        made_from: match row.structure {
            Structure::Filter { .. } => "empty",
            Structure::StaticFilter { .. } => "keys",
            Structure::Map { .. } | Structure::Sketch { .. } | Structure::Own { .. } => "empty",
            Structure::StaticMap { .. } => "entries",
        },
        capabilities: can.map(|(name, _)| *name).collect(),
        bits_unit: match row.sizes {
            Sizes::Multiples(unit) => Some(unit),
            Sizes::ByKeys => None,
        },
        parameters: parameters.collect(),
    }
}
