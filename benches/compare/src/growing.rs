//! Filters that grow from a thousand keys on, beside a filter of fixed size that was made for all of them: what an
//! insertion costs with all growth in it, the longest single one, rates on the way, and lookups of absent keys.
//!
//! Insertions are single keys, as a stream has them. They are timed twice: all of them together, and each by itself, from
//! which come the longest ones.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure, percent};
use petal::filters::scalable::schedule::Schedule;
use petal::{Answers, Filter, Image, Row, Spec, registry};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What filters are made for before they grow.
const CAPACITY: u64 = 1000;

/// The rate that they keep.
const RATE: f64 = 0.01;

/// The kinds of fixed size that growing kinds are held to.
const FIXED: [(&str, &str); 3] = [("scalable", "blocked"), ("taffy", "cuckoo"), ("aleph", "quotient")];

/// The figures of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The kind.
    pub filter: String,
    /// The kind of fixed size beside it.
    fixed: String,
    /// Keys.
    pub n: u64,
    /// Bits of the payload for each key, and of the filter of fixed size.
    bits_per_key: [f64; 2],
    /// The measured false-positive rate, a fraction, of both.
    fpr: [f64; 2],
    /// Nanoseconds of an insertion, on average from the first to the last, of both.
    insert_ns: [f64; 2],
    /// Nanoseconds of the longest insertion.
    longest_ns: f64,
    /// Nanoseconds in which all keys are inserted in batches into a new filter that was made for them.
    pub rebuild_ns: f64,
    /// Nanoseconds for each key that is not there, in batches, of both.
    miss_ns: [f64; 2],
    /// Nanoseconds that memory takes for a line of as large a payload.
    line_ns: f64,
    /// Lines that a lookup of an absent key touches at most.
    lines: f64,
    /// The longest insertion since the number of keys doubled last: keys, nanoseconds.
    #[serde(skip)]
    pub latencies: Vec<(u64, f64)>,
    /// The rate and the bits of a key on the way.
    #[serde(skip)]
    pub way: Vec<(u64, f64, f64)>,
}

/// All kinds that grow, and their names.
fn kinds(wants: &dyn Fn(&str) -> bool) -> impl Iterator<Item = (&'static Row, &'static Row)> {
    FIXED
        .into_iter()
        .filter(|(name, _)| wants(name))
        .filter_map(|(name, fixed)| Some((registry::find_name(name)?, registry::find_name(fixed)?)))
}

fn make(row: &Row, capacity: u64) -> Result<Filter, String> {
    let spec = Spec { kind: Some(row.kind), capacity, false_positive_rate: RATE, ..Spec::default() };
    petal::create(&spec).map_err(|error| error.to_string())
}

/// Inserts keys one by one; nanoseconds for each.
fn fill(filter: &mut Filter, n: u64, buffer: &mut Buffer) -> Result<f64, String> {
    let mut time = Duration::ZERO;
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        let mut outcome = Ok(());
        time += timed(|| outcome = buffer.numbers().iter().try_for_each(|key| filter.insert_u64(*key).map(drop)));
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(each(time, n))
}

/// Inserts keys in batches; nanoseconds in all.
fn rebuild(row: &Row, n: u64, buffer: &mut Buffer) -> Result<f64, String> {
    let (mut filter, mut time) = (make(row, n)?, Duration::ZERO);
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        let mut outcome = Ok(());
        time += timed(|| outcome = filter.insert_batch(&buffer.keys(), None).outcome);
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(time.as_nanos() as f64)
}

/// The longest insertions, and rates and sizes on the way.
fn watch(row: &Row, n: u64, record: &mut Record, buffer: &mut Buffer) -> Result<(), String> {
    let (mut filter, mut done, mut longest) = (make(row, CAPACITY)?, 0_u64, 0.0_f64);
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        for key in buffer.numbers() {
            let begun = Instant::now();
            let outcome = filter.insert_u64(*key);
            longest = longest.max(begun.elapsed().as_nanos() as f64);
            outcome.map_err(|error| error.to_string())?;
            done += 1;
            if done >= CAPACITY && (done.is_power_of_two() || done == n) {
                record.latencies.push((done, longest));
                record.longest_ns = record.longest_ns.max(longest);
                longest = 0.0;
                let bits = filter.base().geometry().payload_bytes as f64 * 8.0;
                record.way.push((done, filter.expected_false_positive_rate(done), bits / done as f64));
            }
        }
    }
    Ok(())
}

