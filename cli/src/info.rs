//! `petal info`.

use crate::TROUBLE;
use crate::args;
use crate::failure::Outcome;
use crate::file_name::FileName;
use crate::image_file::{Described, open_or_import};
use crate::numbers::short;
use crate::output::Text;
use crate::progress::Progress;
use crate::stdio::check_standard_input;
use petal::{Capabilities, Domain, Estimate, Filter, HashFunction, Overfill, Parameter, sizing};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The description of a filter, map or sketch. The names are the same in the library's structs, in JSON and in the
/// lines for people.
#[derive(Serialize)]
pub struct Description {
    kind: &'static str,
    hash: &'static str,
    /// The seed of the hash function; the identifier of the secret for a filter with a secret key.
    seed: u64,
    format_version: u16,
    layout_version: u16,
    hashes: u32,
    capacity: Option<u64>,
    /// `None` if the payload certainly has more keys than were counted: concurrent insertions are not counted.
    insertions: Option<u64>,
    bits: u64,
    bytes: u64,
    /// The bits for each key, if the filter grew beyond its capacity.
    bits_per_key: Option<f64>,
    /// The rate promised at capacity.
    false_positive_rate: Option<f64>,
    unclean: bool,
    parameters: BTreeMap<&'static str, Value>,
    /// How long the filter remembers a key; null for a filter that never loses keys by age.
    remembers: Option<Memory>,
    /// `None` if the command was asked not to read the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
}

/// How long a filter that loses keys by age remembers a key.
#[derive(Serialize)]
struct Memory {
    /// The number of time steps for which a key is certainly found; null if no such number exists.
    steps: Option<u64>,
    /// The number of last insertions whose keys are certainly found; null if no such number exists, or if a clock
    /// decides.
    keys: Option<u64>,
    /// The probability that a key is not found, by the number of other keys that came after it.
    false_negative_rates: Vec<Lost>,
}

/// A false-negative rate.
#[derive(Serialize)]
struct Lost {
    age: u64,
    rate: f64,
}

impl Memory {
    /// The ages that are shown, as fractions of the capacity.
    const AGES: [f64; 5] = [0.1, 0.5, 1.0, 1.5, 2.0];

    fn of(base: &petal::Base) -> Option<Memory> {
        let (row, geometry) = (base.row(), base.geometry());
        // Other kinds lose keys by removals, and not by age.
        let rate = row.losses.false_negative_rate.filter(|_| row.capabilities.contains(Capabilities::AGE))?;
        let window = row.losses.window.map(|window| window(geometry));
        let keys = window.and_then(|window| window.keys.map(|keys| keys.saturating_mul(window.steps)));
        let is_by_keys = window.is_none_or(|window| window.keys.is_some());
        let ages = Self::AGES.map(|part| (part * base.header().capacity as f64) as u64);
        let ages = ages.into_iter().filter(|age| is_by_keys && *age > 0);
        let false_negative_rates = ages.map(|age| Lost { age, rate: rate(geometry, age) }).collect();
        Some(Memory { steps: window.map(|window| window.steps), keys, false_negative_rates })
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("remembers", String::new())];
        lines.extend(self.keys.map(|keys| ("  keys", format!("{keys}, the last ones, for certain"))));
        match (self.steps, self.keys) {
            (Some(steps), None) => lines.push(("  steps", format!("{steps} of time, for certain"))),
            (Some(steps), Some(_)) => lines.push(("  steps", format!("{steps} of time, if it is moved on"))),
            (None, _) => lines.push(("  keys", String::from("none for certain"))),
        }
        let rates = self.false_negative_rates.iter();
        lines.extend(
            rates.map(|lost| ("  false_negative_rate", format!("{} after {} keys", short(lost.rate), lost.age))),
        );
        lines
    }
}

/// The measurements of the payload.
#[derive(Serialize)]
struct Statistics {
    fill: f64,
    /// The present rate.
    false_positive_rate: f64,
    false_positive_rate_floor: f64,
    /// The number of counters at their greatest value; null if the kind has none.
    saturated: Option<u64>,
    /// How many new keys fit before the filter grows, or before an image in place is full; null if the kind does not
    /// grow.
    room: Option<u64>,
    /// The expected number of new keys that insertions took for known ones; null if keys are not inserted.
    expected_omissions: Option<f64>,
    count_estimate: Option<f64>,
    #[serde(skip)]
    estimate: Estimated,
}

/// The estimate of the number of keys.
enum Estimated {
    /// No estimate: the kind never has one.
    Never,
    /// No estimate: the filter is too full.
    TooFull,
    /// About this number of keys.
    Keys(Estimate),
}

/// The parameter that is 0 in filters of formats whose bytes do not say it.
const NOT_STATED: &str = "stated_rate";

/// The value of a parameter: a number, or the name of a choice.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// The name of a choice.
    Choice(&'static str),
    /// Nothing: the bytes do not say it.
    None,
}

