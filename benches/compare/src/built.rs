//! Filters that are built from all of their keys: Petal's static kinds beside xorf, for rates of 2^-r.
//!
//! A build is timed as a whole, from `u64` keys in memory to the filter: hashing and sorting are part of it. Builds
//! take turns, on one thread; so do lookups in buffers of keys, and each figure is the median.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure, percent};
use crate::subject::one_by_one;
use petal::registry::FILTERS;
use petal::{Answers, Builder, BuilderOptions, Filter, Image, Row, Spec};
use serde::Serialize;
use xorf::{BinaryFuse8, BinaryFuse16, Filter as _};

/// The numbers of bits r, of xorf's fingerprints, that are compared.
const BITS: [u32; 2] = [8, 16];

/// From so many keys on one build is enough.
const LONG: u64 = 50_000_000;

/// The figures of one filter.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The filter: a kind of Petal's, or another library's.
    filter: String,
    /// Keys.
    n: u64,
    /// Bits of payload for each key.
    bits_per_key: f64,
    /// The measured false-positive rate, a fraction.
    fpr: f64,
    /// Nanoseconds of the build for each key.
    build_ns: f64,
    /// Nanoseconds for each key that is there, in batches where the library has them.
    hit_ns: f64,
    /// Nanoseconds for each key that is not there.
    miss_ns: f64,
}

/// A filter that was built.
enum Built {
    Petal(Filter),
    Xorf8(BinaryFuse8),
    Xorf16(BinaryFuse16),
}

/// How one is built.
#[derive(Clone, Copy)]
struct Contender {
    /// `None` is xorf.
    petal: Option<&'static Row>,
    bits: u32,
}

impl Contender {
    fn all() -> impl Iterator<Item = Contender> {
        let built = || FILTERS.iter().filter(|row| !row.is_made_empty()).map(Some).chain([None]);
        BITS.into_iter().flat_map(move |bits| built().map(move |petal| Contender { petal, bits }))
    }

    fn name(&self) -> String {
        format!("{} {}", self.petal.map_or("xorf", |row| row.name), self.bits)
    }

    fn build(&self, keys: &[u64]) -> Result<Built, String> {
        let failure = |error: &dyn std::fmt::Display| format!("{}: {error}", self.name());
        let Some(row) = self.petal else {
            let failure = |error| failure(&error);
            return match self.bits {
                8 => BinaryFuse8::try_from(keys).map(Built::Xorf8).map_err(failure),
                _ => BinaryFuse16::try_from(keys).map(Built::Xorf16).map_err(failure),
            };
        };
        let failure = |error| failure(&error);
        let false_positive_rate = (-f64::from(self.bits)).exp2();
        let spec = Spec { kind: Some(row.kind), false_positive_rate, ..Spec::default() };
        let mut builder = Builder::new(&spec, BuilderOptions::default()).map_err(failure)?;
        builder.add_batch(&petal::Keys::U64(keys)).outcome.map_err(failure)?;
        builder.finish().map(Built::Petal).map_err(failure)
    }
}

impl Built {
    fn bits(&self) -> u64 {
        match self {
            Built::Petal(filter) => filter.base().geometry().payload_bytes * 8,
            Built::Xorf8(filter) => filter.len() as u64 * 8,
            Built::Xorf16(filter) => filter.len() as u64 * 16,
        }
    }

    /// Looks the keys of a buffer up; how many were found.
    fn contains(&self, keys: &Buffer, answers: &mut [u8]) -> u64 {
        match self {
            Built::Petal(filter) => {
                let answers = &mut Answers { bytes: Some(&mut answers[..keys.len()]), ..Answers::default() };
                filter.contains_batch(&keys.keys(), answers).expect("keys can be looked up");
                answers.true_count
            }
            Built::Xorf8(filter) => one_by_one(keys.numbers().iter(), answers, |key| filter.contains(key)),
            Built::Xorf16(filter) => one_by_one(keys.numbers().iter(), answers, |key| filter.contains(key)),
        }
    }
}

/// Builds and asks all of them, with so many keys.
///
/// # Errors
/// Says so if one cannot be built, or lost a key.
pub fn compare(n: u64, effort: &Effort) -> Result<Vec<Record>, String> {
    let (mut keys, mut buffer) = (Vec::with_capacity(n as usize), Buffer::new(Form::U64));
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        keys.extend_from_slice(buffer.numbers());
    }
    let contenders: Vec<Contender> = Contender::all().collect();
    let repetitions = if n < LONG { effort.repetitions } else { 1 };
    let mut built: Vec<Built> = Vec::new();
    let mut builds = vec![Vec::new(); contenders.len()];
    for repetition in 0..repetitions {
        for (contender, times) in contenders.iter().zip(&mut builds) {
            let mut filter = Err(String::new());
            times.push(each(timed(|| filter = contender.build(&keys)), n));
            let filter = filter?;
            if repetition == 0 {
                built.push(filter);
            }
        }
    }
    let (mut random, mut answers) = (Random::new(n), vec![0; BUFFER]);
    let mut lookups = vec![[Vec::new(), Vec::new()]; contenders.len()];
    let mut positives = vec![(0, 0); contenders.len()];
    for _ in 0..effort.repetitions {
        for (i, filter) in built.iter().enumerate() {
            for (of, times) in lookups[i].iter_mut().enumerate() {
                let (mut found, mut asked) = (0, 0);
                let prepare = |buffer: &mut Buffer| match of {
                    0 => buffer.present(0, n, &mut random),
                    _ => buffer.absent(&mut random),
                };
                times.push(turn(effort, &mut buffer, prepare, |buffer| {
                    found += filter.contains(buffer, &mut answers);
                    asked += buffer.len() as u64;
                }));
                match of {
                    0 if found != asked => return Err(format!("{} lost a key", contenders[i].name())),
                    0 => {}
                    _ => positives[i] = (positives[i].0 + found, positives[i].1 + asked),
                }
            }
        }
    }
    let record = |(i, contender): (usize, &Contender)| Record {
        filter: contender.name(),
        n,
        bits_per_key: built[i].bits() as f64 / n as f64,
        fpr: positives[i].0 as f64 / positives[i].1 as f64,
        build_ns: median(&builds[i]),
        hit_ns: median(&lookups[i][0]),
        miss_ns: median(&lookups[i][1]),
    };
    Ok(contenders.iter().enumerate().map(record).collect())
}

/// The table of one comparison.
pub fn print(n: u64, records: &[Record]) {
    println!("\nbuilt from all keys at once: n = {}, u64 keys", count(n));
    println!("{:<12} {:>8} {:>8} {:>9} {:>7} {:>7}", "filter", "bits/key", "FPR %", "build, ns", "hit", "miss");
    for record in records {
        println!(
            "{:<12} {:>8.3} {:>8} {:>9} {:>7} {:>7}",
            record.filter,
            record.bits_per_key,
            percent(record.fpr),
            figure(record.build_ns),
            figure(record.hit_ns),
            figure(record.miss_ns)
        );
    }
}
