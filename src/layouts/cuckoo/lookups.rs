//! Lookups of many keys, by the instruction set of the filter.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{Buckets, portable};
use crate::bits::ring::{Batch, Few};
use crate::simd::{self, Instructions};
use core::sync::atomic::AtomicU64;

/// The inner loops.
pub(super) struct Kernel {
    /// Whether each key of a batch may be there.
    pub contains: fn(&Buckets, &[AtomicU64], &mut dyn Batch),
    /// Whether each of few hashes, at most [`GROUP`](crate::bits::ring::GROUP), may be there.
    pub contains_few: fn(&Buckets, &[AtomicU64], Instructions, &Few) -> u64,
    /// Whether it is for these buckets in these words.
    pub suits: fn(&Buckets, &[AtomicU64]) -> bool,
}

/// The kernel of an instruction set for these buckets; the portable one where it is not for them.
fn kernel(instructions: Instructions, buckets: &Buckets, words: &[AtomicU64]) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(target_arch = "x86_64")]
        simd::Kernel::Avx512 if (avx512::KERNEL.suits)(buckets, words) => &avx512::KERNEL,
        _ => &portable::KERNEL,
    }
}

impl Buckets {
    /// Whether each key of a batch may be there.
    pub fn contains_many(&self, words: &[AtomicU64], instructions: Instructions, batch: &mut dyn Batch) {
        (kernel(instructions, self, words).contains)(self, words, batch);
    }

    /// Whether each of few keys may be there: bit i is that of the i-th, and bits after the last mean nothing.
    pub fn contains_few(&self, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
        (kernel(instructions, self, words).contains_few)(self, words, instructions, few)
    }
}
