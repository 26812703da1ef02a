//! `make soak`: every kind that is built from all of its keys, of every small number of keys and around those where its
//! geometry changes; a thousand million lookups of distinct keys, each of which was inserted, in filters of every kind;
//! and one filter of each kind past 2^35 bits, whose false-positive rate must be the predicted one.
//!
//!     cargo bench -p petal-suite --bench soak -- [--seeds S] [--lookups N] [--bits B] [--threads T]
//!
//! S (60; 0 for none) sets of keys of each number, N (1e9) lookups in all, B bits or more (3.5e10; 0 for none) in the
//! large filters, T threads (all processors). It takes the better part of an hour, and B/8 bytes of memory.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/suite/common/mod.rs"]
mod common;

use common::soak::{self, Batch, CHUNK, Form, Outcome};
use common::sweep::{self, Sizes, Variant};
use indicatif::{ProgressBar, ProgressStyle};
use petal::{Filter, Image, Spec};
use petal::{Row, registry};
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How far from its expectation a count of false positives may lie, in standard deviations.
const SIGMAS: f64 = 4.5;

/// Keys that are not in the large filters and are looked up there.
const ABSENT: u64 = 100_000_000;

fn main() -> ExitCode {
    let (mut seeds, mut lookups, mut bits) = (60.0, 1e9, 3.5e10);
    let mut threads = thread::available_parallelism().map_or(1, usize::from);
    // `cargo bench` adds its own argument.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse::<f64>().ok()).filter(|value| *value >= 0.0);
        match (name.as_str(), value) {
            ("--seeds", Some(value)) => seeds = value,
            ("--lookups", Some(value)) => lookups = value,
            ("--bits", Some(value)) => bits = value,
            ("--threads", Some(value)) if value >= 1.0 => threads = value as usize,
            _ => {
                eprintln!("usage: soak [--seeds S] [--lookups N] [--bits B] [--threads T]");
                return ExitCode::from(2);
            }
        }
    }
    let mut sound = seeds < 1.0 || every_number(seeds as u64, threads);
    sound &= lookups < 1.0 || many(lookups as u64, threads);
    if bits >= 1.0 {
        println!("\nlarge filters, {} absent keys looked up in each", millions(ABSENT));
        println!(
            "{:<12} {:>14} {:>11} {:>9} {:>11} {:>11} {:>8} {:>10} {:>10}",
            "kind", "bits", "keys (M)", "missing", "predicted", "measured", "sigmas", "insert ns", "look-up ns"
        );
        for row in registry::FILTERS {
            sound &= large(row, bits as u64, threads);
        }
    }
    println!("\n{}", if sound { "sound" } else { "NOT SOUND" });
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The keys that are built around one step of a geometry, for each seed.
const KEYS_AT_A_STEP: u64 = 500_000;

