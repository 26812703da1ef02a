//! INDEXES: SEARCHES
//!
//! Similarities need rows. If the parameter `store` is `columns`, these functions return
//! `PETAL_ERR_UNSUPPORTED_BY_HANDLE`.

use super::petal_index;
use crate::boundary::{self, boundary};
use crate::builder::petal_progress_callback;
use crate::status::{petal_error, petal_status};
use petal_core::{Error, Hit, Result, SearchOptions, Similarity, Status};
use std::ffi::c_void;

/// How similarity is measured: one of `PETAL_SIMILARITY_*`.
pub type petal_similarity = u32;

/// c / (a + b - c), and 1 for two empty rows.
pub const PETAL_SIMILARITY_TANIMOTO: petal_similarity = 0;
/// 2c / (a + b), and 1 for two empty rows.
pub const PETAL_SIMILARITY_DICE: petal_similarity = 1;
/// c / ((alpha * (a - c) + beta * (b - c)) + c), and 1 if the denominator is 0.
pub const PETAL_SIMILARITY_TVERSKY: petal_similarity = 2;
/// c / sqrt(a * b), 1 for two empty rows, and 0 if only one is empty.
pub const PETAL_SIMILARITY_COSINE: petal_similarity = 3;
/// (width - (a + b - 2c)) / width: the share of bits in which query and row are equal.
pub const PETAL_SIMILARITY_HAMMING: petal_similarity = 4;

/// How to search. NULL stands for all zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_search_options {
    /// sizeof(petal_search_options), or 0 for its size in the first release.
    pub struct_size: usize,
    /// How many threads search, the caller's included; 0 and 1 mean the caller's only. Other threads run only during
    /// the call. The answer is the same.
    pub threads: usize,
    /// Nullable. The caller's thread calls it with the rows that are done and those in all; with many queries it counts
    /// queries. If it returns false, the call returns `PETAL_ERR_CANCELLED`.
    pub progress: petal_progress_callback,
    /// The function passes this pointer to `progress`.
    pub progress_context: *mut c_void,
    /// The weight of bits that only the query has, from 0 to 1e9. Only for `PETAL_SIMILARITY_TVERSKY`.
    pub alpha: f64,
    /// The weight of bits that only the row has, from 0 to 1e9. Only for `PETAL_SIMILARITY_TVERSKY`.
    pub beta: f64,
    /// How similarity is measured; 0 is Tanimoto.
    pub similarity: petal_similarity,
    /// 0.
    pub reserved: u32,
}

// SAFETY: numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_search_options {
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
pub(super) struct Options {
    given: Option<petal_search_options>,
    similarity: Similarity,
}

impl Options {
    /// # Safety
    /// `options` is NULL or a struct with its size set.
    pub(super) unsafe fn read(options: *const petal_search_options) -> Result<Options> {
        // SAFETY: `options` is NULL or a struct of its size, as the safety section asks.
        let given = unsafe { boundary::read_optional(options)? };
        let similarity = match given {
            None => Similarity::Tanimoto,
            Some(petal_search_options { similarity, alpha, beta, reserved, .. }) => {
                if reserved != 0 {
                    return Err(boundary::error(Status::UnknownValue, format_args!("reserved = {reserved} is not 0")));
                }
                match similarity {
                    PETAL_SIMILARITY_TANIMOTO => Similarity::Tanimoto,
                    PETAL_SIMILARITY_DICE => Similarity::Dice,
                    PETAL_SIMILARITY_TVERSKY => Similarity::Tversky { alpha, beta },
                    PETAL_SIMILARITY_COSINE => Similarity::Cosine,
                    PETAL_SIMILARITY_HAMMING => Similarity::Hamming,
                    other => {
                        let what = format_args!("similarity = {other} is not a similarity; 0 to 4 are known");
                        return Err(boundary::error(Status::UnknownValue, what));
                    }
                }
            }
        };
        Ok(Options { given, similarity })
    }

