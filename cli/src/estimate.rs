//! `petal estimate`.

use crate::TROUBLE;
use crate::args;
use crate::combine::unlike;
use crate::failure::{Failure, Outcome};
use crate::file_name::{FileName, file_bytes, name};
use crate::image_file::open_sound;
use crate::output::{Table, Text};
use crate::stdio::check_standard_input;
use petal::{Filter, Mode, Overlap};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How many keys one filter holds, as JSON.
#[derive(Serialize)]
struct One {
    #[serde(flatten)]
    file: FileName,
    count_estimate: Option<Estimate>,
}

/// The comparison of two filters as JSON. The numbers are null if a filter is too full for an estimate.
#[derive(Serialize)]
struct Pair {
    first: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_bytes: Option<String>,
    second: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_bytes: Option<String>,
    first_count: Option<Estimate>,
    second_count: Option<Estimate>,
    union_count: Option<Estimate>,
    intersection_count: Option<Estimate>,
    jaccard: Option<Estimate>,
    difference_count: Option<Estimate>,
    /// The reason why the two filters are not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
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

/// A filter, and its file.
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

    fn compare(&self, other: &Input) -> Outcome<Overlap> {
        petal::estimate_overlap(&self.filter, &other.filter)
            .map_err(|error| unlike((self.path, &self.filter), (other.path, &other.filter), &error))
    }
}

pub fn run(args: &args::Filters, common: args::Common) -> Outcome {
    check_standard_input(args.filters.iter().map(PathBuf::as_path))?;
    let inputs = args.filters.iter().map(|path| Input::open(path)).collect::<Outcome<Vec<Input>>>()?;
    let mut pairs = Vec::new();
    for (i, first) in inputs.iter().enumerate() {
        for second in &inputs[i + 1..] {
            pairs.push((first, second, first.compare(second)));
        }
    }
    let mut text = Text::new()?;
    if common.json {
        print_json(&inputs, &pairs, &mut text)?;
    } else {
        print(&inputs, &pairs, &mut text)?;
    }
    text.flush()?;
    let failures = pairs.iter().filter_map(|(_, _, comparison)| comparison.as_ref().err());
    Ok(if failures.inspect(|failure| failure.tell()).count() > 0 { TROUBLE } else { 0 })
}

/// Two filters, and their comparison or the reason why there is none.
type Compared<'a> = (&'a Input<'a>, &'a Input<'a>, Outcome<Overlap>);

fn print_json(inputs: &[Input], pairs: &[Compared], text: &mut Text) -> Outcome<()> {
    if let [input] = inputs {
        let file = FileName::of(input.path);
        return text.json(&One { file, count_estimate: input.count.map(Estimate::from) });
    }
    pairs.iter().try_for_each(|(first, second, comparison)| {
        let of = |estimate: fn(&Overlap) -> Option<petal::Estimate>| {
            comparison.as_ref().ok().and_then(estimate).map(Estimate::from)
        };
        text.json(&Pair {
            first: first.path.display().to_string(),
            first_bytes: file_bytes(first.path),
            second: second.path.display().to_string(),
            second_bytes: file_bytes(second.path),
            first_count: first.count.map(Estimate::from),
            second_count: second.count.map(Estimate::from),
            union_count: of(|comparison| comparison.union),
            intersection_count: of(|comparison| comparison.intersection),
            jaccard: of(|comparison| comparison.jaccard),
            difference_count: of(|comparison| comparison.differences),
            reason: comparison.as_ref().err().map(Failure::to_string),
        })
    })
}

fn print(inputs: &[Input], pairs: &[Compared], text: &mut Text) -> Outcome<()> {
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
        // The reason is reported after the estimates.
        let Ok(comparison) = comparison else { continue };
        // Two filters make one pair, which needs no name.
        let pair = match inputs.len() {
            2 => String::new(),
            _ => format!("{}, {}: ", name(first.path), name(second.path)),
        };
        row(&format!("{pair}union"), comparison.union, 1);
        row(&format!("{pair}intersection"), comparison.intersection, 1);
        row(&format!("{pair}Jaccard"), comparison.jaccard, 6);
        row(&format!("{pair}differences"), comparison.differences, 1);
    }
    table.print(text)?;
    if full {
        text.line("-: a filter is too full to tell")?;
    }
    Ok(())
}
