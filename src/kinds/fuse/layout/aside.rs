//! Keys that were set aside so that peeling goes on, as linear equations in the cells with which no key was peeled.
//!
//! A cell that a key was peeled with is the exclusive or of the key's value and the key's other cells. Substituting
//! that, in the order of peeling, removes the cell from an equation, and brings in cells of later keys or free cells.
//! The keys that peel first after a key was set aside have some cells that are free by then and that no later key has.
//! As many of these cells as there are equations get the values that solve the equations, once all other cells in the
//! equations are known. So only the keys that are peeled soon after one was set aside are substituted, a few hundred:
//! the *group* of that key and of the keys that were set aside meanwhile. All equations of a group are processed
//! together: each cell has a row of bits that says which equations the cell is in.

use super::peel::{Advance, COUNT, Keys, Peeling, Seeded, Slot, peeled};
use super::{IS_SMALL, cells};
use crate::error::Result;
use crate::kinds::fuse::sizing;
use crate::storage::{Words, try_vec};
use core::ops::Range;

/// The most words of a set of equations.
const MOST_WORDS: usize = sizing::ASIDE_WORDS as usize;

/// The most equations of a group.
const MOST_KEYS: usize = 64 * MOST_WORDS;

/// A group ends when the cells that became free since its last key was set aside are this many more than the group's
/// keys. If there is a solution at all, these cells then nearly certainly give one.
const FREE: usize = sizing::ASIDE_FREE as usize;

/// A set of equations.
type Row = [u64; MOST_WORDS];

/// The keys that are set aside, and memory for their equations.
pub(super) struct Asides {
    /// The numbers of the keys, in the order in which they were set aside.
    keys: Vec<u32>,
    /// Cells that were free by the end of their group, in the order of groups.
    free: Vec<u32>,
    groups: Vec<Group>,
    /// The cells that have a row. A cell's slot then has the number of that row, from 1 on, instead of its count.
    cells: Vec<u32>,
    /// The rows of these cells, each of as many words as the equations of a group need.
    rows: Words,
}

/// Keys aside whose equations are solved together.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Which of the peeled keys are substituted, in the order of peeling.
    pub late: Range<usize>,
    keys: Range<usize>,
    free: Range<usize>,
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
    /// Bytes of memory for arrays of `cells` cells.
    pub(super) fn bytes(cells: u64) -> u64 {
        sizing::aside_memory(cells)
    }

    /// Memory for arrays of up to `cells` cells. The memory of rows is not touched before it is needed.
    pub(super) fn new(cells: u64) -> Result<Asides> {
        let (keys, rows) = (sizing::most_aside(cells) as usize, sizing::aside_rows(cells));
        Ok(Asides {
            keys: try_vec(keys)?,
            free: try_vec((FREE + 1) * keys)?,
            groups: try_vec(keys)?,
            cells: try_vec(rows as usize)?,
            rows: Words::zeroed(rows * size_of::<Row>() as u64)?,
        })
    }

    /// Sets keys aside, each time the first one that is left, until all others are peeled. Returns false if that takes
    /// too many keys.
    ///
    /// # Errors
    /// The errors of `advance`.
    pub(super) fn set<Q: Keys, const K: usize>(
        &mut self,
        peeling: &mut Peeling<Q, K>,
        advance: &mut Advance,
    ) -> Result<bool> {
        let Asides { keys, free, groups, .. } = self;
        keys.clear();
        free.clear();
        groups.clear();
        let (count, most) = (peeling.of.keys.len(), sizing::most_aside(peeling.cells()) as usize);
        let mut group = Group::default();
        while peeling.done + keys.len() < count {
            let next = keys.last().map_or(0, |last| *last as usize + 1);
            let Some(key) = peeling.first_left(next) else { return Ok(false) };
            if keys.len() == most || group.keys.len() == MOST_KEYS {
                return Ok(false);
            }
            if group.keys.is_empty() {
                group.late.start = peeling.done;
            }
            keys.push(key as u32);
            peeling.take_away(key);
            let room = free.len().max(group.free.start + keys.len() - group.keys.start) + FREE;
            peeling.drain_until(usize::MAX, |cell| {
                free.push(cell);
                free.len() < room
            });
            (group.late.end, group.keys.end, group.free.end) = (peeling.done, keys.len(), free.len());
            if free.len() == room || peeling.done + keys.len() == count {
                groups.push(group);
                group = Group { late: 0..0, keys: keys.len()..keys.len(), free: free.len()..free.len() };
                peeling.drain(advance)?;
            }
        }
        Ok(true)
    }

    /// The groups, in the order in which their keys were set aside.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Gives as many free cells as a group has keys the values that solve the group's equations. Returns false if these
    /// free cells cannot solve them for all values of the keys. All cells in the equations must already have their
    /// values; the cells of the group's own late keys have those that follow if the free cells are zero. `late` is
    /// these cells in the order of peeling.
    pub(super) fn solve<Q: Keys, const K: usize>(
        &mut self,
        group: usize,
        of: Seeded<Q>,
        slots: &mut [Slot],
        late: &[u32],
        own: (&mut [u64], u32),
    ) -> bool {
        let group = self.groups[group].clone();
        let is_solved = match group.keys.len().div_ceil(64) {
            _ if IS_SMALL => self.solve_in::<_, K, MOST_WORDS>(&group, of, slots, late, own),
            1 => self.solve_in::<_, K, 1>(&group, of, slots, late, own),
            2 => self.solve_in::<_, K, 2>(&group, of, slots, late, own),
            _ => self.solve_in::<_, K, MOST_WORDS>(&group, of, slots, late, own),
        };
        for cell in self.cells.drain(..) {
            slots[cell as usize] &= (1 << COUNT) - 1;
        }
        is_solved
    }

    fn solve_in<Q: Keys, const K: usize, const W: usize>(
        &mut self,
        group: &Group,
        of: Seeded<Q>,
        slots: &mut [Slot],
        late: &[u32],
        (own, width): (&mut [u64], u32),
    ) -> bool {
        let rows = self.rows.exclusive().unwrap_or_default().as_chunks_mut::<W>().0;
        let most = sizing::aside_rows(slots.len() as u64) as usize;
        let mut rows = Rows { slots, cells: &mut self.cells, rows: &mut rows[..most] };
        let keys = &self.keys[group.keys.clone()];
        for (equation, key) in keys.iter().enumerate() {
            let mut row = [0; W];
            row[equation / 64] = 1 << (equation % 64);
            if !of.cells::<K>(*key as usize).0.into_iter().all(|cell| rows.add(cell, &row)) {
                return false;
            }
        }
        for cell in late {
            let row = rows.get(*cell);
            if row == [0; W] {
                continue;
            }
            // One of the key's cells is this cell itself, so its row becomes zero.
            let key = peeled(rows.slots[*cell as usize]).0;
            if !of.cells::<K>(key).0.into_iter().all(|cell| rows.add(cell, &row)) {
                return false;
            }
        }
        let free = &self.free[group.free.clone()];
        let Some((chosen, count)) = choose(free, keys.len(), |cell| rows.get(cell)) else { return false };
        let chosen = &chosen[..count];
        // Bit i of an equation says whether the i-th of the chosen cells is in it.
        let mut left = [(Row::default(), 0); MOST_KEYS];
        for (equation, key) in keys.iter().enumerate() {
            let (positions, z): ([u64; K], u64) = of.cells(*key as usize);
            let mut missing = of.keys.value(*key as usize, z, 0);
            positions.iter().for_each(|position| missing ^= cells::get_own(own, width, *position));
            left[equation].1 = missing;
            for (i, cell) in chosen.iter().enumerate() {
                let word = rows.get(*cell)[equation / 64];
                left[equation].0[i / 64] |= (word >> (equation % 64) & 1) << (i % 64);
            }
        }
        reduce(&mut left[..count]);
        for cell in late {
            cells::clear(own, width, u64::from(*cell));
        }
        for (cell, (_, value)) in chosen.iter().zip(left) {
            cells::set(own, width, u64::from(*cell), value & cells::mask(width));
        }
        true
    }
}

