//! Filters that forget, in full windows that move on with every insertion. The limit is the lines of their slices,
//! generations or cells.
//!
//! Three windows of keys go through each filter before the first measurement, so that the filter is as full as it ever
//! is.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure, percent};
use petal::kinds::{age_partitioned, rotating, stable};
use petal::{Answers, Filter, Image, Row, Spec};
use serde::Serialize;
use std::time::Duration;

/// The false-positive rate that the filters keep.
const RATE: f64 = 0.01;

/// The kinds that forget.
const KINDS: [&Row; 3] = [&age_partitioned::ROW, &rotating::ROW, &stable::ROW];

/// The number of keys whose insertion is timed in one piece.
const PORTION: u64 = 16 * BUFFER as u64;

/// The figures of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The kind.
    filter: String,
    /// Keys of the window.
    n: u64,
    /// Bits of the payload for each key of the window.
    bits_per_key: f64,
    /// The measured false-positive rate, a fraction.
    fpr: f64,
    /// Nanoseconds of an insertion in a batch without answers, and in a batch with answers.
    insert_ns: [f64; 2],
    /// Nanoseconds for each key of the window, in batches.
    hit_ns: f64,
    /// Nanoseconds for each absent key, in batches.
    miss_ns: f64,
    /// Nanoseconds for a line of memory as large as the payload: read, and written.
    line_ns: [f64; 2],
    /// The number of slices. A key may have a bit in each.
    slices: Option<u32>,
    /// The lines that an insertion writes.
    written: u32,
}

/// Inserts the keys `from..to`, and returns nanoseconds for each.
fn insert(filter: &mut Filter, (from, to): (u64, u64), is_asked: bool, buffer: &mut Buffer) -> Result<f64, String> {
    let (mut time, mut answers) = (Duration::ZERO, vec![0; BUFFER]);
    for start in (from..to).step_by(BUFFER) {
        buffer.inserted(0, start, to.min(start + BUFFER as u64));
        let mut outcome = Ok(());
        let mut asked = Answers { bytes: Some(&mut answers[..buffer.len()]), ..Answers::default() };
        let asked = if is_asked { Some(&mut asked) } else { None };
        time += timed(|| outcome = filter.insert_batch(&buffer.keys(), asked).outcome);
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(each(time, to - from))
}

/// Measures the chosen kinds that forget, with windows of `n` keys.
///
/// # Errors
/// Says so if there is no memory, or if a window lost a key. Windows of `stable` may lose keys.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let (mut records, mut buffer, mut random) = (Vec::new(), Buffer::new(Form::U64), Random::new(n));
    for row in KINDS.into_iter().filter(|row| wants(row.name)) {
        let about = |message: String| format!("{}: {message}", row.name);
        let spec = Spec { kind: Some(row.kind), capacity: n, false_positive_rate: RATE, ..Spec::default() };
        let mut filter = petal::Filter::new(&spec).map_err(|error| about(error.to_string()))?;
        let geometry = *filter.base().geometry();
        let mut end = 3 * n;
        insert(&mut filter, (0, end), false, &mut buffer).map_err(about)?;
        let limit = Limit::new(geometry.payload_bytes as usize)?;
        let mut lines = [const { [const { Vec::new() }; RINGS.len()] }; 2];
        let mut times = [const { Vec::new() }; 4];
        let (mut found, mut asked) = (0, 0);
        for _ in 0..effort.repetitions {
            for (i, ring) in RINGS.into_iter().enumerate() {
                let order = |order: &mut Vec<u32>| limit.order(order, &mut random);
                lines[0][i].push(turn(effort, &mut Vec::new(), order, |order| limit.read(order, ring)));
                let order = |order: &mut Vec<u32>| limit.order(order, &mut random);
                lines[1][i].push(turn(effort, &mut Vec::new(), order, |order| limit.read_modify_write(order, ring)));
            }
            for is_asked in [false, true] {
                let time = insert(&mut filter, (end, end + PORTION), is_asked, &mut buffer).map_err(about)?;
                times[usize::from(is_asked)].push(time);
                end += PORTION;
            }
            let window = |buffer: &mut Buffer| buffer.recent(0, (end - n, end), &mut random);
            let mut lost = 0;
            times[2].push(turn(effort, &mut buffer, window, |buffer| {
                lost += buffer.len() as u64 - contains(&filter, buffer);
            }));
            if lost > 0 && row.kind != stable::ROW.kind {
                return Err(about(format!("{lost} keys of the window were lost")));
            }
            times[3].push(turn(
                effort,
                &mut buffer,
                |buffer| buffer.absent(&mut random),
                |buffer| (found, asked) = (found + contains(&filter, buffer), asked + buffer.len() as u64),
            ));
        }
        let line_ns = lines.map(|ways| ways.iter().map(|times| median(times)).fold(f64::INFINITY, f64::min));
        let is_sliced = row.kind == age_partitioned::ROW.kind;
        records.push(Record {
            filter: row.name.to_owned(),
            n,
            bits_per_key: geometry.payload_bytes as f64 * 8.0 / n as f64,
            fpr: found as f64 / asked as f64,
            insert_ns: [median(&times[0]), median(&times[1])],
            hit_ns: median(&times[2]),
            miss_ns: median(&times[3]),
            line_ns,
            slices: is_sliced.then(|| geometry.hashes + geometry.words[0] as u32),
            written: if row.kind == rotating::ROW.kind { 1 } else { geometry.hashes },
        });
    }
    Ok(records)
}

/// The number of keys that lookups find.
fn contains(filter: &Filter, buffer: &Buffer) -> u64 {
    let mut answers = Answers::default();
    filter.contains_batch(&buffer.keys(), &mut answers).expect("keys can be looked up");
    answers.true_count
}

/// The table of one comparison.
pub fn print(records: &[Record]) {
    let Some(Record { n, .. }) = records.first() else { return };
    println!("\nfilters that forget, windows of {} keys at {} %, in batches, u64 keys", count(*n), percent(RATE));
    println!(
        "{:<16} {:>9} {:>8} {:>11} {:>9} {:>9} {:>9} {:>11} {:>11} {:>7} {:>8}",
        "filter",
        "bits/key",
        "FPR %",
        "insert, ns",
        "answered",
        "hit",
        "miss",
        "line: read",
        "written",
        "slices",
        "bits set"
    );
    for record in records {
        println!(
            "{:<16} {:>9.2} {:>8} {:>11} {:>9} {:>9} {:>9} {:>11} {:>11} {:>7} {:>8}",
            record.filter,
            record.bits_per_key,
            percent(record.fpr),
            figure(record.insert_ns[0]),
            figure(record.insert_ns[1]),
            figure(record.hit_ns),
            figure(record.miss_ns),
            figure(record.line_ns[0]),
            figure(record.line_ns[1]),
            record.slices.map_or_else(|| "-".to_owned(), |slices| slices.to_string()),
            record.written
        );
    }
}
