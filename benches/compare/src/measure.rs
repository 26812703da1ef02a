//! The method: one comparison of all filters at one size.
//!
//! In each repetition all filters take turns at each operation, and so do the limit and hashing alone. Other work on
//! the machine so affects all alike. Keys are made in buffers outside the timed sections, so they are in the cache like
//! keys that a program has just read. Only the call on the buffer is timed. The median buffer of a turn counts, which
//! leaves out interrupted buffers. Each figure is the median of the repetitions.

use crate::huge;
use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::report::{Floor, Record};
use crate::subject::{Operation, Size, Subject};
use indicatif::ProgressBar;
use petal::{HashFunction, Hasher, simd};
use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Up to this number of keys filters are filled anew for each timing of insertions. Larger filters are filled once, and
/// only the insertion of the last keys is timed.
pub const REFILLED: u64 = 1 << 21;

/// The number of keys whose insertion into a larger filter is timed in one piece.
pub const PORTION: u64 = 16 * BUFFER as u64;

/// The least number of keys whose insertion into smaller filters is timed, which sets the number of fills.
pub const FILLED: u64 = 200_000;

/// The number of buffers at the start of each turn that are not timed.
const WARM: usize = 2;

/// The least number of buffers that are timed in a turn.
const LEAST: usize = 15;

/// The amount of measuring.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The number of repetitions, of which the median counts.
    pub repetitions: usize,
    /// The approximate time of one filter's turn at one operation.
    pub turn: Duration,
    /// The number of false positives to wait for, and the greatest number of lookups for these.
    pub false_positives: (u64, u64),
}

pub fn median(samples: &[f64]) -> f64 {
    let mut samples = samples.to_vec();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Nanoseconds for each of `count` keys.
pub fn each(time: Duration, count: u64) -> f64 {
    time.as_nanos() as f64 / count.max(1) as f64
}

/// The time that the work takes.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Inserts the keys `from..to` of a series without timing, in all filters at the same time on all processors. Filters
/// that differ only in their kernels are filled once.
pub fn build(
    subjects: &mut [Box<dyn Subject>],
    form: Form,
    series: u64,
    range: impl Fn(&dyn Subject) -> (u64, u64) + Sync,
) {
    let mut first: Vec<&mut Box<dyn Subject>> = Vec::new();
    let mut copies = Vec::new();
    for subject in subjects.iter_mut() {
        let known = subject.filter().is_some() && first.iter().any(|other| other.name() == subject.name());
        if known { copies.push(subject) } else { first.push(subject) }
    }
    let fill = |subject: &mut dyn Subject| {
        let (mut buffer, mut answers) = (Buffer::new(form), vec![0; BUFFER]);
        let (from, to) = range(subject);
        let batch = subject.has_batches();
        for start in (from..to).step_by(BUFFER) {
            buffer.inserted(series, start, to.min(start + BUFFER as u64));
            subject.insert(&buffer, batch, &mut answers);
        }
    };
    let queue = Mutex::new(first.iter_mut());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    // A thread holds the lock while it takes the next filter, and not while it fills the filter.
                    let next = queue.lock().expect("no thread panics with the lock").next();
                    let Some(subject) = next else { return };
                    fill(&mut ***subject);
                }
            });
        }
    });
    for copy in copies {
        let original = first.iter().find(|other| other.name() == copy.name());
        if !original.is_some_and(|original| copy.take_over(&***original)) {
            fill(&mut **copy);
        }
    }
}

/// The samples of one filter.
#[derive(Default)]
struct Samples {
    /// The times of each operation, one by one and in batches.
    times: [[Vec<f64>; 2]; 3],
    positives: u64,
    lookups: u64,
    /// The series of the keys in the filter, and their number.
    series: u64,
    held: u64,
}

/// The samples of the limit.
#[derive(Default)]
struct FloorSamples {
    read: [Vec<f64>; RINGS.len()],
    read_modify_write: [Vec<f64>; RINGS.len()],
    hash: Vec<f64>,
}

/// A comparison under way.
struct Comparison<'a> {
    size: Size,
    effort: &'a Effort,
    subjects: Vec<Box<dyn Subject>>,
    samples: Vec<Samples>,
    limit: Limit,
    floor: FloorSamples,
    random: Random,
    buffer: Buffer,
    answers: Vec<u8>,
}

/// Measures all filters at one size. The progress bar moves by one for each repetition of each filter.
///
/// # Errors
/// Says so if there is no memory, or if a filter lost a key.
pub fn compare(
    size: Size,
    effort: &Effort,
    subjects: Vec<Box<dyn Subject>>,
    progress: &ProgressBar,
) -> Result<(Floor, Vec<Record>), String> {
    let mut comparison = Comparison {
        size,
        effort,
        samples: subjects.iter().map(|_| Samples::default()).collect(),
        subjects,
        limit: Limit::new((size.bits() / 8) as usize)?,
        floor: FloorSamples::default(),
        random: Random::new(size.n),
        buffer: Buffer::new(size.form),
        answers: vec![0; BUFFER],
    };
    comparison.warm_up();
    let refilled = size.n <= REFILLED;
    if !refilled {
        let timed = PORTION * effort.repetitions as u64;
        let base = |subject: &dyn Subject| (0, size.n - timed * if subject.has_batches() { 2 } else { 1 });
        build(&mut comparison.subjects, size.form, 0, base);
        for (samples, subject) in comparison.samples.iter_mut().zip(&comparison.subjects) {
            samples.held = base(&**subject).1;
        }
        (0..effort.repetitions).for_each(|repetition| comparison.insertions(repetition, false));
    }
    for repetition in 0..effort.repetitions {
        if refilled {
            comparison.insertions(repetition, true);
        }
        comparison.lookups(repetition, progress)?;
    }
    Ok(comparison.finish())
}