/// The rows of the cells that are in the equations.
struct Rows<'a, const W: usize> {
    slots: &'a mut [Slot],
    cells: &'a mut Vec<u32>,
    rows: &'a mut [[u64; W]],
}

impl<const W: usize> Rows<'_, W> {
    /// The equations that a cell is in.
    fn get(&self, cell: u32) -> [u64; W] {
        match self.slots[cell as usize] >> COUNT {
            0 => [0; W],
            number => self.rows[number as usize - 1],
        }
    }

    /// Toggles whether a cell is in some equations: it joins those that it is not in, and leaves the others. Returns
    /// false if there is no room for the cell's row.
    fn add(&mut self, cell: u64, row: &[u64; W]) -> bool {
        let slot = &mut self.slots[cell as usize];
        let mut number = (*slot >> COUNT) as usize;
        if number == 0 {
            if self.cells.len() == self.rows.len() {
                return false;
            }
            self.cells.push(cell as u32);
            number = self.cells.len();
            *slot |= (number as Slot) << COUNT;
            self.rows[number - 1] = [0; W];
        }
        self.rows[number - 1].iter_mut().zip(row).for_each(|(word, other)| *word ^= other);
        true
    }
}

/// Chooses `count` of the free cells whose rows do not depend on each other, and returns them with `count`. `None` if
/// there are not that many.
fn choose<const W: usize>(
    free: &[u32],
    count: usize,
    row: impl Fn(u32) -> [u64; W],
) -> Option<([u32; MOST_KEYS], usize)> {
    let mut reduced = [Row::default(); MOST_KEYS];
    let (mut chosen, mut found) = ([0; MOST_KEYS], 0);
    for cell in free {
        let mut rest = Row::default();
        rest[..W].copy_from_slice(&row(*cell));
        while let Some(bit) = lowest(&rest) {
            if reduced[bit] == Row::default() {
                reduced[bit] = rest;
                chosen[found] = *cell;
                found += 1;
                break;
            }
            add(&mut rest, &reduced[bit]);
        }
        if found == count {
            return Some((chosen, count));
        }
    }
    None
}

/// Gauss-Jordan elimination: in the end the i-th equation has only the i-th cell, and gives the cell's value. The cells
/// were chosen so that each step finds a pivot.
#[inline(never)]
fn reduce(equations: &mut [(Row, u64)]) {
    for i in 0..equations.len() {
        let has = |equation: &(Row, u64)| equation.0[i / 64] >> (i % 64) & 1 == 1;
        let pivot = (i..equations.len()).find(|row| has(&equations[*row])).unwrap_or(i);
        equations.swap(i, pivot);
        let (own, value) = equations[i];
        for (_, row) in equations.iter_mut().enumerate().filter(|(j, row)| *j != i && has(row)) {
            add(&mut row.0, &own);
            row.1 ^= value;
        }
    }
}
