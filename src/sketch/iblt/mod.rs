//! The kind `iblt`: an invertible Bloom lookup table (Eppstein and Goodrich 2007, Goodrich and Mitzenmacher 2011) as
//! difference digest (Eppstein, Goodrich, Uyeda and Varghese 2011). A set of 64-bit numbers in as many cells as the
//! differences of two such sets need, however large the sets are.
//!
//! Each number has a cell in each of 3 to 7 sub-tables. A cell holds how many numbers it has, their sum by XOR, the sum
//! of their checks, and the sum of their values if they have any. Listing takes the number of a cell that has only one,
//! as its check confirms, and removes that number from its other cells. This may leave other numbers alone in these
//! cells. A table from which another one was subtracted lists what only one of them has.
//!
//! With values the first sub-table places the number by itself, so that the number alone finds its value. The others
//! place the number and the value together, so a number whose value differs in two sketches has different cells there,
//! and both of its values are listed.

pub mod sizing;

use crate::bits::{self, GOLDEN};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Listed, ListedValue, Listing, Pair, Payload, Presence, Row, Sizes, SketchKind, Structure,
    ValueListing, listing, over_base,
};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::{HashFunction, Hasher};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::{try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a cell without values: the count, the sum of the numbers, and that of their checks.
const CELL: usize = 3;
/// Words of a cell with values: the fourth is the sum of the values.
const CELL_OF_VALUES: usize = 4;

/// The parameter for the bits of a value.
const VALUE_BITS: Parameter = Parameter {
    name: "value_bits",
    summary: "bits of the value of each number; 0 for sets of numbers without values",
    default: 0.0,
    domain: Domain::OneOf(&[0, 64]),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::IBLT,
    name: "iblt",
    summary: "an invertible Bloom lookup table: lists the differences of two sets, in memory for these differences only",
    capabilities: Capabilities::INSERT
        .with(Capabilities::REMOVE)
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::SUBTRACT)
        .with(Capabilities::LIST),
    parameters: &[&VALUE_BITS],
    structure: Structure::Sketch { open },
    sizes: Sizes::Multiples(64),
    hashes: sizing::ARITY,
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, numbers| match Cells::of(geometry) {
        Some(cells) => sizing::failure(numbers, cells.in_table, cells.deciding()),
        None => 1.0,
    },
    ..Row::BASE
};

/// The geometry that a spec asks for: its capacity is the number of differences, and its rate the probability that they
/// cannot be listed.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    if spec.hash == HashFunction::External {
        return Err(error!(Contradiction, "hash = external has no meaning for iblt, which hashes numbers by itself"));
    }
    let has_values = spec.parameter(&VALUE_BITS)? > 0;
    let cell_bits = if has_values { 64 * CELL_OF_VALUES as u64 } else { 64 * CELL as u64 };
    let (in_table, tables) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let found =
                if has_values { sizing::size_with_values(capacity, rate) } else { sizing::size_for(capacity, rate) };
            found.ok_or_else(|| size.too_large())?
        }
        Size::Exact { bits, .. } if !bits.is_multiple_of(cell_bits) => {
            return Err(error!(OutOfRange, "bits = {bits} is not a multiple of {cell_bits}, the bits of a cell"));
        }
        Size::Exact { capacity, bits, hashes } => {
            let cells = bits / cell_bits;
            let fits = |tables: &u32| cells.is_multiple_of(u64::from(*tables)) && (hashes == 0 || hashes == *tables);
            let failure =
                |tables: &u32| sizing::failure(capacity, cells / u64::from(*tables), *tables - u32::from(has_values));
            let least = sizing::ARITY.0 + u32::from(has_values);
            let best = (least..=sizing::ARITY.1).filter(fits);
            let best = best.min_by(|a, b| failure(a).total_cmp(&failure(b)));
            let tables = best.ok_or_else(|| match hashes {
                0 => error!(OutOfRange, "bits = {bits} are {cells} cells, which no number of sub-tables divides"),
                _ if hashes < least => {
                    error!(OutOfRange, "hashes = {hashes} with value_bits = 64 is not a whole number from {least} to 7")
                }
                _ => error!(OutOfRange, "bits = {bits} are {cells} cells, which hashes = {hashes} does not divide"),
            })?;
            (cells / u64::from(tables), tables)
        }
    };
    let bits = in_table.checked_mul(u64::from(tables)).and_then(|cells| cells.checked_mul(cell_bits));
    let bits = bits.ok_or_else(|| error!(TooLarge, "{tables} sub-tables of {in_table} cells are more than can be"))?;
    let mut words = [0; 8];
    words[0] = if has_values { 64 } else { 0 };
    Geometry::of_bits(bits, tables, words)
}

/// Where the cells of a number are.
#[derive(Clone, Copy)]
struct Cells {
    in_table: u64,
    tables: u32,
    /// Words of a cell.
    width: usize,
}