/// Builds filters of every kind that is made from all of its keys, with every number of keys that might be one too
/// many. Whether all keys were found.
fn every_number(seeds: u64, threads: usize) -> bool {
    let variants = sweep::variants();
    let around = |step: &u64| {
        let reach = (KEYS_AT_A_STEP / 2 / step).min(100);
        step - reach..=step + reach
    };
    let tasks: Vec<(&Variant, u64)> = variants
        .iter()
        .flat_map(|variant| {
            let steps = variant.steps(3000, 300_000);
            let numbers: BTreeSet<u64> = sweep::numbers().chain(steps.iter().flat_map(around)).collect();
            numbers.into_iter().map(move |keys| (variant, keys))
        })
        .collect();
    let total: u64 = tasks.iter().map(|(_, keys)| keys * seeds).sum();
    println!("{} filters and maps of {} keys in all, {threads} threads", tasks.len() as u64 * seeds, millions(total));
    let progress = Progress::new("every number of keys", total);
    let outcomes = soak::on_threads(&tasks, threads, |(variant, keys)| {
        let before = Instant::now();
        let outcomes: Vec<Result<Sizes, String>> = (0..seeds).map(|seed| variant.check(*keys, seed)).collect();
        progress.add(keys * seeds);
        (outcomes, before.elapsed())
    });
    progress.finish();

    println!("{:<32} {:>9} {:>10} {:>7} {:>12} {:>8}", "kind", "built", "keys (M)", "wrong", "bits beyond", "ns a key");
    let mut all_found = true;
    for variant in &variants {
        let (mut built, mut wrong, mut time) = (0, Vec::new(), Duration::ZERO);
        let (mut sum, mut all_keys) = (Sizes::default(), 0);
        for ((_, keys), (outcomes, took)) in
            tasks.iter().zip(&outcomes).filter(|(task, _)| std::ptr::eq(task.0, variant))
        {
            for outcome in outcomes {
                built += 1;
                match outcome {
                    Ok(sizes) => (sum.bits, sum.expected) = (sum.bits + sizes.bits, sum.expected + sizes.expected),
                    Err(error) => wrong.push(error),
                }
            }
            all_keys += keys * seeds;
            time += *took;
        }
        let beyond = sum.bits as f64 / sum.expected as f64 - 1.0;
        println!(
            "{:<32} {built:>9} {:>10.1} {:>7} {:>10.3} % {:>8.1}",
            variant.name(),
            all_keys as f64 / 1e6,
            wrong.len(),
            100.0 * beyond,
            nanoseconds(time, all_keys)
        );
        wrong.iter().take(10).for_each(|error| println!("    {error}"));
        all_found &= wrong.is_empty() && beyond < 0.01;
    }
    println!();
    all_found
}

/// Many filters of all kinds, whose keys are all looked up. Whether none was missing.
fn many(lookups: u64, threads: usize) -> bool {
    let tasks = soak::tasks(lookups);
    let total: u64 = tasks.iter().map(|task| task.keys).sum();
    println!("{} filters with {} distinct keys in all, {threads} threads", tasks.len(), millions(total));
    let progress = Progress::new("lookups", total);
    let outcomes = soak::run(&tasks, threads, &|keys| progress.add(keys));
    progress.finish();

    // One row a layout, one column a size.
    let mut rows: BTreeMap<&str, (Outcome, BTreeMap<u64, Outcome>)> = BTreeMap::new();
    for (task, outcome) in tasks.iter().zip(&outcomes) {
        let (all, sizes) = rows.entry(&task.layout).or_default();
        for sum in [all, sizes.entry(task.keys).or_default()] {
            sum.lookups += outcome.lookups;
            sum.missing += outcome.missing;
            sum.time += outcome.time;
        }
    }
    let sizes: Vec<u64> = rows.values().next().map(|row| row.1.keys().copied().collect()).unwrap_or_default();
    let heads: String = sizes.iter().map(|size| format!(" {:>9}", format!("n={:.0e}", *size as f64))).collect();
    println!(
        "{:<64} {:>11} {:>8}  ns a lookup, hashing included:\n{:<86}{heads}",
        "kind", "lookups (M)", "missing", ""
    );
    for (layout, (all, sizes)) in &rows {
        let times: String =
            sizes.values().map(|size| format!(" {:>9.1}", nanoseconds(size.time, size.lookups))).collect();
        println!("{layout:<64} {:>11.1} {:>8} {times}", all.lookups as f64 / 1e6, all.missing);
    }
    let missing: u64 = outcomes.iter().map(|outcome| outcome.missing).sum();
    let done: u64 = outcomes.iter().map(|outcome| outcome.lookups).sum();
    println!("{done} lookups of inserted keys, {missing} missing");
    missing == 0 && done == total
}

