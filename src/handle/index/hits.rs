//! What searches find, and how the best of it is kept.

use super::Index;
use crate::error::{Result, Status};
use crate::kinds::index::query::Sink;
use core::cmp::Ordering;
use core::sync::atomic::{self, AtomicU64};

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

impl Hit {
    /// The order of answers: the most similar first, then the least id, then the least number.
    pub fn order(&self, other: &Hit) -> Ordering {
        let similar = other.similarity.total_cmp(&self.similarity);
        similar.then(self.id.cmp(&other.id)).then(self.row.cmp(&other.row))
    }
}

/// All rows from a threshold on.
pub(super) struct Listed<'a> {
    index: &'a Index,
    threshold: f64,
    pub(super) hits: Vec<Hit>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(index: &'a Index, threshold: f64) -> Listed<'a> {
        Listed { index, threshold, hits: Vec::new() }
    }
}

impl Sink for Listed<'_> {
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn take(&mut self, row: u64, similarity: f64) -> Result<()> {
        self.hits.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
        self.hits.push(Hit { id: self.index.rows.id(row), row, similarity });
        Ok(())
    }
}

/// A similarity that threads share: `k` rows that reach it are known.
#[derive(Default)]
pub(super) struct Shared(AtomicU64);

impl Shared {
    /// The bits of doubles from 0 on are in the order of the doubles.
    fn raise(&self, similarity: f64) {
        self.0.fetch_max(similarity.max(0.0).to_bits(), atomic::Ordering::Relaxed);
    }

    fn value(&self) -> f64 {
        f64::from_bits(self.0.load(atomic::Ordering::Relaxed))
    }
}

/// The `k` best rows: a heap whose first hit is the last in the order of answers.
pub(super) struct Best<'a> {
    index: &'a Index,
    k: usize,
    bound: &'a Shared,
    pub(super) hits: Vec<Hit>,
}

impl<'a> Best<'a> {
    pub(super) fn new(index: &'a Index, k: usize, bound: &'a Shared) -> Best<'a> {
        Best { index, k, bound, hits: Vec::new() }
    }

    /// Moves the hit at a place up until the hit above it is worse.
    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.hits[place].order(&self.hits[above]) != Ordering::Greater {
                return;
            }
            self.hits.swap(place, above);
            place = above;
        }
    }

    /// Moves the first hit down until the hits below it are better.
    fn sink(&mut self) {
        let mut place = 0;
        loop {
            let below = [2 * place + 1, 2 * place + 2].into_iter().filter(|below| *below < self.hits.len());
            let Some(worst) = below.max_by(|a, b| self.hits[*a].order(&self.hits[*b])) else { return };
            if self.hits[worst].order(&self.hits[place]) != Ordering::Greater {
                return;
            }
            self.hits.swap(place, worst);
            place = worst;
        }
    }
}

impl Sink for Best<'_> {
    #[inline]
    fn threshold(&self) -> f64 {
        self.bound.value()
    }

    fn take(&mut self, row: u64, similarity: f64) -> Result<()> {
        let hit = Hit { id: self.index.rows.id(row), row, similarity };
        if self.hits.len() < self.k {
            self.hits.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
            self.hits.push(hit);
            self.rise(self.hits.len() - 1);
        } else if hit.order(&self.hits[0]) == Ordering::Less {
            self.hits[0] = hit;
            self.sink();
        }
        if self.hits.len() == self.k {
            self.bound.raise(self.hits[0].similarity);
        }
        Ok(())
    }
}
