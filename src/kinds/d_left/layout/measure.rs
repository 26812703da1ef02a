//! Counts what tables hold, and inserts the entries of one table into another.

use super::{Cell, Held, MOST, TABLES, Table};
use crate::blocks::fingerprint_table::scattered;
use core::sync::atomic::AtomicU64;

/// The number of buckets after which a measure reports its progress.
const PIECE: u64 = 1 << 12;

/// Counts the cells and fingerprints of a table. Reads all cells, and passes the number of bytes to `progress` after
/// every piece.
pub fn held(table: &Table, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
    let (mut held, mut told, mut again) = (Held::default(), 0, 0);
    for bucket in 0..table.buckets {
        for (fingerprint, cell) in (0..TABLES).flat_map(|number| table.bucket_at(words, number, bucket)) {
            held.taken += 1;
            // A fingerprint has a second cell only if the counter of another one is full.
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

/// Whether a cell is the first of those cells of its fingerprint that satisfy `counts`.
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

/// Puts the entries of another table of one range into this one. Returns false if an entry finds no place, and then
/// others may already be in the table.
pub fn insert_all(table: &Table, words: &mut [u64], other: &Table, others: &[AtomicU64]) -> bool {
    // The buckets come in a scattered order, because entries that are inserted bucket after bucket would not fill
    // buckets evenly.
    scattered(other.buckets).all(|bucket| {
        (0..TABLES).all(|number| {
            let mut cells = other.bucket_at(others, number, bucket);
            cells.all(|(fingerprint, cell)| (0..cell.count).all(|_| table.add(words, fingerprint).is_some()))
        })
    })
}