impl Cells {
    /// The cells that a geometry describes, if it is one of this kind.
    fn of(geometry: &Geometry) -> Option<Cells> {
        let (width, fewest) = match geometry.words {
            [0, 0, 0, 0, 0, 0, 0, 0] => (CELL, sizing::ARITY.0),
            [64, 0, 0, 0, 0, 0, 0, 0] => (CELL_OF_VALUES, sizing::ARITY.0 + 1),
            _ => return None,
        };
        let (cell_bits, tables) = (64 * width as u64, geometry.hashes);
        let cells = geometry.bits / cell_bits;
        let is_one = (fewest..=sizing::ARITY.1).contains(&tables)
            && geometry.bits.is_multiple_of(cell_bits)
            && cells > 0
            && cells.is_multiple_of(u64::from(tables))
            && geometry.is_of_bits();
        is_one.then(|| Cells { in_table: cells / u64::from(tables), tables, width })
    }

    /// How many cells there are.
    fn count(self) -> u64 {
        self.in_table * u64::from(self.tables)
    }

    /// Whether numbers have values.
    fn has_values(self) -> bool {
        self.width == CELL_OF_VALUES
    }

    /// How many sub-tables decide whether listing succeeds: with values all but the first, where a number has one cell
    /// for both of its values.
    fn deciding(self) -> u32 {
        self.tables - u32::from(self.has_values())
    }

    /// The words of all cells.
    fn words(self) -> usize {
        self.width * self.count() as usize
    }

    /// A number, hashed. `value` is 0 without values.
    fn pair(self, hasher: &Hasher, number: u64, value: u64) -> Option<Pair> {
        if self.has_values() {
            return Pair::of(hasher, number, value).ok();
        }
        let hash = hasher.hash_u64(number).ok()?;
        Some(Pair { number, value, hash, both: hash })
    }

    /// The cell of a number in a sub-table.
    fn cell(self, pair: &Pair, table: u32) -> u64 {
        let hash = if table == 0 { pair.hash } else { pair.both };
        let place = u64::from(table) * self.in_table;
        let salt = GOLDEN.wrapping_mul(u64::from(table) + 1);
        place + bits::reduce(bits::mix(hash.wrapping_add(salt)), self.in_table)
    }

    /// The first words of the cells of a number.
    fn firsts(self, pair: Pair) -> impl Iterator<Item = usize> {
        (0..self.tables).map(move |table| self.width * self.cell(&pair, table) as usize)
    }

    /// Adds a number to its cells.
    fn add(self, words: &mut [u64], pair: &Pair, count: i64) {
        for first in self.firsts(*pair) {
            let cell = &mut words[first..first + self.width];
            cell[0] = cell[0].wrapping_add(count as u64);
            // A number that is there an even number of times is not in the sums.
            if count & 1 != 0 {
                cell[1] ^= pair.number;
                cell[2] ^= check(pair);
                if let [_, _, _, value] = cell {
                    *value ^= pair.value;
                }
            }
        }
    }

    /// The number that is alone in a cell, and its sign, by what the cell's words say.
    fn alone(self, content: &[u64], cell: u64, hasher: &Hasher) -> Option<(Pair, i64)> {
        let sign = content[0] as i64;
        if sign != 1 && sign != -1 {
            return None;
        }
        let pair = self.pair(hasher, content[1], content.get(3).copied().unwrap_or(0))?;
        let table = (cell / self.in_table) as u32;
        (content[2] == check(&pair) && self.cell(&pair, table) == cell).then_some((pair, sign))
    }
}

/// What confirms that a cell holds one number: the mixed hash of the number, or of the number and its value.
fn check(pair: &Pair) -> u64 {
    bits::mix(pair.both)
}

fn open(base: Base) -> Result<Box<dyn SketchKind>> {
    match Cells::of(base.geometry()) {
        Some(cells) if base.hasher().function() != HashFunction::External => Ok(try_box(Iblt { base, cells })?),
        _ => Err(base.foreign_geometry()),
    }
}

/// A sketch over cells.
struct Iblt {
    base: Base,
    cells: Cells,
}

impl Payload for Iblt {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl Iblt {
    /// A word of the number's cells whose region is not marked yet.
    fn unmarked_of(&self, pair: Pair) -> Option<usize> {
        // A cell may lie across the border of two regions.
        let last = self.cells.width - 1;
        self.cells.firsts(pair).flat_map(|first| [first, first + last]).find_map(|word| self.base.unmarked(word))
    }

