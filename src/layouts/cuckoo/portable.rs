//! The lookups of many keys in plain code, for all buckets.

use super::Buckets;
use super::lookups::Kernel;
use crate::bits::ring::{self, Batch, Few};
use crate::hash::xxh3;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The kernel.
pub(super) static KERNEL: Kernel = Kernel { contains, contains_few, suits: |_, _| true };

fn contains(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
    let fetch = |_: &(), hash| buckets.fetch(words, hash);
    let answer = |_: &mut (), hash| buckets.contains(words, hash);
    ring::rolling(&mut (), ring::ahead(words.len(), 2), batch, fetch, ring::nothing, answer);
}

fn contains_few(buckets: &Buckets, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
    let hash = |flip, keys: &[u64], hashes: &mut [u64]| xxh3::hash_u64s(instructions, flip, keys, hashes);
    let fetch = |_: &(), hash| buckets.fetch(words, hash);
    let answer = |_: &mut (), hash| buckets.contains(words, hash);
    ring::answer_few(&mut (), words.len() >= ring::FETCH_FROM, few, hash, fetch, answer)
}
