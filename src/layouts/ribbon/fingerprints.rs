//! The ribbon as a filter: the value of a key is its fingerprint.

use super::array::{Array, Row};
use super::query;
use super::row::Coefficients;
use super::{Equations, Shape, Work, solve};
use crate::bits::ring::{self, Batch, GROUP, nothing};
use crate::error::Result;
use crate::layouts::fuse::{fingerprint, order, scatter};
use crate::records::Records;
use crate::simd::Instructions;
#[cfg(target_arch = "x86_64")]
use crate::simd::Kernel;
use crate::storage::Words;
use core::sync::atomic::AtomicU64;

/// The fewest bits of a fingerprint.
pub const MIN_BITS: u32 = 1;
/// The most.
pub const MAX_BITS: u32 = 32;

/// A filter of fingerprints in an array that was solved.
#[derive(Clone, Copy)]
pub struct Fingerprints<'a>(Array<'a>);

/// Ordered hashes and their fingerprints.
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

/// A row, and what its slots give if the key is there.
#[derive(Clone, Copy, Default)]
struct Found<C> {
    row: Row<C>,
    fingerprint: u32,
}

impl<'a> Fingerprints<'a> {
    /// The filter of this shape, whose values are fingerprints, in `words`.
    #[inline]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Fingerprints<'a> {
        Fingerprints(Array::new(shape, words))
    }

    /// Builds the filter of hashes, each of which went through [`order`] before they were sorted, with fingerprints of
    /// `bits` bits and `width` coefficients a key.
    ///
    /// # Errors
    /// As [`solve`].
    pub fn build(ordered: &dyn Records<u64>, bits: u32, width: u32, work: &mut Work) -> Result<(Shape, Words)> {
        solve(ordered, &OfHashes, bits, width, work)
    }

    #[inline(always)]
    fn find<C: Coefficients>(&self, hash: u64) -> Found<C> {
        let x = order(hash);
        let z = scatter(x, 0);
        Found { row: self.0.find(x, z), fingerprint: fingerprint(z) as u32 }
    }

    #[inline(always)]
    fn agrees<C: Coefficients>(&self, found: &Found<C>) -> bool {
        let (columns, mut same) = (self.0.shape().columns(), true);
        for first in (0..columns).step_by(8) {
            let mask = query::columns((columns - first) as usize);
            let expected = crate::bits::BYTES_OF_BITS[(found.fingerprint >> first) as usize & 255];
            same &= (self.0.columns(&found.row, first) ^ expected) & mask == 0;
        }
        same
    }

    /// Whether the hash was among those that the filter was built of, or has the same fingerprint by chance.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        match self.0.shape().width() {
            _ if self.0.shape().shards() == 0 => false,
            64 => self.agrees(&self.find::<u64>(hash)),
            _ => self.agrees(&self.find::<u128>(hash)),
        }
    }

    /// Asks for the cache lines of the slots of a hash. Reads metadata for that.
    pub fn fetch(&self, hash: u64) {
        match self.0.shape().width() {
            64 => self.0.fetch(&self.find::<u64>(hash).row),
            _ => self.0.fetch(&self.find::<u128>(hash).row),
        }
    }

    /// As [`Fingerprints::contains`], of all keys of a batch.
    pub fn contains_many(&self, instructions: Instructions, batch: &mut dyn Batch) {
        match self.0.shape().width() {
            _ if self.0.shape().shards() == 0 => ring::rolling(&mut (), 0, batch, nothing, nothing, |_, _| false),
            64 => match instructions.kernel() {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512 => self.all(batch, |asked, i| {
                    super::avx512::agree(&self.0, asked, i).unwrap_or_else(|| self.agree::<u64>(asked, i))
                }),
                _ => self.all(batch, |asked, i| self.agree::<u64>(asked, i)),
            },
            _ => self.all(batch, |asked, i| self.agree::<u128>(asked, i)),
        }
    }

    /// What the [`SOME`] keys from `i` on say, a bit each: the specification of the kernels.
    #[inline(always)]
    fn agree<C: Coefficients>(&self, asked: &Group<C>, i: usize) -> u64 {
        (0..SOME).fold(0, |answers, j| answers | u64::from(self.agrees(&asked.get(i + j))) << j)
    }

    /// Answers all keys, some at a time; while these are answered as many others are found, and their slots fetched.
    #[inline(always)]
    fn all<C: Coefficients>(&self, batch: &mut dyn Batch, agree: impl Fn(&Group<C>, usize) -> u64) {
        let is_far = self.0.words().len() >= ring::FETCH_FROM;
        let (mut now, mut later) = (&mut Group::<C>::default(), &mut Group::<C>::default());
        let mut hashes = [0; GROUP];
        let turn = |hashes: &[u64; GROUP], found: &mut Group<C>, asked: &Group<C>| {
            let mut answers = 0;
            for i in (0..GROUP).step_by(SOME) {
                for (j, hash) in hashes.iter().enumerate().skip(i).take(SOME) {
                    let key = self.find(*hash);
                    if is_far {
                        self.0.fetch(&key.row);
                    }
                    found.set(j, &key);
                }
                answers |= agree(asked, i) << i;
            }
            answers
        };
        let mut count = batch.next(&mut hashes);
        turn(&hashes, now, later);
        while count > 0 {
            let next = batch.next(&mut hashes);
            let answers = turn(&hashes, later, now);
            batch.answer(answers, count);
            core::mem::swap(&mut now, &mut later);
            count = next;
        }
    }
}

/// Keys that are answered at once.
const SOME: usize = 8;

/// What was found out about the keys of a group.
pub(super) struct Group<C> {
    pub bytes: [u64; GROUP],
    pub shifts: [u64; GROUP],
    pub coefficients: [C; GROUP],
    pub fingerprints: [u64; GROUP],
}

impl<C: Coefficients> Default for Group<C> {
    fn default() -> Group<C> {
        Group { bytes: [0; GROUP], shifts: [0; GROUP], coefficients: [C::default(); GROUP], fingerprints: [0; GROUP] }
    }
}

impl<C: Coefficients> Group<C> {
    #[inline(always)]
    fn set(&mut self, i: usize, found: &Found<C>) {
        let Row { byte, shift, coefficients } = found.row;
        (self.bytes[i], self.shifts[i], self.coefficients[i]) = (byte, shift.into(), coefficients);
        self.fingerprints[i] = found.fingerprint.into();
    }

    #[inline(always)]
    fn get(&self, i: usize) -> Found<C> {
        let row = Row { byte: self.bytes[i], shift: self.shifts[i] as u32, coefficients: self.coefficients[i] };
        Found { row, fingerprint: self.fingerprints[i] as u32 }
    }
}
