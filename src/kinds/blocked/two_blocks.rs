//! Rates and sizes of filters in which a key has its bits in two blocks.
//!
//! A key of `k` bits, an even number, has two shares of `k/2` bits. The shares are independent: each goes to any of the
//! `B` blocks, and has bits there as a key of `k/2` lanes has in a filter of one block a key ([`super::sizing`]). So
//! the bits of `n` keys are those of `N = 2n` such keys. Only lookups differ, because a key is found only if both of
//! its shares are.
//!
//! A key's shares go to different blocks with probability `1 - 1/B`, and to the same block otherwise:
//!
//! ```text
//! rate = (1 - 1/B) apart + together / B
//! ```
//!
//! **Apart.** Inclusion and exclusion goes over the bits of both shares that nobody set. With `w` and `1 - h` as the
//! weight and the probability `z` of a term for one share, a share that was inserted misses the bits of two terms, in
//! two blocks, with `1 - (h + h')/B`:
//!
//! ```text
//! apart = sum over pairs of terms of w w' (1 - (h + h')/B)^N
//! ```
//!
//! For low rates the sum subtracts large numbers from each other. Then the mean over the number of shares in one of the
//! blocks, of the rates of that block and of the others, keeps more digits.
//!
//! **Together.** Two shares of one block may have lanes in common, and then the same bit in such a lane (1/32) or two
//! different bits. Take one half of the block. The shares have `p` and `q` of its eight lanes, and `c` of these in
//! common with the hypergeometric probability `H(8, p, q; c)`. Let `x^t y^d` stand for bits that nobody set: one in
//! each of `t` lanes and two in each of `d` lanes. Then inclusion and exclusion gives the signed weight of each as a
//! coefficient of
//!
//! ```text
//! V(p, q) = sum over c of H(8, p, q; c) (1 - x)^(p + q - 2c) (1 - 63/32 x + 31/32 y)^c
//! ```
//!
//! A share with `a` lanes of this half misses these bits with a probability `s(a, t, d)`: it has any `a` of the eight
//! lanes, and misses with 31/32 in a lane with one of the bits and with 30/32 in a lane with two. With `a = ceil(k/4)`
//! and `b = floor(k/4)`, either half with the larger part, and terms `(t, d)` of one half and `(u, e)` of the other:
//!
//! ```text
//! z = (s(a, t, d) s(b, u, e) + s(b, t, d) s(a, u, e)) / 2
//! together = (sum of V(a, a) V(b, b) (1 - (1 - z)/B)^N + sum of V(a, b) V(b, a) (1 - (1 - z)/B)^N) / 2
//! ```

use super::sizing::{BLOCK_BITS, BlockedSize, LANE_BITS, LANES, MAX_HASHES as MAX_LANES, Terms, choose, missed};
use crate::sizing::{is_rate, ln, ln_1p_minus, mixture, pow, search};

/// The most bits that a key has: all lanes of both blocks.
pub const MAX_HASHES: u32 = 2 * MAX_LANES;

/// For `k` = 2, 4, .. 30, where two more than `k` bits become the best number, in the limit of many blocks: the
/// false-positive rate that both numbers have there, and the bits a key at which they have it.
const CHANGES: [(f64, f64); MAX_LANES as usize - 1] = [
    (1.4510079520886202e-1, 4.170816963145262),
    (3.3876710240723584e-2, 7.156427179936135),
    (7.719968203894023e-3, 10.261149275299186),
    (1.805874366136332e-3, 13.37960527638318),
    (3.817596935019825e-4, 16.803381330251316),
    (8.238076929215107e-5, 20.293862177951446),
    (1.5431097063730394e-5, 24.256827825408013),
    (2.9356672408755554e-6, 28.367610609655),
    (4.7167998384314786e-7, 33.14168898267271),
    (7.606372773599993e-8, 38.201952285518935),
    (1.0226945131268167e-8, 44.15377130737418),
    (1.349463031857134e-9, 50.63082091376583),
    (1.493839056593253e-10, 58.27537113989297),
    (1.562405227531003e-11, 66.86460164686008),
    (1.4146020257696175e-12, 76.94873796572163),
];

