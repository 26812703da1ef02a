//! Several threads on one filter: lookups, which share the filter by a plain reference, and shared insertion.
//!
//! The threads wait for each other before each buffer, so that all calls run at the same time. The time of the slowest
//! thread counts, and the median of all rounds. A figure is nanoseconds for each key of all threads together, so two
//! threads should halve it.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::measure::{Effort, FILLED, Found, PORTION, REFILLED, build, each, median, record, timed};
use crate::report::{Floor, Record, count, figure};
use crate::subject::{Operation, Size, Subject};
use petal::{Answers, Filter, Image};
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The number of rounds of lookups.
const ROUNDS: usize = 32;

/// A place where threads wait for each other without sleeping, because waking takes longer than a buffer.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        let ticket = self.arrived.fetch_add(1, Ordering::AcqRel);
        let last = (ticket / self.threads + 1) * self.threads;
        for spins in 0.. {
            if self.arrived.load(Ordering::Acquire) >= last {
                return;
            }
            // Another process may hold the processor of the awaited thread.
            if spins % 65536 == 65535 { thread::yield_now() } else { hint::spin_loop() }
        }
    }
}

/// Runs rounds on several threads. The time of `work` counts, and that of `prepare` does not. Each thread has its own
/// state, made from its number. Returns the time of the median round.
fn together<S>(
    threads: usize,
    rounds: usize,
    state: impl Fn(usize) -> S + Sync,
    prepare: impl Fn(&mut S, usize) + Sync,
    work: impl Fn(&mut S) + Sync,
) -> Duration {
    let gate = Gate { threads, arrived: AtomicUsize::new(0) };
    let run = |thread: usize| {
        let mut state = state(thread);
        let mut times = Vec::with_capacity(rounds);
        for round in 0..rounds {
            prepare(&mut state, round);
            gate.pass();
            times.push(timed(|| work(&mut state)));
            gate.pass();
        }
        times
    };
    let times: Vec<Vec<Duration>> = thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("measuring does not panic")).collect()
    });
    let mut slowest: Vec<_> = (0..rounds).filter_map(|round| times.iter().map(|times| times[round]).max()).collect();
    slowest.sort();
    slowest[slowest.len() / 2]
}

/// The time of a line with several threads, by [`Limit::read`] or [`Limit::read_modify_write`] in the fastest way.
fn lines(limit: &Limit, threads: usize, visit: impl Fn(&Limit, &[u32], usize) + Sync) -> f64 {
    let state = |thread: usize| (Vec::new(), Random::new(thread as u64));
    let prepare = |(order, random): &mut (Vec<u32>, Random), _| limit.order(order, random);
    let time = |ahead| together(threads, ROUNDS, state, prepare, |(order, _)| visit(limit, order, ahead));
    let best = RINGS.into_iter().map(time).min().unwrap_or_default();
    each(best, (threads * BUFFER) as u64)
}

/// Lookups of the first `held` keys or of absent keys, in batches if the filter has them.
fn lookups(subject: &dyn Subject, operation: Operation, held: u64, threads: usize, form: Form) -> f64 {
    let state = |thread: usize| (Buffer::new(form), Random::new(thread as u64 + 1), vec![0; BUFFER]);
    let prepare = |(buffer, random, _): &mut (Buffer, Random, Vec<u8>), _| match operation {
        Operation::Miss => buffer.absent(random),
        _ => buffer.present(0, held, random),
    };
    let time = together(threads, ROUNDS, state, prepare, |(buffer, _, answers)| {
        hint::black_box(subject.contains(buffer, subject.has_batches(), answers));
    });
    each(time, (threads * BUFFER) as u64)
}

/// The number of keys of each thread in a round, at most a buffer, and the number of rounds.
fn shares(keys: u64, threads: usize) -> (u64, usize) {
    let share = (keys / threads as u64).min(BUFFER as u64);
    (share, (keys / (share * threads as u64)) as usize)
}

/// Shared insertion of keys from number `from` on, in batches. Returns the time of the median round.
fn insert_shared(filter: &Filter, from: u64, keys: u64, threads: usize, form: Form) -> Duration {
    let (share, rounds) = shares(keys, threads);
    let state = |thread: usize| (thread as u64, Buffer::new(form), vec![0; BUFFER]);
    let prepare = |(thread, buffer, _): &mut (u64, Buffer, Vec<u8>), round: usize| {
        let start = from + (round as u64 * threads as u64 + *thread) * share;
        buffer.inserted(0, start, start + share);
    };
    together(threads, rounds, state, prepare, |(_, buffer, answers)| {
        let answers = &mut Answers { bytes: Some(&mut answers[..buffer.len()]), ..Answers::default() };
        filter.insert_shared_batch(&buffer.keys(), Some(answers)).outcome.expect("keys can be inserted");
    })
}

