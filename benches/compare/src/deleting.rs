//! Filters that keys are removed from: the kinds `cuckoo` and `quotient`, filled to 95 % of their slots, compared with
//! other libraries' cuckoo filters. Kinds that are made for a number of keys get the same number. The limit is two
//! lines a key.
//!
//! All tables have a power of two of slots, because the other libraries need one. Buckets of cuckoo filters have four
//! slots. The other libraries get foldhash where they let the caller choose. `cuckoofilter` has fingerprints of a byte
//! and no others. Remainders of 9 bits give `quotient` the rate of `cuckoo` with fingerprints of 12 bits.

use crate::keys::{BUFFER, Buffer, Form, Random};
use crate::limit::{Limit, RINGS};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure, percent};
use crate::subject::one_by_one;
use cuckoofilter::CuckooFilter;
use foldhash::fast::{FixedState, FoldHasher};
use petal::kinds::counting::{self, LAYOUT};
use petal::kinds::cuckoo::{self, FINGERPRINT_BITS, SEMI_SORT};
use petal::kinds::quotient::{self, REMAINDER_BITS};
use petal::kinds::vector_quotient::{self, TAG_BITS};
use petal::kinds::{d_left, spectral};
use petal::{Answers, Capabilities, Filter, Image, Parameter, Row, Spec};
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use serde::Serialize;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// The share of the slots that is filled.
const LOAD: f64 = 0.95;

/// From this number of keys on a table is filled once. Tables of counters would take gigabytes and are left out.
const LONG: u64 = 50_000_000;

/// The kinds that have counters.
const COUNTERS: [&str; 2] = ["counting", "spectral"];

