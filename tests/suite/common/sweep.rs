//! Every kind that is built from all of its keys, with every number of keys at which its geometry might fail. All keys
//! are found with their values, in about as many bits as the kind expects before the build.

use super::{mix, tried};
use petal::contract::{Structure, VALUE_BITS};
use petal::{
    Answers, Builder, BuilderOptions, Domain, Filter, HashFunction, Image, Keys, Map, MapBuilder, Parameter, Row, Spec,
    registry,
};

/// The most bits per key that a sweep builds. Some parameters can ask for any number.
const MOST_BITS: u64 = 400;

/// A kind with one choice of the parameters that have few values. Other parameters, which are lengths, take all of
/// their values as numbers of keys and seeds go by.
pub struct Variant {
    row: &'static Row,
    chosen: Vec<(&'static Parameter, f64)>,
    lengths: Vec<&'static Parameter>,
}

/// The sizes of a build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    pub bits: u64,
    /// The bits that the kind expects before the build.
    pub expected: u64,
}

/// All variants. The function names no kind, so that new kinds are swept.
pub fn variants() -> Vec<Variant> {
    registry::with_foreign().filter(|row| !row.is_made_empty()).flat_map(variants_of).collect()
}

/// The numbers of keys at which all variants are built: all small ones, and those around 11,500, where the published
/// geometry of the binary fuse filter fails.
pub fn numbers() -> impl Iterator<Item = u64> {
    (0..=3000).chain(11_400..=11_600)
}

fn variants_of(row: &'static Row) -> Vec<Variant> {
    let (lengths, choices): (Vec<_>, Vec<_>) =
        row.parameters.iter().copied().partition(|parameter| is_length(row, parameter));
    let mut variants = vec![Vec::new()];
    for parameter in choices {
        let with = |chosen: &Vec<_>| {
            let chosen = chosen.clone();
            tried(parameter).into_iter().map(move |value| [&chosen[..], &[(parameter, value)]].concat())
        };
        variants = variants.iter().flat_map(with).collect();
    }
    let variant = |chosen| Variant { row, chosen, lengths: lengths.clone() };
    variants.into_iter().map(variant).filter(|variant| petal::geometry(&variant.default_spec()).is_ok()).collect()
}

/// Whether a parameter may have any of many values, and not only a few.
fn is_length(row: &'static Row, parameter: &'static Parameter) -> bool {
    let (Domain::Integer(least, most) | Domain::Automatic(least, most)) = parameter.domain else { return false };
    let between = |value: u64| {
        let mut spec = Spec { kind: Some(row.kind), capacity: 1, ..Spec::default() };
        spec.set(parameter, value as f64).is_ok() && petal::geometry(&spec).is_ok()
    };
    let middle = least + (most - least) / 2;
    tried(parameter).len() > 1 && most - least >= 8 && between(middle) && between(middle + 1)
}

impl Variant {
    /// The name of the kind with the chosen values.
    pub fn name(&self) -> String {
        let value = |(parameter, value): &(&Parameter, f64)| match parameter.choices() {
            [] => format!("-{}_{value}", parameter.name),
            names => format!("-{}_{}", parameter.name, names[*value as usize]),
        };
        self.row.name.to_string() + &self.chosen.iter().map(value).collect::<String>()
    }

    fn default_spec(&self) -> Spec {
        let own = self.row.hash_functions().contains(&HashFunction::External);
        let hash = if own { HashFunction::External } else { self.row.hash_functions()[0] };
        let mut spec = Spec { kind: Some(self.row.kind), hash, capacity: 1, ..Spec::default() };
        self.chosen.iter().for_each(|(parameter, value)| spec.set(parameter, *value).expect("it was tried"));
        spec
    }

    /// The spec of a build of this number of keys. The seed and the number choose lengths, or a rate instead of
    /// lengths.
    fn spec(&self, keys: u64, seed: u64) -> Spec {
        let plain = Spec { capacity: keys.max(1), ..self.default_spec() };
        let turn = keys.wrapping_mul(61).wrapping_add(seed);
        let mut spec = plain;
        if turn % 4 == 3 {
            spec.false_positive_rate = (-((turn / 4 % 24 + 1) as f64)).exp2();
        } else {
            for (i, parameter) in self.lengths.iter().enumerate() {
                let (least, most) = parameter.bounds();
                let values = (most - least) as u64 + 1;
                // A parameter with very many values keeps its default.
                if values <= 1 << 8 {
                    let value = mix(turn << 8 | i as u64) % values;
                    spec.set(parameter, least + value as f64).expect("it is in the bounds");
                }
            }
        }
        let is_worth_it = petal::geometry(&spec).is_ok_and(|geometry| geometry.bits / MOST_BITS <= keys.max(64));
        if is_worth_it { spec } else { plain }
    }

