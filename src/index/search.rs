//! Searches for similar rows.

use super::Index;
use super::hits::{Best, IndexHit, Listed, Shared, sort};
use crate::batch::workers::HAS_THREADS;
use crate::error::{Result, Status, error};
use crate::index::query::{Piece, Query, Sink, Workspace};
use crate::index::similarity::IndexSimilarity;
use crate::spec::Number;
use crate::storage::try_vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How to search.
#[derive(Default)]
pub struct IndexSearchOptions<'a> {
    /// How similarity is measured.
    pub similarity: IndexSimilarity,
    /// How many threads may search; with 0 and 1 only the caller's does.
    pub threads: usize,
    /// Called on the caller's thread with the work done and the work in all, in rows, or in queries if there are
    /// several; false cancels.
    pub progress: Option<&'a mut (dyn FnMut(u64, u64) -> bool + 'a)>,
}

impl core::fmt::Debug for IndexSearchOptions<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IndexSearchOptions")
            .field("similarity", &self.similarity)
            .field("threads", &self.threads)
            .finish()
    }
}

/// The most threads of a search.
pub(super) const MOST_THREADS: usize = 1024;

/// The rows of a piece, which one thread searches in one go.
pub(super) const PIECE_ROWS: u64 = 1 << 15;

/// The work of a call that several threads share.
pub(super) struct Tasks {
    next: AtomicU64,
    pub(super) done: AtomicU64,
    stopped: AtomicBool,
}

impl Tasks {
    pub(super) fn new() -> Tasks {
        Tasks { next: AtomicU64::new(0), done: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }

    /// The number of the next task for a thread; `None` when there are no more, or when the work was stopped.
    pub(super) fn take(&self, tasks: usize) -> Option<usize> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let task = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        (task < tasks).then_some(task)
    }

    /// Runs `work` on `threads` threads, of which the caller's is one, and returns the outcome of each. `report` is
    /// called on the caller's thread.
    pub(super) fn run<T: Send>(
        &self,
        threads: usize,
        progress: &mut Option<&mut (dyn FnMut(u64, u64) -> bool + '_)>,
        total: u64,
        work: impl Fn(&mut dyn FnMut() -> Result<()>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let mut report = || match progress.as_mut() {
            Some(progress) => match progress(self.done.load(Ordering::Relaxed).min(total), total) {
                true => Ok(()),
                false => {
                    self.stopped.store(true, Ordering::Relaxed);
                    Err(Status::Cancelled.into())
                }
            },
            None => Ok(()),
        };
        let guarded = |report: &mut dyn FnMut() -> Result<()>| {
            let outcome = work(report);
            if outcome.is_err() {
                self.stopped.store(true, Ordering::Relaxed);
            }
            outcome
        };
        let mut outcomes = try_vec(threads)?;
        if threads <= 1 || !HAS_THREADS {
            outcomes.push(guarded(&mut report)?);
        } else {
            std::thread::scope(|scope| -> Result<()> {
                let mut others = try_vec(threads)?;
                for _ in 1..threads {
                    // If no thread can be started, the others do its work.
                    let other = std::thread::Builder::new().spawn_scoped(scope, || guarded(&mut || Ok(())));
                    others.extend(other.ok());
                }
                let own = guarded(&mut report);
                let mut failed = own.map(|own| outcomes.push(own)).err();
                for other in others {
                    match other.join() {
                        Ok(Ok(outcome)) => outcomes.push(outcome),
                        Ok(Err(error)) => failed = failed.take().or(Some(error)),
                        Err(_) => failed = failed.take().or(Some(Status::Internal.into())),
                    }
                }
                failed.map_or(Ok(()), Err)
            })?;
        }
        report()?;
        Ok(outcomes)
    }
}

impl Index {
    /// The rows whose similarity to the query is at least the threshold: the most similar first, then in the order of
    /// ids, then of numbers. With a threshold of 0 these are all rows.
    ///
    /// The answer is exact. A similarity is the double that [`IndexSimilarity`] defines, and a row is found if that
    /// double is at least the threshold.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a query that is not a row, or a threshold outside \[0, 1\];
    /// [`Status::UnsupportedByHandle`] if the index has only columns; [`Status::Cancelled`]; [`Status::OutOfMemory`].
    pub fn find_similar(
        &self,
        query: &[u8],
        threshold: f64,
        options: &mut IndexSearchOptions,
    ) -> Result<Vec<IndexHit>> {
        let query = self.query(query, Some(threshold), options.similarity)?;
        let pieces = query.pieces(threshold, PIECE_ROWS)?;
        let lists = self.search(&query, &pieces, options, || Listed::new(self, threshold))?;
        merged(lists.into_iter().map(|list| list.hits), usize::MAX)
    }

    /// Calls `each`, on this thread alone, with the rows that [`Index::find_similar`] finds, in the order of their
    /// numbers and while the search goes on. False ends the search. Returns how many rows `each` got.
    ///
    /// # Errors
    /// As [`Index::find_similar`].
    pub fn visit_similar(
        &self,
        query: &[u8],
        threshold: f64,
        options: &mut IndexSearchOptions,
        each: &mut dyn FnMut(&IndexHit) -> bool,
    ) -> Result<u64> {
        struct Called<'a> {
            index: &'a Index,
            threshold: f64,
            each: &'a mut dyn FnMut(&IndexHit) -> bool,
            hits: u64,
            ended: bool,
        }
        impl Sink for Called<'_> {
            fn threshold(&self) -> f64 {
                self.threshold
            }

            fn take(&mut self, row: u64, similarity: f64) -> Result<()> {
                if !self.ended {
                    self.hits += 1;
                    self.ended = !(self.each)(&IndexHit { id: self.index.rows.id(row), row, similarity });
                }
                Ok(())
            }
        }
        let query = self.query(query, Some(threshold), options.similarity)?;
        let pieces = query.pieces(threshold, PIECE_ROWS)?;
        let mut space = Workspace::new()?;
        let mut sink = Called { index: self, threshold, each, hits: 0, ended: false };
        let (mut done, total) = (0, rows_of(&pieces));
        for piece in &pieces {
            query.search(piece, &mut space, &mut sink)?;
            done += piece.rows.end - piece.rows.start;
            if sink.ended {
                break;
            }
            if options.progress.as_mut().is_some_and(|progress| !progress(done, total)) {
                return Err(Status::Cancelled.into());
            }
        }
        Ok(sink.hits)
    }