    /// Runs a search with these options.
    pub(super) fn search<T>(&self, search: impl FnOnce(&mut SearchOptions) -> Result<T>) -> Result<T> {
        let mut options = SearchOptions { similarity: self.similarity, ..SearchOptions::default() };
        let Some(given) = self.given else { return search(&mut options) };
        options.threads = given.threads;
        // SAFETY: the caller's function, called as its type says.
        let mut call =
            |done, total| given.progress.is_none_or(|call| unsafe { call(given.progress_context, done, total) });
        if given.progress.is_some() {
            options.progress = Some(&mut call);
        }
        search(&mut options)
    }
}

/// Copies as many hits to an array as there is room for.
///
/// # Safety
/// `hits` has room for `room` hits.
unsafe fn copy(found: &[Hit], hits: *mut petal_index_hit, room: usize) {
    for (i, Hit { id, row, similarity }) in found.iter().copied().take(room).enumerate() {
        // SAFETY: `i` is below `room`.
        unsafe { hits.add(i).write(petal_index_hit { id, row, similarity }) };
    }
}

/// Finds the `k` rows that are most similar to a query, or all rows if there are fewer. `length` is the number of bytes
/// of a row. The function writes the rows to `hits`, which has room for `k` and may be NULL if `k` is 0. `found`
/// becomes their number. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_top(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    k: usize,
    options: *const petal_search_options,
    hits: *mut petal_index_hit,
    found: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, query, found], {
        if hits.is_null() && k > 0 {
            return Err(boundary::null("hits"));
        }
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `query` has `length`
        // bytes, `options` is NULL or a struct of its size, `hits` has room for `k`, and `found` is writable.
        unsafe {
            let (options, query) = (Options::read(options)?, boundary::bytes(query.cast(), length, "query")?);
            let index = petal_index::get(index)?;
            let answer = options.search(|options| index.top(query, k, options))?;
            copy(&answer, hits, k);
            found.write(answer.len());
        }
        Ok(())
    })
}

/// Finds all rows whose similarity to a query is at least `threshold`, from 0 to 1. The function writes the `room` most
/// similar ones to `hits`, which may be NULL if `room` is 0. `found` becomes the number of all such rows. `options` is
/// nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_at_least(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    threshold: f64,
    options: *const petal_search_options,
    hits: *mut petal_index_hit,
    room: usize,
    found: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, query, found], {
        if hits.is_null() && room > 0 {
            return Err(boundary::null("hits"));
        }
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `query` has `length`
        // bytes, `options` is NULL or a struct of its size, `hits` has room for `room`, and `found` is writable.
        unsafe {
            let (options, query) = (Options::read(options)?, boundary::bytes(query.cast(), length, "query")?);
            let index = petal_index::get(index)?;
            let answer = options.search(|options| index.at_least(query, threshold, options))?;
            copy(&answer, hits, room);
            found.write(answer.len());
        }
        Ok(())
    })
}

/// Gives the rows that `petal_index_at_least()` finds to `each`, in the order of their numbers and while the search
/// goes on. The function passes `context`, which may be NULL, to `each`. `found` becomes the number of rows that `each`
/// got, and is nullable. The search runs on the caller's thread alone. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_each_at_least(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    threshold: f64,
    options: *const petal_search_options,
    each: petal_index_hit_callback,
    context: *mut c_void,
    found: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, query], {
        let each = each.ok_or_else(|| boundary::null("each"))?;
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `query` has `length`
        // bytes, `options` is NULL or a struct of its size, and `found` is NULL or writable. `each` is the caller's
        // function, called as its type says.
        unsafe {
            let (options, query) = (Options::read(options)?, boundary::bytes(query.cast(), length, "query")?);
            let index = petal_index::get(index)?;
            let mut call = |hit: &Hit| {
                let Hit { id, row, similarity } = *hit;
                each(context, &petal_index_hit { id, row, similarity })
            };
            let hits = options.search(|options| index.for_each_at_least(query, threshold, options, &mut call))?;
            if !found.is_null() {
                found.write(hits);
            }
        }
        Ok(())
    })
}

