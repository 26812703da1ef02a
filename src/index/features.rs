//! From features to rows of bits. A feature is any bytes: a term of a document, a path of a molecule, an attribute.
//!
//! A feature sets the bits that the kind `bloom` sets for a key, so the row of some features is the payload of a
//! `bloom` filter of as many bits with the same keys, and a feature with fewer bits sets the first of those that it
//! would set with more.

use crate::blocks::ScatteredBits;
use crate::error::{Error, Result, error};
use crate::hash::Hasher;
use crate::sizing::bloom;

/// The least and the greatest width of rows, in bits.
const WIDTHS: core::ops::RangeInclusive<u64> = 64..=1 << 16;

/// The most bits that a feature sets.
pub const MAX_BITS: u32 = 64;

/// How features become rows of one width.
///
/// ```
/// use petal::{IndexFeatures, HashFunction, Hasher};
///
/// let features = IndexFeatures::new(1024, 7, Hasher::new(HashFunction::Xxh3, 0, None)?)?;
/// let mut row = [0; 16];
/// features.add(&mut row, b"aspirin", 0)?;
/// features.add(&mut row, b"caffeine", 0)?;
/// assert!(row.iter().map(|word| word.count_ones()).sum::<u32>() <= 14);
/// # Ok::<(), petal::Error>(())
/// ```
#[derive(Clone)]
pub struct IndexFeatures {
    width: u64,
    bits: u32,
    hasher: Hasher,
}

impl core::fmt::Debug for IndexFeatures {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IndexFeatures").field("width", &self.width).field("bits", &self.bits).finish_non_exhaustive()
    }
}

impl IndexFeatures {
    /// Features that set `bits` bits each in rows of `width` bits.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a width that is not 64 to 65,536, or bits that are not 1
    /// to 64.
    pub fn new(width: u64, bits: u32, hasher: Hasher) -> Result<IndexFeatures> {
        if !WIDTHS.contains(&width) {
            return Err(error!(OutOfRange, "width = {width} is not {} to {}", WIDTHS.start(), WIDTHS.end()));
        }
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(error!(OutOfRange, "bits = {bits} for each feature are not 1 to {MAX_BITS}"));
        }
        Ok(IndexFeatures { width, bits, hasher })
    }

    /// The width and the bits per feature at which rows of `features` features have this false-positive rate. The width
    /// is the least multiple of 64 that keeps the rate; the bits are the best for the width.
    ///
    /// # Errors
    /// [`Status::TooLarge`](crate::Status::TooLarge) if rows would be wider than 65,536 bits;
    /// [`Status::FalsePositiveRate`](crate::Status::FalsePositiveRate) if the rate is not inside (0, 1).
    pub fn size_for(features: u64, rate: f64) -> Result<(u64, u32)> {
        crate::spec::check_rate(rate)?;
        let features = features.max(1);
        let width = bloom::size_for(features, rate, MAX_BITS).and_then(|size| size.bits.checked_next_multiple_of(64));
        match width {
            Some(width) if WIDTHS.contains(&width) => Ok((width, bloom::optimal_hashes(width, features, MAX_BITS))),
            _ => Err(error!(
                TooLarge,
                "{features} features at false_positive_rate = {rate} need rows wider than {} bits",
                WIDTHS.end()
            )),
        }
    }

    /// The bits of a row.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// How many bits a feature sets by default. Some of them may be the same.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// How features are hashed.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// Sets the bits of a feature: `bits` of them, or with 0 as many as the features have.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a row of another width, or more than 64 bits;
    /// [`Status::ExternalHash`](crate::Status::ExternalHash) if the hash function is external;
    /// [`Status::SecretMissing`](crate::Status::SecretMissing). The row then stays as it was.
    pub fn add(&self, row: &mut [u64], feature: &[u8], bits: u32) -> Result<()> {
        let hash = self.hasher.hash_bytes(feature).map_err(Error::from)?;
        self.add_hash(row, hash, bits)
    }

    /// [`IndexFeatures::add`] for the hash of a feature.
    ///
    /// # Errors
    /// As [`IndexFeatures::add`].
    pub fn add_hash(&self, row: &mut [u64], hash: u64, bits: u32) -> Result<()> {
        if row.len() as u64 != self.width.div_ceil(64) {
            let (given, width) = (row.len(), self.width);
            return Err(error!(OutOfRange, "{given} words are no row of width = {width} bits"));
        }
        let hashes = match bits {
            0 => self.bits,
            1..=MAX_BITS => bits,
            _ => return Err(error!(OutOfRange, "bits = {bits} of a feature are more than {MAX_BITS}")),
        };
        let scattered = ScatteredBits { range: self.width, stride: 0, hashes };
        scattered.each(hash, |bit| row[(bit / 64) as usize] |= 1 << (bit % 64));
        Ok(())
    }

    /// How many features a row has, by its number of set bits, if each has set [`IndexFeatures::bits`]. Infinite if all
    /// bits are set.
    pub fn estimate(&self, ones: u64) -> f64 {
        throws(self.width, ones) / f64::from(self.bits)
    }
}

