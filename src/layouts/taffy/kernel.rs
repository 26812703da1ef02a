//! The inner loops of lookups, for each instruction set.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::segments::Segments;
use crate::bits::mix;
use crate::bits::ring::{self, Batch};
use crate::simd::{self, Instructions};
use core::sync::atomic::AtomicU64;

/// Lookups with one instruction set, of hashes that are not mixed.
pub struct Kernel {
    /// Whether each hash of a batch may be in the segments of these words.
    pub contains_many: fn(&Segments, &[AtomicU64], &mut dyn Batch),
}

/// Plain code, which every processor runs.
static PORTABLE: Kernel = Kernel { contains_many };

/// The inner loops for an instruction set.
pub fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(target_arch = "x86_64")]
        simd::Kernel::Avx512 => &avx512::KERNEL,
        _ => &PORTABLE,
    }
}

/// One key after the other.
pub(super) fn contains_many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
    let fetch = |_: &(), hash| segments.words_of(mix(hash)).into_iter().for_each(|word| ring::fetch_word(words, word));
    let answer = |_: &mut (), hash| segments.contains(words, mix(hash));
    ring::rolling(&mut (), ring::ahead(words.len(), 2), batch, fetch, ring::nothing, answer);
}