    /// The `k` rows that are most similar to the query, in the order of [`Index::find_similar`], or all rows if there
    /// are fewer. Of rows that are equally similar, those with the least ids are in the answer.
    ///
    /// # Errors
    /// As [`Index::find_similar`].
    pub fn find_top(&self, query: &[u8], k: usize, options: &mut IndexSearchOptions) -> Result<Vec<IndexHit>> {
        let query = self.query(query, None, options.similarity)?;
        let pieces = self.pieces_for_top(&query, k)?;
        let bound = Shared::default();
        let lists = self.search(&query, &pieces, options, || Best::new(self, k, &bound))?;
        merged(lists.into_iter().map(|best| best.hits), k)
    }

    /// [`Index::find_similar`] for many queries, which follow each other in `queries`. Threads share the queries.
    ///
    /// # Errors
    /// As [`Index::find_similar`]; [`Status::OutOfRange`] for bytes that are not a whole number of rows.
    pub fn find_similar_batch(
        &self,
        queries: &[u8],
        threshold: f64,
        options: &mut IndexSearchOptions,
    ) -> Result<Vec<Vec<IndexHit>>> {
        let similarity = options.similarity;
        self.many(queries, options, |query, space| {
            let query = self.query(query, Some(threshold), similarity)?;
            let mut list = Listed::new(self, threshold);
            for piece in &query.pieces(threshold, PIECE_ROWS)? {
                query.search(piece, space, &mut list)?;
            }
            merged(core::iter::once(list.hits), usize::MAX)
        })
    }

    /// [`Index::find_top`] for many queries, which follow each other in `queries`. Threads share the queries.
    ///
    /// # Errors
    /// As [`Index::find_similar_batch`].
    pub fn find_top_batch(
        &self,
        queries: &[u8],
        k: usize,
        options: &mut IndexSearchOptions,
    ) -> Result<Vec<Vec<IndexHit>>> {
        let similarity = options.similarity;
        self.many(queries, options, |query, space| {
            let query = self.query(query, None, similarity)?;
            let bound = Shared::default();
            let mut best = Best::new(self, k, &bound);
            for piece in &self.pieces_for_top(&query, k)? {
                if Query::may_reach(piece.bound, best.threshold()) {
                    query.search(piece, space, &mut best)?;
                }
            }
            merged(core::iter::once(best.hits), k)
        })
    }