impl Value {
    /// The number `value` as a value of this parameter; a choice by its name.
    pub fn of(parameter: &Parameter, value: f64) -> Value {
        match parameter.domain {
            _ if parameter.name == NOT_STATED && value == 0.0 => Value::None,
            Domain::Choice(names) => names.get(value as usize).map_or(Value::Real(value), |name| Value::Choice(name)),
            _ => Value::number(parameter, value),
        }
    }

    /// The number `value` as a value of this parameter; a choice by its number.
    pub fn number(parameter: &Parameter, value: f64) -> Value {
        match parameter.domain {
            Domain::Real(..) => Value::Real(value),
            _ => Value::Integer(value as u64),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => number.fmt(f),
            Value::Real(number) => number.fmt(f),
            Value::Choice(name) => name.fmt(f),
            Value::None => f.write_str("none"),
        }
    }
}

/// The JSON report about an image in a file, and about the changes that the command made.
#[derive(Serialize)]
pub struct Summary {
    /// The file; `-` for standard input.
    #[serde(flatten)]
    pub file: FileName,
    /// Keys that `insert` inserted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inserted: Option<u64>,
    /// Keys that `remove` removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Keys whose entries `rejuvenate` restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejuvenated: Option<u64>,
    /// Keys that `rejuvenate` left unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<u64>,
    /// Keys that `map put` gave values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put: Option<u64>,
    /// Keys whose values `map replace` replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<u64>,
    /// Keys that certainly were not there when `remove` or `map replace` looked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<u64>,
    /// The factor by which `fold` folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<u64>,
    /// The description of the image.
    #[serde(flatten)]
    pub description: Description,
}

impl Summary {
    /// The report about the image in the file at `path`.
    pub fn of(path: &Path, image: &impl Described) -> Summary {
        Summary::with(path, image, true)
    }

    /// The report about an image, with statistics or without.
    fn with(path: &Path, image: &impl Described, statistics: bool) -> Summary {
        let file = FileName::of(path);
        let description = Description::of(image, statistics);
        let (inserted, removed, rejuvenated, unchanged) = (None, None, None, None);
        let (put, replaced, absent, factor) = (None, None, None, None);
        Summary { file, inserted, removed, rejuvenated, unchanged, put, replaced, absent, factor, description }
    }
}

/// Prints a value to standard output.
pub fn print_json(value: &impl Serialize) -> Outcome<()> {
    let mut text = Text::new()?;
    text.json(value)?;
    text.flush()
}

pub fn run(args: &args::Info, common: args::Common) -> Outcome {
    check_standard_input(args.filters.iter().map(PathBuf::as_path))?;
    let mut text = Text::new()?;
    let mut status = 0;
    for (i, path) in args.filters.iter().enumerate() {
        let image = match open_or_import(path, None, args.format.as_deref()) {
            Ok(image) => image,
            Err(failure) => {
                text.flush()?;
                failure.tell();
                status = TROUBLE;
                continue;
            }
        };
        let summary = Summary::with(path, &image, !args.no_statistics);
        if common.json {
            text.json(&summary)?;
            continue;
        }
        if args.filters.len() > 1 {
            text.bytes(if i > 0 { b"\n" } else { b"" })?;
            text.name(path)?;
            text.line(":")?;
        }
        summary.description.print(&mut text)?;
    }
    text.flush()?;
    Ok(status)
}

impl Description {
    fn of(image: &impl Described, statistics: bool) -> Description {
        let base = image.base();
        let (header, row) = (base.header(), base.row());
        let capacity = (header.capacity != 0).then_some(header.capacity);
        let parameters = row.parameters.iter().filter_map(|parameter| {
            Some((parameter.name, Value::of(parameter, parameter.value_of_word(header.geometry.parameter(parameter)?))))
        });
        // Only filters and maps look keys up; `sketch list` lists the numbers of a sketch.
        let has_some = statistics && matches!(row.handle(), petal::Handle::Filter | petal::Handle::Map);
        let statistics = has_some.then(|| Statistics::of(image));
        let insertions = base.count();
        let estimate = statistics.as_ref().and_then(|statistics| statistics.count_estimate);
        let is_uncounted = statistics.as_ref().is_some_and(|statistics| statistics.has_more_than(insertions));
        let most = if is_uncounted { f64::INFINITY } else { insertions as f64 };
        let keys = estimate.map_or(insertions as f64, |keys| keys.min(most));
        let per_key = capacity.map(|capacity| match row.overfill {
            Overfill::Grows => keys.max(capacity as f64),
            _ => capacity as f64,
        });
        Description {
            kind: row.name,
            hash: header.hash.name(),
            seed: header.identifier,
            format_version: petal::format::FORMAT_VERSION,
            layout_version: header.layout_version,
            hashes: header.geometry.hashes,
            capacity,
            insertions: (!is_uncounted).then_some(insertions),
            bits: header.geometry.bits,
            bytes: header.image_bytes(),
            bits_per_key: per_key.map(|keys| header.geometry.bits as f64 / keys),
            false_positive_rate: (header.false_positive_rate != 0.0).then_some(header.false_positive_rate),
            unclean: base.is_unclean(),
            parameters: parameters.collect(),
            remembers: Memory::of(base),
            statistics,
        }
    }