/// The bytes of queries that follow each other.
///
/// # Safety
/// `queries` has as many bytes as `count` rows.
unsafe fn all_queries<'a>(index: &petal_core::Index, queries: *const c_void, count: usize) -> Result<&'a [u8]> {
    let bytes = index.row_bytes().checked_mul(count).ok_or_else(|| {
        Error::new(Status::TooLarge, format_args!("{count} queries are more than the address space holds"))
    })?;
    // SAFETY: as the safety section says.
    unsafe { boundary::bytes(queries.cast(), bytes, "queries") }
}

/// Refuses more hits than an array can have: `each` for each of `count` queries.
fn check_room(count: usize, name: &str, each: usize) -> Result<()> {
    let bytes = size_of::<petal_index_hit>().checked_mul(each).and_then(|bytes| bytes.checked_mul(count));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        return Ok(());
    }
    let message = format_args!("count = {count} times {name} = {each} hits are more than the address space holds");
    Err(Error::new(Status::TooLarge, message))
}

/// `petal_index_top()` for `count` queries, which follow each other in `queries`. Query i gets `found[i]` hits from
/// `hits[i * k]` on, so `hits` has room for `count` times `k`. Threads share the queries. `options` is nullable.
/// Returns `PETAL_ERR_TOO_LARGE` if no array can have that much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_top_many(
    index: *const petal_index,
    queries: *const c_void,
    count: usize,
    k: usize,
    options: *const petal_search_options,
    hits: *mut petal_index_hit,
    found: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, queries, found], {
        if hits.is_null() && k > 0 {
            return Err(boundary::null("hits"));
        }
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `queries` has the bytes
        // of `count` rows, `options` is NULL or a struct of its size, `hits` has room for `k` hits of each query, and
        // `found` for `count` numbers.
        unsafe {
            let (options, index) = (Options::read(options)?, petal_index::get(index)?);
            let queries = all_queries(index, queries, count)?;
            check_room(count, "k", k)?;
            let answers = options.search(|options| index.top_many(queries, k, options))?;
            for (i, answer) in answers.iter().enumerate() {
                if k > 0 {
                    copy(answer, hits.add(i * k), k);
                }
                found.add(i).write(answer.len());
            }
        }
        Ok(())
    })
}

/// `petal_index_at_least()` for `count` queries, which follow each other in `queries`. Query i gets the `room` most
/// similar rows from `hits[i * room]` on, and `found[i]` becomes the number of all such rows. Threads share the
/// queries. `options` is nullable. Returns `PETAL_ERR_TOO_LARGE` if no array has room for `count` times `room` hits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_at_least_many(
    index: *const petal_index,
    queries: *const c_void,
    count: usize,
    threshold: f64,
    options: *const petal_search_options,
    hits: *mut petal_index_hit,
    room: usize,
    found: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [index, queries, found], {
        if hits.is_null() && room > 0 {
            return Err(boundary::null("hits"));
        }
        // SAFETY: checked for NULL; by the conventions `index` is a handle that nobody changes, `queries` has the bytes
        // of `count` rows, `options` is NULL or a struct of its size, `hits` has room for `room` hits of each query,
        // and `found` for `count` numbers.
        unsafe {
            let (options, index) = (Options::read(options)?, petal_index::get(index)?);
            let queries = all_queries(index, queries, count)?;
            check_room(count, "room", room)?;
            let answers = options.search(|options| index.at_least_many(queries, threshold, options))?;
            for (i, answer) in answers.iter().enumerate() {
                if room > 0 {
                    copy(answer, hits.add(i * room), room);
                }
                found.add(i).write(answer.len());
            }
        }
        Ok(())
    })
}
