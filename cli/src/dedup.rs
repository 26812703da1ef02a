//! `petal dedup`.
//!
//! How many lines were lost? Let f(n) be the false-positive rate of the filter after n distinct lines. The next new
//! line is lost with probability f(n): all its bits are set already. A lost line sets no bit. The filter is therefore
//! the same as if the line had been inserted, and n counts lost lines too. (A lost line stays lost whenever it comes
//! again.) On average, of D distinct lines
//!
//! ```text
//! L = f(0) + f(1) + ... + f(D - 1)
//! ```
//!
//! are lost and U = D - L pass, whatever the order and the number of repeats. The command knows U. D is the number for
//! which the sum of 1 - f(n) reaches U, and L is D - U. The variance of U is that of D coin tosses, the sum of f (1 -
//! f). The interval's ends are the numbers D for which U lies the given number of standard deviations from its mean. No
//! more lines can be lost than were dropped.
//!
//! As the filter fills up, f goes to 1, and the sum of 1 - f(n) to a limit that U approaches for any large number of
//! lines. If the limit lies within the interval's reach of U, the interval has no upper end: U no longer determines D,
//! and any estimate would be noise. The number of losses is then unknown, up to all dropped lines.
//!
//! A filter that remembers a window is never full, and its state differs after each generation. At a present rate of f,
//! a line that the filter does not have passes with probability 1 - f and is lost with probability f. On average, each
//! line that passes stands for f / (1 - f) lost lines, whatever came before. The estimate is the sum of f / (1 - f)
//! over all lines that passed ([`Windowed`]). Each new line adds f / (1 - f) to the variance; measured over the lines
//! that passed, that is f / (1 - f)^2 for each. The rate is measured as the stream goes on, a few times in each
//! generation.

use crate::args;
use crate::failure::{Failure, Outcome, note, say, warn};
use crate::keys::{Inputs, RECORDS, Room};
use crate::numbers::short;
use crate::output::{Text, json};
use crate::progress::Progress;
use crate::spec::{FIRST_CAPACITY, GROWING_KIND};
use petal::registry;
use petal::{Answers, Capabilities, Filter, INTERVAL_SIGMAS, Image, Overfill, Spec};
use serde::Serialize;
use std::ops::ControlFlow;

/// The report, as JSON.
#[derive(Serialize)]
struct Report {
    lines: u64,
    passed: u64,
    dropped: u64,
    lost: Losses,
    /// `None` if the filter grew with its lines.
    capacity: Option<u64>,
    /// `None` if the filter remembers lines for ever.
    window: Option<u64>,
    /// The present rate.
    false_positive_rate: f64,
}

/// The default kind with a window.
const WINDOW_KIND: &str = "rotating";

/// The spec that the options ask for; the filter takes lines one by one.
fn spec_of(args: &args::Dedup) -> Outcome<Spec> {
    let default = match (args.window, args.capacity) {
        (Some(_), _) => Some(WINDOW_KIND),
        (None, None) => Some(GROWING_KIND),
        (None, Some(_)) => None,
    };
    let kind = args.kind.as_deref().or(default).and_then(registry::find_name).map(|row| row.kind);
    let capacity = args.window.or(args.capacity).unwrap_or(FIRST_CAPACITY);
    let spec = Spec { kind, ..Spec::with_capacity(capacity, args.fpr)? };
    let row = petal::row_of(&spec)?;
    let (name, overfill) = (row.name, row.overfill);
    if args.window.is_some() && overfill != Overfill::Forgets {
        return Err(Failure::new(format_args!("--kind {name}: remembers no window, as --window needs it")));
    }
    if args.window.is_none() && overfill == Overfill::Forgets {
        return Err(Failure::new(format_args!("--kind {name}: forgets lines: say --window N, and not --capacity")));
    }
    if !(row.is_made_empty() && row.capabilities.contains(Capabilities::INSERT)) {
        return Err(Failure::new(format_args!("--kind {name}: takes no keys one by one, as dedup needs it")));
    }
    if args.window.or(args.capacity).is_none() && overfill != Overfill::Grows {
        return Err(Failure::new(format_args!(
            "--kind {name}: does not grow: --capacity N says how many lines to expect"
        )));
    }
    Ok(spec)
}

