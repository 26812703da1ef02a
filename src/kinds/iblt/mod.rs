//! The kind `iblt`: an invertible Bloom lookup table (Eppstein and Goodrich 2007, Goodrich and Mitzenmacher 2011) as
//! difference digest (Eppstein, Goodrich, Uyeda and Varghese 2011). A set of 64-bit numbers in as many cells as the
//! differences of two such sets need, however large the sets are.
//!
//! Each number has a cell in each of 3 to 7 sub-tables. A cell holds how many numbers it has, their sum by XOR, and the
//! sum of their checks. A cell with one number that its check confirms is taken apart; what is taken out of the
//! number's other cells leaves others alone there. A table from which another one was subtracted lists what only one of
//! them has.

pub mod sizing;

use crate::bits::{self, GOLDEN};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Listed, Listing, Payload, Row, Sizes, SketchKind, Structure, listing, over_base,
};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::{HashFunction, Hasher};
use crate::spec::{KindId, Size, Spec};
use crate::storage::{try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a cell: the count, the sum of the numbers, and that of their checks.
const CELL: u64 = 3;
/// Bits of a cell.
const CELL_BITS: u64 = 64 * CELL;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(256),
    name: "iblt",
    summary: "an invertible Bloom lookup table: lists the differences of two sets, in memory for these differences only",
    capabilities: Capabilities::INSERT
        .with(Capabilities::REMOVE)
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::SUBTRACT)
        .with(Capabilities::LIST),
    structure: Structure::Sketch { open },
    sizes: Sizes::Multiples(CELL_BITS),
    hashes: sizing::ARITY,
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, numbers| match Cells::of(geometry) {
        Some(cells) => sizing::failure(numbers, cells.in_table, cells.tables),
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
    let (in_table, tables) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            sizing::size_for(capacity, rate).ok_or_else(|| size.too_large())?
        }
        Size::Exact { capacity, bits, hashes } => {
            let cells = bits / CELL_BITS;
            let fits = |tables: &u32| cells.is_multiple_of(u64::from(*tables)) && (hashes == 0 || hashes == *tables);
            let failure = |tables: &u32| sizing::failure(capacity, cells / u64::from(*tables), *tables);
            let best = (sizing::ARITY.0..=sizing::ARITY.1).filter(fits);
            let best = best.min_by(|a, b| failure(a).total_cmp(&failure(b)));
            let tables = best.ok_or_else(|| match hashes {
                0 => error!(OutOfRange, "bits = {bits} are {cells} cells, which no number of sub-tables divides"),
                _ => error!(OutOfRange, "bits = {bits} are {cells} cells, which hashes = {hashes} does not divide"),
            })?;
            (cells / u64::from(tables), tables)
        }
    };
    let bits = in_table.checked_mul(u64::from(tables)).and_then(|cells| cells.checked_mul(CELL_BITS));
    let bits = bits.ok_or_else(|| error!(TooLarge, "{tables} sub-tables of {in_table} cells are more than can be"))?;
    Geometry::of_bits(bits, tables, [0; 8])
}

/// Where the cells of a number are.
#[derive(Clone, Copy)]
struct Cells {
    in_table: u64,
    tables: u32,
}

impl Cells {
    /// Those that a geometry describes, if it is one of this kind.
    fn of(geometry: &Geometry) -> Option<Cells> {
        let (cells, tables) = (geometry.bits / CELL_BITS, geometry.hashes);
        let is_one = (sizing::ARITY.0..=sizing::ARITY.1).contains(&tables)
            && geometry.bits.is_multiple_of(CELL_BITS)
            && cells > 0
            && cells.is_multiple_of(u64::from(tables))
            && geometry.words == [0; 8]
            && geometry.is_of_bits();
        is_one.then(|| Cells { in_table: cells / u64::from(tables), tables })
    }

    /// How many there are.
    fn count(self) -> u64 {
        self.in_table * u64::from(self.tables)
    }

    /// The cell of a hash in a sub-table.
    fn cell(self, hash: u64, table: u32) -> u64 {
        let place = u64::from(table) * self.in_table;
        let salt = GOLDEN.wrapping_mul(u64::from(table) + 1);
        place + bits::reduce(bits::mix(hash.wrapping_add(salt)), self.in_table)
    }

