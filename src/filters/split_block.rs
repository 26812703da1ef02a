//! The split-block Bloom filter: blocks of 256 bits, in each of which a key sets one bit in every of eight 32-bit
//! lanes.
//!
//! The layout of the Apache Parquet format (`BloomFilter.md`), after Putze, Sanders and Singler, "Cache-, hash- and
//! space-efficient Bloom filters", 2007. With XXH64, seed 0, the payload's blocks are the bitset of a Parquet filter
//! into which the same plain-encoded values were inserted. The block comes from the hash's high half and the lanes'
//! bits from its low half: block = (high * blocks) >> 32, bit of lane i = (low * salt i mod 2^32) >> 27.
//!
//! A key lands in a given block with probability 1/blocks, so a block holds Binomial(n, 1/blocks) keys, and with i
//! keys in it a lookup finds all its eight bits set with probability (1 - (31/32)^i)^8: their mean is the exact
//! false-positive rate ([`crate::sizing::split_block`]). Given the bits it is the mean, over the blocks, of the product
//! of the lanes' fills.

use super::bitwise::{self, BitArray};
use crate::base::Base;
use crate::bits;
use crate::bits::ring::{self, Batch, Few};
use crate::error::{Result, Status, error};
use crate::filter::{Cardinality, Filter, Fold, Insert, Intersect, Layout, Measure, Merge, SharedInsert, View};
use crate::format::Geometry;
use crate::layouts::split_block::{self, BLOCK_WORDS, block_start};
use crate::layouts::{BlockKernel, Probe};
use crate::open;
use crate::registry::Row;
use crate::sizing::{self, split_block::BLOCK_BITS};
use crate::spec::{Kind, Number, Size, Spec};
use crate::storage::{Words, try_box};
use core::sync::atomic::{AtomicU64, Ordering};

/// The kind's number.
pub const KIND: Kind = Kind(2);

/// Lanes in a block, and so bits that a key sets.
pub const LANES: u32 = 8;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KIND,
    name: "split_block",
    summary: "the split-block Bloom filter of Apache Parquet: one memory access a key, blocks of 256 bits",
    layout_version: 1,
    capabilities: bitwise::CAPABILITIES,
    parameters: &[&bitwise::FOLDABLE],
    plan,
    open: |base| Ok(try_box(SplitBlock::from_base(base)?)?),
    bits_unit: BLOCK_BITS,
    lines_per_lookup: |_| 1.0,
    false_positive_rate: |geometry, keys| false_positive_rate(geometry.bits / BLOCK_BITS, keys),
};

fn false_positive_rate(blocks: u64, keys: u64) -> f64 {
    sizing::split_block::false_positive_rate(blocks, keys).max(sizing::hash_floor(keys, 64))
}

/// The geometry that a spec asks for.
fn plan(spec: &Spec) -> Result<Geometry> {
    let foldable = spec.parameter(&bitwise::FOLDABLE)? == 1;
    let blocks = match spec.size()? {
        Size::Rate { capacity, false_positive_rate } => {
            let blocks = sizing::split_block::blocks_for(capacity, false_positive_rate);
            let blocks = if foldable { blocks.and_then(bitwise::foldable_units) } else { blocks };
            blocks.ok_or_else(|| {
                let rate = Number(false_positive_rate);
                error!(TooLarge, "capacity = {capacity} at false_positive_rate = {rate} needs 2^32 blocks or more")
            })?
        }
        Size::Exact { hashes, .. } if hashes != 0 && hashes != LANES => {
            return Err(error!(OutOfRange, "hashes = {hashes} is not the {LANES} of a split block"));
        }
        Size::Exact { bits, .. } if !bits.is_multiple_of(BLOCK_BITS) => {
            return Err(error!(OutOfRange, "bits = {bits} is not a multiple of the {BLOCK_BITS} of a block"));
        }
        Size::Exact { bits, .. } if foldable => {
            return Err(error!(Contradiction, "foldable rounds a size, but bits = {bits} is exact"));
        }
        Size::Exact { bits, .. } => bits / BLOCK_BITS,
    };
    // The layout chooses blocks by 32 bits of the hash.
    if blocks >> 32 != 0 {
        return Err(error!(TooLarge, "bits = {} are 2^32 blocks of 256 or more", u128::from(blocks) * 256));
    }
    Geometry::of_bits(blocks * BLOCK_BITS, LANES, [0; 8])
}

/// A split-block Bloom filter.
///
/// ```
/// use petal::{Filter, filters::SplitBlock};
/// let mut seen = SplitBlock::with_capacity(1000, 0.01)?;
/// assert!(seen.insert(b"apple")?);
/// assert!(seen.contains(b"apple"));
/// # Ok::<(), petal::Error>(())
/// ```
pub struct SplitBlock {
    base: Base,
    kernel: &'static BlockKernel,
    blocks: u64,
    /// Words of the blocks; the payload may have padding after them.
    words: usize,
}

impl SplitBlock {
    /// A filter for `capacity` keys whose false-positive rate is at most `false_positive_rate` when it is full.
    ///
    /// # Errors
    /// As [`open::create`].
    pub fn with_capacity(capacity: u64, false_positive_rate: f64) -> Result<SplitBlock> {
        SplitBlock::new(&Spec::with_capacity(capacity, false_positive_rate)?)
    }

