//! What was bumped from the buckets of a layer, two bits each, and how large the layers of a shard are.

use super::row::Coefficients;
use crate::error::{Result, Status};

/// The threshold of a bucket from which nothing was bumped; smaller ones are the first class that was.
pub(super) const NOTHING: u64 = 3;

/// How many buckets have their thresholds in one byte.
pub(super) const BUCKETS: u64 = 4;

/// Adds what was bumped from a bucket to the metadata of those before it.
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

/// Layers after the first that bump.
pub(super) const LAYERS: usize = 3;

/// Seeds that are tried for what these bumped.
pub(super) const SEEDS: u32 = 7;
/// The seed of keys that are found by search.
pub(super) const LISTED: u32 = SEEDS;

/// The number of the layer of what no other took, under a seed.
#[inline]
pub(super) fn base_layer(seed: u32) -> u32 {
    LAYERS as u32 + 1 + seed
}

/// The bits of a size but for its exponent.
const MANTISSA: u32 = 11;
/// All bits of the size of a layer.
const LAYER: u32 = 15;
/// All bits of the size of what no layer took.
const BASE: u32 = 16;

/// How many slots the layers after the first have to start in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub layers: [u64; LAYERS],
    /// Of what no layer took; or how many keys are listed.
    pub base: u64,
    pub seed: u32,
}

/// The least number with so many bits of code that is `size` or more, or the greatest that there is, as code.
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
    /// Gives a layer the size that is written for this one, and returns it.
    pub(super) fn set_layer(&mut self, layer: usize, starts: u64) -> u64 {
        self.layers[layer] = decode(code(starts, LAYER));
        self.layers[layer]
    }

    /// Gives the base, which holds what no layer took, a seed and the size that is written for this one, and returns
    /// it.
    pub(super) fn set_base(&mut self, seed: u32, starts: u64) -> u64 {
        (self.base, self.seed) = (decode(code(starts, BASE)), seed);
        self.base
    }

    /// As a word: the layers from the lowest bit on, 15 bits each, then 16 of the base and 3 of the seed.
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

    /// The bytes of the metadata of all layers.
    pub(super) fn metadata_bytes<C: Coefficients>(&self) -> u64 {
        self.layers.iter().map(|starts| C::SIZES.buckets(*starts).div_ceil(BUCKETS)).sum()
    }

    /// The bytes of the list.
    pub(super) fn list_bytes(&self) -> u64 {
        if self.seed == LISTED { self.base * 16 } else { 0 }
    }

    /// The slots of all layers, and of what these did not take.
    pub(super) fn slots(&self) -> u64 {
        self.layers.iter().sum::<u64>() + self.base
    }
}
