//! A query: which rows it may leave out without a look at their bits, and how similar the others are.

use super::layout::folds::{BLOCK_ROWS, fold, is_near};
use super::layout::{RowKernel, kernel};
use super::rows::Rows;
use super::similarity::IndexSimilarity;
use crate::bits::prefetch;
use crate::contract::Payload;
use crate::error::Result;
use crate::storage::try_vec;
use core::ops::Range;
use core::sync::atomic::Ordering;

/// How many rows are looked at between two looks at the threshold.
const CHUNK: usize = 1024;

/// How many rows ahead a row is fetched.
const AHEAD: usize = 8;

/// How much less than the threshold a computed bound may be before rows are left out. Doubles are rounded by far less,
/// so no row is left out whose similarity reaches the threshold.
const SLACK: f64 = 1e-9;

/// What takes the rows that a query finds.
pub trait Sink {
    /// The least similarity that is of use now. It never falls.
    fn threshold(&self) -> f64;

    /// Takes a row whose similarity is at least the threshold.
    ///
    /// # Errors
    /// The errors of the sink.
    fn take(&mut self, row: u64, similarity: f64) -> Result<()>;
}

/// A query of an index.
pub struct Query<'a> {
    rows: &'a Rows,
    kernel: &'static RowKernel,
    words: Vec<u64>,
    fold: Vec<u64>,
    count: u64,
    similarity: IndexSimilarity,
}

/// Rows that are searched together.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The numbers of the rows.
    pub rows: Range<u64>,
    /// How many bits each of them has set. `None` for rows that are not arranged.
    pub count: Option<u64>,
    /// A similarity that none of them exceeds.
    pub bound: f64,
}

/// What a thread needs for its searches.
pub struct Workspace {
    counts: Vec<u32>,
    places: Vec<u32>,
    /// For each count of set bits one more than the common bits that a row needs, [`NEVER`] if no row has them, and 0
    /// if that is not known.
    needs: Vec<u32>,
    /// The threshold of `needs`.
    threshold: f64,
    /// How many bits the query of `needs` has: one workspace serves many queries.
    asked: u64,
    /// Chunks left until folds are tried again, after they had left out too few rows.
    pause: u32,
}

/// A count of common bits that no row has.
const NEVER: u32 = u32::MAX;

impl Workspace {
    /// A workspace.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new() -> Result<Workspace> {
        Ok(Workspace {
            counts: zeros(CHUNK)?,
            places: zeros(CHUNK)?,
            needs: Vec::new(),
            threshold: 0.0,
            asked: 0,
            pause: 0,
        })
    }

    /// Tries folds again, before another query.
    pub fn begin(&mut self) {
        self.pause = 0;
    }
}

/// A vector of `length` zeros.
fn zeros(length: usize) -> Result<Vec<u32>> {
    let mut zeros = try_vec(length)?;
    zeros.resize(length, 0);
    Ok(zeros)
}

