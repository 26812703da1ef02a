//! `petal kinds`.

use crate::failure::Outcome;
use crate::output::Text;
use petal::{Capabilities, Domain, Parameter, registry};

pub fn run() -> Outcome {
    let mut text = Text::new();
    for (i, row) in registry::KINDS.iter().enumerate() {
        let default = if row.kind == registry::DEFAULT_KIND { " (default)" } else { "" };
        let can = Capabilities::ALL.iter().filter(|(_, one)| row.capabilities.contains(*one));
        let can: Vec<&str> = can.map(|(name, _)| *name).collect();
        if i > 0 {
            text.line("")?;
        }
        text.line(format_args!("{}{default}", row.name))?;
        text.line(format_args!("    {}", row.summary))?;
        text.line(format_args!("    can: {}", can.join(", ")))?;
        for parameter in row.parameters {
            let (default, domain) = domain(parameter);
            text.line(format_args!("    --set {}={default}    {domain}", parameter.name))?;
            text.line(format_args!("        {}", parameter.summary))?;
        }
    }
    text.flush()?;
    Ok(0)
}

/// The default value, and the values that there are.
fn domain(parameter: &Parameter) -> (String, String) {
    match parameter.domain {
        Domain::Integer(minimum, maximum) => (parameter.default.to_string(), format!("{minimum} to {maximum}")),
        Domain::Choice(names) => {
            let default = usize::try_from(parameter.default).ok().and_then(|value| names.get(value));
            (default.copied().unwrap_or_default().to_string(), names.join(", "))
        }
    }
}
