//! The filters of the Go package blobloom: blocks of 512 bits, in which a key sets k - 1 bits anywhere. The block comes
//! from the low half of a hash that callers supply, and the bits from both halves by enhanced double hashing.
//!
//! Word 1 of the geometry is blobloom's k, which counts the choice of the block.

use super::{Form, FormRow};
use crate::bits::{count_ones_in, prefetch};
use crate::format::Geometry;
use crate::sizing::lines::{self, BLOCK_BITS};
use core::sync::atomic::{AtomicU64, Ordering};

/// blobloom's form.
pub const ROW: FormRow = FormRow {
    name: "blobloom",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Blobloom::of(geometry)?).ok()?;
        Some(boxed)
    },
};

/// The greatest k: blobloom itself has no bound, but the time of a lookup is proportional to k.
pub const MAX_HASHES: u64 = 256;

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
        lines::false_positive_rate(self.blocks, self.hashes - 1, keys)
    }

    /// The mean over the blocks of their fills to the power of k - 1.
    fn rate(&self, words: &[AtomicU64], _keys: u64) -> f64 {
        let fill = |block: &[AtomicU64]| count_ones_in(block, 0, BLOCK_BITS) as f64 / BLOCK_BITS as f64;
        let table = &words[..self.blocks as usize * BLOCK_WORDS];
        let rates = table.chunks(BLOCK_WORDS).map(|block| fill(block).powi(self.hashes as i32 - 1));
        rates.sum::<f64>() / self.blocks as f64
    }

    fn cells(&self) -> u64 {
        self.blocks * BLOCK_BITS
    }
}