    /// The numbers of keys above `from`, up to `to`, at which the unit of sizes changes. The unit changes, for example,
    /// where the segments of an array double. Sizes without a unit have no steps.
    pub fn steps(&self, from: u64, to: u64) -> Vec<u64> {
        let bits =
            |keys| petal::geometry(&Spec { capacity: keys, ..self.default_spec() }).map_or(0, |geometry| geometry.bits);
        let mut sizes: Vec<(u64, u64)> = (from..=to).map(|keys| (keys, bits(keys))).collect();
        sizes.dedup_by_key(|size| size.1);
        if sizes.len() as u64 > (to - from) / 16 {
            return Vec::new();
        }
        // The unit is the common divisor of consecutive sizes.
        let units: Vec<(u64, u64)> = sizes.windows(2).map(|pair| (pair[1].0, divisor(pair[0].1, pair[1].1))).collect();
        units.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| pair[1].0).collect()
    }

    /// Builds the variant of this number of keys, which differ between seeds, and looks up all of them.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self, keys: u64, seed: u64) -> Result<Sizes, String> {
        let spec = self.spec(keys, seed);
        let hashes: Vec<u64> = (0..keys).map(|i| mix(seed << 40 | i)).collect();
        self.check_hashes(&spec, &hashes)
            .map_err(|error| format!("{} of {keys} keys, seed {seed}: {error}", self.name()))
    }

    fn check_hashes(&self, spec: &Spec, hashes: &[u64]) -> Result<Sizes, String> {
        let bits = if self.row.is_map() { check_map(spec, hashes)? } else { check_filter(spec, hashes)? };
        let expected = petal::geometry(spec).map_err(|error| error.to_string())?.bits;
        // The last parts of a structure may be larger than expected, which matters for small structures.
        if bits > expected + expected / 20 + 4096 {
            return Err(format!("{bits} bits where {expected} were to be expected"));
        }
        Ok(Sizes { bits, expected })
    }

    /// Builds the variant of keys with these hashes, which may be any.
    ///
    /// # Errors
    /// Says what is wrong. The size may be any, because chosen hashes can take more bits.
    pub fn check_any(&self, hashes: &[u64], turn: u64) -> Result<(), String> {
        let mut distinct = hashes.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let spec = self.spec(distinct.len() as u64, turn);
        let checked = match self.row.is_map() {
            true => check_map(&spec, hashes),
            false => check_filter(&spec, hashes),
        };
        checked.map(drop).map_err(|error| format!("{}: {error}", self.name()))
    }

    /// The function that a kind of filter applies to hashes before sorting.
    pub fn order(&self) -> Option<fn(u64) -> u64> {
        match self.row.structure {
            Structure::StaticFilter { order, .. } => Some(order),
            _ => None,
        }
    }

    /// Builds a map of keys with these identities, which may be any, and looks up all values. A kind that is no map
    /// succeeds.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check_identities(&self, ids: &[u128], turn: u64) -> Result<(), String> {
        if !self.row.is_map() {
            return Ok(());
        }
        let spec = self.spec(ids.len() as u64, turn);
        let value = |id: u128| mix(id as u64 ^ mix(!(id >> 64) as u64)) >> (64 - value_bits(&spec));
        let made = || -> petal::Result<Map> {
            let mut builder = MapBuilder::new(&spec, BuilderOptions::default())?;
            ids.iter().try_for_each(|id| builder.put_id(*id, value(*id)))?;
            builder.finish()
        };
        let map = made().map_err(|error| format!("{}: {error}", self.name()))?;
        let wrong = ids.iter().filter(|id| map.get_id(**id) != Some(value(**id))).count();
        match wrong {
            0 => Ok(()),
            _ => Err(format!("{}: {wrong} of {} values are wrong", self.name(), ids.len())),
        }
    }
}

/// The number of bits of values.
fn value_bits(spec: &Spec) -> u32 {
    spec.parameter(&VALUE_BITS).map_or(64, |bits| if bits == 0 { 64 } else { bits as u32 })
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// A few of the keys for single lookups, which may take long.
fn some(keys: usize) -> impl Iterator<Item = usize> {
    (0..keys).step_by(keys / 8 + 1)
}

fn check_filter(spec: &Spec, hashes: &[u64]) -> Result<u64, String> {
    let made = || -> petal::Result<Filter> {
        let mut builder = Builder::new(spec, BuilderOptions::default())?;
        builder.add_batch(&Keys::Hashes(hashes)).outcome?;
        builder.finish()
    };
    let filter = made().map_err(|error| error.to_string())?;
    filter.payload().check_payload().map_err(|error| error.to_string())?;
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(hashes), &mut answers).map_err(|error| error.to_string())?;
    let missing = hashes.len() as u64 - answers.true_count;
    let lost = some(hashes.len()).filter(|i| !filter.contains_hash(hashes[*i])).count();
    match (missing, lost) {
        (0, 0) => Ok(filter.base().geometry().bits),
        _ => Err(format!("{missing} keys are missing from a batch, {lost} of a few one by one")),
    }
}

fn check_map(spec: &Spec, hashes: &[u64]) -> Result<u64, String> {
    let values: Vec<u64> = hashes.iter().map(|hash| mix(!hash) >> (64 - value_bits(spec))).collect();
    let made = || -> petal::Result<Map> {
        let mut builder = MapBuilder::new(spec, BuilderOptions::default())?;
        builder.put_batch(&Keys::Hashes(hashes), &values).outcome?;
        builder.finish()
    };
    let map = made().map_err(|error| error.to_string())?;
    map.payload().check_payload().map_err(|error| error.to_string())?;
    let mut read = vec![0; hashes.len()];
    let mut answers = Answers { values: Some(&mut read), ..Answers::default() };
    map.get_batch(&Keys::Hashes(hashes), &mut answers).map_err(|error| error.to_string())?;
    let missing = hashes.len() as u64 - answers.true_count;
    let wrong = read.iter().zip(&values).filter(|(read, value)| read != value).count();
    let lost = some(hashes.len()).filter(|i| map.get_hash(hashes[*i]).ok().flatten() != Some(values[*i])).count();
    match (missing, wrong, lost) {
        (0, 0, 0) => Ok(map.base().geometry().bits),
        _ => Err(format!(
            "{missing} keys are missing from a batch, {wrong} values are wrong, {lost} of a few one by one"
        )),
    }
}
