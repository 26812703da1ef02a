//! What tables hold in all, and one in another.

use super::{Cell, Held, MOST, TABLES, Table};
use crate::blocks::fingerprint_table::scattered;
use core::sync::atomic::AtomicU64;

/// Buckets after which a reading says how far it is.
const PIECE: u64 = 1 << 12;

/// What is in the cells. Reads all of them, and says to `progress` after every piece how many bytes that was.
pub fn held(table: &Table, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
    let (mut held, mut told, mut again) = (Held::default(), 0, 0);
    for bucket in 0..table.buckets {
        for (fingerprint, cell) in (0..TABLES).flat_map(|number| table.bucket_at(words, number, bucket)) {
            held.taken += 1;
            // A second cell of a fingerprint is there only if the counter of another one is full.
            if cell.count == MOST && is_first(table, words, fingerprint, cell, |one| one.count == MOST) {
                again += table.cells_of(words, fingerprint).count() as u64 - 1;
            }
        }
        if (bucket + 1) % PIECE == 0 || bucket + 1 == table.buckets {
            let bytes = ((bucket + 1) * TABLES * table.size()).div_ceil(8);
            progress(bytes - told);
            told = bytes;
        }
    }
    held.classes = held.taken.saturating_sub(again);
    held
}

/// Whether a cell of a fingerprint is the first of those that `counts`.
fn is_first(table: &Table, words: &[AtomicU64], fingerprint: u64, cell: Cell, counts: impl Fn(&Cell) -> bool) -> bool {
    table.cells_of(words, fingerprint).find(counts).is_none_or(|first| first == cell)
}

/// Whether no cell of a fingerprint comes before this one.
pub(super) fn leads(table: &Table, words: &[AtomicU64], fingerprint: u64, cell: Cell) -> bool {
    is_first(table, words, fingerprint, cell, |_| true)
}

/// How many fingerprints two tables of one range hold together.
pub fn classes_of_union(table: &Table, words: &[AtomicU64], other: &Table, others: &[AtomicU64]) -> u64 {
    let mut classes = held(table, words, &mut |_| {}).classes;
    for (number, bucket) in (0..other.buckets).flat_map(|bucket| (0..TABLES).map(move |number| (number, bucket))) {
        for (fingerprint, cell) in other.bucket_at(others, number, bucket) {
            classes += u64::from(!table.has(words, fingerprint) && leads(other, others, fingerprint, cell));
        }
    }
    classes
}

/// Puts all that another table of one range holds into this one. False if something has no place; others are there
/// then.
pub fn insert_all(table: &Table, words: &mut [u64], other: &Table, others: &[AtomicU64]) -> bool {
    // In no order: buckets that are filled in theirs do not get even.
    scattered(other.buckets).all(|bucket| {
        (0..TABLES).all(|number| {
            let mut cells = other.bucket_at(others, number, bucket);
            cells.all(|(fingerprint, cell)| (0..cell.count).all(|_| table.add(words, fingerprint).is_some()))
        })
    })
}
