//! INDEXES: ROWS THAT CONTAIN A QUERY, AND FEATURES

use super::petal_index;
use super::search::petal_index_search_options;
use crate::arguments::arguments;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::{Fold, Status};
use std::ffi::c_void;

/// Finds all rows that have every bit of a query. `length` is the number of bytes of a row. The function writes the ids
/// of the first `room` such rows to `ids`, which may be NULL if `room` is 0, in the order of their numbers. `hit_count`
/// becomes the number of all such rows, which may be greater than `room`. A query without bits finds all rows.
///
/// An index whose parameter `store` is `columns` or `both` reads only the bits of the query. Any other reads all rows.
/// `options` is nullable; its similarity has no meaning here. Returns `PETAL_ERR_UNSUPPORTED` if the parameter
/// `nesting` is `no`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_find_containing(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    options: *const petal_index_search_options,
    ids: *mut u64,
    room: usize,
    hit_count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, out hit_count, room(ids, room), given options, bytes(query, length)], {
        // Outputs are written on success only, and a search may be cancelled.
        let (mut first, mut count): (Vec<u64>, usize) = (Vec::new(), 0);
        let mut take = |_: u64, id: u64| {
            count += 1;
            if first.len() < room {
                if first.try_reserve(1).is_err() {
                    return false;
                }
                first.push(id);
            }
            true
        };
        if !options.search(|options| index.visit_containing(query, options, &mut take))? {
            return Err(Status::OutOfMemory.into());
        }
        ids[..first.len()].copy_from_slice(&first);
        hit_count.set(count);
        Ok(())
    })
}

/// Takes the number and the id of a row that a search found. Return false to end the search. The callback must not
/// unwind (throw) through the library.
pub type petal_index_row_callback = Option<unsafe extern "C" fn(context: *mut c_void, row: u64, id: u64) -> bool>;

/// Gives the rows that `petal_index_find_containing()` finds to `each`, in the order of their numbers. The caller's
/// thread alone calls `each`: while the search goes on, or after the search if the options ask for several threads. The
/// function passes `context`, which may be NULL, to `each`. `hit_count`, nullable, becomes the number of rows that
/// `each` got. `options` is nullable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_visit_containing(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    options: *const petal_index_search_options,
    each: petal_index_row_callback,
    context: *mut c_void,
    hit_count: *mut u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, maybe hit_count], {
        let each = each.ok_or_else(|| boundary::null("each"))?;
        arguments!(given options, bytes(query, length));
        let mut count = 0;
        let mut take = |row: u64, id: u64| {
            count += 1;
            // SAFETY: by the conventions `each` may be called with this context during the call.
            unsafe { each(context, row, id) }
        };
        options.search(|options| index.visit_containing(query, options, &mut take))?;
        hit_count.set(count);
        Ok(())
    })
}

/// Writes the share of rows that have every bit of a query by chance: the false-positive rate of
/// `petal_index_find_containing()` for rows that have none of the query's features. The rate is that of the rows as
/// they are. A row that has some of the features is found with the rate of the others: ask for a query of these.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_expected_false_positive_rate(
    index: *const petal_index,
    query: *const c_void,
    length: usize,
    rate: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, out rate, bytes(query, length)], {
        rate.answer(index.expected_false_positive_rate(query))
    })
}

/// Sets the bits of a feature in a row of `length` bytes. A feature is any bytes, such as a term of a document. It sets
/// `bits` bits, 64 at most, or with 0 as many as the parameter `feature_bits` says. Add rows with `petal_index_add()`,
/// and ask for rows that have all features of a query with `petal_index_find_containing()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_add_feature(
    index: *const petal_index,
    row: *mut c_void,
    length: usize,
    feature: *const c_void,
    feature_length: usize,
    bits: u32,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, row, bytes(feature, feature_length), room_bytes(row, length)], {
        index.add_feature(row, feature, bits)
    })
}

/// `petal_index_add_feature()` for the hash of a feature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_add_feature_hash(
    index: *const petal_index,
    row: *mut c_void,
    length: usize,
    hash: u64,
    bits: u32,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, row, room_bytes(row, length)], index.add_feature_hash(row, hash, bits))
}

/// Which bits of a row become one bit of a narrower row: one of `PETAL_INDEX_FOLD_*`.
pub type petal_index_fold = u32;

/// Bits that lie side by side: with d bits of the row for each bit of the folded row, bit i becomes bit i / d. The
/// folded row of some features is the row that they give at the smaller width.
pub const PETAL_INDEX_FOLD_ADJACENT: petal_index_fold = 0;
/// Bit i becomes bit i modulo the smaller width. Most fingerprints of chemistry fold so.
pub const PETAL_INDEX_FOLD_MODULO: petal_index_fold = 1;

/// Folds a row of `length` bytes to one of `width` bits. `width` has to divide the width of the index. A bit of the
/// folded row is set if one of its bits of the row is. `folded_length` is (width + 7) / 8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_fold_row(
    index: *const petal_index,
    row: *const c_void,
    length: usize,
    fold: petal_index_fold,
    width: u64,
    folded: *mut c_void,
    folded_length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, folded], {
        let way = match fold {
            PETAL_INDEX_FOLD_ADJACENT => Fold::Adjacent,
            PETAL_INDEX_FOLD_MODULO => Fold::Modulo,
            other => {
                let what = format_args!("fold = {other} is not a way to fold; 0 and 1 are known");
                return Err(boundary::error(Status::UnknownValue, what));
            }
        };
        arguments!(bytes(row, length), room_bytes(folded, folded_length));
        index.fold_row(row, way, width, folded)
    })
}

/// Estimates Tanimoto's coefficient of two sets of features from their rows of `length` bytes each, without the bits
/// that features share by chance. `margin`, nullable, becomes the standard error of the estimate. All features have to
/// set the same number of bits. Returns `PETAL_ERR_OUT_OF_RANGE` if the rows together have no bit or all bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_index_estimate_similarity(
    index: *const petal_index,
    first: *const c_void,
    second: *const c_void,
    length: usize,
    similarity: *mut f64,
    margin: *mut f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read index, out similarity, maybe margin, bytes(first, length), bytes(second, length)], {
        let told = index.estimate_similarity(first, second)?;
        similarity.set(told.similarity);
        margin.set(told.error);
        Ok(())
    })
}
