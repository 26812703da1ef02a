//! Rows of bits as columns: which rows have all bits of a query?
//!
//! Superimposed codes (Mooers 1947; Roberts 1979), signature files and Bloom matrices ask for the rows that have every
//! bit of a query. A scan reads all bits of all rows. Columns (bit-sliced storage) have bit i of every row side by
//! side, so a query reads only the columns of its own bits and joins them by AND.
//!
//! A query goes through the rows in chunks, and the joined bits of a chunk stay in the first cache. It begins with the
//! columns that seem to have the fewest bits. As soon as few words of a chunk have a bit left, the query reads only
//! these words of the other columns.

use super::rows::transpose;
use crate::error::Result;
use crate::storage::try_vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The words of a column that are joined in one go: 32,768 rows.
const CHUNK: usize = 512;

/// The rows of a block, which are turned into columns together.
pub const BLOCK: usize = 64;

/// The words of a cache line.
const LINE: usize = 8;

/// How many columns of a chunk a query joins before it again counts the words that still have a bit.
const LOOK: usize = 3;

/// A query goes on with single words if at most one word in this many still has a bit.
const FEW: usize = 32;

/// Columns where they lie.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The columns, one after the other.
    pub words: &'a [AtomicU64],
    /// The words of a column: at least one for each 64 rows.
    pub column_words: usize,
    /// How many rows there are.
    pub rows: u64,
    /// A bit for each row that was removed.
    pub removed: &'a [AtomicU64],
}

/// The columns that a query reads, each with how many bits its first words have: the fewest come first.
pub type QueryColumns<'a> = Vec<(u32, &'a [AtomicU64])>;

impl<'a> Columns<'a> {
    /// The columns of a query's bits.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn asked(&self, query: &[u64]) -> Result<QueryColumns<'a>> {
        let words = self.rows.div_ceil(64) as usize;
        let mut asked: QueryColumns = try_vec(ones(query) as usize)?;
        for (i, word) in query.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                let bit = 64 * i + word.trailing_zeros() as usize;
                let column = &self.words[bit * self.column_words..][..words];
                let sample = column.iter().take(LINE).map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
                asked.push((sample, column));
                word &= word - 1;
            }
        }
        // The columns that have the fewest bits at the beginning come first, which only matters for speed.
        asked.sort_unstable_by_key(|(sample, _)| *sample);
        Ok(asked)
    }

    /// Finds those of `rows` that have every bit of a query; `rows.start` is a multiple of 64. Calls `answer` for 64
    /// rows at a time, in ascending order, with the number of the first one and a bit for each that has them. Stops and
    /// returns false as soon as `answer` does. A query without bits finds all rows.
    pub fn search(&self, asked: &QueryColumns<'_>, rows: Range<u64>, answer: &mut dyn FnMut(u64, u64) -> bool) -> bool {
        let (start, end) = ((rows.start / 64) as usize, rows.end.min(self.rows).div_ceil(64) as usize);
        let mut room = Room { joined: [0; CHUNK], few: [0; CHUNK] };
        for first in (start..end).step_by(CHUNK) {
            let length = CHUNK.min(end - first);
            for (joined, removed) in room.joined.iter_mut().zip(&self.removed[first..first + length]) {
                *joined = !removed.load(Ordering::Relaxed);
            }
            // The last word may have places after the rows.
            let last = 64 * (first + length) as u64;
            room.joined[length - 1] &= u64::MAX >> last.saturating_sub(self.rows);
            let few = room.join(asked, first, length);
            for at in &room.few[..few] {
                let at = usize::from(*at);
                if !answer(64 * (first + at) as u64, room.joined[at]) {
                    return false;
                }
            }
        }
        true
    }
}

/// The memory of a chunk: the bits of its rows, and the places of words that have a bit.
struct Room {
    joined: [u64; CHUNK],
    few: [u16; CHUNK],
}

impl Room {
    /// Joins `length` words of all columns, from the word `first` on, to what is there. Returns how many words have a
    /// bit; `few` begins with their places.
    fn join(&mut self, asked: &[(u32, &[AtomicU64])], first: usize, length: usize) -> usize {
        let joined = &mut self.joined[..length];
        let (mut rest, mut taken) = (asked.iter(), 0);
        for (_, column) in rest.by_ref() {
            for (joined, column) in joined.iter_mut().zip(&column[first..first + length]) {
                *joined &= column.load(Ordering::Relaxed);
            }
            taken += 1;
            if taken % LOOK == 0 && joined.iter().map(|word| usize::from(*word != 0)).sum::<usize>() <= length / FEW {
                break;
            }
        }
        let mut few = 0;
        for (i, word) in joined.iter().enumerate() {
            self.few[few] = i as u16;
            few += usize::from(*word != 0);
        }
        for (_, column) in rest {
            if few == 0 {
                break;
            }
            let mut kept = 0;
            for i in 0..few {
                let place = self.few[i];
                let at = usize::from(place);
                joined[at] &= column[first + at].load(Ordering::Relaxed);
                self.few[kept] = place;
                kept += usize::from(joined[at] != 0);
            }
            few = kept;
        }
        few
    }
}

/// Writes up to 64 rows, which lie one after the other with `row_words` words each, as columns. `word` is the place in
/// each column that they are written to. Rows that are missing have no bits.
pub fn write_block(columns: &mut [u64], column_words: usize, word: usize, rows: &[u64], row_words: usize) {
    let width = columns.len() / column_words;
    for place in 0..row_words {
        let mut square = [0; BLOCK];
        for (square, row) in square.iter_mut().zip(rows.chunks_exact(row_words)) {
            *square = row[place];
        }
        transpose(&mut square);
        for (bit, bits) in (BLOCK * place..width).zip(square) {
            columns[bit * column_words + word] = bits;
        }
    }
}

/// How many bits of a row are set.
pub fn ones(row: &[u64]) -> u64 {
    row.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The probability that a row with `ones` of `width` bits has all of `bits` bits, which are distinct and lie anywhere:
/// C(ones, bits) / C(width, bits).
pub fn chance(width: u64, ones: u64, bits: u64) -> f64 {
    let ones = ones.min(width);
    if bits > ones {
        return 0.0;
    }
    let mut product = 1.0;
    for i in 0..bits {
        product *= (ones - i) as f64 / (width - i) as f64;
        if product == 0.0 {
            break;
        }
    }
    product
}