    /// Lists the numbers with their values. Each number that is taken out empties a cell. In a table that numbers made
    /// that cell stays empty, so there are no more steps than cells; in any other the bound ends the walk.
    fn list_pairs(&self) -> Result<ValueListing> {
        let hasher = self.base.hasher();
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        let (cells, count, width) = (self.cells, self.cells.count() as usize, self.cells.width);
        let mut words = copy(self.base.words().shared(), cells.words())?;
        let alone = |words: &[u64], cell: u64| {
            let first = width * cell as usize;
            cells.alone(&words[first..first + width], cell, hasher)
        };
        let (mut listed, mut queue) = (try_vec::<ListedValue>(count)?, try_vec::<u64>(count)?);
        queue.extend((0..count as u64).filter(|cell| alone(&words, *cell).is_some()));
        'steps: while let Some(cell) = queue.pop() {
            let Some((pair, sign)) = alone(&words, cell) else { continue };
            if listed.len() == count {
                break;
            }
            listed.push(ListedValue { sign, number: pair.number, value: pair.value });
            cells.add(&mut words, &pair, -sign);
            for first in cells.firsts(pair) {
                let cell = (first / width) as u64;
                if alone(&words, cell).is_some() {
                    if queue.len() == queue.capacity() {
                        // Only cells that no numbers made queue more often than there are cells.
                        break 'steps;
                    }
                    queue.push(cell);
                }
            }
        }
        listed.sort_unstable();
        Ok(ValueListing { listed, is_complete: words.iter().all(|word| *word == 0) })
    }
}

impl SketchKind for Iblt {
    fn add_at_once(&mut self, hash: u64, number: u64, count: i64) -> Option<()> {
        self.add_pair_at_once(&Pair { number, value: 0, hash, both: hash }, count)
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        self.unmarked_of(Pair { number: 0, value: 0, hash, both: hash })
    }

    fn value_bits(&self) -> u32 {
        if self.cells.has_values() { 64 } else { 0 }
    }

    fn add_pair_at_once(&mut self, pair: &Pair, count: i64) -> Option<()> {
        self.cells.add(self.base.writable_at_once()?, pair, count);
        Some(())
    }

    fn unmarked_by_pair(&self, pair: &Pair) -> Option<usize> {
        self.unmarked_of(*pair)
    }

    fn combine_with(&mut self, other: &dyn SketchKind, subtract: bool) -> Result<()> {
        let (width, words) = (self.cells.width, self.cells.words());
        let others = other.base().words().shared();
        for (cell, others) in self.base.writable()?[..words].chunks_exact_mut(width).zip(others.chunks(width)) {
            let count = others[0].load(Ordering::Relaxed);
            cell[0] = if subtract { cell[0].wrapping_sub(count) } else { cell[0].wrapping_add(count) };
            for (word, other) in cell[1..].iter_mut().zip(&others[1..]) {
                *word ^= other.load(Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn list(&self) -> Result<Listing> {
        let pairs = self.list_pairs()?;
        let mut found = listing(pairs.listed.len())?;
        found.listed.extend(pairs.listed.iter().map(|pair| Listed { sign: pair.sign, number: pair.number }));
        found.is_complete = pairs.is_complete;
        Ok(found)
    }

    fn list_values(&self) -> Result<ValueListing> {
        self.list_pairs()
    }

    /// If a cell of the number is empty, the number is not there. A cell with a single number settles the question
    /// either way. With values only the cell of the first sub-table can be found.
    fn get(&self, hash: u64, number: u64) -> Option<Presence> {
        let (cells, width, words) = (self.cells, self.cells.width, self.base.words().shared());
        let sought = Pair { number, value: 0, hash, both: hash };
        for table in 0..if cells.has_values() { 1 } else { cells.tables } {
            let cell = cells.cell(&sought, table);
            let mut content = [0; CELL_OF_VALUES];
            for (word, there) in content[..width].iter_mut().zip(&words[width * cell as usize..]) {
                *word = there.load(Ordering::Relaxed);
            }
            if content == [0; CELL_OF_VALUES] {
                return Some(Presence::Absent);
            }
            match cells.alone(&content[..width], cell, self.base.hasher()) {
                Some((pair, sign)) if pair.number == number => {
                    return Some(Presence::Present { sign, value: pair.value });
                }
                Some(_) => return Some(Presence::Absent),
                None => {}
            }
        }
        Some(Presence::Unknown)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let words = self.base.words().shared();
        let is_taken = |cell: &&[AtomicU64]| cell.iter().any(|word| word.load(Ordering::Relaxed) != 0);
        let cells = words[..self.cells.words()].chunks_exact(self.cells.width);
        let taken = cells.filter(is_taken).count() as u64;
        progress(self.base.geometry().payload_bytes);
        Measure { taken, fill: taken as f64 / self.cells.count() as f64, saturated: 0, false_positive_rate: 0.0 }
    }
}

/// The words as they are now.
fn copy(words: &[AtomicU64], count: usize) -> Result<Vec<u64>> {
    let mut copied = try_vec(count)?;
    copied.extend(words[..count].iter().map(|word| word.load(Ordering::Relaxed)));
    Ok(copied)
}
