//! Folds: short rows kept next to the rows, which show that a row is far without a look at it.
//!
//! The fold of n words of a row has as its word j the exclusive or of the row's words j, j + n, j + 2n and so on. Two
//! folds differ in no more bits than their rows. The fold of 2n words has the fold of n words in it: the exclusive or
//! of its halves. So an image keeps the fold of two words, the first half of that of four, and the first half of that
//! of eight, and the second halves follow from these. A search reads the next level only where the ones before leave
//! something.
//!
//! A level lies in blocks of eight rows. Word 0 of the eight rows comes first, then word 1 of the eight rows, and so
//! on: a vector of eight words has eight rows.

use super::Shape;
use core::ops::Range;
use core::sync::atomic::AtomicU64;

/// The rows of a block.
pub const BLOCK_ROWS: u64 = 8;

/// The most words of a fold.
pub const MOST: usize = 8;

/// The blocks of each level that follow each other, one level after the other. Missing levels are empty.
pub type Levels<'a> = [&'a [AtomicU64]; 3];

/// The words of the first level of a fold of `words` words.
pub const fn first_level(words: usize) -> usize {
    if words < 2 { words } else { 2 }
}

/// Folds a row into as many words as `fold` has, in the order of the levels.
pub fn fold(row: &[u64], fold: &mut [u64]) {
    fold.fill(0);
    if fold.is_empty() {
        return;
    }
    for words in row.chunks(fold.len()) {
        fold.iter_mut().zip(words).for_each(|(to, word)| *to ^= word);
    }
    let (mut length, first) = (fold.len(), first_level(fold.len()));
    while length > first {
        let (low, high) = fold[..length].split_at_mut(length / 2);
        for (low, high) in low.iter_mut().zip(high) {
            (*low, *high) = (*low ^ *high, *low);
        }
        length /= 2;
    }
}

/// Whether two folds differ in at most `most` bits: that of a query, and one whose words `word` gives by their places.
pub fn is_near(query: &[u64], word: impl Fn(usize) -> u64, most: u64) -> bool {
    let mut differences = [0; MOST];
    let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let mut length = first_level(query.len());
    for (i, to) in differences[..length].iter_mut().enumerate() {
        *to = query[i] ^ word(i);
    }
    while ones(&differences[..length]) <= most {
        if length == query.len() {
            return true;
        }
        for i in 0..length {
            let finer = query[length + i] ^ word(length + i);
            (differences[i], differences[length + i]) = (finer, differences[i] ^ finer);
        }
        length *= 2;
    }
    false
}

impl Shape {
    /// The words of a fold; 0 if rows have none.
    pub fn fold_words(&self) -> usize {
        match self.fold {
            2 => 1,
            3 => 2,
            4 => 4,
            5 => 8,
            _ => 0,
        }
    }

    /// How many rows have a place for their folds: whole blocks.
    pub(super) fn folded_rows(&self) -> u64 {
        self.capacity.next_multiple_of(BLOCK_ROWS)
    }

    /// The place among the words of a fold at which the level of a word begins, and how many words that level has.
    fn level_of(&self, word: usize) -> (usize, usize) {
        match word {
            0..2 => (0, first_level(self.fold_words())),
            2..4 => (2, 2),
            _ => (4, 4),
        }
    }

    /// The place of a word of the fold of a row.
    pub fn fold_word(&self, row: u64, word: usize) -> usize {
        let (before, words) = self.level_of(word);
        let block = before * self.folded_rows() as usize + (row / BLOCK_ROWS * BLOCK_ROWS) as usize * words;
        self.folds_start() as usize + block + (word - before) * BLOCK_ROWS as usize + (row % BLOCK_ROWS) as usize
    }

    /// The words that the blocks with these numbers have in each level.
    pub fn fold_blocks(&self, blocks: Range<u64>) -> [Range<usize>; 3] {
        [0, 2, 4].map(|before| {
            if before >= self.fold_words() {
                return 0..0;
            }
            let place = |block: u64| {
                let rows = before as u64 * self.folded_rows() + block * BLOCK_ROWS * self.level_of(before).1 as u64;
                (self.folds_start() + rows) as usize
            };
            place(blocks.start)..place(blocks.end)
        })
    }
}