/// Shared insertion: a small filter is filled from empty several times, and a large one gets its next keys. Returns
/// nanoseconds for each key, and the number of keys in the filter.
fn shared_insertions(subject: &mut dyn Subject, size: &Size, held: u64, threads: usize) -> Option<(f64, u64)> {
    subject.filter().filter(|filter| filter.capabilities().contains(petal::Capabilities::INSERT_SHARED))?;
    let refilled = size.n <= REFILLED;
    let (fills, keys) = if refilled { (FILLED.div_ceil(size.n), size.n) } else { (1, PORTION) };
    let (share, rounds) = shares(keys, threads);
    let keys = share * (threads * rounds) as u64;
    let from = if refilled { 0 } else { held };
    let mut times = Vec::new();
    for _ in 0..fills {
        if refilled {
            subject.clear();
        }
        let time = insert_shared(subject.filter()?, from, keys, threads, size.form);
        times.push(each(time, share * threads as u64));
    }
    Some((median(&times), from + keys))
}

/// The times of one filter, or of the limit, for each operation: with one thread, and with several.
type Times = [[Vec<f64>; 2]; 3];

/// Compares one thread with several, at one size, and prints a table.
///
/// # Errors
/// Says so if there is no memory.
pub fn compare(
    size: Size,
    effort: &Effort,
    mut subjects: Vec<Box<dyn Subject>>,
    threads: usize,
) -> Result<Vec<Record>, String> {
    let Size { n, form, .. } = size;
    // Insertions into large filters end with n keys.
    let base = if n <= REFILLED { n } else { n - 2 * effort.repetitions as u64 * PORTION };
    build(&mut subjects, form, 0, |subject| (0, if subject.filter().is_some() { base } else { n }));
    let mut held: Vec<u64> = subjects.iter().map(|s| if s.filter().is_some() { base } else { n }).collect();
    let limit = Limit::new((size.bits() / 8) as usize)?;
    let mut floor = Times::default();
    let mut times: Vec<Times> = subjects.iter().map(|_| Times::default()).collect();
    let ways = [1, threads];
    for _ in 0..effort.repetitions {
        for (way, threads) in ways.into_iter().enumerate() {
            floor[Operation::Insert as usize][way].push(lines(&limit, threads, Limit::read_modify_write));
            floor[Operation::Hit as usize][way].push(lines(&limit, threads, Limit::read));
            for ((subject, times), held) in subjects.iter_mut().zip(&mut times).zip(&mut held) {
                if let Some((time, now)) = shared_insertions(&mut **subject, &size, *held, threads) {
                    times[Operation::Insert as usize][way].push(time);
                    *held = now;
                }
                for operation in [Operation::Hit, Operation::Miss] {
                    times[operation as usize][way].push(lookups(&**subject, operation, *held, threads, form));
                }
            }
        }
    }
    floor[Operation::Miss as usize] = floor[Operation::Hit as usize].clone();

    let gain = |ways: &[Vec<f64>; 2]| {
        let [one, several] = [median(&ways[0]), median(&ways[1])];
        if one.is_nan() { "-".to_owned() } else { format!("{} ({:.2})", figure(several), one / several) }
    };
    let print = |name: &str, kernel: &str, times: &Times| {
        println!("{name:<12} {kernel:<9} {:>16} {:>16} {:>16}", gain(&times[0]), gain(&times[1]), gain(&times[2]));
    };
    println!("\nn = {}, {} keys, {threads} threads: ns a key of all threads (speed-up)", count(n), form.name());
    println!("{:<12} {:<9} {:>16} {:>16} {:>16}", "filter", "kernel", "shared insert", "hit", "miss");
    print("limit", "", &floor);
    let mut records = Vec::new();
    for (subject, times) in subjects.iter().zip(&times) {
        print(subject.name(), subject.kernel(), times);
        let fpr = rate(&**subject, form);
        for (way, threads) in ways.into_iter().enumerate() {
            let [insert, read, _] = [0, 1, 2].map(|operation| median(&floor[operation][way]));
            let floor = Floor { read, read_modify_write: insert, hash: f64::NAN };
            for operation in Operation::ALL {
                let [one, ns] = [0, way].map(|way| median(&times[operation as usize][way]));
                let (batch, shared) = (subject.has_batches(), operation == Operation::Insert);
                // Lookups with one thread are part of the other comparison.
                if !ns.is_nan() && (threads > 1 || shared) {
                    let speed_up = Some(one / ns);
                    let found = Found { operation, batch, fpr, ns, threads, shared, speed_up };
                    records.push(record(&size, &**subject, &floor, found));
                }
            }
        }
    }
    Ok(records)
}

/// The false-positive rate of a million lookups.
fn rate(subject: &dyn Subject, form: Form) -> f64 {
    let (mut buffer, mut random, mut answers) = (Buffer::new(form), Random::new(3), vec![0; BUFFER]);
    let mut positives = 0;
    for _ in 0..128 {
        buffer.absent(&mut random);
        positives += subject.contains(&buffer, subject.has_batches(), &mut answers);
    }
    positives as f64 / (128 * BUFFER) as f64
}