impl<'a> Query<'a> {
    /// A query with these words of a row.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn new(rows: &'a Rows, words: Vec<u64>, similarity: IndexSimilarity) -> Result<Query<'a>> {
        let length = rows.shape().fold_words();
        let mut folded = try_vec(length)?;
        folded.resize(length, 0);
        fold(&words, &mut folded);
        let count = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let kernel = kernel(rows.base().instructions());
        Ok(Query { rows, kernel, words, fold: folded, count, similarity })
    }

    /// How similar a row with `count` bits is, `common` of which the query has too.
    #[inline]
    fn similarity(&self, count: u64, common: u64) -> f64 {
        self.similarity.of(self.rows.shape().width, self.count, count, common)
    }

    /// A similarity that no row with `count` bits exceeds, but for rounding.
    fn bound(&self, count: u64) -> f64 {
        self.similarity(count, self.count.min(count))
    }

    /// Whether rows with this bound may reach a threshold.
    pub fn may_reach(bound: f64, threshold: f64) -> bool {
        // A bound that is not a number comes from forged counts, and leaves nothing out.
        bound.partial_cmp(&(threshold * (1.0 - SLACK))) != Some(core::cmp::Ordering::Less)
    }

    /// The least number of common bits with which a row of `count` bits may reach the threshold. `None` if none may.
    /// The search begins at `hint`: what a lower threshold or a row with fewer bits needs, which is no more.
    fn need(&self, count: u64, threshold: f64, hint: u64) -> Option<u64> {
        let most = self.count.min(count);
        let is_enough = |common: u64| Self::may_reach(self.similarity(count, common), threshold);
        if !is_enough(most) {
            return None;
        }
        // `high` is enough, and all below `low` is not. The steps from the hint double, up to half of what is left.
        let (mut low, mut high, mut step) = (hint.min(most), most, 0);
        while low < high {
            let at = low + step.min((high - low) / 2);
            if is_enough(at) { high = at } else { (low, step) = (at + 1, 2 * step + 1) }
        }
        Some(high)
    }

    /// The rows, in pieces of at most `most` rows each. Pieces of one count follow each other, and pieces that cannot
    /// reach the threshold are left out.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn pieces(&self, threshold: f64, most: u64) -> Result<Vec<Piece>> {
        let state = self.rows.state();
        let (mut pieces, mut start) = (Vec::new(), 0);
        let mut add = |rows: Range<u64>, count: Option<u64>, bound: f64| -> Result<()> {
            let mut at = rows.start;
            while at < rows.end {
                let end = rows.end.min(at + most);
                pieces.try_reserve(1).map_err(|_| crate::Status::OutOfMemory)?;
                pieces.push(Piece { rows: at..end, count, bound });
                at = end;
            }
            Ok(())
        };
        while start < state.arranged {
            let count = self.rows.count(start);
            let end = self.end_of(start, state.arranged, count);
            let bound = self.bound(count);
            if Self::may_reach(bound, threshold) {
                add(start..end, Some(count), bound)?;
            }
            start = end;
        }
        // A row that is not arranged may have any count.
        add(state.arranged..state.rows, None, f64::INFINITY)?;
        Ok(pieces)
    }

    /// The end of the arranged rows that have `count` bits, as the row `start` does.
    fn end_of(&self, start: u64, end: u64, count: u64) -> u64 {
        // `low` has the count, and `high` has not, or is the end. The steps double.
        let (mut low, mut step) = (start, 1);
        let mut high = loop {
            let at = low + step;
            if at >= end {
                break end;
            }
            if self.rows.count(at) != count {
                break at;
            }
            (low, step) = (at, 2 * step);
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.rows.count(middle) == count { low = middle } else { high = middle }
        }
        high
    }

    /// Gives the rows of a piece that reach the sink's threshold to the sink, in the order of their numbers.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn search(&self, piece: &Piece, space: &mut Workspace, sink: &mut impl Sink) -> Result<()> {
        let Some(count) = piece.count else { return self.search_others(piece, space, sink) };
        let (mut need, mut threshold) = (None, -1.0);
        let mut at = piece.rows.start;
        while at < piece.rows.end {
            // Chunks are whole blocks of folds but for the first and the last.
            let rows = at..piece.rows.end.min(at / BLOCK_ROWS * BLOCK_ROWS + CHUNK as u64);
            if sink.threshold() != threshold {
                threshold = sink.threshold();
                need = match self.need(count, threshold, need.unwrap_or(0)) {
                    Some(need) => Some(need),
                    None => return Ok(()),
                };
            }
            let need = need.unwrap_or(0);
            let differences = (self.count + count).saturating_sub(2 * need);
            // A fold is never farther than its bits, and one without bits leaves nothing out.
            let is_open = differences >= 64 * self.fold.len() as u64;
            if is_open || space.pause > 0 {
                space.pause = space.pause.saturating_sub(1);
                self.search_all(rows.clone(), count, need, space, sink)?;
            } else {
                let found = self.search_near(rows.clone(), count, need, differences as u32, space, sink)?;
                // If most rows are read anyway, reading them without their folds is faster.
                space.pause = if 2 * found > rows.end - rows.start { 15 } else { 0 };
            }
            at = rows.end;
        }
        Ok(())
    }

    /// Looks at rows of one count that follow each other.
    fn search_all(
        &self,
        rows: Range<u64>,
        count: u64,
        need: u64,
        space: &mut Workspace,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let counts = &mut space.counts[..(rows.end - rows.start) as usize];
        (self.kernel.common)(&self.words, &self.rows.words()[self.rows.shape().rows(rows.clone())], counts);
        for (i, common) in counts.iter().enumerate() {
            if u64::from(*common) >= need {
                self.offer(rows.start + i as u64, count, u64::from(*common), sink)?;
            }
        }
        Ok(())
    }

    /// Looks at those rows of one count whose folds are near. Returns how many these were.
    fn search_near(
        &self,
        rows: Range<u64>,
        count: u64,
        need: u64,
        differences: u32,
        space: &mut Workspace,
        sink: &mut impl Sink,
    ) -> Result<u64> {
        let (words, shape) = (self.rows.words(), self.rows.shape());
        let blocks = rows.start / BLOCK_ROWS..rows.end.div_ceil(BLOCK_ROWS);
        let first = blocks.start * BLOCK_ROWS;
        let levels = shape.fold_blocks(blocks).map(|level| &words[level]);
        let found = (self.kernel.near)(&self.fold, &levels, differences, &mut space.places);
        let places = &space.places[..found];
        for (i, place) in places.iter().enumerate() {
            if let Some(later) = places.get(i + AHEAD) {
                // The last blocks may have places after the rows.
                let later = shape.row((first + u64::from(*later)).min(rows.end - 1));
                words[later].iter().step_by(8).take(4).for_each(prefetch);
            }
            let row = first + u64::from(*place);
            // The blocks at both ends may have other rows.
            if !rows.contains(&row) {
                continue;
            }
            let common = self.common(row);
            if common >= need {
                self.offer(row, count, common, sink)?;
            }
        }
        Ok(found as u64)
    }

    /// Looks at rows that are not arranged.
    fn search_others(&self, piece: &Piece, space: &mut Workspace, sink: &mut impl Sink) -> Result<()> {
        let (words, shape) = (self.rows.words(), self.rows.shape());
        if space.needs.is_empty() {
            space.needs = zeros(shape.width as usize + 1)?;
        }
        for row in piece.rows.clone() {
            let (count, threshold) = (self.rows.count(row), sink.threshold());
            if space.threshold != threshold || space.asked != self.count {
                space.needs.fill(0);
                (space.threshold, space.asked) = (threshold, self.count);
            }
            let place = count.min(shape.width) as usize;
            if space.needs[place] == 0 {
                let hint = space.needs[place.saturating_sub(1)];
                let hint = if hint == NEVER { 0 } else { u64::from(hint.saturating_sub(1)) };
                let need = self.need(count.min(shape.width), threshold, hint);
                space.needs[place] = need.map_or(NEVER, |need| need as u32 + 1);
            }
            let Some(need) = Some(space.needs[place]).filter(|need| *need != NEVER) else { continue };
            let need = u64::from(need - 1);
            let differences = (self.count + count).saturating_sub(2 * need);
            if differences < 64 * self.fold.len() as u64 {
                let word = |i: usize| words[shape.fold_word(row, i)].load(Ordering::Relaxed);
                if !is_near(&self.fold, word, differences) {
                    continue;
                }
            }
            let common = self.common(row);
            if common >= need {
                self.offer(row, count, common, sink)?;
            }
        }
        Ok(())
    }

    /// How many bits the query and a row have in common.
    #[inline]
    fn common(&self, row: u64) -> u64 {
        let mut common = [0];
        (self.kernel.common)(&self.words, &self.rows.words()[self.rows.shape().row(row)], &mut common);
        common[0].into()
    }

    #[inline]
    fn offer(&self, row: u64, count: u64, common: u64, sink: &mut impl Sink) -> Result<()> {
        let similarity = self.similarity(count, common);
        if similarity >= sink.threshold() && !self.rows.is_removed(row) {
            sink.take(row, similarity)?;
        }
        Ok(())
    }
}
