//! Positions that are cut out of a digest: the fields of a cryptographic hash, as in the first Bloom filters of web
//! caches (Fan, Cao, Almeida and Broder, "Summary cache", 2000).
//!
//! A digest of D bits is read from its first byte on, the highest bit of a byte first, as it is printed. It has k
//! fields of w bits, w = floor(D / k) and at most 64, one after the other; the rest is not used. Field i, scaled down
//! to the range m of a probe by floor(field m / 2^w), is position i.
//!
//! Fields have eight bits more than positions need, unless the range is a power of two, for which fields are even
//! without them. A position is then more probable than another by a factor of 257/256 at most, which changes a rate by
//! less than one part in 10,000.

use super::layout::{Bloom, MAX_HASHES, bits_of};
use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::Taken;
use crate::blocks::Measure;
use crate::blocks::placed::{Array, PlacedArray, Placement, Shape};
use crate::contract::{Base, Cardinality, Fold, Intersect, KeyedKind, Kind, Merge, Overlap, Payload};
use crate::error::{Result, Status};
use crate::format::Geometry;
use crate::generic::bit_filter::BitFilter;
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;

/// The bits that a field has beyond those of a position if the range is not a power of two.
const EXTRA: u32 = 8;

/// How many bits more a filter may take than with endless digests: the divisor for what is added. Short digests have
/// few fields, and few probes need more bits for a rate.
const MOST_ADDED: u64 = 2;

/// The words of the longest digest.
const WORDS: usize = 8;

/// Bits of a field of digests of `digest_bits` bits.
pub fn width(digest_bits: u64, hashes: u32) -> u32 {
    (digest_bits / u64::from(hashes.max(1))).min(64) as u32
}

/// The fewest bits of a field for positions in `0..range`.
pub fn least_width(range: u64) -> u32 {
    let extra = if range.is_power_of_two() { 0 } else { EXTRA };
    (bits_of(range) + extra).max(1)
}

/// Whether digests of `digest_bits` bits have fields for `hashes` probes of this range.
pub fn are_there(digest_bits: u64, hashes: u32, range: u64) -> bool {
    width(digest_bits, hashes) >= least_width(range)
}

/// The size with the most probes for which digests of `digest_bits` bits have the fields. `size_with` gives the bits
/// and the number of probes for at most a given number of them, and `range` gives the range of a probe. `None` if
/// digests are too short for sizes that are not too large.
///
/// # Errors
/// The errors of `size_with`.
pub fn size_for(
    digest_bits: u64,
    range: impl Fn(u64, u32) -> u64,
    size_with: impl Fn(u32) -> Result<(u64, u32)>,
) -> Result<Option<(u64, u32)>> {
    let (least, mut hashes) = size_with(MAX_HASHES)?;
    let mut size = (least, hashes);
    while size.0.saturating_sub(least) <= least / MOST_ADDED {
        if are_there(digest_bits, size.1, range(size.0, size.1)) {
            return Ok(Some(size));
        }
        hashes = hashes.min(size.1) - 1;
        if hashes == 0 {
            return Ok(None);
        }
        size = size_with(hashes)?;
    }
    Ok(None)
}

/// Where the positions of a digest are.
#[derive(Clone, Copy)]
struct Fields {
    width: u32,
    range: u64,
    /// The distance between the ranges of two successive probes; 0 if all probes have one range.
    stride: u64,
}

impl Placement for Fields {
    /// The digest as big-endian words, with zeros after its end.
    type Digest = [u64; WORDS];

    #[inline]
    fn digest(&self, key: &[u8]) -> Self::Digest {
        let mut bytes = [0; 8 * WORDS];
        let length = key.len().min(bytes.len());
        bytes[..length].copy_from_slice(&key[..length]);
        core::array::from_fn(|i| u64::from_be_bytes(core::array::from_fn(|j| bytes[8 * i + j])))
    }

    #[inline]
    fn all(&self, digest: &Self::Digest, _: &[u8], shape: &Shape, mut visit: impl FnMut(u64) -> bool) -> bool {
        let (mut at, mut start) = (0, 0);
        (0..shape.hashes).all(|_| {
            let (word, shift) = ((at / 64) as usize, at % 64);
            let high = digest.get(word).copied().unwrap_or(0);
            let low = digest.get(word + 1).copied().unwrap_or(0);
            let from_here = (((u128::from(high) << 64 | u128::from(low)) << shift) >> 64) as u64;
            let field = from_here >> (64 - self.width);
            let position = start + ((u128::from(field) * u128::from(self.range)) >> self.width) as u64;
            at += self.width;
            start += self.stride;
            visit(position)
        })
    }
}

/// A Bloom filter of digests.
pub struct DigestBloom {
    filter: BitFilter<Bloom>,
    array: Box<dyn PlacedArray>,
}

