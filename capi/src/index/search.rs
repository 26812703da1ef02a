//! INDEXES: SEARCHES
//!
//! Similarities need rows. If the parameter `store` is `columns`, these functions return
//! `PETAL_ERR_UNSUPPORTED_BY_HANDLE`.

use super::petal_index;
use crate::arguments::{Given, arguments, list};
use crate::boundary::{self, boundary};
use crate::builder::petal_progress_callback;
use crate::status::{petal_error, petal_status};
use petal_core::{Error, Index, IndexHit, IndexSearchOptions, IndexSimilarity, Result, Status};
use std::ffi::c_void;

/// How similarity is measured: one of `PETAL_INDEX_SIMILARITY_*`.
pub type petal_index_similarity = u32;

/// c / (a + b - c), and 1 for two empty rows.
pub const PETAL_INDEX_SIMILARITY_TANIMOTO: petal_index_similarity = 0;
/// 2c / (a + b), and 1 for two empty rows.
pub const PETAL_INDEX_SIMILARITY_DICE: petal_index_similarity = 1;
/// c / ((alpha * (a - c) + beta * (b - c)) + c), and 1 if the denominator is 0.
pub const PETAL_INDEX_SIMILARITY_TVERSKY: petal_index_similarity = 2;
/// c / sqrt(a * b), 1 for two empty rows, and 0 if only one is empty.
pub const PETAL_INDEX_SIMILARITY_COSINE: petal_index_similarity = 3;
/// (width - (a + b - 2c)) / width: the share of bits in which query and row are equal.
pub const PETAL_INDEX_SIMILARITY_HAMMING: petal_index_similarity = 4;

/// How to search. NULL stands for all zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_index_search_options {
    /// sizeof(petal_index_search_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// How many threads search, the caller's included; 0 and 1 mean the caller's only. Other threads run only during
    /// the call. The answer is the same.
    pub threads: usize,
    /// Nullable. The caller's thread calls it with the rows that are done and those in all; with many queries it counts
    /// queries. If it returns false, the call returns `PETAL_ERR_CANCELLED`.
    pub progress: petal_progress_callback,
    /// The function passes this pointer to `progress`.
    pub progress_context: *mut c_void,
    /// The weight of bits that only the query has, from 0 to 1e9. Only for `PETAL_INDEX_SIMILARITY_TVERSKY`.
    pub alpha: f64,
    /// The weight of bits that only the row has, from 0 to 1e9. Only for `PETAL_INDEX_SIMILARITY_TVERSKY`.
    pub beta: f64,
    /// How similarity is measured; 0 is Tanimoto.
    pub similarity: petal_index_similarity,
    /// 0.
    pub reserved: u32,
}

// SAFETY: numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_index_search_options {
    const FIRST_SIZE: usize = 56;
}

/// A row that a search found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_index_hit {
    /// The id of the row.
    pub id: u64,
    /// The number of the row.
    pub row: u64,
    /// How similar the row is to the query.
    pub similarity: f64,
}

/// Takes a row that a search found. Return false to end the search. The callback must not unwind (throw) through the
/// library.
pub type petal_index_hit_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, hit: *const petal_index_hit) -> bool>;

/// The options of a search, with the caller's callback.
pub(crate) struct Options {
    given: Option<petal_index_search_options>,
    similarity: IndexSimilarity,
}

impl Given for petal_index_search_options {
    type Said = Options;

    fn said(given: Option<petal_index_search_options>, _name: &str) -> Result<Options> {
        let Some(options) = given else { return Ok(Options { given, similarity: IndexSimilarity::Tanimoto }) };
        if options.reserved != 0 {
            let message = format_args!("reserved = {} is not 0", options.reserved);
            return Err(boundary::error(Status::UnknownValue, message));
        }
        let similarity = match options.similarity {
            PETAL_INDEX_SIMILARITY_TANIMOTO => IndexSimilarity::Tanimoto,
            PETAL_INDEX_SIMILARITY_DICE => IndexSimilarity::Dice,
            PETAL_INDEX_SIMILARITY_TVERSKY => IndexSimilarity::Tversky { alpha: options.alpha, beta: options.beta },
            PETAL_INDEX_SIMILARITY_COSINE => IndexSimilarity::Cosine,
            PETAL_INDEX_SIMILARITY_HAMMING => IndexSimilarity::Hamming,
            other => {
                let what = format_args!("similarity = {other} is not a similarity; 0 to 4 are known");
                return Err(boundary::error(Status::UnknownValue, what));
            }
        };
        Ok(Options { given, similarity })
    }
}

impl Options {
    /// Runs a search with these options.
    pub(crate) fn search<T>(&self, search: impl FnOnce(&mut IndexSearchOptions) -> Result<T>) -> Result<T> {
        let mut options = IndexSearchOptions { similarity: self.similarity, ..IndexSearchOptions::default() };
        let Some(given) = self.given else { return search(&mut options) };
        options.threads = given.threads;
        // SAFETY: by the conventions the function may be called with this context during the call.
        let mut call =
            |done, total| given.progress.is_none_or(|call| unsafe { call(given.progress_context, done, total) });
        if given.progress.is_some() {
            options.progress = Some(&mut call);
        }
        search(&mut options)
    }
}

impl petal_index_hit {
    fn of_core(hit: &IndexHit) -> petal_index_hit {
        let IndexHit { id, row, similarity } = *hit;
        petal_index_hit { id, row, similarity }
    }
}

