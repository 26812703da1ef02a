//! Keys that were set aside so that peeling goes on: linear equations in the cells that no key was peeled with.
//!
//! A cell that a key was peeled with is the exclusive or of the key's value and its other cells. Put in, in the order of
//! peeling, that removes the cell from an equation, and brings in cells of later keys or free ones; at the end an
//! equation has free cells only. All equations are worked on at once: a row of bits for each cell says in which of them
//! it is.

use super::peel::{Keys, Peeling, Seeded, Slot, peeled};
use crate::error::{Result, Status};
use crate::sizing::fuse as sizing;
use crate::storage::{Words, try_vec};
use core::sync::atomic::Ordering;

/// The most words of a set of keys that are set aside.
const MOST_WORDS: usize = sizing::MOST_ASIDE_WORDS as usize;

/// A set of equations.
type Row = [u64; MOST_WORDS];

/// The keys that are set aside, and memory for their equations.
pub(super) struct Asides {
    /// In the order in which they were set aside.
    keys: Vec<u32>,
    /// How many keys were peeled before the first of them.
    first: usize,
    /// The rows of all cells, each of as many words as the equations need.
    rows: Words,
    /// Which keys were peeled or set aside: a bit for each.
    gone: Vec<u64>,
}

/// The words of the rows of arrays of up to so many cells.
fn row_words(cells: u64) -> u64 {
    // Fewer cells may have longer rows.
    let few = cells.min(sizing::FEW_CELLS);
    (sizing::aside_words(few) * few).max(sizing::aside_words(cells) * cells)
}

/// The lowest bit of a row.
fn lowest(row: &Row) -> Option<usize> {
    let word = row.iter().position(|word| *word != 0)?;
    Some(64 * word + row[word].trailing_zeros() as usize)
}

fn add(row: &mut Row, other: &Row) {
    row.iter_mut().zip(other).for_each(|(word, other)| *word ^= other);
}

impl Asides {
    /// Bytes of memory for arrays of so many cells.
    pub(super) fn bytes(cells: u64) -> u64 {
        8 * (row_words(cells) + cells.div_ceil(64))
    }

    /// Memory for arrays of up to so many cells. That of rows is not touched before it is needed.
    pub(super) fn new(cells: u64) -> Result<Asides> {
        // No shard has more keys than cells.
        let gone = usize::try_from(cells.div_ceil(64)).map_err(|_| Status::TooLarge)?;
        let mut bits = try_vec(gone)?;
        bits.resize(gone, 0);
        let rows = Words::zeroed(8 * row_words(cells))?;
        Ok(Asides { keys: try_vec(64 * MOST_WORDS)?, first: 0, rows, gone: bits })
    }

    /// How many keys were peeled before one was set aside.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Sets keys aside, the first that is left each time, until all others are peeled; false if that takes too many.
    pub(super) fn set<Q: Keys, const K: usize>(&mut self, peeling: &mut Peeling<Q, K>, count: usize) -> bool {
        self.keys.clear();
        self.first = peeling.done;
        let most = 64 * sizing::aside_words(peeling.cells()) as usize;
        let gone = &mut self.gone[..count.div_ceil(64)];
        gone.fill(0);
        let (mut next, mut seen) = (0, 0);
        loop {
            peeling.peeled_from(seen).for_each(|key| gone[key / 64] |= 1 << (key % 64));
            seen = peeling.done;
            if seen + self.keys.len() == count {
                return true;
            }
            if self.keys.len() == most {
                return false;
            }
            while gone[next / 64] >> (next % 64) & 1 == 1 {
                // A word of ones is passed at once.
                next = if gone[next / 64] == u64::MAX { (next / 64 + 1) * 64 } else { next + 1 };
            }
            gone[next / 64] |= 1 << (next % 64);
            self.keys.push(next as u32);
            peeling.take_away(next);
        }
    }

    /// As many free cells as there are keys aside, in which their equations can be solved, whatever their values;
    /// `None` if there are none. `late` is with which cells keys were peeled after the first one was set aside.
    pub(super) fn free_cells<Q: Keys, const K: usize>(
        &mut self,
        of: Seeded<Q>,
        slots: &[Slot],
        late: &[u32],
    ) -> Option<Vec<u32>> {
        match self.keys.len().div_ceil(64) {
            1 => self.free_cells_in::<_, K, 1>(of, slots, late),
            2 => self.free_cells_in::<_, K, 2>(of, slots, late),
            _ => self.free_cells_in::<_, K, MOST_WORDS>(of, slots, late),
        }
    }

    fn free_cells_in<Q: Keys, const K: usize, const W: usize>(
        &mut self,
        of: Seeded<Q>,
        slots: &[Slot],
        late: &[u32],
    ) -> Option<Vec<u32>> {
        let rows = self.rows.exclusive().unwrap_or_default().as_chunks_mut::<W>().0.get_mut(..slots.len())?;
        rows.as_flattened_mut().fill(0);
        for (equation, key) in self.keys.iter().enumerate() {
            for cell in of.cells::<K>(*key as usize).0 {
                rows[cell as usize][equation / 64] ^= 1 << (equation % 64);
            }
        }
        for own in late {
            let row = rows[*own as usize];
            if row == [0; W] {
                continue;
            }
            // The cell itself is one of them: its row becomes zero.
            for cell in of.cells::<K>(peeled(slots[*own as usize]).0).0 {
                rows[cell as usize].iter_mut().zip(row).for_each(|(word, other)| *word ^= other);
            }
        }
        let mut free = try_vec(self.keys.len()).ok()?;
        let mut reduced = [Row::default(); 64 * MOST_WORDS];
        for (cell, row) in rows.iter().enumerate().filter(|(_, row)| **row != [0; W]) {
            let mut rest = Row::default();
            rest[..W].copy_from_slice(row);
            while let Some(bit) = lowest(&rest) {
                if reduced[bit] == Row::default() {
                    reduced[bit] = rest;
                    free.push(cell as u32);
                    break;
                }
                add(&mut rest, &reduced[bit]);
            }
            if free.len() == self.keys.len() {
                return Some(free);
            }
        }
        None
    }

    /// What the free cells are to be, so that each key's equation comes to what its cells miss of its value as long as
    /// the free ones are zero.
    pub(super) fn values(&mut self, free: &[u32], missing: impl Fn(usize) -> u64) -> [u64; 64 * MOST_WORDS] {
        let words = self.keys.len().div_ceil(64);
        // As `free_cells` lays rows out.
        let width = if words > 2 { MOST_WORDS } else { words };
        let rows = self.rows.shared();
        let mut left = [(Row::default(), 0); 64 * MOST_WORDS];
        for (equation, key) in self.keys.iter().enumerate() {
            left[equation].1 = missing(*key as usize);
            for (i, cell) in free.iter().enumerate() {
                let word = rows[*cell as usize * width + equation / 64].load(Ordering::Relaxed);
                left[equation].0[i / 64] |= (word >> (equation % 64) & 1) << (i % 64);
            }
        }
        // Gauss and Jordan: the i-th row in the end has the i-th cell alone. The cells were chosen so that there is one.
        let count = free.len();
        for i in 0..count {
            let has = |row: &(Row, u64)| row.0[i / 64] >> (i % 64) & 1 == 1;
            let pivot = (i..count).find(|row| has(&left[*row])).unwrap_or(i);
            left.swap(i, pivot);
            let (own, value) = left[i];
            for (_, row) in left[..count].iter_mut().enumerate().filter(|(j, row)| *j != i && has(row)) {
                add(&mut row.0, &own);
                row.1 ^= value;
            }
        }
        left.map(|(_, value)| value)
    }
}