impl Comparison<'_> {
    /// Runs everything for some milliseconds, because wide vector instructions lower a processor's frequency when they
    /// begin.
    fn warm_up(&mut self) {
        for subject in &mut self.subjects {
            let start = Instant::now();
            while start.elapsed() < 4 * self.effort.turn {
                self.buffer.absent(&mut self.random);
                black_box(subject.contains(&self.buffer, true, &mut self.answers));
            }
            // The first lookup finishes a filter without insertions.
            if !subject.has_insertions() {
                subject.clear();
            }
        }
    }

    /// One turn of reads of lines, in one of the ways of the limit. Turns of different ways lie between turns of
    /// filters. A second turn in a row would find lines in the cache, which no filter does.
    fn limit_of_lookups(&mut self, way: usize) {
        let (limit, random) = (&self.limit, &mut self.random);
        let read = |order: &mut Vec<u32>| limit.read(order, RINGS[way]);
        let time = turn(self.effort, &mut Vec::new(), |order| limit.order(order, random), read);
        self.floor.read[way].push(time);
    }

    /// One turn of hashing.
    fn hashing(&mut self) {
        let hasher = Hasher::new(HashFunction::Xxh3, 0, None).expect("XXH3 needs no key");
        let (random, hashes) = (&mut self.random, &mut vec![0; BUFFER]);
        let hash = |buffer: &mut Buffer| {
            match buffer.form() {
                Form::U64 => hasher.hash_u64s(simd::best(), buffer.numbers(), hashes),
                Form::Strings => {
                    for (key, hash) in buffer.strings().zip(hashes.iter_mut()) {
                        *hash = hasher.hash_bytes(key).unwrap_or(0);
                    }
                }
            }
            black_box(&hashes);
        };
        self.floor.hash.push(turn(self.effort, &mut self.buffer, |buffer| buffer.absent(random), hash));
    }

    /// One turn of reading and writing lines, with turns as in [`Comparison::limit_of_lookups`].
    fn limit_of_insertions(&mut self, way: usize) {
        let (limit, random) = (&self.limit, &mut self.random);
        let write = |order: &mut Vec<u32>| limit.read_modify_write(order, RINGS[way]);
        let time = turn(self.effort, &mut Vec::new(), |order| limit.order(order, random), write);
        self.floor.read_modify_write[way].push(time);
    }

    /// One repetition of insertions: each filter's turn one by one, then in batches.
    fn insertions(&mut self, repetition: usize, refill: bool) {
        let Size { n, form, .. } = self.size;
        let fills = FILLED.div_ceil(n);
        for batch in [false, true] {
            self.limit_of_insertions(usize::from(batch));
            for (subject, samples) in self.subjects.iter_mut().zip(&mut self.samples) {
                if batch && !subject.has_batches() {
                    continue;
                }
                let mut buffer = Buffer::new(form);
                let mut times = Vec::new();
                let mut insert = |subject: &mut dyn Subject, series, from: u64, to: u64| {
                    for start in (from..to).step_by(BUFFER) {
                        buffer.inserted(series, start, to.min(start + BUFFER as u64));
                        let time = timed(|| subject.insert(&buffer, batch, &mut self.answers));
                        times.push(each(time, buffer.len() as u64));
                    }
                };
                if refill {
                    // Each fill has its own keys, so that the false-positive rate is the mean over many small filters.
                    for fill in 0..fills {
                        samples.series = (2 * repetition as u64 + u64::from(batch)) * fills + fill;
                        subject.clear();
                        insert(&mut **subject, samples.series, 0, n);
                    }
                    samples.held = n;
                } else {
                    insert(&mut **subject, samples.series, samples.held, samples.held + PORTION);
                    samples.held += PORTION;
                }
                if subject.has_insertions() {
                    samples.times[Operation::Insert as usize][usize::from(batch)].push(median(&times));
                }
            }
        }
        (2..RINGS.len()).for_each(|way| self.limit_of_insertions(way));
    }

    /// One repetition of lookups, and as many further lookups as the false-positive rate needs.
    fn lookups(&mut self, repetition: usize, progress: &ProgressBar) -> Result<(), String> {
        self.hashing();
        let operations = [Operation::Hit, Operation::Miss].into_iter().flat_map(|o| [(o, false), (o, true)]);
        for (i, (operation, batch)) in operations.enumerate() {
            if i < RINGS.len() {
                self.limit_of_lookups(i);
            }
            for (subject, samples) in self.subjects.iter().zip(&mut self.samples) {
                if batch && !subject.has_batches() {
                    continue;
                }
                let (random, answers) = (&mut self.random, &mut self.answers);
                let (mut found, mut lookups) = (0, 0);
                let prepare = |buffer: &mut Buffer| match operation {
                    Operation::Miss => buffer.absent(random),
                    _ => buffer.present(samples.series, samples.held, random),
                };
                let time = turn(self.effort, &mut self.buffer, prepare, |buffer| {
                    found += subject.contains(buffer, batch, answers);
                    lookups += buffer.len() as u64;
                });
                samples.times[operation as usize][usize::from(batch)].push(time);
                if operation == Operation::Miss {
                    samples.positives += found;
                    samples.lookups += lookups;
                } else if found != lookups {
                    return Err(format!("{} lost {} of {lookups} keys", subject.name(), lookups - found));
                }
            }
        }
        let share = (repetition + 1) as f64 / self.effort.repetitions as f64;
        for (i, (subject, samples)) in self.subjects.iter().zip(&mut self.samples).enumerate() {
            // Filters that differ only in their kernels hold the same bits, so all have the rate of the first one.
            let first = self.subjects.iter().position(|other| other.name() == subject.name());
            let (positives, lookups) = self.effort.false_positives;
            while first == Some(i)
                && (samples.positives as f64) < share * positives as f64
                && (samples.lookups as f64) < share * lookups as f64
            {
                self.buffer.absent(&mut self.random);
                samples.positives += subject.contains(&self.buffer, subject.has_batches(), &mut self.answers);
                samples.lookups += BUFFER as u64;
            }
            progress.inc(1);
        }
        Ok(())
    }

    /// The figures of the comparison, each of which is a median.
    fn finish(self) -> (Floor, Vec<Record>) {
        let least = |ways: &[Vec<f64>]| ways.iter().map(|way| median(way)).fold(f64::INFINITY, f64::min);
        let floor = Floor {
            read: least(&self.floor.read),
            read_modify_write: least(&self.floor.read_modify_write),
            hash: median(&self.floor.hash),
        };
        let mut records = Vec::new();
        for (subject, samples) in self.subjects.iter().zip(&self.samples) {
            let same = self.subjects.iter().zip(&self.samples).filter(|(other, _)| other.name() == subject.name());
            let (positives, lookups) = same.fold((0, 0), |sum, (_, s)| (sum.0 + s.positives, sum.1 + s.lookups));
            let fpr = positives as f64 / lookups.max(1) as f64;
            for operation in Operation::ALL {
                for batch in [false, true] {
                    let times = &samples.times[operation as usize][usize::from(batch)];
                    if !times.is_empty() {
                        let found = Found {
                            operation,
                            batch,
                            fpr,
                            ns: median(times),
                            threads: 1,
                            shared: false,
                            speed_up: None,
                        };
                        records.push(record(&self.size, &**subject, &floor, found));
                    }
                }
            }
        }
        (floor, records)
    }
}

