//! The kind `mutable_bloomier`: a map that is built once, and in which the value of a key that is there can be replaced
//! at any time, in place. Keys can neither come nor go.
//!
//! The kind is the two-table form in which Chazelle, Kilian, Rubinfeld and Tal described the Bloomier filter, 2004
//! ([`crate::kinds::fuse::layout::own_cells`]). An absent key has a value with the probability 3 / 2^q, where q is
//! two more than the check bits. A value is replaced by one store, so readers take no lock.

use crate::batch::ring::Lookups;
use crate::batch::workers::Work;
use crate::blocks::Measure;
use crate::contract::{
    Base, Build, Building, Built, Capabilities, Entry, MapKind, Overfill, Payload, Row, Sizes, Structure, VALUE_BITS,
    over_base,
};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::fuse::layout::own_cells::{MAX_OWN_BITS, MIN_OWN_BITS, OwnCells, OwnShape};
use crate::kinds::solved::{bits_of_values, expected_value_bits};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;

/// The most check bits.
const MAX_CHECK_BITS: u32 = MAX_OWN_BITS - MIN_OWN_BITS;

/// The bits of a cell of the first table beyond the fewest that can tell three cells apart.
pub const CHECK_BITS: Parameter = Parameter {
    name: "check_bits",
    summary: "check bits of a key: a share of 3/4 of 2^-check_bits of the absent keys gets a value; 0 is what \
              false_positive_rate needs",
    default: 0.0,
    domain: Domain::Automatic(1, MAX_CHECK_BITS as u64),
    word: Some(1),
};

/// Cells of a key.
const CELLS: u32 = 3;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::MUTABLE_BLOOMIER,
    name: "mutable_bloomier",
    summary: "a map built once, whose values can be replaced in place",
    capabilities: Capabilities::REPLACE,
    parameters: &[&VALUE_BITS, &CHECK_BITS],
    structure: Structure::StaticMap { open, build },
    sizes: Sizes::ByKeys,
    geometry,
    lines_per_lookup: |geometry| f64::from(CELLS + 1).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| if keys == 0 { 0.0 } else { rate(geometry.words[1] as f64) },
    least_rate: |spec, _| spec.least_rate(&CHECK_BITS, |bits| Some(rate(bits as f64))),
    overfill: Overfill::IsBuilt,
    building: Building { build_memory: crate::kinds::fuse::sizing::build_memory, ..Building::BASE },
    ..Row::BASE
};

/// The false-positive rate with this many check bits.
fn rate(check_bits: f64) -> f64 {
    f64::from(CELLS) * (-check_bits - f64::from(MIN_OWN_BITS)).exp2()
}

/// The shape that a geometry describes, if it is one of this kind.
fn shape(geometry: &Geometry) -> Option<OwnShape> {
    let [value_bits, check_bits, shards, cells, keys, 0, 0, 0] = geometry.words else { return None };
    let (value_bits, check_bits) = (u32::try_from(value_bits).ok()?, u32::try_from(check_bits).ok()?);
    let shape = OwnShape::new(value_bits, check_bits.checked_add(MIN_OWN_BITS)?, shards, cells)?;
    let fits = geometry_of(&shape, keys).as_ref() == Some(geometry);
    (fits && keys <= cells && (keys == 0) == (shards == 0)).then_some(shape)
}

/// The geometry of a shape with `keys` keys.
fn geometry_of(shape: &OwnShape, keys: u64) -> Option<Geometry> {
    let payload_bytes = shape.words().checked_mul(8).filter(|bytes| image_bytes(*bytes).is_some())?;
    let (value_bits, check_bits) = (shape.value_bits().into(), (shape.own_bits() - MIN_OWN_BITS).into());
    let words = [value_bits, check_bits, shape.shards(), shape.cells(), keys, 0, 0, 0];
    Some(Geometry { bits: shape.bits(), hashes: CELLS, words, payload_bytes })
}

/// The check bits that a spec asks for, for `keys` keys with values of `value_bits` bits.
fn check_bits(spec: &Spec, size: Size, value_bits: u32, keys: u64) -> Result<u32> {
    let bits = |check_bits| Some(OwnShape::expected(value_bits, check_bits as u32 + MIN_OWN_BITS, keys)?.bits());
    Ok(spec.choose(size, &CHECK_BITS, |bits| Some(rate(bits as f64)), bits)? as u32)
}

/// The expected geometry for a spec.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (capacity, value_bits) = (size.capacity(), expected_value_bits(spec, size)?);
    let check_bits = check_bits(spec, size, value_bits, capacity)?;
    OwnShape::expected(value_bits, check_bits + MIN_OWN_BITS, capacity)
        .and_then(|shape| geometry_of(&shape, capacity))
        .ok_or_else(|| size.too_large())
}

/// Makes the payload.
fn build(build: &mut Build<Entry>) -> Result<Built> {
    let Build { spec, size, records, memory, threads, ref mut progress, .. } = *build;
    let keys = records.count();
    let value_bits = bits_of_values(spec, records)?.max(1);
    let check_bits = check_bits(spec, size, value_bits, keys)?;
    let mut work = Work { memory, threads, progress: &mut **progress };
    let (shape, words) = OwnCells::build(records, value_bits, check_bits + MIN_OWN_BITS, &mut work)?;
    let geometry = geometry_of(&shape, keys).ok_or(crate::Status::TooLarge)?;
    Ok(Built { geometry, words })
}

/// A map over a payload.
struct MutableBloomier {
    base: Base,
    shape: OwnShape,
}

fn open(base: Base) -> Result<Box<dyn MapKind>> {
    let shape = base.known(shape(base.geometry()))?;
    Ok(try_box(MutableBloomier { shape, base })?)
}

impl MutableBloomier {
    #[inline]
    fn cells(&self) -> OwnCells<'_> {
        OwnCells::new(self.shape, self.base.words().shared())
    }
}

impl Payload for MutableBloomier {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl MapKind for MutableBloomier {
    #[inline]
    fn get_one(&self, id: u128) -> Option<u64> {
        self.cells().get(id)
    }

    fn get_many(&self, batch: &mut dyn Lookups) {
        self.cells().get_many(batch);
    }

    fn fetch(&self, id: u128) {
        self.cells().fetch(id);
    }

    fn greatest_value(&self) -> u64 {
        u64::MAX >> (64 - self.shape.value_bits())
    }

    /// Each key took a cell when the array was solved.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let geometry = self.base.geometry();
        let keys = geometry.words[4];
        progress(geometry.payload_bytes);
        Measure::of_cells(keys, self.shape.cells(), (ROW.false_positive_rate)(geometry, keys))
    }

    fn unmarked(&self, id: u128) -> Option<usize> {
        let cells = self.cells();
        self.base.unmarked(cells.word(cells.cell(id)?))
    }

    fn replace_at_once(&mut self, id: u128, value: u64) -> Option<bool> {
        let cell = self.cells().cell(id);
        let words = self.base.writable_at_once()?;
        if let Some(cell) = cell {
            OwnCells::replace(&self.shape, words, cell, value);
        }
        Some(cell.is_some())
    }
}