/// Sums over pairs of terms lose more digits of a rate below this one than the mixture does.
const LOW: f64 = 1e-5;

/// Lanes in a half, as a length.
const HALF: usize = LANES as usize;

/// A number for `t` lanes of a half with one given bit and `d` lanes with two.
type Half = [[f64; HALF + 1]; HALF + 1];

/// The coefficients of `(1 - x)^singles (1 - 63/32 x + 31/32 y)^doubles`, times `factor`, added to `sum`.
fn add_product(sum: &mut Half, factor: f64, singles: u32, doubles: u32) {
    let mut product = [[0.0; HALF + 1]; HALF + 1];
    product[0][0] = factor;
    let places = f64::from(LANE_BITS);
    let (both, one) = ((places - 1.0) / places, (2.0 * places - 1.0) / places);
    for i in 0..singles + doubles {
        let (x, y) = if i < singles { (1.0, 0.0) } else { (one, both) };
        // From the highest powers down, so that each factor is used once.
        for t in (0..=HALF).rev() {
            for d in (0..=HALF - t).rev() {
                let from_x = if t > 0 { x * product[t - 1][d] } else { 0.0 };
                let from_y = if d > 0 { y * product[t][d - 1] } else { 0.0 };
                product[t][d] = product[t][d] - from_x + from_y;
            }
        }
    }
    for (sum, product) in sum.iter_mut().flatten().zip(product.iter().flatten()) {
        *sum += product;
    }
}

/// The signed weights `V(p, q)` of the bits that nobody set, in a half in which two shares have `p` and `q` lanes.
fn weights(p: u32, q: u32) -> Half {
    let mut sum = [[0.0; HALF + 1]; HALF + 1];
    for common in (p + q).saturating_sub(LANES)..=p.min(q) {
        let probability = choose(p, common) * choose(LANES - p, q - common) / choose(LANES, q);
        add_product(&mut sum, probability, p + q - 2 * common, common);
    }
    sum
}

/// The probabilities that a share with `a` lanes of a half misses one given bit in each of `t` lanes and both of two
/// given bits in each of `d` others.
fn misses(a: u32) -> Half {
    let places = f64::from(LANE_BITS);
    let (one, two) = ((places - 1.0) / places, (places - 2.0) / places);
    let mut all = [[0.0; HALF + 1]; HALF + 1];
    for t in 0..=LANES {
        for d in 0..=LANES - t {
            let mut sum = 0.0;
            for i in 0..=t.min(a) {
                for j in 0..=d.min(a - i) {
                    let ways = choose(t, i) * choose(d, j) * choose(LANES - t - d, a - i - j);
                    sum += ways * one.powi(i as i32) * two.powi(j as i32);
                }
            }
            all[t as usize][d as usize] = sum / choose(LANES, a);
        }
    }
    all
}

/// The rate of keys whose shares are in the same one of `blocks` blocks, into which `shares` shares were inserted.
fn together(lanes: u32, blocks: u64, shares: u64) -> f64 {
    let (a, b, share) = (lanes.div_ceil(2), lanes / 2, 1.0 / blocks as f64);
    let (of_a, of_b) = (misses(a), misses(b));
    // Numbers of lanes that together exceed a half have the weight 0.
    let sum = |low: &Half, high: &Half| {
        let (low, high) = (low.as_flattened(), high.as_flattened());
        let (of_a, of_b) = (of_a.as_flattened(), of_b.as_flattened());
        let mut sum = 0.0;
        for (i, low) in low.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            for (j, high) in high.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                let z = 0.5 * (of_a[i] * of_b[j] + of_b[i] * of_a[j]);
                sum += low * high * missed(share * (1.0 - z), shares);
            }
        }
        sum
    };
    let same = sum(&weights(a, a), &weights(b, b));
    let rate = if a == b { same } else { 0.5 * (same + sum(&weights(a, b), &weights(b, a))) };
    rate.clamp(0.0, 1.0)
}

