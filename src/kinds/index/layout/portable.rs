//! The inner loops in plain code: the specification of the others.

use super::RowKernel;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel in plain code.
pub static KERNEL: RowKernel = RowKernel { common, near };

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    for (count, row) in counts.iter_mut().zip(rows.chunks_exact(query.len())) {
        *count = query.iter().zip(row).map(|(a, b)| (a & b.load(Ordering::Relaxed)).count_ones()).sum();
    }
}

fn near(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    let (mut found, folds) = (0, folds.chunks_exact(query.len()));
    for (i, fold) in folds.take(places.len()).enumerate() {
        let distance: u32 = query.iter().zip(fold).map(|(a, b)| (a ^ b.load(Ordering::Relaxed)).count_ones()).sum();
        // Without a branch: `found` is at most `i`.
        places[found] = i as u32;
        found += usize::from(distance <= most);
    }
    found
}
