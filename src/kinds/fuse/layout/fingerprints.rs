//! The fuse structure as a filter: the value of a key is its fingerprint.

use super::kernel::{Group, Kernel, Turn};
#[cfg(target_arch = "x86_64")]
use super::lanes;
use super::{Array, Cells, Equations, Shape, cells, portable, solve};
use crate::batch::records::Records;
use crate::batch::ring::{self, Batch, GROUP, nothing};
use crate::batch::workers::Work;
use crate::blocks::mixing::{fingerprint, order, scatter};
use crate::blocks::{Probe, View};
use crate::error::Result;
use crate::simd::Instructions;
use crate::storage::Words;
use core::sync::atomic::AtomicU64;

/// The fewest bits of a fingerprint.
pub const MIN_BITS: u32 = 2;
/// The most bits of a fingerprint.
pub const MAX_BITS: u32 = 32;

/// A filter of fingerprints in an array that was solved.
#[derive(Clone, Copy)]
pub struct Fingerprints<'a>(Array<'a>);

/// The equations of a filter: records are ordered hashes, and their values are fingerprints.
struct OfHashes;

impl Equations<u64> for OfHashes {
    #[inline]
    fn order(&self, record: &u64) -> u64 {
        *record
    }

    #[inline]
    fn scatter(&self, record: &u64, seed: u32) -> u64 {
        scatter(*record, seed)
    }

    #[inline]
    fn value(&self, _: &u64, z: u64, _: usize) -> u64 {
        fingerprint(z)
    }
}

impl<'a> Fingerprints<'a> {
    /// The filter of this shape, whose cells have as many bits as fingerprints, in `words`.
    #[inline(always)]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Fingerprints<'a> {
        Fingerprints(Array::new(shape, words))
    }

    /// Builds the filter of hashes, each of which went through [`order`] before they were sorted, with cells as wide as
    /// its fingerprints.
    ///
    /// # Errors
    /// As [`solve`].
    pub fn build(ordered: &dyn Records<u64>, cells: Cells, work: &mut Work) -> Result<(Shape, Words)> {
        solve(ordered, &OfHashes, cells, work)
    }

    /// Whether the filter was built with the hash, or with another that has the same fingerprint by chance.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        Fingerprints::contains_in(&self.0.shape, self.0.words, hash)
    }

    /// The probe for single keys, if the filter has one shard.
    pub fn probe(&self) -> Option<Probe<'a>> {
        self.0.probe()
    }

    /// The filter for programs that look hashes up themselves.
    pub fn view(&self) -> View<'a> {
        self.0.view()
    }

    /// [`Fingerprints::contains`] for the filter of this shape in `words`.
    #[inline(always)]
    pub fn contains_in(shape: &Shape, words: &[AtomicU64], hash: u64) -> bool {
        match (shape.arity(), shape.width) {
            _ if shape.shards == 0 => false,
            (3, 8) => contains_of::<3, 8>(shape, words, hash),
            (3, 16) => contains_of::<3, 16>(shape, words, hash),
            (3, _) => contains_of::<3, 0>(shape, words, hash),
            _ => contains_of::<4, 0>(shape, words, hash),
        }
    }

    /// Prefetches the cache lines of the cells of a hash. To find them, this reads the directory's entry for the hash's
    /// shard.
    pub fn fetch(&self, hash: u64) {
        let x = order(hash);
        match self.0.shape.arity() {
            3 => self.0.fetch(&self.0.places::<3>(x, |seed| scatter(x, seed))),
            _ => self.0.fetch(&self.0.places::<4>(x, |seed| scatter(x, seed))),
        }
    }

    /// [`Fingerprints::contains`] for all keys of a batch.
    pub fn contains_many(&self, instructions: Instructions, batch: &mut dyn Batch) {
        let Fingerprints(array) = self;
        if array.shape.shards == 0 {
            return ring::rolling(&mut (), 0, batch, nothing, nothing, |_, _| false);
        }
        let turn = kernel(instructions).turn(array);
        let (mut now, mut later) = (&mut Group::default(), &mut Group::default());
        let mut hashes = [0; GROUP];
        let mut count = batch.next(&mut hashes);
        turn(array, &hashes, now, later);
        while count > 0 {
            let next = batch.next(&mut hashes);
            let answers = turn(array, &hashes, later, now);
            batch.answer(answers, count);
            core::mem::swap(&mut now, &mut later);
            count = next;
        }
    }
}

/// [`Fingerprints::contains`] for keys with K cells of W bits, in an array that has keys. If W is 0, the shape says how
/// many bits a cell has. Each is a separate function, so that none saves registers for another.
#[inline(never)]
fn contains_of<const K: usize, const W: u32>(shape: &Shape, words: &[AtomicU64], hash: u64) -> bool {
    let array = Array::new(*shape, words);
    let width = if W == 0 { shape.width } else { W };
    let x = order(hash);
    let places = array.places::<K>(x, |seed| scatter(x, seed));
    let together = match W {
        8 | 16 => cells::together_of_bytes(words, W / 8, places.cells),
        _ => array.together(&places),
    };
    (together ^ fingerprint(places.z)) & cells::mask(width) == 0
}

impl Kernel {
    fn turn(&self, array: &Array) -> Turn {
        let kernel = if (self.suits)(array) { self } else { &portable::KERNEL };
        let turns = if array.shape.arity() == 3 { &kernel.three } else { &kernel.four };
        if ring::is_very_far(array.words.len()) { turns.far } else { turns.near }
    }
}

/// The kernel for an instruction set. NEON has none, because it neither gathers nor multiplies numbers of 64 bits, so
/// plain code is as fast there.
fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &lanes::avx2::KERNEL,
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &lanes::avx512::KERNEL,
        _ => &portable::KERNEL,
    }
}
