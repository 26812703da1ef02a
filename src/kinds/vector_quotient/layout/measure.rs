//! Counts what tables hold, and inserts the entries of one table into another.

use super::block::{self, Plain, WORDS};
use super::{Blocks, Held, Place, line};
use crate::batch::ring;
use crate::blocks::fingerprint_table::scattered;
use core::sync::atomic::AtomicU64;

/// How many blocks are read before the other blocks of their entries are looked at, which are fetched meanwhile.
const PIECE: u64 = 4;

/// The most slots of a block.
const MOST: usize = 48;

/// A block that was read, with the fingerprints in its slots.
#[derive(Clone, Copy)]
struct Entries {
    block: u64,
    fingerprints: [u64; MOST],
    count: usize,
}

impl Entries {
    const NONE: Entries = Entries { block: 0, fingerprints: [0; MOST], count: 0 };

    /// The different fingerprints of the block, each in the first slot that has it.
    fn distinct<const BITS: u32>(&self) -> impl Iterator<Item = u64> {
        // Equal fingerprints are in one bucket, within a few slots.
        let all = &self.fingerprints[..self.count];
        let is_first = |slot: &usize| {
            let before = all[..*slot].iter().rev().take_while(|one| **one >> BITS == all[*slot] >> BITS);
            before.clone().all(|one| *one != all[*slot])
        };
        (0..self.count).filter(move |slot| is_first(slot)).map(|slot| all[slot])
    }
}

/// Counts the entries and classes of a table. Reads all slots, and reports to `progress` after every piece how many
/// bytes it had.
pub fn held<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
    let (mut held, mut twice) = (Held::default(), 0);
    for_each_piece::<BITS>(blocks, words, |piece| {
        for entries in piece {
            held.taken += entries.count as u64;
            for one in entries.distinct::<BITS>() {
                // If a class has entries in both blocks, each of the two entries counts half.
                let other = blocks.other(entries.block, one);
                twice += if block::has::<BITS, Plain>(line(words, other), one) { 1 } else { 2 };
            }
        }
        progress((piece.len() * WORDS * 8) as u64);
    });
    held.classes = twice / 2;
    held
}

/// How many classes two tables of one shape hold together.
pub fn classes_of_union<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], others: &[AtomicU64]) -> u64 {
    let mut twice = 2 * held::<BITS>(blocks, words, &mut |_| {}).classes;
    for_each_piece::<BITS>(blocks, others, |piece| {
        for entries in piece {
            for one in entries.distinct::<BITS>() {
                let other = blocks.other(entries.block, one);
                let has = |words, block| block::has::<BITS, Plain>(line(words, block), one);
                if !has(words, entries.block) && !has(words, other) {
                    twice += if has(others, other) { 1 } else { 2 };
                }
            }
        }
    });
    twice / 2
}

/// Puts all entries of another table of this shape into this one. Returns false if a fingerprint finds no place; other
/// fingerprints may be in the table then.
pub fn insert_all<const BITS: u32>(blocks: &Blocks, words: &mut [u64], others: &[AtomicU64]) -> bool {
    // The blocks come in a scattered order. Entries that are inserted block after block would not fill blocks evenly.
    scattered(blocks.count()).all(|block| {
        block::entries::<BITS>(line(others, block)).all(|(bucket, tag)| {
            let fingerprint = u64::from(bucket) << BITS | tag;
            let place = Place { fingerprint, block, other: blocks.other(block, fingerprint) };
            blocks.insert_at::<BITS, Plain>(words, place).is_some()
        })
    })
}

/// Gives all blocks to `visit`, a piece at a time. The other blocks of the piece's entries are being fetched by then.
fn for_each_piece<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], mut visit: impl FnMut(&[Entries])) {
    let is_large = ring::is_far(words.len());
    let mut piece = [Entries::NONE; PIECE as usize];
    for start in (0..blocks.count()).step_by(PIECE as usize) {
        let end = blocks.count().min(start + PIECE);
        for (block, entries) in (start..end).zip(&mut piece) {
            (entries.block, entries.count) = (block, 0);
            for ((bucket, tag), place) in block::entries::<BITS>(line(words, block)).zip(&mut entries.fingerprints) {
                *place = u64::from(bucket) << BITS | tag;
                entries.count += 1;
                if is_large {
                    ring::fetch_word(words, blocks.other(block, *place) as usize * WORDS);
                }
            }
        }
        visit(&piece[..(end - start) as usize]);
    }
}
