//! Searches for rows that contain a query, and rows that are made of features.

use super::Index;
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Error, Result, error};
use crate::handle::image::Image;
use crate::kinds::index::columns::{Columns, chance, ones};
use crate::kinds::index::features::{Corrected, Features, corrected};
use crate::storage::try_vec;

impl Index {
    /// Gives the number and the id of every row that has all bits of the query, in the order of numbers, until `answer`
    /// says false. The result says whether the search came to its end. A query without bits gives all rows.
    ///
    /// Columns answer without reading other bits than those of the query. Without columns the search reads every row.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the index says that its bits do not nest; [`Status::OutOfRange`] for a query that is
    /// no row; [`Status::OutOfMemory`].
    pub fn contains_all(&self, query: &[u8], answer: &mut dyn FnMut(u64, u64) -> bool) -> Result<bool> {
        self.containing(query, &mut |first, mut bits| {
            while bits != 0 {
                let row = first + u64::from(bits.trailing_zeros());
                if !answer(row, self.rows.id(row)) {
                    return false;
                }
                bits &= bits - 1;
            }
            true
        })
    }

    /// How many rows have all bits of the query.
    ///
    /// # Errors
    /// As [`Index::contains_all`].
    pub fn count_all(&self, query: &[u8]) -> Result<u64> {
        let mut count = 0;
        self.containing(query, &mut |_, bits| {
            count += u64::from(bits.count_ones());
            true
        })?;
        Ok(count)
    }

    /// Gives rows that have all bits of a query as bits of the 64 rows from a number on.
    fn containing(&self, query: &[u8], answer: &mut dyn FnMut(u64, u64) -> bool) -> Result<bool> {
        if !self.shape().nests {
            return Err(error!(
                Unsupported,
                "the index has nesting = no: what contains a thing need not have its bits, as circular fingerprints do \
                 not, so rows with all bits of a query say nothing"
            ));
        }
        let query = self.words_of(query)?;
        let (rows, words, shape) = (self.rows(), self.rows.words(), self.shape());
        if shape.store.has_columns() {
            let columns = shape.column(0).start..shape.column(shape.width - 1).end;
            let removed = &words[shape.removed()];
            let columns = Columns { words: &words[columns], column_words: shape.column_words(), rows, removed };
            return columns.search(&query, answer);
        }
        for first in (0..rows).step_by(64) {
            let mut bits = 0;
            for row in first..rows.min(first + 64) {
                let has = |(word, wanted): (&core::sync::atomic::AtomicU64, &u64)| {
                    wanted & !word.load(core::sync::atomic::Ordering::Relaxed) == 0
                };
                if !self.rows.is_removed(row) && words[shape.row(row)].iter().zip(&query).all(has) {
                    bits |= 1 << (row - first);
                }
            }
            if bits != 0 && !answer(first, bits) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The share of rows that have all bits of the query by chance: the false-positive rate of [`Index::contains_all`]
    /// for rows that have none of the query's features. With b bits in a row and t in the query it is the mean of C(b,
    /// t) / C(width, t) over the rows, exact for features that are hashed. A row that has some of the features is in
    /// the answer with the rate of the others: ask for a query of these. 0 without rows.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a query that is no row; [`Status::OutOfMemory`].
    pub fn false_positive_rate_of(&self, query: &[u8]) -> Result<f64> {
        let (width, asked) = (self.width(), ones(&self.words_of(query)?));
        let mut weights: Vec<u64> = try_vec(width as usize + 1)?;
        weights.resize(width as usize + 1, 0);
        let mut rows = 0;
        for row in (0..self.rows()).filter(|row| !self.rows.is_removed(*row)) {
            // A forged count may be greater than any.
            weights[self.rows.count(row).min(width) as usize] += 1;
            rows += 1;
        }
        let weights = (0..).zip(weights).filter(|(_, weight)| *weight != 0);
        let sum: f64 = weights.map(|(ones, weight)| weight as f64 * chance(width, ones, asked)).sum();
        Ok(if rows == 0 { 0.0 } else { sum / rows as f64 })
    }

    /// How features become rows of this index.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for a forged image.
    pub fn features(&self) -> Result<Features> {
        let shape = self.shape();
        Features::new(shape.width, shape.feature_bits as u32, self.base().hasher().clone())
    }

    /// The row of some features, each with the number of bits that it sets; 0 is the index's own `feature_bits`. Such a
    /// row is added with [`Index::add`], or asked for.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for more than 64 bits of a feature; [`Status::ExternalHash`] if the index takes hashes;
    /// [`Status::KeyMissing`]; [`Status::OutOfMemory`].
    pub fn row_of<'a>(&self, features: impl IntoIterator<Item = (&'a [u8], u32)>) -> Result<Vec<u8>> {
        let (made, hasher) = (self.features()?, self.base().hasher());
        self.row_of_hashes(
            features
                .into_iter()
                .map(|(feature, bits)| hasher.hash_bytes(feature).map(|hash| (hash, bits)).map_err(Error::from)),
            &made,
        )
    }

