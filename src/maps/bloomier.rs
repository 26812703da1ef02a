//! The kind `bloomier`: a map that is built once, and keeps no keys. The exact value for each key that it was built
//! from; of other keys it says that they are not there, but for a share of 2^-c for c check bits.
//!
//! Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier Filter", 2004, described the structure; this is its later form,
//! in one table: three cells of a key hold, by exclusive or, its value and check bits. The cells are those of the fuse
//! structure ([`crate::layouts::fuse`]), so there are about 1.13 of them a key.

use super::VALUE_BITS;
use crate::bits::ring::Lookups;
use crate::error::{Result, error};
use crate::format::{Geometry, image_bytes};
use crate::kind::{Base, Build, Built, Entry, MapKind, Overfill, Payload, Records, Row, Sizes, Structure};
use crate::layouts::Measure;
use crate::layouts::fuse::{MAX_CHECK_BITS, ValueShape, Values, Work};
use crate::spec::{Domain, KindId, Number, Parameter, Size, Spec};
use crate::storage::try_box;

/// The check bits.
pub const CHECK_BITS: Parameter = Parameter {
    name: "check_bits",
    summary: "bits that tell keys which are not there: all but 2^-check_bits of them; 0 takes what \
              false_positive_rate needs",
    default: 0.0,
    domain: Domain::Integer(0, MAX_CHECK_BITS as u64),
    word: Some(1),
};

/// Cells of a key.
const CELLS: u32 = 3;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(7),
    name: "bloomier",
    summary: "a map built once: the exact value of each key, and of other keys that they are not there",
    parameters: &[&VALUE_BITS, &CHECK_BITS],
    structure: Structure::Map { open, build },
    sizes: Sizes::ByKeys,
    geometry,
    lines_per_lookup: |geometry| match shape(geometry) {
        Some(shape) if shape.is_apart() => f64::from(2 * CELLS),
        _ => f64::from(CELLS),
    },
    false_positive_rate: |geometry, keys| if keys == 0 { 0.0 } else { (-(geometry.words[1] as f64)).exp2() },
    overfill: Overfill::IsBuilt,
    ..Row::BASE
};

/// The shape that a geometry describes, if it is one of this kind.
fn shape(geometry: &Geometry) -> Option<ValueShape> {
    let [value_bits, check_bits, shards, cells, keys, 0, 0, 0] = geometry.words else { return None };
    let (value_bits, check_bits) = (u32::try_from(value_bits).ok()?, u32::try_from(check_bits).ok()?);
    let shape = ValueShape::new(value_bits, check_bits, shards, cells)?;
    (geometry_of(&shape, keys).as_ref() == Ok(geometry) && keys <= cells && (keys == 0) == (shards == 0))
        .then_some(shape)
}

/// The geometry of a shape with so many keys.
fn geometry_of(shape: &ValueShape, keys: u64) -> core::result::Result<Geometry, ()> {
    let (value_bits, check_bits) = (u64::from(shape.value_bits()), u64::from(shape.check_bits()));
    let payload_bytes = shape.words().checked_mul(8).filter(|bytes| image_bytes(*bytes).is_some()).ok_or(())?;
    Ok(Geometry {
        bits: shape.cells().checked_mul(value_bits + check_bits).ok_or(())?,
        hashes: CELLS,
        words: [value_bits, check_bits, shape.shards(), shape.cells(), keys, 0, 0, 0],
        payload_bytes,
    })
}

/// The check bits that a spec asks for, for values of so many bits in so many cells.
fn check_bits(spec: &Spec, size: Size, value_bits: u32, cells: u64) -> Result<u32> {
    let set = spec.parameter(&CHECK_BITS)? as u32;
    match size {
        Size::Exact { bits, .. } if set != 0 => {
            Err(error!(Contradiction, "bits = {bits} and check_bits = {set}: give one of them"))
        }
        Size::Exact { bits, .. } => {
            let each = bits / cells.max(1);
            if each <= u64::from(value_bits) {
                let least = u128::from(cells) * u128::from(value_bits + 1);
                return Err(error!(
                    OutOfRange,
                    "bits = {bits} are less than the {least} of the cells for values of {value_bits} bits"
                ));
            }
            Ok((each - u64::from(value_bits)).min(MAX_CHECK_BITS.into()) as u32)
        }
        Size::Rate { false_positive_rate: rate, .. } => {
            let given = Number(rate);
            let needed = (-rate.log2()).ceil().max(1.0);
            if set != 0 && spec.false_positive_rate != 0.0 && needed > f64::from(set) {
                return Err(error!(
                    Contradiction,
                    "check_bits = {set} and false_positive_rate = {given}, which needs {needed}: give one of them"
                ));
            }
            if set == 0 && needed > f64::from(MAX_CHECK_BITS) {
                let least = Number((-f64::from(MAX_CHECK_BITS)).exp2());
                return Err(error!(
                    OutOfRange,
                    "false_positive_rate = {given} is below {least}, the least of bloomier"
                ));
            }
            Ok(if set == 0 { needed as u32 } else { set })
        }
    }
}

