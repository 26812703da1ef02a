//! The kind `rocksdb_bloom`: the Bloom filter of RocksDB's tables since format version 5 (`FastLocalBloom`), blocks of
//! 512 bits in which a key sets k bits anywhere.
//!
//! With the hash function XXPH3 its payload is, byte for byte, what RocksDB writes before the trailer of a filter block
//! ([`crate::interop`] reads and writes these). [`layout`] is the definition, and [`sizing`] derives the rate. Given
//! the bits, the rate is the mean over the blocks of their fills to the power of k.

pub mod layout;
pub mod sizing;

use crate::blocks::Layout;
use crate::blocks::block_array::{self, BlockArray, Blocks};
use crate::blocks::block_kernel::{BlockKernel, Fills};
use crate::contract::{Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::bit_filter::{self, FOLDABLE};
use crate::simd::Instructions;
use crate::sizing::lines::{BLOCK_BITS, false_positive_rate};
use crate::spec::{KindId, Size, Spec};
use layout::MAX_HASHES;
use sizing::MAX_BLOCKS;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::ROCKSDB_BLOOM,
    name: "rocksdb_bloom",
    summary: "the Bloom filter of RocksDB's tables, for exchanging its bytes: one cache line a key",
    capabilities: bit_filter::CAPABILITIES,
    parameters: &[&FOLDABLE],
    structure: Structure::Filter { open: bit_filter::open::<BlockArray<RocksDb>> },
    sizes: Sizes::Multiples(BLOCK_BITS),
    hashes: (1, MAX_HASHES),
    geometry,
    false_positive_rate: |geometry, keys| {
        let rate = false_positive_rate(geometry.bits / BLOCK_BITS, geometry.hashes, keys);
        rate.max(crate::sizing::hash_floor(keys, 64))
    },
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let foldable = bit_filter::is_foldable(spec, &size)?;
    let (blocks, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let least = sizing::size_for(capacity, rate);
            let blocks = bit_filter::units_for(least.map(|size| size.0), foldable, size)?;
            (blocks, least.map_or(1, |size| size.1))
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            (bits / BLOCK_BITS, sizing::hashes_of(bits / BLOCK_BITS, capacity))
        }
        Size::Exact { bits, hashes, .. } => (bits / BLOCK_BITS, hashes),
    };
    if blocks >= MAX_BLOCKS {
        return Err(error!(TooLarge, "{blocks} blocks of 512 bits are 2^26 or more, which RocksDB cannot count"));
    }
    block_array::geometry::<RocksDb>(blocks, hashes)
}

/// Blocks of 512 bits.
pub struct RocksDb;

impl Blocks for RocksDb {
    const LAYOUT: Option<Layout> = None;
    const BLOCK_WORDS: usize = layout::BLOCK_WORDS;
    const HASHES: (u32, u32) = (1, MAX_HASHES);
    const MAX_BLOCKS: u64 = MAX_BLOCKS;

    fn kernel(instructions: Instructions) -> &'static BlockKernel {
        layout::kernel(instructions)
    }

    fn masks(hashes: u32) -> &'static [u16] {
        layout::probes(hashes)
    }

    #[inline]
    fn block(hash: u64, blocks: u64) -> u64 {
        layout::block_of(blocks, hash)
    }

    fn rate(fills: &Fills, blocks: u64, _hashes: u32) -> f64 {
        fills.products / blocks as f64
    }

    fn cardinality(blocks: u64, hashes: u32, ones: u64) -> Option<f64> {
        sizing::cardinality(blocks, hashes, ones)
    }

    fn standard_error(blocks: u64, hashes: u32, keys: u64) -> f64 {
        sizing::cardinality_standard_error(blocks, hashes, keys)
    }
}
