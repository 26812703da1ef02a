//! The inner loops in plain code: the specification of the others.

use super::RowKernel;
use super::folds::{Levels, MOST, first_level};
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel in plain code.
pub static KERNEL: RowKernel = RowKernel { common, near };

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    for (count, row) in counts.iter_mut().zip(rows.chunks_exact(query.len())) {
        *count = query.iter().zip(row).map(|(a, b)| (a & b.load(Ordering::Relaxed)).count_ones()).sum();
    }
}

fn near(query: &[u64], levels: &Levels<'_>, most: u32, places: &mut [u32]) -> usize {
    let first = first_level(query.len());
    let [coarse, finer @ ..] = levels.map(|level| level.as_chunks::<8>().0);
    let mut found = 0;
    for (block, words) in coarse.chunks_exact(first).enumerate() {
        let mut differences = [[0; 8]; MOST];
        for ((to, words), asked) in differences.iter_mut().zip(words).zip(query) {
            *to = core::array::from_fn(|i| words[i].load(Ordering::Relaxed) ^ asked);
        }
        let mut distances = sums(&differences[..first]);
        let (mut length, mut level) = (first, 0);
        while length < query.len() && distances.iter().any(|distance| *distance <= most) {
            let words = &finer[level][block * length..][..length];
            for (i, words) in words.iter().enumerate() {
                for (lane, word) in words.iter().enumerate() {
                    let difference = word.load(Ordering::Relaxed) ^ query[length + i];
                    differences[length + i][lane] = differences[i][lane] ^ difference;
                    differences[i][lane] = difference;
                }
            }
            (length, level) = (2 * length, level + 1);
            distances = sums(&differences[..length]);
        }
        for (lane, distance) in distances.iter().enumerate() {
            // Without a branch: `found` is at most the number of rows before.
            places[found] = (8 * block + lane) as u32;
            found += usize::from(*distance <= most);
        }
    }
    found
}

/// How many bits are set in each lane.
fn sums(words: &[[u64; 8]]) -> [u32; 8] {
    let mut sums = [0; 8];
    for words in words {
        sums.iter_mut().zip(words).for_each(|(sum, word)| *sum += word.count_ones());
    }
    sums
}
