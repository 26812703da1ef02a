//! Sets of hashes, and ways to give keys to the structures that are built from them.

use petal::blocks::mixing::order;
use petal::ring::{GROUP, Lookups};
use petal::{Records, Result};
use std::cell::Cell;

/// Uniform hashes, distinct within a set and between sets below 2^32.
pub fn hash(set: u64, i: u64) -> u64 {
    let mut x = set << 32 | i;
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

pub fn hashes(set: u64, count: u64) -> Vec<u64> {
    (0..count).map(|i| hash(set, i)).collect()
}

/// The records of these hashes, in the order that builders need.
pub fn ordered(hashes: &[u64]) -> Vec<u64> {
    let mut ordered: Vec<u64> = hashes.iter().map(|hash| order(*hash)).collect();
    ordered.sort_unstable();
    ordered
}

/// Records that differ between one pass and the next.
pub struct Changing<'a> {
    records: &'a [u64],
    passes: Cell<usize>,
}

impl<'a> Changing<'a> {
    pub fn new(records: &'a [u64]) -> Changing<'a> {
        Changing { records, passes: Cell::new(0) }
    }
}

impl Records<u64> for Changing<'_> {
    fn count(&self) -> u64 {
        self.records.len() as u64
    }

    fn for_each(&self, take: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        self.passes.set(self.passes.get() + 1);
        take(&self.records[..self.records.len() / self.passes.get()])?;
        if self.passes.get() > 1 { take(self.records) } else { Ok(()) }
    }
}

/// The identities of a batch, and the answers for them.
pub struct Ids<'a> {
    ids: &'a [u128],
    next: usize,
    found: Vec<Option<u64>>,
}

impl Ids<'_> {
    /// The answers that `run` gives for these identities.
    pub fn answered(ids: &[u128], run: impl FnOnce(&mut dyn Lookups)) -> Vec<Option<u64>> {
        let mut batch = Ids { ids, next: 0, found: Vec::new() };
        run(&mut batch);
        batch.found
    }
}

impl Lookups for Ids<'_> {
    fn next(&mut self, ids: &mut [u128; GROUP]) -> usize {
        let count = GROUP.min(self.ids.len() - self.next);
        ids[..count].copy_from_slice(&self.ids[self.next..self.next + count]);
        self.next += count;
        count
    }

    fn give(&mut self, found: &[Option<u64>]) {
        self.found.extend_from_slice(found);
    }
}
