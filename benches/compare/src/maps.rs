//! Maps that are built from all of their keys, once with each solver: builds, and lookups in batches and by single
//! calls.

use crate::built::keys_of;
use crate::keys::{BUFFER, Buffer, Form, Random, mix};
use crate::measure::{Effort, each, median, timed, turn};
use crate::report::{count, figure};
use petal::registry::MAPS;
use petal::{Answers, BuilderOptions, Image, Map, MapBuilder, Row, Spec, Structure};
use serde::Serialize;

/// The bits of a value, and the check bits of maps that have any.
const BITS: u32 = 8;

/// From this number of keys on the benchmark builds only once.
const LONG: u64 = 50_000_000;

/// The figures of one map.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The kind and its solver.
    map: String,
    /// Keys.
    n: u64,
    /// Bits of payload for each key.
    bits_per_key: f64,
    /// Nanoseconds of the build for each key.
    build_ns: f64,
    /// Nanoseconds for each present key, in batches.
    get_ns: f64,
    /// Nanoseconds for each present key, with one call a key.
    single_get_ns: f64,
}

/// The way to build a map.
struct Contender {
    row: &'static Row,
    /// The number of the solver, where the kind has a choice.
    solver: Option<usize>,
}

impl Contender {
    /// The kinds of map that are built: once with each solver that the kind has.
    fn all(wants: &dyn Fn(&str) -> bool) -> Vec<Contender> {
        let mut all = Vec::new();
        for row in MAPS.iter().filter(|row| matches!(row.structure, Structure::StaticMap { .. }) && wants(row.name)) {
            let solvers = row.parameters.iter().find(|parameter| parameter.name == "solver");
            match solvers.map(|solvers| solvers.domain) {
                Some(petal::Domain::Choice(names)) => {
                    all.extend((0..names.len()).map(|solver| Contender { row, solver: Some(solver) }));
                }
                _ => all.push(Contender { row, solver: None }),
            }
        }
        all
    }

    fn spec(&self) -> petal::Result<(Spec, String)> {
        let mut spec = Spec { kind: Some(self.row.kind), ..Spec::default() };
        let mut name = self.row.name.to_owned();
        for parameter in self.row.parameters {
            match (parameter.name, self.solver, parameter.domain) {
                ("value_bits" | "check_bits", ..) => spec.set(parameter, BITS.into())?,
                ("solver", Some(solver), petal::Domain::Choice(names)) => {
                    spec.set(parameter, solver as f64)?;
                    name = format!("{name}, {}", names[solver]);
                }
                _ => {}
            }
        }
        Ok((spec, name))
    }

    fn build(&self, keys: &[u64], values: &[u64]) -> petal::Result<Map> {
        let mut builder = MapBuilder::new(&self.spec()?.0, BuilderOptions::default())?;
        builder.put_batch(&petal::Keys::U64(keys), values).outcome?;
        builder.finish()
    }
}

/// The value of a key.
fn value(key: u64) -> u64 {
    mix(key) >> (64 - BITS)
}

/// Builds the chosen maps with `n` keys, and looks up keys.
///
/// # Errors
/// Says so if a map cannot be built, or gives a key a wrong value.
pub fn compare(n: u64, effort: &Effort, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Record>, String> {
    let mut buffer = Buffer::new(Form::U64);
    let keys = keys_of(n, &mut buffer);
    let of_keys: Vec<u64> = keys.iter().map(|key| value(*key)).collect();
    let contenders = Contender::all(wants);
    let repetitions = if n < LONG { effort.repetitions } else { 1 };
    let (mut built, mut builds) = (Vec::new(), vec![Vec::new(); contenders.len()]);
    for repetition in 0..repetitions {
        for (contender, times) in contenders.iter().zip(&mut builds) {
            let mut map = Err(petal::Status::Internal.into());
            times.push(each(timed(|| map = contender.build(&keys, &of_keys)), n));
            let map = map.map_err(|error| format!("{}: {error}", contender.row.name))?;
            if repetition == 0 {
                built.push(map);
            }
        }
    }
    let (mut random, mut values) = (Random::new(n), vec![0; BUFFER]);
    let mut gets = vec![[Vec::new(), Vec::new()]; contenders.len()];
    for _ in 0..effort.repetitions {
        for (i, map) in built.iter().enumerate() {
            for (of, times) in gets[i].iter_mut().enumerate() {
                let mut wrong = 0;
                let prepare = |buffer: &mut Buffer| buffer.present(0, n, &mut random);
                times.push(turn(effort, &mut buffer, prepare, |buffer| {
                    if of == 0 {
                        let answers = &mut Answers { values: Some(&mut values), ..Answers::default() };
                        map.get_batch(&buffer.keys(), answers).expect("keys can be looked up");
                        wrong += buffer.len() as u64 - answers.true_count;
                    } else {
                        for (value, key) in values.iter_mut().zip(buffer.numbers()) {
                            *value = map.get_u64(*key).ok().flatten().unwrap_or(u64::MAX);
                        }
                    }
                }));
                let last = buffer.numbers().iter().zip(&values);
                wrong += last.filter(|(key, found)| value(**key) != **found).count() as u64;
                if wrong > 0 {
                    return Err(format!("{} lost a value", contenders[i].row.name));
                }
            }
        }
    }
    let record = |(i, contender): (usize, &Contender)| {
        Ok(Record {
            map: contender.spec().map_err(|error| error.to_string())?.1,
            n,
            bits_per_key: (built[i].base().geometry().payload_bytes * 8) as f64 / n as f64,
            build_ns: median(&builds[i]),
            get_ns: median(&gets[i][0]),
            single_get_ns: median(&gets[i][1]),
        })
    };
    contenders.iter().enumerate().map(record).collect()
}

/// The table of one comparison.
pub fn print(n: u64, records: &[Record]) {
    println!("\nmaps built from all keys at once: n = {}, u64 keys, values and checks of {BITS} bits", count(n));
    println!("{:<20} {:>8} {:>9} {:>7} {:>10}", "map", "bits/key", "build, ns", "get", "one by one");
    for record in records {
        println!(
            "{:<20} {:>8.3} {:>9} {:>7} {:>10}",
            record.map,
            record.bits_per_key,
            figure(record.build_ns),
            figure(record.get_ns),
            figure(record.single_get_ns)
        );
    }
}
