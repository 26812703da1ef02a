//! Maps that are solved: a system of linear equations over the keys, in which the cells of each key come to its value
//! and its check bits, together in one cell or apart in two arrays. `bloomier` and `retrieval` are such maps, and differ
//! in their check bits only.
//!
//! The cells are those of the fuse structure ([`crate::layouts::fuse`]), so there are about 1.13 of them a key.

use super::VALUE_BITS;
use crate::bits::ring::Lookups;
use crate::error::{Result, error};
use crate::format::{Geometry, image_bytes};
use crate::kind::{Base, Build, Built, Entry, MapKind, Payload, Records};
use crate::layouts::Measure;
use crate::layouts::fuse::{ValueShape, Values, Work};
use crate::spec::{Size, Spec};
use crate::storage::try_box;
use core::ops::RangeInclusive;

/// Cells of a key.
const CELLS: u32 = 3;

/// How many check bits a spec asks for, for values of so many bits in so many cells.
pub type CheckBits = fn(&Spec, Size, u32, u64) -> Result<u32>;

/// Cache lines that a lookup touches.
pub fn lines_per_lookup(geometry: &Geometry) -> f64 {
    match shape(geometry) {
        Some(shape) if shape.is_apart() => f64::from(2 * CELLS),
        _ => f64::from(CELLS),
    }
}

/// The shape that a geometry describes, if it is one of this kind.
fn shape(geometry: &Geometry) -> Option<ValueShape> {
    let [value_bits, check_bits, shards, cells, keys, 0, 0, 0] = geometry.words else { return None };
    let (value_bits, check_bits) = (u32::try_from(value_bits).ok()?, u32::try_from(check_bits).ok()?);
    let shape = ValueShape::new(CELLS, value_bits, check_bits, shards, cells)?;
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

/// The geometry to expect. Values whose bits are not given have, for all that is known, 64.
pub fn geometry(spec: &Spec, size: Size, check_bits: CheckBits) -> Result<Geometry> {
    let (Size::Rate { capacity, .. } | Size::Exact { capacity, .. }) = size;
    let value_bits = match (spec.parameter(&VALUE_BITS)? as u32, size) {
        (0, Size::Exact { bits, .. }) => {
            return Err(error!(Contradiction, "bits = {bits} of a map needs value_bits, which its size depends on"));
        }
        (0, Size::Rate { .. }) => 64,
        (value_bits, _) => value_bits,
    };
    let too_large = || error!(TooLarge, "capacity = {capacity} needs more bits than the address space holds");
    let cells = ValueShape::expected(CELLS, value_bits, 1, capacity).ok_or_else(too_large)?.cells();
    let check_bits = check_bits(spec, size, value_bits, cells)?;
    let shape = ValueShape::expected(CELLS, value_bits, check_bits, capacity).ok_or_else(too_large)?;
    geometry_of(&shape, capacity).map_err(|()| too_large())
}

/// The bits of a value: those that a spec says, or as many as the largest value has.
///
/// # Errors
/// [`Status::OutOfRange`](crate::Status::OutOfRange) if these are more.
pub fn bits_of_values(spec: &Spec, entries: &dyn Records<Entry>) -> Result<u32> {
    let mut all = 0;
    entries.for_each(&mut |entries| {
        all |= entries.iter().fold(0, |all, entry| all | entry.value);
        Ok(())
    })?;
    let needed = 64 - all.leading_zeros();
    match spec.parameter(&VALUE_BITS)? as u32 {
        0 => Ok(needed),
        given if given < needed => Err(error!(OutOfRange, "a value has {needed} bits, more than value_bits = {given}")),
        given => Ok(given),
    }
}

/// Makes the payload of a map that has as many check bits as `wanted` says.
pub fn build(build: &mut Build<Entry>, wanted: CheckBits) -> Result<Built> {
    let Build { spec, records, memory, threads, ref mut progress } = *build;
    let (size, keys) = (spec.size()?, records.count());
    let value_bits = bits_of_values(spec, records)?;
    let expected = ValueShape::expected(CELLS, 1, 1, keys).map_or(0, |shape| shape.cells());
    let mut check_bits = wanted(spec, size, value_bits, expected)?;
    loop {
        let mut work = Work { memory, threads, progress: &mut **progress };
        // A cell has a bit at least.
        let value_bits = value_bits.max(u32::from(check_bits == 0));
        let (shape, words) = Values::build(records, CELLS, value_bits, check_bits, &mut work)?;
        // Keys that are spread unevenly may have taken more cells than was expected.
        let fitting = wanted(spec, size, value_bits, shape.cells())?;
        if fitting >= check_bits {
            let geometry = geometry_of(&shape, keys).map_err(|()| crate::Status::TooLarge)?;
            return Ok(Built { geometry, words });
        }
        check_bits = fitting;
    }
}

/// A map over a payload.
struct Solved {
    base: Base,
    shape: ValueShape,
}

/// The map over a payload that was solved, with so many check bits.
///
/// # Errors
/// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry that no such map has.
pub fn open(base: Base, check_bits: RangeInclusive<u32>) -> Result<Box<dyn MapKind>> {
    match shape(base.geometry()).filter(|shape| check_bits.contains(&shape.check_bits())) {
        Some(shape) => Ok(try_box(Solved { shape, base })?),
        None => Err(base.foreign_geometry()),
    }
}

impl Solved {
    #[inline]
    fn values(&self) -> Values<'_> {
        Values::new(self.shape, self.base.words().shared())
    }
}

impl Payload for Solved {
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

impl MapKind for Solved {
    #[inline]
    fn get_one(&self, id: u128) -> Option<u64> {
        self.values().get(id)
    }

    fn get_many(&self, batch: &mut dyn Lookups) {
        self.values().get_many(batch);
    }

    fn greatest_value(&self) -> u64 {
        u64::MAX.checked_shr(64 - self.shape.value_bits()).unwrap_or(0)
    }

    /// Each key took a cell when the array was solved.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let geometry = self.base.geometry();
        let keys = geometry.words[4];
        progress(geometry.payload_bytes);
        Measure::of_cells(keys, self.shape.cells(), (self.base.row().false_positive_rate)(geometry, keys))
    }
}
