//! Filters that grow from a thousand keys on, compared with a filter of fixed size that was made for all keys. The
//! figures are the time of an insertion with all growth in it, the longest single insertion, rates on the way, and
//! lookups.
//!
//! Insertions are single keys, as in a stream. A first run times all of them together, and a second run times each
//! insertion alone to find the longest.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure, percent};
use petal::kinds::scalable::schedule::Schedule;
use petal::{Answers, Filter, Image, Row, Spec, registry};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The capacity of filters before they grow.
const CAPACITY: u64 = 1000;

/// The false-positive rate that the filters keep.
const RATE: f64 = 0.01;

/// The kinds of fixed size that growing kinds are compared with.
const FIXED: [(&str, &str); 3] = [("scalable", "blocked"), ("taffy", "cuckoo"), ("aleph", "quotient")];

/// The number of absent keys for a rate on the way. At the rate that is kept 10,000 of them are false positives.
const ASKED: u64 = 1 << 20;

/// How often the filter grows to find its longest insertions. The system interrupts each run at other keys, for as long
/// as the longest insertions take. The same keys cost the same in each run. So each stretch takes the longest insertion
/// of each run, and the least of these counts.
const TIMES: usize = 3;

/// Up to this number of keys filters are filled as often as lookups are timed.
const ONCE: u64 = 10_000_000;

/// The figures of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The kind.
    pub filter: String,
    /// The kind of fixed size for comparison.
    fixed: String,
    /// Keys.
    pub n: u64,
    /// Bits of the payload for each key, of both filters.
    bits_per_key: [f64; 2],
    /// The measured false-positive rate, a fraction, of both filters.
    fpr: [f64; 2],
    /// Nanoseconds of a single insertion, the mean from the first to the last, of both filters.
    insert_ns: [f64; 2],
    /// Nanoseconds of an insertion in batches, of both filters.
    batch_insert_ns: [f64; 2],
    /// Nanoseconds of the longest insertion.
    longest_ns: f64,
    /// Nanoseconds of the insertion of all keys, in batches, into a new filter of the kind that was made for them.
    pub rebuild_ns: f64,
    /// Nanoseconds for each present key, and for each absent key, in batches, of both filters.
    hit_ns: [f64; 2],
    miss_ns: [f64; 2],
    /// Nanoseconds for the lines of a lookup of an absent key. A chain reads one line in each level. Other filters read
    /// some lines in a payload of the same size.
    lines_ns: f64,
    /// The number of these lines.
    lines: f64,
    /// The figures of the filter on the way.
    decades: Vec<Decade>,
    /// The number of keys and the nanoseconds of the longest insertion since the number of keys last doubled.
    #[serde(skip)]
    pub latencies: Vec<(u64, f64)>,
}

/// A filter on the way.
#[derive(Clone, Copy, Debug, Serialize)]
struct Decade {
    /// Keys.
    n: u64,
    /// The measured false-positive rate, and the rate that the filter expects, as fractions.
    fpr: f64,
    expected: f64,
    /// Bits of the payload for each key.
    bits_per_key: f64,
}

/// The growing kinds that are wanted, each with its kind of fixed size.
fn kinds(wants: &dyn Fn(&str) -> bool) -> impl Iterator<Item = (&'static Row, &'static Row)> {
    FIXED
        .into_iter()
        .filter(|(name, _)| wants(name))
        .filter_map(|(name, fixed)| Some((registry::find_name(name)?, registry::find_name(fixed)?)))
}

fn make(row: &Row, capacity: u64) -> Result<Filter, String> {
    let spec = Spec { kind: Some(row.kind), capacity, false_positive_rate: RATE, ..Spec::default() };
    petal::Filter::new(&spec).map_err(|error| error.to_string())
}

/// Inserts the first `n` keys, one by one or in batches, and returns nanoseconds for each.
fn fill(filter: &mut Filter, n: u64, in_batches: bool, buffer: &mut Buffer) -> Result<f64, String> {
    let mut time = Duration::ZERO;
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        let mut outcome = Ok(());
        time += timed(|| {
            outcome = if in_batches {
                filter.insert_batch(&buffer.keys(), None).outcome
            } else {
                buffer.numbers().iter().try_for_each(|key| filter.insert_u64(*key).map(drop))
            }
        });
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(each(time, n))
}

/// Records the longest insertions, and the figures of the filter on the way.
fn watch(row: &Row, n: u64, record: &mut Record, buffer: &mut Buffer) -> Result<(), String> {
    let mut stretches = grow(row, n, |filter, done| {
        record.decades.push(look(filter, done, buffer)?);
        Ok(())
    })?;
    for _ in 1..TIMES {
        let again = grow(row, n, |_, _| Ok(()))?;
        stretches.iter_mut().zip(again).for_each(|(least, (_, longest))| least.1 = least.1.min(longest));
    }
    let mut longest = 0.0;
    for (done, ns) in stretches {
        longest = f64::max(longest, ns);
        if done >= CAPACITY && (done.is_power_of_two() || done == n) {
            record.latencies.push((done, longest));
            record.longest_ns = record.longest_ns.max(longest);
            longest = 0.0;
        }
    }
    Ok(())
}