    /// The query, if the bytes are a row.
    fn query(&self, row: &[u8], threshold: Option<f64>, similarity: IndexSimilarity) -> Result<Query<'_>> {
        if let Some(threshold) = threshold.filter(|threshold| !(0.0..=1.0).contains(threshold)) {
            return Err(error!(OutOfRange, "threshold = {} is not one from 0 to 1", Number(threshold)));
        }
        similarity.check()?;
        if !self.shape().store.has_rows() {
            return Err(error!(
                UnsupportedByHandle,
                "the index has only columns (store = columns), and similarities need its rows"
            ));
        }
        Query::new(&self.rows, self.words_of(row)?, similarity)
    }

    /// The pieces that the `k` best rows may be in, those with the highest bound first.
    fn pieces_for_top(&self, query: &Query, k: usize) -> Result<Vec<Piece>> {
        if k == 0 {
            return Ok(Vec::new());
        }
        let mut pieces = query.pieces(0.0, PIECE_ROWS)?;
        // Rows that are not arranged come last, because any of them may have any similarity.
        let bound = |piece: &Piece| piece.count.map_or(-1.0, |_| piece.bound);
        pieces.sort_unstable_by(|a, b| bound(b).total_cmp(&bound(a)));
        Ok(pieces)
    }

    /// Searches pieces with as many threads as are asked for, each with its own sink.
    fn search<S: Sink + Send>(
        &self,
        query: &Query,
        pieces: &[Piece],
        options: &mut IndexSearchOptions,
        sink: impl Fn() -> S + Sync,
    ) -> Result<Vec<S>> {
        let tasks = Tasks::new();
        let threads = options.threads.clamp(1, MOST_THREADS.min(pieces.len().max(1)));
        tasks.run(threads, &mut options.progress, rows_of(pieces), |report| {
            let (mut sink, mut space) = (sink(), Workspace::new()?);
            while let Some(task) = tasks.take(pieces.len()) {
                let piece = &pieces[task];
                if Query::may_reach(piece.bound, sink.threshold()) {
                    query.search(piece, &mut space, &mut sink)?;
                }
                tasks.done.fetch_add(piece.rows.end - piece.rows.start, Ordering::Relaxed);
                report()?;
            }
            Ok(sink)
        })
    }

    /// Answers queries with as many threads as are asked for.
    fn many(
        &self,
        queries: &[u8],
        options: &mut IndexSearchOptions,
        answer: impl Fn(&[u8], &mut Workspace) -> Result<Vec<IndexHit>> + Sync,
    ) -> Result<Vec<Vec<IndexHit>>> {
        let bytes = self.row_bytes();
        if !queries.len().is_multiple_of(bytes) {
            let given = queries.len();
            return Err(error!(OutOfRange, "{given} bytes are no whole number of rows, which have {bytes} bytes each"));
        }
        let (tasks, count) = (Tasks::new(), queries.len() / bytes);
        let threads = options.threads.clamp(1, MOST_THREADS.min(count.max(1)));
        let parts = tasks.run(threads, &mut options.progress, count as u64, |report| {
            let (mut answers, mut space) = (Vec::new(), Workspace::new()?);
            while let Some(task) = tasks.take(count) {
                space.begin();
                let found = answer(&queries[task * bytes..][..bytes], &mut space)?;
                answers.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
                answers.push((task, found));
                tasks.done.fetch_add(1, Ordering::Relaxed);
                report()?;
            }
            Ok(answers)
        })?;
        let mut all: Vec<Vec<IndexHit>> = try_vec(count)?;
        all.resize_with(count, Vec::new);
        for (task, found) in parts.into_iter().flatten() {
            all[task] = found;
        }
        Ok(all)
    }
}

/// How many rows pieces have.
fn rows_of(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.rows.end - piece.rows.start).sum()
}

/// The best hits of several lists, in order.
fn merged(lists: impl Iterator<Item = Vec<IndexHit>>, most: usize) -> Result<Vec<IndexHit>> {
    let mut all: Vec<IndexHit> = Vec::new();
    for list in lists {
        if all.is_empty() {
            all = list;
        } else {
            all.try_reserve(list.len()).map_err(|_| Status::OutOfMemory)?;
            all.extend(list);
        }
    }
    sort(&mut all)?;
    all.truncate(most);
    Ok(all)
}