/// How many of a buffer are found.
fn contains(filter: &Filter, buffer: &Buffer) -> u64 {
    let mut answers = Answers::default();
    filter.contains_batch(&buffer.keys(), &mut answers).expect("keys can be looked up");
    answers.true_count
}

/// Lines that a lookup of an absent key touches: of a chain of levels one for each.
fn lines_of_absent(filter: &Filter) -> f64 {
    let geometry = filter.base().geometry();
    match Schedule::of(geometry).filter(|_| filter.base().row().name == "scalable") {
        Some(schedule) => f64::from(schedule.levels),
        None => (filter.base().row().lines_per_lookup)(geometry),
    }
}

/// All kinds that grow and are wanted, grown to `n` keys.
///
/// # Errors
/// Says so if one refuses or lost a key, or where there is no memory.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let (mut records, mut buffer, mut random) = (Vec::new(), Buffer::new(Form::U64), Random::new(n));
    for (row, fixed) in kinds(wants) {
        let about = |message: String| format!("{}: {message}", row.name);
        let mut filters = [make(row, CAPACITY).map_err(about)?, make(fixed, n)?];
        let mut insert_ns = [0.0; 2];
        for (filter, ns) in filters.iter_mut().zip(&mut insert_ns) {
            *ns = fill(filter, n, &mut buffer).map_err(about)?;
        }
        let limit = Limit::new(filters[0].base().geometry().payload_bytes as usize)?;
        let (mut lines, mut misses, mut found) =
            (vec![Vec::new(); RINGS.len()], [const { Vec::new() }; 2], [(0, 0); 2]);
        for _ in 0..effort.repetitions {
            for (times, ring) in lines.iter_mut().zip(RINGS) {
                let order = |order: &mut Vec<u32>| limit.order(order, &mut random);
                times.push(turn(effort, &mut Vec::new(), order, |order| limit.read(order, ring)));
            }
            for (i, filter) in filters.iter().enumerate() {
                buffer.present(0, n, &mut random);
                if contains(filter, &buffer) != buffer.len() as u64 {
                    return Err(about("a key was lost".to_owned()));
                }
                misses[i].push(turn(
                    effort,
                    &mut buffer,
                    |buffer| buffer.absent(&mut random),
                    |buffer| {
                        found[i] = (found[i].0 + contains(filter, buffer), found[i].1 + buffer.len() as u64);
                    },
                ));
            }
        }
        let bits_per_key =
            filters.each_ref().map(|filter| filter.base().geometry().payload_bytes as f64 * 8.0 / n as f64);
        let lines_at_most = lines_of_absent(&filters[0]);
        drop(filters);
        let mut record = Record {
            filter: row.name.to_owned(),
            fixed: fixed.name.to_owned(),
            n,
            bits_per_key,
            fpr: found.map(|(found, asked)| found as f64 / asked as f64),
            insert_ns,
            longest_ns: 0.0,
            rebuild_ns: rebuild(row, n, &mut buffer).map_err(about)?,
            miss_ns: misses.each_ref().map(|times| median(times)),
            line_ns: lines.iter().map(|times| median(times)).fold(f64::INFINITY, f64::min),
            lines: lines_at_most,
            latencies: Vec::new(),
            way: Vec::new(),
        };
        watch(row, n, &mut record, &mut buffer).map_err(about)?;
        records.push(record);
    }
    Ok(records)
}

/// The table of one comparison.
pub fn print(records: &[Record]) {
    let Some(Record { n, .. }) = records.first() else { return };
    println!("\nfilters that grow from {} to {} keys at {} %, u64 keys", count(CAPACITY), count(*n), percent(RATE));
    println!(
        "{:<22} {:>11} {:>8} {:>16} {:>14} {:>14} {:>14} {:>12}",
        "filter / fixed", "bits/key", "FPR %", "insert, ns", "longest, us", "rebuild/64, us", "miss, ns", "lines, ns"
    );
    for record in records {
        let pair = |of: [f64; 2]| of.map(figure).join(" / ");
        println!(
            "{:<22} {:>11} {:>8} {:>16} {:>14} {:>14} {:>14} {:>12}",
            format!("{} / {}", record.filter, record.fixed),
            record.bits_per_key.map(|bits| format!("{bits:.1}")).join(" / "),
            percent(record.fpr[0]),
            pair(record.insert_ns),
            figure(record.longest_ns / 1000.0),
            figure(record.rebuild_ns / 64.0 / 1000.0),
            pair(record.miss_ns),
            figure(record.line_ns * record.lines)
        );
    }
}
