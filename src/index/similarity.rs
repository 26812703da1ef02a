//! How similar two rows are, as a double from 0 to 1, and how many common bits a similarity needs.
//!
//! With `a` bits in the query, `b` in the row, `c` in both, and rows of `width` bits:
//!
//! | measure | similarity |
//! |---|---|
//! | Tanimoto | `c / (a + b - c)` |
//! | Dice | `2c / (a + b)` |
//! | Tversky | `c / ((alpha * (a - c) + beta * (b - c)) + c)` |
//! | cosine | `c / sqrt(a * b)` |
//! | Hamming | `(width - (a + b - 2c)) / width` |
//!
//! Each operation is rounded to a double once. Where the denominator is 0 the similarity is 1; that of cosine is 0 if
//! only one of both rows is empty.

use crate::error::{Result, error};
use crate::spec::Number;

/// The greatest weight of a Tversky similarity.
const MOST_WEIGHT: f64 = 1e9;

/// How the similarity of two rows is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum IndexSimilarity {
    /// The share of bits set in both rows among those set in either (Jaccard).
    #[default]
    Tanimoto,
    /// Twice the bits set in both, over the bits of both rows.
    Dice,
    /// The bits set in both; those that only one row has count with a weight in the denominator.
    Tversky {
        /// The weight of bits that only the query has.
        alpha: f64,
        /// The weight of bits that only the row has.
        beta: f64,
    },
    /// The bits set in both, over the geometric mean of the two rows' bits.
    Cosine,
    /// The share of all bits in which the rows are equal.
    Hamming,
}

impl IndexSimilarity {
    /// Refuses weights out of range.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn check(&self) -> Result<()> {
        let IndexSimilarity::Tversky { alpha, beta } = *self else { return Ok(()) };
        for (name, weight) in [("alpha", alpha), ("beta", beta)] {
            if !(0.0..=MOST_WEIGHT).contains(&weight) {
                let weight = Number(weight);
                return Err(error!(OutOfRange, "{name} = {weight} is not a weight from 0 to {MOST_WEIGHT}"));
            }
        }
        Ok(())
    }

    /// The similarity of a query with `a` bits and a row with `b` bits, of which `c` are common.
    #[inline]
    pub fn of(&self, width: u64, a: u64, b: u64, c: u64) -> f64 {
        let (a, b, c, width) = (a as f64, b as f64, c as f64, width as f64);
        let (numerator, denominator) = match *self {
            IndexSimilarity::Tanimoto => (c, a + b - c),
            IndexSimilarity::Dice => (2.0 * c, a + b),
            IndexSimilarity::Tversky { alpha, beta } => (c, (alpha * (a - c) + beta * (b - c)) + c),
            IndexSimilarity::Cosine if a == 0.0 || b == 0.0 => return if a == b { 1.0 } else { 0.0 },
            IndexSimilarity::Cosine => (c, (a * b).sqrt()),
            IndexSimilarity::Hamming => (width - (a + b - 2.0 * c), width),
        };
        if denominator == 0.0 { 1.0 } else { numerator / denominator }
    }
}