/// The geometry to expect. Values whose bits are not given have, for all that is known, 64.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (Size::Rate { capacity, .. } | Size::Exact { capacity, .. }) = size;
    let value_bits = match (spec.parameter(&VALUE_BITS)? as u32, size) {
        (0, Size::Exact { bits, .. }) => {
            return Err(error!(Contradiction, "bits = {bits} of a map needs value_bits, which its size depends on"));
        }
        (0, Size::Rate { .. }) => 64,
        (value_bits, _) => value_bits,
    };
    let too_large = || error!(TooLarge, "capacity = {capacity} needs more bits than the address space holds");
    let cells = ValueShape::expected(value_bits, 1, capacity).ok_or_else(too_large)?.cells();
    let check_bits = check_bits(spec, size, value_bits, cells)?;
    let shape = ValueShape::expected(value_bits, check_bits, capacity).ok_or_else(too_large)?;
    geometry_of(&shape, capacity).map_err(|()| too_large())
}

/// How many bits the largest value has.
fn bits_of_values(entries: &dyn Records<Entry>) -> Result<u32> {
    let mut all = 0;
    entries.for_each(&mut |entries| {
        all |= entries.iter().fold(0, |all, entry| all | entry.value);
        Ok(())
    })?;
    Ok(64 - all.leading_zeros())
}

/// Makes the payload.
fn build(build: &mut Build<Entry>) -> Result<Built> {
    let Build { spec, records, memory, threads, ref mut progress } = *build;
    let (size, keys) = (spec.size()?, records.count());
    let needed = bits_of_values(records)?;
    let value_bits = match spec.parameter(&VALUE_BITS)? as u32 {
        0 => needed,
        given if given < needed => {
            return Err(error!(OutOfRange, "a value has {needed} bits, more than value_bits = {given}"));
        }
        given => given,
    };
    let expected = ValueShape::expected(1, 1, keys).map_or(0, |shape| shape.cells());
    let mut check_bits = check_bits(spec, size, value_bits, expected)?;
    loop {
        let mut work = Work { memory, threads, progress: &mut **progress };
        let (shape, words) = Values::build(records, value_bits, check_bits, &mut work)?;
        // Keys that are spread unevenly may have taken more cells than was expected.
        let fitting = self::check_bits(spec, size, value_bits, shape.cells())?;
        if fitting >= check_bits {
            let geometry = geometry_of(&shape, keys).map_err(|()| crate::Status::TooLarge)?;
            return Ok(Built { geometry, words });
        }
        check_bits = fitting;
    }
}

/// A map over a payload.
struct Bloomier {
    base: Base,
    shape: ValueShape,
}

fn open(base: Base) -> Result<Box<dyn MapKind>> {
    match shape(base.geometry()) {
        Some(shape) => Ok(try_box(Bloomier { shape, base })?),
        None => Err(base.foreign_geometry()),
    }
}

impl Bloomier {
    #[inline]
    fn values(&self) -> Values<'_> {
        Values::new(self.shape, self.base.words().shared())
    }
}

impl Payload for Bloomier {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl MapKind for Bloomier {
    #[inline]
    fn get_one(&self, id: u128) -> Option<u64> {
        self.values().get(id)
    }

    fn get_many(&self, batch: &mut dyn Lookups) {
        self.values().get_many(batch);
    }

    /// Each key took a cell when the array was solved.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let geometry = self.base.geometry();
        let keys = geometry.words[4];
        progress(geometry.payload_bytes);
        Measure {
            taken: keys,
            fill: keys as f64 / self.shape.cells().max(1) as f64,
            saturated: 0,
            false_positive_rate: (ROW.false_positive_rate)(geometry, keys),
        }
    }
}
