//! Searches for rows that contain a query, and rows that are made from features.

use super::Index;
use super::search::{IndexSearchOptions, MOST_THREADS, PIECE_ROWS, Tasks};
use crate::error::{Error, Result, Status, error};
use crate::handle::image::Image;
use crate::index::columns::{Columns, chance, ones};
use crate::index::features::{Fold, IndexFeatures, IndexSimilarityEstimate, corrected, fold};
use crate::storage::try_vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// The rows whose columns one thread searches in one piece: chunks of 32,768 rows each.
const COLUMN_ROWS: u64 = 1 << 18;

impl Index {
    /// Gives the number and the id of every row that has all bits of the query, in the order of numbers, until `answer`
    /// says false. The result says whether the search came to its end. A query without bits gives all rows.
    ///
    /// Columns answer without reading other bits than those of the query. Without columns the search reads every row. A
    /// single thread gives rows while the search goes on. Several threads search all rows before `answer` gets the
    /// first one. The options' similarity has no meaning here.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the index says that its bits do not nest; [`Status::OutOfRange`] for a query that is
    /// not a row; [`Status::Cancelled`]; [`Status::OutOfMemory`].
    pub fn visit_containing(
        &self,
        query: &[u8],
        options: &mut IndexSearchOptions,
        answer: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<bool> {
        self.containing(query, options, &mut |first, mut bits| {
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
    /// As [`Index::visit_containing`].
    pub fn count_all(&self, query: &[u8], options: &mut IndexSearchOptions) -> Result<u64> {
        let mut count = 0;
        self.containing(query, options, &mut |_, bits| {
            count += u64::from(bits.count_ones());
            true
        })?;
        Ok(count)
    }

    /// Gives the rows that have all bits of a query, 64 at a time: the number of the first of them, and a bit for each.
    fn containing(
        &self,
        query: &[u8],
        options: &mut IndexSearchOptions,
        answer: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<bool> {
        if !self.shape().nests {
            return Err(error!(
                Unsupported,
                "the index has nesting = no: what contains a thing need not have its bits, as circular fingerprints do \
                 not, so rows with all bits of a query say nothing"
            ));
        }
        let query = self.words_of(query)?;
        let (total, words, shape) = (self.next_row(), self.rows.words(), self.shape());
        let mut columns = None;
        if shape.store.has_columns() {
            let removed = &words[shape.removed()];
            let all = &words[shape.column(0).start..shape.column(shape.width - 1).end];
            let all = Columns { words: all, column_words: shape.column_words(), rows: total, removed };
            columns = Some((all, all.asked(&query)?));
        }
        let piece_rows = if columns.is_some() { COLUMN_ROWS } else { PIECE_ROWS };
        let pieces = total.div_ceil(piece_rows) as usize;
        let rows_of = |piece: usize| piece as u64 * piece_rows..total.min((piece as u64 + 1) * piece_rows);
        let search = |rows: Range<u64>, answer: &mut dyn FnMut(u64, u64) -> bool| match &columns {
            Some((columns, asked)) => columns.search(asked, rows, answer),
            None => self.scan(&query, rows, answer),
        };
        let threads = options.threads.clamp(1, MOST_THREADS.min(pieces.max(1)));
        if threads == 1 {
            for rows in (0..pieces).map(rows_of) {
                let done = rows.end;
                if !search(rows, answer) {
                    return Ok(false);
                }
                if options.progress.as_mut().is_some_and(|progress| !progress(done, total)) {
                    return Err(Status::Cancelled.into());
                }
            }
            return Ok(true);
        }
        let tasks = Tasks::new();
        let lists = tasks.run(threads, &mut options.progress, total, |report| {
            let mut found: Vec<(u64, u64)> = Vec::new();
            while let Some(task) = tasks.take(pieces) {
                let rows = rows_of(task);
                let length = rows.end - rows.start;
                let whole = search(rows, &mut |first, bits| {
                    let has_room = found.try_reserve(1).is_ok();
                    if has_room {
                        found.push((first, bits));
                    }
                    has_room
                });
                if !whole {
                    return Err(Status::OutOfMemory.into());
                }
                tasks.done.fetch_add(length, Ordering::Relaxed);
                report()?;
            }
            Ok(found)
        })?;
        let mut all: Vec<(u64, u64)> = try_vec(lists.iter().map(Vec::len).sum())?;
        all.extend(lists.into_iter().flatten());
        all.sort_unstable();
        Ok(all.into_iter().all(|(first, bits)| answer(first, bits)))
    }

    /// Looks at rows one after the other. The number of the first one is a multiple of 64.
    fn scan(&self, query: &[u64], rows: Range<u64>, answer: &mut dyn FnMut(u64, u64) -> bool) -> bool {
        let (words, shape) = (self.rows.words(), self.shape());
        let has = |(word, wanted): (&AtomicU64, &u64)| wanted & !word.load(Ordering::Relaxed) == 0;
        for first in rows.clone().step_by(64) {
            let mut bits = 0;
            for row in first..rows.end.min(first + 64) {
                if !self.rows.is_removed(row) && words[shape.row(row)].iter().zip(query).all(has) {
                    bits |= 1 << (row - first);
                }
            }
            if bits != 0 && !answer(first, bits) {
                return false;
            }
        }
        true
    }

    /// The share of rows that have all bits of the query by chance: the false-positive rate of
    /// [`Index::visit_containing`] for rows that have none of the query's features. With b bits in a row and t in the
    /// query it is the mean of C(b, t) / C(width, t) over the rows, exact for features that are hashed. For a row that
    /// has some of the features the rate is that of the others: ask for a query of these. 0 without rows.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a query that is not a row; [`Status::OutOfMemory`].
    pub fn expected_false_positive_rate(&self, query: &[u8]) -> Result<f64> {
        let (width, asked) = (self.width(), ones(&self.words_of(query)?));
        let mut weights: Vec<u64> = try_vec(width as usize + 1)?;
        weights.resize(width as usize + 1, 0);
        let mut rows = 0;
        for row in (0..self.next_row()).filter(|row| !self.rows.is_removed(*row)) {
            // A forged count may be larger than any real one.
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
    pub fn features(&self) -> Result<IndexFeatures> {
        let shape = self.shape();
        IndexFeatures::new(shape.width, shape.feature_bits as u32, self.base().hasher().clone())
    }

    /// The row of some features, each with the number of bits that it sets; 0 means the index's own `feature_bits`.
    /// Such a row is added with [`Index::add`], or used as a query.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for more than 64 bits for a feature; [`Status::ExternalHash`] if the index takes hashes;
    /// [`Status::SecretMissing`]; [`Status::OutOfMemory`].
    pub fn row_of(&self, features: impl IntoIterator<Item = (impl AsRef<[u8]>, u32)>) -> Result<Vec<u8>> {
        let (made, hasher) = (self.features()?, self.base().hasher());
        self.row_of_hashes(
            features.into_iter().map(|(feature, bits)| {
                hasher.hash_bytes(feature.as_ref()).map(|hash| (hash, bits)).map_err(Error::from)
            }),
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

    fn row_of_hashes(&self, hashes: impl Iterator<Item = Result<(u64, u32)>>, made: &IndexFeatures) -> Result<Vec<u8>> {
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

    /// Sets the bits of a feature in a row: `bits` of them, or the index's `feature_bits` if that is 0.
    ///
    /// # Errors
    /// As [`Index::row_of`], and [`Status::OutOfRange`] for bytes that are no row. The row then stays as it was.
    #[inline]
    pub fn add_feature(&self, row: &mut [u8], feature: impl AsRef<[u8]>, bits: u32) -> Result<()> {
        self.add_feature_bytes(row, feature.as_ref(), bits)
    }

    fn add_feature_bytes(&self, row: &mut [u8], feature: &[u8], bits: u32) -> Result<()> {
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

    /// Folds a row of this index by OR to one of `width` bits, which must divide the width of the index. Both rows are
    /// bytes, as everywhere else.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a width that does not divide the other, or bytes that are not those of rows of both
    /// widths; [`Status::OutOfMemory`].
    pub fn fold_row(&self, row: &[u8], way: Fold, width: u64, folded: &mut [u8]) -> Result<()> {
        let row = self.words_of(row)?;
        if folded.len() as u64 != width.div_ceil(8) {
            let (given, wanted) = (folded.len(), width.div_ceil(8));
            return Err(error!(OutOfRange, "{given} bytes for a row of width = {width}, which has {wanted}"));
        }
        let mut words: Vec<u64> = try_vec(folded.len().div_ceil(8))?;
        words.resize(folded.len().div_ceil(8), 0);
        fold(&row, self.width(), way, &mut words, width)?;
        for (to, word) in folded.chunks_mut(8).zip(&words) {
            to.copy_from_slice(&word.to_le_bytes()[..to.len()]);
        }
        Ok(())
    }

    /// How similar the sets of features are that these rows were made from, without the bits that features share by
    /// chance: an estimate of Tanimoto's coefficient of the sets, with its standard error. All features set the same
    /// number of bits.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a row of another width, or rows that say nothing, because together they have no bit
    /// or all bits; [`Status::OutOfMemory`].
    pub fn estimate_similarity(&self, first: &[u8], second: &[u8]) -> Result<IndexSimilarityEstimate> {
        let (first, second) = (self.words_of(first)?, self.words_of(second)?);
        let common = first.iter().zip(&second).map(|(a, b)| u64::from((a & b).count_ones())).sum();
        corrected(self.width(), ones(&first), ones(&second), common)
            .ok_or_else(|| error!(OutOfRange, "the rows together have no bit or all bits, so they tell nothing"))
    }
}