    /// [`Index::row_of`] for the hashes of features.
    ///
    /// # Errors
    /// As [`Index::row_of`].
    pub fn row_of_hash(&self, features: impl IntoIterator<Item = (u64, u32)>) -> Result<Vec<u8>> {
        self.row_of_hashes(features.into_iter().map(Ok), &self.features()?)
    }

    fn row_of_hashes(&self, hashes: impl Iterator<Item = Result<(u64, u32)>>, made: &Features) -> Result<Vec<u8>> {
        let mut words: Vec<u64> = try_vec(self.shape().row_words())?;
        words.resize(self.shape().row_words(), 0);
        for hash in hashes {
            let (hash, bits) = hash?;
            made.add_hash(&mut words, hash, bits)?;
        }
        let mut row = try_vec(self.row_bytes())?;
        row.extend(words.iter().flat_map(|word| word.to_le_bytes()).take(self.row_bytes()));
        Ok(row)
    }

    /// Sets the bits of a feature in a row: `bits` of them, or with 0 as many as the index's `feature_bits`.
    ///
    /// # Errors
    /// As [`Index::row_of`], and [`Status::OutOfRange`] for bytes that are no row. The row then stays as it was.
    pub fn add_feature(&self, row: &mut [u8], feature: &[u8], bits: u32) -> Result<()> {
        self.add_feature_hash(row, self.base().hasher().hash_bytes(feature).map_err(Error::from)?, bits)
    }

    /// [`Index::add_feature`] for the hash of a feature.
    ///
    /// # Errors
    /// As [`Index::add_feature`].
    pub fn add_feature_hash(&self, row: &mut [u8], hash: u64, bits: u32) -> Result<()> {
        let mut words = self.words_of(row)?;
        self.features()?.add_hash(&mut words, hash, bits)?;
        for (to, word) in row.chunks_mut(8).zip(&words) {
            to.copy_from_slice(&word.to_le_bytes()[..to.len()]);
        }
        Ok(())
    }

    /// How similar the sets of features are whose rows these are, without the bits that features share by chance: an
    /// estimate of Tanimoto's coefficient of the sets, with its standard error. All features set one number of bits.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a row of another width, or rows that tell nothing, because together they have no bit
    /// or all bits; [`Status::OutOfMemory`].
    pub fn corrected(&self, first: &[u8], second: &[u8]) -> Result<Corrected> {
        let (first, second) = (self.words_of(first)?, self.words_of(second)?);
        let common = first.iter().zip(&second).map(|(a, b)| u64::from((a & b).count_ones())).sum();
        corrected(self.width(), ones(&first), ones(&second), common)
            .ok_or_else(|| error!(OutOfRange, "the rows together have no bit or all bits, so they tell nothing"))
    }
}
