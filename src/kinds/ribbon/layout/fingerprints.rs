//! The ribbon as a filter: the value of a key is its fingerprint.

use super::array::Array;
use super::kernel::{Either, Group, Kernel, Lookup, SOME, Turns};
use super::row::Coefficients;
use super::{Equations, Shape, solve};
use crate::batch::records::Records;
use crate::batch::ring::{self, Batch, GROUP, nothing};
use crate::batch::workers::Work;
use crate::blocks::View;
use crate::blocks::mixing::{fingerprint, order, scatter};
use crate::error::Result;
use crate::simd::Instructions;
use crate::storage::Words;
use core::sync::atomic::AtomicU64;

/// The fewest bits of a fingerprint.
pub const MIN_BITS: u32 = 1;
/// The most bits of a fingerprint.
pub const MAX_BITS: u32 = 32;

/// A filter of fingerprints in an array that was solved.
#[derive(Clone, Copy)]
pub struct Fingerprints<'a> {
    array: Array<'a>,
    /// How many bits of a hash's fingerprint come before those that the array has.
    skipped: u32,
}

/// The equations of a filter: records are ordered hashes, and their values are fingerprints.
struct OfHashes;

impl Equations<u64> for OfHashes {
    type Value = u32;

    #[inline]
    fn order(&self, record: &u64) -> u64 {
        *record
    }

    #[inline]
    fn scatter(&self, record: &u64) -> u64 {
        scatter(*record, 0)
    }

    #[inline]
    fn value(&self, _: &u64, z: u64) -> u32 {
        fingerprint(z) as u32
    }
}

impl<'a> Fingerprints<'a> {
    /// The filter of this shape, whose values are fingerprints, in `words`.
    #[inline]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Fingerprints<'a> {
        Fingerprints::after(shape, words, 0)
    }

    /// The filter of this shape, whose values are fingerprints without their first `skipped` bits, in `words`. An array
    /// of other bits of the same fingerprints may have those.
    #[inline]
    pub fn after(shape: Shape, words: &'a [AtomicU64], skipped: u32) -> Fingerprints<'a> {
        Fingerprints { array: Array::new(shape, words), skipped: skipped % MAX_BITS }
    }

    /// Builds the filter of hashes, each of which went through [`order`] before they were sorted, with fingerprints of
    /// `bits` bits and `width` coefficients a key.
    ///
    /// # Errors
    /// As [`solve`].
    pub fn build(ordered: &dyn Records<u64>, bits: u32, width: u32, work: &mut Work) -> Result<(Shape, Words)> {
        solve(ordered, &OfHashes, bits, width, work)
    }

    /// Whether the hash was among those that the filter was built from, or has the same fingerprint by chance.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        self.contains_with(&Lookup::new(self.array.shape().width(), Instructions::PORTABLE), hash)
    }

    /// [`Fingerprints::contains`] with the inner loops for an instruction set.
    #[inline]
    pub fn contains_with(&self, lookup: &Lookup, hash: u64) -> bool {
        match &lookup.0 {
            _ if self.array.shape().shards() == 0 => false,
            Either::Narrow(kernel) => self.has(kernel, order(hash)),
            Either::Wide(kernel) => self.has(kernel, order(hash)),
        }
    }

    /// [`Fingerprints::contains_with`] for a hash that went through [`order`].
    #[inline]
    pub fn contains_ordered(&self, lookup: &Lookup, x: u64) -> bool {
        match &lookup.0 {
            _ if self.array.shape().shards() == 0 => false,
            Either::Narrow(kernel) => self.has(kernel, x),
            Either::Wide(kernel) => self.has(kernel, x),
        }
    }

    /// [`Fingerprints::contains_with`] for a hash that went through [`order`], with a scattered hash other than that of
    /// [`scatter`].
    #[inline]
    pub fn contains_scattered(&self, lookup: &Lookup, x: u64, z: u64) -> bool {
        match &lookup.0 {
            _ if self.array.shape().shards() == 0 => false,
            Either::Narrow(kernel) => self.has_scattered(kernel, x, z),
            Either::Wide(kernel) => self.has_scattered(kernel, x, z),
        }
    }

    #[inline(always)]
    fn has<C: Coefficients>(&self, kernel: &Kernel<C>, x: u64) -> bool {
        self.has_scattered(kernel, x, scatter(x, 0))
    }

    #[inline(always)]
    fn has_scattered<C: Coefficients>(&self, kernel: &Kernel<C>, x: u64, z: u64) -> bool {
        let bits = (kernel.one)(&self.array, &self.array.find(x, z), 0);
        (bits ^ fingerprint(z) >> self.skipped) & self.mask() == 0
    }

    /// A mask of as many bits as a fingerprint has.
    #[inline(always)]
    fn mask(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.array.shape().columns().clamp(MIN_BITS, MAX_BITS))
    }

    /// The filter for programs that look hashes up for themselves.
    pub fn view(&self) -> View<'a> {
        self.array.view()
    }

    /// Asks for the cache lines of the slots of a hash. To find them, this reads metadata.
    pub fn fetch(&self, hash: u64) {
        let x = order(hash);
        let z = scatter(x, 0);
        match self.array.shape().width() {
            64 => self.array.fetch::<u64>(&self.array.find(x, z)),
            _ => self.array.fetch::<u128>(&self.array.find(x, z)),
        }
    }

    /// [`Fingerprints::contains_with`] for all keys of a batch.
    pub fn contains_many(&self, lookup: &Lookup, batch: &mut dyn Batch) {
        self.contain_all::<false>(lookup, batch);
    }

    /// [`Fingerprints::contains_many`] for a batch whose hashes went through [`order`].
    pub fn contains_many_ordered(&self, lookup: &Lookup, batch: &mut dyn Batch) {
        self.contain_all::<true>(lookup, batch);
    }

    #[inline(always)]
    fn contain_all<const ORDERED: bool>(&self, lookup: &Lookup, batch: &mut dyn Batch) {
        match &lookup.0 {
            _ if self.array.shape().shards() == 0 => ring::rolling(&mut (), 0, batch, nothing, nothing, |_, _| false),
            Either::Narrow(kernel) => self.contain::<_, ORDERED>(kernel, batch),
            Either::Wide(kernel) => self.contain::<_, ORDERED>(kernel, batch),
        }
    }

    fn contain<C: Coefficients, const ORDERED: bool>(&self, kernel: &Kernel<C>, batch: &mut dyn Batch) {
        let (mut count, mut hashes) = (0, [0; GROUP]);
        let mut next = batch.next(&mut hashes);
        if next <= SOME {
            let contains = |hash: u64| self.has(kernel, if ORDERED { hash } else { order(hash) });
            let answer = |(i, hash): (usize, &u64)| u64::from(contains(*hash)) << i;
            return batch.answer(hashes[..next].iter().enumerate().map(answer).sum(), next);
        }
        let mut turns = Turns::new(self.array, *kernel);
        loop {
            let answers = self.turn::<_, ORDERED>(&mut turns, (count, next), &hashes);
            if count > 0 {
                batch.answer(answers, count);
            }
            if next == 0 {
                return;
            }
            (count, next) = (next, batch.next(&mut hashes));
        }
    }

    /// Answers for `count` hashes that the last turn found, and finds the `next` ones.
    #[inline(always)]
    fn turn<C: Coefficients, const ORDERED: bool>(
        &self,
        turns: &mut Turns<'a, C>,
        (count, next): (usize, usize),
        hashes: &[u64; GROUP],
    ) -> u64 {
        let (mask, mut answers) = (self.mask(), 0);
        let find = |kernel: &Kernel<C>, array: &Array, found: &mut Group<C>, from| {
            let find = if ORDERED { kernel.find_ordered } else { kernel.find_hashes };
            find(array, hashes, found, from)
        };
        turns.turn((count, next), find, |from, [bits, _], checks| {
            for (i, (bits, check)) in bits.iter().zip(checks).enumerate() {
                answers |= u64::from((bits ^ check >> self.skipped) & mask == 0) << (from + i);
            }
        });
        answers
    }
}

