//! Single lookups in an array of one shard, as in a filter of up to a million keys. Lookups do not read the directory
//! again: they take the shard's entry as it was when the filter was opened.

use super::shape::{Entry, positions};
use super::{Array, Shape, cells};
use crate::batch::ring;
use crate::bits::MIX_SCATTERED;
use crate::blocks::mixing::{TWICE, fingerprint, order};
use crate::blocks::{BuiltKernel, Probe, ProbeKernel};
use core::sync::atomic::AtomicU64;

/// The part of the shard's entry that lookups need.
#[derive(Clone, Copy, Default)]
pub(super) struct OneShard {
    /// How many cells a key may begin in.
    pub(super) starts: u64,
    /// The cells of a segment.
    pub(super) length: u64,
    /// The seed, in both halves.
    pub(super) seeds: u64,
}

impl<'a> Array<'a> {
    /// The only shard. `None` if there are more shards, or if the shard's cells do not lie in the array.
    pub(super) fn one_shard(&self) -> Option<OneShard> {
        let entry = self.directory.first().map(Entry::read)?;
        let Entry { segments, seed, first } = entry;
        let shard = OneShard {
            starts: segments.starts.into(),
            length: 1_u64.checked_shl(segments.bits)?,
            seeds: u64::from(seed) * TWICE,
        };
        (self.shape.shards() == 1 && first == 0 && self.shape.has(&entry)).then_some(shard)
    }

    /// The probe for single keys of a filter of fingerprints, if the array has one shard.
    pub(super) fn probe(&self) -> Option<Probe<'a>> {
        let OneShard { starts, length, seeds } = self.one_shard()?;
        let numbers = [starts, length, seeds, self.shape.width.into()];
        Some(Probe {
            kernel: ProbeKernel::Built { kernel: kernel(&self.shape), numbers },
            words: self.words,
            insertions: None,
        })
    }
}

/// The functions for arrays of a shape.
fn kernel(shape: &Shape) -> &'static BuiltKernel {
    match (shape.arity(), shape.width) {
        (3, 8) => &const { of::<3, 8>() },
        (3, 16) => &const { of::<3, 16>() },
        (3, _) => &const { of::<3, 0>() },
        _ => &const { of::<4, 0>() },
    }
}

/// The functions for keys with K cells of W bits. If W is 0, the last of the four numbers is the bits of a cell.
const fn of<const K: usize, const W: u32>() -> BuiltKernel {
    BuiltKernel { contains: contains::<K, W>, fetch: fetch::<K> }
}

/// The cells of a key, and its scattered hash.
#[inline(always)]
fn places<const K: usize>([starts, length, seeds, _]: &[u64; 4], hash: u64) -> ([u64; K], u64) {
    let x = order(hash);
    let z = (x ^ seeds).wrapping_mul(MIX_SCATTERED);
    let z = z ^ (z >> 31);
    (positions(*starts, *length, x >> 32, z), z)
}

fn contains<const K: usize, const W: u32>(numbers: &[u64; 4], words: &[AtomicU64], hash: u64) -> bool {
    let (cells, z) = places::<K>(numbers, hash);
    let width = if W == 0 { numbers[3] as u32 } else { W };
    let together = match W {
        8 | 16 => cells::together_of_bytes(words, W / 8, cells),
        _ => cells::together(words, width, cells.map(|cell| cell.wrapping_mul(width.into()))),
    };
    (together ^ fingerprint(z)) & cells::mask(width) == 0
}

fn fetch<const K: usize>(numbers: &[u64; 4], words: &[AtomicU64], hash: u64) {
    let (cells, _) = places::<K>(numbers, hash);
    cells.iter().for_each(|cell| ring::fetch_word(words, (cell.wrapping_mul(numbers[3]) / 64) as usize));
}
