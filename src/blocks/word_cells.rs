//! Cells of any number of bits. No cell lies in two words: a word has as many cells as fit into it whole. One store
//! changes a cell, so a reader sees either the old value or the new one.

use core::sync::atomic::{AtomicU64, Ordering};

/// How cells lie in words: cell p is in word p / n, with n cells of r bits in a word, from bit r (p mod n) on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordCells {
    bits: u32,
    cells: u64,
}

/// Where a cell is: its word, and its lowest bit in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The word.
    pub word: usize,
    /// The lowest bit of the cell.
    pub shift: u32,
}

impl WordCells {
    /// Describes `cells` cells of `bits` bits each, from 1 to 64.
    pub fn new(bits: u32, cells: u64) -> Option<WordCells> {
        (1..=64).contains(&bits).then_some(WordCells { bits, cells })
    }

    /// How many cells of `bits` bits a word holds.
    pub fn in_word(bits: u32) -> u64 {
        u64::from(64 / bits.clamp(1, 64))
    }

    /// Bits of a cell.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// How many cells there are.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// How many words they take.
    pub fn words(&self) -> u64 {
        self.cells.div_ceil(WordCells::in_word(self.bits))
    }

    /// The greatest value of a cell.
    #[inline]
    pub fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Where the cell with this number is.
    #[inline]
    pub fn place(&self, cell: u64) -> Place {
        let each = WordCells::in_word(self.bits);
        Place { word: (cell / each) as usize, shift: (cell % each) as u32 * self.bits }
    }

    /// The value of a cell; 0 if there is no such cell.
    #[inline]
    pub fn get(&self, words: &[AtomicU64], cell: u64) -> u64 {
        let Place { word, shift } = self.place(cell);
        words.get(word).map_or(0, |word| word.load(Ordering::Relaxed) >> shift & self.mask())
    }

    /// Replaces the value of a cell by what `change` makes of it. Returns whether that is another value. A cell that is
    /// not there stays as it is.
    #[inline]
    pub fn change(&self, words: &mut [u64], cell: u64, change: impl FnOnce(u64) -> u64) -> bool {
        let Place { word, shift } = self.place(cell);
        let Some(word) = words.get_mut(word) else { return false };
        let before = *word >> shift & self.mask();
        let after = change(before) & self.mask();
        if before == after {
            return false;
        }
        *word ^= (before ^ after) << shift;
        true
    }

    /// The values of the cells of `word`, which is the `index`-th word.
    #[inline]
    pub fn values(&self, index: usize, word: u64) -> impl Iterator<Item = u64> {
        let (bits, mask, each) = (self.bits, self.mask(), WordCells::in_word(self.bits));
        let left = self.cells.saturating_sub(index as u64 * each).min(each) as u32;
        (0..left).map(move |i| word >> (i * bits) & mask)
    }

    /// Whether all bits that belong to no cell are zero, in words that begin with the cells.
    pub fn is_clean(&self, words: &[AtomicU64]) -> bool {
        let each = WordCells::in_word(self.bits);
        words.iter().enumerate().all(|(i, word)| {
            let used = self.cells.saturating_sub(i as u64 * each).min(each) as u32 * self.bits;
            word.load(Ordering::Relaxed).checked_shr(used).unwrap_or(0) == 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_values_apart() {
        for bits in 1..=64 {
            let layout = WordCells::new(bits, 100).unwrap();
            let mut words = vec![0_u64; layout.words() as usize + 1];
            let value = |cell: u64| crate::bits::mix(cell) & layout.mask();
            for cell in 0..100 {
                assert_eq!(layout.change(&mut words, cell, |_| value(cell)), value(cell) != 0);
            }
            let shared: Vec<AtomicU64> = words.iter().map(|word| AtomicU64::new(*word)).collect();
            assert!((0..100).all(|cell| layout.get(&shared, cell) == value(cell)) && layout.is_clean(&shared));
            let all = words.iter().enumerate().flat_map(|(i, word)| layout.values(i, *word));
            assert!(all.eq((0..100).map(value)), "{bits}");
            // Past the last cell, and between two words.
            shared[words.len() - 1].store(1, Ordering::Relaxed);
            assert!(!layout.is_clean(&shared));
        }
        assert!(WordCells::new(0, 1).is_none() && WordCells::new(65, 1).is_none());
    }
}
