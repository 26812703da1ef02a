//! The kind `blocked`, the blocked Bloom filter, in which a key touches one cache line. Blocks have 512 bits in sixteen
//! 32-bit lanes. A key chooses k lanes of one block, and sets one bit in each.
//!
//! After Putze, Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters", 2007, where a key has k bits
//! anywhere in the block. Choosing lanes first is as accurate to a thousandth, and makes a lookup one multiplication,
//! one shift, one rotation and one masked test of a vector. The block comes from the hash by multiply-high. The bits of
//! the lanes come from products of the hash's low half, and the lanes from the high bits of that half ([`layout`] is
//! the definition, and `docs/format.md` says it in words).
//!
//! A key has ceil(k/2) lanes of one half of the block and floor(k/2) of the other. All such choices are equally likely,
//! and there are few enough of them for a table that stays in the first-level cache. [`sizing`] derives the exact
//! false-positive rate. Given the bits, the rate is a mean over the blocks and over all choices: the mean of the
//! product of the chosen lanes' fills.

pub mod layout;
pub mod sizing;

use crate::bits;
use crate::blocks::Layout;
use crate::blocks::block_array::{self, BlockArray, Blocks};
use crate::blocks::block_kernel::chain::ChainKernel;
use crate::blocks::block_kernel::{BlockKernel, Fills};
use crate::contract::{Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::bit_filter::{self, FOLDABLE};
use crate::simd::Instructions;
use crate::spec::{KindId, Number, Size, Spec};
use sizing::{BLOCK_BITS, LANE_BITS, MAX_HASHES, MIN_RATE};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(3),
    name: "blocked",
    summary: "the blocked Bloom filter: one cache line a key, nearly as accurate as the classic one",
    capabilities: bit_filter::CAPABILITIES,
    parameters: &[&FOLDABLE],
    structure: Structure::Filter { open: bit_filter::open::<BlockArray<Blocked>> },
    sizes: Sizes::Multiples(BLOCK_BITS),
    hashes: (1, MAX_HASHES),
    geometry,
    false_positive_rate: |geometry, keys| {
        let rate = sizing::false_positive_rate(geometry.bits / BLOCK_BITS, geometry.hashes, keys);
        rate.max(crate::sizing::hash_floor(keys, 64))
    },
    in_bytes: Some(bit_filter::in_bytes::<BlockArray<Blocked>>()),
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let foldable = bit_filter::is_foldable(spec, &size)?;
    let (blocks, hashes) = match size {
        Size::Rate { false_positive_rate: rate, .. } if rate < MIN_RATE => {
            let rate = Number(rate);
            return Err(error!(
                OutOfRange,
                "false_positive_rate = {rate} is below {MIN_RATE:e}, the least of this kind"
            ));
        }
        Size::Rate { capacity, false_positive_rate: rate } => {
            let size = sizing::size_for(capacity, rate);
            let blocks = bit_filter::units_for(size.map(|size| size.blocks), foldable, capacity, rate)?;
            (blocks, size.map_or(1, |size| size.hashes))
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            (bits / BLOCK_BITS, sizing::optimal_hashes(bits as f64 / capacity as f64))
        }
        Size::Exact { bits, hashes, .. } => (bits / BLOCK_BITS, hashes),
    };
    block_array::geometry::<Blocked>(blocks, hashes)
}

/// Blocks of 512 bits.
pub struct Blocked;

impl Blocks for Blocked {
    const LAYOUT: Option<Layout> = Some(Layout::Blocked);
    const BLOCK_WORDS: usize = layout::BLOCK_WORDS;
    const HASHES: (u32, u32) = (1, MAX_HASHES);
    const MAX_BLOCKS: u64 = u64::MAX;

    fn kernel(instructions: Instructions) -> &'static BlockKernel {
        layout::kernel(instructions)
    }

    fn chain_kernel(instructions: Instructions) -> Option<&'static ChainKernel> {
        layout::chain::kernel(instructions)
    }

    fn masks(hashes: u32) -> &'static [u16] {
        layout::masks(hashes)
    }

    #[inline]
    fn block(hash: u64, blocks: u64) -> u64 {
        bits::reduce(hash, blocks)
    }

    fn rate(fills: &Fills, blocks: u64, hashes: u32) -> f64 {
        sizing::from_products(fills.products, blocks, LANE_BITS, hashes)
    }

    fn cardinality(blocks: u64, hashes: u32, ones: u64) -> Option<f64> {
        sizing::cardinality(blocks, LANE_BITS, hashes, ones)
    }

    fn standard_error(blocks: u64, hashes: u32, keys: u64) -> f64 {
        sizing::cardinality_standard_error(blocks, LANE_BITS, hashes, keys)
    }
}