    /// The first words of the cells of a hash.
    fn words(self, hash: u64) -> impl Iterator<Item = usize> {
        (0..self.tables).map(move |table| (CELL * self.cell(hash, table)) as usize)
    }

    /// Adds a number to its cells.
    fn add(self, words: &mut [u64], hash: u64, number: u64, count: i64) {
        for word in self.words(hash) {
            words[word] = words[word].wrapping_add(count as u64);
            // A number that is there an even number of times is not in the sums.
            if count & 1 != 0 {
                words[word + 1] ^= number;
                words[word + 2] ^= check(hash);
            }
        }
    }

    /// The hash and the count of the number that is alone in a cell, by what the cell says.
    fn alone(self, words: &[u64], cell: u64, hasher: &Hasher) -> Option<(u64, u64, i64)> {
        let word = (CELL * cell) as usize;
        let (count, number) = (words[word] as i64, words[word + 1]);
        if count != 1 && count != -1 {
            return None;
        }
        let hash = hasher.hash_u64(number).ok()?;
        let table = (cell / self.in_table) as u32;
        (words[word + 2] == check(hash) && self.cell(hash, table) == cell).then_some((hash, number, count))
    }
}

/// What confirms that a cell holds one number: the mixed hash of that.
fn check(hash: u64) -> u64 {
    bits::mix(hash)
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

impl SketchKind for Iblt {
    fn add_at_once(&mut self, hash: u64, number: u64, count: i64) -> Option<()> {
        self.cells.add(self.base.writable_at_once()?, hash, number, count);
        Some(())
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        // A cell may lie across the border of two regions.
        let last = CELL as usize - 1;
        self.cells.words(hash).flat_map(|word| [word, word + last]).find_map(|word| self.base.unmarked(word))
    }

    fn combine_with(&mut self, other: &dyn SketchKind, subtract: bool) -> Result<()> {
        let words = (CELL * self.cells.count()) as usize;
        let others = other.base().words().shared();
        for (cell, others) in self.base.writable()?[..words].chunks_exact_mut(CELL as usize).zip(others.chunks(3)) {
            let [count, number, check] = [0, 1, 2].map(|word: usize| others[word].load(Ordering::Relaxed));
            cell[0] = if subtract { cell[0].wrapping_sub(count) } else { cell[0].wrapping_add(count) };
            cell[1] ^= number;
            cell[2] ^= check;
        }
        Ok(())
    }

    /// Each number that is taken apart empties a cell. In a table that numbers were added to that cell stays empty, so
    /// there are no more steps than cells; in any other the bound ends it.
    fn list(&self) -> Result<Listing> {
        let hasher = self.base.hasher();
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        let (cells, count) = (self.cells, self.cells.count() as usize);
        let mut words = copy(self.base.words().shared(), CELL as usize * count)?;
        let (mut found, mut queue) = (listing(count)?, try_vec::<u64>(count)?);
        queue.extend((0..count as u64).filter(|cell| cells.alone(&words, *cell, hasher).is_some()));
        'steps: while let Some(cell) = queue.pop() {
            let Some((hash, number, count_there)) = cells.alone(&words, cell, hasher) else { continue };
            if found.listed.len() == count {
                break;
            }
            found.listed.push(Listed { count: count_there, number });
            cells.add(&mut words, hash, number, -count_there);
            for word in cells.words(hash) {
                let cell = word as u64 / CELL;
                if cells.alone(&words, cell, hasher).is_some() {
                    if queue.len() == queue.capacity() {
                        // Only cells that no numbers made are in the queue more often than there are cells.
                        break 'steps;
                    }
                    queue.push(cell);
                }
            }
        }
        found.is_complete = words.iter().all(|word| *word == 0);
        found.listed.sort_unstable();
        Ok(found)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let words = self.base.words().shared();
        let is_taken = |cell: &&[AtomicU64]| cell.iter().any(|word| word.load(Ordering::Relaxed) != 0);
        let cells = words[..(CELL * self.cells.count()) as usize].chunks_exact(CELL as usize);
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