/// How bits of a row are joined to those of a narrower row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Bits that lie side by side: bit i becomes bit i / d. Rows of [`IndexFeatures`] are folded so, and the result is
    /// the row that the features give at the smaller width.
    Adjacent,
    /// Bits one smaller width apart: bit i becomes bit i modulo the width. Fingerprints whose positions are taken
    /// modulo their width are folded so, as most of chemistry are.
    Modulo,
}

/// Folds a row of `width` bits by OR to one of `to` bits, which must divide the width.
///
/// # Errors
/// [`Status::OutOfRange`](crate::Status::OutOfRange) for widths that do not divide, or words that are not those of rows
/// of these widths.
pub fn fold(row: &[u64], width: u64, way: Fold, folded: &mut [u64], to: u64) -> Result<()> {
    if to == 0 || width == 0 || !width.is_multiple_of(to) {
        return Err(error!(OutOfRange, "a row of {width} bits cannot be folded to {to} bits, which do not divide it"));
    }
    for (words, width) in [(row.len(), width), (folded.len(), to)] {
        if words as u64 != width.div_ceil(64) {
            return Err(error!(OutOfRange, "{words} words are no row of width = {width} bits"));
        }
    }
    folded.fill(0);
    let factor = width / to;
    for (i, word) in row.iter().enumerate() {
        let mut word = *word;
        while word != 0 {
            let bit = 64 * i as u64 + u64::from(word.trailing_zeros());
            // A bit after the row's last one is not part of the row.
            if bit < width {
                let bit = match way {
                    Fold::Adjacent => bit / factor,
                    Fold::Modulo => bit % to,
                };
                folded[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            word &= word - 1;
        }
    }
    Ok(())
}

/// A similarity of sets of features, estimated from the rows of the sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexSimilarityEstimate {
    /// The share of the features of both sets that are in both: Tanimoto's coefficient of the sets, from 0 to 1.
    pub similarity: f64,
    /// The standard error of the estimate, by the delta method. It grows with the share of bits that are set.
    pub error: f64,
}

/// Estimates the Tanimoto coefficient of two sets of features from their rows (Swamidass and Baldi 2007). Bits that
/// features of only one set share by chance make rows look too similar; the estimate takes them off. Every feature sets
/// the same number of bits, which need not be known. `a` and `b` are the set bits of the rows, `common` those of both.
///
/// `None` if the numbers cannot be those of two rows, if a row has all bits, or if neither has any.
pub fn corrected(width: u64, a: u64, b: u64, common: u64) -> Option<IndexSimilarityEstimate> {
    let either = a.checked_add(b)?.checked_sub(common)?;
    if common > a.min(b) || either >= width || either == 0 {
        return None;
    }
    let load = |ones: u64| -(-(ones as f64 / width as f64)).ln_1p();
    let (of_a, of_b, of_either) = (load(a), load(b), load(either));
    let similarity = ((of_a + of_b - of_either) / of_either).clamp(0.0, 1.0);
    // With t throws for each bit, the estimates of two sets have the covariance `e^t - 1 - t` of the throws in common.
    let spread = |load: f64| load.exp_m1() - load;
    let of_both = (of_a + of_b - of_either).clamp(0.0, of_a.min(of_b));
    let ratio = 1.0 + similarity;
    let sum = spread(of_a) + spread(of_b);
    let variance = sum + 2.0 * spread(of_both) + ratio * ratio * spread(of_either) - 2.0 * ratio * sum;
    Some(IndexSimilarityEstimate { similarity, error: (variance.max(0.0) / width as f64).sqrt() / of_either })
}

/// How many times a bit was set, repeats included, if `ones` bits are set.
fn throws(width: u64, ones: u64) -> f64 {
    if ones >= width {
        return f64::INFINITY;
    }
    (-(ones as f64 / width as f64)).ln_1p() / (-1.0 / width as f64).ln_1p()
}