pub fn run(args: &args::Dedup, common: args::Common) -> Outcome {
    let spec = spec_of(args)?;
    let mut filter = petal::Filter::new(&spec)?;
    let inputs = Inputs::new(&args.keys, None)?;
    let mut progress = Progress::new("reading", inputs.length()).beside_output();
    let hasher = filter.base().hasher().clone();
    let mut text = Text::new()?;
    let (mut lines, mut passed) = (0_u64, 0_u64);
    let mut room = Room::new();
    let mut windowed = Windowed::new(&filter);
    let mut new = [0; RECORDS];
    inputs.for_each(&mut progress, |batch| {
        let keys = batch.keys(&hasher, &mut room)?;
        let new = &mut new[..keys.len()];
        let answers = &mut Answers { bytes: Some(&mut new[..]), ..Answers::default() };
        let taken = filter.insert_batch(&keys, Some(answers));
        let new = &new[..taken.keys];
        lines += taken.keys as u64;
        if args.window.is_some() {
            windowed.pass(&filter, new.iter().filter(|new| **new != 0).count() as u64);
        }
        for (i, _) in new.iter().enumerate().filter(|(_, new)| **new != 0) {
            passed += 1;
            text.bytes(batch.record(i))?;
        }
        if batch.last_of_block || taken.outcome.is_err() {
            text.flush()?;
        }
        // Lines after an error cannot be reported as new or seen.
        taken.outcome.map_err(|error| Failure::new(format_args!("{error} (after {lines} lines, {passed} passed)")))?;
        Ok(ControlFlow::Continue(()))
    })?;
    drop(progress);
    text.flush()?;
    if common.quiet {
        return Ok(0);
    }
    let dropped = lines - passed;
    let lost = match args.window {
        Some(_) => windowed.losses(&filter, dropped),
        None => Losses::estimate(passed, dropped, |keys| filter.expected_false_positive_rate(keys)),
    };
    let false_positive_rate = filter.false_positive_rate();
    if common.json {
        // Standard output has the lines, so the report goes to standard error.
        let (capacity, window) = (args.capacity, args.window);
        say(json(&Report { lines, passed, dropped, lost, capacity, window, false_positive_rate })?);
        return Ok(0);
    }
    note(format_args!("{lines} lines, {passed} passed, {dropped} dropped; {}", lost.say(dropped)));
    match args.capacity {
        Some(capacity) if passed > capacity && filter.base().row().overfill == Overfill::RateRises => {
            warn(format_args!(
                "{passed} lines passed, more than --capacity {capacity}: the false-positive rate is now {}, not {}",
                short(false_positive_rate),
                args.fpr
            ));
        }
        _ => {}
    }
    Ok(0)
}

/// How many new lines were dropped.
#[derive(Debug, Serialize)]
struct Losses {
    /// `None` if the filter is too full to tell.
    #[serde(rename = "value")]
    expected: Option<f64>,
    low: f64,
    high: f64,
}

impl Losses {
    /// Estimates the losses from the numbers of passed and dropped lines, and from the false-positive rate by distinct
    /// lines.
    fn estimate(passed: u64, dropped: u64, rate: impl Fn(u64) -> f64) -> Losses {
        let (passed, limit) = (passed as f64, dropped as f64);
        if passed == 0.0 || limit == 0.0 {
            return Losses { expected: Some(0.0), low: 0.0, high: 0.0 };
        }
        let share = passed / STEPS;
        let (mut distinct, mut open) = (0.0_f64, 1.0_f64);
        // The mean and the variance of the number of `distinct` lines that pass.
        let (mut mean, mut variance) = (0.0_f64, 0.0_f64);
        let mut ends = [-1.0, 0.0, 1.0].map(|side| End { reach: -side * INTERVAL_SIGMAS, passes: 0.0, lines: None });
        while ends.iter().any(|end| end.lines.is_none()) && open >= LEAST_OPEN {
            let length = (share / open).min(distinct / 64.0).max(1.0);
            let rate = rate((distinct + 0.5 * (length - 1.0)).round() as u64);
            open = 1.0 - rate;
            mean += open * length;
            variance += rate * open * length;
            for end in &mut ends {
                end.step(passed, mean + end.reach * variance.sqrt(), distinct, length);
            }
            distinct += length;
        }
        let [low, expected, high] = ends.map(|end| end.lines.map(|lines| (lines - passed).clamp(0.0, limit)));
        // Losses are whole lines, so the interval's ends are rounded outwards.
        let low = low.map_or(limit, f64::floor);
        match high {
            Some(high) => Losses { expected, low, high: high.ceil() },
            None if low == limit => Losses { expected: Some(limit), low, high: limit },
            None => Losses { expected: None, low, high: limit },
        }
    }