    /// The filter that a spec describes.
    ///
    /// # Errors
    /// As [`open::create`].
    pub fn new(spec: &Spec) -> Result<SplitBlock> {
        SplitBlock::from_base(open::create_base(&Spec { kind: Some(KIND), ..*spec })?)
    }

    fn from_base(base: Base) -> Result<SplitBlock> {
        let geometry = base.geometry();
        let blocks = geometry.bits / BLOCK_BITS;
        let known = geometry.bits.is_multiple_of(BLOCK_BITS)
            && (1..1 << 32).contains(&blocks)
            && geometry.hashes == LANES
            && geometry.words == [0; 8]
            && geometry.is_of_bits();
        if !known {
            return Err(error!(Corrupt, "the header's geometry is not one of a split_block filter: {geometry:?}"));
        }
        Ok(SplitBlock {
            blocks,
            words: (geometry.bits / 64) as usize,
            kernel: split_block::kernel(base.instructions()),
            base,
        })
    }

    /// The words of the blocks.
    fn blocks(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.words]
    }
}

impl Filter for SplitBlock {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.kernel.contains_one(self.blocks(), &[], hash)
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.kernel.contains(self.blocks(), &[], batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        Some(self.kernel.contains_few(self.blocks(), &[], few))
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let kernel = self.kernel;
        let fills = bitwise::fills(self.blocks(), progress, |words| kernel.fills(words, LANES));
        // A lane's fill is its ones over 32.
        let rate = fills.products * 32.0_f64.powi(-(LANES as i32)) / self.blocks as f64;
        Measure::of_bits(fills.ones, self.base.geometry().bits, rate)
    }

    fn check_payload(&self) -> Result<()> {
        if bits::is_zero_from(self.base.words().shared(), self.base.geometry().bits) {
            return Ok(());
        }
        Err(error!(Corrupt, "bits after the last block are set"))
    }

    fn copy(&self) -> Result<Box<dyn Filter>> {
        Ok(try_box(SplitBlock { base: self.base.copy()?, ..*self })?)
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_shared_insert(&self) -> Option<&dyn SharedInsert> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        Some(self)
    }

    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        Some(self)
    }

    fn as_fold(&mut self) -> Option<&mut dyn Fold> {
        Some(self)
    }

    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        Some(self)
    }

    fn probe(&self) -> Option<Probe<'_>> {
        Some(self.base.probe(self.kernel, self.blocks(), &[]))
    }

    fn view(&self) -> Option<View<'_>> {
        Some(View { layout: Layout::SplitBlock, words: self.blocks(), hashes: LANES })
    }
}

impl Cardinality for SplitBlock {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(bits::count_ones(self.blocks()))
    }

    fn of_taken(&self, ones: u64) -> Option<f64> {
        sizing::split_block::cardinality(self.blocks, ones)
    }

    fn of_union(&self, other: &Words) -> Option<f64> {
        let ones = bits::count_ones_of_union(self.base.words().shared(), other.shared());
        sizing::split_block::cardinality(self.blocks, ones)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        sizing::split_block::cardinality_standard_error(self.blocks, keys.round() as u64)
    }
}

impl BitArray for SplitBlock {
    #[inline]
    fn set(&mut self, hash: u64) -> Option<bool> {
        let kernel = self.kernel;
        Some(kernel.insert_one(&mut self.base.writable_at_once()?[..self.words], &[], hash))
    }

    fn set_many(&mut self, batch: &mut dyn Batch) -> Option<()> {
        let kernel = self.kernel;
        kernel.insert(&mut self.base.writable_at_once()?[..self.words], &[], batch);
        Some(())
    }

    fn set_few(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        let kernel = self.kernel;
        Some(kernel.insert_few(&mut self.base.writable_at_once()?[..self.words], &[], few, is_asked))
    }
}

impl SharedInsert for SplitBlock {
    fn insert_one_shared(&self, hash: u64) -> bool {
        self.kernel.insert_one_shared(self.blocks(), &[], hash)
    }

    #[inline]
    fn unmarked(&self, hash: u64) -> Option<usize> {
        self.base.unmarked(block_start(self.words, hash))
    }

    fn fetch(&self, hash: u64) {
        split_block::fetch(self.blocks(), hash);
    }

    fn ahead(&self) -> usize {
        ring::ahead(self.blocks().len(), 1)
    }
}

impl Fold for SplitBlock {
    fn units(&self) -> u64 {
        self.blocks
    }

    fn folded_geometry(&self, factor: u64) -> Result<Geometry> {
        bitwise::check_factor(factor, self.blocks)?;
        Geometry::of_bits(self.blocks / factor * BLOCK_BITS, LANES, [0; 8])
    }

    /// Blocks are chosen by multiplication, so neighbours fold together: block b becomes b / factor.
    fn fold_units(&mut self, factor: u64) -> Result<()> {
        let geometry = self.folded_geometry(factor)?;
        let blocks = self.blocks / factor;
        let mut folded = Words::zeroed(geometry.payload_bytes)?;
        let words = folded.exclusive().ok_or(Status::Internal)?;
        for (i, word) in self.blocks().iter().enumerate() {
            let block = (i / BLOCK_WORDS) as u64 / factor;
            let place = block as usize * BLOCK_WORDS + i % BLOCK_WORDS;
            words[place] |= word.load(Ordering::Relaxed);
        }
        self.base.replace(geometry, folded);
        self.blocks = blocks;
        self.words = (geometry.bits / 64) as usize;
        Ok(())
    }
}