/// Finds the `k` rows that are most similar to a query, or all rows if there are fewer. `length` is the number of bytes
/// of a row. The function writes the rows to `hits`, which has room for `k` and may be NULL if `k` is 0. `hit_count`
/// becomes their number. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find_top(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    k: usize,
    options: *const petal_index_search_options,
    hits: *mut petal_index_hit,
    hit_count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, query, out hit_count, room(hits, k), given options, bytes(query, length)], {
        let answer = options.search(|options| index.find_top(query, k, options))?;
        list(answer.iter().map(petal_index_hit::of_core), hits, hit_count);
        Ok(())
    })
}

/// Finds all rows whose similarity to a query is at least `threshold`, from 0 to 1. The function writes the `room` most
/// similar ones to `hits`, which may be NULL if `room` is 0. `hit_count` becomes the number of all such rows. `options`
/// is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find_similar(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    threshold: f64,
    options: *const petal_index_search_options,
    hits: *mut petal_index_hit,
    room: usize,
    hit_count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, query, out hit_count, room(hits, room), given options, bytes(query, length)], {
        let answer = options.search(|options| index.find_similar(query, threshold, options))?;
        list(answer.iter().map(petal_index_hit::of_core), hits, hit_count);
        Ok(())
    })
}

/// Gives the rows that `petal_index_find_similar()` finds to `each`, in the order of their numbers and while the search
/// goes on. The function passes `context`, which may be NULL, to `each`. `hit_count`, nullable, becomes the number of
/// rows that `each` got. The search runs on the caller's thread alone. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_visit_similar(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    threshold: f64,
    options: *const petal_index_search_options,
    each: petal_index_hit_callback,
    context: *mut c_void,
    hit_count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, query, maybe hit_count], {
        let each = each.ok_or_else(|| boundary::null("each"))?;
        arguments!(given options, bytes(query, length));
        // SAFETY: by the conventions `each` may be called with this context during the call.
        let mut call = |hit: &IndexHit| unsafe { each(context, &petal_index_hit::of_core(hit)) };
        hit_count.answer(options.search(|options| index.visit_similar(query, threshold, options, &mut call)))
    })
}

/// How many bytes `count` queries have.
fn query_bytes(index: &Index, count: usize) -> Result<usize> {
    index.row_bytes().checked_mul(count).ok_or_else(|| {
        Error::new(Status::TooLarge, format_args!("{count} queries are more than the address space holds"))
    })
}

/// How many hits there is room for: `each` for each of `count` queries. Refuses more than an array can have.
fn hits_of(count: usize, name: &str, each: usize) -> Result<usize> {
    let bytes = size_of::<petal_index_hit>().checked_mul(each).and_then(|bytes| bytes.checked_mul(count));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        return Ok(each * count);
    }
    let message = format_args!("count = {count} times {name} = {each} hits are more than the address space holds");
    Err(Error::new(Status::TooLarge, message))
}

/// Gives each of many queries its number of hits, and its first `each` hits.
fn list_many(answers: &[Vec<IndexHit>], hits: &mut [petal_index_hit], each: usize, counts: &mut [usize]) {
    for (i, (answer, count)) in answers.iter().zip(counts).enumerate() {
        let room = &mut hits[i * each..(i + 1) * each];
        room.iter_mut().zip(answer).for_each(|(to, hit)| *to = petal_index_hit::of_core(hit));
        *count = answer.len();
    }
}

/// `petal_index_find_top()` for `count` queries, which follow each other in `queries`. Query i gets `hit_counts[i]`
/// hits from `hits[i * k]` on, so `hits` has room for `count` times `k`. Threads share the queries. `options` is
/// nullable. Returns `PETAL_ERR_TOO_LARGE` if no array can have that much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find_top_batch(
    index: *const petal_index,
    queries: *const c_void,
    count: usize,
    k: usize,
    options: *const petal_index_search_options,
    hits: *mut petal_index_hit,
    hit_counts: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, queries, hit_counts], {
        if hits.is_null() && k > 0 {
            return Err(boundary::null("hits"));
        }
        arguments!(given options, bytes(queries, query_bytes(index, count)?));
        arguments!(room(hits, hits_of(count, "k", k)?), room(hit_counts, count));
        let answers = options.search(|options| index.find_top_batch(queries, k, options))?;
        list_many(&answers, hits, k, hit_counts);
        Ok(())
    })
}

/// `petal_index_find_similar()` for `count` queries, which follow each other in `queries`. Query i gets the `room` most
/// similar rows from `hits[i * room]` on, and `hit_counts[i]` becomes the number of all such rows. Threads share the
/// queries. `options` is nullable. Returns `PETAL_ERR_TOO_LARGE` if no array has room for `count` times `room` hits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find_similar_batch(
    index: *const petal_index,
    queries: *const c_void,
    count: usize,
    threshold: f64,
    options: *const petal_index_search_options,
    hits: *mut petal_index_hit,
    room: usize,
    hit_counts: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, queries, hit_counts], {
        if hits.is_null() && room > 0 {
            return Err(boundary::null("hits"));
        }
        arguments!(given options, bytes(queries, query_bytes(index, count)?));
        arguments!(room(hits, hits_of(count, "room", room)?), room(hit_counts, count));
        let answers = options.search(|options| index.find_similar_batch(queries, threshold, options))?;
        list_many(&answers, hits, room, hit_counts);
        Ok(())
    })
}
