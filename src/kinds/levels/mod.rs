//! The kinds that can be levels of a filter that holds several bit arrays in one payload: those whose payload is a
//! single bit array.

pub(crate) mod batch;
pub(crate) mod union;

use super::{blocked, bloom, split_block};
use crate::blocks::BitLayout;
use crate::blocks::block_array::BlockArray;
use crate::contract::Row;
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::simd::Instructions;
use crate::sizing::{hash_floor, levels};
use crate::spec::{Domain, Parameter, Spec};
use crate::storage::try_box;

/// A layout over a geometry; `None` if it is not one of the layout's.
type Open = fn(&Geometry, Instructions) -> Result<Option<Box<dyn BitLayout>>>;

/// A kind that can be a level.
pub struct LevelKind {
    /// The row of the kind.
    pub row: &'static Row,
    /// The most bits that a key sets in a level.
    pub max_hashes: u32,
    open: Open,
}

/// All kinds of level. Images keep the place in this list, so it only grows at its end.
pub static LEVELS: [LevelKind; NAMES.len()] = [
    LevelKind { row: &bloom::ROW, max_hashes: MAX_HASHES, open: open::<bloom::layout::Bloom> },
    LevelKind {
        row: &split_block::ROW,
        max_hashes: split_block::ROW.hashes.1,
        open: open::<BlockArray<split_block::SplitBlock>>,
    },
    // In a level a key has one block. Every level is asked for a key, so two lines in each would cost much time for a
    // few bits.
    LevelKind {
        row: &blocked::ROW,
        max_hashes: blocked::sizing::MAX_HASHES,
        open: open::<BlockArray<blocked::Blocked>>,
    },
];

const NAMES: [&str; 3] = [bloom::ROW.name, split_block::ROW.name, blocked::ROW.name];

/// What kind the levels are of.
pub const LEVEL: Parameter = Parameter {
    name: "level",
    summary: "the kind of the levels",
    default: 2.0,
    domain: Domain::Choice(&NAMES),
    word: Some(0),
};

/// A number of bits that is a multiple of the unit of every kind of level, and whole cache lines.
pub const LEVEL_UNIT: u64 = 512;

/// The most bits that a key sets in a level of any kind.
pub const MAX_HASHES: u32 = bloom::layout::MAX_HASHES;

impl LevelKind {
    /// The geometry of a level of exactly `bits` bits; `hashes` = 0 is the best for `capacity` keys.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] and [`Status::TooLarge`] if the kind cannot have it.
    pub fn geometry(&self, capacity: u64, bits: u64, hashes: u32) -> Result<Geometry> {
        self.row.geometry_of(&Spec { kind: Some(self.row.kind), capacity, bits, hashes, ..Spec::default() })
    }

    /// The layout of a level.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for a geometry that the kind cannot have, and [`Status::OutOfMemory`].
    pub fn open(&self, geometry: &Geometry, instructions: Instructions) -> Result<Box<dyn BitLayout>> {
        let name = self.row.name;
        (self.open)(geometry, instructions)?
            .ok_or_else(|| error!(Corrupt, "a level of the kind {name} cannot have {geometry:?}"))
    }
}

/// A level that takes `capacity` new keys at this rate: its bits, and how many of them a key sets. It has a little more
/// room than an ordinary filter, because some of the keys that come meanwhile seem to be there, and are not counted.
///
/// # Errors
/// The errors of the kind of the levels.
pub fn level_for(kind: &LevelKind, capacity: u64, rate: f64) -> Result<Geometry> {
    let mut keys = capacity;
    for _ in 0..64 {
        let spec = crate::Spec { kind: Some(kind.row.kind), ..crate::Spec::with_capacity(keys, rate)? };
        let sized = kind.row.geometry_of(&spec)?;
        let bits = sized.bits.checked_next_multiple_of(LEVEL_UNIT).ok_or(Status::TooLarge)?;
        let geometry = kind.geometry(keys, bits, sized.hashes)?;
        let seen = levels::seen(capacity as f64, |keys| (kind.row.false_positive_rate)(&geometry, keys));
        if (kind.row.false_positive_rate)(&geometry, seen.round() as u64) <= rate {
            return Ok(geometry);
        }
        keys = (seen.ceil() as u64).max(keys + 1);
    }
    Err(Status::Internal.into())
}

/// The least rate of a filter of levels of this kind, the first of which takes n keys. `of_level` gives the rate
/// of that level for a rate of the filter, and `of_filter` is its inverse.
pub fn least_rate(level: u64, keys: u64, of_level: impl Fn(f64) -> f64, of_filter: impl Fn(f64) -> f64) -> f64 {
    let row = LEVELS[level as usize % LEVELS.len()].row;
    let spec = crate::Spec { kind: Some(row.kind), ..crate::Spec::default() };
    let least = (row.least_rate)(&spec, keys).max(hash_floor(keys, 64));
    let mut rate = of_filter(least);
    // Rounding may give a level a little less.
    while of_level(rate) < least {
        rate *= 1.0 + f64::EPSILON;
    }
    rate
}

/// The most keys that a level may take at this rate.
pub fn capacity_at(kind: &LevelKind, geometry: &Geometry, rate: f64) -> u64 {
    let of = |keys| (kind.row.false_positive_rate)(geometry, keys);
    levels::taken(levels::most_keys(rate, geometry.bits / 10, of) as f64, of) as u64
}

fn open<L: BitLayout + 'static>(geometry: &Geometry, instructions: Instructions) -> Result<Option<Box<dyn BitLayout>>> {
    match L::of(geometry, instructions) {
        Some(layout) => Ok(Some(try_box(layout)?)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generic::bit_filter;
    use crate::registry::FILTERS;

    /// A new kind whose payload is one bit array is not forgotten here.
    #[test]
    fn every_bit_array_can_be_a_level() {
        let arrays = FILTERS.iter().filter(|row| row.capabilities == bit_filter::CAPABILITIES).map(|row| row.name);
        assert_eq!(arrays.collect::<Vec<_>>(), NAMES);
        for (kind, name) in LEVELS.iter().zip(NAMES) {
            assert_eq!(kind.row.name, name);
            assert_eq!(LEVEL_UNIT % kind.row.bits_unit(), 0, "{name}");
            assert!(kind.max_hashes <= kind.row.hashes.1.min(MAX_HASHES), "{name}");
            let geometry = kind.geometry(100, 2 * LEVEL_UNIT, 0).unwrap();
            let layout = kind.open(&geometry, crate::simd::best()).unwrap();
            assert_eq!(layout.words() as u64, 2 * LEVEL_UNIT / 64, "{name}");
        }
        assert_eq!(NAMES[LEVEL.default as usize], crate::registry::find(crate::registry::DEFAULT_KIND).unwrap().name);
    }
}
