//! What the bits of 512-bit blocks say about lookups.

use super::BLOCK_WORDS;
use crate::blocks::block_kernel::fills::{BLOCKS, Each, Fills, lanes};
use core::sync::atomic::AtomicU64;

/// The fills of blocks for keys with `hashes` lanes, from 1 to 16: ceil(hashes/2) lanes of one half and the rest of the
/// other.
///
/// The sum, over all sets of `a` of eight numbers, of their products is the elementary symmetric polynomial of degree
/// `a`.
#[inline(always)]
pub fn fills(words: &[AtomicU64], hashes: u32) -> Fills {
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

/// The elementary symmetric polynomials of two degrees of eight numbers. These polynomials are coefficients of the
/// product of all `1 + x t`, which is the product of two such products of four numbers.
#[inline(always)]
fn polynomials(lanes: &[Each], more: usize, fewer: usize) -> [Each; 2] {
    let (first, second) = (products_of_four(&lanes[..4]), products_of_four(&lanes[4..]));
    let of_more = coefficient(&first, &second, more);
    [of_more, if fewer == more { of_more } else { coefficient(&first, &second, fewer) }]
}

/// The coefficients, from the constant one on, of the product of `1 + x t` over four numbers.
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
