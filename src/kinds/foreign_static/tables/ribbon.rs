//! RocksDB's Ribbon filter (`Standard128Ribbon`; Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom
//! and Xor", 2021). A key has 128 coefficients, from a place on that its hash chooses. They say which rows of a table
//! add up, modulo 2, to the key's fingerprint.
//!
//! The table has blocks of 128 rows. Within a block it lies column by column, each column a segment of 16 bytes, whose
//! bit i is that of row i. Blocks have as many columns as fit, spread evenly: the first ones have one less than those
//! after them. A key's fingerprint has as many bits as the block in which its rows begin has columns.
//!
//! Word 1 of the geometry is the seed that RocksDB tried last, word 2 the number of blocks.

use super::{Form, FormRow};
use crate::bits::{prefetch, reduce};
use crate::format::Geometry;
use core::sync::atomic::{AtomicU64, Ordering};

/// RocksDB's form.
pub const ROW: FormRow = FormRow {
    name: "rocksdb_ribbon",
    open: |geometry| {
        let boxed: Box<dyn Form> = crate::storage::try_box(Ribbon::of(geometry)?).ok()?;
        Some(boxed)
    },
};

/// Rows in a block, and bits in a segment.
const ROWS: u64 = 128;

struct Ribbon {
    /// The seed as it enters the hash.
    seed: u64,
    blocks: u64,
    /// The most columns of a block.
    columns: u64,
    /// How many blocks have one column less: the first ones.
    shorter: u64,
}

impl Ribbon {
    fn of(geometry: &Geometry) -> Option<Ribbon> {
        let [_, seed, blocks, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let segments = geometry.bits / ROWS;
        let is_known = geometry.bits.is_multiple_of(ROWS)
            && seed < 1 << 8
            && (2..1 << 24).contains(&blocks)
            && (1..=32 * blocks).contains(&segments);
        let columns = segments.div_ceil(blocks.max(1));
        let mixed = seed.wrapping_mul(0xc782_19a2_3eea_dd03);
        let seed = (mixed ^ (mixed & 0xf0f0_f0f0_f0f0_f0f0) >> 4) & 0xffff_ffff;
        is_known.then(|| Ribbon { seed, blocks, columns, shorter: columns * blocks - segments })
    }

    /// For a hash: the block in which its rows begin and the row there, the hash that coefficients and fingerprint come
    /// from, the first segment of the block, and how many there are.
    #[inline]
    fn place(&self, hash: u64) -> (u32, u64, usize, usize) {
        let hash = (hash ^ self.seed).wrapping_mul(0x6193_d459_236a_3a0d);
        let start = reduce(hash, self.blocks * ROWS - (ROWS - 1));
        let (block, row) = (start / ROWS, start % ROWS);
        let first = block * self.columns - block.min(self.shorter);
        let columns = self.columns - u64::from(block < self.shorter);
        (row as u32, hash.wrapping_mul(0xc28f_8282_2b65_0bed), first as usize, columns as usize)
    }
}

impl Form for Ribbon {
    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        let (row, hash, first, columns) = self.place(hash);
        let coefficients = (u128::from(hash) << 64 ^ u128::from(hash ^ 0xc367_844a_6e52_731d)) | 1;
        let fingerprint = hash.swap_bytes() as u32;
        // The rows of this block, and those of the next, which continue in the same columns. If there are none in the
        // next, the shift is by 128, so it is made in two steps.
        let (here, next) = (coefficients << row, coefficients >> 1 >> (127 - row));
        let segment = |at: usize| {
            let [low, high] = [2 * at, 2 * at + 1].map(|word| words[word].load(Ordering::Relaxed));
            u128::from(high) << 64 | u128::from(low)
        };
        (0..columns).all(|column| {
            let mut rows = segment(first + column) & here;
            if row > 0 {
                rows ^= segment(first + columns + column) & next;
            }
            rows.count_ones() & 1 == fingerprint >> column & 1
        })
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], hash: u64) {
        let (row, _, first, columns) = self.place(hash);
        let segments = if row > 0 { 2 * columns } else { columns };
        // Four segments are a line.
        for segment in (0..segments).step_by(4).chain(segments.checked_sub(1)) {
            if let Some(word) = words.get(2 * (first + segment)) {
                prefetch(word);
            }
        }
    }

    /// The mean over the blocks of the rate of fingerprints with a bit for each column.
    fn expected_rate(&self, _keys: u64) -> f64 {
        let share = self.shorter as f64 / self.blocks as f64;
        (1.0 + share) * (-(self.columns as f64)).exp2()
    }

    fn cells(&self) -> u64 {
        self.blocks * ROWS
    }
}
