//! The fingerprints of a table in ascending order. Neighbouring quotients have their fingerprints in buckets that are
//! near each other.

use super::{TABLES, Table, measure};
use crate::order::sort;
use core::sync::atomic::AtomicU64;

/// How many fingerprints a bucket has over all subtables, in a table that is as full as planned.
const USUAL: u64 = crate::kinds::d_left::sizing::LOAD;

/// Writes the fingerprints that are not less than `from`, in ascending order and each once, to the front of `stored`.
/// Returns how many they are. `counts`, if given, has the same length and gets how often each fingerprint is there.
pub fn stored_from(
    table: &Table,
    words: &[AtomicU64],
    mut from: u64,
    stored: &mut [u64],
    mut counts: Option<&mut [u64]>,
) -> usize {
    let (mut written, mut quotient) = (0, from >> table.width);
    let mut span = (stored.len() as u64 / USUAL).max(1);
    while written < stored.len() && quotient < table.buckets {
        let end = table.buckets.min(quotient.saturating_add(span));
        let found = least(table, words, from, end, &mut stored[written..]);
        if let Some(counts) = &mut counts {
            let both = stored[written..written + found].iter().zip(&mut counts[written..]);
            both.for_each(|(fingerprint, count)| *count = table.count(words, *fingerprint));
        }
        written += found;
        // If fingerprints are few here, the search takes more quotients at a time.
        if (found as u64) < span * USUAL / 2 {
            span = span.saturating_mul(2);
        }
        (quotient, from) = (end, end << table.width);
    }
    written
}

/// The least fingerprints that are not less than `from` and have a quotient below `end`, ascending, as many as `room`
/// holds.
fn least(table: &Table, words: &[AtomicU64], from: u64, end: u64, room: &mut [u64]) -> usize {
    let quotient = from >> table.width;
    let quotients = end - quotient;
    let mut found = 0;
    for number in 0..TABLES {
        // A shift is below the reach, so fingerprints of the range lie at most this far beyond its buckets.
        let beyond = if number == 0 { 0 } else { table.reach - 1 };
        for step in 0..table.buckets.min(quotients + beyond) {
            let bucket = (quotient + step) % table.buckets;
            for (fingerprint, cell) in table.bucket_at(words, number, bucket) {
                let is_wanted = fingerprint >= from && fingerprint >> table.width < end;
                let is_less = found < room.len() || room.first().is_some_and(|greatest| fingerprint < *greatest);
                if is_wanted && is_less && measure::leads(table, words, fingerprint, cell) {
                    push(room, &mut found, fingerprint);
                }
            }
        }
    }
    sort(&mut room[..found]);
    found
}

/// Adds a number to a heap with the greatest number at its top, or without room replaces the top by it.
fn push(heap: &mut [u64], length: &mut usize, number: u64) {
    if *length < heap.len() {
        let mut at = *length;
        *length += 1;
        while at > 0 && heap[(at - 1) / 2] < number {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = number;
        return;
    }
    let mut at = 0;
    loop {
        let (left, right) = (2 * at + 1, 2 * at + 2);
        let greater = if right < heap.len() && heap[right] > heap[left] { right } else { left };
        if greater >= heap.len() || heap[greater] <= number {
            break;
        }
        heap[at] = heap[greater];
        at = greater;
    }
    heap[at] = number;
}
