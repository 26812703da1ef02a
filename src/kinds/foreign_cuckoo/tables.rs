//! Changes of a chain of tables as the owner makes them, to the byte, wherever the tables lie. The owner takes no
//! random numbers: an insertion that finds no empty slot evicts the slots of buckets in turn.

use super::{first_slot, other, places};
use core::ops::Range;

/// The most slots of a table in which every key is found: the owner counts slots in 32 bits.
const MOST_SLOTS: u64 = 1 << 32;

/// The tables are compacted when the deleted keys are more than this share of the remaining keys.
const COMPACTED_FROM: f64 = 0.1;

/// The most tables of a chain.
pub const MOST_TABLES: usize = u16::MAX as usize;

/// The number of slots in a bucket, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Width(u16);

impl Width {
    /// A width of `slots` slots.
    pub fn of(slots: u16) -> Width {
        Width(slots.max(1))
    }

    /// How many slots.
    #[inline]
    pub fn get(self) -> usize {
        self.0.into()
    }

    /// The number of buckets that have `slots` slots.
    #[inline]
    pub fn buckets(self, slots: usize) -> u64 {
        // Nearly all widths are powers of two, and a shift is faster than a division.
        match self.0.is_power_of_two() {
            true => slots as u64 >> self.0.trailing_zeros(),
            false => slots as u64 / u64::from(self.0),
        }
    }

    /// The range of slots of a hash's bucket in a table of `slots` slots.
    #[inline]
    pub fn place(self, slots: usize, hash: u64) -> Range<usize> {
        let start = first_slot(self.buckets(slots), self.0.into(), hash) as usize;
        start..start + self.get()
    }
}

/// A chain of at least one table, the oldest first. A slot holds a fingerprint, or 0 if it is empty. A table's number
/// of buckets is a power of two, and no less than that of the table before.
pub trait Chain {
    /// The slots of a bucket.
    fn width(&self) -> Width;

    /// How many tables there are.
    fn count(&self) -> usize;

    /// The slots of a table.
    fn table(&mut self, i: usize) -> &mut [u8];
}

/// Changes the first slot of these buckets that holds `from` to `to`. Returns false if there is no such slot.
#[inline]
fn replace(table: &mut [u8], from: u8, to: u8, hashes: &[u64], width: Width) -> bool {
    hashes.iter().any(|hash| {
        let place = width.place(table.len(), *hash);
        let slot = table[place].iter_mut().find(|slot| **slot == from);
        slot.map(|slot| *slot = to).is_some()
    })
}

/// Puts a fingerprint into its first bucket, which is full, and moves the evicted fingerprint to its other bucket, and
/// so on until a bucket has an empty slot. Returns false, with nothing changed, if `kicks` moves do not suffice.
fn kick(table: &mut [u8], mut fingerprint: u8, hash: u64, kicks: u16, width: Width) -> bool {
    let (mut hash, mut victim) = (hash, 0);
    let swap = |table: &mut [u8], hash, victim, fingerprint: &mut u8| {
        let place = width.place(table.len(), hash);
        core::mem::swap(&mut table[place][victim], fingerprint);
    };
    for _ in 0..kicks {
        swap(table, hash, victim, &mut fingerprint);
        hash = other(hash, fingerprint);
        if replace(table, 0, fingerprint, &[hash], width) {
            return true;
        }
        victim = if victim + 1 == width.get() { 0 } else { victim + 1 };
    }
    for _ in 0..kicks {
        victim = if victim == 0 { width.get() - 1 } else { victim - 1 };
        hash = other(hash, fingerprint);
        swap(table, hash, victim, &mut fingerprint);
    }
    false
}

/// Adds a hash, once more if it is there: to the newest table with an empty slot in one of its buckets, or by at most
/// `kicks` moves in the newest. Returns false, with nothing changed, if it needs another table.
pub fn insert(chain: &mut impl Chain, hash: u64, kicks: u16) -> bool {
    let (fingerprint, hashes) = places(hash);
    let (count, width) = (chain.count(), chain.width());
    (0..count).rev().any(|i| replace(chain.table(i), 0, fingerprint, &hashes, width))
        || kick(chain.table(count - 1), fingerprint, hash, kicks, width)
}

/// Deletes one occurrence of a hash, from the newest table that has one. Returns false if it certainly is not there.
pub fn remove(chain: &mut impl Chain, hash: u64) -> bool {
    let (fingerprint, hashes) = places(hash);
    let (count, width) = (chain.count(), chain.width());
    (0..count).rev().any(|i| replace(chain.table(i), fingerprint, 0, &hashes, width))
}

/// Whether a chain of `tables` tables is compacted once it holds `keys` keys and `deleted` were deleted.
pub fn is_compacted(tables: usize, keys: u64, deleted: u64) -> bool {
    tables > 1 && deleted as f64 > keys as f64 * COMPACTED_FROM
}

/// Moves keys from each table to older tables, the newest table first. Unless `all` is set, stops at the first table
/// that does not become empty. Returns how many tables are left without the empty ones at the end.
pub fn compact(chain: &mut impl Chain, all: bool) -> usize {
    let mut left = chain.count();
    for i in (1..left).rev() {
        let is_empty = move_down(chain, i);
        if is_empty && i + 1 == left {
            left = i;
        }
        if !is_empty && !all {
            break;
        }
    }
    left
}

/// Moves the fingerprints of a table to older tables. Returns whether the table is then empty.
fn move_down(chain: &mut impl Chain, i: usize) -> bool {
    let (slots, width) = (chain.table(i).len(), chain.width());
    // The owner cannot tell the buckets of a larger table apart, so such a table stays as it is.
    if slots as u64 > MOST_SLOTS {
        return false;
    }
    let mut is_empty = true;
    for place in 0..slots {
        let fingerprint = chain.table(i)[place];
        if fingerprint == 0 {
            continue;
        }
        let bucket = width.buckets(place);
        let hashes = [bucket, other(bucket, fingerprint)];
        // An older table's number of buckets divides this one's, so these hashes find their buckets in older tables
        // too.
        let is_moved = (0..i).any(|older| replace(chain.table(older), 0, fingerprint, &hashes, width));
        if is_moved {
            chain.table(i)[place] = 0;
        }
        is_empty &= is_moved;
    }
    is_empty
}
