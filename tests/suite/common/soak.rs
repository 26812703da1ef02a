//! Filters of every kind and size, each filled with its own keys. Every key is looked up again.

use super::{at_rate, hashed, layouts, mix};
use petal::{Answers, Builder, BuilderOptions, Capabilities, Filter, HashFunction, Keys, Spec, Taken};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The number of keys that are made, inserted and looked up together.
pub const CHUNK: usize = 1 << 14;

/// The number of keys in the smallest filters.
const SMALLEST: u64 = 1000;

/// The work on one filter.
pub struct Task {
    /// The kind and its parameters.
    pub layout: String,
    pub spec: Spec,
    /// The number of the first key; no two tasks have a key in common.
    first: u64,
    pub keys: u64,
    form: Form,
}

/// The form of keys. In every form different numbers give different keys.
#[derive(Clone, Copy)]
pub enum Form {
    U64,
    Bytes,
    Hashes,
}

/// The outcome of a task.
#[derive(Clone, Copy, Default)]
pub struct Outcome {
    pub lookups: u64,
    /// The number of inserted keys that were not found.
    pub missing: u64,
    pub time: Duration,
}

/// The tasks for filters that together hold at least `lookups` distinct keys. They cover every kind with every layout,
/// every hash function, and sizes from a thousand keys up. The largest filters come first.
pub fn tasks(lookups: u64) -> Vec<Task> {
    let mut cells = Vec::new();
    // Kinds that lose keys by age have tests of their losses. Kinds whose keys are integers do not take these keys.
    let loses_by_age = |case: &super::Case| case.may_lose() && case.row.capabilities.contains(Capabilities::AGE);
    for case in layouts().into_iter().filter(|case| !loses_by_age(case) && !case.is_of_integers()) {
        for hash in HashFunction::ALL {
            cells.push((case.layout_name(), hashed(&case.spec(), hash, 7), hash));
        }
    }
    let share = lookups.div_ceil(cells.len() as u64);
    // One filter has the largest size. The rest, and a fifth at least, goes to the smaller sizes in equal parts.
    let largest = SMALLEST.max(10_u64.pow(share.max(1).ilog10()));
    let smaller: Vec<u64> =
        std::iter::successors(Some(SMALLEST), |size| Some(10 * size)).take_while(|size| *size < largest).collect();
    let rest = share.saturating_sub(largest).max(share / 5);
    let mut sizes = vec![largest];
    for size in &smaller {
        sizes.resize(sizes.len() + rest.div_ceil(size * smaller.len() as u64) as usize, *size);
    }
    if smaller.is_empty() {
        sizes.resize(share.div_ceil(largest) as usize, largest);
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let mut tasks = Vec::new();
    let mut first = 0;
    for (i, size) in sizes.into_iter().enumerate() {
        for (layout, spec, hash) in &cells {
            let form = match hash {
                HashFunction::External => Form::Hashes,
                _ if i % 2 == 0 => Form::U64,
                _ => Form::Bytes,
            };
            let spec = at_rate(&Spec { capacity: size, ..*spec }, 0.01);
            tasks.push(Task { layout: layout.clone(), spec, first, keys: size, form });
            first += size;
        }
    }
    tasks
}

/// Does the tasks on this number of threads. Outcomes are in the order of the tasks. After each task `done` gets the
/// number of its keys.
pub fn run(tasks: &[Task], threads: usize, done: &(dyn Fn(u64) + Sync)) -> Vec<Outcome> {
    on_threads(tasks, threads, |task| {
        let outcome = task.run();
        done(task.keys);
        outcome
    })
}

/// The results of `work` for the tasks, on this number of threads, in the order of the tasks.
pub fn on_threads<T: Sync, R: Send>(tasks: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut outcomes = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(i) else { return outcomes };
            outcomes.push((i, work(task)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    all.sort_unstable_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

impl Task {
    fn run(&self) -> Outcome {
        let mut builder = Builder::new(&self.spec, BuilderOptions::default()).expect("a possible spec");
        // Filters that are made empty are filled by insertion, the others by the builder.
        let mut filter = petal::Filter::new(&self.spec).ok();
        let mut batch = Batch::default();
        let chunks = self.keys.div_ceil(CHUNK as u64);
        let start = |chunk: u64| self.first + chunk * CHUNK as u64;
        let end = self.first + self.keys;
        for chunk in 0..chunks {
            batch.fill(self.form, start(chunk), end);
            match &mut filter {
                Some(filter) => insert(filter, &batch.keys()),
                None => builder.add_batch(&batch.keys()).outcome.expect("keys can be added"),
            }
        }
        let filter = filter.unwrap_or_else(|| builder.finish().expect("keys can be solved"));
        let mut outcome = Outcome::default();
        // The order differs from that of insertion.
        for chunk in (0..chunks).rev() {
            batch.fill(self.form, start(chunk), end);
            let keys = batch.keys();
            let before = Instant::now();
            let found = found(&filter, &keys);
            outcome.time += before.elapsed();
            outcome.lookups += keys.len() as u64;
            outcome.missing += keys.len() as u64 - found;
        }
        outcome
    }
}

pub fn insert(filter: &mut Filter, keys: &Keys) {
    let Taken { keys: inserted, outcome } = filter.insert_batch(keys, None);
    outcome.expect("it can insert");
    assert_eq!(inserted, keys.len());
}

/// The number of a batch's keys that the filter says yes to.
pub fn found(filter: &Filter, keys: &Keys) -> u64 {
    let mut answers = Answers::default();
    filter.contains_batch(keys, &mut answers).expect("it can hash");
    answers.true_count
}

/// Keys by number, in one of the forms.
#[derive(Default)]
pub struct Batch {
    numbers: Vec<u64>,
    bytes: Vec<u8>,
    offsets: Vec<u64>,
    hashed: bool,
}

impl Batch {
    /// Fills the batch with the keys from `start` on: at most a chunk of them, and none from `end` on.
    pub fn fill(&mut self, form: Form, start: u64, end: u64) {
        let numbers = start..end.min(start + CHUNK as u64);
        self.numbers.clear();
        self.bytes.clear();
        self.offsets.clear();
        self.hashed = matches!(form, Form::Hashes);
        if !matches!(form, Form::Bytes) {
            // The function is a bijection, so distinct numbers stay distinct.
            self.numbers.extend(numbers.map(mix));
            return;
        }
        self.offsets.push(0);
        for number in numbers {
            let length = 8 + number as usize % 24;
            self.bytes.extend_from_slice(&number.to_le_bytes());
            self.bytes.resize(self.bytes.len() + length - 8, b'.');
            self.offsets.push(self.bytes.len() as u64);
        }
    }

    pub fn keys(&self) -> Keys<'_> {
        if !self.offsets.is_empty() {
            Keys::Bytes { bytes: &self.bytes, offsets: &self.offsets }
        } else if self.hashed {
            Keys::Hashes(&self.numbers)
        } else {
            Keys::U64(&self.numbers)
        }
    }
}
