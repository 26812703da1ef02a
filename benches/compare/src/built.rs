//! Filters that are built from all of their keys: Petal's static kinds compared with xorf and sux. Fingerprints have r
//! bits, and kinds without fingerprints get the rate 2^-r.
//!
//! A build is timed as a whole, from `u64` keys in memory to the filter, so hashing and sorting are part of it. Builds
//! take turns on one thread, and so do lookups in buffers of keys. Each figure is the median.
//!
//! A kind whose parameters change its cost occurs once with each setting of interest.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure, percent};
use crate::static_peers::{LIBRARIES, Library, Static};
use crate::subject::one_by_one;
use petal::registry::FILTERS;
use petal::{Answers, Builder, BuilderOptions, Filter, Image, Row, Spec};
use serde::Serialize;
use std::fs;

/// The numbers of bits r that are compared.
const BITS: [u32; 2] = [8, 16];

/// From this number of keys on one build is enough.
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
    /// The bytes that the build adds to the memory of the process at its height, for each key. The number is 0 where
    /// the system does not tell.
    peak_bytes: f64,
    /// Nanoseconds for each present key, in batches where the library has them.
    hit_ns: f64,
    /// Nanoseconds for each absent key.
    miss_ns: f64,
    /// Nanoseconds for each present key, with one call a key.
    single_hit_ns: f64,
    /// Nanoseconds for each absent key, with one call a key.
    single_miss_ns: f64,
    /// Nanoseconds for each random line of memory as large as the filter.
    line_ns: f64,
}

/// A filter that was built.
enum Built {
    Petal(Filter),
    Other(Box<dyn Static>),
}

