//! The metadata of a layer, two bits a bucket that say what was bumped, and the sizes of a shard's layers.

use super::row::Coefficients;
use crate::error::{Result, Status};

/// The threshold of a bucket from which nothing was bumped. A smaller threshold is the first class that was bumped.
pub(super) const NOTHING: u64 = 3;

/// How many buckets have their thresholds in one byte.
pub(super) const BUCKETS: u64 = 4;

/// Appends the threshold of a bucket to the metadata of the buckets before it.
pub(super) fn push(metadata: &mut Vec<u8>, bucket: u64, threshold: u64) -> Result<()> {
    if bucket.is_multiple_of(BUCKETS) {
        metadata.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
        metadata.push(0);
    }
    if let Some(last) = metadata.last_mut() {
        *last |= (threshold << (2 * (bucket % BUCKETS))) as u8;
    }
    Ok(())
}

/// How many layers after the first bump keys.
pub(super) const LAYERS: usize = 3;

/// How many seeds are tried for the keys that these layers bumped.
pub(super) const SEEDS: u32 = 7;
/// The seed that stands for keys that are found by search.
pub(super) const LISTED: u32 = SEEDS;

/// The number of the layer for the keys that no other layer took, under a seed.
#[inline]
pub(super) fn base_layer(seed: u32) -> u32 {
    LAYERS as u32 + 1 + seed
}

/// How many bits of a size are not its exponent.
const MANTISSA: u32 = 11;
/// How many bits the size of a layer has.
const LAYER: u32 = 15;
/// How many bits the size of the base has.
const BASE: u32 = 16;

/// How many slots the layers after the first, and the base, have to start in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub layers: [u64; LAYERS],
    /// The size of the base, which holds the keys that no layer took; or how many keys are listed.
    pub base: u64,
    pub seed: u32,
}

/// The code, in `bits` bits, of the least size that is at least `size`, or of the greatest size that there is.
fn code(size: u64, bits: u32) -> u64 {
    let most = (1 << (bits - MANTISSA)) - 1;
    let mut exponent = u64::from((u64::BITS - size.leading_zeros()).saturating_sub(MANTISSA));
    let mut mantissa = size.div_ceil(1 << exponent);
    if mantissa >> MANTISSA != 0 {
        (mantissa, exponent) = (mantissa.div_ceil(2), exponent + 1);
    }
    if exponent > most { (1 << bits) - 1 } else { exponent << MANTISSA | mantissa }
}

/// The size that a code stands for.
#[inline]
fn decode(code: u64) -> u64 {
    (code & ((1 << MANTISSA) - 1)) << (code >> MANTISSA)
}

impl Sizes {
    /// Gives a layer the least size that can be written and is at least `starts`, and returns that size.
    pub(super) fn set_layer(&mut self, layer: usize, starts: u64) -> u64 {
        self.layers[layer] = decode(code(starts, LAYER));
        self.layers[layer]
    }

    /// Gives the base, which holds the keys that no layer took, a seed and the least size that can be written and is at
    /// least `starts`. Returns that size.
    pub(super) fn set_base(&mut self, seed: u32, starts: u64) -> u64 {
        (self.base, self.seed) = (decode(code(starts, BASE)), seed);
        self.base
    }

    /// The sizes as a word: the layers from the lowest bit on, 15 bits each, then 16 bits of the base and 3 of the
    /// seed.
    pub(super) fn encode(&self) -> u64 {
        let [a, b, c] = self.layers.map(|size| code(size, LAYER));
        a | b << LAYER | c << (2 * LAYER) | code(self.base, BASE) << (3 * LAYER) | u64::from(self.seed) << 61
    }

    #[inline]
    pub(super) fn read(word: u64) -> Sizes {
        let field = |at: u32, bits: u32| decode(word >> at & ((1 << bits) - 1));
        Sizes {
            layers: [field(0, LAYER), field(LAYER, LAYER), field(2 * LAYER, LAYER)],
            base: field(3 * LAYER, BASE),
            seed: (word >> 61) as u32,
        }
    }

    /// The bytes of the metadata of all layers after the first.
    pub(super) fn metadata_bytes<C: Coefficients>(&self) -> u64 {
        self.layers.iter().map(|starts| C::SIZES.buckets(*starts).div_ceil(BUCKETS)).sum()
    }

    /// The bytes of the list of searched keys.
    pub(super) fn list_bytes(&self) -> u64 {
        if self.seed == LISTED { self.base * 16 } else { 0 }
    }

    /// The slots of all these layers and of the base.
    pub(super) fn slots(&self) -> u64 {
        self.layers.iter().sum::<u64>() + self.base
    }
}
