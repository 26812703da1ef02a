//! The layout with all counters of a key in one cache line: as [`blocked`], with a counter instead of each bit.
//!
//! A block of 512 bits has sixteen 32-bit lanes. A key chooses k lanes and has one counter in each, so the counters of
//! a key always differ. Counters have 2, 4, 8 or 16 bits, and a lane holds 16, 8, 4 or 2 counters. A key has the block,
//! the lanes and the bit of each lane that it would have in a bit array ([`blocked::layout::bit_of_lane`]). The counter
//! of a lane is the one in which that bit lies.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::{Cells, CounterLayout};
use crate::batch::ring::Batch;
use crate::bits::reduce;
use crate::blocks::Measure;
use crate::blocks::block_kernel::{BlockKernel, fills};
use crate::format::Geometry;
use crate::kinds::blocked;
use crate::kinds::blocked::layout::{BLOCK_WORDS, MAX_HASHES};
use crate::kinds::counting::sizing as mathematics;
use crate::simd::Instructions;
use crate::storage::AnyBytes;
use core::sync::atomic::{AtomicU64, Ordering};

pub use crate::kinds::blocked::sizing::BLOCK_BITS;

/// Which counters of a block a key uses.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// The sets of lanes that keys choose from ([`blocked::layout::masks`]).
    pub masks: &'static [u16],
    /// The bits of a counter: 2, 4, 8 or 16.
    pub width: u32,
}

impl Lines {
    /// The greatest value of a counter.
    #[inline]
    fn greatest(self) -> u32 {
        (1 << self.width) - 1
    }

    /// The bits of a lane's number that say where its counter starts.
    #[inline]
    fn start_bits(self) -> u32 {
        32 - self.width
    }
}

/// The inner loops for one instruction set. `words` must be the words of the blocks and nothing else, with at least one
/// block. The keys of a batch are taken in order, and their lines are fetched ahead if that pays.
///
/// The functions need the instructions of their kernel. [`kernel`] gives a kernel out only for [`Instructions`], which
/// say that the processor has these instructions.
pub struct LineKernel {
    contains_one: unsafe fn(words: &[AtomicU64], lines: Lines, key: u64) -> bool,
    least_one: unsafe fn(words: &[AtomicU64], lines: Lines, key: u64) -> u64,
    add_one: unsafe fn(words: &mut [u64], lines: Lines, key: u64) -> bool,
    subtract_one: unsafe fn(words: &mut [u64], lines: Lines, key: u64) -> bool,
    contains: unsafe fn(words: &[AtomicU64], lines: Lines, batch: &mut dyn Batch),
    least: unsafe fn(words: &[AtomicU64], lines: Lines, keys: &[u64], least: &mut [u64]),
    add: unsafe fn(words: &mut [u64], lines: Lines, batch: &mut dyn Batch),
    subtract: unsafe fn(words: &mut [u64], lines: Lines, batch: &mut dyn Batch) -> u64,
}

impl LineKernel {
    /// Whether all counters of a key are above 0.
    #[inline]
    pub fn contains_one(&self, words: &[AtomicU64], lines: Lines, key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.contains_one)(words, lines, key) }
    }

    /// The least of the counters of a key.
    #[inline]
    pub fn least_one(&self, words: &[AtomicU64], lines: Lines, key: u64) -> u64 {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.least_one)(words, lines, key) }
    }

    /// As [`CounterLayout::add`].
    #[inline]
    pub fn add_one(&self, words: &mut [u64], lines: Lines, key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.add_one)(words, lines, key) }
    }

    /// As [`CounterLayout::subtract`].
    #[inline]
    pub fn subtract_one(&self, words: &mut [u64], lines: Lines, key: u64) -> bool {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.subtract_one)(words, lines, key) }
    }

    /// As [`CounterLayout::contains_many`].
    pub fn contains(&self, words: &[AtomicU64], lines: Lines, batch: &mut dyn Batch) {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.contains)(words, lines, batch) }
    }

    /// As [`CounterLayout::least_of_many`].
    pub fn least(&self, words: &[AtomicU64], lines: Lines, keys: &[u64], least: &mut [u64]) {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.least)(words, lines, keys, least) }
    }

    /// As [`CounterLayout::add_many`].
    pub fn add(&self, words: &mut [u64], lines: Lines, batch: &mut dyn Batch) {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.add)(words, lines, batch) }
    }

    /// As [`CounterLayout::subtract_many`].
    pub fn subtract(&self, words: &mut [u64], lines: Lines, batch: &mut dyn Batch) -> u64 {
        // SAFETY: kernels are given out only where the processor has their instructions.
        unsafe { (self.subtract)(words, lines, batch) }
    }
}

/// The inner loops of the layout.
pub fn kernel(instructions: Instructions) -> &'static LineKernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &avx512::KERNEL,
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &avx2::KERNEL,
        #[cfg(all(target_arch = "aarch64", feature = "neon"))]
        crate::simd::Kernel::Neon => &neon::KERNEL,
        _ => &portable::KERNEL,
    }
}

