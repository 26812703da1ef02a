//! What the integration tests share: every kind with every combination of its parameters, keys, and images in memory.

pub mod copies;
pub mod golden;
pub mod handle;
pub mod sets;
pub mod soak;
pub mod sweep;

use petal::registry;
use petal::{
    Builder, BuilderOptions, Capabilities, Domain, Filter, HashFunction, Image, Keys, Mode, OpenOptions, Overfill,
    Parameter, Result, Row, SecretKey, Spec, Status, Taken,
};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::LazyLock;

/// What property tests run with: so many cases, and the same ones every time.
pub fn same_every_time(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
}

/// Whether this is `make soak`, which takes the time that `make test` has not.
pub fn is_soak() -> bool {
    std::env::var_os("PETAL_SOAK").is_some()
}

/// What a test takes of `cases`: those with default parameters, and a share of the others, `1 / every`, that hangs on
/// the test's name; all in the soak. So a kind with many parameters costs each test a few of its layouts, and the tests
/// together look at all.
pub fn share_of(cases: Vec<Case>, every: usize, test: &str) -> Vec<Case> {
    let turn = test.bytes().map(usize::from).sum::<usize>();
    let is_taken = |(i, case): &(usize, Case)| is_soak() || case.is_default() || (i + turn).is_multiple_of(every);
    cases.into_iter().enumerate().filter(is_taken).map(|(_, case)| case).collect()
}

/// This spec with a rate, or with the least rate of its kind if that is higher. Without a rate if the kind has none to
/// choose.
pub fn at_rate(spec: &Spec, rate: f64) -> Spec {
    let least = (petal::row_of(spec).unwrap().least_rate)(spec, spec.capacity.max(1));
    Spec { false_positive_rate: if least < 1.0 { rate.max(least) } else { 0.0 }, ..*spec }
}

/// Whether a test over all kinds takes this one: `PETAL_KIND=cuckoo` has it take that kind only, and names that no kind
/// has are an error, because with them every such test would pass.
pub fn is_wanted(row: &Row) -> bool {
    WANTED.as_ref().is_none_or(|name| name == row.name)
}

/// Whether `PETAL_KIND` selects one kind.
pub fn is_one_kind() -> bool {
    WANTED.is_some()
}

static WANTED: LazyLock<Option<String>> = LazyLock::new(|| {
    let name = std::env::var("PETAL_KIND").ok().filter(|name| !name.is_empty())?;
    assert!(registry::find_name(&name).is_some(), "PETAL_KIND={name} is no kind");
    Some(name)
});

/// Runs a test on each of these, goes on after one that fails, and fails at the end with the names of all that did.
#[track_caller]
pub fn each<T>(all: impl IntoIterator<Item = T>, name: impl Fn(&T) -> String, mut test: impl FnMut(&T)) {
    let mut failed = Vec::new();
    for one in all {
        println!("{}", name(&one));
        if catch_unwind(AssertUnwindSafe(|| test(&one))).is_err() {
            failed.push(name(&one));
        }
    }
    assert!(failed.is_empty(), "{} failed: {}", failed.len(), failed.join(", "));
}

/// [`each`] of kinds, of those that `PETAL_KIND` selects.
#[track_caller]
pub fn each_kind(rows: impl IntoIterator<Item = &'static Row>, mut test: impl FnMut(&'static Row)) {
    each(rows.into_iter().filter(|row| is_wanted(row)), |row| row.name.to_string(), |row| test(row));
}

/// A well mixed 64-bit number (SplitMix64's finaliser): external hashes, and numbers that look random.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The secret key of keyed filters.
pub const SECRET: SecretKey = *b"0123456789abcdef";

/// A kind with values for all of its parameters.
#[derive(Clone)]
pub struct Case {
    pub row: &'static Row,
    pub values: Vec<(&'static Parameter, f64)>,
}

impl Case {
    /// A spec without a size.
    pub fn spec(&self) -> Spec {
        let mut spec = Spec { kind: Some(self.row.kind), hash: self.row.hash_functions()[0], ..Spec::default() };
        for (parameter, value) in &self.values {
            spec.set(parameter, *value).unwrap();
        }
        spec
    }