/// The maker of a filter.
#[derive(Clone, Copy)]
enum Maker {
    Petal(&'static Row),
    Other(&'static Library),
}

/// The way to build a filter.
#[derive(Clone, Copy)]
struct Contender {
    maker: Maker,
    /// A parameter that differs from its default, by name.
    setting: Option<(&'static str, f64)>,
    bits: u32,
}

/// The kinds that are measured a second time, with one parameter set.
const SET: [(&str, &str, f64); 1] = [("ribbon", "ribbon_width", 128.0)];

impl Contender {
    fn all(wants: &dyn Fn(&str) -> bool) -> Vec<Contender> {
        let mut all = Vec::new();
        for bits in BITS {
            for row in FILTERS.iter().filter(|row| !row.is_made_empty() && wants(row.name)) {
                let set = SET.into_iter().filter(|(kind, ..)| *kind == row.name).map(|(_, name, value)| (name, value));
                let settings = [None].into_iter().chain(set.map(Some));
                all.extend(settings.map(|setting| Contender { maker: Maker::Petal(row), setting, bits }));
            }
            for library in LIBRARIES.iter().filter(|library| wants(library.name)) {
                all.push(Contender { maker: Maker::Other(library), setting: None, bits });
            }
        }
        all
    }

    fn name(&self) -> String {
        let setting = self.setting.map_or(String::new(), |(name, value)| format!(", {name} {value}"));
        let name = match self.maker {
            Maker::Petal(row) => row.name,
            Maker::Other(library) => library.name,
        };
        format!("{name} {}{setting}", self.bits)
    }

    fn build(&self, keys: &[u64]) -> Result<Built, String> {
        let failure = |error: &dyn std::fmt::Display| format!("{}: {error}", self.name());
        let row = match self.maker {
            Maker::Petal(row) => row,
            Maker::Other(library) => {
                return (library.build)(keys, self.bits).map(Built::Other).map_err(|error| failure(&error));
            }
        };
        let failure = |error| failure(&error);
        // At a rate of 2^-r fingerprints would get one more bit, because equal hashes add to the rate.
        let takes_bits = row.parameters.iter().any(|parameter| parameter.name == "fingerprint_bits");
        let false_positive_rate = if takes_bits { 0.0 } else { (-f64::from(self.bits)).exp2() };
        let mut spec = Spec { kind: Some(row.kind), false_positive_rate, ..Spec::default() };
        for parameter in row.parameters {
            if parameter.name == "fingerprint_bits" {
                spec.set(parameter, self.bits.into()).map_err(failure)?;
            }
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
            Built::Other(filter) => filter.bits(),
        }
    }

    /// Looks up the keys of a buffer, and returns how many were found.
    fn contains(&self, keys: &Buffer, answers: &mut [u8]) -> u64 {
        match self {
            Built::Petal(filter) => {
                let answers = &mut Answers { bytes: Some(&mut answers[..keys.len()]), ..Answers::default() };
                filter.contains_batch(&keys.keys(), answers).expect("keys can be looked up");
                answers.true_count
            }
            Built::Other(_) => self.contains_one_by_one(keys, answers),
        }
    }

    /// Looks up the keys of a buffer with one call each, and returns how many were found.
    fn contains_one_by_one(&self, keys: &Buffer, answers: &mut [u8]) -> u64 {
        match self {
            Built::Petal(filter) => one_by_one(keys.numbers().iter(), answers, |key| filter.contains_u64(*key)),
            Built::Other(filter) => filter.contains(keys.numbers(), answers),
        }
    }
}

/// The keys from which filters are built.
pub fn keys_of(n: u64, buffer: &mut Buffer) -> Vec<u64> {
    let mut keys = Vec::with_capacity(n as usize);
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        keys.extend_from_slice(buffer.numbers());
    }
    keys
}

/// The memory of the process in bytes: now (`VmRSS`), or at most since [`forget_peak`] (`VmHWM`).
fn memory(name: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? * 1024.0)
}

/// Begins a new peak, where the system can.
fn forget_peak() -> Option<()> {
    fs::write("/proc/self/clear_refs", "5").ok()
}

/// The time of a random read of a line, in memory of this number of bytes.
fn limit(bytes: u64, effort: &Effort, random: &mut Random) -> Result<f64, String> {
    let limit = Limit::new(bytes as usize)?;
    let mut least = f64::INFINITY;
    for ahead in RINGS {
        let mut times = Vec::new();
        for _ in 0..effort.repetitions {
            let draw = |order: &mut Vec<u32>| limit.order(order, random);
            times.push(turn(effort, &mut Vec::new(), draw, |order| limit.read(order, ahead)));
        }
        least = least.min(median(&times));
    }
    Ok(least)
}

/// Builds the chosen filters with `n` keys, and looks keys up.
///
/// # Errors
/// Says so if a filter cannot be built, or lost a key.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let mut buffer = Buffer::new(Form::U64);
    let keys = keys_of(n, &mut buffer);
    let contenders = Contender::all(wants);
    let repetitions = if n < LONG { effort.repetitions } else { 1 };
    let (mut built, mut peaks): (Vec<Built>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut builds = vec![Vec::new(); contenders.len()];
    for repetition in 0..repetitions {
        for (contender, times) in contenders.iter().zip(&mut builds) {
            let mut filter = Err(String::new());
            let before = if repetition == 0 { forget_peak().and_then(|()| memory("VmRSS")) } else { None };
            times.push(each(timed(|| filter = contender.build(&keys)), n));
            let filter = filter?;
            if repetition == 0 {
                let peak = before.and_then(|before| Some(memory("VmHWM")? - before));
                peaks.push(peak.unwrap_or(0.0) / n as f64);
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
    let mut records = Vec::new();
    for (i, contender) in contenders.iter().enumerate() {
        records.push(Record {
            filter: contender.name(),
            n,
            bits_per_key: built[i].bits() as f64 / n as f64,
            fpr: positives[i].0 as f64 / positives[i].1 as f64,
            build_ns: median(&builds[i]),
            peak_bytes: peaks[i],
            hit_ns: median(&lookups[i][0]),
            miss_ns: median(&lookups[i][1]),
            single_hit_ns: median(&lookups[i][2]),
            single_miss_ns: median(&lookups[i][3]),
            line_ns: limit(built[i].bits() / 8, effort, &mut random)?,
        });
    }
    Ok(records)
}

/// The table of one comparison.
pub fn print(n: u64, records: &[Record]) {
    println!("\nbuilt from all keys at once: n = {}, u64 keys", count(n));
    println!(
        "{:<27} {:>8} {:>8} {:>9} {:>10} {:>7} {:>7}   {:>17} {:>7}",
        "filter", "bits/key", "FPR %", "build, ns", "peak bytes", "hit", "miss", "one by one", "line"
    );
    for record in records {
        println!(
            "{:<27} {:>8.3} {:>8} {:>9} {:>10} {:>7} {:>7}   {:>8} {:>8} {:>7}",
            record.filter,
            record.bits_per_key,
            percent(record.fpr),
            figure(record.build_ns),
            figure(record.peak_bytes),
            figure(record.hit_ns),
            figure(record.miss_ns),
            figure(record.single_hit_ns),
            figure(record.single_miss_ns),
            figure(record.line_ns)
        );
    }
}