/// The filter over a base whose hash function is `digest`.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that no filter of such digests has; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let geometry = *base.geometry();
    let fits = Bloom::of_geometry(&geometry).is_some_and(|layout| {
        let (digest_bits, width) = (base.hasher().identifier(), layout.field_width());
        width == self::width(digest_bits, geometry.hashes) && are_there(digest_bits, geometry.hashes, layout.range())
    });
    if !fits {
        return Err(base.foreign_geometry());
    }
    let filter = BitFilter::over(base)?;
    let array = array_of(&filter)?;
    Ok(try_box(DigestBloom { filter, array })?)
}

fn array_of(filter: &BitFilter<Bloom>) -> Result<Box<dyn PlacedArray>> {
    let layout = filter.layout();
    let fields = Fields { width: layout.field_width(), range: layout.range(), stride: layout.stride() };
    Array::open(filter.base().geometry(), fields).ok_or_else(|| Status::OutOfMemory.into())
}

impl DigestBloom {
    fn words(&self) -> &[AtomicU64] {
        self.filter.words()
    }
}

impl Payload for DigestBloom {
    #[inline]
    fn base(&self) -> &Base {
        self.filter.base()
    }

    fn base_mut(&mut self) -> &mut Base {
        self.filter.base_mut()
    }

    fn check_payload(&self) -> Result<()> {
        self.filter.check_payload()
    }
}

impl Kind for DigestBloom {
    /// A hash says nothing about a digest's positions, so any hash may have been inserted.
    fn contains_hash(&self, _hash: u64) -> bool {
        true
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.filter.measure_with(progress)
    }

    fn as_keyed(&self) -> Option<&dyn KeyedKind> {
        Some(self)
    }

    fn as_keyed_mut(&mut self) -> Option<&mut dyn KeyedKind> {
        Some(self)
    }

    fn as_fold(&mut self) -> Option<&mut dyn Fold> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        self.filter.as_merge()
    }

    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        self.filter.as_intersect()
    }

    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        self.filter.as_cardinality()
    }

    fn as_overlap(&self) -> Option<&dyn Overlap> {
        self.filter.as_overlap()
    }
}

impl KeyedKind for DigestBloom {
    fn contains_key(&self, key: &[u8]) -> bool {
        self.array.contains(self.words(), key)
    }

    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers) {
        self.array.contains_many(self.words(), keys, answers);
    }

    fn insert_key(&mut self, key: &[u8]) -> Result<bool> {
        let base = self.filter.base_mut();
        let new = self.array.insert(base.writable()?, key);
        base.add_count(1);
        Ok(new)
    }

    fn insert_keys(&mut self, keys: &WholeKeys, answers: Option<&mut Answers>) -> Taken {
        let base = self.filter.base_mut();
        match base.writable() {
            Ok(words) => self.array.insert_many(words, keys, answers),
            Err(error) => return Taken::none(error),
        };
        base.add_count(keys.len() as u64);
        Taken::all(keys.len())
    }
}

impl Fold for DigestBloom {
    fn units(&self) -> u64 {
        self.filter.units()
    }

    fn folded_geometry(&self, factor: u64) -> Result<Geometry> {
        self.filter.folded_geometry(factor)
    }

    fn fold_units(&mut self, factor: u64) -> Result<()> {
        self.filter.fold_units(factor)?;
        self.array = array_of(&self.filter)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a digest are those of its hexadecimal digits, for every width of whole digits, and for all widths
    /// they agree with bits that are cut one by one.
    #[test]
    fn fields_are_cut_from_the_left() {
        let key: [u8; 64] = core::array::from_fn(|i| (0x9d * i as u32 + 0x35) as u8 ^ (i as u8).rotate_left(3));
        let bit = |at: u32| u64::from(key[at as usize / 8] >> (7 - at % 8) & 1);
        for digest_bits in [128, 160, 224, 256, 384, 512] {
            for hashes in 1..=MAX_HASHES {
                let width = width(digest_bits, hashes);
                let range = if width == 64 { 1 << 62 } else { 1 << width };
                let fields = Fields { width, range, stride: 0 };
                let shape = Shape { hashes, bits: crate::blocks::placed::Modulus::new(1).unwrap() };
                let mut positions = Vec::new();
                fields.all(&fields.digest(&key[..digest_bits as usize / 8]), &key, &shape, |position| {
                    positions.push(position);
                    true
                });
                let by_bits: Vec<u64> = (0..hashes)
                    .map(|i| (i * width..(i + 1) * width).fold(0, |field, at| field << 1 | bit(at)))
                    .map(|field| if width == 64 { field >> 2 } else { field })
                    .collect();
                assert_eq!(positions, by_bits, "{digest_bits} bits, {hashes} fields of {width}");
            }
        }
    }
}