    /// A spec for so many keys, at this rate, or at the kind's least rate if that is higher.
    pub fn sized(&self, capacity: u64, rate: f64) -> Spec {
        at_rate(&Spec { capacity, ..self.spec() }, rate)
    }

    /// The spec of filters whose callers hash. Keys that are integers stay what they are.
    pub fn external(&self) -> Spec {
        let own = self.row.universe.is_some();
        Spec { hash: if own { HashFunction::Identity } else { HashFunction::External }, ..self.spec() }
    }

    /// Whether keys are the integers below a bound.
    pub fn is_of_integers(&self) -> bool {
        self.row.universe.is_some()
    }

    /// Whether the kind takes these values together. What it refuses must be a contradiction.
    fn is_possible(&self) -> bool {
        match petal::geometry(&self.spec()) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.status(), Status::Contradiction, "{}: {error}", self.name());
                false
            }
        }
    }

    /// The value of the parameter with this name, if the kind has it.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(parameter, _)| parameter.name == name).map(|(_, value)| *value)
    }

    /// So many of `keys` as a filter for `capacity` keys takes and remembers.
    pub fn room_for(&self, keys: u64, capacity: u64) -> u64 {
        match self.row.overfill {
            _ if self.may_lose() => keys.min(capacity / 4),
            Overfill::Refuses | Overfill::Forgets => keys.min(capacity),
            Overfill::RateRises | Overfill::Grows | Overfill::IsBuilt => keys,
        }
    }

    /// A spec of a filter that so many keys fit into: larger only of a kind that refuses or forgets more than its
    /// capacity. Copies of a key that take places of their own have to be near each other, so that it takes more room
    /// for them.
    pub fn with_room(&self, spec: &Spec, keys: u64) -> Spec {
        let places = if self.row.copies.is_some() || self.may_lose() { 4 * keys } else { keys };
        match self.row.overfill {
            Overfill::Refuses | Overfill::Forgets => Spec { capacity: spec.capacity.max(places), ..*spec },
            _ => *spec,
        }
    }

    /// Whether filters may lose keys: hardly any that came less than a quarter of the capacity ago.
    pub fn may_lose(&self) -> bool {
        self.capabilities().contains(Capabilities::MAY_LOSE_KEYS)
    }

    /// How often a test inserts a key that it would insert `wanted` times: no more than half of the copies that a
    /// filter holds, because two keys may be alike in all that it knows of them.
    pub fn times(&self, wanted: u64) -> u64 {
        match self.row.copies {
            Some(copies) => wanted.min(copies(&petal::geometry(&self.spec()).unwrap()) / 2),
            None => wanted,
        }
    }

    /// What filters with these parameters can do in memory of their own.
    pub fn capabilities(&self) -> Capabilities {
        self.row.capabilities_of(&petal::geometry(&self.spec()).unwrap())
    }

    /// Whether filters hold each key as often as it was inserted.
    pub fn is_multiset(&self) -> bool {
        let capabilities = self.capabilities();
        let counts = capabilities.contains(Capabilities::REMOVE) || capabilities.contains(Capabilities::COUNT);
        counts && !capabilities.contains(Capabilities::MAY_LOSE_KEYS)
    }

    pub fn is_default(&self) -> bool {
        self.values.iter().all(|(parameter, value)| *value == parameter.default)
    }

    /// Whether the parameters that images do not keep have their defaults, and keys are remembered as tests of all
    /// kinds expect.
    fn is_layout(&self) -> bool {
        let is_kept = |(parameter, value): &(&Parameter, f64)| parameter.word.is_some() || *value == parameter.default;
        self.values.iter().all(is_kept) && self.remembers()
    }

    /// Whether hardly any keys are lost that are as old as the capacity: filters that may lose more have tests of their
    /// own.
    fn remembers(&self) -> bool {
        let ages = self.row.capabilities.contains(Capabilities::AGE);
        let Some(rate) = self.row.false_negative_rate.filter(|_| self.may_lose() && ages) else { return true };
        let geometry = petal::geometry(&Spec { capacity: 10_000, ..self.spec() }).unwrap();
        rate(&geometry, 10_000) < 0.02
    }

    /// The kind and its parameters, with the names of choices.
    pub fn name(&self) -> String {
        self.name_of(|_| true)
    }

    /// The kind and those of its parameters that images keep.
    pub fn layout_name(&self) -> String {
        self.name_of(|parameter| parameter.word.is_some())
    }

    fn name_of(&self, shown: impl Fn(&Parameter) -> bool) -> String {
        let mut name = self.row.name.to_string();
        for (parameter, value) in self.values.iter().filter(|(parameter, _)| shown(parameter)) {
            let value = match parameter.domain {
                Domain::Choice(names) => names[*value as usize].to_string(),
                _ => value.to_string(),
            };
            name = format!("{name}-{}_{value}", parameter.name);
        }
        name
    }
}