/// Inserts the first `n` keys one by one, and calls `look` at each power of ten. Returns stretches of at most a buffer:
/// the number of keys at the end, and the nanoseconds of the longest insertion.
fn grow(
    row: &Row,
    n: u64,
    mut look: impl FnMut(&Filter, u64) -> Result<(), String>,
) -> Result<Vec<(u64, f64)>, String> {
    let (mut filter, mut done, mut decade) = (make(row, CAPACITY)?, 0, CAPACITY);
    let (mut numbers, mut stretches) = (Buffer::new(Form::U64), Vec::new());
    while done < n {
        // A buffer ends at each power of ten and of two.
        let end = n.min(decade).min(done + BUFFER as u64).min((done + 1).next_power_of_two().max(CAPACITY));
        numbers.inserted(0, done, end);
        let mut longest = Duration::ZERO;
        for key in numbers.numbers() {
            let begun = Instant::now();
            let outcome = filter.insert_u64(*key);
            longest = longest.max(begun.elapsed());
            outcome.map_err(|error| error.to_string())?;
        }
        done = end;
        stretches.push((done, longest.as_nanos() as f64));
        if done == decade || done == n {
            look(&filter, done)?;
            decade *= 10;
        }
    }
    Ok(stretches)
}

/// The figures of a filter with this number of keys. All keys have to be found.
fn look(filter: &Filter, n: u64, buffer: &mut Buffer) -> Result<Decade, String> {
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        if contains(filter, buffer) != buffer.len() as u64 {
            return Err(format!("a key was lost on the way to {n}"));
        }
    }
    let (mut random, mut found) = (Random::new(n), 0);
    for _ in 0..ASKED / BUFFER as u64 {
        buffer.absent(&mut random);
        found += contains(filter, buffer);
    }
    let sigma = (RATE * (1.0 - RATE) / ASKED as f64).sqrt();
    let fpr = found as f64 / ASKED as f64;
    if fpr > RATE + 4.5 * sigma {
        return Err(format!("the rate with {n} keys is {} %", percent(fpr)));
    }
    let bits_per_key = filter.base().geometry().payload_bytes as f64 * 8.0 / n as f64;
    Ok(Decade { n, fpr, expected: filter.expected_false_positive_rate(n), bits_per_key })
}

/// The number of a buffer's keys that lookups find.
fn contains(filter: &Filter, buffer: &Buffer) -> u64 {
    let mut answers = Answers::default();
    filter.contains_batch(&buffer.keys(), &mut answers).expect("keys can be looked up");
    answers.true_count
}

/// The words of the parts in which a lookup of an absent key reads, and the number of lines in each. A chain has its
/// levels as parts, and other filters are one part.
fn pieces(filter: &Filter) -> Result<(Vec<usize>, f64), String> {
    let geometry = filter.base().geometry();
    match Schedule::of(geometry).filter(|_| filter.base().row().name == "scalable") {
        Some(schedule) => {
            let level = |i| schedule.level(i).map(|level| level.payload_bytes as usize / 8);
            let pieces: petal::Result<Vec<usize>> = (0..schedule.levels).map(level).collect();
            Ok((pieces.map_err(|error| error.to_string())?, 1.0))
        }
        None => Ok((vec![geometry.payload_bytes as usize / 8], (filter.base().row().lines_per_lookup)(geometry))),
    }
}

