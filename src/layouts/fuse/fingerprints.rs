//! The fuse structure as a filter: the value of a key is its fingerprint.

use super::{Array, Equations, Places, Shape, Work, cells, fingerprint, order, scatter, solve};
use crate::bits::ring::{self, Batch, nothing};
use crate::error::Result;
use crate::records::Records;
use crate::storage::Words;
use core::sync::atomic::AtomicU64;

/// The fewest bits of a fingerprint.
pub const MIN_BITS: u32 = 2;
/// The most.
pub const MAX_BITS: u32 = 32;

/// A filter of fingerprints in an array that was solved.
#[derive(Clone, Copy)]
pub struct Fingerprints<'a>(Array<'a>);

/// Ordered hashes and their fingerprints.
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
    fn value(&self, _: &u64, z: u64) -> u64 {
        fingerprint(z)
    }
}

impl<'a> Fingerprints<'a> {
    /// The filter of this shape, whose cells have as many bits as fingerprints, in `words`.
    #[inline]
    pub fn new(shape: Shape, words: &'a [AtomicU64]) -> Fingerprints<'a> {
        Fingerprints(Array::new(shape, words))
    }

    /// Builds the filter of hashes, each of which went through [`order`] before they were sorted, with fingerprints of
    /// `bits` bits.
    ///
    /// # Errors
    /// As [`solve`].
    pub fn build(ordered: &dyn Records<u64>, bits: u32, work: &mut Work) -> Result<(Shape, Words)> {
        solve(ordered, &OfHashes, bits, work)
    }

    /// Whether the hash was among those that the filter was built of, or has the same fingerprint by chance.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let Fingerprints(Array { shape, .. }) = self;
        shape.shards > 0 && self.agrees::<0>(&self.places(hash))
    }

    #[inline(always)]
    fn places(&self, hash: u64) -> Places {
        let x = order(hash);
        self.0.places(x, |seed| scatter(x, seed))
    }

    #[inline(always)]
    fn agrees<const BITS: u32>(&self, places: &Places) -> bool {
        let mask = cells::mask(if BITS == 0 { self.0.shape.width } else { BITS });
        (self.0.together::<BITS>(places) ^ fingerprint(places.z)) & mask == 0
    }

    /// As [`Fingerprints::contains`], of all keys of a batch.
    pub fn contains_many(&self, batch: &mut dyn Batch) {
        match self.0.shape.width {
            // The array of no keys.
            _ if self.0.shape.shards == 0 => ring::rolling(&mut (), 0, batch, nothing, nothing, |_, _| false),
            8 => self.many::<8>(batch),
            16 => self.many::<16>(batch),
            32 => self.many::<32>(batch),
            _ => self.many::<0>(batch),
        }
    }

    #[inline]
    fn many<const BITS: u32>(&self, batch: &mut dyn Batch) {
        if self.0.words.len() < ring::FETCH_FROM {
            let answer = |filter: &mut &Self, hash| filter.agrees::<BITS>(&filter.places(hash));
            return ring::rolling(&mut { self }, 0, batch, nothing, nothing, answer);
        }
        let find = |hash| {
            let places = self.places(hash);
            self.0.fetch(&places);
            places
        };
        ring::in_two_steps(batch, find, |places| self.agrees::<BITS>(places));
    }
}
