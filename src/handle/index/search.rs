//! Searches for similar rows.

use super::Index;
use crate::contract::Progress;
use crate::error::{Result, error};
use crate::kinds::index::similarity::Similarity;
use crate::spec::Number;

/// A row that a search found. C passes arrays of these, so its layout is that of C.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The id of the row.
    pub id: u64,
    /// The number of the row.
    pub row: u64,
    /// How similar the row is to the query.
    pub similarity: f64,
}

/// How to search.
#[derive(Default)]
pub struct SearchOptions<'a> {
    /// How similarity is measured.
    pub similarity: Similarity,
    /// How many threads may search; 0 and 1 are the caller's alone.
    pub threads: usize,
    /// Called with the rows that are done and those in all; false cancels.
    pub progress: Option<&'a mut Progress>,
}

impl core::fmt::Debug for SearchOptions<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SearchOptions").field("similarity", &self.similarity).field("threads", &self.threads).finish()
    }
}

impl Index {
    /// The rows whose similarity to the query is at least the threshold: the most similar first, then in the order of
    /// ids, then of numbers.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a query that is no row, or a threshold outside [0, 1].
    pub fn at_least(&self, query: &[u8], threshold: f64, options: &mut SearchOptions) -> Result<Vec<Hit>> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(error!(OutOfRange, "threshold = {} is not one from 0 to 1", Number(threshold)));
        }
        let mut hits = self.scan(query, options.similarity)?;
        hits.retain(|hit| hit.similarity >= threshold);
        Ok(hits)
    }

    /// The `k` rows that are most similar to the query, in the order of [`Index::at_least`].
    ///
    /// # Errors
    /// As [`Index::at_least`].
    pub fn top(&self, query: &[u8], k: usize, options: &mut SearchOptions) -> Result<Vec<Hit>> {
        let mut hits = self.scan(query, options.similarity)?;
        hits.truncate(k);
        Ok(hits)
    }

    fn scan(&self, query: &[u8], similarity: Similarity) -> Result<Vec<Hit>> {
        similarity.check()?;
        let query = self.words_of(query)?;
        let a = query.iter().map(|word| u64::from(word.count_ones())).sum();
        let mut hits = Vec::new();
        let mut words = vec![0; query.len()];
        for row in (0..self.rows()).filter(|row| !self.rows.is_removed(*row)) {
            self.rows.copy_row(row, &mut words);
            let c = query.iter().zip(&words).map(|(a, b)| u64::from((a & b).count_ones())).sum();
            let similarity = similarity.of(self.width(), a, self.rows.count(row), c);
            hits.push(Hit { id: self.rows.id(row), row, similarity });
        }
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.id.cmp(&b.id)).then(a.row.cmp(&b.row)));
        Ok(hits)
    }
}
