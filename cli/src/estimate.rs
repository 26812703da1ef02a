//! `petal estimate`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::filter_file::open_sound;
use crate::output::{Table, Text};
use petal::{Estimate, Mode};

pub fn run(args: &args::Estimate) -> Outcome {
    let (first, second) = (open_sound(&args.first, Mode::Read)?, open_sound(&args.second, Mode::Read)?);
    let result = petal::compare(&*first, &*second).map_err(|error| {
        Failure::new(format_args!("{} and {}: {error}", args.first.display(), args.second.display()))
    })?;
    let mut table = Table::default();
    table.row(["", "estimate", "95 % from", "to"]);
    let mut row = |name: &str, estimate: Option<Estimate>, digits: usize| match estimate {
        Some(estimate) => {
            let [value, low, high] =
                [estimate.value, estimate.low(), estimate.high()].map(|value| format!("{value:.digits$}"));
            table.row([name, &value, &low, &high]);
        }
        None => table.row([name, "-", "-", "-"]),
    };
    row("A", result.first, 1);
    row("B", result.second, 1);
    row("union", result.union, 1);
    row("intersection", result.intersection, 1);
    row("Jaccard", result.jaccard, 6);
    let mut text = Text::new();
    table.print(&mut text)?;
    if [result.first, result.second, result.union].iter().any(Option::is_none) {
        text.line("-: a filter is too full to tell")?;
    }
    text.flush()?;
    Ok(0)
}
