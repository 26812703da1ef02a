//! The default increments 8 to 15, in cells of a byte, for keys with few cells. The positions of all cells of a key are
//! known before a cell changes. No cell lies in two words.

use crate::bits::{GOLDEN, mix};
use crate::blocks::scattered_bits::ScatteredBits;
use core::array;

/// The least of the increments, and how many there are.
pub const LEAST: u64 = 8;

/// How many bits choose an increment.
const CHOICE: u32 = LEAST.ilog2();

/// The most cells of a key. One word has the choices for all of them.
const MOST: usize = 16;

/// The value of a cell that says "maybe" for ever.
const GREATEST: u64 = u8::MAX as u64;

/// Cells of a byte. A key may have one cell twice, and then only the first increment counts. If the answer for a key
/// depends on whether a cell comes twice, these functions return `None`.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    places: ScatteredBits,
}

/// Whether a cell may have a key with this increment.
#[inline(always)]
fn may_have(cell: u64, increment: u64) -> bool {
    (cell == increment) | (cell >= increment + LEAST)
}

/// The word of a cell, and the place of the cell's lowest bit in it.
#[inline(always)]
fn place(position: u64) -> (usize, u64) {
    ((position / 8) as usize, position % 8 * 8)
}

impl Bytes {
    /// `count` cells, of which a key has `hashes`. `None` if these are too many.
    pub fn new(count: u64, hashes: u32) -> Option<Bytes> {
        let places = ScatteredBits { range: count, stride: 0, hashes };
        (1..=MOST as u32).contains(&hashes).then_some(Bytes { places })
    }

    /// Which increments a hash chooses, from the lowest bits on.
    #[inline(always)]
    fn choices(hash: u64) -> u64 {
        mix(hash.wrapping_add(GOLDEN))
    }

    /// Whether no cell of a hash says "no". `word` gives the words by their places. `None` if a cell says "no" and two
    /// cells of the hash may be the same.
    #[inline(always)]
    pub fn contains(&self, hash: u64, word: impl Fn(usize) -> u64) -> Option<bool> {
        let (mut choices, mut seen, mut recurs) = (Bytes::choices(hash), 0_u64, 0);
        let is_there = self.places.all(hash, |position| {
            let increment = LEAST + choices % LEAST;
            choices >>= CHOICE;
            let mark = 1 << (position % 64);
            recurs |= seen & mark;
            seen |= mark;
            let (at, shift) = place(position);
            may_have(word(at) >> shift & GREATEST, increment)
        });
        (is_there || recurs == 0).then_some(is_there)
    }

    /// The positions of the cells of a hash. `None` if two of them may be the same.
    #[inline(always)]
    fn positions(&self, hash: u64) -> Option<[u64; MOST]> {
        let mut positions = [0; MOST];
        let (mut count, mut low, mut high, mut recurs) = (0, 0_u64, 0_u64, 0);
        self.places.each(hash, |position| {
            positions[count % MOST] = position;
            count += 1;
            let (a, b) = (position % 64, position / 64 % 64);
            recurs |= (low >> a) & (high >> b) & 1;
            low |= 1 << a;
            high |= 1 << b;
        });
        (recurs == 0).then_some(positions)
    }

    /// Adds the increments of a hash to its cells. Returns whether one of the cells said "no" before. `None`, with
    /// nothing changed, if two cells may be the same.
    #[inline(always)]
    pub fn add(&self, words: &mut [u64], hash: u64) -> Option<bool> {
        let (positions, mut choices, mut new) = (self.positions(hash)?, Bytes::choices(hash), false);
        for position in &positions[..(self.places.hashes as usize).min(MOST)] {
            let increment = LEAST + choices % LEAST;
            choices >>= CHOICE;
            let (at, shift) = place(*position);
            let word = &mut words[at];
            let cell = *word >> shift & GREATEST;
            new |= !may_have(cell, increment);
            *word += ((cell + increment).min(GREATEST) - cell) << shift;
        }
        Some(new)
    }

    /// Takes the increments of a hash from its cells. Returns false, with nothing changed, if one of the cells says
    /// "no". `None`, with nothing changed, if two cells may be the same.
    #[inline(always)]
    pub fn subtract(&self, words: &mut [u64], hash: u64) -> Option<bool> {
        let positions = self.positions(hash)?;
        let positions = &positions[..(self.places.hashes as usize).min(MOST)];
        let choices = Bytes::choices(hash);
        let increments: [u64; MOST] = array::from_fn(|i| LEAST + (choices >> (CHOICE * i as u32)) % LEAST);
        let mut is_there = true;
        for (position, increment) in positions.iter().zip(increments) {
            let (at, shift) = place(*position);
            is_there &= may_have(words[at] >> shift & GREATEST, increment);
        }
        if is_there {
            for (position, increment) in positions.iter().zip(increments) {
                let (at, shift) = place(*position);
                let word = &mut words[at];
                let cell = *word >> shift & GREATEST;
                *word -= if cell == GREATEST { 0 } else { increment << shift };
            }
        }
        Some(is_there)
    }
}
