//! The blocked Bloom filter: one cache line a key. Blocks of 512 bits, in each of which a key sets one bit in every of
//! k 32-bit lanes that it chooses among sixteen.
//!
//! After Putze, Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters", 2007, which has k bits anywhere
//! in the block. Choosing lanes first is as accurate to a thousandth and makes a lookup one multiplication, one shift,
//! one rotation and one masked test of a vector. The block comes from the hash by multiply-high, the bits of the lanes
//! from products of its low half, and the lanes from the high bits of that half ([`crate::layouts::blocked`] is the
//! definition,
//! `docs/format.md` says it in words).
//!
//! A key has ceil(k/2) lanes of one half of the block and floor(k/2) of the other, every such choice being as likely as
//! any other; there are few enough of them for a table that stays in the first-level cache. [`crate::sizing::blocked`]
//! derives the exact false-positive rate. Given the bits it is the mean over the blocks of the mean, over all choices,
//! of the product of the chosen lanes' fills.

use super::bitwise::{self, BitArray};
use crate::base::Base;
use crate::bits;
use crate::bits::ring::{self, Batch, Few};
use crate::error::{Result, Status, error};
use crate::filter::{Cardinality, Filter, Fold, Insert, Intersect, Layout, Measure, Merge, SharedInsert, View};
use crate::format::Geometry;
use crate::layouts::blocked::{self, BLOCK_WORDS, masks};
use crate::layouts::{BlockKernel, Probe};
use crate::open;
use crate::registry::Row;
use crate::sizing;
use crate::sizing::blocked::{BLOCK_BITS, MAX_HASHES, MIN_RATE};
use crate::spec::{Kind, Number, Size, Spec};
use crate::storage::{Words, try_box};
use core::sync::atomic::{AtomicU64, Ordering};

/// The kind's number.
pub const KIND: Kind = Kind(3);

/// The registry's row.
pub const ROW: Row = Row {
    kind: KIND,
    name: "blocked",
    summary: "the blocked Bloom filter: one cache line a key, nearly as accurate as the classic one",
    layout_version: 1,
    capabilities: bitwise::CAPABILITIES,
    parameters: &[&bitwise::FOLDABLE],
    plan,
    open: |base| Ok(try_box(Blocked::from_base(base)?)?),
    bits_unit: BLOCK_BITS,
    lines_per_lookup: |_| 1.0,
    false_positive_rate: |geometry, keys| false_positive_rate(geometry.bits / BLOCK_BITS, geometry.hashes, keys),
};

fn false_positive_rate(blocks: u64, hashes: u32, keys: u64) -> f64 {
    sizing::blocked::false_positive_rate(blocks, hashes, keys).max(sizing::hash_floor(keys, 64))
}

/// The geometry that a spec asks for.
fn plan(spec: &Spec) -> Result<Geometry> {
    let foldable = spec.parameter(&bitwise::FOLDABLE)? == 1;
    let (blocks, hashes) = match spec.size()? {
        Size::Rate { false_positive_rate, .. } if false_positive_rate < MIN_RATE => {
            let rate = Number(false_positive_rate);
            return Err(error!(
                OutOfRange,
                "false_positive_rate = {rate} is below {MIN_RATE:e}, the least of this kind"
            ));
        }
        Size::Rate { capacity, false_positive_rate } => {
            let size = sizing::blocked::size_for(capacity, false_positive_rate).and_then(|size| {
                let blocks = if foldable { bitwise::foldable_units(size.blocks)? } else { size.blocks };
                Some((blocks, size.hashes))
            });
            size.ok_or_else(|| {
                let rate = Number(false_positive_rate);
                error!(TooLarge, "capacity = {capacity} at false_positive_rate = {rate} needs more bits than can be")
            })?
        }
        Size::Exact { bits, .. } if !bits.is_multiple_of(BLOCK_BITS) => {
            return Err(error!(OutOfRange, "bits = {bits} is not a multiple of the {BLOCK_BITS} of a block"));
        }
        Size::Exact { bits, .. } if foldable => {
            return Err(error!(Contradiction, "foldable rounds a size, but bits = {bits} is exact"));
        }
        Size::Exact { bits, .. } if bits >= 1 << 63 => {
            return Err(error!(TooLarge, "bits = {bits} are more than the address space holds"));
        }
        Size::Exact { hashes, .. } if hashes > MAX_HASHES => {
            return Err(error!(OutOfRange, "hashes = {hashes} is not from 1 to {MAX_HASHES}"));
        }
        Size::Exact { capacity: 0, bits, hashes: 0 } => {
            return Err(error!(Contradiction, "bits = {bits} needs hashes, or a capacity to choose them for"));
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            (bits / BLOCK_BITS, sizing::blocked::optimal_hashes(bits as f64 / capacity as f64))
        }
        Size::Exact { bits, hashes, .. } => (bits / BLOCK_BITS, hashes),
    };
    let bits = blocks.checked_mul(BLOCK_BITS);
    let bits = bits.ok_or_else(|| error!(TooLarge, "{blocks} blocks are more than the address space holds"))?;
    Geometry::of_bits(bits, hashes, [0; 8])
}

/// A blocked Bloom filter.
///
/// ```
/// use petal::{Filter, filters::Blocked};
/// let mut seen = Blocked::with_capacity(1000, 0.01)?;
/// assert!(seen.insert(b"apple")?);
/// assert!(seen.contains(b"apple"));
/// # Ok::<(), petal::Error>(())
/// ```
pub struct Blocked {
    base: Base,
    kernel: &'static BlockKernel,
    blocks: u64,
    hashes: u32,
    /// The lanes that keys choose among.
    masks: &'static [u16],
}