    fn say(&self, dropped: u64) -> String {
        if dropped == 0 {
            return String::from("no line was lost");
        }
        let Losses { expected, low, high } = self;
        match expected {
            Some(expected) => format!(
                "of these an expected {} came for the first time, lost to false positives (95 % interval: {low:.0} to \
                 {high:.0})",
                short(*expected)
            ),
            None => format!(
                "how many of these came for the first time, lost to false positives, is unknown, from {low:.0} up to \
                 all dropped: the filter is too full to tell"
            ),
        }
    }
}

/// The losses in a filter that forgets, summed as lines come.
struct Windowed {
    /// How many lines pass between two measurements of the rate.
    every: u64,
    /// How many lines passed since the last measurement.
    since: u64,
    /// The rate at the last measurement.
    rate: f64,
    lost: f64,
    variance: f64,
}

impl Windowed {
    fn new(filter: &Filter) -> Windowed {
        let base = filter.base();
        // Measures four times in a generation, and eight times in the capacity of a filter without generations.
        let keys = base.row().losses.window.and_then(|window| window(base.geometry()).keys);
        let every = (keys.unwrap_or(base.header().capacity / 2) / 4).max(1);
        Windowed { every, since: 0, rate: 0.0, lost: 0.0, variance: 0.0 }
    }

    /// Counts `lines` lines that passed.
    fn pass(&mut self, filter: &Filter, lines: u64) {
        self.since += lines;
        if self.since >= self.every {
            self.measure(filter);
        }
    }

    /// Assumes that the lines since the last measurement met the mean of the old and the new rate.
    fn measure(&mut self, filter: &Filter) {
        let rate = filter.false_positive_rate();
        let (mean, lines) = (0.5 * (self.rate + rate), self.since as f64);
        if mean < 1.0 {
            self.lost += lines * mean / (1.0 - mean);
            self.variance += lines * mean / (1.0 - mean).powi(2);
        }
        (self.rate, self.since) = (rate, 0);
    }

    fn losses(mut self, filter: &Filter, dropped: u64) -> Losses {
        self.measure(filter);
        let (limit, reach) = (dropped as f64, INTERVAL_SIGMAS * self.variance.sqrt());
        let [low, expected, high] = [-reach, 0.0, reach].map(|error| (self.lost + error).clamp(0.0, limit));
        Losses { expected: Some(expected), low: low.floor(), high: high.ceil() }
    }
}

/// An end or the middle of the interval: the number of distinct lines for which the mean of passing lines plus `reach`
/// standard deviations equals the number that passed.
struct End {
    reach: f64,
    passes: f64,
    lines: Option<f64>,
}

impl End {
    /// Adds a step: after `length` further lines beyond `distinct` ones, `passes` lines pass in all.
    fn step(&mut self, passed: f64, passes: f64, distinct: f64, length: f64) {
        if self.lines.is_none() && passes >= passed {
            self.lines = Some(distinct + length * (passed - self.passes) / (passes - self.passes));
        }
        self.passes = passes;
    }
}

/// A step of the sum covers at most 1 / STEPS of the lines that passed.
const STEPS: f64 = 1024.0;