/// One turn repeats until its time is over, at least a few times. The time of `work` on a buffer counts, and that of
/// `prepare` does not. Returns nanoseconds for each key.
pub fn turn<S>(effort: &Effort, state: &mut S, mut prepare: impl FnMut(&mut S), mut work: impl FnMut(&mut S)) -> f64 {
    for _ in 0..WARM {
        prepare(state);
        work(state);
    }
    let (mut time, mut times) = (Duration::ZERO, Vec::new());
    while times.len() < LEAST || time < effort.turn {
        prepare(state);
        let once = timed(|| work(state));
        times.push(each(once, BUFFER as u64));
        time += once;
    }
    median(&times)
}

/// One figure.
pub struct Found {
    /// The operation.
    pub operation: Operation,
    /// Whether keys came in batches.
    pub batch: bool,
    /// The measured false-positive rate.
    pub fpr: f64,
    /// Nanoseconds for each key.
    pub ns: f64,
    /// The number of threads, each with its own keys; `ns` is for all threads together.
    pub threads: usize,
    /// Whether insertions were shared ones.
    pub shared: bool,
    /// The speed compared with one thread.
    pub speed_up: Option<f64>,
}

/// The record of a figure.
pub fn record(size: &Size, subject: &dyn Subject, floor: &Floor, found: Found) -> Record {
    let limit_ns = if found.operation == Operation::Insert { floor.read_modify_write } else { floor.read };
    let lines = subject.lines(found.operation);
    Record {
        filter: subject.name().to_owned(),
        op: found.operation.name(),
        batch: found.batch,
        n: size.n,
        bits_per_key: (100.0 * subject.bits() as f64 / size.n as f64).round() / 100.0,
        fpr: found.fpr,
        ns: found.ns,
        limit_ns,
        threads: found.threads,
        shared: found.shared,
        speed_up: found.speed_up,
        kernel: subject.kernel(),
        pages: huge::pages(subject.address()),
        keys: size.form.name(),
        bytes: subject.bits() / 8,
        lines,
        ratio: found.ns / (limit_ns * lines),
        hash_ns: floor.hash,
        peer: subject.filter().is_none(),
    }
}