impl Blocked {
    /// A filter for `capacity` keys whose false-positive rate is at most `false_positive_rate` when it is full.
    ///
    /// # Errors
    /// As [`open::create`].
    pub fn with_capacity(capacity: u64, false_positive_rate: f64) -> Result<Blocked> {
        Blocked::new(&Spec::with_capacity(capacity, false_positive_rate)?)
    }

    /// The filter that a spec describes.
    ///
    /// # Errors
    /// As [`open::create`].
    pub fn new(spec: &Spec) -> Result<Blocked> {
        Blocked::from_base(open::create_base(&Spec { kind: Some(KIND), ..*spec })?)
    }

    fn from_base(base: Base) -> Result<Blocked> {
        let geometry = base.geometry();
        let blocks = geometry.bits / BLOCK_BITS;
        let known = geometry.bits.is_multiple_of(BLOCK_BITS)
            && blocks > 0
            && (1..=MAX_HASHES).contains(&geometry.hashes)
            && geometry.words == [0; 8]
            && geometry.is_of_bits();
        if !known {
            return Err(error!(Corrupt, "the header's geometry is not one of a blocked filter: {geometry:?}"));
        }
        Ok(Blocked {
            blocks,
            hashes: geometry.hashes,
            masks: masks(geometry.hashes),
            kernel: blocked::kernel(base.instructions()),
            base,
        })
    }

    /// The words of the blocks, which fill the payload.
    fn blocks(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }
}

impl Filter for Blocked {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.kernel.contains_one(self.blocks(), self.masks, hash)
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.kernel.contains(self.blocks(), self.masks, batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        Some(self.kernel.contains_few(self.blocks(), self.masks, few))
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (kernel, hashes) = (self.kernel, self.hashes);
        let fills = bitwise::fills(self.blocks(), progress, |words| kernel.fills(words, hashes));
        let rate = sizing::blocked::from_products(fills.products, self.blocks, hashes);
        Measure::of_bits(fills.ones, self.base.geometry().bits, rate)
    }

    fn check_payload(&self) -> Result<()> {
        if bits::is_zero_from(self.base.words().shared(), self.base.geometry().bits) {
            return Ok(());
        }
        Err(error!(Corrupt, "bits after the last block are set"))
    }

    fn copy(&self) -> Result<Box<dyn Filter>> {
        Ok(try_box(Blocked { base: self.base.copy()?, ..*self })?)
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
        Some(self.base.probe(self.kernel, self.blocks(), self.masks))
    }

    fn view(&self) -> Option<View<'_>> {
        Some(View { layout: Layout::Blocked, words: self.blocks(), hashes: self.hashes })
    }
}

impl Cardinality for Blocked {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(bits::count_ones(self.blocks()))
    }

    fn of_taken(&self, ones: u64) -> Option<f64> {
        sizing::blocked::cardinality(self.blocks, self.hashes, ones)
    }

    fn of_union(&self, other: &Words) -> Option<f64> {
        let ones = bits::count_ones_of_union(self.base.words().shared(), other.shared());
        sizing::blocked::cardinality(self.blocks, self.hashes, ones)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        sizing::blocked::cardinality_standard_error(self.blocks, self.hashes, keys.round() as u64)
    }
}

impl BitArray for Blocked {
    #[inline]
    fn set(&mut self, hash: u64) -> Option<bool> {
        let kernel = self.kernel;
        Some(kernel.insert_one(self.base.writable_at_once()?, self.masks, hash))
    }

    fn set_many(&mut self, batch: &mut dyn Batch) -> Option<()> {
        let kernel = self.kernel;
        kernel.insert(self.base.writable_at_once()?, self.masks, batch);
        Some(())
    }

    fn set_few(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        let kernel = self.kernel;
        Some(kernel.insert_few(self.base.writable_at_once()?, self.masks, few, is_asked))
    }
}

impl SharedInsert for Blocked {
    fn insert_one_shared(&self, hash: u64) -> bool {
        self.kernel.insert_one_shared(self.blocks(), self.masks, hash)
    }

    #[inline]
    fn unmarked(&self, hash: u64) -> Option<usize> {
        self.base.unmarked(bits::reduce(hash, self.blocks) as usize * BLOCK_WORDS)
    }

    fn fetch(&self, hash: u64) {
        blocked::fetch(self.blocks(), hash);
    }

    fn ahead(&self) -> usize {
        ring::ahead(self.blocks().len(), 1)
    }
}

impl Fold for Blocked {
    fn units(&self) -> u64 {
        self.blocks
    }

    fn folded_geometry(&self, factor: u64) -> Result<Geometry> {
        bitwise::check_factor(factor, self.blocks)?;
        Geometry::of_bits(self.blocks / factor * BLOCK_BITS, self.hashes, [0; 8])
    }

    /// Blocks are chosen by multiplication, so neighbours fold together: block b becomes b / factor.
    fn fold_units(&mut self, factor: u64) -> Result<()> {
        let geometry = self.folded_geometry(factor)?;
        let blocks = self.blocks / factor;
        let mut folded = Words::zeroed(geometry.payload_bytes)?;
        let words = folded.exclusive().ok_or(Status::Internal)?;
        for (i, word) in self.base.words().shared().iter().enumerate() {
            let block = (i / BLOCK_WORDS) as u64 / factor;
            let place = block as usize * BLOCK_WORDS + i % BLOCK_WORDS;
            words[place] |= word.load(Ordering::Relaxed);
        }
        self.base.replace(geometry, folded);
        self.blocks = blocks;
        Ok(())
    }
}