/// The least share of passing lines for which the sum goes on. A filter that loses all but one in a million new lines
/// has no more information.
const LEAST_OPEN: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    /// The estimates for streams of `keys` distinct lines through filters made for 1000 lines, each with the true
    /// number.
    fn streams(keys: u64) -> Vec<(f64, Losses)> {
        let known = RefCell::new(BTreeMap::new());
        let stream = |seed| {
            let spec = Spec { seed, ..Spec::with_capacity(1000, 0.03).unwrap() };
            let mut filter = petal::Filter::new(&spec).unwrap();
            let passed: u64 = (0..keys).map(|key| u64::from(filter.insert_u64(key).unwrap())).sum();
            // Filters of equal geometry have equal rates.
            let rate =
                |keys| *known.borrow_mut().entry(keys).or_insert_with(|| filter.expected_false_positive_rate(keys));
            // Each line comes twice, so the number of dropped lines does not reveal the number of lost lines.
            ((keys - passed) as f64, Losses::estimate(passed, 2 * keys - passed, rate))
        };
        (0..500).map(stream).collect()
    }

    /// The estimate against the truth, in a filter that is just full, and in fuller filters.
    #[test]
    fn losses_are_as_expected() {
        for keys in [1000, 3000, 6000] {
            let all = streams(keys);
            let count = all.len() as f64;
            let errors = all.iter().map(|(lost, losses)| lost - losses.expected.expect("known"));
            let (sum, squares) =
                errors.fold((0.0, 0.0), |(sum, squares), error| (sum + error, squares + error * error));
            let (mean, sigma) = (sum / count, (squares / count).sqrt());
            assert!(mean.abs() < 4.5 * sigma / count.sqrt(), "{keys} keys: mean error {mean}, sigma {sigma}");
            // The interval is a little wide: its ends are whole lines, and the losses of a full filter prevent further
            // losses.
            let covered = all.iter().filter(|(lost, losses)| (losses.low..=losses.high).contains(lost)).count();
            let covered = covered as f64 / count;
            assert!((0.94..0.999).contains(&covered), "{keys} keys: {covered}");
        }
    }

    /// In a filter that has no room left, compared with the exact set, every interval contains the truth, however far
    /// away the truth is.
    #[test]
    fn a_full_filter_says_so() {
        for (keys, least, most) in [(8000, 0.6, 0.95), (12_000, 1.0, 1.0), (50_000, 1.0, 1.0)] {
            let all = streams(keys);
            let count = all.len() as f64;
            let unknown = all.iter().filter(|(_, losses)| losses.expected.is_none()).count() as f64 / count;
            assert!((least..=most).contains(&unknown), "{keys} keys: {unknown}");
            let covered = all.iter().filter(|(lost, losses)| (losses.low..=losses.high).contains(lost)).count();
            assert!(covered as f64 / count >= 0.94, "{keys} keys: {covered}");
            for (_, losses) in all.iter().filter(|(_, losses)| losses.expected.is_none()) {
                assert!(losses.say(1).contains("unknown"));
            }
        }
    }

    /// The estimate of losses against the truth, for every kind with a window, far past its capacity.
    #[test]
    fn losses_from_a_window_are_as_expected() {
        for row in registry::FILTERS.iter().filter(|row| row.overfill == Overfill::Forgets) {
            let stream = |seed| {
                let spec = Spec { kind: Some(row.kind), seed, ..Spec::with_capacity(2000, 0.03).unwrap() };
                let mut filter = petal::Filter::new(&spec).unwrap();
                let mut windowed = Windowed::new(&filter);
                let mut passed = 0;
                for key in 0..30_000 {
                    let new = u64::from(filter.insert_u64(key).unwrap());
                    windowed.pass(&filter, new);
                    passed += new;
                }
                ((30_000 - passed) as f64, windowed.losses(&filter, 60_000 - passed))
            };
            let all: Vec<(f64, Losses)> = (0..100).map(stream).collect();
            let mean = all.iter().map(|(lost, losses)| losses.expected.expect("known") / lost).sum::<f64>() / 100.0;
            // The estimate for a stream of some 700 losses errs by 4 %, and the mean of 100 estimates by a tenth of
            // that.
            assert!((mean - 1.0).abs() < 0.018, "{}: {mean} of the losses are told", row.name);
            let covered = all.iter().filter(|(lost, losses)| (losses.low..=losses.high).contains(lost)).count();
            assert!(covered >= 88, "{}: {covered} intervals of 100 have the truth", row.name);
        }
    }

    #[test]
    fn no_more_is_lost_than_was_dropped() {
        let losses = Losses::estimate(5, 7, |keys| if keys < 5 { 0.1 } else { 1.0 });
        assert_eq!((losses.expected, losses.low, losses.high), (None, 0.0, 7.0));
        let losses = Losses::estimate(1000, 3, |_| 0.5);
        assert_eq!((losses.expected, losses.low, losses.high), (Some(3.0), 3.0, 3.0));
        let losses = Losses::estimate(1000, 0, |_| 0.5);
        assert_eq!(losses.expected, Some(0.0));
        assert_eq!(Losses::estimate(0, 0, |_| 0.0).say(0), "no line was lost");
    }
}
