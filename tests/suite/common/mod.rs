//! The shared code of the integration tests: every kind with every combination of its parameters, keys, and images in
//! memory.

pub mod copies;
pub mod file;
pub mod golden;
pub mod handle;
pub mod sets;
pub mod soak;
pub mod sweep;

use petal::registry;
use petal::{
    Builder, BuilderOptions, Capabilities, Domain, Filter, HashFunction, Image, Keys, Mode, OpenOptions, Overfill,
    Parameter, Result, Row, Secret, Spec, Status, Taken,
};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::LazyLock;

/// The configuration of property tests: this number of cases, which are the same in every run.
pub fn same_every_time(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
}

/// Whether this is `make soak`, which runs longer tests than `make test`.
pub fn is_soak() -> bool {
    std::env::var_os("PETAL_SOAK").is_some()
}

/// How many times fewer cases each test takes in `make test` than in `make test-all`: the number in `PETAL_SAMPLE`.
static SAMPLE: LazyLock<usize> = LazyLock::new(|| {
    let number = std::env::var("PETAL_SAMPLE").ok();
    number.map_or(1, |number| number.parse().expect("PETAL_SAMPLE is a number from 1 on"))
});

/// A share of the cases for one test: all cases with default parameters, and one in `every` of the others, or fewer in
/// `make test`. The name of the test chooses which. So a kind with many parameters costs each test only a few layouts,
/// and the tests together cover all. The soak takes all cases.
pub fn share_of(cases: Vec<Case>, every: usize, test: &str) -> Vec<Case> {
    let turn = test.bytes().map(usize::from).sum::<usize>();
    let every = every * *SAMPLE;
    let is_taken = |(i, case): &(usize, Case)| is_soak() || case.is_default() || (i + turn).is_multiple_of(every);
    cases.into_iter().enumerate().filter(is_taken).map(|(_, case)| case).collect()
}

/// This spec with a rate, or with the least rate that its kind can keep. If the kind has no rate to choose, the spec
/// has none.
pub fn at_rate(spec: &Spec, rate: f64) -> Spec {
    let least = (petal::row_of(spec).unwrap().least_rate)(spec, spec.capacity.max(1));
    Spec { false_positive_rate: if least < 1.0 { rate.max(least) } else { 0.0 }, ..*spec }
}

/// Whether a test over all kinds takes this kind. With `PETAL_KIND=cuckoo` tests take only that kind. An unknown name
/// is an error, because every such test would then pass.
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

/// Runs a test on each item, even after failures. At the end the call fails with the names of all items that failed.
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

/// [`each`] of the kinds that `PETAL_KIND` selects.
#[track_caller]
pub fn each_kind(rows: impl IntoIterator<Item = &'static Row>, mut test: impl FnMut(&'static Row)) {
    each(rows.into_iter().filter(|row| is_wanted(row)), |row| row.name.to_string(), |row| test(row));
}

/// A well mixed 64-bit number (SplitMix64's finaliser), for external hashes and for random numbers.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The secret key of keyed filters.
pub const SECRET: Secret = *b"0123456789abcdef";

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

    /// A spec for this number of keys, at this rate or the least possible one.
    pub fn sized(&self, capacity: u64, rate: f64) -> Spec {
        at_rate(&Spec { capacity, ..self.spec() }, rate)
    }

    /// The spec of filters whose callers hash. Kinds whose keys are integers keep their identity function.
    pub fn external(&self) -> Spec {
        let own = self.row.hashing.universe.is_some();
        Spec { hash: if own { HashFunction::Identity } else { HashFunction::External }, ..self.spec() }
    }

    /// Whether keys are the integers below a bound.
    pub fn is_of_integers(&self) -> bool {
        self.row.hashing.universe.is_some()
    }

    /// Whether the kind takes these values together. Any refusal must be a contradiction.
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

    /// The number of keys, of `keys`, that a filter for `capacity` keys takes and remembers.
    pub fn room_for(&self, keys: u64, capacity: u64) -> u64 {
        match self.row.overfill {
            _ if self.may_lose() => keys.min(capacity / 4),
            Overfill::Refuses | Overfill::Forgets => keys.min(capacity),
            Overfill::RateRises | Overfill::Grows | Overfill::IsBuilt => keys,
        }
    }

    /// A spec with room for this number of keys. The capacity grows only for a kind that refuses or forgets keys beyond
    /// it. Where copies of a key have to lie near each other, or keys may be lost, the room is four times as large.
    pub fn with_room(&self, spec: &Spec, keys: u64) -> Spec {
        let places = if self.row.room.copies.is_some() || self.may_lose() { 4 * keys } else { keys };
        match self.row.overfill {
            Overfill::Refuses | Overfill::Forgets => Spec { capacity: spec.capacity.max(places), ..*spec },
            _ => *spec,
        }
    }

    /// Whether filters may lose keys. Keys that are younger than a quarter of the capacity are hardly ever lost.
    pub fn may_lose(&self) -> bool {
        self.capabilities().contains(Capabilities::MAY_LOSE_KEYS)
    }

    /// The number of copies that a test inserts where it would insert `wanted`. The number is at most half of the
    /// copies that a filter holds, because two keys may have the same fingerprint.
    pub fn times(&self, wanted: u64) -> u64 {
        match self.row.room.copies {
            Some(copies) => wanted.min(copies(&petal::geometry(&self.spec()).unwrap()) / 2),
            None => wanted,
        }
    }

    /// The capabilities of filters with these parameters in their own memory.
    pub fn capabilities(&self) -> Capabilities {
        self.row.capabilities_of(&petal::geometry(&self.spec()).unwrap())
    }

    /// Whether filters lose no key and can remove or count.
    pub fn is_multiset(&self) -> bool {
        let capabilities = self.capabilities();
        let counts = capabilities.contains(Capabilities::REMOVE) || capabilities.contains(Capabilities::COUNT);
        counts && !capabilities.contains(Capabilities::MAY_LOSE_KEYS)
    }

    pub fn is_default(&self) -> bool {
        self.values.iter().all(|(parameter, value)| *value == parameter.default)
    }

    /// Whether the parameters that images do not keep have their defaults, and filters remember keys as long as tests
    /// of all kinds expect.
    fn is_layout(&self) -> bool {
        let is_kept = |(parameter, value): &(&Parameter, f64)| parameter.word.is_some() || *value == parameter.default;
        self.values.iter().all(is_kept) && self.remembers()
    }

    /// Whether hardly any keys are lost that are as old as the capacity. Filters that may lose more have their own
    /// tests.
    fn remembers(&self) -> bool {
        let ages = self.row.capabilities.contains(Capabilities::AGE);
        let Some(rate) = self.row.losses.false_negative_rate.filter(|_| self.may_lose() && ages) else { return true };
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
        for (parameter, value) in
            self.values.iter().filter(|(parameter, _)| shown(parameter) && tried(parameter).len() > 1)
        {
            let value = match parameter.domain {
                Domain::Choice(names) => names[*value as usize].to_string(),
                _ => value.to_string(),
            };
            name = format!("{name}-{}_{value}", parameter.name);
        }
        name
    }
}

