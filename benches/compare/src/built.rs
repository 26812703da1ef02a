//! Filters that are built from all of their keys: Petal's static kinds beside xorf, for rates of 2^-r.
//!
//! A build is timed as a whole, from `u64` keys in memory to the filter: hashing and sorting are part of it. Builds
//! take turns, on one thread; so do lookups in buffers of keys, and each figure is the median.
//!
//! Kinds whose parameters change what they cost stand there once for each way of theirs that is of interest.

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
    /// Nanoseconds for each key that is there, one call a key.
    single_hit_ns: f64,
    /// Nanoseconds for each key that is not there, one call a key.
    single_miss_ns: f64,
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
    /// A parameter of the kind that has not its default, by name.
    setting: Option<(&'static str, f64)>,
    bits: u32,
}

/// The kinds that are measured a second time, with a parameter of theirs set.
const SET: [(&str, &str, f64); 1] = [("ribbon", "ribbon_width", 128.0)];

impl Contender {
    fn all(wants: &dyn Fn(&str) -> bool) -> Vec<Contender> {
        let mut all = Vec::new();
        for bits in BITS {
            for row in FILTERS.iter().filter(|row| !row.is_made_empty() && wants(row.name)) {
                let set = SET.into_iter().filter(|(kind, ..)| *kind == row.name).map(|(_, name, value)| (name, value));
                let settings = [None].into_iter().chain(set.map(Some));
                all.extend(settings.map(|setting| Contender { petal: Some(row), setting, bits }));
            }
            all.extend(wants("xorf").then_some(Contender { petal: None, setting: None, bits }));
        }
        all
    }

    fn name(&self) -> String {
        let setting = self.setting.map_or(String::new(), |(name, value)| format!(", {name} {value}"));
        format!("{} {}{setting}", self.petal.map_or("xorf", |row| row.name), self.bits)
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
        let mut spec = Spec { kind: Some(row.kind), false_positive_rate, ..Spec::default() };
        for parameter in row.parameters {
            if let Some((_, value)) = self.setting.filter(|(name, _)| *name == parameter.name) {
                spec.set(parameter, value).map_err(failure)?;
            }
        }
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
            Built::Xorf8(_) | Built::Xorf16(_) => self.contains_one_by_one(keys, answers),
        }
    }

    /// Looks the keys of a buffer up, one call each; how many were found.
    fn contains_one_by_one(&self, keys: &Buffer, answers: &mut [u8]) -> u64 {
        let keys = keys.numbers().iter();
        match self {
            Built::Petal(filter) => one_by_one(keys, answers, |key| filter.contains_u64(*key)),
            Built::Xorf8(filter) => one_by_one(keys, answers, |key| filter.contains(key)),
            Built::Xorf16(filter) => one_by_one(keys, answers, |key| filter.contains(key)),
        }
    }
}

/// The keys that filters are built of.
pub fn keys_of(n: u64, buffer: &mut Buffer) -> Vec<u64> {
    let mut keys = Vec::with_capacity(n as usize);
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        keys.extend_from_slice(buffer.numbers());
    }
    keys
}

/// Builds and asks all of them that are wanted, with so many keys.
///
/// # Errors
/// Says so if one cannot be built, or lost a key.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let mut buffer = Buffer::new(Form::U64);
    let keys = keys_of(n, &mut buffer);
    let contenders = Contender::all(wants);
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
    let mut lookups = vec![[const { Vec::new() }; 4]; contenders.len()];
    let mut positives = vec![(0, 0); contenders.len()];
    for _ in 0..effort.repetitions {
        for (i, filter) in built.iter().enumerate() {
            for (of, times) in lookups[i].iter_mut().enumerate() {
                let (is_batch, is_there) = (of < 2, of % 2 == 0);
                let (mut found, mut asked) = (0, 0);
                let prepare = |buffer: &mut Buffer| match is_there {
                    true => buffer.present(0, n, &mut random),
                    false => buffer.absent(&mut random),
                };
                times.push(turn(effort, &mut buffer, prepare, |buffer| {
                    found += match is_batch {
                        true => filter.contains(buffer, &mut answers),
                        false => filter.contains_one_by_one(buffer, &mut answers),
                    };
                    asked += buffer.len() as u64;
                }));
                match is_there {
                    true if found != asked => return Err(format!("{} lost a key", contenders[i].name())),
                    true => {}
                    false => positives[i] = (positives[i].0 + found, positives[i].1 + asked),
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
        single_hit_ns: median(&lookups[i][2]),
        single_miss_ns: median(&lookups[i][3]),
    };
    Ok(contenders.iter().enumerate().map(record).collect())
}

/// The table of one comparison.
pub fn print(n: u64, records: &[Record]) {
    println!("\nbuilt from all keys at once: n = {}, u64 keys", count(n));
    println!(
        "{:<27} {:>8} {:>8} {:>9} {:>7} {:>7}   {:>17}",
        "filter", "bits/key", "FPR %", "build, ns", "hit", "miss", "one by one"
    );
    for record in records {
        println!(
            "{:<27} {:>8.3} {:>8} {:>9} {:>7} {:>7}   {:>8} {:>8}",
            record.filter,
            record.bits_per_key,
            percent(record.fpr),
            figure(record.build_ns),
            figure(record.hit_ns),
            figure(record.miss_ns),
            figure(record.single_hit_ns),
            figure(record.single_miss_ns)
        );
    }
}
