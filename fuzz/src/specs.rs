//! Specs, possible and impossible ones, from the fuzzer's bytes.

use arbitrary::{Arbitrary, Result, Unstructured};
use petal::format::Geometry;
use petal::registry;
use petal::{Capabilities, HashFunction, KindId, Mode, Row, Secret, Setting, Spec};

/// The secret key of every keyed filter.
pub const SECRET: Secret = *b"the fuzzer's key";

/// The largest image that is made.
pub const LARGEST: u64 = 16 << 10;

/// Whether images of a kind and this geometry open in this mode.
pub fn opens(row: &Row, geometry: &Geometry, mode: Mode) -> bool {
    let capabilities = row.capabilities_of(geometry);
    match mode {
        Mode::Load | Mode::Read => true,
        Mode::Write if row.is_map() => {
            capabilities.contains(Capabilities::PUT) || capabilities.contains(Capabilities::REPLACE)
        }
        Mode::Write => !row.form.moves_entries,
        Mode::Share => capabilities.contains(Capabilities::INSERT_SHARED),
    }
}

/// A spec of any kind of filter or map that the registry knows and that takes all keys, or of none.
pub fn spec(input: &mut Unstructured) -> Result<Spec> {
    let rows: Vec<&Row> = registry::all().filter(|row| row.hashing.universe.is_none()).collect();
    let row = *input.choose(&rows)?;
    let hash = *input.choose(&HashFunction::ALL)?;
    let keyed = hash == HashFunction::SipHash13;
    let mut spec = Spec { kind: Some(row.kind), hash, secret: keyed.then_some(SECRET), ..Spec::default() };
    if !keyed {
        spec.seed = *input.choose(&[0, 1, u64::MAX])?;
    }
    if input.ratio(2, 3)? {
        spec.capacity = input.int_in_range(0..=300)?;
        spec.false_positive_rate = *input.choose(&[0.0, 0.5, 0.1, 0.01, 1e-4, 1e-9, 1.0 - f64::EPSILON])?;
    } else {
        spec.bits = input.int_in_range(0..=64)? * *input.choose(&[1, 64, 77, 256])?;
        spec.hashes = input.int_in_range(0..=9)?;
        spec.capacity = input.int_in_range(0..=20)?;
    }
    for (parameter, setting) in row.parameters.iter().zip(&mut spec.parameters) {
        if bool::arbitrary(input)? {
            let (minimum, maximum) = parameter.bounds();
            let value = input.int_in_range(minimum as u64..=maximum as u64)?;
            *setting = Setting { id: parameter.id(), value: value as f64 };
        }
    }
    // Most wrong specs are wrong in one thing.
    if input.ratio(1, 8)? {
        match input.int_in_range(0..=8)? {
            0 => spec.kind = Some(KindId(u32::arbitrary(input)?)),
            1 => spec.capacity = u64::arbitrary(input)?,
            2 => spec.false_positive_rate = f64::arbitrary(input)?,
            3 => spec.bits = u64::arbitrary(input)?,
            4 => spec.hashes = u32::arbitrary(input)?,
            5 => spec.seed = u64::arbitrary(input)?,
            6 => spec.secret = (!keyed).then_some(SECRET),
            7 => spec.parameters[0].value = f64::arbitrary(input)?,
            _ => spec.parameters[7] = Setting { id: u32::arbitrary(input)?, value: f64::arbitrary(input)? },
        }
    }
    Ok(spec)
}
