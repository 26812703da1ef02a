//! Cells in planes over the words of a payload: where a key's cells are, and how many cells are counted down together.
//!
//! A group is 64 cells in as many words as a cell has bits. The first word has the lowest bits of all 64 cells.

use super::sizing::{self, MAX_HASHES};
use super::{CELL_BITS, GROUP, LEAST_CELLS, LOSS, STATE_WORDS, of_shape};
use crate::bits;
use crate::format::Geometry;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The golden ratio to the power of each slice's number, by which a hash is multiplied for that slice.
const POWERS: [u64; MAX_HASHES as usize] = {
    let (mut powers, mut slice) = ([1_u64; MAX_HASHES as usize], 1);
    while slice < powers.len() {
        powers[slice] = powers[slice - 1].wrapping_mul(bits::GOLDEN);
        slice += 1;
    }
    powers
};

/// The cells that a geometry describes.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The numbers of cells that the sizing computes with.
    pub cells: sizing::Cells,
    /// How many bits a cell has, which is also how many words a group has.
    pub planes: usize,
}

impl Shape {
    /// The cells that a geometry describes, if the geometry is one of this kind.
    pub fn of(geometry: &Geometry) -> Option<Shape> {
        let [cell_bits, decrements, loss, ..] = geometry.words;
        let hashes = geometry.hashes;
        CELL_BITS.check(cell_bits as f64).ok()?;
        LOSS.check(f64::from_bits(loss)).ok()?;
        if !(1..=MAX_HASHES).contains(&hashes) {
            return None;
        }
        let each = geometry.bits / cell_bits / u64::from(hashes);
        let cells = sizing::Cells { hashes, each, greatest: (1 << cell_bits) - 1, decrements };
        let is_same = of_shape(geometry.bits, hashes, [cell_bits, decrements, loss]).ok()? == *geometry;
        let is_one = is_same && each >= LEAST_CELLS && (1..=cells.count()).contains(&decrements);
        is_one.then_some(Shape { cells, planes: cell_bits as usize })
    }

    /// The place of the state in a payload of `words` words.
    pub fn state(words: usize) -> usize {
        words - STATE_WORDS
    }

    /// The cells of a mixed hash.
    #[inline]
    pub fn cells_of(&self, hash: u64) -> impl Iterator<Item = u64> + use<> {
        let each = self.cells.each;
        let slices = (0_u64..).zip(&POWERS).take(self.cells.hashes as usize);
        slices.map(move |(slice, power)| slice * each + bits::reduce(hash.wrapping_mul(*power), each))
    }

    /// The place of the first word of a cell.
    #[inline]
    pub fn word(&self, cell: u64) -> usize {
        (cell / GROUP) as usize * self.planes
    }

    /// The words of some cells that follow each other.
    pub fn words(&self, cells: Range<u64>) -> Range<usize> {
        if cells.is_empty() { 0..0 } else { self.word(cells.start)..self.word(cells.end - 1) + self.planes }
    }

    /// The cells that a step decrements: up to the last cell, and then from the first one on.
    #[inline]
    pub fn decremented(&self, seed: u64, step: u64) -> [Range<u64>; 2] {
        let random = bits::mix(seed.wrapping_add(step.wrapping_add(1).wrapping_mul(bits::GOLDEN)));
        let count = self.cells.count();
        bits::arc(bits::reduce(random, count), self.cells.decrements, count)
    }

    /// Whether a cell is above 0.
    #[inline]
    pub fn is_set(&self, words: &[AtomicU64], cell: u64) -> bool {
        let first = self.word(cell);
        let any = words[first..first + self.planes].iter().fold(0, |any, word| any | word.load(Ordering::Relaxed));
        any >> (cell % GROUP) & 1 == 1
    }

    /// Sets a cell to its greatest value.
    #[inline]
    pub fn set(&self, words: &mut [u64], cell: u64) {
        let first = self.word(cell);
        words[first..first + self.planes].iter_mut().for_each(|word| *word |= 1 << (cell % GROUP));
    }

    /// Subtracts 1 from each cell of a range that is above 0.
    #[inline]
    pub fn count_down(&self, words: &mut [u64], cells: Range<u64>) {
        let mut from = cells.start;
        while from < cells.end {
            let to = cells.end.min(from / GROUP * GROUP + GROUP);
            let mask = (u64::MAX >> (GROUP - (to - from))) << (from % GROUP);
            let first = self.word(from);
            let group = &mut words[first..first + self.planes];
            // The cells above 0 that borrow from the next plane, because they have a 0 in this one.
            let mut borrow = mask & group.iter().fold(0, |any, word| any | word);
            for word in group {
                let old = *word;
                *word = old ^ borrow;
                borrow &= !old;
            }
            from = to;
        }
    }

    /// How many cells of a range are above 0.
    pub fn count_set(&self, words: &[AtomicU64], cells: Range<u64>) -> u64 {
        let mut sum = 0;
        let mut from = cells.start;
        while from < cells.end {
            let to = cells.end.min(from / GROUP * GROUP + GROUP);
            let mask = (u64::MAX >> (GROUP - (to - from))) << (from % GROUP);
            let first = self.word(from);
            let group = &words[first..first + self.planes];
            let any = group.iter().fold(0, |any, word| any | word.load(Ordering::Relaxed));
            sum += u64::from((any & mask).count_ones());
            from = to;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(shape: &Shape, words: &[u64], cell: u64) -> u64 {
        let first = shape.word(cell);
        (0..shape.planes).map(|plane| (words[first + plane] >> (cell % GROUP) & 1) << plane).sum()
    }

    /// Cells are counted down one by one, whatever their neighbours are.
    #[test]
    fn cells_count_down_to_zero() {
        for planes in 1..=4 {
            let greatest = (1 << planes) - 1;
            let shape = Shape { cells: sizing::Cells { hashes: 1, each: 256, greatest, decrements: 1 }, planes };
            let mut words = vec![0; 4 * planes];
            let mut model = vec![0; 256];
            for i in 0..4000 {
                let random = bits::mix(i);
                let (from, length) = (random % 256, random >> 8 & 127);
                let cells = from..256.min(from + length);
                shape.count_down(&mut words, cells.clone());
                cells.for_each(|cell| model[cell as usize] = u64::saturating_sub(model[cell as usize], 1));
                shape.set(&mut words, random >> 16 & 255);
                model[(random >> 16 & 255) as usize] = u64::from(greatest);
                if i % 50 == 0 {
                    assert!((0..256).all(|cell| value(&shape, &words, cell) == model[cell as usize]));
                    let shared: Vec<AtomicU64> = words.iter().map(|word| AtomicU64::new(*word)).collect();
                    let expected = model[3..200].iter().filter(|value| **value > 0).count() as u64;
                    assert_eq!(shape.count_set(&shared, 3..200), expected);
                    assert!((0..256).all(|cell| shape.is_set(&shared, cell) == (model[cell as usize] > 0)));
                }
            }
        }
    }
}