/// The rate of keys whose shares are in different ones of `blocks` blocks, of which there are at least two.
fn apart(lanes: u32, blocks: u64, shares: u64) -> f64 {
    let (terms, share) = (Terms::of(lanes), 1.0 / blocks as f64);
    let mut sum = 0.0;
    for (i, one) in terms.all().iter().enumerate() {
        for (j, other) in terms.all()[..=i].iter().enumerate() {
            // Pairs of two different terms come in both orders.
            let weight = if i == j { one.weight * one.weight } else { 2.0 * one.weight * other.weight };
            sum += weight * missed(share * (one.hit + other.hit), shares);
        }
    }
    if sum > LOW {
        return sum.min(1.0);
    }
    mixture::binomial(shares, share, |here| terms.block_rate(here) * terms.sum_of(blocks - 1, shares - here))
}

/// The exact false-positive rate of `blocks` blocks that hold `keys` distinct keys of `hashes` bits each, an even
/// number, in two blocks.
/// The rate is 1 without blocks, and otherwise 0 without keys. Takes at most some thousand exponential functions.
pub fn false_positive_rate(blocks: u64, hashes: u32, keys: u64) -> f64 {
    if blocks == 0 {
        return 1.0;
    }
    if keys == 0 {
        return 0.0;
    }
    let (lanes, shares) = (lanes_of(hashes), keys.saturating_mul(2));
    let together = together(lanes, blocks, shares);
    if blocks == 1 {
        return together;
    }
    let apart = apart(lanes, blocks, shares);
    (apart + (together - apart) / blocks as f64).clamp(0.0, 1.0)
}

/// The lanes of a share of a key with `hashes` bits.
fn lanes_of(hashes: u32) -> u32 {
    (hashes / 2).clamp(1, MAX_LANES)
}

/// The number of bits with the least rate at `bits_per_key` bits a key, in the limit of many blocks.
pub fn optimal_hashes(bits_per_key: f64) -> u32 {
    2 * (CHANGES.iter().take_while(|(_, change)| bits_per_key > *change).count() as u32 + 1)
}

/// The number of lanes of a share that reaches `rate` with the fewest bits a key, and about how many bits these are, in
/// the limit of many blocks.
fn lanes_for(rate: f64) -> (u32, f64) {
    let lanes = CHANGES.iter().take_while(|(change, _)| rate < *change).count() as u32 + 1;
    // Between two changes the logarithms lie nearly on a line. A single lane needs no table.
    if lanes == 1 {
        return (1, -2.0 / ln_1p_minus(rate.sqrt()));
    }
    let (first, from) = CHANGES[lanes as usize - 2];
    let Some((last, to)) = CHANGES.get(lanes as usize - 1) else { return (lanes, from) };
    let place = ln(rate / first) / ln(last / first);
    (lanes, from * pow(to / from, place))
}

/// The least number of blocks that hold `keys` keys at no more than `false_positive_rate`, by the exact rate. The
/// number of bits is the best even one in the limit of many blocks.
///
/// `None` if the rate is not inside (0, 1), or would take more than 2^52 blocks. Without keys the result is one block.
pub fn size_for(keys: u64, false_positive_rate: f64) -> Option<BlockedSize> {
    if !is_rate(false_positive_rate) {
        return None;
    }
    let (lanes, bits_per_key) = lanes_for(false_positive_rate);
    let hashes = 2 * lanes;
    if keys == 0 {
        return Some(BlockedSize { blocks: 1, hashes });
    }
    // Among many blocks the shares of a key are practically independent, each with the square root of the rate.
    let start = (keys as f64 * bits_per_key / BLOCK_BITS as f64).max(1.0);
    let guess = Terms::of(lanes).blocks_about(keys.saturating_mul(2), false_positive_rate.sqrt(), start);
    let holds = |blocks| self::false_positive_rate(blocks, hashes, keys) <= false_positive_rate;
    let blocks = search::least(guess.ceil() as u64, 1 << 52, holds)?;
    Some(BlockedSize { blocks, hashes })
}
