//! The measured false-positive rate against the exact formula, for every layout, hash function and pattern of keys.
//!
//! The rate of one filter varies with its fill, so a measurement takes many filters, each with its own seed, and asks
//! each for fresh keys. The standard error of the mean comes from the rates of the filters, but is never less than that
//! of as many independent lookups. Filters are added until 4.5 standard errors are within a band around the rate; then
//! the measured rate must lie within 4.5 standard errors of the formula's. So a formula that is wrong by twice the band
//! is seen, and one that is wrong by less perhaps:
//!
//! | rate            | band  | band with `PETAL_SOAK` |
//! |-----------------|-------|------------------------|
//! | from 10^-3      |   5 % |                    3 % |
//! | from 10^-4      |  10 % |                    3 % |
//! | below           |  30 % |                   10 % |
//!
//! A sample is measured as `cargo test` runs it: every kind at every number of keys, with a part of its layouts and
//! fewer sizes; and every kind with a third of the patterns of keys, each with one hash function, and the next kind
//! with the others. `make soak` sets `PETAL_SOAK` and measures all.

use crate::common::{Case, hashed, is_soak, main_layouts, mix, share_of};
use petal::format::Geometry;
use petal::{Answers, Builder, BuilderOptions, Filter, HashFunction, Keys, Overfill, Sizes, Spec};

const SIGMAS: f64 = 4.5;

/// A mean rate and its standard error.
#[derive(Clone, Copy, Debug)]
struct Rate {
    mean: f64,
    error: f64,
}

/// How far 4.5 standard errors may reach, as a share of the rate.
fn band(rate: f64) -> f64 {
    match (rate, is_soak()) {
        (1e-3.., false) => 0.05,
        (1e-4.., false) => 0.1,
        (_, false) => 0.3,
        (1e-4.., true) => 0.03,
        (_, true) => 0.1,
    }
}

/// The mean of `one`, the number of positives among `fresh` lookups in filter number i, until 4.5 standard errors are
/// within `band` of it. `expected` says how many lookups that will take: it decides the cost, not the outcome.
fn mean_rate(keys: u64, expected: f64, band: f64, mut one: impl FnMut(u64, u64) -> u64) -> Rate {
    // Large filters are all alike: their rates differ by some 0.1 %. Small ones are not.
    let least_filters = match (keys, is_soak()) {
        (0..100, true) => 20_000,
        (0..100, false) => 5000,
        (100..100_000, _) => 300,
        (_, true) => 4,
        (_, false) => 2,
    };
    let lookups = 1.3 * (SIGMAS / band).powi(2) / expected;
    let fresh = (lookups / least_filters as f64).ceil().max(50.0) as u64;
    let (mut filters, mut sum, mut squares) = (0, 0.0, 0.0);
    loop {
        for _ in 0..least_filters.min(1000) {
            let rate = one(filters, fresh) as f64 / fresh as f64;
            filters += 1;
            sum += rate;
            squares += rate * rate;
        }
        let count = filters as f64;
        let mean = sum / count;
        let between = (squares / count - mean * mean) / (count - 1.0);
        let lookups = mean * (1.0 - mean) / (count * fresh as f64);
        let error = between.max(lookups).sqrt();
        let precise = SIGMAS * error <= band * mean;
        if filters >= least_filters && (precise || filters >= 50 * least_filters) {
            assert!(precise, "the rate {mean} +- {error} takes too long to measure");
            return Rate { mean, error };
        }
    }
}

// ---- Keys --------------------------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
enum Pattern {
    Random,
    Sequential,
    /// `i << s`: all of the key is in a few of its bits.
    Shifted(u32),
    /// Words of one to five letters.
    ShortStrings,
}

impl Pattern {
    /// Whether keys `0..keys` differ.
    fn has(self, keys: u64) -> bool {
        match self {
            Pattern::Shifted(shift) => keys <= 1 << (64 - shift),
            Pattern::ShortStrings => keys <= 26_u64.pow(5),
            _ => true,
        }
    }

    fn number(self, i: u64) -> u64 {
        match self {
            Pattern::Random => mix(i + 1),
            Pattern::Shifted(shift) => i << shift,
            _ => i,
        }
    }
}

/// Writes `i` with 26 letters as digits.
fn word(mut i: u64, bytes: &mut Vec<u8>) {
    loop {
        bytes.push(b'a' + (i % 26) as u8);
        i /= 26;
        if i == 0 {
            return;
        }
        i -= 1;
    }
}

