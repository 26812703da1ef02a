//! `make bench-universes`: exact sets of Petal and of the crate clubcard over the same universes, in one run.
//!
//!     universes [KEYS...]
//!
//! For universes of KEYS keys (1e6 by default) and for some shares of members it prints the bits and the entropy, the
//! time to build for each key of the universe, and the time of a lookup of members and excluded keys. Petal's filters
//! are asked one by one and in batches, and a `ribbon` of the members is there for comparison. Builds and lookups of
//! all take turns on one thread; the figures are the best of them. Each answer is checked.

mod other;

use other::Other;
use petal::kinds::{exact_set, ribbon};
use petal::{Answers, Builder, BuilderOptions, Filter, Image, Keys, Spec};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// A share n means that one key in n of the universe is a member.
const SHARES: [u64; 4] = [2, 10, 100, 1000];

/// How often everything is measured.
const ROUNDS: usize = 5;

/// The most keys that are looked up in a round.
const LOOKUPS: usize = 1_000_000;

fn main() -> ExitCode {
    let sizes: Option<Vec<u64>> = std::env::args().skip(1).map(|size| Some(size.parse::<f64>().ok()? as u64)).collect();
    let Some(sizes) = sizes.filter(|sizes| sizes.iter().all(|size| *size >= 10_000)) else {
        eprintln!("usage: universes [KEYS...], of at least 1e4 keys each");
        return ExitCode::from(2);
    };
    println!(
        "{:<10} {:>9} {:>9} {:>8} {:>10} {:>9} {:>14} {:>14}",
        "filter", "universe", "members", "bits/", "of the", "build ns", "member ns", "excluded ns"
    );
    println!(
        "{:<10} {:>9} {:>9} {:>8} {:>10} {:>9} {:>14} {:>14}",
        "", "", "1 in", "member", "entropy", "a key", "one / batch", "one / batch"
    );
    for universe in if sizes.is_empty() { vec![1_000_000] } else { sizes } {
        for share in SHARES {
            compare(universe, share);
        }
    }
    ExitCode::SUCCESS
}

/// A filter that is compared.
trait Set {
    /// How many bits it takes.
    fn bits(&self) -> u64;

    /// How many of these keys are members, asked one by one.
    fn one_by_one(&self, keys: &[u64]) -> u64;

    /// How many of these keys are members, asked in one call. `None` if there is no such call.
    fn in_batch(&self, keys: &[u64]) -> Option<u64>;
}

impl Set for Filter {
    fn bits(&self) -> u64 {
        self.base().geometry().bits
    }

    fn one_by_one(&self, keys: &[u64]) -> u64 {
        keys.iter().filter(|key| self.contains_u64(**key)).count() as u64
    }

    fn in_batch(&self, keys: &[u64]) -> Option<u64> {
        let mut answers = Answers::default();
        self.contains_batch(&Keys::U64(keys), &mut answers).ok()?;
        Some(answers.true_count)
    }
}

/// Builds a filter.
type Maker<'a> = dyn Fn() -> Box<dyn Set> + 'a;

/// The figures of a filter: nanoseconds a key, the least that were measured.
struct Figures {
    build: f64,
    /// One by one and in batches, members and excluded keys.
    lookups: [[f64; 2]; 2],
}

fn compare(universe: u64, share: u64) {
    let keys: Vec<u64> = (0..universe).map(mixed).collect();
    let (members, excluded) = keys.split_at((universe / share) as usize);
    let entropy = exact_set::sizing::entropy(members.len() as u64, universe);
    let asked = [members, excluded].map(|keys| {
        let mut keys: Vec<u64> = keys.iter().copied().cycle().take(LOOKUPS).collect();
        keys.sort_unstable_by_key(|key| mixed(*key));
        keys
    });
    let makers: [(&str, &Maker); 3] = [
        ("exact_set", &|| build(exact_set::ROW.kind, members, excluded)),
        ("clubcard", &|| Box::new(Other::build(members, excluded))),
        ("ribbon", &|| build(ribbon::ROW.kind, members, &[])),
    ];
    let mut figures = makers.map(|_| Figures { build: f64::MAX, lookups: [[f64::MAX; 2]; 2] });
    let mut bits = [0; 3];
    for _ in 0..ROUNDS {
        for (i, (name, make)) in makers.iter().enumerate() {
            let start = Instant::now();
            let set = make();
            let built = nanoseconds(start, universe as usize);
            figures[i].build = figures[i].build.min(built);
            bits[i] = set.bits();
            for (side, keys) in asked.iter().enumerate() {
                let start = Instant::now();
                let found = black_box(set.one_by_one(keys));
                let one = nanoseconds(start, keys.len());
                let is_exact = *name != "ribbon" || side == 0;
                let expected = if side == 0 { keys.len() as u64 } else { 0 };
                assert!(!is_exact || found == expected, "{name}: {found} of {} keys", keys.len());
                let start = Instant::now();
                let in_batch = black_box(set.in_batch(keys));
                let many = if in_batch.is_some() { nanoseconds(start, keys.len()) } else { f64::NAN };
                assert!(
                    in_batch.is_none_or(|in_batch| in_batch == found),
                    "{name}: {in_batch:?} in a batch, not {found}"
                );
                let lookups = &mut figures[i].lookups[side];
                *lookups = [lookups[0].min(one), lookups[1].min(many)];
            }
        }
    }
    for ((name, _), (figures, bits)) in makers.iter().zip(figures.iter().zip(bits)) {
        let of_entropy = if *name == "ribbon" { "-".to_owned() } else { format!("{:.3}", bits as f64 / entropy) };
        let lookup = |[one, many]: [f64; 2]| match many {
            f64::MAX => format!("{one:.1} / -"),
            _ => format!("{one:.1} / {many:.1}"),
        };
        println!(
            "{name:<10} {:>9.0e} {share:>9} {:>8.3} {of_entropy:>10} {:>9.1} {:>14} {:>14}",
            universe as f64,
            bits as f64 / members.len() as f64,
            figures.build,
            lookup(figures.lookups[0]),
            lookup(figures.lookups[1])
        );
    }
}

/// A filter of Petal's.
fn build(kind: petal::KindId, members: &[u64], excluded: &[u64]) -> Box<dyn Set> {
    let spec = Spec { kind: Some(kind), ..Spec::default() };
    let mut builder = Builder::new(&spec, BuilderOptions::default()).expect("a builder");
    builder.add_batch(&Keys::U64(members)).outcome.expect("members are added");
    if !excluded.is_empty() {
        builder.exclude_batch(&Keys::U64(excluded)).outcome.expect("keys are excluded");
    }
    Box::new(builder.finish().expect("a filter"))
}

fn nanoseconds(start: Instant, keys: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / keys as f64
}

/// A bijection that spreads numbers over 64 bits.
fn mixed(number: u64) -> u64 {
    let x = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
