//! What the bits of blocks tell: how many are set, and how likely a lookup is that says true. Many blocks at a time.
//!
//! Words are copied out of the atomics first and kept by their place in the block, so that everything after it is the
//! same few operations on neighbouring numbers, which the compiler turns into vector instructions. The functions here
//! are inlined into the kernels, each of which compiles them for its own instructions; all do the same operations in
//! the same order, so their results are equal to the last bit.
//!
//! Products are computed with 24 bits. All terms are positive, so that no error grows: what is summed up, with 53 bits,
//! is within a millionth of its value.

use super::layout::{BLOCK_WORDS, SPLIT_BLOCK_WORDS};
use core::sync::atomic::{AtomicU64, Ordering};

/// Blocks that are looked at together.
const BLOCKS: usize = 16;

/// One number for each of the blocks.
type Each = [f32; BLOCKS];

/// What the bits of some blocks tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fills {
    /// The bits that are set.
    pub ones: u64,
    /// The sum, over the blocks and over the sets of lanes that a key may choose, of the product of the numbers of bits
    /// that are set in the chosen lanes. For blocks of 512 bits a set is counted once with the greater share in the low
    /// half and once with it in the high half, also where the shares are equal.
    pub products: f64,
}

/// The bits that are set in every 32-bit lane of up to [`BLOCKS`] blocks of `WORDS` words: for word w, first of its low
/// half, then of its high half. Blocks that are not there have none. All of them are added to `ones`.
#[inline(always)]
fn lanes<const WORDS: usize>(words: &[AtomicU64], ones: &mut u64) -> [[Each; 2]; WORDS] {
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

/// Of blocks of 256 bits, where a key has all lanes.
#[inline(always)]
pub fn split_block(words: &[AtomicU64]) -> Fills {
    let (mut ones, mut sums) = (0, [0.0_f64; BLOCKS]);
    for blocks in words.chunks(BLOCKS * SPLIT_BLOCK_WORDS) {
        let lanes = lanes::<SPLIT_BLOCK_WORDS>(blocks, &mut ones);
        let mut products = [1.0; BLOCKS];
        for lane in lanes.as_flattened() {
            for i in 0..BLOCKS {
                products[i] *= lane[i];
            }
        }
        for i in 0..BLOCKS {
            sums[i] += f64::from(products[i]);
        }
    }
    Fills { ones, products: sums.iter().sum() }
}

/// Of blocks of 512 bits, where a key has `hashes` lanes, from 1 to 16: ceil(hashes/2) of one half and the rest of the
/// other.
///
/// The sum of the products of `a` of eight numbers, over all sets of them, is their elementary symmetric polynomial of
/// degree `a`.
#[inline(always)]
pub fn blocked(words: &[AtomicU64], hashes: u32) -> Fills {
    let (more, fewer) = (hashes.div_ceil(2) as usize, hashes as usize / 2);
    let (mut ones, mut sums) = (0, [0.0_f64; BLOCKS]);
    for blocks in words.chunks(BLOCKS * BLOCK_WORDS) {
        let lanes = lanes::<BLOCK_WORDS>(blocks, &mut ones);
        let (low, high) = lanes.as_flattened().split_at(8);
        let [low_more, low_fewer] = polynomials(low, more, fewer);
        let [high_more, high_fewer] = polynomials(high, more, fewer);
        for i in 0..BLOCKS {
            sums[i] += f64::from(low_more[i] * high_fewer[i] + low_fewer[i] * high_more[i]);
        }
    }
    Fills { ones, products: sums.iter().sum() }
}

/// The elementary symmetric polynomials of two degrees of eight numbers: those are the coefficients of the product of
/// all `1 + x t`, which is that of two products of four.
#[inline(always)]
fn polynomials(lanes: &[Each], more: usize, fewer: usize) -> [Each; 2] {
    let (first, second) = (products_of_four(&lanes[..4]), products_of_four(&lanes[4..]));
    let of_more = coefficient(&first, &second, more);
    [of_more, if fewer == more { of_more } else { coefficient(&first, &second, fewer) }]
}

/// The coefficients, from the constant one on, of the product of `1 + x t` of four numbers.
#[inline(always)]
fn products_of_four(lanes: &[Each]) -> [Each; 5] {
    let mut products = [[1.0; BLOCKS], [0.0; BLOCKS], [0.0; BLOCKS], [0.0; BLOCKS], [0.0; BLOCKS]];
    for i in 0..BLOCKS {
        let (a, b, c, d) = (lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i]);
        let (sum, product, other_sum, other_product) = (a + b, a * b, c + d, c * d);
        products[1][i] = sum + other_sum;
        products[2][i] = product + other_product + sum * other_sum;
        products[3][i] = product * other_sum + other_product * sum;
        products[4][i] = product * other_product;
    }
    products
}

/// A coefficient of the product of two polynomials of degree four.
#[inline(always)]
fn coefficient(first: &[Each; 5], second: &[Each; 5], degree: usize) -> Each {
    let mut sum = [0.0; BLOCKS];
    for j in degree.saturating_sub(4)..=degree.min(4) {
        for i in 0..BLOCKS {
            sum[i] += first[j][i] * second[degree - j][i];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::sizing;

    /// Of filters whose blocks are not a multiple of what is looked at together.
    #[test]
    fn rates_of_filters_are_means_over_their_blocks() -> crate::Result<()> {
        let mut blocked = crate::filters::Blocked::with_capacity(1000, 0.01)?;
        let mut split = crate::filters::SplitBlock::with_capacity(1000, 0.01)?;
        for i in 0..1000 {
            blocked.insert_u64(i)?;
            split.insert_u64(i)?;
        }
        let lanes = |filter: &dyn Filter| -> Vec<u32> {
            let words = filter.base().words().shared().iter().map(|word| word.load(Ordering::Relaxed));
            let bits = filter.base().geometry().bits as usize;
            words.flat_map(|word| [word as u32, (word >> 32) as u32]).take(bits / 32).collect()
        };
        let hashes = blocked.base().geometry().hashes;
        let all = lanes(&blocked);
        let rate = |block: &[u32]| sizing::blocked::from_fill(block.try_into().unwrap(), hashes);
        let mean = all.chunks_exact(16).map(rate).sum::<f64>() / (all.len() / 16) as f64;
        assert!((blocked.false_positive_rate() / mean - 1.0).abs() < 1e-6);
        let all = lanes(&split);
        let rate = |block: &[u32]| sizing::split_block::from_fill(block.try_into().unwrap());
        let mean = all.chunks_exact(8).map(rate).sum::<f64>() / (all.len() / 8) as f64;
        assert!((split.false_positive_rate() / mean - 1.0).abs() < 1e-6);
        Ok(())
    }
}