/// Gives keys number `from..to` of the pattern, in batches, as this spec's filters take them.
fn for_each_batch(spec: &Spec, pattern: Pattern, from: u64, to: u64, mut take: impl FnMut(&Keys)) {
    let (mut numbers, mut bytes, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for start in (from..to).step_by(4096) {
        let batch = start..to.min(start + 4096);
        if let Pattern::ShortStrings = pattern {
            bytes.clear();
            offsets.clear();
            offsets.push(0);
            for i in batch {
                word(i, &mut bytes);
                offsets.push(bytes.len() as u64);
            }
            take(&Keys::Bytes { bytes: &bytes, offsets: &offsets });
            continue;
        }
        numbers.clear();
        numbers.extend(batch.map(|i| pattern.number(i)));
        if spec.hash == HashFunction::External {
            numbers.iter_mut().for_each(|key| *key = mix(mix(*key) ^ spec.seed));
            take(&Keys::Hashes(&numbers));
        } else {
            take(&Keys::U64(&numbers));
        }
    }
}

/// The filter of this spec that holds keys number `0..keys` of the pattern.
fn filled(spec: &Spec, pattern: Pattern, keys: u64) -> Filter {
    if let Ok(mut filter) = Filter::new(spec) {
        for_each_batch(spec, pattern, 0, keys, |keys| filter.insert_batch(keys, None).outcome.unwrap());
        return filter;
    }
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    for_each_batch(spec, pattern, 0, keys, |keys| builder.add_batch(keys).outcome.unwrap());
    builder.finish().unwrap()
}

/// The measured rate of filters like `spec` with this hash function, `keys` keys, and a different seed in each.
fn measure(spec: &Spec, hash: HashFunction, pattern: Pattern, keys: u64, expected: f64, band: f64) -> Rate {
    mean_rate(keys, expected, band, |filter, fresh| {
        assert!(pattern.has(keys + fresh), "{pattern:?} has fewer than {} keys", keys + fresh);
        let spec = hashed(spec, hash, mix(1000 + filter));
        let filter = filled(&spec, pattern, keys);
        let mut found = 0;
        for_each_batch(&spec, pattern, keys, keys + fresh, |keys| {
            let mut answers = Answers::default();
            filter.contains_batch(keys, &mut answers).unwrap();
            found += answers.true_count;
        });
        found
    })
}

/// The spec of a case with `bits_per_key` bits per key, or the nearest possible.
fn sized(case: &Case, keys: u64, bits_per_key: u64) -> Spec {
    // Where only some keys may share a fingerprint, a table holds its capacity if fingerprints are long enough.
    let bits_per_key = bits_per_key + if case.row.room.copies.is_some() { 4 } else { 0 };
    // Filters that refuse keys, or grow, have room for these.
    let least = match case.row.overfill {
        Overfill::Refuses | Overfill::Grows => {
            petal::geometry(&Spec { capacity: keys, false_positive_rate: 0.5, ..case.spec() })
        }
        _ => Ok(Geometry::default()),
    };
    let least = least.map_or(0, |geometry| geometry.bits);
    let bits = (keys * bits_per_key).max(least).next_multiple_of(case.row.bits_unit());
    let spec = Spec { capacity: keys, bits, ..case.spec() };
    // The real number of probes, so that filters need not choose it each time.
    let geometry = petal::geometry(&spec).unwrap();
    Spec { hashes: geometry.hashes, ..spec }
}

/// The exact rate of the geometry that the spec really gets.
fn exact(case: &Case, spec: &Spec, keys: u64) -> f64 {
    (case.row.false_positive_rate)(&petal::geometry(spec).unwrap(), keys)
}

/// All failures, for one message.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn check(&mut self, what: &str, measured: Rate, expected: Rate) {
        let error = measured.error.hypot(expected.error);
        let line = format!(
            "{what}: measured {:.4e}, {:.4} of the expected {:.4e}, {:+.1} standard errors of {:.2} %",
            measured.mean,
            measured.mean / expected.mean,
            expected.mean,
            (measured.mean - expected.mean) / error,
            100.0 * error / expected.mean
        );
        println!("{line}");
        if (measured.mean - expected.mean).abs() > SIGMAS * error {
            self.0.push(line);
        }
    }
}

impl Drop for Failures {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "{:#?}", self.0);
        }
    }
}

// ---- The exact formulas ------------------------------------------------------------------------------------------

/// Layouts that differ from the default in one parameter are measured at more sizes than combinations are.
fn bits_per_key(case: &Case, keys: u64) -> &'static [u64] {
    let differences = case.values.iter().filter(|(parameter, value)| *value != parameter.default).count();
    match (is_soak(), differences) {
        (true, 0 | 1) => &[8, 10, 12, 16, 20],
        (true, _) => &[8, 12],
        (false, 0) if keys < 100_000 => &[8, 12, 20],
        (false, 0) => &[8],
        (false, 1) if keys < 100_000 => &[8, 12],
        (false, _) => &[12],
    }
}