/// The values of a parameter that tests try: all values or, if these are many, both ends, the middle and the default.
/// Filters whose keys are divided by their prefixes take no hashes, so that `exact_parts` has the tests of these.
pub fn tried(parameter: &Parameter) -> Vec<f64> {
    if parameter.name == "partition_prefix_bytes" {
        return vec![parameter.default];
    }
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

/// A kind with every combination of parameter values that it takes.
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

/// Every kind of filter, with every combination of parameter values that it takes. A filter whose keys are integers
/// takes the integers below its capacity.
pub fn cases() -> Vec<Case> {
    registry::FILTERS.iter().filter(|row| is_wanted(row)).flat_map(cases_of).collect()
}

/// Every kind of filter, with every combination of the parameters that images keep. The other parameters have their
/// defaults.
pub fn layouts() -> Vec<Case> {
    cases().into_iter().filter(Case::is_layout).collect()
}

/// Every kind of filter and of map, with every combination of the parameters that images keep. The other parameters
/// have their defaults.
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

/// The spec with another hash function. `salt` becomes the seed, the tag, or a part of the secret key.
pub fn hashed(spec: &Spec, hash: HashFunction, salt: u64) -> Spec {
    let mut spec = Spec { hash, seed: salt, secret: None, ..*spec };
    if hash == HashFunction::SipHash13 {
        let mut key = SECRET;
        key[8..].copy_from_slice(&salt.to_le_bytes());
        spec = Spec { seed: 0, secret: Some(key), ..spec };
    }
    spec
}

/// The hash of key number `i` for a filter of this spec. Where the caller hashes, the hash is a well mixed number, and
/// where keys are integers it is `i`.
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

/// An empty filter of this spec.
pub fn empty(spec: &Spec) -> Filter {
    try_empty(spec).unwrap()
}

/// An empty filter of this spec, if there is one.
pub fn try_empty(spec: &Spec) -> Result<Filter> {
    Builder::new(spec, BuilderOptions::default())?.finish()
}

/// The image of a filter or map.
pub fn image(handle: &impl Image) -> Vec<u8> {
    let mut bytes = Vec::new();
    handle
        .serialize_to(&mut |piece| {
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

    /// The result of `with` for the filter that is opened in the buffer.
    pub fn open<T>(&mut self, mode: Mode, key: Option<Secret>, with: impl FnOnce(Result<&mut Filter>) -> T) -> T {
        self.open_as(mode, key, with)
    }

    /// The result of `with` for the filter or map that is opened in the buffer.
    pub fn open_as<H: Image, T>(
        &mut self,
        mode: Mode,
        key: Option<Secret>,
        with: impl FnOnce(Result<&mut H>) -> T,
    ) -> T {
        let (start, length) = (self.start(), self.length);
        // SAFETY: the words are borrowed until this returns, and the handle is dropped before.
        match unsafe {
            petal::open_in_buffer_as(start, length, &OpenOptions { mode, secret: key, ..OpenOptions::default() })
        } {
            Ok(mut handle) => with(Ok(&mut handle)),
            Err(error) => with(Err(error)),
        }
    }

    /// The result of `with` for an empty filter that is made in the buffer.
    pub fn create<T>(&mut self, spec: &Spec, with: impl FnOnce(Result<&mut Filter>) -> T) -> T {
        let (start, length) = (self.start(), self.length);
        // SAFETY: the words are borrowed until this returns, and the filter is dropped before.
        match unsafe { petal::new_in_buffer(spec, start, length) } {
            Ok(mut filter) => with(Ok(&mut filter)),
            Err(error) => with(Err(error)),
        }
    }
}
