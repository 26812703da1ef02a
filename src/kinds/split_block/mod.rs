//! The kind `split_block`, the split-block Bloom filter: blocks of 256 bits, in which a key sets one bit in each of
//! eight 32-bit lanes.
//!
//! The layout of the Apache Parquet format (`BloomFilter.md`), after Putze, Sanders and Singler, "Cache-, hash- and
//! space-efficient Bloom filters", 2007. With XXH64, seed 0, the payload's blocks are the bitset of a Parquet filter
//! into which the same plain-encoded values were inserted. The block comes from the hash's high half and the lanes'
//! bits from its low half: block = (high * blocks) >> 32, bit of lane i = (low * salt i mod 2^32) >> 27.
//!
//! A key lands in a given block with probability 1/blocks, so a block holds Binomial(n, 1/blocks) keys. In a block with
//! i keys a lookup finds all its eight bits set with probability (1 - (31/32)^i)^8. The mean of these is the exact
//! false-positive rate ([`sizing`]). Given the bits, the rate is the mean, over the blocks, of the product of the
//! lanes' fills.

pub mod layout;
pub mod sizing;

use crate::blocks::Layout;
use crate::blocks::block_array::{self, BlockArray, Blocks};
use crate::blocks::block_kernel::{BlockKernel, Fills};
use crate::contract::{Row, Sizes, Structure};
use crate::error::Result;
use crate::format::Geometry;
use crate::generic::bit_filter::{self, FOLDABLE};
use crate::simd::Instructions;
use crate::spec::{KindId, Size, Spec};
use sizing::BLOCK_BITS;

/// Lanes in a block, and so bits that a key sets.
const LANES: u32 = 8;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::SPLIT_BLOCK,
    name: "split_block",
    summary: "the split-block Bloom filter of Apache Parquet: one memory access a key, blocks of 256 bits",
    capabilities: bit_filter::CAPABILITIES,
    parameters: &[&FOLDABLE],
    structure: Structure::Filter { open: bit_filter::open::<BlockArray<SplitBlock>> },
    sizes: Sizes::Multiples(BLOCK_BITS),
    hashes: (LANES, LANES),
    geometry,
    false_positive_rate: |geometry, keys| {
        let rate = sizing::false_positive_rate(geometry.bits / BLOCK_BITS, keys);
        rate.max(crate::sizing::hash_floor(keys, 64))
    },
    in_bytes: Some(bit_filter::in_bytes::<BlockArray<SplitBlock>>()),
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let foldable = bit_filter::is_foldable(spec, &size)?;
    let blocks = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            // A rate that takes too many blocks is refused below, as too many blocks are.
            let blocks = sizing::blocks_for(capacity, rate).unwrap_or(SplitBlock::MAX_BLOCKS);
            bit_filter::units_for(Some(blocks), foldable, size)?
        }
        Size::Exact { bits, .. } => bits / BLOCK_BITS,
    };
    if blocks >= SplitBlock::MAX_BLOCKS {
        return Err(size.too_large().about(format_args!("2^32 blocks of 256 bits or more")));
    }
    block_array::geometry::<SplitBlock>(blocks, LANES)
}

/// Blocks of 256 bits.
pub struct SplitBlock;

impl Blocks for SplitBlock {
    const LAYOUT: Option<Layout> = Some(Layout::SplitBlock);
    const BLOCK_WORDS: usize = layout::BLOCK_WORDS;
    const HASHES: (u32, u32) = (LANES, LANES);
    /// Blocks are chosen by 32 bits of the hash.
    const MAX_BLOCKS: u64 = 1 << 32;

    fn kernel(instructions: Instructions) -> &'static BlockKernel {
        layout::kernel(instructions)
    }

    #[inline]
    fn block(hash: u64, blocks: u64) -> u64 {
        ((hash >> 32) * blocks) >> 32
    }

    /// A lane's fill is its ones over 32.
    fn rate(fills: &Fills, blocks: u64, _hashes: u32) -> f64 {
        fills.products * 32.0_f64.powi(-(LANES as i32)) / blocks as f64
    }

    fn cardinality(blocks: u64, _hashes: u32, ones: u64) -> Option<f64> {
        sizing::cardinality(blocks, ones)
    }

    fn standard_error(blocks: u64, _hashes: u32, keys: u64) -> f64 {
        sizing::cardinality_standard_error(blocks, keys)
    }
}