/// The derivations with dependent probes. Their formula is an expansion, and best where the size was chosen by rate
/// (`tests/suite/dependent.rs`); the sizes here are not.
fn is_historic(case: &Case) -> bool {
    DEFINITIONS.iter().any(|(suffix, _)| case.layout_name().contains(suffix))
}

/// Whether a filter may be as small as ten keys.
fn is_fine_grained(case: &Case) -> bool {
    case.row.sizes == Sizes::Multiples(1) && case.row.overfill == Overfill::RateRises
}

/// Layouts work on hashes. The default layout gets them from keys, the others as they are.
fn hash_for(case: &Case) -> HashFunction {
    if case.is_default() { HashFunction::Xxh3 } else { HashFunction::External }
}

/// The layouts of kinds that hash keys. Kinds over integers never err.
fn hashed_layouts() -> Vec<Case> {
    main_layouts().into_iter().filter(|case| !case.is_of_integers()).collect()
}

fn every_layout_at(keys: u64, chosen: impl Fn(&Case) -> bool) {
    let mut failures = Failures::default();
    // Many keys make a filter slow to fill, and show no more of the formula than a few do.
    let every = match keys {
        ..1000 => 1,
        1000..100_000 => 6,
        _ => 12,
    };
    for case in share_of(hashed_layouts(), every, &keys.to_string()).iter().filter(|case| chosen(case)) {
        for bits_per_key in bits_per_key(case, keys) {
            let spec = sized(case, keys, *bits_per_key);
            let mean = exact(case, &spec, keys);
            // Rates that take more than ten million lookups are for the soak.
            if mean < 2e-5 && !is_soak() {
                continue;
            }
            let measured = measure(&spec, hash_for(case), Pattern::Random, keys, mean, band(mean));
            let what = format!("{}, {keys} keys, {bits_per_key} bits/key", case.layout_name());
            failures.check(&what, measured, Rate { mean, error: 0.0 });
        }
    }
}

#[test]
fn every_layout_is_exact_at_ten_keys() {
    every_layout_at(10, |case| is_fine_grained(case) && !is_historic(case));
}

#[test]
#[ignore = "slow: make test-all"]
fn every_layout_is_exact_at_a_thousand_keys() {
    every_layout_at(1000, |case| !is_historic(case));
}

/// At this size the historic derivations too.
#[test]
#[ignore = "slow: make test-all"]
fn every_layout_is_exact_at_a_million_keys() {
    every_layout_at(1_000_000, |_| true);
}

fn every_pattern_at(keys: u64, shifts: &[u32], chosen: impl Fn(&Case) -> bool) {
    let mut failures = Failures::default();
    for (number, case) in hashed_layouts().iter().filter(|case| chosen(case) && case.is_default()).enumerate() {
        let spec = sized(case, keys, 10);
        let mean = exact(case, &spec, keys);
        let patterns = [Pattern::Random, Pattern::Sequential, Pattern::ShortStrings].into_iter();
        let patterns = patterns.chain(shifts.iter().map(|shift| Pattern::Shifted(*shift)));
        // How keys look and how they are hashed matters only to hash functions: kinds see nothing but the hash.
        let is_taken = |turn: usize| is_soak() || (number + turn).is_multiple_of(3);
        for (turn, pattern) in patterns.enumerate().filter(|(turn, _)| is_taken(*turn)) {
            // Where the caller hashes there are no strings.
            let is_possible =
                |hash: &HashFunction| !matches!((hash, pattern), (HashFunction::External, Pattern::ShortStrings));
            let hashes: Vec<HashFunction> = HashFunction::ALL.into_iter().filter(is_possible).collect();
            let one = (number / 3 + turn) % hashes.len();
            for hash in if is_soak() { &hashes[..] } else { &hashes[one..one + 1] } {
                let measured = measure(&spec, *hash, pattern, keys, mean, band(mean));
                let what = format!("{}, {keys} keys, {pattern:?}, {hash}", case.row.name);
                failures.check(&what, measured, Rate { mean, error: 0.0 });
            }
        }
    }
}

#[test]
fn every_pattern_is_exact_at_ten_keys() {
    every_pattern_at(10, &[1, 3, 15, 16, 32, 40, 56], is_fine_grained);
}

#[test]
#[ignore = "slow: make test-all"]
fn every_pattern_is_exact_at_a_thousand_keys() {
    every_pattern_at(1000, &[1, 3, 8, 15, 16, 24, 32, 40, 48], |_| true);
}

