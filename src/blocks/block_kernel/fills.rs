//! What the bits of blocks say: how many are set, and how likely a lookup is to answer true. Many blocks are read at a
//! time.
//!
//! Words are copied out of the atomics first and kept by their place in the block, so that all that follows is the same
//! few operations on neighbouring numbers, which the compiler turns into vector instructions. Each layout has a `fills`
//! function over what is here. The compiler inlines this code into the layout's kernels, each for its own instructions.
//! All do the same operations in the same order, so their results are equal to the last bit.
//!
//! Products are computed with 24 bits. All terms are positive, so no error grows: the sum, with 53 bits, is within a
//! millionth of its value.

use core::sync::atomic::{AtomicU64, Ordering};

/// Blocks that are looked at together.
pub const BLOCKS: usize = 16;

/// A number for each block.
pub type Each = [f32; BLOCKS];

/// What the bits of some blocks say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fills {
    /// The bits that are set.
    pub ones: u64,
    /// The sum, over the blocks and over the sets of lanes that a key may choose, of the product of the numbers of bits
    /// that are set in the chosen lanes. For blocks of 512 bits a set is counted once with the greater share in the low
    /// half and once with it in the high half, even if the shares are equal.
    pub products: f64,
}

/// How many bits are set in every 32-bit lane of up to [`BLOCKS`] blocks of `WORDS` words: for word w, first in its low
/// half, then in its high half. Blocks that are not there have none. All of these bits are added to `ones`.
#[inline(always)]
pub fn lanes<const WORDS: usize>(words: &[AtomicU64], ones: &mut u64) -> [[Each; 2]; WORDS] {
    let mut columns = [[0_u64; BLOCKS]; WORDS];
    for (w, column) in columns.iter_mut().enumerate() {
        for (word, block) in column.iter_mut().zip(words.chunks_exact(WORDS)) {
            *word = block[w].load(Ordering::Relaxed);
        }
    }
    let (mut lanes, mut sums) = ([[[0.0; BLOCKS]; 2]; WORDS], [0_u32; BLOCKS]);
    for (column, halves) in columns.iter().zip(&mut lanes) {
        for (half, lane) in halves.iter_mut().enumerate() {
            for i in 0..BLOCKS {
                let count = ((column[i] >> (32 * half)) as u32).count_ones();
                sums[i] += count;
                lane[i] = count as f32;
            }
        }
    }
    *ones += u64::from(sums.iter().sum::<u32>());
    lanes
}
