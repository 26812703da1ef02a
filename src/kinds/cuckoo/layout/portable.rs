//! The inner loops in plain code, for all buckets.

use super::Buckets;
use super::kernel::{self, Any, Four, Kernel, Shape};
use crate::batch::ring::{self, Batch, Few};
use crate::hash::xxh3;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The kernels: for any buckets, and for those of four fingerprints of 8, 12 and 16 bits.
pub(super) static KERNELS: [Kernel; 4] =
    [kernel::<Any>(), kernel::<Four<8>>(), kernel::<Four<12>>(), kernel::<Four<16>>()];

const fn kernel<S: Shape>() -> Kernel {
    Kernel {
        contains: kernel::contains::<S>,
        contains_many: contains_many::<S>,
        contains_few: contains_few::<S>,
        insert: kernel::insert::<S>,
        insert_many: kernel::insert_many::<S>,
    }
}

pub(super) fn contains_many<S: Shape>(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
    let fetch = |_: &(), hash| S::of(buckets).fetch(words, hash);
    let ahead = ring::ahead(words.len(), 2);
    if S::of(buckets).is_narrow {
        let answer = |_: &mut (), hash| buckets.contains_as::<S>(words, hash);
        return ring::rolling(&mut (), ahead, batch, fetch, ring::nothing, answer);
    }
    ring::rolling(&mut (), ahead, batch, fetch, ring::nothing, |(), hash| buckets.either_has(words, hash));
}

pub(super) fn contains_few<S: Shape>(
    buckets: &Buckets,
    words: &[AtomicU64],
    instructions: Instructions,
    few: &Few,
) -> u64 {
    let hash = |flip, keys: &[u64], hashes: &mut [u64]| xxh3::hash_u64s(instructions, flip, keys, hashes);
    let fetch = |_: &(), hash| S::of(buckets).fetch(words, hash);
    let answer = |_: &mut (), hash| buckets.contains_as::<S>(words, hash);
    ring::answer_few(&mut (), ring::is_far(words.len()), few, hash, fetch, answer)
}