/// Times `n` insertions, one by one and in batches, and lookups in batches, in a filter that grew and in one of fixed
/// size.
fn both(row: &Row, fixed: &Row, n: u64, effort: &Effort, buffer: &mut Buffer) -> Result<Record, String> {
    let mut random = Random::new(n);
    let (mut singles, mut batches) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    let mut filters = Vec::new();
    // Large filters are filled once. A second run would double the time of the benchmark, and the caches are cold for
    // most of a run anyway.
    let repetitions = if n > ONCE { 1 } else { effort.repetitions };
    for _ in 0..repetitions {
        filters.clear();
        for (i, (row, capacity)) in [(row, CAPACITY), (fixed, n)].into_iter().enumerate() {
            batches[i].push(fill(&mut make(row, capacity)?, n, true, buffer)?);
            let mut filter = make(row, capacity)?;
            singles[i].push(fill(&mut filter, n, false, buffer)?);
            filters.push(filter);
        }
    }
    let (pieces, lines) = pieces(&filters[0])?;
    let limit = Limit::new(8 * pieces.iter().sum::<usize>())?;
    let mut ways = [const { Vec::new() }; RINGS.len()];
    let (mut times, mut found) = ([const { [const { Vec::new() }; 2] }; 2], [(0, 0); 2]);
    for _ in 0..effort.repetitions {
        for (times, ring) in ways.iter_mut().zip(RINGS) {
            let order = |order: &mut Vec<u32>| limit.order_of_pieces(&pieces, order, &mut random);
            times.push(turn(effort, &mut Vec::new(), order, |order| limit.read(order, ring)));
        }
        for (i, filter) in filters.iter().enumerate() {
            let mut lost = 0;
            let present = |buffer: &mut Buffer| buffer.present(0, n, &mut random);
            times[0][i].push(turn(effort, buffer, present, |buffer| {
                lost += buffer.len() as u64 - contains(filter, buffer);
            }));
            if lost > 0 {
                return Err("a key was lost".to_owned());
            }
            let absent = |buffer: &mut Buffer| buffer.absent(&mut random);
            times[1][i].push(turn(effort, buffer, absent, |buffer| {
                found[i] = (found[i].0 + contains(filter, buffer), found[i].1 + buffer.len() as u64);
            }));
        }
    }
    let bits = |filter: &Filter| filter.base().geometry().payload_bytes as f64 * 8.0 / n as f64;
    // The time of one line in each part.
    let once = ways.iter().map(|times| median(times)).fold(f64::INFINITY, f64::min);
    let [hit_ns, miss_ns] = times.map(|both| both.map(|times| median(&times)));
    Ok(Record {
        filter: row.name.to_owned(),
        fixed: fixed.name.to_owned(),
        n,
        bits_per_key: [bits(&filters[0]), bits(&filters[1])],
        fpr: found.map(|(found, asked): (u64, u64)| found as f64 / asked as f64),
        insert_ns: singles.map(|times| median(&times)),
        batch_insert_ns: batches.map(|times| median(&times)),
        longest_ns: 0.0,
        rebuild_ns: 0.0,
        hit_ns,
        miss_ns,
        lines_ns: lines * once,
        lines: lines * pieces.len() as f64,
        decades: Vec::new(),
        latencies: Vec::new(),
    })
}

/// Measures the chosen kinds that grow, grown to `n` keys.
///
/// # Errors
/// Says so if a filter refuses or lost a key, if its rate is too high, or if there is no memory.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let (mut records, mut buffer) = (Vec::new(), Buffer::new(Form::U64));
    for (row, fixed) in kinds(wants) {
        let about = |message: String| format!("{}: {message}", row.name);
        let mut record = both(row, fixed, n, effort, &mut buffer).map_err(about)?;
        record.rebuild_ns =
            make(row, n).and_then(|mut filter| fill(&mut filter, n, true, &mut buffer)).map_err(about)?;
        record.rebuild_ns *= n as f64;
        watch(row, n, &mut record, &mut buffer).map_err(about)?;
        records.push(record);
    }
    Ok(records)
}

/// The tables of one comparison.
pub fn print(records: &[Record]) {
    let Some(Record { n, .. }) = records.first() else { return };
    println!("\nfilters that grow from {} to {} keys at {} %, u64 keys", count(CAPACITY), count(*n), percent(RATE));
    println!(
        "{:<20} {:>13} {:>15} {:>13} {:>13} {:>13} {:>13} {:>13} {:>12} {:>12}",
        "filter / fixed",
        "bits/key",
        "FPR %",
        "insert, ns",
        "in batches",
        "hit",
        "miss",
        "lines",
        "longest, us",
        "rebuild/64"
    );
    for record in records {
        let pair = |of: [f64; 2]| of.map(figure).join(" / ");
        println!(
            "{:<20} {:>13} {:>15} {:>13} {:>13} {:>13} {:>13} {:>13} {:>12} {:>12}",
            format!("{} / {}", record.filter, record.fixed),
            record.bits_per_key.map(|bits| format!("{bits:.1}")).join(" / "),
            record.fpr.map(percent).join(" / "),
            pair(record.insert_ns),
            pair(record.batch_insert_ns),
            pair(record.hit_ns),
            pair(record.miss_ns),
            format!("{:.1}: {}", record.lines, figure(record.lines_ns)),
            figure(record.longest_ns / 1000.0),
            figure(record.rebuild_ns / 64.0 / 1000.0)
        );
    }
    println!("{:<20} {:>10} {:>8} {:>10} {:>9}", "on the way", "keys", "FPR %", "expected", "bits/key");
    for record in records {
        for Decade { n, fpr, expected, bits_per_key } in &record.decades {
            let (fpr, expected) = (percent(*fpr), percent(*expected));
            println!("{:<20} {:>10} {fpr:>8} {expected:>10} {bits_per_key:>9.1}", record.filter, count(*n));
        }
    }
}