#[test]
#[ignore = "slow: make test-all"]
fn every_pattern_is_exact_at_a_million_keys() {
    every_pattern_at(1_000_000, if is_soak() { &[3, 15, 16, 32, 40] } else { &[16, 40] }, |_| true);
}

// ---- The historic derivations ------------------------------------------------------------------------------------

/// The definitions in closed form, before the last remainder: position i of a key with the words a, b and c, which are
/// remainders already. With at most 20,000 bits and 64 probes nothing overflows.
type Definition = fn(a: u64, b: u64, c: u64, i: u64) -> u64;

const DEFINITIONS: [(&str, Definition); 3] = [
    ("_enhanced_double-", |a, b, _, i| a + i * b + (i * i * i - i) / 6),
    ("_double-", |a, b, _, i| a + i * b),
    ("_triple-", |a, b, c, i| a + i * b + i * i.saturating_sub(1) / 2 * c),
];

/// The rate of filters that are made by a definition from random words, without the library.
fn defined_rate(define: Definition, partitioned: bool, bits: u64, hashes: u32, keys: u64, expected: f64) -> Rate {
    let hashes = u64::from(hashes);
    let range = if partitioned { bits / hashes } else { bits };
    let slice = if partitioned { range } else { 0 };
    let mut random = 0_u64;
    let mut word = move || {
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(random) % range
    };
    let mut positions = move || {
        let (a, b, c) = (word(), word(), word());
        (0..hashes).map(move |i| (i * slice + define(a, b, c, i) % range) as usize)
    };
    mean_rate(keys, expected, band(expected), |_, fresh| {
        let mut set = vec![false; bits as usize];
        for _ in 0..keys {
            positions().for_each(|position| set[position] = true);
        }
        (0..fresh).map(|_| u64::from(positions().all(|position| set[position]))).sum()
    })
}

fn historic_layouts_at(keys: u64) {
    let mut failures = Failures::default();
    for case in main_layouts().iter().filter(|case| is_historic(case)) {
        for bits_per_key in bits_per_key(case, keys) {
            let spec = sized(case, keys, *bits_per_key);
            let formula = exact(case, &spec, keys);
            let measured = measure(&spec, HashFunction::External, Pattern::Random, keys, formula, band(formula));
            let name = case.layout_name();
            let define = DEFINITIONS.into_iter().find(|(suffix, _)| name.contains(suffix)).unwrap().1;
            let partitioned = case.value("partitioned") == Some(1.0);
            let geometry = petal::geometry(&spec).unwrap();
            let defined = defined_rate(define, partitioned, geometry.bits, geometry.hashes, keys, measured.mean);
            let what =
                format!("{name}, {keys} keys, {bits_per_key} bits/key ({:.3} of the formula)", measured.mean / formula);
            failures.check(&what, measured, defined);
        }
    }
}

#[test]
fn historic_derivations_follow_their_definitions_at_ten_keys() {
    historic_layouts_at(10);
}

#[test]
fn historic_derivations_follow_their_definitions_at_a_thousand_keys() {
    historic_layouts_at(1000);
}

/// The plain layout of the bloom kind with this derivation.
fn bloom_case(derivation: &str) -> Case {
    let name = format!("bloom-partitioned_0-derivation_{derivation}-");
    main_layouts().into_iter().find(|case| case.layout_name().starts_with(&name)).unwrap()
}

/// With as few bits as 4096 and as many probes as 14, plain double hashing loses far too much; nothing else does.
#[test]
fn double_hashing_degenerates_and_the_default_does_not() {
    let mut failures = Failures::default();
    for (derivation, least, most) in [
        ("remix", 1.0, 1.0),
        ("independent", 1.0, 1.0),
        ("slices", 1.0, 1.0),
        ("double", 4.0, 10.0),
        ("enhanced_double", 0.8, 1.6),
        ("triple", 0.8, 1.6),
    ] {
        let case = bloom_case(derivation);
        let spec = Spec { bits: 4096, hashes: 14, ..case.spec() };
        let mean = petal::sizing::bloom::exact(4096, 14, 200);
        let band = if least == most { band(mean) } else { 0.3 };
        let measured = measure(&spec, HashFunction::External, Pattern::Random, 200, mean, band);
        let ratio = measured.mean / mean;
        println!("{derivation}: {ratio:.3}");
        if least == most {
            failures.check(derivation, measured, Rate { mean, error: 0.0 });
        } else {
            assert!((least..most).contains(&ratio), "{derivation}: {ratio} of the exact rate");
        }
    }
}
