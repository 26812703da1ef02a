//! Blocks of one cache line, two blocks for each key. Keys can be inserted, removed and counted in a time that does not
//! depend on how full the table is.
//!
//! Pandey, Conway, Durie, Bender, Farach-Colton and Johnson, "Vector Quotient Filters: Overcoming the Time/Space
//! Trade-Off in Filter Design", 2021. A block has buckets, each with the tags of its entries (`block`). A key leaves
//! its tag in the emptier of its two blocks, in the same bucket of either block. Bucket and tag together are the key's
//! *fingerprint*.
//!
//! Either block is known from the other and the fingerprint. Here the two blocks add up to a sum s that follows from
//! the fingerprint, modulo the number of blocks. That is an involution for any number of blocks, whereas the exclusive
//! or of the literature needs a power of two. The number of blocks is even and s is odd, so that the two blocks always
//! differ. Hence an entry of a block says which pair of blocks it belongs to. Entries with the same fingerprint in that
//! block have the same other block too, and a removal may take any of the copies in both.
//!
//! Every insertion looks at both blocks, as every lookup and every removal does, because it has to say whether the key
//! was there. (The literature takes the first block while it is less than three quarters full, which saves that look.)
//! If both blocks are full, an entry whose other block has room moves there. If there is no such entry, the key is
//! refused and nothing has changed. That one move is rarely made, but with it at least 97 % of the slots are filled,
//! where the literature stops at 91 or 94 %.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod block;
mod kernel;
mod measure;

use self::block::{Instructed, Plain, Run, WORDS};
use self::kernel::Kernel;
use super::sizing;
use crate::batch::ring::{Batch, Few};
use crate::bits::{self, GOLDEN, mix, prefetch, reduce};
use crate::blocks::fingerprint_table::{FingerprintTable, Held};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::simd::Instructions;
use crate::storage::AnyBytes;
use core::ops::Range;
use core::sync::atomic::AtomicU64;

/// The kernel of an instruction set for tags of `tag_bits` bits.
fn kernel(instructions: Instructions, tag_bits: u32) -> &'static Kernel {
    let kernels = match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &avx512::KERNELS,
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 if instructions.deposits_quickly() => &avx2::KERNELS,
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &avx2::WITHOUT_PDEP,
        _ => &kernel::PLAIN,
    };
    &kernels[usize::from(tag_bits == 16)]
}

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// How many blocks there are: an even number.
    count: u64,
    /// How many fingerprints there are.
    fingerprints: u64,
    tag_bits: u32,
}

/// Where a key may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bucket and tag as one number.
    pub fingerprint: u64,
    /// The block that the hash chooses.
    pub block: u64,
    /// The key's other block.
    pub other: u64,
}

impl Blocks {
    /// `count` blocks with tags of 8 or 16 bits. `None` for other tags, and for a number of blocks that is odd or 0.
    pub fn new(count: u64, tag_bits: u32) -> Option<Blocks> {
        let is_known = matches!(tag_bits, 8 | 16) && count > 0 && count.is_multiple_of(2) && count < 1 << 54;
        let fingerprints = if is_known { u64::from(block::buckets(tag_bits)) << tag_bits } else { return None };
        Some(Blocks { count, fingerprints, tag_bits })
    }

    /// The blocks that a geometry describes, if the geometry is one of this kind.
    pub fn of_geometry(geometry: &Geometry) -> Option<Blocks> {
        let [tag_bits, 0, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let is_whole =
            geometry.bits.is_multiple_of(sizing::BLOCK_BITS) && geometry.hashes == 0 && geometry.is_of_bits();
        let count = 2 * (geometry.bits / sizing::PAIR_BITS);
        if is_whole { Blocks::new(count, u32::try_from(tag_bits).ok()?) } else { None }
    }

    /// How many blocks there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bits of a tag.
    pub fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// How many slots all blocks have together.
    pub fn all_slots(&self) -> u64 {
        self.count * u64::from(block::slots(self.tag_bits))
    }

    /// Where a key with this hash may be.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> Place {
        // Builders insert in the order of hashes. If the block followed that order, blocks would not fill evenly.
        let fingerprint = reduce(hash, self.fingerprints);
        let block = reduce(hash.wrapping_mul(GOLDEN), self.count);
        Place { fingerprint, block, other: self.other(block, fingerprint) }
    }

    /// The other block of a fingerprint that is in `block`.
    #[inline(always)]
    pub fn other(&self, block: u64, fingerprint: u64) -> u64 {
        let sum = 2 * reduce(mix(fingerprint), self.count / 2) + 1;
        let other = sum.wrapping_sub(block);
        if sum < block { other.wrapping_add(self.count) } else { other }
    }

