//! The inner loops for NEON: two words at a time.

use super::RowKernel;
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
    // SAFETY: the caller says so.
    unsafe { vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(words))))) }
}

/// The bits that `join` leaves of two lists of words of one length.
#[inline]
fn count(
    query: &[u64],
    words: &[AtomicU64],
    join: impl Fn(uint64x2_t, uint64x2_t) -> uint64x2_t,
    join_one: impl Fn(u64, u64) -> u64,
) -> u32 {
    let ((query, query_rest), (words, rest)) = (query.as_chunks::<2>(), words.as_chunks::<2>());
    // SAFETY: two words are 16 readable bytes, and `RowKernel` is chosen where the processor has NEON.
    let pairs = unsafe {
        let mut sum = vdupq_n_u64(0);
        for (a, b) in query.iter().zip(words) {
            sum = vaddq_u64(sum, bits_of(join(vld1q_u64(a.as_ptr()), vld1q_u64(b.as_ptr().cast()))));
        }
        vaddvq_u64(sum) as u32
    };
    let last = query_rest.iter().zip(rest).map(|(a, b)| join_one(*a, b.load(Ordering::Relaxed)).count_ones());
    pairs + last.sum::<u32>()
}

fn common(query: &[u64], rows: &[AtomicU64], counts: &mut [u32]) {
    for (to, row) in counts.iter_mut().zip(rows.chunks_exact(query.len())) {
        // SAFETY: `RowKernel` is chosen where the processor has NEON.
        *to = count(query, row, |a, b| unsafe { vandq_u64(a, b) }, |a, b| a & b);
    }
}

fn near(query: &[u64], folds: &[AtomicU64], most: u32, places: &mut [u32]) -> usize {
    let (mut found, folds) = (0, folds.chunks_exact(query.len()));
    for (i, fold) in folds.take(places.len()).enumerate() {
        // SAFETY: `RowKernel` is chosen where the processor has NEON.
        let distance = count(query, fold, |a, b| unsafe { veorq_u64(a, b) }, |a, b| a ^ b);
        places[found] = i as u32;
        found += usize::from(distance <= most);
    }
    found
}
