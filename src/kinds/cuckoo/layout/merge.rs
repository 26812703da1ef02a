//! Inserts the entries of one table into another.

use super::{Buckets, Search};
use core::sync::atomic::AtomicU64;

/// Puts all entries of another table of this shape into this one. Returns false if a fingerprint finds no place, and
/// then others may already be in the table.
pub(super) fn insert_all(buckets: &Buckets, words: &mut [u64], others: &[AtomicU64], search: &mut Search) -> bool {
    (0..buckets.count()).all(|bucket| {
        let entries = buckets.entries(others, bucket);
        let mut taken = entries.iter().filter(|entry| **entry != 0);
        taken.all(|entry| buckets.insert_entry(words, bucket, *entry, search))
    })
}