    /// Whether a key with this hash may be in the words, which are at any address.
    pub fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool {
        let Place { fingerprint, block, other } = self.place(hash);
        let has = |block: u64| {
            let line = bytes.copy::<WORDS>(block as usize * WORDS);
            match self.tag_bits {
                8 => block::has::<8, Plain>(&line, fingerprint),
                _ => block::has::<16, Plain>(&line, fingerprint),
            }
        };
        has(block) | has(other)
    }

    /// Asks for the lines of both blocks of a hash.
    #[inline(always)]
    pub fn fetch(&self, words: &[AtomicU64], hash: u64) {
        let Place { block, other, .. } = self.place(hash);
        for block in [block, other] {
            if let Some(word) = words.get(block as usize * WORDS) {
                prefetch(word);
            }
        }
    }

    /// Inserts a fingerprint into one of its two blocks. Returns whether the fingerprint certainly was absent before,
    /// or `None`, with nothing changed, if it finds no place.
    #[inline(always)]
    fn insert_at<const BITS: u32, I: Instructed>(&self, words: &mut [u64], place: Place) -> Option<bool> {
        let Place { fingerprint, block, other } = place;
        let blocks = words.as_chunks_mut::<WORDS>().0;
        let (bucket, tag) = block::split::<BITS>(fingerprint);
        let first = look::<BITS, I>(&blocks[block as usize], bucket, tag);
        let second = look::<BITS, I>(&blocks[other as usize], bucket, tag);
        let new = !(first.2 | second.2);
        let (at, (taken, run, _)) = if first.0 <= second.0 { (block, first) } else { (other, second) };
        if taken < block::slots(BITS) {
            block::insert::<BITS, I>(&mut blocks[at as usize], run, tag);
            return Some(new);
        }
        self.make_room::<BITS>(blocks, [block, other], fingerprint).then_some(new)
    }

    /// Moves an entry of two full blocks to the entry's other block, and puts a fingerprint into its place. Returns
    /// false, with nothing changed, if no entry can move.
    #[cold]
    #[inline(never)]
    fn make_room<const BITS: u32>(&self, blocks: &mut [[u64; WORDS]], pair: [u64; 2], fingerprint: u64) -> bool {
        for from in pair {
            let full = blocks[from as usize];
            for (slot, (bucket, tag)) in block::entries::<BITS>(&full).enumerate() {
                let moved = u64::from(bucket) << BITS | tag;
                let to = self.other(from, moved);
                if block::taken::<BITS>(&blocks[to as usize]) < block::slots(BITS) {
                    block::add::<BITS>(&mut blocks[to as usize], moved);
                    block::remove::<BITS, Plain>(&mut blocks[from as usize], bucket, slot as u32);
                    block::add::<BITS>(&mut blocks[from as usize], fingerprint);
                    return true;
                }
            }
        }
        false
    }

    /// Gives `visit` the blocks that [`Blocks::make_room`] would look at, if both blocks of a pair are full.
    fn visit_others<const BITS: u32>(&self, words: &[u64], pair: [u64; 2], visit: &mut dyn FnMut(u64)) {
        let blocks = words.as_chunks::<WORDS>().0;
        if pair.iter().any(|block| block::taken::<BITS>(&blocks[*block as usize]) < block::slots(BITS)) {
            return;
        }
        for from in pair {
            for (bucket, tag) in block::entries::<BITS>(&blocks[from as usize]) {
                visit(self.other(from, u64::from(bucket) << BITS | tag));
            }
        }
    }

    /// Removes one of the entries with a fingerprint. Returns whether there is one.
    #[inline(always)]
    fn remove_at<const BITS: u32, I: Instructed>(&self, words: &mut [u64], place: Place) -> bool {
        let blocks = words.as_chunks_mut::<WORDS>().0;
        [place.block, place.other].iter().any(|at| block::take::<BITS, I>(&mut blocks[*at as usize], place.fingerprint))
    }
}

/// One of the blocks.
#[inline(always)]
fn line(words: &[AtomicU64], block: u64) -> &[AtomicU64; WORDS] {
    &words.as_chunks().0[block as usize]
}

/// How many slots of a line are taken, the entries of a bucket, and whether one of them has the tag.
#[inline(always)]
fn look<const BITS: u32, I: Instructed>(line: &[u64; WORDS], bucket: u32, tag: u64) -> (u32, Run, bool) {
    let run = block::run::<BITS, I>(line, bucket);
    (block::taken::<BITS>(line), run, I::matches::<BITS>(line, run, tag) != 0)
}

