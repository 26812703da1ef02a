//! The kind `approximator`: a map that is made empty and takes values at any time. What is read of a key is its value
//! or more, in the order of a lattice: numbers under maximum or minimum, or sets of bits under union. A key that was
//! given several values has their join. [`layout`] has the structure.
//!
//! A key that was given no value reads the least element, except at the false-positive rate; such a key is not there.
//! Neither is one whose value is the least element: 0, or for `min` the greatest number.

pub mod layout;
pub mod sizing;

use crate::batch::ring;
use crate::blocks::Measure;
use crate::blocks::word_cells::WordCells;
use crate::contract::{Base, Capabilities, MapKind, Payload, Row, Sizes, Structure, VALUE_BITS, over_base};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::bits_for;
use crate::kinds::bloom::layout::MAX_HASHES;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use layout::{Lattice, LatticeCells};

/// The lattice.
pub const LATTICE: Parameter = Parameter {
    name: "lattice",
    summary: "how two values of one key are joined: the greater one, the smaller one, or the union of their bits",
    default: 0.0,
    domain: Domain::Choice(Lattice::NAMES),
    word: Some(1),
};

/// The bits of a value.
const BITS_OF_VALUE: Parameter = Parameter {
    summary: "bits of a value; a word of 64 bits holds floor(64 / value_bits) values",
    default: 64.0,
    domain: Domain::Integer(1, 64),
    ..VALUE_BITS
};

/// Bits of the words that hold the cells.
const WORD: u64 = 64;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::APPROXIMATOR,
    name: "approximator",
    summary: "a map that starts empty: a key's value or a bound on it, by max, min or union of bits; merges",
    capabilities: Capabilities::PUT.with(Capabilities::CLEAR).with(Capabilities::MERGE),
    parameters: &[&BITS_OF_VALUE, &LATTICE],
    structure: Structure::Map { open, joined: Some(|geometry, read, value| cells_of(geometry)?.joined(read, value)) },
    sizes: Sizes::Multiples(WORD),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| match cells_of(geometry) {
        Some(cells) => sizing::read_above(cells.cells().cells(), geometry.hashes, keys),
        None => 1.0,
    },
    ..Row::BASE
};

/// The geometry that a spec asks for: a Bloom filter's, with a cell for each bit.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let value_bits = spec.parameter(&BITS_OF_VALUE)?;
    let in_word = WordCells::in_word(value_bits as u32);
    let words = [value_bits, spec.parameter(&LATTICE)?, 0, 0, 0, 0, 0, 0];
    let all = |cells: u64| cells.div_ceil(in_word).checked_mul(WORD);
    let (bits, hashes) = bits_for(size, MAX_HASHES, WORD, all, |bits| bits / WORD * in_word)?;
    Geometry::of_bits(bits, hashes, words)
}

/// The cells that a geometry describes, if it is one of this kind.
fn cells_of(geometry: &Geometry) -> Option<LatticeCells> {
    let [value_bits, lattice, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
    let bits = u32::try_from(value_bits).ok().filter(|bits| (1..=64).contains(bits))?;
    if !geometry.bits.is_multiple_of(WORD) || !geometry.is_of_bits() {
        return None;
    }
    let cells = geometry.bits / WORD * WordCells::in_word(bits);
    LatticeCells::new(Lattice::from_number(lattice)?, bits, cells, geometry.hashes)
}

fn open(base: Base) -> Result<Box<dyn MapKind>> {
    let cells = base.known(cells_of(base.geometry()))?;
    Ok(try_box(Approximator { base, cells })?)
}

/// A map over cells.
struct Approximator {
    base: Base,
    cells: LatticeCells,
}

impl Payload for Approximator {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        match self.cells.cells().is_clean(self.base.words().shared()) {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits of the payload that belong to no cell are not 0")),
        }
    }
}

impl MapKind for Approximator {
    #[inline]
    fn get_one(&self, id: u128) -> Option<u64> {
        self.cells.get(self.base.words().shared(), id)
    }

    fn fetch(&self, id: u128) {
        if ring::is_far(self.base.words().shared().len()) {
            self.cells.fetch(self.base.words().shared(), id);
        }
    }

    fn greatest_value(&self) -> u64 {
        self.cells.cells().mask()
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.cells.measure(self.base.words().shared(), progress)
    }

    fn keys_of(&self, measure: &Measure) -> Option<f64> {
        self.cells.keys_of(measure.taken)
    }

    fn unmarked(&self, id: u128) -> Option<usize> {
        let mut found = None;
        self.cells.visit_words(id, |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        found
    }

    fn put_at_once(&mut self, id: u128, value: u64) -> Option<bool> {
        let changed = self.cells.put(self.base.writable_at_once()?, id, value);
        self.base.add_count(1);
        Some(changed)
    }

    fn merge_with(&mut self, other: &dyn MapKind) -> Result<()> {
        self.cells.join_all(self.base.writable()?, other.base().words().shared());
        Ok(())
    }
}
