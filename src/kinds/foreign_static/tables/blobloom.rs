//! The filters of the Go package blobloom: blocks of 512 bits, in which a key sets k - 1 bits anywhere. The block comes
//! from the low half of a hash that callers supply, and the bits from both halves by enhanced double hashing.
//!
//! Word 1 of the geometry is blobloom's k, which counts the choice of the block.

use super::{Form, FormRow};
use crate::bits::{count_ones_in, prefetch};
use crate::format::Geometry;
use crate::sizing::lines::{self, BLOCK_BITS};
use crate::sizing::{bloom, dependent, mixture, rate_in_range};
use core::sync::atomic::{AtomicU64, Ordering};

/// blobloom's form.
pub const ROW: FormRow = FormRow {
    name: "blobloom",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Blobloom::of(geometry)?).ok()?;
        Some(boxed)
    },
};

/// The greatest k: blobloom itself has no bound, but the time of a lookup is proportional to k, and with this k one key
/// already sets every bit of its block.
pub const MAX_HASHES: u64 = u16::MAX as u64;

/// How the places of a key in its block depend on each other.
const SCHEME: dependent::Scheme = dependent::Scheme::EnhancedDouble;

/// The greatest k of which the formulas for places that depend on each other know.
const MOST_DEPENDENT: u32 = 65;

/// The greatest k with which the bits of a key are about as many as those of independent places. With more the places
/// repeat in an order in which they leave out few bits of the block, or none.
const MOST_INDEPENDENT: u32 = 257;

/// 64-bit words in a block.
const BLOCK_WORDS: usize = (BLOCK_BITS / 64) as usize;

struct Blobloom {
    blocks: u64,
    hashes: u32,
}

impl Blobloom {
    fn of(geometry: &Geometry) -> Option<Blobloom> {
        let [_, hashes, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let blocks = geometry.bits / BLOCK_BITS;
        let is_known = geometry.bits.is_multiple_of(BLOCK_BITS)
            && (1..1 << 32).contains(&blocks)
            && (1..=MAX_HASHES).contains(&hashes);
        is_known.then_some(Blobloom { blocks, hashes: hashes as u32 })
    }

    /// The first word of the block that a hash goes to.
    #[inline]
    fn start(&self, hash: u64) -> usize {
        (((hash & 0xffff_ffff) * self.blocks) >> 32) as usize * BLOCK_WORDS
    }
}

impl Form for Blobloom {
    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        let block = &words[self.start(hash)..][..BLOCK_WORDS];
        let (mut place, mut step) = ((hash >> 32) as u32, hash as u32);
        (1..self.hashes).all(|i| {
            place = place.wrapping_add(step);
            step = step.wrapping_add(i);
            let word = block[(place / 64) as usize % BLOCK_WORDS].load(Ordering::Relaxed);
            word >> (place % 64) & 1 == 1
        })
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], hash: u64) {
        if let Some(word) = words.get(self.start(hash)) {
            prefetch(word);
        }
    }

    fn expected_rate(&self, keys: u64) -> f64 {
        match self.hashes {
            // The places of a key in its block come from nine bits of either half of its hash.
            hashes if hashes <= MOST_DEPENDENT => {
                let of_block = |keys| dependent::rate(SCHEME, false, BLOCK_BITS, hashes - 1, keys);
                mixture::binomial(keys, 1.0 / self.blocks as f64, of_block)
            }
            hashes if hashes <= MOST_INDEPENDENT => lines::false_positive_rate(self.blocks, hashes - 1, keys),
            // The probability that the block of a fresh key has a key.
            _ => rate_in_range(self.blocks, keys),
        }
    }

    /// The mean over the blocks of what their bits give, computed once for all blocks with as many.
    fn rate(&self, words: &[AtomicU64], _keys: u64) -> f64 {
        let places = self.hashes - 1;
        let mut blocks = [0_u64; BLOCK_BITS as usize + 1];
        for block in words[..self.blocks as usize * BLOCK_WORDS].chunks(BLOCK_WORDS) {
            blocks[count_ones_in(block, 0, BLOCK_BITS) as usize] += 1;
        }
        let rate = |ones: u64| {
            let fill = ones as f64 / BLOCK_BITS as f64;
            match bloom::cardinality_exact_base(BLOCK_BITS, places, ones) {
                Some(keys) if self.hashes <= MOST_DEPENDENT => {
                    dependent::from_fill(SCHEME, false, BLOCK_BITS, places, keys, fill)
                }
                _ => fill.powi(places as i32),
            }
        };
        let counted = (0..=BLOCK_BITS).zip(blocks).filter(|(_, blocks)| *blocks > 0);
        counted.map(|(ones, blocks)| blocks as f64 * rate(ones)).sum::<f64>() / self.blocks as f64
    }

    fn cells(&self) -> u64 {
        self.blocks * BLOCK_BITS
    }
}