/// Hashes on their way through a filter, for callers whose hashes come a group now and then.
pub struct Underway<'a> {
    filter: Fingerprints<'a>,
    turns: EitherTurns<'a>,
    /// How many hashes the last turn found.
    count: usize,
}

#[allow(clippy::large_enum_variant, reason = "it lies on the stack while a batch is answered")]
enum EitherTurns<'a> {
    Narrow(Turns<'a, u64>),
    Wide(Turns<'a, u128>),
}

impl<'a> Underway<'a> {
    /// No hashes on their way through this filter.
    pub fn new(filter: Fingerprints<'a>, lookup: &Lookup) -> Underway<'a> {
        let turns = match &lookup.0 {
            Either::Narrow(kernel) => EitherTurns::Narrow(Turns::new(filter.array, *kernel)),
            Either::Wide(kernel) => EitherTurns::Wide(Turns::new(filter.array, *kernel)),
        };
        Underway { filter, turns, count: 0 }
    }

    /// Answers for the hashes of the turn before, bit i being that of the i-th. Then finds the first `next` of these
    /// hashes, which went through [`order`].
    pub fn turn(&mut self, ordered: &[u64; GROUP], next: usize) -> u64 {
        let sizes = (core::mem::replace(&mut self.count, next), next);
        match &mut self.turns {
            _ if self.filter.array.shape().shards() == 0 => 0,
            EitherTurns::Narrow(turns) => self.filter.turn::<_, true>(turns, sizes, ordered),
            EitherTurns::Wide(turns) => self.filter.turn::<_, true>(turns, sizes, ordered),
        }
    }
}
