//! The method: one comparison of all filters at one size.
//!
//! In each repetition all filters take turns at each operation, and the limit and hashing alone take theirs, so that
//! what else happens on the machine hits all alike. Keys are made in buffers outside the timed sections, so they are in
//! the cache as keys are that a program has just read or computed; only the call on the buffer is timed. The median
//! buffer of a turn counts, which leaves out those that were interrupted, and each figure is the median of the
//! repetitions.

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

/// Filters of so many keys are filled anew for each timing of insertions. Larger ones are filled once, and only the
/// last keys are timed.
pub const REFILLED: u64 = 1 << 21;

/// How many keys' insertion is timed at once in the larger ones.
pub const PORTION: u64 = 16 * BUFFER as u64;

/// How many keys' insertion is timed at least in the smaller ones: as many fills as that takes.
pub const FILLED: u64 = 200_000;

/// Buffers that are not timed at the start of each turn.
const WARM: usize = 2;

/// Buffers that are timed at least in a turn.
const LEAST: usize = 15;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Repetitions, of which the median counts.
    pub repetitions: usize,
    /// How long the turn of one filter at one operation lasts, about.
    pub turn: Duration,
    /// How many false positives are waited for, and how many lookups at most.
    pub false_positives: (u64, u64),
}

/// The median.
pub fn median(samples: &[f64]) -> f64 {
    let mut samples = samples.to_vec();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Nanoseconds for each of so many.
pub fn each(time: Duration, count: u64) -> f64 {
    time.as_nanos() as f64 / count.max(1) as f64
}

/// How long the operation takes.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Inserts the keys `from..to` of a series, untimed: in every filter at once, on all processors; filters that differ
/// only in their kernels are filled once.
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
                    // The lock is held while the next is taken, not while it is filled.
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
    /// For each operation, one by one and in batches.
    times: [[Vec<f64>; 2]; 3],
    positives: u64,
    lookups: u64,
    /// Whose keys are in the filter, and how many.
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
    /// Some milliseconds of everything: wide vector instructions lower a processor's frequency when they begin.
    fn warm_up(&mut self) {
        for subject in &mut self.subjects {
            let start = Instant::now();
            while start.elapsed() < 4 * self.effort.turn {
                self.buffer.absent(&mut self.random);
                black_box(subject.contains(&self.buffer, true, &mut self.answers));
            }
            // Such a filter is finished by its first lookup.
            if !subject.has_insertions() {
                subject.clear();
            }
        }
    }

    /// One turn of reads of lines, in one of the ways of the limit. Each way's turn comes between those of the filters,
    /// as a filter's does: a second turn in a row would find lines in the cache that no filter does.
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

    /// One turn of reading and writing lines, as [`Comparison::limit_of_lookups`].
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
                    // Each fill has keys of its own, so that the false-positive rate is one of many small filters.
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

    /// One repetition of lookups, and as many more as the false-positive rate needs.
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
            // Filters that differ only in their kernels hold the same bits: the first one's rate is theirs.
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

    /// The medians.
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

/// One turn: repeats until its time is over, at least a few times. `prepare` is not timed, `work` on a buffer is.
/// Returns ns for each key.
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
    /// What was done.
    pub operation: Operation,
    /// Whether in batches.
    pub batch: bool,
    /// The measured false-positive rate.
    pub fpr: f64,
    /// Nanoseconds for each key.
    pub ns: f64,
    /// How many threads did it, each with keys of its own; `ns` is of all of them together.
    pub threads: usize,
    /// Whether insertions were shared ones.
    pub shared: bool,
    /// How many times as fast as one thread.
    pub speed_up: Option<f64>,
}

/// A figure with all that belongs to it.
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
