//! The kind `blocked`, the blocked Bloom filter, in which a key touches one cache line. Blocks have 512 bits in sixteen
//! 32-bit lanes. A key chooses k lanes of one block, and sets one bit in each.
//!
//! After Putze, Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters", 2007, where a key has k bits
//! anywhere in the block. Choosing lanes first is as accurate to a thousandth, and makes a lookup one multiplication,
//! one shift, one rotation and one masked test of a vector. The block comes from the hash by multiply-high, the bits of
//! the lanes from products of the hash's low half, and the lanes from the high bits of that half ([`layout`] is the
//! definition, and `docs/format.md` puts it into words).
//!
//! A key has ceil(k/2) lanes of one half of the block and floor(k/2) of the other. All such choices are equally likely,
//! and there are few enough of them for a table that stays in the first-level cache. [`sizing`] derives the exact
//! false-positive rate. Given the bits, it is a mean over the blocks and over all choices: the mean of the product of
//! the chosen lanes' fills.
//!
//! With the parameter `blocks` = 2 a key has half of its bits in each of two blocks ([`layout::two_blocks`]). That is
//! the multi-blocking of the same paper: a lookup reads two lines, and the rate comes near that of the classic filter
//! ([`two_blocks`]).

pub mod layout;
pub mod sizing;
pub mod two_blocks;

use crate::bits;
use crate::blocks::Layout;
use crate::blocks::block_array::{self, BlockArray, Blocks, shares_of};
use crate::blocks::block_kernel::chain::ChainKernel;
use crate::blocks::block_kernel::{BlockKernel, Fills};
use crate::contract::{Row, Sizes, Structure, Varying};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::{self, FOLDABLE};
use crate::simd::Instructions;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use sizing::{BLOCK_BITS, LANE_BITS, MAX_HASHES, MIN_RATE};

/// The parameter that says in how many blocks a key has its bits.
pub const BLOCKS: Parameter = Parameter {
    name: "blocks",
    summary: "in how many blocks a key has its bits; 2 takes fewer bits at low rates, and reads two cache lines",
    default: 1.0,
    domain: Domain::OneOf(&[1, 2]),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::BLOCKED,
    name: "blocked",
    summary: "the blocked Bloom filter: one cache line a key, nearly as accurate as the classic one",
    capabilities: bit_filter::CAPABILITIES,
    parameters: &[&BLOCKS, &FOLDABLE],
    structure: Structure::Filter { open: bit_filter::open::<BlockArray<Blocked>> },
    sizes: Sizes::Multiples(BLOCK_BITS),
    hashes: (1, two_blocks::MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| {
        let lines = (geometry.payload_bytes / PAYLOAD_UNIT) as f64;
        shares_of(geometry.words[0]).map_or(1.0, |shares| lines.min(shares.into()))
    },
    false_positive_rate: |geometry, keys| {
        let of = match shares_of(geometry.words[0]) {
            Some(2) => two_blocks::false_positive_rate,
            _ => sizing::false_positive_rate,
        };
        of(geometry.bits / BLOCK_BITS, geometry.hashes, keys).max(crate::sizing::hash_floor(keys, 64))
    },
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        packing.field(&mut geometry.words[0], 2);
    },
    least_rate: |_, _| MIN_RATE,
    in_bytes: Some(bit_filter::in_bytes::<BlockArray<Blocked>>()),
    varying: Varying { alternative: Some((&BLOCKS, 2.0)), ..Varying::BASE },
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let foldable = bit_filter::is_foldable(spec, &size)?;
    let shares = spec.parameter(&BLOCKS)? as u32;
    let (blocks, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let size_for = if shares == 2 { two_blocks::size_for } else { sizing::size_for };
            let least = size_for(capacity, rate);
            let blocks = bit_filter::units_for(least.map(|least| least.blocks), foldable, size)?;
            (blocks, least.map_or(shares, |least| least.hashes))
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            let optimal_hashes = if shares == 2 { two_blocks::optimal_hashes } else { sizing::optimal_hashes };
            (bits / BLOCK_BITS, optimal_hashes(bits as f64 / capacity as f64))
        }
        Size::Exact { hashes, .. } if shares == 1 && hashes > MAX_HASHES => {
            return Err(error!(OutOfRange, "hashes = {hashes} with blocks = 1 is not from 1 to {MAX_HASHES}"));
        }
        Size::Exact { hashes, .. } if !hashes.is_multiple_of(shares) => {
            return Err(error!(OutOfRange, "hashes = {hashes} with blocks = 2 is not an even number"));
        }
        Size::Exact { bits, hashes, .. } => (bits / BLOCK_BITS, hashes),
    };
    block_array::geometry_of_shares::<Blocked>(blocks, hashes, shares)
}

/// Blocks of 512 bits.
pub struct Blocked;

impl Blocks for Blocked {
    const LAYOUT: Option<Layout> = Some(Layout::Blocked);
    const LAYOUT_IN_TWO: Option<Layout> = Some(Layout::TwoBlocks);
    const BLOCK_WORDS: usize = layout::BLOCK_WORDS;
    const HASHES: (u32, u32) = (1, MAX_HASHES);
    const MAX_BLOCKS: u64 = u64::MAX;

    fn kernel(instructions: Instructions) -> &'static BlockKernel {
        layout::kernel(instructions)
    }

    fn kernel_in_two(instructions: Instructions) -> Option<&'static BlockKernel> {
        Some(layout::kernel_in_two(instructions))
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

    #[inline]
    fn shares(hash: u64) -> [u64; 2] {
        layout::two_blocks::shares(hash)
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