/// foldhash, with the same key for all filters.
#[derive(Clone)]
struct Fold(FoldHasher<'static>);

impl Default for Fold {
    fn default() -> Fold {
        Fold(FixedState::default().build_hasher())
    }
}

impl Hasher for Fold {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

enum Table {
    Petal { filter: Box<Filter>, bits: u64, in_batches: bool },
    Cuckoofilter(CuckooFilter<Fold>),
    Scalable(ScalableCuckooFilter<u64, Fold>),
}

/// The names of the tables, each with a function that makes the table for a number of slots.
const TABLES: [(&str, fn(u64) -> Result<Table, String>); 18] = [
    ("cuckoo 12", |slots| cuckoo(slots, 12, false, true)),
    ("cuckoo 12, one by one", |slots| cuckoo(slots, 12, false, false)),
    ("cuckoo 8, one by one", |slots| cuckoo(slots, 8, false, false)),
    ("cuckoo 13, semi-sorted", |slots| cuckoo(slots, 13, true, true)),
    ("quotient 9", |slots| quotient(slots, 9, true)),
    ("quotient 9, one by one", |slots| quotient(slots, 9, false)),
    ("vector_quotient 8", |slots| by_rate(&vector_quotient::ROW, Some((&TAG_BITS, 8.0)), slots, true)),
    ("vector_quotient 8, one by one", |slots| by_rate(&vector_quotient::ROW, Some((&TAG_BITS, 8.0)), slots, false)),
    ("vector_quotient 16", |slots| by_rate(&vector_quotient::ROW, Some((&TAG_BITS, 16.0)), slots, true)),
    ("d_left", |slots| by_rate(&d_left::ROW, None, slots, true)),
    ("d_left, one by one", |slots| by_rate(&d_left::ROW, None, slots, false)),
    ("spectral", |slots| by_rate(&spectral::ROW, None, slots, true)),
    ("spectral, one by one", |slots| by_rate(&spectral::ROW, None, slots, false)),
    ("counting", |slots| by_rate(&counting::ROW, None, slots, true)),
    ("counting, blocked", |slots| by_rate(&counting::ROW, Some((&LAYOUT, 1.0)), slots, true)),
    ("counting, blocked, one by one", |slots| by_rate(&counting::ROW, Some((&LAYOUT, 1.0)), slots, false)),
    ("cuckoofilter 8", |slots| Ok(Table::Cuckoofilter(CuckooFilter::with_capacity(slots as usize)))),
    ("scalable_cuckoo_filter 12", |slots| {
        let builder = ScalableCuckooFilterBuilder::new().initial_capacity(slots as usize).hasher(Fold::default());
        // The rate gives fingerprints of 12 bits.
        Ok(Table::Scalable(builder.false_positive_probability(0.00195).finish()))
    }),
];

fn cuckoo(slots: u64, width: u32, is_sorted: bool, in_batches: bool) -> Result<Table, String> {
    let bits = slots * u64::from(width - u32::from(is_sorted));
    let mut spec = Spec { kind: Some(cuckoo::ROW.kind), bits, ..Spec::default() };
    let set = spec.set(&FINGERPRINT_BITS, width.into()).and_then(|()| spec.set(&SEMI_SORT, is_sorted.into()));
    petal(set.map(|()| spec), in_batches)
}

fn quotient(slots: u64, remainder_bits: u32, in_batches: bool) -> Result<Table, String> {
    let mut spec = Spec { kind: Some(quotient::ROW.kind), capacity: keys_in(slots), ..Spec::default() };
    petal(spec.set(&REMAINDER_BITS, remainder_bits.into()).map(|()| spec), in_batches)
}

/// The rate of the kinds that are made for a number of keys, and not of slots. The rate is about that of cuckoo filters
/// with fingerprints of 12 bits. `vector_quotient` takes the rate of its tags.
const RATE: f64 = 0.0019;

fn by_rate(row: &Row, setting: Option<(&Parameter, f64)>, slots: u64, in_batches: bool) -> Result<Table, String> {
    let false_positive_rate = if row.kind == vector_quotient::ROW.kind { 0.01 } else { RATE };
    let mut spec = Spec { kind: Some(row.kind), capacity: keys_in(slots), false_positive_rate, ..Spec::default() };
    let set = setting.map_or(Ok(()), |(parameter, value)| spec.set(parameter, value));
    petal(set.map(|()| spec), in_batches)
}

fn petal(spec: petal::Result<Spec>, in_batches: bool) -> Result<Table, String> {
    let filter = spec.and_then(|spec| petal::Filter::new(&spec)).map_err(|error| error.to_string())?;
    let bits = filter.base().geometry().bits;
    Ok(Table::Petal { filter: Box::new(filter), bits, in_batches })
}

/// The number of keys that fill [`LOAD`] of this number of slots.
fn keys_in(slots: u64) -> u64 {
    (LOAD * slots as f64) as u64
}

impl Table {
    fn bits(&self) -> u64 {
        match self {
            Table::Petal { bits, .. } => *bits,
            Table::Cuckoofilter(filter) => filter.memory_usage() as u64 * 8,
            Table::Scalable(filter) => filter.bits(),
        }
    }

    fn insert(&mut self, keys: &Buffer) -> Result<(), String> {
        let numbers = keys.numbers();
        match self {
            Table::Petal { filter, in_batches: true, .. } => {
                filter.insert_batch(&keys.keys(), None).outcome.map_err(|error| error.to_string())
            }
            Table::Petal { filter, .. } => {
                numbers.iter().try_for_each(|key| filter.insert_u64(*key).map(drop)).map_err(|error| error.to_string())
            }
            Table::Cuckoofilter(filter) => {
                numbers.iter().try_for_each(|key| filter.add(key)).map_err(|error| error.to_string())
            }
            Table::Scalable(filter) => {
                numbers.iter().for_each(|key| filter.insert(key));
                Ok(())
            }
        }
    }

    /// Looks up the keys of a buffer, and returns how many were found.
    fn contains(&self, keys: &Buffer, answers: &mut [u8]) -> u64 {
        let numbers = keys.numbers().iter();
        match self {
            Table::Petal { filter, in_batches: true, .. } => {
                let answers = &mut Answers { bytes: Some(&mut answers[..keys.len()]), ..Answers::default() };
                filter.contains_batch(&keys.keys(), answers).expect("keys can be looked up");
                answers.true_count
            }
            Table::Petal { filter, .. } => one_by_one(numbers, answers, |key| filter.contains_u64(*key)),
            Table::Cuckoofilter(filter) => one_by_one(numbers, answers, |key| filter.contains(key)),
            Table::Scalable(filter) => one_by_one(numbers, answers, |key| filter.contains(key)),
        }
    }
}

/// The figures of one table.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The table: Petal's, or another library's.
    filter: String,
    /// Keys.
    n: u64,
    /// Bits of the table for each key.
    bits_per_key: f64,
    /// The measured false-positive rate, a fraction.
    fpr: f64,
    /// Nanoseconds of an insertion, the mean from the first to the last.
    insert_ns: f64,
    /// Nanoseconds for each present key.
    hit_ns: f64,
    /// Nanoseconds for each absent key.
    miss_ns: f64,
    /// Nanoseconds for each key of a merger of two tables, each of which has half of the keys. Tables that are merged
    /// entry by entry, or not at all, have none.
    merge_ns: Option<f64>,
    /// Nanoseconds for two random lines of memory as large as the table.
    limit_ns: f64,
}

/// Fills a table with `n` keys, and returns nanoseconds for each.
fn fill(table: &mut Table, n: u64, buffer: &mut Buffer) -> Result<f64, String> {
    let mut time = Duration::ZERO;
    for start in (0..n).step_by(BUFFER) {
        buffer.inserted(0, start, n.min(start + BUFFER as u64));
        let mut outcome = Ok(());
        time += timed(|| outcome = table.insert(buffer));
        outcome?;
    }
    Ok(each(time, n))
}

/// Fills two tables of a kind that lists its entries, each with half of `n` keys, and merges them. Returns nanoseconds
/// for each key.
fn merge(make: fn(u64) -> Result<Table, String>, n: u64, buffer: &mut Buffer) -> Result<Option<f64>, String> {
    let slots = n.next_power_of_two();
    let (mut filled, mut times) = (Vec::new(), Vec::new());
    for half in 0..2 {
        let Table::Petal { mut filter, in_batches: true, .. } = make(slots)? else { return Ok(None) };
        if !filter.base().row().capabilities.contains(Capabilities::ENUMERATE.with(Capabilities::MERGE)) {
            return Ok(None);
        }
        for start in (half * n / 2..(half + 1) * n / 2).step_by(BUFFER) {
            buffer.inserted(0, start, ((half + 1) * n / 2).min(start + BUFFER as u64));
            filter.insert_batch(&buffer.keys(), None).outcome.map_err(|error| error.to_string())?;
        }
        filled.push(filter);
    }
    for _ in 0..if n < LONG { 5 } else { 1 } {
        let mut merged = filled[0].copy().map_err(|error| error.to_string())?;
        let mut outcome = Ok(());
        times.push(each(timed(|| outcome = merged.merge(&filled[1])), n));
        outcome.map_err(|error| error.to_string())?;
    }
    Ok(Some(median(&times)))
}

/// Fills the chosen filters to 95 % of the next power of two of slots, and looks up keys.
///
/// # Errors
/// Says so if a filter refuses or lost a key, or if there is no memory.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let slots = n.next_power_of_two();
    let n = keys_in(slots);
    let wanted = |name: &str| {
        let kind = name.split([' ', ',']).next().unwrap_or_default();
        wants(kind) && (n < LONG || !COUNTERS.contains(&kind))
    };
    let tables: Vec<_> = TABLES.into_iter().filter(|(name, _)| wanted(name)).collect();
    let (mut buffer, mut filled) = (Buffer::new(Form::U64), Vec::new());
    let mut inserts = vec![Vec::new(); tables.len()];
    for repetition in 0..if n < LONG { effort.repetitions } else { 1 } {
        for ((name, make), times) in tables.iter().zip(&mut inserts) {
            let mut table = make(slots)?;
            times.push(fill(&mut table, n, &mut buffer).map_err(|error| format!("{name}: {error}"))?);
            if repetition == 0 {
                filled.push(table);
            }
        }
    }
    let (mut random, mut answers) = (Random::new(n), vec![0; BUFFER]);
    let limit = Limit::new((slots * 12 / 8) as usize)?;
    let (mut limits, mut lookups) = (vec![Vec::new(); RINGS.len()], vec![[const { Vec::new() }; 2]; tables.len()]);
    let mut positives = vec![(0, 0); tables.len()];
    for _ in 0..if tables.is_empty() { 0 } else { effort.repetitions } {
        for (times, ring) in limits.iter_mut().zip(RINGS) {
            let order = |order: &mut Vec<u32>| limit.order(order, &mut random);
            times.push(2.0 * turn(effort, &mut Vec::new(), order, |order| limit.read(order, ring)));
        }
        for (i, table) in filled.iter().enumerate() {
            for (of, times) in lookups[i].iter_mut().enumerate() {
                let (mut found, mut asked) = (0, 0);
                let prepare = |buffer: &mut Buffer| match of {
                    0 => buffer.present(0, n, &mut random),
                    _ => buffer.absent(&mut random),
                };
                times.push(turn(effort, &mut buffer, prepare, |buffer| {
                    found += table.contains(buffer, &mut answers);
                    asked += buffer.len() as u64;
                }));
                match of {
                    0 if found != asked => return Err(format!("{} lost a key", tables[i].0)),
                    0 => {}
                    _ => positives[i] = (positives[i].0 + found, positives[i].1 + asked),
                }
            }
        }
    }
    let limit_ns = limits.iter().map(|times| median(times)).fold(f64::INFINITY, f64::min);
    let mut merges = Vec::new();
    for (name, make) in &tables {
        merges.push(merge(*make, n, &mut buffer).map_err(|error| format!("{name}: {error}"))?);
    }
    let record = |(i, (name, _)): (usize, &(&str, _))| Record {
        filter: (*name).to_owned(),
        n,
        bits_per_key: filled[i].bits() as f64 / n as f64,
        fpr: positives[i].0 as f64 / positives[i].1 as f64,
        insert_ns: median(&inserts[i]),
        hit_ns: median(&lookups[i][0]),
        miss_ns: median(&lookups[i][1]),
        merge_ns: merges[i],
        limit_ns,
    };
    Ok(tables.iter().enumerate().map(record).collect())
}

/// The table of one comparison.
pub fn print(records: &[Record]) {
    let Some(Record { n, limit_ns, .. }) = records.first() else { return };
    println!("\nfilters that remove, tables filled to 95 %: n = {}, u64 keys", count(*n));
    println!("two lines of as large a table: {} ns", figure(*limit_ns));
    let [filter, bits, rate, insert, hit, miss, merge] =
        ["filter", "bits/key", "FPR %", "insert, ns", "hit", "miss", "merge"];
    println!("{filter:<30} {bits:>8} {rate:>8} {insert:>10} {hit:>7} {miss:>7} {merge:>7}");
    for record in records {
        println!(
            "{:<30} {:>8.2} {:>8} {:>10} {:>7} {:>7} {:>7}",
            record.filter,
            record.bits_per_key,
            percent(record.fpr),
            figure(record.insert_ns),
            figure(record.hit_ns),
            figure(record.miss_ns),
            record.merge_ns.map_or_else(|| "-".to_owned(), figure)
        );
    }
}
