//! `petal dedup`.
//!
//! How many lines were lost? Let f(n) be the false-positive rate of the filter after n distinct lines. The line that
//! comes next for the first time is lost with probability f(n): all its bits are set already. So a lost line sets no
//! bit, the filter is the same as if the line had been inserted, and n counts the lost lines too. (A lost line stays
//! lost whenever it comes again.) Of D distinct lines
//!
//! ```text
//! L = f(0) + f(1) + ... + f(D - 1)
//! ```
//!
//! are therefore lost on average and U = D - L pass, whatever the order and the number of repeats. U is seen, so D is
//! where the sum of 1 - f(n) reaches U, and L is what is left. As an equation in u, the lines passed so far,
//! dn/du = 1 / (1 - f(n)): it is solved in steps of u. The variance of L is that of D coin tosses, the sum of
//! f (1 - f); an error of e in L moves the solution by e / (1 - f(D)). No more lines can be lost than were dropped.

use crate::args;
use crate::failure::{Outcome, note, warn};
use crate::keys::{Inputs, RECORDS};
use crate::numbers::short;
use crate::output::Text;
use crate::progress::Progress;
use petal::{INTERVAL_SIGMAS, Insert, Spec, Status};

pub fn run(args: &args::Dedup) -> Outcome {
    let mut filter = petal::create(&Spec::with_capacity(args.capacity, args.fpr)?)?;
    let inputs = Inputs::new(&args.keys.files, args.keys.null)?;
    let mut progress = Progress::new("reading", inputs.length()).beside_output();
    let hasher = filter.base().hasher().clone();
    let insert: &mut dyn Insert = filter.as_insert().ok_or(Status::Unsupported).map_err(petal::Error::from)?;
    let mut text = Text::new();
    let (mut lines, mut passed) = (0_u64, 0_u64);
    let mut hashes = [0; RECORDS];
    let mut new = [false; RECORDS];
    inputs.for_each(&mut progress, |batch| {
        let (hashes, new) = (&mut hashes[..batch.len()], &mut new[..batch.len()]);
        for (hash, key) in hashes.iter_mut().zip(batch.keys()) {
            *hash = hasher.hash_bytes(key).map_err(petal::Error::from)?;
        }
        insert.insert_many(hashes, new).1?;
        lines += batch.len() as u64;
        for (i, _) in new.iter().enumerate().filter(|(_, new)| **new) {
            passed += 1;
            text.bytes(batch.record(i))?;
        }
        if batch.last_of_block { text.flush() } else { Ok(()) }
    })?;
    drop(progress);
    text.flush()?;
    let dropped = lines - passed;
    let rate = |keys: u64| filter.expected_false_positive_rate(keys);
    let lost = Losses::estimate(passed, dropped, rate);
    note(format_args!("{lines} lines, {passed} passed, {dropped} dropped; {}", lost.say(dropped)));
    if passed > args.capacity {
        warn(format_args!(
            "{passed} lines passed, more than --capacity {}: the false-positive rate is now {}, not {}",
            args.capacity,
            short(filter.false_positive_rate()),
            args.fpr
        ));
    }
    Ok(0)
}

/// How many lines were dropped at their first coming.
struct Losses {
    expected: f64,
    low: f64,
    high: f64,
}

impl Losses {
    /// From the lines that passed, those that were dropped, and the false-positive rate by distinct lines.
    fn estimate(passed: u64, dropped: u64, rate: impl Fn(u64) -> f64) -> Losses {
        let (limit, passed) = (dropped as f64, passed as f64);
        let step = (passed / STEPS).max(1.0);
        let (mut done, mut distinct, mut variance) = (0.0_f64, 0.0_f64, 0.0_f64);
        // The rate in the middle of a step that begins after `distinct` lines and is `length` long. The sum over whole
        // lines from 0 on is an integral from -1/2 on.
        let middle = |distinct: f64, length: f64| rate((distinct + 0.5 * (length - 1.0)).max(0.0).round() as u64);
        while done < passed && distinct.is_finite() {
            let step = step.min(passed - done);
            let length = step / (1.0 - middle(distinct, step));
            let rate = middle(distinct, length);
            distinct += step / (1.0 - rate);
            variance += rate * step;
            done += step;
        }
        let reach = INTERVAL_SIGMAS * variance.sqrt() / (1.0 - rate(distinct as u64));
        if !reach.is_finite() {
            // So full that it tells nothing.
            return Losses { expected: limit, low: 0.0, high: limit };
        }
        let expected = distinct - done;
        // Losses are whole lines, so the interval's ends are rounded outwards.
        let (low, high) = ((expected - reach).floor().clamp(0.0, limit), (expected + reach).ceil().min(limit));
        Losses { expected: expected.min(limit), low, high }
    }

    fn say(&self, dropped: u64) -> String {
        if dropped == 0 {
            return String::from("no line was lost");
        }
        let Losses { expected, low, high } = self;
        format!(
            "of these an expected {} came for the first time, lost to false positives (95 % interval: {low:.0} to \
             {high:.0})",
            short(*expected)
        )
    }
}

/// Steps in which the equation is solved.
const STEPS: f64 = 1024.0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    /// The estimate against the truth, which an exact set of the lines knows: in a filter that is just full, and far
    /// beyond that.
    #[test]
    fn losses_are_as_expected() {
        for keys in [1000, 3000] {
            let (streams, mut known) = (500, BTreeMap::new());
            let (mut sum, mut squares, mut covered) = (0.0, 0.0, 0);
            for seed in 0..streams {
                let spec = Spec { seed, ..Spec::with_capacity(1000, 0.03).unwrap() };
                let mut filter = petal::create(&spec).unwrap();
                let passed: u64 = (0..keys).map(|key| u64::from(filter.insert_u64(key).unwrap())).sum();
                // Filters of one shape have one rate.
                let known = RefCell::new(&mut known);
                let rate =
                    |keys| *known.borrow_mut().entry(keys).or_insert_with(|| filter.expected_false_positive_rate(keys));
                let losses = Losses::estimate(passed, 2 * keys, rate);
                let lost = (keys - passed) as f64;
                let error = lost - losses.expected;
                sum += error;
                squares += error * error;
                covered += u32::from((losses.low..=losses.high).contains(&lost));
            }
            let streams = streams as f64;
            let (mean, sigma) = (sum / streams, (squares / streams).sqrt());
            assert!(mean.abs() < 4.5 * sigma / streams.sqrt(), "{keys} keys: mean error {mean}, sigma {sigma}");
            // The interval is a little wide: its ends are whole lines, and a full filter's losses hinder further ones.
            let share = f64::from(covered) / streams;
            assert!((0.94..0.999).contains(&share), "{keys} keys: {share}");
        }
    }

    #[test]
    fn a_full_filter_loses_no_more_than_was_dropped() {
        let losses = Losses::estimate(10, 7, |keys| if keys < 5 { 0.1 } else { 1.0 });
        assert_eq!((losses.expected, losses.low, losses.high), (7.0, 0.0, 7.0));
        let losses = Losses::estimate(1000, 3, |_| 0.5);
        assert_eq!((losses.expected, losses.low, losses.high), (3.0, 3.0, 3.0));
        let losses = Losses::estimate(1000, 0, |_| 0.5);
        assert_eq!(losses.expected, 0.0);
        assert_eq!(Losses::estimate(0, 0, |_| 0.0).say(0), "no line was lost");
    }
}
