//! Counts what all buckets hold.

use super::{Buckets, MAX_SLOTS};
use crate::batch::ring;
use crate::blocks::fingerprint_table::Held;
use core::sync::atomic::AtomicU64;

/// How many buckets are read before the other buckets of their entries, which are fetched meanwhile.
const PIECE: u64 = 16;

/// Counts the entries and classes of a table. Reads all slots, and passes the number of bytes to `progress` after every
/// piece.
pub(super) fn held(buckets: &Buckets, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
    let (mut held, mut twice, mut told) = (Held::default(), 0, 0);
    for_each_piece(buckets, words, |piece, end| {
        for (bucket, entries) in piece {
            for (slot, entry) in entries.iter().enumerate().filter(|(_, entry)| **entry != 0) {
                held.taken += 1;
                if entries[..slot].contains(entry) {
                    continue;
                }
                // If a class has entries in both buckets, each of the two entries counts half.
                twice += if buckets.has(words, buckets.other(*bucket, *entry), *entry) { 1 } else { 2 };
            }
        }
        let bytes = (end * buckets.size).div_ceil(8);
        progress(bytes - told);
        told = bytes;
    });
    held.classes = twice / 2;
    held
}

/// How many classes two tables of one shape hold together.
pub(super) fn classes_of_union(buckets: &Buckets, words: &[AtomicU64], others: &[AtomicU64]) -> u64 {
    let mut twice = 2 * held(buckets, words, &mut |_| {}).classes;
    for_each_piece(buckets, others, |piece, _| {
        for (bucket, entries) in piece {
            for (slot, entry) in entries.iter().enumerate().filter(|(_, entry)| **entry != 0) {
                let other = buckets.other(*bucket, *entry);
                let is_known = [*bucket, other].iter().any(|bucket| buckets.has(words, *bucket, *entry));
                if !is_known && !entries[..slot].contains(entry) {
                    twice += if buckets.has(others, other, *entry) { 1 } else { 2 };
                }
            }
        }
    });
    twice / 2
}

/// A bucket's number and its entries. A 0 stands for an empty slot.
type Bucket = (u64, [u64; MAX_SLOTS]);

/// Gives all buckets to `visit`, a piece at a time, with the number of the bucket after the piece. By then the other
/// buckets of the piece's entries are being fetched.
fn for_each_piece(buckets: &Buckets, words: &[AtomicU64], mut visit: impl FnMut(&[Bucket], u64)) {
    let is_large = ring::is_far(words.len());
    let mut piece = [(0, [0; MAX_SLOTS]); PIECE as usize];
    for start in (0..buckets.count()).step_by(PIECE as usize) {
        let end = buckets.count().min(start + PIECE);
        for (bucket, place) in (start..end).zip(&mut piece) {
            *place = (bucket, buckets.entries(words, bucket));
            for entry in place.1.iter().filter(|entry| is_large && **entry != 0) {
                buckets.fetch_bucket(words, buckets.other(bucket, *entry));
            }
        }
        visit(&piece[..(end - start) as usize], end);
    }
}