    fn print(&self, text: &mut Text) -> Outcome<()> {
        let unknown = || String::from("unknown");
        let uncounted = || String::from("unknown: keys that many insert at once are not counted");
        let keyed = [HashFunction::SipHash13, HashFunction::SipHash24].iter().any(|hash| hash.name() == self.hash);
        let mut lines = vec![
            ("kind", self.kind.to_string()),
            ("hash", self.hash.to_string()),
            ("seed", if keyed { format!("{:#018x} (of a secret key)", self.seed) } else { self.seed.to_string() }),
            ("format_version", self.format_version.to_string()),
            ("layout_version", self.layout_version.to_string()),
            ("hashes", self.hashes.to_string()),
            ("capacity", self.capacity.map_or_else(unknown, |value| value.to_string())),
            ("insertions", self.insertions.map_or_else(uncounted, |keys| keys.to_string())),
            ("bits", self.bits.to_string()),
            ("bytes", self.bytes.to_string()),
            ("bits_per_key", self.bits_per_key.map_or_else(unknown, short)),
            ("false_positive_rate", self.false_positive_rate.map_or_else(unknown, short)),
        ];
        lines.extend(self.parameters.iter().map(|(name, value)| (*name, value.to_string())));
        lines.extend(self.remembers.iter().flat_map(Memory::lines));
        if self.unclean {
            lines.push((
                "unclean",
                String::from("a writer has it open, or did not close it; see petal help mark-clean"),
            ));
        }
        if let Some(statistics) = &self.statistics {
            lines.push(("statistics", String::new()));
            lines.push(("  fill", short(statistics.fill)));
            lines.push(("  false_positive_rate", short(statistics.false_positive_rate)));
            lines.extend(statistics.saturated.map(|counters| ("  saturated", counters.to_string())));
            lines.extend(statistics.room.map(|keys| ("  room", keys.to_string())));
            lines.extend(statistics.expected_omissions.map(|keys| ("  expected_omissions", short(keys))));
            lines.extend(statistics.estimate.say().map(|estimate| ("  count_estimate", estimate)));
        }
        lines.iter().try_for_each(|(name, value)| text.line(format!("{name:<23}{value}").trim_end()))
    }
}

impl Statistics {
    fn of(image: &impl Described) -> Statistics {
        let mut progress = Progress::new("reading", Some(image.serialized_size()));
        let measure = image.statistics_with(&mut |bytes| progress.add(bytes));
        drop(progress);
        let kind = image.filter().map(Filter::kind);
        let estimate = kind.and_then(|kind| kind.as_cardinality()).map_or(Estimated::Never, |kind| {
            kind.of_taken(measure.taken).map_or(Estimated::TooFull, |value| {
                Estimated::Keys(Estimate { value, standard_error: kind.standard_error(value) })
            })
        });
        let count_estimate = match &estimate {
            Estimated::Keys(estimate) => Some(estimate.value),
            Estimated::Never | Estimated::TooFull => None,
        };
        let keys = count_estimate.unwrap_or(image.base().count() as f64);
        Statistics {
            fill: measure.fill,
            false_positive_rate: measure.false_positive_rate,
            false_positive_rate_floor: sizing::hash_floor(keys as u64, if kind.is_some() { 64 } else { 128 }),
            saturated: kind.and_then(|kind| kind.as_count()).map(|_| measure.saturated),
            room: kind.and_then(|kind| kind.as_grow()).map(|kind| kind.room()),
            expected_omissions: image.filter().and_then(|filter| filter.expected_omissions(keys as u64).ok()),
            count_estimate,
            estimate,
        }
    }
}

impl Statistics {
    /// Whether the filter certainly has keys that are not among the `insertions` ones.
    fn has_more_than(&self, insertions: u64) -> bool {
        match &self.estimate {
            Estimated::Keys(keys) => keys.value - 4.5 * keys.standard_error > insertions as f64,
            Estimated::Never | Estimated::TooFull => insertions == 0 && self.fill > 0.0,
        }
    }
}

impl Estimated {
    /// The text of the estimate; `None` if the kind never has one.
    fn say(&self) -> Option<String> {
        match self {
            Estimated::Never => None,
            Estimated::TooFull => Some(String::from("too full to tell")),
            Estimated::Keys(keys) => {
                Some(format!("{:.1} (95 % interval: {:.1} to {:.1})", keys.value, keys.low(), keys.high()))
            }
        }
    }
}