/// The values of a parameter that are tried: all of them, or, where they are many, both ends, the middle, the default.
pub fn tried(parameter: &Parameter) -> Vec<f64> {
    let (minimum, maximum) = parameter.bounds();
    let middle = match parameter.domain {
        Domain::Real(..) => 0.5 * (minimum + maximum),
        Domain::OneOf(values) => return values.iter().map(|value| *value as f64).collect(),
        Domain::Integer(..) | Domain::Automatic(..) | Domain::Choice(_) => {
            let (minimum, maximum) = (minimum as u64, maximum as u64);
            if matches!(parameter.domain, Domain::Choice(_)) || maximum - minimum < 8 {
                return (minimum..=maximum).map(|value| value as f64).collect();
            }
            (minimum + (maximum - minimum) / 2) as f64
        }
    };
    let mut values = vec![minimum, parameter.default, middle, maximum];
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// A kind with every combination of the values of its parameters that it takes.
fn cases_of(row: &'static Row) -> Vec<Case> {
    let mut combinations = vec![Vec::new()];
    for parameter in row.parameters {
        let longer = |values: &Vec<_>| {
            let values = values.clone();
            tried(parameter).into_iter().map(move |value| [&values[..], &[(*parameter, value)]].concat())
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    let all = combinations.into_iter().map(|values| Case { row, values });
    let kept: Vec<Case> = all.filter(Case::is_possible).collect();
    for parameter in row.parameters {
        for value in tried(parameter) {
            let used = kept.iter().any(|case| case.value(parameter.name) == Some(value));
            assert!(used, "{}: {} = {value} goes with nothing", row.name, parameter.name);
        }
    }
    kept
}

/// Every kind of filter, with every combination of the values of its parameters that it takes. A filter whose keys are
/// integers has the universe of its capacity: the keys with the numbers below it.
pub fn cases() -> Vec<Case> {
    registry::FILTERS.iter().filter(|row| is_wanted(row)).flat_map(cases_of).collect()
}

/// Every kind of filter, with every combination of the parameters that images keep; the others have their defaults.
pub fn layouts() -> Vec<Case> {
    cases().into_iter().filter(Case::is_layout).collect()
}

/// Every kind of filter and of map with every combination of the parameters that images keep; the others have their
/// defaults.
pub fn all_layouts() -> Vec<Case> {
    registry::all().filter(|row| is_wanted(row)).flat_map(cases_of).filter(Case::is_layout).collect()
}

/// The layouts whose parameters are choices and switches, or have their defaults.
pub fn main_layouts() -> Vec<Case> {
    let is_main = |(parameter, value): &(&'static Parameter, f64)| {
        matches!(parameter.domain, Domain::Choice(_) | Domain::OneOf(_))
            || *value == parameter.default
            || parameter.bounds().1 == 1.0
    };
    layouts().into_iter().filter(|case| case.values.iter().all(is_main)).collect()
}

/// The spec with another hash function. `salt` becomes seed, tag, or part of the secret key.
pub fn hashed(spec: &Spec, hash: HashFunction, salt: u64) -> Spec {
    let mut spec = Spec { hash, seed: salt, key: None, ..*spec };
    if hash == HashFunction::SipHash13 {
        let mut key = SECRET;
        key[8..].copy_from_slice(&salt.to_le_bytes());
        spec = Spec { seed: 0, key: Some(key), ..spec };
    }
    spec
}

/// The hash of key number `i` for a filter of this spec; where the caller hashes, a well mixed one, and where keys are
/// integers this one.
pub fn hash_of(spec: &Spec, i: u64) -> u64 {
    let own = |_| mix(mix(i) ^ spec.seed);
    spec.hasher().unwrap().hash_u64(i).unwrap_or_else(own)
}

/// The filter of this spec that holds the keys with these numbers.
#[track_caller]
pub fn filled(spec: &Spec, keys: impl IntoIterator<Item = u64>) -> Filter {
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    let hashes: Vec<u64> = keys.into_iter().map(|i| hash_of(spec, i)).collect();
    let Taken { keys: added, outcome } = builder.add_batch(&Keys::Hashes(&hashes));
    outcome.unwrap();
    assert_eq!(added, hashes.len());
    builder.finish().unwrap()
}

/// The filter of this spec that holds nothing.
pub fn empty(spec: &Spec) -> Filter {
    try_empty(spec).unwrap()
}

/// The filter of this spec that holds nothing, if there is one.
pub fn try_empty(spec: &Spec) -> Result<Filter> {
    Builder::new(spec, BuilderOptions::default())?.finish()
}

/// The image of a filter or map.
pub fn image(handle: &impl Image) -> Vec<u8> {
    let mut bytes = Vec::new();
    handle
        .serialize(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    assert_eq!(bytes.len() as u64, handle.serialized_size());
    bytes
}

/// Bytes in memory that is aligned as images must be.
pub struct Buffer {
    words: Vec<u64>,
    length: usize,
}

impl Buffer {
    pub fn of(bytes: &[u8]) -> Buffer {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        };
        Buffer { words: bytes.chunks(8).map(word).collect(), length: bytes.len() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_ne_bytes()).take(self.length).collect()
    }

    fn start(&mut self) -> NonNull<u8> {
        NonNull::new(self.words.as_mut_ptr()).unwrap().cast()
    }

    /// What `with` makes of the filter that is opened in the buffer.
    pub fn open<T>(&mut self, mode: Mode, key: Option<SecretKey>, with: impl FnOnce(Result<&mut Filter>) -> T) -> T {
        self.open_as(mode, key, with)
    }

    /// What `with` makes of the filter or map that is opened in the buffer.
    pub fn open_as<H: Image, T>(
        &mut self,
        mode: Mode,
        key: Option<SecretKey>,
        with: impl FnOnce(Result<&mut H>) -> T,
    ) -> T {
        let (start, length) = (self.start(), self.length);
        // SAFETY: the words are borrowed until this returns, and the handle is dropped before.
        match unsafe { petal::open_buffer_as(start, length, &OpenOptions { mode, key }) } {
            Ok(mut handle) => with(Ok(&mut handle)),
            Err(error) => with(Err(error)),
        }
    }

    /// What `with` makes of an empty filter that is made in the buffer.
    pub fn create<T>(&mut self, spec: &Spec, with: impl FnOnce(Result<&mut Filter>) -> T) -> T {
        let (start, length) = (self.start(), self.length);
        // SAFETY: the words are borrowed until this returns, and the filter is dropped before.
        match unsafe { petal::create_in(spec, start, length) } {
            Ok(mut filter) => with(Ok(&mut filter)),
            Err(error) => with(Err(error)),
        }
    }
}
