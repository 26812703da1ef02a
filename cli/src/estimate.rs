//! `petal estimate`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file::{check_standard_input, name, open_sound};
use crate::output::{Table, Text};
use petal::{Comparison, Filter, Mode};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How many keys one filter holds, as JSON.
#[derive(Serialize)]
struct One {
    file: String,
    count_estimate: Option<Estimate>,
}

/// What two filters have in common, as JSON. The numbers are null where a filter is too full to tell.
#[derive(Serialize)]
struct Pair {
    first: String,
    second: String,
    first_count: Option<Estimate>,
    second_count: Option<Estimate>,
    union_count: Option<Estimate>,
    intersection_count: Option<Estimate>,
    jaccard: Option<Estimate>,
}

/// An estimate with its 95 % interval.
#[derive(Serialize)]
struct Estimate {
    value: f64,
    standard_error: f64,
    low: f64,
    high: f64,
}

impl From<petal::Estimate> for Estimate {
    fn from(estimate: petal::Estimate) -> Estimate {
        let petal::Estimate { value, standard_error } = estimate;
        Estimate { value, standard_error, low: estimate.low(), high: estimate.high() }
    }
}

/// A filter, and where it comes from.
struct Input<'a> {
    path: &'a Path,
    filter: Filter,
    count: Option<petal::Estimate>,
}

impl<'a> Input<'a> {
    fn open(path: &'a Path) -> Outcome<Input<'a>> {
        let filter = open_sound(path, Mode::Read)?;
        let count = petal::estimate(&filter).map_err(|error| Failure::at(path, &error))?;
        Ok(Input { path, filter, count })
    }

    fn compare(&self, other: &Input) -> Outcome<Comparison> {
        petal::compare(&self.filter, &other.filter)
            .map_err(|error| Failure::new(format_args!("{} and {}: {error}", name(self.path), name(other.path))))
    }
}

pub fn run(args: &args::Filters, common: args::Common) -> Outcome {
    check_standard_input(args.filters.iter().map(PathBuf::as_path))?;
    let inputs = args.filters.iter().map(|path| Input::open(path)).collect::<Outcome<Vec<Input>>>()?;
    let mut pairs = Vec::new();
    for (i, first) in inputs.iter().enumerate() {
        for second in &inputs[i + 1..] {
            pairs.push((first, second, first.compare(second)?));
        }
    }
    let mut text = Text::new()?;
    if common.json {
        print_json(&inputs, &pairs, &mut text)?;
    } else {
        print(&inputs, &pairs, &mut text)?;
    }
    text.flush()?;
    Ok(0)
}

fn print_json(inputs: &[Input], pairs: &[(&Input, &Input, Comparison)], text: &mut Text) -> Outcome<()> {
    if let [input] = inputs {
        let file = input.path.display().to_string();
        return text.json(&One { file, count_estimate: input.count.map(Estimate::from) });
    }
    pairs.iter().try_for_each(|(first, second, comparison)| {
        text.json(&Pair {
            first: first.path.display().to_string(),
            second: second.path.display().to_string(),
            first_count: comparison.first.map(Estimate::from),
            second_count: comparison.second.map(Estimate::from),
            union_count: comparison.union.map(Estimate::from),
            intersection_count: comparison.intersection.map(Estimate::from),
            jaccard: comparison.jaccard.map(Estimate::from),
        })
    })
}

fn print(inputs: &[Input], pairs: &[(&Input, &Input, Comparison)], text: &mut Text) -> Outcome<()> {
    let mut table = Table::default();
    table.row(["", "estimate", "95 % from", "to"]);
    let mut full = false;
    let mut row = |name: &str, estimate: Option<petal::Estimate>, digits: usize| match estimate {
        Some(estimate) => {
            let [value, low, high] =
                [estimate.value, estimate.low(), estimate.high()].map(|value| format!("{value:.digits$}"));
            table.row([name, &value, &low, &high]);
        }
        None => {
            full = true;
            table.row([name, "-", "-", "-"]);
        }
    };
    for input in inputs {
        row(&name(input.path).to_string(), input.count, 1);
    }
    for (first, second, comparison) in pairs {
        // Two filters make one pair, which needs no name.
        let pair = match inputs.len() {
            2 => String::new(),
            _ => format!("{}, {}: ", name(first.path), name(second.path)),
        };
        row(&format!("{pair}union"), comparison.union, 1);
        row(&format!("{pair}intersection"), comparison.intersection, 1);
        row(&format!("{pair}Jaccard"), comparison.jaccard, 6);
    }
    table.print(text)?;
    if full {
        text.line("-: a filter is too full to tell")?;
    }
    Ok(())
}