/// How many copies of a fingerprint are in its two blocks.
#[inline(always)]
fn copies<const BITS: u32, I: Instructed>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> u64 {
    let Place { fingerprint, block, other } = blocks.place(hash);
    let first = block::matches::<BITS, I>(line(words, block), fingerprint);
    let second = block::matches::<BITS, I>(line(words, other), fingerprint);
    u64::from(first.count_ones() + second.count_ones())
}

/// A table with its inner loops.
pub struct VectorQuotient {
    blocks: Blocks,
    instructions: Instructions,
    kernel: &'static Kernel,
}

impl FingerprintTable for VectorQuotient {
    const LINES: usize = 2;

    fn of(geometry: &Geometry, instructions: Instructions) -> Result<Option<VectorQuotient>> {
        let table = |blocks: Blocks| {
            let kernel = kernel(instructions, blocks.tag_bits);
            VectorQuotient { blocks, instructions, kernel }
        };
        Ok(Blocks::of_geometry(geometry).map(table))
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        (self.kernel.contains)(&self.blocks, words, hash)
    }

    fn fetch(&self, words: &[AtomicU64], hash: u64) {
        self.blocks.fetch(words, hash);
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        (self.kernel.contains_many)(&self.blocks, words, batch);
    }

    fn contains_few(&self, words: &[AtomicU64], few: &Few) -> u64 {
        (self.kernel.contains_few)(&self.blocks, words, self.instructions, few)
    }

    #[inline]
    fn insert(&mut self, words: &mut [u64], hash: u64) -> Option<bool> {
        (self.kernel.insert)(&self.blocks, words, hash)
    }

    fn visit_changed(&mut self, words: &[u64], hash: u64, visit: &mut dyn FnMut(Range<usize>)) {
        let Place { block, other, .. } = self.blocks.place(hash);
        let mut visit = |block: u64| visit(block as usize * WORDS..(block as usize + 1) * WORDS);
        visit(block);
        visit(other);
        match self.blocks.tag_bits {
            8 => self.blocks.visit_others::<8>(words, [block, other], &mut visit),
            _ => self.blocks.visit_others::<16>(words, [block, other], &mut visit),
        }
    }

    #[inline]
    fn remove(&self, words: &mut [u64], hash: u64) -> bool {
        (self.kernel.remove)(&self.blocks, words, hash)
    }

    #[inline]
    fn copies(&self, words: &[AtomicU64], hash: u64) -> u64 {
        (self.kernel.copies)(&self.blocks, words, hash)
    }

    fn most_copies(&self) -> u64 {
        2 * u64::from(block::slots(self.blocks.tag_bits))
    }

    fn slots(&self) -> u64 {
        self.blocks.all_slots()
    }

    fn classes(&self) -> u64 {
        (self.blocks.count / 2).saturating_mul(self.blocks.fingerprints)
    }

    fn held(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
        match self.blocks.tag_bits {
            8 => measure::held::<8>(&self.blocks, words, progress),
            _ => measure::held::<16>(&self.blocks, words, progress),
        }
    }

    fn classes_of_union(&self, words: &[AtomicU64], _other: &VectorQuotient, others: &[AtomicU64]) -> u64 {
        match self.blocks.tag_bits {
            8 => measure::classes_of_union::<8>(&self.blocks, words, others),
            _ => measure::classes_of_union::<16>(&self.blocks, words, others),
        }
    }

    fn insert_all(&mut self, words: &mut [u64], _other: &VectorQuotient, others: &[AtomicU64]) -> bool {
        match self.blocks.tag_bits {
            8 => measure::insert_all::<8>(&self.blocks, words, others),
            _ => measure::insert_all::<16>(&self.blocks, words, others),
        }
    }

    fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let is_sound = |line: &[AtomicU64; WORDS]| match self.blocks.tag_bits {
            8 => block::is_sound::<8>(line),
            _ => block::is_sound::<16>(line),
        };
        let count = self.blocks.count as usize;
        if !bits::is_zero_from(words, self.blocks.count * sizing::BLOCK_BITS) {
            return Err(error!(Corrupt, "bits after the last block, {count}, are set"));
        }
        match words.as_chunks().0[..count].iter().position(|line| !is_sound(line)) {
            None => Ok(()),
            Some(damaged) => {
                Err(error!(Corrupt, "block {damaged} has entries after its last bucket, or in free slots"))
            }
        }
    }
}
