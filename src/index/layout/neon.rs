//! The inner loops for NEON: two words at a time.

use super::RowKernel;
use super::folds::{Levels, MOST};
use core::arch::aarch64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for NEON.
pub static KERNEL: RowKernel = RowKernel { common, near };

/// How many bits two words have set, as a number for each.
///
/// # Safety
/// The processor has NEON.
#[inline]
unsafe fn bits_of(words: uint64x2_t) -> uint64x2_t {
    // SAFETY: the caller promises NEON.
    unsafe { vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(words))))) }
}

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    let (asked, asked_rest) = query.as_chunks::<2>();
    for (to, row) in counts.iter_mut().zip(rows.chunks_exact(query.len())) {
        let (words, rest) = row.as_chunks::<2>();
        // SAFETY: two words are 16 readable bytes, and `RowKernel` is chosen where the processor has NEON.
        let pairs = unsafe {
            let mut sum = vdupq_n_u64(0);
            for (a, b) in asked.iter().zip(words) {
                sum = vaddq_u64(sum, bits_of(vandq_u64(vld1q_u64(a.as_ptr()), vld1q_u64(b.as_ptr().cast()))));
            }
            vaddvq_u64(sum) as u32
        };
        let last = asked_rest.iter().zip(rest).map(|(a, b)| (a & b.load(Ordering::Relaxed)).count_ones());
        *to = pairs + last.sum::<u32>();
    }
}

fn near(query: &[u64], levels: &Levels<'_>, most: u32, places: &mut [u32]) -> usize {
    match query.len() {
        1 => near_in::<1, 1>(query, levels, most, places),
        2 => near_in::<2, 1>(query, levels, most, places),
        4 => near_in::<2, 2>(query, levels, most, places),
        _ => near_in::<2, 3>(query, levels, most, places),
    }
}

/// The differences of two lanes of a block, for each word of its folds.
type Differences = [uint64x2_t; MOST];

/// Folds of `LEVELS` levels, the first of which has `FIRST` words.
fn near_in<const FIRST: usize, const LEVELS: usize>(
    query: &[u64],
    levels: &Levels<'_>,
    most: u32,
    places: &mut [u32],
) -> usize {
    // A vector has two of the eight lanes of a block.
    let [coarse, second, third] = levels.map(|level| level.as_chunks::<2>().0);
    let mut found = 0;
    for (block, words) in coarse.chunks_exact(4 * FIRST).enumerate() {
        for pair in 0..4 {
            // SAFETY: `RowKernel` is chosen where the processor has NEON; two words are 16 readable bytes.
            let near = unsafe {
                let mut differences: Differences = [vdupq_n_u64(0); MOST];
                let mut sum = vdupq_n_u64(0);
                for i in 0..FIRST {
                    differences[i] = veorq_u64(vld1q_u64(words[4 * i + pair].as_ptr().cast()), vdupq_n_u64(query[i]));
                    sum = vaddq_u64(sum, bits_of(differences[i]));
                }
                let mut near = at_most(sum, most);
                if LEVELS >= 2 && near != [false; 2] {
                    near = at_most(refine::<2>(&mut differences, second, block, pair, query), most);
                }
                if LEVELS >= 3 && near != [false; 2] {
                    near = at_most(refine::<4>(&mut differences, third, block, pair, query), most);
                }
                near
            };
            for (lane, near) in near.into_iter().enumerate() {
                // Without a branch: `found` is at most the number of rows before.
                places[found] = (8 * block + 2 * pair + lane) as u32;
                found += usize::from(near);
            }
        }
    }
    found
}

/// Which of both lanes are at most `most`.
///
/// # Safety
/// The processor has NEON.
#[inline]
unsafe fn at_most(sum: uint64x2_t, most: u32) -> [bool; 2] {
    // SAFETY: the caller promises NEON.
    unsafe { [vgetq_lane_u64::<0>(sum) <= u64::from(most), vgetq_lane_u64::<1>(sum) <= u64::from(most)] }
}

/// Turns the differences of folds of `N` words into those of `2 * N` words, and counts these in each lane.
///
/// # Safety
/// The processor has NEON.
#[inline]
unsafe fn refine<const N: usize>(
    differences: &mut Differences,
    level: &[[AtomicU64; 2]],
    block: usize,
    pair: usize,
    query: &[u64],
) -> uint64x2_t {
    let words = &level[4 * N * block..][..4 * N];
    // SAFETY: the caller says that the processor has NEON; two words are 16 readable bytes.
    unsafe {
        let mut sum = vdupq_n_u64(0);
        for i in 0..N {
            let finer = veorq_u64(vld1q_u64(words[4 * i + pair].as_ptr().cast()), vdupq_n_u64(query[N + i]));
            let other = veorq_u64(finer, differences[i]);
            (differences[i], differences[N + i]) = (finer, other);
            sum = vaddq_u64(sum, vaddq_u64(bits_of(finer), bits_of(other)));
        }
        sum
    }
}
