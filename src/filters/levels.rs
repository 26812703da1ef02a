//! The kinds that can be levels of a filter that holds several bit arrays in one payload: those whose payload is one.

use super::{blocked, bloom, split_block};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::kind::Row;
use crate::layouts::block_array::BlockArray;
use crate::layouts::{BitLayout, classic};
use crate::simd::Instructions;
use crate::spec::{Domain, Parameter, Spec};
use crate::storage::try_box;

/// A layout over a geometry; `None` if it is not one of the layout's.
type Open = fn(&Geometry, Instructions) -> Result<Option<Box<dyn BitLayout>>>;

/// A kind that can be a level.
pub struct LevelKind {
    /// Its row.
    pub row: &'static Row,
    open: Open,
}

/// All of them. Images keep the place in this list, so it only grows at its end.
pub static LEVELS: [LevelKind; NAMES.len()] = [
    LevelKind { row: &bloom::ROW, open: open::<classic::Classic> },
    LevelKind { row: &split_block::ROW, open: open::<BlockArray<split_block::SplitBlock>> },
    LevelKind { row: &blocked::ROW, open: open::<BlockArray<blocked::Blocked>> },
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
pub const MAX_HASHES: u32 = classic::MAX_HASHES;

impl LevelKind {
    /// The geometry of a level of exactly so many bits; `hashes` = 0 is the best for `capacity` keys.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) and [`Status::TooLarge`](crate::Status::TooLarge) where the
    /// kind cannot have it.
    pub fn geometry(&self, capacity: u64, bits: u64, hashes: u32) -> Result<Geometry> {
        self.row.geometry_of(&Spec { kind: Some(self.row.kind), capacity, bits, hashes, ..Spec::default() })
    }

    /// The layout of a level.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry that the kind cannot have;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn open(&self, geometry: &Geometry, instructions: Instructions) -> Result<Box<dyn BitLayout>> {
        let name = self.row.name;
        (self.open)(geometry, instructions)?
            .ok_or_else(|| error!(Corrupt, "a level of the kind {name} cannot have {geometry:?}"))
    }
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
    use crate::filters::bit_filter;
    use crate::registry::FILTERS;

    /// A new kind whose payload is one bit array is not forgotten here.
    #[test]
    fn every_bit_array_can_be_a_level() {
        let arrays = FILTERS.iter().filter(|row| row.capabilities == bit_filter::CAPABILITIES).map(|row| row.name);
        assert_eq!(arrays.collect::<Vec<_>>(), NAMES);
        for (kind, name) in LEVELS.iter().zip(NAMES) {
            assert_eq!(kind.row.name, name);
            assert_eq!(LEVEL_UNIT % kind.row.bits_unit(), 0, "{name}");
            assert!(kind.row.hashes.1 <= MAX_HASHES, "{name}");
            let geometry = kind.geometry(100, 2 * LEVEL_UNIT, 0).unwrap();
            let layout = kind.open(&geometry, crate::simd::best()).unwrap();
            assert_eq!(layout.words() as u64, 2 * LEVEL_UNIT / 64, "{name}");
        }
        assert_eq!(NAMES[LEVEL.default as usize], crate::registry::find(crate::registry::DEFAULT_KIND).unwrap().name);
    }
}