/// One filter of at least `bits` bits, at one percent. Whether it is as it should be.
fn large(row: &Row, bits: u64, threads: usize) -> bool {
    let name = row.name;
    let sized = |keys| {
        let spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(keys, 0.01).expect("a rate") };
        petal::geometry(&spec).map(|geometry| (spec, geometry.bits))
    };
    // Bits are all but proportional to keys.
    let made = sized(1_000_000).and_then(|(_, bits_of_a_million)| {
        let (spec, _) = sized((bits as f64 / bits_of_a_million as f64 * 1.001 * 1e6) as u64)?;
        Ok((spec.capacity, petal::Filter::new(&spec)?))
    });
    let (keys, mut filter) = match made {
        Ok(made) => made,
        Err(error) => {
            println!("{name:<12} cannot be made: {error}");
            return false;
        }
    };
    assert!(filter.base().geometry().bits >= bits);

    let progress = Progress::new(&format!("{name}: keys inserted and looked up"), 2 * keys + ABSENT);
    let mut batch = Batch::default();
    let mut insertion = Duration::ZERO;
    for start in (0..keys).step_by(CHUNK) {
        batch.fill(Form::U64, start, keys);
        let before = Instant::now();
        soak::insert(&mut filter, &batch.keys());
        insertion += before.elapsed();
        progress.add(batch.keys().len() as u64);
    }
    let before = Instant::now();
    let missing = keys - found(&filter, 0, keys, threads, &progress);
    let look_up = before.elapsed();
    let positives = found(&filter, keys, keys + ABSENT, threads, &progress);
    progress.finish();

    let predicted = filter.expected_false_positive_rate(keys);
    let by_fill = filter.false_positive_rate();
    let sigmas = |rate: f64| {
        let expected = rate * ABSENT as f64;
        (positives as f64 - expected) / (expected * (1.0 - rate)).sqrt()
    };
    println!(
        "{name:<12} {:>14} {:>11.1} {missing:>9} {predicted:>11.7} {:>11.7} {:>8.2} {:>10.1} {:>10.1}",
        filter.base().geometry().bits,
        keys as f64 / 1e6,
        positives as f64 / ABSENT as f64,
        sigmas(predicted),
        nanoseconds(insertion, keys),
        nanoseconds(look_up, keys)
    );
    missing == 0 && sigmas(predicted).abs() < SIGMAS && sigmas(by_fill).abs() < SIGMAS
}

/// How many of the keys with these numbers the filter says yes to, looked up by many threads together.
fn found(filter: &Filter, from: u64, to: u64, threads: usize, progress: &Progress) -> u64 {
    let (next, found) = (AtomicU64::new(from), AtomicU64::new(0));
    let worker = || {
        let mut batch = Batch::default();
        loop {
            let start = next.fetch_add(CHUNK as u64, Ordering::Relaxed);
            if start >= to {
                return;
            }
            batch.fill(Form::U64, start, to);
            found.fetch_add(soak::found(filter, &batch.keys()), Ordering::Relaxed);
            progress.add(batch.keys().len() as u64);
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(worker))));
    found.into_inner()
}

/// A bar on a terminal, and elsewhere a line now and then.
struct Progress {
    bar: ProgressBar,
    what: String,
    total: u64,
    done: AtomicU64,
    lines: bool,
}

impl Progress {
    fn new(what: &str, total: u64) -> Progress {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {elapsed} of {duration}");
        let bar = ProgressBar::new(total).with_style(style.expect("a template")).with_message(what.to_string());
        let lines = !std::io::stderr().is_terminal();
        Progress { bar, what: what.to_string(), total, done: AtomicU64::new(0), lines }
    }

    fn add(&self, keys: u64) {
        let before = self.done.fetch_add(keys, Ordering::Relaxed);
        let tenth = |done: u64| 10 * done / self.total;
        if self.lines && tenth(before) != tenth(before + keys) {
            eprintln!("{}: {} %", self.what, 10 * tenth(before + keys));
        }
        self.bar.inc(keys);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn nanoseconds(time: Duration, count: u64) -> f64 {
    time.as_nanos() as f64 / count.max(1) as f64
}

fn millions(count: u64) -> String {
    format!("{:.1} million", count as f64 / 1e6)
}