/// Makes the functions of a [`LineKernel`] for many keys from the functions for one key that are in scope. They get the
/// given attributes.
macro_rules! one_key_at_a_time {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        fn contains(words: &[AtomicU64], lines: Lines, batch: &mut dyn Batch) {
            let fetch = |words: &&[AtomicU64], key| fetch(words, key);
            let answer = |words: &mut &[AtomicU64], key| contains_one(words, lines, key);
            ring::rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, ring::nothing, answer);
        }

        $(#[$attribute])*
        fn least(words: &[AtomicU64], lines: Lines, keys: &[u64], least: &mut [u64]) {
            let ahead = ring::ahead(words.len(), 1);
            keys.iter().take(ahead).for_each(|key| fetch(words, *key));
            for (i, (key, least)) in keys.iter().zip(least).enumerate() {
                if ahead > 0 && let Some(key) = keys.get(i + ahead) {
                    fetch(words, *key);
                }
                *least = least_one(words, lines, *key);
            }
        }

        $(#[$attribute])*
        fn add(words: &mut [u64], lines: Lines, batch: &mut dyn Batch) {
            let add = |words: &mut [u64], key| add_one(words, lines, key);
            ring::inserting(words, ring::ahead(words.len(), 1), batch, |words, key| fetch(words, key), add);
        }

        $(#[$attribute])*
        fn subtract(words: &mut [u64], lines: Lines, batch: &mut dyn Batch) -> u64 {
            let mut done = 0;
            let subtract = |words: &mut [u64], key| {
                let is_done = subtract_one(words, lines, key);
                done += u64::from(is_done);
                is_done
            };
            let ahead = ring::ahead(words.len(), 1);
            ring::rolling(words, ahead, batch, |words, key| fetch(words, key), ring::nothing, subtract);
            done
        }
    };
}
use one_key_at_a_time;

/// The layout with the counters of a key in one block.
#[derive(Clone, Copy)]
pub struct Blocked {
    blocks: u64,
    hashes: u32,
    lines: Lines,
    kernel: &'static LineKernel,
    /// The kernel that measures how full blocks are.
    fills: &'static BlockKernel,
}

impl Blocked {
    /// How many counters a lane has.
    fn places(&self) -> u32 {
        32 / self.lines.width
    }

    /// The sum [`fills::Fills::products`] over blocks and sets of lanes, where a counter above 0 stands for a set bit.
    fn products(&self, words: &[AtomicU64]) -> f64 {
        let cells = self.cells();
        let mut products = 0.0;
        for piece in words.chunks(fills::BLOCKS * BLOCK_WORDS) {
            let bits: [AtomicU64; fills::BLOCKS * BLOCK_WORDS] = core::array::from_fn(|i| {
                piece.get(i).map_or(0, |word| cells.taken_of_word(word.load(Ordering::Relaxed))).into()
            });
            products += self.fills.fills(&bits[..piece.len()], self.hashes).products;
        }
        products
    }
}

impl CounterLayout for Blocked {
    fn of(geometry: &Geometry, instructions: Instructions) -> Option<Blocked> {
        let [width @ (2 | 4 | 8 | 16), 1, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let (blocks, hashes) = (geometry.bits / BLOCK_BITS, geometry.hashes);
        let is_known = blocks > 0 && (1..=MAX_HASHES).contains(&hashes);
        let lines = Lines { masks: blocked::layout::masks(hashes), width: width as u32 };
        let (kernel, fills) = (kernel(instructions), blocked::layout::kernel(instructions));
        is_known.then_some(Blocked { blocks, hashes, lines, kernel, fills })
    }

    #[inline]
    fn cells(&self) -> Cells {
        Cells::new(self.blocks * BLOCK_BITS / u64::from(self.lines.width), self.lines.width)
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.kernel.contains_one(words, self.lines, hash)
    }

    #[inline]
    fn contains_in(&self, bytes: AnyBytes, hash: u64) -> bool {
        // With a single block every key goes to that block.
        let block = bytes.copy::<BLOCK_WORDS>(reduce(hash, self.blocks) as usize * BLOCK_WORDS);
        self.kernel.contains_one(&block, self.lines, hash)
    }

    #[inline]
    fn least(&self, words: &[AtomicU64], hash: u64) -> u64 {
        self.kernel.least_one(words, self.lines, hash)
    }

    #[inline]
    fn add(&self, words: &mut [u64], hash: u64) -> bool {
        self.kernel.add_one(words, self.lines, hash)
    }

    #[inline]
    fn subtract(&self, words: &mut [u64], hash: u64) -> bool {
        self.kernel.subtract_one(words, self.lines, hash)
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        self.kernel.contains(words, self.lines, batch);
    }

    fn least_of_many(&self, words: &[AtomicU64], hashes: &[u64], least: &mut [u64]) {
        self.kernel.least(words, self.lines, hashes, least);
    }

    fn add_many(&self, words: &mut [u64], batch: &mut dyn Batch) {
        self.kernel.add(words, self.lines, batch);
    }

    fn subtract_many(&self, words: &mut [u64], batch: &mut dyn Batch) -> u64 {
        self.kernel.subtract(words, self.lines, batch)
    }

    fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool) {
        // Blocks do not straddle regions, so the first word stands for all.
        visit(reduce(hash, self.blocks) as usize * BLOCK_WORDS);
    }

    fn measure(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Measure {
        let (taken, saturated) = self.cells().tally(words, progress);
        let rate = mathematics::from_products(self.products(words), self.blocks, self.places(), self.hashes);
        Measure { taken, fill: taken as f64 / self.cells().slots.count as f64, saturated, false_positive_rate: rate }
    }

    fn keys_of(&self, taken: u64) -> Option<f64> {
        mathematics::cardinality(self.blocks, self.places(), self.hashes, taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        mathematics::cardinality_standard_error(self.blocks, self.places(), self.hashes, keys.round() as u64)
    }

    fn false_positive_rate(&self, keys: u64) -> f64 {
        let rate = mathematics::false_positive_rate(self.blocks, self.places(), self.hashes, keys);
        rate.max(crate::sizing::hash_floor(keys, 64))
    }
}
